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
use crate::sync::Mutex;

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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Push,
    Pull,
}

/// As small as can be: with one message at a time, how many cache lines a sender and then a runner have to fetch for an actor is most of
/// what the message costs.
struct Inner<M, B> {
    state: State,
    role: Role,
    why: Why,
    /// The owner of a pull mailbox has taken a message and not come back for another.
    holds: bool,
    /// Messages that were there when a turn left the cell scheduled: the next turn may read them all.
    due: u32,
    /// The first message lies here, so that an actor that gets one message at a time never allocates a queue.
    front: Option<Envelope<M, B>>,
    /// Away while somebody runs it; none in a pull mailbox.
    behaviour: Option<B>,
    ending: Option<Box<Ending>>,
    extra: Option<Box<Extra<M, B>>>,
}

/// What the cell is asked to end for; once it is dead, what it ended for. The reasons that many end for at once need no memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    Nothing,
    Normal,
    Shutdown,
    Killed,
    /// See `Ending`.
    Told,
}

/// A reason to end that says more, and whom to tell of the wish at once although it does not wait for messages. In a box because most
/// actors have neither.
#[derive(Default)]
struct Ending {
    reason: Option<ExitReason>,
    watcher: Option<Waker>,
}

/// What a mailbox with one message at a time does without.
struct Extra<M, B> {
    /// What came after the first message.
    queue: VecDeque<Envelope<M, B>>,
    bound: Option<Box<Bound>>,
    /// Of the owner of a pull mailbox.
    waker: Option<Waker>,
}

impl<M, B> Default for Extra<M, B> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), bound: None, waker: None }
    }
}

/// What the pusher has to do after it has let go of the lock.
pub(crate) enum Wake {
    Nothing,
    Schedule,
    /// The cell runs: its worker has to look at the mailbox before the next message.
    Preempt,
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
    queue: Option<VecDeque<Envelope<M, B>>>,
}

impl<M, B> Batch<M, B> {
    pub(crate) fn empty() -> Self {
        Self { front: None, queue: None }
    }

    pub(crate) fn pop(&mut self) -> Option<Envelope<M, B>> {
        self.front.take().or_else(|| self.queue.as_mut()?.pop_front())
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.as_ref().map_or(0, VecDeque::len) + usize::from(self.front.is_some())
    }
}

/// What the runner holds between `begin` and the end of its turn.
pub(crate) struct Turn<M, B> {
    pub(crate) behaviour: Option<B>,
    pub(crate) batch: Batch<M, B>,
    /// Messages that have been here since the end of the last turn.
    pub(crate) due: u32,
    /// The cell was asked to end before its next message.
    pub(crate) exit: bool,
}

impl<M, B> Turn<M, B> {
    /// What `begin` fills in place: one that it returned would be copied, which shows in turns of one message.
    pub(crate) fn empty() -> Self {
        Self { behaviour: None, batch: Batch::empty(), due: 0, exit: false }
    }
}

pub(crate) enum Pull<M, B> {
    Item(Envelope<M, B>),
    Empty,
    Ended,
}

pub(crate) struct Mailbox<M, B> {
    inner: Mutex<Inner<M, B>>,
}

impl<M, B> Mailbox<M, B> {
    pub(crate) fn push_role(behaviour: B) -> Self {
        Self::new(Role::Push, Some(behaviour))
    }

    pub(crate) fn pull_role() -> Self {
        Self::new(Role::Pull, None)
    }

    fn new(role: Role, behaviour: Option<B>) -> Self {
        let inner = Inner {
            state: State::Idle,
            role,
            why: Why::Nothing,
            holds: false,
            due: 0,
            front: None,
            behaviour,
            ending: None,
            extra: None,
        };
        Self { inner: Mutex::new(inner) }
    }

    /// Puts an envelope at the end. `waiter` is left for the next free place if the policy is `Block`.
    pub(crate) fn push(&self, envelope: Envelope<M, B>, fit: Fit, waiter: Option<&Waker>) -> Push<M, B> {
        let mut inner = self.inner.lock();
        if inner.takes_nothing() {
            return Push::Dead(envelope);
        }
        if inner.is_bounded() && matches!(envelope, Envelope::User(_)) {
            return inner.push_bounded(envelope, fit, waiter);
        }
        inner.append(envelope);
        Push::Queued(inner.wake())
    }

    /// Puts control before everything that waits.
    pub(crate) fn push_next(&self, control: Envelope<M, B>) -> Wake {
        let mut inner = self.inner.lock();
        if inner.takes_nothing() {
            return Wake::Nothing;
        }
        if let Some(first) = inner.front.replace(control) {
            inner.extra().queue.push_front(first);
        }
        inner.wake()
    }

    /// `push` for a message to an unbounded mailbox, which is nearly every one. `Ok` says whether the cell has to be scheduled; `Err` that
    /// it is not so simple.
    #[inline]
    pub(crate) fn deliver(&self, message: M) -> Result<bool, M> {
        let mut inner = self.inner.lock();
        if inner.takes_nothing() || inner.is_bounded() {
            return Err(message);
        }
        inner.append(Envelope::User(message));
        match inner.wake() {
            Wake::Schedule => Ok(true),
            Wake::Nothing | Wake::Preempt => Ok(false),
            Wake::Waker(waker) => {
                drop(inner);
                waker.wake();
                Ok(false)
            }
        }
    }

    /// Uses up a run permit and fills the empty `turn`. False if the cell died meanwhile.
    #[must_use]
    pub(crate) fn begin(&self, turn: &mut Turn<M, B>) -> bool {
        let mut inner = self.inner.lock();
        if inner.state != State::Scheduled {
            return false;
        }
        turn.behaviour = inner.behaviour.take();
        inner.state = State::Running;
        turn.due = std::mem::take(&mut inner.due);
        turn.exit = inner.is_asked_to_end();
        let room = inner.take_batch(&mut turn.batch);
        drop(inner);
        if let Some(room) = room {
            wake_all(room);
        }
        true
    }

    /// The runner has used up its batch: it gets the next one, or the cell becomes idle and the turn is over (`false`).
    pub(crate) fn refill_or_idle(&self, turn: &mut Turn<M, B>) -> bool {
        let mut inner = self.inner.lock();
        if inner.is_empty() && !inner.is_asked_to_end() {
            inner.behaviour = turn.behaviour.take();
            inner.state = State::Idle;
            if let Some(surplus) = inner.settle(&mut turn.batch.queue) {
                drop(inner);
                drop(surplus);
            }
            return false;
        }
        turn.exit = inner.is_asked_to_end();
        if turn.batch.queue.as_ref().is_some_and(|queue| queue.capacity() > BUSY_QUEUE_KEPT) {
            turn.batch.queue = None;
        }
        let room = inner.take_batch(&mut turn.batch);
        drop(inner);
        if let Some(room) = room {
            wake_all(room);
        }
        true
    }

    /// The runner's budget is spent: what is left goes back in front, and the caller must schedule the cell if this says so.
    #[must_use]
    pub(crate) fn yield_turn(&self, turn: &mut Turn<M, B>) -> bool {
        let mut inner = self.inner.lock();
        inner.put_back(&mut turn.batch);
        inner.behaviour = turn.behaviour.take();
        let left = inner.len();
        inner.due = u32::try_from(left).unwrap_or(u32::MAX);
        let more = left > 0 || inner.is_asked_to_end();
        inner.state = if more { State::Scheduled } else { State::Idle };
        more
    }

    /// Asks the cell to end before its next message. A killed cell takes no message from then on.
    pub(crate) fn request_exit(&self, reason: ExitReason) -> Wake {
        let mut inner = self.inner.lock();
        // The first reason stands, unless it is a kill that comes later: whoever dawdles over its end is killed.
        let stands = inner.is_asked_to_end() && !matches!(reason, ExitReason::Killed);
        if inner.takes_nothing() || stands {
            return Wake::Nothing;
        }
        let runs = inner.state == State::Running;
        inner.set_reason(reason);
        let watcher = inner.ending.as_mut().and_then(|ending| ending.watcher.take());
        match inner.wake() {
            Wake::Nothing if runs => Wake::Preempt,
            Wake::Nothing => watcher.map_or(Wake::Nothing, Wake::Waker),
            wake => wake,
        }
    }

    /// What waits in a killed mailbox: nobody will handle it. Nothing comes after it.
    pub(crate) fn empty_killed(&self) -> Batch<M, B> {
        let mut inner = self.inner.lock();
        if inner.state == State::Dead || inner.why != Why::Killed {
            return Batch::empty();
        }
        let front = inner.front.take();
        let queue = inner.extra.as_mut().map(|extra| std::mem::take(&mut extra.queue));
        let room = inner.bound().map(|bound| {
            bound.users = 0;
            std::mem::take(&mut bound.room)
        });
        drop(inner);
        wake_all(room.unwrap_or_default());
        Batch { front, queue }
    }

    pub(crate) fn is_killed(&self) -> bool {
        self.inner.lock().why == Why::Killed
    }

    /// Leaves a waker for the wish to end, for an owner that may wait for something else than messages. It is woken at most once,
    /// and not at all if the owner waits in `pull` by then. False if there is nothing to wait for: the wish is there, or the end.
    pub(crate) fn watch_exit(&self, waker: &Waker) -> bool {
        let mut inner = self.inner.lock();
        if inner.state == State::Dead || inner.is_asked_to_end() {
            return false;
        }
        let old = inner.ending.get_or_insert_default().watcher.replace(waker.clone());
        drop(inner);
        drop(old);
        true
    }

    pub(crate) fn exit_requested(&self) -> bool {
        self.inner.lock().is_asked_to_end()
    }

    pub(crate) fn exit_reason(&self) -> Option<ExitReason> {
        self.inner.lock().reason()
    }

    /// Why the cell ended; `None` if it has not.
    pub(crate) fn end_reason(&self) -> Option<ExitReason> {
        let inner = self.inner.lock();
        (inner.state == State::Dead).then(|| inner.reason().unwrap_or(ExitReason::Normal))
    }

    /// Ends the mailbox and returns what was in it. Returns `None` if it was closed before. The reason is kept for those who still hold
    /// the cell, but no exception, because they refer to much.
    pub(crate) fn close(&self, reason: &ExitReason) -> Option<Batch<M, B>> {
        let kept = match reason {
            ExitReason::Exception(_) => ExitReason::NoProcess,
            other => other.clone(),
        };
        let mut inner = self.inner.lock();
        if inner.state == State::Dead {
            return None;
        }
        inner.state = State::Dead;
        let extra = inner.extra.take().map(|extra| *extra).unwrap_or_default();
        let rest = Batch { front: inner.front.take(), queue: Some(extra.queue) };
        let behaviour = inner.behaviour.take();
        let over = inner.ending.take();
        inner.set_reason(kept);
        drop(inner);
        drop((behaviour, over, extra.waker));
        wake_all(extra.bound.map(|bound| bound.room).unwrap_or_default());
        Some(rest)
    }

    /// The pull side: the next envelope, or the waker is left for it. If it is `prompt`, nothing is received once the cell was asked to end.
    pub(crate) fn pull(&self, waker: Option<&Waker>, prompt: bool) -> Pull<M, B> {
        let mut inner = self.inner.lock();
        if inner.takes_nothing() || (prompt && inner.is_asked_to_end()) {
            inner.holds = false;
            return Pull::Ended;
        }
        let item = inner.pop();
        inner.holds = matches!(item, Some(Envelope::User(_)));
        if let Some(item) = item {
            let room = inner.taken(&item);
            drop(inner);
            wake_all(room);
            return Pull::Item(item);
        }
        if inner.is_asked_to_end() {
            return Pull::Ended;
        }
        if let (Some(waker), Role::Pull) = (waker, inner.role) {
            let old = inner.extra().waker.replace(waker.clone());
            drop(inner);
            // Its destructor may be that of a task that holds the inbox.
            drop(old);
        }
        Pull::Empty
    }

    /// Messages that no runner has taken yet, and whether there is a runner, who may have taken more than it has begun.
    pub(crate) fn len(&self) -> (usize, bool) {
        let inner = self.inner.lock();
        (inner.len(), inner.state == State::Running)
    }

    /// The owner of a pull mailbox goes on with a message that it had put aside.
    pub(crate) fn hold(&self) {
        self.inner.lock().holds = true;
    }

    /// No message waits and none is being handled.
    pub(crate) fn is_at_rest(&self) -> bool {
        let inner = self.inner.lock();
        match inner.state {
            State::Dead => true,
            State::Idle => inner.is_empty() && !inner.holds,
            State::Scheduled | State::Running => false,
        }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.inner.lock().state == State::Dead
    }

    pub(crate) fn state_name(&self) -> &'static str {
        let inner = self.inner.lock();
        match (inner.state, inner.role) {
            (State::Idle, Role::Pull) => {
                let waits = inner.extra.as_ref().is_some_and(|extra| extra.waker.is_some());
                if waits { "waiting" } else { "running" }
            }
            (State::Idle, Role::Push) => "idle",
            (State::Scheduled, _) => "scheduled",
            (State::Running, _) => "running",
            (State::Dead, _) => "dead",
        }
    }

    /// Shows the behaviour, if nobody runs it. The visitor runs under the lock: it may look, nothing else.
    pub(crate) fn visit(&self, visitor: impl FnOnce(&B)) {
        if let Some(behaviour) = &self.inner.lock().behaviour {
            visitor(behaviour);
        }
    }

    pub(crate) fn is_pull(&self) -> bool {
        self.inner.lock().role == Role::Pull
    }

    /// Sets the capacity, or only the policy if `capacity` is `None` and there is one already.
    /// Returns false if there is neither an old nor a new capacity.
    pub(crate) fn set_bound(&self, capacity: Option<usize>, policy: Overflow) -> bool {
        let mut inner = self.inner.lock();
        let users = inner.users();
        if !inner.is_bounded() && capacity.is_none() {
            return false;
        }
        // Without any room who waits for some would wait for ever.
        let least = usize::from(policy == Overflow::Block);
        match (&mut inner.extra().bound, capacity) {
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
        if let Some(bound) = self.inner.lock().bound() {
            bound.room.retain(|waker| !waker.will_wake(waiter));
        }
    }
}

impl<M, B> Inner<M, B> {
    fn extra(&mut self) -> &mut Extra<M, B> {
        self.extra.get_or_insert_default()
    }

    fn bound(&mut self) -> Option<&mut Bound> {
        self.extra.as_mut()?.bound.as_deref_mut()
    }

    fn is_bounded(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.bound.is_some())
    }

    #[inline]
    fn append(&mut self, envelope: Envelope<M, B>) {
        if self.is_empty() {
            self.front = Some(envelope);
        } else {
            self.extra().queue.push_back(envelope);
        }
    }

    fn pop(&mut self) -> Option<Envelope<M, B>> {
        self.front.take().or_else(|| self.extra.as_mut()?.queue.pop_front())
    }

    fn len(&self) -> usize {
        usize::from(self.front.is_some()) + self.extra.as_ref().map_or(0, |extra| extra.queue.len())
    }

    fn is_empty(&self) -> bool {
        self.front.is_none() && self.extra.as_ref().is_none_or(|extra| extra.queue.is_empty())
    }

    fn users(&self) -> usize {
        let queue = self.extra.iter().flat_map(|extra| &extra.queue);
        self.front.iter().chain(queue).filter(|envelope| matches!(envelope, Envelope::User(_))).count()
    }

    fn reason(&self) -> Option<ExitReason> {
        match self.why {
            Why::Nothing => None,
            Why::Normal => Some(ExitReason::Normal),
            Why::Shutdown => Some(ExitReason::Shutdown),
            Why::Killed => Some(ExitReason::Killed),
            Why::Told => self.ending.as_ref().and_then(|ending| ending.reason.clone()),
        }
    }

    fn set_reason(&mut self, reason: ExitReason) {
        self.why = match reason {
            ExitReason::Normal => Why::Normal,
            ExitReason::Shutdown => Why::Shutdown,
            ExitReason::Killed => Why::Killed,
            other => {
                self.ending.get_or_insert_default().reason = Some(other);
                Why::Told
            }
        };
    }

    fn is_asked_to_end(&self) -> bool {
        self.why != Why::Nothing
    }

    /// Whether messages are refused: the cell is dead, or killed and will be.
    #[inline]
    fn takes_nothing(&self) -> bool {
        self.state == State::Dead || self.why == Why::Killed
    }

    /// The one place where an idle cell turns into a scheduled one.
    #[inline]
    fn wake(&mut self) -> Wake {
        match (self.role, self.state) {
            (Role::Push, State::Idle) => {
                self.state = State::Scheduled;
                Wake::Schedule
            }
            (Role::Push, _) => Wake::Nothing,
            (Role::Pull, _) => {
                let waker = self.extra.as_mut().and_then(|extra| extra.waker.take());
                waker.map_or(Wake::Nothing, Wake::Waker)
            }
        }
    }

    /// An idle mailbox keeps a small queue of the two that it and its runner had. Returns what is to be dropped without the lock.
    fn settle(&mut self, used: &mut Option<VecDeque<Envelope<M, B>>>) -> Option<Box<Extra<M, B>>> {
        let extra = self.extra.as_mut()?;
        let here = extra.queue.capacity();
        if here > IDLE_QUEUE_KEPT || (here == 0 && used.is_some()) {
            std::mem::swap(&mut extra.queue, used.get_or_insert_default());
        }
        if extra.queue.capacity() <= IDLE_QUEUE_KEPT {
            return None;
        }
        if extra.bound.is_none() && extra.waker.is_none() {
            return self.extra.take();
        }
        let queue = std::mem::take(&mut extra.queue);
        Some(Box::new(Extra { queue, ..Extra::default() }))
    }

    fn push_bounded(&mut self, envelope: Envelope<M, B>, fit: Fit, waiter: Option<&Waker>) -> Push<M, B> {
        let Some(bound) = self.bound() else { return Push::Dead(envelope) };
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
            self.front = self.pop();
            return Some(message);
        }
        let queue = &mut self.extra.as_mut()?.queue;
        let at = queue.iter().position(|envelope| matches!(envelope, Envelope::User(_)))?;
        match queue.remove(at) {
            Some(Envelope::User(message)) => Some(message),
            _ => None,
        }
    }

    /// Accounts for an envelope that left a bounded mailbox; returns who waits for its place.
    fn taken(&mut self, envelope: &Envelope<M, B>) -> Vec<Waker> {
        match (self.bound(), envelope) {
            (Some(bound), Envelope::User(_)) => {
                bound.users = bound.users.saturating_sub(1);
                if bound.users < bound.capacity { std::mem::take(&mut bound.room) } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    /// Everything at once, or one envelope of a bounded mailbox (whose places must be counted exactly) and who waits for its place. The empty
    /// batch's queue, whose memory is used for what comes next, is given in exchange: the sender and the runner of a busy actor allocate nothing.
    #[inline]
    fn take_batch(&mut self, batch: &mut Batch<M, B>) -> Option<Vec<Waker>> {
        if self.extra.is_some() {
            return self.take_queue(batch);
        }
        batch.front = self.front.take();
        None
    }

    #[inline(never)]
    fn take_queue(&mut self, batch: &mut Batch<M, B>) -> Option<Vec<Waker>> {
        if self.is_bounded() {
            batch.front = self.pop();
            return batch.front.as_ref().map(|envelope| self.taken(envelope));
        }
        batch.front = self.front.take();
        if let Some(extra) = self.extra.as_mut().filter(|extra| !extra.queue.is_empty()) {
            std::mem::swap(&mut extra.queue, batch.queue.get_or_insert_default());
        }
        None
    }

    fn put_back(&mut self, batch: &mut Batch<M, B>) {
        if batch.len() == 0 {
            return;
        }
        let mut queue = batch.queue.take().unwrap_or_default();
        if let Some(bound) = self.bound() {
            // A bounded mailbox hands out one envelope at a time, so this is short.
            let users = batch.front.iter().chain(&queue).filter(|item| matches!(item, Envelope::User(_)));
            bound.users += users.count();
        }
        queue.extend(self.front.take());
        if let Some(extra) = &mut self.extra {
            queue.append(&mut extra.queue);
        }
        self.front = batch.front.take().or_else(|| queue.pop_front());
        if queue.capacity() > 0 {
            self.extra().queue = queue;
        }
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
