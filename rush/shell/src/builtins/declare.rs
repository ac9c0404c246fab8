//! `declare`, `typeset`, `local`, `export` and `readonly`: attributes, and assignments with them.
//!
//! As a command whose words are assignments the right-hand sides are parsed like assignments
//! ([`run_command`]); called with plain words (`builtin declare ...`, `"$cmd" x=1`) the words are split here.

use std::rc::Rc;

use super::assign::{not_an_identifier, settle};
use super::declare_list::{self, Filter};
use super::options::usage;
use crate::exec::{Ready, ReadyElement, ReadyValue};
use crate::expand::{Expanded, Index, Resolved, split_subscript};
use crate::state::array::{AssociativeArray, IndexedArray};
use crate::state::names::{NameId, is_name};
use crate::state::options::SetOption;
use crate::state::session::AssignError;
use crate::state::value::{Attributes, Value};
use crate::state::variables::FrameKind;
use crate::syntax::ast::SimpleCommand;
use crate::{Bytes, Outcome, Session, Status, Unwind};

/// An array attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrayKind {
    Indexed,
    Associative,
}

/// The options of one call.
#[derive(Default)]
struct Request {
    builtin: Bytes,
    on: Attributes,
    off: Attributes,
    array: Option<ArrayKind>,
    no_array: bool,
    functions: bool,
    function_names: bool,
    print: bool,
    global: bool,
    inherit: bool,
    remove_export: bool,
}

/// A word of the command.
enum Argument<'a> {
    Text(Bytes),
    Assignment(Ready<'a>, Bytes),
}

/// Runs `command` if it is a declaration command; `None` if it is something else.
pub(crate) fn run_command(session: &mut Session, command: &SimpleCommand) -> Expanded<Option<Status>> {
    let is_prefixed = command.words.first().and_then(|w| w.as_constant()) == Some(b"command");
    let prefixes = usize::from(is_prefixed && session.is(SetOption::Posix));
    let Some(name) = command.words.get(prefixes).and_then(|w| w.as_constant()) else { return Ok(None) };
    let is_declaration = matches!(name, b"declare" | b"typeset" | b"local" | b"export" | b"readonly");
    if !is_declaration || session.functions.contains_key(name) || session.is_disabled(name) {
        return Ok(None);
    }
    let name = name.to_vec();
    let framed = !command.assignments().is_empty();
    let arguments = prepare_arguments(session, command, prefixes + 1)?;
    session.last_argument = last_argument(&arguments).unwrap_or_else(|| name.clone());
    let special = matches!(&name[..], b"export" | b"readonly") && prefixes == 0;
    let framed = framed && !(special && session.is(SetOption::Posix));
    if !framed {
        // What stands before a special builtin stays, in POSIX mode.
        for assignment in command.assignments() {
            session.run_assignment(assignment)?;
        }
    }
    if framed {
        session.variables.push_frame(FrameKind::Temporary);
        for assignment in command.assignments() {
            if let Err(unwind) = session.temporary_assignment(assignment) {
                session.variables.pop_frame();
                return Err(unwind);
            }
        }
    }
    session.misuse = None;
    let mut result = run_redirected(session, command, &name, arguments);
    if prefixes == 0 {
        result = session.after_builtin(&name, result);
    }
    if framed {
        session.variables.pop_frame();
    }
    result.map(Some)
}

/// `$_` afterwards: the last word, or only the name of an array.
fn last_argument(arguments: &[Argument<'_>]) -> Option<Bytes> {
    Some(match arguments.last()? {
        Argument::Text(text) => text.clone(),
        Argument::Assignment(ready, source) => match &ready.value {
            ReadyValue::Array(_) => source.split(|b| *b == b'=').next().unwrap_or_default().to_vec(),
            ReadyValue::Scalar(value) => {
                let mut text = source.split(|b| *b == b'=').next().unwrap_or_default().to_vec();
                text.push(b'=');
                text.extend_from_slice(value);
                text
            }
        },
    })
}

/// Expands the words after the name, before assignments take effect.
fn prepare_arguments<'a>(
    session: &mut Session,
    command: &'a SimpleCommand,
    skip: usize,
) -> Expanded<Vec<Argument<'a>>> {
    let mut arguments = Vec::new();
    let mut associative = false;
    for word in command.words.iter().skip(skip) {
        if let Some([b'-', letters @ ..]) = word.as_constant() {
            associative |= letters.contains(&b'A');
        }
        // The words that braces give are ordinary ones, which the builtin reads as assignments.
        if word.assignment().is_some()
            && let Some(words) = session.brace_words(word)
        {
            let mut fields = Vec::new();
            session.expand_words(&words, &mut fields)?;
            arguments.extend(fields.into_iter().map(Argument::Text));
            continue;
        }
        match word.assignment() {
            Some(assignment) => {
                let ready = session.prepare_as(assignment, associative)?;
                arguments.push(Argument::Assignment(ready, word.source().to_vec()));
            }
            None => {
                let mut fields = Vec::new();
                session.expand_word(word, &mut fields)?;
                arguments.extend(fields.into_iter().map(Argument::Text));
            }
        }
    }
    Ok(arguments)
}

fn run_redirected(
    session: &mut Session,
    command: &SimpleCommand,
    name: &[u8],
    arguments: Vec<Argument<'_>>,
) -> Outcome {
    trace(session, name, &arguments);
    if command.redirects().is_empty() {
        trace_assignments(session, name, &arguments);
        let result = run_arguments(session, name, arguments);
        return account_output(session, name, result);
    }
    let saved = match session.redirect(command.redirects())? {
        Ok(saved) => saved,
        Err(status) => return Ok(status),
    };
    trace_assignments(session, name, &arguments);
    let result = run_arguments(session, name, arguments);
    let result = account_output(session, name, result);
    session.undo_redirects(saved);
    result
}

/// Flushes the output and turns a failed write into a message.
fn account_output(session: &mut Session, name: &[u8], result: Outcome) -> Outcome {
    match session.take_output_error() {
        None => result,
        Some(error) => {
            session.builtin_error(name, format!("write error: {}", crate::sys::strerror(error)));
            result.map(|_| 1)
        }
    }
}

/// What `set -x` shows: every array by itself, then the command with the arrays' names.
fn trace(session: &mut Session, name: &[u8], arguments: &[Argument<'_>]) {
    if !session.traces() {
        return;
    }
    for argument in arguments {
        if let Argument::Assignment(ready, _) = argument
            && let ReadyValue::Array(elements) = &ready.value
        {
            let shown: Vec<Bytes> = elements.iter().map(ReadyElement::traced).collect();
            let operator: &[u8] = if ready.append { b"+=(" } else { b"=(" };
            let name = session.variables.names.text(ready.id).to_vec();
            session.trace_line(&[&name, operator, &shown.join(&b' '), b")"].concat());
        }
    }
    session.trace_declaration(name, &trace_words(session, arguments));
}

/// `export` and `readonly` show their assignments a second time, when they make them: where their errors go.
fn trace_assignments(session: &mut Session, name: &[u8], arguments: &[Argument<'_>]) {
    if !session.traces() || !matches!(name, b"export" | b"readonly") {
        return;
    }
    for argument in arguments {
        if let Argument::Assignment(ready, _) = argument
            && let (ReadyValue::Scalar(value), None) = (&ready.value, &ready.subscript)
        {
            let operator: &[u8] = if ready.append { b"+=" } else { b"=" };
            let name = session.variables.names.text(ready.id).to_vec();
            let value = if value.is_empty() { Bytes::new() } else { crate::quote::trace(value) };
            session.trace_line(&[&name, operator, &value].concat());
        }
    }
}

/// The words as `set -x` shows them.
fn trace_words(session: &Session, arguments: &[Argument<'_>]) -> Vec<Bytes> {
    let show = |argument: &Argument<'_>| match argument {
        Argument::Text(text) => text.clone(),
        Argument::Assignment(ready, source) => match &ready.value {
            ReadyValue::Scalar(value) if ready.subscript.is_none() => {
                let operator: &[u8] = if ready.append { b"+=" } else { b"=" };
                [session.variables.names.text(ready.id), operator, value].concat()
            }
            ReadyValue::Array(_) => session.variables.names.text(ready.id).to_vec(),
            ReadyValue::Scalar(_) => source.clone(),
        },
    };
    arguments.iter().map(show).collect()
}

/// `declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]`, and the like.
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let name = args.first().cloned().unwrap_or_default();
    let words = args.iter().skip(1).cloned().map(Argument::Text).collect();
    run_arguments(session, &name, words)
}

fn run_arguments(session: &mut Session, name: &[u8], arguments: Vec<Argument<'_>>) -> Outcome {
    if name == b"local" && session.variables.function_scope().is_none() {
        session.builtin_error(name, "can only be used in a function");
        return Ok(1);
    }
    let (request, operands) = match parse(session, name, arguments) {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    if request.functions || request.function_names {
        return functions(session, &request, &operands);
    }
    // `export -p NAME` exports as if there were no `-p`.
    let print = request.print && !matches!(name, b"export" | b"readonly");
    if operands.is_empty() || print {
        return list(session, &request, &operands);
    }
    let mut status = 0;
    for operand in operands {
        if !declare_operand(session, &request, operand)? {
            status = 1;
        }
    }
    Ok(status)
}

fn letters_of(name: &[u8]) -> &'static [u8] {
    match name {
        b"export" | b"readonly" => b"aAfnp",
        _ => b"aAfFgiIlnrtuxpcG",
    }
}

fn parse<'a>(
    session: &mut Session,
    name: &[u8],
    arguments: Vec<Argument<'a>>,
) -> Result<(Request, Vec<Argument<'a>>), Status> {
    let mut request = Request { builtin: name.to_vec(), ..Request::default() };
    match name {
        b"export" => request.on = Attributes::EXPORT,
        b"readonly" => request.on = Attributes::READONLY,
        _ => {}
    }
    let mut operands = Vec::new();
    let mut arguments = arguments.into_iter();
    for argument in arguments.by_ref() {
        let Argument::Text(word) = &argument else {
            operands.push(argument);
            break;
        };
        if word.as_slice() == b"--" {
            break;
        }
        let plus = word.first() == Some(&b'+') && letters_of(name).contains(&b'g');
        if word.len() < 2 || !(plus || word.first() == Some(&b'-')) {
            operands.push(argument);
            break;
        }
        for &letter in word.get(1..).unwrap_or_default() {
            if !letters_of(name).contains(&letter) {
                let sign = if plus { b'+' } else { b'-' };
                session.builtin_error(name, [&[sign, letter], b": invalid option".as_slice()].concat());
                return Err(usage(session, name));
            }
            apply_letter(&mut request, name, letter, plus);
        }
    }
    operands.extend(arguments);
    Ok((request, operands))
}

fn apply_letter(request: &mut Request, name: &[u8], letter: u8, plus: bool) {
    let attribute = match letter {
        b'a' | b'A' => {
            let kind = if letter == b'a' { ArrayKind::Indexed } else { ArrayKind::Associative };
            if plus {
                request.no_array = true
            } else {
                request.array = Some(kind)
            }
            return;
        }
        b'f' => {
            request.functions = true;
            return;
        }
        b'F' => {
            request.function_names = true;
            return;
        }
        b'g' | b'G' => {
            request.global = true;
            return;
        }
        b'I' => {
            request.inherit = true;
            return;
        }
        b'p' => {
            request.print = true;
            return;
        }
        b'n' if name == b"export" => {
            request.remove_export = true;
            return;
        }
        b'n' if name == b"readonly" => {
            request.on = request.on.without(Attributes::READONLY);
            return;
        }
        b'i' => Attributes::INTEGER,
        b'l' => Attributes::LOWERCASE,
        b'n' => Attributes::NAMEREF,
        b'r' => Attributes::READONLY,
        b't' => Attributes::TRACE,
        b'u' => Attributes::UPPERCASE,
        b'c' => Attributes::CAPITALIZE,
        _ => Attributes::EXPORT,
    };
    if plus {
        request.off = request.off.with(attribute);
        return;
    }
    // Upper and lower case exclude each other: asking for both asks for neither.
    let case = Attributes::LOWERCASE.with(Attributes::UPPERCASE).with(Attributes::CAPITALIZE);
    if case.has(attribute) && request.on.any(case) && !request.on.has(attribute) {
        request.on = request.on.without(case);
        request.off = request.off.with(case);
    } else {
        request.on = request.on.with(attribute);
    }
}

fn list(session: &mut Session, request: &Request, operands: &[Argument<'_>]) -> Outcome {
    let mut wanted = request.on;
    if request.remove_export {
        wanted = Attributes::EXPORT;
    }
    if operands.is_empty() {
        let locals = request.builtin == b"local";
        let array = request.array.map(|kind| kind == ArrayKind::Associative);
        let plain = request.print || wanted != Attributes::NONE || array.is_some();
        let filter = Filter { attributes: wanted, associative: array, locals };
        return if plain && !locals {
            declare_list::declarations(session, &filter, &request.builtin)
        } else if locals {
            declare_list::locals(session, request.print)
        } else {
            declare_list::everything(session)
        };
    }
    let mut status = 0;
    for operand in operands {
        let name = match operand {
            Argument::Text(text) => text.clone(),
            Argument::Assignment(ready, _) => session.variables.names.text(ready.id).to_vec(),
        };
        if !declare_list::one(session, &name) {
            session.builtin_error(&request.builtin, [name.as_slice(), b": not found"].concat());
            status = 1;
        }
    }
    Ok(status)
}

fn functions(session: &mut Session, request: &Request, operands: &[Argument<'_>]) -> Outcome {
    let changes = request.on != Attributes::NONE || request.off != Attributes::NONE || request.remove_export;
    if operands.is_empty() {
        return declare_list::functions(session, request.function_names, request.on);
    }
    let mut status = 0;
    for operand in operands {
        let Argument::Text(name) = operand else {
            session.builtin_error(&request.builtin, "cannot use `-f' to make functions");
            status = 1;
            continue;
        };
        let found = session.functions.contains_key(name);
        if found && changes && !request.print {
            if let Some(function) = Rc::make_mut(&mut session.functions).get_mut(name) {
                function.exported = (function.exported || request.on.has(Attributes::EXPORT))
                    && !request.remove_export
                    && !request.off.has(Attributes::EXPORT);
                function.readonly |= request.on.has(Attributes::READONLY);
                function.traced |= request.on.has(Attributes::TRACE);
            }
            session.variables.export_generation += 1;
        } else if found {
            declare_list::one_function(session, name, request.function_names);
        } else {
            if changes {
                session.builtin_error(&request.builtin, [name.as_slice(), b": not a function"].concat());
            }
            status = 1;
        }
    }
    Ok(status)
}

/// What is to happen to one name.
struct Operand<'a> {
    id: NameId,
    index: Option<Bytes>,
    ready: Option<Ready<'a>>,
    text: Option<Bytes>,
    append: bool,
}

impl Operand<'_> {
    fn has_value(&self) -> bool {
        self.ready.is_some() || self.text.is_some()
    }
}

fn operand<'a>(session: &mut Session, request: &Request, argument: Argument<'a>) -> Option<Operand<'a>> {
    let word = match argument {
        Argument::Assignment(ready, source) => {
            if ready.subscript.is_some() && matches!(&request.builtin[..], b"export" | b"readonly") {
                let target = source.split(|&b| b == b'=').next().unwrap_or_default();
                session.builtin_error(&request.builtin, not_an_identifier(target));
                return None;
            }
            let (id, append) = (ready.id, ready.append);
            return Some(Operand { id, index: None, ready: Some(ready), text: None, append });
        }
        Argument::Text(word) => word,
    };
    let (target, value, append) = split_assignment(&word);
    let (name, index) = match split_subscript(target) {
        Some((name, subscript)) => (name, Some(subscript.to_vec())),
        None => (target, None),
    };
    if !is_name(name) || (index.is_some() && matches!(&request.builtin[..], b"export" | b"readonly")) {
        session.builtin_error(&request.builtin, not_an_identifier(&word));
        return None;
    }
    let id = session.variables.intern(name);
    Some(Operand { id, index, ready: None, text: value.map(<[u8]>::to_vec), append })
}

/// Splits `target=value` or `target+=value`; an equals sign inside brackets belongs to the target.
fn split_assignment(word: &[u8]) -> (&[u8], Option<&[u8]>, bool) {
    let mut depth = 0usize;
    for (at, &byte) in word.iter().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b'=' if depth == 0 => {
                let append = at > 0 && word.get(at - 1) == Some(&b'+');
                let end = if append { at - 1 } else { at };
                return (word.get(..end).unwrap_or_default(), word.get(at + 1..), append);
            }
            _ => {}
        }
    }
    (word, None, false)
}

fn declare_operand(session: &mut Session, request: &Request, argument: Argument<'_>) -> Result<bool, Unwind> {
    if request.builtin == b"local" && matches!(&argument, Argument::Text(text) if text == b"-") {
        let options = session.options;
        session.local_options.get_or_insert(options);
        return Ok(true);
    }
    let Some(mut operand) = operand(session, request, argument) else { return Ok(false) };
    let nameref = request.on.any(Attributes::NAMEREF) || request.off.any(Attributes::NAMEREF);
    let is_local = request.builtin != b"export" && request.builtin != b"readonly" && !request.global;
    let scope = if is_local { session.variables.function_scope() } else { None };
    if !nameref
        && scope.is_none()
        && let Resolved::Variable(id) = session.resolve(operand.id)
    {
        operand.id = id;
        if let Some(ready) = &mut operand.ready {
            ready.id = id;
        }
    }
    if request.global && session.variables.slot(operand.id).scope() > 0 {
        return declare_global(session, request, operand);
    }
    if let Some(scope) = scope
        && !make_local(session, request, operand.id, scope)
    {
        return Ok(false);
    }
    let id = operand.id;
    let done = change(session, request, operand)?;
    let lasting = Attributes::EXPORT.with(Attributes::READONLY);
    if done && request.on.any(lasting) && !request.remove_export {
        let slot = session.variables.slot_mut(id);
        if slot.attributes.has(Attributes::PREFIXED) {
            // An assignment before the command, or before the function that it is in, outlives it.
            slot.attributes = slot.attributes.with(Attributes::STAYS);
        }
    }
    Ok(done)
}

/// `declare -g` where an inner scope hides the global variable: the hidden binding is brought to the front
/// for the change.
fn declare_global(session: &mut Session, request: &Request, operand: Operand<'_>) -> Result<bool, Unwind> {
    let id = operand.id;
    let swap = |session: &mut Session| {
        let inner = (session.variables.slot(id).value.clone(), session.variables.slot(id).attributes);
        let global = (session.variables.global(id).value.clone(), session.variables.global(id).attributes);
        let slot = session.variables.slot_mut(id);
        (slot.value, slot.attributes) = global;
        let slot = session.variables.global_mut(id);
        (slot.value, slot.attributes) = inner;
    };
    swap(session);
    let result = change(session, request, operand);
    swap(session);
    result
}

/// Gives the variable a binding of its own in the function, if it has none yet.
fn make_local(session: &mut Session, request: &Request, id: NameId, scope: usize) -> bool {
    let slot = session.variables.slot(id);
    if slot.scope() > scope && slot.attributes.has(Attributes::PREFIXED) {
        let slot = session.variables.slot_mut(id);
        slot.attributes = slot.attributes.without(Attributes::TEMPORARY).with(Attributes::STAYS_LOCAL);
        return true;
    }
    if slot.scope() >= scope {
        if slot.attributes.has(Attributes::TEMPORARY) {
            // What the assignment before the call made is the function's own from here on, and stays so when unset.
            let slot = session.variables.slot_mut(id);
            slot.attributes = slot.attributes.without(Attributes::TEMPORARY);
        }
        return true;
    }
    if slot.attributes.has(Attributes::READONLY) {
        let name = session.variables.names.text(id).to_vec();
        session.builtin_error(&request.builtin, [name.as_slice(), b": readonly variable"].concat());
        return false;
    }
    let temporary = slot.attributes.has(Attributes::TEMPORARY) && slot.scope() > 0;
    let inherits =
        temporary || request.inherit || session.shopt(crate::state::options::Shopt::LocalvarInherit);
    let old = session.variables.bind(id, scope);
    let slot = session.variables.slot_mut(id);
    slot.attributes = Attributes::DECLARED;
    if let (Some(old), true) = (old, inherits) {
        slot.value = old.value;
        let dropped = Attributes::NAMEREF.with(Attributes::BINDING);
        slot.attributes = old.attributes.without(dropped).with(Attributes::DECLARED);
        session.variables.export_generation += 1;
    }
    true
}

/// Applies attributes and value to the binding that is visible now.
fn change(session: &mut Session, request: &Request, operand: Operand<'_>) -> Result<bool, Unwind> {
    let id = operand.id;
    let attributes = session.variables.slot(id).attributes;
    if attributes.has(Attributes::READONLY) && (operand.has_value() || request.off.has(Attributes::READONLY))
    {
        let name = session.variables.names.text(id).to_vec();
        let message = [name.as_slice(), b": readonly variable"].concat();
        if matches!(&request.builtin[..], b"export" | b"readonly") {
            session.error(message);
            session.misuse = Some(1);
        } else {
            session.builtin_error(&request.builtin, message);
        }
        return Ok(false);
    }
    if request.on.has(Attributes::NAMEREF) {
        return make_nameref(session, request, &operand);
    }
    if !convert_array(session, request, id, &operand) {
        return Ok(false);
    }
    let before_value = request.on.without(Attributes::READONLY);
    let mut attributes = session.variables.slot(id).attributes;
    let case = Attributes::LOWERCASE.with(Attributes::UPPERCASE).with(Attributes::CAPITALIZE);
    if before_value.any(case) {
        attributes = attributes.without(case);
    }
    attributes = attributes.without(request.off).with(before_value).with(Attributes::DECLARED);
    if request.remove_export {
        attributes = attributes.without(Attributes::EXPORT);
    }
    session.variables.slot_mut(id).attributes = attributes;
    let assigned = store(session, request, operand)?;
    if assigned && request.on.has(Attributes::READONLY) {
        let slot = session.variables.slot_mut(id);
        slot.attributes = slot.attributes.with(Attributes::READONLY);
    }
    session.variables.export_generation += 1;
    Ok(assigned)
}

fn make_nameref(session: &mut Session, request: &Request, operand: &Operand<'_>) -> Result<bool, Unwind> {
    let id = operand.id;
    let own_name = session.variables.names.text(id).to_vec();
    let text = match (&operand.ready, &operand.text) {
        (Some(Ready { value: ReadyValue::Scalar(value), .. }), _) => Some(value.clone()),
        (Some(_), _) => {
            let message = [own_name.as_slice(), b": reference variable cannot be an array"].concat();
            session.builtin_error(&request.builtin, message);
            return Ok(false);
        }
        (None, text) => text.clone(),
    };
    let current = session.variables.slot(id).value.clone();
    if current.is_array() {
        let message = [own_name.as_slice(), b": reference variable cannot be an array"].concat();
        session.builtin_error(&request.builtin, message);
        return Ok(false);
    }
    let target = text.or_else(|| current.scalar().map(|v| v.into_owned()));
    if let Some(target) = &target {
        if *target == own_name && session.variables.function_scope().is_none() {
            let message = [own_name.as_slice(), b": nameref variable self references not allowed"].concat();
            session.builtin_error(&request.builtin, message);
            return Ok(false);
        }
        if target.is_empty() && operand.has_value() {
            session.builtin_error(&request.builtin, "`': not a valid identifier");
            return Ok(false);
        }
        if !target.is_empty() && !is_name(target) && split_subscript(target).is_none() {
            let message = [b"`", target.as_slice(), b"': invalid variable name for name reference"].concat();
            session.builtin_error(&request.builtin, message);
            return Ok(false);
        }
    }
    let slot = session.variables.slot_mut(id);
    slot.attributes = slot.attributes.without(request.off).with(request.on).with(Attributes::DECLARED);
    if let Some(target) = target {
        slot.value = Value::Scalar(target);
    }
    Ok(true)
}

fn convert_array(session: &mut Session, request: &Request, id: NameId, operand: &Operand<'_>) -> bool {
    let wanted = request.array.or_else(|| {
        let list = matches!(&operand.ready, Some(Ready { value: ReadyValue::Array(_), .. }));
        let element = operand.index.is_some() && operand.ready.is_none();
        ((list || element) && !session.variables.slot(id).value.is_array()).then_some(ArrayKind::Indexed)
    });
    let name = session.variables.names.text(id).to_vec();
    let refuse = |session: &mut Session, text: &[u8]| {
        session.builtin_error(&request.builtin, [name.as_slice(), text].concat());
        false
    };
    let value = session.variables.slot(id).value.clone();
    if request.no_array && value.is_array() {
        return refuse(session, b": cannot destroy array variables in this way");
    }
    let new = match (wanted, value) {
        (Some(ArrayKind::Indexed), Value::Associative(_)) => {
            return refuse(session, b": cannot convert associative to indexed array");
        }
        (Some(ArrayKind::Associative), Value::Indexed(_)) => {
            return refuse(session, b": cannot convert indexed to associative array");
        }
        // `readonly -a name` alone makes a constant, not an array.
        (Some(_), Value::Unset) if request.builtin == b"readonly" && !operand.has_value() => return true,
        (Some(ArrayKind::Indexed), Value::Unset) => Value::Indexed(IndexedArray::declared()),
        (Some(ArrayKind::Associative), Value::Unset) => Value::Associative(AssociativeArray::declared()),
        (Some(ArrayKind::Indexed), old) if !old.is_array() => {
            let mut array = IndexedArray::default();
            if let Some(first) = old.scalar() {
                array.set(0, first.into_owned());
            }
            Value::Indexed(Rc::new(array))
        }
        (Some(ArrayKind::Associative), old) if !old.is_array() => {
            let mut array = AssociativeArray::default();
            if let Some(first) = old.scalar() {
                array.set(b"0".to_vec(), first.into_owned());
            }
            Value::Associative(Rc::new(array))
        }
        _ => return true,
    };
    let slot = session.variables.slot_mut(id);
    slot.value = new;
    slot.attributes = slot.attributes.with(Attributes::DECLARED);
    true
}

fn store(session: &mut Session, request: &Request, operand: Operand<'_>) -> Result<bool, Unwind> {
    if let Some(ready) = operand.ready {
        session.apply_assignment(ready)?;
        return Ok(true);
    }
    let Some(text) = operand.text else { return Ok(true) };
    let compound = text.first() == Some(&b'(') && text.last() == Some(&b')');
    if compound
        && operand.index.is_none()
        && (request.array.is_some() || session.value(operand.id).is_array())
    {
        return store_compound(session, &operand.id, &text, operand.append);
    }
    let index = match &operand.index {
        Some(subscript) => Some(session.index_from_text(operand.id, subscript)?),
        None if session.value(operand.id).is_array() && request.array.is_some() => {
            default_index(session, operand.id)
        }
        None => None,
    };
    let result = session.assign(operand.id, index, text, operand.append);
    settle(session, result)
}

fn default_index(session: &mut Session, id: NameId) -> Option<Index> {
    match session.value(id) {
        Value::Associative(_) => Some(Index::Key(b"0".to_vec())),
        _ => Some(Index::Number(0)),
    }
}

/// A value such as `(1 2)` that came out of an expansion: read again as a compound assignment.
fn store_compound(session: &mut Session, id: &NameId, text: &[u8], append: bool) -> Result<bool, Unwind> {
    let name = session.variables.names.text(*id).to_vec();
    let operator: &[u8] = if append { b"+=" } else { b"=" };
    let source = [name.as_slice(), operator, text].concat();
    match session.parse_assignment(&source) {
        Some(assignment) => {
            let ready = session.prepare(&assignment)?;
            session.apply_assignment(ready)?;
            Ok(true)
        }
        None => {
            let result: Result<(), AssignError> = session.assign(*id, None, text.to_vec(), append);
            settle(session, result)
        }
    }
}
