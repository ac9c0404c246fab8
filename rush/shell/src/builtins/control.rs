//! `break`, `continue`, `return`, `exit`, `logout` and `shift`.

use crate::builtins::options::parse_integer;
use crate::state::options::{SetOption, Shopt};
use crate::{Bytes, Outcome, Session, Unwind};

/// The operand after an optional `--`.
fn operands(args: &[Bytes]) -> &[Bytes] {
    let rest = args.get(1..).unwrap_or_default();
    match rest.first() {
        Some(first) if first == b"--" => &rest[1..],
        _ => rest,
    }
}

fn not_numeric(session: &mut Session, name: &[u8], text: &[u8]) {
    let mut message = text.to_vec();
    message.extend_from_slice(b": numeric argument required");
    session.builtin_error(name, message);
}

impl Session {
    /// Too many operands give up the line, and a `-c` string altogether; `set -e` has no say in it.
    fn too_many(&mut self) -> Unwind {
        self.status = 1;
        self.spares_errexit = true;
        if self.runs_command_string { Unwind::Exit(1) } else { Unwind::Discard(1) }
    }
}

/// The loop count of `break` and `continue`.
fn loop_count(session: &mut Session, args: &[Bytes]) -> Result<Option<u32>, Unwind> {
    let name = args[0].clone();
    if session.loop_depth == 0 {
        session.builtin_error(&name, "only meaningful in a `for', `while', or `until' loop");
        return Ok(None);
    }
    let rest = operands(args);
    if rest.len() > 1 {
        session.builtin_error(&name, "too many arguments");
        session.status = 1;
        return Err(session.too_many());
    }
    let Some(text) = rest.first() else { return Ok(Some(1)) };
    match parse_integer(text) {
        None => {
            not_numeric(session, &name, text);
            Err(Unwind::Exit(128))
        }
        Some(n) if n <= 0 => {
            let mut message = text.clone();
            message.extend_from_slice(b": loop count out of range");
            session.builtin_error(&name, message);
            session.status = 1;
            Err(Unwind::Break(session.loop_depth))
        }
        Some(n) => Ok(Some((n.min(i64::from(session.loop_depth))) as u32)),
    }
}

/// `break [n]`
pub(super) fn run_break(session: &mut Session, args: &[Bytes]) -> Outcome {
    match loop_count(session, args)? {
        Some(n) => {
            session.status = 0;
            Err(Unwind::Break(n))
        }
        None => Ok(0),
    }
}

/// `continue [n]`
pub(super) fn run_continue(session: &mut Session, args: &[Bytes]) -> Outcome {
    match loop_count(session, args)? {
        Some(n) => {
            session.status = 0;
            Err(Unwind::Continue(n))
        }
        None => Ok(0),
    }
}

/// `return [n]`
pub(super) fn run_return(session: &mut Session, args: &[Bytes]) -> Outcome {
    let rest = operands(args);
    if !session.can_return() {
        if let Some(text) = rest.first().filter(|text| parse_integer(text).is_none()) {
            not_numeric(session, &args[0], text);
        }
        session.builtin_error(&args[0], "can only `return' from a function or sourced script");
        session.misuse = Some(2);
        return Ok(2);
    }
    match rest.first() {
        None => Err(Unwind::Return(session.status)),
        Some(text) => match parse_integer(text) {
            None => {
                not_numeric(session, &args[0].clone(), text);
                Err(Unwind::Return(2))
            }
            Some(_) if rest.len() > 1 => {
                session.builtin_error(&args[0], "too many arguments");
                session.misuse = Some(1);
                Err(session.too_many())
            }
            Some(n) => Err(Unwind::Return((n & 0xff) as i32)),
        },
    }
}

/// `exit [n]` and `logout [n]`
pub(super) fn run_exit(session: &mut Session, args: &[Bytes]) -> Outcome {
    if args[0] == b"logout" && !session.shopt(Shopt::LoginShell) {
        session.builtin_error(b"logout", "not login shell: use `exit'");
        return Ok(1);
    }
    if session.interactive && session.levels.is_empty() {
        session.write_err(b"exit\n");
    }
    let rest = operands(args);
    match rest.first() {
        None => Err(Unwind::Exit(session.status)),
        Some(text) => match parse_integer(text) {
            None => {
                not_numeric(session, &args[0].clone(), text);
                Err(Unwind::Exit(2))
            }
            Some(_) if rest.len() > 1 => {
                session.builtin_error(&args[0], "too many arguments");
                if session.is(SetOption::Posix) { Err(Unwind::Exit(1)) } else { Err(session.too_many()) }
            }
            Some(n) => Err(Unwind::Exit((n & 0xff) as i32)),
        },
    }
}

/// `shift [n]`
pub(super) fn run_shift(session: &mut Session, args: &[Bytes]) -> Outcome {
    let rest = operands(args);
    let count = match rest.first() {
        None => 1,
        Some(text) => match parse_integer(text) {
            Some(n) => n,
            None => {
                not_numeric(session, b"shift", text);
                return Ok(1);
            }
        },
    };
    if rest.len() > 1 {
        session.builtin_error(b"shift", "too many arguments");
        session.misuse = Some(1);
        return Err(session.too_many());
    }
    if count < 0 || count as usize > session.positional.len() {
        if count < 0 || session.shopt(Shopt::ShiftVerbose) || session.is(SetOption::Posix) {
            let mut message = rest.first().cloned().unwrap_or_else(|| b"1".to_vec());
            message.extend_from_slice(b": shift count out of range");
            session.builtin_error(b"shift", message);
        }
        return Ok(1);
    }
    session.positional.shift(count as usize);
    Ok(0)
}
