//! What a handler may do to its own actor. Owns the per-turn context and the thread's notion of "which actor runs here".
//! Invariant: a context lives for one turn on one worker. Everything that is not about the actor itself is on the `Handle`.

use std::cell::Cell as StdCell;
use std::sync::Arc;
use std::time::Duration;

use crate::behaviour::{Behaviour, MonitorRef, Signal};
use crate::cell::{AnyCell, Cell};
use crate::handle::{Handle, SpawnError, SpawnOptions};
use crate::pid::Pid;
use crate::reference::ActorRef;
use crate::runtime::Shared;
use crate::timer::TimerId;

thread_local! {
    static CURRENT: StdCell<(usize, u64)> = const { StdCell::new((0, 0)) };
}

/// The actor whose turn runs on this thread, if it belongs to this runtime.
pub(crate) fn current_actor(shared: &Arc<Shared>) -> Option<Pid> {
    let (key, pid) = CURRENT.get();
    (key == Arc::as_ptr(shared) as usize).then(|| Pid::from_bits(pid))
}

/// The pid of the actor whose turn runs on this thread, of whatever runtime.
#[must_use]
pub fn current_pid() -> Option<Pid> {
    let (key, pid) = CURRENT.get();
    (key != 0).then(|| Pid::from_bits(pid))
}

/// While it lives, the thread runs this actor.
pub(crate) struct Running {
    previous: (usize, u64),
}

impl Running {
    /// The runtime may be only an address: nobody is asked whether it still is.
    pub(crate) fn enter(shared: *const Shared, pid: u64) -> Self {
        Self { previous: CURRENT.replace((shared as usize, pid)) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        CURRENT.set(self.previous);
    }
}

/// A handler's view of its actor.
pub struct Context<'a, M: Send + 'static> {
    cell: &'a Arc<Cell<M>>,
    yielding: bool,
    _running: Running,
}

impl<'a, M: Send + 'static> Context<'a, M> {
    pub(crate) fn new(cell: &'a Arc<Cell<M>>) -> Self {
        let running = Running::enter(Arc::as_ptr(&cell.shared), cell.pid.to_bits());
        Self { cell, yielding: false, _running: running }
    }

    pub(crate) fn take_yield(&mut self) -> bool {
        std::mem::take(&mut self.yielding)
    }

    /// This actor's pid.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.cell.pid
    }

    /// A reference to this actor.
    #[must_use]
    pub fn me(&self) -> ActorRef<M> {
        ActorRef::new(self.cell.clone())
    }

    /// The runtime.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(self.cell.shared.clone())
    }

    /// Lets other actors run after this message.
    pub fn yield_now(&mut self) {
        self.yielding = true;
    }

    /// Whether exit signals of linked actors arrive as `Signal::Exit` instead of ending this actor.
    pub fn trap_exit(&self, on: bool) {
        self.cell.trap_exit(on);
    }

    pub(crate) fn set_dormant(&self, on: bool) {
        self.cell.set_dormant(on);
    }

    /// Links this actor with another.
    pub fn link(&self, other: Pid) -> bool {
        self.handle().link(self.cell.pid, other)
    }

    /// Monitors another actor.
    pub fn monitor(&self, other: Pid) -> MonitorRef {
        self.handle().monitor(self.cell.pid, other)
    }

    /// Spawns a child that ends with this actor.
    pub fn spawn_child<N: Send + 'static>(
        &self,
        options: SpawnOptions,
        behaviour: impl Behaviour<N>,
    ) -> Result<ActorRef<N>, SpawnError> {
        self.handle().spawn_with(SpawnOptions { parent: Some(self.cell.pid), ..options }, behaviour)
    }

    /// Delivers `Signal::Tick(token)` to this actor after a delay.
    pub fn tick_after(&self, delay: Duration, token: u64) -> TimerId {
        let cell = Arc::downgrade(self.cell);
        let fire = move || {
            cell.upgrade().is_some_and(|cell| {
                cell.deliver(Signal::Tick(token));
                true
            })
        };
        self.cell.shared.timer(delay, None, Arc::new(fire))
    }

    /// Cancels a timer.
    pub fn cancel_timer(&self, id: TimerId) -> bool {
        self.cell.shared.cancel_timer(id)
    }
}
