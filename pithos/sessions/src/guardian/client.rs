//! The server's half of the guardian: asks it for workers and hears of their ends. One reader task hands answers out.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rush_session::Decoder;
use rush_session::process_tree::Process;
use rustix::process::Resource;
use serde::{Deserialize, Serialize};
use tokio::sync::{oneshot, watch};

use super::names::Names;
use super::{FromGuardian, OverlayRequest, ToGuardian, strays};
use crate::connection::{Connection, Stream};
use crate::limits::{KILL_GRACE_MS, START_TIMEOUT_MS};
use crate::noticed::{Noticed, Record};
use crate::sync::Locked;

/// How a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Nobody knows (its guardian was killed, or it was somebody else's child).
    Unknown,
}

/// The limit of descriptors as it was before [`raise_descriptor_limit`].
static DESCRIPTORS: OnceLock<u64> = OnceLock::new();

/// Lets this process have as many descriptors as it may. What its guardians start keeps the limit as it was.
pub fn raise_descriptor_limit() {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    DESCRIPTORS.get_or_init(|| limit.current.unwrap_or(u64::MAX));
    limit.current = limit.maximum;
    let _ = rustix::process::setrlimit(Resource::Nofile, limit);
}

fn descriptor_limit() -> u64 {
    *DESCRIPTORS.get_or_init(|| rustix::process::getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
}

/// The guardian's side: takes the limit that its first argument says.
pub(super) fn take_descriptor_limit(argument: &str) {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    limit.current = argument.parse().ok().filter(|count| *count != u64::MAX).or(limit.maximum);
    let _ = rustix::process::setrlimit(Resource::Nofile, limit);
}

/// An end that somebody waits for: the exit, and what the worker had left behind.
type Ended = Option<(Exit, Vec<Process>)>;

/// All ids in here are those inside the guardian's pid namespace.
#[derive(Default)]
struct Waiting {
    spawns: HashMap<u64, oneshot::Sender<Result<u32, String>>>,
    ends: HashMap<u32, watch::Sender<Ended>>,
    gone: bool,
}

/// The server's handle. Dropping the last one closes the socket, and the guardian ends everything.
#[derive(Clone)]
pub struct Guardian {
    shared: Arc<Shared>,
}

struct Shared {
    connection: Connection,
    waiting: Arc<Locked<Waiting>>,
    names: Names,
    noticed: Arc<Noticed>,
    next_id: AtomicU64,
}

impl Guardian {
    /// Starts the guardian process: this executable with the argument `role` and those of its confinement. `protected` are the paths that are not
    /// there yet and should not come to be; `door` is where the proxy's listening socket is sent.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub(crate) fn start(
        role: &str,
        arguments: &[String],
        protected: Vec<PathBuf>,
        door: Option<OwnedFd>,
    ) -> io::Result<Self> {
        // What outlives a killed guardian comes to this process.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let (ours, theirs) = StdStream::pair()?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(role).arg(descriptor_limit().to_string()).args(arguments);
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::inherit());
        let mut child = strays::start(&mut command)?;
        let (pid, names) = (child.id(), Names::new(child.id()));
        std::thread::Builder::new().name("guardian-reaper".into()).spawn(move || drop(child.wait()))?;
        let connection = Connection::new(ours)?;
        let waiting = Arc::new(Locked::new(Waiting::default()));
        tokio::spawn(read_answers(pid, connection.stream(), Arc::clone(&waiting)));
        let (noticed, reports) = Noticed::new(protected)?;
        connection.send(&ToGuardian::Watch, [reports].into_iter().chain(door).collect())?;
        tokio::spawn(Arc::clone(&noticed).listen());
        let next_id = AtomicU64::new(1);
        Ok(Self { shared: Arc::new(Shared { connection, waiting, names, noticed, next_id }) })
    }

    /// Starts a worker of `role` whose standard input is `socket`; its pid.
    ///
    /// # Errors
    /// When the guardian is gone or the process cannot be started.
    pub async fn spawn(&self, role: &str, arguments: &[String], socket: OwnedFd) -> io::Result<u32> {
        self.spawn_over(role, arguments, Vec::new(), socket).await
    }

    /// The same, over overlays.
    pub(crate) async fn spawn_over(
        &self,
        role: &str,
        arguments: &[String],
        overlays: Vec<OverlayRequest>,
        socket: OwnedFd,
    ) -> io::Result<u32> {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let request =
            ToGuardian::Spawn { id, role: role.to_string(), arguments: arguments.to_vec(), overlays };
        let inside = self.ask(id, &request, vec![socket]).await?;
        self.shared.names.learn(inside, None)
    }

    /// Lets the overlays of a worker see what is below them now, whatever was changed there meanwhile.
    ///
    /// # Errors
    /// When the guardian is gone, the worker is, or the kernel does not do it.
    pub(crate) async fn refresh(&self, pid: u32, roots: Vec<PathBuf>) -> io::Result<()> {
        let inside = self.shared.names.inside(pid).ok_or_else(no_guardian)?;
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        self.ask(id, &ToGuardian::Refresh { id, pid: inside, roots }, Vec::new()).await.map(drop)
    }

    /// Asks the guardian for something; the process that it answers with, if that is one.
    async fn ask(&self, id: u64, request: &ToGuardian, sockets: Vec<OwnedFd>) -> io::Result<u32> {
        let (sender, receiver) = oneshot::channel();
        let gone = self.shared.waiting.with(|waiting| {
            if !waiting.gone {
                waiting.spawns.insert(id, sender);
            }
            waiting.gone
        });
        if gone {
            return Err(no_guardian());
        }
        let answer = match self.shared.connection.send(request, sockets) {
            // A guardian that is stopped must not stop those who wait for it.
            Ok(()) => tokio::time::timeout(Duration::from_millis(START_TIMEOUT_MS), receiver).await,
            Err(error) => {
                self.shared.waiting.with(|waiting| waiting.spawns.remove(&id));
                return Err(error);
            }
        };
        match answer {
            Ok(answer) => answer.map_err(|_| no_guardian())?.map_err(io::Error::other),
            Err(_) => {
                self.shared.waiting.with(|waiting| waiting.spawns.remove(&id));
                Err(io::Error::new(io::ErrorKind::TimedOut, "no process could be started in time"))
            }
        }
    }

    /// Makes a process below the worker `parent` a worker of its own; `inside` is the id that it has for itself. Its id here.
    ///
    /// # Errors
    /// When the guardian is gone, or the process.
    pub fn adopt(&self, inside: u32, parent: u32) -> io::Result<u32> {
        self.shared.waiting.with(|waiting| waiting.ends.insert(inside, watch::channel(None).0));
        self.send(&ToGuardian::Adopt { pid: inside })?;
        self.shared.names.learn(inside, Some(parent))
    }

    /// Something begins to run in a worker: what was denied to it from now on.
    pub(crate) fn record(&self, pid: u32) -> Arc<Record> {
        self.shared.names.inside(pid).map(|inside| self.shared.noticed.begin(inside)).unwrap_or_default()
    }

    /// What the sandbox noticed.
    pub(crate) fn noticed(&self) -> &Noticed {
        &self.shared.noticed
    }

    /// Ends a worker with everything below it.
    ///
    /// # Errors
    /// When the guardian is gone.
    pub fn end(&self, pid: u32) -> io::Result<()> {
        match self.shared.names.inside(pid) {
            Some(pid) => self.send(&ToGuardian::End { pid }),
            // It was no worker, or is forgotten because it has ended.
            None => Ok(()),
        }
    }

    /// Ends the guardian with everything below it, whoever else holds this handle.
    pub(crate) fn leave(&self) {
        self.shared.connection.close();
    }

    /// Ends a worker that nobody asks about any more.
    pub(crate) fn end_and_forget(&self, pid: u32) {
        let guardian = self.clone();
        let _ = self.end(pid);
        tokio::spawn(async move { drop(guardian.ended(pid).await) });
    }

    /// Waits until the worker has ended; what it had left behind is dead by then.
    pub async fn ended(&self, pid: u32) -> (Exit, Vec<Process>) {
        let Some(inside) = self.shared.names.inside(pid) else { return (Exit::Unknown, Vec::new()) };
        let waiting = &self.shared.waiting;
        let receiver = waiting.with(|waiting| waiting.ends.get(&inside).map(watch::Sender::subscribe));
        let Some(mut receiver) = receiver else { return (Exit::Unknown, Vec::new()) };
        let ended = receiver.wait_for(Option::is_some).await;
        let result = ended.ok().and_then(|value| value.clone()).unwrap_or((Exit::Unknown, Vec::new()));
        waiting.with(|waiting| waiting.ends.remove(&inside));
        self.shared.names.forget(pid);
        self.shared.noticed.forget(inside);
        result
    }

    fn send(&self, request: &ToGuardian) -> io::Result<()> {
        self.shared.connection.send(request, Vec::new())
    }
}

async fn read_answers(guardian: u32, stream: Arc<Stream>, waiting: Arc<Locked<Waiting>>) {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; 8192];
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => decoder.push(&buffer[..read]),
        }
        while let Ok(Some((answer, _))) = decoder.next_message::<FromGuardian>() {
            deliver(&waiting, answer);
        }
    }
    // The guardian's workers die with it, and what they leave comes to this process, which is a subreaper too.
    let swept =
        tokio::task::spawn_blocking(move || strays::sweep(guardian, Duration::from_millis(KILL_GRACE_MS)));
    let _ = swept.await;
    let ends: Vec<_> = waiting.with(|waiting| {
        waiting.gone = true;
        waiting.spawns.clear();
        waiting.ends.drain().collect()
    });
    for (_, sender) in ends {
        sender.send_replace(Some((Exit::Unknown, Vec::new())));
    }
}

fn deliver(waiting: &Locked<Waiting>, answer: FromGuardian) {
    match answer {
        FromGuardian::Spawned { id, pid } => {
            let asked = waiting.with(|waiting| {
                // A process id comes again: the end of an earlier process is not this one's.
                waiting.ends.insert(pid, watch::channel(None).0);
                waiting.spawns.remove(&id)
            });
            if let Some(sender) = asked {
                let _ = sender.send(Ok(pid));
            }
        }
        FromGuardian::Refreshed { id } => {
            if let Some(sender) = waiting.with(|waiting| waiting.spawns.remove(&id)) {
                let _ = sender.send(Ok(0));
            }
        }
        FromGuardian::Failed { id, message } => {
            if let Some(sender) = waiting.with(|waiting| waiting.spawns.remove(&id)) {
                let _ = sender.send(Err(message));
            }
        }
        FromGuardian::Exited { pid, exit, left } => waiting.with(|waiting| {
            if let Some(sender) = waiting.ends.get(&pid) {
                sender.send_replace(Some((exit, left)));
            }
        }),
    }
}

fn no_guardian() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the guardian process is gone; restart the server")
}
