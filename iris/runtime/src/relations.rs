//! Who stands in which relation to an actor: links, monitors, parent, children, names. Owns the sets and their closing;
//! leaves delivery to `runtime`. Invariant: after `close` nothing can be added, so whoever comes later is told `noproc`
//! instead of waiting for a message that never comes. Sets are ordered, so that a seeded simulation repeats exactly.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::behaviour::MonitorRef;
use crate::exit::ExitReason;
use crate::pid::Pid;

/// Called once with the reason, on the thread that ended the actor.
pub(crate) type Watcher = Box<dyn FnOnce(&ExitReason) + Send>;

/// A name under which the registry knows the actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Plain(Arc<str>),
    Path(Arc<str>),
    Group(Arc<str>),
}

#[derive(Default)]
pub(crate) struct Relations {
    more: Option<Box<More>>,
    closed: bool,
}

/// What most actors never have.
#[derive(Default)]
pub(crate) struct More {
    pub(crate) parent: Option<Pid>,
    pub(crate) links: BTreeSet<Pid>,
    pub(crate) monitors: Vec<(MonitorRef, Pid)>,
    /// Whom to tell of the end who is no actor.
    pub(crate) watchers: Vec<(MonitorRef, Watcher)>,
    pub(crate) children: BTreeSet<Pid>,
    pub(crate) names: Vec<Name>,
    /// Which restart of a supervised child this is; 0 for the first start.
    pub(crate) restarts: u64,
}

impl Relations {
    pub(crate) fn new(parent: Option<Pid>) -> Self {
        let more = parent.map(|_| Box::new(More { parent, ..More::default() }));
        Self { more, closed: false }
    }

    /// `None` once the actor has ended.
    pub(crate) fn more(&mut self) -> Option<&mut More> {
        if self.closed {
            return None;
        }
        Some(self.more.get_or_insert_default())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn peek(&self) -> Option<&More> {
        self.more.as_deref()
    }

    pub(crate) fn peek_mut(&mut self) -> Option<&mut More> {
        self.more.as_deref_mut()
    }

    pub(crate) fn parent(&self) -> Option<Pid> {
        self.peek()?.parent
    }

    /// False once the actor has ended.
    pub(crate) fn link(&mut self, pid: Pid) -> bool {
        self.more().map(|more| more.links.insert(pid)).is_some()
    }

    pub(crate) fn unlink(&mut self, pid: Pid) -> bool {
        self.peek_mut().is_some_and(|more| more.links.remove(&pid))
    }

    /// Takes everything out and refuses additions from now on.
    pub(crate) fn close(&mut self) -> Option<Box<More>> {
        self.closed = true;
        self.more.take()
    }
}
