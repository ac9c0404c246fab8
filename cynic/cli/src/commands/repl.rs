//! `cynic repl`: reads, evaluates and prints, as node's REPL does.
//!
//! Input goes on over several lines while it is incomplete. Global bindings survive from entry to entry; `_` is the value of
//! the last one. Timers that are due run between entries.

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Editor, Helper};

use std::borrow::Cow;

use cynic::compiler::{self, CompileOptions};
use cynic::gc::Persistent;
use cynic::syntax::{self, SyntaxError};
use cynic::value::Value;
use cynic::vm::Abrupt;

use super::repl_history::HistoryFile;
use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::session::Session;

/// What stack traces and errors call an entry.
const NAME: &str = "<repl>";
const BANNER: &str = "cynic: strict ECMAScript. Ctrl-D leaves.";

/// Decides whether an entry is complete.
struct Entry;

impl Helper for Entry {}
impl Highlighter for Entry {}
impl Hinter for Entry {
    type Hint = String;
}
impl Completer for Entry {
    type Candidate = String;
}

impl Validator for Entry {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let complete = is_complete(context.input());
        Ok(if complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// Whether a text is a whole entry: it parses, or it is wrong before its end.
fn is_complete(text: &str) -> bool {
    if syntax::awaiting_entry(text, false).is_some() {
        return true;
    }
    match check(text) {
        Ok(()) => true,
        Err(error) => {
            let last_line = text.lines().count() as u32;
            let width = text.lines().last().map_or(0, |line| line.chars().count()) as u32;
            (error.line, error.column) < (last_line, width + 1) && !error.message.contains("Unterminated")
        }
    }
}

fn check(text: &str) -> Result<(), SyntaxError> {
    let options = CompileOptions { allow_eval: true, ..CompileOptions::default() };
    // An entry that awaits is wrong as a script, but what matters here is where it ends.
    let module = text.contains("await").then(|| compiler::compile_module(NAME, text, options).map(drop));
    module.unwrap_or_else(|| compiler::compile_script(NAME, &as_expression(text), options).map(drop))
}

/// An entry that begins with a brace is meant as an object, if it can be one.
fn as_expression(text: &str) -> Cow<'_, str> {
    let options = CompileOptions { allow_eval: true, ..CompileOptions::default() };
    let wrapped = format!("({text}\n)");
    if text.trim_start().starts_with('{') && compiler::compile_script(NAME, &wrapped, options).is_ok() {
        Cow::Owned(wrapped)
    } else {
        Cow::Borrowed(text)
    }
}

/// Runs the loop until the end of input.
pub(crate) fn run(options: &Options) -> Result<ExitStatus, String> {
    let mut session = Session::new(options);
    let history = HistoryFile::from_environment();
    let config = Config::builder().auto_add_history(true).build();
    let mut editor: Editor<Entry, MemHistory> =
        Editor::with_history(config, MemHistory::new()).map_err(|error| format!("terminal: {error}"))?;
    for entry in history.load() {
        let _ignored = editor.add_history_entry(entry);
    }
    editor.set_helper(Some(Entry));
    let remember = session.vm.evaluate_script(NAME, "var _; (value) => { _ = value; }");
    let remember = remember.map_err(|_| "the session cannot be prepared")?;
    let remember = Persistent::new(&session.vm.heap, remember);
    println!("{BANNER}");
    loop {
        match editor.readline("> ") {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => {
                history.append(&line);
                if let Some(status) = evaluate(&mut session, &remember, &line) {
                    return Ok(status);
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(ExitStatus::Success),
            Err(error) => return Err(format!("terminal: {error}")),
        }
    }
}

/// Evaluates one entry; a status if the session cannot go on.
fn evaluate(session: &mut Session, remember: &Persistent, text: &str) -> Option<ExitStatus> {
    let outcome = session.catch_up();
    let outcome = outcome.and_then(|()| session.evaluate_entry(NAME, &as_expression(text)));
    let outcome = outcome.and_then(|value| {
        let root = Persistent::new(&session.vm.heap, value);
        show(session, value);
        session.vm.call(remember.get(), Value::UNDEFINED, &[root.get()])?;
        session.catch_up()
    });
    match outcome {
        Ok(()) => None,
        Err(Abrupt::Throw) => {
            session.report(Abrupt::Throw);
            None
        }
        Err(abrupt) => Some(session.report(abrupt)),
    }
}

fn show(session: &mut Session, value: Value) {
    println!("{}", cynic_host::inspect::inspect(&mut session.vm, value, session.styles));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_entries_go_on() {
        for text in
            ["function f() {", "[1, 2", "`abc", "if (x) {\n  y;", "await f(", "for await (const x of y) {"]
        {
            assert!(!is_complete(text), "{text}");
        }
        for text in
            ["1 + 1", "let a = 1;", "{ a: 1 }", "let = = 3; x", "f(]; 1", "await 1", "const x = await f()"]
        {
            assert!(is_complete(text), "{text}");
        }
    }
}
