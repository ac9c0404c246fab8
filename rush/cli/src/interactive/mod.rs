//! The interactive loop on a terminal: prompt, line editing, history, running. Made only when commands come from a terminal;
//! nothing of it exists for `-c`, scripts or pipes.

mod expansion;
mod helper;

use std::cell::RefCell;

use expansion::{Entries, Expansion};
use helper::Helper;
use rush::state::options::{SetOption, Shopt};
use rush::{Bytes, Outcome, Session, sys};
use rustyline::config::{Builder, Configurer};
use rustyline::error::ReadlineError;
use rustyline::history::{History, MemHistory};
use rustyline::{CompletionType, EditMode, Editor};

type LineEditor = Editor<Helper, MemHistory>;

/// What was typed.
enum Entry {
    /// Whole commands.
    Text(Bytes),
    /// SIGINT: start again.
    Interrupted,
    /// The end of the input.
    End,
}

/// Runs the commands that are typed, until the end or `exit`. `None` if the terminal is none that can be edited on.
pub(crate) fn run(session: &mut Session) -> Option<Outcome> {
    let config = Builder::new()
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(false)
        .auto_add_history(false)
        .bracketed_paste(true)
        .build();
    let mut editor: LineEditor = Editor::with_history(config, MemHistory::new()).ok()?;
    let styled =
        session.get(b"TERM").is_some_and(|term| *term != *b"dumb") && session.get(b"NO_COLOR").is_none();
    editor.set_helper(Some(Helper { session: RefCell::new(None), styled }));
    session.load_history();
    let mut state = Loop { editor, synchronised: 0, warned: false };
    let outcome = loop {
        if let Some(outcome) = state.turn(session) {
            break outcome;
        }
    };
    session.save_history();
    session.release_jobs();
    Some(outcome)
}

struct Loop {
    editor: LineEditor,
    /// How many entries, counted from the first ever, the editor knows.
    synchronised: usize,
    /// Whether the last command was told of stopped jobs.
    warned: bool,
}

impl Loop {
    /// One prompt and what it brings; the outcome when the shell is to end.
    fn turn(&mut self, session: &mut Session) -> Option<Outcome> {
        session.notify_jobs();
        if let Err(unwind) = session.run_prompt_commands() {
            return Some(Err(unwind));
        }
        let text = match self.read_entry(session) {
            Entry::Text(text) => text,
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
        if session.has_stopped_jobs() && !std::mem::replace(&mut self.warned, true) {
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
        let (list, base) = session.history_entries();
        match expansion::expand(&text, &Entries { list, base }) {
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

    /// Reads lines until they are whole commands.
    fn read_entry(&mut self, session: &mut Session) -> Entry {
        let mut text = Bytes::new();
        loop {
            let prompt = session.prompt(if text.is_empty() { b"PS1" } else { b"PS2" });
            match self.read_line(session, &prompt) {
                Ok(line) => {
                    text.extend_from_slice(line.as_bytes());
                    text.push(b'\n');
                    let blank = text.iter().all(u8::is_ascii_whitespace);
                    if blank || !session.needs_more(&text) {
                        return Entry::Text(text);
                    }
                }
                Err(ReadlineError::Interrupted) => return Entry::Interrupted,
                // In the middle of a command the parser says what is missing.
                Err(_) if !text.is_empty() => return Entry::Text(text),
                Err(_) => return Entry::End,
            }
        }
    }

    fn read_line(&mut self, session: &mut Session, prompt: &[u8]) -> rustyline::Result<String> {
        self.synchronise(session);
        let mode = if session.is(SetOption::Vi) { EditMode::Vi } else { EditMode::Emacs };
        self.editor.set_edit_mode(mode);
        let prompt = (
            String::from_utf8_lossy(&without_marked(prompt)).into_owned(),
            String::from_utf8_lossy(&without_marks(prompt)).into_owned(),
        );
        let lent = std::mem::replace(session, Session::new(Bytes::new()));
        if let Some(helper) = self.editor.helper() {
            helper.session.replace(Some(lent));
        }
        let line = self.editor.readline(&prompt);
        if let Some(lent) = self.editor.helper().and_then(|helper| helper.session.take()) {
            *session = lent;
        }
        // What interrupted the editor is no command's business; after a whole line, a ^C is meant for the command that begins.
        if matches!(line, Err(ReadlineError::Interrupted)) {
            sys::clear_pending_signals();
        }
        line
    }

    /// Gives the editor the history entries that it does not know.
    fn synchronise(&mut self, session: &Session) {
        let (entries, base) = session.history_entries();
        let end = base + entries.len();
        if end < self.synchronised || self.editor.history().len() > entries.len() {
            let _ = self.editor.clear_history();
            self.synchronised = base;
        }
        for entry in entries.iter().skip(self.synchronised.saturating_sub(base)) {
            let _ = self.editor.add_history_entry(String::from_utf8_lossy(entry).into_owned());
        }
        self.synchronised = end;
    }
}

/// Between these bytes of a prompt is what takes no room.
const MARKS: (u8, u8) = (1, 2);

/// The prompt as it is written.
fn without_marks(prompt: &[u8]) -> Bytes {
    prompt.iter().copied().filter(|byte| *byte != MARKS.0 && *byte != MARKS.1).collect()
}

/// The prompt as it is measured.
fn without_marked(prompt: &[u8]) -> Bytes {
    let mut inside = false;
    let mut out = Bytes::new();
    for byte in prompt {
        match *byte {
            b if b == MARKS.0 => inside = true,
            b if b == MARKS.1 => inside = false,
            b if !inside => out.push(b),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{without_marked, without_marks};

    #[test]
    fn marked_parts_take_no_room() {
        let prompt = b"\x01\x1b]0;title\x07\x02user\x01\x1b[32m\x02$ ";
        assert_eq!(without_marked(prompt), b"user$ ");
        assert_eq!(without_marks(prompt), b"\x1b]0;title\x07user\x1b[32m$ ");
    }
}
