//! Supervisors in OTP's vocabulary. Owns child specifications, strategies and the handle through which a supervisor is
//! asked things; the state machine is in `tree`. Invariant: a child is known by its place in the order of starting, which is what
//! `rest_for_one` and ordered shutdown go by. Leaves exit reasons and links to the core.

mod report;
mod tree;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crate::behaviour::Behaviour;
use crate::call::{Call, ReplyTo};
use crate::exit::ExitReason;
use crate::handle::{Handle, SpawnError, SpawnOptions};
use crate::limits::{
    BACKOFF_FIRST_MS, BACKOFF_MAX_MS, INTENSITY_DEFAULT, INTENSITY_PERIOD_MS, SHUTDOWN_TIMEOUT_MS,
};
use crate::pid::Pid;
use crate::reference::ActorRef;

pub use report::{Event, Report};

/// Which children go down with a failed one and come back with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Only the failed child.
    #[default]
    OneForOne,
    /// All children.
    OneForAll,
    /// The failed child and those started after it.
    RestForOne,
    /// Like one-for-one, for any number of dynamic children (`simple_one_for_one`): a child that is not restarted is forgotten.
    Simple,
}

/// When a child is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Restart {
    /// Always.
    #[default]
    Permanent,
    /// After abnormal ends.
    Transient,
    /// Never.
    Temporary,
}

/// How a child is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// It is asked to end, and killed if it has not after this time.
    Timeout(Duration),
    /// It is killed at once (`brutal_kill`).
    Kill,
    /// It is asked to end and waited for without limit (for supervisors).
    Infinity,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::Timeout(Duration::from_millis(SHUTDOWN_TIMEOUT_MS))
    }
}

/// Growing pauses between restarts of the same child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first pause; it doubles with each restart inside the intensity period.
    pub first: Duration,
    /// The longest pause.
    pub max: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(BACKOFF_FIRST_MS), max: Duration::from_millis(BACKOFF_MAX_MS) }
    }
}

/// What a child's start function gets.
pub struct StartContext {
    /// The runtime.
    pub handle: Handle,
    /// The supervisor, which becomes the parent.
    pub supervisor: Pid,
}

impl StartContext {
    /// Spawns the child with the supervisor as its parent.
    pub fn spawn<M: Send + 'static>(&self, behaviour: impl Behaviour<M>) -> Result<Pid, ExitReason> {
        let options = SpawnOptions { parent: Some(self.supervisor), ..SpawnOptions::default() };
        self.handle.spawn_with(options, behaviour).map(|actor| actor.pid()).map_err(ExitReason::from)
    }
}

impl From<SpawnError> for ExitReason {
    fn from(error: SpawnError) -> Self {
        Self::error(error.to_string())
    }
}

/// Starts (or restarts) a child. Closures do; a type of one's own can be looked at by `Handle::visit_behaviours`.
pub trait Starter: Any + Send + Sync {
    /// Starts it and tells its pid.
    fn start(&self, cx: &StartContext) -> Result<Pid, ExitReason>;
}

impl<F: Fn(&StartContext) -> Result<Pid, ExitReason> + Any + Send + Sync> Starter for F {
    fn start(&self, cx: &StartContext) -> Result<Pid, ExitReason> {
        self(cx)
    }
}

/// A child's starter, which copies of its specification share.
pub type Start = Arc<dyn Starter>;

/// Everything a supervisor knows of a child.
#[derive(Clone)]
pub struct ChildSpec {
    /// Its name within the supervisor. Empty for dynamic children that need none.
    pub id: String,
    /// How it is started.
    pub start: Start,
    /// When it is restarted.
    pub restart: Restart,
    /// How it is stopped.
    pub shutdown: Shutdown,
}

impl ChildSpec {
    /// A permanent child with the default time-out.
    pub fn new(
        id: impl Into<String>,
        start: impl Fn(&StartContext) -> Result<Pid, ExitReason> + Send + Sync + 'static,
    ) -> Self {
        Self::with_starter(id, start)
    }

    /// The same with a starter of any type.
    pub fn with_starter(id: impl Into<String>, start: impl Starter) -> Self {
        Self {
            id: id.into(),
            start: Arc::new(start),
            restart: Restart::default(),
            shutdown: Shutdown::default(),
        }
    }

    /// Sets the restart type.
    #[must_use]
    pub fn restart(mut self, restart: Restart) -> Self {
        self.restart = restart;
        self
    }

    /// Sets how the child is stopped.
    #[must_use]
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.shutdown = shutdown;
        self
    }
}

/// A child as others may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildInfo {
    /// Its id.
    pub id: String,
    /// Its pid while it runs.
    pub pid: Option<Pid>,
    /// How often it was restarted.
    pub restarts: u64,
}

/// What a supervisor is told and asked.
pub enum Command {
    /// Start a child.
    Start(ChildSpec, ReplyTo<Result<Pid, ExitReason>>),
    /// Take a running actor on as a child; the specification's start function is for restarts.
    Adopt(Pid, ChildSpec, ReplyTo<Result<Pid, ExitReason>>),
    /// Stop the child with this id and keep its specification.
    Terminate(String, ReplyTo<bool>),
    /// Start a stopped child again.
    Restart(String, ReplyTo<Result<Pid, ExitReason>>),
    /// Forget a stopped child.
    Delete(String, ReplyTo<bool>),
    /// Forget a child that runs on without supervision.
    Release(Pid, ReplyTo<bool>),
    /// Look up the running child with this id.
    Child(String, ReplyTo<Option<Pid>>),
    /// List the children.
    Which(ReplyTo<Vec<ChildInfo>>),
}

/// Options of a supervisor.
#[derive(Clone, Default)]
pub struct Supervisor {
    pub(crate) strategy: Strategy,
    pub(crate) intensity: Option<(u32, Duration)>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) children: Vec<ChildSpec>,
    pub(crate) reporter: Option<report::Reporter>,
}

impl Supervisor {
    /// A supervisor without children.
    #[must_use]
    pub fn new(strategy: Strategy) -> Self {
        Self { strategy, ..Self::default() }
    }

    /// More than `restarts` restarts within `period` end the supervisor, which is its own supervisor's affair (escalation).
    #[must_use]
    pub fn intensity(mut self, restarts: u32, period: Duration) -> Self {
        self.intensity = Some((restarts, period));
        self
    }

    /// Pauses before restarts.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = Some(backoff);
        self
    }

    /// Calls `reporter` when a child fails, cannot be restarted or has failed too often; on the supervisor's own turn, so it must not
    /// wait. The feature `tracing` is told either way.
    #[must_use]
    pub fn on_report(mut self, reporter: impl Fn(&Report<'_>) + Send + Sync + 'static) -> Self {
        self.reporter = Some(Arc::new(reporter));
        self
    }

    /// Adds a child to be started with the supervisor, in order.
    #[must_use]
    pub fn child(mut self, spec: ChildSpec) -> Self {
        self.children.push(spec);
        self
    }

    pub(crate) fn limits(&self) -> (u32, Duration) {
        self.intensity.unwrap_or((INTENSITY_DEFAULT, Duration::from_millis(INTENSITY_PERIOD_MS)))
    }

    /// Starts the supervisor and its children. A child that cannot be started ends the supervisor with the child's reason.
    pub fn start(self, handle: &Handle, options: SpawnOptions) -> Result<SupervisorRef, SpawnError> {
        let options = SpawnOptions { trap_exit: true, ..options };
        let supervisor = handle.spawn_with(options, tree::Tree::new(self))?;
        supervisor.cell().set_supervisor();
        Ok(SupervisorRef(supervisor))
    }

    /// The same as a child of another supervisor.
    #[must_use]
    pub fn into_child(self, id: impl Into<String>) -> ChildSpec {
        let start = move |cx: &StartContext| {
            let options = SpawnOptions { parent: Some(cx.supervisor), ..SpawnOptions::default() };
            self.clone()
                .start(&cx.handle, options)
                .map(|supervisor| supervisor.pid())
                .map_err(ExitReason::from)
        };
        ChildSpec::new(id, start).shutdown(Shutdown::Infinity)
    }
}

/// A running supervisor.
#[derive(Clone, Debug)]
pub struct SupervisorRef(ActorRef<Command>);

impl SupervisorRef {
    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.0.pid()
    }

    /// The actor behind it.
    #[must_use]
    pub fn actor(&self) -> &ActorRef<Command> {
        &self.0
    }

    /// Starts a child.
    pub fn start_child(&self, spec: ChildSpec) -> Call<Result<Pid, ExitReason>> {
        self.0.call(None, |reply| Command::Start(spec, reply))
    }

    /// Supervises an actor that runs already.
    pub fn adopt(&self, pid: Pid, spec: ChildSpec) -> Call<Result<Pid, ExitReason>> {
        self.0.call(None, |reply| Command::Adopt(pid, spec, reply))
    }

    /// Stops a child in order; its specification stays.
    pub fn terminate_child(&self, id: &str) -> Call<bool> {
        self.0.call(None, |reply| Command::Terminate(id.to_owned(), reply))
    }

    /// Starts a stopped child again.
    pub fn restart_child(&self, id: &str) -> Call<Result<Pid, ExitReason>> {
        self.0.call(None, |reply| Command::Restart(id.to_owned(), reply))
    }

    /// Forgets a stopped child.
    pub fn delete_child(&self, id: &str) -> Call<bool> {
        self.0.call(None, |reply| Command::Delete(id.to_owned(), reply))
    }

    /// Stops supervising a child without stopping it.
    pub fn release(&self, pid: Pid) -> Call<bool> {
        self.0.call(None, |reply| Command::Release(pid, reply))
    }

    /// The running child with this id.
    pub fn child(&self, id: impl Into<String>) -> Call<Option<Pid>> {
        let id = id.into();
        self.0.call(None, |reply| Command::Child(id, reply))
    }

    /// The children in the order of their start.
    pub fn which_children(&self) -> Call<Vec<ChildInfo>> {
        self.0.call(None, Command::Which)
    }

    /// Asks the supervisor to stop its children in reverse order, and itself after them.
    pub fn shutdown(&self, handle: &Handle) -> bool {
        handle.shutdown(self.pid(), ExitReason::Shutdown)
    }
}
