//! `PySystemMessage`: how the compatibility surface shows signals to mailboxes and observers. Owns the class and its four types.

use iris_runtime::{Pid, Signal};
use pyo3::prelude::*;

/// A message of the runtime itself.
#[pyclass(frozen, get_all, module = "iris")]
pub(crate) struct PySystemMessage {
    /// "EXIT", "HOT_SWAP", "PING" or "PONG".
    type_name: &'static str,
    /// Who caused it.
    from_pid: Option<u64>,
    /// Whom it is about.
    target_pid: Option<u64>,
    /// Why, for "EXIT".
    reason: Option<String>,
    /// Whatever else belongs to it; the new handler for "HOT_SWAP".
    metadata: Option<Py<PyAny>>,
}

#[pymethods]
impl PySystemMessage {
    fn __repr__(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or("");
        format!("<PySystemMessage {} from={:?} {reason}>", self.type_name, self.from_pid)
    }
}

/// The "EXIT" for a link or a monitor that fired.
pub(crate) fn from_signal(py: Python<'_>, me: Pid, signal: Signal) -> Option<Py<PyAny>> {
    let (from, reason) = match signal {
        Signal::Exit { from, reason } => (from, reason),
        Signal::Down { pid, reason, .. } => (pid, reason),
        Signal::Tick(_) => return None,
    };
    let message = PySystemMessage {
        type_name: "EXIT",
        from_pid: Some(from.to_bits()),
        target_pid: Some(me.to_bits()),
        reason: Some(reason.plain()),
        metadata: None,
    };
    Py::new(py, message).ok().map(Py::into_any)
}

/// The "HOT_SWAP" that tells a pull actor of a new handler.
pub(crate) fn hot_swap(py: Python<'_>, me: Pid, handler: Py<PyAny>) -> PyResult<Py<PyAny>> {
    let message = PySystemMessage {
        type_name: "HOT_SWAP",
        from_pid: None,
        target_pid: Some(me.to_bits()),
        reason: None,
        metadata: Some(handler),
    };
    Py::new(py, message).map(Py::into_any)
}
