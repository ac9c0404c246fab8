//! What the operating system says of a worker's thread: whether it waits for something, and how long it has run. Owns the reading of
//! `/proc`; leaves to the keeper what follows from it. Where there is no `/proc` nothing is known, and every turn that lasts counts as held up.
//!
//! A thread that waits in a handler that blocks and one that another program keeps from its processor look the same from inside: the turn
//! does not end. The kernel tells them apart: the one sleeps, the other is ready to run and has not run.

use std::sync::OnceLock;

use crate::limits::OVERSTAY_RAN_US;

#[derive(Default)]
pub(super) struct OsThread {
    /// The kernel's number of the thread.
    id: OnceLock<u32>,
}

/// One look at a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// It runs, or would if it got a processor.
    pub(super) ready: bool,
    /// Nanoseconds that it has run; the kernel counts at each of its ticks (1 to 4 ms) and whenever the thread leaves its processor.
    pub(super) ran_ns: u64,
}

impl OsThread {
    /// Called by the thread itself.
    pub(super) fn register(&self) {
        if let Some(id) = own_id() {
            let _ = self.id.set(id);
        }
    }

    pub(super) fn look(&self) -> Option<Look> {
        self.id.get().and_then(|id| read(*id))
    }
}

/// Whether a thread whose turn lasts would get on with it if other programs left it a processor; `ran_ns` is what it had run when that was
/// first asked of this turn. Whoever has run for a while since then overstays.
pub(super) fn is_displaced(ran_ns: &mut Option<u64>, look: Option<Look>) -> bool {
    let Some(look) = look.filter(|look| look.ready) else { return false };
    let before = *ran_ns.get_or_insert(look.ran_ns);
    look.ran_ns.saturating_sub(before) < OVERSTAY_RAN_US * 1_000
}

#[cfg(all(target_os = "linux", not(miri)))]
fn own_id() -> Option<u32> {
    let link = std::fs::read_link("/proc/thread-self").ok()?;
    link.file_name()?.to_str()?.parse().ok()
}

#[cfg(all(target_os = "linux", not(miri)))]
fn read(id: u32) -> Option<Look> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{id}/stat")).ok()?;
    let schedstat = std::fs::read_to_string(format!("/proc/self/task/{id}/schedstat")).ok()?;
    // The name, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(Look { ready: fields.starts_with('R'), ran_ns: schedstat.split(' ').next()?.parse().ok()? })
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn own_id() -> Option<u32> {
    None
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn read(_: u32) -> Option<Look> {
    None
}

#[cfg(all(test, target_os = "linux", not(any(miri, iris_loom))))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    #[test]
    fn who_is_ready_and_does_not_run_is_displaced() {
        let look = |ready, ran_ns| Some(Look { ready, ran_ns });
        let mut ran_ns = None;
        assert!(!is_displaced(&mut ran_ns, None), "nothing is known");
        assert!(!is_displaced(&mut ran_ns, look(false, 1_000)), "it waits for something");
        assert!(is_displaced(&mut ran_ns, look(true, 5_000)));
        assert!(is_displaced(&mut ran_ns, look(true, 5_000 + 499_000)));
        assert!(!is_displaced(&mut ran_ns, look(true, 5_000 + 500_000)), "it has run all the time");
        assert!(!is_displaced(&mut ran_ns, look(false, 5_000)));
    }

    #[test]
    fn a_thread_that_waits_is_told_from_one_that_runs() {
        let thread = Arc::new(OsThread::default());
        assert_eq!(thread.look(), None, "nobody has registered");
        let (theirs, (begin, gate)) = (thread.clone(), mpsc::channel::<Duration>());
        let (ready, registered) = mpsc::channel();
        let running = std::thread::spawn(move || {
            theirs.register();
            ready.send(()).unwrap();
            let until = Instant::now() + gate.recv().unwrap();
            while Instant::now() < until {}
            ready.send(()).unwrap();
            gate.recv().unwrap_err();
        });
        registered.recv().unwrap();
        let waiting = || std::iter::repeat_with(|| thread.look().unwrap()).find(|look| !look.ready).unwrap();
        let before = waiting();
        begin.send(Duration::from_millis(50)).unwrap();
        assert!((0..10_000).any(|_| thread.look().unwrap().ready), "it computes");
        registered.recv().unwrap();
        assert!(waiting().ran_ns > before.ran_ns);
        drop(begin);
        running.join().unwrap();
        assert_eq!(thread.look(), None, "it is gone");
    }
}
