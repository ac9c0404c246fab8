//! The entry of a folder that a caller's path names, whether anything is there or not: looked up step by step as the caller would, from its working
//! directory, its descriptors and its own `/proc/self`, through every link, however long the path is that the links make.
//!
//! `found` in `judge` lets the kernel do this in one call, which is right but for what leads through `/proc/self`, and says nothing of what is not there.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::kernel::sockets;
use crate::limits::{LINKS_MAX, PATH_STEPS_MAX};

/// A name in a folder that is held open.
pub(super) struct Entry {
    folder: File,
    name: OsString,
    there: bool,
}

/// Where a step leads.
enum Step {
    Into(File),
    /// The names of a link, and whether they are from the root.
    Link(Vec<u8>),
}

impl Entry {
    /// What `path` names for a thread, from the descriptor `folder` or its working directory. With `follow` a link at the end is followed, also one
    /// to where nothing is yet. None when a folder on the way is missing, or the path ends in none.
    pub(super) fn find(thread: u32, folder: Option<i32>, path: &[u8], follow: bool) -> Option<Entry> {
        let own = match folder {
            Some(descriptor) => format!("/proc/{thread}/fd/{descriptor}"),
            None => format!("/proc/{thread}/cwd"),
        };
        let start = open(&if path.starts_with(b"/") { "/".to_owned() } else { own }, true).ok()?;
        // An error may be one of this process's `/proc/self` only.
        if let Ok(entry) = Entry::at_once(&start, path, follow) {
            return Some(entry);
        }
        let proc_device = std::fs::metadata("/proc").ok()?.dev();
        let mut at = start;
        let mut rest = names(path);
        let (mut links, mut steps) = (0, 0);
        while let Some(name) = rest.pop() {
            steps += 1;
            if steps > PATH_STEPS_MAX {
                return None;
            }
            let last = rest.is_empty();
            if name == b".." {
                // Nothing is made by a name that ends so.
                at = open(&step(&at, &name), true).ok().filter(|_| !last)?;
                continue;
            }
            let link = |step| match step {
                Step::Into(file) => Ok(file),
                Step::Link(target) => Err(target),
            };
            match walk(&at, &name, thread, proc_device).map(link) {
                Ok(_) | Err(_) if last && !follow => {
                    let there = open(&step(&at, &name), false).is_ok();
                    return Some(Entry { folder: at, name: OsString::from_vec(name), there });
                }
                Ok(Ok(_)) if last => {
                    return Some(Entry { folder: at, name: OsString::from_vec(name), there: true });
                }
                Ok(Ok(file)) => at = file,
                Ok(Err(target)) => {
                    links += 1;
                    if links > LINKS_MAX {
                        return None;
                    }
                    if target.starts_with(b"/") {
                        at = open("/", true).ok()?;
                    }
                    rest.extend(names(&target));
                }
                Err(error) if last && error.kind() == io::ErrorKind::NotFound => {
                    return Some(Entry { folder: at, name: OsString::from_vec(name), there: false });
                }
                Err(_) => return None,
            }
        }
        None
    }

    /// The same by one look-up of the kernel's, which follows no link of `/proc` that leads to a thing: what is left of `/proc/self` then leads nowhere
    /// where anything could be made. "Too many links" when there is more to follow.
    fn at_once(start: &File, path: &[u8], follow: bool) -> io::Result<Entry> {
        let more = || io::Error::from_raw_os_error(libc::ELOOP);
        let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let (folder, name) = match path[..end].iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&path[..=slash], &path[slash + 1..end]),
            None => (&b""[..], &path[..end]),
        };
        if name.is_empty() || name == b"." || name == b".." {
            return Err(more());
        }
        let folder = match folder {
            b"" => start.try_clone()?,
            folder => sockets::look_up(Some(start), Path::new(OsStr::from_bytes(folder)))?,
        };
        let there = match open(&step(&folder, name), false) {
            Ok(file) if follow && file.metadata()?.is_symlink() => return Err(more()),
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        Ok(Entry { folder, name: OsStr::from_bytes(name).to_owned(), there })
    }

    /// Whether nothing is there.
    pub(super) fn is_free(&self) -> bool {
        !self.there
    }

    /// A path by which this process finds it.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd())).join(&self.name)
    }

    /// Its real path; none for a folder that has none.
    pub(super) fn real(&self) -> Option<PathBuf> {
        let folder = std::fs::read_link(format!("/proc/self/fd/{}", self.folder.as_raw_fd())).ok()?;
        let gone = folder.as_os_str().as_bytes().ends_with(b" (deleted)");
        (folder.is_absolute() && !gone).then(|| folder.join(&self.name))
    }

    /// The folder; none when it is something else.
    pub(super) fn folder_data(&self) -> Option<Metadata> {
        self.folder.metadata().ok().filter(Metadata::is_dir)
    }
}

/// The names of a path, the last one first. An empty path has none.
fn names(path: &[u8]) -> Vec<Vec<u8>> {
    let all = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".");
    all.rev().map(<[u8]>::to_vec).collect()
}

fn step(at: &File, name: &[u8]) -> OsString {
    let mut path = OsString::from(format!("/proc/self/fd/{}/", at.as_raw_fd()));
    path.push(OsStr::from_bytes(name));
    path
}

fn open(path: &(impl AsRef<OsStr> + ?Sized), follow: bool) -> io::Result<File> {
    let flags = libc::O_PATH | if follow { 0 } else { libc::O_NOFOLLOW };
    OpenOptions::new().read(true).custom_flags(flags).open(path.as_ref())
}

fn walk(at: &File, name: &[u8], thread: u32, proc_device: u64) -> io::Result<Step> {
    let path = step(at, name);
    let file = open(&path, false)?;
    let data = file.metadata()?;
    if !data.is_symlink() {
        return Ok(Step::Into(file));
    }
    if data.dev() == proc_device {
        // The kernel's own links lead to things and not to names; two of them mean whoever asks.
        return match name {
            b"self" | b"thread-self" => open(&format!("/proc/{thread}"), true).map(Step::Into),
            b"mounts" | b"net" => Ok(Step::Link(read_link(&path)?)),
            _ => open(&path, true).map(Step::Into),
        };
    }
    Ok(Step::Link(read_link(&path)?))
}

fn read_link(path: &OsString) -> io::Result<Vec<u8>> {
    std::fs::read_link(path).map(|target| target.into_os_string().into_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_way_to_a_name_ends_at_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        std::fs::create_dir_all(at("sub/deep")).unwrap();
        std::fs::write(at("file"), "").unwrap();
        let sub = open(&at("sub"), true).unwrap();
        let descriptor = format!("/proc/self/fd/{}", sub.as_raw_fd());
        for (target, link) in [
            ("new".to_owned(), "dangling"),
            ("dangling".to_owned(), "twice"),
            ("sub".to_owned(), "folder"),
            (format!("{descriptor}/../new"), "by-descriptor"),
            ("loop".to_owned(), "loop"),
            (root.display().to_string(), "whole"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        let long = format!("{}new", "./".repeat(2040));
        let base = root.display();
        let thread = std::process::id();
        let table: [(String, Option<i32>, bool, Option<(&str, bool)>); 17] = [
            (format!("{base}/new"), None, true, Some(("new", true))),
            (format!("{base}/file"), None, true, Some(("file", false))),
            (format!("{base}/dangling"), None, true, Some(("new", true))),
            (format!("{base}/dangling"), None, false, Some(("dangling", false))),
            (format!("{base}/twice"), None, true, Some(("new", true))),
            (format!("{base}/folder/../new"), None, true, Some(("new", true))),
            (format!("{base}/whole/whole/sub/new"), None, true, Some(("sub/new", true))),
            (format!("{base}/by-descriptor"), None, true, Some(("new", true))),
            (format!("{base}/loop"), None, true, None),
            (format!("{base}/no/new"), None, true, None),
            (format!("{base}/sub/.."), None, true, None),
            ("../new".into(), Some(sub.as_raw_fd()), true, Some(("new", true))),
            (long.replace("new", "../new"), Some(sub.as_raw_fd()), true, Some(("new", true))),
            (format!("{descriptor}/deep/../../new"), None, true, Some(("new", true))),
            (format!("/proc/thread-self/fd/{}/new/", sub.as_raw_fd()), None, true, Some(("sub/new", true))),
            (format!("/proc/self/../..{base}/new"), None, true, Some(("new", true))),
            (
                format!("/proc/self/task/{thread}/fd/{}/new", sub.as_raw_fd()),
                None,
                true,
                Some(("sub/new", true)),
            ),
        ];
        for (path, folder, follow, wanted) in table {
            let found = Entry::find(thread, folder, path.as_bytes(), follow);
            let found = found.map(|entry| (entry.real().unwrap(), entry.is_free()));
            assert_eq!(found, wanted.map(|(name, free)| (at(name), free)), "{path}");
        }
    }
}
