//! What long spans cost in calendars other than the ISO one: a charge, and a bound in the calendars that are computed astronomically.
//!
//! The date library goes through the years or months of a span one by one, which cannot be interrupted. With the sun's and the moon's place for each
//! month that takes minutes for the whole range of dates; elsewhere up to a twentieth of a second.

use temporal_rs::options::{DifferenceSettings, RelativeTo, Unit};
use temporal_rs::{
    Calendar, Duration, Instant, PlainDate, PlainDateTime, PlainTime, PlainYearMonth, ZonedDateTime,
};

use crate::limits::{BYTES_PER_STEP, COUNTED_YEARS_MAX, LUNISOLAR_YEARS_MAX};
use crate::vm::{JsResult, Vm};

/// All years that dates can have.
const YEARS_MAX: u32 = 600_000;

/// A value of which differences are taken, or to which durations are added.
pub(super) trait Spanned {
    /// The year, if the calendar is one of those that are computed astronomically.
    fn lunisolar_year(&self) -> Option<i32>;
    /// The year, if the calendar is not the ISO one.
    fn counted_year(&self) -> Option<i32>;
}

fn is_astronomical(calendar: &Calendar) -> bool {
    matches!(calendar.identifier(), "chinese" | "dangi")
}

macro_rules! spanned {
    ($($type:ty)*) => {
        $(
            impl Spanned for $type {
                fn lunisolar_year(&self) -> Option<i32> {
                    is_astronomical(self.calendar()).then(|| self.year())
                }
                fn counted_year(&self) -> Option<i32> {
                    (!self.calendar().is_iso()).then(|| self.year())
                }
            }
        )*
    };
}
spanned! { PlainDate PlainDateTime PlainYearMonth ZonedDateTime }

macro_rules! without_years {
    ($($type:ty)*) => {
        $(
            impl Spanned for $type {
                fn lunisolar_year(&self) -> Option<i32> {
                    None
                }
                fn counted_year(&self) -> Option<i32> {
                    None
                }
            }
        )*
    };
}
without_years! { PlainTime Instant }

/// Charges what going through so many years takes.
fn charge_years(vm: &mut Vm, years: u32) {
    vm.charge_bytes(years as usize * BYTES_PER_STEP);
}

/// The years that a duration takes, roughly.
fn years_of(duration: &Duration) -> f64 {
    let hours =
        duration.hours() as f64 + duration.minutes() as f64 / 60.0 + duration.seconds() as f64 / 3600.0;
    let days = duration.weeks() as f64 * 7.0 + duration.days() as f64 + hours / 24.0;
    duration.years() as f64 + duration.months() as f64 / 12.0 + days / 365.0
}

/// Charges the addition of a duration.
pub(super) fn charge_addition(vm: &mut Vm, value: &impl Spanned, duration: &Duration) {
    if value.counted_year().is_some() {
        charge_years(vm, years_of(duration).abs().min(f64::from(YEARS_MAX)) as u32);
    }
}

fn counts_months(largest: Option<Unit>, smallest: Option<Unit>) -> bool {
    match largest {
        None | Some(Unit::Auto) => smallest == Some(Unit::Month),
        largest => largest == Some(Unit::Month),
    }
}

fn too_long(vm: &mut Vm) -> crate::vm::Abrupt {
    vm.throw_range_error("the span is too long to count its months in this calendar")
}

/// Refuses a difference that would take too long.
pub(super) fn check_difference(
    vm: &mut Vm,
    one: &impl Spanned,
    other: &impl Spanned,
    settings: &DifferenceSettings,
) -> JsResult<()> {
    if let (Some(a), Some(b)) = (one.counted_year(), other.counted_year()) {
        charge_years(vm, a.abs_diff(b).saturating_add(1));
        if a.abs_diff(b) > COUNTED_YEARS_MAX && counts_months(settings.largest_unit, settings.smallest_unit) {
            return Err(too_long(vm));
        }
    }
    match (one.lunisolar_year(), other.lunisolar_year()) {
        (Some(a), Some(b))
            if a.abs_diff(b) > LUNISOLAR_YEARS_MAX
                && counts_months(settings.largest_unit, settings.smallest_unit) =>
        {
            Err(too_long(vm))
        }
        _ => Ok(()),
    }
}

/// Refuses to count the months of a duration that would take too long.
pub(super) fn check_duration(
    vm: &mut Vm,
    duration: &Duration,
    relative_to: Option<&RelativeTo>,
    largest: Option<Unit>,
    smallest: Option<Unit>,
) -> JsResult<()> {
    let calendar = match relative_to {
        Some(RelativeTo::PlainDate(date)) => date.calendar(),
        Some(RelativeTo::ZonedDateTime(zoned)) => zoned.calendar(),
        None => return Ok(()),
    };
    if !calendar.is_iso() {
        if years_of(duration).abs() > f64::from(COUNTED_YEARS_MAX) && counts_months(largest, smallest) {
            return Err(too_long(vm));
        }
        charge_years(vm, years_of(duration).abs().min(f64::from(YEARS_MAX)) as u32);
    }
    if !is_astronomical(calendar) || !counts_months(largest, smallest) {
        return Ok(());
    }
    if years_of(duration).abs() > f64::from(LUNISOLAR_YEARS_MAX) { Err(too_long(vm)) } else { Ok(()) }
}
