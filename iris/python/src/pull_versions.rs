//! Versions of pull and async actors, whose code is Python's and not a behaviour of the core, and which thread serves them. Owns the
//! version numbers promised to callers; the code itself travels through the mailbox as a message and is kept by the actor's own mailbox object in Python.
//! Invariant: a number is promised and its message pushed without letting go of the GIL in between, so mailbox order is the order of
//! the promises.

use std::collections::HashMap;

use iris_runtime::limits::VERSIONS_KEPT;
use iris_runtime::{ActorRef, Handle, Pid};
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::message::Message;

/// What was promised for one actor.
struct Promised {
    history: Vec<u32>,
    current: u32,
}

/// The queue of the thread that serves an actor together with others, by its address.
#[derive(Clone, Copy)]
struct Served {
    queue: usize,
    asynchronous: bool,
}

/// The versions of all pull actors that were ever swapped, and who serves the living ones (threads of their own aside).
#[derive(Default)]
pub(crate) struct PullVersions {
    promised: Mutex<HashMap<Pid, Promised>>,
    served: Mutex<HashMap<Pid, Served>>,
}

impl PullVersions {
    pub(crate) fn note_served(&self, pid: Pid, queue: usize, asynchronous: bool) {
        self.served.lock().insert(pid, Served { queue, asynchronous });
    }

    pub(crate) fn is_async(&self, pid: Pid) -> bool {
        self.served.lock().get(&pid).is_some_and(|served| served.asynchronous)
    }

    /// Whether the thread of this queue is the one that runs the actor.
    pub(crate) fn is_served_by(&self, pid: Pid, queue: usize) -> bool {
        self.served.lock().get(&pid).is_some_and(|served| served.queue == queue)
    }

    pub(crate) fn forget(&self, pid: Pid) {
        self.promised.lock().remove(&pid);
        self.served.lock().remove(&pid);
    }

    /// The version of any actor: the core's, or a pull actor's.
    pub(crate) fn version(&self, handle: &Handle, pid: Pid) -> Option<u32> {
        let core = handle.version(pid)?;
        Some(self.promised.lock().get(&pid).map_or(core, |promised| promised.current))
    }

    /// Sends new code; `None` if the actor has ended.
    pub(crate) fn swap(&self, actor: &ActorRef<Message>, change: Py<PyAny>) -> Option<u32> {
        let mut all = self.promised.lock();
        let promised = all.entry(actor.pid()).or_insert_with(|| Promised { history: Vec::new(), current: 1 });
        if promised.history.len() >= VERSIONS_KEPT {
            promised.history.remove(0);
        }
        promised.history.push(promised.current);
        promised.current += 1;
        let version = promised.current;
        drop(all);
        if actor.send_over(Message::Swap(change)).is_ok() {
            return Some(version);
        }
        self.forget(actor.pid());
        None
    }

    /// Goes back; `None` if the history is too short or the actor has ended.
    pub(crate) fn rollback(&self, py: Python<'_>, handle: &Handle, pid: Pid, steps: usize) -> Option<u32> {
        if !handle.is_pull(pid) {
            return handle.rollback(pid, steps);
        }
        let actor = handle.actor::<Message>(pid)?;
        let mut all = self.promised.lock();
        let promised = all.get_mut(&pid)?;
        if steps == 0 {
            return Some(promised.current);
        }
        let at = promised.history.len().checked_sub(steps)?;
        let version = *promised.history.get(at)?;
        promised.history.truncate(at);
        promised.current = version;
        drop(all);
        let change = steps.into_pyobject(py).ok()?.into_any().unbind();
        actor.send_over(Message::Swap(change)).is_ok().then_some(version)
    }
}
