//! State that only builtins use and that no language feature reads. Part of the session's snapshots: cheap to
//! clone.

use std::rc::Rc;

use super::getopts::Progress;
use crate::history::History;

/// What builtins remember between calls.
#[derive(Debug, Clone, Default)]
pub struct BuiltinState {
    /// Where `getopts` is inside a word.
    pub getopts: Progress,
    /// The history list.
    pub history: Rc<History>,
    /// What `abbr` has been told.
    pub abbreviations: Rc<std::collections::BTreeMap<crate::Bytes, super::abbr::Abbreviation>>,
    /// Completion specifications.
    pub completions: Rc<super::completion::Completions>,
    /// The `-o` options of the completion being generated, which `compopt` changes.
    pub completing: Option<Vec<&'static str>>,
    /// Key bindings.
    pub bindings: Rc<super::bind::Bindings>,
    /// When the shell started, in seconds since the epoch.
    pub started: i64,
}
