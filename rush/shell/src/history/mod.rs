//! The history: the list of commands that were typed, how it looks in a file, how lines become one entry, and what `!`
//! stands for. When commands are added is the session's business (`interactive.rs`).

pub mod expansion;
mod file;
mod join;

pub use file::{format, newest, parse, read};
pub use join::join_lines;

use crate::Bytes;

/// A command of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The command, of one line or several.
    pub text: Bytes,
    /// When it was given, in seconds since the epoch.
    pub time: i64,
}

/// The history list.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The commands, oldest first.
    pub entries: Vec<Entry>,
    /// The number of the first entry, less one: how many were dropped.
    pub base: usize,
    /// How many entries are not in the history file yet.
    pub unsaved: usize,
    /// How many lines of the history file have been read.
    pub lines_read: usize,
    /// How often entries other than the oldest were taken out: who keeps something for each entry begins anew.
    pub removals: u64,
    /// Whether the command that runs is the last entry, which `fc` and `history -s` leave out or replace.
    pub holds_current: bool,
}

impl History {
    /// Adds a command, keeping at most `limit` entries.
    pub fn push(&mut self, entry: Entry, limit: usize) {
        self.entries.push(entry);
        self.unsaved += 1;
        self.truncate(limit);
    }

    /// Drops the oldest entries beyond `limit`.
    pub fn truncate(&mut self, limit: usize) {
        let excess = self.entries.len().saturating_sub(limit);
        self.entries.drain(..excess);
        self.base += excess;
    }

    /// Takes the entry of the command that runs out of the list, if it is there.
    pub fn forget_current(&mut self) {
        if std::mem::take(&mut self.holds_current) && self.entries.pop().is_some() {
            self.removals += 1;
            self.unsaved = self.unsaved.saturating_sub(1);
        }
    }

    /// The entries before the command that runs.
    pub fn earlier(&self) -> &[Entry] {
        let count = self.entries.len() - usize::from(self.holds_current && !self.entries.is_empty());
        self.entries.get(..count).unwrap_or_default()
    }
}
