//! The messages of `rush session`: the same framing over standard input and output, for clients that cannot pass
//! descriptors. Output comes as messages. Documented in `docs/rush-sessions.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::message::RunDone;

/// What a client asks. `session` numbers a shell; the first is 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToHost {
    /// Run a script in a session.
    Run(RemoteRun),
    /// Input for the run `id`.
    Stdin {
        /// The run.
        id: u64,
        /// Text for its standard input.
        #[serde(default)]
        data: String,
        /// Whether it ends here.
        #[serde(default)]
        end: bool,
    },
    /// A signal for what the run `id` started; INT ends the run.
    Signal {
        /// The run.
        id: u64,
        /// Its name, without SIG.
        signal: String,
    },
    /// Keep a copy of a session that nothing runs in.
    Snapshot {
        /// Chosen by the client.
        id: u64,
        /// Which session.
        #[serde(default = "first")]
        session: u64,
    },
    /// Put a session back to what it was when the copy was made.
    Restore {
        /// Chosen by the client.
        id: u64,
        /// Which session.
        #[serde(default = "first")]
        session: u64,
        /// Which copy.
        snapshot: u64,
    },
    /// Copy a session to a new one.
    Fork {
        /// Chosen by the client.
        id: u64,
        /// Which session.
        #[serde(default = "first")]
        session: u64,
    },
    /// End a session or a snapshot, with all that runs in it.
    Close {
        /// Chosen by the client.
        id: u64,
        /// Which one.
        session: u64,
    },
    /// End them all.
    Exit,
}

fn first() -> u64 {
    1
}

/// A script and how it is run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RemoteRun {
    /// Chosen by the client; every answer carries it.
    pub id: u64,
    /// Which session.
    #[serde(default = "first")]
    pub session: u64,
    /// Shell source.
    pub script: String,
    /// Change to this folder first; the session stays there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Exported variables for this run; after it they are as before, unless the script changed them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Whether `stdin` messages will come; otherwise the input is empty.
    #[serde(default)]
    pub input: bool,
}

/// Which stream of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamName {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What the host says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromHost {
    /// The first message: session 1 is there.
    Ready {
        /// The host's process.
        pid: u32,
        /// The protocol's version.
        version: u32,
    },
    /// A run wrote this.
    Output {
        /// The run.
        id: u64,
        /// Where.
        stream: StreamName,
        /// What; bytes that are not UTF-8 became U+FFFD.
        data: String,
    },
    /// A run ended. Output of background processes may still come.
    Done {
        /// The session.
        session: u64,
        /// How.
        #[serde(flatten)]
        done: RunDone,
    },
    /// A snapshot was made.
    Snapshotted {
        /// The request.
        id: u64,
        /// Its number; sessions and snapshots are numbered together.
        snapshot: u64,
    },
    /// A session was put back.
    Restored {
        /// The request.
        id: u64,
        /// Which session.
        session: u64,
    },
    /// A session was copied.
    Forked {
        /// The request.
        id: u64,
        /// The new session.
        session: u64,
    },
    /// A session is over: closed, left by `exit`, or dead.
    Closed {
        /// Which session.
        session: u64,
        /// The signal that ended its shell, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<String>,
    },
    /// A request could not be carried out.
    Failed {
        /// The request, 0 when it could not be read.
        id: u64,
        /// Why, and what to try.
        message: String,
    },
}
