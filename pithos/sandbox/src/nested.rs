//! Names that are obeyed in whatever folder they are: an editor that opens a package of a workspace obeys the `.vscode` there. Those that are there
//! are found by a walk that is bounded, so that a start costs no more in a large tree; whatever a program brings with it for itself is not looked into.
//! Looks at folders and changes none.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::limits::{NESTED_FOLDERS_MAX, NESTED_MAX, NESTED_MOVED_FOLDERS_MAX};

/// A repository: what git obeys of it is protected, and the rest is the work.
const REPOSITORY: &str = ".git";

/// Folders of what is installed or built: nobody opens them to work there, and their tools replace them whole.
const NOT_LOOKED_INTO: [&str; 8] = [
    "node_modules",
    "bower_components",
    "vendor",
    "target",
    "venv",
    "site-packages",
    "__pycache__",
    "dist-packages",
];

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Nested {
    pub(crate) paths: Vec<PathBuf>,
    /// Folders that have a repository.
    pub(crate) trees: Vec<PathBuf>,
    /// Not every folder was looked into, or more was found than is taken.
    pub(crate) more: bool,
}

/// What of these names there is in folders below `root`, and not in itself; nearest first. Links are not followed.
pub(crate) fn find(root: &Path, names: &[OsString]) -> Nested {
    let mut found = Nested::default();
    if names.is_empty() {
        return found;
    }
    let mut folders = VecDeque::from([root.to_owned()]);
    let mut looked = 0;
    while let Some(folder) = folders.pop_front() {
        looked += 1;
        if looked > NESTED_FOLDERS_MAX {
            found.more = true;
            break;
        }
        for (name, wanted) in of_interest(&folder, names) {
            if wanted {
                if folder == root {
                    continue;
                }
                if found.paths.len() + found.trees.len() == NESTED_MAX {
                    found.more = true;
                    return found;
                }
                if name == REPOSITORY {
                    found.trees.push(folder.clone());
                } else {
                    found.paths.push(folder.join(name));
                }
            } else {
                folders.push_back(folder.join(name));
            }
        }
    }
    found
}

/// What of a folder has one of the names, and the folders in it that are looked into; sorted. Most of what is in a folder is neither.
fn of_interest(folder: &Path, names: &[OsString]) -> Vec<(OsString, bool)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let one = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let wanted = names.contains(&name);
        let folder = || is_looked_into(&name) && entry.file_type().is_ok_and(|kind| kind.is_dir());
        (wanted || folder()).then_some((name, wanted))
    };
    let mut all: Vec<_> = entries.filter_map(one).collect();
    all.sort_unstable();
    all
}

fn is_looked_into(name: &OsStr) -> bool {
    !name.as_bytes().starts_with(b".") && !NOT_LOOKED_INTO.iter().any(|one| name == *one)
}

/// Something of these names that would come along with a folder, relative to it; in the first folders of it.
pub(crate) fn carried(folder: &Path, names: &[OsString]) -> Option<PathBuf> {
    let mut folders = VecDeque::from([PathBuf::new()]);
    for _ in 0..NESTED_MOVED_FOLDERS_MAX {
        let at = folders.pop_front()?;
        for entry in std::fs::read_dir(folder.join(&at)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if names.contains(&name) {
                return Some(at.join(name));
            }
            if is_looked_into(&name) && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push_back(at.join(name));
            }
        }
    }
    None
}

/// The part of a path that ends with the first of these names, if that is below `root` and not in itself, and no folder on the way is one
/// that nobody works in.
pub(crate) fn within(root: &Path, names: &[OsString], path: &Path) -> Option<PathBuf> {
    let mut at = root.to_owned();
    for (depth, part) in path.strip_prefix(root).ok()?.components().enumerate() {
        let Component::Normal(name) = part else { return None };
        at.push(name);
        if names.iter().any(|one| one == name) {
            return (depth > 0).then_some(at);
        }
        if !is_looked_into(name) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<OsString> {
        [".vscode", ".envrc", ".git"].map(OsString::from).to_vec()
    }

    #[test]
    fn what_is_below_folders_of_work_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let files = [
            ".envrc",
            "a/.vscode/tasks.json",
            "a/b/c/.envrc",
            "a/.vscode/.envrc",
            "node_modules/x/.vscode/settings.json",
            "a/.hidden/.envrc",
            "b/plain",
            "r/.git/config",
        ];
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        let found = find(root, &names());
        assert_eq!(found.paths, ["a/.vscode", "a/b/c/.envrc"].map(|name| root.join(name)));
        assert_eq!(found.trees, [root.join("r")]);
        for (moved, along) in [
            ("a", Some(".vscode")),
            ("a/b", Some("c/.envrc")),
            ("b", None),
            ("node_modules", Some("x/.vscode")),
        ] {
            assert_eq!(carried(&root.join(moved), &names()), along.map(PathBuf::from), "{moved}");
        }
        assert!(!found.more && find(root, &[]).paths.is_empty());
        for (path, at) in [
            ("a/.vscode", Some("a/.vscode")),
            ("a/.vscode/x/.envrc", Some("a/.vscode")),
            ("n/e/w/.envrc", Some("n/e/w/.envrc")),
            (".envrc", None),
            (".vscode/x", None),
            ("a/node_modules/b/.envrc", None),
            ("a/.hidden/.envrc", None),
            ("a/.envrc.bak", None),
        ] {
            assert_eq!(within(root, &names(), &root.join(path)), at.map(|at| root.join(at)), "{path}");
        }
        assert_eq!(within(root, &names(), Path::new("/elsewhere/a/.envrc")), None);
    }

    #[test]
    fn a_large_tree_is_looked_into_as_far_as_is_paid_for() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..NESTED_MAX + 10 {
            std::fs::create_dir_all(folder.path().join(format!("p{number}/.vscode"))).unwrap();
        }
        let found = find(folder.path(), &names());
        assert!(found.more && found.paths.len() == NESTED_MAX);
        let deep = tempfile::tempdir().unwrap();
        for number in 0..2 * NESTED_FOLDERS_MAX {
            std::fs::create_dir_all(deep.path().join(format!("f{number}"))).unwrap();
        }
        assert!(find(deep.path(), &names()).more);
    }
}
