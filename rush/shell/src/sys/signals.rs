//! Signals: dispositions, the set of those that have arrived, names. The handler only sets a bit.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bit n-1 is set when signal n has arrived and its trap has not run. Written by the handler, taken by the shell.
static PENDING: AtomicU64 = AtomicU64::new(0);

extern "C" fn note_signal(signal: libc::c_int) {
    if (1..=64).contains(&signal) {
        PENDING.fetch_or(1 << (signal - 1), Ordering::Relaxed);
    }
}

/// Whether a caught signal has arrived.
pub fn signal_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
}

/// Whether SIGINT has arrived.
pub fn interrupt_pending() -> bool {
    PENDING.load(Ordering::Relaxed) >> (libc::SIGINT - 1) & 1 != 0
}

/// Takes the set of signals that have arrived.
pub fn take_pending_signals() -> u64 {
    if signal_pending() { PENDING.swap(0, Ordering::Relaxed) } else { 0 }
}

/// Forgets signals that have arrived.
pub fn clear_pending_signals() {
    PENDING.store(0, Ordering::Relaxed);
}

/// Marks a signal as arrived again.
pub fn raise_pending(signal: i32) {
    note_signal(signal);
}

fn set_handler(signal: i32, handler: libc::sighandler_t) {
    // SAFETY: the structure is fully initialised; the handler, if a function, only touches an atomic.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// Gives a signal its default action.
pub fn signal_default(signal: i32) {
    set_handler(signal, libc::SIG_DFL);
}

/// Ignores a signal.
pub fn signal_ignore(signal: i32) {
    set_handler(signal, libc::SIG_IGN);
}

/// Notes a signal when it arrives; system calls are interrupted.
pub fn signal_catch(signal: i32) {
    set_handler(signal, note_signal as *const () as libc::sighandler_t);
}

/// Gives each signal that the handler notes its default action.
pub(super) fn default_where_caught() {
    for signal in 1..=64 {
        // SAFETY: a null new action only reads the old one into live memory; what cannot be asked for stays zeroed, which is no handler.
        let handler = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action);
            action.sa_sigaction
        };
        if handler == note_signal as *const () as libc::sighandler_t {
            signal_default(signal);
        }
    }
}

/// Whether a signal is ignored now.
pub fn signal_is_ignored(signal: i32) -> bool {
    // SAFETY: a null new action only reads the old one into live memory.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action);
        action.sa_sigaction == libc::SIG_IGN
    }
}

/// Background children without job control ignore the keyboard's signals.
pub fn ignore_interrupts() {
    signal_ignore(libc::SIGINT);
    signal_ignore(libc::SIGQUIT);
}

/// Sends a signal.
pub fn send_signal(pid: i32, signal: i32) -> Result<(), i32> {
    // SAFETY: integers only.
    super::check(unsafe { libc::kill(pid, signal) }).map(|_| ())
}

/// Makes `pid` (0: this process) the leader of a process group of its own.
pub fn set_process_group(pid: i32) {
    // SAFETY: integers only.
    unsafe { libc::setpgid(pid, if pid == 0 { 0 } else { pid }) };
}

/// Puts `pid` into the process group `group`.
pub fn join_process_group(pid: i32, group: i32) {
    // SAFETY: integers only.
    unsafe { libc::setpgid(pid, group) };
}

/// This process's group.
pub fn process_group() -> i32 {
    // SAFETY: cannot fail.
    unsafe { libc::getpgrp() }
}

/// The foreground group of a terminal.
pub fn terminal_group(terminal: i32) -> Option<i32> {
    // SAFETY: integers only.
    let group = unsafe { libc::tcgetpgrp(terminal) };
    (group > 0).then_some(group)
}

/// Makes `group` the foreground group of a terminal. SIGTTOU is ignored by whoever calls this.
pub fn set_terminal_group(terminal: i32, group: i32) {
    // SAFETY: integers only.
    unsafe { libc::tcsetpgrp(terminal, group) };
}

/// Makes a terminal the controlling one of this process, which leads its session and has none: its keys send signals to this
/// process's group, and `/dev/tty` is it.
///
/// # Errors
/// The error number: this process leads no session, or the terminal is another session's.
pub fn take_terminal(terminal: i32) -> Result<(), i32> {
    // SAFETY: integers only.
    super::check(unsafe { libc::ioctl(terminal, libc::TIOCSCTTY as _, 0) }).map(|_| ())
}

/// Gives the controlling terminal up again. What still runs on it gets SIGHUP, this process does not.
pub fn leave_terminal(terminal: i32) {
    // SAFETY: the actions are live memory, and the first call fills `before` or leaves it zeroed, which is the default action.
    unsafe {
        let mut ignore: libc::sigaction = std::mem::zeroed();
        ignore.sa_sigaction = libc::SIG_IGN;
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGHUP, &ignore, &mut before);
        libc::ioctl(terminal, libc::TIOCNOTTY);
        libc::sigaction(libc::SIGHUP, &before, std::ptr::null_mut());
    }
}

/// A signal that does not arrive before this is dropped.
pub struct HeldSignals(libc::sigset_t);

/// Holds a signal back: around a fork, it is the child's as soon as the child has its own way with it.
pub fn hold_signal(signal: i32) -> HeldSignals {
    hold_signals(1 << (signal - 1))
}

/// Holds a set of signals back, one bit each.
pub fn hold_signals(bits: u64) -> HeldSignals {
    let set = signal_set(bits);
    // SAFETY: both sets are live memory, and the call fills `before` or leaves it empty.
    unsafe {
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_BLOCK, &set, &mut before);
        HeldSignals(before)
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        // SAFETY: the set is live memory, filled by `hold_signals`.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

/// In a new process of a job: joins `group` (0 for one of its own), and takes the terminal if it is the first. Its group is in
/// the background until then, and SIGTTOU, which may have its default action again, would stop it there.
pub fn take_place(group: i32, terminal: Option<i32>) {
    join_process_group(0, group);
    if let (0, Some(terminal)) = (group, terminal) {
        let _held = hold_signal(libc::SIGTTOU);
        set_terminal_group(terminal, process_group());
    }
}

/// A duplicate of `fd` out of the way of scripts, closed in programs.
pub fn duplicate_high(fd: i32) -> Option<i32> {
    const DESCRIPTOR_MIN: i32 = 255;
    // SAFETY: integers only.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, DESCRIPTOR_MIN) };
    (copy >= 0).then_some(copy)
}

/// A signal set from bits.
pub(super) fn signal_set(bits: u64) -> libc::sigset_t {
    // SAFETY: sigemptyset initialises the set before it is used.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in 1..64 {
            if bits >> (signal - 1) & 1 != 0 {
                libc::sigaddset(&mut set, signal);
            }
        }
        set
    }
}
