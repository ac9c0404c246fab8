//! Lines from a terminal, edited by rustyline. The session is lent to the editor's helper while a line is edited.

use std::cell::RefCell;
use std::io::Write;

use rush::builtins::bind::{Action, Keymap};
use rush::history::expansion::{self, Expansion};
use rush::state::options::SetOption;
use rush::{Bytes, Session, sys};
use rustyline::config::{BellStyle, Builder, Configurer};
use rustyline::error::ReadlineError;
use rustyline::history::{History, MemHistory};
use rustyline::{CompletionType, EditMode, Editor, Event, EventHandler};
use unicode_width::UnicodeWidthChar;

use super::bindings::{KeyBindings, Request};
use super::edits::Buffer;
use super::helper::Helper;
use super::{Line, MARKS, functions, is_styled, without_marks};
use crate::limits;

pub(super) struct TerminalEditor {
    editor: Editor<Helper, MemHistory>,
    /// How many entries, counted from the first ever, the editor knows.
    synchronised: usize,
    bindings: KeyBindings,
    /// The generation of the session's bindings that the editor follows.
    followed: Option<u64>,
    /// The line that the next prompt begins with (`operate-and-get-next`).
    prepared: Option<String>,
    /// Where the last argument of an earlier command was put, and how many entries back it was.
    argument: Option<(Buffer, std::ops::Range<usize>, usize)>,
}

/// Whether the line goes on being edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Edit,
    Accept,
}

impl TerminalEditor {
    /// `None` if the terminal is none that can be edited on.
    pub(super) fn new(session: &mut Session) -> Option<TerminalEditor> {
        let config = Builder::new()
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(false)
            .auto_add_history(false)
            .bracketed_paste(true)
            .build();
        let mut editor = Editor::with_history(config, MemHistory::new()).ok()?;
        let styled = is_styled(session);
        editor.set_helper(Some(Helper { session: RefCell::new(None), styled }));
        let bindings = KeyBindings::default();
        editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(bindings.clone())));
        session.supports_editing_function = Some(functions::is_supported);
        session.read_init_file();
        let (prepared, argument) = (None, None);
        Some(TerminalEditor { editor, synchronised: 0, bindings, followed: None, prepared, argument })
    }

    pub(super) fn read_line(&mut self, session: &mut Session, prompt: &[u8]) -> Line {
        let prompt = (
            String::from_utf8_lossy(&without_marked(prompt)).into_owned(),
            String::from_utf8_lossy(&without_marks(prompt)).into_owned(),
        );
        let mut buffer = Buffer::default();
        buffer.replace(self.prepared.take().unwrap_or_default());
        loop {
            self.synchronise(session);
            self.follow(session);
            let line = match self.edit(session, &prompt, &buffer) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => {
                    // What interrupted the editor is no command's business; after a whole line, a ^C is meant for the command that begins.
                    sys::clear_pending_signals();
                    return Line::Interrupted;
                }
                Err(_) => return Line::End,
            };
            let Some(Request { action, point }) = self.bindings.take_request() else {
                return Line::Text(line.into_bytes());
            };
            self.erase(&prompt.0, &line);
            buffer = Buffer { killed: std::mem::take(&mut buffer.killed), ..Buffer::new(line, point) };
            if self.carry_out(session, &action, &mut buffer, 0) == Step::Accept {
                let _ = writeln!(std::io::stdout(), "{}{}", prompt.1, buffer.text);
                return Line::Text(buffer.text.into_bytes());
            }
        }
    }

    /// One call of the line editor, which has the session meanwhile.
    fn edit(
        &mut self,
        session: &mut Session,
        prompt: &(String, String),
        buffer: &Buffer,
    ) -> rustyline::Result<String> {
        let lent = std::mem::replace(session, Session::new(Bytes::new()));
        if let Some(helper) = self.editor.helper() {
            helper.session.replace(Some(lent));
        }
        let line = self.editor.readline_with_initial(prompt, buffer.text.split_at(buffer.point));
        if let Some(lent) = self.editor.helper().and_then(|helper| helper.session.take()) {
            *session = lent;
        }
        line
    }

    /// Makes the editor behave as the session's options, bindings and variables say.
    fn follow(&mut self, session: &Session) {
        let mode = if session.is(SetOption::Vi) { EditMode::Vi } else { EditMode::Emacs };
        self.editor.set_edit_mode(mode);
        let bindings = session.bindings();
        if self.followed == Some(bindings.generation) {
            return;
        }
        self.followed = Some(bindings.generation);
        self.bindings.update(session);
        let all = bindings.is_on("show-all-if-ambiguous") || bindings.is_on("show-all-if-unmodified");
        self.editor.set_completion_show_all_if_ambiguous(all);
        self.editor.enable_bracketed_paste(bindings.is_on("enable-bracketed-paste"));
        self.editor.set_bell_style(match &bindings.variable("bell-style")[..] {
            b"none" | b"off" => BellStyle::None,
            b"visible" => BellStyle::Visible,
            _ => BellStyle::Audible,
        });
        let number = |name: &str| String::from_utf8_lossy(&bindings.variable(name)).parse().ok();
        self.editor.set_completion_prompt_limit(number("completion-query-items").unwrap_or(100));
        let cycles = [Keymap::Emacs, Keymap::ViInsert].into_iter().any(|keymap| {
            bindings
                .changes(keymap)
                .any(|(_, action)| matches!(action, Action::Function(name) if functions::cycles(name)))
        });
        self.editor.set_completion_type(if cycles { CompletionType::Circular } else { CompletionType::List });
    }

    /// Takes what the editor left on the screen away: the prompt and the line, above the cursor.
    fn erase(&mut self, prompt: &str, line: &str) {
        let columns = self.editor.dimensions().map_or(80, |(columns, _)| usize::from(columns));
        let rows = rows(&[prompt, line].concat(), columns);
        let mut out = std::io::stdout();
        let _ = write!(out, "\x1b[{rows}A\r\x1b[J").and_then(|()| out.flush());
    }

    /// What a key stands for that the editor cannot do.
    fn carry_out(
        &mut self,
        session: &mut Session,
        action: &Action,
        buffer: &mut Buffer,
        depth: usize,
    ) -> Step {
        match action {
            Action::None => Step::Edit,
            Action::Command(command) => {
                run_command(session, command, buffer);
                Step::Edit
            }
            Action::Macro(keys) if depth < limits::MACRO_DEPTH_MAX => {
                self.type_keys(session, keys, buffer, depth)
            }
            Action::Macro(_) => Step::Edit,
            Action::Function("accept-line") => Step::Accept,
            Action::Function(name) if buffer.edit(name) => Step::Edit,
            Action::Function(name) => self.run_function(session, name, buffer),
        }
    }

    /// The keys of a macro, one sequence after the other.
    fn type_keys(&mut self, session: &mut Session, keys: &[u8], buffer: &mut Buffer, depth: usize) -> Step {
        let keymap = if session.is(SetOption::Vi) { Keymap::ViInsert } else { Keymap::Emacs };
        let mut rest = keys;
        while let Some(&first) = rest.first() {
            let (length, action) = session.bindings().longest(keymap, rest);
            match action {
                Some(Action::Function("self-insert")) | None => {
                    let text = String::from_utf8_lossy(rest).into_owned();
                    let length = if first < 0x80 { 1 } else { text.chars().next().map_or(1, char::len_utf8) };
                    let typed = rest.get(..length).unwrap_or(rest);
                    if action.is_some() {
                        buffer.insert(&String::from_utf8_lossy(typed));
                    }
                    rest = rest.get(typed.len()..).unwrap_or_default();
                }
                Some(action) => {
                    rest = rest.get(length..).unwrap_or_default();
                    if self.carry_out(session, &action, buffer, depth + 1) == Step::Accept {
                        return Step::Accept;
                    }
                }
            }
        }
        Step::Edit
    }

    /// The functions that need the session.
    fn run_function(&mut self, session: &mut Session, name: &str, buffer: &mut Buffer) -> Step {
        match name {
            "alias-expand-line" => expand_alias(session, buffer),
            "display-shell-version" => {
                let _ =
                    writeln!(std::io::stdout(), "rush, compatible with GNU bash, version {}", rush::VERSION);
            }
            "edit-and-execute-command" | "vi-edit-and-execute-command" => {
                let editor = session.visual_editor();
                let edited = session.edit_text(&editor, &[buffer.text.as_bytes(), b"\n"].concat());
                if let Ok(Some(text)) = edited {
                    let text = String::from_utf8_lossy(&text);
                    buffer.replace(text.trim_end_matches('\n').to_string());
                    return Step::Accept;
                }
            }
            "emacs-editing-mode" => session.change_option(SetOption::Emacs, true),
            "vi-editing-mode" => session.change_option(SetOption::Vi, true),
            "history-and-alias-expand-line" => {
                expand_history(session, buffer);
                expand_alias(session, buffer);
            }
            "history-expand-line" => expand_history(session, buffer),
            "insert-comment" => {
                let begin = session.bindings().variable("comment-begin");
                buffer.text.insert_str(0, &String::from_utf8_lossy(&begin));
                return Step::Accept;
            }
            "insert-completions" => insert_completions(session, buffer),
            "insert-last-argument" | "yank-last-arg" | "vi-yank-arg" => {
                self.insert_last_argument(session, buffer)
            }
            "magic-space" => {
                expand_history(session, buffer);
                buffer.insert(" ");
            }
            "operate-and-get-next" => {
                let list = session.history_entries().list;
                let at = list.iter().rposition(|entry| entry.text == buffer.text.as_bytes());
                let next = at.and_then(|at| list.get(at + 1));
                self.prepared = next.map(|entry| String::from_utf8_lossy(&entry.text).into_owned());
                return Step::Accept;
            }
            "re-read-init-file" => session.read_init_file_again(),
            "tilde-expand" | "vi-tilde-expand" => expand_tilde(session, buffer),
            "yank-nth-arg" => {
                if let Some(text) = designated(session, "!!:1") {
                    buffer.insert(&text);
                }
            }
            _ => {}
        }
        Step::Edit
    }

    /// The last argument of the last command; again, of the one before.
    fn insert_last_argument(&mut self, session: &Session, buffer: &mut Buffer) {
        let mut back = 1;
        if let Some((left, range, before)) = self.argument.take()
            && left.text == buffer.text
            && left.point == buffer.point
        {
            buffer.text.drain(range.clone());
            buffer.point = range.start;
            back = before + 1;
        }
        let count = session.history_entries().list.len();
        back = back.min(count);
        let Some(text) = designated(session, &format!("!-{back}:$")) else { return };
        let start = buffer.point;
        buffer.insert(&text);
        self.argument = Some((buffer.clone(), start..buffer.point, back));
    }

    /// Gives the editor the history entries that it does not know.
    fn synchronise(&mut self, session: &Session) {
        let entries = session.history_entries();
        let end = entries.base + entries.list.len();
        if end < self.synchronised || self.editor.history().len() > entries.list.len() {
            let _ = self.editor.clear_history();
            self.synchronised = entries.base;
        }
        for entry in entries.list.iter().skip(self.synchronised.saturating_sub(entries.base)) {
            let _ = self.editor.add_history_entry(String::from_utf8_lossy(&entry.text).into_owned());
        }
        self.synchronised = end;
    }
}

/// Runs a command that is bound to a key, which can see and change the line.
fn run_command(session: &mut Session, command: &[u8], buffer: &mut Buffer) {
    let characters = buffer.text[..buffer.point].chars().count();
    let _ = session.set(b"READLINE_LINE", buffer.text.clone().into_bytes());
    let _ = session.set(b"READLINE_POINT", characters.to_string().into_bytes());
    let status = session.status;
    let _ = session.run_entry(command);
    session.status = status;
    let mut value = |name: &[u8]| session.get(name).map(|value| String::from_utf8_lossy(&value).into_owned());
    let line = value(b"READLINE_LINE").unwrap_or_default();
    let point = value(b"READLINE_POINT").and_then(|point| point.parse().ok()).unwrap_or(0);
    let point = line.char_indices().nth(point).map_or(line.len(), |(at, _)| at);
    *buffer = Buffer { killed: std::mem::take(&mut buffer.killed), ..Buffer::new(line, point) };
    for name in [&b"READLINE_LINE"[..], b"READLINE_POINT"] {
        let id = session.variables.intern(name);
        session.variables.unset(id, None);
    }
}

/// What history expansion makes of a designator.
fn designated(session: &Session, designator: &str) -> Option<String> {
    match expansion::expand(designator.as_bytes(), &session.history_entries()) {
        Ok(Expansion::Changed(text)) => Some(String::from_utf8_lossy(&text).into_owned()),
        _ => None,
    }
}

fn expand_history(session: &Session, buffer: &mut Buffer) {
    if let Ok(Expansion::Changed(text) | Expansion::Shown(text)) =
        expansion::expand(buffer.text.as_bytes(), &session.history_entries())
    {
        buffer.replace(String::from_utf8_lossy(&text).into_owned());
    }
}

/// The first word, if it is an alias.
fn expand_alias(session: &Session, buffer: &mut Buffer) {
    let start = buffer.text.len() - buffer.text.trim_start().len();
    let end = buffer.text[start..].find(char::is_whitespace).map_or(buffer.text.len(), |at| start + at);
    if let Some(value) = session.aliases.get(&buffer.text.as_bytes()[start..end]) {
        let text = [&buffer.text[..start], &String::from_utf8_lossy(value), &buffer.text[end..]].concat();
        buffer.replace(text);
    }
}

/// `~` at the beginning of the word at the cursor.
fn expand_tilde(session: &mut Session, buffer: &mut Buffer) {
    let start = buffer.text[..buffer.point].rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &buffer.text[start..];
    let own = word.starts_with("~/") || word == "~" || word.starts_with("~ ");
    if let Some(home) = session.get(b"HOME").filter(|_| own) {
        let home = String::from_utf8_lossy(&home).into_owned();
        buffer.text.replace_range(start..=start, &home);
        buffer.point += home.len() - 1;
    }
}

fn insert_completions(session: &mut Session, buffer: &mut Buffer) {
    let found = session.complete_line(buffer.text.as_bytes(), buffer.point);
    if found.candidates.is_empty() {
        return;
    }
    let words: Vec<_> =
        found.candidates.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    buffer.text.drain(found.start..buffer.point);
    buffer.point = found.start;
    buffer.insert(&(words.join(" ") + " "));
}

/// How many rows below its first the cursor is when `text` has been written, followed by a line break.
fn rows(text: &str, columns: usize) -> usize {
    let (mut rows, mut column) = (1, 0);
    for character in text.chars() {
        let width = character.width().unwrap_or(0);
        if character == '\n' || column + width > columns {
            rows += 1;
            column = if character == '\n' { 0 } else { width };
        } else {
            column += width;
        }
    }
    rows + usize::from(columns > 0 && column == columns)
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
    use super::{rows, without_marked, without_marks};

    #[test]
    fn lines_wrap() {
        assert_eq!(rows("$ ls", 80), 1);
        assert_eq!(rows("first\n$ ls", 80), 2);
        assert_eq!(rows(&"x".repeat(81), 80), 2);
        // The cursor stands in the next row already.
        assert_eq!(rows(&"x".repeat(80), 80), 2);
    }

    #[test]
    fn marked_parts_take_no_room() {
        let prompt = b"\x01\x1b]0;title\x07\x02user\x01\x1b[32m\x02$ ";
        assert_eq!(without_marked(prompt), b"user$ ");
        assert_eq!(without_marks(prompt), b"\x1b]0;title\x07user\x1b[32m$ ");
    }
}
