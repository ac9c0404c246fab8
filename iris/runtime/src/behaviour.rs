//! What an actor does. Owns the `Behaviour` trait, the `Flow` a handler answers with and the signals it may see.
//! Invariant: a behaviour is only ever touched by the one worker that runs its cell, so it needs `Send`, not `Sync`.
//! Leaves to `cell` when it is called and to `versions` how one behaviour replaces another.

use std::any::Any;
use std::marker::PhantomData;

use crate::context::Context;
use crate::exit::ExitReason;
use crate::pid::Pid;

/// What a handler wants to happen next.
#[derive(Debug)]
pub enum Flow {
    /// Go on with the next message.
    Continue,
    /// End this actor with the reason.
    Exit(ExitReason),
}

impl Flow {
    /// Ends the actor in the normal way.
    #[must_use]
    pub const fn stop() -> Self {
        Self::Exit(ExitReason::Normal)
    }
}

impl From<()> for Flow {
    fn from((): ()) -> Self {
        Self::Continue
    }
}

impl<E: std::fmt::Display> From<Result<(), E>> for Flow {
    fn from(result: Result<(), E>) -> Self {
        match result {
            Ok(()) => Self::Continue,
            Err(error) => Self::Exit(ExitReason::error(error.to_string())),
        }
    }
}

/// Names one monitor; `DOWN` carries it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonitorRef(pub u64);

/// What the runtime tells an actor, in mailbox order with its messages.
#[derive(Clone, Debug)]
pub enum Signal {
    /// A linked actor ended (seen only by actors that trap exits).
    Exit {
        /// Who ended.
        from: Pid,
        /// Why.
        reason: ExitReason,
    },
    /// A monitored actor ended, or did not exist.
    Down {
        /// The monitor that fired.
        monitor: MonitorRef,
        /// Who ended.
        pid: Pid,
        /// Why.
        reason: ExitReason,
    },
    /// A timer that was set with `Context::tick_after`.
    Tick(u64),
}

/// Which way a behaviour version changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A newer version takes over (hot swap).
    Up,
    /// An older version comes back (rollback).
    Down,
}

/// The logic and the state of one actor.
pub trait Behaviour<M: Send + 'static>: Any + Send {
    /// Whether `started` must run before the first message. Most actors say no, and cost nothing until they are used.
    fn needs_start(&self) -> bool {
        false
    }

    /// Runs once before the first message, if `needs_start` says so.
    fn started(&mut self, cx: &mut Context<'_, M>) -> Flow {
        let _ = cx;
        Flow::Continue
    }

    /// Handles one message.
    fn handle(&mut self, cx: &mut Context<'_, M>, message: M) -> Flow;

    /// Handles one signal. The default ignores it.
    fn signal(&mut self, cx: &mut Context<'_, M>, signal: Signal) -> Flow {
        let _ = (cx, signal);
        Flow::Continue
    }

    /// Called when an actor that traps exits is asked to end by its parent, its supervisor or `stop`. It may put its house in
    /// order first and end later; whoever asked has a time-out.
    fn shutdown(&mut self, cx: &mut Context<'_, M>, reason: ExitReason) -> Flow {
        let _ = cx;
        Flow::Exit(reason)
    }

    /// Runs once when the actor ends for any reason but `Killed`.
    fn terminate(&mut self, cx: &mut Context<'_, M>, reason: &ExitReason) {
        let _ = (cx, reason);
    }

    /// Called on the behaviour that takes over, with the one that it replaces, to migrate the state.
    /// An error ends the actor: two half-migrated versions must never both run.
    fn code_change(&mut self, previous: &mut dyn Any, direction: Direction) -> Result<(), ExitReason> {
        let _ = (previous, direction);
        Ok(())
    }

    /// What else than itself `Handle::visit_behaviours` shows of a behaviour that is made of others.
    fn parts(&self) -> Vec<&dyn Any> {
        Vec::new()
    }
}

/// A closure as a behaviour.
pub struct Handler<F, M, R>(F, PhantomData<fn(M) -> R>);

impl<F, M, R> Handler<F, M, R> {
    /// Wraps a closure `FnMut(&mut Context<M>, M) -> R` where `R` is `()`, `Result<(), _>` or `Flow`.
    pub const fn new(handler: F) -> Self {
        Self(handler, PhantomData)
    }
}

impl<F, M, R> Behaviour<M> for Handler<F, M, R>
where
    M: Send + 'static,
    R: Into<Flow> + 'static,
    F: FnMut(&mut Context<'_, M>, M) -> R + Send + 'static,
{
    fn handle(&mut self, cx: &mut Context<'_, M>, message: M) -> Flow {
        (self.0)(cx, message).into()
    }
}
