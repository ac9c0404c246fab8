//! The keeper: one thread per runtime for time. Owns the timer wheel's waking and the watch over workers: a turn that lasts longer
//! than a tick is asked to yield, one that lasts two ticks gets a stand-in (after one tick if a worker is stuck already: handlers that
//! block often come together), one that lasts `SLOW_HANDLER_MS` is reported.
//! Invariant: it sleeps for good while no worker is awake and no timer is set. Leaves the firing order to `timer`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::worker::CURRENT_MARK;
use super::{Pool, WorkerSlot};
use crate::limits::{KEEPER_LINGER_TICKS, KEEPER_TICK_MS, SLOW_HANDLER_MS, SLOW_HANDLERS_KEPT};
use crate::pid::Pid;
use crate::runtime::Shared;
use crate::timer::{Action, TimerId, Wheel};

/// A handler that kept its worker for long.
#[derive(Clone, Debug)]
pub struct SlowHandler {
    /// The actor.
    pub pid: Pid,
    /// The pool it runs on.
    pub pool: String,
    /// How long it had been running when it was noticed.
    pub elapsed_ms: u64,
}

struct State {
    wheel: Wheel,
    closed: bool,
    thread: Option<JoinHandle<()>>,
    started: bool,
    slow: VecDeque<SlowHandler>,
}

pub(crate) struct Keeper {
    state: Mutex<State>,
    wake: Condvar,
    /// True while the thread sleeps without a time-out or has never been started.
    resting: AtomicBool,
    threaded: bool,
}

/// What the keeper remembers of a worker between two ticks.
#[derive(Clone, Copy, Default)]
struct Sight {
    epoch: u32,
    ticks: u64,
}

impl Keeper {
    pub(crate) fn new(threaded: bool) -> Self {
        let state =
            State { wheel: Wheel::new(), closed: false, thread: None, started: false, slow: VecDeque::new() };
        Self { state: Mutex::new(state), wake: Condvar::new(), resting: AtomicBool::new(true), threaded }
    }

    /// A worker is awake: look after it.
    pub(crate) fn attend(&self, shared: &Arc<Shared>) {
        if self.resting.load(Ordering::Relaxed) && self.resting.swap(false, Ordering::SeqCst) {
            self.ensure_thread(&mut self.state.lock(), shared);
            self.wake.notify_one();
        }
    }

    fn ensure_thread(&self, state: &mut State, shared: &Arc<Shared>) {
        if !self.threaded || state.started || state.closed {
            return;
        }
        state.started = true;
        let shared = shared.clone();
        let thread = std::thread::Builder::new().name("iris-keeper".to_owned());
        match thread.spawn(move || shared.keeper.keep(&shared)) {
            Ok(handle) => state.thread = Some(handle),
            Err(_) => state.started = false,
        }
    }

    pub(crate) fn insert(
        &self,
        shared: &Arc<Shared>,
        due: u64,
        period: Option<u64>,
        action: Action,
    ) -> TimerId {
        let mut state = self.state.lock();
        let id = state.wheel.insert(due, period, action);
        self.ensure_thread(&mut state, shared);
        let earlier = state.wheel.next_due().is_some_and(|next| next <= due);
        drop(state);
        if earlier {
            self.wake.notify_one();
        }
        id
    }

    pub(crate) fn cancel(&self, id: TimerId) -> bool {
        self.state.lock().wheel.cancel(id)
    }

    pub(crate) fn timers(&self) -> usize {
        self.state.lock().wheel.live()
    }

    pub(crate) fn next_due(&self) -> Option<u64> {
        self.state.lock().wheel.next_due()
    }

    /// Fires what is due at `now` (the simulation calls this itself).
    pub(crate) fn advance(&self, now: u64) -> usize {
        let due = self.state.lock().wheel.advance(now);
        for action in &due {
            action();
        }
        due.len()
    }

    pub(crate) fn slow_handlers(&self) -> Vec<SlowHandler> {
        self.state.lock().slow.iter().cloned().collect()
    }

    pub(crate) fn close(&self) -> Option<JoinHandle<()>> {
        let mut state = self.state.lock();
        state.closed = true;
        let thread = state.thread.take();
        let wheel = std::mem::replace(&mut state.wheel, Wheel::new());
        drop(state);
        drop(wheel);
        self.wake.notify_all();
        thread
    }

    fn keep(&self, shared: &Arc<Shared>) {
        let mut sights: Vec<Vec<Sight>> =
            shared.pools.iter().map(|pool| vec![Sight::default(); pool.slots.len()]).collect();
        let mut linger = 0;
        loop {
            self.advance(shared.clock.now_ms());
            linger = if shared.pools.iter().any(Pool::awake) {
                KEEPER_LINGER_TICKS
            } else {
                linger.saturating_sub(1)
            };
            if linger > 0 {
                for (pool, sights) in shared.pools.iter().zip(&mut sights) {
                    self.watch(shared, pool, sights);
                }
            }
            if !self.pause(shared, linger > 0) {
                return;
            }
        }
    }

    /// Sleeps until the next tick or timer. Returns false when the runtime is over.
    fn pause(&self, shared: &Arc<Shared>, ticking: bool) -> bool {
        let mut state = self.state.lock();
        if state.closed {
            return false;
        }
        let now = shared.clock.now_ms();
        let timer = state.wheel.next_due().map(|due| due.saturating_sub(now).max(1));
        let sleep = match (ticking, timer) {
            (true, timer) => Some(timer.unwrap_or(KEEPER_TICK_MS).min(KEEPER_TICK_MS)),
            (false, timer) => timer,
        };
        if !ticking {
            self.resting.store(true, Ordering::SeqCst);
            // A worker that woke before the store did not see it; look once more.
            if shared.pools.iter().any(Pool::awake) {
                self.resting.store(false, Ordering::SeqCst);
                return true;
            }
        }
        match sleep {
            Some(ms) => {
                self.wake.wait_for(&mut state, Duration::from_millis(ms));
            }
            None => self.wake.wait(&mut state),
        }
        self.resting.store(false, Ordering::SeqCst);
        !state.closed
    }

    fn watch(&self, shared: &Arc<Shared>, pool: &Pool, sights: &mut [Sight]) {
        let patience = if pool.watch.any_stuck() { 1 } else { 2 };
        for (slot, sight) in pool.slots.iter().map_while(|slot| slot.get()).zip(sights) {
            let current = slot.current.load(Ordering::SeqCst);
            let epoch = slot.epoch.load(Ordering::Relaxed);
            if current == 0 || epoch != sight.epoch {
                *sight = Sight { epoch, ticks: 0 };
                continue;
            }
            sight.ticks += 1;
            slot.preempt.store(true, Ordering::Relaxed);
            if sight.ticks >= patience {
                self.stand_in(shared, pool, slot);
            }
            if sight.ticks * KEEPER_TICK_MS == SLOW_HANDLER_MS {
                self.report(pool, current);
            }
        }
    }

    fn stand_in(&self, shared: &Arc<Shared>, pool: &Pool, slot: &WorkerSlot) {
        if !pool.has_work() {
            return;
        }
        pool.mark_stuck(slot);
        pool.notify(shared);
    }

    fn report(&self, pool: &Pool, current: u64) {
        let slow = SlowHandler {
            pid: Pid::from_bits(current & !CURRENT_MARK),
            pool: pool.name.clone(),
            elapsed_ms: SLOW_HANDLER_MS,
        };
        let mut state = self.state.lock();
        if state.slow.len() >= SLOW_HANDLERS_KEPT {
            state.slow.pop_front();
        }
        state.slow.push_back(slow);
    }
}
