//! JavaScript cells: one evaluation each, in a hardened isolate of its own, in a worker process, so that whatever a cell does costs at most
//! that cell. `message` is what the two processes say, `tape` is what replays need, `worker` runs in the worker, `guest` is what a cell finds on the global object,
//! and this file is the server's half: the warm pool, the calls back, the ends.

mod guest;
mod message;
mod tape;
mod worker;

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rush_session::Decoder;
use serde_json::{Map, Value};
use tokio::sync::{Notify, watch};

pub use message::{CellEnd, Outcome};
pub use tape::Tape;
pub(crate) use worker::main;

use crate::CELL_ROLE;
use crate::connection::Connection;
use crate::guardian::Guardian;
use crate::limits::{
    CELL_GRACE_MS, CELL_HEAP_BYTES_DEFAULT, CELL_TIMEOUT_MS_DEFAULT, CELL_TIMEOUT_MS_MAX, CELLS_PER_WORKER,
    CELLS_REMEMBERED_MAX, CODE_BYTES_MAX, START_TIMEOUT_MS, TOOL_BYTES_MAX, TOOL_MESSAGE_CHARS_MAX,
    TOOLS_AT_ONCE_MAX,
};
use crate::manager::DEFAULT_SESSION;
use crate::sync::Locked;
use crate::tree::{Branch, Tree};
use message::{CellRun, FromCell, ToCell};

/// The tools that a cell finds as `tools.SERVER.NAME(arguments)`: those of whoever started the cell. They run with its rights, not with the cell's.
pub trait Tools: Send + Sync {
    /// Calls one: what it answers, or a message. Nobody waits any more when the future is dropped. An empty `server` asks for the declarations
    /// of the server `name`, or of all, as text.
    fn call(&self, server: String, name: String, arguments: Value) -> Answer;
}

/// What a tool answers in the end.
pub type Answer = std::pin::Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

/// What a cell runs with.
#[derive(Clone, Default)]
pub struct CellRequest {
    /// The body of an async function, or one expression; TypeScript is accepted.
    pub code: String,
    /// Whose working directory `shell`, `read` and the others use, and whose `store` it shares.
    pub session: Option<String>,
    /// Wall time.
    pub timeout: Option<Duration>,
    /// Steps of the engine; no limit when not given.
    pub fuel: Option<u64>,
    /// Bytes of JavaScript heap, strings and buffers included.
    pub heap_bytes: Option<usize>,
    /// Where the console writes, as it comes and without a limit; otherwise it is kept for the end, bounded.
    pub console: Option<Arc<[OwnedFd; 2]>>,
    /// What `tools` leads to; without it each call says that there are none.
    pub tools: Option<Arc<dyn Tools>>,
    /// What an earlier cell learned by chance, which this one learns again.
    pub tape: Option<Tape>,
}

/// A cell, running or ended.
pub struct Cell {
    /// `c1` and so on.
    pub handle: String,
    /// When it began.
    pub started: Instant,
    end: watch::Sender<Option<Arc<CellEnd>>>,
    stop: Arc<Notify>,
}

impl Cell {
    /// The end, once there is one.
    #[must_use]
    pub fn end(&self) -> Option<Arc<CellEnd>> {
        self.end.borrow().clone()
    }

    /// Ends the cell, with its worker process; does nothing to one that has ended.
    pub fn stop(&self) {
        self.stop.notify_one();
    }

    /// Waits for the end.
    pub async fn ended(&self) -> Option<Arc<CellEnd>> {
        let mut receiver = self.end.subscribe();
        receiver.wait_for(Option::is_some).await.ok().and_then(|end| end.clone())
    }
}

/// What cells may ask of the server; implemented by the manager.
pub(crate) trait CellHost: Send + Sync + 'static {
    /// Runs a command in the cell's session; the result as the cell sees it, or a message.
    fn shell(
        &self,
        session: Option<String>,
        command: String,
        options: Value,
    ) -> impl Future<Output = Result<Value, String>> + Send;
    /// The folder that relative paths of the cell start from; none when the session has an overlay, which only its shell sees.
    fn folder(&self, session: Option<&str>) -> Option<String>;
}

/// A worker process that waits for a cell.
struct Worker {
    pid: u32,
    connection: Connection,
    decoder: Decoder,
    cells: u32,
}

/// The cells of a manager.
pub(crate) struct Cells {
    guardian: Guardian,
    tree: Tree,
    pool: Locked<Vec<Worker>>,
    filling: AtomicBool,
    table: Locked<Table>,
    stores: Locked<HashMap<String, Map<String, Value>>>,
    /// Workers that wait.
    warm: usize,
}

#[derive(Default)]
struct Table {
    next: u64,
    cells: std::collections::VecDeque<Arc<Cell>>,
}

impl Cells {
    pub(crate) fn new(guardian: Guardian, tree: Tree, warm: usize) -> Arc<Self> {
        let cells = Arc::new(Self {
            guardian,
            tree,
            pool: Locked::default(),
            filling: AtomicBool::new(false),
            table: Locked::new(Table::default()),
            stores: Locked::new(HashMap::new()),
            warm,
        });
        cells.warm();
        cells
    }

    /// Starts a cell; it runs on by itself.
    pub(crate) fn start<H: CellHost>(self: &Arc<Self>, host: Arc<H>, request: CellRequest) -> Arc<Cell> {
        let cell = self.table.with(|table| {
            table.next += 1;
            let handle = format!("c{}", table.next);
            let (end, stop) = (watch::channel(None).0, Arc::default());
            let cell = Arc::new(Cell { handle, started: Instant::now(), end, stop });
            table.cells.push_back(Arc::clone(&cell));
            while table.cells.len() > CELLS_REMEMBERED_MAX {
                let Some(ended) = table.cells.iter().position(|cell| cell.end().is_some()) else { break };
                table.cells.remove(ended);
            }
            cell
        });
        let (cells, running, stop) = (Arc::clone(self), Arc::clone(&cell), Arc::clone(&cell.stop));
        let unit = self.tree.add(Branch::Cells, &cell.handle, move || stop.notify_one());
        tokio::spawn(async move {
            let started = running.started;
            let mut end = cells.run(&host, request, &running.stop).await;
            unit.end(match &end.outcome {
                Outcome::Crashed(message) => Some(message),
                _ => None,
            });
            end.wall_us = started.elapsed().as_micros() as u64;
            running.end.send_replace(Some(Arc::new(end)));
        });
        cell
    }

    /// What the cells of a session have stored.
    pub(crate) fn store_of(&self, session: &str) -> Map<String, Value> {
        self.stores.with(|stores| stores.get(session).cloned().unwrap_or_default())
    }

    /// Puts something in the place of that; nothing when it is empty.
    pub(crate) fn set_store(&self, session: &str, store: Map<String, Value>) {
        let former = self.stores.with(|stores| {
            if store.is_empty() { stores.remove(session) } else { stores.insert(session.to_owned(), store) }
        });
        drop(former);
    }

    pub(crate) fn find(&self, handle: &str) -> Option<Arc<Cell>> {
        self.table.with(|table| table.cells.iter().find(|cell| cell.handle == handle).cloned())
    }

    async fn run<H: CellHost>(
        self: &Arc<Self>,
        host: &Arc<H>,
        request: CellRequest,
        stop: &Notify,
    ) -> CellEnd {
        if request.code.len() > CODE_BYTES_MAX {
            let message = format!(
                "code: {} bytes are over the limit of {CODE_BYTES_MAX}; load large data with read",
                request.code.len()
            );
            return CellEnd { outcome: Outcome::Error(message), ..CellEnd::default() };
        }
        let timeout = request.timeout.unwrap_or(Duration::from_millis(CELL_TIMEOUT_MS_DEFAULT));
        let timeout = timeout.min(Duration::from_millis(CELL_TIMEOUT_MS_MAX));
        let end = Instant::now() + timeout;
        // The worker's own start is part of the cell's time.
        let started = tokio::select! {
            started = tokio::time::timeout_at(end.into(), self.take()) => started,
            () = stop.notified() => return CellEnd::terminated("cancelled"),
        };
        let mut worker = match started {
            Ok(Ok(worker)) => worker,
            Ok(Err(error)) => {
                return CellEnd::crashed(format!("no worker process could be started: {error}"));
            }
            Err(_) => return CellEnd::terminated("deadline"),
        };
        let store_name = request.session.clone().unwrap_or_else(|| DEFAULT_SESSION.to_owned());
        let run = CellRun {
            code: request.code,
            folder: host.folder(request.session.as_deref()),
            timeout_ms: end.saturating_duration_since(Instant::now()).as_millis() as u64,
            fuel: request.fuel,
            heap_bytes: request.heap_bytes.unwrap_or(CELL_HEAP_BYTES_DEFAULT),
            store: self.stores.with(|stores| stores.get(&store_name).cloned().unwrap_or_default()),
            tape: request.tape,
        };
        let console = request.console.iter().flat_map(|pair| pair.iter().map(OwnedFd::try_clone));
        let denied = self.guardian.record(worker.pid);
        let sent = console
            .collect::<io::Result<Vec<_>>>()
            .and_then(|console| worker.connection.send(&ToCell::Run(run), console));
        if let Err(error) = sent {
            self.give_back(worker);
            return CellEnd { outcome: Outcome::Error(error.to_string()), ..CellEnd::default() };
        }
        let conversation = worker.converse(host, request.session, request.tools);
        let bounded =
            tokio::time::timeout_at((end + Duration::from_millis(CELL_GRACE_MS)).into(), conversation);
        let outcome = tokio::select! {
            // A cell that keeps its conversation going must not put off its end.
            biased;
            () = stop.notified() => {
                self.discard(&worker);
                return CellEnd::terminated("cancelled");
            }
            outcome = bounded => outcome,
        };
        let noticed = self.guardian.noticed();
        noticed.hear();
        let mut cell_end = self.settle(outcome, worker, store_name).await;
        cell_end.denials = denied.denials();
        cell_end.protected_created = noticed.protected_created();
        cell_end
    }

    /// What a conversation came to, and what becomes of its worker.
    async fn settle(
        self: &Arc<Self>,
        outcome: Result<io::Result<CellEnd>, tokio::time::error::Elapsed>,
        worker: Worker,
        store_name: String,
    ) -> CellEnd {
        match outcome {
            Ok(Ok(end)) => {
                if let Some(store) = end.store.clone() {
                    self.stores.with(|stores| stores.insert(store_name, store));
                }
                self.give_back(worker);
                end
            }
            Ok(Err(error)) => {
                // It may live and only have said something that makes no sense.
                let _ = self.guardian.end(worker.pid);
                let (exit, _) = self.guardian.ended(worker.pid).await;
                self.warm();
                CellEnd::crashed(format!("the worker process ended ({exit:?}): {error}"))
            }
            Err(_) => {
                self.discard(&worker);
                CellEnd::terminated("deadline")
            }
        }
    }

    /// Ends a worker in the middle of its cell.
    fn discard(self: &Arc<Self>, worker: &Worker) {
        self.guardian.end_and_forget(worker.pid);
        self.warm();
    }

    async fn take(&self) -> io::Result<Worker> {
        // One that died while it waited costs nobody anything.
        let warm = self
            .pool
            .with(|pool| std::iter::from_fn(|| pool.pop()).find(|worker| !worker.connection.hung_up()));
        match warm {
            Some(worker) => Ok(worker),
            None => Worker::start(&self.guardian).await,
        }
    }

    /// A worker that has run many cells, or that nobody needs, goes.
    fn give_back(self: &Arc<Self>, mut worker: Worker) {
        worker.cells += 1;
        let unneeded = self.pool.with(|pool| {
            if worker.cells < CELLS_PER_WORKER && pool.len() < self.warm.max(1) {
                pool.push(worker);
                return None;
            }
            Some(worker)
        });
        if let Some(worker) = unneeded {
            self.discard(&worker);
        }
    }

    fn warm(self: &Arc<Self>) {
        let cells = Arc::clone(self);
        if cells.filling.swap(true, Ordering::SeqCst) {
            return;
        }
        tokio::spawn(async move {
            while cells.pool.with(|pool| pool.len()) < cells.warm {
                match Worker::start(&cells.guardian).await {
                    Ok(worker) => cells.pool.with(|pool| pool.push(worker)),
                    // The next cell meets the same error and reports it.
                    Err(_) => break,
                }
            }
            cells.filling.store(false, Ordering::SeqCst);
        });
    }
}

impl Worker {
    async fn start(guardian: &Guardian) -> io::Result<Self> {
        let (ours, theirs) = StdStream::pair()?;
        let pid = guardian.spawn(CELL_ROLE, &[], theirs.into()).await?;
        let connection = Connection::new(ours)?;
        let mut worker = Self { pid, connection, decoder: Decoder::default(), cells: 0 };
        let ready = tokio::time::timeout(Duration::from_millis(START_TIMEOUT_MS), worker.receive()).await;
        match ready {
            Ok(Ok(FromCell::Ready)) => Ok(worker),
            other => {
                guardian.end_and_forget(pid);
                Err(match other {
                    Ok(Err(error)) => error,
                    Ok(Ok(_)) => io::Error::other("the cell worker's first message is wrong"),
                    Err(_) => io::Error::new(io::ErrorKind::TimedOut, "the cell worker did not get ready"),
                })
            }
        }
    }

    async fn receive(&mut self) -> io::Result<FromCell> {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            if let Some((message, _)) = self.decoder.next_message()? {
                return Ok(message);
            }
            match self.connection.read(&mut buffer).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => self.decoder.push(&buffer[..read]),
            }
        }
    }

    /// One cell: answers its calls until it is done. Calls run side by side.
    async fn converse<H: CellHost>(
        &mut self,
        host: &Arc<H>,
        session: Option<String>,
        tools: Option<Arc<dyn Tools>>,
    ) -> io::Result<CellEnd> {
        let mut calls = tokio::task::JoinSet::new();
        loop {
            let message = tokio::select! {
                message = self.receive() => message?,
                Some(finished) = calls.join_next() => {
                    let (call, result) = finished.map_err(io::Error::other)?;
                    self.connection.send(&ToCell::Reply { call, result }, Vec::new())?;
                    continue;
                }
            };
            match message {
                FromCell::Ready => {}
                FromCell::Shell { call, command, options } => {
                    let (host, session) = (Arc::clone(host), session.clone());
                    calls.spawn(async move { (call, host.shell(session, command, options).await) });
                }
                FromCell::Tool { call, server, name, arguments } => {
                    let answer = match &tools {
                        None => Err("tools: there are none here".to_owned()),
                        Some(_) if calls.len() >= TOOLS_AT_ONCE_MAX => {
                            Err(format!("tools: more than {TOOLS_AT_ONCE_MAX} calls at once"))
                        }
                        Some(tools) => Ok(tools.call(server, name, arguments)),
                    };
                    calls.spawn(async move {
                        match answer {
                            Ok(answer) => (call, bounded(answer.await)),
                            Err(message) => (call, Err(message)),
                        }
                    });
                }
                FromCell::Done(end) => return Ok(end),
            }
        }
    }
}

/// What a tool answers, unless that is too long for a cell.
fn bounded(result: Result<Value, String>) -> Result<Value, String> {
    match result {
        Ok(value) => {
            let length = serde_json::to_string(&value).map_or(usize::MAX, |text| text.len());
            let message =
                || format!("tools: {length} bytes of answer are over the limit of {TOOL_BYTES_MAX}");
            if length > TOOL_BYTES_MAX { Err(message()) } else { Ok(value) }
        }
        Err(message) => Err(message.chars().take(TOOL_MESSAGE_CHARS_MAX).collect()),
    }
}
