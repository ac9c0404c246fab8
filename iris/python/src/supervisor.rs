//! The core's supervisors in Python. Owns the translation of specifications; `supervision.py` has the classes that people write.
//! Invariant: factories run on the executor threads, so they may do what handlers may do.

use std::sync::Arc;

use iris_runtime::supervisor::{Backoff, ChildSpec, Restart, Shutdown, Strategy, Supervisor, SupervisorRef};
use iris_runtime::{Call, Handle, SpawnOptions};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::compat::{Compat, PyStarter, pid_of};
use crate::exit::ExitReason;
use crate::host::PYTHON_POOL;
use crate::reports::supervised;
use crate::runtime::PyRuntime;
use crate::waiting::{self, Ended};

/// A running supervisor.
#[pyclass(frozen, weakref, module = "iris._iris")]
pub(crate) struct SupervisorCore {
    handle: Handle,
    compat: Arc<Compat>,
    supervisor: SupervisorRef,
}

fn strategy(name: &str) -> PyResult<Strategy> {
    match name {
        "one_for_one" => Ok(Strategy::OneForOne),
        "one_for_all" => Ok(Strategy::OneForAll),
        "rest_for_one" => Ok(Strategy::RestForOne),
        "simple" | "simple_one_for_one" => Ok(Strategy::Simple),
        _ => Err(PyValueError::new_err(format!(
            "unknown strategy {name:?}: use one_for_one, one_for_all, rest_for_one or simple"
        ))),
    }
}

fn restart(name: &str) -> PyResult<Restart> {
    match name {
        "permanent" => Ok(Restart::Permanent),
        "transient" => Ok(Restart::Transient),
        "temporary" => Ok(Restart::Temporary),
        _ => Err(PyValueError::new_err(format!(
            "unknown restart type {name:?}: use permanent, transient or temporary"
        ))),
    }
}

fn shutdown(timeout: Option<f64>) -> PyResult<Shutdown> {
    Ok(match timeout {
        None => Shutdown::Infinity,
        Some(seconds) if seconds <= 0.0 => Shutdown::Kill,
        Some(seconds) => Shutdown::Timeout(waiting::seconds(seconds)?),
    })
}

fn failure(reason: impl ToString) -> PyErr {
    PyRuntimeError::new_err(reason.to_string())
}

#[pymethods]
impl SupervisorCore {
    #[new]
    #[pyo3(signature = (runtime, strategy_name, intensity, period, backoff=None, parent=None))]
    fn new(
        py: Python<'_>,
        runtime: &PyRuntime,
        strategy_name: &str,
        intensity: u32,
        period: f64,
        backoff: Option<(f64, f64)>,
        parent: Option<u64>,
    ) -> PyResult<Self> {
        let mut options =
            Supervisor::new(strategy(strategy_name)?).intensity(intensity, waiting::seconds(period)?);
        options = options.on_report(supervised);
        if let Some((first, max)) = backoff {
            options =
                options.backoff(Backoff { first: waiting::seconds(first)?, max: waiting::seconds(max)? });
        }
        let place = SpawnOptions {
            pool: PYTHON_POOL,
            parent: parent.map(iris_runtime::Pid::from_bits),
            ..SpawnOptions::default()
        };
        let core = &runtime.core;
        let supervisor = crate::ffi::wait(py, || options.start(&core.handle, place)).map_err(failure)?;
        Ok(Self { handle: core.handle.clone(), compat: core.compat.clone(), supervisor })
    }

    /// The supervisor's pid.
    #[getter]
    fn pid(&self) -> u64 {
        self.supervisor.pid().to_bits()
    }

    /// Whether it has not ended.
    #[getter]
    fn alive(&self) -> bool {
        self.handle.is_alive(self.supervisor.pid())
    }

    /// Waits until it has ended, and returns why; None after `timeout` seconds.
    #[pyo3(signature = (timeout=None))]
    fn join(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<ExitReason>> {
        let ended =
            waiting::end(py, &self.handle, &self.compat, self.supervisor.pid(), waiting::timeout(timeout)?)?;
        Ok(match ended {
            Ended::Now(reason) => Some(reason),
            Ended::Before => self.supervisor.actor().exit_reason(),
            Ended::NotYet => None,
        }
        .map(ExitReason))
    }

    /// Starts a child with `factory() -> pid or ref`. `shutdown` is seconds, 0 for a kill at once, None for no limit.
    #[pyo3(signature = (id, factory, restart_name="permanent", shutdown_s=Some(5.0)))]
    fn start_child(
        &self,
        py: Python<'_>,
        id: String,
        factory: Py<PyAny>,
        restart_name: &str,
        shutdown_s: Option<f64>,
    ) -> PyResult<u64> {
        let spec = ChildSpec::with_starter(id, PyStarter { factory, compat: self.compat.clone() });
        let spec = spec.restart(restart(restart_name)?).shutdown(shutdown(shutdown_s)?);
        let started = crate::ffi::wait(py, || {
            let call = self.supervisor.start_child(spec);
            self.handle.wait_for(call, None)
        });
        started.map_err(failure)?.map(iris_runtime::Pid::to_bits).map_err(failure)
    }

    /// Starts children without waiting for one before the next is asked for: (id, factory, restart, shutdown) each. Returns for each its pid,
    /// or why it was not started.
    fn start_children(
        &self,
        py: Python<'_>,
        children: Vec<(String, Py<PyAny>, String, Option<f64>)>,
    ) -> PyResult<Vec<(Option<u64>, Option<String>)>> {
        let mut specs = Vec::with_capacity(children.len());
        for (id, factory, restart_name, shutdown_s) in children {
            let spec = ChildSpec::with_starter(id, PyStarter { factory, compat: self.compat.clone() });
            specs.push(spec.restart(restart(&restart_name)?).shutdown(shutdown(shutdown_s)?));
        }
        Ok(crate::ffi::wait(py, || {
            let calls: Vec<_> = specs.into_iter().map(|spec| self.supervisor.start_child(spec)).collect();
            let ended =
                |call: Call<Result<_, iris_runtime::ExitReason>>| match self.handle.wait_for(call, None) {
                    Ok(Ok(pid)) => (Some(iris_runtime::Pid::to_bits(pid)), None),
                    Ok(Err(reason)) => (None, Some(reason.plain())),
                    Err(error) => (None, Some(error.to_string())),
                };
            calls.into_iter().map(ended).collect()
        }))
    }

    /// Stops a child; its specification stays.
    fn terminate_child(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        crate::ffi::wait(py, || self.handle.wait_for(self.supervisor.terminate_child(id), None))
            .map_err(failure)
    }

    /// Starts a stopped child again.
    fn restart_child(&self, py: Python<'_>, id: &str) -> PyResult<u64> {
        let started = crate::ffi::wait(py, || self.handle.wait_for(self.supervisor.restart_child(id), None));
        started.map_err(failure)?.map(iris_runtime::Pid::to_bits).map_err(failure)
    }

    /// Forgets a stopped child.
    fn delete_child(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        crate::ffi::wait(py, || self.handle.wait_for(self.supervisor.delete_child(id), None)).map_err(failure)
    }

    /// Stops supervising a child that runs on.
    fn release(&self, py: Python<'_>, child: &Bound<'_, PyAny>) -> PyResult<bool> {
        let pid = pid_of(child)?;
        crate::ffi::wait(py, || self.handle.wait_for(self.supervisor.release(pid), None)).map_err(failure)
    }

    /// The pid of the running child with this id.
    fn child(&self, py: Python<'_>, id: &str) -> PyResult<Option<u64>> {
        let found = crate::ffi::wait(py, || self.handle.wait_for(self.supervisor.child(id), None));
        Ok(found.map_err(failure)?.map(iris_runtime::Pid::to_bits))
    }

    /// The children in the order of their start: (id, pid or None, restarts).
    fn which_children(&self, py: Python<'_>) -> PyResult<Vec<(String, Option<u64>, u64)>> {
        let children = crate::ffi::wait(py, || self.handle.wait_for(self.supervisor.which_children(), None));
        let row = |child: iris_runtime::supervisor::ChildInfo| {
            (child.id, child.pid.map(|pid| pid.to_bits()), child.restarts)
        };
        Ok(children.map_err(failure)?.into_iter().map(row).collect())
    }

    /// Stops the children in reverse order, then the supervisor.
    fn shutdown(&self) -> bool {
        self.supervisor.shutdown(&self.handle)
    }
}
