//! Modules from files: a key is a path, a specifier is relative to its referrer, a bare one is an error.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use cynic::vm::modules::{ModuleKind, ModuleLoader};

use crate::limits::SOURCE_BYTES_MAX;

/// Loads modules from the file system.
pub(crate) struct FileLoader;

impl ModuleLoader for FileLoader {
    fn resolve(&self, referrer: &str, specifier: &str) -> Result<String, String> {
        let relative = ["./", "../", "/"].iter().any(|start| specifier.starts_with(start));
        if !relative {
            return Err(format!("'{specifier}' is not a path; packages are not looked up"));
        }
        let folder = Path::new(referrer).parent().unwrap_or(Path::new(""));
        Ok(normalized(&folder.join(specifier)).to_string_lossy().into_owned())
    }

    fn load(&self, key: &str, _kind: ModuleKind) -> Result<String, String> {
        read_source(Path::new(key)).map_err(|error| error.to_string())
    }

    fn url(&self, key: &str) -> String {
        let path = std::path::absolute(key).unwrap_or_else(|_| PathBuf::from(key));
        url::Url::from_file_path(&path).map_or_else(|()| key.to_owned(), String::from)
    }
}

/// The text of a file, unless it is longer than any string: a device may have no end.
pub(crate) fn read_source(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(SOURCE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > SOURCE_BYTES_MAX {
        return Err(std::io::Error::other("the file is too large"));
    }
    Ok(text)
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
        let resolve = |referrer, specifier| FileLoader.resolve(referrer, specifier);
        assert_eq!(resolve("a/b.mjs", "./c.mjs"), Ok("a/c.mjs".into()));
        assert_eq!(resolve("a/b.mjs", "../c.mjs"), Ok("c.mjs".into()));
        assert_eq!(resolve("b.mjs", "../c.mjs"), Ok("../c.mjs".into()));
        assert_eq!(resolve("a/b.mjs", "/c.mjs"), Ok("/c.mjs".into()));
        assert!(resolve("a/b.mjs", "left-pad").is_err());
    }
}
