//! What `linux.rs` does, with what macOS and the BSDs have. Compiled and checked for macOS, not run there by the tests.

use super::check;
use std::os::fd::RawFd;

/// Opens a directory to come back to it.
pub const OPEN_TO_RETURN: i32 = libc::O_RDONLY;

/// A pipe, both ends close-on-exec: read end, write end. Not atomic: a program that another thread starts between the
/// two steps inherits both ends.
pub fn pipe() -> Result<(RawFd, RawFd), i32> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    check(unsafe { libc::pipe(fds.as_mut_ptr()) })?;
    for fd in fds {
        close_on_exec(fd)?;
    }
    Ok((fds[0], fds[1]))
}

/// Bytes that fit into a pipe without anybody reading: what POSIX promises, because these systems do not tell.
pub fn pipe_capacity(_fd: RawFd) -> usize {
    libc::PIPE_BUF
}

/// Closes the descriptors from `first` to `last`; whether the system could. These systems cannot in one call.
pub(super) fn close_range(_first: RawFd, _last: RawFd) -> bool {
    false
}

/// A file without a name, for here-documents that a child reads.
pub fn memory_file() -> Result<RawFd, i32> {
    let folder = std::env::temp_dir();
    let mut name = std::os::unix::ffi::OsStringExt::into_vec(folder.join("rush.XXXXXX").into_os_string());
    name.push(0);
    // SAFETY: the name is a writable C string, which both calls read within its bounds.
    let fd = unsafe {
        let fd = check(libc::mkstemp(name.as_mut_ptr().cast()))?;
        libc::unlink(name.as_ptr().cast());
        fd
    };
    close_on_exec(fd)?;
    Ok(fd)
}

/// A descriptor that becomes readable when `pid` ends.
pub fn process_handle(pid: i32) -> Result<RawFd, i32> {
    // SAFETY: no pointers.
    let queue = check(unsafe { libc::kqueue() })?;
    close_on_exec(queue)?;
    let change = libc::kevent {
        ident: pid as libc::uintptr_t,
        filter: libc::EVFILT_PROC,
        flags: libc::EV_ADD | libc::EV_ONESHOT,
        fflags: libc::NOTE_EXIT,
        data: 0,
        udata: std::ptr::null_mut(),
    };
    // SAFETY: one live change is read, and no event is written.
    let added = check(unsafe {
        libc::kevent(queue, &raw const change, 1, std::ptr::null_mut(), 0, std::ptr::null())
    });
    if let Err(error) = added {
        super::close(queue);
        return Err(error);
    }
    Ok(queue)
}

/// Seconds since the epoch, for a shell that starts.
pub fn start_seconds() -> i64 {
    super::now_seconds()
}

/// 32 random bits from the kernel.
pub fn random_u32() -> u32 {
    let mut bytes = [0u8; 4];
    // SAFETY: the pointer and length are of a live array.
    unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), bytes.len()) };
    u32::from_ne_bytes(bytes)
}

/// A file mode as the shell counts it; the type is narrower here.
pub(super) fn mode_bits(mode: libc::mode_t) -> u32 {
    u32::from(mode)
}

fn close_on_exec(fd: RawFd) -> Result<(), i32> {
    // SAFETY: F_SETFD takes an integer.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) }).map(drop)
}
