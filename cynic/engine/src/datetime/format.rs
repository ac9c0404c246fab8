//! The texts of a time value: ISO, UTC and the local forms.
//!
//! Local forms take the offset and the zone's name; the caller has already moved the time value.

use super::civil::Fields;

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
/// Month names, as printed and as parsed.
pub(crate) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn weekday(fields: &Fields) -> &'static str {
    WEEKDAYS[fields.weekday.rem_euclid(7) as usize]
}

fn month(fields: &Fields) -> &'static str {
    MONTHS[fields.month.rem_euclid(12) as usize]
}

fn year(year: i64) -> String {
    if year < 0 { format!("-{:04}", -year) } else { format!("{year:04}") }
}

/// Date.prototype.toISOString for a finite time value.
pub(crate) fn iso_string(time: f64) -> String {
    let f = Fields::of(time);
    let year = match f.year {
        0..=9999 => format!("{:04}", f.year),
        negative @ ..0 => format!("-{:06}", -negative),
        large => format!("+{large:06}"),
    };
    let (month, day) = (f.month + 1, f.day);
    let (hour, minute, second, ms) = (f.hour, f.minute, f.second, f.millisecond);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Date.prototype.toUTCString for a finite time value.
pub(crate) fn utc_string(time: f64) -> String {
    let f = Fields::of(time);
    let (year, time) = (year(f.year), clock(&f));
    format!("{}, {:02} {} {year} {time} GMT", weekday(&f), f.day, month(&f))
}

/// DateString. <https://tc39.es/ecma262/#sec-datestring>
pub(crate) fn date_string(local_time: f64) -> String {
    let f = Fields::of(local_time);
    format!("{} {} {:02} {}", weekday(&f), month(&f), f.day, year(f.year))
}

/// TimeString followed by TimeZoneString. <https://tc39.es/ecma262/#sec-timestring>
pub(crate) fn time_string(local_time: f64, offset_ms: f64, zone_name: &str) -> String {
    let time = clock(&Fields::of(local_time));
    let minutes = (offset_ms.abs() / 60_000.0) as i64;
    let sign = if offset_ms < 0.0 { '-' } else { '+' };
    let zone = if zone_name.is_empty() { String::new() } else { format!(" ({zone_name})") };
    format!("{time} GMT{sign}{:02}{:02}{zone}", minutes / 60, minutes % 60)
}

fn clock(f: &Fields) -> String {
    format!("{:02}:{:02}:{:02}", f.hour, f.minute, f.second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms() {
        assert_eq!(iso_string(0.0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_string(8.64e15), "+275760-09-13T00:00:00.000Z");
        assert_eq!(iso_string(-62_198_755_200_000.0), "-000001-01-01T00:00:00.000Z");
        assert_eq!(utc_string(-1.0), "Wed, 31 Dec 1969 23:59:59 GMT");
        assert_eq!(date_string(-62_198_755_200_000.0), "Fri Jan 01 -0001");
        assert_eq!(time_string(0.0, -19_800_000.0, "X"), "00:00:00 GMT-0530 (X)");
    }
}
