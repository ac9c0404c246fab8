//! Staging: copies of what the overlay holds, beside their places, with mode, owner, dates, attributes, holes and hard links.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, SeekFrom, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;

use crate::commit::Step;
use crate::commit::plan::{Plan, Staged};
use crate::error::Error;
use crate::layers::{Layers, Node};
use crate::root::{Kind, Meta, through};

/// Where the first name of a file with several was staged: by upper folder and inode.
type Links = HashMap<(u64, u64), PathBuf>;

/// Writes everything that the plan stages.
pub(super) fn all(layers: &Layers, plan: &Plan, step: &mut dyn FnMut(Step)) -> Result<(), Error> {
    let mut links = unchanged_links(layers, plan)?;
    for (done, staged) in plan.staged.iter().enumerate() {
        one(layers, plan, staged, &mut links)?;
        step(Step::Staged(done + 1));
    }
    Ok(())
}

/// Files that the overlay holds only because another name was given to them: the new name is linked to the file below.
fn unchanged_links(layers: &Layers, plan: &Plan) -> Result<Links, Error> {
    let mut links = Links::new();
    for (path, node) in &plan.table {
        let Node::Item { meta, .. } = node else { continue };
        if meta.links < 2 || meta.kind == Kind::Folder {
            continue;
        }
        let changed = plan.changes.binary_search_by(|change| change.path.cmp(path)).is_ok();
        if !changed && layers.base.meta(path)?.is_some_and(|below| below.kind == meta.kind) {
            links.insert((meta.device, meta.inode), path.clone());
        }
    }
    Ok(links)
}

fn one(layers: &Layers, plan: &Plan, staged: &Staged, links: &mut Links) -> Result<(), Error> {
    copy(layers, plan, &staged.path, &staged.name, links)?;
    let mut folders = vec![(&staged.path, staged.name.clone())];
    for path in &staged.below {
        let Ok(rest) = path.strip_prefix(&staged.path) else { continue };
        let name = staged.name.join(rest);
        copy(layers, plan, path, &name, links)?;
        folders.push((path, name));
    }
    // Dates and modes of folders last, from the innermost: writing into one changes its date and needs the right.
    for (path, name) in folders.into_iter().rev() {
        if let Some(Node::Item { meta, .. }) = plan.table.get(path)
            && meta.kind == Kind::Folder
        {
            finish(layers, &name, meta)?;
        }
    }
    Ok(())
}

/// Copies one path of the overlay to the name `to` in the folder below.
fn copy(layers: &Layers, plan: &Plan, path: &Path, to: &Path, links: &mut Links) -> Result<(), Error> {
    let Some(Node::Item { upper, meta, .. }) = plan.table.get(path) else { return Ok(()) };
    let (parent, name) = layers.base.parent(to).map_err(Error::at(to))?;
    if meta.links > 1 && meta.kind != Kind::Folder {
        let key = (meta.device, meta.inode);
        if let Some(first) = links.get(&key) {
            let (other, other_name) = layers.base.parent(first).map_err(Error::at(first))?;
            return rustix::fs::linkat(other, other_name, parent, name, AtFlags::empty())
                .map_err(Error::at(to));
        }
        links.insert(key, to.to_path_buf());
    }
    let from = &layers.uppers[*upper];
    match meta.kind {
        Kind::Folder => {
            rustix::fs::mkdirat(&parent, name, Mode::RWXU).map_err(Error::at(to))?;
            return attributes(layers, *upper, path, &parent, name, to);
        }
        Kind::Link => rustix::fs::symlinkat(from.link(path)?, &parent, name).map_err(Error::at(to))?,
        Kind::Fifo => {
            let mode = Mode::from_raw_mode(meta.mode);
            rustix::fs::mknodat(&parent, name, FileType::Fifo, mode, 0).map_err(Error::at(to))?;
        }
        Kind::File => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file =
                rustix::fs::openat(&parent, name, flags, Mode::RUSR | Mode::WUSR).map_err(Error::at(to))?;
            contents(&from.read(path)?, &File::from(file), meta.bytes).map_err(Error::at(to))?;
        }
        Kind::Socket | Kind::Device => return Ok(()),
    }
    attributes(layers, *upper, path, &parent, name, to)?;
    finish(layers, to, meta)
}

/// The bytes, with the holes left out, on the disk when this returns.
fn contents(from: &File, to: &File, bytes: u64) -> Result<(), Errno> {
    rustix::fs::ftruncate(to, bytes)?;
    let mut at = 0;
    while at < bytes {
        let data = match rustix::fs::seek(from, SeekFrom::Data(at)) {
            Ok(data) => data,
            // Nothing but a hole is left.
            Err(Errno::NXIO) => break,
            // This file system knows no holes.
            Err(Errno::INVAL) => at,
            Err(error) => return Err(error),
        };
        let end = rustix::fs::seek(from, SeekFrom::Hole(data)).unwrap_or(bytes);
        let (mut read_at, mut write_at) = (data, data);
        while read_at < end {
            let most = usize::try_from(end - read_at).unwrap_or(usize::MAX);
            match rustix::fs::copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), most) {
                // The file became shorter under our hands: what is not there is not copied.
                Ok(0) => return rustix::fs::fsync(to),
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    by_hand(from, to, &mut read_at, &mut write_at, end)?;
                }
                Err(error) => return Err(error),
            }
        }
        at = end;
    }
    rustix::fs::fsync(to)
}

/// Copies through a buffer, where the kernel cannot between these two file systems.
fn by_hand(from: &File, to: &File, read_at: &mut u64, write_at: &mut u64, end: u64) -> Result<(), Errno> {
    let mut buffer = vec![0u8; 256 << 10];
    while *read_at < end {
        let most = usize::try_from(end - *read_at).unwrap_or(usize::MAX).min(buffer.len());
        let read = rustix::io::pread(from, &mut buffer[..most], *read_at)?;
        if read == 0 {
            *read_at = end;
            break;
        }
        let mut written = 0;
        while written < read {
            written += rustix::io::pwrite(to, &buffer[written..read], *write_at + written as u64)?;
        }
        *read_at += read as u64;
        *write_at += read as u64;
    }
    Ok(())
}

/// The user's attributes of a path, copied to `name` in `parent`.
fn attributes(
    layers: &Layers,
    upper: usize,
    path: &Path,
    parent: &OwnedFd,
    name: &OsStr,
    to: &Path,
) -> Result<(), Error> {
    for (attribute, value) in layers.uppers[upper].attributes(path)? {
        let target = through(parent.as_fd(), name);
        match rustix::fs::lsetxattr(target, attribute.as_str(), &value, XattrFlags::empty()) {
            // A file system without them, and links, which may have none: nothing can keep them there.
            Ok(()) | Err(Errno::NOTSUP | Errno::PERM) => {}
            Err(error) => return Err(Error::at(to)(error)),
        }
    }
    Ok(())
}

/// Owner, mode and dates.
fn finish(layers: &Layers, to: &Path, meta: &Meta) -> Result<(), Error> {
    let (parent, name) = layers.base.parent(to).map_err(Error::at(to))?;
    let Some(made) = layers.base.meta(to)? else { return Ok(()) };
    if made.owner != meta.owner {
        set_owner(&parent, name, meta.owner).map_err(Error::at(to))?;
    }
    if meta.kind != Kind::Link {
        rustix::fs::chmodat(&parent, name, Mode::from_raw_mode(meta.mode), AtFlags::empty())
            .map_err(Error::at(to))?;
    }
    let modified = Timespec { tv_sec: meta.modified.0, tv_nsec: i64::from(meta.modified.1) };
    let times = Timestamps { last_access: modified, last_modification: modified };
    rustix::fs::utimensat(&parent, name, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(Error::at(to))
}

/// Gives a path to `owner`. Who may not stays the owner: a plain user's overlay holds nothing of anybody else.
pub(super) fn set_owner(parent: &OwnedFd, name: &OsStr, owner: (u32, u32)) -> Result<(), Errno> {
    let (user, group) = (Uid::from_raw(owner.0), Gid::from_raw(owner.1));
    match rustix::fs::chownat(parent, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(()) | Err(Errno::PERM) => Ok(()),
        Err(error) => Err(error),
    }
}
