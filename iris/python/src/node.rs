//! A node of a cluster as Python sees it. Owns what actors are given from other nodes (as `Message::Remote`, turned into objects where
//! the actor runs), and `NodeCore`, which `iris.Node` wraps. Leaves the protocol to `iris_mesh`, values to `terms`.
//! Invariant: no function here waits for a connection or a peer with the GIL.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use iris_mesh::{
    Around, Atom, CallError, Caller, Destination, MeshError, Node as Mesh, NodeEvent, Options, Private,
    Received, Term, Tls, reason_term,
};
use iris_runtime::{ActorRef, Handle, Pid, SendError};
use pyo3::exceptions::{PyRuntimeError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::compat::{Compat, pid_of};
use crate::host::must_not_block;
use crate::message::{Foreign, ForeignCaller, Message};
use crate::outbox::Outbox;
use crate::reference::Ref;
use crate::remote::RemoteRef;
use crate::runtime::PyRuntime;
use crate::terms::{Reference, to_python, to_term};
use crate::waiting;

pyo3::create_exception!(iris, NodeError, PyRuntimeError, "Something between nodes that did not work.");
pyo3::create_exception!(iris, NodeBusy, NodeError, "The other node does not read what is sent to it.");

/// What all parts of one node have in common.
pub(crate) struct Shared {
    pub(crate) mesh: Mesh,
    pub(crate) handle: Handle,
    pub(crate) compat: Arc<Compat>,
    pub(crate) outbox: Outbox,
    /// Whether pickled objects are sent and taken, as far as the other side does so too.
    pub(crate) objects: bool,
    process: u32,
}

pub(crate) fn mesh_error(error: MeshError) -> PyErr {
    match error {
        MeshError::Busy(_) => NodeBusy::new_err(error.to_string()),
        MeshError::Etf(_) | MeshError::FrameLength | MeshError::Name(_) | MeshError::NoProcess => {
            PyValueError::new_err(error.to_string())
        }
        error => NodeError::new_err(error.to_string()),
    }
}

impl Shared {
    /// Itself, unless this process was forked from the one that has the connections.
    pub(crate) fn here(self: &Arc<Self>) -> PyResult<&Arc<Self>> {
        if self.process == std::process::id() {
            Ok(self)
        } else {
            Err(NodeError::new_err("the node is in the process that this one was forked from"))
        }
    }

    /// The pid by which other nodes know an actor.
    pub(crate) fn give(self: &Arc<Self>, actor: &ActorRef<Message>) -> PyResult<iris_mesh::Pid> {
        self.here()?;
        self.mesh.give_to(actor.pid(), sink(self, actor.clone()), false).map_err(mesh_error)
    }

    pub(crate) fn reference(&self, pid: Pid) -> Option<Ref> {
        self.handle.actor(pid).map(|actor| Ref::of_parts(&self.handle, &self.compat, actor))
    }

    /// A group's or a global name: a text is an atom, as programs of OTP write them.
    fn called(self: &Arc<Self>, name: &Bound<'_, PyAny>) -> PyResult<Term> {
        match name.cast::<PyString>() {
            Ok(text) => Ok(Term::atom(text.to_str()?)),
            Err(_) => to_term(self, name),
        }
    }

    fn actor(&self, who: &Bound<'_, PyAny>) -> PyResult<ActorRef<Message>> {
        if let Ok(reference) = who.cast::<Ref>() {
            return reference.get().of(&self.compat).cloned();
        }
        let actor = self.handle.actor(pid_of(who)?);
        actor.ok_or_else(|| PyValueError::new_err("the actor has ended"))
    }
}

/// Gives an actor what comes for it. Ends are never refused by a full mailbox.
fn sink(shared: &Arc<Shared>, actor: ActorRef<Message>) -> impl Fn(Received) -> bool + Send + Sync + 'static {
    let weak = Arc::downgrade(shared);
    move |received| {
        let over = matches!(received, Received::Down { .. } | Received::Exit { .. });
        pass(&weak, &actor, Came::Received(received), over)
    }
}

fn pass(weak: &Weak<Shared>, actor: &ActorRef<Message>, came: Came, over: bool) -> bool {
    let Some(shared) = weak.upgrade() else { return false };
    let handle = shared.handle.clone();
    let message = Message::Remote(Box::new(Incoming { shared, came: Some(came) }));
    if over {
        return actor.send_over(message).is_ok();
    }
    if must_not_block() {
        return actor.send_waiting_over(message).is_ok();
    }
    match actor.try_send(message) {
        Ok(()) => true,
        Err(SendError::Full(message)) => handle.blocking(|| actor.send(message).is_ok()),
        Err(SendError::NoProcess(_)) => false,
    }
}

/// What comes from nodes.
enum Came {
    Received(Received),
    Event(NodeEvent),
}

/// The same on its way to an actor, and not yet an object.
struct Incoming {
    shared: Arc<Shared>,
    /// Taken when it is opened.
    came: Option<Came>,
}

/// The right to answer a caller of another node.
struct RemoteReply {
    shared: Arc<Shared>,
    caller: Caller,
}

impl Foreign for Incoming {
    fn open(mut self: Box<Self>, py: Python<'_>) -> (Py<PyAny>, Option<Box<dyn ForeignCaller>>) {
        let Some(came) = self.came.take() else { return (py.None(), None) };
        let (object, reply) = match came {
            Came::Received(Received::Call(term, caller)) => {
                let reply = RemoteReply { shared: self.shared.clone(), caller };
                (to_python(py, &self.shared, term), Some(Box::new(reply) as Box<dyn ForeignCaller>))
            }
            Came::Received(Received::Message(term) | Received::Cast(term)) => {
                (to_python(py, &self.shared, term), None)
            }
            Came::Received(Received::Down { reference, from, reason }) => {
                (self.down(py, reference, from, reason), None)
            }
            Came::Received(Received::Exit { from, reason }) => (self.exit(py, from, reason), None),
            Came::Event(event) => (node_event(py, event), None),
        };
        // Only memory can be lacking.
        (object.map_or_else(|error| error.into_value(py).into_any(), Bound::unbind), reply)
    }

    fn look(&self, py: Python<'_>) -> Py<PyAny> {
        match &self.came {
            Some(Came::Received(
                Received::Call(term, _) | Received::Message(term) | Received::Cast(term),
            )) => to_python(py, &self.shared, term.clone()).map_or_else(|_| py.None(), Bound::unbind),
            _ => py.None(),
        }
    }
}

impl Incoming {
    fn down<'py>(
        &self,
        py: Python<'py>,
        reference: iris_mesh::Reference,
        from: Term,
        reason: Term,
    ) -> PyResult<Bound<'py, PyAny>> {
        let who = match from {
            Term::Pid(pid) => Destination::Pid(*pid),
            Term::Tuple(parts) => match parts.as_slice() {
                [Term::Atom(name), Term::Atom(node)] => Destination::Name(name.clone(), node.clone()),
                _ => Destination::name("", ""),
            },
            _ => Destination::name("", ""),
        };
        let who = Py::new(py, RemoteRef::new(self.shared.clone(), who))?;
        let monitor = Py::new(py, Reference(reference))?;
        let reason = to_python(py, &self.shared, reason)?.unbind();
        Ok(Bound::new(py, RemoteDown { monitor, who, reason })?.into_any())
    }

    fn exit<'py>(&self, py: Python<'py>, from: iris_mesh::Pid, reason: Term) -> PyResult<Bound<'py, PyAny>> {
        let who = Py::new(py, RemoteRef::new(self.shared.clone(), Destination::Pid(from)))?;
        let reason = to_python(py, &self.shared, reason)?.unbind();
        Ok(Bound::new(py, RemoteExit { who, reason })?.into_any())
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let Some(Came::Received(Received::Call(_, caller))) = self.came.take() {
            caller.refuse(Term::atom("noreply"));
        }
    }
}

fn node_event(py: Python<'_>, event: NodeEvent) -> PyResult<Bound<'_, PyAny>> {
    Ok(match event {
        NodeEvent::Up(node) => Bound::new(py, NodeUp { node: node.to_string() })?.into_any(),
        NodeEvent::Down(node) => Bound::new(py, NodeDown { node: node.to_string() })?.into_any(),
    })
}

/// What a monitor of a remote process delivers: it ended, was not there, or its node is gone.
#[pyclass(frozen, get_all, module = "iris")]
pub(crate) struct RemoteDown {
    /// The monitor that fired.
    monitor: Py<Reference>,
    /// Who ended.
    who: Py<RemoteRef>,
    /// Why: `noproc`, `noconnection` or its own reason.
    reason: Py<PyAny>,
}

#[pymethods]
impl RemoteDown {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<RemoteDown {} {}>", self.who.bind(py).repr()?, self.reason.bind(py).repr()?))
    }
}

/// An exit signal of a remote process, for an actor that traps exits.
#[pyclass(frozen, get_all, module = "iris")]
pub(crate) struct RemoteExit {
    /// Who ended, or wants this actor to.
    who: Py<RemoteRef>,
    /// Why.
    reason: Py<PyAny>,
}

#[pymethods]
impl RemoteExit {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<RemoteExit {} {}>", self.who.bind(py).repr()?, self.reason.bind(py).repr()?))
    }
}

/// A connection with a node has begun.
#[pyclass(frozen, get_all, module = "iris")]
pub(crate) struct NodeUp {
    node: String,
}

/// A connection with a node has ended.
#[pyclass(frozen, get_all, module = "iris")]
pub(crate) struct NodeDown {
    node: String,
}

#[pymethods]
impl NodeUp {
    fn __repr__(&self) -> String {
        format!("<NodeUp {}>", self.node)
    }
}

#[pymethods]
impl NodeDown {
    fn __repr__(&self) -> String {
        format!("<NodeDown {}>", self.node)
    }
}

fn address(text: &str) -> PyResult<SocketAddr> {
    text.parse()
        .map_err(|_| PyValueError::new_err(format!("{text:?} is not an address: write 127.0.0.1:5000")))
}

/// A node.
#[pyclass(frozen, weakref, module = "iris._iris")]
pub(crate) struct NodeCore {
    shared: Arc<Shared>,
}

impl Drop for NodeCore {
    fn drop(&mut self) {
        // A child of a fork has the parent's sockets, whose ends are the parent's affair.
        if self.shared.here().is_ok() {
            self.shared.mesh.close();
        }
    }
}

#[pymethods]
impl NodeCore {
    #[new]
    #[pyo3(signature = (runtime, name, cookie, listen, epmd, peers, tick, tls=None, objects=false))]
    fn new(
        py: Python<'_>,
        runtime: &Bound<'_, PyRuntime>,
        name: &str,
        cookie: &str,
        listen: &str,
        epmd: Option<&str>,
        peers: HashMap<String, String>,
        tick: f64,
        tls: Option<(String, String, String)>,
        objects: bool,
    ) -> PyResult<Self> {
        let tls = tls.map(|(authority, own, key)| Tls::new(&authority, &own, &key));
        let private = if objects { Private::TEXT.and(Private::OBJECTS) } else { Private::TEXT };
        let core = &runtime.get().core;
        let peers = peers.into_iter().map(|(name, at)| Ok((name, address(&at)?)));
        let tick = waiting::seconds(tick)?;
        if tick < Duration::from_millis(crate::limits::TICK_MS_MIN) {
            return Err(PyValueError::new_err("the tick must be a tenth of a second at least"));
        }
        let options = Options {
            listen: address(listen)?,
            epmd: epmd.map(address).transpose()?,
            peers: peers.collect::<PyResult<_>>()?,
            tick,
            tls: tls.transpose().map_err(mesh_error)?,
            private,
            around: Some(Around(Arc::new(crate::host::around))),
            ..Options::new(name, cookie)
        };
        let handle = core.handle.clone();
        let mesh = crate::ffi::wait(py, || Mesh::start(&handle, options)).map_err(mesh_error)?;
        let (compat, process) = (core.compat.clone(), std::process::id());
        let shared = Shared { mesh, handle, compat, outbox: Outbox::default(), objects, process };
        Ok(Self { shared: Arc::new(shared) })
    }

    #[getter]
    fn name(&self) -> &str {
        self.shared.mesh.name().as_str()
    }

    #[getter]
    fn address(&self) -> (String, u16) {
        let address = self.shared.mesh.address();
        (address.ip().to_string(), address.port())
    }

    fn nodes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let shared = self.shared.here()?;
        let mut nodes: Vec<_> =
            crate::ffi::wait(py, || shared.mesh.nodes().iter().map(Atom::to_string).collect());
        nodes.sort();
        Ok(nodes)
    }

    fn register(&self, name: &str, actor: &Bound<'_, PyAny>) -> PyResult<bool> {
        let shared = self.shared.here()?;
        let actor = shared.actor(actor)?;
        shared.give(&actor)?;
        if name.chars().count() > iris_mesh::limits::ATOM_CHARS_MAX {
            return Err(mesh_error(MeshError::Etf(iris_mesh::EtfError::AtomLength)));
        }
        shared.mesh.name_actor(name, actor.pid()).map_err(mesh_error)
    }

    fn unregister(&self, name: &str) -> PyResult<bool> {
        Ok(self.shared.here()?.mesh.unregister(name))
    }

    fn give(&self, actor: &Bound<'_, PyAny>) -> PyResult<RemoteRef> {
        let shared = self.shared.here()?;
        let pid = shared.give(&shared.actor(actor)?)?;
        Ok(RemoteRef::new(shared.clone(), Destination::Pid(pid)))
    }

    fn r#ref(&self, name: &str, node: &str) -> RemoteRef {
        RemoteRef::new(self.shared.clone(), Destination::name(name, node))
    }

    fn monitor(
        &self,
        py: Python<'_>,
        watcher: &Bound<'_, PyAny>,
        to: &Bound<'_, RemoteRef>,
    ) -> PyResult<Reference> {
        let shared = self.shared.here()?;
        let told = sink(shared, shared.actor(watcher)?);
        let to = to.get().to();
        let reference = crate::ffi::wait(py, || shared.handle.blocking(|| shared.mesh.monitor_for(to, told)));
        reference.map(Reference).map_err(mesh_error)
    }

    fn demonitor(&self, py: Python<'_>, monitor: &Bound<'_, Reference>) -> PyResult<bool> {
        let (shared, monitor) = (self.shared.here()?, &monitor.get().0);
        Ok(crate::ffi::wait(py, || shared.mesh.demonitor(monitor)))
    }

    fn link(&self, py: Python<'_>, actor: &Bound<'_, PyAny>, to: &Bound<'_, RemoteRef>) -> PyResult<()> {
        let shared = self.shared.here()?;
        let actor = shared.actor(actor)?;
        let process = to.get().process()?;
        shared.give(&actor)?;
        let linked =
            crate::ffi::wait(py, || shared.handle.blocking(|| shared.mesh.link_actor(actor.pid(), process)));
        linked.map_err(mesh_error)
    }

    fn unlink(&self, py: Python<'_>, actor: &Bound<'_, PyAny>, to: &Bound<'_, RemoteRef>) -> PyResult<()> {
        let shared = self.shared.here()?;
        let (actor, process) = (shared.actor(actor)?.pid(), to.get().process()?);
        crate::ffi::wait(py, || shared.mesh.unlink_actor(actor, process)).map_err(mesh_error)
    }

    fn watch_nodes(&self, watcher: &Bound<'_, PyAny>) -> PyResult<()> {
        let shared = self.shared.here()?;
        let (weak, actor) = (Arc::downgrade(shared), shared.actor(watcher)?);
        shared.mesh.watch_nodes(move |event| pass(&weak, &actor, Came::Event(event), true));
        Ok(())
    }

    /// Puts an actor into a group.
    fn join(&self, py: Python<'_>, group: &Bound<'_, PyAny>, actor: &Bound<'_, PyAny>) -> PyResult<()> {
        let shared = self.shared.here()?;
        let (group, actor) = (shared.called(group)?, shared.actor(actor)?);
        shared.give(&actor)?;
        crate::ffi::wait(py, || shared.mesh.join(&group, actor.pid())).map_err(mesh_error)
    }

    /// Takes an actor out of a group.
    fn leave(&self, py: Python<'_>, group: &Bound<'_, PyAny>, actor: &Bound<'_, PyAny>) -> PyResult<bool> {
        let shared = self.shared.here()?;
        let (group, actor) = (shared.called(group)?, shared.actor(actor)?.pid());
        crate::ffi::wait(py, || shared.mesh.leave(&group, actor)).map_err(mesh_error)
    }

    /// The members of a group.
    fn members(&self, py: Python<'_>, group: &Bound<'_, PyAny>) -> PyResult<Vec<RemoteRef>> {
        let shared = self.shared.here()?;
        let group = shared.called(group)?;
        let members = crate::ffi::wait(py, || shared.mesh.members(&group)).map_err(mesh_error)?;
        Ok(members.into_iter().map(|pid| RemoteRef::new(shared.clone(), Destination::Pid(pid))).collect())
    }

    /// All groups that have a member.
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let shared = self.shared.here()?;
        let groups = crate::ffi::wait(py, || shared.mesh.which_groups());
        groups.into_iter().map(|group| to_python(py, shared, group)).collect()
    }

    /// The process that a node of OTP knows by a global name; false if it does not keep any.
    fn global_name(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        node: &str,
        timeout: f64,
    ) -> PyResult<Option<RemoteRef>> {
        let (shared, timeout) = (self.shared.here()?, waiting::seconds(timeout)?);
        let name = shared.called(name)?;
        let found =
            crate::ffi::wait(py, || shared.handle.blocking(|| shared.mesh.global(&name, node, timeout)));
        match found {
            Ok(found) => Ok(found.map(|pid| RemoteRef::new(shared.clone(), Destination::Pid(pid)))),
            Err(CallError::Timeout) => Err(PyTimeoutError::new_err("no answer before the deadline")),
            Err(CallError::NotSent(error)) => Err(mesh_error(error)),
            // A node that keeps no names, as those of iris, knows none.
            Err(CallError::Down(reason)) if reason.is_atom("noproc") => Ok(None),
            Err(CallError::Down(reason)) => Err(NodeError::new_err(format!("{node}: {reason}"))),
        }
    }

    fn add_peer(&self, name: &str, at: &str) -> PyResult<()> {
        self.shared.here()?.mesh.add_peer(name, address(at)?).map_err(mesh_error)
    }

    fn connect(&self, py: Python<'_>, node: &str) -> PyResult<()> {
        let shared = self.shared.here()?;
        crate::ffi::wait(py, || shared.handle.blocking(|| shared.mesh.connect(node))).map_err(mesh_error)
    }

    fn disconnect(&self, py: Python<'_>, node: &str) -> PyResult<bool> {
        let shared = self.shared.here()?;
        Ok(crate::ffi::wait(py, || shared.mesh.disconnect(node)))
    }

    /// Ends the node; true when all that depended on it has been told.
    fn close(&self, py: Python<'_>, timeout: f64) -> PyResult<bool> {
        let timeout = waiting::seconds(timeout)?;
        let Ok(shared) = self.shared.here() else { return Ok(true) };
        Ok(crate::ffi::wait(py, || {
            shared.mesh.close();
            shared.handle.blocking(|| shared.mesh.wait_closed(timeout))
        }))
    }
}

impl ForeignCaller for RemoteReply {
    /// Sends the answer; for an exception, and for what cannot be sent, the caller hears that there is none.
    fn answer(&self, py: Python<'_>, outcome: Result<Py<PyAny>, Py<PyAny>>) {
        let refused = match outcome {
            Ok(value) => match to_term(&self.shared, value.bind(py)) {
                Ok(term) => return self.send(py, term),
                Err(error) => {
                    error.display(py);
                    Term::tuple([Term::atom("bad_reply"), Term::text(&error.to_string())])
                }
            },
            Err(error) => reason_term(&crate::exit::raised(py, PyErr::from_value(error.into_bound(py)))),
        };
        crate::ffi::wait(py, || self.caller.refuse(refused));
    }

    fn refuse(&self) {
        self.caller.refuse(Term::atom("noreply"));
    }
}

impl RemoteReply {
    fn send(&self, py: Python<'_>, term: Term) {
        let result = match self.caller.try_reply(term.clone()) {
            Err(MeshError::Busy(_) | MeshError::NoConnection(_)) if !must_not_block() => {
                crate::ffi::wait(py, || self.shared.handle.blocking(|| self.caller.reply(term)))
            }
            other => other,
        };
        // The caller does not read, or is gone with its node; or the answer is too large, and it is told.
        if let Err(error @ (MeshError::Etf(_) | MeshError::FrameLength)) = result {
            let text = error.to_string();
            crate::ffi::wait(py, || {
                self.caller.refuse(Term::tuple([Term::atom("bad_reply"), Term::text(&text)]));
            });
        }
    }
}
