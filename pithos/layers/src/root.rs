//! A folder and what is below it, reached by descriptor: no path leaves it and no link on the way is followed.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Timespec, Timestamps, XattrFlags,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::limits::{ATTRIBUTE_BYTES_MAX, READ_BYTES};
use crate::name::Name;

/// What the kernel keeps for itself in a layer begins so.
const KERNELS_OWN: &[u8] = b"user.overlay.";
/// On a folder that hides what is below it: `y`.
const OPAQUE: &CStr = c"user.overlay.opaque";
/// The bits of a mode that are not its type.
const MODE_BITS: u32 = 0o7777;

/// A moment of the file system's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub i64, pub u32);

/// What kind of thing an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// In an upper layer: what is below of this name is deleted.
    Whiteout,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device, which no session can make.
    Device,
}

/// An entry as the file system describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Permissions.
    pub mode: u32,
    /// Length of a file.
    pub size: u64,
    /// Bytes that it takes on the disk.
    pub stored: u64,
    /// When its content was changed, which programs may set.
    pub mtime: Time,
    /// When anything of it was changed, which nobody can set.
    pub ctime: Time,
    /// Its number.
    pub ino: u64,
    /// How many names it has.
    pub links: u64,
}

/// Extended attributes that are a program's own.
pub(crate) type Attributes = Vec<(Vec<u8>, Vec<u8>)>;

/// An open folder.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    fd: OwnedFd,
}

impl Root {
    /// Opens a folder, which is no link itself.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<Root, Error> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::PATH | OFlags::CLOEXEC;
        let fd =
            rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|error| Error::io(path, error))?;
        Ok(Root { path: path.to_owned(), fd })
    }

    /// Where it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn failed(&self, name: &Name) -> impl Fn(Errno) -> Error {
        let path = self.path.join(name.path());
        move |error| Error::io(path.clone(), error)
    }

    fn below(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(&self.fd, path, flags | OFlags::CLOEXEC, Mode::empty(), rules)
    }

    /// The folder of an entry, and the entry's name in it.
    fn place<'a>(&self, name: &'a Name) -> Result<(OwnedFd, &'a OsStr), Errno> {
        let path = name.path();
        let entry = path.file_name().unwrap_or(OsStr::new("."));
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok((self.below(folder, OFlags::PATH | OFlags::DIRECTORY)?, entry))
    }

    /// What is there, or that nothing is.
    pub(crate) fn look(&self, name: &Name) -> Result<Option<Node>, Error> {
        let looked = self
            .place(name)
            .and_then(|(folder, entry)| rustix::fs::statat(&folder, entry, AtFlags::SYMLINK_NOFOLLOW));
        match looked {
            Ok(data) => Ok(Some(node(&data))),
            // A link on the way is something else, so nothing is there.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(self.failed(name)(error)),
        }
    }

    /// The names in a folder, sorted.
    pub(crate) fn entries(&self, name: &Name) -> Result<Vec<OsString>, Error> {
        let failed = self.failed(name);
        let folder = self.below(name.path(), OFlags::RDONLY | OFlags::DIRECTORY).map_err(&failed)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder).map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            let bytes = entry.file_name().to_bytes();
            if bytes != b"." && bytes != b".." {
                names.push(OsString::from_vec(bytes.to_vec()));
            }
        }
        names.sort();
        Ok(names)
    }

    /// A regular file, to be read, also where its mode does not let its owner.
    pub(crate) fn file(&self, name: &Name) -> Result<File, Error> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        match self.below(name.path(), flags) {
            Ok(fd) => Ok(fd.into()),
            Err(Errno::ACCESS) => self.unlocked(name, flags),
            Err(error) => Err(self.failed(name)(error)),
        }
    }

    /// Opens a file that its mode closes; the mode is what it was afterwards.
    fn unlocked(&self, name: &Name, flags: OFlags) -> Result<File, Error> {
        let failed = self.failed(name);
        let node = self.look(name)?.filter(|node| node.kind == Kind::File);
        let node = node.ok_or_else(|| failed(Errno::ACCESS))?;
        self.set_mode(name, node.mode | 0o400)?;
        let opened = self.below(name.path(), flags).map_err(&failed);
        self.set_mode(name, node.mode)?;
        Ok(opened?.into())
    }

    /// Where a link leads.
    pub(crate) fn target(&self, name: &Name) -> Result<Vec<u8>, Error> {
        let read =
            self.place(name).and_then(|(folder, entry)| rustix::fs::readlinkat(folder, entry, Vec::new()));
        read.map(|target| target.into_bytes()).map_err(self.failed(name))
    }

    /// Whether a folder of an upper layer hides what is below it.
    pub(crate) fn is_opaque(&self, name: &Name) -> Result<bool, Error> {
        Ok(self.attribute(name, OPAQUE)?.is_some_and(|value| value == b"y"))
    }

    fn attribute(&self, name: &Name, attribute: &CStr) -> Result<Option<Vec<u8>>, Error> {
        let Some(fd) = self.attributed(name)? else { return Ok(None) };
        let mut value = vec![0; 256];
        match rustix::fs::fgetxattr(fd, attribute, &mut value[..]) {
            Ok(length) => {
                value.truncate(length);
                Ok(Some(value))
            }
            Err(Errno::NODATA | Errno::NOTSUP | Errno::RANGE) => Ok(None),
            Err(error) => Err(self.failed(name)(error)),
        }
    }

    /// A descriptor of what can have attributes: files and folders.
    fn attributed(&self, name: &Name) -> Result<Option<OwnedFd>, Error> {
        match self.look(name)?.map(|node| node.kind) {
            Some(Kind::File) => Ok(Some(self.file(name)?.into())),
            Some(Kind::Folder) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                self.below(name.path(), flags).map(Some).map_err(self.failed(name))
            }
            _ => Ok(None),
        }
    }

    /// The attributes that are a program's own.
    pub(crate) fn attributes(&self, name: &Name) -> Result<Attributes, Error> {
        let Some(fd) = self.attributed(name)? else { return Ok(Vec::new()) };
        let mut list = vec![0; ATTRIBUTE_BYTES_MAX];
        let length = match rustix::fs::flistxattr(&fd, &mut list[..]) {
            Ok(length) => length,
            Err(Errno::NOTSUP) => 0,
            Err(error) => return Err(self.failed(name)(error)),
        };
        let mut found = Attributes::new();
        let names = list[..length].split(|byte| *byte == 0);
        for attribute in names.filter(|name| name.starts_with(b"user.") && !name.starts_with(KERNELS_OWN)) {
            let mut value = vec![0; ATTRIBUTE_BYTES_MAX];
            let read = rustix::fs::fgetxattr(&fd, attribute, &mut value[..]).map_err(self.failed(name))?;
            value.truncate(read);
            found.push((attribute.to_vec(), value));
        }
        found.sort();
        Ok(found)
    }

    /// Gives an entry these attributes and takes all others of a program's own.
    pub(crate) fn set_attributes(&self, name: &Name, wanted: &Attributes) -> Result<(), Error> {
        let present = self.attributes(name)?;
        if present == *wanted {
            return Ok(());
        }
        let Some(fd) = self.attributed(name)? else { return Ok(()) };
        let failed = self.failed(name);
        for (attribute, _) in
            present.iter().filter(|(known, _)| !wanted.iter().any(|(name, _)| name == known))
        {
            rustix::fs::fremovexattr(&fd, attribute.as_slice()).map_err(&failed)?;
        }
        for (attribute, value) in wanted {
            rustix::fs::fsetxattr(&fd, attribute.as_slice(), value, XattrFlags::empty()).map_err(&failed)?;
        }
        Ok(())
    }

    pub(crate) fn set_opaque(&self, name: &Name, opaque: bool) -> Result<(), Error> {
        let Some(fd) = self.attributed(name)? else { return Ok(()) };
        let done = if opaque {
            rustix::fs::fsetxattr(fd, OPAQUE, b"y", XattrFlags::empty())
        } else {
            rustix::fs::fremovexattr(fd, OPAQUE).or_else(|error| match error {
                Errno::NODATA | Errno::NOTSUP => Ok(()),
                other => Err(other),
            })
        };
        done.map_err(self.failed(name))
    }

    /// The mode of anything but a link, which has none of its own.
    pub(crate) fn set_mode(&self, name: &Name, mode: u32) -> Result<(), Error> {
        let set = self.place(name).and_then(|(folder, entry)| {
            let mode = Mode::from_raw_mode(mode & MODE_BITS);
            // The entry itself, whatever somebody puts in its place: by a descriptor that was opened without following.
            let fd = rustix::fs::openat(
                &folder,
                entry,
                OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
            if FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) == FileType::Symlink {
                return Ok(());
            }
            rustix::fs::chmod(by_descriptor(&fd), mode)
        });
        set.map_err(self.failed(name))
    }

    pub(crate) fn set_mtime(&self, name: &Name, mtime: Time) -> Result<(), Error> {
        let time = Timespec { tv_sec: mtime.0, tv_nsec: mtime.1.into() };
        let times = Timestamps { last_access: time, last_modification: time };
        let set = self.place(name).and_then(|(folder, entry)| {
            rustix::fs::utimensat(folder, entry, &times, AtFlags::SYMLINK_NOFOLLOW)
        });
        set.map_err(self.failed(name))
    }

    pub(crate) fn make_folder(&self, name: &Name) -> Result<(), Error> {
        let made = self
            .place(name)
            .and_then(|(folder, entry)| rustix::fs::mkdirat(folder, entry, Mode::from_raw_mode(0o700)));
        made.map_err(self.failed(name))
    }

    pub(crate) fn make_link(&self, name: &Name, target: &[u8]) -> Result<(), Error> {
        let made = self
            .place(name)
            .and_then(|(folder, entry)| rustix::fs::symlinkat(OsStr::from_bytes(target), folder, entry));
        made.map_err(self.failed(name))
    }

    /// A pipe, a socket or a whiteout.
    pub(crate) fn make_special(&self, name: &Name, kind: Kind) -> Result<(), Error> {
        let (kind, mode) = match kind {
            Kind::Pipe => (FileType::Fifo, 0o600),
            Kind::Socket => (FileType::Socket, 0o600),
            Kind::Whiteout => (FileType::CharacterDevice, 0),
            _ => return Err(self.failed(name)(Errno::PERM)),
        };
        let made = self.place(name).and_then(|(folder, entry)| {
            rustix::fs::mknodat(folder, entry, kind, Mode::from_raw_mode(mode), 0)
        });
        made.map_err(self.failed(name))
    }

    /// A new file, to be written.
    pub(crate) fn make_file(&self, name: &Name) -> Result<File, Error> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = self
            .place(name)
            .and_then(|(folder, entry)| rustix::fs::openat(folder, entry, flags, Mode::from_raw_mode(0o600)));
        made.map(File::from).map_err(self.failed(name))
    }

    /// Another name of the same file.
    pub(crate) fn make_name(&self, from: &Name, to: &Name) -> Result<(), Error> {
        let made = self.place(from).and_then(|(folder, entry)| {
            let (at, new) = self.place(to)?;
            rustix::fs::linkat(folder, entry, at, new, AtFlags::empty())
        });
        made.map_err(self.failed(to))
    }

    /// Another name of a file of another root, where the file system has such; whether there is one now.
    pub(crate) fn link_from(&self, other: &Root, from: &Name, to: &Name) -> bool {
        let made = other.place(from).and_then(|(folder, entry)| {
            let (at, new) = self.place(to)?;
            rustix::fs::linkat(folder, entry, at, new, AtFlags::empty())
        });
        made.is_ok()
    }

    /// Renames within the root. Without `replace` it is an error when something of the new name exists.
    pub(crate) fn rename(&self, from: &Name, to: &Name, replace: bool) -> Result<(), Error> {
        let renamed = self.place(from).and_then(|(folder, entry)| {
            let (at, new) = self.place(to)?;
            if replace {
                return rustix::fs::renameat(folder, entry, at, new);
            }
            rustix::fs::renameat_with(folder, entry, at, new, RenameFlags::NOREPLACE)
        });
        renamed.map_err(self.failed(to))
    }

    /// Removes an entry with everything below it; what is not there is removed already.
    pub(crate) fn remove(&self, name: &Name) -> Result<(), Error> {
        let Some(node) = self.look(name)? else { return Ok(()) };
        let folder = node.kind == Kind::Folder;
        if folder {
            if node.mode & 0o700 != 0o700 {
                self.set_mode(name, node.mode | 0o700)?;
            }
            for entry in self.entries(name)? {
                self.remove(&name.child(&entry))?;
            }
        }
        let flags = if folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match self.place(name).and_then(|(at, entry)| rustix::fs::unlinkat(at, entry, flags)) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.failed(name)(error)),
        }
    }
}

/// Copies a file's content with its holes; the bytes that were copied.
pub(crate) fn copy_content(from: &File, to: &File, size: u64) -> io::Result<u64> {
    use std::os::unix::fs::FileExt;
    if rustix::fs::ioctl_ficlone(to, from).is_ok() {
        return Ok(0);
    }
    let mut buffer = vec![0; READ_BYTES];
    let (mut at, mut copied) = (0u64, 0u64);
    while at < size {
        let data = match rustix::fs::seek(from, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => data,
            // Nothing but a hole is left.
            Err(Errno::NXIO) => break,
            Err(_) => at,
        };
        let hole = rustix::fs::seek(from, rustix::fs::SeekFrom::Hole(data)).unwrap_or(size).min(size);
        at = data;
        while at < hole {
            let wanted = usize::try_from(hole - at).map_or(buffer.len(), |left| left.min(buffer.len()));
            let read = from.read_at(&mut buffer[..wanted], at)?;
            if read == 0 {
                break;
            }
            to.write_all_at(&buffer[..read], at)?;
            at += read as u64;
            copied += read as u64;
        }
        at = at.max(hole).max(data + 1);
    }
    to.set_len(size)?;
    Ok(copied)
}

fn by_descriptor(fd: &impl AsFd) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()))
}

fn node(data: &rustix::fs::Stat) -> Node {
    let kind = match FileType::from_raw_mode(data.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Pipe,
        FileType::Socket => Kind::Socket,
        FileType::CharacterDevice if data.st_rdev == 0 => Kind::Whiteout,
        _ => Kind::Device,
    };
    #[allow(clippy::unnecessary_cast, reason = "the types of a stat differ between machines")]
    Node {
        kind,
        mode: data.st_mode & MODE_BITS,
        size: if kind == Kind::Folder { 0 } else { data.st_size as u64 },
        stored: data.st_blocks as u64 * 512,
        mtime: Time(data.st_mtime as i64, data.st_mtime_nsec as u32),
        ctime: Time(data.st_ctime as i64, data.st_ctime_nsec as u32),
        ino: data.st_ino as u64,
        links: data.st_nlink as u64,
    }
}
