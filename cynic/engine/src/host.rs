//! What an isolate may know of the world: the clock, the local time zone, randomness.
//!
//! The engine itself looks at nothing outside: the embedder decides (and may deny) each. The defaults are the system's clock,
//! UTC, and a seed of the process's own. Local time is computed here from the zone's rules.

use std::any::Any;
use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use temporal_rs::{TimeZone, ZonedDateTime};

use crate::datetime::civil::{MS_PER_DAY, TIME_VALUE_MAX};
use crate::vm::{JsResult, Vm};

const NS_PER_MS: i128 = 1_000_000;

/// Where `Date.now`, `Temporal.Now` and their like get the time.
pub enum Clock {
    /// The system's clock.
    System,
    /// A function of the host's: nanoseconds since 1970-01-01T00:00:00Z.
    Custom(Box<dyn Fn() -> i128>),
    /// Asking for the time is a TypeError.
    Denied,
}

/// Where `Math.random` gets its numbers.
pub enum Randomness {
    /// A generator with this state.
    Seeded(u64),
    /// Asking for a random number is a TypeError.
    Denied,
}

/// The host's side of an isolate.
pub struct HostHooks {
    /// The clock.
    pub clock: Clock,
    /// The source of randomness.
    pub randomness: Randomness,
    /// The identifier of the local time zone. An unknown one counts as UTC.
    pub time_zone: String,
    /// Whatever the embedder wants to find again from a native function.
    pub state: Option<Box<dyn Any>>,
    zone: Option<(String, Option<TimeZone>)>,
}

impl Default for HostHooks {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0);
        HostHooks {
            clock: Clock::System,
            randomness: Randomness::Seeded(seed),
            time_zone: "UTC".to_owned(),
            state: None,
            zone: None,
        }
    }
}

impl HostHooks {
    /// The offset of the local zone, in milliseconds, at a time in UTC.
    fn offset_ms(&mut self, utc_ms: f64) -> f64 {
        if self.time_zone == "UTC" {
            return 0.0;
        }
        if self.zone.as_ref().is_none_or(|zone| zone.0 != self.time_zone) {
            let zone = TimeZone::try_from_identifier_str(&self.time_zone).ok();
            self.zone = Some((self.time_zone.clone(), zone));
        }
        let Some((_, Some(zone))) = &self.zone else { return 0.0 };
        let nanoseconds = utc_ms.clamp(-TIME_VALUE_MAX, TIME_VALUE_MAX) as i128 * NS_PER_MS;
        let zoned = ZonedDateTime::try_new_iso(nanoseconds, *zone);
        zoned.map_or(0.0, |zoned| (zoned.offset_nanoseconds() / 1_000_000) as f64)
    }
}

/// One step of the splitmix64 generator.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn system_nanoseconds() -> i128 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

impl Vm {
    /// The current time in nanoseconds since the epoch.
    pub fn host_now_nanoseconds(&mut self) -> JsResult<i128> {
        match &self.host.clock {
            Clock::System => Ok(system_nanoseconds()),
            Clock::Custom(clock) => Ok(clock()),
            Clock::Denied => Err(self.throw_type_error("the host does not give the time")),
        }
    }

    /// The current time as a time value.
    pub fn host_now_ms(&mut self) -> JsResult<f64> {
        Ok(self.host_now_nanoseconds()?.div_euclid(NS_PER_MS) as f64)
    }

    /// A random number in `0..1`.
    pub fn host_random(&mut self) -> JsResult<f64> {
        match &mut self.host.randomness {
            // 53 random bits, as a fraction.
            Randomness::Seeded(state) => Ok((split_mix(state) >> 11) as f64 / (1u64 << 53) as f64),
            Randomness::Denied => Err(self.throw_type_error("the host does not give random numbers")),
        }
    }

    /// LocalTime: a time value moved to the local zone. <https://tc39.es/ecma262/#sec-localtime>
    pub(crate) fn host_local_time(&mut self, time: f64) -> f64 {
        time + self.host.offset_ms(time)
    }

    /// UTC: a local time as a time value. In a gap the offset before it counts; of a repeated time, the first.
    /// <https://tc39.es/ecma262/#sec-utc-t>
    pub(crate) fn host_utc(&mut self, local: f64) -> f64 {
        if !local.is_finite() {
            return f64::NAN;
        }
        // No zone is a day or more from UTC, so these two straddle any transition that matters.
        let before = self.host.offset_ms(local - MS_PER_DAY);
        let earlier = local - before;
        if self.host.offset_ms(earlier) == before {
            return earlier;
        }
        let after = self.host.offset_ms(local + MS_PER_DAY);
        let later = local - after;
        if self.host.offset_ms(later) == after { later } else { earlier }
    }

    /// What `Date.prototype.toString` shows in parentheses.
    pub(crate) fn host_time_zone_name(&self, _time: f64) -> String {
        if self.host.time_zone == "UTC" {
            "Coordinated Universal Time".to_owned()
        } else {
            self.host.time_zone.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hooks(time_zone: &str) -> HostHooks {
        HostHooks { time_zone: time_zone.to_owned(), ..HostHooks::default() }
    }

    #[test]
    fn offsets_follow_the_zone() {
        // 2024-07-01 and 2024-01-01.
        assert_eq!(hooks("Europe/Berlin").offset_ms(1_719_792_000_000.0), 7_200_000.0);
        assert_eq!(hooks("Europe/Berlin").offset_ms(1_704_067_200_000.0), 3_600_000.0);
        assert_eq!(hooks("Nowhere/Else").offset_ms(0.0), 0.0);
    }

    #[test]
    fn random_numbers_repeat_with_their_seed() {
        let (mut one, mut two) = (7, 7);
        assert_eq!(split_mix(&mut one), split_mix(&mut two));
        assert_ne!(split_mix(&mut one), split_mix(&mut 7));
    }
}
