//! Virtual actors: they exist as a pid, and as a behaviour only while they are used. Owns activation on the first message and
//! deactivation after an idle time; the cell stays as it is. Invariant: a deactivated actor keeps its pid, names and links, and the next
//! message activates it again with a fresh state. Signals other than its own idle check do not activate it.

use std::any::Any;
use std::time::Duration;

use crate::behaviour::{Behaviour, Direction, Flow, Signal};
use crate::cell::Logic;
use crate::context::Context;
use crate::exit::ExitReason;
use crate::handle::{Handle, SpawnError, SpawnOptions};
use crate::reference::ActorRef;

/// The token of the idle check; user ticks count from zero and never meet it.
const IDLE_TOKEN: u64 = u64::MAX;

/// Makes the behaviour of a virtual actor, each time that it is activated. Closures do; a type of one's own can be looked at by
/// `Handle::visit_behaviours`.
pub trait Factory<M: Send + 'static>: Any + Send {
    /// A behaviour in its first state.
    fn make(&self) -> Logic<M>;
}

impl<M: Send + 'static, F: Fn() -> Logic<M> + Any + Send> Factory<M> for F {
    fn make(&self) -> Logic<M> {
        self()
    }
}

struct Virtual<M: Send + 'static> {
    factory: Box<dyn Factory<M>>,
    active: Option<Logic<M>>,
    idle: Option<Duration>,
    used_ms: u64,
    armed: bool,
}

impl<M: Send + 'static> Virtual<M> {
    fn arm(&mut self, cx: &Context<'_, M>, after: Duration) {
        self.armed = true;
        cx.tick_after(after, IDLE_TOKEN);
    }

    fn check_idle(&mut self, cx: &mut Context<'_, M>) {
        self.armed = false;
        let Some(idle) = self.idle.filter(|_| self.active.is_some()) else { return };
        let unused = Duration::from_millis(cx.handle().now_ms().saturating_sub(self.used_ms));
        if let Some(left) = idle.checked_sub(unused).filter(|left| !left.is_zero()) {
            self.arm(cx, left);
            return;
        }
        if let Some(mut active) = self.active.take() {
            active.terminate(cx, &ExitReason::Normal);
        }
        cx.set_dormant(true);
    }
}

impl<M: Send + 'static> Behaviour<M> for Virtual<M> {
    fn handle(&mut self, cx: &mut Context<'_, M>, message: M) -> Flow {
        if self.active.is_none() {
            // First, so that nobody who has seen the fresh behaviour still finds the actor dormant.
            cx.set_dormant(false);
            let fresh = self.active.insert(self.factory.make());
            if fresh.needs_start()
                && let Flow::Exit(reason) = fresh.started(cx)
            {
                return Flow::Exit(reason);
            }
        }
        if let Some(idle) = self.idle {
            self.used_ms = cx.handle().now_ms();
            if !self.armed {
                self.arm(cx, idle);
            }
        }
        self.active.as_mut().map_or(Flow::Continue, |active| active.handle(cx, message))
    }

    fn signal(&mut self, cx: &mut Context<'_, M>, signal: Signal) -> Flow {
        match (signal, &mut self.active) {
            (Signal::Tick(IDLE_TOKEN), _) => {
                self.check_idle(cx);
                Flow::Continue
            }
            (signal, Some(active)) => active.signal(cx, signal),
            (_, None) => Flow::Continue,
        }
    }

    fn shutdown(&mut self, cx: &mut Context<'_, M>, reason: ExitReason) -> Flow {
        match &mut self.active {
            Some(active) => active.shutdown(cx, reason),
            None => Flow::Exit(reason),
        }
    }

    fn terminate(&mut self, cx: &mut Context<'_, M>, reason: &ExitReason) {
        if let Some(active) = &mut self.active {
            active.terminate(cx, reason);
        }
    }

    fn parts(&self) -> Vec<&dyn Any> {
        let active = self.active.iter().map(|active| &**active as &dyn Any);
        active.chain([&*self.factory as &dyn Any]).collect()
    }

    fn code_change(&mut self, previous: &mut dyn Any, direction: Direction) -> Result<(), ExitReason> {
        self.active.as_mut().map_or(Ok(()), |active| active.code_change(previous, direction))
    }
}

impl Handle {
    /// Spawns a virtual actor: `factory` makes the behaviour when the first message comes, and again after an idle time-out.
    pub fn spawn_virtual<M: Send + 'static>(
        &self,
        options: SpawnOptions,
        idle: Option<Duration>,
        factory: impl Factory<M>,
    ) -> Result<ActorRef<M>, SpawnError> {
        let behaviour = Virtual { factory: Box::new(factory), active: None, idle, used_ms: 0, armed: false };
        let actor = self.spawn_with(options, behaviour)?;
        actor.cell().set_dormant(true);
        Ok(actor)
    }
}
