//! The life of one worker thread: find a job, run a slice inside the host, search, sleep. Owns the order in which
//! queues are tried; leaves the counters' protocol to the pool (see `scheduler`'s header).
//!
//! The worker's own queue and the shared one take turns, counted in messages (a turn of one actor may be a hundred of them) and cut
//! short by the keeper's tick, so that what comes from outside waits for a share of the work and not for the end of it.
//!
//! Where many wait, turns are short: a round of the queue is to take `ROUND_US` (`Pace`). With a fixed budget, messages that are handed on
//! to the next in the queue gather and travel along with the worker: each turn is a whole budget of them, and who is last in the queue
//! waits for all those turns. What has waited since the actor's last turn is handled in any case, within its budget: so a round handles
//! each message once, and an actor with many falls back no further than one with few.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_deque::{Steal, Worker as Deque};

use super::{Job, LOCAL, Local, Others, Pool, Slice, WORKER_OF, WorkerSlot};
use crate::limits::{
    BATCH_BEHIND_MAX, ROUND_US, SEARCH_ROUNDS, SEARCH_YIELDS, SHARE_MESSAGES, SLICE_MESSAGES, SLICE_US,
};
use crate::runtime::Shared;

pub(super) fn main(shared: &Arc<Shared>, pool: u8, id: usize, deque: Deque<Job>) {
    let pool = &shared.pools[pool as usize];
    let Some(slot) = pool.slots[id].get() else { return };
    slot.thread.register();
    let _ = slot.thread_id.set(std::thread::current().id());
    let local = Rc::new(Local { key: pool.key, id, deque });
    LOCAL.set(Some(local.clone()));
    WORKER_OF.set(pool.key);
    let mut worker = Worker::new(shared, pool, slot, local);
    pool.host.thread(&mut || worker.work());
    WORKER_OF.set(0);
    LOCAL.set(None);
}

struct Worker<'a> {
    shared: &'a Arc<Shared>,
    pool: &'a Pool,
    slot: &'a WorkerSlot,
    local: Rc<Local>,
    searching: bool,
    turns: u32,
    share: Share,
    pace: Pace,
    /// Jobs on their way from the shared queue to the own; empty at other times.
    chunk: Vec<Job>,
}

/// How many messages a turn takes within the actor's budget: so many that a round of the queue takes `ROUND_US`, at the cost that messages
/// had since the last look at the clock.
struct Pace {
    budget: u32,
}

impl Pace {
    fn look(&mut self, messages: u32, elapsed_us: u64, waiting: usize) {
        let round_messages = ROUND_US * u64::from(messages) / elapsed_us.max(1);
        self.budget = u32::try_from(round_messages / (waiting as u64).max(1)).unwrap_or(u32::MAX).max(1);
    }
}

/// Whose messages are handled: the worker's own or the shared queue's, how many more of them, and the keeper's tick when the shared
/// queue's share last began.
struct Share {
    shared: bool,
    left: u32,
    tick: u32,
}

impl Share {
    fn begin(&mut self, shared: bool) {
        self.shared = shared;
        self.left = SHARE_MESSAGES;
    }

    /// Whether the shared queue goes first now.
    fn is_shared(&mut self, tick: u32) -> bool {
        if self.tick != tick {
            self.tick = tick;
            self.begin(true);
        } else if self.left == 0 {
            self.begin(!self.shared);
        }
        self.shared
    }

    fn spend(&mut self, messages: u32) {
        self.left = self.left.saturating_sub(messages);
    }
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Arc<Shared>, pool: &'a Pool, slot: &'a WorkerSlot, local: Rc<Local>) -> Self {
        let share = Share { shared: true, left: 0, tick: 0 };
        let pace = Pace { budget: u32::MAX };
        Self { shared, pool, slot, local, searching: true, turns: 0, share, pace, chunk: Vec::new() }
    }
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
        let (mut handled, mut looked_at) = (0, 0);
        let mut looked_us = 0;
        let until = begin + Duration::from_micros(SLICE_US);
        while let Some(job) = first.take().or_else(|| self.next()) {
            handled += self.turn(job, until);
            if self.slot.stuck.load(Ordering::Relaxed) {
                return;
            }
            let fresh = handled - looked_at;
            if fresh >= SLICE_MESSAGES {
                let now_us = begin.elapsed().as_micros() as u64;
                self.pace.look(fresh, now_us - looked_us, self.waiting());
                (looked_at, looked_us) = (handled, now_us);
                if now_us >= SLICE_US {
                    return;
                }
            }
        }
    }

    /// `until`: when the slice ends.
    fn turn(&mut self, job: Job, until: Instant) -> u32 {
        self.turns = self.turns.wrapping_add(1);
        self.slot.current.store(job.id() | CURRENT_MARK, Ordering::Relaxed);
        self.slot.epoch.store(self.turns, Ordering::Relaxed);
        if self.slot.preempt.load(Ordering::Relaxed) {
            self.slot.preempt.store(false, Ordering::Relaxed);
        }
        let others = Others { own: &self.local.deque, shared: &self.pool.injector, until };
        let WorkerSlot { preempt, in_hand, .. } = self.slot;
        let (budget_max, pace) = (u32::MAX, self.pace.budget);
        let handled = job.run(&Slice { preempt, in_hand, budget_max, pace, others: Some(others) });
        self.share.spend(handled);
        if self.slot.interrupted.load(Ordering::Relaxed) {
            // Before the next actor's turn, so that it does not meet what was meant for this one's.
            self.slot.interrupted.store(false, Ordering::Relaxed);
            self.pool.host.uninterrupt();
        }
        handled
    }

    /// Jobs that this worker has before it: its own and the shared ones.
    fn waiting(&self) -> usize {
        self.local.deque.len() + self.pool.injector.len()
    }

    fn next(&mut self) -> Option<Job> {
        if self.share.is_shared(self.pool.tick.load(Ordering::Relaxed))
            && let Some(job) = self.take_share()
        {
            return Some(job);
        }
        self.local.deque.pop().or_else(|| self.take_batch())
    }

    /// The shared queue's next job in its own share. A batch would wait behind what is in the worker's own queue, so it is taken only
    /// where that is little.
    fn take_share(&mut self) -> Option<Job> {
        let job = if self.local.deque.len() > BATCH_BEHIND_MAX {
            self.pool.injector.pop()
        } else {
            self.share.begin(false);
            self.take_batch()
        };
        if job.is_none() {
            self.share.begin(false);
        }
        job
    }

    fn take_batch(&mut self) -> Option<Job> {
        self.pool.injector.pop_batch(&self.local.deque, &mut self.chunk)
    }

    fn search(&mut self) -> Option<Job> {
        if let Some(job) = self.next() {
            return Some(job);
        }
        if !self.searching {
            self.searching = true;
            self.pool.watch.search();
        }
        for round in 0..SEARCH_ROUNDS + SEARCH_YIELDS {
            if let Some(job) = self.pool.steal(self.local.id).or_else(|| self.next()) {
                return Some(job);
            }
            if round < SEARCH_ROUNDS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        None
    }

    /// The last searcher that finds something passes the search on.
    fn stop_searching(&mut self) {
        if std::mem::take(&mut self.searching) && self.pool.watch.found() && self.pool.has_stealable() {
            self.pool.notify(self.shared);
        }
    }

    /// A stand-in whose principal is back lets it work alone. Its own jobs it leaves to all: nobody would steal a lone one, and whoever
    /// stayed for them would stay for ever where each job makes the next.
    fn step_aside(&mut self) -> bool {
        let pool = self.pool;
        let closing = || pool.closing.load(Ordering::SeqCst);
        if pool.watch.active() <= pool.watch.base() || closing() {
            return false;
        }
        while let Some(job) = self.local.deque.pop() {
            pool.injector.push(job);
        }
        let more = |few: bool| closing() || (few && pool.has_stealable());
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
        let more = || pool.has_stealable() || pool.closing.load(Ordering::SeqCst);
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

/// Tries again while another thread is in the middle of its own try.
pub(super) fn until_settled(mut attempt: impl FnMut() -> Steal<Job>) -> Option<Job> {
    loop {
        match attempt() {
            Steal::Success(job) => return Some(job),
            Steal::Empty => return None,
            Steal::Retry => std::hint::spin_loop(),
        }
    }
}

/// Set in `current` so that a job without a pid still counts as running.
pub(super) const CURRENT_MARK: u64 = 1 << 63;

#[cfg(all(test, not(iris_loom)))]
mod tests;
