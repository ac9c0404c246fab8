//! Owner, mode, extended attributes and times of files, carried from one to another.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Gid, Mode, Stat, Timespec, Timestamps, Uid, XattrFlags};

/// Gives the open file the attributes of the other, whose state is `stat`. The owner stays who it is where the user
/// may not give files away; its set-ID bits go then.
#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub(crate) fn copy(from: &OwnedFd, stat: &Stat, to: &OwnedFd) -> io::Result<()> {
    let now = rustix::fs::fstat(to)?;
    let mut mode = Mode::from_raw_mode(stat.st_mode as rustix::fs::RawMode);
    if (now.st_uid, now.st_gid) != (stat.st_uid, stat.st_gid) {
        let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        let given = rustix::fs::fchown(to, Some(user), Some(group)).is_ok();
        if !given && rustix::fs::fchown(to, None, Some(group)).is_err() | (now.st_uid != stat.st_uid) {
            mode.remove(Mode::SUID | Mode::SGID);
        }
    }
    copy_extended(from, to);
    rustix::fs::fchmod(to, mode)?;
    Ok(rustix::fs::futimens(to, &times(stat))?)
}

/// The times of a file, to be set.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the types differ between systems")]
pub(crate) fn times(stat: &Stat) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: stat.st_atime as _, tv_nsec: stat.st_atime_nsec as _ },
        last_modification: Timespec { tv_sec: stat.st_mtime as _, tv_nsec: stat.st_mtime_nsec as _ },
    }
}

/// The owner and the times of a link, as far as they can be given.
pub(crate) fn copy_of_link(stat: &Stat, folder: &OwnedFd, name: &OsStr) {
    let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
    let _ = rustix::fs::chownat(folder, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW);
    let _ = rustix::fs::utimensat(folder, name, &times(stat), AtFlags::SYMLINK_NOFOLLOW);
}

/// Extended attributes, access lists among them; those that only the system may set are left out.
fn copy_extended(from: &OwnedFd, to: &OwnedFd) {
    let wanted = names(from);
    for name in names(to).iter().filter(|name| !wanted.contains(name)) {
        let _ = rustix::fs::fremovexattr(to, name.as_c_str());
    }
    for name in &wanted {
        let name: &CStr = name.as_c_str();
        let Ok(size) = rustix::fs::fgetxattr(from, name, &mut [0_u8; 0][..]) else { continue };
        let mut value = vec![0_u8; size];
        if let Ok(count) = rustix::fs::fgetxattr(from, name, &mut value[..]) {
            let value = value.get(..count).unwrap_or_default();
            let _ = rustix::fs::fsetxattr(to, name, value, XattrFlags::empty());
        }
    }
}

fn names(file: &OwnedFd) -> Vec<std::ffi::CString> {
    let Ok(size) = rustix::fs::flistxattr(file, &mut [0_u8; 0][..]) else { return Vec::new() };
    let mut list = vec![0_u8; size];
    let Ok(count) = rustix::fs::flistxattr(file, &mut list[..]) else { return Vec::new() };
    let list = list.get(..count).unwrap_or_default();
    let parts = list.split(|&byte| byte == 0).filter(|part| !part.is_empty());
    parts.filter_map(|part| std::ffi::CString::new(part).ok()).collect()
}
