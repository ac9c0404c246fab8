//! What Linux has and POSIX does not. `portable.rs` has the same functions for other systems; `files`, `process` and
//! `time` re-export them, so nothing above `sys` knows which it is.

use super::check;
use std::os::fd::RawFd;

/// Opens a directory only to come back to it: no permission to read it is needed.
pub const OPEN_TO_RETURN: i32 = libc::O_PATH;

/// A pipe, both ends close-on-exec: read end, write end.
pub fn pipe() -> Result<(RawFd, RawFd), i32> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    check(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) })?;
    Ok((fds[0], fds[1]))
}

/// Bytes that fit into the pipe `fd` without anybody reading.
pub fn pipe_capacity(fd: RawFd) -> usize {
    // SAFETY: F_GETPIPE_SZ takes no pointer.
    usize::try_from(unsafe { libc::fcntl(fd, libc::F_GETPIPE_SZ) }).unwrap_or(0)
}

/// Closes the descriptors from `first` to `last`; whether the system could.
pub(super) fn close_range(first: RawFd, last: RawFd) -> bool {
    // SAFETY: no pointers; the callers own the process whose descriptors they close.
    unsafe { libc::syscall(libc::SYS_close_range, first as libc::c_uint, last as libc::c_uint, 0) == 0 }
}

/// A file in memory, for here-documents that a child reads.
pub fn memory_file() -> Result<RawFd, i32> {
    // SAFETY: the name is a static C string.
    check(unsafe { libc::memfd_create(c"here".as_ptr(), libc::MFD_CLOEXEC) })
}

/// A descriptor that becomes readable when `pid` ends.
pub fn process_handle(pid: i32) -> Result<RawFd, i32> {
    // SAFETY: pidfd_open takes two integers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    check(fd as i32)
}

/// Seconds since the epoch, for a shell that starts.
///
/// OPTIMIZATION: asks the kernel itself. The C library would ask the code that the kernel maps into every process, which
/// is faster but for the first time: it has to be found, and its pages are faulted in.
pub fn start_seconds() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills a live structure.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_REALTIME, &raw mut time) };
    time.tv_sec
}

/// 32 random bits from the kernel.
pub fn random_u32() -> u32 {
    let mut bytes = [0u8; 4];
    // SAFETY: the pointer and length are of a live array.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    u32::from_ne_bytes(bytes)
}

/// A file mode as the shell counts it.
pub(super) fn mode_bits(mode: libc::mode_t) -> u32 {
    mode
}
