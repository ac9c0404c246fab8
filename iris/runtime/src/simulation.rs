//! Seeded simulation: the whole runtime on one thread, with a virtual clock and a scheduler that draws from a seed.
//! Owns the order in which jobs run, the budget of each turn and the trace. Invariant: the same seed and the same program
//! give the same trace; nothing here reads the real clock, an address or a random hash. Leaves actors as they are: the same cells,
//! mailboxes and supervisors run here and in production.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::handle::Handle;
use crate::pid::Pid;
use crate::runtime::{Clock, Runtime, Shared};
use crate::scheduler::{Job, Slice};

/// A small, well-known generator (SplitMix64): statistical quality is enough here and it has no state but one word.
pub(crate) struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

struct State {
    ready: Vec<Job>,
    draw: Draw,
    trace: Vec<Step>,
    digest: u64,
}

/// One step of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A job ran: its pid, the messages it handled.
    Turn {
        /// The pid's bits.
        pid: u64,
        /// Messages handled.
        handled: u32,
    },
    /// Time moved on and timers fired.
    Clock {
        /// The new time.
        now_ms: u64,
        /// Timers that fired.
        fired: usize,
    },
}

pub(crate) struct SimulationCore {
    state: Mutex<State>,
    preempt: AtomicBool,
    /// Whose turn it is, and the messages of that actor that were taken but not begun.
    current: AtomicU64,
    in_hand: AtomicU32,
}

impl SimulationCore {
    pub(crate) fn new(seed: u64) -> Self {
        let state =
            State { ready: Vec::new(), draw: Draw(seed), trace: Vec::new(), digest: 0xcbf2_9ce4_8422_2325 };
        Self {
            state: Mutex::new(state),
            preempt: AtomicBool::new(false),
            current: AtomicU64::new(0),
            in_hand: AtomicU32::new(0),
        }
    }

    pub(crate) fn push(&self, job: Job) {
        self.state.lock().ready.push(job);
    }

    /// See `Shared::preempt`.
    pub(crate) fn preempt(&self) {
        self.preempt.store(true, Ordering::Relaxed);
    }

    /// See `Shared::in_hand`.
    pub(crate) fn in_hand(&self, pid: Pid) -> usize {
        let runs = self.current.load(Ordering::Relaxed) == pid.to_bits();
        if runs { self.in_hand.load(Ordering::Relaxed) as usize } else { 0 }
    }

    fn record(&self, step: Step) {
        let mut state = self.state.lock();
        let words = match step {
            Step::Turn { pid, handled } => [1, pid, u64::from(handled)],
            Step::Clock { now_ms, fired } => [2, now_ms, fired as u64],
        };
        for word in words {
            state.digest = (state.digest ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(17);
        }
        state.trace.push(step);
    }

    /// Runs one drawn job with a drawn budget.
    fn turn(&self) -> bool {
        let mut state = self.state.lock();
        if state.ready.is_empty() {
            return false;
        }
        let ready = state.ready.len();
        let at = state.draw.below(ready);
        let budget = 1 + state.draw.below(8) as u32;
        let job = state.ready.swap_remove(at);
        drop(state);
        let pid = job.id();
        self.preempt.store(false, Ordering::Relaxed);
        self.current.store(pid, Ordering::Relaxed);
        let (preempt, in_hand) = (&self.preempt, &self.in_hand);
        let handled = job.run(&Slice { preempt, in_hand, budget_max: budget, pace: u32::MAX, others: None });
        self.record(Step::Turn { pid, handled });
        true
    }

    /// Lets actors end when the runtime is dropped.
    pub(crate) fn finish(&self, _shared: &Arc<Shared>) {
        while self.turn() {}
    }
}

/// A runtime whose every choice comes from a seed.
pub struct Simulation {
    runtime: Runtime,
}

impl Simulation {
    /// A fresh system for the seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { runtime: Runtime::builder().simulated(seed).build() }
    }

    /// The runtime, to spawn and send.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    fn core(&self) -> Option<&SimulationCore> {
        self.handle().shared().simulation.as_ref()
    }

    /// A number below `limit` from the same seed, for the test's own choices.
    pub fn draw(&self, limit: usize) -> usize {
        self.core().map_or(0, |core| core.state.lock().draw.below(limit))
    }

    /// One step: a turn if something is ready, otherwise the next timer. False if nothing is left to do.
    pub fn step(&self) -> bool {
        let Some(core) = self.core() else { return false };
        core.turn() || self.next_timer(core)
    }

    fn next_timer(&self, core: &SimulationCore) -> bool {
        let shared = self.handle().shared();
        let Some(due) = shared.keeper.next_due() else { return false };
        self.set_clock(core, due);
        true
    }

    fn set_clock(&self, core: &SimulationCore, to: u64) {
        let shared = self.handle().shared();
        if let Clock::Virtual(now) = &shared.clock {
            now.store(to, Ordering::SeqCst);
        }
        let fired = shared.keeper.advance(to);
        core.record(Step::Clock { now_ms: to, fired });
    }

    /// Runs until nothing is left to do, at most `steps_max` steps. Returns whether it came to rest.
    pub fn run(&self, steps_max: usize) -> bool {
        (0..steps_max).any(|_| !self.step())
    }

    /// Runs until nothing is ready, without moving the clock.
    pub fn settle(&self, steps_max: usize) -> bool {
        (0..steps_max).any(|_| !self.core().is_some_and(SimulationCore::turn))
    }

    /// What happened so far.
    #[must_use]
    pub fn trace(&self) -> Vec<Step> {
        self.core().map(|core| core.state.lock().trace.clone()).unwrap_or_default()
    }

    /// A digest of the trace.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.core().map_or(0, |core| core.state.lock().digest)
    }
}
