//! The actor cell: one actor's pid, mailbox, relations and counters, and the turn in which a worker runs it.
//! Invariant: whatever ends an actor goes through `end`, where one flag decides who was first; the host is told before anybody sees it, and
//! by the time its monitors hear of it the pid no longer resolves. Leaves queue states to `mailbox`, links to
//! `relations`, versions to `versions`, and the choice of thread to `scheduler`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::behaviour::{Behaviour, Flow, Signal};
use crate::context::Context;
use crate::exit::ExitReason;
use crate::mailbox::{Batch, Control, Envelope, Fit, Mailbox, Push, Turn, Wake};
use crate::pid::Pid;
use crate::relations::Relations;
use crate::runtime::Shared;
use crate::scheduler::{Runnable, Slice};
use crate::trace;
use crate::versions::Versions;

/// A behaviour of any type for messages `M`.
pub(crate) type Logic<M> = Box<dyn Behaviour<M>>;

const TRAP_EXIT: u8 = 1;
const DORMANT: u8 = 2;
const SUPERVISOR: u8 = 4;
/// Somebody ends it; nobody else does.
const ENDS: u8 = 8;

/// The order of the fields matters: what a turn of one message needs lies together at the beginning, the mailbox next to it. While somebody
/// runs the cell it writes here once a batch and not once a message, so that a flood's senders, who write the mailbox's lock at every push,
/// and its runner seldom want the same cache line.
#[repr(C)]
pub(crate) struct Cell<M: Send + 'static> {
    pub(crate) pid: Pid,
    pub(crate) shared: Arc<Shared>,
    budget: u32,
    pub(crate) pool: u8,
    flags: AtomicU8,
    /// Messages and signals handled; only the runner writes it.
    processed: AtomicU64,
    pub(crate) mailbox: Mailbox<M, Logic<M>>,
    versions: Mutex<Option<Box<Versions<M>>>>,
    relations: Mutex<Relations>,
    /// Nanoseconds spent in handlers while `Handle::time_handlers` was on; only the runner writes it.
    busy_ns: AtomicU64,
}

/// A cell whose message type is not known: what the slab, links and supervisors hold.
pub(crate) trait AnyCell: Runnable + Any + Send + Sync {
    /// Puts a signal into the mailbox.
    fn deliver(self: Arc<Self>, signal: Signal);
    /// An exit signal from an actor that this one is linked with; of another it is nothing.
    fn exit_from(self: Arc<Self>, from: Pid, reason: ExitReason);
    /// Ends the actor before its next message.
    fn request_exit(self: Arc<Self>, reason: ExitReason);
    /// Asks the actor to end: at once, or through `Behaviour::shutdown` if it traps exits.
    fn shutdown(self: Arc<Self>, reason: ExitReason);
    /// The same for a runtime that stops: a pull actor that traps exits hears of it before the messages that wait, which may never end.
    fn shutdown_next(self: Arc<Self>, reason: ExitReason);
    /// Whether it was killed: whatever it does now does not count any more.
    fn is_killed(&self) -> bool;
    /// Ends a killed actor that does not end by itself; what its runner does from now on is nobody's.
    fn give_up(self: Arc<Self>);
    /// Ends the actor after the messages that are in the mailbox now.
    fn exit_in_order(self: Arc<Self>, reason: ExitReason);
    fn relations(&self) -> &Mutex<Relations>;
    fn snapshot(&self) -> CellSnapshot;
    fn version(&self) -> u32;
    /// Messages handled so far, if none waits and none is being handled.
    fn at_rest(&self) -> Option<u64>;
    fn is_pull(&self) -> bool;
    fn is_supervisor(&self) -> bool;
    /// Whether exit signals come as messages.
    fn traps_exit(&self) -> bool;
    /// Shows the behaviours that nobody runs: the current one and the versions kept.
    fn visit(&self, visitor: &mut dyn FnMut(&dyn Any));
    fn pool(&self) -> u8;
    fn rollback(self: Arc<Self>, steps: usize) -> Option<u32>;
    fn set_overflow(&self, capacity: Option<usize>, policy: crate::mailbox::Overflow) -> bool;
}

/// What introspection sees of one cell.
#[derive(Clone, Debug)]
pub struct CellSnapshot {
    /// The actor.
    pub pid: Pid,
    /// idle, scheduled, running, waiting (a pull actor in `recv`) or dead.
    pub state: &'static str,
    /// Messages not yet begun.
    pub mailbox: usize,
    /// Messages and signals handled so far.
    pub processed: u64,
    /// A virtual actor that is not activated.
    pub dormant: bool,
    /// The pool that runs it.
    pub pool: u8,
    /// The behaviour version, from 1.
    pub version: u32,
    /// Time spent in its handlers while `Handle::time_handlers` was on. For async actors what they await is part of it.
    pub busy: Duration,
}

/// How a turn ended. The reason is boxed, because nearly every turn ends in another way and the value is handed on at once.
enum TurnEnd {
    Idle,
    Yield,
    Exit(Box<ExitReason>),
}

impl<M: Send + 'static> Cell<M> {
    pub(crate) fn new(
        pid: Pid,
        shared: Arc<Shared>,
        pool: u8,
        budget: u32,
        behaviour: Option<Logic<M>>,
        parent: Option<Pid>,
    ) -> Self {
        Self {
            pid,
            shared,
            budget: budget.max(1),
            pool,
            flags: AtomicU8::new(0),
            processed: AtomicU64::new(0),
            mailbox: behaviour.map_or_else(Mailbox::pull_role, Mailbox::push_role),
            versions: Mutex::new(None),
            relations: Mutex::new(Relations::new(parent)),
            busy_ns: AtomicU64::new(0),
        }
    }

    fn has(&self, flag: u8) -> bool {
        self.flags.load(Ordering::Relaxed) & flag != 0
    }

    fn set(&self, flag: u8, on: bool) {
        if on {
            self.flags.fetch_or(flag, Ordering::Relaxed);
        } else {
            self.flags.fetch_and(!flag, Ordering::Relaxed);
        }
    }

    pub(crate) fn trap_exit(&self, on: bool) {
        self.set(TRAP_EXIT, on);
    }

    /// Its children are ended by it, when the runtime stops.
    pub(crate) fn set_supervisor(&self) {
        self.set(SUPERVISOR, true);
        self.shared.supervised.store(true, Ordering::SeqCst);
    }

    pub(crate) fn set_dormant(&self, on: bool) {
        self.set(DORMANT, on);
    }

    pub(crate) fn processed(&self) -> u64 {
        self.processed.load(Ordering::Relaxed)
    }

    pub(crate) fn count_processed(&self, count: u64) {
        self.processed.store(self.processed.load(Ordering::Relaxed) + count, Ordering::Relaxed);
    }

    /// The time, if handlers are timed at the moment: two looks at the clock would be a third of a short turn.
    pub(crate) fn stopwatch(&self) -> Option<Instant> {
        self.shared.timing.load(Ordering::Relaxed).then(Instant::now)
    }

    pub(crate) fn count_busy(&self, begun: Option<Instant>) {
        if let Some(begun) = begun {
            let spent = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.busy_ns.store(self.busy_ns.load(Ordering::Relaxed).saturating_add(spent), Ordering::Relaxed);
        }
    }

    /// Messages not yet begun.
    pub(crate) fn mailbox_len(&self) -> usize {
        let (waiting, runs) = self.mailbox.len();
        waiting + if runs { self.shared.in_hand(self.pool, self.pid) } else { 0 }
    }

    /// The common case of sending; `Err` gives the message back to whoever goes the long way.
    #[inline]
    pub(crate) fn deliver(self: &Arc<Self>, message: M) -> Result<(), M> {
        if self.mailbox.deliver(message)? {
            self.shared.schedule(self.pool, self.clone());
        }
        Ok(())
    }

    pub(crate) fn wake(self: &Arc<Self>, wake: Wake) {
        match wake {
            Wake::Nothing => {}
            Wake::Schedule => self.shared.schedule(self.pool, self.clone()),
            Wake::Preempt => self.shared.preempt(self.pool),
            Wake::Waker(waker) => waker.wake(),
        }
    }

    /// Puts `Control::Start` into the mailbox; whoever makes the actor wakes it when it can be found.
    pub(crate) fn queue_start(&self) -> Wake {
        match self.mailbox.push(Envelope::Control(Box::new(Control::Start)), Fit::OverCapacity, None) {
            Push::Queued(wake) => wake,
            _ => Wake::Nothing,
        }
    }

    pub(crate) fn control(self: &Arc<Self>, control: Control<Logic<M>>) -> bool {
        self.try_control(control).is_none()
    }

    /// Gives back what a dead cell did not take, so that the caller chooses where it is dropped.
    fn try_control(self: &Arc<Self>, control: Control<Logic<M>>) -> Option<Envelope<M, Logic<M>>> {
        match self.mailbox.push(Envelope::Control(Box::new(control)), Fit::OverCapacity, None) {
            Push::Queued(wake) => {
                self.wake(wake);
                None
            }
            // Control is never evicted.
            Push::Evicted(..) => None,
            Push::Full(envelope, _) | Push::Dead(envelope) => Some(envelope),
        }
    }

    /// One turn: begin, run messages until the queue or the budget ends, give the run permit back.
    fn run_turn(self: &Arc<Self>, slice: &Slice<'_>) -> u32 {
        let mut turn = Turn::empty();
        if !self.mailbox.begin(&mut turn) {
            return 0;
        }
        let mut done = 0;
        let _span = trace::turn(self.pid);
        let begun = self.stopwatch();
        let mut cx = Context::new(self);
        let end = catch_unwind(AssertUnwindSafe(|| self.drain(&mut cx, &mut turn, &mut done, slice)))
            .unwrap_or_else(|payload| TurnEnd::Exit(Box::new(ExitReason::from_panic(payload))));
        self.count_busy(begun);
        match end {
            TurnEnd::Idle => {}
            TurnEnd::Yield => {
                slice.in_hand.store(0, Ordering::Relaxed);
                if self.mailbox.yield_turn(&mut turn) {
                    self.shared.schedule(self.pool, self.clone());
                }
            }
            TurnEnd::Exit(reason) => self.terminate(turn, *reason),
        }
        done.max(1)
    }

    fn drain(
        self: &Arc<Self>,
        cx: &mut Context<'_, M>,
        turn: &mut Turn<M, Logic<M>>,
        done: &mut u32,
        slice: &Slice<'_>,
    ) -> TurnEnd {
        let budget = self.budget.min(slice.budget_max).min(slice.pace.max(turn.due));
        let mut until = budget;
        let mut counted = 0;
        loop {
            if turn.exit {
                return TurnEnd::Exit(Box::new(self.mailbox.exit_reason().unwrap_or(ExitReason::Killed)));
            }
            let Some(envelope) = turn.batch.pop() else {
                self.count_processed(u64::from(*done - counted));
                counted = *done;
                if !self.mailbox.refill_or_idle(turn) {
                    return TurnEnd::Idle;
                }
                continue;
            };
            slice.in_hand.store(turn.batch.len() as u32, Ordering::Relaxed);
            *done += 1;
            let flow = match envelope {
                Envelope::User(message) => match turn.behaviour.as_deref_mut() {
                    Some(behaviour) => behaviour.handle(cx, message),
                    None => Flow::Exit(ExitReason::Killed),
                },
                Envelope::Control(control) => self.apply(cx, turn, *control),
            };
            match flow {
                Flow::Continue => {}
                Flow::Exit(reason) => return TurnEnd::Exit(Box::new(reason)),
            }
            if *done >= until && slice.goes_on() {
                until = done.saturating_add(budget);
            }
            if *done >= until || slice.preempted() || cx.take_yield() {
                self.count_processed(u64::from(*done - counted));
                // Whoever wants the actor to end does not wait for its next turn.
                turn.exit = slice.preempted() && self.mailbox.exit_requested();
                if turn.exit {
                    continue;
                }
                return TurnEnd::Yield;
            }
        }
    }

    #[inline(never)]
    fn apply(
        self: &Arc<Self>,
        cx: &mut Context<'_, M>,
        turn: &mut Turn<M, Logic<M>>,
        control: Control<Logic<M>>,
    ) -> Flow {
        let Some(current) = &mut turn.behaviour else { return Flow::Exit(ExitReason::Killed) };
        match control {
            Control::Start => current.started(cx),
            Control::Signal(signal) => current.signal(cx, signal),
            Control::Exit(reason) => Flow::Exit(reason),
            Control::Shutdown(reason) => current.shutdown(cx, reason),
            Control::Swap { version, behaviour } => {
                Versions::apply_swap(&self.versions, current, version, behaviour).into_flow()
            }
            Control::Rollback { steps } => {
                Versions::apply_rollback(&self.versions, current, steps).into_flow()
            }
        }
    }

    #[cold]
    fn terminate(self: &Arc<Self>, mut turn: Turn<M, Logic<M>>, reason: ExitReason) {
        if let (Some(behaviour), false) = (&mut turn.behaviour, matches!(reason, ExitReason::Killed)) {
            let mut cx = Context::new(self);
            // A panic while cleaning up must not hide the reason that the actor ends for.
            quietly(|| behaviour.terminate(&mut cx, &reason));
        }
        let unread = turn.batch;
        let behaviour = turn.behaviour;
        self.end(unread, &reason);
        drop_quietly(behaviour);
        let versions = self.versions.lock().take();
        drop_quietly(versions);
    }

    /// Closes the cell and tells everybody who should know. Shared with pull actors, whose owner ends them.
    pub(crate) fn end(self: &Arc<Self>, unread: Batch<M, Logic<M>>, reason: &ExitReason) {
        if self.flags.fetch_or(ENDS, Ordering::AcqRel) & ENDS != 0 {
            // Somebody else ends it (it was given up); what its runner still had is accounted for here.
            self.bury(unread, reason);
            return;
        }
        trace::ended(self.pid, reason);
        self.shared.tell_end(self.pid, reason);
        let rest = self.mailbox.close(reason).unwrap_or_else(Batch::empty);
        let relations = self.relations.lock().close();
        self.shared.forget(self.pid, relations.as_deref());
        if let Some(relations) = relations {
            self.shared.announce(self.pid, *relations, reason);
        }
        self.bury(unread, reason);
        self.bury(rest, reason);
        self.shared.ended(reason);
        self.shared.tell_ended(self.pid, reason);
    }

    /// What waits for a killed actor is accounted for at once: the actor may be in a handler that never returns.
    fn bury_killed(&self) {
        let batch = self.mailbox.empty_killed();
        if batch.len() > 0 {
            self.bury(batch, &ExitReason::Killed);
        }
    }

    /// Turns unread messages into dead letters.
    fn bury(&self, mut batch: Batch<M, Logic<M>>, reason: &ExitReason) {
        while let Some(envelope) = batch.pop() {
            if let Envelope::User(message) = &envelope {
                self.shared.dead_letters.record(self.pid, message, reason.label());
            }
            drop_quietly(envelope);
        }
    }
}

/// Runs user destructors where a panic in one of them must not unwind through the scheduler.
pub(crate) fn drop_quietly<T>(value: T) {
    quietly(|| drop(value));
}

/// Runs user code where a panic must not unwind through the runtime's threads. (The panic hook has reported it.)
pub(crate) fn quietly(code: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(code));
}

trait IntoFlow {
    fn into_flow(self) -> Flow;
}

impl IntoFlow for Result<(), ExitReason> {
    fn into_flow(self) -> Flow {
        self.map_or_else(Flow::Exit, |()| Flow::Continue)
    }
}

impl<M: Send + 'static> Runnable for Cell<M> {
    fn run(self: Arc<Self>, slice: &Slice<'_>) -> u32 {
        self.run_turn(slice)
    }

    fn id(&self) -> u64 {
        self.pid.to_bits()
    }
}

impl<M: Send + 'static> AnyCell for Cell<M> {
    fn deliver(self: Arc<Self>, signal: Signal) {
        self.control(Control::Signal(signal));
    }

    fn exit_from(self: Arc<Self>, from: Pid, reason: ExitReason) {
        let mut relations = self.relations.lock();
        if !relations.unlink(from) {
            return;
        }
        // Under the lock: once `unlink` has returned, the other's end has no effect any more.
        let wake = if self.has(TRAP_EXIT) {
            let signal = Control::Signal(Signal::Exit { from, reason });
            match self.mailbox.push(Envelope::Control(Box::new(signal)), Fit::OverCapacity, None) {
                Push::Queued(wake) => wake,
                _ => Wake::Nothing,
            }
        } else if matches!(reason, ExitReason::Normal) {
            Wake::Nothing
        } else {
            self.mailbox.request_exit(reason)
        };
        drop(relations);
        self.wake(wake);
        self.bury_killed();
    }

    fn request_exit(self: Arc<Self>, reason: ExitReason) {
        let wake = self.mailbox.request_exit(reason);
        self.wake(wake);
        self.bury_killed();
    }

    fn is_killed(&self) -> bool {
        self.mailbox.is_killed()
    }

    fn give_up(self: Arc<Self>) {
        self.end(Batch::empty(), &ExitReason::Killed);
    }

    fn shutdown(self: Arc<Self>, reason: ExitReason) {
        if self.has(TRAP_EXIT) {
            self.control(Control::Shutdown(reason));
        } else {
            self.request_exit(reason);
        }
    }

    fn shutdown_next(self: Arc<Self>, reason: ExitReason) {
        if self.has(TRAP_EXIT) && self.mailbox.is_pull() {
            let wake = self.mailbox.push_next(Envelope::Control(Box::new(Control::Shutdown(reason))));
            self.wake(wake);
        } else {
            self.shutdown(reason);
        }
    }

    fn exit_in_order(self: Arc<Self>, reason: ExitReason) {
        self.control(Control::Exit(reason));
    }

    fn relations(&self) -> &Mutex<Relations> {
        &self.relations
    }

    fn snapshot(&self) -> CellSnapshot {
        CellSnapshot {
            pid: self.pid,
            state: self.mailbox.state_name(),
            mailbox: self.mailbox_len(),
            processed: self.processed.load(Ordering::Relaxed),
            dormant: self.has(DORMANT),
            pool: self.pool,
            version: self.version(),
            busy: Duration::from_nanos(self.busy_ns.load(Ordering::Relaxed)),
        }
    }

    fn at_rest(&self) -> Option<u64> {
        self.mailbox.is_at_rest().then(|| self.processed())
    }

    fn pool(&self) -> u8 {
        self.pool
    }

    fn visit(&self, visitor: &mut dyn FnMut(&dyn Any)) {
        self.mailbox.visit(|behaviour| {
            visitor(&**behaviour as &dyn Any);
            behaviour.parts().into_iter().for_each(&mut *visitor);
        });
        if let Some(versions) = self.versions.lock().as_ref() {
            versions.visit(visitor);
        }
    }

    fn is_pull(&self) -> bool {
        self.mailbox.is_pull()
    }

    fn is_supervisor(&self) -> bool {
        self.has(SUPERVISOR)
    }

    fn traps_exit(&self) -> bool {
        self.has(TRAP_EXIT)
    }

    fn version(&self) -> u32 {
        self.versions.lock().as_ref().map_or(1, |versions| versions.declared())
    }

    fn rollback(self: Arc<Self>, steps: usize) -> Option<u32> {
        let mut slot = self.versions.lock();
        let version = slot.as_mut()?.declare_rollback(steps)?;
        // Pushed under the versions lock, so that mailbox order is the order in which versions were promised.
        let queued = self.control(Control::Rollback { steps });
        drop(slot);
        queued.then_some(version)
    }

    fn set_overflow(&self, capacity: Option<usize>, policy: crate::mailbox::Overflow) -> bool {
        self.mailbox.set_bound(capacity, policy)
    }
}

impl<M: Send + 'static> Cell<M> {
    /// Puts a hot swap into the mailbox and returns the version it will have; `None` if the actor is dead, or a pull actor, whose
    /// code is its owner's and not the cell's.
    pub(crate) fn swap(self: &Arc<Self>, behaviour: Logic<M>) -> Option<u32> {
        if self.mailbox.is_pull() {
            return None;
        }
        let mut slot = self.versions.lock();
        let version = slot.get_or_insert_with(Box::default).declare_swap();
        let refused = self.try_control(Control::Swap { version, behaviour });
        // User destructors never run under a lock of the cell: they may come back to it.
        drop(slot);
        refused.is_none().then_some(version)
    }
}
