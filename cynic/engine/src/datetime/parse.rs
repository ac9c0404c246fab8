//! Date.parse: the Date Time String Format, and the forms that `toString`, `toUTCString` and people write.
//!
//! The standard format is matched whole or not at all; the fallback reads tokens in any order that makes a date, and is
//! lenient as other engines are. The result says whether the time is local, which only the caller can resolve.
//! <https://tc39.es/ecma262/#sec-date-time-string-format>

use super::civil::{MS_PER_MINUTE, days_in_month, make_date, make_day, make_time};
use super::format::MONTHS;

/// A parsed date.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Parsed {
    /// A time value in UTC.
    Utc(f64),
    /// A time value in the local zone, still to be moved.
    Local(f64),
}

/// Parses a date; `None` if it is not one.
pub(crate) fn parse(text: &str) -> Option<Parsed> {
    let bytes = text.trim().as_bytes();
    if claims_standard_format(bytes) { iso(bytes) } else { iso(bytes).or_else(|| lenient(text)) }
}

/// Whether a text begins as the standard format does, so that its illegal elements must make it NaN.
fn claims_standard_format(bytes: &[u8]) -> bool {
    let signed = matches!(bytes.first(), Some(b'+' | b'-'));
    let digit_at = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    signed || ((0..4).all(digit_at) && bytes.get(4) == Some(&b'-') && digit_at(5) && digit_at(6))
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let slice = self.bytes.get(self.at..self.at + count)?;
        if !slice.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.at += count;
        Some(slice.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    }
}

fn iso(bytes: &[u8]) -> Option<Parsed> {
    let mut c = Cursor { bytes, at: 0 };
    let year = iso_year(&mut c)?;
    let (mut month, mut day) = (1, 1);
    if c.eat(b'-') {
        month = c.digits(2)?;
        if c.eat(b'-') {
            day = c.digits(2)?;
        }
    }
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month - 1)).contains(&day) {
        return None;
    }
    let days = make_day(year as f64, (month - 1) as f64, day as f64);
    if c.at == bytes.len() {
        return Some(Parsed::Utc(days * super::civil::MS_PER_DAY));
    }
    if !(c.eat(b'T') || c.eat(b't') || c.eat(b' ')) {
        return None;
    }
    let local = make_date(days, iso_time(&mut c)?);
    let offset = iso_offset(&mut c)?;
    if c.at != bytes.len() {
        return None;
    }
    Some(offset.map_or(Parsed::Local(local), |minutes| Parsed::Utc(local - minutes as f64 * MS_PER_MINUTE)))
}

fn iso_year(c: &mut Cursor<'_>) -> Option<i64> {
    if c.eat(b'+') {
        return c.digits(6);
    }
    if c.eat(b'-') {
        let year = c.digits(6)?;
        return (year != 0).then_some(-year);
    }
    c.digits(4)
}

fn iso_time(c: &mut Cursor<'_>) -> Option<f64> {
    let hour = c.digits(2)?;
    if !c.eat(b':') {
        return None;
    }
    let minute = c.digits(2)?;
    let (mut second, mut ms) = (0, 0.0);
    if c.eat(b':') {
        second = c.digits(2)?;
        if c.eat(b'.') || c.eat(b',') {
            ms = fraction_ms(c)?;
        }
    }
    let midnight_at_the_end = hour == 24 && minute == 0 && second == 0 && ms == 0.0;
    if (hour > 23 && !midnight_at_the_end) || minute > 59 || second > 59 {
        return None;
    }
    Some(make_time(hour as f64, minute as f64, second as f64, ms))
}

/// At least one digit; beyond milliseconds they are cut off.
fn fraction_ms(c: &mut Cursor<'_>) -> Option<f64> {
    let mut scale = 100;
    let mut ms = 0;
    let start = c.at;
    while let Some(digit @ b'0'..=b'9') = c.peek() {
        ms += i64::from(digit - b'0') * scale;
        scale /= 10;
        c.at += 1;
    }
    (c.at > start).then_some(ms as f64)
}

/// The offset in minutes; `Some(None)` where there is none.
fn iso_offset(c: &mut Cursor<'_>) -> Option<Option<i64>> {
    if c.eat(b'Z') || c.eat(b'z') {
        return Some(Some(0));
    }
    let sign = match c.peek() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Some(None),
    };
    c.at += 1;
    let hour = c.digits(2)?;
    let _ = c.eat(b':');
    let minute = c.digits(2)?;
    (hour < 24 && minute < 60).then_some(Some(sign * (hour * 60 + minute)))
}

/// What the lenient reader has gathered.
#[derive(Default)]
struct Gathered {
    numbers: Vec<(i64, usize)>,
    month: Option<i64>,
    /// How many numbers came before the month's name.
    numbers_before_month: usize,
    time: Option<(i64, i64, i64, f64)>,
    afternoon: Option<bool>,
    offset_minutes: Option<i64>,
}

fn lenient(text: &str) -> Option<Parsed> {
    let bytes = text.as_bytes();
    let mut gathered = Gathered::default();
    let mut at = 0;
    while at < bytes.len() {
        at = match bytes[at] {
            b'(' => skip_parentheses(bytes, at),
            b'0'..=b'9' => number(bytes, at, &mut gathered)?,
            b'+' | b'-' if gathered.time.is_some() || gathered.offset_minutes.is_some() => {
                offset(bytes, at, &mut gathered)?
            }
            byte if byte.is_ascii_alphabetic() => word(bytes, at, &mut gathered)?,
            b' ' | b',' | b'-' | b'/' | b'.' | b'\t' | b'\n' => at + 1,
            _ => return None,
        };
    }
    resolve(&gathered)
}

fn skip_parentheses(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn read_digits(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 || length > 9 {
        return None;
    }
    let value = bytes[at..at + length].iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    Some((value, at + length))
}

fn number(bytes: &[u8], at: usize, gathered: &mut Gathered) -> Option<usize> {
    let (value, mut end) = read_digits(bytes, at)?;
    if bytes.get(end) != Some(&b':') {
        gathered.numbers.push((value, end - at));
        return Some(end);
    }
    if gathered.time.is_some() {
        return None;
    }
    let (minute, after_minute) = read_digits(bytes, end + 1)?;
    end = after_minute;
    let (mut second, mut ms) = (0, 0.0);
    if bytes.get(end) == Some(&b':') {
        (second, end) = read_digits(bytes, end + 1)?;
        if bytes.get(end) == Some(&b'.') {
            let mut c = Cursor { bytes, at: end + 1 };
            ms = fraction_ms(&mut c)?;
            end = c.at;
        }
    }
    gathered.time = Some((value, minute, second, ms));
    Some(end)
}

fn offset(bytes: &[u8], at: usize, gathered: &mut Gathered) -> Option<usize> {
    let sign = if bytes[at] == b'-' { -1 } else { 1 };
    let (value, mut end) = read_digits(bytes, at + 1)?;
    let digits = end - at - 1;
    let (hour, minute) = if bytes.get(end) == Some(&b':') {
        let (minute, after) = read_digits(bytes, end + 1)?;
        end = after;
        (value, minute)
    } else if digits <= 2 {
        (value, 0)
    } else {
        (value / 100, value % 100)
    };
    if hour > 23 || minute > 59 {
        return None;
    }
    gathered.offset_minutes = Some(sign * (hour * 60 + minute));
    Some(end)
}

fn word(bytes: &[u8], at: usize, gathered: &mut Gathered) -> Option<usize> {
    /// Zones that RFC 2822 knows by name, with their offsets in hours.
    const ZONES: [(&str, i64); 11] = [
        ("z", 0),
        ("gmt", 0),
        ("ut", 0),
        ("utc", 0),
        ("est", -5),
        ("edt", -4),
        ("cst", -6),
        ("cdt", -5),
        ("mst", -7),
        ("mdt", -6),
        ("pst", -8),
    ];
    let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let word = String::from_utf8_lossy(&bytes[at..at + length]).to_ascii_lowercase();
    let end = at + length;
    let starts = |name: &str| length >= 3 && word.starts_with(&name.to_ascii_lowercase());
    if let Some(month) = MONTHS.iter().position(|name| starts(name)) {
        gathered.month = Some(month as i64);
        gathered.numbers_before_month = gathered.numbers.len();
    } else if let Some((_, hours)) = ZONES.iter().find(|zone| zone.0 == word) {
        gathered.offset_minutes = Some(hours * 60);
    } else if word == "pdt" {
        gathered.offset_minutes = Some(-7 * 60);
    } else if word == "am" || word == "pm" {
        gathered.afternoon = Some(word == "pm");
    } else if word == "t" && !gathered.numbers.is_empty() {
        return Some(end);
    } else if !["sun", "mon", "tue", "wed", "thu", "fri", "sat"].iter().any(|name| starts(name)) {
        return None;
    }
    Some(end)
}

fn resolve(gathered: &Gathered) -> Option<Parsed> {
    let (year, month, day) = resolve_date(gathered)?;
    if !(0..12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (mut hour, minute, second, ms) = gathered.time.unwrap_or((0, 0, 0, 0.0));
    if let Some(afternoon) = gathered.afternoon {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if afternoon { 12 } else { 0 };
    }
    if hour > 24 || minute > 59 || second > 59 {
        return None;
    }
    let days = make_day(year as f64, month as f64, day as f64);
    let local = make_date(days, make_time(hour as f64, minute as f64, second as f64, ms));
    Some(match gathered.offset_minutes {
        Some(minutes) => Parsed::Utc(local - minutes as f64 * MS_PER_MINUTE),
        None => Parsed::Local(local),
    })
}

fn resolve_date(gathered: &Gathered) -> Option<(i64, i64, i64)> {
    let full = |(year, digits): (i64, usize)| match (year, digits) {
        (0..=49, 1..=2) => year + 2000,
        (50..=99, 1..=2) => year + 1900,
        _ => year,
    };
    let numbers = &gathered.numbers;
    if let Some(month) = gathered.month {
        return match numbers[..] {
            [first, second] if first.1 > 2 => Some((full(first), month, second.0)),
            [first, second] => Some((full(second), month, first.0)),
            [only] if only.1 > 2 => Some((only.0, month, 1)),
            [only] => Some((2001, month, only.0)),
            _ => None,
        };
    }
    match numbers[..] {
        [year, month, day] if year.1 > 2 => Some((year.0, month.0 - 1, day.0)),
        [month, day, year] => Some((full(year), month.0 - 1, day.0)),
        [year, month] if year.1 > 2 => Some((year.0, month.0 - 1, 1)),
        [month, day] => Some((2001, month.0 - 1, day.0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> Option<f64> {
        match parse(text) {
            Some(Parsed::Utc(time)) => Some(time),
            _ => None,
        }
    }

    #[test]
    fn the_standard_format() {
        assert_eq!(utc("1970"), Some(0.0));
        assert_eq!(utc("1970-01-02"), Some(86_400_000.0));
        assert_eq!(parse("1970-01-01T00:00"), Some(Parsed::Local(0.0)));
        assert_eq!(utc("1970-01-01T24:00:00Z"), Some(86_400_000.0));
        assert_eq!(utc("1970-01-01T00:00:00.123456+01:00"), Some(123.0 - 3_600_000.0));
        assert_eq!(utc("+275760-09-13T00:00:00.000Z"), Some(8.64e15));
        assert_eq!(utc("-000001-01-01T00:00:00Z"), Some(-62_198_755_200_000.0));
    }

    #[test]
    fn what_is_not_a_date() {
        for text in [
            "",
            "-000000-01-01T00:00:00Z",
            "2000-02-30",
            "2000-13-01",
            "hello",
            "1970-01-01T25:00Z",
            "2000-01-01T00:00:00Zjunk",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_engine_itself_prints() {
        assert_eq!(utc("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0.0));
        assert_eq!(utc("Thu Jan 01 1970 01:00:00 GMT+0100 (Central European Standard Time)"), Some(0.0));
        assert_eq!(parse("Thu Jan 01 1970"), Some(Parsed::Local(0.0)));
    }

    #[test]
    fn what_people_write() {
        assert_eq!(parse("1/2/1970"), Some(Parsed::Local(86_400_000.0)));
        assert_eq!(parse("1970/01/02"), Some(Parsed::Local(86_400_000.0)));
        assert_eq!(parse("Jan 2, 1970 1:00 PM"), Some(Parsed::Local(86_400_000.0 + 13.0 * 3_600_000.0)));
        assert_eq!(parse("2 January 70"), Some(Parsed::Local(86_400_000.0)));
        assert_eq!(utc("Jan 1 1970 00:00 EST"), Some(5.0 * 3_600_000.0));
    }
}
