//! A copy of this process that waits until the original is done, or gone, and then does one piece of work: what has to be put in order outside of
//! namespaces that the original goes into and cannot leave.
//!
//! Invariant: the copy holds none of the standard streams, is in a process group of its own, and heeds no signal but the one that wakes it, so that
//! whatever ends the original, the work is done.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// A waiting copy; it begins with its work when this is dropped, or when its original has ended.
#[derive(Debug)]
pub struct Standby {
    copy: Pid,
    /// False in a further copy of the original, whose business it is not.
    ours: bool,
}

impl Standby {
    /// Makes the copy. This process must have one thread: the copy goes on as an ordinary process.
    ///
    /// # Errors
    /// When no process can be made.
    pub fn new(work: impl FnOnce()) -> io::Result<Self> {
        let original = rustix::process::getpid();
        // SAFETY: one thread, says the contract, so no lock is held by another; the copy ends here and returns to nobody.
        let copy = unsafe { libc::fork() };
        if copy < 0 {
            return Err(io::Error::last_os_error());
        }
        if let Some(copy) = Pid::from_raw(copy) {
            return Ok(Self { copy, ours: true });
        }
        wait_for(original);
        // A panic must not return into the original's frames.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: takes a number only.
        unsafe { libc::_exit(i32::from(done.is_err())) }
    }

    /// The process that waits.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.copy.as_raw_nonzero().get().cast_unsigned()
    }

    /// For a further copy of the original: leaves the waiting one alone.
    pub fn forget(mut self) {
        self.ours = false;
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        if !self.ours {
            return;
        }
        let _ = kill_process(self.copy, Signal::TERM);
        while matches!(waitpid(Some(self.copy), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
    }
}

/// In the copy: waits for the original's word or end.
fn wait_for(original: Pid) {
    let _ = rustix::process::setpgid(None, None);
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    // SAFETY: the set lives on this stack and is filled before it is read; every call takes only it and numbers.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM, 0, 0, 0);
        let mut wake = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut wake);
        libc::sigaddset(&raw mut wake, libc::SIGTERM);
        let mut number = 0;
        // An original that was gone before it could be heard of has left its child to another.
        while rustix::process::getppid() == Some(original)
            && libc::sigwait(&raw const wake, &raw mut number) != 0
        {}
    }
}
