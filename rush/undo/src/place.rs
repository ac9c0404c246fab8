//! Places of files: a folder without links in its path, and a name in it. Folders are opened one component after the
//! other and no link is followed, so that what has become a link since leads nowhere.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, Stat};

/// How folders are opened that are only walked through.
#[cfg(target_os = "linux")]
const WALKED: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const WALKED: OFlags = OFlags::RDONLY;

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Which file it is, as the system knows it.
pub(crate) type Identity = (u64, u64);

#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub(crate) fn identity(stat: &Stat) -> Identity {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// What kind of file it is: the bits of its mode that say so.
#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub(crate) fn kind(stat: &Stat) -> rustix::fs::FileType {
    rustix::fs::FileType::from_raw_mode(stat.st_mode as rustix::fs::RawMode)
}

/// The time of the last change of its content, in nanoseconds.
#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub(crate) fn changed(stat: &Stat) -> i128 {
    i128::from(stat.st_mtime as i64) * 1_000_000_000 + i128::from(stat.st_mtime_nsec as i64)
}

/// A folder that is open, and the name of a file in it.
pub(crate) struct At {
    pub(crate) folder: OwnedFd,
    pub(crate) name: OsString,
}

impl At {
    /// Opens the folder of an absolute path without links.
    pub(crate) fn open(path: &Path) -> io::Result<At> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = open_folder(path.parent().unwrap_or(Path::new("/")))?;
        Ok(At { folder, name: name.to_os_string() })
    }

    /// The same; `None` where there is no such folder.
    pub(crate) fn find(path: &Path) -> io::Result<Option<At>> {
        match At::open(path) {
            Ok(at) => Ok(Some(at)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What is there; `None` for nothing.
    pub(crate) fn stat(&self) -> io::Result<Option<Stat>> {
        stat_in(&self.folder, &self.name)
    }
}

/// What is at a name in a folder, and not where a link leads; `None` for nothing.
pub(crate) fn stat_in(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<Stat>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The same by its path; `None` also where a folder on the way is gone or has become a link.
pub(crate) fn stat(path: &Path) -> Option<Stat> {
    At::open(path).ok()?.stat().ok()?
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let mut folder = rustix::fs::open("/", WALKED | FOLDER, Mode::empty())?;
    for component in path.components() {
        match component {
            Component::RootDir => {}
            Component::Normal(name) => {
                folder = rustix::fs::openat(&folder, name, WALKED | FOLDER, Mode::empty())?
            }
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    Ok(folder)
}

/// Opens a folder to read its names.
pub(crate) fn folder_in(folder: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(folder, name, OFlags::RDONLY | FOLDER, Mode::empty())?)
}

/// The names in a folder, in order.
pub(crate) fn names(folder: &OwnedFd) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_os_string());
        }
    }
    names.sort();
    Ok(names)
}

/// The place that a word on a command line means: links before the last part are followed now, so that none is
/// afterwards. `None` where there is no such folder.
pub(crate) fn of_word(directory: &Path, word: &[u8]) -> Option<PathBuf> {
    let end = word.iter().rposition(|&byte| byte != b'/').map_or(0, |at| at + 1);
    if word.is_empty() {
        return None;
    }
    let path = directory.join(OsStr::from_bytes(word.get(..end).filter(|w| !w.is_empty()).unwrap_or(b"/")));
    match path.components().next_back() {
        Some(Component::Normal(name)) if !word.ends_with(b"/.") => {
            let folder = path.parent()?.canonicalize().ok()?;
            Some(folder.join(name))
        }
        _ => path.canonicalize().ok(),
    }
}

/// Removes a file, or a folder with all that is in it. Nothing there is no error.
pub(crate) fn remove(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let Some(stat) = stat_in(folder, name)? else { return Ok(()) };
    if !kind(&stat).is_dir() {
        return Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?);
    }
    let inner = match folder_in(folder, name) {
        Ok(inner) => inner,
        Err(_) => {
            rustix::fs::chmodat(folder, name, Mode::RWXU, AtFlags::empty())?;
            folder_in(folder, name)?
        }
    };
    let listed = names(&inner)?;
    if !listed.is_empty() && stat.st_mode & 0o300 != 0o300 {
        rustix::fs::fchmod(&inner, Mode::RWXU)?;
    }
    for name in &listed {
        remove(&inner, name)?;
    }
    drop(inner);
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}
