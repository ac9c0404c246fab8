//! The line editor of the REPL, on a thread of its own, so that the isolate can run timers while it waits for input.
//!
//! The editor asks the isolate's thread for completions and gives it whole entries; it reads the next entry when it is told to.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use cynic::CancelToken;
use cynic::host::{Sink, Stream};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, ExternalPrinter, Helper};

use crate::session::Terminal;

/// What the editor's thread tells.
pub(crate) enum Event {
    /// An entry.
    Entry(String),
    /// The input ended, or the reason why there is none.
    End(Result<(), String>),
    /// The completions of `line` at `at` are wanted.
    Complete { line: String, at: usize, answer: Sender<(usize, Vec<String>)> },
}

/// The isolate's side of the editor.
pub(crate) struct LineEditor {
    events: Receiver<Event>,
    go_on: Sender<()>,
    above: Sender<String>,
}

impl LineEditor {
    /// Starts the thread. `is_complete` says whether a text is a whole entry.
    /// Ctrl-C while an entry is edited cancels `token`, for the timer that may be running.
    pub(crate) fn start(history: Vec<String>, is_complete: fn(&str) -> bool, token: CancelToken) -> Self {
        let (sender, events) = channel();
        let (go_on, turns) = channel();
        let (above, lines) = channel();
        thread::spawn(move || {
            let end = edit(&sender, &turns, lines, history, is_complete, &token);
            // Nobody listens any more when the session has ended first.
            let _ignored = sender.send(Event::End(end));
        });
        Self { events, go_on, above }
    }

    /// Asks for the next entry.
    pub(crate) fn read(&self) {
        // A thread that is gone has said why.
        let _ignored = self.go_on.send(());
    }

    /// The next event; `None` if there was none in time.
    pub(crate) fn next_event(&self, wait: Option<Duration>) -> Option<Event> {
        let gone = || Event::End(Ok(()));
        match wait {
            None => Some(self.events.recv().unwrap_or_else(|_| gone())),
            Some(wait) => match self.events.recv_timeout(wait) {
                Ok(event) => Some(event),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(gone()),
            },
        }
    }

    /// Where lines go that are to stand above the one that is being edited.
    pub(crate) fn above(&self) -> Sender<String> {
        self.above.clone()
    }
}

/// Reads entries, one whenever it is asked to, until the input ends.
fn edit(
    events: &Sender<Event>,
    turns: &Receiver<()>,
    lines: Receiver<String>,
    history: Vec<String>,
    is_complete: fn(&str) -> bool,
    token: &CancelToken,
) -> Result<(), String> {
    let config = Config::builder().auto_add_history(true).completion_type(CompletionType::List).build();
    let mut editor: Editor<Entry, MemHistory> =
        Editor::with_history(config, MemHistory::new()).map_err(|error| format!("terminal: {error}"))?;
    for entry in history {
        let _ignored = editor.add_history_entry(entry);
    }
    editor.set_helper(Some(Entry { events: events.clone(), is_complete }));
    let printer = editor.create_external_printer().ok();
    // A thread of its own, because the printer may have to wait for the editor, which may be waiting for the isolate.
    thread::spawn(move || print_above(&lines, printer));
    while turns.recv().is_ok() {
        loop {
            match editor.readline("> ") {
                Ok(line) => {
                    let _ignored = events.send(Event::Entry(line));
                    break;
                }
                Err(ReadlineError::Interrupted) => token.cancel(),
                Err(ReadlineError::Eof) => return Ok(()),
                Err(error) => return Err(format!("terminal: {error}")),
            }
        }
    }
    Ok(())
}

/// Prints lines above the edited one on a terminal, and as they are elsewhere.
fn print_above(lines: &Receiver<String>, mut printer: Option<impl ExternalPrinter>) {
    for line in lines {
        let printed = printer.as_mut().is_some_and(|printer| printer.print(format!("{line}\n")).is_ok());
        if !printed {
            Terminal.line(Stream::Output, &line);
        }
    }
}

/// Decides whether an entry is complete, and passes on what Tab asks for.
struct Entry {
    events: Sender<Event>,
    is_complete: fn(&str) -> bool,
}

impl Helper for Entry {}
impl Highlighter for Entry {}
impl Hinter for Entry {
    type Hint = String;
}

impl Completer for Entry {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let (answer, answers) = channel();
        let _ignored = self.events.send(Event::Complete { line: line.to_owned(), at, answer });
        Ok(answers.recv().unwrap_or((at, Vec::new())))
    }
}

impl Validator for Entry {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let complete = (self.is_complete)(context.input());
        Ok(if complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}
