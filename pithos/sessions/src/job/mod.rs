//! A job: one script that runs or ran in a session. A task of its own reads the pipes, holds the deadline and carries out an end from
//! outside, so a job goes on whether or not anybody waits for it.
//!
//! States: running, then exactly one end. The end is published only after everything that the script had written before it is in
//! the capture; background processes may write on after it.

mod task;

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use pithos_sandbox::Denial;
use rush_session::RunDone;
use rustix::process::Signal;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, mpsc, watch};

use crate::guardian::Guardian;
use crate::limits::{
    BEGIN_LOOK_MS, BEGIN_PATIENCE_MS, JOB_SCRIPT_BYTES_MAX, PROMPT_LOOK_MS, STDIN_BYTES_MAX,
    STDIN_PATIENCE_MS,
};
use crate::noticed::Record;
use crate::output::Capture;
use crate::ports;
use crate::proxy::Proxy;
use crate::screen::{Screen, View};
use crate::shell::Shell;

use crate::space::Space;
use crate::stream::{Sink, Source, Terminal, TerminalSize, null};
use crate::sync::Locked;
use crate::tree::Supervised;
use rush_session::process_tree::{self, Process};
use task::Task;

/// Why a run was ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its time was over.
    Timeout,
    /// The client asked for it, or cancelled the call.
    Cancelled,
    /// Its session was closed.
    Closed,
}

impl Reason {
    /// The word in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Closed => "session_closed",
        }
    }
}

/// How a job ended.
#[derive(Debug, Clone)]
pub struct End {
    /// What the shell said; none when its process died.
    pub done: Option<RunDone>,
    /// Who ended it, when it did not end by itself.
    pub reason: Option<Reason>,
    /// The processes that were killed for that, or that a dead shell had left.
    pub killed: Vec<Process>,
    /// The shell's own words when it could not run the script, or what became of its process.
    pub failure: Option<String>,
    /// Its session's process died, and the session's state with it; `failure` says how.
    pub lost: bool,
    /// From start to end.
    pub wall: Duration,
    /// Protected paths that are there now and were not when the server started.
    pub protected_created: Vec<PathBuf>,
}

/// A job, running or ended.
pub struct Job {
    /// The handle, `j1` and so on.
    pub handle: String,
    /// The session's handle.
    pub session: String,
    /// What runs, of a long text its beginning: ended jobs are remembered, and nobody needs all of theirs.
    pub script: String,
    /// When it began.
    pub started: Instant,
    /// What its client must know of the session.
    pub news: Option<String>,
    capture: Locked<Capture>,
    /// What its terminal shows, if it has one.
    screen: Option<Locked<Screen>>,
    space: Space,
    /// How much of the output its client has been shown.
    shown: AtomicU64,
    denied: Arc<Record>,
    end: watch::Sender<Option<Arc<End>>>,
    output: Notify,
    stdin: tokio::sync::Mutex<Option<Sink>>,
    stdin_link: Option<String>,
    stop: mpsc::UnboundedSender<Reason>,
    /// Device and number of what the script has as its standard output and error.
    output_ids: [(u64, u64); 2],
    begun: AtomicBool,
    /// Not the job's to keep: a remembered job must hold nothing of a session that is over.
    shell: Weak<Shell>,
}

/// What is kept of a script. A text of its own: the long one would stay in memory behind a shorter view of it.
fn beginning(script: String) -> String {
    if script.len() <= JOB_SCRIPT_BYTES_MAX {
        return script;
    }
    script[..script.floor_char_boundary(JOB_SCRIPT_BYTES_MAX)].to_owned()
}

/// What a job needs to run.
pub(crate) struct Start {
    pub(crate) handle: String,
    pub(crate) session: String,
    pub(crate) script: String,
    pub(crate) news: Option<String>,
    pub(crate) run: rush_session::Run,
    pub(crate) stdin: Stdin,
    pub(crate) timeout: Duration,
    pub(crate) log: std::path::PathBuf,
    pub(crate) apart: bool,
    pub(crate) space: Space,
    pub(crate) shell: Arc<Shell>,
    pub(crate) guardian: Guardian,
    pub(crate) unit: Supervised,
    pub(crate) proxy: Option<Arc<Proxy>>,
}

/// Where a script's standard input comes from.
#[derive(Debug, Clone, Default)]
pub enum Stdin {
    /// End of file at once: nothing can wait on a prompt.
    #[default]
    Closed,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// Open: `write` feeds it.
    Open,
    /// A terminal, which is standard output and standard error as well.
    Terminal(TerminalSize),
}

impl Job {
    /// Starts the script; the job's task runs on its own from here.
    pub(crate) fn start(start: Start) -> io::Result<Arc<Self>> {
        let Streams { out, error, sink, name, script_side } = Streams::open(&start.stdin, start.shell.pid())?;
        let denied = start.guardian.record(start.shell.pid());
        if let Some(proxy) = &start.proxy {
            proxy.know(&start.handle, &denied);
        }
        let id = |end: &OwnedFd| rustix::fs::fstat(end).map(|data| (data.st_dev, data.st_ino));
        let output_ids = [id(&script_side[1])?, id(&script_side[2])?];
        let running = start.shell.run(start.run, script_side)?;
        let (stop, stops) = mpsc::unbounded_channel();
        let keep_open = !matches!(start.stdin, Stdin::Closed | Stdin::Bytes(_));
        let (kept, fed) = if keep_open { (sink, None) } else { (None, sink) };
        let job = Arc::new(Self {
            handle: start.handle,
            session: start.session,
            script: beginning(start.script),
            started: Instant::now(),
            news: start.news,
            capture: Locked::new(if start.apart {
                Capture::new_apart(start.log, &start.space)
            } else {
                Capture::new(start.log, &start.space)
            }),
            screen: match &start.stdin {
                Stdin::Terminal(size) => Some(Locked::new(Screen::new(*size))),
                _ => None,
            },
            space: start.space,
            shown: AtomicU64::new(0),
            denied,
            end: watch::channel(None).0,
            output: Notify::new(),
            stdin: tokio::sync::Mutex::new(kept),
            stdin_link: keep_open.then_some(name).flatten(),
            stop,
            output_ids,
            begun: AtomicBool::new(false),
            shell: Arc::downgrade(&start.shell),
        });
        if let (Some(mut feed), Stdin::Bytes(bytes)) = (fed, start.stdin) {
            tokio::spawn(async move { drop(feed.write_all(&bytes).await) });
        }
        let task = Task {
            job: Arc::clone(&job),
            shell: Some(start.shell),
            out: Some(out),
            error,
            running,
            stops,
            guardian: start.guardian,
            unit: start.unit,
            talkative: false,
        };
        tokio::spawn(task.go(start.timeout));
        Ok(job)
    }

    /// The end, once there is one.
    #[must_use]
    pub fn end(&self) -> Option<Arc<End>> {
        self.end.borrow().clone()
    }

    /// Waits for the end.
    pub async fn ended(&self) -> Option<Arc<End>> {
        let mut receiver = self.end.subscribe();
        receiver.wait_for(Option::is_some).await.ok().and_then(|end| end.clone())
    }

    /// Completes when there is more output or an end, after it was enabled or first polled.
    pub fn more_output(&self) -> Notified<'_> {
        self.output.notified()
    }

    /// Looks at what was captured.
    pub fn with_capture<T>(&self, look: impl FnOnce(&Capture) -> T) -> T {
        self.capture.with(|capture| look(capture))
    }

    /// The calls that were denied to it so far, as the kernel was asked for them.
    #[must_use]
    pub fn denied(&self) -> Vec<Denial> {
        self.denied.denials()
    }

    /// How many they are.
    #[must_use]
    pub fn denied_count(&self) -> usize {
        self.denied.count()
    }

    /// Whether something may still be written to it.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        self.stdin_link.is_some() && self.end().is_none()
    }

    /// The lines of the job's terminal with their colours, as control sequences; nothing when it has none.
    #[must_use]
    pub fn painted(&self) -> Option<Vec<String>> {
        self.screen.as_ref()?.with(|screen| screen.painted())
    }

    /// What the job's terminal shows.
    ///
    /// # Errors
    /// When it has none, or there is no model of its screen.
    pub fn screen(&self) -> Result<View, &'static str> {
        let screen = self.screen.as_ref().ok_or("this job has no terminal: run it with terminal")?;
        screen.with(|screen| screen.view())
    }

    /// The log's file with everything so far.
    #[must_use]
    pub fn log_file(&self) -> std::path::PathBuf {
        self.capture.with(|capture| capture.log_file().to_path_buf())
    }

    /// Notes that a client has seen the output up to `offset`; where the last look ended.
    pub fn shown_up_to(&self, offset: u64) -> u64 {
        self.shown.fetch_max(offset, Ordering::Relaxed)
    }

    /// Takes back what was noted after `offset`: what somebody else than its client has looked at is still news.
    pub fn not_shown_after(&self, offset: u64) {
        self.shown.store(offset, Ordering::Relaxed);
    }

    /// Gives back most of what the capture holds in memory.
    pub(crate) fn shrink(&self) {
        self.capture.with(Capture::shrink);
    }

    /// Ends the job from outside; its end carries the reason. Does nothing to a job that has ended.
    pub fn stop(&self, reason: Reason) {
        let _ = self.stop.send(reason);
    }

    /// Sends a signal to the processes of the job. What runs in the shell itself (a loop of builtins) is reached where the signal means the end: INT and
    /// TERM end the script, KILL ends the session's process with it. The number of processes that got it.
    pub async fn signal(&self, signal: Signal) -> usize {
        // A shell that has not begun the run drops what comes: as long as it has nothing of it, nothing is sent.
        let end = Instant::now() + Duration::from_millis(BEGIN_PATIENCE_MS);
        while self.end().is_none() && !self.has_begun() && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(BEGIN_LOOK_MS)).await;
        }
        let processes = self.processes();
        processes.iter().for_each(|process| process_tree::signal(process.pid, signal));
        let shell = self.shell.upgrade().filter(|_| self.end().is_none());
        let Some(shell) = shell else { return processes.len() };
        match signal {
            Signal::KILL => process_tree::signal(shell.pid(), Signal::KILL),
            Signal::INT => process_tree::signal(shell.pid(), Signal::INT),
            Signal::TERM | Signal::HUP | Signal::QUIT if processes.is_empty() => {
                process_tree::signal(shell.pid(), Signal::INT);
            }
            _ => return processes.len(),
        }
        if processes.is_empty() && signal != Signal::KILL {
            self.signal_what_begins(signal).await;
        }
        processes.len() + 1
    }

    /// A shell that was about to start a program starts it, waits for it, and only then takes note of its own signal: so the program gets it too.
    async fn signal_what_begins(&self, signal: Signal) {
        let end = Instant::now() + Duration::from_millis(BEGIN_PATIENCE_MS);
        while self.end().is_none() && Instant::now() < end {
            let processes = self.processes();
            if !processes.is_empty() {
                processes.iter().for_each(|process| process_tree::signal(process.pid, signal));
                return;
            }
            tokio::time::sleep(Duration::from_millis(BEGIN_LOOK_MS)).await;
        }
    }

    /// Whether the shell has the run's output on its own descriptors, or had at one of the looks.
    fn has_begun(&self) -> bool {
        let Some(shell) = self.shell.upgrade() else { return true };
        let begun = self.begun.load(Ordering::Relaxed)
            || [1, 2].iter().any(|number| {
                let there = std::fs::metadata(format!("/proc/{}/fd/{number}", shell.pid()));
                there.is_ok_and(|there| self.output_ids.contains(&(there.dev(), there.ino())))
            });
        self.begun.store(begun, Ordering::Relaxed);
        begun
    }

    /// The processes below the job's shell.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        let Some(shell) = self.shell.upgrade() else { return Vec::new() };
        process_tree::descendants(shell.pid(), &HashSet::new())
    }

    /// True when something listens on a TCP port of the loopback that the job's session has, which may be the sandbox's own.
    ///
    /// # Errors
    /// When the session has ended, or the kernel does not show what listens there.
    pub fn has_listener(&self, port: u16) -> io::Result<bool> {
        let shell = self.shell.upgrade().ok_or_else(|| io::Error::other("its session has ended"))?;
        ports::listens(shell.pid(), port)
    }

    /// The process that waits for input that nobody has written, if there is one. Reads `/proc`: not for a hot path.
    #[must_use]
    pub fn waits_for_input(&self) -> Option<Process> {
        let (link, shell) = (self.stdin_link.as_deref()?, self.shell.upgrade()?);
        process_tree::waits_for_input(shell.pid(), link)
    }

    /// Completes when something of the job waits for input; never for a job whose input is not open.
    pub async fn asks(&self) {
        if self.stdin_link.is_none() {
            return std::future::pending().await;
        }
        // A terminal hands on what was written a moment later: what waits at two looks waits.
        let mut waited = false;
        loop {
            tokio::time::sleep(Duration::from_millis(PROMPT_LOOK_MS)).await;
            let waits = self.end().is_none() && self.waits_for_input().is_some();
            if waits && waited {
                return;
            }
            waited = waits;
        }
    }

    /// Feeds text that came with the run, as the script reads it.
    pub fn feed(self: &Arc<Self>, text: String) {
        let job = Arc::clone(self);
        tokio::spawn(async move {
            if let Some(sink) = job.stdin.lock().await.as_mut() {
                tokio::select! {
                    _ = sink.write_all(text.as_bytes()) => {}
                    _ = job.ended() => {}
                }
            }
        });
    }

    /// Writes to the script's standard input; `close` ends it after that.
    ///
    /// # Errors
    /// When stdin was not opened, is closed already, or the text is over the limit.
    pub async fn write(&self, bytes: &[u8], close: bool) -> io::Result<()> {
        if bytes.len() > STDIN_BYTES_MAX {
            return Err(io::Error::other(format!(
                "at most {STDIN_BYTES_MAX} bytes can be written in one call"
            )));
        }
        let mut sent = 0;
        let patience = Duration::from_millis(STDIN_PATIENCE_MS);
        match tokio::time::timeout(patience, self.write_counted(bytes, close, &mut sent)).await {
            Ok(written) => written,
            Err(_) => Err(io::Error::other(format!(
                "{sent} of {} bytes were written: the program reads no further; stdin stays open",
                bytes.len()
            ))),
        }
    }

    async fn write_counted(&self, bytes: &[u8], close: bool, sent: &mut usize) -> io::Result<()> {
        let mut stdin = self.stdin.lock().await;
        let Some(sink) = stdin.as_mut() else {
            return Err(io::Error::other(
                "stdin of this job is closed: run it with interactive or terminal to write to it later",
            ));
        };
        let mut written = Ok(());
        while *sent < bytes.len() && written.is_ok() {
            written = sink.write(&bytes[*sent..]).await.map(|some| *sent += some);
        }
        if let Some(sink) = stdin.take_if(|_| close || written.is_err()) {
            *stdin = sink.close().await?;
        }
        written
    }

    /// Changes the size of the job's terminal.
    ///
    /// # Errors
    /// When it has none.
    pub async fn resize(&self, size: TerminalSize) -> io::Result<()> {
        // Whoever writes at this moment holds it, for as long as the program does not read.
        let patience = Duration::from_millis(STDIN_PATIENCE_MS);
        let stdin = tokio::time::timeout(patience, self.stdin.lock()).await;
        match stdin.as_ref().ok().and_then(|stdin| stdin.as_ref()) {
            Some(sink) => {
                sink.resize(size)?;
                if let Some(screen) = &self.screen {
                    screen.with(|screen| screen.resize(size));
                }
                Ok(())
            }
            None => Err(io::Error::other("this job has no terminal: run it with terminal")),
        }
    }
}

/// What a run is given, and our ends of it.
struct Streams {
    out: Source,
    /// None when both outputs are one terminal.
    error: Option<Source>,
    sink: Option<Sink>,
    /// What stands behind standard input, as `/proc/PID/fd/0` shows it.
    name: Option<String>,
    script_side: [OwnedFd; 3],
}

impl Streams {
    fn open(stdin: &Stdin, worker: u32) -> io::Result<Self> {
        if let Stdin::Terminal(size) = stdin {
            let terminal = Terminal::open(worker, *size)?;
            let script_side = [terminal.side.try_clone()?, terminal.side.try_clone()?, terminal.side];
            let (out, sink, name) = (terminal.source, Some(terminal.sink), Some(terminal.name));
            return Ok(Self { out, error: None, sink, name, script_side });
        }
        let (out, out_side) = Source::pipe()?;
        let (error, error_side) = Source::pipe()?;
        let (sink, input_side, name) = match stdin {
            Stdin::Closed => (None, null()?, None),
            _ => Sink::pipe().map(|(sink, side, name)| (Some(sink), side, Some(name)))?,
        };
        Ok(Self { out, error: Some(error), sink, name, script_side: [input_side, out_side, error_side] })
    }
}
