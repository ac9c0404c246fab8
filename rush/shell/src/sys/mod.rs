//! System calls: the only home of unsafe code in the shell. Safe wrappers that return `errno` as `Err(i32)`; no
//! policy, no state.
#![allow(unsafe_code)]

mod errors;
pub mod files;
pub mod memory;
pub mod network;
mod order;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "portable.rs")]
mod platform;
pub mod process;
pub mod resource;
pub mod signals;
pub mod stack;
pub mod time;
pub mod users;

pub use errors::strerror;
pub use files::*;
pub use order::{keep_stream_order, settle_streams};
pub use platform::process_handle;
pub use process::*;
pub use signals::*;
pub use time::*;
pub use users::*;

use std::ffi::CString;
use std::os::fd::RawFd;

/// The last error of this thread.
pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn check(result: libc::c_int) -> Result<libc::c_int, i32> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// `path` as a C string; a path with a NUL byte does not exist.
pub fn c_path(path: &[u8]) -> Result<CString, i32> {
    CString::new(path).map_err(|_| libc::ENOENT)
}

/// Closes a descriptor.
pub fn close(fd: RawFd) {
    // SAFETY: closing any number is memory safe.
    unsafe { libc::close(fd) };
}

/// Puts the null device where a standard descriptor is closed, so that no file of the shell's own gets its number. It
/// is close-on-exec: to the shell and its children the descriptor stays closed.
pub fn hold_standard_descriptors() {
    for fd in 0..3 {
        // SAFETY: F_GETFD takes no pointer.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            // The lowest free number is this one.
            let _ = open(b"/dev/null", libc::O_RDWR, 0);
        }
    }
}

/// Which of the standard descriptors were closed when this process began, a bit each. Rust's runtime puts the null device there before `main`, and afterwards
/// nobody can tell that from one that somebody has put there on purpose.
#[cfg(target_os = "linux")]
static CLOSED_AT_START: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);

/// Looks before the runtime does.
#[cfg(target_os = "linux")]
extern "C" fn note_closed() {
    for fd in 0..3 {
        // SAFETY: F_GETFD takes no pointer.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            CLOSED_AT_START.fetch_or(1 << fd, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

// SAFETY: the C runtime calls what stands in this section once, on the only thread, before `main`; the function needs nothing that is made later.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE_CLOSED: extern "C" fn() = note_closed;

/// Makes the standard descriptors that were closed when this process began closed to what it starts, and to a shell in it.
pub fn keep_closed_descriptors() {
    #[cfg(target_os = "linux")]
    for fd in 0..3 {
        if CLOSED_AT_START.load(std::sync::atomic::Ordering::Relaxed) & (1 << fd) != 0 {
            // SAFETY: F_SETFD takes a number.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

/// Whether `fd` is open and not close-on-exec: one that the process inherited, not one of the shell's own.
pub fn is_inheritable(fd: RawFd) -> bool {
    // SAFETY: F_GETFD takes no pointer.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    flags >= 0 && flags & libc::FD_CLOEXEC == 0
}

/// Writes all of `bytes`, going on after interruptions.
pub fn write_all(fd: RawFd, mut bytes: &[u8]) -> Result<(), i32> {
    order::before_write(fd);
    while !bytes.is_empty() {
        // SAFETY: the pointer and length are of a live slice.
        let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        if n < 0 {
            match errno() {
                // Who is to end does not wait for a reader.
                libc::EINTR if signals::fatal_pending().is_none() => continue,
                error => return Err(error),
            }
        }
        bytes = &bytes[n as usize..];
    }
    Ok(())
}

/// Reads once; `Err(EINTR)` is passed on, because a trap may have to run.
pub fn read(fd: RawFd, buffer: &mut [u8]) -> Result<usize, i32> {
    // SAFETY: the pointer and length are of a live, writable slice.
    let n = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    if n < 0 { Err(errno()) } else { Ok(n as usize) }
}

/// The last `bytes_max` bytes of a regular file, and whether that is all of it. Anything else (a device, a FIFO that nobody writes) is an error at once: what
/// reads a file of the user's by itself waits for nobody and has room for what it takes.
pub fn end_of_file(path: &std::path::Path, bytes_max: u64) -> std::io::Result<(Vec<u8>, bool)> {
    use std::io::{Read, Seek, SeekFrom};
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let data = file.metadata()?;
    if !data.is_file() {
        let error = if data.is_dir() { libc::EISDIR } else { libc::EINVAL };
        return Err(std::io::Error::from_raw_os_error(error));
    }
    let skipped = data.len().saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(skipped))?;
    let mut text = Vec::new();
    file.take(bytes_max).read_to_end(&mut text)?;
    Ok((text, skipped == 0))
}

/// Whether `fd` has a file position that can go back.
pub fn is_seekable(fd: RawFd) -> bool {
    // SAFETY: no pointers.
    unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) >= 0 }
}

/// Moves the file position back by `count` bytes.
pub fn seek_back(fd: RawFd, count: usize) {
    // SAFETY: no pointers.
    unsafe { libc::lseek(fd, -(count as libc::off_t), libc::SEEK_CUR) };
}

/// Moves the file position to the beginning.
pub fn seek_start(fd: RawFd) {
    // SAFETY: no pointers.
    unsafe { libc::lseek(fd, 0, libc::SEEK_SET) };
}

/// Opens `path` with `flags` and `mode`, close-on-exec.
pub fn open(path: &[u8], flags: i32, mode: u32) -> Result<RawFd, i32> {
    let path = c_path(path)?;
    // SAFETY: `path` is a valid C string for the call.
    check(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, mode) })
}
