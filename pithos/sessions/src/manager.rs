//! The front of this crate: sessions and jobs by handle. Owns the tables, the warm pool and the log folder; knows nothing of MCP.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pithos_sandbox::{Denial, DenialKind, Enforcement, Plan};
use rush_session::Run;

use crate::GUARDIAN_ROLE;
use crate::actors::{ActorRequest, Actors};
use crate::cells::{Cell, CellHost, CellRequest, Cells};
use crate::checkpoints::{RanJob, Store};
use crate::confinement::Confinement;
use crate::error::{Error, short};
use crate::guardian::Guardian;
use crate::job::{Job, Reason, Start, Stdin};
use crate::limits::{
    CELLS_WARM, CHECKPOINT_COMMAND_CHARS, CHECKPOINT_JOBS_MAX, COMMAND_BYTES_MAX, ENVIRONMENT_BYTES_MAX,
    ENVIRONMENT_VARIABLE_BYTES_MAX, JOBS_REMEMBERED_MAX, JOBS_WHOLE_MAX, OUTPUT_BYTES_MAX, PATH_BYTES_MAX,
    POOL_SIZE, RUN_TIMEOUT_MS_DEFAULT, RUN_TIMEOUT_MS_MAX, SESSIONS_MAX, STDIN_TEXT_BYTES_MAX,
};
use crate::output::{Budget, Capture};
use crate::overlay::{Overlay, Spares};
use crate::proxy::Proxy;
use crate::shell::Shell;
use crate::space::Space;
use crate::sync::Locked;
use crate::tree::{Branch, Supervised, Tree, TreeNode};

/// What a manager is given; it reads nothing of its process's own environment.
#[derive(Debug, Clone)]
pub struct Config {
    /// What sessions may do, and where they begin: its workspace.
    pub confinement: Confinement,
    /// The folder for logs; exists and is private to this user.
    pub logs: PathBuf,
    /// Where the server's control socket is; exists and is private to this user.
    pub control: PathBuf,
    /// Where checkpoints are kept, and found again by a later server; made with the first one. No session may see it.
    pub checkpoints: PathBuf,
    /// Bytes that they may have together, when not the default.
    pub checkpoint_space: Option<u64>,
    /// Removed when the manager is dropped.
    pub passing: Vec<PathBuf>,
    /// The room for logs; managers may share it.
    pub space: Space,
    /// What is started before anybody asks for it.
    pub warm: Warm,
}

/// Processes that wait to be needed.
#[derive(Debug, Clone, Copy)]
pub struct Warm {
    /// Shells for sessions.
    pub shells: usize,
    /// Workers for cells.
    pub cells: usize,
}

impl Default for Warm {
    fn default() -> Self {
        Self { shells: POOL_SIZE, cells: CELLS_WARM }
    }
}

/// A shell that keeps its state between runs.
pub struct Session {
    /// `s1` and so on, or a snapshot's name.
    pub handle: String,
    /// When it was opened.
    pub opened: Instant,
    /// Its process, which is another one when its overlay was mounted anew.
    process: Locked<(Arc<Shell>, Arc<Supervised>)>,
    pub(crate) overlay: Option<Arc<Overlay>>,
    state: Locked<SessionState>,
    /// Held by whose run is next.
    turn: tokio::sync::Mutex<()>,
}

struct SessionState {
    cwd: PathBuf,
    last_job: Option<Arc<Job>>,
    /// A job is being started at this moment.
    starting: bool,
    runs: u64,
    /// When it was last given something, or that ended.
    used: Instant,
    /// What its first call is to be told: that an earlier session of its name is lost.
    news: Option<String>,
    /// The jobs that had run in what it is a copy of, and the number from which on jobs are its own.
    history: (Vec<RanJob>, u64),
}

impl Session {
    fn new(
        handle: String,
        shell: Shell,
        unit: Supervised,
        cwd: PathBuf,
        overlay: Option<Arc<Overlay>>,
    ) -> Self {
        let state = Locked::new(SessionState {
            cwd,
            last_job: None,
            starting: false,
            runs: 0,
            used: Instant::now(),
            news: None,
            history: (Vec::new(), 0),
        });
        Self {
            handle,
            opened: Instant::now(),
            process: Locked::new((Arc::new(shell), Arc::new(unit))),
            overlay,
            state,
            turn: tokio::sync::Mutex::new(()),
        }
    }

    pub(crate) fn shell(&self) -> Arc<Shell> {
        self.process.with(|(shell, _)| Arc::clone(shell))
    }

    pub(crate) fn unit(&self) -> Arc<Supervised> {
        self.process.with(|(_, unit)| Arc::clone(unit))
    }

    /// Gives it another process; the one that it had.
    pub(crate) fn replace_process(&self, shell: Shell, unit: Supervised) -> (Arc<Shell>, Arc<Supervised>) {
        let new = (Arc::new(shell), Arc::new(unit));
        self.process.with(|process| std::mem::replace(process, new))
    }

    /// Takes the place of a run, so that none begins; false when one is there.
    pub(crate) fn occupy(&self) -> bool {
        self.state.with(|state| {
            let busy = state.starting || state.last_job.as_ref().is_some_and(|job| job.end().is_none());
            if !busy {
                state.starting = true;
            }
            !busy
        })
    }

    /// Leaves the place again.
    pub(crate) fn vacate(&self) {
        self.state.with(|state| state.starting = false);
    }

    pub(crate) fn move_to(&self, cwd: PathBuf) {
        self.state.with(|state| state.cwd = cwd);
    }

    /// The last job that was started in it.
    pub(crate) fn last_job(&self) -> Option<Arc<Job>> {
        self.state.with(|state| state.last_job.clone())
    }

    /// The working directory after the last run.
    #[must_use]
    pub fn cwd(&self) -> PathBuf {
        self.state.with(|state| state.cwd.clone())
    }

    /// How many scripts it has been given.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.state.with(|state| state.runs)
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.shell().pid()
    }

    /// Whether its process lives.
    #[must_use]
    pub fn alive(&self) -> bool {
        self.shell().alive()
    }

    /// The job that occupies it now.
    #[must_use]
    pub fn running(&self) -> Option<Arc<Job>> {
        self.state.with(|state| state.last_job.clone()).filter(|job| job.end().is_none())
    }
}

/// A script to run, and how.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The session's handle; none is the default session, which is opened when it is first used.
    pub session: Option<String>,
    /// Shell source.
    pub script: String,
    /// Change there first; the session stays there.
    pub cwd: Option<String>,
    /// Exported for this run.
    pub environment: BTreeMap<String, String>,
    /// Standard input.
    pub stdin: Stdin,
    /// Until the run is ended from outside.
    pub timeout: Option<Duration>,
    /// Run in a copy of the session, which stays free for other runs.
    pub background: bool,
    /// Keep standard output and error apart as well; see [`Capture::render_apart`].
    pub apart: bool,
}

/// The session that runs get when they name none.
pub const DEFAULT_SESSION: &str = "main";

/// `TERM` of a run with a terminal that does not set it.
const TERMINAL_TYPE: &str = "xterm-256color";

/// How often the folders of a manager that ends are tried to be removed.
const REMOVE_TRIES: usize = 10;

/// Sessions and jobs.
pub struct Manager {
    pub(crate) config: Config,
    pub(crate) plan: Arc<Plan>,
    pub(crate) guardian: Guardian,
    pub(crate) spares: Arc<Spares>,
    pub(crate) checkpoints: Store,
    /// Why folders cannot be overlaid, found out once.
    pub(crate) overlays_unfit: tokio::sync::OnceCell<Option<String>>,
    /// How hosts are reached, when the policy names any.
    proxy: Option<Arc<Proxy>>,
    sessions: Locked<HashMap<String, Arc<Session>>>,
    jobs: Locked<Jobs>,
    pool: Arc<Pool>,
    cells: Arc<Cells>,
    actors: Actors,
    tree: Tree,
    next_session: AtomicU64,
    next_job: AtomicU64,
    /// Two first runs at once must not open the default session twice.
    opening: tokio::sync::Mutex<()>,
}

/// Shells that wait for a session. Nobody waits for the pool: who finds it empty starts a shell.
#[derive(Default)]
struct Pool {
    shells: Locked<Vec<Shell>>,
    filling: AtomicBool,
}

#[derive(Default)]
struct Jobs {
    by_handle: HashMap<String, Arc<Job>>,
    order: std::collections::VecDeque<String>,
}

impl Jobs {
    /// Adds a job. Gives the one that is to be shrunk, and those that are forgotten now.
    fn insert(&mut self, job: &Arc<Job>) -> (Option<Arc<Job>>, Vec<Arc<Job>>) {
        self.by_handle.insert(job.handle.clone(), Arc::clone(job));
        self.order.push_back(job.handle.clone());
        let old = self.order.len().checked_sub(JOBS_WHOLE_MAX);
        let old = old.and_then(|at| self.order.get(at.saturating_sub(1)));
        let old =
            old.and_then(|handle| self.by_handle.get(handle)).filter(|job| job.end().is_some()).cloned();
        let mut forgotten = Vec::new();
        while self.order.len() > JOBS_REMEMBERED_MAX {
            let has_ended =
                |handle: &String| self.by_handle.get(handle).is_none_or(|job| job.end().is_some());
            let oldest_ended = self.order.iter().position(has_ended);
            let Some(handle) = oldest_ended.and_then(|at| self.order.remove(at)) else { break };
            forgotten.extend(self.by_handle.remove(&handle));
        }
        (old, forgotten)
    }
}

impl Manager {
    /// Starts the guardian and warms the pool.
    ///
    /// # Errors
    /// When the guardian cannot be started or the log folder cannot be made.
    pub fn start(config: Config) -> Result<Arc<Self>, Error> {
        check_private_folder(&config.logs)?;
        check_private_folder(&config.confinement.private_tmp)?;
        check_private_folder(&config.confinement.layers)?;
        let plan = config.confinement.prepare().map_err(Error::Sandbox)?;
        let arguments = config.confinement.arguments().map_err(Error::Sandbox)?;
        let (proxy, door) = proxy_of(&config.confinement)?;
        let guardian =
            Guardian::start(GUARDIAN_ROLE, &arguments, plan.policy().protect_missing.clone(), door)
                .map_err(Error::Guardian)?;
        let tree = Tree::start().map_err(|reason| Error::Tree(reason.to_string()))?;
        let spares = Spares::new(guardian.clone(), &config.confinement.layers);
        let checkpoints = Store::new(config.checkpoints.clone(), config.checkpoint_space);
        let manager = Arc::new(Self {
            plan: Arc::new(plan),
            cells: Cells::new(guardian.clone(), tree.clone(), config.warm.cells),
            actors: Actors::new(guardian.clone(), tree.clone()),
            tree,
            guardian,
            proxy,
            sessions: Locked::new(HashMap::new()),
            jobs: Locked::new(Jobs::default()),
            pool: Arc::default(),
            spares,
            checkpoints,
            overlays_unfit: tokio::sync::OnceCell::new(),
            next_session: AtomicU64::new(1),
            next_job: AtomicU64::new(1),
            opening: tokio::sync::Mutex::new(()),
            config,
        });
        manager.refill_pool();
        Ok(manager)
    }

    /// Opens a session; its handle is minted here unless `name` gives one.
    ///
    /// # Errors
    /// When the name is taken, there are too many sessions, or no shell can be started.
    pub async fn open(&self, name: Option<&str>, cwd: Option<&str>) -> Result<Arc<Session>, Error> {
        let handle = self.new_handle(name)?;
        let shell = self.take_shell().await?;
        let session = self.register(handle, shell, self.plan.policy().workspace.clone(), None)?;
        if let Some(cwd) = cwd {
            let request = Request {
                session: Some(session.handle.clone()),
                cwd: Some(cwd.to_string()),
                script: ":".into(),
                ..Request::default()
            };
            let job = self.start_in(Arc::clone(&session), request)?;
            let end = job.ended().await;
            if end.and_then(|end| end.failure.clone()).is_some() {
                let _ = self.close(&session.handle);
                return Err(Error::Directory(cwd.to_string()));
            }
        }
        Ok(session)
    }

    /// Copies a session with all its state: working directory, variables, functions, options, traps.
    ///
    /// # Errors
    /// When the session is unknown or busy, the name is taken, or the copy cannot be made.
    pub async fn fork(&self, handle: &str, name: Option<&str>) -> Result<Arc<Session>, Error> {
        let parent = self.idle_session(handle)?;
        self.revive(&parent).await?;
        let new_handle = self.new_handle(name)?;
        let copy = match &parent.overlay {
            Some(overlay) => self.fork_overlaid(&parent, overlay, new_handle).await?,
            None => {
                let shell = parent.shell().fork(&self.guardian).await.map_err(Error::Shell)?;
                self.register(new_handle, shell, parent.cwd(), None)?
            }
        };
        self.set_store(&copy.handle, self.store_of(&parent.handle));
        self.begin_history(&copy, self.history(&parent));
        Ok(copy)
    }

    /// Closes a session when nothing has run in it for so long.
    pub fn close_when_idle(self: &Arc<Self>, session: &Arc<Session>, idle: Duration) {
        let (manager, session) = (Arc::downgrade(self), Arc::downgrade(session));
        tokio::spawn(async move {
            let mut pause = idle;
            loop {
                tokio::time::sleep(pause).await;
                let (Some(manager), Some(session)) = (manager.upgrade(), session.upgrade()) else { return };
                let unused = session.state.with(|state| state.used.elapsed());
                if session.running().is_some() {
                    pause = idle;
                } else if unused >= idle {
                    // It may have been closed by hand, and its handle be another's.
                    let ours =
                        manager.session(&session.handle).is_ok_and(|known| Arc::ptr_eq(&known, &session));
                    if ours {
                        let _ = manager.close(&session.handle);
                    }
                    return;
                } else {
                    pause = idle - unused;
                }
            }
        });
    }

    /// The open sessions, by handle.
    #[must_use]
    pub fn sessions(&self) -> Vec<Arc<Session>> {
        let mut list: Vec<_> = self.sessions.with(|sessions| sessions.values().cloned().collect());
        list.sort_by(|left, right| {
            left.handle.len().cmp(&right.handle.len()).then_with(|| left.handle.cmp(&right.handle))
        });
        list
    }

    /// Ends a session with everything that runs in it.
    ///
    /// # Errors
    /// When the session is unknown.
    pub fn close(&self, handle: &str) -> Result<(), Error> {
        let removed = self.sessions.with(|sessions| sessions.remove(handle));
        let session = removed.ok_or_else(|| self.unknown_session(handle))?;
        if let Some(job) = session.running() {
            job.stop(Reason::Closed);
        }
        session.shell().exit();
        session.unit().end(None);
        self.guardian.end_and_forget(session.pid());
        if let Some(overlay) = &session.overlay {
            overlay.remove_later();
        }
        // A later session of that name is another one.
        self.set_store(handle, serde_json::Map::new());
        Ok(())
    }

    /// Starts a script as a job.
    ///
    /// # Errors
    /// When the session is unknown, busy or dead, or the script cannot be handed over.
    pub async fn run(&self, request: Request) -> Result<Arc<Job>, Error> {
        within_limits(&request)?;
        let wanted = request.session.clone().unwrap_or_else(|| DEFAULT_SESSION.to_string());
        let mut session = self.session_or_default(&wanted).await?;
        if let Some(overlay) = session.overlay.clone() {
            if let Some(job) = session.last_job().filter(|job| job.end().is_some()) {
                let _ = overlay.settle(&job.handle).await;
            }
            let (guardian, pid) = (&self.guardian, session.pid());
            overlay.begin(|roots| async move { guardian.refresh(pid, roots).await }).await;
        }
        if request.background {
            session = self.copy_for_job(&session).await?;
        }
        self.start_in(session, request)
    }

    /// Starts a script when its session has nothing else to do: first come, first served.
    ///
    /// # Errors
    /// As [`Manager::run`]; that the session is busy when it stays so for longer than `patience`, or waits for input.
    pub async fn run_in_turn(&self, request: Request, patience: Duration) -> Result<Arc<Job>, Error> {
        within_limits(&request)?;
        let wanted = request.session.as_deref().unwrap_or(DEFAULT_SESSION);
        let session = self.session_or_default(wanted).await?;
        let end = tokio::time::Instant::now() + patience;
        // Without a turn within its patience it is told who is in its way.
        let turn = tokio::time::timeout_at(end, session.turn.lock()).await;
        while turn.is_ok() {
            let Some(job) = session.running() else { break };
            tokio::select! {
                _ = job.ended() => {}
                () = job.asks() => break,
                () = tokio::time::sleep_until(end) => break,
            }
        }
        self.run(request).await
    }

    /// Starts the script in a session that is known to exist.
    fn start_in(&self, session: Arc<Session>, mut request: Request) -> Result<Arc<Job>, Error> {
        within_limits(&request)?;
        let handle = format!("j{}", self.next_job.fetch_add(1, Ordering::Relaxed));
        let terminal = matches!(request.stdin, Stdin::Terminal(_));
        if terminal {
            request.environment.entry("TERM".to_string()).or_insert_with(|| TERMINAL_TYPE.to_string());
        }
        for (name, value) in self.proxy.iter().flat_map(|proxy| proxy.variables(&handle)) {
            request.environment.entry(name.to_string()).or_insert(value);
        }
        let timeout = request.timeout.unwrap_or(Duration::from_millis(RUN_TIMEOUT_MS_DEFAULT));
        let start = Start {
            session: session.handle.clone(),
            script: request.script.clone(),
            news: session.state.with(|state| state.news.take()),
            run: Run {
                id: 0,
                script: request.script,
                cwd: request.cwd,
                environment: request.environment,
                terminal,
            },
            stdin: request.stdin,
            timeout: timeout.min(Duration::from_millis(RUN_TIMEOUT_MS_MAX)),
            log: self.config.logs.join(format!("{handle}.log")),
            apart: request.apart,
            space: self.config.space.clone(),
            shell: session.shell(),
            guardian: self.guardian.clone(),
            unit: self.tree.add(Branch::Jobs, &handle, {
                let (guardian, pid) = (self.guardian.clone(), session.pid());
                move || drop(guardian.end(pid))
            }),
            handle,
            proxy: self.proxy.clone(),
        };
        // The place is taken before the shell is asked: nothing is started while the lock is held.
        let busy = session.state.with(|state| match &state.last_job {
            Some(job) if job.end().is_none() => Some(Some(job.handle.clone())),
            _ if state.starting => Some(None),
            _ => {
                state.starting = true;
                None
            }
        });
        if let Some(job) = busy {
            return Err(Error::Busy { session: session.handle.clone(), job });
        }
        let started = Job::start(start);
        session.state.with(|state| {
            state.starting = false;
            if let Ok(job) = &started {
                state.last_job = Some(Arc::clone(job));
                state.runs += 1;
                state.used = Instant::now();
            }
        });
        let job = started.map_err(Error::Shell)?;
        self.remember(&job);
        self.follow(session, Arc::clone(&job), request.background);
        Ok(job)
    }

    /// The job of a handle.
    ///
    /// # Errors
    /// When it is unknown or was forgotten.
    pub fn job(&self, handle: &str) -> Result<Arc<Job>, Error> {
        let known = self.jobs.with(|jobs| jobs.by_handle.get(handle).cloned());
        known.ok_or_else(|| Error::UnknownJob(handle.to_string()))
    }

    /// What the sandbox denied: the calls that the kernel was asked for, and what only the end of a failed job's error output speaks of.
    #[must_use]
    pub fn denials(&self, job: &Job) -> Vec<Denial> {
        let mut denials = job.denied();
        let failed = job.end().is_some_and(|end| end.done.as_ref().is_some_and(|done| done.status.0 != 0));
        if failed {
            let told = self.plan.explain(job.with_capture(Capture::stderr_tail).as_bytes());
            // Words say less than calls, and nothing more of the same kind.
            let known: Vec<DenialKind> = denials.iter().map(|denial| denial.kind).collect();
            denials.extend(told.into_iter().filter(|denial| !known.contains(&denial.kind)));
        }
        denials
    }

    /// The last jobs that have ended in a session, and in what it is a copy of.
    pub(crate) fn history(&self, session: &Session) -> Vec<RanJob> {
        let (mut all, first) = session.state.with(|state| state.history.clone());
        let own = self.jobs().into_iter().filter(|job| {
            let number = job.handle.strip_prefix('j').and_then(|number| number.parse::<u64>().ok());
            job.session == session.handle && number.is_some_and(|number| number >= first)
        });
        all.extend(own.filter_map(|job| {
            let end = job.end()?;
            Some(RanJob {
                job: job.handle.clone(),
                command: job.script.chars().take(CHECKPOINT_COMMAND_CHARS).collect(),
                status: end.done.as_ref().map(|done| done.status.0),
                ms: end.wall.as_millis() as u64,
            })
        }));
        all.split_off(all.len().saturating_sub(CHECKPOINT_JOBS_MAX))
    }

    /// A session goes on from where these jobs had run.
    pub(crate) fn begin_history(&self, session: &Session, jobs: Vec<RanJob>) {
        let next = self.next_job.load(Ordering::Relaxed);
        let former = session.state.with(|state| std::mem::replace(&mut state.history, (jobs, next)));
        drop(former);
    }

    /// What the cells of a session have stored.
    pub(crate) fn store_of(&self, session: &str) -> serde_json::Map<String, serde_json::Value> {
        self.cells.store_of(session)
    }

    pub(crate) fn set_store(&self, session: &str, store: serde_json::Map<String, serde_json::Value>) {
        self.cells.set_store(session, store);
    }

    /// What is enforced on every session.
    #[must_use]
    pub fn enforcement(&self) -> &Enforcement {
        self.plan.enforcement()
    }

    /// The jobs that are remembered, oldest first.
    #[must_use]
    pub fn jobs(&self) -> Vec<Arc<Job>> {
        self.jobs
            .with(|jobs| jobs.order.iter().filter_map(|handle| jobs.by_handle.get(handle).cloned()).collect())
    }

    /// What the policy comes to for this workspace.
    #[must_use]
    pub fn policy(&self) -> &pithos_sandbox::ResolvedPolicy {
        self.plan.policy()
    }

    /// Whether the policy says that somebody is asked about hosts.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.proxy.as_ref().is_some_and(|proxy| proxy.asks())
    }

    /// Who is asked about hosts from now on.
    pub fn ask_through(&self, asker: Arc<dyn crate::Asker>) {
        if let Some(proxy) = &self.proxy {
            proxy.ask_through(asker);
        }
    }

    /// Starts a JavaScript cell.
    #[must_use]
    pub fn evaluate(self: &Arc<Self>, request: CellRequest) -> Arc<Cell> {
        self.cells.start(Arc::clone(self), request)
    }

    /// The cell of a handle.
    ///
    /// # Errors
    /// When it is unknown or was forgotten.
    pub fn cell(&self, handle: &str) -> Result<Arc<Cell>, Error> {
        self.cells.find(handle).ok_or_else(|| Error::UnknownCell(handle.to_string()))
    }

    /// Carries out a request in an actor system.
    ///
    /// # Errors
    /// When the system is unknown or lost, or says what is wrong with the request.
    pub async fn actors(&self, system: &str, request: ActorRequest) -> Result<serde_json::Value, Error> {
        self.actors.request(system, request).await
    }

    /// The names of the actor systems that run.
    pub async fn actor_systems(&self) -> Vec<String> {
        self.actors.names().await
    }

    /// Ends an actor system with everything in it.
    ///
    /// # Errors
    /// When it is unknown.
    pub async fn end_actors(&self, system: &str) -> Result<(), Error> {
        self.actors.end(system).await
    }

    /// Ends everything at once, whoever still holds this manager; what is asked of it from now on is an error.
    pub fn end(&self) {
        self.tree.leave();
        self.guardian.leave();
    }

    /// The supervision tree: everything that lives in this manager, by kind.
    #[must_use]
    pub fn tree(&self) -> Option<TreeNode> {
        self.tree.nodes()
    }

    /// The session of a handle.
    ///
    /// # Errors
    /// When it is unknown.
    pub fn session(&self, handle: &str) -> Result<Arc<Session>, Error> {
        let known = self.sessions.with(|sessions| sessions.get(handle).cloned());
        known.ok_or_else(|| self.unknown_session(handle))
    }

    /// A copy of a session that only a background job knows: it is in no table and ends with its job.
    async fn copy_for_job(&self, parent: &Session) -> Result<Arc<Session>, Error> {
        let parent = self.idle_session(&parent.handle)?;
        let shell = parent.shell().fork(&self.guardian).await.map_err(Error::Shell)?;
        let unit = self.session_unit(&format!("{} (copy {})", parent.handle, shell.pid()), shell.pid());
        let overlay = parent.overlay.clone();
        Ok(Arc::new(Session::new(parent.handle.clone(), shell, unit, parent.cwd(), overlay)))
    }

    pub(crate) fn idle_session(&self, handle: &str) -> Result<Arc<Session>, Error> {
        let session = self.session(handle)?;
        match session.running() {
            Some(job) => Err(Error::Busy { session: handle.to_string(), job: Some(job.handle.clone()) }),
            None => Ok(session),
        }
    }

    async fn session_or_default(&self, handle: &str) -> Result<Arc<Session>, Error> {
        let known = self.sessions.with(|sessions| sessions.get(handle).cloned());
        match known {
            Some(session) if session.alive() => Ok(session),
            // What it has changed is in its layers, and nobody has committed it yet.
            Some(session) if session.overlay.is_some() => {
                self.revive(&session).await?;
                Ok(session)
            }
            Some(session) => {
                let how = session.state.with(|state| state.last_job.clone()).and_then(|job| job.end());
                let how = how.and_then(|end| end.failure.clone());
                drop(self.sessions.with(|sessions| sessions.remove(&session.handle)));
                session.unit().end(how.as_deref());
                self.guardian.end_and_forget(session.pid());
                let fresh = self.open_again(handle).await?;
                fresh.state.with(|state| state.news = Some(format!("this is a new session '{handle}': the process of the former one has ended, and its state is lost")));
                Ok(fresh)
            }
            None if handle == DEFAULT_SESSION => self.open_again(DEFAULT_SESSION).await,
            None => Err(self.unknown_session(handle)),
        }
    }

    /// Gives an overlaid session whose process has ended another one over the same files.
    pub(crate) async fn revive(&self, session: &Arc<Session>) -> Result<(), Error> {
        let Some(overlay) = &session.overlay else { return Ok(()) };
        let _one_at_a_time = self.opening.lock().await;
        if session.alive() {
            return Ok(());
        }
        let cwd = session.cwd();
        self.end_shell(session).await;
        self.begin_shell(session, overlay, "", &cwd).await?;
        let news = format!(
            "the process of session '{}' has ended: its variables, functions and background processes are lost; its files are as they were",
            session.handle
        );
        session.state.with(|state| state.news = Some(news));
        Ok(())
    }

    /// The session of a handle that nothing has now, opened once however many ask for it at the same time.
    async fn open_again(&self, handle: &str) -> Result<Arc<Session>, Error> {
        let _one_at_a_time = self.opening.lock().await;
        let known = self.sessions.with(|sessions| sessions.get(handle).cloned());
        match known {
            Some(session) => Ok(session),
            None => self.open(Some(handle), None).await,
        }
    }

    fn unknown_session(&self, handle: &str) -> Error {
        let mut open: Vec<String> = self.sessions.with(|sessions| sessions.keys().cloned().collect());
        open.sort();
        let open = open.join(", ");
        Error::UnknownSession { handle: handle.to_string(), open }
    }

    pub(crate) fn new_handle(&self, name: Option<&str>) -> Result<String, Error> {
        self.sessions.with(|sessions| {
            if sessions.len() >= SESSIONS_MAX {
                return Err(Error::TooManySessions);
            }
            match name {
                Some(name) if !name_is_good(name) => Err(Error::BadName(short(name).into_owned())),
                Some(name) if sessions.contains_key(name) => Err(Error::NameTaken(name.to_string())),
                Some(name) => Ok(name.to_string()),
                None => loop {
                    let handle = format!("s{}", self.next_session.fetch_add(1, Ordering::Relaxed));
                    if !sessions.contains_key(&handle) {
                        return Ok(handle);
                    }
                },
            }
        })
    }

    pub(crate) fn register(
        &self,
        handle: String,
        shell: Shell,
        cwd: PathBuf,
        overlay: Option<Arc<Overlay>>,
    ) -> Result<Arc<Session>, Error> {
        let unit = self.session_unit(&handle, shell.pid());
        let session = Arc::new(Session::new(handle.clone(), shell, unit, cwd, overlay));
        let taken = self.sessions.with(|sessions| match sessions.entry(handle.clone()) {
            std::collections::hash_map::Entry::Occupied(_) => true,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(Arc::clone(&session));
                false
            }
        });
        if taken {
            self.guardian.end_and_forget(session.pid());
            return Err(Error::NameTaken(handle));
        }
        Ok(session)
    }

    pub(crate) fn session_unit(&self, name: &str, pid: u32) -> Supervised {
        let guardian = self.guardian.clone();
        self.tree.add(Branch::Sessions, name, move || drop(guardian.end(pid)))
    }

    async fn take_shell(&self) -> Result<Shell, Error> {
        let warm = self.pool.shells.with(Vec::pop);
        let warm = warm.filter(Shell::alive);
        self.refill_pool();
        match warm {
            Some(shell) => Ok(shell),
            None => Shell::start(&self.guardian, &[]).await.map_err(Error::Shell),
        }
    }

    fn refill_pool(&self) {
        let (pool, guardian, size) = (Arc::clone(&self.pool), self.guardian.clone(), self.config.warm.shells);
        if pool.filling.swap(true, Ordering::SeqCst) {
            return;
        }
        tokio::spawn(async move {
            while pool.shells.with(|shells| shells.len()) < size {
                match Shell::start(&guardian, &[]).await {
                    Ok(shell) => pool.shells.with(|shells| shells.push(shell)),
                    // Opening a session will meet the same error and report it.
                    Err(_) => break,
                }
            }
            pool.filling.store(false, Ordering::SeqCst);
        });
    }

    fn remember(&self, job: &Arc<Job>) {
        let (old, forgotten) = self.jobs.with(|jobs| jobs.insert(job));
        if let Some(job) = old {
            job.shrink();
        }
        for job in forgotten {
            job.with_capture(Capture::remove_log);
        }
    }

    /// Keeps the session's working directory current; a background copy goes when its job is over.
    fn follow(&self, session: Arc<Session>, job: Arc<Job>, background: bool) {
        let guardian = self.guardian.clone();
        tokio::spawn(async move {
            let Some(end) = job.ended().await else { return };
            session.state.with(|state| {
                state.used = Instant::now();
                if let Some(done) = &end.done {
                    state.cwd = PathBuf::from(&done.cwd);
                }
            });
            if let Some(overlay) = &session.overlay {
                let _ = overlay.settle(&job.handle).await;
            }
            if end.done.is_none() && !session.alive() {
                session.unit().end(end.failure.as_deref());
            }
            if background {
                session.unit().end(None);
                session.shell().exit();
                let _ = guardian.ended(session.pid()).await;
            }
        });
    }
}

/// What `await shell(...)` in a cell takes besides the command.
#[derive(serde::Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ShellOptions {
    cwd: Option<String>,
    stdin: Option<String>,
    timeout_ms: Option<u64>,
    output_bytes: Option<usize>,
}

impl CellHost for Manager {
    async fn shell(
        &self,
        session: Option<String>,
        command: String,
        options: serde_json::Value,
    ) -> Result<serde_json::Value, String> {
        let options = match options {
            serde_json::Value::Null => ShellOptions::default(),
            options => serde_json::from_value(options)
                .map_err(|error| format!("shell: the options do not fit: {error}"))?,
        };
        let request = Request {
            session,
            script: command,
            cwd: options.cwd,
            stdin: options.stdin.map_or(Stdin::Closed, |text| Stdin::Bytes(text.into_bytes())),
            timeout: options.timeout_ms.map(Duration::from_millis),
            ..Request::default()
        };
        let job = self
            .run_in_turn(request, Duration::from_millis(RUN_TIMEOUT_MS_MAX))
            .await
            .map_err(|error| format!("shell: {error}"))?;
        // A cell that ends takes what it waits for along.
        let stop = StopOnDrop(Arc::clone(&job));
        let end = job.ended().await.ok_or("shell: the job was lost")?;
        drop(stop);
        if let Some(failure) = &end.failure {
            return Err(format!("shell: {failure}"));
        }
        let budget = options.output_bytes.unwrap_or(OUTPUT_BYTES_MAX).min(OUTPUT_BYTES_MAX);
        let (rendered, stderr) =
            job.with_capture(|capture| (capture.render(Budget::bytes(budget), false), capture.stderr_tail()));
        Ok(serde_json::json!({
            "status": end.done.as_ref().map(|done| done.status.0),
            "output": rendered.text,
            "stderr": stderr,
            "truncated": rendered.truncated,
            "stoppedBy": end.reason.map(Reason::name),
            "job": job.handle,
        }))
    }

    fn folder(&self, session: Option<&str>) -> Option<String> {
        let known = self.sessions.with(|sessions| sessions.get(session.unwrap_or(DEFAULT_SESSION)).cloned());
        let folder = match known {
            Some(session) if session.overlay.as_ref().is_some_and(|overlay| overlay.snapshot.is_none()) => {
                return None;
            }
            Some(session) => session.cwd(),
            None => self.plan.policy().workspace.clone(),
        };
        Some(folder.to_string_lossy().into_owned())
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        self.tree.leave();
        // Who is just making a layer in there makes no more once the folder above is gone.
        for folder in &self.config.passing {
            let gone = || std::fs::remove_dir_all(folder).is_ok() || !folder.exists();
            let _ = (0..REMOVE_TRIES).any(|_| gone());
        }
    }
}

/// Stops a job that is not waited for any more; nothing happens to one that has ended.
struct StopOnDrop(Arc<Job>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if self.0.end().is_none() {
            self.0.stop(Reason::Cancelled);
        }
    }
}

/// Holds every text of a request against its limit, before anything is started.
fn within_limits(request: &Request) -> Result<(), Error> {
    let check = |what: &str, bytes: usize, limit: usize| {
        if bytes <= limit { Ok(()) } else { Err(Error::TooLong { what: what.to_string(), bytes, limit }) }
    };
    check("command", request.script.len(), COMMAND_BYTES_MAX)?;
    if let Some(bytes) = request.cwd.as_ref().map(String::len).filter(|bytes| *bytes > PATH_BYTES_MAX) {
        return Err(Error::NoPath { bytes, limit: PATH_BYTES_MAX });
    }
    let mut all = 0;
    for (name, value) in &request.environment {
        let bytes = name.len() + 1 + value.len();
        check(&format!("env: the variable '{}'", short(name)), bytes, ENVIRONMENT_VARIABLE_BYTES_MAX)?;
        if name.contains('\0') || value.contains('\0') {
            return Err(Error::NulByte(format!("env: the variable '{}'", short(name))));
        }
        all += bytes;
    }
    check("env", all, ENVIRONMENT_BYTES_MAX)?;
    match &request.stdin {
        Stdin::Bytes(bytes) => check("stdin", bytes.len(), STDIN_TEXT_BYTES_MAX),
        _ => Ok(()),
    }
}

/// The proxy that the policy asks for, which waits for its listening socket, and where the guardian sends that.
fn proxy_of(confinement: &Confinement) -> Result<(Option<Arc<Proxy>>, Option<OwnedFd>), Error> {
    let wrong = |message| Error::Sandbox(pithos_sandbox::Error::Policy(message));
    let Some(proxy) = Proxy::new(&confinement.policy, &confinement.environment).map_err(wrong)? else {
        return Ok((None, None));
    };
    let (ours, door) = UnixStream::pair().map_err(Error::Guardian)?;
    let serving = Arc::clone(&proxy);
    tokio::spawn(async move {
        let received =
            tokio::task::spawn_blocking(move || rush_session::Frames::new(ours.into()).receive::<()>()).await;
        // A guardian that cannot make it has said so.
        if let Ok(Ok(Some((_, mut descriptors)))) = received
            && let Some(listener) = descriptors.pop()
        {
            let _ = serving.serve(listener).await;
        }
    });
    Ok((Some(proxy), Some(door.into())))
}

fn name_is_good(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// A folder of this user, no link, that nobody else may look into.
fn check_private_folder(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt;
    let failed = |error| Error::Logs { path: path.to_path_buf(), error };
    let data = path.symlink_metadata().map_err(failed)?;
    let own = rustix::process::geteuid().as_raw();
    if data.is_dir() && data.uid() == own && data.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(failed(std::io::Error::other("not a folder of this user alone")))
}
