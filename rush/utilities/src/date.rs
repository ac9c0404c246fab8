//! `date`: shows the time. Flags: `-u -d DATE` for the common forms, `-r FILE -R -I[SPEC] --rfc-3339=SPEC`,
//! `+FORMAT`; setting the clock is left to the external program.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use crate::calendar::parse::parse as parse_date;
use crate::calendar::zone::TimeZone;
use crate::calendar::{Civil, is_known, strftime};
use crate::context::reason;
use crate::options::parse;
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    // `-I` takes its value only glued on; make it the long form.
    let mut args = context.args.to_vec();
    for word in args.iter_mut().skip(1) {
        if let Some(specification) = word.strip_prefix(b"-I") {
            *word = [b"--iso-8601=".as_slice(), specification].concat();
        }
    }
    let long = [
        ("utc", b'u'),
        ("universal", b'u'),
        ("date=", b'd'),
        ("reference=", b'r'),
        ("rfc-email", b'R'),
        ("iso-8601?", b'I'),
        ("rfc-3339=", b'3'),
    ];
    let Some(parsed) = parse(&args, "ud:r:R", &long) else { return Ok(Outcome::Fallthrough) };
    let locale =
        ["LC_ALL", "LC_TIME", "LANG"].iter().find_map(|n| context.host.variable(n).filter(|v| !v.is_empty()));
    let plain = locale.is_none_or(|l| matches!(l.as_slice(), b"C" | b"POSIX" | b"C.UTF-8" | b"C.utf8"));
    let formats =
        parsed.given.iter().filter(|(l, _)| matches!(l, b'R' | b'I' | b'3')).count() + parsed.operands.len();
    if !plain || formats > 1 || (parsed.has(b'd') && parsed.has(b'r')) {
        return Ok(Outcome::Fallthrough);
    }
    let Some(format) = format(&parsed).filter(|format| is_known(format)) else {
        return Ok(Outcome::Fallthrough);
    };
    let zone = if parsed.has(b'u') { TimeZone::utc() } else { context.time_zone() };
    let now = context.host.now();
    let (seconds, nanoseconds) = if let Some(text) = parsed.value(b'd') {
        match parse_date(&String::from_utf8_lossy(text), now, &zone) {
            Some(moment) => moment,
            None => return Ok(Outcome::Fallthrough),
        }
    } else if let Some(file) = parsed.value(b'r') {
        match fs::metadata(context.path(file)) {
            Ok(m) => (m.mtime(), m.mtime_nsec() as u32),
            Err(error) => {
                context.complain(&[&context.before_colon(file), b": ", reason(&error).as_bytes()]);
                return Ok(Outcome::Status(1));
            }
        }
    } else {
        now
    };
    let civil = Civil::new(seconds, &zone);
    // Years of less than four digits are padded in some conversions and not in others.
    if civil.year < 1_000 && memchr::memchr(b'c', format).is_some() {
        return Ok(Outcome::Fallthrough);
    }
    let mut out = strftime(format, &civil, nanoseconds);
    out.push(b'\n');
    context.output.write_all(&out)?;
    Ok(Outcome::Status(0))
}

fn format<'a>(parsed: &crate::options::Parsed<'a>) -> Option<&'a [u8]> {
    if let Some(operand) = parsed.operands.first() {
        return operand.strip_prefix(b"+");
    }
    if parsed.has(b'R') {
        return Some(b"%a, %d %b %Y %H:%M:%S %z");
    }
    if let Some(specification) = parsed.value(b'I') {
        return Some(match specification {
            b"" | b"date" => b"%Y-%m-%d",
            b"hours" => b"%Y-%m-%dT%H%:z",
            b"minutes" => b"%Y-%m-%dT%H:%M%:z",
            b"seconds" | b"s" => b"%Y-%m-%dT%H:%M:%S%:z",
            b"ns" => b"%Y-%m-%dT%H:%M:%S,%N%:z",
            _ => return None,
        });
    }
    if let Some(specification) = parsed.value(b'3') {
        return Some(match specification {
            b"date" => b"%Y-%m-%d",
            b"seconds" => b"%Y-%m-%d %H:%M:%S%:z",
            b"ns" => b"%Y-%m-%d %H:%M:%S.%N%:z",
            _ => return None,
        });
    }
    Some(b"%a %b %e %H:%M:%S %Z %Y")
}
