//! The state behind the compatibility surface: observers' stores, which actors die of exceptions, supervision without specifications.
//! Owns nothing of the core's semantics: supervisors are the core's. Invariant: an entry leaves when its actor does.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use iris_runtime::supervisor::{
    ChildSpec, Restart, StartContext, Starter, Strategy, Supervisor, SupervisorRef,
};
use iris_runtime::{ExitReason, Handle, Pid, SpawnOptions};
use parking_lot::{Condvar, Mutex};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::exit;
use crate::host::PYTHON_POOL;
use crate::limits::{
    COMPAT_INTENSITY, COMPAT_PERIOD_S, EXCEPTIONS_KEPT, GROUP_SWEEP_MIN, REASONS_KEPT, RELEASE_GIL_THREADS,
    SIGNALS_MS,
};
use crate::pull_versions::PullVersions;
use crate::reports::supervised;

thread_local! {
    /// Who raised, from the end of its code to the end of its actor.
    static CRASHED: RefCell<Option<(Pid, Py<PyAny>)>> = const { RefCell::new(None) };
}

#[derive(Default)]
pub(crate) struct Compat {
    /// All handlers die of exceptions, not only supervised ones.
    pub(crate) strict_exceptions: AtomicBool,
    supervised: Mutex<HashSet<Pid>>,
    pub(crate) stores: Mutex<HashMap<Pid, Arc<Store>>>,
    reasons: Mutex<Reasons>,
    pub(crate) groups: Mutex<HashMap<String, Group>>,
    pub(crate) release_gil: ReleaseGil,
    pub(crate) pulls: PullVersions,
}

#[derive(Default)]
struct Reasons {
    by_pid: HashMap<Pid, ExitReason>,
    order: VecDeque<Pid>,
    /// The newest, with their exceptions.
    fresh: VecDeque<(Pid, ExitReason)>,
}

/// The limits of the `release_gil` pool.
pub(crate) struct ReleaseGil {
    pub(crate) max_threads: AtomicUsize,
    pub(crate) strict: AtomicBool,
    pub(crate) spawned: Mutex<Vec<Pid>>,
}

impl Default for ReleaseGil {
    fn default() -> Self {
        Self {
            max_threads: AtomicUsize::new(RELEASE_GIL_THREADS),
            strict: AtomicBool::new(false),
            spawned: Mutex::new(Vec::new()),
        }
    }
}

impl Compat {
    pub(crate) fn exits_on_exception(&self, pid: Pid) -> bool {
        self.strict_exceptions.load(Ordering::Relaxed) || self.supervised.lock().contains(&pid)
    }

    pub(crate) fn supervise(&self, pid: Pid) {
        self.supervised.lock().insert(pid);
    }

    /// An actor has ended: its entries leave, and the reason is kept for those who ask later; normal ends are not worth that.
    pub(crate) fn ended(&self, pid: Pid, reason: &ExitReason) {
        let mut supervised = self.supervised.lock();
        // Mostly empty: then an end costs no hashing.
        if !supervised.is_empty() {
            supervised.remove(&pid);
        }
        drop(supervised);
        let mut stores = self.stores.lock();
        let store = if stores.is_empty() { None } else { stores.remove(&pid) };
        drop(stores);
        if let Some(store) = store {
            store.close();
        }
        if !reason.is_abnormal() {
            return;
        }
        let mut reasons = self.reasons.lock();
        if reasons.order.len() >= REASONS_KEPT
            && let Some(oldest) = reasons.order.pop_front()
        {
            reasons.by_pid.remove(&oldest);
        }
        // Its text is for `tell`: the mailbox is open yet, and the text may be the program's own code.
        if reasons.by_pid.insert(pid, reason.clone()).is_none() {
            reasons.order.push_back(pid);
        }
        let stale = if matches!(reason, ExitReason::Exception(_)) {
            reasons.fresh.push_back((pid, reason.clone()));
            (reasons.fresh.len() > EXCEPTIONS_KEPT).then(|| reasons.fresh.pop_front()).flatten()
        } else {
            None
        };
        drop(reasons);
        // What it refers to may come back to here.
        drop(stale);
    }

    /// An actor is gone, and everybody knows: it is reported if its code raised, and of the exception only its text is kept.
    pub(crate) fn tell(&self, pid: Pid, reason: &ExitReason) {
        if !matches!(reason, ExitReason::Exception(_)) {
            return;
        }
        if let Some((crashed, who)) = CRASHED.take() {
            if crashed == pid {
                Python::try_attach(|py| Self::report(py, pid, who.bind(py), reason));
            }
            Python::try_attach(|_| drop(who));
        }
        // The program's code, and so without the lock.
        let told = exit::told(reason);
        let mut reasons = self.reasons.lock();
        let kept = reasons.by_pid.get_mut(&pid).map(|kept| std::mem::replace(kept, told));
        drop(reasons);
        drop(kept);
    }

    /// The actor that ends on this thread raised: it is reported when it is gone.
    pub(crate) fn crashed(pid: Pid, who: Py<PyAny>) {
        drop(CRASHED.replace(Some((pid, who))));
    }

    pub(crate) fn reason(&self, pid: Pid) -> Option<ExitReason> {
        let reasons = self.reasons.lock();
        let fresh = reasons.fresh.iter().find(|(fresh, _)| *fresh == pid).map(|(_, reason)| reason);
        fresh.or_else(|| reasons.by_pid.get(&pid)).cloned()
    }

    /// Lets go of the exceptions: their texts stay.
    pub(crate) fn forget_exceptions(&self) {
        let fresh = std::mem::take(&mut self.reasons.lock().fresh);
        drop(fresh);
    }

    /// Tells the program's log of an actor that an exception ended.
    pub(crate) fn report(py: Python<'_>, pid: Pid, who: &Bound<'_, PyAny>, reason: &ExitReason) {
        let Some(error) = exit::exception_of(py, reason) else { return };
        let told = py
            .import("iris.reports")
            .and_then(|reports| reports.call_method1("crashed", (pid.to_bits(), who, error)));
        if let Err(error) = told {
            error.display(py);
        }
    }

    /// Shows the collector the exceptions.
    pub(crate) fn visit_exceptions(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Whoever holds the lock changes it: then they count as referred to from outside.
        let Some(reasons) = self.reasons.try_lock() else { return Ok(()) };
        reasons.fresh.iter().try_for_each(|(_, reason)| exit::visit_reason(reason, visit))
    }

    /// Counts a `release_gil` actor against the limit.
    pub(crate) fn admit_release_gil(&self, handle: &Handle) -> PyResult<()> {
        let mut spawned = self.release_gil.spawned.lock();
        let max = self.release_gil.max_threads.load(Ordering::Relaxed);
        if spawned.len() >= max {
            spawned.retain(|pid| handle.is_alive(*pid));
        }
        if spawned.len() >= max && self.release_gil.strict.load(Ordering::Relaxed) {
            let text =
                format!("the limit of {max} release_gil actors is reached (set_release_gil_strict is on)");
            return Err(PyRuntimeError::new_err(text));
        }
        Ok(())
    }
}

/// What an observer keeps.
#[derive(Default)]
pub(crate) struct Store {
    state: Mutex<Kept>,
    changed: Condvar,
}

#[derive(Default)]
struct Kept {
    messages: VecDeque<(u64, Py<PyAny>)>,
    next: u64,
    closed: bool,
}

impl Store {
    pub(crate) fn add(&self, message: Py<PyAny>) {
        let mut kept = self.state.lock();
        let number = kept.next;
        kept.next += 1;
        kept.messages.push_back((number, message));
        drop(kept);
        self.changed.notify_all();
    }

    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn all(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.state.lock().messages.iter().map(|(_, message)| message.clone_ref(py)).collect()
    }

    /// The first message at or after `from`, if there is one.
    fn peek(&self, py: Python<'_>, from: u64) -> Option<(u64, Py<PyAny>)> {
        let kept = self.state.lock();
        let found = kept.messages.iter().find(|(number, _)| *number >= from);
        found.map(|(number, message)| (*number, message.clone_ref(py)))
    }

    fn remove(&self, number: u64) -> bool {
        let mut kept = self.state.lock();
        match kept.messages.iter().position(|(held, _)| *held == number) {
            Some(at) => kept.messages.remove(at).is_some(),
            None => false,
        }
    }

    /// Waits for the first message that the matcher accepts. The matcher runs without any lock.
    pub(crate) fn select(
        &self,
        py: Python<'_>,
        matcher: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let until = crate::waiting::timeout(timeout)?.map(|timeout| Instant::now() + timeout);
        let mut from = 0;
        loop {
            while let Some((number, message)) = self.peek(py, from) {
                if matcher.call1((&message,))?.is_truthy()? && self.remove(number) {
                    return Ok(Some(message));
                }
                from = number + 1;
            }
            let slice = Instant::now() + Duration::from_millis(SIGNALS_MS);
            let late = until.is_some_and(|until| until <= slice);
            let until = until.map_or(slice, |until| until.min(slice));
            let more = crate::ffi::wait(py, || {
                let mut kept = self.state.lock();
                let nothing = |kept: &Kept| kept.messages.back().is_none_or(|(number, _)| *number < from);
                while nothing(&kept) && !kept.closed {
                    if self.changed.wait_until(&mut kept, until).timed_out() {
                        break;
                    }
                }
                if nothing(&kept) { kept.closed.then_some(false) } else { Some(true) }
            });
            match more {
                Some(true) => {}
                Some(false) => return Ok(None),
                None if late => return Ok(None),
                None => py.check_signals()?,
            }
        }
    }
}

/// Supervision of actors that exist already, with a factory for restarts: one supervisor per child that stands alone, one for those
/// that are restarted together.
#[derive(Default)]
pub(crate) struct Group {
    alone: Vec<SupervisorRef>,
    together: Option<SupervisorRef>,
    /// When to look for supervisors that have ended: at twice as many as were left the last time, so that an adoption's part of it is
    /// constant.
    sweep_at: usize,
}

pub(crate) fn strategy(name: &str) -> PyResult<Strategy> {
    match name.to_ascii_lowercase().as_str() {
        "restartone" | "restart_one" | "one" => Ok(Strategy::OneForOne),
        "restartall" | "restart_all" | "all" => Ok(Strategy::OneForAll),
        _ => Err(PyValueError::new_err(format!(
            "unknown strategy {name:?}: use restartone (restart_one, one) or restartall (restart_all, all)"
        ))),
    }
}

/// Starts a child by a Python factory that returns a pid (or a reference).
pub(crate) struct PyStarter {
    pub(crate) factory: Py<PyAny>,
    pub(crate) compat: Arc<Compat>,
}

impl Starter for PyStarter {
    fn start(&self, _: &StartContext) -> Result<Pid, ExitReason> {
        Python::attach(|py| {
            let made = self.factory.call0(py).and_then(|made| pid_of(made.bind(py)));
            made.inspect(|pid| self.compat.supervise(*pid)).map_err(|error| exit::raised(py, error))
        })
    }
}

/// A pid from an int, or from anything with a `pid`.
pub(crate) fn pid_of(object: &Bound<'_, PyAny>) -> PyResult<Pid> {
    if let Ok(bits) = object.extract::<u64>() {
        return Ok(Pid::from_bits(bits));
    }
    object.getattr("pid")?.extract::<u64>().map(Pid::from_bits)
}

impl Group {
    fn supervisor(handle: &Handle, strategy: Strategy) -> PyResult<SupervisorRef> {
        let period = Duration::from_secs(COMPAT_PERIOD_S);
        let options = SpawnOptions { pool: PYTHON_POOL, ..SpawnOptions::default() };
        let supervisor = Supervisor::new(strategy).intensity(COMPAT_INTENSITY, period).on_report(supervised);
        supervisor.start(handle, options).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    fn place(&mut self, handle: &Handle, strategy: Strategy) -> PyResult<SupervisorRef> {
        if self.alone.len() >= self.sweep_at {
            self.alone.retain(|supervisor| handle.is_alive(supervisor.pid()));
            self.sweep_at = (self.alone.len() * 2).max(GROUP_SWEEP_MIN);
        }
        if strategy == Strategy::OneForOne {
            let supervisor = Self::supervisor(handle, strategy)?;
            self.alone.push(supervisor.clone());
            return Ok(supervisor);
        }
        match self.together.clone().filter(|supervisor| handle.is_alive(supervisor.pid())) {
            Some(supervisor) => Ok(supervisor),
            None => Ok(self.together.insert(Self::supervisor(handle, strategy)?).clone()),
        }
    }

    fn all(&self) -> Vec<SupervisorRef> {
        self.alone.iter().chain(&self.together).cloned().collect()
    }
}

/// Supervises an actor in a group (the empty name is the global one), with a factory or only to be counted.
pub(crate) fn adopt(
    py: Python<'_>,
    compat: &Arc<Compat>,
    handle: &Handle,
    group: &str,
    pid: Pid,
    strategy_name: &str,
    factory: Option<Py<PyAny>>,
) -> PyResult<()> {
    let strategy = strategy(strategy_name)?;
    let restart = if factory.is_some() { Restart::Permanent } else { Restart::Temporary };
    let start = PyStarter { factory: factory.unwrap_or_else(|| py.None()), compat: compat.clone() };
    if restart == Restart::Permanent {
        compat.supervise(pid);
    }
    let supervisor = compat.groups.lock().entry(group.to_owned()).or_default().place(handle, strategy)?;
    // The first pid names the child in reports, also after its restarts.
    let spec = ChildSpec::with_starter(pid.to_bits().to_string(), start).restart(restart);
    let adopted = crate::ffi::wait(py, || supervisor.adopt(pid, spec).wait(None));
    match adopted {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(reason)) => Err(PyRuntimeError::new_err(reason.to_string())),
        Err(error) => Err(PyRuntimeError::new_err(error.to_string())),
    }
}

/// The living children of a group.
pub(crate) fn children(py: Python<'_>, compat: &Compat, group: &str) -> Vec<u64> {
    let supervisors = compat.groups.lock().get(group).map(Group::all).unwrap_or_default();
    crate::ffi::wait(py, || {
        let lists = supervisors.iter().filter_map(|supervisor| supervisor.which_children().wait(None).ok());
        let mut pids: Vec<u64> = lists.flatten().filter_map(|child| child.pid).map(Pid::to_bits).collect();
        pids.sort_unstable();
        pids
    })
}

/// Ends the supervision of a group; its actors live on.
pub(crate) fn dissolve(py: Python<'_>, compat: &Compat, handle: &Handle, group: &str) -> bool {
    let Some(group) = compat.groups.lock().remove(group) else { return false };
    crate::ffi::wait(py, || {
        for supervisor in group.all() {
            for child in supervisor.which_children().wait(None).unwrap_or_default() {
                if let Some(pid) = child.pid {
                    let _ = supervisor.release(pid).wait(None);
                }
            }
            supervisor.shutdown(handle);
        }
    });
    true
}
