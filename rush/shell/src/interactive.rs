//! What an interactive session does around commands: prompts, the history list and its file, job notices, and whether
//! what was typed is a whole command. Reading lines from a terminal is the command's business.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::rc::Rc;

use crate::state::options::{SetOption, Shopt};
use crate::state::value::Value;
use crate::syntax::{Context, Input, Next, Parser};
use crate::{Bytes, Outcome, Session, Unwind, limits};

impl Session {
    /// Whether the text ends inside a command, so that the shell has to ask for more of it.
    pub fn needs_more(&mut self, text: &[u8]) -> bool {
        let trailing = text.strip_suffix(b"\n").unwrap_or(text);
        if trailing.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1 {
            return true;
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
                return true;
            }
            match next {
                Ok(Next::List(_)) => {}
                Ok(Next::End) => return false,
                Err(error) => return error.incomplete,
            }
        }
    }

    /// Runs what was typed. Errors of commands end the command only; `Err` means that the shell is to end.
    pub fn run_entry(&mut self, text: &[u8]) -> Outcome {
        let mut input = Input::from_bytes(text, 1);
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

    /// Adds what was typed to the history, as `HISTCONTROL` and `HISTIGNORE` say.
    pub fn remember(&mut self, entry: &[u8]) {
        let entry = entry.strip_suffix(b"\n").unwrap_or(entry);
        if entry.is_empty() || !self.is(SetOption::History) {
            return;
        }
        let control = self.get(b"HISTCONTROL").map(|value| value.into_owned()).unwrap_or_default();
        let says = |word: &[u8]| control.split(|byte| *byte == b':').any(|part| part == word);
        let both = says(b"ignoreboth");
        if (both || says(b"ignorespace")) && entry.starts_with(b" ") {
            return;
        }
        let history = self.builtin_state.history.clone();
        if (both || says(b"ignoredups")) && history.entries.last().is_some_and(|last| last == entry) {
            return;
        }
        if self.is_ignored_entry(entry) {
            return;
        }
        let erases = says(b"erasedups");
        let limit = self.history_limit(b"HISTSIZE");
        drop(history);
        let history = Rc::make_mut(&mut self.builtin_state.history);
        if erases {
            history.entries.retain(|old| old != entry);
        }
        history.push(entry.to_vec(), limit);
        self.set_history_number();
    }

    fn set_history_number(&mut self) {
        let history = &self.builtin_state.history;
        self.history_number = history.base + history.entries.len() + 1;
    }

    fn is_ignored_entry(&mut self, entry: &[u8]) -> bool {
        let Some(patterns) = self.get(b"HISTIGNORE").map(|value| value.into_owned()) else { return false };
        let last = self.builtin_state.history.entries.last().cloned();
        patterns.split(|byte| *byte == b':').filter(|pattern| !pattern.is_empty()).any(|pattern| {
            if pattern == b"&" {
                return last.as_deref() == Some(entry);
            }
            self.compile_pattern(pattern).matches(entry)
        })
    }

    /// A limit such as `HISTSIZE`: negative is none, unset is 500.
    fn history_limit(&mut self, name: &[u8]) -> usize {
        match self.get(name).and_then(|value| std::str::from_utf8(&value).ok()?.trim().parse::<i64>().ok()) {
            Some(number) => usize::try_from(number).unwrap_or(usize::MAX),
            None => limits::HISTORY_ENTRIES_DEFAULT,
        }
    }

    fn history_file(&mut self) -> Option<PathBuf> {
        let name = self.get(b"HISTFILE").map(|value| value.into_owned()).filter(|name| !name.is_empty())?;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(&name)))
    }

    /// Sets the variables of the history and reads its file.
    pub fn load_history(&mut self) {
        if self.get(b"HISTFILE").is_none()
            && let Some(home) = self.get(b"HOME").map(|value| value.into_owned())
        {
            let _ = self.set(b"HISTFILE", [&home[..], b"/.rush_history"].concat());
        }
        for name in [&b"HISTSIZE"[..], b"HISTFILESIZE"] {
            if self.get(name).is_none() {
                let _ = self.set(name, limits::HISTORY_ENTRIES_DEFAULT.to_string().into_bytes());
            }
        }
        let limit = self.history_limit(b"HISTSIZE");
        let Some(text) = self.history_file().and_then(|path| fs::read(path).ok()) else { return };
        let history = Rc::make_mut(&mut self.builtin_state.history);
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        // Lines of a `#` and digits are times that bash writes with HISTTIMEFORMAT.
        let time = |line: &[u8]| line.starts_with(b"#") && line[1..].iter().all(u8::is_ascii_digit);
        for line in lines.filter(|line| !time(line)) {
            history.push(line.to_vec(), limit);
        }
        history.lines_read = history.entries.len();
        history.unsaved = 0;
        self.set_history_number();
    }

    /// Writes the history file: all of it, or with `histappend` what is new; a file of the user's alone.
    pub fn save_history(&mut self) {
        let Some(path) = self.history_file() else { return };
        let limit = self.history_limit(b"HISTFILESIZE");
        let append = self.shopt(Shopt::Histappend);
        let history = self.builtin_state.history.clone();
        let count = if append { history.unsaved } else { limit }.min(history.entries.len());
        let entries = history.entries.get(history.entries.len() - count..).unwrap_or_default();
        let mut text = Bytes::new();
        for entry in entries {
            text.extend_from_slice(entry);
            text.push(b'\n');
        }
        let mut options = fs::OpenOptions::new();
        options.create(true).mode(0o600);
        options.append(append).truncate(!append).write(true);
        // A history that cannot be written is no reason not to end.
        let _ = options.open(path).and_then(|mut file| file.write_all(&text));
    }

    /// Whether `word` is a command: for colouring, so the hash table is left alone.
    pub fn names_command(&mut self, word: &[u8]) -> bool {
        if word.contains(&b'/') {
            return crate::sys::access_error(word, libc::X_OK).is_none();
        }
        self.aliases.contains_key(word)
            || self.functions.contains_key(word)
            || crate::builtins::find(word).is_some()
            || crate::builtins::is_keyword(word)
            || !self.search_path(word, true).is_empty()
    }

    /// The history list, oldest first, and the number before that of the first entry.
    pub fn history_entries(&self) -> (&[Bytes], usize) {
        (&self.builtin_state.history.entries, self.builtin_state.history.base)
    }
}
