//! A folder seen through its descriptor. Every path below it is resolved by the kernel without following a symbolic link and
//! without leaving the folder, because what lies there was written by a program that nobody trusts.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::Error;

const NEVER_OUT: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

/// A moment by the kernel's clock for files: seconds and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment(pub i64, pub u32);

/// What matters of a file's status.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meta {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) bytes: u64,
    pub(crate) modified: Moment,
    pub(crate) changed: Moment,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) links: u64,
    /// A deleted path, as overlayfs writes it: a character device 0, 0.
    pub(crate) whiteout: bool,
}

impl Meta {
    fn of(stat: &Stat) -> Meta {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Fifo,
            FileType::Socket => Kind::Socket,
            _ => Kind::Device,
        };
        let moment = |seconds: i64, nanos: u64| Moment(seconds, u32::try_from(nanos).unwrap_or(0));
        Meta {
            kind,
            mode: stat.st_mode & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified: moment(stat.st_mtime, stat.st_mtime_nsec),
            changed: moment(stat.st_ctime, stat.st_ctime_nsec),
            device: stat.st_dev,
            inode: stat.st_ino,
            links: stat.st_nlink,
            whiteout: FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0,
        }
    }
}

/// An open folder.
#[derive(Debug)]
pub(crate) struct Root {
    folder: OwnedFd,
    path: PathBuf,
}

impl Root {
    pub(crate) fn open(path: &Path) -> Result<Root, Error> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty()).map_err(Error::at(path))?;
        Ok(Root { folder, path: path.to_path_buf() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that holds `path`, and its name there. Fails when a folder on the way is missing, or is a link.
    pub(crate) fn parent<'a>(&self, path: &'a Path) -> Result<(OwnedFd, &'a OsStr), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        Ok((self.folder(parent)?, name))
    }

    fn folder(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat2(&self.folder, path, flags, Mode::empty(), NEVER_OUT)
    }

    /// The status of what is at `path`; nothing when there is nothing, or no way to it.
    pub(crate) fn meta(&self, path: &Path) -> Result<Option<Meta>, Error> {
        let found = self
            .parent(path)
            .and_then(|(parent, name)| rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW));
        match found {
            Ok(stat) => Ok(Some(Meta::of(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(Error::at(path)(error)),
        }
    }

    /// As [`Root::meta`] for a folder, which may be this one.
    pub(crate) fn meta_of_folder(&self, path: &Path) -> Result<Option<Meta>, Error> {
        match self.folder(path).and_then(rustix::fs::fstat) {
            Ok(stat) => Ok(Some(Meta::of(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(Error::at(path)(error)),
        }
    }

    /// The names in the folder at `path`, sorted.
    pub(crate) fn names(&self, path: &Path) -> Result<Vec<OsString>, Error> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat2(&self.folder, path, flags, Mode::empty(), NEVER_OUT)
            .map_err(Error::at(path))?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::new(folder).map_err(Error::at(path))? {
            let entry = entry.map_err(Error::at(path))?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_vec()));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Opens the regular file at `path` for reading.
    pub(crate) fn read(&self, path: &Path) -> Result<File, Error> {
        // A named pipe that stands there by now must not hold us up.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::openat2(&self.folder, path, flags, Mode::empty(), NEVER_OUT);
        Ok(File::from(file.map_err(Error::at(path))?))
    }

    /// Where the link at `path` leads.
    pub(crate) fn link(&self, path: &Path) -> Result<OsString, Error> {
        let (parent, name) = self.parent(path).map_err(Error::at(path))?;
        let target = rustix::fs::readlinkat(parent, name, Vec::new()).map_err(Error::at(path))?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// An extended attribute of `path` itself, links not followed; nothing when it has none.
    pub(crate) fn attribute(&self, path: &Path, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let (parent, last) = self.parent(path).map_err(Error::at(path))?;
        attribute(&through(parent.as_fd(), last), name).map_err(Error::at(path))
    }

    /// The user's extended attributes of `path` without those of overlayfs.
    pub(crate) fn attributes(&self, path: &Path) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let (parent, last) = self.parent(path).map_err(Error::at(path))?;
        let path_of = through(parent.as_fd(), last);
        let mut names = vec![0u8; 64 << 10];
        let length = match rustix::fs::llistxattr(&path_of, &mut names) {
            Ok(length) => length,
            Err(Errno::NOTSUP | Errno::PERM) => return Ok(Vec::new()),
            Err(error) => return Err(Error::at(path)(error)),
        };
        let mut found = Vec::new();
        for name in names[..length].split(|byte| *byte == 0) {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            if name.starts_with("user.")
                && !name.starts_with("user.overlay.")
                && let Some(value) = attribute(&path_of, name).map_err(Error::at(path))?
            {
                found.push((name.to_string(), value));
            }
        }
        Ok(found)
    }
}

/// A path by which the kernel finds `name` in an open folder, for the calls that know no folders.
pub(crate) fn through(folder: std::os::fd::BorrowedFd<'_>, name: &OsStr) -> PathBuf {
    let mut path = OsString::from(format!("/proc/self/fd/{}/", folder.as_raw_fd()));
    path.push(OsStr::from_bytes(name.as_bytes()));
    path.into()
}

fn attribute(path: &Path, name: &str) -> Result<Option<Vec<u8>>, Errno> {
    let mut value = vec![0u8; 64 << 10];
    match rustix::fs::lgetxattr(path, name, &mut value) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(Errno::NODATA | Errno::NOTSUP | Errno::PERM | Errno::ACCESS) => Ok(None),
        Err(error) => Err(error),
    }
}
