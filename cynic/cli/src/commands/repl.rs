//! `cynic repl`: reads, evaluates and prints, as node's REPL does.
//!
//! Input goes on over several lines while it is incomplete. Global bindings survive from entry to entry; `_` is the value of
//! the last one. The history is kept in memory only.

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Editor, Helper};

use cynic::compiler::{self, CompileOptions};
use cynic::value::Value;

use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::session::Session;

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
    match compile(text) {
        Ok(_) => true,
        Err(error) => {
            let last_line = text.lines().count() as u32;
            let width = text.lines().last().map_or(0, |line| line.chars().count()) as u32;
            (error.line, error.column) < (last_line, width + 1) && !error.message.contains("Unterminated")
        }
    }
}

fn compile(
    text: &str,
) -> Result<std::rc::Rc<cynic::bytecode::code::FunctionCode>, cynic::syntax::SyntaxError> {
    let options = CompileOptions { allow_eval: true, typescript: false, ..CompileOptions::default() };
    // An entry that begins with a brace is meant as an object, if it can be one.
    if text.trim_start().starts_with('{')
        && let Ok(code) = compiler::compile_script("<repl>", &format!("({text}\n)"), options)
    {
        return Ok(code);
    }
    compiler::compile_script("<repl>", text, options)
}

/// Runs the loop until the end of input.
pub(crate) fn run(options: &Options) -> Result<ExitStatus, String> {
    let mut session = Session::new(options);
    let config = Config::builder().auto_add_history(true).build();
    let mut editor: Editor<Entry, rustyline::history::MemHistory> =
        Editor::with_history(config, rustyline::history::MemHistory::new())
            .map_err(|error| format!("terminal: {error}"))?;
    editor.set_helper(Some(Entry));
    println!("{BANNER}");
    loop {
        match editor.readline("> ") {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => {
                if let Some(status) = evaluate(&mut session, &line) {
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
fn evaluate(session: &mut Session, text: &str) -> Option<ExitStatus> {
    let outcome = match compile(text) {
        Ok(code) => session.vm.run_script(&code),
        Err(error) => {
            eprintln!("Uncaught SyntaxError: {error}");
            return None;
        }
    };
    let outcome = outcome.and_then(|value| {
        let root = cynic::gc::Persistent::new(&session.vm.heap, value);
        session.drain()?;
        Ok(root.get())
    });
    match outcome {
        Ok(value) => show(session, value),
        Err(cynic::vm::Abrupt::Throw) => {
            session.report(cynic::vm::Abrupt::Throw);
        }
        Err(abrupt) => return Some(session.report(abrupt)),
    }
    None
}

fn show(session: &mut Session, value: Value) {
    println!("{}", cynic_host::inspect::inspect(&mut session.vm, value, session.styles));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_entries_go_on() {
        for text in ["function f() {", "[1, 2", "`abc", "if (x) {\n  y;"] {
            assert!(!is_complete(text), "{text}");
        }
        for text in ["1 + 1", "let a = 1;", "{ a: 1 }", "let = = 3; x", "f(]; 1"] {
            assert!(is_complete(text), "{text}");
        }
    }
}
