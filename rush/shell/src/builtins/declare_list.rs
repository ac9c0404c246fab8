//! Listings of variables and functions for `declare`, `local`, `export`, `readonly` and `set`.

use crate::state::names::NameId;
use crate::state::options::SetOption;
use crate::state::value::{Attributes, Value};
use crate::{Bytes, Outcome, Session, quote};

/// Which variables to list.
pub(super) struct Filter {
    pub(super) attributes: Attributes,
    pub(super) associative: Option<bool>,
    pub(super) locals: bool,
}

/// `declare -p` of every variable that has the attributes.
pub(super) fn declarations(session: &mut Session, filter: &Filter, builtin: &[u8]) -> Outcome {
    let _ = filter.locals;
    let posix = session.is(SetOption::Posix);
    for id in session.variables.sorted_ids() {
        let attributes = session.variables.slot(id).attributes;
        if !attributes.has(filter.attributes) || is_invisible(session, id) {
            continue;
        }
        let kind = match session.variables.slot(id).value {
            Value::Indexed(_) => Some(false),
            Value::Associative(_) => Some(true),
            _ => None,
        };
        if filter.associative.is_some() && kind != filter.associative {
            continue;
        }
        if let Some(mut line) = session.declaration(id) {
            if posix && matches!(builtin, b"export" | b"readonly") {
                line = as_posix(builtin, &line);
            }
            line.push(b'\n');
            session.write_out(&line);
        }
    }
    Ok(0)
}

/// A declaration as the command that POSIX has `export -p` and `readonly -p` print: the attribute is the command's name.
fn as_posix(builtin: &[u8], declaration: &[u8]) -> Bytes {
    let rest = declaration.strip_prefix(b"declare -").unwrap_or(declaration);
    let at = rest.iter().position(|byte| *byte == b' ').unwrap_or(0);
    let (letters, rest) = rest.split_at_checked(at).unwrap_or((b"", rest));
    let letters: Bytes = letters.iter().copied().filter(|letter| !b"-rx".contains(letter)).collect();
    let flags = if letters.is_empty() { Bytes::new() } else { [b" -".as_slice(), &letters].concat() };
    [builtin, &flags, rest].concat()
}

/// Variables that exist only to be computed and were never used are not listed.
fn is_invisible(session: &Session, id: NameId) -> bool {
    let slot = session.variables.slot(id);
    slot.attributes.has(Attributes::DYNAMIC) && !slot.attributes.has(Attributes::READONLY) && !slot.is_set()
}

/// `declare -p name`; `false` if there is no such variable.
pub(super) fn one(session: &mut Session, name: &[u8]) -> bool {
    let Some(id) = session.variables.names.find(name) else { return false };
    match session.declaration(id) {
        Some(mut line) => {
            line.push(b'\n');
            session.write_out(&line);
            true
        }
        None => false,
    }
}

fn assignment_line(session: &mut Session, id: NameId) -> Option<Bytes> {
    let value = match session.value(id) {
        Value::Unset => return None,
        value if value.is_array() => crate::state::access::declared_value(&value),
        value => quote::listing(&value.scalar().unwrap_or_default()),
    };
    Some([session.variables.names.text(id), b"=", &value, b"\n"].concat())
}

/// `local` without names: the variables of the running function.
pub(super) fn locals(session: &mut Session, reusable: bool) -> Outcome {
    let scope = session.variables.function_scope();
    for id in session.variables.sorted_ids() {
        if Some(session.variables.slot(id).scope()) != scope {
            continue;
        }
        let line = if reusable {
            session.declaration(id).map(|l| [l.as_slice(), b"\n"].concat())
        } else {
            let bare = [session.variables.names.text(id), b"\n"].concat();
            Some(assignment_line(session, id).unwrap_or(bare))
        };
        session.write_out(&line.unwrap_or_default());
    }
    Ok(0)
}

/// `set` and `declare` without arguments: every variable with its value, then every function.
pub(crate) fn everything(session: &mut Session) -> Outcome {
    variables(session);
    if !session.is(crate::state::options::SetOption::Posix) {
        return functions(session, false, Attributes::NONE);
    }
    Ok(0)
}

/// `name=value` lines of every variable.
pub(crate) fn variables(session: &mut Session) {
    for id in session.variables.sorted_ids() {
        if let Some(line) = assignment_line(session, id) {
            session.write_out(&line);
        }
    }
}

/// Every function, or with `names_only` just `declare -f name` lines.
pub(super) fn functions(session: &mut Session, names_only: bool, attributes: Attributes) -> Outcome {
    let mut names: Vec<Bytes> = session.functions.keys().cloned().collect();
    names.sort();
    for name in names {
        let Some(function) = session.functions.get(&name) else { continue };
        let wanted = (!attributes.has(Attributes::EXPORT) || function.exported)
            && (!attributes.has(Attributes::READONLY) || function.readonly)
            && (!attributes.has(Attributes::TRACE) || function.traced);
        if !wanted {
            continue;
        }
        let mut letters = b"f".to_vec();
        for (on, letter) in [(function.readonly, b'r'), (function.traced, b't'), (function.exported, b'x')] {
            if on {
                letters.push(letter);
            }
        }
        if names_only {
            let line = [b"declare -".as_slice(), &letters, b" ", &name, b"\n"].concat();
            session.write_out(&line);
        } else {
            one_function(session, &name, false);
            if letters.len() > 1 {
                let line = [b"declare -".as_slice(), &letters, b" ", &name, b"\n"].concat();
                session.write_out(&line);
            }
        }
    }
    Ok(0)
}

/// A function's name, with its line and file where debugging is on.
fn function_name(session: &Session, name: &[u8]) -> Bytes {
    match session.functions.get(name).filter(|_| session.shopt(crate::state::options::Shopt::Extdebug)) {
        Some(function) => {
            let line = function.definition.line.to_string();
            let main = session.reads_standard_input && *function.source == *session.name;
            let source: &[u8] = if main { b"main" } else { &function.source };
            [name, b" ", line.as_bytes(), b" ", source].concat()
        }
        None => name.to_vec(),
    }
}

/// One function's definition, or its name.
pub(super) fn one_function(session: &mut Session, name: &[u8], name_only: bool) {
    let text = if name_only {
        function_name(session, name)
    } else {
        session.function_text(name).unwrap_or_default()
    };
    session.write_out(&[text.as_slice(), b"\n"].concat());
}
