//! `printf`: the builtin around [`crate::printf`].

use std::time::{SystemTime, UNIX_EPOCH};

use rush_utilities::calendar::zone::TimeZone;
use rush_utilities::calendar::{Civil, strftime};

use super::assign::{assign_reference, is_reference};
use super::options::{OptionReader, usage};
use crate::printf::{Host, printf};
use crate::{Bytes, Outcome, Session};

/// `printf [-v var] format [arguments]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut target = None;
    let mut options = OptionReader::new(args, "v:");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) if is_reference(found.value) => target = Some(found.value),
            Ok(Some(found)) => {
                session.builtin_error(b"printf", super::assign::not_an_identifier(found.value));
                return Ok(2);
            }
            Err(status) => return Ok(status),
        }
    }
    let Some((format, arguments)) = options.operands().split_first() else {
        return Ok(usage(session, b"printf"));
    };
    let mut out = Bytes::with_capacity(64);
    let status = printf(format, arguments, &mut out, &mut Door { session, prints: target.is_none() });
    match target {
        None => session.write_out(&out),
        Some(name) => {
            out.truncate(out.iter().position(|&b| b == 0).unwrap_or(out.len()));
            if !assign_reference(session, b"printf", name, out)? {
                return Ok(1);
            }
        }
    }
    Ok(status)
}

/// The room for `%(...)T`.
const TIME_BYTES_MAX: usize = 128;

struct Door<'s> {
    session: &'s mut Session,
    /// Whether the output is printed, rather than assigned.
    prints: bool,
}

impl Host for Door<'_> {
    fn error(&mut self, written: &mut Vec<u8>, message: &[u8]) {
        if self.prints {
            // The output is line-buffered: what has no newline yet comes after the message.
            let lines = written.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            self.session.write_out(&written[..lines]);
            written.drain(..lines);
        }
        self.session.builtin_error(b"printf", message);
    }

    fn now(&mut self) -> i64 {
        seconds_now()
    }

    fn is_utf8(&mut self) -> bool {
        self.session.separators();
        self.session.utf8
    }

    fn started(&mut self) -> i64 {
        self.session.builtin_state.started
    }

    fn format_time(&mut self, format: &[u8], seconds: i64) -> Bytes {
        let text = strftime(format, &Civil::new(seconds, &time_zone(self.session)), 0);
        // bash has a buffer for 128 bytes and shows nothing if that is too small.
        if text.len() < TIME_BYTES_MAX { text } else { Bytes::new() }
    }

    fn assign(&mut self, name: &[u8], count: i64) {
        let _ = assign_reference(self.session, b"printf", name, crate::state::value::decimal(count));
    }
}

/// Seconds since the epoch.
pub(crate) fn seconds_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64)
}

/// The time zone that the shell's variable `TZ` means.
pub(crate) fn time_zone(session: &mut Session) -> TimeZone {
    let id = session.variables.intern(b"TZ");
    let slot = session.variables.slot(id);
    // Like the C library, only the environment counts.
    let exported = slot.attributes.has(crate::state::value::Attributes::EXPORT);
    let value = slot.value.scalar().filter(|_| exported);
    let value = value.map(|v| String::from_utf8_lossy(&v).into_owned());
    TimeZone::from_variable(value.as_deref())
}
