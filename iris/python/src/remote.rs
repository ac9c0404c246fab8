//! `RemoteRef`: a process of another node, by pid or by name. Owns sending and asking; leaves values to `terms` and connections to
//! `iris_mesh`. Invariant: nothing here waits with the GIL, and a thread that serves many actors waits for no node.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;

use iris_mesh::{Destination, MeshError, Pid, Reference, Term};
use iris_runtime::call_pair;
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::host::{must_not_block, serving};
use crate::message::{NoReply, Reply};
use crate::node::{NodeBusy, NodeError, Shared, mesh_error};
use crate::queue::ReadyQueue;
use crate::reference::{OWN_THREAD, Ref};
use crate::sent::{Delivery, sent};
use crate::terms::{to_python, to_term};
use crate::waiting;

pyo3::create_exception!(
    iris,
    CallFailed,
    NoReply,
    "The process that was asked is gone, or refused: `reason` says why (noproc, noconnection, or its own reason)."
);

static ASK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A process of another node.
#[pyclass(frozen, weakref, name = "RemoteRef", module = "iris")]
pub(crate) struct RemoteRef {
    shared: Arc<Shared>,
    to: Destination,
}

/// The exception for a call whose callee is gone.
fn failed(py: Python<'_>, shared: &Arc<Shared>, reason: Term) -> PyErr {
    let reason = match to_python(py, shared, reason) {
        Ok(reason) => reason,
        Err(error) => return error,
    };
    let text = reason.str().map_or_else(|_| "the callee is gone".into(), |text| text.to_string());
    let error = CallFailed::new_err(text);
    match error.value(py).setattr("reason", reason) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// A request that was sent from a coroutine or a green thread: whoever does not wait any longer says so.
#[pyclass(frozen, module = "iris._iris")]
pub(crate) struct Asked {
    shared: Arc<Shared>,
    slot: Arc<Mutex<Slot>>,
}

#[derive(Default)]
struct Slot {
    reference: Option<Reference>,
    forgotten: bool,
}

#[pymethods]
impl Asked {
    /// The answer is not wanted any more.
    fn forget(&self, py: Python<'_>) {
        let mut slot = self.slot.lock();
        slot.forgotten = true;
        let reference = slot.reference.take();
        drop(slot);
        if let Some(reference) = reference {
            crate::ffi::wait(py, || self.shared.mesh.demonitor(&reference));
        }
    }
}

impl RemoteRef {
    pub(crate) fn new(shared: Arc<Shared>, to: Destination) -> Self {
        Self { shared, to }
    }

    pub(crate) fn to(&self) -> &Destination {
        &self.to
    }

    /// The process, where only a pid will do.
    pub(crate) fn process(&self) -> PyResult<&Pid> {
        match &self.to {
            Destination::Pid(pid) => Ok(pid),
            Destination::Name(..) => {
                Err(PyValueError::new_err("links are between processes: this reference is a name"))
            }
        }
    }

    /// How it is sent as a value: a name is `{Name, Node}`, which `send` and `gen_server:call` take.
    pub(crate) fn term(&self) -> Term {
        match &self.to {
            Destination::Pid(pid) => pid.clone().into(),
            Destination::Name(name, node) => Term::tuple([name.clone().into(), node.clone().into()]),
        }
    }

    fn deliver(&self, py: Python<'_>, term: Term) -> PyResult<Py<PyAny>> {
        let shared = self.shared.here()?;
        let outcome = if *self.to.node() == *shared.mesh.name() {
            crate::ffi::wait(py, || shared.handle.blocking(|| shared.mesh.send(&self.to, &term)))
        } else if must_not_block() {
            self.deliver_promptly(py, term)
        } else {
            match shared.mesh.try_send(&self.to, &term) {
                Err(MeshError::Busy(_) | MeshError::NoConnection(_)) => {
                    crate::ffi::wait(py, || shared.handle.blocking(|| shared.mesh.send(&self.to, &term)))
                }
                other => other,
            }
        };
        sent(
            py,
            match outcome {
                Ok(()) => Delivery::Accepted,
                Err(MeshError::Busy(_)) => Delivery::Busy,
                Err(
                    MeshError::NoConnection(_)
                    | MeshError::Io(..)
                    | MeshError::Handshake(_)
                    | MeshError::Epmd(_),
                ) => Delivery::NoConnection,
                Err(error) => return Err(mesh_error(error)),
            },
        )
    }

    fn deliver_promptly(&self, py: Python<'_>, term: Term) -> Result<(), MeshError> {
        let shared = &self.shared;
        if !shared.outbox.is_waiting(self.to.node()) {
            match shared.mesh.try_send(&self.to, &term) {
                Err(MeshError::NoConnection(_)) => {}
                other => return other,
            }
        }
        let to = self.to.clone();
        self.later(
            py,
            &term.clone(),
            Box::new(move |mesh| match mesh {
                Some(mesh) => mesh.send(&to, &term),
                None => Ok(()),
            }),
        )
    }

    /// Lets a thread do it that may wait for the connection.
    fn later(&self, py: Python<'_>, term: &Term, op: crate::outbox::Op) -> Result<(), MeshError> {
        let mut bytes = Vec::new();
        iris_mesh::etf::encode(&mut bytes, term)?;
        let shared = &self.shared;
        let pushed =
            crate::ffi::wait(py, || shared.outbox.push(&shared.mesh, self.to.node(), bytes.len(), op));
        if pushed { Ok(()) } else { Err(MeshError::Busy(self.to.node().to_string())) }
    }

    fn request(&self, py: Python<'_>, term: Term, reply: Reply) -> PyResult<Asked> {
        let shared = self.shared.here()?;
        let slot = Arc::new(Mutex::new(Slot::default()));
        let theirs = shared.clone();
        let done = move |result: Result<Term, Term>| {
            reply.answer_from_outside(move |py| {
                let outcome = match result {
                    Ok(term) => to_python(py, &theirs, term).map(Bound::unbind),
                    Err(reason) => Err(failed(py, &theirs, reason)),
                };
                outcome.map_err(|error| error.into_value(py).into_any())
            });
        };
        let asked = Asked { shared: shared.clone(), slot: slot.clone() };
        let here = *self.to.node() == *shared.mesh.name();
        let reference = if !must_not_block() || here {
            crate::ffi::wait(py, || {
                shared.handle.blocking(|| shared.mesh.request(&self.to, term, None, done))
            })
        } else if shared.outbox.is_waiting(self.to.node()) || !shared.mesh.is_connected(self.to.node()) {
            let to = self.to.clone();
            let later = self.later(
                py,
                &term.clone(),
                Box::new(move |mesh| {
                    let Some(mesh) = mesh else {
                        done(Err(Term::atom("noconnection")));
                        return Ok(());
                    };
                    if slot.lock().forgotten {
                        return Ok(());
                    }
                    let reference = mesh.request(&to, term, None, done)?;
                    let mut slot = slot.lock();
                    if slot.forgotten {
                        mesh.demonitor(&reference);
                    } else {
                        slot.reference = Some(reference);
                    }
                    Ok(())
                }),
            );
            return later.map(|()| asked).map_err(mesh_error);
        } else {
            crate::ffi::wait(py, || shared.mesh.try_request(&self.to, term, done))
        };
        asked.slot.lock().reference = Some(reference.map_err(mesh_error)?);
        Ok(asked)
    }
}

#[pymethods]
impl RemoteRef {
    /// The node.
    #[getter]
    fn node(&self) -> &str {
        self.to.node().as_str()
    }

    /// The registered name, if it goes by one.
    #[getter]
    fn name(&self) -> Option<&str> {
        match &self.to {
            Destination::Name(name, _) => Some(name.as_str()),
            Destination::Pid(_) => None,
        }
    }

    /// The reference to the actor itself, if it is one of this node and lives.
    #[getter]
    fn local(&self) -> Option<Ref> {
        let shared = self.shared.here().ok()?;
        shared.reference(shared.mesh.local(&self.to)?)
    }

    /// Sends a message. What it returns is true if it was accepted; it is lost if the connection or the process ends before it is read,
    /// which a monitor tells.
    fn send(&self, py: Python<'_>, message: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let term = to_term(&self.shared, &message)?;
        self.deliver(py, term)
    }

    /// `gen_server:cast`.
    fn cast(&self, py: Python<'_>, message: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let term = to_term(&self.shared, &message)?;
        self.deliver(py, Term::tuple([Term::atom("$gen_cast"), term]))
    }

    /// `gen_server:call`, which waits without the GIL. Raises `CallFailed` with the reason if the process is gone, or `TimeoutError`.
    #[pyo3(signature = (message, timeout=None))]
    fn ask_sync(
        &self,
        py: Python<'_>,
        message: Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let shared = self.shared.here()?;
        if must_not_block()
            && shared.mesh.local(&self.to).is_some_and(|pid| shared.compat.pulls.is_served_by(pid, serving()))
        {
            return Err(PyRuntimeError::new_err(OWN_THREAD));
        }
        let timeout = waiting::timeout(timeout)?;
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let term = to_term(shared, &message)?;
        let (reply, call) = call_pair::<Result<Term, Term>>();
        let done = move |result| _ = reply.send(result);
        let asking = || {
            let sent = crate::ffi::wait(py, || shared.mesh.request(&self.to, term, timeout, done));
            let reference = sent.map_err(mesh_error)?;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let result = waiting::answer(py, &call, left);
            crate::ffi::wait(py, || shared.mesh.demonitor(&reference));
            result
        };
        match waiting::on_leave(&shared.handle, asking)? {
            Ok(Ok(term)) => to_python(py, shared, term).map(Bound::unbind),
            Ok(Err(reason)) => Err(failed(py, shared, reason)),
            Err(iris_runtime::CallError::Timeout) => {
                Err(PyTimeoutError::new_err("no reply before the deadline"))
            }
            Err(other) => Err(NoReply::new_err(other.to_string())),
        }
    }

    /// The same from a coroutine: `await remote.ask(message, timeout=1.0)`.
    #[pyo3(signature = (message, timeout=None))]
    fn ask<'py>(
        slf: Bound<'py, Self>,
        message: Py<PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let ask = ASK.get_or_try_init(py, || py.import("iris.nodes")?.getattr("ask").map(Bound::unbind))?;
        ask.bind(py).call1((slf, message, timeout))
    }

    /// Sends a request whose answer goes to a future, by way of its loop's or hub's queue.
    fn _request(
        &self,
        py: Python<'_>,
        message: Bound<'_, PyAny>,
        queue: Py<ReadyQueue>,
        future: Py<PyAny>,
    ) -> PyResult<Asked> {
        let term = to_term(&self.shared, &message)?;
        self.request(py, term, Reply::to_future(queue, future))
    }

    /// Sends an exit signal: "kill" ends the process whatever it does, anything else unless it traps exits.
    #[pyo3(signature = (reason=None))]
    fn exit(&self, py: Python<'_>, reason: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        let shared = self.shared.here()?;
        let reason = match reason.filter(|reason| !reason.is_none()) {
            None => Term::atom("shutdown"),
            // As `Ref.exit` takes them; of what else is given, the value.
            Some(reason) => match reason.extract::<&str>() {
                Ok("killed") => Term::atom("kill"),
                Ok(text @ ("normal" | "shutdown" | "kill")) => Term::atom(text),
                _ => to_term(shared, &reason)?,
            },
        };
        let process = self.process()?;
        crate::ffi::wait(py, || shared.handle.blocking(|| shared.mesh.exit(process, reason)))
            .map_err(mesh_error)
    }

    fn __repr__(&self) -> String {
        match &self.to {
            Destination::Pid(pid) => format!("<RemoteRef {}.{} on {}>", pid.id, pid.serial, pid.node),
            Destination::Name(name, node) => format!("<RemoteRef {name:?} on {node}>"),
        }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().to == self.to)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match &self.to {
            Destination::Pid(pid) => pid.hash(&mut hasher),
            Destination::Name(name, node) => (name, node).hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// Nodes' errors as Python sees them.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("CallFailed", py.get_type::<CallFailed>())?;
    module.add("NodeError", py.get_type::<NodeError>())?;
    module.add("NodeBusy", py.get_type::<NodeBusy>())?;
    module.add_class::<RemoteRef>()?;
    module.add_class::<Asked>()
}
