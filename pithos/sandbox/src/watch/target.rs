//! What the path in a caller's address leads to, held open so that it stays the same. Looked up as the caller would have: from its folder, its root and
//! its descriptors, and never by way of another process's. This process has descriptors and rights that the caller has not, and links like
//! `/proc/self/fd/3` would lead through them: only the first step may be such a link, and only one of the caller's own.

use super::judge::Found;
use super::kernel::Asked;
use super::kernel::sockets;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

/// What a path of the caller's leads to, following links, with a descriptor that keeps it. `process` is the caller's, whose thread asks.
pub(super) fn opened(asked: &Asked, process: u32, path: &Path) -> io::Result<(File, Found)> {
    let (start, rest) = split(asked.thread, process, path);
    let start = start.map(|start| OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(start));
    let start = start.transpose()?;
    let file = match start {
        Some(start) if rest.as_os_str().is_empty() => start,
        start => sockets::look_up(start.as_ref(), rest)?,
    };
    let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    if !real.is_absolute() || real.as_os_str().as_bytes().ends_with(b" (deleted)") {
        return Err(io::Error::from_raw_os_error(libc::ECONNREFUSED));
    }
    let data = file.metadata()?;
    Ok((file, Found { real, data }))
}

/// The caller's own folder or descriptor that a path starts with, and what is left of it; none for one that starts at the root.
fn split(thread: u32, process: u32, path: &Path) -> (Option<PathBuf>, &Path) {
    let own = |link: &str| Some(PathBuf::from(format!("/proc/{thread}/{link}")));
    if path.is_relative() {
        return (own("cwd"), path);
    }
    for (from, descriptor) in [("/dev/stdin", 0), ("/dev/stdout", 1), ("/dev/stderr", 2)] {
        if let Ok(rest) = path.strip_prefix(from) {
            return (own(&format!("fd/{descriptor}")), rest);
        }
    }
    let mut parts = path.components();
    parts.next();
    let mut next = || match parts.next() {
        Some(Component::Normal(part)) => part.to_str(),
        _ => None,
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_caller = |text: &str| {
        matches!(text, "self" | "thread-self")
            || text.parse().is_ok_and(|number: u32| number == thread || number == process)
    };
    let link = match (next(), next(), next()) {
        (Some("dev"), Some("fd"), Some(number)) if is_number(number) => format!("fd/{number}"),
        (Some("proc"), Some(who), Some("fd")) if is_caller(who) => match next() {
            Some(number) if is_number(number) => format!("fd/{number}"),
            _ => return (None, path),
        },
        (Some("proc"), Some(who), Some(link @ ("cwd" | "root"))) if is_caller(who) => link.to_owned(),
        _ => return (None, path),
    };
    (own(&link), parts.as_path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_callers_own_links_are_taken() {
        let table = [
            ("a/b", Some("cwd"), "a/b"),
            ("/a/b", None, "/a/b"),
            ("/proc/self/cwd/a", Some("cwd"), "a"),
            ("/proc/self/root/a/../b", Some("root"), "a/../b"),
            ("//proc//./self/fd/7/a", Some("fd/7"), "a"),
            ("/proc/thread-self/fd/7", Some("fd/7"), ""),
            ("/proc/12/fd/7", Some("fd/7"), ""),
            ("/proc/10/cwd/a", Some("cwd"), "a"),
            ("/proc/1/cwd/a", None, "/proc/1/cwd/a"),
            ("/proc/1/fd/7/a", None, "/proc/1/fd/7/a"),
            ("/proc/self/task/12/cwd/a", None, "/proc/self/task/12/cwd/a"),
            ("/proc/self/fd/x", None, "/proc/self/fd/x"),
            ("/proc/self/fd/../fd/7", None, "/proc/self/fd/../fd/7"),
            ("/dev/fd/3/a", Some("fd/3"), "a"),
            ("/dev/stdin", Some("fd/0"), ""),
        ];
        for (path, start, rest) in table {
            let start = start.map(|link| PathBuf::from(format!("/proc/12/{link}")));
            assert_eq!(split(12, 10, Path::new(path)), (start, Path::new(rest)), "{path}");
        }
    }
}
