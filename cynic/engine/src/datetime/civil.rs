//! The proleptic Gregorian calendar on time values: ECMA-262's Day, TimeWithinDay, MakeTime, MakeDay, MakeDate, TimeClip.
//!
//! Functions that take a finite time value give whole numbers; the Make functions accept anything and answer NaN where the
//! specification does.

/// Milliseconds per day.
pub(crate) const MS_PER_DAY: f64 = 86_400_000.0;
/// Milliseconds per hour.
pub(crate) const MS_PER_HOUR: f64 = 3_600_000.0;
/// Milliseconds per minute.
pub(crate) const MS_PER_MINUTE: f64 = 60_000.0;
/// Milliseconds per second.
pub(crate) const MS_PER_SECOND: f64 = 1000.0;
/// The largest magnitude of a time value.
pub(crate) const TIME_VALUE_MAX: f64 = 8.64e15;

/// A time value taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fields {
    /// Astronomical year.
    pub(crate) year: i64,
    /// 0 to 11.
    pub(crate) month: i64,
    /// Day of the month, from 1.
    pub(crate) day: i64,
    /// 0 (Sunday) to 6.
    pub(crate) weekday: i64,
    /// 0 to 23.
    pub(crate) hour: i64,
    /// 0 to 59.
    pub(crate) minute: i64,
    /// 0 to 59.
    pub(crate) second: i64,
    /// 0 to 999.
    pub(crate) millisecond: i64,
}

impl Fields {
    /// Takes a finite time value apart.
    pub(crate) fn of(time: f64) -> Self {
        let days = day(time) as i64;
        let within = time_within_day(time) as i64;
        let (year, month, day_of_month) = civil_from_days(days);
        Fields {
            year,
            month,
            day: day_of_month,
            weekday: (days + 4).rem_euclid(7),
            hour: within / 3_600_000,
            minute: within / 60_000 % 60,
            second: within / 1000 % 60,
            millisecond: within % 1000,
        }
    }
}

/// Day(t): the number of the day a finite time value is in.
pub(crate) fn day(time: f64) -> f64 {
    (time / MS_PER_DAY).floor()
}

/// TimeWithinDay(t).
pub(crate) fn time_within_day(time: f64) -> f64 {
    time.rem_euclid(MS_PER_DAY)
}

/// The day number of a civil date; month 0 to 11, any day.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March put the leap day last.
    let shifted_year = if month < 2 { year - 1 } else { year };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let month_from_march = (month + 10) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468 + day - 1
}

/// The civil date (year, month 0 to 11, day from 1) of a day number.
pub(crate) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    (year, month, day)
}

/// Days in a month (0 to 11).
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        1 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        1 => 28,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

/// MakeTime. <https://tc39.es/ecma262/#sec-maketime>
pub(crate) fn make_time(hour: f64, minute: f64, second: f64, millisecond: f64) -> f64 {
    if !(hour.is_finite() && minute.is_finite() && second.is_finite() && millisecond.is_finite()) {
        return f64::NAN;
    }
    let (h, m) = (hour.trunc() * MS_PER_HOUR, minute.trunc() * MS_PER_MINUTE);
    h + m + second.trunc() * MS_PER_SECOND + millisecond.trunc()
}

/// MakeDay. <https://tc39.es/ecma262/#sec-makeday>
pub(crate) fn make_day(year: f64, month: f64, date: f64) -> f64 {
    /// Beyond this no time value results, whatever the month and date; keeps the integers below from overflowing.
    const YEAR_MAX: f64 = 400_000.0;
    if !(year.is_finite() && month.is_finite() && date.is_finite()) {
        return f64::NAN;
    }
    let (year, month, date) = (year.trunc(), month.trunc(), date.trunc());
    let whole_year = year + (month / 12.0).floor();
    if whole_year.abs() > YEAR_MAX {
        return f64::NAN;
    }
    let month = month.rem_euclid(12.0);
    days_from_civil(whole_year as i64, month as i64, 1) as f64 + date - 1.0
}

/// MakeDate. <https://tc39.es/ecma262/#sec-makedate>
pub(crate) fn make_date(day: f64, time: f64) -> f64 {
    let result = day * MS_PER_DAY + time;
    if day.is_finite() && time.is_finite() && result.is_finite() { result } else { f64::NAN }
}

/// MakeFullYear. <https://tc39.es/ecma262/#sec-makefullyear>
pub(crate) fn make_full_year(year: f64) -> f64 {
    let truncated = year.trunc();
    if (0.0..=99.0).contains(&truncated) { 1900.0 + truncated } else { truncated }
}

/// TimeClip. <https://tc39.es/ecma262/#sec-timeclip>
pub(crate) fn time_clip(time: f64) -> f64 {
    // Adding +0 turns -0 into +0.
    if time.abs() <= TIME_VALUE_MAX { time.trunc() + 0.0 } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn civil_dates_survive_the_round_trip() {
        for days in (-100_000_000..=100_000_000).step_by(9973) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
            assert!((0..12).contains(&month) && (1..=days_in_month(year, month)).contains(&day));
        }
        assert_eq!(civil_from_days(0), (1970, 0, 1));
        assert_eq!(days_from_civil(2000, 1, 29), 11016);
    }

    #[test]
    fn fields_before_the_epoch() {
        let fields = Fields::of(-1.0);
        assert_eq!((fields.year, fields.month, fields.day, fields.weekday), (1969, 11, 31, 3));
        assert_eq!((fields.hour, fields.minute, fields.second, fields.millisecond), (23, 59, 59, 999));
    }

    #[test]
    fn making_and_clipping() {
        assert_eq!(make_day(1970.0, 12.0, 1.0), 365.0);
        assert_eq!(make_day(1970.0, -1.0, 1.0), -31.0);
        assert!(make_day(1e9, 0.0, 1.0).is_nan());
        assert!(time_clip(8.64e15 + 1.0).is_nan());
        assert_eq!(time_clip(-0.9).to_bits(), 0);
        assert_eq!(make_full_year(99.9), 1999.0);
    }
}
