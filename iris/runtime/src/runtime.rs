//! The runtime: what all actors of one system share, how it is built, how it stops. Owns pools, slab, registry, clock and counters;
//! leaves each of them to its own file. Invariant: dropping the last `Runtime` ends every actor and joins every thread it
//! started (but its own), so any number of runtimes may live and die in one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::behaviour::{MonitorRef, Signal};
use crate::call::deadline;
use crate::cell::{AnyCell, quietly};
use crate::dead_letters::DeadLetters;
use crate::exit::ExitReason;
use crate::handle::Handle;
use crate::limits::{DROP_TIMEOUT_MS, KILL_GRACE_MS, POOLS_MAX};
use crate::metrics::Counters;
use crate::pid::Pid;
use crate::registry::Registry;
use crate::relations::More;
use crate::scheduler::keeper::Keeper;
use crate::scheduler::{Job, Pool, PoolOptions};
use crate::simulation::SimulationCore;
use crate::slab::Slab;
use crate::timer::{Action, TimerId};

/// Where time comes from.
pub(crate) enum Clock {
    Real(Instant),
    /// Milliseconds, moved by the simulation alone.
    Virtual(AtomicU64),
}

impl Clock {
    pub(crate) fn now_ms(&self) -> u64 {
        match self {
            Self::Real(begin) => begin.elapsed().as_millis() as u64,
            Self::Virtual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// The tick by which `delay` has surely passed.
    pub(crate) fn due(&self, delay: Duration) -> u64 {
        let begun = match self {
            Self::Real(begin) => begin.elapsed(),
            Self::Virtual(now) => Duration::from_millis(now.load(Ordering::SeqCst)),
        };
        let nanos = begun.saturating_add(delay).as_nanos();
        u64::try_from(nanos.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

pub(crate) struct Shared {
    pub(crate) slab: Slab,
    pub(crate) pools: Vec<Pool>,
    pub(crate) registry: Registry,
    pub(crate) keeper: Keeper,
    pub(crate) dead_letters: DeadLetters,
    pub(crate) counters: Counters,
    pub(crate) clock: Clock,
    pub(crate) simulation: Option<SimulationCore>,
    pub(crate) stopping: AtomicBool,
    /// Whether there has been a supervisor.
    pub(crate) supervised: AtomicBool,
    /// Whether turns are timed.
    pub(crate) timing: AtomicBool,
    monitors: AtomicU64,
    live: AtomicUsize,
    quiet: Mutex<()>,
    changed: Condvar,
    on_end: Option<OnEnd>,
    after_end: Option<OnEnd>,
}

/// Who is told of every end.
type OnEnd = Box<dyn Fn(Pid, &ExitReason) + Send + Sync>;

impl Shared {
    /// Tells the host how an actor ended, before anybody else can see that it did.
    pub(crate) fn tell_end(&self, pid: Pid, reason: &ExitReason) {
        if let Some(on_end) = &self.on_end {
            crate::cell::quietly(|| on_end(pid, reason));
        }
    }

    /// Tells the host when nobody waits for the actor any more.
    pub(crate) fn tell_ended(&self, pid: Pid, reason: &ExitReason) {
        if let Some(after_end) = &self.after_end {
            crate::cell::quietly(|| after_end(pid, reason));
        }
    }

    #[inline]
    pub(crate) fn schedule(self: &Arc<Self>, pool: u8, job: Job) {
        match &self.simulation {
            Some(simulation) => simulation.push(job),
            None => {
                if let Some(pool) = self.pools.get(pool as usize) {
                    pool.schedule(self, job);
                }
            }
        }
    }

    /// Makes the workers of a pool look at the mailboxes of what they run before they go on.
    pub(crate) fn preempt(&self, pool: u8) {
        match &self.simulation {
            Some(simulation) => simulation.preempt(),
            None => self.pools.get(pool as usize).into_iter().for_each(Pool::preempt),
        }
    }

    /// Messages that the runner of an actor has taken but not begun.
    pub(crate) fn in_hand(&self, pool: u8, pid: Pid) -> usize {
        match &self.simulation {
            Some(simulation) => simulation.in_hand(pid),
            None => self.pools.get(pool as usize).map_or(0, |pool| pool.in_hand(pid)),
        }
    }

    pub(crate) fn next_monitor(&self) -> MonitorRef {
        MonitorRef(self.monitors.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::SeqCst)
    }

    pub(crate) fn born(&self) {
        self.live.fetch_add(1, Ordering::SeqCst);
        self.counters.spawned.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self, reason: &ExitReason) {
        self.counters.count_exit(reason);
        if self.live.fetch_sub(1, Ordering::SeqCst) == 1 {
            drop(self.quiet.lock());
            self.changed.notify_all();
        }
    }

    /// Takes a dead actor out of the slab and the registry.
    pub(crate) fn forget(&self, pid: Pid, relations: Option<&More>) {
        self.slab.remove(pid);
        for name in relations.iter().flat_map(|relations| &relations.names) {
            self.registry.remove(name, pid);
        }
    }

    /// Tells parent, links, monitors and children of an end.
    pub(crate) fn announce(self: &Arc<Self>, pid: Pid, relations: More, reason: &ExitReason) {
        if let Some(parent) = relations.parent.and_then(|parent| self.slab.get(parent))
            && let Some(more) = parent.relations().lock().peek_mut()
        {
            more.children.remove(&pid);
        }
        for (monitor, watcher) in relations.monitors {
            if let Some(cell) = self.slab.get(watcher) {
                cell.deliver(Signal::Down { monitor, pid, reason: reason.clone() });
            }
        }
        for (_, watcher) in relations.watchers {
            quietly(|| watcher(reason));
        }
        for linked in relations.links {
            if let Some(cell) = self.slab.get(linked) {
                cell.exit_from(pid, reason.clone());
            }
        }
        for child in relations.children {
            if let Some(cell) = self.slab.get(child) {
                match reason {
                    ExitReason::Killed => cell.request_exit(ExitReason::Killed),
                    _ => cell.shutdown(ExitReason::Shutdown),
                }
            }
        }
    }

    pub(crate) fn timer(
        self: &Arc<Self>,
        delay: Duration,
        period: Option<Duration>,
        action: Action,
    ) -> TimerId {
        let due = self.clock.due(delay);
        let period = period.map(|period| (period.as_millis() as u64).max(1));
        self.keeper.insert(self, due, period, action)
    }

    pub(crate) fn cancel_timer(&self, id: TimerId) -> bool {
        self.keeper.cancel(id)
    }

    pub(crate) fn on_any_worker(&self) -> bool {
        self.pools.iter().any(Pool::on_worker)
    }

    /// Waits until no actor is left.
    pub(crate) fn wait_empty(&self, until: Option<Instant>) -> bool {
        let mut guard = self.quiet.lock();
        while self.live() > 0 {
            match until {
                Some(until) if Instant::now() >= until => return false,
                Some(until) => {
                    self.changed.wait_until(&mut guard, until);
                }
                None => self.changed.wait(&mut guard),
            }
        }
        true
    }

    /// No message waits and none is being handled. One that is handed on may always be where nobody looks just then, so there are two looks;
    /// in between nothing may have been handled.
    fn is_drained(&self) -> bool {
        let quiet = || self.pools.iter().all(Pool::is_quiet);
        quiet() && self.at_rest().is_some_and(|first| self.at_rest() == Some(first)) && quiet()
    }

    /// How many messages the actors alive have handled, how many actors were ever made and how many are alive, if all are at rest.
    fn at_rest(&self) -> Option<(u64, u64, usize)> {
        let handled =
            self.slab.all().iter().try_fold(0_u64, |sum, cell| Some(sum.wrapping_add(cell.at_rest()?)))?;
        Some((handled, self.counters.spawned.load(Ordering::SeqCst), self.live()))
    }

    pub(crate) fn shut_down(self: &Arc<Self>) {
        self.stopping.store(true, Ordering::SeqCst);
        let supervised = self.supervised.load(Ordering::SeqCst);
        for cell in self.slab.all() {
            // A supervisor ends its children itself, one after the other.
            if !(supervised && self.has_supervisor(&*cell)) {
                cell.shutdown_next(ExitReason::Shutdown);
            }
        }
    }

    fn has_supervisor(&self, cell: &dyn AnyCell) -> bool {
        let parent = cell.relations().lock().parent();
        parent.and_then(|parent| self.slab.get(parent)).is_some_and(|parent| parent.is_supervisor())
    }

    /// Waits until no actor is left; those that have not ended by then are killed and get a short last wait.
    fn end_all(&self, timeout: Duration) -> bool {
        if self.wait_empty(deadline(timeout)) {
            return true;
        }
        for cell in self.slab.all() {
            cell.request_exit(ExitReason::Killed);
        }
        self.wait_empty(deadline(Duration::from_millis(KILL_GRACE_MS)));
        false
    }

    /// Messages that wait in all mailboxes, or with their runners.
    fn waiting(&self) -> u64 {
        self.slab.all().iter().map(|cell| cell.snapshot().mailbox as u64).sum()
    }

    fn close_threads(&self, timeout: Duration) {
        let keeper = self.keeper.close();
        self.pools.iter().for_each(Pool::close);
        let own = std::thread::current().id();
        let threads = self.pools.iter().flat_map(Pool::take_threads).chain(keeper);
        let until = deadline(timeout);
        let in_time = || until.is_none_or(|until| Instant::now() < until);
        for thread in threads.filter(|thread| thread.thread().id() != own) {
            // A thread that is stuck in a handler is left to itself: it ends when the handler returns.
            while !thread.is_finished() && in_time() {
                std::thread::sleep(Duration::from_micros(50));
            }
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
        self.pools.iter().for_each(Pool::clear);
    }
}

/// How `stop` went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopReport {
    /// Whether every actor ended in time.
    pub complete: bool,
    /// Whether every message was handled before actors were ended (always false without a drain).
    pub drained: bool,
    /// Messages that were accepted and then dropped during the stop.
    pub dropped: u64,
    /// Actors that were alive when the stop began.
    pub actors: usize,
}

/// Builds a runtime.
#[derive(Default)]
pub struct Builder {
    pools: Vec<PoolOptions>,
    workers: Option<usize>,
    simulation: Option<u64>,
    on_end: Option<OnEnd>,
    after_end: Option<OnEnd>,
}

impl Builder {
    /// Workers of the default pool (the number of processors unless set).
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers.max(1));
        self
    }

    /// Adds a pool; the first one added is number 1, the default pool being 0.
    #[must_use]
    pub fn pool(mut self, options: PoolOptions) -> Self {
        self.pools.push(options);
        self
    }

    /// Calls `told` with the reason of every end, however it came about (a killed actor's behaviour is not told of its own), on the thread
    /// that ends the actor and before its pid is nobody's: it must neither block nor take long.
    #[must_use]
    pub fn on_end(mut self, told: impl Fn(Pid, &ExitReason) + Send + Sync + 'static) -> Self {
        self.on_end = Some(Box::new(told));
        self
    }

    /// Calls `told` on the same thread once the mailbox is closed and everybody has been told: what takes long, or is the program's own code,
    /// delays only what that thread does next.
    #[must_use]
    pub fn after_end(mut self, told: impl Fn(Pid, &ExitReason) + Send + Sync + 'static) -> Self {
        self.after_end = Some(Box::new(told));
        self
    }

    /// No threads, a virtual clock, and a scheduler that draws from this seed.
    #[must_use]
    pub(crate) fn simulated(mut self, seed: u64) -> Self {
        self.simulation = Some(seed);
        self
    }

    /// Makes the runtime. Threads start with the first actor and when they are needed.
    #[must_use]
    pub fn build(self) -> Runtime {
        let workers =
            self.workers.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
        let default = PoolOptions::new("default", workers);
        let pools = std::iter::once(default).chain(self.pools).take(POOLS_MAX);
        let simulated = self.simulation.is_some();
        let shared = Arc::new(Shared {
            slab: Slab::new(),
            pools: pools.enumerate().map(|(index, options)| Pool::new(index as u8, options)).collect(),
            registry: Registry::default(),
            keeper: Keeper::new(!simulated),
            dead_letters: DeadLetters::default(),
            counters: Counters::default(),
            clock: if simulated { Clock::Virtual(AtomicU64::new(0)) } else { Clock::Real(Instant::now()) },
            simulation: self.simulation.map(SimulationCore::new),
            stopping: AtomicBool::new(false),
            supervised: AtomicBool::new(false),
            timing: AtomicBool::new(false),
            monitors: AtomicU64::new(0),
            live: AtomicUsize::new(0),
            quiet: Mutex::new(()),
            changed: Condvar::new(),
            on_end: self.on_end,
            after_end: self.after_end,
        });
        Runtime { handle: Handle::new(shared) }
    }
}

/// An actor system. Dropping it stops it.
pub struct Runtime {
    handle: Handle,
}

impl Runtime {
    /// A runtime with one default pool.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Options before making one.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A handle that may be cloned into other threads; it does not keep the runtime from stopping.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Ends all actors and joins all threads, as dropping does; nothing can be spawned afterwards.
    pub fn close(&self) {
        self.close_within(Duration::from_millis(DROP_TIMEOUT_MS));
    }

    /// The same with a time for the actors to end, and again for the threads. A thread whose handler never returns is left behind.
    pub fn close_within(&self, timeout: Duration) {
        let shared = self.handle.shared();
        shared.shut_down();
        if shared.simulation.is_none() && !shared.on_any_worker() {
            shared.end_all(timeout);
        }
        shared.close_threads(timeout);
        if let Some(simulation) = &shared.simulation {
            simulation.finish(shared);
        }
    }

    /// Ends all actors. With a `drain` time, first waits so long for all messages to be handled.
    pub fn stop(&self, drain: Option<Duration>, timeout: Duration) -> StopReport {
        self.handle.stop(drain, timeout)
    }
}

impl Default for Runtime {
    fn default() -> Self {
        Self::new()
    }
}

impl std::ops::Deref for Runtime {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.close();
    }
}

impl Handle {
    /// See [`Runtime::stop`]. From inside an actor it only asks the actors to end, because waiting there would wait for itself.
    pub fn stop(&self, drain: Option<Duration>, timeout: Duration) -> StopReport {
        let shared = self.shared();
        let actors = shared.live();
        let before = shared.dead_letters.total();
        let inside = shared.on_any_worker() || shared.simulation.is_some();
        let mut drained = false;
        if let (Some(drain), false) = (drain, inside) {
            drained = self.wait_drained(drain);
        }
        shared.shut_down();
        let complete = !inside && shared.end_all(timeout);
        // Handlers that never return still have what their runner took for them; nobody will handle it.
        let in_hand = if complete || inside { 0 } else { shared.waiting() };
        StopReport { complete, drained, dropped: shared.dead_letters.total() - before + in_hand, actors }
    }

    /// Waits until all messages are handled and nobody runs; false after the time-out, and at once inside an actor.
    #[must_use]
    pub fn wait_drained(&self, timeout: Duration) -> bool {
        let shared = self.shared();
        if shared.on_any_worker() || shared.simulation.is_some() {
            return false;
        }
        let until = deadline(timeout);
        let mut pause = Duration::from_micros(50);
        while !shared.is_drained() {
            if until.is_some_and(|until| Instant::now() >= until) {
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        true
    }

    /// Waits until no actor is left.
    pub fn join(&self, timeout: Option<Duration>) -> bool {
        self.shared().wait_empty(timeout.and_then(deadline))
    }
}
