//! Python handlers as behaviours. Owns the call, what an exception means (a typed exit, or "print and live on" for the
//! compatibility surface) and the hooks of actor classes. Invariant: a handler only ever runs on one thread at a time, with the GIL.

use std::any::Any;
use std::sync::Arc;

use iris_runtime::{Behaviour, Context, Direction, ExitReason, Factory, Flow, Signal};
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::compat::{Compat, PyStarter};
use crate::exit;
use crate::ffi::call_one;
use crate::forked;
use crate::interruption::Killed;
use crate::message::{Message, Reply};

/// What happens beside the handler's call.
pub(crate) enum Style {
    /// Exceptions are printed, unless a supervisor should see them; signals are not shown.
    Compat(Arc<Compat>),
    /// Exceptions end the actor; signals arrive as messages.
    Actor,
}

/// The optional methods of an actor class.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) started: Option<Py<PyAny>>,
    pub(crate) stopped: Option<Py<PyAny>>,
    pub(crate) code_change: Option<Py<PyAny>>,
    /// The object that `code_change` of the next version gets.
    pub(crate) instance: Option<Py<PyAny>>,
}

pub(crate) struct PyBehaviour {
    handler: Py<PyAny>,
    style: Style,
    hooks: Option<Box<Hooks>>,
    /// Its own code raised: what comes along a link is reported by whoever it comes from.
    raised: bool,
}

impl PyBehaviour {
    pub(crate) fn compat(handler: Py<PyAny>, compat: &Arc<Compat>) -> Self {
        Self { handler, style: Style::Compat(compat.clone()), hooks: None, raised: false }
    }

    pub(crate) fn actor(handler: Py<PyAny>, hooks: Option<Box<Hooks>>) -> Self {
        Self { handler, style: Style::Actor, hooks, raised: false }
    }

    fn call(
        &mut self,
        py: Python<'_>,
        cx: &Context<'_, Message>,
        argument: Py<PyAny>,
        reply: Option<Reply>,
    ) -> Flow {
        let mark = forked::mark();
        let outcome = call_one(self.handler.bind(py), argument.bind(py));
        forked::end_if_child(py, mark, &outcome);
        match outcome {
            Ok(value) => {
                if let Some(reply) = reply {
                    reply.answer(py, Ok(value.unbind()));
                }
                Flow::Continue
            }
            Err(error) => self.failed(py, cx, error, reply),
        }
    }

    fn failed(
        &mut self,
        py: Python<'_>,
        cx: &Context<'_, Message>,
        error: PyErr,
        reply: Option<Reply>,
    ) -> Flow {
        if error.is_instance_of::<Killed>(py) {
            return Flow::Exit(ExitReason::Killed);
        }
        if error.is_instance_of::<PySystemExit>(py) {
            return Flow::Exit(exit::exited(py, &error));
        }
        if let Some(reply) = reply {
            reply.answer(py, Err(error.clone_ref(py).into_value(py).into_any()));
        }
        match &self.style {
            Style::Compat(compat) if !compat.exits_on_exception(cx.pid()) => {
                error.display(py);
                Flow::Continue
            }
            _ => {
                self.raised = true;
                Flow::Exit(exit::raised(py, error))
            }
        }
    }

    fn hook(&self, which: impl Fn(&Hooks) -> Option<&Py<PyAny>>) -> Option<&Py<PyAny>> {
        self.hooks.as_deref().and_then(which)
    }

    fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.handler)?;
        let Some(hooks) = &self.hooks else { return Ok(()) };
        for hook in [&hooks.started, &hooks.stopped, &hooks.code_change, &hooks.instance] {
            visit.call(hook)?;
        }
        Ok(())
    }
}

impl Behaviour<Message> for PyBehaviour {
    fn needs_start(&self) -> bool {
        self.hook(|hooks| hooks.started.as_ref()).is_some()
    }

    fn started(&mut self, cx: &mut Context<'_, Message>) -> Flow {
        Python::attach(|py| match self.hook(|hooks| hooks.started.as_ref()).map(|hook| hook.call0(py)) {
            Some(Err(error)) => self.failed(py, cx, error, None),
            _ => Flow::Continue,
        })
    }

    fn handle(&mut self, cx: &mut Context<'_, Message>, message: Message) -> Flow {
        Python::attach(|py| {
            let (argument, reply) = message.open(py);
            self.call(py, cx, argument, reply)
        })
    }

    fn signal(&mut self, cx: &mut Context<'_, Message>, signal: Signal) -> Flow {
        if matches!(self.style, Style::Compat(_)) {
            return Flow::Continue;
        }
        Python::attach(|py| match exit::signal_object(py, signal) {
            Ok(Some(object)) => self.call(py, cx, object, None),
            Ok(None) => Flow::Continue,
            Err(error) => Flow::Exit(exit::raised(py, error)),
        })
    }

    fn terminate(&mut self, cx: &mut Context<'_, Message>, reason: &ExitReason) {
        if let Some(hook) = self.hook(|hooks| hooks.stopped.as_ref()) {
            Python::attach(|py| {
                let called = Py::new(py, exit::ExitReason(reason.clone()))
                    .and_then(|reason| hook.call1(py, (reason,)));
                if let Err(error) = called {
                    error.display(py);
                }
            });
        }
        if matches!(reason, ExitReason::Exception(_)) && self.raised {
            let who = self.hook(|hooks| hooks.instance.as_ref()).unwrap_or(&self.handler);
            Compat::crashed(cx.pid(), Python::attach(|py| who.clone_ref(py)));
        }
    }

    fn code_change(&mut self, previous: &mut dyn Any, _: Direction) -> Result<(), ExitReason> {
        let Some(hook) = self.hook(|hooks| hooks.code_change.as_ref()) else { return Ok(()) };
        let previous = previous.downcast_ref::<Self>();
        Python::attach(|py| {
            let old = previous
                .map(|old| old.hook(|hooks| hooks.instance.as_ref()).unwrap_or(&old.handler).clone_ref(py));
            hook.call1(py, (old,)).map(drop).map_err(|error| exit::raised(py, error))
        })
    }
}

/// Makes the behaviour of a virtual actor from its handler.
pub(crate) struct VirtualHandler {
    pub(crate) handler: Py<PyAny>,
    pub(crate) compat: Arc<Compat>,
}

impl Factory<Message> for VirtualHandler {
    fn make(&self) -> Box<dyn Behaviour<Message>> {
        let handler = Python::attach(|py| self.handler.clone_ref(py));
        Box::new(PyBehaviour::compat(handler, &self.compat))
    }
}

/// Makes the behaviour of a modern virtual actor: `make()` gives the handler and the hooks.
pub(crate) struct VirtualActor {
    pub(crate) make: Py<PyAny>,
}

type Made = (Py<PyAny>, Option<Py<PyAny>>, Option<Py<PyAny>>, Option<Py<PyAny>>, Option<Py<PyAny>>);

impl Factory<Message> for VirtualActor {
    fn make(&self) -> Box<dyn Behaviour<Message>> {
        Python::attach(|py| match self.make.call0(py).and_then(|made| made.extract::<Made>(py)) {
            Ok((handler, started, stopped, code_change, instance)) => {
                let hooks = Hooks { started, stopped, code_change, instance };
                Box::new(PyBehaviour::actor(handler, Some(Box::new(hooks))))
            }
            Err(error) => Box::new(Unmade { reason: exit::raised(py, error) }) as Box<dyn Behaviour<Message>>,
        })
    }
}

/// Ends an actor that could not be made.
struct Unmade {
    reason: ExitReason,
}

impl Behaviour<Message> for Unmade {
    fn needs_start(&self) -> bool {
        true
    }

    fn started(&mut self, _: &mut Context<'_, Message>) -> Flow {
        Flow::Exit(self.reason.clone())
    }

    fn handle(&mut self, _: &mut Context<'_, Message>, message: Message) -> Flow {
        Python::attach(|_| drop(message));
        Flow::Exit(self.reason.clone())
    }
}

/// Shows the garbage collector what a behaviour, or a part of one, refers to.
pub(crate) fn visit_any(behaviour: &dyn Any, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
    if let Some(behaviour) = behaviour.downcast_ref::<PyBehaviour>() {
        behaviour.visit(visit)
    } else if let Some(factory) = behaviour.downcast_ref::<VirtualHandler>() {
        visit.call(&factory.handler)
    } else if let Some(factory) = behaviour.downcast_ref::<VirtualActor>() {
        visit.call(&factory.make)
    } else if let Some(starter) = behaviour.downcast_ref::<PyStarter>() {
        visit.call(&starter.factory)
    } else {
        Ok(())
    }
}

/// An actor that keeps what it gets.
pub(crate) struct Observer {
    pub(crate) store: Arc<crate::compat::Store>,
}

impl Behaviour<Message> for Observer {
    fn handle(&mut self, _: &mut Context<'_, Message>, message: Message) -> Flow {
        Python::attach(|py| {
            let (object, reply) = message.open(py);
            drop(reply);
            self.store.add(object);
        });
        Flow::Continue
    }

    fn signal(&mut self, cx: &mut Context<'_, Message>, signal: Signal) -> Flow {
        Python::attach(|py| {
            if let Some(object) = crate::system_message::from_signal(py, cx.pid(), signal) {
                self.store.add(object);
            }
        });
        Flow::Continue
    }
}
