//! `touch`: sets file times. Flags: `-a -m -c -r FILE -t STAMP -d DATE` for the common forms of dates.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::calendar::parse::{Moment, parse as parse_date};
use crate::calendar::{Civil, days_from_civil};
use crate::context::reason;
use crate::options::{number, parse};
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [("no-create", b'c'), ("reference=", b'r'), ("date=", b'd')];
    let Some(parsed) = parse(context.args, "acmr:t:d:f", &long) else { return Ok(Outcome::Fallthrough) };
    let sources = parsed.given.iter().filter(|(l, _)| matches!(l, b'r' | b't' | b'd')).count();
    if parsed.operands.is_empty() || sources > 1 || parsed.operands.contains(&b"-".as_slice()) {
        return Ok(Outcome::Fallthrough);
    }
    let now = context.host.now();
    let (access, modification) = if let Some(reference) = parsed.value(b'r') {
        match fs::metadata(context.path(reference)).and_then(|m| Ok((m.accessed()?, m.modified()?))) {
            Ok(times) => times,
            Err(_) => return Ok(Outcome::Fallthrough),
        }
    } else {
        let moment = match (parsed.value(b'd'), parsed.value(b't')) {
            (Some(date), _) => parse_date(&String::from_utf8_lossy(date), now, &context.time_zone()),
            (_, Some(stamp)) => parse_stamp(context, stamp, now.0),
            _ => Some(now),
        };
        let Some(time) = moment.and_then(system_time) else { return Ok(Outcome::Fallthrough) };
        (time, time)
    };
    let both = parsed.has(b'a') == parsed.has(b'm');
    let mut times = FileTimes::new();
    if both || parsed.has(b'a') {
        times = times.set_accessed(access);
    }
    if both || parsed.has(b'm') {
        times = times.set_modified(modification);
    }
    let mut status = 0;
    for word in &parsed.operands {
        if let Err((creating, error)) = touch(&context.path(word), parsed.has(b'c'), times) {
            let what: &[u8] = if creating { b"cannot touch " } else { b"setting times of " };
            context.complain(&[what, &context.quoted(word), b": ", reason(&error).as_bytes()]);
            status = 1;
        }
    }
    Ok(Outcome::Status(status))
}

fn touch(path: &Path, no_create: bool, times: FileTimes) -> Result<(), (bool, io::Error)> {
    let opened = OpenOptions::new().write(true).create(!no_create).truncate(false).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if no_create && error.kind() == ErrorKind::NotFound => return Ok(()),
        // Of a name that can only be a folder's, the other error is told.
        Err(error) if error.kind() == ErrorKind::IsADirectory => File::open(path).map_err(|e| (false, e))?,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            File::open(path).map_err(|_| (true, error))?
        }
        Err(error) => return Err((!no_create, error)),
    };
    file.set_times(times).map_err(|e| (false, e))
}

/// A moment as the standard library has it.
pub(crate) fn system_time((seconds, nanoseconds): Moment) -> Option<SystemTime> {
    let fraction = Duration::from_nanos(u64::from(nanoseconds));
    let base = if seconds >= 0 {
        UNIX_EPOCH.checked_add(Duration::from_secs(seconds.unsigned_abs()))
    } else {
        UNIX_EPOCH.checked_sub(Duration::from_secs(seconds.unsigned_abs()))
    };
    base?.checked_add(fraction)
}

/// `[[CC]YY]MMDDhhmm[.ss]`
fn parse_stamp(context: &Context<'_>, stamp: &[u8], now: i64) -> Option<Moment> {
    let (digits, seconds) = match stamp.iter().position(|&b| b == b'.') {
        Some(at) => (stamp.get(..at)?, stamp.get(at + 1..).filter(|s| s.len() == 2).and_then(number)?),
        None => (stamp, 0),
    };
    let zone = context.time_zone();
    let (year, rest) = match digits.len() {
        8 => (Civil::new(now, &zone).year, digits),
        10 => {
            let year = number(digits.get(..2)?)? as i64;
            (year + if year < 69 { 2_000 } else { 1_900 }, digits.get(2..)?)
        }
        12 => (number(digits.get(..4)?)? as i64, digits.get(4..)?),
        _ => return None,
    };
    let field = |at: usize| rest.get(at..at + 2).and_then(number);
    let (month, day, hour, minute) = (field(0)?, field(2)?, field(4)?, field(6)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || seconds > 60 {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if day > length {
        return None;
    }
    let days = days_from_civil(year, month as u32, day as u32);
    let local = days * 86_400 + (hour * 3_600 + minute * 60 + seconds) as i64;
    Some((zone.to_epoch(local), 0))
}
