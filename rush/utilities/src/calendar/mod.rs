//! Civil time: epoch seconds to broken-down local time and back, and `strftime`.
//!
//! Owns the proleptic Gregorian calendar and the C locale's names. [`zone`] owns time zones. Reads no clock:
//! the time comes from the caller, and so does the value of `TZ`.

mod format;
pub mod parse;
pub mod zone;

pub use format::{is_known, strftime};

/// Broken-down time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Civil {
    /// The full year.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
    /// 0 is Sunday.
    pub weekday: u32,
    /// 0 is the first of January.
    pub yearday: u32,
    /// Seconds east of Greenwich.
    pub offset: i64,
    /// The zone's abbreviation.
    pub zone: String,
    /// Seconds since the epoch.
    pub seconds: i64,
}

/// Days since 1970-01-01 of a civil date.
pub fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    // Years begin in March so that the leap day is the last of the year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The civil date of a number of days since 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 } as u32;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

impl Civil {
    /// Breaks down `seconds` since the epoch in the zone.
    pub fn new(seconds: i64, zone: &zone::TimeZone) -> Self {
        let (offset, abbreviation) = zone.offset_at(seconds);
        let local = seconds.saturating_add(offset);
        let days = local.div_euclid(86_400);
        let time = local.rem_euclid(86_400) as u32;
        let (year, month, day) = civil_from_days(days);
        Self {
            year,
            month,
            day,
            hour: time / 3_600,
            minute: time / 60 % 60,
            second: time % 60,
            weekday: (days + 4).rem_euclid(7) as u32,
            yearday: (days - days_from_civil(year, 1, 1)) as u32,
            offset,
            zone: abbreviation,
            seconds,
        }
    }
}
