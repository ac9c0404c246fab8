//! How connections come to be and end: the listener, both sides of a handshake (that of TLS before it, if the node has certificates), the
//! one connection to a node of a name, and its threads. Leaves bytes to `connection` and what is told of an end to `node`.

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::dispatch;
use crate::epmd;
use crate::error::MeshError;
use crate::handshake::{self, Identity, Messages, Status, flag, is_node_name};
use crate::limits::{CONNECT_MS, CONNECTIONS_MAX, HALF_OPEN_MAX, HANDSHAKE_MS};
use crate::node::{Around, Connections, Node, NodeEvent, Options};
use crate::term::Atom;
use crate::tls::may_speak_for;
use crate::transport::Transport;

/// What stands after the `@`.
fn host_of(name: &str) -> &str {
    name.split_once('@').map_or("", |(_, host)| host)
}

impl Options {
    /// Without certificates only loopback.
    pub(crate) fn reachable(&self, address: SocketAddr) -> Result<SocketAddr, MeshError> {
        if self.tls.is_some() || address.ip().is_loopback() {
            Ok(address)
        } else {
            Err(MeshError::NotLoopback(address))
        }
    }
}

impl Node {
    pub(crate) fn accept_all(&self, listener: &TcpListener) {
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
        let mut timed = Timed::new(stream, Instant::now() + Duration::from_millis(HANDSHAKE_MS))?;
        if let Some(tls) = &self.0.options.tls {
            let session = tls.accept(&mut timed)?;
            timed.secure(session)?;
        }
        let shown = self.0.options.tls.as_ref().map(|_| timed.transport.certificates());
        let mut messages = Messages { wide: timed.transport.is_tls(), stream: timed };
        let status = |name: &str| {
            if shown.is_some_and(|shown| may_speak_for(&shown, host_of(name)).is_err()) {
                return Status::NotAllowed;
            }
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
        let mut number = 0;
        let known = |name: &str| number = self.claim(&Atom::new(name));
        let own = self.0.identity();
        let peer = handshake::accept(&mut messages, &own, &self.0.options.cookie, status, known)?;
        self.install(&peer, number, messages.stream.transport)
    }

    /// The connection to a node; made if there is none.
    pub(crate) fn connection(&self, name: &Atom, until: Instant) -> Result<Arc<Connection>, MeshError> {
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
        let result = self.meet(name, until);
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

    fn meet(&self, name: &Atom, until: Instant) -> Result<(), MeshError> {
        let (short, host) = name.as_str().split_once('@').ok_or_else(|| MeshError::Name(name.to_string()))?;
        if !is_node_name(name.as_str()) {
            return Err(MeshError::Name(name.to_string()));
        }
        let address = match (self.0.peers.lock().get(name.as_str()).copied(), self.0.options.epmd) {
            (Some(address), _) => address,
            (None, Some(epmd)) => {
                let failed = |error| MeshError::Io(format!("looking up the host {host:?}"), error);
                let found = (host, epmd.port()).to_socket_addrs().map_err(failed)?;
                let mut found: Vec<_> = found.collect();
                found.sort_by_key(|address| !address.ip().is_loopback());
                let mapper = *found.first().ok_or_else(|| MeshError::Name(name.to_string()))?;
                SocketAddr::new(self.0.options.reachable(mapper)?.ip(), epmd::look_up(mapper, short)?)
            }
            (None, None) => {
                return Err(MeshError::NoConnection(format!(
                    "{name}: neither its port nor a port mapper is known"
                )));
            }
        };
        self.0.options.reachable(address)?;
        let failed = |error| MeshError::Io(format!("connecting to {name} at {address}"), error);
        let stream =
            TcpStream::connect_timeout(&address, Duration::from_millis(CONNECT_MS)).map_err(failed)?;
        let mut timed = Timed::new(stream, until)?;
        if let Some(tls) = &self.0.options.tls {
            let session = tls.initiate(&mut timed, host)?;
            timed.secure(session)?;
        }
        let mut messages = Messages { wide: timed.transport.is_tls(), stream: timed };
        let mut number = 0;
        let known = |name: &str| number = self.claim(&Atom::new(name));
        let peer = handshake::initiate(&mut messages, &self.0.identity(), &self.0.options.cookie, known)?;
        if peer.name != name.as_str() {
            return Err(MeshError::Handshake("another node than expected answers"));
        }
        self.install(&peer, number, messages.stream.transport)
    }

    /// Numbers a handshake. From here on the peer may count as connected, say things, end the connection and make another one, all before
    /// this one is installed: then this one comes too late, and what was said over it is lost, as its end has told.
    fn claim(&self, name: &Atom) -> u64 {
        let mut connections = self.0.connections.lock();
        let number = self.0.numbers.fetch_add(1, Ordering::Relaxed);
        if connections.newest.len() >= CONNECTIONS_MAX {
            let patience = Duration::from_millis(2 * HANDSHAKE_MS);
            connections.newest.retain(|_, (_, when)| when.elapsed() < patience);
        }
        connections.newest.insert(name.clone(), (number, Instant::now()));
        number
    }

    /// Starts the threads of a connection whose peer is known; one to the same node ends first.
    fn install(&self, peer: &Identity, number: u64, transport: Transport) -> Result<(), MeshError> {
        let failed = |error| MeshError::Io("connection".into(), error);
        let tick = self.0.options.tick;
        transport.set_write_timeout(Some(tick)).map_err(failed)?;
        let name = Atom::new(&peer.name);
        let agreed = (peer.flags & flag::OURS, peer.private.both(self.0.identity().private));
        let connection = Connection::new(name.clone(), agreed, number, transport, tick);
        let connection = Arc::new(connection);
        let until = Instant::now() + Duration::from_millis(HANDSHAKE_MS);
        let mut connections = self.0.connections.lock();
        let is_newest = |connections: &Connections| {
            connections.newest.get(&name).is_some_and(|(newest, _)| *newest == number)
        };
        while let Some(old) = connections.open.get(&name).filter(|_| is_newest(&connections)) {
            old.close();
            if self.0.changed.wait_until(&mut connections, until).timed_out() {
                return Err(MeshError::NoConnection(name.to_string()));
            }
        }
        if !is_newest(&connections) {
            return Err(MeshError::NoConnection(name.to_string()));
        }
        if self.0.closed.load(Ordering::SeqCst) || connections.open.len() >= CONNECTIONS_MAX {
            return Err(MeshError::Limit("connections"));
        }
        let (node, reading, writing) = (self.clone(), connection.clone(), connection.clone());
        spawn("write", move || writing.write_all())?;
        let around = self.0.options.around.clone();
        let spawned = spawn("read", move || match around {
            Some(Around(around)) => around(&mut || node.read(&reading)),
            None => node.read(&reading),
        });
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
        self.0.tell_nodes(&NodeEvent::Up(connection.peer.clone()));
        self.discover_groups(connection);
        let _ = connection.read_all(|frame| dispatch::take(self, connection, frame));
        connection.close();
        self.0.lose(&connection.peer);
        self.0.tell_nodes(&NodeEvent::Down(connection.peer.clone()));
        let mut connections = self.0.connections.lock();
        if connections.open.get(&connection.peer).is_some_and(|open| open.number == connection.number) {
            connections.open.remove(&connection.peer);
        }
        self.0.changed.notify_all();
    }
}

pub(crate) fn spawn(what: &str, body: impl FnOnce() + Send + 'static) -> Result<(), MeshError> {
    let spawned = thread::Builder::new().name(format!("iris-mesh-{what}")).spawn(body);
    spawned.map(drop).map_err(|error| MeshError::Io("starting a thread".into(), error))
}

/// A stream whose reads and writes all together have the time of a handshake.
struct Timed {
    transport: Transport,
    until: Instant,
    /// For TLS, which is over the same stream.
    stream: TcpStream,
}

impl Timed {
    fn new(stream: TcpStream, until: Instant) -> Result<Self, MeshError> {
        let failed = |error| MeshError::Io("connection".into(), error);
        stream.set_nodelay(true).map_err(failed)?;
        let same = stream.try_clone().map_err(failed)?;
        Ok(Self { transport: Transport::plain(same), until, stream })
    }

    /// Goes on inside TLS.
    fn secure(&mut self, session: rustls::Connection) -> Result<(), MeshError> {
        let same = self.stream.try_clone().map_err(|error| MeshError::Io("connection".into(), error))?;
        self.transport = Transport::tls(same, session);
        Ok(())
    }

    fn left(&self) -> std::io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(std::io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl std::io::Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.transport.set_read_timeout(self.left()?)?;
        self.transport.read(buffer)
    }
}

impl std::io::Write for Timed {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.transport.set_write_timeout(self.left()?)?;
        self.transport.write_all(buffer)?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etf::Private;

    /// A peer that counts as connected may speak, leave and come back before its first connection is installed.
    #[test]
    fn a_connection_that_is_installed_too_late_is_not_taken() {
        let runtime = iris_runtime::Runtime::new();
        let options = Options { epmd: None, ..Options::new("here@127.0.0.1", "secret") };
        let node = Node::start(runtime.handle(), options).unwrap();
        let peer = Identity {
            name: "peer@127.0.0.1".into(),
            flags: flag::OURS,
            creation: 1,
            private: Private::default(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = || Transport::plain(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        let name = Atom::new(&peer.name);
        let (first, second) = (node.claim(&name), node.claim(&name));
        node.install(&peer, second, stream()).unwrap();
        assert!(node.install(&peer, first, stream()).is_err());
        assert_eq!(node.0.connected(&name).unwrap().number, second);
        // After the second has ended, too.
        assert!(node.disconnect(&peer.name));
        assert!(node.install(&peer, first, stream()).is_err());
        let third = node.claim(&name);
        node.install(&peer, third, stream()).unwrap();
        node.close();
        assert!(node.wait_closed(Duration::from_secs(20)));
    }
}
