//! `caller`: where the running function was called from.

use super::options::{OptionReader, parse_integer, usage};
use crate::{Bytes, Outcome, Session};

/// `caller [expr]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut options = OptionReader::new(args, "");
    if let Err(status) = options.next(session) {
        return Ok(status);
    }
    let word = options.operands().first();
    let depth = match word {
        None => 0,
        Some(word) => match parse_integer(word) {
            Some(number) if number >= 0 => usize::try_from(number).unwrap_or(usize::MAX),
            _ => {
                session.builtin_error(b"caller", [word, b": invalid number".as_slice()].concat());
                return Ok(usage(session, b"caller"));
            }
        },
    };
    let count = session.calls.len();
    let Some(call) = count.checked_sub(depth.saturating_add(1)).and_then(|i| session.calls.get(i)) else {
        if word.is_none() && session.calls.is_empty() {
            session.write_out(b"0 NULL\n");
            return Ok(0);
        }
        return Ok(1);
    };
    let line = call.line;
    let outer = (count - depth - 1).checked_sub(1).and_then(|i| session.calls.get(i));
    let (name, source) = match outer {
        Some(outer) => (outer.name.to_vec(), outer.source.to_vec()),
        // The text of `-c` has no file that could be named.
        None if session.runs_command_string && word.is_some() => return Ok(1),
        None => (
            b"main".to_vec(),
            if session.runs_command_string { b"NULL".to_vec() } else { session.name.clone() },
        ),
    };
    let text = match word {
        None => [line.to_string().as_bytes(), b" ", &source, b"\n"].concat(),
        Some(_) => [line.to_string().as_bytes(), b" ", &name, b" ", &source, b"\n"].concat(),
    };
    session.write_out(&text);
    Ok(0)
}
