//! `PyRuntime`: the compatibility surface's methods, and the spawning of modern actors. Owns the conversion of arguments; each method
//! is one call into the core. Invariant: whatever can wait does so without the GIL.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use iris_runtime::{
    ActorRef, ExitReason, Handle, NameError, Overflow, Pid, SendError, SpawnError, SpawnOptions, StopReport,
    Taking, TimerId,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMemoryView};
use pyo3::{PyTraverseError, PyVisit};

use crate::behaviour::{Hooks, Observer, PyBehaviour, VirtualActor, VirtualHandler, visit_any};
use crate::compat::{self, Store};
use crate::core::Core;
use crate::exit;
use crate::host::{PYTHON_POOL, RELEASE_GIL_POOL, must_not_block};
use crate::inbox::Inbox;
use crate::limits::{SIGNALS_MS, STOP_TIMEOUT_S, TRIM_ACTORS_MIN};
use crate::message::Message;
use crate::queue::ReadyQueue;
use crate::reference::Ref;
use crate::sent::Delivery;
use crate::waiting::{self, Ended};
use crate::{buffer, system_message};

const NOT_YET: &str =
    "remote actors are not there yet on the compatible surface: use iris.System with iris.Node";

/// An actor system.
#[pyclass(frozen, weakref, subclass, module = "iris")]
pub(crate) struct PyRuntime {
    pub(crate) core: Arc<Core>,
}

fn spawn_error(error: SpawnError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// The compatibility surface carries bytes; other buffers are copied into bytes.
fn payload(data: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if data.is_instance_of::<PyBytes>() {
        return Ok(data.clone().unbind());
    }
    if data.is_instance_of::<PyByteArray>() || data.is_instance_of::<PyMemoryView>() {
        return data.py().get_type::<PyBytes>().call1((data,)).map(Bound::unbind);
    }
    Err(PyTypeError::new_err(format!("a message must be bytes, not {}", data.get_type().name()?)))
}

fn callable(handler: &Bound<'_, PyAny>) -> PyResult<()> {
    if handler.is_callable() { Ok(()) } else { Err(PyTypeError::new_err("the handler must be callable")) }
}

/// Sends, and waits for room without the GIL where the policy says so and the thread may.
pub(crate) fn send_to(py: Python<'_>, actor: &ActorRef<Message>, message: Message) -> Delivery {
    let message = match actor.try_send(message) {
        Ok(()) => return Delivery::Accepted,
        Err(SendError::NoProcess(message)) => {
            // A request has its own answer.
            if !matches!(message, Message::Ask(..)) {
                actor.refuse(&message);
            }
            return Delivery::NoProcess;
        }
        Err(SendError::Full(message)) => message,
    };
    if must_not_block() {
        return actor.send_waiting_over(message).into();
    }
    crate::ffi::wait(py, || actor.send(message).into())
}

fn taking(replace: bool) -> Taking {
    if replace { Taking::Held } else { Taking::Free }
}

/// Whether an actor was there to get the name.
fn named(name: &str, claimed: Result<(), NameError>) -> PyResult<bool> {
    match claimed {
        Ok(()) => Ok(true),
        Err(NameError::NoProcess) => Ok(false),
        Err(NameError::Taken(pid)) => Err(PyValueError::new_err(format!(
            "{name:?} belongs to the actor {}: unregister it, or say replace=True to take it",
            pid.to_bits()
        ))),
    }
}

impl PyRuntime {
    fn options(&self, budget: u32, release_gil: bool) -> PyResult<SpawnOptions> {
        let pool = if release_gil {
            self.core.compat.admit_release_gil(&self.core.handle)?;
            RELEASE_GIL_POOL
        } else {
            PYTHON_POOL
        };
        Ok(SpawnOptions { budget, pool, ..SpawnOptions::default() })
    }

    fn spawn_handler(&self, handler: Bound<'_, PyAny>, options: SpawnOptions) -> PyResult<u64> {
        callable(&handler)?;
        let behaviour = PyBehaviour::compat(handler.unbind(), &self.core.compat);
        let actor = self.core.handle.spawn_with(options, behaviour).map_err(spawn_error)?;
        if options.pool == RELEASE_GIL_POOL {
            self.core.compat.release_gil.spawned.lock().push(actor.pid());
        }
        Ok(actor.pid().to_bits())
    }

    fn actor(&self, pid: u64) -> Option<ActorRef<Message>> {
        self.core.handle.actor(Pid::from_bits(pid))
    }

    fn existing(&self, pid: u64) -> PyResult<ActorRef<Message>> {
        self.actor(pid).ok_or_else(|| PyValueError::new_err(format!("no actor has the pid {pid}")))
    }

    fn store(&self, pid: u64) -> PyResult<Arc<Store>> {
        let store = self.core.compat.stores.lock().get(&Pid::from_bits(pid)).cloned();
        store.ok_or_else(|| {
            PyValueError::new_err(format!("{pid} is no observed actor (spawn_observed_handler)"))
        })
    }

    fn observe(&self, budget: u32) -> PyResult<u64> {
        let store = Arc::new(Store::default());
        let observer = Observer { store: store.clone() };
        let options = SpawnOptions { budget, pool: PYTHON_POOL, trap_exit: true, ..SpawnOptions::default() };
        let actor = self.core.handle.spawn_with(options, observer).map_err(spawn_error)?;
        self.core.compat.stores.lock().insert(actor.pid(), store);
        Ok(actor.pid().to_bits())
    }
}

#[pymethods]
impl PyRuntime {
    #[new]
    fn new() -> Self {
        Self { core: Core::new() }
    }

    // ---- garbage collection -----------------------------------------------------------------------------------------

    /// Handlers often refer to their runtime. When nobody else holds the system, what its idle actors refer to belongs to this object,
    /// and the collector can see that the whole is garbage. The turns of both pools need the GIL, so nothing moves between the collector's
    /// two passes; what is not shown counts as referred to from outside. Pull actors show nothing: what a waiting one refers to lies
    /// on its stack.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let mut result = Ok(());
        if Arc::strong_count(&self.core) == 1 && !self.core.is_forked() {
            self.core.compat.visit_exceptions(&visit)?;
            for pool in [PYTHON_POOL, RELEASE_GIL_POOL] {
                self.core.handle.visit_behaviours(pool, &mut |behaviour| {
                    if result.is_ok() {
                        result = visit_any(behaviour, &visit);
                    }
                });
            }
        }
        result
    }

    /// The actors end on their own threads and drop their handlers there.
    fn __clear__(&self) {
        self.core.compat.forget_exceptions();
        self.core.handle.request_stop();
    }

    // ---- spawning -------------------------------------------------------------------------------------------------

    /// Spawns `handler(bytes)`.
    #[pyo3(signature = (handler, budget=100, release_gil=false))]
    fn spawn(&self, handler: Bound<'_, PyAny>, budget: u32, release_gil: bool) -> PyResult<u64> {
        self.spawn_handler(handler, self.options(budget, release_gil)?)
    }

    /// The same as `spawn`, with `release_gil` last and optional.
    #[pyo3(signature = (callable, budget=100, release_gil=None))]
    fn spawn_py_handler(
        &self,
        callable: Bound<'_, PyAny>,
        budget: u32,
        release_gil: Option<bool>,
    ) -> PyResult<u64> {
        self.spawn_handler(callable, self.options(budget, release_gil.unwrap_or(false))?)
    }

    /// Spawns with room for `capacity` messages; `send` returns False when it is full.
    #[pyo3(signature = (handler, budget, capacity, release_gil=false))]
    fn spawn_py_handler_bounded(
        &self,
        handler: Bound<'_, PyAny>,
        budget: u32,
        capacity: usize,
        release_gil: bool,
    ) -> PyResult<u64> {
        let options = self.options(budget, release_gil)?;
        self.spawn_handler(handler, SpawnOptions { bound: Some((capacity, Overflow::DropNew)), ..options })
    }

    /// Spawns an actor that is activated by its first message, and put away after an idle time.
    #[pyo3(signature = (handler, budget=100, idle_timeout_ms=None))]
    fn spawn_virtual(
        &self,
        handler: Bound<'_, PyAny>,
        budget: u32,
        idle_timeout_ms: Option<u64>,
    ) -> PyResult<u64> {
        callable(&handler)?;
        let factory = VirtualHandler { handler: handler.unbind(), compat: self.core.compat.clone() };
        let idle = idle_timeout_ms.map(Duration::from_millis);
        let actor = self.core.handle.spawn_virtual(self.options(budget, false)?, idle, factory);
        actor.map(|actor| actor.pid().to_bits()).map_err(spawn_error)
    }

    /// Spawns a handler that is stopped when its parent ends.
    #[pyo3(signature = (parent, handler, budget=100, release_gil=false))]
    fn spawn_child(
        &self,
        parent: u64,
        handler: Bound<'_, PyAny>,
        budget: u32,
        release_gil: bool,
    ) -> PyResult<u64> {
        let options = self.options(budget, release_gil)?;
        self.spawn_handler(handler, SpawnOptions { parent: Some(Pid::from_bits(parent)), ..options })
    }

    /// Spawns several children with the same handler.
    #[pyo3(signature = (parent, handler, workers, budget=100, release_gil=false))]
    fn spawn_child_pool(
        &self,
        parent: u64,
        handler: Bound<'_, PyAny>,
        workers: usize,
        budget: u32,
        release_gil: bool,
    ) -> PyResult<Vec<u64>> {
        (0..workers).map(|_| self.spawn_child(parent, handler.clone(), budget, release_gil)).collect()
    }

    /// Spawns an actor that keeps its messages.
    #[pyo3(signature = (budget=100))]
    fn spawn_observed_handler(&self, budget: u32) -> PyResult<u64> {
        self.observe(budget)
    }

    /// The same, registered at a path.
    #[pyo3(signature = (budget, path))]
    fn spawn_with_path_observed(&self, budget: u32, path: &str) -> PyResult<u64> {
        let pid = self.observe(budget)?;
        if let Err(error) = self.register_path(path, pid, false) {
            self.core.handle.exit(Pid::from_bits(pid), ExitReason::Killed);
            return Err(error);
        }
        Ok(pid)
    }

    /// What an observer has got so far.
    fn get_messages(&self, py: Python<'_>, pid: u64) -> PyResult<Vec<Py<PyAny>>> {
        Ok(self.store(pid)?.all(py))
    }

    /// Waits for the first message of an observer that `matcher` accepts, and takes it out.
    #[pyo3(signature = (pid, matcher, timeout=None))]
    fn selective_recv_blocking(
        &self,
        py: Python<'_>,
        pid: u64,
        matcher: Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Option<Py<PyAny>>> {
        self.store(pid)?.select(py, &matcher, timeout)
    }

    /// Makes a pull actor; `queue` is where its token goes when it has something to receive.
    #[pyo3(signature = (queue=None, parent=None, capacity=None, system_messages=false, trap_exit=false, asynchronous=false))]
    fn _spawn_inbox(
        &self,
        queue: Option<Py<ReadyQueue>>,
        parent: Option<u64>,
        capacity: Option<usize>,
        system_messages: bool,
        trap_exit: bool,
        asynchronous: bool,
    ) -> PyResult<(Ref, Inbox)> {
        let options = SpawnOptions {
            pool: PYTHON_POOL,
            parent: parent.map(Pid::from_bits),
            bound: capacity.map(|capacity| (capacity, Overflow::DropNew)),
            trap_exit: trap_exit || system_messages,
            ..SpawnOptions::default()
        };
        let (actor, inbox) = self.core.handle.spawn_inbox::<Message>(options).map_err(spawn_error)?;
        if let Some(queue) = &queue {
            self.core.compat.pulls.note_served(actor.pid(), queue.as_ptr() as usize, asynchronous);
        }
        let inbox = Inbox::new(&self.core, inbox, queue, system_messages);
        Ok((Ref::new(&self.core, actor), inbox))
    }

    /// Spawns a modern actor: `receive(message)`, with the hooks of its class.
    #[pyo3(signature = (receive, budget=100, release_gil=false, capacity=None, parent=None, link=None, trap_exit=false, started=None, stopped=None, code_change=None, instance=None))]
    fn _spawn_actor(
        &self,
        receive: Bound<'_, PyAny>,
        budget: u32,
        release_gil: bool,
        capacity: Option<usize>,
        parent: Option<u64>,
        link: Option<u64>,
        trap_exit: bool,
        started: Option<Py<PyAny>>,
        stopped: Option<Py<PyAny>>,
        code_change: Option<Py<PyAny>>,
        instance: Option<Py<PyAny>>,
    ) -> PyResult<Ref> {
        callable(&receive)?;
        let options = SpawnOptions {
            bound: capacity.map(|capacity| (capacity, Overflow::DropNew)),
            parent: parent.map(Pid::from_bits),
            link: link.map(Pid::from_bits),
            trap_exit,
            ..self.options(budget, release_gil)?
        };
        let hooks = hooks(started, stopped, code_change, instance);
        let behaviour = PyBehaviour::actor(receive.unbind(), hooks);
        let actor = self.core.handle.spawn_with(options, behaviour).map_err(spawn_error)?;
        Ok(Ref::new(&self.core, actor))
    }

    /// Spawns a modern virtual actor: `make()` gives its handler and hooks when it is activated.
    fn _spawn_virtual(
        &self,
        make: Py<PyAny>,
        budget: u32,
        release_gil: bool,
        capacity: Option<usize>,
        parent: Option<u64>,
        link: Option<u64>,
        trap_exit: bool,
        idle: Option<f64>,
    ) -> PyResult<Ref> {
        let options = SpawnOptions {
            bound: capacity.map(|capacity| (capacity, Overflow::DropNew)),
            parent: parent.map(Pid::from_bits),
            link: link.map(Pid::from_bits),
            trap_exit,
            ..self.options(budget, release_gil)?
        };
        let factory = VirtualActor { make };
        let actor = self.core.handle.spawn_virtual(options, waiting::timeout(idle)?, factory);
        actor.map(|actor| Ref::new(&self.core, actor)).map_err(spawn_error)
    }

    // ---- sending --------------------------------------------------------------------------------------------------

    /// Sends bytes. True if they were accepted.
    fn send(&self, py: Python<'_>, pid: u64, data: &Bound<'_, PyAny>) -> PyResult<bool> {
        let message = Message::Object(payload(data)?);
        Ok(self.actor(pid).is_some_and(|actor| send_to(py, &actor, message).accepted()))
    }

    /// Sends to whoever has the name.
    fn send_named(&self, py: Python<'_>, name: &str, data: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self.core.handle.whereis(name) {
            Some(pid) => self.send(py, pid.to_bits(), data),
            None => payload(data).map(|_| false),
        }
    }

    /// Sends a buffer of `allocate_buffer` without copying it.
    fn send_buffer(&self, py: Python<'_>, pid: u64, id: u64) -> PyResult<bool> {
        let bytes = buffer::take(id)?;
        let sent = self.actor(pid).is_some_and(|actor| {
            send_to(py, &actor, Message::Object(bytes.clone_ref(py).into_any())).accepted()
        });
        if !sent {
            buffer::put_back(id, bytes);
        }
        Ok(sent)
    }

    /// Sends once after a delay; returns the timer's id.
    fn send_after(&self, pid: u64, delay_ms: u64, data: &Bound<'_, PyAny>) -> PyResult<u64> {
        let message = Message::Object(payload(data)?);
        let actor = self.existing(pid)?;
        Ok(self.core.handle.send_after(Duration::from_millis(delay_ms), &actor, message).0)
    }

    /// Sends again and again; returns the timer's id.
    fn send_interval(&self, pid: u64, interval_ms: u64, data: &Bound<'_, PyAny>) -> PyResult<u64> {
        let shared = Arc::new(payload(data)?);
        let actor = self.existing(pid)?;
        let period = Duration::from_millis(interval_ms.max(1));
        Ok(self.core.handle.send_interval(period, &actor, move || Message::Shared(shared.clone())).0)
    }

    /// Cancels a timer. False if it has fired or never was.
    fn cancel_timer(&self, id: u64) -> bool {
        self.core.handle.cancel_timer(TimerId(id))
    }

    /// What happens when a bounded mailbox is full.
    #[pyo3(signature = (pid, policy, target=None))]
    fn set_overflow_policy(&self, pid: u64, policy: &str, target: Option<u64>) -> PyResult<()> {
        let target = || {
            let text = format!("the policy {policy:?} needs a target");
            target.map(Pid::from_bits).ok_or_else(|| PyValueError::new_err(text))
        };
        let policy = match policy.to_ascii_lowercase().as_str() {
            "dropnew" => Overflow::DropNew,
            "dropold" => Overflow::DropOld,
            "block" => Overflow::Block,
            "redirect" => Overflow::Redirect(target()?),
            "spill" => Overflow::Spill(target()?),
            other => {
                let text =
                    format!("unknown policy {other:?}: use dropnew, dropold, block, redirect or spill");
                return Err(PyValueError::new_err(text));
            }
        };
        self.existing(pid)?;
        // An unbounded mailbox is never full, so the policy has no effect there.
        self.core.handle.set_overflow(Pid::from_bits(pid), None, policy);
        Ok(())
    }

    // ---- names ----------------------------------------------------------------------------------------------------

    /// Names an actor. False if there is no such actor; ValueError if another has the name, unless `replace` says to take it.
    #[pyo3(signature = (name, pid, replace=false))]
    fn register(&self, name: &str, pid: u64, replace: bool) -> PyResult<bool> {
        named(name, self.core.handle.claim(name, Pid::from_bits(pid), taking(replace)))
    }

    /// Frees a name.
    fn unregister(&self, name: &str) -> bool {
        self.core.handle.unregister(name).is_some()
    }

    /// Who has a name.
    fn resolve(&self, name: &str) -> Option<u64> {
        self.core.handle.whereis(name).map(Pid::to_bits)
    }

    /// Who has a name.
    fn whereis(&self, name: &str) -> Option<u64> {
        self.resolve(name)
    }

    /// Puts an actor at a path. False if there is no such actor; ValueError if another is there, unless `replace` says to take its place.
    #[pyo3(signature = (path, pid, replace=false))]
    fn register_path(&self, path: &str, pid: u64, replace: bool) -> PyResult<bool> {
        named(path, self.core.handle.claim_path(path, Pid::from_bits(pid), taking(replace)))
    }

    /// Frees a path.
    fn unregister_path(&self, path: &str) -> bool {
        self.core.handle.unregister_path(path).is_some()
    }

    /// Who is at a path.
    fn whereis_path(&self, path: &str) -> Option<u64> {
        self.core.handle.whereis_path(path).map(Pid::to_bits)
    }

    /// All actors below a path.
    fn list_children(&self, prefix: &str) -> Vec<(String, u64)> {
        let listed = self.core.handle.list_paths(prefix, false);
        listed.into_iter().map(|(path, pid)| (path, pid.to_bits())).collect()
    }

    /// The actors one level below a path.
    fn list_children_direct(&self, prefix: &str) -> Vec<(String, u64)> {
        let listed = self.core.handle.list_paths(prefix, true);
        listed.into_iter().map(|(path, pid)| (path, pid.to_bits())).collect()
    }

    /// Puts an actor into a group.
    fn join_group(&self, group: &str, pid: u64) -> bool {
        self.core.handle.join_group(group, Pid::from_bits(pid))
    }

    /// Takes an actor out of a group.
    fn leave_group(&self, group: &str, pid: u64) {
        self.core.handle.leave_group(group, Pid::from_bits(pid));
    }

    /// The members of a group.
    fn group(&self, group: &str) -> Vec<u64> {
        self.core.handle.group(group).into_iter().map(Pid::to_bits).collect()
    }

    // ---- links and supervision ------------------------------------------------------------------------------------

    /// Links two actors.
    fn link(&self, left: u64, right: u64) -> bool {
        self.core.handle.link(Pid::from_bits(left), Pid::from_bits(right))
    }

    /// Unlinks two actors.
    fn unlink(&self, left: u64, right: u64) -> bool {
        self.core.handle.unlink(Pid::from_bits(left), Pid::from_bits(right))
    }

    /// Counts an actor among the global supervisor's children.
    fn watch(&self, py: Python<'_>, pid: u64, strategy: &str) -> PyResult<()> {
        compat::adopt(py, &self.core.compat, &self.core.handle, "", Pid::from_bits(pid), strategy, None)
    }

    /// Restarts an actor with `factory() -> pid` when it fails.
    fn supervise_with_factory(
        &self,
        py: Python<'_>,
        pid: u64,
        factory: Py<PyAny>,
        strategy: &str,
    ) -> PyResult<()> {
        compat::adopt(
            py,
            &self.core.compat,
            &self.core.handle,
            "",
            Pid::from_bits(pid),
            strategy,
            Some(factory),
        )
    }

    /// Children of the global supervisor.
    fn children_count(&self, py: Python<'_>) -> usize {
        compat::children(py, &self.core.compat, "").len()
    }

    /// Children of the global supervisor.
    fn child_pids(&self, py: Python<'_>) -> Vec<u64> {
        compat::children(py, &self.core.compat, "")
    }

    /// Puts the actors at and below a path under the global supervisor's watch.
    fn watch_path(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let below = self.core.handle.list_paths(path, false).into_iter().map(|(_, pid)| pid);
        // An actor that is watched already stays so.
        let mut watched: HashSet<u64> = compat::children(py, &self.core.compat, "").into_iter().collect();
        for pid in self.core.handle.whereis_path(path).into_iter().chain(below) {
            if watched.insert(pid.to_bits()) {
                self.watch(py, pid.to_bits(), "restartone")?;
            }
        }
        Ok(())
    }

    /// Makes a supervisor for a path.
    fn create_path_supervisor(&self, path: &str) {
        self.core.compat.groups.lock().entry(group_of(path)).or_default();
    }

    /// Ends a path's supervisor; the actors live on.
    fn remove_path_supervisor(&self, py: Python<'_>, path: &str) -> bool {
        compat::dissolve(py, &self.core.compat, &self.core.handle, &group_of(path))
    }

    /// Counts an actor among a path supervisor's children.
    fn path_supervisor_watch(&self, py: Python<'_>, path: &str, pid: u64) -> PyResult<()> {
        let group = group_of(path);
        compat::adopt(
            py,
            &self.core.compat,
            &self.core.handle,
            &group,
            Pid::from_bits(pid),
            "restartone",
            None,
        )
    }

    /// The children of a path supervisor.
    fn path_supervisor_children(&self, py: Python<'_>, path: &str) -> Vec<u64> {
        compat::children(py, &self.core.compat, &group_of(path))
    }

    /// Restarts an actor with `factory() -> pid` under a path's supervisor.
    fn path_supervise_with_factory(
        &self,
        py: Python<'_>,
        path: &str,
        pid: u64,
        factory: Py<PyAny>,
        strategy: &str,
    ) -> PyResult<()> {
        let group = group_of(path);
        let pid = Pid::from_bits(pid);
        compat::adopt(py, &self.core.compat, &self.core.handle, &group, pid, strategy, Some(factory))
    }

    // ---- versions -------------------------------------------------------------------------------------------------

    /// Replaces the handler, after the messages that were sent before.
    fn hot_swap(&self, py: Python<'_>, pid: u64, handler: Bound<'_, PyAny>) -> PyResult<u32> {
        callable(&handler)?;
        let actor = self.existing(pid)?;
        if self.core.handle.is_pull(actor.pid()) {
            let note = system_message::hot_swap(py, actor.pid(), handler.unbind())?;
            send_to(py, &actor, Message::Object(note));
            return Ok(1);
        }
        let behaviour = PyBehaviour::compat(handler.unbind(), &self.core.compat);
        actor.hot_swap(behaviour).ok_or_else(|| PyValueError::new_err("the actor has ended"))
    }

    /// Replaces a modern actor's behaviour.
    #[pyo3(signature = (pid, receive, stopped=None, code_change=None, instance=None))]
    fn _swap_actor(
        &self,
        pid: u64,
        receive: Bound<'_, PyAny>,
        stopped: Option<Py<PyAny>>,
        code_change: Option<Py<PyAny>>,
        instance: Option<Py<PyAny>>,
    ) -> PyResult<u32> {
        callable(&receive)?;
        let hooks = hooks(None, stopped, code_change, instance);
        let behaviour = PyBehaviour::actor(receive.unbind(), hooks);
        let version = self.existing(pid)?.hot_swap(behaviour);
        version.ok_or_else(|| PyValueError::new_err("the actor has ended"))
    }

    /// Replaces the code of a pull or async actor: `change` is what its mailbox takes over.
    fn _swap_pull(&self, pid: u64, change: Py<PyAny>) -> PyResult<u32> {
        let actor = self.existing(pid)?;
        let version = self.core.compat.pulls.swap(&actor, change);
        version.ok_or_else(|| PyValueError::new_err("the actor has ended"))
    }

    /// How an actor runs: "push", "pull" or "async"; None if it has ended.
    fn _kind(&self, pid: u64) -> Option<&'static str> {
        let pid = Pid::from_bits(pid);
        if !self.core.handle.is_alive(pid) {
            return None;
        }
        Some(match (self.core.handle.is_pull(pid), self.core.compat.pulls.is_async(pid)) {
            (false, _) => "push",
            (true, false) => "pull",
            (true, true) => "async",
        })
    }

    /// The handler's version, from 1.
    fn behavior_version(&self, pid: u64) -> PyResult<u32> {
        let version = self.core.compat.pulls.version(&self.core.handle, Pid::from_bits(pid));
        version.ok_or_else(|| PyValueError::new_err(format!("no actor has the pid {pid}")))
    }

    /// Goes back to an earlier handler; returns its version.
    #[pyo3(signature = (pid, steps=1))]
    fn rollback_behavior(&self, py: Python<'_>, pid: u64, steps: usize) -> PyResult<u32> {
        let actor = self.existing(pid)?;
        let version = self.core.compat.pulls.rollback(py, &self.core.handle, actor.pid(), steps);
        version.ok_or_else(|| {
            PyRuntimeError::new_err(format!(
                "the history is too short to go back {steps} versions (16 are kept)"
            ))
        })
    }

    // ---- limits and life ------------------------------------------------------------------------------------------

    /// Limits of the `release_gil` pool: `pool_size` handlers run at the same time, on `max_threads` threads at most (those that stand in
    /// for blocked ones included).
    fn set_release_gil_limits(&self, max_threads: usize, pool_size: usize) -> PyResult<()> {
        if max_threads == 0 || pool_size == 0 {
            return Err(PyValueError::new_err("max_threads and pool_size must be at least 1"));
        }
        self.core.compat.release_gil.max_threads.store(max_threads, Ordering::Relaxed);
        self.core.handle.set_pool_limits(RELEASE_GIL_POOL, pool_size, max_threads);
        Ok(())
    }

    /// Whether a spawn above the limit is an error instead of sharing threads.
    fn set_release_gil_strict(&self, strict: bool) {
        self.core.compat.release_gil.strict.store(strict, Ordering::Relaxed);
    }

    /// Whether exceptions end all handlers of `spawn`, not only supervised ones.
    fn set_exit_on_exception(&self, on: bool) {
        self.core.compat.strict_exceptions.store(on, Ordering::Relaxed);
    }

    /// Ends one actor before its next message.
    #[pyo3(signature = (pid, reason=None))]
    fn exit(&self, py: Python<'_>, pid: u64, reason: Option<Bound<'_, PyAny>>) -> PyResult<bool> {
        let reason = exit::reason_from(py, reason.as_ref())?;
        Ok(self.core.handle.exit(Pid::from_bits(pid), reason))
    }

    /// Ends one actor before its next message, or all of them.
    #[pyo3(signature = (pid=None))]
    fn stop(&self, py: Python<'_>, pid: Option<u64>) -> PyResult<bool> {
        match pid {
            Some(pid) => self.exit(py, pid, None),
            None => self._stop(py, None, STOP_TIMEOUT_S).map(|_| true),
        }
    }

    /// Runs `handler(mailbox)` once as a green thread; the actor ends when it returns.
    #[pyo3(signature = (handler, budget=100))]
    fn spawn_with_mailbox(slf: Bound<'_, Self>, handler: Bound<'_, PyAny>, budget: u32) -> PyResult<u64> {
        let _ = budget;
        callable(&handler)?;
        let spawn = slf.py().import("iris.bare")?.getattr("spawn_with_mailbox")?;
        spawn.call1((slf, handler))?.extract()
    }

    /// Ends all actors. Returns what happened.
    #[pyo3(signature = (drain=None, timeout=STOP_TIMEOUT_S))]
    fn _stop<'py>(&self, py: Python<'py>, drain: Option<f64>, timeout: f64) -> PyResult<Bound<'py, PyDict>> {
        let (drain, timeout) = (waiting::timeout(drain)?, waiting::seconds(timeout)?);
        let before = self.core.handle.dead_letters();
        let drain = drain.map(|drain| waiting::drained(py, &self.core.handle, drain)).transpose()?;
        // What ends during the drain leaves what it had.
        let lost = self.core.handle.dead_letters() - before;
        let report: StopReport = crate::ffi::wait(py, || {
            let report = self.core.handle.stop(drain, timeout);
            if report.actors >= TRIM_ACTORS_MIN {
                crate::ffi::trim_memory();
            }
            report
        });
        let out = PyDict::new(py);
        out.set_item("complete", report.complete)?;
        out.set_item("drained", report.drained)?;
        out.set_item("dropped", report.dropped + lost)?;
        out.set_item("actors", report.actors)?;
        Ok(out)
    }

    /// Ends the actors and the threads, for the interpreter's exit.
    fn _close(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        self.core.close(py, waiting::seconds(timeout)?);
        Ok(())
    }

    /// Waits until no actor is left.
    #[pyo3(signature = (timeout=None))]
    fn join(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let until = waiting::timeout(timeout)?.map(|timeout| Instant::now() + timeout);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let slice = left.unwrap_or(Duration::MAX).min(Duration::from_millis(SIGNALS_MS));
            if crate::ffi::wait(py, || self.core.handle.join(Some(slice))) {
                return Ok(true);
            }
            if left.is_some_and(|left| left <= slice) {
                return Ok(false);
            }
            py.check_signals()?;
        }
    }

    /// Waits until one actor has ended. False after the time-out.
    #[pyo3(signature = (pid, timeout=None))]
    fn _join_actor(&self, py: Python<'_>, pid: u64, timeout: Option<f64>) -> PyResult<bool> {
        let timeout = waiting::timeout(timeout)?;
        let ended = waiting::end(py, &self.core.handle, &self.core.compat, Pid::from_bits(pid), timeout)?;
        Ok(!matches!(ended, Ended::NotYet))
    }

    /// Whether an actor lives (a virtual one does before it is activated).
    fn is_alive(&self, pid: u64) -> bool {
        self.core.handle.is_alive(Pid::from_bits(pid))
    }

    /// Messages that wait; None if the actor has ended or is not activated.
    fn mailbox_size(&self, pid: u64) -> Option<usize> {
        let cell = self.core.handle.inspect(Pid::from_bits(pid))?;
        (!cell.dormant).then_some(cell.mailbox)
    }

    /// Why an actor ended, if it was a failure and not too long ago.
    fn exit_reason(&self, pid: u64) -> Option<exit::ExitReason> {
        self.core.compat.reason(Pid::from_bits(pid)).map(exit::ExitReason)
    }

    /// Whether this process was forked after the runtime was made; then it has no threads.
    fn _is_forked(&self) -> bool {
        self.core.is_forked()
    }

    // ---- introspection --------------------------------------------------------------------------------------------

    /// Number of actors alive.
    fn actor_count(&self) -> usize {
        self.core.handle.live()
    }

    /// Counters of the runtime.
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metrics = self.core.handle.metrics();
        let out = PyDict::new(py);
        out.set_item("live", metrics.live)?;
        out.set_item("spawned", metrics.spawned)?;
        out.set_item("exits_normal", metrics.exits_normal)?;
        out.set_item("exits_abnormal", metrics.exits_abnormal)?;
        out.set_item("restarts", metrics.restarts)?;
        out.set_item("dead_letters", metrics.dead_letters)?;
        out.set_item("timers", metrics.timers)?;
        out.set_item("threads", metrics.threads.into_iter().collect::<std::collections::BTreeMap<_, _>>())?;
        Ok(out)
    }

    /// All actors as dictionaries: pid, state, mailbox, processed, version, parent, names, links, monitors, restarts, and busy: seconds spent
    /// in handlers while `time_handlers` was on.
    fn actors<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let describe = |info: iris_runtime::ActorInfo| {
            let out = PyDict::new(py);
            out.set_item("pid", info.cell.pid.to_bits())?;
            out.set_item("state", if info.cell.dormant { "dormant" } else { info.cell.state })?;
            out.set_item("mailbox", info.cell.mailbox)?;
            out.set_item("processed", info.cell.processed)?;
            out.set_item("version", info.cell.version)?;
            out.set_item("parent", info.parent.map(Pid::to_bits))?;
            out.set_item("names", info.names)?;
            out.set_item("links", info.links)?;
            out.set_item("monitors", info.monitors)?;
            out.set_item("restarts", info.restarts)?;
            out.set_item("busy", info.cell.busy.as_secs_f64())?;
            Ok(out)
        };
        self.core.handle.actors().into_iter().map(describe).collect()
    }

    /// Measures from now on (or no longer) how long handlers take; `python -m iris top` does it while it looks.
    fn time_handlers(&self, on: bool) {
        self.core.handle.time_handlers(on);
    }

    /// The metrics in Prometheus' text format.
    fn prometheus(&self) -> String {
        self.core.handle.prometheus()
    }

    /// Handlers that the watchdog caught: (pid, pool, milliseconds).
    fn slow_handlers(&self) -> Vec<(u64, String, u64)> {
        let slow = self.core.handle.slow_handlers();
        slow.into_iter().map(|slow| (slow.pid.to_bits(), slow.pool, slow.elapsed_ms)).collect()
    }

    /// The last dead letters: (pid, reason).
    fn dead_letters(&self) -> Vec<(u64, &'static str)> {
        let letters = self.core.handle.recent_dead_letters();
        letters.into_iter().map(|letter| (letter.to.to_bits(), letter.reason)).collect()
    }

    /// Calls `subscriber(pid, message, reason)` for every dead letter; None ends that.
    fn on_dead_letter(&self, subscriber: Option<Py<PyAny>>) {
        let subscriber = subscriber.map(|subscriber| {
            let told: Arc<dyn Fn(&iris_runtime::DeadLetter, &dyn std::any::Any) + Send + Sync> =
                Arc::new(move |letter, message| {
                    Python::try_attach(|py| {
                        let object = match message.downcast_ref::<Message>() {
                            Some(
                                Message::Object(object) | Message::Ask(object, _) | Message::Swap(object),
                            ) => object.clone_ref(py),
                            Some(Message::Shared(object)) => object.clone_ref(py),
                            Some(Message::Remote(incoming)) => incoming.look(py),
                            None => py.None(),
                        };
                        if let Err(error) = subscriber.call1(py, (letter.to.to_bits(), object, letter.reason))
                        {
                            error.display(py);
                        }
                    });
                });
            told
        });
        self.core.handle.on_dead_letter(subscriber);
    }

    /// The reference behind a pid, if the actor lives.
    fn _ref(&self, pid: u64) -> Option<Ref> {
        self.actor(pid).map(|actor| Ref::new(&self.core, actor))
    }

    /// Monitors `target` for `watcher`; returns the monitor's number.
    fn _monitor(&self, watcher: u64, target: u64) -> u64 {
        self.core.handle.monitor(Pid::from_bits(watcher), Pid::from_bits(target)).0
    }

    /// Whether a reference is to an actor of this runtime.
    fn _owns(&self, actor: &Bound<'_, Ref>) -> bool {
        actor.get().is_of(&self.core)
    }

    /// The actor of this runtime whose push handler runs on this thread.
    fn _current(&self) -> Option<u64> {
        self.core.handle.current_actor().map(Pid::to_bits)
    }

    /// The children of an actor.
    fn _children(&self, pid: u64) -> Vec<u64> {
        self.core.handle.children(Pid::from_bits(pid)).into_iter().map(Pid::to_bits).collect()
    }

    // ---- remote ---------------------------------------------------------------------------------------------------

    /// Not there yet.
    #[pyo3(signature = (*_args, **_kwargs))]
    fn listen(&self, _args: &Bound<'_, PyAny>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        Err(pyo3::exceptions::PyNotImplementedError::new_err(NOT_YET))
    }
}

fn group_of(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

fn hooks(
    started: Option<Py<PyAny>>,
    stopped: Option<Py<PyAny>>,
    code_change: Option<Py<PyAny>>,
    instance: Option<Py<PyAny>>,
) -> Option<Box<Hooks>> {
    let any = started.is_some() || stopped.is_some() || code_change.is_some() || instance.is_some();
    any.then(|| Box::new(Hooks { started, stopped, code_change, instance }))
}

/// The pid of the actor whose push handler runs on this thread, or None.
#[pyfunction]
pub(crate) fn current_pid() -> Option<u64> {
    iris_runtime::current_pid().map(Pid::to_bits)
}

/// Ends in order, for `Ref::stop`.
pub(crate) fn end_in_order(handle: &Handle, pid: Pid) -> bool {
    handle.exit_in_order(pid, ExitReason::Normal)
}
