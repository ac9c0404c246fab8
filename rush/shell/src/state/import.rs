//! Functions from the environment. What stands there was written by whoever started the shell, which may be a web
//! server that copies a stranger's request into it. So a text is parsed and never run: it is taken if it is the
//! definition of exactly the function that its variable names, with nothing before and nothing after, and else it
//! stays what it was, a string in the environment of the programs that the shell starts.

use super::names;
use super::options::SetOption;
use super::session::Session;
use crate::Bytes;
use crate::syntax::ast::{Command, FunctionDefinition, List};
use crate::syntax::{Context, Input, Next, Parser, SyntaxError};
use std::rc::Rc;

const PREFIX: &[u8] = b"BASH_FUNC_";
const SUFFIX: &[u8] = b"%%";

/// The function that the variable `name` with `value` holds, if it is the variable of a function.
pub(super) fn function_name<'n>(name: &'n [u8], value: &[u8]) -> Option<&'n [u8]> {
    let function = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    value.starts_with(b"() {").then_some(function)
}

/// The definition, if `list` is one by itself: not negated, timed, in the background, or beside another command.
fn only_definition(list: &List) -> Option<&Rc<FunctionDefinition>> {
    let [item] = &list.items[..] else { return None };
    let pipeline = &item.and_or.first;
    let alone =
        !item.background && item.and_or.rest.is_empty() && !pipeline.negated && pipeline.timed.is_none();
    match &pipeline.stages[..] {
        [Command::Function(definition)] if alone => Some(definition),
        _ => None,
    }
}

impl Session {
    /// Whether the environment may define functions and set options: not in a shell that has privileges which those
    /// who wrote the environment may not have.
    pub(super) fn trusts_environment(&self) -> bool {
        !self.is(SetOption::Privileged)
    }

    /// Defines the function that the environment has, or says why not; whether it was defined.
    pub(super) fn import_function(&mut self, name: &[u8], value: &[u8]) -> bool {
        let posix = self.is(SetOption::Posix);
        let refused = name.contains(&b'/') || posix && crate::exec::refused_function_name(name).is_some();
        let definition = if refused { None } else { self.parse_import(name, value) };
        let Some(definition) = definition else {
            self.report_import(b"error importing function definition for `", name, b"'");
            return false;
        };
        let _ = self.define_function(&definition);
        if let Some(function) = Rc::make_mut(&mut self.functions).get_mut(name) {
            function.exported = true;
        }
        true
    }

    fn parse_import(&mut self, name: &[u8], value: &[u8]) -> Option<Rc<FunctionDefinition>> {
        let mut input = Input::from_bytes(&[name, b" ", value].concat(), 0);
        let list = match crate::sys::stack::with_room(|| self.parse_all(&mut input)) {
            Ok(list) => list,
            Err(error) => {
                let place: Bytes = format!(": line {}: ", error.line).into_bytes();
                self.report_import(name, &place, &error.message);
                return None;
            }
        };
        let definition = list.as_ref().and_then(only_definition).filter(|found| found.name[..] == *name);
        if definition.is_none() {
            self.report_import(b"warning: ", name, b": ignoring function definition attempt");
        }
        definition.cloned()
    }

    /// The whole of `input`, if it is one line of commands.
    fn parse_all(&mut self, input: &mut Input) -> Result<Option<List>, Box<SyntaxError>> {
        let (posix, extglob) = (self.is(SetOption::Posix), self.extglob());
        let context = Context { variables: &mut self.variables, aliases: None, extglob, posix };
        let mut parser = Parser::new(input, context);
        let Next::List(list) = parser.next_command()? else { return Ok(None) };
        match parser.next_command()? {
            Next::End => Ok(Some(list)),
            Next::List(_) => Ok(None),
        }
    }

    fn report_import(&mut self, before: &[u8], name: &[u8], after: &[u8]) {
        let text = [&self.name[..], b": ", before, name, after, b"\n"].concat();
        self.write_err(&text);
    }
}

/// Variables that a shell with privileges does not take from its environment.
pub(super) fn is_withheld(id: names::NameId) -> bool {
    matches!(id, names::SHELLOPTS | names::BASHOPTS | names::CDPATH | names::GLOBIGNORE)
}
