//! What can go wrong, with the path it went wrong at.

use std::io;
use std::path::{Path, PathBuf};

/// Why a list, a diff or a commit could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed on a path below the folder or the overlay.
    #[error("{}: {error}", path.display())]
    File {
        /// Relative to the folder, unless it is the folder itself.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The overlay holds more than [`crate::limits::CHANGES_MAX`] files.
    #[error("the overlay holds more than {0} files and folders")]
    TooMany(usize),
    /// What was journalled cannot be read.
    #[error("the journal of a commit cannot be read: {0}")]
    Journal(String),
    /// Paths that the policy keeps from being written.
    #[error("protected by the policy: {}", list(.0))]
    Protected(Vec<PathBuf>),
    /// What changed below meanwhile; nothing was written.
    #[error("changed below the overlay since it was opened, nothing was written: {}", list(.0))]
    Conflicts(Vec<PathBuf>),
    /// A path of the request that the overlay does not change.
    #[error("not changed by the overlay: {}", .0.display())]
    Unchanged(PathBuf),
}

impl Error {
    pub(crate) fn at(path: &Path) -> impl FnOnce(rustix::io::Errno) -> Error + '_ {
        move |error| Error::File { path: path.to_path_buf(), error: error.into() }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
        move |error| Error::File { path: path.to_path_buf(), error }
    }
}

/// The first of the paths, and how many there are.
fn list(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 10;
    let mut text: Vec<String> = paths.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    if paths.len() > SHOWN {
        text.push(format!("and {} more", paths.len() - SHOWN));
    }
    text.join(", ")
}
