//! A node: its name, and what local code does with remote processes. Leaves how connections come to be and end to `meeting`, bytes to
//! `connection`, incoming frames to `dispatch`, local actors to `process`.
//! Invariant: at most one connection to a node of a name; a new one begins only when all that depended on the old one has been told of
//! its end, so that no message of the new one comes before a `Down` of the old.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use iris_runtime::{ActorRef, Handle, call_pair};
use parking_lot::{Condvar, Mutex};

use crate::connection::{Connection, Haste};
use crate::dispatch;
use crate::epmd;
use crate::error::{CallError, MeshError};
use crate::etf::Private;
use crate::groups::{self, Groups};
use crate::handshake::{self, Identity, flag, is_node_name};
use crate::limits::{CONNECT_MS, EPMD_PORT, HANDSHAKE_MS, RELATIONS_MAX, TICK_MS};
use crate::meeting::spawn;
use crate::process::{Process, Processes, Received, Sink, reason_term};
use crate::term::{Atom, Pid, Reference, Term};
use crate::tls::Tls;

/// How a node is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its name: `name@host`.
    pub name: String,
    /// What the nodes of a cluster share.
    pub cookie: String,
    /// Where it listens; a port of 0 is any. Without `tls` only loopback.
    pub listen: SocketAddr,
    /// The port mapper, if there is to be one. Without `tls` only loopback.
    pub epmd: Option<SocketAddr>,
    /// The cluster's certificates: then all connections are made with them, and go to any address.
    pub tls: Option<Tls>,
    /// What it can say beyond the protocol, to peers that can say it too.
    pub private: Private,
    /// Where nodes listen that are not asked of a port mapper.
    pub peers: HashMap<String, SocketAddr>,
    /// After how long without a byte a peer counts as gone.
    pub tick: Duration,
    /// Runs the life of every thread on which actors are told something; for hosts whose threads need a state of their own.
    pub around: Option<Around>,
}

/// See `Options::around`.
#[derive(Clone)]
pub struct Around(pub Arc<dyn Fn(&mut dyn FnMut()) + Send + Sync>);

impl std::fmt::Debug for Around {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Around")
    }
}

/// A connection has begun or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// It has begun: nothing of it was delivered before.
    Up(Atom),
    /// It has ended: everything that depended on it has been told, and nothing more of it comes.
    Down(Atom),
}

/// Numbers of pids that stand for parts of the node itself.
const PIDS_RESERVED: u64 = 16;

type NodeWatcher = Arc<dyn Fn(NodeEvent) -> bool + Send + Sync>;

impl Options {
    /// On any port of 127.0.0.1, known to the port mapper there.
    #[must_use]
    pub fn new(name: &str, cookie: &str) -> Self {
        let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        Self {
            name: name.into(),
            cookie: cookie.into(),
            listen: local(0),
            epmd: Some(local(EPMD_PORT)),
            tls: None,
            private: Private::TEXT,
            peers: HashMap::new(),
            tick: Duration::from_millis(TICK_MS),
            around: None,
        }
    }
}

/// Whom a message is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A process.
    Pid(Pid),
    /// A registered name, and the node.
    Name(Atom, Atom),
}

impl Destination {
    /// A name on a node.
    #[must_use]
    pub fn name(name: &str, node: &str) -> Self {
        Self::Name(Atom::new(name), Atom::new(node))
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> &Atom {
        match self {
            Self::Pid(pid) => &pid.node,
            Self::Name(_, node) => node,
        }
    }

    /// How a monitor names it in frames.
    fn target(&self) -> Term {
        match self {
            Self::Pid(pid) => pid.clone().into(),
            Self::Name(name, _) => name.clone().into(),
        }
    }

    /// How `DOWN` names it.
    fn shown(&self) -> Term {
        match self {
            Self::Pid(pid) => pid.clone().into(),
            Self::Name(name, node) => Term::tuple([name.clone().into(), node.clone().into()]),
        }
    }
}

/// A signal to a process of another node.
pub(crate) enum Signal {
    Down { from: Term, watcher: Pid, reference: Reference, reason: Term },
    Exit { from: Pid, to: Pid, reason: Term },
}

/// Who waits for an answer of `gen_server:call`.
#[derive(Debug)]
pub struct Caller {
    pub(crate) node: Node,
    pub(crate) pid: Pid,
    pub(crate) tag: Term,
    /// Who was asked.
    pub(crate) process: Option<Arc<Process>>,
}

impl Caller {
    /// Answers.
    pub fn reply(&self, reply: Term) -> Result<(), MeshError> {
        self.answer(reply, Haste::Message)
    }

    /// Answers without waiting for a slow peer, which is `Busy` then.
    pub fn try_reply(&self, reply: Term) -> Result<(), MeshError> {
        self.answer(reply, Haste::Prompt)
    }

    /// Tells the caller that there will be no answer, and why: for it the process that it asked is gone, as far as this call goes.
    pub fn refuse(&self, reason: Term) {
        let (Some(process), Some(reference)) = (&self.process, self.reference()) else { return };
        let Some(from) = process.take_monitor(reference, &self.pid) else { return };
        if self.pid.node == self.node.0.name {
            self.node.0.down(reference, &reason);
        } else if let Ok(connection) = self.node.0.connected(&self.pid.node) {
            let (watcher, reference) = (self.pid.clone(), reference.clone());
            let _ = dispatch::signal(&connection, Signal::Down { from, watcher, reference, reason });
        }
    }

    /// The monitor that a call goes by: its tag, or what its tag ends in.
    fn reference(&self) -> Option<&Reference> {
        match &self.tag {
            Term::Reference(reference) => Some(reference),
            Term::Improper(parts) => match &parts.1 {
                Term::Reference(reference) => Some(reference),
                _ => None,
            },
            _ => None,
        }
    }

    fn answer(&self, reply: Term, haste: Haste) -> Result<(), MeshError> {
        let message = Term::tuple([self.tag.clone(), reply]);
        let own = self.node.0.own_pid();
        if let Term::Improper(parts) = &self.tag
            && let ([head], alias @ Term::Reference(_)) = (parts.0.as_slice(), &parts.1)
            && head.is_atom("alias")
        {
            let connection = self.node.0.connected(&self.pid.node)?;
            if connection.has(flag::ALIAS) {
                let control = Term::tuple([Term::Int(33), own.into(), alias.clone()]);
                return connection.send(&control, Some(&message), haste);
            }
        }
        self.node.send_with(&Destination::Pid(self.pid.clone()), &message, haste)
    }
}

/// What waits for the end of a remote process.
pub(crate) enum Waiting {
    Call(Box<dyn FnOnce(Result<Term, Term>) + Send>),
    Monitor(Sink),
}

pub(crate) struct Outgoing {
    pub(crate) to: Destination,
    pub(crate) waiting: Waiting,
}

#[derive(Default)]
pub(crate) struct Connections {
    pub(crate) open: HashMap<Atom, Arc<Connection>>,
    /// Nodes that are being connected to.
    pub(crate) pending: HashSet<Atom>,
    /// The newest handshake with a node in which either side could be sure of the other, and when that was.
    pub(crate) newest: HashMap<Atom, (u64, Instant)>,
    /// Whether the listener is open.
    listening: bool,
}

pub(crate) struct Inner {
    pub(crate) name: Atom,
    pub(crate) creation: u32,
    pub(crate) handle: Handle,
    pub(crate) processes: Processes,
    pub(crate) outgoing: Mutex<HashMap<Reference, Outgoing>>,
    pub(crate) options: Options,
    /// `Options::peers`, and those that were added.
    pub(crate) peers: Mutex<HashMap<String, SocketAddr>>,
    watchers: Mutex<Vec<NodeWatcher>>,
    address: SocketAddr,
    pub(crate) connections: Mutex<Connections>,
    pub(crate) changed: Condvar,
    pub(crate) numbers: AtomicU64,
    pub(crate) groups: Mutex<Groups>,
    pub(crate) half_open: AtomicUsize,
    pub(crate) closed: AtomicBool,
    /// The node is registered while this is open.
    registration: Mutex<Option<TcpStream>>,
}

/// A node. Clones are the same node; it ends with `close`.
#[derive(Clone)]
pub struct Node(pub(crate) Arc<Inner>);

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Node({})", self.0.name)
    }
}

impl Node {
    /// Starts a node over a runtime's actors: it listens, and is registered with the port mapper.
    pub fn start(handle: &Handle, options: Options) -> Result<Self, MeshError> {
        if !is_node_name(&options.name) {
            return Err(MeshError::Name(options.name));
        }
        options.reachable(options.listen)?;
        options.epmd.map_or(Ok(()), |epmd| options.reachable(epmd).map(drop))?;
        let failed = |error| MeshError::Io(format!("listening on {}", options.listen), error);
        let listener = TcpListener::bind(options.listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let short = options.name.split_once('@').map_or("", |(short, _)| short);
        let registration =
            options.epmd.map(|epmd| epmd::register(epmd, short, address.port())).transpose()?;
        let inner = Arc::new(Inner {
            name: Atom::new(&options.name),
            // Never one of the small numbers of old nodes.
            creation: handshake::random_word()? | (1 << 16),
            handle: handle.clone(),
            processes: Processes::default(),
            outgoing: Mutex::default(),
            peers: Mutex::new(options.peers.clone()),
            watchers: Mutex::default(),
            options,
            address,
            connections: Mutex::new(Connections { listening: true, ..Connections::default() }),
            changed: Condvar::new(),
            numbers: AtomicU64::new(PIDS_RESERVED),
            groups: Mutex::default(),
            half_open: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            registration: Mutex::new(registration),
        });
        let node = Self(inner);
        let accepting = node.clone();
        spawn("listen", move || {
            accepting.accept_all(&listener);
            drop(listener);
            accepting.0.connections.lock().listening = false;
            accepting.0.changed.notify_all();
        })?;
        Ok(node)
    }

    /// The node's name.
    #[must_use]
    pub fn name(&self) -> &Atom {
        &self.0.name
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// The nodes that it is connected with.
    #[must_use]
    pub fn nodes(&self) -> Vec<Atom> {
        self.0.connections.lock().open.keys().cloned().collect()
    }

    /// Gives an actor to the node, so that others can reach it. Exit signals of other nodes end it, unless it traps them: then they come
    /// as `Received::Exit`.
    pub fn give<M>(&self, actor: &ActorRef<M>, trap_exit: bool) -> Result<Pid, MeshError>
    where
        M: From<Received> + Send + 'static,
    {
        self.give_to(actor.pid(), sink_of(actor), trap_exit)
    }

    /// The same with a function that takes what comes for the actor; it says whether it was accepted.
    pub fn give_to(
        &self,
        actor: iris_runtime::Pid,
        sink: impl Fn(Received) -> bool + Send + Sync + 'static,
        trap_exit: bool,
    ) -> Result<Pid, MeshError> {
        self.process(actor, Arc::new(sink), trap_exit).map(|process| process.pid.clone())
    }

    /// Where a node listens that is not to be asked of a port mapper.
    pub fn add_peer(&self, name: &str, address: SocketAddr) -> Result<(), MeshError> {
        if !is_node_name(name) {
            return Err(MeshError::Name(name.into()));
        }
        self.0.peers.lock().insert(name.into(), self.0.options.reachable(address)?);
        Ok(())
    }

    /// Tells a function of every connection that begins or ends from now on, until it returns false. It runs on the connection's thread.
    pub fn watch_nodes(&self, told: impl Fn(NodeEvent) -> bool + Send + Sync + 'static) {
        self.0.watchers.lock().push(Arc::new(told));
    }

    /// Ends the connection with a node: what depended on it is told `noconnection`. False if there was none.
    pub fn disconnect(&self, node: &str) -> bool {
        let connection = self.0.connected(&Atom::new(node));
        connection.map(|connection| connection.close()).is_ok()
    }

    /// Whether there is a connection with a node.
    #[must_use]
    pub fn is_connected(&self, node: &Atom) -> bool {
        *node == self.0.name || self.0.connected(node).is_ok()
    }

    /// Connects with a node unless it is connected.
    pub fn connect(&self, node: &str) -> Result<(), MeshError> {
        self.connection(&Atom::new(node), handshake_end()).map(drop)
    }

    fn process(&self, actor: iris_runtime::Pid, sink: Sink, trap: bool) -> Result<Arc<Process>, MeshError> {
        let number = self.0.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let pid = self.0.pid(number);
        let (process, new) = self.0.processes.add(Process::new(pid, actor, sink, trap));
        if new {
            let (inner, ended) = (Arc::downgrade(&self.0), process.clone());
            let watch = self.0.handle.watch(actor, move |reason| {
                if let Some(inner) = inner.upgrade() {
                    inner.end_process(&ended, &reason_term(reason));
                }
            });
            if watch.is_none() {
                self.0.end_process(&process, &Term::atom("noproc"));
                return Err(MeshError::NoProcess);
            }
        }
        Ok(process)
    }

    /// Gives an actor a name for other nodes, and the actor to the node if it was not. False if another has the name.
    pub fn register<M>(&self, name: &str, actor: &ActorRef<M>) -> Result<bool, MeshError>
    where
        M: From<Received> + Send + 'static,
    {
        self.give(actor, false)?;
        self.name_actor(name, actor.pid())
    }

    /// Gives a name to an actor that was given to the node. False if another has the name.
    pub fn name_actor(&self, name: &str, actor: iris_runtime::Pid) -> Result<bool, MeshError> {
        let process = self.0.processes.by_actor(actor).ok_or(MeshError::NoProcess)?;
        let reserved = [dispatch::NET_KERNEL, groups::SCOPE].contains(&name);
        Ok(!reserved && self.0.processes.name(Atom::new(name), &process))
    }

    /// Takes a name away; false if nobody had it.
    pub fn unregister(&self, name: &str) -> bool {
        self.0.processes.unname(&Atom::new(name))
    }

    /// The actor behind a pid of this node, or a name.
    #[must_use]
    pub fn local(&self, to: &Destination) -> Option<iris_runtime::Pid> {
        self.0.find(to).filter(|_| *to.node() == self.0.name).map(|process| process.actor)
    }

    /// Sends a message; the connection is made if there is none. Messages to one destination stay in order; what is sent to a process that
    /// is not there is lost, as in Erlang.
    pub fn send(&self, to: &Destination, message: &Term) -> Result<(), MeshError> {
        self.send_with(to, message, Haste::Message)
    }

    /// Sends only if the node is connected and reads what it is sent: never waits.
    pub fn try_send(&self, to: &Destination, message: &Term) -> Result<(), MeshError> {
        self.send_with(to, message, Haste::Prompt)
    }

    fn send_with(&self, to: &Destination, message: &Term, haste: Haste) -> Result<(), MeshError> {
        if *to.node() == self.0.name {
            if *to == Destination::Pid(self.0.own_pid()) {
                dispatch::answer(self, None, message.clone());
            } else {
                dispatch::deliver(self, self.0.find(to), message.clone());
            }
            return Ok(());
        }
        let connection = match haste {
            Haste::Prompt => self.0.connected(to.node())?,
            _ => self.connection(to.node(), handshake_end())?,
        };
        connection.send(&self.0.send_control(to), Some(message), haste)
    }

    /// `gen_server:cast`.
    pub fn cast(&self, to: &Destination, request: Term) -> Result<(), MeshError> {
        self.send(to, &Term::tuple([Term::atom("$gen_cast"), request]))
    }

    /// `gen_server:call`: waits for the answer, at most for the time-out.
    pub fn call(&self, to: &Destination, request: Term, timeout: Duration) -> Result<Term, CallError> {
        let (reply, call) = call_pair();
        let until = Instant::now().checked_add(timeout);
        let done = move |result| _ = reply.send(result);
        let reference = self.request(to, request, Some(timeout), done).map_err(CallError::NotSent)?;
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let result = self.0.handle.wait_for(call, left);
        self.demonitor(&reference);
        match result {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(reason)) => Err(CallError::Down(reason)),
            Err(iris_runtime::CallError::Timeout) => Err(CallError::Timeout),
            Err(_) => Err(CallError::Down(Term::atom("noconnection"))),
        }
    }

    /// The same without waiting for the answer: `done` gets it, or why there is none, on another thread; nothing after `demonitor`. Waits
    /// for a connection, at most for the time-out.
    pub fn request(
        &self,
        to: &Destination,
        request: Term,
        timeout: Option<Duration>,
        done: impl FnOnce(Result<Term, Term>) + Send + 'static,
    ) -> Result<Reference, MeshError> {
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let until = until.map_or_else(handshake_end, |until| until.min(handshake_end()));
        self.request_with(to, request, Some(until), Box::new(done))
    }

    /// The same only if the node is connected and reads what it is sent: never waits.
    pub fn try_request(
        &self,
        to: &Destination,
        request: Term,
        done: impl FnOnce(Result<Term, Term>) + Send + 'static,
    ) -> Result<Reference, MeshError> {
        self.request_with(to, request, None, Box::new(done))
    }

    fn request_with(
        &self,
        to: &Destination,
        request: Term,
        until: Option<Instant>,
        done: Box<dyn FnOnce(Result<Term, Term>) + Send>,
    ) -> Result<Reference, MeshError> {
        let call = |from| Term::tuple([Term::atom("$gen_call"), from, request]);
        self.request_as(to, call, until, done)
    }

    /// The same with what is sent made by `message` of the tag that the answer is to bear.
    pub(crate) fn request_as(
        &self,
        to: &Destination,
        message: impl FnOnce(Term) -> Term,
        until: Option<Instant>,
        done: Box<dyn FnOnce(Result<Term, Term>) + Send>,
    ) -> Result<Reference, MeshError> {
        if *to.node() == self.0.name {
            return self.request_here(to, message, until, done);
        }
        let (reference, monitor) = self.outgoing(to, Waiting::Call(done))?;
        let message = message(Term::tuple([self.0.own_pid().into(), reference.clone().into()]));
        // The monitor and the request in one: they are written at once.
        let frames = [(&monitor, None), (&self.0.send_control(to), Some(&message))];
        self.send_outgoing(to, reference, &frames, until)
    }

    fn request_here(
        &self,
        to: &Destination,
        message: impl FnOnce(Term) -> Term,
        until: Option<Instant>,
        done: Box<dyn FnOnce(Result<Term, Term>) + Send>,
    ) -> Result<Reference, MeshError> {
        let reference = self.watch(to, Waiting::Call(done), until)?;
        if !self.0.outgoing.lock().contains_key(&reference) {
            return Ok(reference);
        }
        let message = message(Term::tuple([self.0.own_pid().into(), reference.clone().into()]));
        let haste = if until.is_some() { Haste::Message } else { Haste::Prompt };
        match self.send_with(to, &message, haste) {
            // Unless it has been told already.
            Err(error) if self.demonitor(&reference) => Err(error),
            _ => Ok(reference),
        }
    }

    /// Whether the node answers: `net_adm:ping`.
    pub fn ping(&self, node: &str) -> Result<(), CallError> {
        let request = Term::tuple([Term::atom("is_auth"), self.0.name.clone().into()]);
        let to = Destination::name(dispatch::NET_KERNEL, node);
        self.call(&to, request, Duration::from_millis(HANDSHAKE_MS)).map(drop)
    }

    /// Tells the actor of the end of a process: one `Received::Down`, at once if there is none.
    pub fn monitor<M>(&self, watcher: &ActorRef<M>, to: &Destination) -> Result<Reference, MeshError>
    where
        M: From<Received> + Send + 'static,
    {
        self.monitor_for(to, sink_of(watcher))
    }

    /// The same with a function that is given the `Received::Down`.
    pub fn monitor_for(
        &self,
        to: &Destination,
        sink: impl Fn(Received) -> bool + Send + Sync + 'static,
    ) -> Result<Reference, MeshError> {
        self.watch(to, Waiting::Monitor(Arc::new(sink)), Some(handshake_end()))
    }

    /// Waits for a connection and for a slow peer, or not at all.
    fn watch(
        &self,
        to: &Destination,
        waiting: Waiting,
        until: Option<Instant>,
    ) -> Result<Reference, MeshError> {
        let (reference, monitor) = self.outgoing(to, waiting)?;
        if *to.node() == self.0.name {
            let own = self.0.own_pid();
            let found = self.0.find(to);
            if !found.is_some_and(|process| process.add_monitor(reference.clone(), own, to.shown())) {
                self.0.down(&reference, &Term::atom("noproc"));
            }
            return Ok(reference);
        }
        self.send_outgoing(to, reference, &[(&monitor, None)], until)
    }

    /// Notes who waits for the end of a process, and the control message for it.
    fn outgoing(&self, to: &Destination, waiting: Waiting) -> Result<(Reference, Term), MeshError> {
        let reference = self.0.reference();
        let mut outgoing = self.0.outgoing.lock();
        if outgoing.len() >= RELATIONS_MAX {
            return Err(MeshError::Limit("monitors and calls"));
        }
        outgoing.insert(reference.clone(), Outgoing { to: to.clone(), waiting });
        drop(outgoing);
        let control = [Term::Int(19), self.0.own_pid().into(), to.target(), reference.clone().into()];
        Ok((reference, Term::tuple(control)))
    }

    fn send_outgoing(
        &self,
        to: &Destination,
        reference: Reference,
        frames: &[(&Term, Option<&Term>)],
        until: Option<Instant>,
    ) -> Result<Reference, MeshError> {
        let (connection, haste) = match until {
            Some(until) => (self.connection(to.node(), until), Haste::Message),
            None => (self.0.connected(to.node()), Haste::Prompt),
        };
        let sent = connection.and_then(|connection| connection.send_all(frames, haste));
        match sent {
            Ok(()) => {}
            Err(
                error @ (MeshError::Limit(_)
                | MeshError::FrameLength
                | MeshError::NotLoopback(_)
                | MeshError::Tls(_)
                | MeshError::Name(_)
                | MeshError::Etf(_)
                | MeshError::Busy(_)),
            ) => {
                self.0.outgoing.lock().remove(&reference);
                return Err(error);
            }
            // As in Erlang: a node that cannot be reached is a `DOWN`.
            Err(_) => self.0.down(&reference, &Term::atom("noconnection")),
        }
        Ok(reference)
    }

    /// Takes a monitor away; false if it has fired. A `Down` that is on its way into the mailbox still comes.
    pub fn demonitor(&self, reference: &Reference) -> bool {
        let Some(outgoing) = self.0.outgoing.lock().remove(reference) else { return false };
        self.0.forget(&outgoing.to, reference);
        true
    }

    /// Links an actor that was given to the node with a process of another.
    pub fn link<M: Send + 'static>(&self, actor: &ActorRef<M>, to: &Pid) -> Result<(), MeshError> {
        self.link_actor(actor.pid(), to)
    }

    /// The same by the actor's pid.
    pub fn link_actor(&self, actor: iris_runtime::Pid, to: &Pid) -> Result<(), MeshError> {
        let process = self.0.processes.by_actor(actor).ok_or(MeshError::NoProcess)?;
        if to.node == self.0.name {
            let other = self.0.processes.by_pid(to).ok_or(MeshError::NoProcess)?;
            self.0.handle.link(actor, other.actor);
            return Ok(());
        }
        let connection = self.connection(&to.node, handshake_end())?;
        if !process.link(to.clone()) {
            return Err(MeshError::Limit("links"));
        }
        let control = Term::tuple([Term::Int(1), process.pid.clone().into(), to.clone().into()]);
        let sent = connection.send(&control, None, Haste::Message);
        if sent.is_err() {
            process.unlink(to);
        }
        sent
    }

    /// Takes a link away from both sides.
    pub fn unlink<M: Send + 'static>(&self, actor: &ActorRef<M>, to: &Pid) -> Result<(), MeshError> {
        self.unlink_actor(actor.pid(), to)
    }

    /// The same by the actor's pid.
    pub fn unlink_actor(&self, actor: iris_runtime::Pid, to: &Pid) -> Result<(), MeshError> {
        let process = self.0.processes.by_actor(actor).ok_or(MeshError::NoProcess)?;
        if let Some(other) = self.0.processes.by_pid(to) {
            self.0.handle.unlink(actor, other.actor);
            return Ok(());
        }
        if !process.unlink(to) {
            return Ok(());
        }
        let connection = self.0.connected(&to.node)?;
        let (from, to) = (process.pid.clone().into(), to.clone().into());
        let control = if connection.has(flag::UNLINK_ID) {
            let id = self.0.numbers.fetch_add(1, Ordering::Relaxed) as i64;
            Term::tuple([Term::Int(35), Term::Int(id), from, to])
        } else {
            Term::tuple([Term::Int(4), from, to])
        };
        connection.send(&control, None, Haste::Signal)
    }

    /// Sends an exit signal; `kill` cannot be trapped.
    pub fn exit(&self, to: &Pid, reason: Term) -> Result<(), MeshError> {
        if to.node == self.0.name {
            dispatch::asked_exit(self, &self.0.own_pid(), to, &reason);
            return Ok(());
        }
        let connection = self.connection(&to.node, handshake_end())?;
        let (from, to) = (self.0.own_pid().into(), to.clone().into());
        if connection.has(flag::EXIT_PAYLOAD) {
            connection.send(&Term::tuple([Term::Int(26), from, to]), Some(&reason), Haste::Message)
        } else {
            connection.send(&Term::tuple([Term::Int(8), from, to, reason]), None, Haste::Message)
        }
    }

    /// Ends the node: it is no longer registered, all connections end, and nothing comes in.
    pub fn close(&self) {
        if self.0.closed.swap(true, Ordering::SeqCst) {
            return;
        }
        self.0.registration.lock().take();
        let open: Vec<_> = self.0.connections.lock().open.values().cloned().collect();
        open.iter().for_each(|connection| connection.close());
        // Wakes the listener, who looks at `closed`.
        let _ = TcpStream::connect_timeout(&self.0.address, Duration::from_millis(CONNECT_MS));
    }

    /// Waits until the listener is closed, all connections have ended and all that depended on them has been told. False after the time-out.
    #[must_use]
    pub fn wait_closed(&self, timeout: Duration) -> bool {
        let until = Instant::now() + timeout;
        let mut connections = self.0.connections.lock();
        while connections.listening || !connections.open.is_empty() {
            if self.0.changed.wait_until(&mut connections, until).timed_out() {
                return false;
            }
        }
        true
    }
}

impl Inner {
    pub(crate) fn identity(&self) -> Identity {
        let private = self.options.private;
        Identity { name: self.name.to_string(), flags: flag::OURS, creation: self.creation, private }
    }

    fn pid(&self, number: u64) -> Pid {
        let (id, serial) = (number as u32, (number >> 32) as u32);
        Pid { node: self.name.clone(), id, serial, creation: self.creation }
    }

    /// The process that stands for the node itself: who calls and monitors from outside of actors.
    pub(crate) fn own_pid(&self) -> Pid {
        self.pid(1)
    }

    /// The process that stands for the groups of this node.
    pub(crate) fn groups_pid(&self) -> Pid {
        self.pid(2)
    }

    pub(crate) fn reference(&self) -> Reference {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        // 18 bits in the first word, as old nodes expect.
        let ids = vec![number as u32 & 0x3ffff, (number >> 18) as u32, (number >> 50) as u32];
        Reference { node: self.name.clone(), creation: self.creation, ids }
    }

    pub(crate) fn find(&self, to: &Destination) -> Option<Arc<Process>> {
        match to {
            Destination::Pid(pid) => self.processes.by_pid(pid),
            Destination::Name(name, _) => self.processes.by_name(name),
        }
    }

    fn send_control(&self, to: &Destination) -> Term {
        let (own, nothing) = (self.own_pid().into(), Term::atom(""));
        match to {
            Destination::Pid(pid) => Term::tuple([Term::Int(2), nothing, pid.clone().into()]),
            Destination::Name(name, _) => Term::tuple([Term::Int(6), own, nothing, name.clone().into()]),
        }
    }

    /// The connection to a node, if there is one.
    pub(crate) fn connected(&self, name: &Atom) -> Result<Arc<Connection>, MeshError> {
        let open = self.connections.lock().open.get(name).cloned();
        open.ok_or_else(|| MeshError::NoConnection(name.to_string()))
    }

    /// Takes a monitor away from the other side.
    pub(crate) fn forget(&self, to: &Destination, reference: &Reference) {
        if *to.node() == self.name {
            self.find(to).iter().for_each(|process| process.remove_monitor(reference));
        } else if let Ok(connection) = self.connected(to.node()) {
            let _ = connection.send(&self.demonitor_control(to, reference), None, Haste::Signal);
        }
    }

    /// The same after the answer: nobody waits for it, so it goes by and by where this is the thread of that connection.
    pub(crate) fn forget_answered(
        &self,
        to: &Destination,
        reference: &Reference,
        came_by: Option<&Arc<Connection>>,
    ) {
        match came_by.filter(|connection| connection.peer == *to.node()) {
            Some(connection) => {
                let _ = connection.send_by_and_by(&self.demonitor_control(to, reference));
            }
            None => self.forget(to, reference),
        }
    }

    fn demonitor_control(&self, to: &Destination, reference: &Reference) -> Term {
        Term::tuple([Term::Int(20), self.own_pid().into(), to.target(), reference.clone().into()])
    }

    pub(crate) fn tell_nodes(&self, event: &NodeEvent) {
        let watchers = self.watchers.lock().clone();
        let gone: Vec<_> = watchers.iter().filter(|told| !told(event.clone())).collect();
        if !gone.is_empty() {
            self.watchers.lock().retain(|told| !gone.iter().any(|gone| Arc::ptr_eq(gone, told)));
        }
    }

    /// A monitored process is gone.
    pub(crate) fn down(&self, reference: &Reference, reason: &Term) {
        let Some(outgoing) = self.outgoing.lock().remove(reference) else { return };
        match outgoing.waiting {
            Waiting::Call(done) => done(Err(reason.clone())),
            Waiting::Monitor(sink) => {
                let (reference, from) = (reference.clone(), outgoing.to.shown());
                sink(Received::Down { reference, from, reason: reason.clone() });
            }
        }
    }

    /// A local actor has ended. May run on any thread, so it never waits.
    fn end_process(&self, process: &Arc<Process>, reason: &Term) {
        self.processes.remove(process);
        self.leave_all(&process.pid);
        for (node, signal) in process.end(reason) {
            if node == self.name {
                if let Signal::Down { reference, .. } = &signal {
                    self.down(reference, reason);
                }
            } else if let Ok(connection) = self.connected(&node) {
                let _ = dispatch::signal(&connection, signal);
            }
        }
    }

    /// A connection has ended: all that depended on it is told.
    pub(crate) fn lose(&self, peer: &Atom) {
        let gone = Term::atom("noconnection");
        self.lose_groups(peer);
        for process in self.processes.all() {
            for from in process.leave(peer) {
                dispatch::exit(self, &process, from, &gone);
            }
        }
        let outgoing = self.outgoing.lock();
        let lost: Vec<_> =
            outgoing.iter().filter(|(_, to)| to.to.node() == peer).map(|(key, _)| key.clone()).collect();
        drop(outgoing);
        lost.iter().for_each(|reference| self.down(reference, &gone));
    }
}

/// What comes for an actor becomes a message; ends are never refused by a full mailbox.
fn sink_of<M>(actor: &ActorRef<M>) -> impl Fn(Received) -> bool + Send + Sync + 'static
where
    M: From<Received> + Send + 'static,
{
    let actor = actor.clone();
    move |received| match received {
        Received::Down { .. } | Received::Exit { .. } => actor.send_over(M::from(received)).is_ok(),
        _ => actor.send(M::from(received)).is_ok(),
    }
}

fn handshake_end() -> Instant {
    Instant::now() + Duration::from_millis(HANDSHAKE_MS)
}
