//! Actors: many small JavaScript state machines, supervised, addressed by group and index, with a behaviour that can be replaced while
//! they run. A *system* is a worker process with an iris runtime; a *group* is a set of actors that share one behaviour and one isolate.
//! A crash of the process costs its system and is reported as that.
//!
//! `message` is what the two processes say, `worker` runs in the worker, `group` is one group and its actors, `isolate` its JavaScript,
//! `replies` the bounded report of many answers; this file is the server's half.

mod group;
mod heap;
mod isolate;
mod message;
mod replies;
mod worker;

use std::collections::HashMap;
use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rush_session::Decoder;
use serde_json::Value;
use tokio::sync::oneshot;

pub use message::{ActorRequest, RestartPolicy};
pub(crate) use worker::main;

use crate::ACTORS_ROLE;
use crate::connection::{Connection, Stream};
use crate::error::Error;
use crate::guardian::Guardian;
use crate::limits::{ACTOR_GRACE_MS, ACTOR_SYSTEMS_MAX, START_TIMEOUT_MS};
use crate::sync::Locked;
use crate::tree::{Branch, Supervised, Tree};
use message::{FromActors, ToActors};

/// The system that requests get when they name none.
pub const DEFAULT_SYSTEM: &str = "main";

/// The actor systems of a manager.
pub(crate) struct Actors {
    guardian: Guardian,
    tree: Tree,
    systems: tokio::sync::Mutex<HashMap<String, Arc<System>>>,
}

/// One worker process.
struct System {
    pid: u32,
    connection: Connection,
    pending: Arc<Locked<Pending>>,
    next_id: AtomicU64,
    unit: Supervised,
}

#[derive(Default)]
struct Pending {
    ready: Option<oneshot::Sender<()>>,
    answers: HashMap<u64, oneshot::Sender<Result<Value, String>>>,
    gone: bool,
}

impl Actors {
    pub(crate) fn new(guardian: Guardian, tree: Tree) -> Self {
        Self { guardian, tree, systems: tokio::sync::Mutex::default() }
    }

    /// Carries out a request; the system is started when it is first used.
    pub(crate) async fn request(&self, system: &str, request: ActorRequest) -> Result<Value, Error> {
        let target = self.system(system, matches!(request, ActorRequest::Spawn { .. })).await?;
        let patience = Duration::from_millis(request.patience_ms().saturating_add(ACTOR_GRACE_MS));
        let answer = match target.ask(request) {
            Ok(answer) => tokio::time::timeout(patience, answer).await,
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                return Err(Error::Actors(error.to_string()));
            }
            Err(_) => return Err(self.lost(system, &target).await),
        };
        match answer {
            Ok(Ok(result)) => result.map_err(Error::Actors),
            Ok(Err(_)) => Err(self.lost(system, &target).await),
            Err(_) => {
                let _ = self.guardian.end(target.pid);
                Err(self.lost(system, &target).await)
            }
        }
    }

    /// The names of the systems that run.
    pub(crate) async fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.systems.lock().await.keys().cloned().collect();
        names.sort();
        names
    }

    /// Ends a system with all its actors.
    pub(crate) async fn end(&self, name: &str) -> Result<(), Error> {
        let system =
            self.systems.lock().await.remove(name).ok_or_else(|| Error::UnknownSystem(name.to_string()))?;
        let _ = self.guardian.end(system.pid);
        let _ = self.guardian.ended(system.pid).await;
        system.unit.end(None);
        Ok(())
    }

    async fn system(&self, name: &str, make: bool) -> Result<Arc<System>, Error> {
        let mut systems = self.systems.lock().await;
        if let Some(system) = systems.get(name) {
            return Ok(Arc::clone(system));
        }
        if !make {
            return Err(Error::UnknownSystem(name.to_string()));
        }
        if systems.len() >= ACTOR_SYSTEMS_MAX {
            return Err(Error::TooManySystems);
        }
        let system =
            Arc::new(System::start(&self.guardian, &self.tree, name).await.map_err(Error::ActorProcess)?);
        systems.insert(name.to_string(), Arc::clone(&system));
        Ok(system)
    }

    /// The system's process has ended: forgets it, and says how it ended.
    async fn lost(&self, name: &str, system: &Arc<System>) -> Error {
        let known = {
            let mut systems = self.systems.lock().await;
            // Another of that name may have been started since.
            if systems.get(name).is_some_and(|known| Arc::ptr_eq(known, system)) {
                systems.remove(name)
            } else {
                None
            }
        };
        let _ = self.guardian.end(system.pid);
        let (exit, _) = self.guardian.ended(system.pid).await;
        let reason =
            format!("the process of the actor system '{name}' ended ({exit:?}); its actors are lost");
        if known.is_some() {
            system.unit.end(Some(&reason));
        }
        Error::Actors(reason)
    }
}

impl System {
    async fn start(guardian: &Guardian, tree: &Tree, name: &str) -> io::Result<Self> {
        let (ours, theirs) = StdStream::pair()?;
        let connection = Connection::new(ours)?;
        let (sender, ready) = oneshot::channel();
        let pending = Arc::new(Locked::new(Pending { ready: Some(sender), ..Pending::default() }));
        tokio::spawn(read_answers(connection.stream(), Arc::clone(&pending)));
        let pid = guardian.spawn(ACTORS_ROLE, &[], theirs.into()).await?;
        match tokio::time::timeout(Duration::from_millis(START_TIMEOUT_MS), ready).await {
            Ok(Ok(())) => {}
            _ => {
                guardian.end_and_forget(pid);
                return Err(io::Error::other("the actor process did not get ready"));
            }
        }
        let ender = guardian.clone();
        let unit = tree.add(Branch::Actors, name, move || drop(ender.end(pid)));
        Ok(Self { pid, connection, pending, next_id: AtomicU64::new(1), unit })
    }

    fn ask(&self, request: ActorRequest) -> io::Result<oneshot::Receiver<Result<Value, String>>> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let gone = self.pending.with(|pending| {
            if !pending.gone {
                pending.answers.insert(id, sender);
            }
            pending.gone
        });
        if gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let sent = self.connection.send(&ToActors { id, request }, Vec::new());
        if sent.is_err() {
            self.pending.with(|pending| pending.answers.remove(&id));
        }
        sent.map(|()| receiver)
    }
}

async fn read_answers(stream: Arc<Stream>, pending: Arc<Locked<Pending>>) {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; 16 * 1024];
    'read: loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => decoder.push(&buffer[..read]),
        }
        loop {
            let (id, result) = match decoder.next_message::<FromActors>() {
                Ok(Some((FromActors::Answer { id, result }, _))) => (id, result),
                Ok(Some((FromActors::Ready, _))) => {
                    if let Some(ready) = pending.with(|pending| pending.ready.take()) {
                        let _ = ready.send(());
                    }
                    continue;
                }
                Ok(None) => break,
                Err(_) => break 'read,
            };
            let sender = pending.with(|pending| pending.answers.remove(&id));
            if let Some(sender) = sender {
                let _ = sender.send(result);
            }
        }
    }
    pending.with(|pending| {
        pending.gone = true;
        pending.answers.clear();
        pending.ready = None;
    });
}
