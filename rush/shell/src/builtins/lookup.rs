//! Finding commands in `PATH`, for the builtins that report where things are.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::{Bytes, Session};

/// Whether `path` is a regular file that may be executed.
pub(crate) fn is_executable_file(path: &[u8]) -> bool {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// The directories of `PATH`; an empty one is the current directory.
fn directories(session: &mut Session) -> Vec<Bytes> {
    let path = session.get(b"PATH").map(|p| p.into_owned()).unwrap_or_default();
    if path.is_empty() {
        return Vec::new();
    }
    path.split(|&b| b == b':').map(|d| if d.is_empty() { b".".to_vec() } else { d.to_vec() }).collect()
}

/// The first executable file called `name` in `PATH`.
pub(crate) fn find_in_path(session: &mut Session, name: &[u8]) -> Option<Bytes> {
    directories(session)
        .into_iter()
        .map(|d| [d.as_slice(), b"/", name].concat())
        .find(|p| is_executable_file(p))
}

/// Every executable file called `name` in `PATH`.
pub(crate) fn find_all_in_path(session: &mut Session, name: &[u8]) -> Vec<Bytes> {
    let all = directories(session).into_iter().map(|d| [d.as_slice(), b"/", name].concat());
    all.filter(|p| is_executable_file(p)).collect()
}
