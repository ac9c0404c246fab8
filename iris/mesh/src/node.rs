//! A node: its name, its listener, its connections, and what local code does with remote processes. Owns how connections come to be and
//! end; leaves bytes to `connection`, incoming frames to `dispatch`, local actors to `process`.
//! Invariant: at most one connection to a node of a name; a new one begins only when all that depended on the old one has been told of
//! its end, so that no message of the new one comes before a `Down` of the old.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use iris_runtime::{ActorRef, Handle, ReplyTo, call_pair};
use parking_lot::{Condvar, Mutex};

use crate::connection::{Connection, Haste};
use crate::dispatch;
use crate::epmd;
use crate::error::{CallError, MeshError};
use crate::handshake::{self, Identity, Status, flag, is_node_name};
use crate::limits::{
    CONNECT_MS, CONNECTIONS_MAX, EPMD_PORT, HALF_OPEN_MAX, HANDSHAKE_MS, RELATIONS_MAX, TICK_MS,
};
use crate::process::{Process, Processes, Received, Sink, reason_term};
use crate::term::{Atom, Pid, Reference, Term};

/// How a node is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its name: `name@host`.
    pub name: String,
    /// What the nodes of a cluster share.
    pub cookie: String,
    /// Where it listens; a port of 0 is any. Only loopback.
    pub listen: SocketAddr,
    /// The port mapper, if there is to be one. Only loopback.
    pub epmd: Option<SocketAddr>,
    /// Where nodes listen that are not asked of a port mapper.
    pub peers: HashMap<String, SocketAddr>,
    /// After how long without a byte a peer counts as gone.
    pub tick: Duration,
}

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
            peers: HashMap::new(),
            tick: Duration::from_millis(TICK_MS),
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

    pub(crate) fn node(&self) -> &Atom {
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
}

impl Caller {
    /// Answers.
    pub fn reply(self, reply: Term) -> Result<(), MeshError> {
        let message = Term::tuple([self.tag.clone(), reply]);
        let own = self.node.0.own_pid();
        if let Term::Improper(parts) = &self.tag
            && let ([head], alias @ Term::Reference(_)) = (parts.0.as_slice(), &parts.1)
            && head.is_atom("alias")
        {
            let connection = self.node.0.connected(&self.pid.node)?;
            if connection.has(flag::ALIAS) {
                let control = Term::tuple([Term::Int(33), own.into(), alias.clone()]);
                return connection.send(&control, Some(&message), Haste::Message);
            }
        }
        self.node.send(&Destination::Pid(self.pid), &message)
    }
}

/// What waits for the end of a remote process.
pub(crate) enum Waiting {
    Call(ReplyTo<Result<Term, Term>>),
    Monitor(Sink),
}

pub(crate) struct Outgoing {
    pub(crate) to: Destination,
    pub(crate) waiting: Waiting,
}

#[derive(Default)]
struct Connections {
    open: HashMap<Atom, Arc<Connection>>,
    /// Nodes that are being connected to.
    pending: HashSet<Atom>,
}

pub(crate) struct Inner {
    pub(crate) name: Atom,
    pub(crate) creation: u32,
    pub(crate) handle: Handle,
    pub(crate) processes: Processes,
    pub(crate) outgoing: Mutex<HashMap<Reference, Outgoing>>,
    options: Options,
    address: SocketAddr,
    connections: Mutex<Connections>,
    changed: Condvar,
    numbers: AtomicU64,
    half_open: AtomicUsize,
    closed: AtomicBool,
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

fn only_loopback(address: SocketAddr) -> Result<SocketAddr, MeshError> {
    if address.ip().is_loopback() { Ok(address) } else { Err(MeshError::NotLoopback(address)) }
}

impl Node {
    /// Starts a node over a runtime's actors: it listens, and is registered with the port mapper.
    pub fn start(handle: &Handle, options: Options) -> Result<Self, MeshError> {
        if !is_node_name(&options.name) {
            return Err(MeshError::Name(options.name));
        }
        only_loopback(options.listen)?;
        options.epmd.map_or(Ok(()), |epmd| only_loopback(epmd).map(drop))?;
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
            options,
            address,
            connections: Mutex::default(),
            changed: Condvar::new(),
            numbers: AtomicU64::new(1),
            half_open: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            registration: Mutex::new(registration),
        });
        let node = Self(inner);
        let accepting = node.clone();
        spawn("listen", move || accepting.accept_all(&listener))?;
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
        let to = actor.clone();
        let sink: Sink = Arc::new(move |received| to.send(M::from(received)).is_ok());
        self.process(actor.pid(), sink, trap_exit).map(|process| process.pid.clone())
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
        let process = self.0.processes.by_actor(actor.pid()).ok_or(MeshError::NoProcess)?;
        let reserved = name == dispatch::NET_KERNEL;
        Ok(!reserved && self.0.processes.name(Atom::new(name), &process))
    }

    /// Sends a message; the connection is made if there is none. Messages to one destination stay in order; what is sent to a process that
    /// is not there is lost, as in Erlang.
    pub fn send(&self, to: &Destination, message: &Term) -> Result<(), MeshError> {
        if *to.node() == self.0.name {
            dispatch::deliver(self, self.0.find(to), message.clone());
            return Ok(());
        }
        let connection = self.connection(to.node())?;
        connection.send(&self.0.send_control(to), Some(message), Haste::Message)
    }

    /// `gen_server:cast`.
    pub fn cast(&self, to: &Destination, request: Term) -> Result<(), MeshError> {
        self.send(to, &Term::tuple([Term::atom("$gen_cast"), request]))
    }

    /// `gen_server:call`: waits for the answer, at most for the time-out.
    pub fn call(&self, to: &Destination, request: Term, timeout: Duration) -> Result<Term, CallError> {
        let (reply, call) = call_pair();
        let until = Instant::now().checked_add(timeout);
        let reference = self.watch(to, Waiting::Call(reply)).map_err(CallError::NotSent)?;
        let from = Term::tuple([self.0.own_pid().into(), reference.clone().into()]);
        let message = Term::tuple([Term::atom("$gen_call"), from, request]);
        let sent = self.send(to, &message);
        if let Err(error) = sent {
            self.demonitor(&reference);
            return Err(CallError::NotSent(error));
        }
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
        let actor = watcher.clone();
        self.watch(to, Waiting::Monitor(Arc::new(move |received| actor.send(M::from(received)).is_ok())))
    }

    fn watch(&self, to: &Destination, waiting: Waiting) -> Result<Reference, MeshError> {
        let reference = self.0.reference();
        let mut outgoing = self.0.outgoing.lock();
        if outgoing.len() >= RELATIONS_MAX {
            return Err(MeshError::Limit("monitors and calls"));
        }
        outgoing.insert(reference.clone(), Outgoing { to: to.clone(), waiting });
        drop(outgoing);
        let own = self.0.own_pid();
        if *to.node() == self.0.name {
            let found = self.0.find(to);
            if !found.is_some_and(|process| process.add_monitor(reference.clone(), own, to.shown())) {
                self.0.down(&reference, &Term::atom("noproc"));
            }
            return Ok(reference);
        }
        let sent = self.connection(to.node()).and_then(|connection| {
            let control = [Term::Int(19), own.into(), to.target(), reference.clone().into()];
            connection.send(&Term::tuple(control), None, Haste::Message)
        });
        match sent {
            Err(MeshError::Limit(_) | MeshError::NotLoopback(_) | MeshError::Name(_)) | Ok(()) => {}
            // As in Erlang: a node that cannot be reached is a `DOWN`.
            Err(_) => self.0.down(&reference, &Term::atom("noconnection")),
        }
        sent.or_else(|error| match error {
            MeshError::Limit(_) | MeshError::NotLoopback(_) | MeshError::Name(_) => {
                self.0.outgoing.lock().remove(&reference);
                Err(error)
            }
            _ => Ok(()),
        })?;
        Ok(reference)
    }

    /// Takes a monitor away; false if it has fired. A `Down` that is on its way into the mailbox still comes.
    pub fn demonitor(&self, reference: &Reference) -> bool {
        let Some(outgoing) = self.0.outgoing.lock().remove(reference) else { return false };
        if *outgoing.to.node() == self.0.name {
            self.0.find(&outgoing.to).iter().for_each(|process| process.remove_monitor(reference));
        } else if let Ok(connection) = self.0.connected(outgoing.to.node()) {
            let control =
                [Term::Int(20), self.0.own_pid().into(), outgoing.to.target(), reference.clone().into()];
            let _ = connection.send(&Term::tuple(control), None, Haste::Signal);
        }
        true
    }

    /// Links an actor that was given to the node with a process of another.
    pub fn link<M: Send + 'static>(&self, actor: &ActorRef<M>, to: &Pid) -> Result<(), MeshError> {
        let process = self.0.processes.by_actor(actor.pid()).ok_or(MeshError::NoProcess)?;
        let connection = self.connection(&to.node)?;
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
        let process = self.0.processes.by_actor(actor.pid()).ok_or(MeshError::NoProcess)?;
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
        let connection = self.connection(&to.node)?;
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

    fn accept_all(&self, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.0.closed.load(Ordering::SeqCst) {
                return;
            }
            // Without descriptors `accept` fails at once, again and again.
            let Ok(stream) = stream else {
                thread::sleep(Duration::from_millis(50));
                continue;
            };
            if self.0.half_open.fetch_add(1, Ordering::SeqCst) >= HALF_OPEN_MAX {
                self.0.half_open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let node = self.clone();
            let spawned = spawn("handshake", move || {
                let accepted = node.accept(stream);
                node.0.half_open.fetch_sub(1, Ordering::SeqCst);
                drop(accepted);
            });
            if spawned.is_err() {
                self.0.half_open.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    fn accept(&self, stream: TcpStream) -> Result<(), MeshError> {
        let mut timed = Timed::new(stream)?;
        let status = |name: &str| {
            let (name, connections) = (Atom::new(name), self.0.connections.lock());
            if connections.open.contains_key(&name) {
                Status::Alive
            } else if !connections.pending.contains(&name) {
                Status::Ok
            } else if self.0.name > name {
                Status::Nok
            } else {
                Status::OkSimultaneous
            }
        };
        let peer = handshake::accept(&mut timed, &self.0.identity(), &self.0.options.cookie, status)?;
        self.install(&peer, timed.stream)
    }

    /// The connection to a node; made if there is none.
    pub(crate) fn connection(&self, name: &Atom) -> Result<Arc<Connection>, MeshError> {
        let until = Instant::now() + Duration::from_millis(HANDSHAKE_MS);
        let mut connections = self.0.connections.lock();
        loop {
            if self.0.closed.load(Ordering::SeqCst) {
                return Err(MeshError::NoConnection(name.to_string()));
            }
            if let Some(open) = connections.open.get(name).filter(|open| !open.is_closed()) {
                return Ok(open.clone());
            }
            let ending = connections.open.contains_key(name);
            if !ending && connections.pending.insert(name.clone()) {
                break;
            }
            if self.0.changed.wait_until(&mut connections, until).timed_out() {
                return Err(MeshError::NoConnection(name.to_string()));
            }
        }
        drop(connections);
        let result = self.connect(name);
        let mut connections = self.0.connections.lock();
        connections.pending.remove(name);
        self.0.changed.notify_all();
        if result.is_err() {
            // The peer may have been connecting to us: then that connection is the one.
            let peer_won = matches!(result, Err(MeshError::Handshake("the peer is connecting to us")));
            while peer_won && !connections.open.contains_key(name) {
                if self.0.changed.wait_until(&mut connections, until).timed_out() {
                    break;
                }
            }
        }
        match connections.open.get(name) {
            Some(open) => Ok(open.clone()),
            None => Err(result.err().unwrap_or_else(|| MeshError::NoConnection(name.to_string()))),
        }
    }

    fn connect(&self, name: &Atom) -> Result<(), MeshError> {
        let (short, host) = name.as_str().split_once('@').ok_or_else(|| MeshError::Name(name.to_string()))?;
        if !is_node_name(name.as_str()) {
            return Err(MeshError::Name(name.to_string()));
        }
        let address = match (self.0.options.peers.get(name.as_str()), self.0.options.epmd) {
            (Some(address), _) => *address,
            (None, Some(epmd)) => {
                let failed = |error| MeshError::Io(format!("looking up the host {host:?}"), error);
                let found = (host, epmd.port()).to_socket_addrs().map_err(failed)?;
                let mut found: Vec<_> = found.collect();
                found.sort_by_key(|address| !address.ip().is_loopback());
                let mapper = *found.first().ok_or_else(|| MeshError::Name(name.to_string()))?;
                SocketAddr::new(only_loopback(mapper)?.ip(), epmd::look_up(mapper, short)?)
            }
            (None, None) => {
                return Err(MeshError::NoConnection(format!(
                    "{name}: neither its port nor a port mapper is known"
                )));
            }
        };
        only_loopback(address)?;
        let failed = |error| MeshError::Io(format!("connecting to {name} at {address}"), error);
        let stream =
            TcpStream::connect_timeout(&address, Duration::from_millis(CONNECT_MS)).map_err(failed)?;
        let mut timed = Timed::new(stream)?;
        let peer = handshake::initiate(&mut timed, &self.0.identity(), &self.0.options.cookie)?;
        if peer.name != name.as_str() {
            return Err(MeshError::Handshake("another node than expected answers"));
        }
        self.install(&peer, timed.stream)
    }

    /// Starts the threads of a connection whose peer is known; one to the same node ends first.
    fn install(&self, peer: &Identity, stream: TcpStream) -> Result<(), MeshError> {
        let failed = |error| MeshError::Io("connection".into(), error);
        let tick = self.0.options.tick;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_write_timeout(Some(tick)).map_err(failed)?;
        let (name, number) = (Atom::new(&peer.name), self.0.numbers.fetch_add(1, Ordering::Relaxed));
        let connection = Connection::new(name.clone(), peer.flags & flag::OURS, number, stream, tick);
        let connection = Arc::new(connection);
        let until = Instant::now() + Duration::from_millis(HANDSHAKE_MS);
        let mut connections = self.0.connections.lock();
        while let Some(old) = connections.open.get(&name) {
            old.close();
            if self.0.changed.wait_until(&mut connections, until).timed_out() {
                return Err(MeshError::NoConnection(name.to_string()));
            }
        }
        if self.0.closed.load(Ordering::SeqCst) || connections.open.len() >= CONNECTIONS_MAX {
            return Err(MeshError::Limit("connections"));
        }
        let (node, reading, writing) = (self.clone(), connection.clone(), connection.clone());
        spawn("write", move || writing.write_all())?;
        let spawned = spawn("read", move || node.read(&reading));
        if spawned.is_err() {
            connection.close();
            return spawned;
        }
        connections.open.insert(name, connection);
        self.0.changed.notify_all();
        Ok(())
    }

    /// The reader's thread, and the end of the connection.
    fn read(&self, connection: &Arc<Connection>) {
        // The connection is in the table before its first frame is looked at.
        drop(self.0.connections.lock());
        let _ = connection.read_all(|frame| dispatch::take(self, connection, frame));
        connection.close();
        self.0.lose(&connection.peer);
        let mut connections = self.0.connections.lock();
        if connections.open.get(&connection.peer).is_some_and(|open| open.number == connection.number) {
            connections.open.remove(&connection.peer);
        }
        self.0.changed.notify_all();
    }
}

impl Inner {
    fn identity(&self) -> Identity {
        Identity { name: self.name.to_string(), flags: flag::OURS, creation: self.creation }
    }

    fn pid(&self, number: u64) -> Pid {
        let (id, serial) = (number as u32, (number >> 32) as u32);
        Pid { node: self.name.clone(), id, serial, creation: self.creation }
    }

    /// The process that stands for the node itself: who calls and monitors from outside of actors.
    pub(crate) fn own_pid(&self) -> Pid {
        self.pid(1)
    }

    fn reference(&self) -> Reference {
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

    /// A monitored process is gone.
    pub(crate) fn down(&self, reference: &Reference, reason: &Term) {
        let Some(outgoing) = self.outgoing.lock().remove(reference) else { return };
        match outgoing.waiting {
            Waiting::Call(reply) => {
                reply.send(Err(reason.clone()));
            }
            Waiting::Monitor(sink) => {
                let (reference, from) = (reference.clone(), outgoing.to.shown());
                sink(Received::Down { reference, from, reason: reason.clone() });
            }
        }
    }

    /// A local actor has ended. May run on any thread, so it never waits.
    fn end_process(&self, process: &Arc<Process>, reason: &Term) {
        self.processes.remove(process);
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
    fn lose(&self, peer: &Atom) {
        let gone = Term::atom("noconnection");
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

fn spawn(what: &str, body: impl FnOnce() + Send + 'static) -> Result<(), MeshError> {
    let spawned = thread::Builder::new().name(format!("iris-mesh-{what}")).spawn(body);
    spawned.map(drop).map_err(|error| MeshError::Io("starting a thread".into(), error))
}

/// A stream whose reads and writes all together have the time of a handshake.
struct Timed {
    stream: TcpStream,
    until: Instant,
}

impl Timed {
    fn new(stream: TcpStream) -> Result<Self, MeshError> {
        stream.set_nodelay(true).map_err(|error| MeshError::Io("connection".into(), error))?;
        Ok(Self { stream, until: Instant::now() + Duration::from_millis(HANDSHAKE_MS) })
    }

    fn left(&self) -> std::io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(std::io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl std::io::Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl std::io::Write for Timed {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}
