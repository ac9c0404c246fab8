//! Limits, times, the file mode mask, access checks, terminals and waiting for input.

use std::os::fd::RawFd;
use std::time::Duration;

use super::{c_path, check, errno};

/// A soft and a hard limit; `u64::MAX` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// What holds now.
    pub soft: u64,
    /// How far the soft limit can be raised.
    pub hard: u64,
}

/// The limits of a resource (`RLIMIT_...`).
pub fn limits(resource: u32) -> Result<Limits, i32> {
    let mut raw = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `raw` is valid for writing for the call; an unknown resource is an error.
    check(unsafe { libc::getrlimit(resource as _, &mut raw) })?;
    Ok(Limits { soft: raw.rlim_cur, hard: raw.rlim_max })
}

/// Sets the limits of a resource.
pub fn set_limits(resource: u32, limits: Limits) -> Result<(), i32> {
    let raw = libc::rlimit { rlim_cur: limits.soft, rlim_max: limits.hard };
    // SAFETY: `raw` is valid for reading for the call; an unknown resource is an error.
    check(unsafe { libc::setrlimit(resource as _, &raw) }).map(|_| ())
}

/// The file mode creation mask.
pub fn umask() -> u32 {
    // SAFETY: umask takes and returns numbers and cannot fail.
    unsafe {
        let mask = libc::umask(0o022);
        libc::umask(mask);
        mask as u32
    }
}

/// Sets the file mode creation mask.
pub fn set_umask(mask: u32) {
    // SAFETY: umask takes a number and cannot fail.
    unsafe { libc::umask(mask as libc::mode_t) };
}

/// Processor time used, in clock ticks, and how many ticks make a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessTimes {
    /// By this process in user mode.
    pub user: u64,
    /// By the system for this process.
    pub system: u64,
    /// By children that were waited for, in user mode.
    pub children_user: u64,
    /// By the system for children that were waited for.
    pub children_system: u64,
    /// Ticks per second.
    pub ticks_per_second: u64,
}

/// The processor times of this process.
pub fn process_times() -> ProcessTimes {
    // SAFETY: `raw` is plain numbers, valid when zeroed, and valid for writing for the call; sysconf has no pointers.
    let (raw, ticks) = unsafe {
        let mut raw: libc::tms = std::mem::zeroed();
        libc::times(&mut raw);
        (raw, libc::sysconf(libc::_SC_CLK_TCK))
    };
    ProcessTimes {
        user: raw.tms_utime as u64,
        system: raw.tms_stime as u64,
        children_user: raw.tms_cutime as u64,
        children_system: raw.tms_cstime as u64,
        ticks_per_second: u64::try_from(ticks).unwrap_or(100).max(1),
    }
}

/// Whether the process may access `path` by its effective ids; `mode` is a sum of `R_OK`, `W_OK`, `X_OK`.
pub fn access(path: &[u8], mode: i32) -> bool {
    let Ok(path) = c_path(path) else { return false };
    // SAFETY: `path` is a valid C string for the call.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), mode, libc::AT_EACCESS) == 0 }
}

/// Whether `fd` is a terminal.
pub fn is_terminal(fd: RawFd) -> bool {
    // SAFETY: no pointers.
    unsafe { libc::isatty(fd) == 1 }
}

/// The effective user and group ids.
pub fn effective_ids() -> (u32, u32) {
    // SAFETY: these calls take nothing and cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Waits until `fd` can be read or `timeout` is over; says whether it can. `Err(EINTR)` is passed on.
pub fn wait_readable(fd: RawFd, timeout: Option<Duration>) -> Result<bool, i32> {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let milliseconds =
        timeout.map_or(-1, |t| i32::try_from(t.as_micros().div_ceil(1_000)).unwrap_or(i32::MAX));
    // SAFETY: `poll` is one valid element for the call.
    let ready = unsafe { libc::poll(&mut poll, 1, milliseconds) };
    if ready < 0 { Err(errno()) } else { Ok(ready > 0) }
}

/// Sends a signal to a process or, for a negative number, to a process group.
pub fn kill(pid: i32, signal: i32) -> Result<(), i32> {
    // SAFETY: kill takes numbers.
    check(unsafe { libc::kill(pid, signal) }).map(|_| ())
}

/// A terminal's saved modes; dropping it puts them back.
pub struct TerminalModes {
    fd: RawFd,
    saved: libc::termios,
}

impl TerminalModes {
    /// Turns off echo, or line editing by the terminal, or both, until the value is dropped. `None` if `fd` is
    /// not a terminal.
    pub fn change(fd: RawFd, silent: bool, characters: bool) -> Option<Self> {
        // SAFETY: `saved` is plain data, valid when zeroed, and valid for writing for the call.
        let saved = unsafe {
            let mut saved: libc::termios = std::mem::zeroed();
            if libc::tcgetattr(fd, &mut saved) != 0 {
                return None;
            }
            saved
        };
        let mut modes = saved;
        if silent {
            modes.c_lflag &= !(libc::ECHO | libc::ECHOK | libc::ECHONL);
        }
        if characters {
            modes.c_lflag &= !libc::ICANON;
            modes.c_cc[libc::VMIN] = 1;
            modes.c_cc[libc::VTIME] = 0;
        }
        // SAFETY: `modes` is valid for reading for the call.
        unsafe { libc::tcsetattr(fd, libc::TCSADRAIN, &modes) };
        Some(Self { fd, saved })
    }
}

impl Drop for TerminalModes {
    fn drop(&mut self) {
        // SAFETY: `saved` was filled by tcgetattr and is valid for reading.
        unsafe { libc::tcsetattr(self.fd, libc::TCSADRAIN, &self.saved) };
    }
}
