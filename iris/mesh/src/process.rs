//! Local actors as remote nodes see them. Owns the table of those that were given to the node, their distributed names, and who of other
//! nodes monitors or is linked with them. Invariant: each relation ends with exactly one signal, and nobody is added after the end.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use iris_runtime::{Exception, ExitReason};
use parking_lot::{Mutex, RwLock};

use crate::limits::{REASON_BYTES_KEPT, RELATIONS_MAX};
use crate::node::{Caller, Signal};
use crate::term::{Atom, Pid, Reference, Term};

/// What an actor gets from other nodes: its message type is made from this.
#[derive(Debug)]
pub enum Received {
    /// A message that is none of the following.
    Message(Term),
    /// A request of `gen_server:call`.
    Call(Term, Caller),
    /// A request of `gen_server:cast`.
    Cast(Term),
    /// A monitored process has ended, was not there, or its node is gone.
    Down {
        /// What `Node::monitor` returned.
        reference: Reference,
        /// The process, or `{name, node}`.
        from: Term,
        /// Why: `noproc`, `noconnection` or its own reason.
        reason: Term,
    },
    /// An exit signal, for an actor that traps them.
    Exit {
        /// Who ended, or wants this actor to.
        from: Pid,
        /// Why.
        reason: Term,
    },
}

pub(crate) type Sink = Arc<dyn Fn(Received) -> bool + Send + Sync>;

pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) actor: iris_runtime::Pid,
    pub(crate) sink: Sink,
    pub(crate) trap_exit: bool,
    relations: Mutex<Relations>,
    /// Changed under the lock of the tables.
    names: Mutex<Vec<Atom>>,
}

#[derive(Default)]
struct Relations {
    monitors: HashMap<Reference, (Pid, Term)>,
    links: HashSet<Pid>,
    ended: bool,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Process({:?})", self.pid)
    }
}

impl Process {
    pub(crate) fn new(pid: Pid, actor: iris_runtime::Pid, sink: Sink, trap_exit: bool) -> Self {
        Self { pid, actor, sink, trap_exit, relations: Mutex::default(), names: Mutex::default() }
    }

    /// A remote process wants to hear of the end; false if there is nobody any more, or too many do.
    pub(crate) fn add_monitor(&self, reference: Reference, watcher: Pid, named: Term) -> bool {
        let mut relations = self.relations.lock();
        let room = !relations.ended && relations.monitors.len() < RELATIONS_MAX;
        if room {
            relations.monitors.insert(reference, (watcher, named));
        }
        room
    }

    pub(crate) fn remove_monitor(&self, reference: &Reference) {
        self.relations.lock().monitors.remove(reference);
    }

    /// Takes the monitor of a caller away, if that is whose it is; under which name it monitors.
    pub(crate) fn take_monitor(&self, reference: &Reference, caller: &Pid) -> Option<Term> {
        let mut relations = self.relations.lock();
        relations.monitors.get(reference).filter(|(watcher, _)| watcher == caller)?;
        relations.monitors.remove(reference).map(|(_, named)| named)
    }

    pub(crate) fn link(&self, other: Pid) -> bool {
        let mut relations = self.relations.lock();
        let room = !relations.ended && relations.links.len() < RELATIONS_MAX;
        if room {
            relations.links.insert(other);
        }
        room
    }

    pub(crate) fn unlink(&self, other: &Pid) -> bool {
        self.relations.lock().links.remove(other)
    }

    /// Forgets what belongs to a node that is gone; returns those that were linked.
    pub(crate) fn leave(&self, node: &Atom) -> Vec<Pid> {
        let mut relations = self.relations.lock();
        relations.monitors.retain(|_, (watcher, _)| watcher.node != *node);
        relations.links.extract_if(|linked| linked.node == *node).collect()
    }

    /// The signals of the end.
    pub(crate) fn end(&self, reason: &Term) -> Vec<(Atom, Signal)> {
        let mut relations = self.relations.lock();
        let Relations { monitors, links, .. } = std::mem::take(&mut *relations);
        relations.ended = true;
        drop(relations);
        let down = monitors.into_iter().map(|(reference, (watcher, from))| {
            (watcher.node.clone(), Signal::Down { from, watcher, reference, reason: reason.clone() })
        });
        let exits = links
            .into_iter()
            .map(|to| (to.node.clone(), Signal::Exit { from: self.pid.clone(), to, reason: reason.clone() }));
        down.chain(exits).collect()
    }
}

/// All of them.
#[derive(Default)]
pub(crate) struct Processes {
    tables: RwLock<Tables>,
}

#[derive(Default)]
struct Tables {
    by_id: HashMap<u64, Arc<Process>>,
    by_actor: HashMap<iris_runtime::Pid, Arc<Process>>,
    names: HashMap<Atom, Arc<Process>>,
}

fn number(pid: &Pid) -> u64 {
    (u64::from(pid.serial) << 32) | u64::from(pid.id)
}

impl Processes {
    /// Adds one, unless the actor is there already; returns the one that counts.
    pub(crate) fn add(&self, process: Process) -> (Arc<Process>, bool) {
        let mut tables = self.tables.write();
        if let Some(there) = tables.by_actor.get(&process.actor) {
            return (there.clone(), false);
        }
        let process = Arc::new(process);
        tables.by_id.insert(number(&process.pid), process.clone());
        tables.by_actor.insert(process.actor, process.clone());
        (process, true)
    }

    /// Gives a name; false if another has it.
    pub(crate) fn name(&self, name: Atom, process: &Arc<Process>) -> bool {
        let mut tables = self.tables.write();
        if !tables.by_actor.contains_key(&process.actor) {
            return false;
        }
        if let Some(named) = tables.names.get(&name) {
            return Arc::ptr_eq(named, process);
        }
        process.names.lock().push(name.clone());
        tables.names.insert(name, process.clone());
        true
    }

    /// Takes a name away; false if nobody had it.
    pub(crate) fn unname(&self, name: &Atom) -> bool {
        let mut tables = self.tables.write();
        let Some(process) = tables.names.remove(name) else { return false };
        process.names.lock().retain(|held| held != name);
        true
    }

    pub(crate) fn remove(&self, process: &Arc<Process>) {
        let mut tables = self.tables.write();
        tables.by_id.remove(&number(&process.pid));
        tables.by_actor.remove(&process.actor);
        for name in process.names.lock().drain(..) {
            tables.names.remove(&name);
        }
    }

    pub(crate) fn by_pid(&self, pid: &Pid) -> Option<Arc<Process>> {
        self.tables.read().by_id.get(&number(pid)).filter(|process| process.pid == *pid).cloned()
    }

    pub(crate) fn by_name(&self, name: &Atom) -> Option<Arc<Process>> {
        self.tables.read().names.get(name).cloned()
    }

    pub(crate) fn by_actor(&self, actor: iris_runtime::Pid) -> Option<Arc<Process>> {
        self.tables.read().by_actor.get(&actor).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Process>> {
        self.tables.read().by_id.values().cloned().collect()
    }
}

/// A reason of another node as an actor's: whoever monitors the actor from there gets it as it was.
#[derive(Debug)]
struct Foreign(Term);

impl Exception for Foreign {
    fn kind(&self) -> String {
        "exit".into()
    }

    fn message(&self) -> String {
        let mut text = self.0.to_string();
        if text.len() > REASON_BYTES_KEPT {
            text.truncate(text.floor_char_boundary(REASON_BYTES_KEPT));
            text.push_str("...");
        }
        text
    }

    fn traceback(&self) -> Option<String> {
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// An exit reason as Erlang sees it.
#[must_use]
pub fn reason_term(reason: &ExitReason) -> Term {
    let detail = |tag: &str, text: &str| Term::tuple([Term::atom(tag), Term::text(text)]);
    match reason {
        ExitReason::Error(text) => detail("error", text),
        ExitReason::Panic(text) => detail("panic", text),
        ExitReason::Exception(exception) => match exception.as_any().downcast_ref::<Foreign>() {
            Some(foreign) => foreign.0.clone(),
            None if exception.label() == "error" => detail("error", &exception.plain_message()),
            None => Term::tuple([
                Term::atom("exception"),
                Term::text(&exception.kind()),
                Term::text(&exception.plain_message()),
            ]),
        },
        other => Term::atom(other.label()),
    }
}

/// Erlang's reason as an actor's.
pub(crate) fn exit_reason(reason: &Term) -> ExitReason {
    let text = match reason {
        Term::Atom(atom) => atom.as_str(),
        _ => "",
    };
    match text {
        "normal" => ExitReason::Normal,
        "shutdown" => ExitReason::Shutdown,
        "killed" => ExitReason::Killed,
        "noproc" => ExitReason::NoProcess,
        "timeout" => ExitReason::Timeout,
        _ => ExitReason::Exception(Arc::new(Foreign(reason.clone()))),
    }
}
