//! The REPL's history file: one JSON string per line, so that entries of several lines stay entries.
//!
//! It is `CYNIC_HISTORY`, else `cynic/history` in the folder for state (`XDG_STATE_HOME`, default `~/.local/state`). An empty
//! `CYNIC_HISTORY` keeps the history in memory. A file that cannot be read or written is no error.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use crate::limits::HISTORY_ENTRIES_MAX;

/// Where entries are kept between sessions.
pub(crate) struct HistoryFile {
    path: Option<PathBuf>,
}

impl HistoryFile {
    /// The file that the environment names.
    pub(crate) fn from_environment() -> Self {
        let path = match std::env::var_os("CYNIC_HISTORY") {
            Some(path) if path.is_empty() => None,
            Some(path) => Some(path.into()),
            None => {
                let state =
                    std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
                let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
                state.or_else(home).map(|state| state.join("cynic/history"))
            }
        };
        Self { path }
    }

    /// The entries of earlier sessions, oldest first; a file that has grown too long is cut.
    pub(crate) fn load(&self) -> Vec<String> {
        let text = self.path.as_ref().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        let mut entries: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if entries.len() > HISTORY_ENTRIES_MAX {
            entries.drain(..entries.len() - HISTORY_ENTRIES_MAX);
            if let Some(path) = &self.path {
                let _ignored = fs::write(path, entries.iter().map(|entry| line(entry)).collect::<String>());
            }
        }
        entries
    }

    /// Adds an entry.
    pub(crate) fn append(&self, entry: &str) {
        let Some(path) = &self.path else { return };
        if let Some(folder) = path.parent() {
            let _ignored = fs::create_dir_all(folder);
        }
        if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
            let _ignored = file.write_all(line(entry).as_bytes());
        }
    }
}

fn line(entry: &str) -> String {
    format!("{}\n", serde_json::Value::from(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_several_lines_survive() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = HistoryFile { path: Some(folder.path().join("deep/history")) };
        assert_eq!(file.load(), Vec::<String>::new());
        for entry in ["1 + 1", "function f() {\n  return \"x\";\n}"] {
            file.append(entry);
        }
        assert_eq!(file.load(), ["1 + 1", "function f() {\n  return \"x\";\n}"]);
    }

    #[test]
    fn long_histories_are_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = HistoryFile { path: Some(folder.path().join("history")) };
        for number in 0..HISTORY_ENTRIES_MAX + 3 {
            file.append(&number.to_string());
        }
        assert_eq!(file.load().len(), HISTORY_ENTRIES_MAX);
        assert_eq!(file.load().first().map(String::as_str), Some("3"));
    }
}
