//! `cd` and `pwd`: the working directory, with its logical name in `PWD`.

use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::options::OptionReader;
use crate::state::options::{SetOption, Shopt};
use crate::{Bytes, Outcome, Session, Status, sys};

/// The working directory as the kernel names it.
fn physical_directory() -> Result<Bytes, i32> {
    match std::env::current_dir() {
        Ok(path) => Ok(path.into_os_string().into_vec()),
        Err(error) => Err(error.raw_os_error().unwrap_or(libc::ENOENT)),
    }
}

fn same_file(left: &[u8], right: &[u8]) -> bool {
    let identity =
        |p: &[u8]| fs::metadata(Path::new(std::ffi::OsStr::from_bytes(p))).map(|m| (m.dev(), m.ino()));
    matches!((identity(left), identity(right)), (Ok(left), Ok(right)) if left == right)
}

/// The logical working directory: `PWD` while it names the directory, otherwise the kernel's name.
pub(crate) fn logical_directory(session: &mut Session) -> Result<Bytes, i32> {
    let pwd = session.get(b"PWD").map(|p| p.into_owned()).unwrap_or_default();
    let physical = physical_directory();
    if physical.as_ref() == Ok(&pwd) {
        return Ok(pwd);
    }
    let clean = pwd.first() == Some(&b'/') && !pwd.split(|&b| b == b'/').any(|c| c == b"." || c == b"..");
    if clean && same_file(&pwd, b".") {
        return Ok(pwd);
    }
    // The working directory may have been removed; its name is still known.
    if clean && physical.is_err() { Ok(pwd) } else { physical }
}

/// Makes `path` absolute against `base` and removes `.` and `..` by name.
pub(crate) fn canonical(base: &[u8], path: &[u8]) -> Bytes {
    let joined = match (path.first(), base) {
        (Some(b'/'), _) => path.to_vec(),
        (_, b"/") => [base, path].concat(),
        _ => [base, b"/", path].concat(),
    };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in joined.split(|&b| b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let double = joined.starts_with(b"//") && !joined.starts_with(b"///");
    let mut out = if double { b"/".to_vec() } else { Bytes::new() };
    for part in &parts {
        out.push(b'/');
        out.extend_from_slice(part);
    }
    if out.is_empty() || parts.is_empty() {
        out.push(b'/');
    }
    out
}

fn change(path: &[u8]) -> Result<(), i32> {
    std::env::set_current_dir(Path::new(std::ffi::OsStr::from_bytes(path)))
        .map_err(|e| e.raw_os_error().unwrap_or(libc::ENOENT))
}

/// Changes to `path` and sets `PWD` and `OLDPWD`.
pub(crate) fn change_directory(session: &mut Session, path: &[u8], physical: bool) -> Result<(), i32> {
    let old = logical_directory(session);
    session.before_chdir();
    let new = if physical {
        change(path)?;
        physical_directory()?
    } else {
        let base = old.clone().unwrap_or_default();
        let target = canonical(&base, path);
        // `a/..` must exist even though its name alone would do without it.
        let reachable =
            !has_dot_dot(path) || fs::metadata(Path::new(std::ffi::OsStr::from_bytes(path))).is_ok();
        let first =
            if reachable || path.first() == Some(&b'/') { change(&target) } else { Err(libc::ENOENT) };
        match first {
            Ok(()) => target,
            Err(error) => {
                change(path).map_err(|_| error)?;
                physical_directory().unwrap_or(target)
            }
        }
    };
    let previous = session.get(b"PWD").map(|p| p.into_owned()).or(old.ok()).unwrap_or_default();
    let _ = session.set(b"OLDPWD", previous);
    let _ = session.set(b"PWD", new);
    Ok(())
}

fn has_dot_dot(path: &[u8]) -> bool {
    path.split(|&b| b == b'/').any(|part| part == b"..")
}

#[derive(Default)]
struct Flags {
    physical: bool,
    check: bool,
}

fn flags(session: &mut Session, options: &mut OptionReader<'_>) -> Result<Flags, Status> {
    let mut flags = Flags { physical: session.is(SetOption::Physical), check: false };
    while let Some(found) = options.next(session)? {
        match found.letter {
            b'P' => flags.physical = true,
            b'L' => flags.physical = false,
            b'e' => flags.check = true,
            _ => {}
        }
    }
    Ok(flags)
}

/// `cd [-L|[-P [-e]] [-@]] [dir]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    if let Some(status) = session.refused(b"cd", b"") {
        return Ok(status);
    }
    let mut options = OptionReader::new(args, "LPe@");
    let flags = match flags(session, &mut options) {
        Ok(flags) => flags,
        Err(status) => return Ok(status),
    };
    if options.operands().len() > 1 {
        session.builtin_error(b"cd", "too many arguments");
        return Ok(1);
    }
    let mut print = false;
    let target = match options.operands().first() {
        Some(word) if word.as_slice() == b"-" => {
            print = true;
            session.get(b"OLDPWD").map(|v| v.into_owned()).ok_or("OLDPWD not set")
        }
        Some(word) => Ok(word.clone()),
        None => session.get(b"HOME").map(|v| v.into_owned()).ok_or("HOME not set"),
    };
    let target = match target {
        Ok(target) => target,
        Err(message) => {
            session.builtin_error(b"cd", message);
            return Ok(1);
        }
    };
    if target.is_empty() {
        return Ok(0);
    }
    if let Some(path) = through_cdpath(session, &target, flags.physical) {
        session.write_out(&[path.as_slice(), b"\n"].concat());
        return Ok(0);
    }
    let mut result = change_directory(session, &target, flags.physical);
    if result.is_err() && session.shopt(Shopt::CdableVars) {
        let value = session.get(&target).map(|v| v.into_owned());
        if let Some(value) = value {
            result = change_directory(session, &value, flags.physical);
            print = result.is_ok();
        }
    }
    if let Err(error) = result {
        session.builtin_os_error(b"cd", &target, error);
        return Ok(1);
    }
    if print {
        let pwd = session.get(b"PWD").map(|v| v.into_owned()).unwrap_or_default();
        session.write_out(&[pwd.as_slice(), b"\n"].concat());
    }
    Ok(0)
}

/// Tries the directories of `CDPATH`; gives the new directory if it is to be shown.
fn through_cdpath(session: &mut Session, target: &[u8], physical: bool) -> Option<Bytes> {
    let explicit = matches!(target.split(|&b| b == b'/').next(), Some(b"" | b"." | b".."));
    if explicit {
        return None;
    }
    let path = session.get(b"CDPATH")?.into_owned();
    for directory in path.split(|&b| b == b':') {
        let shown = !directory.is_empty() && directory != b".";
        let candidate = if directory.is_empty() {
            target.to_vec()
        } else {
            let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
            [directory, slash, target].concat()
        };
        if !shown {
            // Found here: the caller changes to it without showing it.
            if fs::metadata(Path::new(std::ffi::OsStr::from_bytes(target))).is_ok_and(|m| m.is_dir()) {
                return None;
            }
            continue;
        }
        if change_directory(session, &candidate, physical).is_ok() {
            return session.get(b"PWD").map(|v| v.into_owned());
        }
    }
    None
}

/// `pwd [-LP]`
pub(super) fn run_pwd(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut options = OptionReader::new(args, "LP");
    let flags = match flags(session, &mut options) {
        Ok(flags) => flags,
        Err(status) => return Ok(status),
    };
    let directory = if flags.physical { physical_directory() } else { logical_directory(session) };
    match directory {
        Ok(directory) => {
            session.write_out(&[directory.as_slice(), b"\n"].concat());
            Ok(0)
        }
        Err(error) => {
            let text = "error retrieving current directory: getcwd: cannot access parent directories";
            session.builtin_error(b"pwd", format!("{text}: {}", sys::strerror(error)));
            Ok(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn canonical_names() {
        for (base, path, expect) in [
            ("/a/b", "../c", "/a/c"),
            ("/a", "./x//y/.", "/a/x/y"),
            ("/", "..", "/"),
            ("/a", "/b/../..", "/"),
            ("/", "a", "/a"),
            ("/a", "//b", "//b"),
        ] {
            assert_eq!(canonical(base.as_bytes(), path.as_bytes()), expect.as_bytes(), "{base} {path}");
        }
    }
}
