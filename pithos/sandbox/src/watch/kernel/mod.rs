//! The system calls of watching: installing the filter that asks, receiving what it asks, answering, and reading the caller's memory. The second home
//! of unsafe code of this crate, and nothing else is in it; `sockets` has the calls of connecting.

#![allow(unsafe_code)]

pub(in crate::watch) mod sockets;

use crate::limits::WATCHED_TEXT_BYTES_MAX;
use seccompiler::BpfProgram;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Wakes the watcher on the caller's processor: the caller sleeps until the answer, so there is nothing to run side by side.
const NOTIFY_SYNC_WAKE_UP: libc::c_ulong = 1;
/// `_IOW('!', 4, u64)`; the C library's bindings do not name it.
const NOTIFY_SET_FLAGS: libc::c_ulong = 0x4008_2104;
/// Memory is read in pieces of this size, and never across the end of a page that may be the last one.
const PIECE: usize = 256;
const PAGE: usize = 4096;

/// A call that waits for its answer.
#[derive(Clone, Copy)]
pub(in crate::watch) struct Asked {
    pub(in crate::watch) id: u64,
    /// The calling thread, by its id here.
    pub(in crate::watch) thread: u32,
    pub(in crate::watch) number: i64,
    pub(in crate::watch) arguments: [u64; 6],
}

/// Puts `program` on this thread and what it starts from now on; the descriptor on which its questions come.
pub(in crate::watch) fn install(program: &BpfProgram) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers only, and concerns this thread.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let length =
        libc::c_ushort::try_from(program.len()).map_err(|_| io::Error::other("the filter is too long"))?;
    let descriptor = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    let with = |flags: libc::c_ulong| {
        // SAFETY: the program has the layout that the kernel reads, is as long as is said, and lives through the call.
        unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const descriptor)
        }
    };
    let listen = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let mut listener = with(listen | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    if listener < 0 {
        // Before Linux 5.19 a signal may interrupt a call that waits; it is made again then.
        listener = with(listen);
    }
    let listener = RawFd::try_from(listener).ok().filter(|fd| *fd >= 0);
    let listener = listener.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel just gave this descriptor to us alone.
    let listener = unsafe { OwnedFd::from_raw_fd(listener) };
    // SAFETY: takes numbers only. A kernel before 6.6 does not know it, and is a little slower.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_SET_FLAGS as _, NOTIFY_SYNC_WAKE_UP) };
    Ok(listener)
}

/// The next question; none when nobody can ask any more.
pub(in crate::watch) fn receive(listener: &OwnedFd) -> Option<Asked> {
    loop {
        // SAFETY: numbers all of it, for which zero is a value; the kernel wants it zeroed.
        let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is the one that this command fills, and it lives through the call.
        let result =
            unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV as _, &raw mut asked) };
        if result == 0 {
            return Some(Asked {
                id: asked.id,
                thread: asked.pid,
                number: asked.data.nr.into(),
                arguments: asked.data.args,
            });
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => {}
            // The caller was killed meanwhile, or there is no caller left at all.
            Some(libc::ENOENT) if !is_over(listener) => {}
            _ => return None,
        }
    }
}

fn is_over(listener: &OwnedFd) -> bool {
    let mut wait = libc::pollfd { fd: listener.as_raw_fd(), events: 0, revents: 0 };
    // SAFETY: one structure, as is said, that lives through the call.
    let ready = unsafe { libc::poll(&raw mut wait, 1, 0) };
    ready > 0 && wait.revents & libc::POLLHUP != 0
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::watch) enum Answer {
    /// It goes on to the kernel, which judges it as if nobody had asked.
    Continue,
    /// It ends with this error number.
    Error(i32),
    /// It ends well: it was made for the caller.
    Done,
}

/// Answers a call. A caller that is gone needs no answer.
pub(in crate::watch) fn answer(listener: &OwnedFd, id: u64, outcome: Answer) {
    // SAFETY: numbers all of it, for which zero is a value.
    let mut answer: libc::seccomp_notif_resp = unsafe { std::mem::zeroed() };
    answer.id = id;
    match outcome {
        Answer::Continue => answer.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        Answer::Error(number) => answer.error = -number,
        Answer::Done => {}
    }
    // An answer that a signal kept from its way would leave the caller waiting for ever.
    // SAFETY: the structure is the one that this command reads, and it lives through the call.
    while unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND as _, &raw const answer) }
        < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// The memory of a thread at `address`: as many bytes as fit and are there.
pub(in crate::watch) fn read_memory(thread: u32, address: u64, buffer: &mut [u8]) -> usize {
    let ours = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let theirs = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: our part is the buffer, as long as is said; the other address is the kernel's to check in the other process.
    let read =
        unsafe { libc::process_vm_readv(thread.cast_signed(), &raw const ours, 1, &raw const theirs, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// The text at `address` of a thread, up to its zero byte; none when it cannot be read or has no end.
pub(in crate::watch) fn read_text(thread: u32, mut address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(PIECE);
    while text.len() < WATCHED_TEXT_BYTES_MAX && address != 0 {
        let mut piece = [0u8; PIECE];
        let left_in_page = PAGE - (address as usize % PAGE);
        let wanted = left_in_page.min(PIECE);
        let read = read_memory(thread, address, &mut piece[..wanted]);
        if let Some(end) = piece[..read].iter().position(|byte| *byte == 0) {
            text.extend_from_slice(&piece[..end]);
            return Some(text);
        }
        if read < wanted {
            return None;
        }
        text.extend_from_slice(&piece[..read]);
        address += read as u64;
    }
    None
}
