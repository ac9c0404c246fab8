//! A bound on what counting months costs in the calendars that are computed astronomically.
//!
//! The date library goes through the months of such a span one by one, each with the sun's and the moon's place, which takes minutes for the
//! whole range of dates and cannot be interrupted. Years, weeks and days are counted directly.

use temporal_rs::options::{DifferenceSettings, RelativeTo, Unit};
use temporal_rs::{Calendar, Duration, PlainDate, PlainDateTime, PlainTime, PlainYearMonth, ZonedDateTime};

use crate::limits::LUNISOLAR_YEARS_MAX;
use crate::vm::{JsResult, Vm};

/// A value of which differences are taken.
pub(super) trait Spanned {
    /// The year, if the calendar is one of those.
    fn lunisolar_year(&self) -> Option<i32>;
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
            }
        )*
    };
}
spanned! { PlainDate PlainDateTime PlainYearMonth ZonedDateTime }

impl Spanned for PlainTime {
    fn lunisolar_year(&self) -> Option<i32> {
        None
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
    if !is_astronomical(calendar) || !counts_months(largest, smallest) {
        return Ok(());
    }
    let hours =
        duration.hours() as f64 + duration.minutes() as f64 / 60.0 + duration.seconds() as f64 / 3600.0;
    let days = duration.weeks() as f64 * 7.0 + duration.days() as f64 + hours / 24.0;
    let years = duration.years() as f64 + duration.months() as f64 / 12.0 + days / 365.0;
    if years.abs() > f64::from(LUNISOLAR_YEARS_MAX) { Err(too_long(vm)) } else { Ok(()) }
}
