//! What the editor asks of whoever it edits for: the history, completion, colours, and what a shell makes of a line. The editor itself
//! knows no shell, no files and no terminal.

use std::ops::Range;

use crate::history::History;
use crate::style::Style;

/// What is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whatever the word at the cursor can be.
    Any,
    /// Names of commands.
    Command,
    /// Names of files.
    File,
    /// Names of hosts.
    Host,
    /// Names of users.
    User,
    /// Names of variables.
    Variable,
    /// Files that the word matches as a pattern.
    Pattern,
    /// Words of the history.
    History,
}

/// A candidate as the menu shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// What it is, in a few words; or nothing.
    pub description: String,
}

/// Which candidates an insertion is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// What they have in common, or the only one.
    Common,
    /// One of them.
    One(usize),
    /// All, one after the other.
    All,
    /// All, in braces.
    Braces,
}

/// A change of the line: the cursor stands behind `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    /// What is replaced.
    pub range: Range<usize>,
    /// What comes there.
    pub text: String,
}

/// A part of the line and how it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Where.
    pub range: Range<usize>,
    /// How.
    pub style: Style,
}

/// Who the line is edited for.
pub trait Host: History {
    /// The candidates for the word at `point`; asked again with `insertion`, for the same line.
    fn complete(&mut self, line: &str, point: usize, kind: Kind) -> Vec<Candidate>;
    /// What the candidates of the last `complete` put into the line.
    fn insertion(&mut self, line: &str, point: usize, choice: Choice) -> Option<Insertion>;
    /// A suggestion for the rest of the line, where the history has none.
    fn suggest(&mut self, line: &str) -> Option<String>;
    /// How the parts of the line look.
    fn highlight(&mut self, line: &str) -> Vec<Span>;
    /// What a function that needs the shell makes of the line: `history-expand-line`, `tilde-expand` and the like.
    fn transform(&mut self, function: &str, line: &str, point: usize) -> Option<(String, usize)>;
    /// What the abbreviation that ends at `point` stands for.
    fn abbreviation(&mut self, line: &str, point: usize) -> Option<Insertion>;
    /// Whether the text is only the beginning of a command.
    fn needs_more(&mut self, text: &str) -> bool;
}
