//! The scheduler: pools of workers over work-stealing deques. Owns run queues, sleeping and waking, and stand-ins for
//! workers whose handler blocks. Leaves what a job is to `cell` and `task`, time to `keeper`.
//!
//! Whether somebody has to be woken is `watch`'s decision; its header has the argument.
//! A job that a worker pushes while its own queue is empty wakes nobody, because that worker takes it next; if its handler does
//! not return, the keeper notices within a tick or two and wakes another worker for it. Nor is such a job stolen before that: two
//! workers that took a ping-pong's ball from one another at every stroke would make it several times slower.

mod injector;
pub(crate) mod keeper;
mod os_thread;
pub(crate) mod task;
mod watch;
mod worker;

use std::cell::{Cell as StdCell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, ThreadId};
use std::time::Instant;

use crossbeam_deque::{Stealer, Worker as Deque};
use parking_lot::{Condvar, Mutex};

use crate::limits::{EARLY_WORKERS, SPARE_WORKERS_MAX, WAITING_WORKERS_MAX};
use crate::pid::Pid;
use crate::runtime::Shared;
use injector::Injector;
use os_thread::OsThread;
use watch::{Call, Watch};

/// Something that waits for a worker: a cell, or a future.
pub(crate) trait Runnable: Send + Sync {
    /// Runs one turn; returns the number of messages handled.
    fn run(self: Arc<Self>, slice: &Slice<'_>) -> u32;
    /// Who it is, for the watchdog (a pid's bits, or 0).
    fn id(&self) -> u64;
}

pub(crate) type Job = Arc<dyn Runnable>;

/// What a turn may use of its worker.
pub(crate) struct Slice<'a> {
    pub(crate) preempt: &'a AtomicBool,
    /// Where the runner says how many messages it has taken but not begun.
    pub(crate) in_hand: &'a AtomicU32,
    pub(crate) budget_max: u32,
    /// Messages after which it makes way for others, unless more than these have waited since the last turn.
    pub(crate) pace: u32,
    /// Where others would wait for this worker, and until when it may go on while there are none.
    pub(crate) others: Option<Others<'a>>,
}

/// The queues that a worker takes its next job from.
#[derive(Clone, Copy)]
pub(crate) struct Others<'a> {
    own: &'a Deque<Job>,
    shared: &'a Injector,
    until: Instant,
}

impl Others<'_> {
    fn none(&self) -> bool {
        self.own.is_empty() && self.shared.is_empty()
    }
}

impl Slice<'_> {
    /// Whether a turn whose budget is spent may go on with another, because nobody waits: to queue the actor again and begin its next
    /// turn would cost a flood two more locks and a copy of what has come meanwhile.
    pub(crate) fn goes_on(&self) -> bool {
        self.others.is_some_and(|others| others.none() && Instant::now() < others.until)
    }

    pub(crate) fn preempted(&self) -> bool {
        self.preempt.load(Ordering::Relaxed)
    }
}

/// What surrounds the work of a pool's threads. The Python crate keeps its thread state and the GIL here.
pub trait Host: Send + Sync + 'static {
    /// Runs the whole life of a worker thread.
    fn thread(&self, body: &mut dyn FnMut()) {
        body();
    }

    /// Runs one slice of work (about a millisecond at most, unless a handler overstays).
    fn hold(&self, body: &mut dyn FnMut()) {
        body();
    }

    /// Makes a worker thread end the handler that it runs, because its actor was killed, if the host can. It calls `still` where that
    /// thread cannot go on meanwhile, and does nothing if it says no.
    fn interrupt(&self, _thread: ThreadId, _still: &dyn Fn() -> bool) {}

    /// Called on a worker thread (within `hold`) that was interrupted, after the turn: what has not come through is taken back.
    fn uninterrupt(&self) {}
}

/// The host of plain Rust pools: nothing around the work.
#[derive(Debug, Default)]
pub struct PlainHost;

impl Host for PlainHost {}

/// How a pool is made.
pub struct PoolOptions {
    /// Name, used for its threads and in metrics.
    pub name: String,
    /// Workers that run at the same time, stand-ins for blocked ones aside.
    pub workers: usize,
    /// Stand-ins that may be started when handlers block.
    pub spares: usize,
    /// What surrounds the work.
    pub host: Arc<dyn Host>,
}

impl PoolOptions {
    /// A pool of plain Rust workers.
    pub fn new(name: impl Into<String>, workers: usize) -> Self {
        Self {
            name: name.into(),
            workers: workers.max(1),
            spares: SPARE_WORKERS_MAX,
            host: Arc::new(PlainHost),
        }
    }
}

#[derive(Default)]
struct Parker {
    token: Mutex<bool>,
    signal: Condvar,
}

impl Parker {
    fn park(&self) {
        let mut token = self.token.lock();
        while !*token {
            self.signal.wait(&mut token);
        }
        *token = false;
    }

    fn unpark(&self) {
        *self.token.lock() = true;
        self.signal.notify_one();
    }
}

/// What others may see of a worker.
pub(crate) struct WorkerSlot {
    stealer: Stealer<Job>,
    parker: Parker,
    /// Counts turns; the keeper compares it between ticks.
    epoch: AtomicU32,
    /// Whom the worker runs, or 0.
    current: AtomicU64,
    /// Messages of that actor that it has taken but not begun.
    in_hand: AtomicU32,
    preempt: AtomicBool,
    /// Set by the keeper (or by a blocking send) while somebody stands in for this worker.
    stuck: AtomicBool,
    /// Set by the keeper while another program has the worker's processor.
    displaced: AtomicBool,
    /// The host was asked to end the handler that it runs.
    interrupted: AtomicBool,
    thread: OsThread,
    thread_id: OnceLock<ThreadId>,
}

impl WorkerSlot {
    fn new(deque: &Deque<Job>) -> Self {
        Self {
            stealer: deque.stealer(),
            parker: Parker::default(),
            epoch: AtomicU32::new(0),
            current: AtomicU64::new(0),
            in_hand: AtomicU32::new(0),
            preempt: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            displaced: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            thread: OsThread::default(),
            thread_id: OnceLock::new(),
        }
    }

    /// A lone job is left to its owner, who takes it next, unless the owner does not get on.
    fn is_stealable(&self) -> bool {
        match self.stealer.len() {
            0 => false,
            1 => self.stuck.load(Ordering::SeqCst) || self.displaced.load(Ordering::Relaxed),
            _ => true,
        }
    }
}

pub(crate) struct Pool {
    pub(crate) name: String,
    key: u64,
    index: u8,
    watch: Watch,
    /// Threads that may be started, beside one for each that waits; the slots are the upper end.
    threads_max: AtomicUsize,
    host: Arc<dyn Host>,
    injector: Injector,
    /// Boxed: most are never used.
    slots: Box<[OnceLock<Box<WorkerSlot>>]>,
    /// Workers that wait for other actors in iris' own ways: for each of them there may be a thread more.
    waiting: AtomicUsize,
    started: AtomicUsize,
    /// Moved on by the keeper: a clock that costs its readers nothing.
    tick: AtomicU32,
    closing: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// A worker waits for other actors, until this is dropped. Inside another one it is nothing.
struct Waits<'a> {
    pool: &'a Pool,
    slot: &'a WorkerSlot,
    fresh: bool,
}

impl<'a> Waits<'a> {
    fn begin(pool: &'a Pool, slot: &'a WorkerSlot) -> Self {
        let fresh = pool.mark_stuck(slot);
        if fresh {
            pool.waiting.fetch_add(1, Ordering::SeqCst);
        }
        Self { pool, slot, fresh }
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if self.fresh {
            self.pool.waiting.fetch_sub(1, Ordering::SeqCst);
            self.pool.clear_stuck(self.slot);
        }
    }
}

/// A worker's own half, reachable from code that runs on it.
struct Local {
    key: u64,
    id: usize,
    deque: Deque<Job>,
}

thread_local! {
    static LOCAL: RefCell<Option<Rc<Local>>> = const { RefCell::new(None) };
    /// The key of the pool that `LOCAL` belongs to, or 0: who is no worker finds out without looking there.
    static WORKER_OF: StdCell<u64> = const { StdCell::new(0) };
}

static NEXT_KEY: AtomicU64 = AtomicU64::new(1);

impl Pool {
    pub(crate) fn new(index: u8, options: PoolOptions) -> Self {
        let threads_max = options.workers + options.spares;
        // A pool without spares has as many threads as it says, whatever they do.
        let slots = threads_max + if options.spares == 0 { 0 } else { WAITING_WORKERS_MAX };
        Self {
            name: options.name,
            key: NEXT_KEY.fetch_add(1, Ordering::Relaxed),
            index,
            watch: Watch::new(options.workers),
            threads_max: AtomicUsize::new(threads_max),
            waiting: AtomicUsize::new(0),
            host: options.host,
            injector: Injector::new(),
            slots: (0..slots).map(|_| OnceLock::new()).collect(),
            started: AtomicUsize::new(0),
            tick: AtomicU32::new(0),
            closing: AtomicBool::new(false),
            threads: Mutex::new(Vec::new()),
        }
    }

    /// Puts a job on the run queue.
    #[inline]
    pub(crate) fn schedule(&self, shared: &Arc<Shared>, job: Job) {
        if WORKER_OF.get() != self.key {
            self.injector.push(job);
            return self.notify(shared);
        }
        let alone = LOCAL.with_borrow(|local| {
            local.as_ref().is_some_and(|local| {
                let alone = local.deque.is_empty();
                local.deque.push(job);
                alone
            })
        });
        if !alone {
            self.notify(shared);
        }
    }

    /// Makes sure that somebody will look at the queues.
    #[inline]
    fn notify(&self, shared: &Arc<Shared>) {
        match self.watch.call() {
            Call::Nobody => {}
            Call::Sleeper(id) => {
                if let Some(slot) = self.slots[id].get() {
                    slot.parker.unpark();
                }
            }
            Call::NewWorker => self.start_worker(shared),
        }
    }

    fn threads_max(&self) -> usize {
        let waiting = self.waiting.load(Ordering::SeqCst);
        self.slots.len().min(self.threads_max.load(Ordering::Relaxed) + waiting)
    }

    /// See `Handle::set_pool_limits`.
    pub(crate) fn set_limits(&self, workers: usize, threads_max: usize) {
        let threads_max = threads_max.clamp(1, self.slots.len());
        self.threads_max.store(threads_max, Ordering::Relaxed);
        self.watch.set_base(workers.clamp(1, threads_max));
    }

    /// Starts the first workers of the default pool, if there are none: who makes an actor is going to send to it, and to start a thread
    /// takes longer than to wake one. Pools with a host of their own may have a reason to begin later.
    pub(crate) fn warm_up(&self, shared: &Arc<Shared>) {
        if self.index != 0 || self.started.load(Ordering::Relaxed) > 0 {
            return;
        }
        let early = EARLY_WORKERS.min(self.watch.base());
        (0..early).for_each(|_| self.start_worker_below(shared, early));
    }

    fn start_worker(&self, shared: &Arc<Shared>) {
        self.start_worker_below(shared, self.threads_max());
    }

    fn start_worker_below(&self, shared: &Arc<Shared>, limit: usize) {
        let claimed = self.started.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |started| {
            (started < limit).then_some(started + 1)
        });
        let Ok(id) = claimed else { return };
        let deque = Deque::new_fifo();
        let _ = self.slots[id].set(Box::new(WorkerSlot::new(&deque)));
        self.watch.joined();
        let (shared, index) = (shared.clone(), self.index);
        let thread = std::thread::Builder::new().name(format!("iris-{}-{id}", self.name));
        match thread.spawn(move || worker::main(&shared, index, id, deque)) {
            Ok(handle) => self.threads.lock().push(handle),
            Err(_) => {
                // The system refuses threads: the workers that there are go on; the next push tries again with a new slot.
                self.watch.left(true);
            }
        }
    }

    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.running_slots().any(|slot| !slot.stealer.is_empty())
    }

    /// No worker is awake and nothing waits. A worker lowers `running` only after it found every queue empty.
    pub(crate) fn is_quiet(&self) -> bool {
        self.watch.running() == 0 && !self.has_work()
    }

    pub(crate) fn awake(&self) -> bool {
        self.watch.running() > 0
    }

    pub(crate) fn threads_started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    /// Whether there is something that any worker may take.
    fn has_stealable(&self) -> bool {
        !self.injector.is_empty() || self.running_slots().any(|slot| self.may_steal(slot))
    }

    /// At the end the keeper is gone, so nobody tells who is stuck, and everything may be taken.
    fn may_steal(&self, slot: &WorkerSlot) -> bool {
        slot.is_stealable() || self.closing.load(Ordering::Relaxed)
    }

    fn steal(&self, own: usize) -> Option<Job> {
        let count = self.started.load(Ordering::Relaxed).min(self.slots.len());
        for offset in 1..count {
            let victim = self.slots[(own + offset) % count].get();
            let Some(slot) = victim.filter(|slot| self.may_steal(slot)) else { continue };
            if let Some(job) = worker::until_settled(|| slot.stealer.steal()) {
                return Some(job);
            }
        }
        None
    }

    /// Marks a worker as stuck, so that a stand-in may take its place.
    fn mark_stuck(&self, slot: &WorkerSlot) -> bool {
        let fresh = !slot.stuck.swap(true, Ordering::SeqCst);
        if fresh {
            self.watch.add_stuck();
        }
        fresh
    }

    fn clear_stuck(&self, slot: &WorkerSlot) {
        if slot.stuck.load(Ordering::Relaxed) && slot.stuck.swap(false, Ordering::SeqCst) {
            self.watch.remove_stuck();
        }
    }

    /// Those of the workers that have been started. One that is being started may lie between two that run, and has no slot yet.
    fn running_slots(&self) -> impl Iterator<Item = &WorkerSlot> {
        let started = self.started.load(Ordering::SeqCst).min(self.slots.len());
        self.slots[..started].iter().filter_map(|slot| slot.get().map(|slot| &**slot))
    }

    /// Makes the workers look at the mailboxes of what they run before the next message.
    pub(crate) fn preempt(&self) {
        self.running_slots().for_each(|slot| slot.preempt.store(true, Ordering::Relaxed));
    }

    /// See `Shared::in_hand`.
    pub(crate) fn in_hand(&self, pid: Pid) -> usize {
        let marked = pid.to_bits() | worker::CURRENT_MARK;
        let runner = self.running_slots().find(|slot| slot.current.load(Ordering::Relaxed) == marked);
        runner.map_or(0, |slot| slot.in_hand.load(Ordering::Relaxed) as usize)
    }

    /// Whether the calling thread is one of this pool's workers.
    pub(crate) fn on_worker(&self) -> bool {
        LOCAL.with_borrow(|local| local.as_ref().is_some_and(|local| local.key == self.key))
    }

    /// Whether a stand-in can take over while one more worker blocks.
    pub(crate) fn can_block(&self) -> bool {
        self.watch.any_asleep() || self.started.load(Ordering::SeqCst) < self.threads_max()
    }

    /// Runs something that blocks on a worker, with a stand-in for the time.
    pub(crate) fn block_in_place<R>(&self, shared: &Arc<Shared>, body: impl FnOnce() -> R) -> R {
        let id = LOCAL
            .with_borrow(|local| local.as_ref().filter(|local| local.key == self.key).map(|local| local.id));
        let Some(slot) = id.and_then(|id| self.slots[id].get()) else { return body() };
        let waits = Waits::begin(self, slot);
        self.notify(shared);
        let result = body();
        drop(waits);
        result
    }

    /// The same, if there can be a stand-in: not when all the pool's threads wait already, because what they wait for might need one.
    pub(crate) fn try_block_in_place<R>(&self, shared: &Arc<Shared>, body: impl FnOnce() -> R) -> Option<R> {
        let id = LOCAL
            .with_borrow(|local| local.as_ref().filter(|local| local.key == self.key).map(|local| local.id));
        let Some(slot) = id.and_then(|id| self.slots[id].get()) else { return Some(body()) };
        // Counted before it looks: of two that come at once at least the later one sees both.
        let waits = Waits::begin(self, slot);
        let result = (self.watch.stuck() < self.threads_max()).then(|| {
            self.notify(shared);
            body()
        });
        drop(waits);
        result
    }

    /// Tells the workers to end when they have nothing to do.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        for slot in self.watch.call_all().into_iter().filter_map(|id| self.slots[id].get()) {
            slot.parker.unpark();
        }
    }

    pub(crate) fn take_threads(&self) -> Vec<JoinHandle<()>> {
        std::mem::take(&mut *self.threads.lock())
    }

    /// Drops what is still queued (only after the workers have ended).
    pub(crate) fn clear(&self) {
        self.injector.clear();
    }
}
