//! `strftime` in the C locale, with the flags and widths of GNU `date`.

use super::{Civil, days_from_civil};

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The widest padding of a field.
const WIDTH_MAX: usize = 4_096;

/// One conversion's flags.
#[derive(Default, Clone, Copy)]
struct Flags {
    /// `_`, `-` or `0`.
    pad: Option<u8>,
    upper: bool,
    swap: bool,
    width: usize,
    colons: usize,
    /// `E` or `O`, which change nothing in the C locale.
    modifier: Option<u8>,
}

/// Formats `time` by `format`; `nanoseconds` is for `%N`. Unknown conversions are copied.
pub fn strftime(format: &[u8], time: &Civil, nanoseconds: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len() * 2);
    let mut at = 0;
    while let Some(&byte) = format.get(at) {
        at += 1;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let rest = format.get(at..).unwrap_or_default();
        let (flags, length) = read_flags(rest);
        let Some(&conversion) = rest.get(length) else {
            out.push(b'%');
            out.extend_from_slice(rest);
            break;
        };
        // Flags with nothing behind them stand for themselves.
        if conversion == b'%' && length > 0 {
            out.push(b'%');
            out.extend_from_slice(rest.get(..length).unwrap_or_default());
            at += length;
            continue;
        }
        let converted =
            if takes(conversion, flags) { convert(conversion, flags, time, nanoseconds) } else { None };
        match converted {
            Some(text) => out.extend_from_slice(text.as_bytes()),
            None => {
                out.push(b'%');
                out.extend_from_slice(rest.get(..=length).unwrap_or_default());
            }
        }
        at += length + 1;
    }
    out
}

/// Whether a conversion has the modifier and colons that stand before it.
fn takes(conversion: u8, flags: Flags) -> bool {
    let refused: &[u8] = match flags.modifier {
        _ if conversion != b'z' && flags.colons > 0 => return false,
        None => b"",
        Some(b'E') => b"aADFbBhdeHIjklmMNSuUVgGWwq",
        Some(_) => b"aADFcqxXY",
    };
    !refused.contains(&conversion)
}

/// Whether every conversion of `format` is known: what becomes of others with flags is not.
pub fn is_known(format: &[u8]) -> bool {
    let mut rest = format;
    while let Some(at) = memchr::memchr(b'%', rest) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let (flags, length) = read_flags(rest);
        match rest.get(length) {
            // What flags do to these is not known.
            Some(b'%' | b'n' | b't' | b'P' | b'z') if length > flags.colons => return false,
            Some(b'%') => rest = rest.get(1..).unwrap_or_default(),
            Some(conversion) if b"aAbBcCdDeFgGhHIjklmMnNpPqrRsSTtuUVwWxXyYzZ".contains(conversion) => {
                // Padding of what is made of several is that of its parts; of fractions it is the digits' own.
                let padded = flags.pad.is_some() && b"cDFNrRTxX".contains(conversion);
                if padded || !takes(*conversion, flags) {
                    return false;
                }
                rest = rest.get(length + 1..).unwrap_or_default();
            }
            _ => return false,
        }
    }
    true
}

fn read_flags(text: &[u8]) -> (Flags, usize) {
    let mut flags = Flags::default();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'_' | b'-' | b'0' => flags.pad = Some(byte),
            b'^' => flags.upper = true,
            b'#' => flags.swap = true,
            _ => break,
        }
        at += 1;
    }
    while let Some(digit) = text.get(at).filter(|b| b.is_ascii_digit()) {
        flags.width = (flags.width * 10 + usize::from(digit - b'0')).min(WIDTH_MAX);
        at += 1;
    }
    if let Some(modifier @ (b'E' | b'O')) = text.get(at) {
        flags.modifier = Some(*modifier);
        at += 1;
    }
    while text.get(at) == Some(&b':') {
        flags.colons += 1;
        at += 1;
    }
    (flags, at)
}

fn number(value: i64, digits: usize, default_pad: u8, flags: Flags) -> String {
    let width = if flags.width > 0 { flags.width } else { digits };
    match flags.pad.unwrap_or(default_pad) {
        b'-' => value.to_string(),
        b'_' => format!("{value:>width$}"),
        _ => format!("{value:0width$}"),
    }
}

fn text(value: &str, flags: Flags) -> String {
    let mut value = value.to_owned();
    if flags.upper || flags.swap {
        value.make_ascii_uppercase();
    }
    let width = if flags.pad == Some(b'-') { 0 } else { flags.width };
    if flags.pad == Some(b'0') { format!("{value:0>width$}") } else { format!("{value:>width$}") }
}

fn compound(format: &str, flags: Flags, time: &Civil, nanoseconds: u32) -> String {
    let value = strftime(format.as_bytes(), time, nanoseconds);
    let flags = Flags { swap: false, ..flags };
    text(&String::from_utf8_lossy(&value), flags)
}

fn convert(conversion: u8, flags: Flags, time: &Civil, nanoseconds: u32) -> Option<String> {
    let name = |names: &[&'static str], index: u32| names.get(index as usize).copied().unwrap_or("?");
    let short = |full: &'static str| full.get(..3).unwrap_or(full);
    let two = |value: u32| number(i64::from(value), 2, b'0', flags);
    let spaced = |value: u32| number(i64::from(value), 2, b'_', flags);
    let hour12 = if time.hour.is_multiple_of(12) { 12 } else { time.hour % 12 };
    Some(match conversion {
        b'%' => "%".into(),
        b'n' => "\n".into(),
        b't' => "\t".into(),
        b'a' => text(short(name(&DAYS, time.weekday)), flags),
        b'A' => text(name(&DAYS, time.weekday), flags),
        b'b' | b'h' => text(short(name(&MONTHS, time.month - 1)), flags),
        b'B' => text(name(&MONTHS, time.month - 1), flags),
        b'c' => compound("%a %b %e %H:%M:%S %Y", flags, time, nanoseconds),
        b'C' => number(time.year.div_euclid(100), 2, b'0', flags),
        b'd' => two(time.day),
        b'D' | b'x' => compound("%m/%d/%y", flags, time, nanoseconds),
        b'e' => spaced(time.day),
        b'F' => compound("%Y-%m-%d", flags, time, nanoseconds),
        b'g' => number(iso_week(time).0.rem_euclid(100), 2, b'0', flags),
        b'G' => number(iso_week(time).0, 4, b'0', flags),
        b'H' => two(time.hour),
        b'I' => two(hour12),
        b'j' => number(i64::from(time.yearday) + 1, 3, b'0', flags),
        b'k' => spaced(time.hour),
        b'l' => spaced(hour12),
        b'm' => two(time.month),
        b'M' => two(time.minute),
        b'N' => fraction(nanoseconds, flags),
        b'p' if flags.swap => half_day(time).to_ascii_lowercase(),
        b'p' => text(half_day(time), flags),
        b'P' => half_day(time).to_ascii_lowercase(),
        b'q' => number(i64::from((time.month - 1) / 3) + 1, 1, b'0', flags),
        b'r' => compound("%I:%M:%S %p", flags, time, nanoseconds),
        b'R' => compound("%H:%M", flags, time, nanoseconds),
        b's' => number(time.seconds, 1, b'0', flags),
        b'S' => two(time.second),
        b'T' | b'X' => compound("%H:%M:%S", flags, time, nanoseconds),
        b'u' => number(i64::from(if time.weekday == 0 { 7 } else { time.weekday }), 1, b'0', flags),
        b'U' => two((time.yearday + 7 - time.weekday) / 7),
        b'V' => number(iso_week(time).1, 2, b'0', flags),
        b'w' => number(i64::from(time.weekday), 1, b'0', flags),
        b'W' => two((time.yearday + 7 - (time.weekday + 6) % 7) / 7),
        b'y' => number(time.year.rem_euclid(100), 2, b'0', flags),
        b'Y' => number(time.year, if (0..10_000).contains(&time.year) { 4 } else { 1 }, b'0', flags),
        b'z' => offset(time.offset, flags)?,
        b'Z' if flags.swap => time.zone.to_ascii_lowercase(),
        b'Z' => text(&time.zone, flags),
        _ => return None,
    })
}

fn half_day(time: &Civil) -> &'static str {
    if time.hour < 12 { "AM" } else { "PM" }
}

fn fraction(nanoseconds: u32, flags: Flags) -> String {
    let digits = format!("{nanoseconds:09}");
    match (flags.pad, flags.width) {
        (Some(b'-'), 0) => {
            let trimmed = digits.trim_end_matches('0');
            if trimmed.is_empty() { "0".into() } else { trimmed.into() }
        }
        (_, 0) => digits,
        (_, width) if width <= 9 => digits.get(..width).unwrap_or(&digits).into(),
        (_, width) => format!("{digits:0<width$}"),
    }
}

fn offset(seconds: i64, flags: Flags) -> Option<String> {
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.abs();
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    Some(match flags.colons {
        0 => format!("{sign}{hours:02}{minutes:02}"),
        1 => format!("{sign}{hours:02}:{minutes:02}"),
        2 => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
        3 if rest != 0 => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
        3 if minutes != 0 => format!("{sign}{hours:02}:{minutes:02}"),
        3 => format!("{sign}{hours:02}"),
        _ => return None,
    })
}

/// The ISO 8601 week-based year and week.
fn iso_week(time: &Civil) -> (i64, i64) {
    let monday_based = i64::from((time.weekday + 6) % 7);
    let yearday = i64::from(time.yearday);
    let week = (yearday - monday_based + 10) / 7;
    if week < 1 {
        return (time.year - 1, weeks_in_year(time.year - 1));
    }
    if week > weeks_in_year(time.year) {
        return (time.year + 1, 1);
    }
    (time.year, week)
}

fn weeks_in_year(year: i64) -> i64 {
    let weekday = |year: i64| (days_from_civil(year, 12, 31) + 4).rem_euclid(7);
    if weekday(year) == 4 || weekday(year - 1) == 3 { 53 } else { 52 }
}
