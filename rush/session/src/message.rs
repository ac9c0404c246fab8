//! The messages, as JSON objects with a `type`. Documented for other clients in `docs/rush-sessions.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a client asks of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToShell {
    /// Run a script in the session's state. Carries three descriptors: stdin, stdout, stderr.
    Run(Run),
    /// Be a `rush` of its own for a client of the daemon; the first and only request on its connection. Carries four
    /// descriptors: stdin, stdout, stderr and the working directory.
    Command(Command),
    /// Copy the whole session into a new process. Carries one descriptor: the copy's own socket.
    Fork(Fork),
    /// End the session; its background jobs get SIGHUP.
    Exit,
}

/// A script and how it is run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Run {
    /// Chosen by the client; the answer carries it.
    pub id: u64,
    /// Shell source.
    pub script: String,
    /// Change to this folder first; the session stays there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Exported variables for this run; after it they are as before, unless the script changed them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The standard input is a terminal that shall be the session's own while the script runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
}

/// A command line of `rush` to run as if the client ran it itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Command {
    /// The name and the arguments.
    pub words: Vec<String>,
    /// `NAME=value`, the whole environment.
    pub environment: Vec<String>,
    /// The file creation mask.
    pub umask: u32,
}

/// A request for a copy.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fork {
    /// Chosen by the client; the answer carries it.
    pub id: u64,
}

/// What a session says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromShell {
    /// The first message on every socket, also on that of a copy.
    Ready {
        /// The session's process.
        pid: u32,
        /// The protocol's version.
        version: u32,
    },
    /// A run ended.
    Done(RunDone),
    /// A copy exists; it says `ready` on its own socket.
    Forked {
        /// The request's id.
        id: u64,
        /// The copy's process.
        pid: u32,
    },
    /// The request could not be carried out; the session goes on.
    Failed {
        /// The request's id, 0 when it could not be read.
        id: u64,
        /// What failed and what to try.
        message: String,
    },
}

/// How a [`Command`] ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CommandEnd {
    /// With this status.
    Exited {
        /// 0 to 255.
        status: i32,
    },
    /// Its shell died of a signal.
    Killed {
        /// By number.
        signal: i32,
    },
    /// It was not run: the client may do less, or more, than the daemon's shells, and runs it itself.
    Refused {
        /// What differs.
        reason: String,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunDone {
    /// The request's id.
    pub id: u64,
    /// `$?` after the script.
    pub status: Status,
    /// The last pipelines of the script in order, single commands included, each with the status of every stage.
    #[serde(default)]
    pub pipelines: Vec<Pipeline>,
    /// The working directory after the script.
    pub cwd: String,
    /// Wall time in microseconds.
    pub wall_us: u64,
    /// User and system CPU time in microseconds, of the shell and of the children it waited for.
    pub cpu_us: u64,
    /// Set when the run was ended from outside and the rest of the script did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminated: Option<Termination>,
    /// The script was left by `exit`, by `set -e` or by `exec` with a program; the session goes on.
    #[serde(default)]
    pub exited: bool,
}

/// The status of each stage of one pipeline, as PIPESTATUS has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// One per stage.
    pub stages: Vec<i32>,
    /// The line it stands on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The name of the signal that ended each stage's program; empty when none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Option<String>>,
}

/// An exit status as the shell has it: 0 to 255, 128+n for a signal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Status(pub i32);

/// Why a run was ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// SIGINT reached the session.
    Interrupted,
}
