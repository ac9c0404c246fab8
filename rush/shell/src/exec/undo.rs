//! Keeping what commands replace, with `set -o undo`: before `rm`, `mv` and `cp` run and before `>` empties a file. One
//! line that was typed (or one run of a session) is one entry; in a script each command is.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rush_undo::{Complaint, Entry, Moment, Trash};

use crate::expand::Expanded;
use crate::state::options::SetOption;
use crate::sys::resource;
use crate::{Bytes, Session, Unwind};

/// The line that runs.
#[derive(Debug, Default)]
pub(crate) struct UndoLine {
    title: Bytes,
    /// Begun when there is something to keep.
    entry: Option<Entry>,
    /// The trash cannot be used: said once a line.
    failed: bool,
}

/// Where entries are kept below the folder of a user's state.
const FOLDER: &str = "rush/undo";

/// How much of a line is its title.
const TITLE_BYTES_MAX: usize = 200;

impl Session {
    /// A line begins: what it replaces is one entry.
    pub fn begin_undo_line(&mut self, text: &[u8]) {
        if self.is(SetOption::Undo) || self.undo.entry.is_some() {
            self.undo = UndoLine { title: text.trim_ascii().to_vec(), ..UndoLine::default() };
        }
    }

    /// Where things are kept: `RUSH_UNDO_DIR`, or below `XDG_STATE_HOME`, or below the home.
    pub(crate) fn undo_trash(&mut self) -> Result<Trash, String> {
        let value = |session: &mut Session, name: &[u8]| {
            let value = session.get(name).filter(|value| !value.is_empty());
            value.map(|value| PathBuf::from(OsStr::from_bytes(&value)))
        };
        let path = match value(self, b"RUSH_UNDO_DIR") {
            Some(path) => path,
            None => match value(self, b"XDG_STATE_HOME").filter(|path| path.is_absolute()) {
                Some(state) => state.join(FOLDER),
                None => match value(self, b"HOME") {
                    Some(home) => home.join(".local/state").join(FOLDER),
                    None => return Err("HOME is not set".into()),
                },
            },
        };
        Trash::open(&path, resource::effective_ids().0)
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Keeps what the program may replace, if it is one that does. `Err` if the user has stopped it: then the command does
    /// not run.
    pub(crate) fn keep_before_command(&mut self, path: &[u8], args: &[Bytes]) -> Expanded<()> {
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        if !self.is(SetOption::Undo) || !rush_undo::concerns(name) {
            return Ok(());
        }
        let mut words = args.to_vec();
        if let Some(first) = words.first_mut() {
            *first = name.to_vec();
        }
        let keep = |entry: &mut Entry, moment: &Moment<'_>| entry.before_command(moment, &words);
        let needed = |moment: &Moment<'_>| Entry::is_needed(moment, &words);
        let title = words.join(&b' ');
        if self.keep(&title, needed, keep) { Ok(()) } else { Err(Unwind::Discard(128 + libc::SIGINT)) }
    }

    /// Keeps what is in a file that is about to be emptied; false if the user has stopped it.
    pub(crate) fn keep_before_truncation(&mut self, path: &[u8]) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        let needed = |_: &Moment<'_>| std::fs::metadata(path).is_ok_and(|there| there.is_file());
        let title = [b"> ", path.as_os_str().as_bytes()].concat();
        self.keep(&title, needed, |entry: &mut Entry, moment: &Moment<'_>| {
            entry.before_truncation(moment, path)
        })
    }

    /// An `undo` in the middle of a line: what the line replaces from here on is another entry.
    pub(crate) fn end_undo_entry(&mut self) {
        self.undo.entry = None;
    }

    fn keep(
        &mut self,
        command: &[u8],
        needed: impl Fn(&Moment<'_>) -> bool,
        keep: impl Fn(&mut Entry, &Moment<'_>) -> std::io::Result<Vec<Complaint>>,
    ) -> bool {
        let Ok(directory) = std::env::current_dir() else { return true };
        let entry = match self.undo.entry.take() {
            Some(entry) => Some(entry),
            None if self.undo.failed => return true,
            None if !needed(&Moment { directory: &directory, stopped: &|| false }) => return true,
            None => self.begin_entry(command),
        };
        let Some(mut entry) = entry else { return true };
        let stopped = || self.is_given_up();
        let kept = keep(&mut entry, &Moment { directory: &directory, stopped: &stopped });
        // Where no line begins, it is the command's alone.
        self.undo.entry = Some(entry).filter(|_| !self.undo.title.is_empty());
        match kept {
            Ok(complaints) => {
                for complaint in complaints {
                    let path = complaint.path.as_os_str().as_bytes();
                    let message =
                        [b"undo will not bring back ", path, b": ", complaint.reason.as_bytes()].concat();
                    self.error(message);
                }
                true
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => false,
            Err(error) => {
                self.undo.failed = true;
                self.error(format!("undo will not bring this back: {error}"));
                true
            }
        }
    }

    fn begin_entry(&mut self, command: &[u8]) -> Option<Entry> {
        let line = if self.undo.title.is_empty() { command } else { &self.undo.title };
        let title = line.get(..TITLE_BYTES_MAX).unwrap_or(line).to_vec();
        let begun = self
            .undo_trash()
            .and_then(|trash| trash.begin(&title, seconds()).map_err(|error| error.to_string()));
        match begun {
            Ok(entry) => Some(entry),
            Err(error) => {
                self.undo.failed = true;
                self.error(format!("undo will not bring this back: {error}"));
                None
            }
        }
    }
}

/// Seconds since 1970.
pub(crate) fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
