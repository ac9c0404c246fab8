//! Every message that this crate gives a client, in one place. Each says what failed and what to do next.

use std::io;
use std::path::PathBuf;

/// Why a request could not be carried out. A script that fails is no error: its job says how it ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No session has this handle.
    #[error("there is no session '{}': {}; open one, or leave the session out to use 'main'", short(.handle), open_list(.open))]
    UnknownSession {
        /// What was asked for.
        handle: String,
        /// The handles that exist, as a list.
        open: String,
    },
    /// No job has this handle.
    #[error("there is no job '{}': it was never started here, or it ended long ago and was forgotten", short(.0))]
    UnknownJob(String),
    /// No cell has this handle.
    #[error("there is no cell '{}': it was never started here, or it ended long ago and was forgotten", short(.0))]
    UnknownCell(String),
    /// The session runs something else.
    #[error(
        "session '{session}' is busy with {}: wait for it, stop it, run in the background, or use another session",
        job.as_ref().map_or_else(|| "another call that has only begun".to_owned(), |job| format!("job '{job}'"))
    )]
    Busy {
        /// The session.
        session: String,
        /// What occupies it, when that has a handle already.
        job: Option<String>,
    },
    /// A handle of that name exists.
    #[error("there is a session '{0}' already: choose another name or close it")]
    NameTaken(String),
    /// The name cannot be a handle.
    #[error("'{0}' cannot name a session: use 1 to 64 letters, digits, '-', '_' or '.'")]
    BadName(String),
    /// The table is full.
    #[error("too many sessions are open: close some")]
    TooManySessions,
    /// A text is over its limit.
    #[error("{what}: {bytes} bytes are over the limit of {limit}; put large data into a file")]
    TooLong {
        /// Which part of the request.
        what: String,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// No path is that long.
    #[error("cwd: {bytes} bytes are no path: the system's limit is {limit}")]
    NoPath {
        /// How long it is.
        bytes: usize,
        /// How long a path may be.
        limit: usize,
    },
    /// No program can be given such a text.
    #[error("{0} holds a NUL byte")]
    NulByte(String),
    /// The working directory does not exist or cannot be entered.
    #[error("the working directory '{0}' cannot be entered")]
    Directory(String),
    /// The shell process failed.
    #[error("the shell process: {0}")]
    Shell(#[source] io::Error),
    /// The guardian failed.
    #[error("the guardian process: {0}")]
    Guardian(#[source] io::Error),
    /// No actor system has this name.
    #[error("there is no actor system '{}': spawn makes it", short(.0))]
    UnknownSystem(String),
    /// The table is full.
    #[error("too many actor systems run: end some")]
    TooManySystems,
    /// The actor process could not be started.
    #[error("the actor process: {0}")]
    ActorProcess(#[source] io::Error),
    /// What an actor system answered instead of a result.
    #[error("{0}")]
    Actors(String),
    /// The supervision tree could not be started.
    #[error("the supervision tree: {0}")]
    Tree(String),
    /// One command could not be started or attended to.
    #[error("starting the command: {0}")]
    Once(#[source] io::Error),
    /// The sandbox policy is wrong, or this machine cannot enforce it. Nothing was started.
    #[error("the sandbox: {0}")]
    Sandbox(#[source] pithos_sandbox::Error),
    /// A session without an overlay was asked for what only one with an overlay has.
    #[error("session '{}' changes the files themselves: open one with overlay: true", short(.0))]
    NoOverlay(String),
    /// Something of the session still runs, and would go on with files that are not there any more.
    #[error("session '{session}' still runs {processes}: end that first")]
    StillRuns {
        /// The session.
        session: String,
        /// What runs.
        processes: String,
    },
    /// What was asked of an overlay cannot be done.
    #[error("{0}")]
    Overlay(String),
    /// A checkpoint cannot be kept, found or gone back to.
    #[error("{0}")]
    Checkpoint(String),
    /// The log folder failed.
    #[error("the log folder {}: {error}", path.display())]
    Logs {
        /// Where it should be.
        path: PathBuf,
        /// Why it is not.
        error: io::Error,
    },
}

/// Of what a client named, a message repeats so much.
const SHOWN_CHARS: usize = 64;

/// A client's own word in a message.
pub(crate) fn short(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]).into(),
        None => text.into(),
    }
}

fn open_list(open: &str) -> String {
    if open.is_empty() { "none is open".to_string() } else { format!("open are {open}") }
}
