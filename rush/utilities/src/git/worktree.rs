//! What differs between the index and the files of the work tree.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha1::{Digest, Sha1};

use super::attributes::Attributes;
use super::change::{Change, Kind};
use super::index::{Entry, Index, MODE_FILE, MODE_LINK, MODE_TYPE};
use super::oid::{self, Oid};
use super::repository::Repository;
use super::{Attempt, Decline};
use crate::limits::GIT_OBJECT_BYTES_MAX;

/// Looks at files and compares them with what the index remembers.
pub(crate) struct Worktree<'r> {
    repository: &'r Repository,
    attributes: Attributes<'r>,
    /// When the index was written: what was changed at that moment or later has to be read.
    written: (i64, i64),
    executable_counts: bool,
    /// The last folder that was looked at, and whether it and all around it are folders.
    folder: (Vec<u8>, bool),
}

impl<'r> Worktree<'r> {
    /// The work tree whose index was written at `written`.
    pub(crate) fn new(
        repository: &'r Repository,
        index: &'r Index,
        written: (i64, i64),
    ) -> Attempt<Worktree<'r>> {
        Ok(Worktree {
            repository,
            attributes: Attributes::new(repository, index),
            written,
            executable_counts: repository.config.truth("core", "filemode", true)?,
            folder: (Vec::new(), true),
        })
    }

    /// How the file of an entry differs from it, if it does.
    pub(crate) fn change(&mut self, entry: &Entry) -> Attempt<Option<Change>> {
        if entry.assume_valid {
            return Ok(None);
        }
        let change = |kind, mode| {
            Some(Change {
                path: entry.path.clone(),
                kind,
                from: None,
                old: (entry.mode, entry.id),
                new: (mode, oid::NULL),
                score: 0,
            })
        };
        let Some(found) = self.look(&entry.path)? else { return Ok(change(Kind::Deleted, 0)) };
        let mode = self.mode(&found, entry)?;
        if mode & MODE_TYPE != entry.mode & MODE_TYPE {
            return Ok(change(Kind::TypeChanged, mode));
        }
        if mode != entry.mode || self.differs(entry, &found)? {
            return Ok(change(Kind::Modified, mode));
        }
        Ok(None)
    }

    /// The state of the file or link at `path`; none if it is not there, a folder, or behind a link.
    pub(crate) fn look(&mut self, path: &[u8]) -> Attempt<Option<Metadata>> {
        let folder = path.iter().rposition(|&b| b == b'/').unwrap_or_default();
        if !self.is_inside_folders(path.get(..folder).unwrap_or_default())? {
            return Ok(None);
        }
        let Some(found) = stat(&self.repository.tree_path(path))? else { return Ok(None) };
        if found.is_dir() {
            // A repository in the place of a file is a submodule to be.
            let inner = self.repository.tree_path(&[path, b"/.git"].concat());
            return if stat(&inner)?.is_some() { Err(Decline) } else { Ok(None) };
        }
        Ok(Some(found))
    }

    /// The mode of the file of an entry as it is now; 0 where there is none.
    pub(crate) fn mode_now(&mut self, entry: &Entry) -> Attempt<u32> {
        match self.look(&entry.path)? {
            Some(found) => self.mode(&found, entry),
            None => Ok(0),
        }
    }

    /// What git would store of the file at `path` as it is now.
    pub(crate) fn content_now(&mut self, path: &[u8]) -> Attempt<Vec<u8>> {
        let found = self.look(path)?.ok_or(Decline)?;
        self.content(path, &found)
    }

    fn is_inside_folders(&mut self, folder: &[u8]) -> Attempt<bool> {
        if folder.is_empty() || (self.folder.1 && is_at_or_above(folder, &self.folder.0)) {
            return Ok(true);
        }
        if !self.folder.1 && is_at_or_above(&self.folder.0, folder) {
            return Ok(false);
        }
        let parent = folder.iter().rposition(|&b| b == b'/').unwrap_or_default();
        let is_folder = self.is_inside_folders(folder.get(..parent).unwrap_or_default())?
            && stat(&self.repository.tree_path(folder))?.is_some_and(|m| m.is_dir());
        self.folder = (folder.to_vec(), is_folder);
        Ok(is_folder)
    }

    fn mode(&self, found: &Metadata, entry: &Entry) -> Attempt<u32> {
        if found.is_symlink() {
            return Ok(MODE_LINK);
        }
        if !found.is_file() {
            return Err(Decline);
        }
        let executable = match (self.executable_counts, entry.mode & MODE_TYPE) {
            (false, MODE_FILE) => entry.mode & 0o100 != 0,
            (false, _) => false,
            (true, _) => found.mode() & 0o100 != 0,
        };
        Ok(MODE_FILE | if executable { 0o755 } else { 0o644 })
    }

    fn differs(&mut self, entry: &Entry, found: &Metadata) -> Attempt<bool> {
        let state = &entry.state;
        let same = state.modified == (found.mtime() as u32, found.mtime_nsec() as u32)
            && state.changed == (found.ctime() as u32, found.ctime_nsec() as u32)
            && state.inode == found.ino() as u32
            && (state.user, state.group) == (found.uid(), found.gid())
            && state.size == found.size() as u32;
        // Only what was changed strictly before the index was written cannot have changed since without a trace.
        if same && (found.mtime(), found.mtime_nsec()) < self.written {
            return Ok(false);
        }
        if state.size != found.size() as u32 && state.size != 0 {
            return Ok(true);
        }
        Ok(hash_blob(&self.content(&entry.path, found)?) != entry.id)
    }

    /// What git would store of the file.
    fn content(&mut self, path: &[u8], found: &Metadata) -> Attempt<Vec<u8>> {
        let file = self.repository.tree_path(path);
        if found.is_symlink() {
            return Ok(fs::read_link(file)?.as_os_str().as_bytes().to_vec());
        }
        if found.size() > GIT_OBJECT_BYTES_MAX as u64 {
            return Err(Decline);
        }
        let line_endings = self.attributes.line_endings(path)?;
        let content = fs::read(file)?;
        if line_endings && content.contains(&b'\r') { Err(Decline) } else { Ok(content) }
    }
}

/// Whether `outer` is `inner` or a folder around it.
fn is_at_or_above(outer: &[u8], inner: &[u8]) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn stat(path: &Path) -> Attempt<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(_) => Err(Decline),
    }
}

/// The name that content has as a blob.
pub(crate) fn hash_blob(content: &[u8]) -> Oid {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", content.len()));
    hash.update(content);
    Oid(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_blob_has_its_well_known_name() {
        assert_eq!(hash_blob(b"").hex(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    }

    #[test]
    fn folders_around_paths() {
        assert!(is_at_or_above(b"a", b"a/b") && is_at_or_above(b"a/b", b"a/b"));
        assert!(!is_at_or_above(b"a", b"ab") && !is_at_or_above(b"a/b", b"a"));
    }
}
