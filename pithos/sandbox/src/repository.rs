//! What git obeys of a work tree: configuration, hooks and attributes, of the repository itself and of its submodules and other work trees, and
//! the files that lead to them or that they name. Whoever can write one of those has whoever runs git there run a program. Looks at files and changes none.
//!
//! What configuration is: `git-config(1)`; where things are: `gitrepository-layout(5)`.

use std::path::{Path, PathBuf};

use crate::gitconfig::{self, Setting};
use crate::limits::{INCLUDES_MAX, REPOSITORIES_MAX};

/// What of a repository's folder is obeyed. `commondir` says where the rest of it is, and `config.worktree` is read when the configuration says so.
const OBEYED: [&str; 5] = ["config", "config.worktree", "hooks", "info/attributes", "commondir"];

/// Paths that are obeyed, there or not.
pub(crate) struct Obeyed {
    pub(crate) paths: Vec<PathBuf>,
    /// There are more repositories than are looked at.
    pub(crate) more: bool,
    repositories: usize,
    configurations: Vec<PathBuf>,
}

/// What is obeyed of the work tree at `tree`; `home` is where a person's own configuration is, which may name places in the work tree.
pub(crate) fn obeyed(tree: &Path, home: Option<&Path>) -> Obeyed {
    let mut obeyed = Obeyed {
        paths: vec![tree.join(".gitmodules")],
        more: false,
        repositories: 0,
        configurations: Vec::new(),
    };
    obeyed.tree(tree, home);
    if let Some(home) = home {
        for file in [".gitconfig", ".config/git/config"] {
            obeyed.configuration(&home.join(file), tree, Some(home), 0);
        }
    }
    obeyed
}

impl Obeyed {
    fn tree(&mut self, tree: &Path, home: Option<&Path>) {
        let link = tree.join(".git");
        let repository = match std::fs::metadata(&link) {
            Ok(data) if data.is_file() => {
                self.paths.push(link.clone());
                match first_line(&link).as_deref().and_then(|line| line.strip_prefix("gitdir:")) {
                    Some(target) => tree.join(target.trim()),
                    None => return,
                }
            }
            _ => link,
        };
        self.repository(&repository, tree, home);
    }

    fn repository(&mut self, folder: &Path, tree: &Path, home: Option<&Path>) {
        self.repositories += 1;
        if self.repositories > REPOSITORIES_MAX {
            self.more = true;
            return;
        }
        self.paths.extend(OBEYED.map(|name| folder.join(name)));
        for name in ["config", "config.worktree"] {
            self.configuration(&folder.join(name), tree, home, 0);
        }
        if let Some(common) = first_line(&folder.join("commondir")) {
            let common = folder.join(common.trim());
            if !self.paths.contains(&common.join("config")) {
                self.repository(&common, tree, home);
            }
            return;
        }
        for worktree in folders(&folder.join("worktrees")) {
            self.paths.extend(["config.worktree", "commondir"].map(|name| worktree.join(name)));
        }
        self.modules(&folder.join("modules"), tree, home, 0);
    }

    /// Submodules' repositories: at any depth below `modules`, because their names may have slashes.
    fn modules(&mut self, folder: &Path, tree: &Path, home: Option<&Path>, depth: usize) {
        for module in folders(folder) {
            if self.more || depth > INCLUDES_MAX {
                self.more = true;
                return;
            }
            if module.join("HEAD").exists() {
                let own = settings(&module.join("config"))
                    .into_iter()
                    .find(|setting| setting.is("core", "worktree"))
                    .map(|setting| module.join(setting.value));
                if let Some(own) = &own {
                    self.paths.push(own.join(".git"));
                }
                self.repository(&module, own.as_deref().unwrap_or(tree), home);
            } else {
                self.modules(&module, tree, home, depth + 1);
            }
        }
    }

    /// What a file of configuration names: folders of hooks, programs that watch files, and other files of configuration.
    fn configuration(&mut self, file: &Path, tree: &Path, home: Option<&Path>, depth: usize) {
        if depth > INCLUDES_MAX || self.configurations.iter().any(|seen| seen == file) {
            return;
        }
        self.configurations.push(file.to_owned());
        for setting in settings(file) {
            let place = |from: &Path| match setting.value.strip_prefix("~/") {
                Some(rest) => home.map(|home| home.join(rest)),
                None => Some(from.join(&setting.value)),
            };
            let included = setting.is("include", "path") || setting.is("includeif", "path");
            if included {
                let Some(other) = file.parent().and_then(place) else { continue };
                self.paths.push(other.clone());
                self.configuration(&other, tree, home, depth + 1);
            } else if setting.is("core", "hookspath")
                || setting.is("core", "attributesfile")
                || setting.is("core", "fsmonitor") && setting.value.contains('/')
            {
                self.paths.extend(place(tree));
            }
        }
    }
}

fn settings(file: &Path) -> Vec<Setting> {
    // Names that matter are text, whatever else is not.
    gitconfig::settings(&String::from_utf8_lossy(&gitconfig::read(file).unwrap_or_default()))
}

fn first_line(file: &Path) -> Option<String> {
    String::from_utf8_lossy(&gitconfig::read(file)?).lines().next().map(str::to_owned)
}

/// The folders in a folder, sorted; links are not followed.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .take(REPOSITORIES_MAX + 1)
        .collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn everything_that_leads_to_a_program_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(
            root,
            &[
                (
                    "w/.git/config",
                    "[core]\n\thooksPath = .githooks # ours\n[include]\n\tpath = ../.gitconfig\n",
                ),
                (
                    "w/.gitconfig",
                    "[core] fsmonitor = tools/watch\n[includeIf \"gitdir:/x\"]\npath=\"more\"\n",
                ),
                ("w/more", "[core]\n  attributesFile=attributes\n[include]\npath = .gitconfig\n"),
                ("w/.git/modules/a/b/HEAD", ""),
                ("w/.git/modules/a/b/config", "[core]\n\tworktree = ../../../../libs/b\n"),
                ("w/.git/modules/a/b/modules/c/HEAD", ""),
                ("w/.git/worktrees/side/commondir", "../..\n"),
                ("home/.gitconfig", "[core]\nhookspath = ~/hooks\n"),
                ("side/.git", "gitdir: ../w/.git/worktrees/side\n"),
            ],
        );
        let found = |tree: &str| -> Vec<String> {
            let all = obeyed(&root.join(tree), Some(&root.join("home")));
            assert!(!all.more);
            let paths = crate::protect::Protected::of(all.paths);
            let real = root.canonicalize().unwrap();
            [paths.there, paths.missing]
                .concat()
                .iter()
                .map(|path| path.strip_prefix(&real).unwrap().display().to_string())
                .collect()
        };
        let of_tree = found("w");
        for wanted in [
            "w/.git/config",
            "w/.git/commondir",
            "w/.git/hooks",
            "w/.git/info/attributes",
            "w/.gitmodules",
            "w/.githooks",
            "w/.gitconfig",
            "w/tools/watch",
            "w/more",
            "w/attributes",
            "w/.git/modules/a/b/config",
            "w/.git/modules/a/b/hooks",
            "w/.git/modules/a/b/modules/c/commondir",
            "w/libs/b/.git",
            "w/.git/worktrees/side/commondir",
            "w/.git/worktrees/side/config.worktree",
            "home/hooks",
        ] {
            assert!(of_tree.iter().any(|path| path == wanted), "{wanted}: {of_tree:?}");
        }
        let of_side = found("side");
        for wanted in ["side/.git", "w/.git/config", "w/.git/hooks", "w/.git/worktrees/side/config.worktree"]
        {
            assert!(of_side.iter().any(|path| path == wanted), "{wanted}: {of_side:?}");
        }
    }

    #[test]
    fn a_folder_without_a_repository_has_what_one_would_have() {
        let folder = tempfile::tempdir().unwrap();
        let all = obeyed(folder.path(), None);
        assert!(all.paths.contains(&folder.path().join(".git/config")) && !all.more);
    }
}
