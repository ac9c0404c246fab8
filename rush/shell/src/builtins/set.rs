//! `set`.

use super::options::invalid_option;
use crate::quote;
use crate::state::options::{SetOption, Shopt};
use crate::state::value::{Attributes, Value};
use crate::{Bytes, Outcome, Session, Unwind};

/// `set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    if args.len() == 1 {
        list_variables(session);
        return Ok(0);
    }
    if let Some(option) = first_invalid(args) {
        invalid_option(session, b"set", &option);
        return Ok(2);
    }
    let mut at = 1;
    let mut positional = false;
    while let Some(word) = args.get(at) {
        let on = match word.first() {
            Some(b'-') => true,
            Some(b'+') => false,
            _ => break,
        };
        if word == b"--" {
            at += 1;
            positional = true;
            break;
        }
        if word == b"-" {
            at += 1;
            positional = args.len() > at;
            session.options.put(SetOption::Xtrace, false);
            session.options.put(SetOption::Verbose, false);
            break;
        }
        if word == b"+" {
            at += 1;
            continue;
        }
        for (n, letter) in word.iter().enumerate().skip(1) {
            if *letter == b'o' {
                let _ = n;
                match args.get(at + 1) {
                    Some(name) if !name.starts_with(b"-") && !name.starts_with(b"+") => {
                        at += 1;
                        if !set_by_name(session, name, on) {
                            return Ok(2);
                        }
                    }
                    _ => list_options(session, on),
                }
                continue;
            }
            if *letter == b'r' {
                if on {
                    // The variables stay as they are: only a shell that starts restricted fixes them.
                    session.options.put_shopt(Shopt::RestrictedShell, true);
                } else if session.is_restricted() {
                    invalid_option(session, b"set", b"+r");
                    return Ok(1);
                }
                continue;
            }
            match SetOption::from_letter(*letter) {
                Some(option) => session.change_option(option, on),
                None => {
                    let sign = if on { b'-' } else { b'+' };
                    invalid_option(session, b"set", &[sign, *letter]);
                    return Ok(2);
                }
            }
        }
        at += 1;
    }
    if positional || at < args.len() {
        session.positional = args[at..].to_vec().into();
    }
    // From here on commands are read and not run: what is under way ends, and the reader goes on alone.
    if session.is(SetOption::Noexec) && !session.interactive {
        return Err(Unwind::Discard(0));
    }
    Ok(0)
}

/// The first option that there is not: it is refused before any other takes effect.
fn first_invalid(args: &[Bytes]) -> Option<Bytes> {
    let mut words = args.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let [sign @ (b'-' | b'+'), letters @ ..] = &word[..] else { return None };
        if matches!(letters, b"" | b"-") && *sign == b'-' {
            return None;
        }
        for letter in letters {
            match letter {
                b'o' => {
                    words.next_if(|name| !name.starts_with(b"-") && !name.starts_with(b"+"));
                }
                b'r' => {}
                letter if SetOption::from_letter(*letter).is_none() => return Some(vec![*sign, *letter]),
                _ => {}
            }
        }
    }
    None
}

fn set_by_name(session: &mut Session, name: &[u8], on: bool) -> bool {
    match SetOption::from_name(name) {
        Some(option) => {
            session.change_option(option, on);
            true
        }
        None => {
            let mut message = name.to_vec();
            session.misuse = Some(2);
            message.extend_from_slice(b": invalid option name");
            session.builtin_error(b"set", message);
            false
        }
    }
}

/// `set -o` and `set +o`.
fn list_options(session: &mut Session, table: bool) {
    let mut text = Bytes::new();
    for option in SetOption::ALL {
        let on = session.is(*option);
        let line = if table {
            format!("{:<15}\t{}\n", option.name(), if on { "on" } else { "off" })
        } else {
            format!("set {}o {}\n", if on { '-' } else { '+' }, option.name())
        };
        text.extend_from_slice(line.as_bytes());
    }
    session.write_out(&text);
}

/// `set` alone: variables, then functions unless in POSIX mode.
fn list_variables(session: &mut Session) {
    let mut text = Bytes::new();
    for id in session.variables.sorted_ids() {
        let slot = session.variables.slot(id);
        if slot.attributes.has(Attributes::NAMEREF) && !slot.is_set() {
            continue;
        }
        let name = session.variables.names.text(id).to_vec();
        let value = session.value(id);
        match &value {
            Value::Unset => continue,
            Value::Indexed(_) | Value::Associative(_) => {
                text.extend_from_slice(&name);
                text.push(b'=');
                text.extend(crate::state::access::declared_value(&value));
            }
            value => {
                text.extend_from_slice(&name);
                text.push(b'=');
                let value = value.scalar().unwrap_or_default();
                if !value.is_empty() {
                    text.extend(quote::listing(&value));
                }
            }
        }
        text.push(b'\n');
    }
    if !session.is(SetOption::Posix) {
        let mut functions: Vec<_> = session.functions.values().map(|f| f.definition.clone()).collect();
        functions.sort_by(|a, b| a.name.cmp(&b.name));
        for definition in functions {
            text.extend(crate::syntax::printer::function(&definition));
            text.push(b'\n');
        }
    }
    session.write_out(&text);
}
