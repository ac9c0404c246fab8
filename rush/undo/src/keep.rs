//! Keeping: a file's second name in the trash where a link does, otherwise a copy; folders are made anew around them.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::place::{self, kind};
use crate::{attributes, limits};

/// What keeping one thing may use, and has used.
pub(crate) struct Keeper<'a> {
    /// Whether the user has asked to stop.
    pub(crate) stopped: &'a dyn Fn() -> bool,
    /// The trash itself, which is not kept in itself.
    pub(crate) trash: place::Identity,
    pub(crate) bytes: u64,
    pub(crate) files: u64,
    /// Bytes that may still be copied.
    pub(crate) copies: u64,
}

fn other(message: &str) -> io::Error {
    io::Error::other(message.to_string())
}

impl Keeper<'_> {
    /// Keeps what is at `name` in `from` as `object` in `to`. What is half kept when it fails stays for the caller to remove.
    pub(crate) fn keep(
        &mut self,
        (from, name): (&OwnedFd, &OsStr),
        (to, object): (&OwnedFd, &OsStr),
        depth: usize,
    ) -> io::Result<()> {
        let stat = place::stat_in(from, name)?.ok_or(Errno::NOENT)?;
        self.files += 1;
        if (self.stopped)() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.files > limits::FILES_MAX {
            return Err(other("it is too many files"));
        }
        if kind(&stat).is_dir() {
            return self.keep_folder((from, name), (to, object), &stat, depth);
        }
        match rustix::fs::linkat(from, name, to, object, AtFlags::empty()) {
            Ok(()) => {
                self.bytes += stat.st_size.unsigned_abs();
                Ok(())
            }
            // Another file system, one without links, or somebody else's file.
            Err(Errno::XDEV | Errno::PERM | Errno::ACCESS | Errno::MLINK | Errno::NOTSUP | Errno::NOSYS) => {
                self.copy((from, name), (to, object), &stat)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn keep_folder(
        &mut self,
        (from, name): (&OwnedFd, &OsStr),
        (to, object): (&OwnedFd, &OsStr),
        stat: &Stat,
        depth: usize,
    ) -> io::Result<()> {
        if place::identity(stat) == self.trash {
            return Err(other("what is kept is in it"));
        }
        if depth >= limits::DEPTH_MAX {
            return Err(other("its folders are too deep"));
        }
        let source = place::folder_in(from, name)?;
        rustix::fs::mkdirat(to, object, Mode::RWXU)?;
        let kept = place::folder_in(to, object)?;
        for name in place::names(&source)? {
            self.keep((&source, &name), (&kept, &name), depth + 1)?;
        }
        attributes::copy(&source, stat, &kept)
    }

    /// Keeps a copy, because what is there will be written into, or cannot be linked.
    pub(crate) fn copy(
        &mut self,
        (from, name): (&OwnedFd, &OsStr),
        (to, object): (&OwnedFd, &OsStr),
        stat: &Stat,
    ) -> io::Result<()> {
        if kind(stat).is_file() {
            let size = stat.st_size.unsigned_abs();
            if size > limits::COPY_BYTES_MAX || size > self.copies {
                return Err(other("it is too large to be copied"));
            }
            self.copies -= size;
            self.bytes += size;
        }
        copy_file((from, name), (to, object), stat, self.stopped)
    }
}

/// Makes a file, link or FIFO of the same content and attributes.
pub(crate) fn copy_file(
    (from, name): (&OwnedFd, &OsStr),
    (to, object): (&OwnedFd, &OsStr),
    stat: &Stat,
    stopped: &dyn Fn() -> bool,
) -> io::Result<()> {
    let kind = kind(stat);
    if kind.is_symlink() {
        let target = rustix::fs::readlinkat(from, name, Vec::new())?;
        rustix::fs::symlinkat(target.as_c_str(), to, object)?;
        attributes::copy_of_link(stat, to, object);
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    if kind.is_fifo() {
        rustix::fs::mknodat(to, object, kind, Mode::from_raw_mode(stat.st_mode), 0)?;
        return Ok(());
    }
    if !kind.is_file() {
        return Err(other("it is a device or a socket of another file system"));
    }
    let source = open_to_read(from, name)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let copy = rustix::fs::openat(to, object, flags, Mode::RUSR | Mode::WUSR)?;
    pour(&source, &copy, stopped)?;
    attributes::copy(&source, stat, &copy)
}

/// Opens a regular file to read it; nothing that waits.
pub(crate) fn open_to_read(folder: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    let plain = kind(&rustix::fs::fstat(&file)?).is_file();
    if plain { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Writes all of one file into the other; shares the blocks where the file system can.
pub(crate) fn pour(from: &OwnedFd, to: &OwnedFd, stopped: &dyn Fn() -> bool) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if rustix::fs::ioctl_ficlone(to, from).is_ok() {
        return Ok(());
    }
    let mut block = vec![0; limits::BLOCK_BYTES];
    loop {
        if stopped() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = match rustix::io::read(from, &mut block) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        let mut rest = block.get(..count).unwrap_or_default();
        while !rest.is_empty() {
            match rustix::io::write(to, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether both files have the same bytes.
pub(crate) fn same_bytes(one: &OwnedFd, two: &OwnedFd) -> io::Result<bool> {
    if rustix::fs::fstat(one)?.st_size != rustix::fs::fstat(two)?.st_size {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; limits::BLOCK_BYTES], vec![0; limits::BLOCK_BYTES]);
    let mut at = 0;
    loop {
        let count = rustix::io::pread(one, &mut left, at)?;
        if count == 0 {
            return Ok(true);
        }
        let mut other = 0;
        while other < count {
            let more = right.get_mut(other..count).unwrap_or_default();
            match rustix::io::pread(two, more, at + other as u64)? {
                0 => return Ok(false),
                read => other += read,
            }
        }
        if left.get(..count) != right.get(..count) {
            return Ok(false);
        }
        at += count as u64;
    }
}
