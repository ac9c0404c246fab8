//! Reading dates for `date -d` and `touch -d`: the common absolute forms. Anything else is `None`, and the
//! caller leaves it to the external program.

use super::days_from_civil;
use super::zone::TimeZone;

/// A moment: epoch seconds and nanoseconds.
pub type Moment = (i64, u32);

/// Reads `@seconds`, `now`, `YYYY-MM-DD`, `YYYY-MM-DD HH:MM[:SS[.fff]]` (with `T` or a blank between) and an
/// optional `Z`, `UTC` or `+hh:mm` behind.
pub fn parse(text: &str, now: Moment, zone: &TimeZone) -> Option<Moment> {
    let text = text.trim();
    if text == "now" {
        return Some(now);
    }
    if let Some(seconds) = text.strip_prefix('@') {
        return epoch(seconds);
    }
    let (date, rest) = text.split_at_checked(10)?;
    let days = date_days(date)?;
    if rest.is_empty() {
        return Some((zone.to_epoch(days * 86_400), 0));
    }
    let rest = rest.strip_prefix(['T', ' '])?.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(rest.len());
    let (seconds, nanoseconds) = time_seconds(rest.get(..end)?)?;
    let local = days * 86_400 + seconds;
    let suffix = rest.get(end..)?.trim();
    let moment = match suffix {
        "" => {
            // A local time that the change to summer time skips does not exist.
            let moment = zone.to_epoch(local);
            (moment + zone.offset_at(moment).0 == local).then_some(moment)?
        }
        "Z" | "UTC" | "GMT" => local,
        _ => local - offset(suffix)?,
    };
    Some((moment, nanoseconds))
}

fn epoch(text: &str) -> Option<Moment> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    let nanoseconds = nanoseconds(fraction)?;
    if whole.starts_with('-') && nanoseconds > 0 {
        return Some((seconds - 1, 1_000_000_000 - nanoseconds));
    }
    Some((seconds, nanoseconds))
}

fn nanoseconds(fraction: &str) -> Option<u32> {
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    digits.parse().ok()
}

fn date_days(date: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let year: i64 = digits(parts.next()?, 4)?;
    let month = digits(parts.next()?, 2)? as u32;
    let day = digits(parts.next()?, 2)? as u32;
    if parts.next().is_some() || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let days = days_from_civil(year, month, day);
    (super::civil_from_days(days) == (year, month, day)).then_some(days)
}

fn digits(text: &str, count: usize) -> Option<i64> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn time_seconds(text: &str) -> Option<(i64, u32)> {
    let (text, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = text.split(':');
    let hours = digits(parts.next()?, 2)?;
    let minutes = digits(parts.next()?, 2)?;
    let seconds = parts.next().map_or(Some(0), |s| digits(s, 2))?;
    let in_range = hours < 24 && minutes < 60 && seconds < 60 && parts.next().is_none();
    in_range.then_some((hours * 3_600 + minutes * 60 + seconds, nanoseconds(fraction)?))
}

fn offset(text: &str) -> Option<i64> {
    let negative = text.starts_with('-');
    let text = text.strip_prefix(['+', '-'])?.replace(':', "");
    let (hours, minutes) = match text.len() {
        2 => (digits(&text, 2)?, 0),
        4 => (digits(text.get(..2)?, 2)?, digits(text.get(2..)?, 2)?),
        _ => return None,
    };
    let seconds = hours * 3_600 + minutes * 60;
    Some(if negative { -seconds } else { seconds })
}
