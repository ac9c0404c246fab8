//! `cynic repl`: reads, evaluates and prints, as node's REPL does.
//!
//! Input goes on over several lines while it is incomplete. Global bindings survive from entry to entry; `_` is the value of
//! the last one, and what was declared may be declared again. Timers run while the next entry is waited for. Ctrl-C ends what is being
//! evaluated and keeps everything else.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::IsTerminal;
use std::rc::Rc;
use std::sync::mpsc::Sender;

use cynic::host::{Sink, Stream};
use cynic::{CancelToken, Engine, Error, Handle, HostError};

use crate::print::{errln, outln};

use super::repl_brackets::{Brackets, brackets};
use super::repl_completion;
use super::repl_editor::{Event, LineEditor};
use super::repl_history::HistoryFile;
use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::interrupt;
use crate::session::{Session, Terminal};
use crate::sources::Sources;

/// What stack traces and errors call an entry.
const NAME: &str = "<repl>";
const BANNER: &str = "cynic: strict ECMAScript. Ctrl-D leaves.";

/// Writes lines to the process's streams; those of timers that run while an entry is edited, above it.
struct Screen {
    above: Sender<String>,
    is_editing: Rc<Cell<bool>>,
}

impl Sink for Screen {
    fn line(&mut self, stream: Stream, text: &str) {
        if self.is_editing.get() {
            let _ignored = self.above.send(text.to_owned());
        } else {
            Terminal.line(stream, text);
        }
    }
}

/// Whether a text is a whole entry: it parses, or it is wrong before its end.
fn is_complete(text: &str) -> bool {
    if cynic::awaiting_entry(text, false).is_some() {
        return true;
    }
    match check(text) {
        Err(HostError::Syntax(error)) => match brackets(text) {
            Brackets::Open => false,
            Brackets::Wrong => true,
            // Wrong at its very end, it may go on.
            Brackets::Closed => {
                let last_line = text.lines().count() as u32;
                let width = text.lines().last().map_or(0, |line| line.chars().count()) as u32;
                (error.line, error.column) < (last_line, width + 1) && !error.message.contains("Unterminated")
            }
        },
        _ => true,
    }
}

fn check(text: &str) -> Result<(), HostError> {
    let engine = Engine::new().allow_eval();
    // An entry that awaits is wrong as a script, but what matters here is where it ends.
    let module = text.contains("await").then(|| engine.check_module(NAME, text));
    module.unwrap_or_else(|| engine.compile(NAME, &as_expression(text)).map(drop))
}

/// An entry that begins with a brace is meant as an object, if it can be one.
fn as_expression(text: &str) -> Cow<'_, str> {
    let wrapped = format!("({text}\n)");
    if text.trim_start().starts_with('{') && Engine::new().allow_eval().compile(NAME, &wrapped).is_ok() {
        Cow::Owned(wrapped)
    } else {
        Cow::Borrowed(text)
    }
}

/// Runs the loop until the end of input.
pub(crate) fn run(options: &Options) -> Result<ExitStatus, String> {
    let history = HistoryFile::from_environment();
    let token = CancelToken::new();
    if std::io::stdin().is_terminal() {
        interrupt::watch(token.clone())?;
    }
    let editor = LineEditor::start(history.load(), is_complete, token.clone());
    let is_editing = Rc::new(Cell::new(false));
    let screen = Screen { above: editor.above(), is_editing: is_editing.clone() };
    let mut session = Session::with_sink(options, None, &Sources::default(), None, Box::new(screen));
    session.isolate.redeclare_globals();
    session.isolate.set_cancel_token(token.clone());
    let remember = session.isolate.realm().evaluate(NAME, "var _; (value) => { _ = value; }");
    let remember = remember.map_err(|_| "the session cannot be prepared")?;
    outln!("{BANNER}");
    let mut ended = None;
    loop {
        editor.read();
        is_editing.set(true);
        let event = wait_for_entry(&mut session, &editor, &mut ended);
        is_editing.set(false);
        let line = match event {
            Ok(line) => line,
            Err(end) => return end.map(|()| ended.unwrap_or(ExitStatus::Success)),
        };
        if ended.is_none() && !line.trim().is_empty() {
            history.append(&line);
            // An interrupt before the entry was meant for what is over.
            token.reset();
            ended = evaluate(&mut session, &remember, &line);
        }
        if let Some(status) = ended {
            return Ok(status);
        }
    }
}

/// Runs timers and answers completions until there is an entry, or the input ends. A termination meanwhile is put into `ended`: the
/// session is over when the editor has given the terminal back, with the next entry.
fn wait_for_entry(
    session: &mut Session,
    editor: &LineEditor,
    ended: &mut Option<ExitStatus>,
) -> Result<String, Result<(), String>> {
    loop {
        let wait = if ended.is_some() { None } else { session.next_due() };
        match editor.next_event(wait) {
            Some(Event::Entry(line)) => return Ok(line),
            Some(Event::End(end)) => return Err(end),
            Some(Event::Complete { line, at, answer }) => {
                let _ignored =
                    answer.send(repl_completion::complete(&mut session.isolate.realm(), &line, at));
            }
            None => *ended = run_timer(session, editor),
        }
    }
}

/// Runs a timer while an entry is edited; a status if the session cannot go on.
fn run_timer(session: &mut Session, editor: &LineEditor) -> Option<ExitStatus> {
    session.isolate.cancel_token().reset();
    match session.run_one() {
        Ok(()) => None,
        Err(Error::Thrown(exception)) => {
            let _ignored = editor.above().send(session.describe_uncaught(&exception));
            None
        }
        Err(error) => report(session, &error),
    }
}

/// Reports what went wrong; a status if the session cannot go on.
fn report(session: &mut Session, error: &Error) -> Option<ExitStatus> {
    if session.recover(error) {
        errln!("Interrupted");
        return None;
    }
    let status = session.report(error);
    matches!(error, Error::Terminated(_)).then_some(status)
}

/// Evaluates one entry; a status if the session cannot go on.
fn evaluate(session: &mut Session, remember: &Handle, text: &str) -> Option<ExitStatus> {
    let outcome = session.catch_up();
    let outcome = outcome.and_then(|()| session.evaluate_entry(NAME, &as_expression(text)));
    let outcome = outcome.and_then(|value| {
        outln!("{}", session.shown(&value));
        session.isolate.realm().call(remember, &[value])?;
        session.catch_up()
    });
    outcome.err().and_then(|error| report(session, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_entries_go_on() {
        for text in [
            "function f() {",
            "[1, 2",
            "`abc",
            "if (x) {\n  y;",
            "await f(",
            "for await (const x of y) {",
            "f((x) =>",
            "a +",
            "let x =",
        ] {
            assert!(!is_complete(text), "{text}");
        }
        for text in
            ["1 + 1", "let a = 1;", "{ a: 1 }", "let = = 3; x", "f(]; 1", "await 1", "const x = await f()"]
        {
            assert!(is_complete(text), "{text}");
        }
    }
}
