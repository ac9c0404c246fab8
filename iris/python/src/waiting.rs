//! Waiting of threads that run Python: for answers and for ends. Owns the slices in which a thread waits, so that Ctrl-C reaches a main
//! thread. Invariant: nothing here waits with the GIL; a worker that waits gets a stand-in, or is told at once that there is none left.

use std::time::{Duration, Instant};

use iris_runtime::{Call, CallError, ExitReason, Handle, Pid, call_pair};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::compat::Compat;
use crate::host::{must_not_block, serving};
use crate::limits::{SECONDS_MAX, SIGNALS_MS};

const ITSELF: &str =
    "the actor runs on this thread and could not end while it waits: use await ref.wait() in async actors";

/// A time as people write it. What is negative is no time, and what is beyond all use is decades.
pub(crate) fn seconds(seconds: f64) -> PyResult<Duration> {
    if seconds.is_nan() {
        return Err(PyValueError::new_err("a time must be a number of seconds, not NaN"));
    }
    Ok(Duration::from_secs_f64(seconds.clamp(0.0, SECONDS_MAX)))
}

/// A time-out as people write it: seconds, or none.
pub(crate) fn timeout(given: Option<f64>) -> PyResult<Option<Duration>> {
    given.map(seconds).transpose()
}

/// Gives the thread away for what is sent and waited for. Where there is no thread left nothing is sent.
pub(crate) fn on_leave<T>(handle: &Handle, body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let refused = || Err(PyRuntimeError::new_err(CallError::NoThread.to_string()));
    handle.try_blocking(body).unwrap_or_else(refused)
}

/// Waits for an answer, `on_leave`.
pub(crate) fn answer<T: Send>(
    py: Python<'_>,
    call: &Call<T>,
    timeout: Option<Duration>,
) -> PyResult<Result<T, CallError>> {
    let until = timeout.map(|timeout| Instant::now() + timeout);
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let slice = left.unwrap_or(Duration::MAX).min(Duration::from_millis(SIGNALS_MS));
        if let Some(result) = crate::ffi::wait(py, || call.wait_slice(slice)) {
            return Ok(result);
        }
        if left.is_some_and(|left| left <= slice) {
            return Ok(Err(CallError::Timeout));
        }
        py.check_signals()?;
    }
}

/// How waiting for an end went.
pub(crate) enum Ended {
    Now(ExitReason),
    Before,
    NotYet,
}

/// Waits until an actor has ended.
pub(crate) fn end(
    py: Python<'_>,
    handle: &Handle,
    compat: &Compat,
    pid: Pid,
    timeout: Option<Duration>,
) -> PyResult<Ended> {
    let served_here = must_not_block() && compat.pulls.is_served_by(pid, serving());
    if handle.is_alive(pid) && (served_here || handle.current_actor() == Some(pid)) {
        return Err(PyRuntimeError::new_err(ITSELF));
    }
    let (reply, call) = call_pair();
    let Some(number) = handle.watch(pid, move |reason| _ = reply.send(reason.clone())) else {
        return Ok(Ended::Before);
    };
    let result = on_leave(handle, || answer(py, &call, timeout));
    handle.unwatch(pid, number);
    Ok(result?.map_or(Ended::NotYet, Ended::Now))
}

/// Waits until all messages are handled, at most for so long; returns how long is left. Ctrl-C ends the wait: then the actors are asked to end,
/// and it goes on to whoever waits.
pub(crate) fn drained(py: Python<'_>, handle: &Handle, patience: Duration) -> PyResult<Duration> {
    let until = Instant::now() + patience;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let slice = left.min(Duration::from_millis(SIGNALS_MS));
        let drained = crate::ffi::wait(py, || handle.wait_drained(slice));
        // Inside an actor there is no waiting.
        if drained || left.is_zero() || handle.current_actor().is_some() {
            return Ok(left);
        }
        py.check_signals().inspect_err(|_| handle.request_stop())?;
    }
}
