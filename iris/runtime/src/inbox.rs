//! Pull actors: whoever holds the `Inbox` is the actor. Owns receiving (plain, selective, blocking, async) and the stash of messages
//! that a selective receive passed over. Invariant: dropping the inbox ends the actor; messages come out in mailbox order except
//! where a matcher chose otherwise, and passed-over ones come first next time. The matcher never runs under a lock.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use crate::behaviour::Signal;
use crate::call::deadline;
use crate::cell::{Cell, Logic, drop_quietly};
use crate::exit::ExitReason;
use crate::mailbox::{Batch, Control, Envelope, Pull};
use crate::pid::Pid;
use crate::reference::ActorRef;

/// What a pull actor gets.
#[derive(Debug)]
pub enum Received<M> {
    /// A message.
    Message(M),
    /// A signal of the runtime.
    Signal(Signal),
}

/// Why there is nothing to receive.
#[derive(Clone, Debug)]
pub enum Nothing {
    /// Not yet.
    Empty,
    /// Not any more: the actor was asked to end, for this reason.
    Ended(ExitReason),
}

/// The receiving end of a pull actor.
pub struct Inbox<M: Send + 'static> {
    cell: Arc<Cell<M>>,
    stash: VecDeque<Received<M>>,
    reason: Option<ExitReason>,
    /// When the last message was handed out, if handlers are timed.
    handed: Option<Instant>,
    /// Nothing is received once the actor was asked to end.
    prompt: bool,
}

impl<M: Send + 'static> Inbox<M> {
    pub(crate) fn new(cell: Arc<Cell<M>>) -> Self {
        Self { cell, stash: VecDeque::new(), reason: None, handed: None, prompt: false }
    }

    /// The actor's pid.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.cell.pid
    }

    /// A reference to the actor.
    #[must_use]
    pub fn me(&self) -> ActorRef<M> {
        ActorRef::new(self.cell.clone())
    }

    /// Whether exit signals of linked actors arrive as signals.
    pub fn trap_exit(&self, on: bool) {
        self.cell.trap_exit(on);
    }

    /// Says why the actor ends when the inbox is dropped (normal unless told).
    pub fn set_reason(&mut self, reason: ExitReason) {
        self.reason = Some(reason);
    }

    /// The first item that was put aside. Who takes it handles it, which a stop that drains waits for.
    fn put_aside(&mut self) -> Option<Received<M>> {
        if self.stash.is_empty() || self.cell.mailbox.is_killed() {
            return None;
        }
        self.cell.mailbox.hold();
        self.stash.pop_front()
    }

    /// Takes the next item if there is one.
    pub fn try_recv(&mut self) -> Result<Received<M>, Nothing> {
        if let Some(item) = self.put_aside() {
            return Ok(item);
        }
        self.fresh(None)
    }

    /// Takes the next item or leaves the waker to be woken for it.
    pub fn poll_recv(&mut self, waker: &Waker) -> Result<Received<M>, Nothing> {
        if let Some(item) = self.put_aside() {
            return Ok(item);
        }
        self.fresh(Some(waker))
    }

    /// The next item that is not in the stash.
    pub fn fresh(&mut self, waker: Option<&Waker>) -> Result<Received<M>, Nothing> {
        if self.handed.is_some() {
            self.cell.count_busy(self.handed.take());
        }
        loop {
            match self.cell.mailbox.pull(waker, self.prompt) {
                Pull::Item(Envelope::User(message)) => {
                    self.cell.count_processed(1);
                    self.handed = self.cell.stopwatch();
                    return Ok(Received::Message(message));
                }
                Pull::Item(Envelope::Control(control)) => match *control {
                    Control::Signal(signal) => return Ok(Received::Signal(signal)),
                    Control::Exit(reason) | Control::Shutdown(reason) => {
                        self.cell.mailbox.request_exit(reason);
                    }
                    // Pull actors have no behaviour that could be started or replaced.
                    Control::Start | Control::Swap { .. } | Control::Rollback { .. } => {}
                },
                Pull::Empty => return Err(Nothing::Empty),
                Pull::Ended => return Err(Nothing::Ended(self.exit_reason())),
            }
        }
    }

    /// Puts an item that was passed over where the next plain receive finds it.
    pub fn stash(&mut self, item: Received<M>) {
        self.stash.push_back(item);
    }

    /// Takes the first stashed item that matches.
    pub fn take_stashed(&mut self, mut matches: impl FnMut(&Received<M>) -> bool) -> Option<Received<M>> {
        if self.stash.is_empty() || self.is_killed() {
            return None;
        }
        let at = self.stash.iter().position(&mut matches)?;
        self.cell.mailbox.hold();
        self.stash.remove(at)
    }

    /// Why the actor was asked to end.
    #[must_use]
    pub fn exit_reason(&self) -> ExitReason {
        self.cell.mailbox.exit_reason().unwrap_or(ExitReason::Killed)
    }

    /// Leaves a waker for the wish to end, for an actor that waits for something else than messages. It is woken once, unless the actor
    /// waits in a receive by then (whose own waker is). False if the actor was asked to end already.
    pub fn watch_exit(&self, waker: &Waker) -> bool {
        self.cell.mailbox.watch_exit(waker)
    }

    /// Messages received so far.
    #[must_use]
    pub fn processed(&self) -> u64 {
        self.cell.processed()
    }

    /// Says that nothing but the mailbox is there of the actor: its owner makes the rest when a message comes.
    pub fn set_dormant(&self, on: bool) {
        self.cell.set_dormant(on);
    }

    /// Says whether the wish to end overtakes the messages that wait, as it does for push actors. Unless told, what is in the mailbox can
    /// still be received.
    pub fn end_promptly(&mut self, on: bool) {
        self.prompt = on;
    }

    /// Whether the actor was asked to end. What is still in the mailbox can be received.
    #[must_use]
    pub fn exit_requested(&self) -> bool {
        self.cell.mailbox.exit_requested()
    }

    /// Whether the actor was killed: it receives nothing more, and whatever it does now does not count.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.cell.mailbox.is_killed()
    }

    /// Counts a message that was received and will not be handled among the dead letters.
    pub fn bury(&self, message: &M) {
        let label = self.reason.as_ref().map_or_else(|| self.exit_reason().label(), ExitReason::label);
        self.cell.shared.dead_letters.record(self.cell.pid, message, label);
    }

    /// Waits for the next item. `None` when the actor was asked to end and the mailbox is empty.
    pub async fn recv(&mut self) -> Option<Received<M>> {
        poll_fn(|cx: &mut TaskContext<'_>| match self.poll_recv(cx.waker()) {
            Ok(item) => Poll::Ready(Some(item)),
            Err(Nothing::Empty) => Poll::Pending,
            Err(Nothing::Ended(_)) => Poll::Ready(None),
        })
        .await
    }

    /// Waits for the first item that matches; the others keep their order.
    pub async fn recv_match(&mut self, mut matches: impl FnMut(&Received<M>) -> bool) -> Option<Received<M>> {
        if let Some(found) = self.take_stashed(&mut matches) {
            return Some(found);
        }
        poll_fn(|cx: &mut TaskContext<'_>| {
            loop {
                match self.fresh(Some(cx.waker())) {
                    Ok(item) if matches(&item) => return Poll::Ready(Some(item)),
                    Ok(item) => self.stash.push_back(item),
                    Err(Nothing::Empty) => return Poll::Pending,
                    Err(Nothing::Ended(_)) => return Poll::Ready(None),
                }
            }
        })
        .await
    }

    /// Blocks the thread for the next item.
    pub fn recv_blocking(&mut self, timeout: Option<Duration>) -> Result<Received<M>, Nothing> {
        if let Some(item) = self.put_aside() {
            return Ok(item);
        }
        self.fresh_blocking(timeout)
    }

    /// Blocks the thread for the next item that is not in the stash.
    pub fn fresh_blocking(&mut self, timeout: Option<Duration>) -> Result<Received<M>, Nothing> {
        let until = timeout.and_then(deadline);
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        loop {
            match self.fresh(Some(&waker)) {
                Err(Nothing::Empty) => {}
                other => return other,
            }
            match until.map(|until| until.checked_duration_since(Instant::now())) {
                Some(None) => return Err(Nothing::Empty),
                Some(Some(left)) => std::thread::park_timeout(left),
                None => std::thread::park(),
            }
        }
    }
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<M: Send + 'static> Drop for Inbox<M> {
    fn drop(&mut self) {
        let reason = match self.reason.take() {
            Some(reason) => reason,
            None if std::thread::panicking() => {
                ExitReason::Panic(Arc::from("the pull actor's code panicked"))
            }
            None if self.exit_requested() => self.exit_reason(),
            None => ExitReason::Normal,
        };
        let mut stash = std::mem::take(&mut self.stash);
        for item in stash.drain(..) {
            if let Received::Message(message) = &item {
                self.cell.shared.dead_letters.record(self.cell.pid, message, reason.label());
            }
            drop_quietly(item);
        }
        self.cell.end(Batch::<M, Logic<M>>::empty(), &reason);
    }
}
