//! Process groups as OTP's module `pg` knows them, in its default scope: which actors of this node are in which group, and which processes
//! of others. Owns both tables and the protocol of the scope; a group is any term. Invariant: what a node has said of its groups is forgotten
//! with its connection, or when its scope ends; nothing is kept beyond `RELATIONS_MAX` memberships.
//!
//! The protocol: who meets a node says `discover`, is answered with `sync` (all groups with their local members) and discovered in turn;
//! from then on each tells the other of `join` and `leave`. A scope monitors the scopes that it knows.

use std::collections::HashMap;
use std::sync::Arc;

use crate::connection::{Connection, Haste};
use crate::error::MeshError;
use crate::etf;
use crate::limits::RELATIONS_MAX;
use crate::node::{Destination, Inner, Node, Outgoing, Waiting};
use crate::term::{Atom, Pid, Reference, Term};

/// The name of the scope.
pub(crate) const SCOPE: &str = "pg";

/// A group's bytes.
type Key = Vec<u8>;

/// Members by group, and how often each is one: who joins twice is a member twice, as in OTP.
#[derive(Default)]
struct Members {
    groups: HashMap<Key, (Term, HashMap<Pid, usize>)>,
    count: usize,
}

impl Members {
    fn join(&mut self, group: &Term, pids: Vec<Pid>) -> Result<Key, MeshError> {
        if self.count + pids.len() > RELATIONS_MAX {
            return Err(MeshError::Limit("members of groups"));
        }
        let key = key(group)?;
        if pids.is_empty() {
            return Ok(key);
        }
        self.count += pids.len();
        let entry = self.groups.entry(key.clone()).or_insert_with(|| (group.clone(), HashMap::new()));
        pids.into_iter().for_each(|pid| *entry.1.entry(pid).or_default() += 1);
        Ok(key)
    }

    /// Takes one membership away; false if there was none.
    fn leave(&mut self, key: &[u8], pid: &Pid) -> bool {
        let Some((_, members)) = self.groups.get_mut(key) else { return false };
        let Some(times) = members.get_mut(pid) else { return false };
        *times -= 1;
        self.count -= 1;
        if *times == 0 {
            members.remove(pid);
        }
        if members.is_empty() {
            self.groups.remove(key);
        }
        true
    }

    fn of(&self, key: &[u8]) -> Vec<Pid> {
        let members = self.groups.get(key).into_iter().flat_map(|(_, members)| members);
        members.flat_map(|(pid, times)| std::iter::repeat_n(pid.clone(), *times)).collect()
    }
}

/// The scope of another node.
struct Remote {
    monitor: Reference,
    members: Members,
}

#[derive(Default)]
pub(crate) struct Groups {
    local: Members,
    /// The groups that each actor of this node has joined.
    joined: HashMap<Pid, Vec<Key>>,
    remote: HashMap<Pid, Remote>,
}

fn key(group: &Term) -> Result<Key, MeshError> {
    let mut bytes = Vec::new();
    etf::encode(&mut bytes, group)?;
    Ok(bytes)
}

/// A pid, or a list of them, all of the peer.
fn pids_of(term: &Term, peer: &Atom) -> Result<Vec<Pid>, MeshError> {
    let wrong = || MeshError::Frame("a member of a group that is no process of the peer");
    let one = |term: &Term| match term {
        Term::Pid(pid) if pid.node == *peer => Ok((**pid).clone()),
        _ => Err(wrong()),
    };
    match term {
        Term::List(pids) => pids.iter().map(one).collect(),
        pid => Ok(vec![one(pid)?]),
    }
}

impl Node {
    /// Puts an actor that was given to the node into a group; it leaves when it ends.
    pub fn join(&self, group: &Term, actor: iris_runtime::Pid) -> Result<(), MeshError> {
        let pid = self.0.processes.by_actor(actor).ok_or(MeshError::NoProcess)?.pid.clone();
        let mut groups = self.0.groups.lock();
        let key = groups.local.join(group, vec![pid.clone()])?;
        groups.joined.entry(pid.clone()).or_default().push(key);
        self.0.tell_scopes(&groups, "join", &[group.clone(), pid.clone().into()]);
        drop(groups);
        // Its end may have been looked after before it was a member.
        if self.0.processes.by_actor(actor).is_none() {
            self.0.leave_all(&pid);
            return Err(MeshError::NoProcess);
        }
        Ok(())
    }

    /// Takes an actor out of a group; false if it was not in it.
    pub fn leave(&self, group: &Term, actor: iris_runtime::Pid) -> Result<bool, MeshError> {
        let Some(process) = self.0.processes.by_actor(actor) else { return Ok(false) };
        let (key, pid) = (key(group)?, &process.pid);
        let mut groups = self.0.groups.lock();
        if !groups.local.leave(&key, pid) {
            return Ok(false);
        }
        if let Some(joined) = groups.joined.get_mut(pid) {
            joined.iter().position(|of| *of == key).map(|at| joined.swap_remove(at));
            if joined.is_empty() {
                groups.joined.remove(pid);
            }
        }
        self.0.tell_scopes(&groups, "leave", &[pid.clone().into(), Term::List(vec![group.clone()])]);
        Ok(true)
    }

    /// The members of a group, those of this node first.
    pub fn members(&self, group: &Term) -> Result<Vec<Pid>, MeshError> {
        let key = key(group)?;
        let groups = self.0.groups.lock();
        let mut members = groups.local.of(&key);
        groups.remote.values().for_each(|remote| members.append(&mut remote.members.of(&key)));
        Ok(members)
    }

    /// All groups that have a member.
    #[must_use]
    pub fn which_groups(&self) -> Vec<Term> {
        let groups = self.0.groups.lock();
        let tables = groups.remote.values().map(|remote| &remote.members).chain([&groups.local]);
        let all: HashMap<_, _> = tables.flat_map(|table| &table.groups).collect();
        all.into_values().map(|(group, _)| group.clone()).collect()
    }

    /// A connection has begun: both scopes get to know one another.
    pub(crate) fn discover_groups(&self, connection: &Connection) {
        let own = self.0.groups_pid();
        let control = [Term::Int(6), own.clone().into(), Term::atom(""), Term::atom(SCOPE)];
        let message = Term::tuple([Term::atom("discover"), own.into()]);
        let _ = connection.send(&Term::tuple(control), Some(&message), Haste::Signal);
    }

    /// Something for the scope. What is not of its protocol is ignored, as it would end OTP's scope and nothing else.
    pub(crate) fn take_groups(&self, connection: &Arc<Connection>, message: Term) -> Result<(), MeshError> {
        let Term::Tuple(mut items) = message else { return Ok(()) };
        if let [cast, Term::Tuple(_)] = items.as_slice()
            && cast.is_atom("$gen_cast")
            && let Some(Term::Tuple(inside)) = items.pop()
        {
            items = inside;
        }
        let [Term::Atom(what), Term::Pid(scope), fields @ ..] = items.as_slice() else { return Ok(()) };
        if scope.node != connection.peer {
            return Err(MeshError::Frame("a scope of another node"));
        }
        match (what.as_str(), fields) {
            ("discover", _) => {
                // Known first: what joins from now on is told to it, and is in the list as well, which replaces what was told before.
                let new = self.meet_scope(connection, scope)?;
                self.sync(connection, scope);
                if new {
                    let message = Term::tuple([Term::atom("discover"), self.0.groups_pid().into()]);
                    self.to_scope(connection, scope, &message);
                }
            }
            ("sync", [Term::List(groups), ..]) => {
                self.meet_scope(connection, scope)?;
                self.replace(scope, groups)?;
            }
            ("join", [group, pids, ..]) => {
                let pids = pids_of(pids, &scope.node)?;
                if let Some(remote) = self.0.groups.lock().remote.get_mut(scope) {
                    remote.members.join(group, pids)?;
                }
            }
            ("leave", [pids, Term::List(left), ..]) => {
                let pids = pids_of(pids, &scope.node)?;
                if let Some(remote) = self.0.groups.lock().remote.get_mut(scope) {
                    for group in left {
                        let key = key(group)?;
                        pids.iter().for_each(|pid| _ = remote.members.leave(&key, pid));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Says which groups have members here.
    fn sync(&self, connection: &Connection, scope: &Pid) {
        let groups = self.0.groups.lock();
        let all = groups.local.groups.values().map(|(group, members)| {
            let members = members.iter().flat_map(|(pid, times)| std::iter::repeat_n(pid, *times));
            Term::tuple([group.clone(), Term::List(members.map(|pid| pid.clone().into()).collect())])
        });
        let sync = Term::tuple([Term::atom("sync"), self.0.groups_pid().into(), Term::List(all.collect())]);
        // With the lock held: a `join` that is in the list must not be told before it.
        self.to_scope(connection, scope, &Term::tuple([Term::atom("$gen_cast"), sync]));
    }

    fn replace(&self, scope: &Pid, all: &[Term]) -> Result<(), MeshError> {
        let mut members = Members::default();
        for entry in all {
            match entry {
                Term::Tuple(parts) => match parts.as_slice() {
                    [group, pids @ Term::List(_)] => _ = members.join(group, pids_of(pids, &scope.node)?)?,
                    _ => return Err(MeshError::Frame("a group without its members")),
                },
                _ => return Err(MeshError::Frame("a group without its members")),
            }
        }
        if let Some(remote) = self.0.groups.lock().remote.get_mut(scope) {
            remote.members = members;
        }
        Ok(())
    }

    /// Remembers a scope and monitors it; false if it was known. A node has one: an earlier one is gone.
    fn meet_scope(&self, connection: &Arc<Connection>, scope: &Pid) -> Result<bool, MeshError> {
        let mut groups = self.0.groups.lock();
        if groups.remote.contains_key(scope) {
            return Ok(false);
        }
        let before: Vec<_> = groups.remote.extract_if(|known, _| known.node == scope.node).collect();
        let monitor = self.0.reference();
        groups.remote.insert(scope.clone(), Remote { monitor: monitor.clone(), members: Members::default() });
        drop(groups);
        for (_, gone) in before {
            self.demonitor(&gone.monitor);
        }
        let (weak, ended) = (Arc::downgrade(&self.0), scope.clone());
        let sink = move |_| {
            let inner = weak.upgrade();
            inner.is_some_and(|inner| inner.groups.lock().remote.remove(&ended).is_some())
        };
        let outgoing =
            Outgoing { to: Destination::Pid(scope.clone()), waiting: Waiting::Monitor(Arc::new(sink)) };
        self.0.outgoing.lock().insert(monitor.clone(), outgoing);
        let own = self.0.own_pid();
        let control = [Term::Int(19), own.into(), scope.clone().into(), monitor.into()];
        connection.send(&Term::tuple(control), None, Haste::Signal)?;
        Ok(true)
    }

    fn to_scope(&self, connection: &Connection, scope: &Pid, message: &Term) {
        let control = Term::tuple([Term::Int(2), Term::atom(""), scope.clone().into()]);
        let _ = connection.send(&control, Some(message), Haste::Signal);
    }
}

impl Inner {
    /// Tells the scopes of others: `{What, Self, Field, ...}`. With the table locked, so that all hear it in the order in which it was.
    fn tell_scopes(&self, groups: &Groups, what: &str, fields: &[Term]) {
        for scope in groups.remote.keys() {
            let Ok(connection) = self.connected(&scope.node) else { continue };
            let head = [Term::atom(what), self.groups_pid().into()];
            let message = Term::Tuple(head.iter().chain(fields).cloned().collect());
            let control = Term::tuple([Term::Int(2), Term::atom(""), scope.clone().into()]);
            let _ = connection.send(&control, Some(&message), Haste::Signal);
        }
    }

    /// An actor has ended: it is in no group any more.
    pub(crate) fn leave_all(&self, pid: &Pid) {
        let mut groups = self.groups.lock();
        let Some(joined) = groups.joined.remove(pid) else { return };
        let mut left = Vec::new();
        for key in joined {
            let group = groups.local.groups.get(&key).map(|(group, _)| group.clone());
            groups.local.leave(&key, pid);
            left.extend(group);
        }
        self.tell_scopes(&groups, "leave", &[pid.clone().into(), Term::List(left)]);
    }

    /// A connection has ended: what its node said of groups is no longer true.
    pub(crate) fn lose_groups(&self, peer: &Atom) {
        self.groups.lock().remote.retain(|scope, _| scope.node != *peer);
    }
}
