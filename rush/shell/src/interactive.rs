//! What an interactive session does around commands: prompts, the history list and its file, job notices, and whether
//! what was typed is a whole command. Reading lines from a terminal is the command's business.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::history::expansion::Entries;
use crate::history::{self, Entry, join_lines};
use crate::state::options::{SetOption, Shopt};
use crate::state::value::Value;
use crate::syntax::{Context, Input, Next, Parser};
use crate::{Bytes, Outcome, Session, Unwind, limits, sys};

/// Whether a text is commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// It is.
    Whole,
    /// It is the beginning of some.
    Unfinished,
    /// It can never be.
    Wrong {
        /// The line, from 1, in which the error is.
        line: usize,
    },
}

impl Session {
    /// Whether the text ends inside a command, so that the shell has to ask for more of it.
    pub fn needs_more(&mut self, text: &[u8]) -> bool {
        self.entry_state(text) == EntryState::Unfinished
    }

    /// What the parser says of a text that is being typed.
    pub fn entry_state(&mut self, text: &[u8]) -> EntryState {
        let trailing = text.strip_suffix(b"\n").unwrap_or(text);
        if trailing.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1 {
            return EntryState::Unfinished;
        }
        let mut input = Input::from_bytes(text, 1);
        let aliases = self.aliases.clone();
        loop {
            let extglob = self.extglob();
            let posix = self.is(SetOption::Posix);
            let expands = self.shopt(Shopt::ExpandAliases);
            let aliases = if expands { Some(&*aliases) } else { None };
            let context = Context { variables: &mut self.variables, aliases, extglob, posix };
            let mut parser = Parser::new(&mut input, context);
            let next = parser.next_command();
            // Only a here-document without its end warns.
            if !parser.warnings.is_empty() {
                return EntryState::Unfinished;
            }
            match next {
                Ok(Next::List(_)) => {}
                Ok(Next::End) => return EntryState::Whole,
                Err(error) if error.incomplete => return EntryState::Unfinished,
                Err(error) => return EntryState::Wrong { line: error.line as usize },
            }
        }
    }

    /// Runs what was typed. Errors of commands end the command only; `Err` means that the shell is to end.
    pub fn run_entry(&mut self, text: &[u8]) -> Outcome {
        let mut input = Input::from_bytes(text, 1);
        self.begin_undo_line(text);
        let result = self.run_input(&mut input, true);
        self.flush_output();
        self.command_number += 1;
        match result {
            Err(Unwind::Exit(status)) => Err(Unwind::Exit(status)),
            Err(Unwind::Discard(status)) => {
                if status == 128 + libc::SIGINT {
                    // The terminal has shown `^C`.
                    self.write_err(b"\n");
                }
                self.status = status;
                Ok(status)
            }
            _ => Ok(self.status),
        }
    }

    /// The value of a prompt variable with its escapes decoded, ready for the terminal.
    pub fn prompt(&mut self, name: &[u8]) -> Bytes {
        let Some(text) = self.get(name).map(|value| value.into_owned()) else { return Bytes::new() };
        let (status, pipeline) = (self.status, self.pipeline_status.clone());
        self.marks_prompts = true;
        let prompt = self.decode_prompt(&text).unwrap_or_default();
        self.marks_prompts = false;
        self.status = status;
        self.pipeline_status = pipeline;
        prompt
    }

    /// Runs `PROMPT_COMMAND`, a string or an array of them; `$?` stays what it was.
    pub fn run_prompt_commands(&mut self) -> Outcome {
        let id = self.variables.intern(b"PROMPT_COMMAND");
        let commands: Vec<Bytes> = match self.value(id) {
            Value::Indexed(array) => array.iter().map(|(_, value)| value.clone()).collect(),
            other => other.scalar().map(|value| value.into_owned()).into_iter().collect(),
        };
        let (status, pipeline) = (self.status, self.pipeline_status.clone());
        // What was typed last has ended: `fc` counts it.
        if self.builtin_state.history.holds_current {
            Rc::make_mut(&mut self.builtin_state.history).holds_current = false;
        }
        for command in commands.iter().filter(|command| !command.is_empty()) {
            if let Err(Unwind::Exit(code)) = self.run_text(command, 1) {
                return Err(Unwind::Exit(code));
            }
            self.status = status;
            self.pipeline_status.clone_from(&pipeline);
        }
        self.flush_output();
        Ok(status)
    }

    /// Tells of jobs that ended or stopped since the last time.
    pub fn notify_jobs(&mut self) {
        self.reap();
        let text = crate::builtins::job_notices(self);
        self.write_err(&text);
        self.forget_done_jobs();
    }

    /// Adds what was typed to the history, as `cmdhist`, `lithist`, `HISTCONTROL` and `HISTIGNORE` say.
    pub fn remember(&mut self, text: &[u8]) {
        Rc::make_mut(&mut self.builtin_state.history).holds_current = false;
        if !self.is(SetOption::History) {
            return;
        }
        if self.shopt(Shopt::Cmdhist) {
            let entry = join_lines(text, self.shopt(Shopt::Lithist));
            self.remember_entry(&entry);
        } else {
            for line in text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n') {
                self.remember_entry(line);
            }
        }
    }

    /// Adds one entry, unless `HISTCONTROL` or `HISTIGNORE` are against it.
    pub(crate) fn remember_entry(&mut self, entry: &[u8]) {
        if entry.is_empty() {
            return;
        }
        let control = self.get(b"HISTCONTROL").map(|value| value.into_owned()).unwrap_or_default();
        let says = |word: &[u8]| control.split(|byte| *byte == b':').any(|part| part == word);
        let both = says(b"ignoreboth");
        if (both || says(b"ignorespace")) && entry.starts_with(b" ") {
            return;
        }
        let last = self.builtin_state.history.entries.last();
        if (both || says(b"ignoredups")) && last.is_some_and(|last| last.text == entry) {
            return;
        }
        if self.is_ignored_entry(entry) {
            return;
        }
        let erases = says(b"erasedups");
        let limit = self.history_limit(b"HISTSIZE");
        let history = Rc::make_mut(&mut self.builtin_state.history);
        if erases {
            history.removals += 1;
            history.entries.retain(|old| old.text != entry);
        }
        history.push(Entry { text: entry.to_vec(), time: sys::now_seconds() }, limit);
        history.holds_current = true;
    }

    fn is_ignored_entry(&mut self, entry: &[u8]) -> bool {
        let Some(patterns) = self.get(b"HISTIGNORE").map(|value| value.into_owned()) else { return false };
        let last = self.builtin_state.history.entries.last().map(|last| last.text.clone());
        patterns.split(|byte| *byte == b':').filter(|pattern| !pattern.is_empty()).any(|pattern| {
            if pattern == b"&" {
                return last.as_deref() == Some(entry);
            }
            self.compile_pattern(pattern).is_ok_and(|pattern| pattern.matches(entry))
        })
    }

    /// A limit such as `HISTSIZE`: negative or unset is none.
    pub(crate) fn history_limit(&mut self, name: &[u8]) -> usize {
        let number =
            self.get(name).and_then(|value| std::str::from_utf8(&value).ok()?.trim().parse::<i64>().ok());
        number.map_or(usize::MAX, |number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    fn history_file(&mut self) -> Option<PathBuf> {
        let name = self.get(b"HISTFILE").map(|value| value.into_owned()).filter(|name| !name.is_empty())?;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(&name)))
    }

    /// Whether times are written to the history file, and entries of several lines read from it.
    pub(crate) fn times_history(&mut self) -> bool {
        self.get(b"HISTTIMEFORMAT").is_some()
    }

    /// Sets the variables of the history, where the environment did not.
    pub(crate) fn set_history_variables(&mut self) {
        if self.get(b"HISTFILE").is_none()
            && let Some(home) =
                self.get(b"HOME").map(|value| value.into_owned()).or_else(|| sys::home_directory(None))
        {
            let _ = self.set(b"HISTFILE", [&home[..], b"/.rush_history"].concat());
        }
        for name in [&b"HISTSIZE"[..], b"HISTFILESIZE"] {
            if self.get(name).is_none() {
                let _ = self.set(name, limits::HISTORY_ENTRIES_DEFAULT.to_string().into_bytes());
            }
        }
    }

    /// Reads the history file.
    pub fn load_history(&mut self) {
        let limit = self.history_limit(b"HISTSIZE");
        let Some(text) = self.history_file().and_then(|path| history::read(&path).ok()) else { return };
        let (entries, lines) = history::parse(&text, 0, self.times_history(), sys::now_seconds());
        let history = Rc::make_mut(&mut self.builtin_state.history);
        history.entries.extend(entries);
        history.truncate(limit);
        history.lines_read = lines;
        history.unsaved = 0;
    }

    /// Writes what is new to the history file, a file of the user's alone; all of the list if some of what is new has been dropped from
    /// it, unless `histappend` is on. The file keeps `HISTFILESIZE` entries.
    pub fn save_history(&mut self) {
        let Some(path) = self.history_file() else { return };
        let history = self.builtin_state.history.clone();
        if history.unsaved == 0 {
            return;
        }
        let append = history.unsaved <= history.entries.len() || self.shopt(Shopt::Histappend);
        let count = if append { history.unsaved.min(history.entries.len()) } else { history.entries.len() };
        let entries = history.entries.get(history.entries.len() - count..).unwrap_or_default();
        let text = history::format(entries, self.times_history());
        let mut options = fs::OpenOptions::new();
        options.create(true).mode(0o600);
        options.append(append).truncate(!append).write(true).custom_flags(libc::O_NONBLOCK);
        // A history that cannot be written is no reason not to end, nor one that nobody reads to wait.
        let opened = options.open(&path).and_then(|file| Ok((file.metadata()?.is_file(), file)));
        if let Ok((true, mut file)) = opened {
            let _ = file.write_all(&text);
        }
        Rc::make_mut(&mut self.builtin_state.history).unsaved = 0;
        self.shorten_history_file(&path);
    }

    fn shorten_history_file(&mut self, path: &Path) {
        let limit = self.history_limit(b"HISTFILESIZE");
        let Ok(text) = history::read(path) else { return };
        let kept = history::newest(&text, limit);
        if kept.len() < text.len() {
            let _ = fs::write(path, kept);
        }
    }

    /// Whether `word` is a command: for colouring, so the hash table is left alone.
    pub fn names_command(&mut self, word: &[u8]) -> bool {
        if word.contains(&b'/') {
            return crate::sys::access_error(word, libc::X_OK).is_none();
        }
        self.aliases.contains_key(word)
            || self.functions.contains_key(word)
            || self.builtin(word).is_some()
            || crate::builtins::is_keyword(word)
            || !self.search_path(word, true).is_empty()
    }

    /// Asks to be told of a terminal that changes its size, or no longer; a trap of the user's is left alone.
    pub fn watch_terminal_size(&mut self, on: bool) {
        if self.traps.get(libc::SIGWINCH as usize).is_some() {
            return;
        }
        if on {
            sys::signal_catch(libc::SIGWINCH);
        } else {
            sys::signal_default(libc::SIGWINCH);
            sys::clear_pending(libc::SIGWINCH);
        }
    }

    /// A number that changes when entries were taken out of the history.
    pub fn history_generation(&self) -> u64 {
        let history = &self.builtin_state.history;
        history.removals.wrapping_add((history.base as u64) << 32)
    }

    /// The history list.
    pub fn history_entries(&self) -> Entries<'_> {
        Entries { list: &self.builtin_state.history.entries, base: self.builtin_state.history.base }
    }

    /// The number that the next history entry gets.
    pub(crate) fn history_number(&self) -> usize {
        let history = &self.builtin_state.history;
        if self.is(SetOption::History) { history.base + history.entries.len() + 1 } else { 1 }
    }
}
