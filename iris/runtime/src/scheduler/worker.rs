//! The life of one worker thread: find a job, run a slice inside the host, search, sleep. Owns the order in which
//! queues are tried; leaves the counters' protocol to the pool (see `scheduler`'s header).

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crossbeam_deque::{Steal, Worker as Deque};

use super::{Job, LOCAL, Local, Pool, Slice, WorkerSlot};
use crate::limits::{SEARCH_ROUNDS, SLICE_MESSAGES, SLICE_US};
use crate::runtime::Shared;

/// Turns after which the shared queue goes first, so that it cannot starve behind a busy local one.
const SHARED_FIRST_EVERY: u32 = 61;

pub(super) fn main(shared: &Arc<Shared>, pool: u8, id: usize, deque: Deque<Job>) {
    let pool = &shared.pools[pool as usize];
    let Some(slot) = pool.slots[id].get() else { return };
    let local = Rc::new(Local { key: pool.key, id, deque });
    LOCAL.set(Some(local.clone()));
    let mut worker = Worker { shared, pool, slot, local, searching: true, turns: 0 };
    pool.host.thread(&mut || worker.work());
    LOCAL.set(None);
}

struct Worker<'a> {
    shared: &'a Arc<Shared>,
    pool: &'a Pool,
    slot: &'a WorkerSlot,
    local: Rc<Local>,
    searching: bool,
    turns: u32,
}

impl Worker<'_> {
    fn work(&mut self) {
        self.shared.keeper.attend(self.shared);
        loop {
            self.pool.clear_stuck(self.slot);
            if self.pool.closing.load(Ordering::Relaxed) && !self.pool.has_work() {
                break self.leave();
            }
            if self.step_aside() {
                continue;
            }
            match self.search() {
                Some(job) => {
                    self.stop_searching();
                    let mut first = Some(job);
                    let host = self.pool.host.clone();
                    host.hold(&mut || self.slice(&mut first));
                    self.slot.current.store(0, Ordering::SeqCst);
                }
                None => self.sleep(),
            }
        }
    }

    /// Runs jobs until the slice is used up. The clock is read every `SLICE_MESSAGES` messages.
    fn slice(&mut self, first: &mut Option<Job>) {
        let begin = Instant::now();
        let mut handled = 0;
        let mut next_look = SLICE_MESSAGES;
        while let Some(job) = first.take().or_else(|| self.next()) {
            handled += self.turn(job);
            if self.slot.stuck.load(Ordering::Relaxed) {
                return;
            }
            if handled >= next_look {
                next_look = handled + SLICE_MESSAGES;
                if begin.elapsed().as_micros() as u64 >= SLICE_US {
                    return;
                }
            }
        }
    }

    fn turn(&mut self, job: Job) -> u32 {
        self.turns = self.turns.wrapping_add(1);
        self.slot.current.store(job.id() | CURRENT_MARK, Ordering::Relaxed);
        self.slot.epoch.store(self.turns, Ordering::Relaxed);
        if self.slot.preempt.load(Ordering::Relaxed) {
            self.slot.preempt.store(false, Ordering::Relaxed);
        }
        job.run(&Slice { preempt: &self.slot.preempt, budget_max: u32::MAX })
    }

    fn next(&mut self) -> Option<Job> {
        if self.turns.is_multiple_of(SHARED_FIRST_EVERY) {
            return self.take_shared().or_else(|| self.local.deque.pop());
        }
        self.local.deque.pop().or_else(|| self.take_shared())
    }

    fn take_shared(&self) -> Option<Job> {
        loop {
            match self.pool.injector.steal_batch_and_pop(&self.local.deque) {
                Steal::Success(job) => return Some(job),
                Steal::Empty => return None,
                Steal::Retry => std::hint::spin_loop(),
            }
        }
    }

    fn search(&mut self) -> Option<Job> {
        if let Some(job) = self.next() {
            return Some(job);
        }
        if !self.searching {
            self.searching = true;
            self.pool.watch.search();
        }
        for _ in 0..SEARCH_ROUNDS {
            if let Some(job) = self.pool.steal(self.local.id).or_else(|| self.next()) {
                return Some(job);
            }
            std::hint::spin_loop();
        }
        None
    }

    /// The last searcher that finds something passes the search on.
    fn stop_searching(&mut self) {
        if std::mem::take(&mut self.searching) && self.pool.watch.found() && self.pool.has_work() {
            self.pool.notify(self.shared);
        }
    }

    /// A stand-in whose principal is back lets it work alone.
    fn step_aside(&mut self) -> bool {
        let pool = self.pool;
        let closing = || pool.closing.load(Ordering::SeqCst);
        if pool.watch.active() <= pool.watch.base() || closing() {
            return false;
        }
        let more = |few: bool| closing() || (few && pool.has_work());
        let Some(park) = pool.watch.step_aside(self.local.id, self.searching, more) else { return false };
        if park {
            self.slot.parker.park();
        }
        // Whoever woke this worker has counted it as running and searching.
        self.searching = true;
        true
    }

    fn sleep(&mut self) {
        let pool = self.pool;
        let more = || pool.has_work() || pool.closing.load(Ordering::SeqCst);
        if pool.watch.lie_down(self.local.id, self.searching, more) {
            self.slot.parker.park();
        }
        self.searching = true;
        self.shared.keeper.attend(self.shared);
    }

    fn leave(&mut self) {
        self.pool.watch.left(std::mem::take(&mut self.searching));
    }
}

/// Set in `current` so that a job without a pid still counts as running.
pub(super) const CURRENT_MARK: u64 = 1 << 63;
