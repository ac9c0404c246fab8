//! What Linux has for sessions and other systems have not, or have otherwise.

use std::io;

use rustix::net::{RecvFlags, SendFlags};

/// Sending to a socket that nobody reads any more is an error, not a signal.
#[cfg(target_os = "linux")]
pub(crate) const SEND: SendFlags = SendFlags::NOSIGNAL;
/// Without such a flag the hosts ignore the signal, as every Rust program does unless it is told not to.
#[cfg(not(target_os = "linux"))]
pub(crate) const SEND: SendFlags = SendFlags::empty();

/// Descriptors arrive close-on-exec.
#[cfg(target_os = "linux")]
pub(crate) const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;
/// Without such a flag they are made so after they have arrived ([`close_on_exec`]).
#[cfg(not(target_os = "linux"))]
pub(crate) const RECEIVE: RecvFlags = RecvFlags::empty();

/// Makes a descriptor that has just arrived close-on-exec where [`RECEIVE`] could not.
pub(crate) fn close_on_exec(descriptor: &std::os::fd::OwnedFd) {
    #[cfg(not(target_os = "linux"))]
    let _ = rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC);
    #[cfg(target_os = "linux")]
    let _ = descriptor;
}

/// Makes this process the parent of what its children leave behind.
///
/// # Errors
/// What the system says. Systems other than Linux have no such thing, and without it a session could leave processes
/// behind: there sessions are refused.
pub fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?);
    #[cfg(not(target_os = "linux"))]
    return Err(io::Error::new(io::ErrorKind::Unsupported, "sessions need Linux"));
}

/// Has this process killed when its parent ends.
///
/// # Errors
/// As [`adopt_orphans`].
pub fn end_with_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?);
    #[cfg(not(target_os = "linux"))]
    return Err(io::Error::new(io::ErrorKind::Unsupported, "sessions need Linux"));
}
