//! `kill`: sends a signal to processes or jobs, or lists signals.

use super::options::{parse_integer, usage};
use crate::signals;
use crate::state::options::SetOption;
use crate::sys::{self, resource};
use crate::{Bytes, Outcome, Session};

/// `kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut signal = libc::SIGTERM;
    let mut rest = args.get(1..).unwrap_or_default();
    while let Some((word, after)) = rest.split_first() {
        match word.as_slice() {
            b"-l" | b"-L" => return Ok(list(session, after)),
            b"-s" | b"-n" => {
                let Some((value, after)) = after.split_first() else {
                    session
                        .builtin_error(b"kill", [word, b": option requires an argument".as_slice()].concat());
                    return Ok(1);
                };
                match signals::from_specification(value) {
                    Some(number) => signal = number,
                    None => return Ok(invalid_signal(session, value)),
                }
                rest = after;
            }
            b"--" => {
                rest = after;
                break;
            }
            b"-?" => return Ok(usage(session, b"kill")),
            [b'-', name @ ..] => {
                match signals::from_specification(
                    name.strip_prefix(b"s").filter(|n| !n.is_empty()).unwrap_or(name),
                )
                .or_else(|| signals::from_specification(name))
                {
                    Some(number) => signal = number,
                    None => return Ok(invalid_signal(session, name)),
                }
                rest = after;
                break;
            }
            _ => break,
        }
    }
    if rest.first().is_some_and(|w| w.as_slice() == b"--") {
        rest = rest.get(1..).unwrap_or_default();
    }
    if rest.is_empty() {
        return Ok(usage(session, b"kill"));
    }
    let mut sent = 0;
    for target in rest {
        sent += usize::from(send(session, target, signal));
    }
    Ok(i32::from(sent == 0))
}

fn invalid_signal(session: &mut Session, text: &[u8]) -> i32 {
    session.builtin_error(b"kill", [text, b": invalid signal specification"].concat());
    1
}

fn list(session: &mut Session, wanted: &[Bytes]) -> i32 {
    if wanted.is_empty() {
        // The names alone in POSIX mode, on one line.
        let text = if session.is(SetOption::Posix) { signals::names() } else { signals::table() };
        session.write_out(text.as_bytes());
        return 0;
    }
    let mut status = 0;
    for text in wanted {
        let shown = match parse_integer(text) {
            Some(number) => {
                let number = if number > 128 { number - 128 } else { number };
                if number == 0 {
                    Some("EXIT".to_owned())
                } else {
                    i32::try_from(number).ok().and_then(signals::name)
                }
            }
            None => signals::number_of(text).map(|n| n.to_string()),
        };
        match shown {
            Some(shown) => session.write_out(format!("{shown}\n").as_bytes()),
            None => status = invalid_signal(session, text),
        }
    }
    status
}

fn send(session: &mut Session, target: &[u8], signal: i32) -> bool {
    // What has ended is gone, and its number may belong to another process.
    session.reap();
    if target.first() == Some(&b'%') {
        session.flush_output();
        let number = target.get(1..).and_then(|name| session.jobs.find(name).ok());
        let job = session.jobs.list.iter().find(|job| Some(job.number) == number);
        let Some((pid, sent)) = job.map(|job| (job.pid, job.signal(signal))) else {
            session.builtin_error(b"kill", [target, b": no such job"].concat());
            return false;
        };
        if let Err(error) = sent {
            session.builtin_error(b"kill", format!("({pid}) - {}", sys::strerror(error)));
        }
        return sent.is_ok();
    }
    let pid = match parse_integer(target).and_then(|n| i32::try_from(n).ok()) {
        Some(pid) => pid,
        None if target.is_empty() => {
            session.builtin_error(b"kill", "`': not a pid or valid job spec");
            return false;
        }
        None => {
            let message = [target, b": arguments must be process or job IDs"].concat();
            session.builtin_error(b"kill", message);
            return false;
        }
    };
    session.flush_output();
    match resource::kill(pid, signal) {
        Ok(()) => true,
        Err(error) => {
            session.builtin_error(b"kill", format!("({pid}) - {}", sys::strerror(error)));
            false
        }
    }
}
