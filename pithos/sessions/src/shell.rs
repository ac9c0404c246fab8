//! One shell process as the server sees it: requests go out on its socket, one reader task hands the answers to those who
//! wait for them. When the process dies, everybody who waits hears it at once.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rush_session::{Decoder, Fork, FromShell, Run, RunDone, ToShell};
use tokio::sync::oneshot;

use crate::SHELL_ROLE;
use crate::connection::{Connection, Stream};
use crate::guardian::{Guardian, OverlayRequest};
use crate::limits::START_TIMEOUT_MS;
use crate::sync::Locked;

/// What a shell answers to a request; an error text when it could not carry it out.
type Answer = Result<FromShell, String>;

#[derive(Default)]
struct Pending {
    answers: HashMap<u64, oneshot::Sender<Answer>>,
    ready: Option<oneshot::Sender<u32>>,
    gone: bool,
}

/// A live shell process.
pub(crate) struct Shell {
    pid: u32,
    connection: Connection,
    pending: Arc<Locked<Pending>>,
    next_id: AtomicU64,
}

impl Shell {
    /// Starts a shell process and waits until it is ready.
    pub(crate) async fn start(guardian: &Guardian, arguments: &[String]) -> io::Result<Self> {
        let (ours, theirs) = StdStream::pair()?;
        let (shell, ready) = Self::connect(ours)?;
        let pid = guardian.spawn(SHELL_ROLE, arguments, theirs.into()).await?;
        shell.wait_ready(ready, pid).await
    }

    /// Starts a shell process over overlays.
    pub(crate) async fn start_over(guardian: &Guardian, overlays: Vec<OverlayRequest>) -> io::Result<Self> {
        let (ours, theirs) = StdStream::pair()?;
        let (shell, ready) = Self::connect(ours)?;
        let pid = guardian.spawn_over(SHELL_ROLE, &[], overlays, theirs.into()).await?;
        shell.wait_ready(ready, pid).await
    }

    /// A copy of this shell with all its state, as a process of its own.
    pub(crate) async fn fork(&self, guardian: &Guardian) -> io::Result<Self> {
        let (ours, theirs) = StdStream::pair()?;
        let (shell, ready) = Self::connect(ours)?;
        let id = self.id();
        let answer = self.request(id, &ToShell::Fork(Fork { id }), vec![theirs.into()])?;
        // A shell that somebody has stopped never answers.
        let Ok(answer) = tokio::time::timeout(Duration::from_millis(START_TIMEOUT_MS), answer).await else {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the session could not be copied in time"));
        };
        match answer {
            Ok(Ok(FromShell::Forked { pid, .. })) => {
                let pid = guardian.adopt(pid, self.pid)?;
                shell.wait_ready(ready, pid).await
            }
            Ok(Err(message)) => Err(io::Error::other(message)),
            _ => Err(io::Error::other("the session ended while it was being copied")),
        }
    }

    fn connect(ours: StdStream) -> io::Result<(Self, oneshot::Receiver<u32>)> {
        let connection = Connection::new(ours)?;
        let (sender, ready) = oneshot::channel();
        let pending = Arc::new(Locked::new(Pending { ready: Some(sender), ..Pending::default() }));
        tokio::spawn(read_answers(connection.stream(), Arc::clone(&pending)));
        Ok((Self { pid: 0, connection, pending, next_id: AtomicU64::new(1) }, ready))
    }

    async fn wait_ready(mut self, ready: oneshot::Receiver<u32>, pid: u32) -> io::Result<Self> {
        match tokio::time::timeout(Duration::from_millis(START_TIMEOUT_MS), ready).await {
            Ok(Ok(_)) => {
                self.pid = pid;
                Ok(self)
            }
            Ok(Err(_)) => Err(io::Error::other(
                "the shell process ended before it was ready; its message is on the server's stderr",
            )),
            Err(_) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "the shell process did not get ready in time"))
            }
        }
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the process has not been seen to end.
    pub(crate) fn alive(&self) -> bool {
        !self.pending.with(|pending| pending.gone) && !self.connection.hung_up()
    }

    /// Starts a script with these descriptors; the receiver gets its end, or an error when the process dies first.
    pub(crate) fn run(&self, mut run: Run, descriptors: [OwnedFd; 3]) -> io::Result<Running> {
        run.id = self.id();
        let answer = self.request(run.id, &ToShell::Run(run), descriptors.into())?;
        Ok(Running { answer })
    }

    /// Asks the shell to end; what is left of it is the guardian's.
    pub(crate) fn exit(&self) {
        let _ = self.connection.send(&ToShell::Exit, Vec::new());
    }

    fn id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn request(
        &self,
        id: u64,
        message: &ToShell,
        descriptors: Vec<OwnedFd>,
    ) -> io::Result<oneshot::Receiver<Answer>> {
        let (sender, receiver) = oneshot::channel();
        let gone = self.pending.with(|pending| {
            if !pending.gone {
                pending.answers.insert(id, sender);
            }
            pending.gone
        });
        if gone {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the session's process has ended"));
        }
        let sent = self.connection.send(message, descriptors);
        if sent.is_err() {
            self.pending.with(|pending| pending.answers.remove(&id));
        }
        sent.map(|()| receiver)
    }
}

/// A script that was started.
pub(crate) struct Running {
    answer: oneshot::Receiver<Answer>,
}

/// How a started script came back.
pub(crate) enum Ended {
    /// The shell says how.
    Done(Box<RunDone>),
    /// The shell could not run it and lives on.
    Failed(String),
    /// The process died.
    Lost,
}

impl Running {
    /// Waits for the end.
    pub(crate) async fn ended(&mut self) -> Ended {
        match (&mut self.answer).await {
            Ok(Ok(FromShell::Done(done))) => Ended::Done(Box::new(done)),
            Ok(Ok(_)) => Ended::Failed("the shell gave an answer to something else".to_string()),
            Ok(Err(message)) => Ended::Failed(message),
            Err(_) => Ended::Lost,
        }
    }
}

async fn read_answers(stream: Arc<Stream>, pending: Arc<Locked<Pending>>) {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; 8192];
    'read: loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => decoder.push(&buffer[..read]),
        }
        loop {
            match decoder.next_message::<FromShell>() {
                Ok(Some((message, _))) => deliver(&pending, message),
                Ok(None) => break,
                Err(_) => break 'read,
            }
        }
    }
    pending.with(|pending| {
        pending.gone = true;
        pending.answers.clear();
        pending.ready = None;
    });
}

fn deliver(pending: &Locked<Pending>, message: FromShell) {
    let (id, answer) = match message {
        FromShell::Ready { pid, .. } => {
            if let Some(ready) = pending.with(|pending| pending.ready.take()) {
                let _ = ready.send(pid);
            }
            return;
        }
        FromShell::Done(done) => (done.id, Ok(FromShell::Done(done))),
        FromShell::Forked { id, pid } => (id, Ok(FromShell::Forked { id, pid })),
        FromShell::Failed { id, message } => (id, Err(message)),
    };
    if let Some(sender) = pending.with(|pending| pending.answers.remove(&id)) {
        let _ = sender.send(answer);
    }
}
