//! `alias` and `unalias`.

use std::rc::Rc;

use super::options::{OptionReader, usage};
use crate::state::options::SetOption;
use crate::{Bytes, Outcome, Session, quote};

/// `alias [-p] [name[=value] ... ]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut print = false;
    let mut options = OptionReader::new(args, "p");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(_)) => print = true,
            Err(status) => return Ok(status),
        }
    }
    let words = options.operands();
    if words.is_empty() || print {
        let mut names: Vec<Bytes> = session.aliases.keys().cloned().collect();
        names.sort();
        for name in names {
            show(session, &name, print);
        }
    }
    let mut status = 0;
    for word in words {
        let split = word.iter().position(|&b| b == b'=').filter(|&at| at > 0);
        let Some(at) = split else {
            if !print && !show(session, word, false) {
                session.builtin_error(b"alias", [word, b": not found".as_slice()].concat());
                status = 1;
            }
            continue;
        };
        let (name, value) = word.split_at_checked(at).unwrap_or((word, b""));
        if !is_alias_name(name) {
            session.builtin_error(b"alias", [b"`", name, b"': invalid alias name"].concat());
            status = 1;
            continue;
        }
        let value = value.get(1..).unwrap_or_default().to_vec();
        Rc::make_mut(&mut session.aliases).insert(name.to_vec(), value);
    }
    Ok(status)
}

fn is_alias_name(name: &[u8]) -> bool {
    !name.iter().any(|b| {
        matches!(
            b,
            b' ' | b'\t'
                | b'\n'
                | b'/'
                | b'$'
                | b'`'
                | b'\''
                | b'"'
                | b'\\'
                | b'|'
                | b'&'
                | b';'
                | b'('
                | b')'
                | b'<'
                | b'>'
        )
    })
}

/// One alias, as a command; in POSIX mode only with `-p`.
fn show(session: &mut Session, name: &[u8], reusable: bool) -> bool {
    let Some(value) = session.aliases.get(name) else { return false };
    let quoted = quote::single_quote(value);
    let bare = !reusable && session.is(SetOption::Posix);
    let mut line = if bare { Vec::new() } else { b"alias ".to_vec() };
    if !bare && name.first() == Some(&b'-') {
        line.extend_from_slice(b"-- ");
    }
    line.extend([name, b"=", &quoted, b"\n"].concat());
    session.write_out(&line);
    true
}

/// `unalias [-a] name [name ...]`
pub(super) fn run_unalias(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut all = false;
    let mut options = OptionReader::new(args, "a");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(_)) => all = true,
            Err(status) => return Ok(status),
        }
    }
    if all {
        session.aliases = Rc::default();
        return Ok(0);
    }
    if options.operands().is_empty() {
        return Ok(usage(session, b"unalias"));
    }
    let mut status = 0;
    for name in options.operands() {
        if Rc::make_mut(&mut session.aliases).remove(name).is_none() {
            session.builtin_error(b"unalias", [name, b": not found".as_slice()].concat());
            status = 1;
        }
    }
    Ok(status)
}
