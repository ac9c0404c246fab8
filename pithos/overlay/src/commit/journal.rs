//! The journal of one commit: a file that says what it does, and beside it the mark that it is to be finished.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;

const FILE: &str = "commit.json";
const NEW: &str = "commit.json.new";
const READY: &str = "commit.ready";

/// One operation on the folder; each may be done twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    /// Removes a path with all that is in it.
    Remove { path: PathBuf },
    /// Renames `staged` to `path`; what stood there goes to `out` first if it must, and is removed.
    Put { path: PathBuf, staged: PathBuf, out: PathBuf },
    /// Sets permissions and owner of what is there.
    Mode { path: PathBuf, mode: u32, owner: (u32, u32) },
}

/// An operation as it is written: paths are any bytes, so what is no text is escaped.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "operation")]
enum Written {
    Remove { path: String },
    Put { path: String, staged: String, out: String },
    Mode { path: String, mode: u32, owner: (u32, u32) },
}

#[derive(Serialize, Deserialize)]
struct Document {
    base: String,
    operations: Vec<Written>,
}

/// An open journal.
pub(super) struct Journal {
    folder: PathBuf,
}

impl Journal {
    /// Writes down what will be done; it is on the disk when this returns.
    pub(super) fn begin(folder: &Path, base: &Path, operations: &[Operation]) -> Result<Journal, Error> {
        let document =
            Document { base: escape(base), operations: operations.iter().map(Written::from).collect() };
        let text = serde_json::to_vec(&document).map_err(|error| Error::Journal(error.to_string()))?;
        let new = folder.join(NEW);
        let written =
            File::create(&new).and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()));
        written.and_then(|()| fs::rename(&new, folder.join(FILE))).map_err(Error::io(&new))?;
        let journal = Journal { folder: folder.to_path_buf() };
        journal.flush()?;
        Ok(journal)
    }

    /// The journal of an interrupted commit, the folder it was for and what it was to do.
    pub(super) fn open(folder: &Path) -> Result<Option<(Journal, PathBuf, Vec<Operation>)>, Error> {
        let path = folder.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let document: Document =
            serde_json::from_slice(&text).map_err(|error| Error::Journal(error.to_string()))?;
        let operations: Option<Vec<Operation>> =
            document.operations.into_iter().map(Operation::read).collect();
        let base = unescape(&document.base);
        match (base, operations) {
            (Some(base), Some(operations)) => {
                Ok(Some((Journal { folder: folder.to_path_buf() }, base, operations)))
            }
            _ => Err(Error::Journal("a path in it is damaged".to_string())),
        }
    }

    /// Marks the commit as one that is to be finished.
    pub(super) fn set_ready(&mut self) -> Result<(), Error> {
        let path = self.folder.join(READY);
        File::create(&path).and_then(|file| file.sync_all()).map_err(Error::io(&path))?;
        self.flush()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.folder.join(READY).exists()
    }

    /// Nothing is left to do: the journal goes, its mark last, because without a journal the mark means nothing.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        for name in [FILE, READY] {
            let path = self.folder.join(name);
            match fs::remove_file(&path) {
                Ok(()) => self.flush()?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(&path)(error)),
            }
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), Error> {
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(Error::io(&self.folder))
    }
}

impl From<&Operation> for Written {
    fn from(operation: &Operation) -> Written {
        match operation {
            Operation::Remove { path } => Written::Remove { path: escape(path) },
            Operation::Put { path, staged, out } => {
                Written::Put { path: escape(path), staged: escape(staged), out: escape(out) }
            }
            Operation::Mode { path, mode, owner } => {
                Written::Mode { path: escape(path), mode: *mode, owner: *owner }
            }
        }
    }
}

impl Operation {
    fn read(written: Written) -> Option<Operation> {
        Some(match written {
            Written::Remove { path } => Operation::Remove { path: unescape(&path)? },
            Written::Put { path, staged, out } => {
                Operation::Put { path: unescape(&path)?, staged: unescape(&staged)?, out: unescape(&out)? }
            }
            Written::Mode { path, mode, owner } => Operation::Mode { path: unescape(&path)?, mode, owner },
        })
    }
}

/// A path as text: bytes that are no UTF-8, and `%`, as `%` and two hexadecimal digits.
fn escape(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        out.push_str(&chunk.valid().replace('%', "%25"));
        out.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02x}")));
    }
    out
}

fn unescape(text: &str) -> Option<PathBuf> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(part.get(2..)?.as_bytes());
    }
    Some(OsString::from_vec(bytes).into())
}

/// Sixteen hexadecimal digits that nobody can guess.
pub(super) fn random_name() -> String {
    let mut bytes = [0u8; 8];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(n) => filled += n,
            Err(rustix::io::Errno::INTR) => {}
            // Without randomness a name that is taken is an error and nothing worse: files are made exclusively.
            Err(_) => break,
        }
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_any_bytes_come_back() {
        for bytes in [&b"a/b"[..], b"100%", b"\xff\xfe/x", "ä%41".as_bytes(), b"new\nline"] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            assert_eq!(unescape(&escape(&path)), Some(path));
        }
        assert_eq!(unescape("%4"), None);
        assert_eq!(unescape("%zz"), None);
    }
}
