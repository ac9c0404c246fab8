//! The keeper: one thread per runtime for time. Owns the timer wheel's waking and the watch over workers: a turn that lasts longer
//! than a tick is asked to yield, one that lasts two ticks gets a stand-in, one that lasts `SLOW_HANDLER_MS` is reported. A single tick
//! is enough where no worker of the pool gets on. No stand-in gets a worker that is ready to run and does not because other programs have
//! its processor; what it leaves is given to workers that are there. And ticks are shorter for a while after a stand-in was called: handlers that block
//! often come together, and what waits behind them waits for one stand-in after the other.
//! Invariant: it sleeps for good while no worker is awake and no timer is set. Leaves the firing order to `timer`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::Pool;
use super::os_thread::is_displaced;
use super::worker::CURRENT_MARK;
use crate::cell::quietly;
use crate::limits::{
    INTERRUPT_MS, INTERRUPTS_MAX, KEEPER_ALERT_TICKS, KEEPER_LINGER_TICKS, KEEPER_TICK_ALERT_MS,
    KEEPER_TICK_MS, SLOW_HANDLER_MS, SLOW_HANDLERS_KEPT,
};
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
    /// Until when the thread sleeps; 0 while it does not, because then it is going to look.
    asleep_until: u64,
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
    /// Looks that found the same turn as the one before.
    ticks: u32,
    since_ms: u64,
    reported: bool,
    /// What the thread had run when the same turn was found a second time.
    ran_ns: Option<u64>,
    /// Since when its actor has been seen to be killed, and how often its handler was interrupted.
    killed_ms: Option<u64>,
    interrupts: u32,
}

/// What the keeper thread remembers between two ticks.
struct Round {
    sights: Vec<Vec<Sight>>,
    now_ms: u64,
    /// Ticks left until it may rest, and until its ticks are long again.
    linger: u32,
    alert: u32,
}

impl Keeper {
    pub(crate) fn new(threaded: bool) -> Self {
        let state = State {
            wheel: Wheel::new(),
            closed: false,
            thread: None,
            started: false,
            slow: VecDeque::new(),
            asleep_until: 0,
        };
        Self { state: Mutex::new(state), wake: Condvar::new(), resting: AtomicBool::new(true), threaded }
    }

    /// A worker is awake: look after it.
    pub(crate) fn attend(&self, shared: &Arc<Shared>) {
        // Dekker's pattern with `pause`: the worker is counted as awake before this look, and the keeper looks for workers after its store.
        if self.resting.load(Ordering::SeqCst) && self.resting.swap(false, Ordering::SeqCst) {
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
        // Only who would oversleep is woken: a request whose time-out is far off costs no wake-up.
        let oversleeps = due < state.asleep_until;
        drop(state);
        if oversleeps {
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
        let fired = due.len();
        for action in due {
            // User code, and its destructors: the thread that all timers and stand-ins depend on outlives a panic in it.
            quietly(move || {
                action();
            });
        }
        fired
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
        let sights = shared.pools.iter().map(|pool| vec![Sight::default(); pool.slots.len()]).collect();
        let mut round = Round { sights, now_ms: 0, linger: 0, alert: 0 };
        loop {
            round.now_ms = shared.clock.now_ms();
            self.advance(round.now_ms);
            let awake = shared.pools.iter().any(Pool::awake);
            round.linger = if awake { KEEPER_LINGER_TICKS } else { round.linger.saturating_sub(1) };
            round.alert = round.alert.saturating_sub(1);
            if round.linger > 0 {
                self.look(shared, &mut round);
            }
            let tick = if round.alert > 0 { KEEPER_TICK_ALERT_MS } else { KEEPER_TICK_MS };
            if !self.pause(shared, (round.linger > 0).then_some(tick)) {
                return;
            }
        }
    }

    fn look(&self, shared: &Arc<Shared>, round: &mut Round) {
        for (pool, sights) in shared.pools.iter().zip(&mut round.sights) {
            pool.tick.fetch_add(1, Ordering::Relaxed);
            if self.watch(shared, pool, sights, round.now_ms) {
                round.alert = KEEPER_ALERT_TICKS;
            }
        }
    }

    /// Sleeps until the next tick, if there is one, or timer. Returns false when the runtime is over.
    fn pause(&self, shared: &Arc<Shared>, tick: Option<u64>) -> bool {
        let mut state = self.state.lock();
        if state.closed {
            return false;
        }
        let now = shared.clock.now_ms();
        let timer = state.wheel.next_due().map(|due| due.saturating_sub(now).max(1));
        let sleep = match (tick, timer) {
            (Some(tick), Some(timer)) => Some(timer.min(tick)),
            (tick, timer) => tick.or(timer),
        };
        if tick.is_none() {
            self.resting.store(true, Ordering::SeqCst);
            // A worker that woke before the store did not see it; look once more.
            if shared.pools.iter().any(Pool::awake) {
                self.resting.store(false, Ordering::SeqCst);
                return true;
            }
        }
        state.asleep_until = sleep.map_or(u64::MAX, |ms| now.saturating_add(ms));
        match sleep {
            Some(ms) => {
                self.wake.wait_for(&mut state, Duration::from_millis(ms));
            }
            None => self.wake.wait(&mut state),
        }
        state.asleep_until = 0;
        self.resting.store(false, Ordering::SeqCst);
        !state.closed
    }

    /// Looks at the workers of a pool. Returns whether a stand-in was called.
    fn watch(&self, shared: &Arc<Shared>, pool: &Pool, sights: &mut [Sight], now_ms: u64) -> bool {
        let slots = || pool.slots.iter().map_while(|slot| slot.get());
        let mut held_up = 0;
        for (at, (slot, sight)) in slots().zip(&mut *sights).enumerate() {
            let current = slot.current.load(Ordering::SeqCst);
            let epoch = slot.epoch.load(Ordering::Relaxed);
            if current == 0 {
                // It may have been marked in the moment when it came back, and lain down since.
                pool.clear_stuck(slot);
            }
            if current == 0 || epoch != sight.epoch {
                slot.displaced.store(false, Ordering::Relaxed);
                *sight = Sight { epoch, since_ms: now_ms, ..Sight::default() };
                continue;
            }
            sight.ticks = sight.ticks.saturating_add(1);
            held_up += usize::from(!slot.stuck.load(Ordering::Relaxed));
            slot.preempt.store(true, Ordering::Relaxed);
            if now_ms - sight.since_ms >= SLOW_HANDLER_MS && !std::mem::replace(&mut sight.reported, true) {
                self.note_slow(Pid::from_bits(current & !CURRENT_MARK), &pool.name, now_ms - sight.since_ms);
            }
            end_killed(shared, pool, at, (current, epoch), sight, now_ms);
        }
        let nobody_gets_on = pool.watch.active() <= held_up;
        let patience = if nobody_gets_on || pool.watch.any_stuck() { 1 } else { 2 };
        if held_up == 0 && !pool.watch.any_stuck() || !pool.has_work() {
            return false;
        }
        let mut called = false;
        for (slot, sight) in slots().zip(sights).filter(|(_, sight)| sight.ticks > 0) {
            let displaced =
                !slot.stuck.load(Ordering::Relaxed) && is_displaced(&mut sight.ran_ns, slot.thread.look());
            if sight.ticks < patience {
                continue;
            }
            if displaced {
                slot.displaced.store(true, Ordering::Relaxed);
            } else {
                called |= pool.mark_stuck(slot);
            }
            pool.notify(shared);
        }
        called
    }

    /// Keeps a report of a handler that keeps its thread for long.
    pub(crate) fn note_slow(&self, pid: Pid, pool: &str, elapsed_ms: u64) {
        let slow = SlowHandler { pid, pool: pool.to_owned(), elapsed_ms };
        let mut state = self.state.lock();
        if state.slow.len() >= SLOW_HANDLERS_KEPT {
            state.slow.pop_front();
        }
        state.slow.push_back(slow);
    }
}

/// A killed actor whose handler goes on is interrupted, again and again; then it is given up: it ends, and the thread is left to its handler.
/// `turn` is the worker's actor and epoch.
fn end_killed(
    shared: &Arc<Shared>,
    pool: &Pool,
    at: usize,
    turn: (u64, u32),
    sight: &mut Sight,
    now_ms: u64,
) {
    let (current, epoch) = turn;
    let pid = Pid::from_bits(current & !CURRENT_MARK);
    let due = sight.killed_ms.map_or(now_ms, |begun| begun + INTERRUPT_MS * u64::from(sight.interrupts + 1));
    if now_ms < due || sight.interrupts > INTERRUPTS_MAX {
        return;
    }
    let Some(cell) = shared.slab.get(pid).filter(|cell| cell.is_killed()) else { return };
    if sight.killed_ms.is_none() {
        sight.killed_ms = Some(now_ms);
        return;
    }
    sight.interrupts += 1;
    if sight.interrupts > INTERRUPTS_MAX {
        cell.give_up();
        return;
    }
    // On a thread of its own: the host may have to wait for the very handler, and the keeper waits for nobody.
    let (shared, pool_id, host) = (shared.clone(), pool.index, pool.host.clone());
    let interrupt = move || {
        let Some(slot) = shared.pools.get(pool_id as usize).and_then(|pool| pool.slots[at].get()) else {
            return;
        };
        let Some(thread) = slot.thread_id.get() else { return };
        host.interrupt(*thread, &|| {
            let same =
                slot.current.load(Ordering::SeqCst) == current && slot.epoch.load(Ordering::SeqCst) == epoch;
            slot.interrupted.store(same || slot.interrupted.load(Ordering::SeqCst), Ordering::SeqCst);
            same
        });
    };
    // Without a thread it is tried again at the next look that is due.
    let _ = std::thread::Builder::new().name("iris-interrupt".to_owned()).spawn(interrupt);
}
