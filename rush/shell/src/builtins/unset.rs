//! `unset`.

use crate::expand::{Index, Resolved, split_subscript};
use crate::state::names::{NameId, is_name};
use crate::state::options::{SetOption, Shopt};
use crate::state::value::{Attributes, Value};
use crate::{Bytes, Outcome, Session, Status};
use std::rc::Rc;

/// `unset [-f] [-v] [-n] [name ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut functions, mut variables, mut references) = (false, false, false);
    let mut at = 1;
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
                b'f' => functions = true,
                b'v' => variables = true,
                b'n' => references = true,
                _ => return Ok(session.builtin_usage(b"unset", Some(&[b'-', *letter]))),
            }
        }
        at += 1;
    }
    if functions && variables {
        session.builtin_error(b"unset", "cannot simultaneously unset a function and a variable");
        return Ok(1);
    }
    let mut status = 0;
    for name in &args[at..] {
        let result = if functions {
            unset_function(session, name)
        } else {
            unset_variable(session, name, references, !variables)?
        };
        status = status.max(result);
    }
    Ok(status)
}

fn unset_function(session: &mut Session, name: &[u8]) -> Status {
    match session.functions.get(name) {
        Some(function) if function.readonly => {
            let mut message = name.to_vec();
            message.extend_from_slice(b": cannot unset: readonly function");
            session.builtin_error(b"unset", message);
            1
        }
        Some(function) => {
            session.variables.export_generation += u64::from(function.exported);
            Rc::make_mut(&mut session.functions).remove(name);
            0
        }
        None => 0,
    }
}

fn unset_variable(
    session: &mut Session,
    name: &[u8],
    references: bool,
    or_function: bool,
) -> Result<Status, crate::Unwind> {
    if let Some((base, subscript)) = split_subscript(name) {
        let (base, subscript) = (base.to_vec(), subscript.to_vec());
        return unset_element(session, &base, &subscript);
    }
    // No element has an empty subscript, and so there is nothing to do.
    if name.strip_suffix(b"[]").is_some_and(is_name) {
        return Ok(0);
    }
    if !is_name(name) {
        // It can only be a function.
        if or_function && session.is(SetOption::Posix) {
            return Ok(unset_function(session, name));
        }
        let mut message = b"`".to_vec();
        message.extend_from_slice(name);
        message.extend_from_slice(b"': not a valid identifier");
        session.builtin_error(b"unset", message);
        return Ok(1);
    }
    let id = session.variables.intern(name);
    let id = match (references, session.resolve(id)) {
        (true, _) => id,
        (false, Resolved::Variable(id)) => id,
        (false, Resolved::Element(id, subscript)) => {
            let base = session.variables.names.text(id).to_vec();
            return unset_element(session, &base, &subscript);
        }
        (false, Resolved::Dangling(id)) => id,
        (false, Resolved::Circular) => return Ok(1),
    };
    let is_kept_local = session.variables.slot(id).scope() > 0;
    if !session.variables.slot(id).exists() && (!is_kept_local || session.functions.contains_key(name)) {
        return Ok(if or_function { unset_function(session, name) } else { 0 });
    }
    if session.variables.slot(id).attributes.has(Attributes::READONLY) {
        return Ok(readonly(session, id));
    }
    let keep = if session.shopt(Shopt::LocalvarUnset) {
        Some(session.variables.slot(id).scope()).filter(|s| *s > 0)
    } else {
        session.variables.function_scope()
    };
    session.variables.unset(id, keep);
    Ok(0)
}

fn readonly(session: &mut Session, id: NameId) -> Status {
    let mut message = session.variables.names.text(id).to_vec();
    message.extend_from_slice(b": cannot unset: readonly variable");
    session.builtin_error(b"unset", message);
    1
}

fn unset_element(session: &mut Session, base: &[u8], subscript: &[u8]) -> Result<Status, crate::Unwind> {
    let id = session.variables.intern(base);
    let id = match session.resolve(id) {
        Resolved::Variable(id) => id,
        _ => id,
    };
    if session.variables.slot(id).attributes.has(Attributes::READONLY) {
        return Ok(readonly(session, id));
    }
    match session.variables.slot(id).value.clone() {
        Value::Unset => return Ok(0),
        Value::Indexed(_) if matches!(subscript, b"@" | b"*") => {
            session.variables.unset(id, session.variables.function_scope());
            return Ok(0);
        }
        Value::Scalar(_) | Value::Integer(_) => {
            let index = session.index_from_text(id, subscript)?;
            if index == Index::Number(0) {
                session.variables.unset(id, session.variables.function_scope());
                return Ok(0);
            }
            let mut message = base.to_vec();
            message.extend_from_slice(b": not an array variable");
            session.builtin_error(b"unset", message);
            return Ok(1);
        }
        _ => {}
    }
    let index = session.index_from_text(id, subscript)?;
    let max = match &session.variables.slot(id).value {
        Value::Indexed(array) => array.max_index(),
        _ => 0,
    };
    let slot = session.variables.slot_mut(id);
    match (&mut slot.value, index) {
        (Value::Indexed(array), Index::Number(n)) => {
            let n = if n < 0 { n + max + 1 } else { n };
            if n < 0 {
                let mut message = b"[".to_vec();
                message.extend_from_slice(subscript);
                message.extend_from_slice(b"]: bad array subscript");
                session.builtin_error(b"unset", message);
                return Ok(1);
            }
            Rc::make_mut(array).remove(n);
        }
        (Value::Associative(array), Index::Key(key)) => {
            Rc::make_mut(array).remove(&key);
        }
        _ => {}
    }
    Ok(0)
}
