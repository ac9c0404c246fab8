//! What can go wrong, in words that say where.

use std::io;
use std::path::PathBuf;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be looked at, read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// More than is looked at.
    #[error("{what}: over the limit of {limit}")]
    TooMuch {
        /// What there is too much of.
        what: String,
        /// How much may be.
        limit: u64,
    },
    /// A path that cannot be taken by itself.
    #[error("{0}")]
    Path(String),
    /// A journal that no commit wrote.
    #[error("{}: {message}", path.display())]
    Journal {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The one who asked has stopped it between two steps.
    #[error("stopped between two steps")]
    Stopped,
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>, error: impl Into<io::Error>) -> Error {
        Error::Io { path: path.into(), error: error.into() }
    }
}
