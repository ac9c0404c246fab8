//! Keeps protected paths closed while sessions run: whoever replaces a file outside by renaming another over it takes the mount away that made the
//! old one read-only, and a path that was missing may come to be. A thread hears of both from the kernel and mounts again.
//!
//! Between the change and the mount, until the thread has run, the watcher alone refuses whoever names the path.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

use crate::child;
use crate::error::Error;
use crate::plan::c_path;

/// Begins to keep `paths` closed in the mount namespace of this thread. Those whose folder is missing are left out.
pub(crate) fn begin<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<(), Error> {
    let paths = paths.map(|path| Ok((path.to_owned(), c_path(path)?))).collect::<Result<Vec<_>, Error>>()?;
    if paths.is_empty() {
        return Ok(());
    }
    let failed = |error: rustix::io::Errno| Error::Start(error.into());
    let changes = inotify::init(CreateFlags::CLOEXEC).map_err(failed)?;
    let mut folders: Vec<&Path> = paths.iter().filter_map(|(path, _)| path.parent()).collect();
    folders.sort_unstable();
    folders.dedup();
    let wanted = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::ONLYDIR;
    for folder in folders {
        // A folder that cannot be heard of is one more reason for the watcher.
        let _ = inotify::add_watch(&changes, folder, wanted);
    }
    let keeper = std::thread::Builder::new().name("keeper".to_owned());
    keeper.spawn(move || keep(&changes, &paths)).map(drop).map_err(Error::Start)
}

fn keep(changes: &OwnedFd, paths: &[(PathBuf, CString)]) {
    loop {
        for (path, text) in paths {
            if is_open(path) {
                // Gone again, or nothing can be mounted: the watcher still refuses who names it.
                let _ = child::close_path(text);
            }
        }
        let mut buffer = [MaybeUninit::<u8>::uninit(); 4096];
        match rustix::io::read(changes, &mut buffer[..]) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Whether something is there and is no mount of its own.
fn is_open(path: &Path) -> bool {
    statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE)
        .is_ok_and(|data| !data.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}
