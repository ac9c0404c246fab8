//! What the server and a cell worker say to each other.

use std::path::PathBuf;

use pithos_sandbox::Denial;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::tape::Tape;

/// To the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToCell {
    /// Evaluate this in a fresh isolate.
    Run(CellRun),
    /// The answer to a call.
    Reply { call: u64, result: Result<Value, String> },
}

/// One evaluation.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CellRun {
    pub(super) code: String,
    /// Where relative paths start; none when the session's files are those of an overlay, which this process does not see.
    pub(super) folder: Option<String>,
    pub(super) timeout_ms: u64,
    pub(super) fuel: Option<u64>,
    pub(super) heap_bytes: usize,
    /// What `load` finds.
    pub(super) store: Map<String, Value>,
    /// What it learns by chance, where that is said before.
    pub(super) tape: Option<Tape>,
}

/// From the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum FromCell {
    Ready,
    /// `await shell(command, options)`.
    Shell {
        call: u64,
        command: String,
        options: Value,
    },
    /// `await tools.SERVER.NAME(arguments)`.
    Tool {
        call: u64,
        server: String,
        name: String,
        arguments: Value,
    },
    Done(CellEnd),
}

/// How a cell ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CellEnd {
    /// The value, the error, or why it was ended.
    pub outcome: Outcome,
    /// What it printed, bounded.
    pub console: String,
    /// The console printed more than is kept.
    pub console_truncated: bool,
    /// Wall time in microseconds.
    pub wall_us: u64,
    /// What `store` left, for the session's next cell; none when the cell did not come so far.
    #[serde(default)]
    pub store: Option<Map<String, Value>>,
    /// What the sandbox denied to the cell itself; its shell commands have results of their own.
    #[serde(default)]
    pub denials: Vec<Denial>,
    /// Protected paths that are there now and were not when the server started.
    #[serde(default)]
    pub protected_created: Vec<PathBuf>,
    /// What it learned by chance; none when the cell did not come so far.
    #[serde(default)]
    pub tape: Option<Tape>,
}

/// What came of the code.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Its value.
    Value {
        /// As a console shows it.
        text: String,
        /// As JSON, when it can be; `undefined` and functions cannot.
        json: Option<Value>,
    },
    /// An uncaught error or a syntax error, with its stack or excerpt.
    Error(String),
    /// A limit ended it: `fuel`, `heap`, `deadline`, `cancelled`.
    Terminated(String),
    /// The worker process died; other cells and sessions are not touched.
    Crashed(String),
}

impl Default for Outcome {
    fn default() -> Self {
        Self::Error(String::new())
    }
}

impl CellEnd {
    pub(super) fn crashed(message: String) -> Self {
        Self { outcome: Outcome::Crashed(message), ..Self::default() }
    }

    pub(super) fn terminated(limit: &str) -> Self {
        Self { outcome: Outcome::Terminated(limit.to_string()), ..Self::default() }
    }
}
