//! The child of a fork in an actor's code. Owns its end: none of iris's threads exist there, so when the actor's code is over there is nothing
//! to go back to, and the process ends as it would at the end of a program.

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;

use crate::core::forks;

/// Taken before an actor's code runs.
pub(crate) fn mark() -> u32 {
    forks()
}

/// After it has run: in a child that was forked there the process ends, with the status of `sys.exit`, 1 after any other exception, else 0.
pub(crate) fn end_if_child<T>(py: Python<'_>, mark: u32, outcome: &PyResult<T>) {
    if forks() != mark {
        end(py, outcome.as_ref().err());
    }
}

fn end(py: Python<'_>, error: Option<&PyErr>) -> ! {
    let status = match error {
        None => 0,
        Some(error) if error.is_instance_of::<PySystemExit>(py) => status_of(py, error),
        Some(error) => {
            error.display(py);
            1
        }
    };
    if let Ok(sys) = py.import("sys") {
        for stream in ["stdout", "stderr"] {
            let _ = sys.getattr(stream).and_then(|stream| stream.call_method0("flush"));
        }
    }
    let _ = py.import("os").and_then(|os| os.call_method1("_exit", (status,)));
    std::process::abort()
}

/// As the interpreter has it: no code is 0, a number is itself, anything else is told and 1.
fn status_of(py: Python<'_>, error: &PyErr) -> i32 {
    let code = error.value(py).getattr("code").ok().filter(|code| !code.is_none());
    let Some(code) = code else { return 0 };
    code.extract::<i32>().unwrap_or_else(|_| {
        eprintln!("{code}");
        1
    })
}
