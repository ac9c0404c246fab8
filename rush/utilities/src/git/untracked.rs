//! Files that the index does not know and that no ignore file names.

use std::fs::{self, FileType};
use std::os::unix::ffi::OsStringExt;

use super::ignore::Ignores;
use super::index::Index;
use super::repository::{Repository, as_path};
use super::{Attempt, Decline};
use crate::limits::{DIRECTORY_DEPTH_MAX, GIT_WALK_ENTRIES_MAX};

/// What is listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Show {
    /// Nothing.
    No,
    /// Files, and folders in which nothing is tracked as a whole.
    Normal,
    /// Every file.
    All,
}

struct Walk<'r> {
    repository: &'r Repository,
    index: &'r Index,
    ignores: Ignores,
    show: Show,
    found: Vec<Vec<u8>>,
    entries_left: usize,
}

/// Untracked names relative to the root, sorted; folders end in a slash.
pub(crate) fn list(repository: &Repository, index: &Index, show: Show) -> Attempt<Vec<Vec<u8>>> {
    if show == Show::No {
        return Ok(Vec::new());
    }
    let ignores = Ignores::open(repository)?;
    let entries_left = GIT_WALK_ENTRIES_MAX;
    let mut walk = Walk { repository, index, ignores, show, found: Vec::new(), entries_left };
    walk.tracked_folder(b"", 0)?;
    walk.found.sort_unstable();
    Ok(walk.found)
}

impl Walk<'_> {
    /// Lists a folder, with its ignore file in force while `visit` goes through it.
    fn folder<T>(
        &mut self,
        folder: &[u8],
        depth: usize,
        visit: impl FnOnce(&mut Self, Vec<(Vec<u8>, FileType)>) -> Attempt<T>,
    ) -> Attempt<T> {
        if depth > DIRECTORY_DEPTH_MAX {
            return Err(Decline);
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(self.repository.tree_path(folder))? {
            let entry = entry?;
            self.entries_left = self.entries_left.checked_sub(1).ok_or(Decline)?;
            names.push((entry.file_name().into_vec(), entry.file_type()?));
        }
        let own = names.iter().find(|(name, _)| name == b".gitignore").map(|(_, kind)| *kind);
        if own.is_some_and(|kind| kind.is_symlink()) {
            return Err(Decline);
        }
        if own.is_some_and(|kind| kind.is_file()) {
            let path = [self.repository.base.as_slice(), folder, b".gitignore"].concat();
            self.ignores.push(folder, &fs::read(as_path(&path))?);
            let result = visit(self, names);
            self.ignores.pop();
            return result;
        }
        visit(self, names)
    }

    /// A folder in which something is tracked (or the root).
    fn tracked_folder(&mut self, folder: &[u8], depth: usize) -> Attempt<()> {
        self.folder(folder, depth, |walk, names| {
            for (name, kind) in names {
                if name == b".git" {
                    continue;
                }
                let mut path = [folder, &name].concat();
                if !kind.is_dir() {
                    if is_content(kind)
                        && !walk.index.contains(&path)
                        && !walk.ignores.excludes(&path, false)?
                    {
                        walk.found.push(path);
                    }
                } else if !walk.ignores.excludes(&path, true)? {
                    let replaces_file = walk.index.contains(&path);
                    path.push(b'/');
                    if !walk.index.below(&path).is_empty() {
                        walk.tracked_folder(&path, depth + 1)?;
                    } else if walk.untracked_folder(&path, depth + 1)?
                        && walk.show == Show::Normal
                        && !replaces_file
                    {
                        walk.found.push(path);
                    }
                }
            }
            Ok(())
        })
    }

    /// Whether a folder without anything tracked has something that is not ignored; all of it is listed if that is wanted.
    fn untracked_folder(&mut self, folder: &[u8], depth: usize) -> Attempt<bool> {
        self.folder(folder, depth, |walk, names| {
            // A repository of its own.
            if names.iter().any(|(name, _)| name == b".git") {
                return Err(Decline);
            }
            let mut any = false;
            for (name, kind) in names {
                let mut path = [folder, &name].concat();
                if kind.is_dir() {
                    if !walk.ignores.excludes(&path, true)? {
                        path.push(b'/');
                        any |= walk.untracked_folder(&path, depth + 1)?;
                    }
                } else if is_content(kind) && !walk.ignores.excludes(&path, false)? {
                    any = true;
                    if walk.show == Show::All {
                        walk.found.push(path);
                    }
                }
                if any && walk.show == Show::Normal {
                    break;
                }
            }
            Ok(any)
        })
    }
}

/// Only files and links can be tracked.
fn is_content(kind: FileType) -> bool {
    kind.is_file() || kind.is_symlink()
}
