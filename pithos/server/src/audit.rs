//! The audit log: one JSON line for each call, with what was asked, how it ended and how long it took.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pithos_sessions::errln;
use serde_json::{Value, json};

/// Writes the lines; does nothing when no file was asked for.
pub(crate) struct Audit {
    file: Option<File>,
}

impl Audit {
    /// Opens the file to append to, readable by its owner only.
    pub(crate) fn open(path: Option<PathBuf>) -> Result<Self, String> {
        use std::os::unix::fs::OpenOptionsExt;
        let Some(path) = path else { return Ok(Self { file: None }) };
        let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let file = opened.map_err(|error| format!("the audit log {}: {error}", path.display()))?;
        Ok(Self { file: Some(file) })
    }

    /// Whether anybody asked for an audit.
    pub(crate) fn wants(&self) -> bool {
        self.file.is_some()
    }

    /// Appends one call. A line that cannot be written is reported on stderr, once per line: an audit must not fail silently.
    pub(crate) fn call(&self, tool: &str, arguments: &Value, structured: &Value, wall: Duration) {
        let Some(file) = &self.file else { return };
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let line = json!({"time": time, "tool": tool, "arguments": arguments, "result": structured, "ms": wall.as_secs_f64() * 1e3});
        let mut file: &File = file;
        // One write, at the file's end: lines of several calls never mix.
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            errln!("pithos: the audit log cannot be written: {error}");
        }
    }
}
