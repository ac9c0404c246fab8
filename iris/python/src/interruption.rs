//! Where a killed actor's Python code may be interrupted. Owns the rule, the exception and the interruption of threads that serve many actors.
//!
//! Invariant: the exception comes up in the actor's own code. Code of asyncio or iris that an actor calls works on what others share (the
//! callbacks of a loop, an actor that is half made); an exception in there would take somebody else's wake-up along. So the stack is
//! looked at first, and while it is not the actor's own code that runs, nothing is raised; whoever wants it tries again.

use std::ffi::c_long;

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pyo3::create_exception!(
    iris,
    Killed,
    PyBaseException,
    "Raised in an actor that was killed, where it runs or receives. Not to be caught."
);

/// A thread's identity as the interpreter's own functions take it: the same bits as a signed number.
pub(crate) fn signed(ident: u64) -> c_long {
    ident.cast_signed() as c_long
}

/// `CO_COROUTINE` and `CO_ASYNC_GENERATOR`: below such a frame everything waits at an `await`, where exceptions are expected.
const AWAITED: u32 = 0x80 | 0x200;

/// Modules of the standard library that iris calls while it makes threads and references.
const HELPERS: [&str; 4] = ["threading", "weakref", "_weakrefset", "contextlib"];

/// Whether this thread runs an actor's own code. The answer holds for as long as the caller keeps the GIL.
pub(crate) fn in_own_code(py: Python<'_>, ident: c_long) -> PyResult<bool> {
    let gc = py.import("gc")?;
    // A collection would run finalizers, which let go of the GIL.
    let collects = gc.call_method0("isenabled")?.extract::<bool>()?;
    if collects {
        gc.call_method0("disable")?;
    }
    let answer = top_frame(py, ident).and_then(|top| top.map_or(Ok(false), is_own));
    if collects {
        gc.call_method0("enable")?;
    }
    answer
}

fn top_frame(py: Python<'_>, ident: c_long) -> PyResult<Option<Bound<'_, PyAny>>> {
    let frames = py.import("sys")?.call_method0("_current_frames")?.cast_into::<PyDict>()?;
    frames.get_item(ident.cast_unsigned())
}

/// What a frame's module is to the rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    Asyncio,
    Iris,
    Helper,
    Other,
}

fn code_of(frame: &Bound<'_, PyAny>) -> PyResult<Code> {
    let name = frame.getattr("f_globals")?.cast_into::<PyDict>()?.get_item("__name__")?;
    let Some(name) = name.and_then(|name| name.extract::<String>().ok()) else { return Ok(Code::Other) };
    Ok(match name.split('.').next() {
        Some("asyncio" | "uvloop") => Code::Asyncio,
        Some("iris") => Code::Iris,
        _ if HELPERS.contains(&name.as_str()) => Code::Helper,
        _ => Code::Other,
    })
}

/// From the innermost frame outwards, up to the actor's own `await` or to iris, which calls the actor's code as it would any that may fail.
fn is_own(top: Bound<'_, PyAny>) -> PyResult<bool> {
    let (mut frame, mut above) = (top, None);
    loop {
        let code = code_of(&frame)?;
        match code {
            Code::Asyncio => return Ok(false),
            Code::Iris => return Ok(matches!(above, Some(Code::Other))),
            Code::Helper | Code::Other => {}
        }
        if frame.getattr("f_code")?.getattr("co_flags")?.extract::<u32>()? & AWAITED != 0 {
            return Ok(true);
        }
        let outer = frame.getattr("f_back")?;
        if outer.is_none() {
            return Ok(true);
        }
        (frame, above) = (outer, Some(code));
    }
}

/// Raises `Killed` in a thread that serves many actors, if it is still at this turn (`owner.turn`) and in the actor's own code. The GIL is
/// not let go between the look and the deed; the thread takes back what comes too late for the actor (`owner.interrupted`).
#[pyfunction]
#[pyo3(signature = (ident, owner, turn, probe=None))]
pub(crate) fn interrupt_turn<'py>(
    ident: u64,
    owner: &Bound<'py, PyAny>,
    turn: u64,
    probe: Option<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)>,
) -> PyResult<bool> {
    let py = owner.py();
    if !in_own_code(py, signed(ident))? || owner.getattr("turn")?.extract::<u64>()? != turn {
        return Ok(false);
    }
    // Of an event loop: what tells its task, the loop, and the task that is meant.
    if let Some((current_task, event_loop, task)) = probe
        && !current_task.call1((event_loop,))?.is(&task)
    {
        return Ok(false);
    }
    owner.setattr("interrupted", true)?;
    crate::ffi::raise_in(signed(ident), &py.get_type::<Killed>());
    Ok(true)
}

/// Forgets an interruption that has not come through.
#[pyfunction]
pub(crate) fn take_interrupt_back(py: Python<'_>, ident: u64) {
    crate::ffi::raise_nothing_in(py, signed(ident));
}
