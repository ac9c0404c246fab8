//! What protected paths come to on this machine: what is there, the links on the way to it (whoever can put another link there decides what a
//! path means), and what is missing. Looks at files and changes none.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::limits::LINKS_MAX;

/// Protected paths, sorted.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    /// Real paths of what is there, and of the links on the way.
    pub(crate) there: Vec<PathBuf>,
    /// Real as far as they exist.
    pub(crate) missing: Vec<PathBuf>,
}

impl Protected {
    /// What absolute paths come to.
    pub(crate) fn of(paths: impl IntoIterator<Item = PathBuf>) -> Protected {
        let mut found = Protected::default();
        for path in paths {
            found.follow(&path);
        }
        for list in [&mut found.there, &mut found.missing] {
            list.sort();
            list.dedup();
        }
        found
    }

    fn follow(&mut self, path: &Path) {
        let mut rest: VecDeque<OsString> = parts(path).collect();
        let (mut at, mut links) = (PathBuf::from("/"), 0);
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                at.pop();
                continue;
            }
            at.push(part);
            match at.symlink_metadata() {
                Ok(data) if data.is_symlink() => {
                    links += 1;
                    let Some(target) = std::fs::read_link(&at).ok().filter(|_| links <= LINKS_MAX) else {
                        return;
                    };
                    self.there.push(at.clone());
                    at.pop();
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                        rest.push_front(part);
                    }
                }
                Ok(_) => {}
                Err(_) => {
                    for part in rest {
                        if part == ".." {
                            at.pop();
                        } else {
                            at.push(part);
                        }
                    }
                    self.missing.push(at);
                    return;
                }
            }
        }
        self.there.push(at);
    }
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_on_the_way_and_what_they_lead_to_are_both_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        std::fs::create_dir_all(at("conf/deep")).unwrap();
        std::fs::write(at("conf/e"), "").unwrap();
        for (target, link) in [
            ("conf/e", "to-file"),
            ("nowhere", "dangling"),
            ("conf", "to-folder"),
            ("to-file", "twice"),
            ("../conf/deep/../e", "conf/up"),
            ("loop", "loop"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        symlink(at("conf"), at("whole")).unwrap();
        let table: [(&str, &[&str], &[&str]); 9] = [
            ("conf/e", &["conf/e"], &[]),
            ("conf/no/more", &[], &["conf/no/more"]),
            ("to-file", &["conf/e", "to-file"], &[]),
            ("dangling", &["dangling"], &["nowhere"]),
            ("to-folder/e", &["conf/e", "to-folder"], &[]),
            ("twice", &["conf/e", "to-file", "twice"], &[]),
            ("conf/up", &["conf/e", "conf/up"], &[]),
            ("whole/no", &["whole"], &["conf/no"]),
            ("conf/e/below", &[], &["conf/e/below"]),
        ];
        for (path, there, missing) in table {
            let found = Protected::of([at(path)]);
            let paths = |list: &[&str]| list.iter().map(|name| at(name)).collect::<Vec<_>>();
            assert_eq!((found.there, found.missing), (paths(there), paths(missing)), "{path}");
        }
        assert_eq!(Protected::of([at("loop")]).missing, Vec::<PathBuf>::new());
    }
}
