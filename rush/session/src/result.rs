//! The result of `rush --json -c`: one object for a whole run. Documented in `docs/rush-json.md`; fields are only added.

use serde::{Deserialize, Serialize};

use crate::message::{Pipeline, Status};

/// What a command did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunResult {
    /// The schema's version: 1.
    pub version: u32,
    /// The shell's exit status, 128+n when a signal ended it.
    pub status: Status,
    /// The name of the signal that ended the shell itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// The last pipelines in order, single commands included.
    pub pipelines: Vec<Pipeline>,
    /// How many earlier pipelines were left out.
    pub pipelines_dropped: u64,
    /// The working directory at the end; `None` if the shell could not say.
    pub cwd: Option<String>,
    /// What went to standard output.
    pub stdout: Captured,
    /// What went to standard error.
    pub stderr: Captured,
    /// How long it took.
    pub timings: Timings,
}

/// A captured stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// Its beginning, as UTF-8.
    pub text: String,
    /// How many bytes were written.
    pub bytes: u64,
    /// Whether `text` lacks the end.
    pub truncated: bool,
    /// Whether bytes that are not UTF-8 became U+FFFD.
    pub lossy: bool,
    /// Whether a background process still held it when the shell ended; what that process writes later is lost.
    pub open: bool,
}

/// Times in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    /// From start to end.
    pub wall_us: u64,
    /// User time of the shell and the children it waited for.
    pub user_us: u64,
    /// System time of the same.
    pub system_us: u64,
}
