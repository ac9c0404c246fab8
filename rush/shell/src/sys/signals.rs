//! Signals: dispositions, the set of those that have arrived, names. The handler only sets a bit.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bit n-1 is set when signal n has arrived and its trap has not run. Written by the handler, taken by the shell.
static PENDING: AtomicU64 = AtomicU64::new(0);

/// Signals that nothing is to be done about but to end in order, with the EXIT trap: bits as in `PENDING`. Written by the
/// shell; the handler reads it.
static FATAL: AtomicU64 = AtomicU64::new(0);

/// What ends a utility that runs in this process, as it would end a program: HUP, INT, TERM, and URG where a host uses it
/// for "end what runs".
const UTILITY_STOPS: u64 =
    1 << (libc::SIGHUP - 1) | 1 << (libc::SIGINT - 1) | 1 << (libc::SIGTERM - 1) | 1 << (libc::SIGURG - 1);

extern "C" fn note_signal(signal: libc::c_int) {
    if (1..=64).contains(&signal) {
        let bit = 1 << (signal - 1);
        let before = PENDING.fetch_or(bit, Ordering::Relaxed);
        // Whoever asks twice does not want to wait for the end of a computation.
        if before & bit & FATAL.load(Ordering::Relaxed) != 0 {
            die_of(signal);
        }
    }
}

/// The first of a set of signals.
fn first(bits: u64) -> Option<i32> {
    (bits != 0).then(|| bits.trailing_zeros() as i32 + 1)
}

/// The signal that has arrived for which this process is to end in order.
pub fn fatal_pending() -> Option<i32> {
    first(PENDING.load(Ordering::Relaxed) & FATAL.load(Ordering::Relaxed))
}

/// The same, while a program is waited for: SIGINT is the program's own business first.
pub fn fatal_but_interrupt() -> bool {
    PENDING.load(Ordering::Relaxed) & FATAL.load(Ordering::Relaxed) & !(1 << (libc::SIGINT - 1)) != 0
}

/// The signal that has arrived and ends the utility that runs.
pub fn utility_stop() -> Option<i32> {
    first(PENDING.load(Ordering::Relaxed) & (FATAL.load(Ordering::Relaxed) | UTILITY_STOPS))
}

/// Whether there is one, or the utility holds more memory than it may.
pub fn utility_stops() -> bool {
    utility_stop().is_some() || super::memory::is_exceeded()
}

/// Has a signal noted for an end in order, if it would end the process at once now; whether it does so from now on.
pub fn catch_fatal(signal: i32) -> bool {
    if !signal_is_default(signal) {
        return false;
    }
    FATAL.fetch_or(1 << (signal - 1), Ordering::Relaxed);
    set_handler(signal, note_signal as *const () as libc::sighandler_t);
    true
}

/// Gives the signals that are noted for an end in order their default actions again. What has arrived of them is
/// forgotten.
pub fn release_fatal() {
    let bits = FATAL.swap(0, Ordering::Relaxed);
    for signal in (1..=64).filter(|signal| bits >> (signal - 1) & 1 != 0) {
        set_handler(signal, libc::SIG_DFL);
    }
    PENDING.fetch_and(!bits, Ordering::Relaxed);
}

/// Forgets one signal that has arrived.
pub fn clear_pending(signal: i32) {
    PENDING.fetch_and(!(1 << (signal - 1)), Ordering::Relaxed);
}

/// Ends the process by `signal`, as its default action does.
pub fn die_of(signal: i32) -> ! {
    set_handler(signal, libc::SIG_DFL);
    // SAFETY: the set is initialised before it is used, and no pointer outlives its call. All of this may be called in a
    // signal's handler, where the signal itself is held back until it is let through here.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::raise(signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
        libc::_exit(128 + signal)
    }
}

/// Whether a signal has its default action now.
fn signal_is_default(signal: i32) -> bool {
    // SAFETY: a null new action only reads the old one into live memory.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_DFL
    }
}

/// Whether a caught signal has arrived.
pub fn signal_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
}

/// The signals that have arrived; a bit set.
pub fn pending_signals() -> u64 {
    PENDING.load(Ordering::Relaxed)
}

/// Whether SIGINT has arrived.
pub fn interrupt_pending() -> bool {
    PENDING.load(Ordering::Relaxed) >> (libc::SIGINT - 1) & 1 != 0
}

/// Takes the set of signals that have arrived, but for those that end the process: they stay until it ends.
pub fn take_pending_signals() -> u64 {
    if !signal_pending() {
        return 0;
    }
    let fatal = FATAL.load(Ordering::Relaxed);
    PENDING.fetch_and(fatal, Ordering::Relaxed) & !fatal
}

/// Forgets signals that have arrived.
pub fn clear_pending_signals() {
    PENDING.store(0, Ordering::Relaxed);
}

/// Marks a signal as arrived again.
pub fn raise_pending(signal: i32) {
    PENDING.fetch_or(1 << (signal - 1), Ordering::Relaxed);
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
    not_fatal(signal);
    set_handler(signal, libc::SIG_DFL);
}

/// Ignores a signal.
pub fn signal_ignore(signal: i32) {
    not_fatal(signal);
    set_handler(signal, libc::SIG_IGN);
}

/// Notes a signal when it arrives, for somebody who does something about it; system calls are interrupted.
pub fn signal_catch(signal: i32) {
    not_fatal(signal);
    set_handler(signal, note_signal as *const () as libc::sighandler_t);
}

fn not_fatal(signal: i32) {
    if FATAL.load(Ordering::Relaxed) != 0 {
        FATAL.fetch_and(!(1 << (signal - 1)), Ordering::Relaxed);
    }
}

/// The signals that are noted for an end in order; a bit set.
pub fn fatal_signals() -> u64 {
    FATAL.load(Ordering::Relaxed)
}

/// Whether a signal is one of them.
pub fn ends_at(signal: i32) -> bool {
    fatal_signals() >> (signal - 1) & 1 != 0
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

/// Lets every signal through, and gives those that are ignored their default actions.
pub fn forget_signal_settings() {
    // SAFETY: the set is initialised before it is used.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
    (1..=64).filter(|signal| signal_is_ignored(*signal)).for_each(signal_default);
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
