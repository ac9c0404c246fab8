//! Typed references to actors. Owns sending: what each overflow policy means for a sender inside or outside an actor.
//! Invariant: `send` gives the message back or it lies in a mailbox; nothing is dropped in between without a dead letter.
//! A reference keeps a dead actor's cell, never its behaviour or messages.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::behaviour::Behaviour;
use crate::call::{Call, CallError, ReplyTo, call_pair, deadline};
use crate::cell::Cell;
use crate::context::current_actor;
use crate::exit::ExitReason;
use crate::handle::Handle;
use crate::limits::REDIRECT_HOPS_MAX;
use crate::mailbox::{Envelope, Fit, Overflow, Push};
use crate::pid::Pid;
use crate::timer::TimerGuard;

/// Why a message was not accepted; it comes back.
#[derive(PartialEq, Eq)]
pub enum SendError<M> {
    /// The mailbox is full and its policy refuses.
    Full(M),
    /// The actor has ended.
    NoProcess(M),
}

impl<M> SendError<M> {
    /// The message.
    pub fn into_inner(self) -> M {
        match self {
            Self::Full(message) | Self::NoProcess(message) => message,
        }
    }
}

impl<M> fmt::Debug for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full",
            Self::NoProcess(_) => "NoProcess",
        })
    }
}

impl<M> fmt::Display for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the mailbox is full",
            Self::NoProcess(_) => "no such actor",
        })
    }
}

impl<M> std::error::Error for SendError<M> {}

/// A reference to an actor that takes messages of type `M`.
pub struct ActorRef<M: Send + 'static>(Arc<Cell<M>>);

/// A reference that does not keep the cell.
pub struct WeakActorRef<M: Send + 'static>(Weak<Cell<M>>);

impl<M: Send + 'static> Clone for ActorRef<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Send + 'static> fmt::Debug for ActorRef<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActorRef{}", self.0.pid)
    }
}

impl<M: Send + 'static> WeakActorRef<M> {
    /// The reference, if the cell still is.
    #[must_use]
    pub fn upgrade(&self) -> Option<ActorRef<M>> {
        self.0.upgrade().map(ActorRef)
    }
}

/// What a sender does where the policy `Block` makes it wait.
#[derive(Clone, Copy)]
enum Patience {
    /// It takes the message back.
    None,
    /// It goes above the capacity.
    Over,
    /// It waits, until the deadline if there is one.
    Until(Option<Instant>),
}

/// Outcome of one attempt to push under the bound.
enum Attempt<M> {
    Done,
    Refused(SendError<M>),
    Elsewhere(M, Pid, bool),
    Blocked(M),
}

impl<M: Send + 'static> ActorRef<M> {
    pub(crate) fn new(cell: Arc<Cell<M>>) -> Self {
        Self(cell)
    }

    pub(crate) fn cell(&self) -> &Arc<Cell<M>> {
        &self.0
    }

    /// The pid.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.0.pid
    }

    /// A weak version of this reference.
    #[must_use]
    pub fn downgrade(&self) -> WeakActorRef<M> {
        WeakActorRef(Arc::downgrade(&self.0))
    }

    /// Whether the actor has not ended.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.0.mailbox.is_dead()
    }

    /// Why the actor ended; `None` while it has not. Of an exception only its monitors and watchers hear, because it refers to much:
    /// `NoProcess` stands for it here.
    #[must_use]
    pub fn exit_reason(&self) -> Option<ExitReason> {
        self.0.mailbox.end_reason()
    }

    /// Messages not yet begun.
    #[must_use]
    pub fn mailbox_len(&self) -> usize {
        self.0.mailbox_len()
    }

    /// Sends a message. `Ok` means that it lies in a mailbox. Under the `Block` policy a full mailbox makes the caller wait:
    /// a thread outside is parked, a worker gets a stand-in, and a wait that could never end is not begun.
    #[inline]
    pub fn send(&self, message: M) -> Result<(), SendError<M>> {
        match self.0.deliver(message) {
            Ok(()) => Ok(()),
            // There is a bound, or nobody.
            Err(message) => self.send_patiently(message, Patience::Until(None)),
        }
    }

    /// Like `send`, but never waits: a full mailbox refuses whatever its policy.
    pub fn try_send(&self, message: M) -> Result<(), SendError<M>> {
        self.send_patiently(message, Patience::None)
    }

    /// Like `send`, above the capacity if need be; for senders that must not wait and must not lose (hubs of green threads).
    pub fn send_over(&self, message: M) -> Result<(), SendError<M>> {
        match self.attempt(message, Fit::OverCapacity, None) {
            Attempt::Done => Ok(()),
            Attempt::Refused(error) => Err(error),
            Attempt::Elsewhere(message, ..) | Attempt::Blocked(message) => Err(SendError::Full(message)),
        }
    }

    /// Like `send`, but where that would wait (policy `Block`) it goes above the capacity.
    pub fn send_waiting_over(&self, message: M) -> Result<(), SendError<M>> {
        self.send_patiently(message, Patience::Over)
    }

    fn send_patiently(&self, message: M, patience: Patience) -> Result<(), SendError<M>> {
        match self.attempt(message, Fit::Bounded, None) {
            Attempt::Done => Ok(()),
            Attempt::Refused(error) => Err(error),
            Attempt::Elsewhere(message, target, keep) => self.send_elsewhere(message, target, keep, patience),
            Attempt::Blocked(message) => self.send_blocked(message, patience),
        }
    }

    fn send_blocked(&self, message: M, patience: Patience) -> Result<(), SendError<M>> {
        match patience {
            Patience::None => Err(SendError::Full(message)),
            Patience::Over => self.send_over(message),
            Patience::Until(until) => self.send_blocking(message, until),
        }
    }

    /// Tells those who watch dead letters of a message that this actor, which has ended, did not take.
    pub fn refuse(&self, message: &M) {
        self.0.shared.dead_letters.refuse(self.0.pid, message);
    }

    /// Sends for nobody in particular (timers): what cannot be delivered becomes a dead letter.
    pub(crate) fn send_or_bury(&self, message: M) -> bool {
        match self.try_send(message) {
            Ok(()) => true,
            Err(error) => {
                let reason = if matches!(error, SendError::Full(_)) { "overflow" } else { "noproc" };
                self.0.shared.dead_letters.record(self.0.pid, &error.into_inner(), reason);
                false
            }
        }
    }

    fn attempt(&self, message: M, fit: Fit, waiter: Option<&Waker>) -> Attempt<M> {
        let cell = &self.0;
        match cell.mailbox.push(Envelope::User(message), fit, waiter) {
            Push::Queued(wake) => {
                cell.wake(wake);
                Attempt::Done
            }
            Push::Evicted(wake, oldest) => {
                cell.wake(wake);
                cell.shared.dead_letters.record(cell.pid, &oldest, "overflow");
                Attempt::Done
            }
            Push::Dead(Envelope::User(message)) => Attempt::Refused(SendError::NoProcess(message)),
            Push::Full(Envelope::User(message), policy) => match policy {
                Overflow::Redirect(target) => Attempt::Elsewhere(message, target, false),
                Overflow::Spill(target) => Attempt::Elsewhere(message, target, true),
                Overflow::Block => Attempt::Blocked(message),
                Overflow::DropNew | Overflow::DropOld => Attempt::Refused(SendError::Full(message)),
            },
            // Only user messages are pushed here.
            Push::Dead(Envelope::Control(_)) | Push::Full(Envelope::Control(_), _) => Attempt::Done,
        }
    }

    /// Follows redirections from full mailbox to full mailbox, a bounded number of times, each under the target's own policy. What nobody
    /// takes goes above the capacity of the last that spills.
    fn send_elsewhere(
        &self,
        message: M,
        target: Pid,
        keep: bool,
        patience: Patience,
    ) -> Result<(), SendError<M>> {
        let handle = Handle::new(self.0.shared.clone());
        let (mut message, mut next) = (message, Some(target));
        let mut keeper = keep.then(|| self.clone());
        for _ in 0..REDIRECT_HOPS_MAX {
            let Some(actor) = next.take().and_then(|pid| handle.actor::<M>(pid)) else { break };
            match actor.attempt(message, Fit::Bounded, None) {
                Attempt::Done => return Ok(()),
                Attempt::Refused(error) => message = error.into_inner(),
                Attempt::Blocked(back) if keeper.is_some() => message = back,
                Attempt::Blocked(back) => return actor.send_blocked(back, patience),
                Attempt::Elsewhere(back, target, keep) => {
                    message = back;
                    next = Some(target);
                    keeper = if keep { Some(actor) } else { keeper };
                }
            }
        }
        let Some(keeper) = keeper else { return Err(SendError::Full(message)) };
        match keeper.send_over(message) {
            Err(error) if keep => self.send_over(error.into_inner()),
            kept => kept,
        }
    }

    /// Waits for room. Workers get a stand-in; a cycle of waiting actors is found before it closes and goes over capacity instead.
    fn send_blocking(&self, message: M, until: Option<Instant>) -> Result<(), SendError<M>> {
        let shared = &self.0.shared;
        let sender = current_actor(shared);
        let Some(sender) = sender else {
            if shared.simulation.is_some() {
                return Err(SendError::Full(message));
            }
            return self.wait_for_room(message, until);
        };
        let can_block = shared.pools.iter().any(|pool| pool.on_worker() && pool.can_block());
        if shared.simulation.is_some() || !can_block || !WAITING.begin(shared, sender, self.0.pid) {
            return self.send_over(message);
        }
        let wait = || self.wait_for_room(message, until);
        let result = match shared.pools.iter().find(|pool| pool.on_worker()) {
            Some(pool) => pool.block_in_place(shared, wait),
            None => wait(),
        };
        WAITING.end(shared, sender);
        result
    }

    fn wait_for_room(&self, mut message: M, until: Option<Instant>) -> Result<(), SendError<M>> {
        let gate = Arc::new(Gate::default());
        let waker = Waker::from(gate.clone());
        loop {
            match self.attempt(message, Fit::Bounded, Some(&waker)) {
                Attempt::Done => return Ok(()),
                Attempt::Refused(error) => return Err(error),
                Attempt::Elsewhere(message, target, keep) => {
                    return self.send_elsewhere(message, target, keep, Patience::Until(until));
                }
                Attempt::Blocked(back) => message = back,
            }
            if !gate.wait(until) {
                self.0.mailbox.forget_waiter(&waker);
                return Err(SendError::Full(message));
            }
        }
    }

    /// Sends a request that carries the right to answer it, and returns the call to wait for.
    pub fn call<R: Send + 'static>(
        &self,
        timeout: Option<Duration>,
        request: impl FnOnce(ReplyTo<R>) -> M,
    ) -> Call<R> {
        let until = timeout.and_then(deadline);
        let (reply, mut call) = call_pair();
        // Before the request is sent, which may wait for room.
        if let Some(timeout) = timeout {
            call.set_deadline(self.expire_after(timeout, &call));
        }
        if let Err(error) = self.send_patiently(request(reply), Patience::Until(until)) {
            call.refuse_with(error, until);
        }
        call
    }

    fn expire_after<R: Send + 'static>(&self, timeout: Duration, call: &Call<R>) -> TimerGuard {
        let slot = Arc::downgrade(call.slot());
        let expire = move || {
            let slot = slot.upgrade();
            slot.iter().for_each(|slot| slot.expire());
            slot.is_some()
        };
        let shared = &self.0.shared;
        let id = shared.timer(timeout, None, Arc::new(expire));
        TimerGuard { shared: Arc::downgrade(shared), id }
    }

    /// Sends a request and blocks for the reply.
    pub fn ask<R: Send + 'static>(
        &self,
        timeout: Option<Duration>,
        request: impl FnOnce(ReplyTo<R>) -> M,
    ) -> Result<R, CallError> {
        let until = timeout.and_then(deadline);
        // The thread is given away before the request is sent: what nobody could wait for is not asked.
        let asking = || {
            let (reply, call) = call_pair();
            if let Err(error) = self.send_patiently(request(reply), Patience::Until(until)) {
                call.refuse_with(error, until);
            }
            call.wait(until.map(|until| until.saturating_duration_since(Instant::now())))
        };
        Handle::new(self.0.shared.clone()).try_blocking(asking).unwrap_or(Err(CallError::NoThread))
    }

    /// Replaces the behaviour, in mailbox order. Returns the new version, or `None` if the actor has ended or is a pull actor.
    pub fn hot_swap(&self, behaviour: impl Behaviour<M>) -> Option<u32> {
        self.0.swap(Box::new(behaviour))
    }

    /// The same with a behaviour that is boxed already.
    pub fn hot_swap_boxed(&self, behaviour: Box<dyn Behaviour<M>>) -> Option<u32> {
        self.0.swap(behaviour)
    }

    /// Ends the actor before its next message.
    pub fn exit(&self, reason: ExitReason) {
        let wake = self.0.mailbox.request_exit(reason);
        self.0.wake(wake);
    }
}

impl<R> Call<R> {
    /// The request came back: its `ReplyTo` must not report `NoReply` first.
    fn refuse_with<M>(&self, error: SendError<M>, until: Option<Instant>) {
        self.refuse(until);
        drop(error);
    }
}

#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    signal: Condvar,
}

impl Gate {
    /// False if it is still closed at the deadline.
    fn wait(&self, until: Option<Instant>) -> bool {
        let mut open = self.open.lock();
        while !*open {
            match until {
                Some(until) if Instant::now() >= until => return false,
                Some(until) => {
                    self.signal.wait_until(&mut open, until);
                }
                None => self.signal.wait(&mut open),
            }
        }
        *open = false;
        true
    }
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        *self.open.lock() = true;
        self.signal.notify_one();
    }
}

/// Which actor waits for room in whose mailbox, so that no circle of waiting actors ever closes.
#[derive(Default)]
struct WaitGraph(Mutex<HashMap<(usize, Pid), Pid>>);

static WAITING: LazyLock<WaitGraph> = LazyLock::new(WaitGraph::default);

impl WaitGraph {
    fn begin(&self, shared: &Arc<crate::runtime::Shared>, sender: Pid, target: Pid) -> bool {
        let key = Arc::as_ptr(shared) as usize;
        let mut edges = self.0.lock();
        let mut next = Some(target);
        while let Some(pid) = next {
            if pid == sender {
                return false;
            }
            next = edges.get(&(key, pid)).copied();
        }
        edges.insert((key, sender), target);
        true
    }

    fn end(&self, shared: &Arc<crate::runtime::Shared>, sender: Pid) {
        self.0.lock().remove(&(Arc::as_ptr(shared) as usize, sender));
    }
}
