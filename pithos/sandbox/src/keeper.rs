//! Keeps protected paths closed while sessions run: whoever replaces a file outside by renaming another over it takes the mount away that made the
//! old one read-only, and a path that was missing may come to be. A thread hears of both from the kernel and mounts again.
//!
//! Between the change and the mount, until the thread has run, the watcher alone refuses whoever names the path.
//!
//! So it does for the first moments: whoever closes the kernel's list of watched folders waits for all processors, and a command that ends at
//! once would take longer to end than to run.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

use crate::child;
use crate::error::Error;
use crate::plan::c_path;

/// Begins to keep `paths` closed in the mount namespace of this thread, `after` a while. Those whose folder is missing then are left out.
pub(crate) fn begin<'a>(paths: impl Iterator<Item = &'a Path>, after: Duration) -> Result<(), Error> {
    let paths = paths.map(|path| Ok((path.to_owned(), c_path(path)?))).collect::<Result<Vec<_>, Error>>()?;
    if paths.is_empty() {
        return Ok(());
    }
    let keeper = std::thread::Builder::new().name("keeper".to_owned());
    if after.is_zero() {
        let changes = listen(&paths).map_err(Error::Start)?;
        return keeper.spawn(move || keep(&changes, &paths)).map(drop).map_err(Error::Start);
    }
    let later = move || {
        std::thread::sleep(after);
        // Without it there is still the watcher.
        if let Ok(changes) = listen(&paths) {
            keep(&changes, &paths);
        }
    };
    keeper.spawn(later).map(drop).map_err(Error::Start)
}

/// Has the kernel tell of changes in the folders of the paths.
fn listen(paths: &[(PathBuf, CString)]) -> io::Result<OwnedFd> {
    let changes = inotify::init(CreateFlags::CLOEXEC)?;
    let mut folders: Vec<&Path> = paths.iter().filter_map(|(path, _)| path.parent()).collect();
    folders.sort_unstable();
    folders.dedup();
    let wanted = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::ONLYDIR;
    for folder in folders {
        // A folder that cannot be heard of is one more reason for the watcher.
        let _ = inotify::add_watch(&changes, folder, wanted);
    }
    Ok(changes)
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
