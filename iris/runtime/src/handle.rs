//! What one can ask of a runtime: spawn, send, link, monitor, name, time. Owns the API on pids; the typed API is
//! `ActorRef`. Invariant: every operation on a pid that names nobody says so and does nothing.

use std::any::Any;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::behaviour::{Behaviour, Handler, MonitorRef, Signal};
use crate::cell::{AnyCell, Cell, CellSnapshot, Logic};
use crate::context::Context;
use crate::dead_letters::DeadLetter;
use crate::exit::ExitReason;
use crate::inbox::Inbox;
use crate::limits::BUDGET_DEFAULT;
use crate::mailbox::Overflow;
use crate::pid::Pid;
use crate::reference::{ActorRef, SendError};
use crate::registry::{NameError, Taking, normalise};
use crate::relations::Name;
use crate::runtime::Shared;
use crate::scheduler::task::Task;
use crate::timer::TimerId;

/// Why an actor could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnError {
    /// The runtime is stopping.
    Stopping,
    /// The parent has ended.
    NoParent,
    /// There are more actors than pids.
    Full,
    /// There is no pool of that number.
    NoPool,
}

impl std::fmt::Display for SpawnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Stopping => "the runtime is stopping: no actor can be spawned",
            Self::NoParent => "the parent actor has ended",
            Self::Full => "no pid is free",
            Self::NoPool => "the runtime has no pool of that number",
        })
    }
}

impl std::error::Error for SpawnError {}

/// Options for one actor.
#[derive(Clone, Copy, Debug)]
pub struct SpawnOptions {
    /// Messages before the actor yields its worker.
    pub budget: u32,
    /// Which pool runs it (0 is the default pool).
    pub pool: u8,
    /// Capacity and what happens above it; unbounded if `None`.
    pub bound: Option<(usize, Overflow)>,
    /// The actor that takes this one with it when it ends.
    pub parent: Option<Pid>,
    /// An actor to be linked with from the start.
    pub link: Option<Pid>,
    /// Whether exit signals of linked actors arrive as messages.
    pub trap_exit: bool,
}

impl Default for SpawnOptions {
    fn default() -> Self {
        Self { budget: BUDGET_DEFAULT, pool: 0, bound: None, parent: None, link: None, trap_exit: false }
    }
}

/// Access to a runtime. Clones are cheap. A handle does not keep the runtime running.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// A handle that does not keep the runtime's memory.
#[derive(Clone)]
pub struct WeakHandle(Weak<Shared>);

impl WeakHandle {
    /// The handle, if the runtime still is.
    #[must_use]
    pub fn upgrade(&self) -> Option<Handle> {
        self.0.upgrade().map(Handle::new)
    }
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// A weak version of this handle.
    #[must_use]
    pub fn downgrade(&self) -> WeakHandle {
        WeakHandle(Arc::downgrade(&self.shared))
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.stopping.load(std::sync::atomic::Ordering::SeqCst)
    }

    /// Milliseconds since the runtime began (virtual ones in a simulation).
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.shared.clock.now_ms()
    }

    /// Spawns an actor with default options.
    pub fn spawn<M: Send + 'static>(&self, behaviour: impl Behaviour<M>) -> Result<ActorRef<M>, SpawnError> {
        self.spawn_with(SpawnOptions::default(), behaviour)
    }

    /// Spawns a closure as an actor.
    pub fn spawn_fn<M, R, F>(&self, handler: F) -> Result<ActorRef<M>, SpawnError>
    where
        M: Send + 'static,
        R: Into<crate::behaviour::Flow> + 'static,
        F: FnMut(&mut Context<'_, M>, M) -> R + Send + 'static,
    {
        self.spawn(Handler::new(handler))
    }

    /// Spawns an actor.
    pub fn spawn_with<M: Send + 'static>(
        &self,
        options: SpawnOptions,
        behaviour: impl Behaviour<M>,
    ) -> Result<ActorRef<M>, SpawnError> {
        self.spawn_boxed(options, Box::new(behaviour))
    }

    /// Spawns an actor whose behaviour is boxed already.
    pub fn spawn_boxed<M: Send + 'static>(
        &self,
        options: SpawnOptions,
        behaviour: Logic<M>,
    ) -> Result<ActorRef<M>, SpawnError> {
        self.make(options, Some(behaviour)).map(ActorRef::new)
    }

    /// Makes a pull actor: whoever holds the inbox is the actor.
    pub fn spawn_inbox<M: Send + 'static>(
        &self,
        options: SpawnOptions,
    ) -> Result<(ActorRef<M>, Inbox<M>), SpawnError> {
        let cell = self.make(options, None)?;
        Ok((ActorRef::new(cell.clone()), Inbox::new(cell)))
    }

    /// Spawns an async actor on one of the runtime's pools: `body` gets the inbox and its future is the actor.
    pub fn spawn_async<M, F, Fut>(&self, options: SpawnOptions, body: F) -> Result<ActorRef<M>, SpawnError>
    where
        M: Send + 'static,
        F: FnOnce(Inbox<M>) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let (actor, inbox) = self.spawn_inbox(options)?;
        let pid = actor.pid().to_bits();
        Task::spawn(&self.shared, options.pool, pid, body(inbox));
        Ok(actor)
    }

    /// A cell that is in the slab; one without a behaviour is a pull actor.
    fn make<M: Send + 'static>(
        &self,
        options: SpawnOptions,
        behaviour: Option<Logic<M>>,
    ) -> Result<Arc<Cell<M>>, SpawnError> {
        let shared = &self.shared;
        if shared.stopping.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(SpawnError::Stopping);
        }
        if options.pool as usize >= shared.pools.len() {
            return Err(SpawnError::NoPool);
        }
        if shared.simulation.is_none() {
            shared.pools[options.pool as usize].warm_up(shared);
        }
        let start = behaviour.as_ref().is_some_and(|behaviour| behaviour.needs_start());
        let pid = shared.slab.reserve().ok_or(SpawnError::Full)?;
        let cell = Cell::new(pid, shared.clone(), options.pool, options.budget, behaviour, options.parent);
        let cell = Arc::new(cell);
        if let Some((capacity, policy)) = options.bound {
            cell.mailbox.set_bound(Some(capacity), policy);
        }
        if options.trap_exit {
            cell.trap_exit(true);
        }
        if let Some(parent) = options.parent
            && !self.adopt(parent, pid)
        {
            shared.slab.remove(pid);
            return Err(SpawnError::NoParent);
        }
        // Before anybody can find the actor, so that no message comes first; it runs once it can be found.
        let start = start.then(|| cell.queue_start());
        shared.born();
        crate::trace::spawned(pid, &shared.pools[options.pool as usize].name);
        shared.slab.put(pid, cell.clone());
        if options.parent.is_some_and(|parent| !shared.slab.contains(parent)) {
            // It ended meanwhile, and may have told its children before this one could be found.
            AnyCell::request_exit(cell.clone(), ExitReason::Shutdown);
        }
        if let Some(link) = options.link {
            self.link(pid, link);
        }
        if shared.stopping.load(std::sync::atomic::Ordering::SeqCst) {
            // `stop` may have listed the actors before this one was in the slab.
            AnyCell::request_exit(cell.clone(), ExitReason::Shutdown);
        }
        if let Some(wake) = start {
            cell.wake(wake);
        }
        Ok(cell)
    }

    /// The parent may end between its slab entry and here; then there is nobody to belong to.
    fn adopt(&self, parent: Pid, child: Pid) -> bool {
        let Some(parent) = self.shared.slab.get(parent) else { return false };
        let mut relations = parent.relations().lock();
        relations.more().map(|more| more.children.insert(child)).is_some()
    }

    fn cell(&self, pid: Pid) -> Option<Arc<dyn AnyCell>> {
        self.shared.slab.get(pid)
    }

    /// The typed reference behind a pid, if the actor is alive and takes such messages.
    #[must_use]
    pub fn actor<M: Send + 'static>(&self, pid: Pid) -> Option<ActorRef<M>> {
        let cell: Arc<dyn Any + Send + Sync> = self.cell(pid)?;
        cell.downcast::<Cell<M>>().ok().map(ActorRef::new)
    }

    /// Sends to a pid. Fails like [`ActorRef::send`], and if the actor takes other messages.
    pub fn send<M: Send + 'static>(&self, pid: Pid, message: M) -> Result<(), SendError<M>> {
        match self.actor(pid) {
            Some(actor) => actor.send(message),
            None => Err(SendError::NoProcess(message)),
        }
    }

    /// Whether the actor has not ended.
    #[must_use]
    pub fn is_alive(&self, pid: Pid) -> bool {
        self.shared.slab.contains(pid)
    }

    /// State, mailbox depth and counters of one actor.
    #[must_use]
    pub fn inspect(&self, pid: Pid) -> Option<CellSnapshot> {
        self.cell(pid).map(|cell| cell.snapshot())
    }

    /// Number of actors alive.
    #[must_use]
    pub fn live(&self) -> usize {
        self.shared.live()
    }

    /// Ends an actor before its next message. Returns false if there is none.
    pub fn exit(&self, pid: Pid, reason: ExitReason) -> bool {
        self.cell(pid).map(|cell| cell.request_exit(reason)).is_some()
    }

    /// Whether an actor was killed, or has ended: whatever its code does now does not count.
    #[must_use]
    pub fn is_killed(&self, pid: Pid) -> bool {
        self.cell(pid).is_none_or(|cell| cell.is_killed())
    }

    /// Ends a killed pull actor whose code does not come to its end; that is left to itself.
    pub fn give_up(&self, pid: Pid) {
        if let Some(cell) = self.cell(pid).filter(|cell| cell.is_killed()) {
            cell.give_up();
        }
    }

    /// Adds a report to `slow_handlers`, of a handler that a host watches itself.
    pub fn note_slow_handler(&self, pid: Pid, pool: &str, elapsed_ms: u64) {
        self.shared().keeper.note_slow(pid, pool, elapsed_ms);
    }

    /// Asks an actor to end; one that traps exits may put its house in order first (`Behaviour::shutdown`).
    pub fn shutdown(&self, pid: Pid, reason: ExitReason) -> bool {
        self.cell(pid).map(|cell| cell.shutdown(reason)).is_some()
    }

    /// Makes `child` end with `parent`, if it has no parent yet.
    pub fn set_parent(&self, child: Pid, parent: Pid) -> bool {
        let Some(cell) = self.cell(child) else { return false };
        let mut relations = cell.relations().lock();
        if let Some(there) = relations.parent() {
            return there == parent;
        }
        let Some(more) = relations.more() else { return false };
        more.parent = Some(parent);
        drop(relations);
        let adopted = self.adopt(parent, child);
        if !adopted && let Some(more) = cell.relations().lock().peek_mut() {
            more.parent = None;
        }
        adopted
    }

    /// Ends an actor after the messages that are in its mailbox now.
    pub fn exit_in_order(&self, pid: Pid, reason: ExitReason) -> bool {
        self.cell(pid).map(|cell| cell.exit_in_order(reason)).is_some()
    }

    /// Links two actors: when one ends abnormally, so does the other, unless it traps exits.
    pub fn link(&self, left: Pid, right: Pid) -> bool {
        let Some(first) = self.cell(left) else { return false };
        if !first.relations().lock().link(right) {
            return false;
        }
        let Some(second) = self.cell(right).filter(|second| second.relations().lock().link(left)) else {
            first.exit_from(right, ExitReason::NoProcess);
            return false;
        };
        if first.relations().lock().is_closed() {
            // It may have told those whom it was linked with before this one was.
            second.exit_from(left, ExitReason::NoProcess);
        }
        true
    }

    /// Takes a link away from both sides.
    pub fn unlink(&self, left: Pid, right: Pid) -> bool {
        let remove =
            |from: Pid, other: Pid| self.cell(from).is_some_and(|cell| cell.relations().lock().unlink(other));
        let (first, second) = (remove(left, right), remove(right, left));
        first || second
    }

    /// Monitors `target` for `watcher`, which gets one `DOWN`; at once if the target does not exist.
    pub fn monitor(&self, watcher: Pid, target: Pid) -> MonitorRef {
        let monitor = self.shared.next_monitor();
        let added = self.cell(target).is_some_and(|cell| {
            cell.relations().lock().more().map(|more| more.monitors.push((monitor, watcher))).is_some()
        });
        if !added && let Some(cell) = self.cell(watcher) {
            cell.deliver(Signal::Down { monitor, pid: target, reason: ExitReason::NoProcess });
        }
        monitor
    }

    /// Calls `watcher` once when `target` ends, on the thread that ends it: it must neither block nor take long. This is the monitor of
    /// those who are no actors. `None` if there is no such actor (any more).
    pub fn watch(
        &self,
        target: Pid,
        watcher: impl FnOnce(&ExitReason) + Send + 'static,
    ) -> Option<MonitorRef> {
        let cell = self.cell(target)?;
        let number = self.shared.next_monitor();
        let mut relations = cell.relations().lock();
        let Some(more) = relations.more() else {
            drop(relations);
            return None;
        };
        more.watchers.push((number, Box::new(watcher)));
        Some(number)
    }

    /// Takes a watcher away. False if it was called already.
    pub fn unwatch(&self, target: Pid, number: MonitorRef) -> bool {
        let Some(cell) = self.cell(target) else { return false };
        let mut relations = cell.relations().lock();
        let Some(more) = relations.peek_mut() else { return false };
        let at = more.watchers.iter().position(|(held, _)| *held == number);
        let taken = at.map(|at| more.watchers.swap_remove(at));
        // What a watcher owns is never dropped under a lock of the cell.
        drop(relations);
        taken.is_some()
    }

    /// Takes a monitor away. A `DOWN` that is in the mailbox already stays there.
    pub fn demonitor(&self, target: Pid, monitor: MonitorRef) -> bool {
        self.cell(target).is_some_and(|cell| {
            let mut relations = cell.relations().lock();
            relations.peek_mut().is_some_and(|more| {
                let before = more.monitors.len();
                more.monitors.retain(|(held, _)| *held != monitor);
                more.monitors.len() < before
            })
        })
    }

    /// Whether an actor gets exit signals as messages.
    #[must_use]
    pub fn traps_exit(&self, pid: Pid) -> bool {
        self.cell(pid).is_some_and(|cell| cell.traps_exit())
    }

    /// The children of an actor.
    #[must_use]
    pub fn children(&self, pid: Pid) -> Vec<Pid> {
        let listed = self.cell(pid).and_then(|cell| {
            cell.relations().lock().peek().map(|more| more.children.iter().copied().collect::<Vec<_>>())
        });
        listed.unwrap_or_default()
    }

    /// Sets what happens above the capacity. Returns false if there is no such actor, or it has no capacity and none is given.
    pub fn set_overflow(&self, pid: Pid, capacity: Option<usize>, policy: Overflow) -> bool {
        self.cell(pid).is_some_and(|cell| cell.set_overflow(capacity, policy))
    }

    /// The behaviour version of an actor as callers were promised it: from 1.
    #[must_use]
    pub fn version(&self, pid: Pid) -> Option<u32> {
        self.cell(pid).map(|cell| cell.version())
    }

    /// Goes back `steps` behaviour versions, in mailbox order. `None` if the history is too short or nobody is there.
    pub fn rollback(&self, pid: Pid, steps: usize) -> Option<u32> {
        self.cell(pid)?.rollback(steps)
    }

    fn name_actor(&self, name: Name, pid: Pid, taking: Taking) -> Result<(), NameError> {
        let cell = self.cell(pid).ok_or(NameError::NoProcess)?;
        let mut relations = cell.relations().lock();
        let more = relations.more().ok_or(NameError::NoProcess)?;
        // Under the relations' lock, so that the end of the actor cannot come between. Who has ended keeps no name, though it may still have it.
        let keeps = |owner| taking == Taking::Free && self.is_alive(owner);
        let previous = self.shared.registry.add(&name, pid, keeps).map_err(NameError::Taken)?;
        if !more.names.contains(&name) {
            more.names.push(name.clone());
        }
        drop(relations);
        if let Some(previous) = previous.filter(|previous| *previous != pid) {
            self.unlist(&name, previous);
        }
        Ok(())
    }

    /// Frees all names and paths of an actor that is to be done without though it has not ended.
    pub(crate) fn free_names(&self, pid: Pid) {
        let names = self.cell(pid).map(|cell| match cell.relations().lock().peek_mut() {
            Some(more) => std::mem::take(&mut more.names),
            None => Vec::new(),
        });
        names.iter().flatten().for_each(|name| self.shared.registry.remove(name, pid));
    }

    /// Takes a name that the actor has lost off its list. It may have got it back meanwhile.
    fn unlist(&self, name: &Name, pid: Pid) {
        if let Some(cell) = self.cell(pid)
            && let Some(more) = cell.relations().lock().peek_mut()
            && !self.shared.registry.has(name, pid)
        {
            more.names.retain(|held| held != name);
        }
    }

    fn unname(&self, name: &Name, pid: Option<Pid>) -> Option<Pid> {
        let pid = pid?;
        self.shared.registry.remove(name, pid);
        self.unlist(name, pid);
        Some(pid)
    }

    /// Gives an actor a name. False if there is no such actor, or another that lives has the name.
    pub fn register(&self, name: &str, pid: Pid) -> bool {
        self.claim(name, pid, Taking::Free).is_ok()
    }

    /// The same, and says why not; whether a name may be taken from another is the caller's to say.
    pub fn claim(&self, name: &str, pid: Pid, taking: Taking) -> Result<(), NameError> {
        self.name_actor(Name::Plain(Arc::from(name)), pid, taking)
    }

    /// Frees a name.
    pub fn unregister(&self, name: &str) -> Option<Pid> {
        self.unname(&Name::Plain(Arc::from(name)), self.whereis(name))
    }

    /// Who has the name.
    #[must_use]
    pub fn whereis(&self, name: &str) -> Option<Pid> {
        self.shared.registry.name(name)
    }

    /// All plain names.
    #[must_use]
    pub fn registered(&self) -> Vec<(String, Pid)> {
        self.shared.registry.names()
    }

    /// Gives an actor a path such as `/svc/payment/one`. False if there is no such actor, or another that lives has the path.
    pub fn register_path(&self, path: &str, pid: Pid) -> bool {
        self.claim_path(path, pid, Taking::Free).is_ok()
    }

    /// The same, and says why not; whether a path may be taken from another is the caller's to say.
    pub fn claim_path(&self, path: &str, pid: Pid, taking: Taking) -> Result<(), NameError> {
        self.name_actor(Name::Path(Arc::from(normalise(path))), pid, taking)
    }

    /// Frees a path.
    pub fn unregister_path(&self, path: &str) -> Option<Pid> {
        self.unname(&Name::Path(Arc::from(normalise(path))), self.whereis_path(path))
    }

    /// Who is at the path.
    #[must_use]
    pub fn whereis_path(&self, path: &str) -> Option<Pid> {
        self.shared.registry.path(&normalise(path))
    }

    /// The paths below a prefix: all descendants, or one level only.
    #[must_use]
    pub fn list_paths(&self, prefix: &str, direct_only: bool) -> Vec<(String, Pid)> {
        self.shared.registry.below(prefix, direct_only)
    }

    /// Puts an actor into a group.
    pub fn join_group(&self, group: &str, pid: Pid) -> bool {
        self.name_actor(Name::Group(Arc::from(group)), pid, Taking::Free).is_ok()
    }

    /// Takes an actor out of a group.
    pub fn leave_group(&self, group: &str, pid: Pid) {
        self.unname(&Name::Group(Arc::from(group)), Some(pid));
    }

    /// The members of a group.
    #[must_use]
    pub fn group(&self, group: &str) -> Vec<Pid> {
        self.shared.registry.group(group)
    }

    /// Runs `action` once after `delay`, on the keeper thread: it must be short and must not block.
    pub fn run_after(&self, delay: Duration, action: impl Fn() + Send + Sync + 'static) -> TimerId {
        self.shared.timer(
            delay,
            None,
            Arc::new(move || {
                action();
                true
            }),
        )
    }

    /// Sends a message after a delay. If it cannot be delivered then, it becomes a dead letter.
    pub fn send_after<M: Send + 'static>(&self, delay: Duration, to: &ActorRef<M>, message: M) -> TimerId {
        let (to, pid, slot) = (to.downgrade(), to.pid(), parking_lot::Mutex::new(Some(message)));
        let shared = Arc::downgrade(&self.shared);
        let fire = move || {
            let Some(message) = slot.lock().take() else { return false };
            if let Some(actor) = to.upgrade() {
                return actor.send_or_bury(message);
            }
            if let Some(shared) = shared.upgrade() {
                shared.dead_letters.record(pid, &message, "noproc");
            }
            false
        };
        self.shared.timer(delay, None, Arc::new(fire))
    }

    /// Sends what `make` returns again and again, without drift, until cancelled or the actor ends.
    pub fn send_interval<M: Send + 'static>(
        &self,
        period: Duration,
        to: &ActorRef<M>,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> TimerId {
        let (to, id) = (to.downgrade(), Arc::new(std::sync::OnceLock::<TimerId>::new()));
        let (own, shared) = (id.clone(), Arc::downgrade(&self.shared));
        let fire = move || {
            let sent = to.upgrade().filter(ActorRef::is_alive).map(|actor| actor.send_or_bury(make()));
            if sent.is_none()
                && let (Some(id), Some(shared)) = (own.get(), shared.upgrade())
            {
                shared.cancel_timer(*id);
            }
            sent.is_some()
        };
        let timer = self.shared.timer(period, Some(period), Arc::new(fire));
        let _ = id.set(timer);
        timer
    }

    /// Cancels a timer. False if it has fired, was cancelled or never was.
    pub fn cancel_timer(&self, id: TimerId) -> bool {
        self.shared.cancel_timer(id)
    }

    /// Messages accepted and never handled, so far.
    #[must_use]
    pub fn dead_letters(&self) -> u64 {
        self.shared.dead_letters.total()
    }

    /// The last dead letters, oldest first.
    #[must_use]
    pub fn recent_dead_letters(&self) -> Vec<DeadLetter> {
        self.shared.dead_letters.recent()
    }

    /// Blocks for a call's end. On a worker, a stand-in takes over for the time; `NoThread` where there is none left.
    pub fn wait_for<R>(
        &self,
        call: crate::call::Call<R>,
        timeout: Option<Duration>,
    ) -> Result<R, crate::call::CallError> {
        self.try_blocking(|| call.wait(timeout)).unwrap_or(Err(crate::call::CallError::NoThread))
    }

    /// Runs something that waits for other actors, perhaps of this pool. On a worker, a stand-in takes over for the time; `None` where
    /// all threads of the pool wait already, so that nobody would be left whom to wait for.
    pub fn try_blocking<R>(&self, body: impl FnOnce() -> R) -> Option<R> {
        match self.shared.pools.iter().find(|pool| pool.on_worker()) {
            Some(pool) => pool.try_block_in_place(&self.shared, body),
            None => Some(body()),
        }
    }

    /// Runs something that blocks. On a worker, a stand-in takes over for the time.
    pub fn blocking<R>(&self, body: impl FnOnce() -> R) -> R {
        match self.shared.pools.iter().find(|pool| pool.on_worker()) {
            Some(pool) => pool.block_in_place(&self.shared, body),
            None => body(),
        }
    }

    /// The actor of this runtime whose turn runs on this thread.
    #[must_use]
    pub fn current_actor(&self) -> Option<Pid> {
        crate::context::current_actor(&self.shared)
    }

    /// Shows every behaviour of one pool that is not running at the moment, for hosts whose garbage collector wants to know what they
    /// refer to. The visitor runs under the cell's lock: it may look and do nothing else. A collector that looks twice sees the same both
    /// times only if the pool's host keeps its turns out meanwhile.
    pub fn visit_behaviours(&self, pool: u8, visitor: &mut dyn FnMut(&dyn Any)) {
        self.shared.slab.all().iter().filter(|cell| cell.pool() == pool).for_each(|cell| cell.visit(visitor));
    }

    /// Asks all actors to end and does not wait for it.
    pub fn request_stop(&self) {
        self.shared.shut_down();
    }

    /// Whether the actor is a pull actor.
    #[must_use]
    pub fn is_pull(&self, pid: Pid) -> bool {
        self.cell(pid).is_some_and(|cell| cell.is_pull())
    }

    /// Calls `subscriber` for every dead letter from now on (`None` ends that).
    pub fn on_dead_letter(&self, subscriber: Option<Arc<dyn Fn(&DeadLetter, &dyn Any) + Send + Sync>>) {
        self.shared.dead_letters.subscribe(subscriber);
    }

    /// Shows in introspection which restart of a supervised child this actor is.
    pub(crate) fn note_restarts(&self, pid: Pid, restarts: u64) {
        if let Some(cell) = self.cell(pid)
            && let Some(more) = cell.relations().lock().more()
        {
            more.restarts = restarts;
        }
    }

    /// Measures from now on (or no longer) how long handlers take. Off unless somebody looks: reading the clock twice is a third of
    /// a short turn.
    pub fn time_handlers(&self, on: bool) {
        self.shared.timing.store(on, std::sync::atomic::Ordering::Relaxed);
    }

    /// Sets how many workers of a pool run at the same time, and how many threads it may have in all, stand-ins for blocked workers
    /// included. Threads that are there already stay, asleep. False if there is no such pool.
    pub fn set_pool_limits(&self, pool: u8, workers: usize, threads_max: usize) -> bool {
        let found = self.shared.pools.get(pool as usize);
        found.map(|pool| pool.set_limits(workers, threads_max)).is_some()
    }

    /// Counts a restart made by a supervisor outside this crate.
    pub fn count_restart(&self) {
        self.shared.counters.restarts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}
