//! `ulimit`: resource limits of the shell and what it starts.

use super::options::invalid_option;
use crate::sys::resource::{Limits, limits, set_limits};
use crate::{Bytes, Outcome, Session, sys};

struct Resource {
    letter: u8,
    description: &'static str,
    unit: &'static str,
    factor: u64,
    /// `None` for the size of a pipe, which is a constant.
    number: Option<u32>,
}

const UNLIMITED: u64 = libc::RLIM_INFINITY;

macro_rules! resource {
    ($letter:literal, $description:literal, $unit:literal, $factor:literal, $number:ident) => {
        Resource {
            letter: $letter,
            description: $description,
            unit: $unit,
            factor: $factor,
            number: Some(libc::$number as u32),
        }
    };
}

/// In the order of `ulimit -a`.
static RESOURCES: &[Resource] = &[
    #[cfg(target_os = "linux")]
    Resource {
        letter: b'R',
        description: "real-time non-blocking time",
        unit: "microseconds",
        factor: 1,
        number: Some(RLIMIT_RTTIME),
    },
    resource!(b'c', "core file size", "blocks", 1024, RLIMIT_CORE),
    resource!(b'd', "data seg size", "kbytes", 1024, RLIMIT_DATA),
    #[cfg(target_os = "linux")]
    resource!(b'e', "scheduling priority", "", 1, RLIMIT_NICE),
    resource!(b'f', "file size", "blocks", 1024, RLIMIT_FSIZE),
    #[cfg(target_os = "linux")]
    resource!(b'i', "pending signals", "", 1, RLIMIT_SIGPENDING),
    resource!(b'l', "max locked memory", "kbytes", 1024, RLIMIT_MEMLOCK),
    resource!(b'm', "max memory size", "kbytes", 1024, RLIMIT_RSS),
    resource!(b'n', "open files", "", 1, RLIMIT_NOFILE),
    Resource { letter: b'p', description: "pipe size", unit: "512 bytes", factor: 512, number: None },
    #[cfg(target_os = "linux")]
    resource!(b'q', "POSIX message queues", "bytes", 1, RLIMIT_MSGQUEUE),
    #[cfg(target_os = "linux")]
    resource!(b'r', "real-time priority", "", 1, RLIMIT_RTPRIO),
    resource!(b's', "stack size", "kbytes", 1024, RLIMIT_STACK),
    resource!(b't', "cpu time", "seconds", 1, RLIMIT_CPU),
    resource!(b'u', "max user processes", "", 1, RLIMIT_NPROC),
    resource!(b'v', "virtual memory", "kbytes", 1024, RLIMIT_AS),
    #[cfg(target_os = "linux")]
    resource!(b'x', "file locks", "", 1, RLIMIT_LOCKS),
];

/// Not in every C library's headers.
#[cfg(target_os = "linux")]
const RLIMIT_RTTIME: u32 = 15;

#[derive(Clone, Copy, Default)]
struct Which {
    soft: bool,
    hard: bool,
}

/// `ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut which = Which::default();
    let mut all = false;
    // Each resource asked for, with the new limit if one follows it.
    let mut asked: Vec<(&Resource, Option<&[u8]>)> = Vec::new();
    let mut rest = args.get(1..).unwrap_or_default();
    while let Some((word, after)) = rest.split_first() {
        let Some(letters) = word.strip_prefix(b"-").filter(|l| !l.is_empty()) else { break };
        rest = after;
        if letters == b"-" {
            if let (Some((_, value)), Some((word, after))) = (asked.last_mut(), rest.split_first()) {
                *value = Some(word);
                rest = after;
            }
            break;
        }
        for &letter in letters {
            match letter {
                b'S' => which.soft = true,
                b'H' => which.hard = true,
                b'a' => all = true,
                _ => match RESOURCES.iter().find(|r| r.letter == letter) {
                    Some(resource) => asked.push((resource, None)),
                    None => return Ok(invalid_option(session, b"ulimit", &[b'-', letter])),
                },
            }
        }
        if let Some((_, value)) = asked.last_mut()
            && let Some((word, after)) = rest.split_first()
            && word.first() != Some(&b'-')
        {
            *value = Some(word);
            rest = after;
        }
    }
    if all {
        for resource in RESOURCES {
            show(session, resource, which, true);
        }
        return Ok(0);
    }
    if asked.is_empty() {
        let file_size = RESOURCES.iter().find(|r| r.letter == b'f');
        asked.extend(file_size.map(|r| (r, rest.first().map(Vec::as_slice))));
    }
    let several = asked.len() > 1;
    for (resource, value) in asked {
        let status = match value {
            None => show(session, resource, which, several),
            Some(value) => {
                session.ensure_real_process()?;
                set(session, resource, which, value)
            }
        };
        if status != 0 {
            return Ok(status);
        }
    }
    Ok(0)
}

fn show(session: &mut Session, resource: &Resource, which: Which, described: bool) -> i32 {
    let found = match resource.number {
        None => Ok(Limits { soft: 4_096, hard: 4_096 }),
        Some(number) => limits(number),
    };
    let limits = match found {
        Ok(limits) => limits,
        Err(error) => return fail(session, resource, "cannot get limit", error),
    };
    let value = if which.hard && !which.soft { limits.hard } else { limits.soft };
    let value =
        if value == UNLIMITED { "unlimited".to_owned() } else { (value / resource.factor).to_string() };
    let line = if described {
        let letter = resource.letter as char;
        let unit = if resource.unit.is_empty() {
            format!("(-{letter}) ")
        } else {
            format!("({}, -{letter}) ", resource.unit)
        };
        format!("{:<20} {unit:>20}{value}\n", resource.description)
    } else {
        format!("{value}\n")
    };
    session.write_out(line.as_bytes());
    0
}

fn fail(session: &mut Session, resource: &Resource, what: &str, error: i32) -> i32 {
    let message = format!("{}: {what}: {}", resource.description, sys::strerror(error));
    session.builtin_error(b"ulimit", message);
    1
}

fn set(session: &mut Session, resource: &Resource, which: Which, value: &[u8]) -> i32 {
    let word = matches!(value, b"hard" | b"soft" | b"unlimited");
    if !word && parse(value, resource.factor).is_none() {
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let reason: &[u8] = if digits { b": limit out of range" } else { b": invalid number" };
        session.builtin_error(b"ulimit", [value, reason].concat());
        return 1;
    }
    let Some(number) = resource.number else {
        return fail(session, resource, "cannot modify limit", libc::EINVAL);
    };
    let old = match limits(number) {
        Ok(limits) => limits,
        Err(error) => return fail(session, resource, "cannot get limit", error),
    };
    let new = match value {
        b"hard" => old.hard,
        b"soft" => old.soft,
        b"unlimited" => UNLIMITED,
        _ => match parse(value, resource.factor) {
            Some(new) => new,
            None => return 1,
        },
    };
    let both = which.soft == which.hard;
    let changed = Limits {
        soft: if both || which.soft { new } else { old.soft },
        hard: if both || which.hard { new } else { old.hard },
    };
    match set_limits(number, changed) {
        Ok(()) => 0,
        Err(error) => fail(session, resource, "cannot modify limit", error),
    }
}

fn parse(value: &[u8], factor: u64) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |b: &u8| u64::from(b - b'0');
    let number = value.iter().try_fold(0u64, |v, b| v.checked_mul(10)?.checked_add(digit(b)))?;
    let limit = number.checked_mul(factor)?;
    (limit < UNLIMITED).then_some(limit)
}
