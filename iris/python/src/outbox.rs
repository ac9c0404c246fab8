//! What threads that serve many actors (hubs, event loops) say to nodes that are not connected yet. Owns one queue and one thread per such
//! node, until it is connected and the queue is empty. Invariant: what one thread sends to one node keeps its order, and nobody who must
//! not block waits for a handshake.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use iris_mesh::limits::QUEUE_BYTES;
use iris_mesh::{Atom, MeshError, Node};
use parking_lot::Mutex;

/// Something to be sent: done with the node, or told that there is no connection.
pub(crate) type Op = Box<dyn FnOnce(Option<&Node>) -> Result<(), MeshError> + Send>;

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(usize, Op)>,
    bytes: usize,
}

#[derive(Clone, Default)]
pub(crate) struct Outbox(Arc<Mutex<HashMap<Atom, Queue>>>);

impl Outbox {
    /// Whether something waits for this node: then all that comes has to wait behind it.
    pub(crate) fn is_waiting(&self, node: &Atom) -> bool {
        self.0.lock().contains_key(node)
    }

    /// Adds something of so many bytes. False if too much waits.
    pub(crate) fn push(&self, mesh: &Node, node: &Atom, bytes: usize, op: Op) -> bool {
        let mut queues = self.0.lock();
        if let Some(queue) = queues.get_mut(node) {
            let room = queue.bytes <= QUEUE_BYTES;
            if room {
                queue.bytes += bytes;
                queue.waiting.push_back((bytes, op));
            }
            return room;
        }
        let queue = Queue { waiting: VecDeque::from([(bytes, op)]), bytes };
        queues.insert(node.clone(), queue);
        drop(queues);
        let (theirs, mesh, to) = (self.clone(), mesh.clone(), node.clone());
        let spawned =
            std::thread::Builder::new().name("iris-outbox".into()).spawn(move || theirs.run(&mesh, &to));
        if spawned.is_err() {
            self.0.lock().remove(node);
        }
        spawned.is_ok()
    }

    fn run(&self, mesh: &Node, node: &Atom) {
        let connected = mesh.connect(node.as_str()).is_ok();
        while let Some(op) = self.next(node) {
            let done = op(connected.then_some(mesh));
            if matches!(done, Err(MeshError::Busy(_))) {
                // It was accepted and cannot be delivered: a gap, which monitors hear of.
                mesh.disconnect(node.as_str());
            }
        }
    }

    fn next(&self, node: &Atom) -> Option<Op> {
        let mut queues = self.0.lock();
        let queue = queues.get_mut(node)?;
        match queue.waiting.pop_front() {
            Some((bytes, op)) => {
                queue.bytes -= bytes;
                Some(op)
            }
            None => {
                queues.remove(node);
                None
            }
        }
    }
}
