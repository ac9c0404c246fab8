//! Processes: fork, vfork-style spawn, exec, waiting.

use super::{c_path, check, errno};
use std::ffi::CString;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Ends the process at once, without running destructors or flushing Rust's buffers.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: _exit does not return and touches no memory.
    unsafe { libc::_exit(status & 0xff) }
}

/// Duplicates the process; 0 in the child.
pub fn fork() -> Result<i32, i32> {
    // SAFETY: the shell is single-threaded, so the child may go on running any code.
    check(unsafe { libc::fork() })
}

/// This process's id.
pub fn process_id() -> i32 {
    // SAFETY: cannot fail.
    unsafe { libc::getpid() }
}

/// The parent's process id.
pub fn parent_id() -> i32 {
    // SAFETY: cannot fail.
    unsafe { libc::getppid() }
}

/// Waits for the child `pid`; its id and wait status.
pub fn wait_child(pid: i32) -> Result<(i32, i32), i32> {
    let mut status = 0;
    // SAFETY: the status is live and writable.
    let got = check(unsafe { libc::waitpid(pid, &mut status, 0) })?;
    Ok((got, status))
}

/// The same, also when the child has stopped if `stops`.
pub fn wait_child_or_stop(pid: i32, stops: bool) -> Result<(i32, i32), i32> {
    let mut status = 0;
    // SAFETY: the status is live and writable.
    let got = check(unsafe { libc::waitpid(pid, &mut status, if stops { libc::WUNTRACED } else { 0 }) })?;
    Ok((got, status))
}

/// Waits for any child's change of state; with `block` off, the pid is 0 if there is none.
pub fn wait_any(block: bool) -> Result<(i32, i32), i32> {
    let mut status = 0;
    let flags = libc::WUNTRACED | libc::WCONTINUED | if block { 0 } else { libc::WNOHANG };
    // SAFETY: the status is live and writable.
    let got = check(unsafe { libc::waitpid(-1, &mut status, flags) })?;
    Ok((got, status))
}

/// Forgets a child that has ended or is about to, without waiting for it.
pub fn reap(pid: i32) {
    // SAFETY: no pointer is read or written through a null status.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) };
}

/// Whether the child has ended or stopped, without taking note of it.
pub fn child_changed(pid: i32) -> bool {
    // SAFETY: `info` is plain data, valid when zeroed, and writable for the call.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT;
        let result = libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, options);
        result != 0 || info.si_pid() != 0
    }
}

/// Stops a child and comes back when it stands still or has ended, without taking note of either; false for what is no child.
pub fn stop_child(pid: i32) -> bool {
    if super::send_signal(pid, libc::SIGSTOP).is_err() {
        return false;
    }
    loop {
        // SAFETY: `info` is plain data, valid when zeroed, and writable for the call; WNOWAIT leaves the child waitable.
        let result = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let options = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT;
            libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, options)
        };
        if result == 0 {
            return true;
        }
        if errno() != libc::EINTR {
            return false;
        }
    }
}

/// Whether a wait status says stopped.
pub fn is_stopped(status: i32) -> bool {
    libc::WIFSTOPPED(status)
}

/// Whether a wait status says continued.
pub fn is_continued(status: i32) -> bool {
    libc::WIFCONTINUED(status)
}

/// The signal that stopped a child.
pub fn stop_signal(status: i32) -> i32 {
    libc::WSTOPSIG(status)
}

/// The signal that ended a child.
pub fn term_signal(status: i32) -> Option<i32> {
    libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status))
}

/// Whether the child left a core dump.
pub fn dumped_core(status: i32) -> bool {
    libc::WCOREDUMP(status)
}

/// `$?` of a wait status.
pub fn shell_status(status: i32) -> i32 {
    if libc::WIFSIGNALED(status) {
        128 + libc::WTERMSIG(status)
    } else if libc::WIFSTOPPED(status) {
        128 + libc::WSTOPSIG(status)
    } else {
        libc::WEXITSTATUS(status)
    }
}

/// A descriptor of its own that becomes readable when `pid` ends.
///
/// # Errors
/// What the system says: there is no such process, or no descriptor is free.
pub fn owned_process_handle(pid: i32) -> std::io::Result<OwnedFd> {
    let handle = super::process_handle(pid).map_err(std::io::Error::from_raw_os_error)?;
    // SAFETY: the descriptor was just made, and nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(handle) })
}

/// Pointers to `strings`, ended by a null pointer; with `last` before the end.
fn pointers(strings: &[CString], last: Option<&CString>) -> Vec<*const libc::c_char> {
    let mut out: Vec<_> = strings.iter().map(|s| s.as_ptr()).collect();
    out.extend(last.map(|s| s.as_ptr()));
    out.push(std::ptr::null());
    out
}

/// The descriptor map as steps that do not trample on one another: a source that is another step's target is
/// duplicated out of the way first. The duplicates are returned for closing.
fn plan(map: &[(RawFd, RawFd)]) -> (Vec<(RawFd, RawFd)>, Vec<RawFd>) {
    let mut steps = Vec::with_capacity(map.len());
    let mut moved = Vec::new();
    for &(source, target) in map {
        let clashes = source >= 0 && source != target && map.iter().any(|(_, t)| *t == source);
        if clashes {
            // SAFETY: fcntl with integers only.
            let copy = unsafe { libc::fcntl(source, libc::F_DUPFD_CLOEXEC, 200) };
            if copy >= 0 {
                moved.push(copy);
                steps.push((copy, target));
                continue;
            }
        }
        steps.push((source, target));
    }
    (steps, moved)
}

/// A program and what it starts with.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// Its file.
    pub path: &'a [u8],
    /// Its name and arguments.
    pub arguments: &'a [CString],
    /// Its environment but for the last entry.
    pub environment: &'a [CString],
    /// The last entry of its environment.
    pub underscore: &'a [u8],
    /// Its descriptors, as (source, number); source -1 closes the number.
    pub descriptors: &'a [(RawFd, RawFd)],
    /// The set of signals put back to their default.
    pub reset: u64,
}

impl Program<'_> {
    /// Its file and the last entry of its environment, for the system.
    fn strings(&self) -> Result<(CString, CString), i32> {
        Ok((c_path(self.path)?, CString::new(self.underscore).map_err(|_| libc::EINVAL)?))
    }

    /// Starts it in a child that shares memory until it execs (`posix_spawn`).
    pub fn spawn(&self) -> Result<i32, i32> {
        let (path, underscore) = self.strings()?;
        let argv = pointers(self.arguments, None);
        let envp = pointers(self.environment, Some(&underscore));
        let (steps, moved) = plan(self.descriptors);
        // SAFETY: every pointer handed over is to a live C string or an initialised structure; the arrays end in null;
        // the structures are destroyed before they go out of scope.
        let result = unsafe {
            let mut actions = std::mem::MaybeUninit::uninit();
            libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
            for (source, target) in &steps {
                if *source < 0 {
                    libc::posix_spawn_file_actions_addclose(actions.as_mut_ptr(), *target);
                } else {
                    libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), *source, *target);
                }
            }
            let mut attributes = std::mem::MaybeUninit::uninit();
            libc::posix_spawnattr_init(attributes.as_mut_ptr());
            if self.reset != 0 {
                let set = super::signals::signal_set(self.reset);
                libc::posix_spawnattr_setsigdefault(attributes.as_mut_ptr(), &set);
                libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), libc::POSIX_SPAWN_SETSIGDEF as _);
            }
            let mut pid = 0;
            let error = libc::posix_spawn(
                &mut pid,
                path.as_ptr(),
                actions.as_ptr(),
                attributes.as_ptr(),
                argv.as_ptr().cast(),
                envp.as_ptr().cast(),
            );
            libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
            libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
            if error == 0 { Ok(pid) } else { Err(error) }
        };
        for fd in moved {
            super::close(fd);
        }
        result
    }

    /// Starts it in a process group: `group` (0 for its own), with the terminal if it is the first. A fork, because a
    /// process must have the terminal before its program runs.
    pub fn spawn_in_group(&self, group: i32, terminal: Option<i32>) -> Result<i32, i32> {
        let (reader, writer) = super::pipe()?;
        let held = super::hold_signals(u64::MAX);
        let pid = fork()?;
        if pid == 0 {
            // Before any arrives: a signal that only the shell's handler notes would be lost.
            super::signals::default_where_caught();
            drop(held);
            super::signals::take_place(group, terminal);
            let error = self.exec();
            let _ = super::write_all(writer, &error.to_ne_bytes());
            exit_now(127);
        }
        drop(held);
        super::close(writer);
        let mut error = [0; 4];
        // Nothing comes when the program has started: the writer closes itself.
        let failed = super::read(reader, &mut error);
        super::close(reader);
        if failed != Ok(error.len()) {
            return Ok(pid);
        }
        let _ = wait_child(pid);
        Err(i32::from_ne_bytes(error))
    }

    /// Replaces this process by it; returns only the error.
    pub fn exec(&self) -> i32 {
        let Ok((path, underscore)) = self.strings() else { return libc::ENOENT };
        let argv = pointers(self.arguments, None);
        let envp = pointers(self.environment, Some(&underscore));
        if let Some(error) = super::access_error(path.as_bytes(), libc::X_OK) {
            return error;
        }
        apply_descriptors(self.descriptors);
        for signal in 1..64 {
            if self.reset >> (signal - 1) & 1 != 0 {
                super::signal_default(signal);
            }
        }
        // SAFETY: valid C strings and null-terminated arrays of them.
        unsafe { libc::execve(path.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
        errno()
    }
}

/// Puts the descriptor map into effect for this process.
pub fn apply_descriptors(map: &[(RawFd, RawFd)]) {
    let (steps, moved) = plan(map);
    for (source, target) in steps {
        // SAFETY: integers only.
        unsafe {
            if source < 0 {
                libc::close(target);
            } else if source == target {
                let flags = libc::fcntl(source, libc::F_GETFD);
                libc::fcntl(source, libc::F_SETFD, flags & !libc::FD_CLOEXEC);
            } else {
                libc::dup2(source, target);
            }
        }
    }
    for fd in moved {
        super::close(fd);
    }
}

/// Whether `pid` is a child of this process.
pub fn is_child(pid: i32) -> bool {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the structure is live and writable; WNOWAIT leaves the child waitable.
    unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), flags) == 0 }
}
