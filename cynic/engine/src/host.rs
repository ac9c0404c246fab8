//! What an isolate may know of the world: the clock, the local time zone, randomness, entropy.
//!
//! The engine itself looks at nothing outside: the embedder decides (and may deny) each. [`Capabilities::default`] is what a guest has
//! without being given anything: the time to a millisecond, UTC, random numbers that tell nothing of the process, no entropy.
//! [`Capabilities::deterministic`] is a world that is the same in every run. Local time is computed here from the zone's rules.

use std::any::Any;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use temporal_rs::{TimeZone, ZonedDateTime};

use crate::datetime::civil::{MS_PER_DAY, TIME_VALUE_MAX};
use crate::vm::{JsResult, Options, Vm};

const NS_PER_MS: i128 = 1_000_000;

/// Where `Date.now`, `Temporal.Now` and their like get the time.
pub enum Clock {
    /// The system's clock, as precise as it is: code can time what it should not see (caches, other isolates).
    System,
    /// The system's clock, rounded down to multiples of this.
    Coarse(Duration),
    /// A clock of the isolate's own, in nanoseconds since 1970-01-01T00:00:00Z. It goes on when it is looked at
    /// ([`VIRTUAL_LOOK_NS`]), so that loops which wait for a time end, and when the host waits ([`Vm::host_wait`]), which takes no time.
    Virtual(i128),
    /// A function of the host's: nanoseconds since 1970-01-01T00:00:00Z.
    Custom(Box<dyn Fn() -> i128>),
    /// Asking for the time is a TypeError.
    Denied,
}

/// How long a look at a virtual clock takes.
pub const VIRTUAL_LOOK_NS: i128 = 1_000;

/// Where a virtual clock begins: 2000-01-01T00:00:00Z.
pub const VIRTUAL_ORIGIN_NS: i128 = 946_684_800_000_000_000;

/// What a coarse clock is rounded to, unless the host says otherwise: what `Date` shows anyway.
pub const COARSE_CLOCK: Duration = Duration::from_millis(1);

/// Where `Math.random` gets its numbers.
pub enum Randomness {
    /// A generator with this state.
    Seeded(u64),
    /// Asking for a random number is a TypeError.
    Denied,
}

/// Where random bytes come from that nobody may guess (`crypto`).
pub enum Entropy {
    /// What fills a buffer with them, from the operating system; false if it cannot.
    Custom(Box<dyn FnMut(&mut [u8]) -> bool>),
    /// A generator with this state, for replays: everybody can guess them.
    Seeded(u64),
    /// Asking for them is an error.
    Denied,
}

/// What the host gives to an isolate.
pub struct Capabilities {
    /// The clock.
    pub clock: Clock,
    /// The source of `Math.random`.
    pub randomness: Randomness,
    /// The source of `crypto`.
    pub entropy: Entropy,
    /// The identifier of the local time zone. An unknown one counts as UTC.
    pub time_zone: String,
}

impl Default for Capabilities {
    fn default() -> Self {
        Capabilities {
            clock: Clock::Coarse(COARSE_CLOCK),
            randomness: Randomness::Seeded(RandomState::new().hash_one(0)),
            entropy: Entropy::Denied,
            time_zone: UTC.to_owned(),
        }
    }
}

impl Capabilities {
    /// What an isolate of these options begins with.
    pub(crate) fn of(options: &Options) -> Self {
        if options.deterministic { Self::deterministic(0) } else { Self::default() }
    }

    /// Nothing: asking for the time or for randomness is an error.
    pub fn none() -> Self {
        let (clock, randomness) = (Clock::Denied, Randomness::Denied);
        Capabilities { clock, randomness, ..Self::default() }
    }

    /// The same in every run: a virtual clock, and generators that begin with `seed`. For isolates of an engine that is deterministic
    /// ([`crate::embedding::Engine::deterministic`]), because the collector shows through weak references, too.
    pub fn deterministic(seed: u64) -> Self {
        Capabilities {
            clock: Clock::Virtual(VIRTUAL_ORIGIN_NS),
            randomness: Randomness::Seeded(seed),
            // Another stream than that of `Math.random`.
            entropy: Entropy::Seeded(!seed),
            time_zone: UTC.to_owned(),
        }
    }
}

const UTC: &str = "UTC";

/// The host's side of an isolate.
#[derive(Default)]
pub struct HostHooks {
    /// What the host gives.
    pub capabilities: Capabilities,
    /// Whatever the embedder wants to find again from a native function.
    pub state: Option<Box<dyn Any>>,
    zone: Option<(String, Option<TimeZone>)>,
}

impl HostHooks {
    pub(crate) fn new(capabilities: Capabilities) -> Self {
        HostHooks { capabilities, ..Self::default() }
    }

    /// The offset of the local zone, in milliseconds, at a time in UTC.
    fn offset_ms(&mut self, utc_ms: f64) -> f64 {
        if self.capabilities.time_zone == UTC {
            return 0.0;
        }
        let identifier = &self.capabilities.time_zone;
        if self.zone.as_ref().is_none_or(|zone| zone.0 != *identifier) {
            let zone = TimeZone::try_from_identifier_str(identifier).ok();
            self.zone = Some((identifier.clone(), zone));
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
        match &mut self.host.capabilities.clock {
            Clock::System => Ok(system_nanoseconds()),
            Clock::Coarse(step) => {
                let now = system_nanoseconds();
                Ok(now - now.rem_euclid(i128::try_from(step.as_nanos()).unwrap_or(1).max(1)))
            }
            Clock::Virtual(now) => {
                *now += VIRTUAL_LOOK_NS;
                Ok(*now)
            }
            Clock::Custom(clock) => Ok(clock()),
            Clock::Denied => Err(self.throw_type_error("the host does not give the time")),
        }
    }

    /// What a virtual clock shows, without looking at it as programs do.
    pub(crate) fn host_virtual_now(&self) -> Option<i128> {
        if let Clock::Virtual(now) = self.host.capabilities.clock { Some(now) } else { None }
    }

    /// The host is about to wait that long. True if a virtual clock was moved instead, and there is nothing to wait for.
    pub fn host_wait(&mut self, time: Duration) -> bool {
        if let Clock::Virtual(now) = &mut self.host.capabilities.clock {
            *now += i128::try_from(time.as_nanos()).unwrap_or(0);
            return true;
        }
        false
    }

    /// The current time as a time value.
    pub fn host_now_ms(&mut self) -> JsResult<f64> {
        Ok(self.host_now_nanoseconds()?.div_euclid(NS_PER_MS) as f64)
    }

    /// A random number in `0..1`.
    pub fn host_random(&mut self) -> JsResult<f64> {
        match &mut self.host.capabilities.randomness {
            // 53 random bits, as a fraction.
            Randomness::Seeded(state) => Ok((split_mix(state) >> 11) as f64 / (1u64 << 53) as f64),
            Randomness::Denied => Err(self.throw_type_error("the host does not give random numbers")),
        }
    }

    /// Fills a buffer with random bytes that nobody may guess; false if the host gives none.
    pub fn host_entropy(&mut self, bytes: &mut [u8]) -> bool {
        match &mut self.host.capabilities.entropy {
            Entropy::Custom(fill) => return fill(bytes),
            Entropy::Seeded(state) => {
                for piece in bytes.chunks_mut(8) {
                    piece.copy_from_slice(&split_mix(state).to_le_bytes()[..piece.len()]);
                }
            }
            Entropy::Denied => return false,
        }
        true
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
        match self.host.capabilities.time_zone.as_str() {
            UTC => "Coordinated Universal Time".to_owned(),
            zone => zone.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hooks(time_zone: &str) -> HostHooks {
        let capabilities = Capabilities { time_zone: time_zone.to_owned(), ..Capabilities::default() };
        HostHooks { capabilities, ..HostHooks::default() }
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
