//! What a checkpoint holds: files, shell, the stores of cells, and which jobs had run. Data only.

use std::path::PathBuf;

use pithos_layers::{Base, Level};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the format: what another one wrote is not guessed at.
const VERSION: u32 = 1;

/// A checkpoint as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The name that it was given, or `c1` and so on.
    pub handle: String,
    /// The session that it was taken of.
    pub session: String,
    /// Whether it was given a name; others go when room is short.
    pub named: bool,
    /// When it was taken, in seconds since 1970.
    pub created_s: u64,
    /// When it goes by itself.
    pub expires_s: Option<u64>,
    /// Bytes of its changed files.
    pub bytes: u64,
    /// How many files and folders had been changed.
    pub files: usize,
    /// It cannot be read.
    #[serde(default)]
    pub damaged: bool,
}

impl Checkpoint {
    /// What can be said of one that cannot be read.
    pub(crate) fn damaged(created_s: i64) -> Checkpoint {
        Checkpoint {
            handle: String::new(),
            session: String::new(),
            named: true,
            created_s: u64::try_from(created_s).unwrap_or(0),
            expires_s: None,
            bytes: 0,
            files: 0,
            damaged: true,
        }
    }
}

/// A job that has run in a session, or in the one that it is a copy of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RanJob {
    /// Its handle, in the server that ran it.
    pub job: String,
    /// The beginning of its script.
    pub command: String,
    /// Its exit status; none when it had no end of its own.
    pub status: Option<i32>,
    /// How long it ran.
    pub ms: u64,
}

/// How files are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Files {
    /// As the upper layer of an overlay.
    Overlay,
    /// As a copy of the workspace itself.
    Snapshot,
}

/// One folder of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedPart {
    pub(crate) root: PathBuf,
    pub(crate) level: Level,
    pub(crate) base: Base,
}

/// Everything but the content of files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
    pub(crate) files: Files,
    /// Of which overlay: what that commits is its own doing.
    pub(crate) lineage: String,
    pub(crate) parts: Vec<RecordedPart>,
    /// The state of the shell as a script.
    pub(crate) shell: String,
    pub(crate) cwd: PathBuf,
    /// What cells have stored.
    pub(crate) store: Map<String, Value>,
    pub(crate) jobs: Vec<RanJob>,
}

impl Record {
    pub(crate) fn new(files: Files, parts: Vec<RecordedPart>, shell: String, cwd: PathBuf) -> Record {
        let (lineage, store, jobs) = (String::new(), Map::new(), Vec::new());
        Record { version: VERSION, files, lineage, parts, shell, cwd, store, jobs }
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.version == VERSION
    }

    /// Bytes of the changed files.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.level.bytes()).sum()
    }

    /// How many paths there are in its levels.
    pub(crate) fn files(&self) -> usize {
        self.parts.iter().map(|part| part.level.nodes().count()).sum()
    }
}
