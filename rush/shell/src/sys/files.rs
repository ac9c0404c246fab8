//! Files and descriptors.

pub use super::platform::{OPEN_TO_RETURN, memory_file, pipe, pipe_capacity};
use super::{c_path, check, errno, platform::close_range, platform::mode_bits};
use std::os::fd::RawFd;

/// Closes every descriptor but `fd`.
pub fn close_others(fd: RawFd) {
    let below = if fd > 0 { close_range(0, fd - 1) } else { true };
    if !(below && close_range(fd + 1, RawFd::MAX)) {
        (0..descriptor_limit() as RawFd).filter(|other| *other != fd).for_each(super::close);
    }
}

/// Closes every descriptor above the standard ones.
pub fn close_above_standard() {
    if !close_range(3, RawFd::MAX) {
        (3..descriptor_limit() as RawFd).for_each(super::close);
    }
}

/// Whether the standard descriptors are open and no other is.
pub fn has_standard_descriptors_only() -> bool {
    let open = |fd| super::is_inheritable(fd);
    let Ok(list) = std::fs::read_dir("/proc/self/fd") else { return false };
    // The list itself is the fourth.
    (0..3).all(open) && list.count() == 4
}

/// The size of the regular file behind `fd`, and the offset that its next reader begins at.
pub fn file_extent(fd: RawFd) -> Option<(u64, u64)> {
    // SAFETY: fstat fills the structure if it returns 0.
    let stat = status(|stat| unsafe { libc::fstat(fd, stat) })?;
    if stat.st_mode & libc::S_IFMT != libc::S_IFREG {
        return None;
    }
    // SAFETY: no pointers.
    let offset = unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) };
    Some((stat.st_size as u64, u64::try_from(offset).ok()?))
}

/// Makes reads from `fd` return at once, or not.
pub fn set_nonblocking(fd: RawFd, on: bool) {
    // SAFETY: F_GETFL and F_SETFL take no pointers.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        let flags = if on { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
        libc::fcntl(fd, libc::F_SETFL, flags);
    }
}

/// Waits until one of `fds` is readable or hung up, `timeout_ms` at most (-1: for ever); the ones that are.
pub fn poll_readable(fds: &[RawFd], timeout_ms: i32) -> Vec<RawFd> {
    let mut polled: Vec<libc::pollfd> =
        fds.iter().map(|fd| libc::pollfd { fd: *fd, events: libc::POLLIN, revents: 0 }).collect();
    // SAFETY: the pointer and length are of a live vector.
    unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout_ms) };
    polled.iter().filter(|p| p.revents != 0).map(|p| p.fd).collect()
}

/// Changes to the directory `fd`.
pub fn fchdir(fd: RawFd) -> Result<(), i32> {
    // SAFETY: no pointers.
    check(unsafe { libc::fchdir(fd) }).map(|_| ())
}

/// Changes to the directory `path`.
pub fn chdir(path: &[u8]) -> Result<(), i32> {
    let path = c_path(path)?;
    // SAFETY: a valid C string.
    check(unsafe { libc::chdir(path.as_ptr()) }).map(|_| ())
}

/// The working directory as the kernel knows it.
pub fn current_directory() -> Result<Vec<u8>, i32> {
    use std::os::unix::ffi::OsStringExt;
    std::env::current_dir().map(|p| p.into_os_string().into_vec()).map_err(|e| e.raw_os_error().unwrap_or(0))
}

/// Sets the file mode mask and gives the old one.
pub fn umask(mask: u32) -> u32 {
    // SAFETY: umask cannot fail.
    mode_bits(unsafe { libc::umask(mask as libc::mode_t) })
}

/// Goes back to the start of a file.
pub fn rewind(fd: RawFd) {
    // SAFETY: no pointers.
    unsafe { libc::lseek(fd, 0, libc::SEEK_SET) };
}

fn mode(path: &[u8]) -> Option<(libc::mode_t, i64)> {
    let path = c_path(path).ok()?;
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: stat fills the structure if it returns 0, and only then it is read.
    unsafe {
        if libc::stat(path.as_ptr(), stat.as_mut_ptr()) != 0 {
            return None;
        }
        let stat = stat.assume_init();
        Some((stat.st_mode & libc::S_IFMT, stat.st_size))
    }
}

/// Whether something is at `path`.
pub fn exists(path: &[u8]) -> bool {
    mode(path).is_some()
}

/// Whether `path` is a regular file.
pub fn is_regular(path: &[u8]) -> bool {
    mode(path).is_some_and(|m| m.0 == libc::S_IFREG)
}

/// Whether `path` is anything but a directory.
pub fn is_file(path: &[u8]) -> bool {
    mode(path).is_some_and(|m| m.0 != libc::S_IFDIR)
}

/// Whether `path` is a directory.
pub fn is_directory(path: &[u8]) -> bool {
    mode(path).is_some_and(|m| m.0 == libc::S_IFDIR)
}

/// Why `path` is not accessible in `mode`; `None` if it is.
pub fn access_error(path: &[u8], mode: i32) -> Option<i32> {
    let path = match c_path(path) {
        Ok(path) => path,
        Err(error) => return Some(error),
    };
    // SAFETY: a valid C string.
    if unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), mode, libc::AT_EACCESS) } == 0 {
        None
    } else {
        Some(errno())
    }
}

/// Descriptor numbers are below this.
pub fn descriptor_limit() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is live and writable.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit.rlim_cur as usize
}

/// Whether `fd` is a terminal.
pub fn is_terminal(fd: RawFd) -> bool {
    // SAFETY: no pointers.
    unsafe { libc::isatty(fd) == 1 }
}

/// Whether two paths name the same file.
pub fn same_file(left: &[u8], right: &[u8]) -> bool {
    identity(left).is_some_and(|left| identity(right) == Some(left))
}

/// The device and inode of a file, which is what makes it that file.
pub type Identity = (libc::dev_t, libc::ino_t);

/// The identity of the file at `path`.
pub fn identity(path: &[u8]) -> Option<Identity> {
    let path = c_path(path).ok()?;
    // SAFETY: stat fills the structure if it returns 0.
    let stat = status(|stat| unsafe { libc::stat(path.as_ptr(), stat) })?;
    Some((stat.st_dev, stat.st_ino))
}

/// The identity of the regular file behind `fd`; `None` if it is something else.
pub fn regular_file(fd: RawFd) -> Option<Identity> {
    // SAFETY: fstat fills the structure if it returns 0.
    let stat = status(|stat| unsafe { libc::fstat(fd, stat) })?;
    (stat.st_mode & libc::S_IFMT == libc::S_IFREG).then_some((stat.st_dev, stat.st_ino))
}

fn status(fill: impl FnOnce(*mut libc::stat) -> i32) -> Option<libc::stat> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the callers fill the structure if they return 0, and only then it is read.
    unsafe { (fill(stat.as_mut_ptr()) == 0).then(|| stat.assume_init()) }
}
