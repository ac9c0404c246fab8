//! `trap`.

use crate::exec::traps::{Action, COUNT, trap_name, trap_number};
use crate::quote::single_quote;
use crate::state::options::SetOption;
use crate::{Bytes, Outcome, Session};
use std::rc::Rc;

/// `trap [-lp] [[arg] signal_spec ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut at = 1;
    let (mut print, mut list) = (false, false);
    while let Some(word) = args.get(at) {
        if word == b"--" {
            at += 1;
            break;
        }
        if !word.starts_with(b"-") || word.len() < 2 {
            break;
        }
        for letter in &word[1..] {
            match letter {
                b'p' => print = true,
                b'l' => list = true,
                _ => return Ok(session.builtin_usage(b"trap", Some(&[b'-', *letter]))),
            }
        }
        at += 1;
    }
    let rest = &args[at..];
    if list {
        return Ok(list_signals(session));
    }
    if print || rest.is_empty() {
        return Ok(print_traps(session, rest, print));
    }
    let (action, names) = split_action(rest);
    if names.is_empty() {
        return Ok(session.builtin_usage(b"trap", None));
    }
    let mut status = 0;
    for name in names {
        match trap_number(name) {
            Some(number) => set_trap(session, number, action.clone()),
            None => {
                let mut message = name.clone();
                message.extend_from_slice(b": invalid signal specification");
                session.builtin_error(b"trap", message);
                status = 1;
            }
        }
    }
    Ok(status)
}

/// The action, and the signals: one operand alone, or a first operand that is a number, resets.
fn split_action(rest: &[Bytes]) -> (Option<Action>, &[Bytes]) {
    let first = &rest[0];
    let number = !first.is_empty() && first.iter().all(u8::is_ascii_digit) && trap_number(first).is_some();
    if number || rest.len() == 1 && trap_number(first).is_some() {
        return (None, rest);
    }
    let action = match &first[..] {
        b"-" => None,
        b"" => Some(Action::Ignore),
        text => Some(Action::Run(Rc::from(text))),
    };
    (action, &rest[1..])
}

fn set_trap(session: &mut Session, number: usize, action: Option<Action>) {
    // Nobody but its user can turn a signal on that was ignored when a shell without one started.
    if session.interactive || !session.ignored_on_entry(number) {
        let ends =
            number == crate::exec::traps::EXIT && matches!(action, Some(crate::exec::traps::Action::Run(_)));
        session.traps.set(number, action);
        if ends {
            session.end_in_order();
        }
    }
}

/// Lists traps. In POSIX mode names have no `SIG`, and what is asked for (`all`) is listed without a trap, too.
fn print_traps(session: &mut Session, names: &[Bytes], all: bool) -> i32 {
    let posix = session.is(SetOption::Posix);
    let mut status = 0;
    let mut numbers: Vec<usize> = Vec::new();
    for name in names {
        match trap_number(name) {
            Some(number) => numbers.push(number),
            None => {
                let mut message = name.clone();
                message.extend_from_slice(b": invalid signal specification");
                session.builtin_error(b"trap", message);
                status = 1;
            }
        }
    }
    if names.is_empty() {
        // Some numbers are no signal.
        numbers = (0..COUNT).filter(|number| trap_name(*number) != b"SIG").collect();
    }
    let mut text = Bytes::new();
    for number in numbers {
        let ignored = session.ignored_on_entry(number).then_some(Action::Ignore);
        let action = session.traps.listed().get(number).and_then(Option::as_ref).or(ignored.as_ref());
        let shown = match action {
            None if posix && all => b"-".to_vec(),
            None => continue,
            Some(Action::Ignore) => b"''".to_vec(),
            Some(Action::Run(action)) => single_quote(action),
        };
        text.extend([b"trap -- ", shown.as_slice(), b" "].concat());
        let name = trap_name(number);
        text.extend_from_slice(name.strip_prefix(b"SIG").filter(|_| posix).unwrap_or(&name));
        text.push(b'\n');
    }
    session.write_out(&text);
    status
}

fn list_signals(session: &mut Session) -> i32 {
    session.write_out(crate::signals::table().as_bytes());
    0
}
