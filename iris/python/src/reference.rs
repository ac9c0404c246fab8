//! `Ref`: a typed reference to one actor. Owns sending any object, asking and ending; leaves asyncio to `aio.py`. Invariant: a
//! reference keeps neither the behaviour nor the messages of an actor that has ended, and does not keep its runtime running.

use std::sync::Arc;

use iris_runtime::{ActorRef, CallError, ExitReason, Handle, MonitorRef, Overflow, Pid, TimerId, call_pair};
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::compat::Compat;
use crate::core::{Core, forks};
use crate::exit;
use crate::host::{must_not_block, serving};
use crate::message::{Message, NoReply, Outcome, Reply};
use crate::queue::ReadyQueue;
use crate::runtime::{end_in_order, send_to};
use crate::sent::{Delivery, sent};
use crate::waiting::{self, Ended};

pub(crate) const OWN_THREAD: &str = "the actor runs on this thread and could not answer while it waits: \
    use mailbox.ask in pull actors, await ref.ask in async ones";

const ELSEWHERE: &str = "the actor is in the process that this one was forked from";

static ASK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static WAIT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A reference to an actor.
#[pyclass(frozen, weakref, name = "Ref", module = "iris")]
pub(crate) struct Ref {
    handle: Handle,
    compat: Arc<Compat>,
    /// Through `here`, except for its pid.
    actor: ActorRef<Message>,
    forks: u32,
}

impl Ref {
    pub(crate) fn new(core: &Core, actor: ActorRef<Message>) -> Self {
        Self { handle: core.handle.clone(), compat: core.compat.clone(), actor, forks: forks() }
    }
}

impl Ref {
    pub(crate) fn of_parts(handle: &Handle, compat: &Arc<Compat>, actor: ActorRef<Message>) -> Self {
        Self { handle: handle.clone(), compat: compat.clone(), actor, forks: forks() }
    }

    /// The actor, if it is one of this system and of this process.
    pub(crate) fn of(&self, compat: &Arc<Compat>) -> PyResult<&ActorRef<Message>> {
        if Arc::ptr_eq(&self.compat, compat) {
            self.here()
        } else {
            Err(PyValueError::new_err("the actor belongs to another system than the node"))
        }
    }

    pub(crate) fn is_of(&self, core: &Core) -> bool {
        Arc::ptr_eq(&self.compat, &core.compat)
    }

    /// Whether the actor is in this process. In a child that was forked since its locks may be held by threads that are not there.
    fn is_here(&self) -> bool {
        self.forks == forks()
    }

    fn here(&self) -> PyResult<&ActorRef<Message>> {
        if self.is_here() { Ok(&self.actor) } else { Err(PyRuntimeError::new_err(ELSEWHERE)) }
    }

    /// Why the actor ended; None while it has not.
    fn reason(&self) -> Option<ExitReason> {
        let ended = self.actor.exit_reason()?;
        Some(self.compat.reason(self.actor.pid()).unwrap_or(ended))
    }

    /// The pid of another actor, which must be of the same system where a reference tells.
    fn peer(&self, other: &Bound<'_, PyAny>) -> PyResult<Pid> {
        if let Ok(other) = other.cast::<Self>()
            && !Arc::ptr_eq(&other.get().compat, &self.compat)
        {
            return Err(PyValueError::new_err("the actors belong to different systems"));
        }
        crate::compat::pid_of(other)
    }
}

fn answer_with(py: Python<'_>, reply: Option<Reply>, reason: ExitReason) {
    if let (Some(reply), Ok(reason)) = (reply, Py::new(py, exit::ExitReason(reason))) {
        reply.answer(py, Ok(reason.into_any()));
    }
}

fn call_error(error: CallError) -> PyErr {
    match error {
        CallError::Timeout => PyTimeoutError::new_err(error.to_string()),
        other => NoReply::new_err(other.to_string()),
    }
}

#[pymethods]
impl Ref {
    /// The pid.
    #[getter]
    fn pid(&self) -> u64 {
        self.actor.pid().to_bits()
    }

    /// `Ref[M, R]` says in annotations what the actor takes and what it answers.
    #[classmethod]
    fn __class_getitem__<'py>(
        cls: &Bound<'py, PyType>,
        parameters: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        cls.py().import("types")?.getattr("GenericAlias")?.call1((cls, parameters))
    }

    /// A reference does wherever a pid is expected.
    fn __index__(&self) -> u64 {
        self.actor.pid().to_bits()
    }

    /// Whether the actor has not ended.
    #[getter]
    fn alive(&self) -> bool {
        self.is_here() && self.actor.is_alive()
    }

    /// Messages that wait.
    #[getter]
    fn mailbox_size(&self) -> PyResult<usize> {
        Ok(self.here()?.mailbox_len())
    }

    /// Why the actor ended, if it failed.
    #[getter]
    fn exit_reason(&self) -> PyResult<Option<exit::ExitReason>> {
        self.here()?;
        Ok(self.reason().filter(ExitReason::is_abnormal).map(exit::ExitReason))
    }

    /// Sends any object, by reference. What it returns is true if the message was accepted, and says why not.
    fn send(&self, py: Python<'_>, message: Py<PyAny>) -> PyResult<Py<PyAny>> {
        if !self.is_here() {
            return sent(py, Delivery::NoProcess);
        }
        sent(py, send_to(py, &self.actor, Message::Object(message)))
    }

    /// Sends every object of an iterable; returns how many were accepted.
    fn send_many(&self, py: Python<'_>, messages: &Bound<'_, PyAny>) -> PyResult<usize> {
        let actor = self.here()?;
        let mut accepted = 0;
        for message in messages.try_iter()? {
            accepted += usize::from(send_to(py, actor, Message::Object(message?.unbind())).accepted());
        }
        Ok(accepted)
    }

    /// Sends once after a number of seconds; returns the timer's id.
    fn send_after(&self, seconds: f64, message: Py<PyAny>) -> PyResult<u64> {
        let delay = waiting::seconds(seconds)?;
        Ok(self.handle.send_after(delay, self.here()?, Message::Object(message)).0)
    }

    /// Sends again and again; returns the timer's id.
    fn send_interval(&self, seconds: f64, message: Py<PyAny>) -> PyResult<u64> {
        if seconds <= 0.0 || seconds.is_nan() {
            return Err(PyValueError::new_err("the interval must be longer than nothing"));
        }
        let shared = Arc::new(message);
        let period = waiting::seconds(seconds)?;
        Ok(self.handle.send_interval(period, self.here()?, move || Message::Shared(shared.clone())).0)
    }

    /// Cancels a timer.
    fn cancel_timer(&self, id: u64) -> bool {
        self.is_here() && self.handle.cancel_timer(TimerId(id))
    }

    /// Asks and waits, without the GIL. Raises what the handler raised, `NoReply`, or `TimeoutError`; and `RuntimeError` on the thread that
    /// runs the actor, which could not answer while that waits.
    #[pyo3(signature = (message, timeout=None))]
    fn ask_sync(&self, py: Python<'_>, message: Py<PyAny>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let actor = self.here()?;
        if must_not_block() && self.compat.pulls.is_served_by(self.actor.pid(), serving()) {
            return Err(PyRuntimeError::new_err(OWN_THREAD));
        }
        let timeout = waiting::timeout(timeout)?;
        let asking = || {
            let (reply, call) = call_pair::<Outcome>();
            let sent = send_to(py, actor, Message::Ask(message, Reply::to_thread(reply)));
            if !sent.accepted() {
                return Err(NoReply::new_err(sent.refusal()));
            }
            waiting::answer(py, &call, timeout)
        };
        match waiting::on_leave(&self.handle, asking)? {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(PyErr::from_value(error.into_bound(py))),
            Err(error) => Err(call_error(error)),
        }
    }

    /// Asks from a coroutine: `await ref.ask(message, timeout=1.0)`.
    #[pyo3(signature = (message, timeout=None))]
    fn ask<'py>(
        slf: Bound<'py, Self>,
        message: Py<PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let ask = ASK.get_or_try_init(py, || py.import("iris.aio")?.getattr("ask").map(Bound::unbind))?;
        ask.bind(py).call1((slf, message, timeout))
    }

    /// Sends a request whose answer goes to a future, by way of its loop's queue. None if it was accepted, else why not.
    fn _ask_into(
        &self,
        py: Python<'_>,
        message: Py<PyAny>,
        queue: Py<ReadyQueue>,
        future: Py<PyAny>,
    ) -> PyResult<Option<&'static str>> {
        let sent = send_to(py, self.here()?, Message::Ask(message, Reply::to_future(queue, future)));
        Ok((!sent.accepted()).then(|| sent.refusal()))
    }

    /// Waits, without the GIL, until the actor has ended, and returns why: by then its pid and its names are free. None after `timeout`
    /// seconds.
    #[pyo3(signature = (timeout=None))]
    fn join(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<exit::ExitReason>> {
        let timeout = waiting::timeout(timeout)?;
        let ended = waiting::end(py, &self.handle, &self.compat, self.here()?.pid(), timeout)?;
        Ok(match ended {
            Ended::Now(reason) => Some(exit::ExitReason(reason)),
            Ended::Before => self.reason().map(exit::ExitReason),
            Ended::NotYet => None,
        })
    }

    /// The same from a coroutine: `await ref.wait(timeout=1.0)`.
    #[pyo3(signature = (timeout=None))]
    fn wait<'py>(slf: Bound<'py, Self>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let timeout = waiting::timeout(timeout)?.map(|timeout| timeout.as_secs_f64());
        let wait = WAIT.get_or_try_init(py, || py.import("iris.aio")?.getattr("wait").map(Bound::unbind))?;
        wait.bind(py).call1((slf, timeout))
    }

    /// Gives a future the reason when the actor ends, by way of its loop's queue. Returns the watch's number; None if the actor has ended
    /// already, then the future has its reason.
    fn _watch_into(&self, py: Python<'_>, queue: Py<ReadyQueue>, future: Py<PyAny>) -> PyResult<Option<u64>> {
        let pid = self.here()?.pid();
        let reply = Reply::to_future(queue, future);
        let slot = Arc::new(Mutex::new(Some(reply)));
        let theirs = slot.clone();
        let number = self.handle.watch(pid, move |reason| {
            let reply = theirs.lock().take();
            Python::try_attach(|py| answer_with(py, reply, reason.clone()));
        });
        if number.is_none() {
            let reply = slot.lock().take();
            answer_with(py, reply, self.reason().unwrap_or(ExitReason::NoProcess));
        }
        Ok(number.map(|number| number.0))
    }

    /// Takes a watch back.
    fn _unwatch(&self, number: u64) -> bool {
        self.is_here() && self.handle.unwatch(self.actor.pid(), MonitorRef(number))
    }

    /// Ends the actor after the messages that wait now.
    fn stop(&self) -> PyResult<bool> {
        Ok(end_in_order(&self.handle, self.here()?.pid()))
    }

    /// Ends the actor before its next message.
    #[pyo3(signature = (reason=None))]
    fn exit(&self, py: Python<'_>, reason: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        self.here()?.exit(exit::reason_from(py, reason.as_ref())?);
        Ok(())
    }

    /// Links with another actor.
    fn link(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.handle.link(self.here()?.pid(), self.peer(other)?))
    }

    /// Unlinks from another actor.
    fn unlink(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.handle.unlink(self.here()?.pid(), self.peer(other)?))
    }

    /// Lets this actor get a `Down` when the other ends; returns the monitor's number.
    fn monitor(&self, other: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.handle.monitor(self.here()?.pid(), self.peer(other)?).0)
    }

    /// Takes a monitor of `monitor(other)` back. False if it has fired or never was.
    fn demonitor(&self, other: &Bound<'_, PyAny>, monitor: u64) -> PyResult<bool> {
        self.here()?;
        Ok(self.handle.demonitor(self.peer(other)?, MonitorRef(monitor)))
    }

    /// The behaviour's version, from 1.
    #[getter]
    fn version(&self) -> PyResult<Option<u32>> {
        Ok(self.compat.pulls.version(&self.handle, self.here()?.pid()))
    }

    /// Goes back to an earlier behaviour.
    #[pyo3(signature = (steps=1))]
    fn rollback(&self, py: Python<'_>, steps: usize) -> PyResult<u32> {
        let version = self.compat.pulls.rollback(py, &self.handle, self.here()?.pid(), steps);
        version.ok_or_else(|| PyRuntimeError::new_err("the history of behaviours is too short"))
    }

    /// Bounds the mailbox: capacity and what happens above it.
    #[pyo3(signature = (capacity, policy="dropnew", target=None))]
    fn bound(&self, capacity: usize, policy: &str, target: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let target = || match target {
            Some(target) => self.peer(target),
            None => Err(PyValueError::new_err(format!("the policy {policy:?} needs a target"))),
        };
        let policy = match policy {
            "dropnew" => Overflow::DropNew,
            "dropold" => Overflow::DropOld,
            "block" => Overflow::Block,
            "redirect" => Overflow::Redirect(target()?),
            "spill" => Overflow::Spill(target()?),
            other => return Err(PyValueError::new_err(format!("unknown policy {other:?}"))),
        };
        self.handle.set_overflow(self.here()?.pid(), Some(capacity), policy);
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("<Ref {}>", self.actor.pid())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        other.get().actor.pid() == self.actor.pid() && Arc::ptr_eq(&other.get().compat, &self.compat)
    }

    fn __hash__(&self) -> u64 {
        self.actor.pid().to_bits()
    }
}
