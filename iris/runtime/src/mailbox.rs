//! The mailbox and the states of a cell. Owns the queue, the behaviour while nobody runs it, the bound and the wish to
//! end. Leaves to `cell` what is done with a batch, and to the scheduler where a cell waits for its turn.
//!
//! There is no unsafe code here (nor anywhere in this crate): one small lock guards everything, is held for a few moves,
//! and never while user code runs. The proof of the three promises is this table of states:
//!
//! ```text
//!            push                begin               refill_or_idle (queue empty)
//!   Idle ----------> Scheduled ---------> Running -----------------------------------> Idle
//!                        ^                   |  yield (messages left)
//!                        +-------------------+
//!   any state -- close --> Dead (final)
//! ```
//!
//! * *One runner*: only the `Idle -> Scheduled` and `Running -> Scheduled` transitions hand out a run permit, each under the
//!   lock, and a permit is used up by `begin`; so at most one worker is between `begin` and `refill_or_idle`/`yield`/`close`.
//! * *No lost wake-up*: a push to an `Idle` cell schedules it; a push to `Scheduled` or `Running` needs no wake because the runner
//!   looks at the queue again under the same lock before the state becomes `Idle`.
//! * *Order*: pushes append under the lock; the runner takes a prefix and puts what it did not use back in front.
//!
//! A pull mailbox (`Role::Pull`) has no runner: its owner pops, or leaves a waker under the lock when the queue is empty.

use std::collections::VecDeque;
use std::task::Waker;

use crate::behaviour::Signal;
use crate::exit::ExitReason;
use crate::limits::{BUSY_QUEUE_KEPT, IDLE_QUEUE_KEPT};
use crate::pid::Pid;
use crate::sync::{AtomicBool, AtomicU32, Mutex, Ordering};

/// What lies in a mailbox. Control is boxed so that it costs messages nothing.
pub(crate) enum Envelope<M, B> {
    User(M),
    Control(Box<Control<B>>),
}

/// What the runtime puts into a mailbox.
pub(crate) enum Control<B> {
    /// Run `started`.
    Start,
    Signal(Signal),
    /// Replace the behaviour; the number is the version that was promised to the caller.
    Swap {
        version: u32,
        behaviour: B,
    },
    /// Go back this many versions.
    Rollback {
        steps: usize,
    },
    /// End in mailbox order.
    Exit(ExitReason),
    /// Asked to end in order, by somebody with a time-out.
    Shutdown(ExitReason),
}

/// What a bounded mailbox does with a message that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The new message is refused; `send` says so.
    DropNew,
    /// The oldest message makes room and becomes a dead letter.
    DropOld,
    /// The sender waits for room.
    Block,
    /// The new message goes to the target instead, under the target's own policy.
    Redirect(Pid),
    /// The new message goes to the target; if the target cannot take it, it stays here above the capacity.
    Spill(Pid),
}

struct Bound {
    capacity: usize,
    users: usize,
    policy: Overflow,
    room: Vec<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    Scheduled,
    Running,
    Dead,
}

enum Role<B> {
    Push(Option<B>),
    Pull(Option<Waker>),
}

struct Inner<M, B> {
    state: State,
    /// Messages that were there when a turn left the cell scheduled: the next turn may read them all.
    due: u32,
    /// The first message lies here, so that an actor that gets one message at a time never allocates a queue.
    front: Option<Envelope<M, B>>,
    queue: VecDeque<Envelope<M, B>>,
    role: Role<B>,
    bound: Option<Box<Bound>>,
    ending: Option<Box<Ending>>,
}

/// The wish to end, and whom to tell of it at once although it does not wait for messages. In a box because most actors have neither.
#[derive(Default)]
struct Ending {
    reason: Option<ExitReason>,
    watcher: Option<Waker>,
}

/// What the pusher has to do after it has let go of the lock.
pub(crate) enum Wake {
    Nothing,
    Schedule,
    Waker(Waker),
}

pub(crate) enum Push<M, B> {
    Queued(Wake),
    /// Queued, and the oldest message was pushed out.
    Evicted(Wake, M),
    Full(Envelope<M, B>, Overflow),
    Dead(Envelope<M, B>),
}

/// Whether the bound applies to a push.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    Bounded,
    OverCapacity,
}

/// A prefix of the mailbox in the hands of its runner.
pub(crate) struct Batch<M, B> {
    front: Option<Envelope<M, B>>,
    queue: VecDeque<Envelope<M, B>>,
}

impl<M, B> Batch<M, B> {
    pub(crate) fn empty() -> Self {
        Self { front: None, queue: VecDeque::new() }
    }

    pub(crate) fn pop(&mut self) -> Option<Envelope<M, B>> {
        self.front.take().or_else(|| self.queue.pop_front())
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len() + usize::from(self.front.is_some())
    }
}

/// What the runner holds between `begin` and the end of its turn.
pub(crate) struct Turn<M, B> {
    pub(crate) behaviour: Option<B>,
    pub(crate) batch: Batch<M, B>,
    /// Messages that have been here since the end of the last turn.
    pub(crate) due: u32,
}

impl<M, B> Turn<M, B> {
    /// What `begin` fills in place: one that it returned would be copied, which shows in turns of one message.
    pub(crate) fn empty() -> Self {
        Self { behaviour: None, batch: Batch::empty(), due: 0 }
    }
}

pub(crate) enum Pull<M, B> {
    Item(Envelope<M, B>),
    Empty,
    Ended,
}

/// The order of the fields matters: what the runner touches at every message must not share a cache line with what senders write at every
/// push, or a flood costs both sides a miss per message. Between the two lies what neither often needs.
#[repr(C)]
pub(crate) struct Mailbox<M, B, A = ()> {
    /// Mirrors `inner.is_asked_to_end()`, so that the runner can look without the lock.
    kill: AtomicBool,
    /// Messages that the runner has taken but not begun; only the runner writes it.
    in_hand: AtomicU32,
    pub(crate) apart: A,
    inner: Mutex<Inner<M, B>>,
}

impl<M, B, A> Mailbox<M, B, A> {
    /// Bytes from the runner's words to the senders'.
    pub(crate) const DISTANCE: usize =
        std::mem::offset_of!(Self, inner) - std::mem::offset_of!(Self, in_hand);

    pub(crate) fn push_role(behaviour: B, apart: A) -> Self {
        Self::new(Role::Push(Some(behaviour)), apart)
    }

    pub(crate) fn pull_role(apart: A) -> Self {
        Self::new(Role::Pull(None), apart)
    }

    fn new(role: Role<B>, apart: A) -> Self {
        let (state, queue) = (State::Idle, VecDeque::new());
        let inner = Inner { state, due: 0, front: None, queue, role, bound: None, ending: None };
        Self { kill: AtomicBool::new(false), in_hand: AtomicU32::new(0), apart, inner: Mutex::new(inner) }
    }

    /// Puts an envelope at the end. `waiter` is left for the next free place if the policy is `Block`.
    pub(crate) fn push(&self, envelope: Envelope<M, B>, fit: Fit, waiter: Option<&Waker>) -> Push<M, B> {
        let mut inner = self.inner.lock();
        if inner.state == State::Dead {
            return Push::Dead(envelope);
        }
        if inner.bound.is_some() && matches!(envelope, Envelope::User(_)) {
            return inner.push_bounded(envelope, fit, waiter);
        }
        inner.append(envelope);
        Push::Queued(inner.wake())
    }

    /// Uses up a run permit and fills the empty `turn`. False if the cell died meanwhile.
    #[must_use]
    pub(crate) fn begin(&self, turn: &mut Turn<M, B>) -> bool {
        let mut inner = self.inner.lock();
        if inner.state != State::Scheduled {
            return false;
        }
        let Role::Push(behaviour) = &mut inner.role else { return false };
        turn.behaviour = behaviour.take();
        inner.state = State::Running;
        turn.due = std::mem::take(&mut inner.due);
        let room = inner.take_batch(&mut turn.batch);
        drop(inner);
        self.in_hand.store(turn.batch.len() as u32, Ordering::Relaxed);
        wake_all(room);
        true
    }

    /// The runner has used up its batch: it gets the next one, or the cell becomes idle and the turn is over (`false`).
    pub(crate) fn refill_or_idle(&self, turn: &mut Turn<M, B>) -> bool {
        let mut inner = self.inner.lock();
        if inner.front.is_none() && inner.queue.is_empty() && !inner.is_asked_to_end() {
            inner.role = Role::Push(turn.behaviour.take());
            inner.state = State::Idle;
            let (here, used) = (inner.queue.capacity(), turn.batch.queue.capacity());
            if here > IDLE_QUEUE_KEPT || (here == 0 && used > 0) {
                std::mem::swap(&mut inner.queue, &mut turn.batch.queue);
            }
            if inner.queue.capacity() > IDLE_QUEUE_KEPT {
                let large = std::mem::take(&mut inner.queue);
                drop(inner);
                drop(large);
            }
            return false;
        }
        if turn.batch.queue.capacity() > BUSY_QUEUE_KEPT {
            turn.batch.queue = VecDeque::new();
        }
        let room = inner.take_batch(&mut turn.batch);
        drop(inner);
        self.in_hand.store(turn.batch.len() as u32, Ordering::Relaxed);
        wake_all(room);
        true
    }

    /// The runner's budget is spent: what is left goes back in front, and the caller must schedule the cell if this says so.
    #[must_use]
    pub(crate) fn yield_turn(&self, turn: &mut Turn<M, B>) -> bool {
        let mut inner = self.inner.lock();
        inner.put_back(&mut turn.batch);
        inner.role = Role::Push(turn.behaviour.take());
        self.in_hand.store(0, Ordering::Relaxed);
        let left = inner.queue.len() + usize::from(inner.front.is_some());
        inner.due = u32::try_from(left).unwrap_or(u32::MAX);
        let more = left > 0 || inner.is_asked_to_end();
        inner.state = if more { State::Scheduled } else { State::Idle };
        more
    }

    /// The messages that the runner has yet to begin.
    pub(crate) fn set_in_hand(&self, count: usize) {
        self.in_hand.store(count as u32, Ordering::Relaxed);
    }

    /// Asks the cell to end before its next message.
    pub(crate) fn request_exit(&self, reason: ExitReason) -> Wake {
        let mut inner = self.inner.lock();
        // The first reason stands.
        if inner.state == State::Dead || inner.is_asked_to_end() {
            return Wake::Nothing;
        }
        let ending = inner.ending.get_or_insert_with(Box::default);
        ending.reason = Some(reason);
        let watcher = ending.watcher.take();
        self.kill.store(true, Ordering::Release);
        match inner.wake() {
            Wake::Nothing => watcher.map_or(Wake::Nothing, Wake::Waker),
            wake => wake,
        }
    }

    /// Leaves a waker for the wish to end, for an owner that may wait for something else than messages. It is woken at most once,
    /// and not at all if the owner waits in `pull` by then. False if there is nothing to wait for: the wish is there, or the end.
    pub(crate) fn watch_exit(&self, waker: &Waker) -> bool {
        let mut inner = self.inner.lock();
        if inner.state == State::Dead || inner.is_asked_to_end() {
            return false;
        }
        let old = inner.ending.get_or_insert_with(Box::default).watcher.replace(waker.clone());
        drop(inner);
        drop(old);
        true
    }

    pub(crate) fn exit_requested(&self) -> bool {
        self.kill.load(Ordering::Acquire)
    }

    pub(crate) fn exit_reason(&self) -> Option<ExitReason> {
        self.inner.lock().ending.as_ref().and_then(|ending| ending.reason.clone())
    }

    /// Ends the mailbox and returns what was in it. Returns `None` if it was closed before.
    pub(crate) fn close(&self) -> Option<Batch<M, B>> {
        let mut inner = self.inner.lock();
        if inner.state == State::Dead {
            return None;
        }
        inner.state = State::Dead;
        let room = inner.bound.take().map(|bound| bound.room).unwrap_or_default();
        let rest = Batch { front: inner.front.take(), queue: std::mem::take(&mut inner.queue) };
        let role = std::mem::replace(&mut inner.role, Role::Pull(None));
        let watcher = inner.ending.as_mut().and_then(|ending| ending.watcher.take());
        drop(inner);
        self.in_hand.store(0, Ordering::Relaxed);
        drop((role, watcher));
        wake_all(room);
        Some(rest)
    }

    /// The pull side: the next envelope, or the waker is left for it.
    pub(crate) fn pull(&self, waker: Option<&Waker>) -> Pull<M, B> {
        let mut inner = self.inner.lock();
        if inner.state == State::Dead {
            return Pull::Ended;
        }
        if let Some(item) = inner.pop() {
            let room = inner.taken(&item);
            drop(inner);
            wake_all(room);
            return Pull::Item(item);
        }
        if inner.is_asked_to_end() {
            return Pull::Ended;
        }
        if let (Some(waker), Role::Pull(slot)) = (waker, &mut inner.role) {
            let old = slot.replace(waker.clone());
            drop(inner);
            // Its destructor may be that of a task that holds the inbox.
            drop(old);
        }
        Pull::Empty
    }

    pub(crate) fn len(&self) -> usize {
        let inner = self.inner.lock();
        inner.queue.len() + usize::from(inner.front.is_some()) + self.in_hand.load(Ordering::Relaxed) as usize
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.inner.lock().state == State::Dead
    }

    pub(crate) fn state_name(&self) -> &'static str {
        let inner = self.inner.lock();
        match (inner.state, &inner.role) {
            (State::Idle, Role::Pull(Some(_))) => "waiting",
            (State::Idle, Role::Pull(None)) => "running",
            (State::Idle, _) => "idle",
            (State::Scheduled, _) => "scheduled",
            (State::Running, _) => "running",
            (State::Dead, _) => "dead",
        }
    }

    /// Shows the behaviour, if nobody runs it. The visitor runs under the lock: it may look, nothing else.
    pub(crate) fn visit(&self, visitor: impl FnOnce(&B)) {
        if let Role::Push(Some(behaviour)) = &self.inner.lock().role {
            visitor(behaviour);
        }
    }

    pub(crate) fn is_pull(&self) -> bool {
        matches!(self.inner.lock().role, Role::Pull(_))
    }

    /// Sets the capacity, or only the policy if `capacity` is `None` and there is one already.
    /// Returns false if there is neither an old nor a new capacity.
    pub(crate) fn set_bound(&self, capacity: Option<usize>, policy: Overflow) -> bool {
        let mut inner = self.inner.lock();
        let users = inner.users();
        // Without any room who waits for some would wait for ever.
        let least = usize::from(policy == Overflow::Block);
        match (&mut inner.bound, capacity) {
            (Some(bound), capacity) => {
                bound.policy = policy;
                bound.capacity = capacity.unwrap_or(bound.capacity).max(least);
                let room = std::mem::take(&mut bound.room);
                drop(inner);
                wake_all(room);
                true
            }
            (slot @ None, Some(capacity)) => {
                let capacity = capacity.max(least);
                *slot = Some(Box::new(Bound { capacity, users, policy, room: Vec::new() }));
                true
            }
            (None, None) => false,
        }
    }

    /// A sender no longer waits for room.
    pub(crate) fn forget_waiter(&self, waiter: &Waker) {
        if let Some(bound) = &mut self.inner.lock().bound {
            bound.room.retain(|waker| !waker.will_wake(waiter));
        }
    }
}

impl<M, B> Inner<M, B> {
    fn append(&mut self, envelope: Envelope<M, B>) {
        if self.front.is_none() && self.queue.is_empty() {
            self.front = Some(envelope);
        } else {
            self.queue.push_back(envelope);
        }
    }

    fn pop(&mut self) -> Option<Envelope<M, B>> {
        self.front.take().or_else(|| self.queue.pop_front())
    }

    fn users(&self) -> usize {
        self.front.iter().chain(&self.queue).filter(|envelope| matches!(envelope, Envelope::User(_))).count()
    }

    fn is_asked_to_end(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| ending.reason.is_some())
    }

    /// The one place where an idle cell turns into a scheduled one.
    fn wake(&mut self) -> Wake {
        match (&mut self.role, self.state) {
            (Role::Pull(waker), _) => waker.take().map_or(Wake::Nothing, Wake::Waker),
            (Role::Push(_), State::Idle) => {
                self.state = State::Scheduled;
                Wake::Schedule
            }
            _ => Wake::Nothing,
        }
    }

    fn push_bounded(&mut self, envelope: Envelope<M, B>, fit: Fit, waiter: Option<&Waker>) -> Push<M, B> {
        let Some(bound) = self.bound.as_mut() else { return Push::Dead(envelope) };
        let full = fit == Fit::Bounded && bound.users >= bound.capacity;
        if !full {
            bound.users += 1;
            self.append(envelope);
            return Push::Queued(self.wake());
        }
        if bound.policy != Overflow::DropOld {
            if let (Overflow::Block, Some(waiter)) = (bound.policy, waiter) {
                bound.room.push(waiter.clone());
            }
            return Push::Full(envelope, bound.policy);
        }
        let policy = bound.policy;
        match self.evict() {
            Some(oldest) => {
                self.append(envelope);
                Push::Evicted(self.wake(), oldest)
            }
            None => Push::Full(envelope, policy),
        }
    }

    /// Removes the oldest user message; control is never dropped.
    fn evict(&mut self) -> Option<M> {
        if matches!(self.front, Some(Envelope::User(_))) {
            let Some(Envelope::User(message)) = self.front.take() else { return None };
            self.front = self.queue.pop_front();
            return Some(message);
        }
        let at = self.queue.iter().position(|envelope| matches!(envelope, Envelope::User(_)))?;
        match self.queue.remove(at) {
            Some(Envelope::User(message)) => Some(message),
            _ => None,
        }
    }

    /// Accounts for an envelope that left a bounded mailbox; returns who waits for its place.
    fn taken(&mut self, envelope: &Envelope<M, B>) -> Vec<Waker> {
        match (&mut self.bound, envelope) {
            (Some(bound), Envelope::User(_)) => {
                bound.users = bound.users.saturating_sub(1);
                if bound.users < bound.capacity { std::mem::take(&mut bound.room) } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    /// Everything at once, or one envelope of a bounded mailbox (whose places must be counted exactly). The empty batch's queue, whose memory
    /// is used for what comes next, is given in exchange: the sender and the runner of a busy actor allocate nothing.
    fn take_batch(&mut self, batch: &mut Batch<M, B>) -> Vec<Waker> {
        if self.bound.is_none() {
            batch.front = self.front.take();
            if !self.queue.is_empty() {
                std::mem::swap(&mut self.queue, &mut batch.queue);
            }
            return Vec::new();
        }
        batch.front = self.pop();
        batch.front.as_ref().map(|envelope| self.taken(envelope)).unwrap_or_default()
    }

    fn put_back(&mut self, batch: &mut Batch<M, B>) {
        if batch.len() == 0 {
            return;
        }
        if let Some(bound) = &mut self.bound {
            // A bounded mailbox hands out one envelope at a time, so this is short.
            let users =
                batch.front.iter().chain(&batch.queue).filter(|item| matches!(item, Envelope::User(_)));
            bound.users += users.count();
        }
        if let Some(newer) = self.front.take() {
            batch.queue.push_back(newer);
        }
        batch.queue.append(&mut self.queue);
        self.front = batch.front.take().or_else(|| batch.queue.pop_front());
        self.queue = std::mem::take(&mut batch.queue);
    }
}

#[inline]
fn wake_all(wakers: Vec<Waker>) {
    if wakers.is_empty() {
        return;
    }
    for waker in wakers {
        waker.wake();
    }
}

#[cfg(all(test, not(iris_loom)))]
mod tests;

#[cfg(all(test, iris_loom))]
mod loom_tests;
