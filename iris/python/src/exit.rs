//! Exit reasons in Python. Owns the exception that ended an actor (with its traceback) and the classes that handlers see.
//! Invariant: the traceback is only formatted when somebody asks for it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use iris_runtime::{Exception, ExitReason as Reason, Pid};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};

use crate::limits::{MESSAGE_BYTES_KEPT, TRACEBACK_BYTES_KEPT};

/// The label of a reason that is neither an exception nor one of the runtime's own.
const ERROR: &str = "error";

/// A Python exception as the reason of an end.
pub(crate) struct Raised(Py<PyAny>);

impl fmt::Debug for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Raised")
    }
}

impl Exception for Raised {
    fn kind(&self) -> String {
        Python::try_attach(|py| {
            self.0.bind(py).get_type().name().map_or_else(|_| String::new(), |name| name.to_string())
        })
        .unwrap_or_default()
    }

    fn message(&self) -> String {
        Python::try_attach(|py| self.0.bind(py).str().map_or_else(|_| String::new(), |text| text.to_string()))
            .unwrap_or_default()
    }

    fn plain_message(&self) -> String {
        Python::try_attach(|py| plain_text(self.0.bind(py))).and_then(Result::ok).unwrap_or_default()
    }

    fn traceback(&self) -> Option<String> {
        Python::try_attach(|py| format_exception(self.0.bind(py)).ok()).flatten()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Any other object as the reason of an end, as any term is one in OTP.
pub(crate) struct Given {
    value: Py<PyAny>,
    /// Made when it was given: nothing of the program's own runs for it later.
    text: String,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Given")
    }
}

impl Exception for Given {
    fn kind(&self) -> String {
        ERROR.to_owned()
    }

    fn label(&self) -> &'static str {
        ERROR
    }

    fn message(&self) -> String {
        self.text.clone()
    }

    fn traceback(&self) -> Option<String> {
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What an exception was made with, as far as that is told without running methods of the program's own.
fn plain_text(exception: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = exception.py();
    let args = py.get_type::<PyBaseException>().getattr("args")?.call_method1("__get__", (exception,))?;
    let mut texts = Vec::new();
    for argument in args.try_iter()? {
        let argument = argument?;
        let plain = argument.is_none()
            || argument.is_exact_instance_of::<PyString>()
            || argument.is_exact_instance_of::<PyBytes>()
            || argument.is_exact_instance_of::<PyFloat>()
            || argument.is_exact_instance_of::<PyInt>()
            || argument.is_exact_instance_of::<PyBool>();
        texts.push(if plain { argument.str()?.to_string() } else { "...".to_owned() });
    }
    Ok(first_part(texts.join(", "), MESSAGE_BYTES_KEPT))
}

fn format_exception(exception: &Bound<'_, PyAny>) -> PyResult<String> {
    let lines = exception.py().import("traceback")?.call_method1("format_exception", (exception,))?;
    let lines: Vec<String> = lines.extract()?;
    Ok(lines.concat())
}

/// `sys.exit()` ends an actor normally; with a status or a text it is a failure, as it is for a process.
pub(crate) fn exited(py: Python<'_>, error: &PyErr) -> Reason {
    let code = error.value(py).getattr("code").ok().filter(|code| !code.is_none());
    match code {
        Some(code) if !code.eq(0).unwrap_or(false) => Reason::error(format!("exit({code})")),
        _ => Reason::Normal,
    }
}

/// The reason of an actor whose code raised this.
pub(crate) fn raised_or_exited(py: Python<'_>, error: Bound<'_, PyAny>) -> Reason {
    let error = PyErr::from_value(error);
    if error.is_instance_of::<pyo3::exceptions::PySystemExit>(py) {
        exited(py, &error)
    } else {
        raised(py, error)
    }
}

/// What is kept of an exception for those who ask later: it refers to nothing.
struct Told {
    kind: String,
    message: String,
    traceback: Option<String>,
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Told")
    }
}

impl Exception for Told {
    fn kind(&self) -> String {
        self.kind.clone()
    }

    fn message(&self) -> String {
        self.message.clone()
    }

    fn traceback(&self) -> Option<String> {
        self.traceback.clone()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The same reason without the exception, which refers to its frames and all that they know.
pub(crate) fn told(reason: &Reason) -> Reason {
    match reason {
        // What is kept of an object that was given as a reason is its text.
        Reason::Exception(exception) if exception.label() == ERROR => Reason::error(exception.message()),
        Reason::Exception(exception) => {
            let traceback = exception.traceback().map(|text| last_part(text, TRACEBACK_BYTES_KEPT));
            let message = first_part(exception.message(), MESSAGE_BYTES_KEPT);
            Reason::Exception(Arc::new(Told { kind: exception.kind(), message, traceback }))
        }
        other => other.clone(),
    }
}

fn first_part(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push_str("...");
    }
    text
}

/// The end of a traceback says where it happened.
fn last_part(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let from = text.ceil_char_boundary(text.len() - bytes_max);
    format!("...{}", &text[from..])
}

/// The exception that ended an actor, if that is what it was.
pub(crate) fn exception_of(py: Python<'_>, reason: &Reason) -> Option<Py<PyAny>> {
    let Reason::Exception(exception) = reason else { return None };
    exception.as_any().downcast_ref::<Raised>().map(|raised| raised.0.clone_ref(py))
}

/// Shows the collector the object of a reason that nobody else holds.
pub(crate) fn visit_reason(reason: &Reason, visit: &pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
    match reason {
        Reason::Exception(exception) if Arc::strong_count(exception) == 1 => {
            let any = exception.as_any();
            let raised = any.downcast_ref::<Raised>().map(|raised| &raised.0);
            let object = raised.or_else(|| any.downcast_ref::<Given>().map(|given| &given.value));
            object.map_or(Ok(()), |object| visit.call(object))
        }
        _ => Ok(()),
    }
}

pub(crate) fn raised(py: Python<'_>, error: PyErr) -> Reason {
    Reason::Exception(Arc::new(Raised(error.into_value(py).into_any())))
}

/// The reason for a name such as "normal" or "kill", or an error text.
pub(crate) fn reason_from(py: Python<'_>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<Reason> {
    let Some(reason) = reason.filter(|reason| !reason.is_none()) else { return Ok(Reason::Shutdown) };
    if let Ok(reason) = reason.cast::<ExitReason>() {
        return Ok(reason.get().0.clone());
    }
    if let Ok(text) = reason.extract::<String>() {
        return Ok(match text.as_str() {
            "normal" => Reason::Normal,
            "shutdown" => Reason::Shutdown,
            "kill" | "killed" => Reason::Killed,
            _ => Reason::error(text),
        });
    }
    if !reason.is_instance_of::<pyo3::exceptions::PyBaseException>() {
        let text = first_part(reason.repr()?.to_string(), MESSAGE_BYTES_KEPT);
        return Ok(Reason::Exception(Arc::new(Given { value: reason.clone().unbind(), text })));
    }
    Ok(raised(py, PyErr::from_value(reason.clone())))
}

/// Why an actor ended.
#[pyclass(frozen, module = "iris")]
pub(crate) struct ExitReason(pub(crate) Reason);

#[pymethods]
impl ExitReason {
    /// One word: normal, shutdown, killed, noproc, timeout, restart_intensity, error, panic or exception.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.label()
    }

    /// The whole reason in one line.
    #[getter]
    fn message(&self) -> String {
        self.0.to_string()
    }

    /// Whether supervisors and links treat it as a failure.
    #[getter]
    fn abnormal(&self) -> bool {
        self.0.is_abnormal()
    }

    /// The exception, if that is what it was.
    #[getter]
    fn exception(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        exception_of(py, &self.0)
    }

    /// The object that `exit` was given, or the text. None where the reason is another, and of an object for those who ask only
    /// when the actor has long ended: then its text is kept.
    #[getter]
    fn value(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        match &self.0 {
            Reason::Error(text) => Some(PyString::new(py, text).into_any().unbind()),
            Reason::Exception(exception) => {
                exception.as_any().downcast_ref::<Given>().map(|given| given.value.clone_ref(py))
            }
            _ => None,
        }
    }

    /// The traceback as text, if there is one.
    #[getter]
    fn traceback(&self) -> Option<String> {
        match &self.0 {
            Reason::Exception(exception) => exception.traceback(),
            _ => None,
        }
    }

    fn __repr__(&self) -> String {
        format!("<ExitReason {}>", self.0)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

/// What a monitor delivers: the actor ended, or was not there.
#[pyclass(frozen, module = "iris")]
pub(crate) struct Down {
    pub(crate) monitor: u64,
    pub(crate) pid: Pid,
    pub(crate) reason: Reason,
}

#[pymethods]
impl Down {
    /// The monitor that fired.
    #[getter]
    fn monitor(&self) -> u64 {
        self.monitor
    }

    /// Who ended.
    #[getter]
    fn pid(&self) -> u64 {
        self.pid.to_bits()
    }

    /// Why.
    #[getter]
    fn reason(&self) -> ExitReason {
        ExitReason(self.reason.clone())
    }

    fn __repr__(&self) -> String {
        format!("<Down {} {}>", self.pid, self.reason)
    }
}

/// What a link delivers to an actor that traps exits.
#[pyclass(frozen, module = "iris")]
pub(crate) struct Exit {
    pub(crate) pid: Pid,
    pub(crate) reason: Reason,
}

#[pymethods]
impl Exit {
    /// Who ended.
    #[getter]
    fn pid(&self) -> u64 {
        self.pid.to_bits()
    }

    /// Why.
    #[getter]
    fn reason(&self) -> ExitReason {
        ExitReason(self.reason.clone())
    }

    fn __repr__(&self) -> String {
        format!("<Exit {} {}>", self.pid, self.reason)
    }
}

/// The object that Python sees for a signal.
pub(crate) fn signal_object(py: Python<'_>, signal: iris_runtime::Signal) -> PyResult<Option<Py<PyAny>>> {
    use iris_runtime::Signal;
    Ok(match signal {
        Signal::Down { monitor, pid, reason } => {
            Some(Py::new(py, Down { monitor: monitor.0, pid, reason })?.into_any())
        }
        Signal::Exit { from, reason } => Some(Py::new(py, Exit { pid: from, reason })?.into_any()),
        Signal::Tick(_) => None,
    })
}
