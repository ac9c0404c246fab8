//! Request and reply: a slot that is filled once. Owns its states and who is woken; leaves deadlines to the timer wheel
//! (`expire`) and the sending of the request to `reference`.
//! Invariant: a `Call` always ends: with the reply, with `NoReply` when the `ReplyTo` is dropped unanswered (its actor died or
//! ignored it), or with `Timeout`. A caller that gives up marks the slot, so the actor can skip the work.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::timer::TimerGuard;

/// When a time-out that begins now ends; `None` for one that the clock cannot reach.
pub(crate) fn deadline(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

/// Why a call has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The actor does not exist, or its mailbox refused the request.
    NotAccepted,
    /// The actor ended or dropped the request without answering.
    NoReply,
    /// The deadline passed.
    Timeout,
    /// All threads of the asker's pool wait for actors already: with one more nobody could be left to answer.
    NoThread,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAccepted => "the request was not accepted: no such actor, or its mailbox is full",
            Self::NoReply => "the actor ended or dropped the request without a reply",
            Self::Timeout => "no reply before the deadline",
            Self::NoThread => {
                "all threads of this pool wait for answers, so nobody could be left to give this one: actors that ask in \
                 long chains must await (async ones) or pull"
            }
        })
    }
}

impl std::error::Error for CallError {}

enum State<R> {
    Waiting(Option<Waker>),
    Done(Result<R, CallError>),
    /// Taken by the caller, or given up by it.
    Over,
}

pub(crate) struct Slot<R> {
    state: Mutex<State<R>>,
    filled: Condvar,
}

impl<R> Slot<R> {
    fn fill(&self, result: Result<R, CallError>) -> bool {
        let mut state = self.state.lock();
        let State::Waiting(waker) = &mut *state else { return false };
        let waker = waker.take();
        *state = State::Done(result);
        drop(state);
        self.filled.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    pub(crate) fn expire(&self) {
        self.fill(Err(CallError::Timeout));
    }
}

/// The right to answer one request.
pub struct ReplyTo<R>(Option<Arc<Slot<R>>>);

impl<R> ReplyTo<R> {
    /// Answers. Returns false if the caller no longer waits.
    pub fn send(mut self, reply: R) -> bool {
        self.0.take().is_some_and(|slot| slot.fill(Ok(reply)))
    }

    /// Whether the caller has given up, so that the work may be skipped.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_none_or(|slot| !matches!(*slot.state.lock(), State::Waiting(_)))
    }
}

impl<R> Drop for ReplyTo<R> {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            slot.fill(Err(CallError::NoReply));
        }
    }
}

impl<R> fmt::Debug for ReplyTo<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyTo")
    }
}

/// A request that was sent. Await it, or `wait` for it on a thread that may block.
#[must_use = "a call that is dropped is cancelled"]
pub struct Call<R> {
    slot: Arc<Slot<R>>,
    deadline: Option<TimerGuard>,
}

/// A linked pair of the two ends.
pub fn call_pair<R>() -> (ReplyTo<R>, Call<R>) {
    let slot = Arc::new(Slot { state: Mutex::new(State::Waiting(None)), filled: Condvar::new() });
    (ReplyTo(Some(slot.clone())), Call { slot, deadline: None })
}

impl<R> Call<R> {
    pub(crate) fn slot(&self) -> &Arc<Slot<R>> {
        &self.slot
    }

    pub(crate) fn set_deadline(&mut self, timer: TimerGuard) {
        self.deadline = Some(timer);
    }

    /// The request was not accepted, because it was refused or found no room by then.
    pub(crate) fn refuse(&self, until: Option<Instant>) {
        let late = until.is_some_and(|until| Instant::now() >= until);
        self.slot.fill(Err(if late { CallError::Timeout } else { CallError::NotAccepted }));
    }

    /// Blocks the thread for a while; `None` means "not yet", and the call goes on. For hosts that look after signals in between.
    pub fn wait_slice(&self, slice: Duration) -> Option<Result<R, CallError>> {
        let until = Instant::now() + slice;
        let mut state = self.slot.state.lock();
        while matches!(*state, State::Waiting(_)) {
            if self.slot.filled.wait_until(&mut state, until).timed_out() {
                break;
            }
        }
        if matches!(*state, State::Waiting(_)) {
            return None;
        }
        match std::mem::replace(&mut *state, State::Over) {
            State::Done(result) => Some(result),
            _ => Some(Err(CallError::NoReply)),
        }
    }

    /// Blocks the thread until the reply, or until `timeout`.
    pub fn wait(self, timeout: Option<Duration>) -> Result<R, CallError> {
        let until = timeout.and_then(deadline);
        let mut state = self.slot.state.lock();
        loop {
            if let State::Done(_) = &*state {
                let State::Done(result) = std::mem::replace(&mut *state, State::Over) else {
                    return Err(CallError::NoReply);
                };
                return result;
            }
            let late = match until {
                Some(until) => self.slot.filled.wait_until(&mut state, until).timed_out(),
                None => {
                    self.slot.filled.wait(&mut state);
                    false
                }
            };
            if late && matches!(*state, State::Waiting(_)) {
                *state = State::Over;
                return Err(CallError::Timeout);
            }
        }
    }
}

impl<R> Future for Call<R> {
    type Output = Result<R, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let mut state = self.slot.state.lock();
        match &mut *state {
            State::Waiting(waker) => {
                let old = waker.replace(cx.waker().clone());
                drop(state);
                // Its destructor may be that of a task that holds this very call.
                drop(old);
                Poll::Pending
            }
            State::Over => Poll::Ready(Err(CallError::NoReply)),
            State::Done(_) => match std::mem::replace(&mut *state, State::Over) {
                State::Done(result) => Poll::Ready(result),
                _ => Poll::Ready(Err(CallError::NoReply)),
            },
        }
    }
}

impl<R> Drop for Call<R> {
    fn drop(&mut self) {
        let old = std::mem::replace(&mut *self.slot.state.lock(), State::Over);
        drop(old);
    }
}
