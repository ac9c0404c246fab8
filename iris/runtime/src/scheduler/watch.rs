//! Who of a pool's workers is awake. Owns the counters and the list of sleepers, and with them the decision whom a new job wakes and
//! when a worker may lie down; knows neither queues nor threads (the caller looks and parks), so that loom can check it.
//!
//! The promise: *a job that lies in a queue has somebody awake who will look at it*. It is Dekker's pattern. A pusher publishes the
//! job, fences, then reads the counters; a worker lowers the counters, fences, then looks at every queue once more. One of the
//! two always sees the other. A searcher that finds something passes the search on (`found`), because those who
//! pushed meanwhile relied on it.

use crate::sync::{AtomicUsize, Mutex, Ordering, fence};

pub(super) struct Watch {
    /// Workers that run at the same time.
    base: AtomicUsize,
    /// Workers that are awake, in a handler or looking for work.
    running: AtomicUsize,
    /// Those of them that look for work.
    searching: AtomicUsize,
    /// Those of them that are in a handler that blocks.
    stuck: AtomicUsize,
    sleepers: Mutex<Vec<usize>>,
}

/// Who has to be woken for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Nobody: somebody is awake who will find it.
    Nobody,
    /// This sleeper, which is counted as awake and searching from now on.
    Sleeper(usize),
    /// A worker that does not exist yet; whoever starts it calls `joined` first.
    NewWorker,
}

impl Watch {
    pub(super) fn new(base: usize) -> Self {
        Self {
            base: AtomicUsize::new(base),
            running: AtomicUsize::new(0),
            searching: AtomicUsize::new(0),
            stuck: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn set_base(&self, base: usize) {
        self.base.store(base, Ordering::Relaxed);
    }

    pub(super) fn base(&self) -> usize {
        self.base.load(Ordering::Relaxed)
    }

    /// Workers that are awake and not stuck in a handler.
    pub(super) fn active(&self) -> usize {
        self.running.load(Ordering::SeqCst).saturating_sub(self.stuck.load(Ordering::SeqCst))
    }

    pub(super) fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    pub(super) fn any_stuck(&self) -> bool {
        self.stuck.load(Ordering::Relaxed) > 0
    }

    pub(super) fn stuck(&self) -> usize {
        self.stuck.load(Ordering::SeqCst)
    }

    pub(super) fn any_asleep(&self) -> bool {
        !self.sleepers.lock().is_empty()
    }

    pub(super) fn add_stuck(&self) {
        self.stuck.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn remove_stuck(&self) {
        self.stuck.fetch_sub(1, Ordering::SeqCst);
    }

    /// Counts a worker as awake and searching.
    pub(super) fn joined(&self) {
        self.running.fetch_add(1, Ordering::SeqCst);
        self.searching.fetch_add(1, Ordering::SeqCst);
    }

    /// A worker that was awake ends, or could not be started.
    pub(super) fn left(&self, searching: bool) {
        if searching {
            self.searching.fetch_sub(1, Ordering::SeqCst);
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
    }

    /// Decides who looks at a job that was published just now.
    pub(super) fn call(&self) -> Call {
        fence(Ordering::SeqCst);
        if self.searching.load(Ordering::SeqCst) > 0 || self.active() >= self.base() {
            return Call::Nobody;
        }
        match self.sleepers.lock().pop() {
            Some(id) => {
                self.joined();
                Call::Sleeper(id)
            }
            None => Call::NewWorker,
        }
    }

    /// Everybody, for the end; all are counted as awake.
    pub(super) fn call_all(&self) -> Vec<usize> {
        let sleepers = std::mem::take(&mut *self.sleepers.lock());
        sleepers.iter().for_each(|_| self.joined());
        sleepers
    }

    /// A worker begins to look for work.
    pub(super) fn search(&self) {
        self.searching.fetch_add(1, Ordering::SeqCst);
    }

    /// A searcher has found something. True if it was the last one, which has to pass the search on if there is more.
    pub(super) fn found(&self) -> bool {
        let last = self.searching.fetch_sub(1, Ordering::SeqCst) == 1;
        fence(Ordering::SeqCst);
        last
    }

    /// A worker found nothing. True if it must park now (its token may be there already); false if there is `more` after all, and then it
    /// is counted as awake and searching.
    pub(super) fn lie_down(&self, id: usize, searching: bool, more: impl FnOnce() -> bool) -> bool {
        self.sleepers.lock().push(id);
        self.left(searching);
        fence(Ordering::SeqCst);
        !more() || !self.rise(id)
    }

    /// A stand-in whose principal is back lets it work alone: `None` if it is needed, else like `lie_down`. `more` is told whether too
    /// few workers are left.
    pub(super) fn step_aside(
        &self,
        id: usize,
        searching: bool,
        more: impl FnOnce(bool) -> bool,
    ) -> Option<bool> {
        let surplus = self.running.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |running| {
            let active = running.saturating_sub(self.stuck.load(Ordering::SeqCst));
            (active > self.base()).then(|| running - 1)
        });
        surplus.ok()?;
        if searching {
            self.searching.fetch_sub(1, Ordering::SeqCst);
        }
        self.sleepers.lock().push(id);
        fence(Ordering::SeqCst);
        let few = self.active() < self.base();
        Some(!more(few) || !self.rise(id))
    }

    /// Takes a worker off the list of sleepers. False if somebody was quicker: then its token is on its way.
    fn rise(&self, id: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let Some(at) = sleepers.iter().position(|sleeper| *sleeper == id) else { return false };
        sleepers.swap_remove(at);
        drop(sleepers);
        self.joined();
        true
    }
}

#[cfg(all(test, iris_loom))]
mod loom_tests {
    //! Run as the mailbox's (see there). The queue is a bare counter with relaxed accesses, so that nothing but the watch itself orders
    //! what the threads see.

    use super::*;
    use crate::sync::check_within;
    use loom::sync::Arc;
    use loom::thread;

    #[derive(Clone)]
    struct Model {
        watch: Arc<Watch>,
        jobs: Arc<AtomicUsize>,
        /// Workers that were woken or asked for.
        called: Arc<AtomicUsize>,
    }

    impl Model {
        fn new(base: usize) -> Self {
            let counter = || Arc::new(AtomicUsize::new(0));
            Self { watch: Arc::new(Watch::new(base)), jobs: counter(), called: counter() }
        }

        fn take(&self) -> bool {
            self.jobs.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |jobs| jobs.checked_sub(1)).is_ok()
        }

        fn more(&self) -> bool {
            self.jobs.load(Ordering::Relaxed) > 0
        }

        fn call(&self) {
            if self.watch.call() != Call::Nobody {
                self.called.fetch_add(1, Ordering::SeqCst);
            }
        }

        fn push(&self) {
            self.jobs.fetch_add(1, Ordering::Relaxed);
            self.call();
        }

        /// A worker that is awake and searching works until it parks.
        fn work(&self, id: usize) {
            let mut searching = true;
            loop {
                if self.take() {
                    if std::mem::take(&mut searching) && self.watch.found() && self.more() {
                        self.call();
                    }
                    continue;
                }
                if !searching {
                    self.watch.search();
                    searching = true;
                }
                if self.watch.lie_down(id, searching, || self.more()) {
                    return;
                }
            }
        }

        fn check(&self) {
            assert!(
                !self.more() || self.called.load(Ordering::SeqCst) > 0,
                "a job is left and nobody was called"
            );
        }
    }

    #[test]
    fn loom_a_job_pushed_while_the_worker_lies_down_is_seen() {
        loom::model(|| {
            let model = Model::new(1);
            model.watch.joined();
            let theirs = model.clone();
            let worker = thread::spawn(move || theirs.work(0));
            model.push();
            worker.join().unwrap();
            model.check();
        });
    }

    #[test]
    fn loom_two_pushers_and_a_worker_that_lies_down() {
        check_within(4, || {
            let model = Model::new(1);
            model.watch.joined();
            let (theirs, others) = (model.clone(), model.clone());
            let worker = thread::spawn(move || theirs.work(0));
            let pusher = thread::spawn(move || others.push());
            model.push();
            worker.join().unwrap();
            pusher.join().unwrap();
            model.check();
        });
    }

    #[test]
    fn loom_a_stand_in_that_steps_aside_leaves_nothing_behind() {
        check_within(4, || {
            let model = Model::new(1);
            // Two are awake: the principal is back from its handler and finds nothing, the stand-in steps aside.
            model.watch.joined();
            model.watch.joined();
            let (first, second) = (model.clone(), model.clone());
            let principal = thread::spawn(move || first.work(0));
            let stand_in =
                thread::spawn(move || match second.watch.step_aside(1, true, |few| second.more() && few) {
                    Some(true) => {}
                    Some(false) | None => second.work(1),
                });
            model.push();
            principal.join().unwrap();
            stand_in.join().unwrap();
            model.check();
        });
    }
}
