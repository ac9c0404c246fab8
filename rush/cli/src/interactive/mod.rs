//! The interactive loop: prompt, line, history, running. Made only for interactive shells; nothing of it exists for `-c`, scripts or
//! pipes. Lines are edited where they come from a terminal (`editor.rs`) and read as they are elsewhere (`plain.rs`).

mod editor;
mod git;
mod highlight;
mod host;
mod plain;
mod spinner;

use editor::TerminalEditor;
use git::GitPrompt;
use plain::PlainReader;
use rush::history::expansion::{self, Expansion};
use rush::state::options::{SetOption, Shopt};
use rush::{Bytes, Outcome, Session, Unwind, sys};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The variable that the prompt shows the repository with.
const GIT_VARIABLE: &[u8] = b"RUSH_PROMPT_GIT";

/// The prompt on a terminal where nobody has set one.
const DEFAULT_PROMPT: &[u8] = b"\\w$RUSH_PROMPT_GIT\\$ ";

/// A line that was read.
enum Line {
    Text(Bytes),
    /// The end of the input behind the beginning of a command.
    Unfinished(Bytes),
    /// SIGINT: start again.
    Interrupted,
    /// The end of the input.
    End,
}

/// Where lines come from.
enum Source {
    Terminal(Box<TerminalEditor>),
    Plain(PlainReader),
}

/// What was typed.
enum Entry {
    /// Whole commands.
    Text(Bytes),
    /// The end of the input in the middle of a command.
    Unfinished(Bytes),
    /// SIGINT: start again.
    Interrupted,
    /// The end of the input.
    End,
}

/// Runs the commands that are typed, until the end or `exit`.
pub(crate) fn run(session: &mut Session, terminal: bool) -> Outcome {
    let editor = if terminal { TerminalEditor::new(session) } else { None };
    let source = match editor {
        Some(editor) => Source::Terminal(Box::new(editor)),
        None => Source::Plain(PlainReader::new()),
    };
    session.load_history();
    session.hang_up_in_order();
    if matches!(source, Source::Terminal(_)) && is_styled(session) {
        session.spinner = Some(spinner::draw);
    }
    if matches!(source, Source::Terminal(_))
        && session.get(b"PS1").is_some_and(|prompt| *prompt == *rush::PROMPT)
    {
        let _ = session.set(b"PS1", DEFAULT_PROMPT.to_vec());
    }
    let mut state = Loop { source, warned: false, git: GitPrompt::default() };
    let outcome = loop {
        if let Some(outcome) = state.turn(session) {
            break outcome;
        }
    };
    session.save_history();
    session.release_jobs();
    outcome
}

struct Loop {
    source: Source,
    git: GitPrompt,
    /// Whether the last command was told of stopped jobs.
    warned: bool,
}

impl Loop {
    /// One prompt and what it brings; the outcome when the shell is to end.
    fn turn(&mut self, session: &mut Session) -> Option<Outcome> {
        session.notify_jobs();
        if matches!(self.source, Source::Terminal(_)) {
            measure_terminal(session);
        }
        if let Err(unwind) = session.run_prompt_commands() {
            return Some(Err(unwind));
        }
        let entry = self.read_entry(session);
        if let Some(signal) = sys::fatal_pending() {
            return Some(Err(Unwind::Exit(128 + signal)));
        }
        let text = match entry {
            Entry::Text(text) => text,
            Entry::Unfinished(text) => {
                // The parser says what is missing.
                let outcome = session.run_entry(&text);
                session.write_err(b"exit\n");
                return Some(outcome);
            }
            Entry::Interrupted => {
                session.status = 130;
                return None;
            }
            Entry::End => {
                session.write_err(if session.shopt(Shopt::LoginShell) { b"logout\n" } else { b"exit\n" });
                return self.may_leave(session).then_some(Ok(session.status));
            }
        };
        let text = self.expand(session, text)?;
        session.remember(&text);
        let prompt = without_marks(&session.prompt(b"PS0"));
        session.write_err(&prompt);
        match session.run_entry(&text) {
            Err(unwind) => self.may_leave(session).then_some(Err(unwind)),
            Ok(_) => {
                self.warned = false;
                None
            }
        }
    }

    /// Whether the shell may end: not the first time while jobs are stopped.
    fn may_leave(&mut self, session: &mut Session) -> bool {
        if sys::fatal_pending().is_none()
            && session.has_stopped_jobs()
            && !std::mem::replace(&mut self.warned, true)
        {
            session.write_err(b"There are stopped jobs.\n");
            return false;
        }
        true
    }

    /// The text after history expansion; `None` when there is nothing to run.
    fn expand(&mut self, session: &mut Session, text: Bytes) -> Option<Bytes> {
        if !session.is(SetOption::Histexpand) {
            return Some(text);
        }
        match expansion::expand(&text, &session.history_entries()) {
            Ok(Expansion::Unchanged) => Some(text),
            Ok(Expansion::Changed(text)) => {
                session.write_err(&text);
                Some(text)
            }
            Ok(Expansion::Shown(text)) => {
                session.write_err(&text);
                session.remember(&text);
                None
            }
            Err(message) => {
                session.error(message);
                session.status = 1;
                None
            }
        }
    }

    /// Sets the variable that tells of the repository, if the prompt shows it.
    fn describe_repository(&mut self, session: &mut Session) {
        let shown = |text: &[u8]| text.windows(GIT_VARIABLE.len()).any(|part| part == GIT_VARIABLE);
        if !session.get(b"PS1").is_some_and(|prompt| shown(&prompt)) {
            return;
        }
        let directory = session.get(b"PWD").map(|value| value.into_owned()).unwrap_or_default();
        let text = self.git.text(Path::new(std::ffi::OsStr::from_bytes(&directory)));
        let _ = session.set(GIT_VARIABLE, text.into_bytes());
    }

    /// Reads lines until they are whole commands.
    fn read_entry(&mut self, session: &mut Session) -> Entry {
        let mut text = Bytes::new();
        loop {
            if text.is_empty() {
                self.describe_repository(session);
            }
            let prompt = session.prompt(if text.is_empty() { b"PS1" } else { b"PS2" });
            let line = match &mut self.source {
                Source::Terminal(editor) => editor.read_line(session, &prompt),
                Source::Plain(reader) => reader.read_line(session, &prompt),
            };
            match line {
                Line::Text(line) => {
                    text.extend_from_slice(&line);
                    text.push(b'\n');
                    let blank = text.iter().all(u8::is_ascii_whitespace);
                    if blank || !session.needs_more(&text) {
                        return Entry::Text(text);
                    }
                }
                Line::Unfinished(line) => return Entry::Unfinished([&text[..], &line].concat()),
                Line::Interrupted => return Entry::Interrupted,
                Line::End if !text.is_empty() => return Entry::Unfinished(text),
                Line::End => return Entry::End,
            }
        }
    }
}

/// Whether the terminal is one for colours and the like, and the user wants them.
fn is_styled(session: &mut Session) -> bool {
    session.get(b"TERM").is_some_and(|term| *term != *b"dumb") && session.get(b"NO_COLOR").is_none()
}

/// `checkwinsize`: `LINES` and `COLUMNS` follow the terminal.
fn measure_terminal(session: &mut Session) {
    if !session.shopt(Shopt::Checkwinsize) {
        return;
    }
    if let Ok(size) = rustix::termios::tcgetwinsize(rustix::stdio::stderr())
        && size.ws_row > 0
        && size.ws_col > 0
    {
        let _ = session.set(b"LINES", size.ws_row.to_string().into_bytes());
        let _ = session.set(b"COLUMNS", size.ws_col.to_string().into_bytes());
    }
}

/// Between these bytes of a prompt is what takes no room.
const MARKS: (u8, u8) = (1, 2);

/// The prompt as it is written.
fn without_marks(prompt: &[u8]) -> Bytes {
    prompt.iter().copied().filter(|byte| *byte != MARKS.0 && *byte != MARKS.1).collect()
}
