//! Modules from files: a key is a path, a specifier is relative to its referrer, a bare one is an error.
//!
//! What `import` may read is a permission. Invariant: a file is opened only if its path, by its text and again with every symbolic
//! link followed, lies below a folder that was allowed (those of the files on the command line, and of `--allow=read=DIR`); nothing
//! but regular files is read, and nothing beyond the size they had.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use cynic_engine::vm::modules::{ModuleKind, ModuleLoader};

use crate::limits::SOURCE_BYTES_MAX;

/// A folder below which modules may be read.
struct Folder {
    /// As paths are spelled that begin with it.
    spelled: PathBuf,
    /// Without symbolic links.
    real: PathBuf,
}

/// Loads modules from the file system.
pub(crate) struct FileLoader {
    /// Where modules may come from; `None` is anywhere.
    folders: Option<Vec<Folder>>,
}

impl FileLoader {
    /// A loader without limits, for programs that are trusted.
    pub(crate) fn unrestricted() -> Self {
        Self { folders: None }
    }

    /// Modules from below `folders` alone. A folder that is not there allows nothing.
    pub(crate) fn below(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let folder = |path: PathBuf| {
            let path = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path };
            let spelled = absolute(&path).ok()?;
            Some(Folder { spelled, real: path.canonicalize().ok()? })
        };
        Self { folders: Some(folders.into_iter().filter_map(folder).collect()) }
    }

    /// The file to open for a path, if it may be read.
    fn permitted(&self, path: &Path) -> Result<PathBuf, String> {
        let Some(folders) = &self.folders else { return Ok(path.to_owned()) };
        let refusal = || {
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            format!("it may not be read (see --allow=read={})", folder.display())
        };
        // By the text first: a program must not even learn which files there are elsewhere.
        let spelled = absolute(path).map_err(|error| error.to_string())?;
        let is_near =
            |folder: &Folder| spelled.starts_with(&folder.spelled) || spelled.starts_with(&folder.real);
        if !folders.iter().any(is_near) {
            return Err(refusal());
        }
        let real = spelled.canonicalize().map_err(|error| error.to_string())?;
        if folders.iter().any(|folder| real.starts_with(&folder.real)) { Ok(real) } else { Err(refusal()) }
    }
}

impl ModuleLoader for FileLoader {
    fn resolve(&self, referrer: &str, specifier: &str) -> Result<String, String> {
        let relative = ["./", "../", "/"].iter().any(|start| specifier.starts_with(start));
        if !relative {
            return Err(format!("'{specifier}' is not a path; packages are not looked up"));
        }
        let folder = Path::new(referrer).parent().unwrap_or(Path::new(""));
        Ok(normalized(&folder.join(specifier)).to_string_lossy().into_owned())
    }

    fn load(&self, key: &str, kind: ModuleKind) -> Result<String, String> {
        self.load_within(key, kind, usize::MAX)
    }

    fn load_within(&self, key: &str, _kind: ModuleKind, bytes_max: usize) -> Result<String, String> {
        let path = self.permitted(Path::new(key))?;
        let bytes_max = SOURCE_BYTES_MAX.min(u64::try_from(bytes_max).unwrap_or(u64::MAX));
        read_regular(&path, bytes_max).map_err(|error| error.to_string())
    }

    fn url(&self, key: &str) -> String {
        let path = std::path::absolute(key).unwrap_or_else(|_| PathBuf::from(key));
        url::Url::from_file_path(&path).map_or_else(|()| key.to_owned(), String::from)
    }
}

/// The text of a regular file of at most `bytes_max` bytes.
fn read_regular(path: &Path, bytes_max: u64) -> std::io::Result<String> {
    // Opening a FIFO would wait for whoever writes it.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    if metadata.len() > bytes_max {
        return Err(std::io::Error::other("the file is too large"));
    }
    let text = read_at_most(file, metadata.len())?;
    // What the kernel makes up (in `/proc`, say) has no size, and is not a file of the program's.
    text.ok_or_else(|| std::io::Error::other("it is longer than its size"))
}

/// The text of a file that the user named, unless it is longer than any string: a device may have no end.
pub(crate) fn read_source(path: &Path) -> std::io::Result<String> {
    read_stream(File::open(path)?)
}

/// The same for what is open already.
pub(crate) fn read_stream(stream: impl Read) -> std::io::Result<String> {
    let text = read_at_most(stream, SOURCE_BYTES_MAX)?;
    text.ok_or_else(|| std::io::Error::other("the file is too large"))
}

/// All of a stream; `None` if it is longer.
fn read_at_most(stream: impl Read, bytes_max: u64) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    stream.take(bytes_max + 1).read_to_string(&mut text)?;
    Ok((text.len() as u64 <= bytes_max).then_some(text))
}

fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    std::path::absolute(path).map(|path| normalized(&path))
}

/// The path without `.` and `..`, by its text alone: a key must be the same however a module is reached.
fn normalized(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if result.file_name().is_some() => {
                result.pop();
            }
            Component::ParentDir if result.has_root() => {}
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifiers_are_relative_to_their_referrer() {
        let resolve = |referrer, specifier| FileLoader::unrestricted().resolve(referrer, specifier);
        assert_eq!(resolve("a/b.mjs", "./c.mjs"), Ok("a/c.mjs".into()));
        assert_eq!(resolve("a/b.mjs", "../c.mjs"), Ok("c.mjs".into()));
        assert_eq!(resolve("b.mjs", "../c.mjs"), Ok("../c.mjs".into()));
        assert_eq!(resolve("a/b.mjs", "/c.mjs"), Ok("/c.mjs".into()));
        assert_eq!(resolve("/b.mjs", "/../../c.mjs"), Ok("/c.mjs".into()));
        assert!(resolve("a/b.mjs", "left-pad").is_err());
    }
}
