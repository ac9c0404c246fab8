//! The threads that run Python. Owns their thread state: it is made once per thread and kept, because making one per message costs
//! 9 microseconds. Invariant: an executor holds the GIL only inside `hold`. Leaves slices and stand-ins to the core's scheduler.

use std::cell::Cell;
use std::ffi::c_long;
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::Duration;

use iris_runtime::{Host, PoolOptions};
use parking_lot::Mutex;
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;

use crate::crowd;
use crate::interruption::{Killed, in_own_code, signed};
use crate::limits::{EXECUTORS, INTERRUPT_LOOKS, INTERRUPT_PAUSE_US, RELEASE_GIL_THREADS};
use crate::queue::ReadyQueue;

/// The pool of Python handlers.
pub(crate) const PYTHON_POOL: u8 = 1;
/// The pool of handlers with `release_gil=True`.
pub(crate) const RELEASE_GIL_POOL: u8 = 2;

/// The identities of the threads that run Python handlers: Rust's, and as Python's `threading` knows them.
#[derive(Default)]
pub(crate) struct Idents(Mutex<Vec<(ThreadId, c_long)>>);

impl Idents {
    /// Raises `SystemExit` in every handler that runs: the way to end one that computes for ever. It cannot reach a handler that waits
    /// outside Python; such a thread is left alone until the process ends.
    pub(crate) fn interrupt(&self, py: Python<'_>) {
        let exception = py.get_type::<PySystemExit>();
        for (_, ident) in self.0.lock().iter() {
            crate::ffi::raise_in(*ident, &exception);
        }
    }

    fn of(&self, thread: ThreadId) -> Option<c_long> {
        self.0.lock().iter().find(|(known, _)| *known == thread).map(|(_, ident)| *ident)
    }
}

/// Holds the GIL for a slice: many actors, many messages. The pool of handlers that block or compute in C does so too (they let go of the
/// GIL themselves); so no actor of either pool begins or ends a turn while the garbage collector looks.
struct Executor(Arc<Idents>);

impl Host for Executor {
    fn thread(&self, body: &mut dyn FnMut()) {
        keep_thread_state(&self.0, body);
    }

    fn hold(&self, body: &mut dyn FnMut()) {
        // `None` while the interpreter shuts down: then nothing Python may run any more.
        Python::try_attach(|py| {
            let stay = crowd::enter(py);
            body();
            crowd::leave(py, stay);
        });
    }

    /// `still` is asked with the GIL, which the thread needs to go on: so the exception cannot meet another actor's handler, if the
    /// worker takes it back (`uninterrupt`) before it begins the next. A handler that is in code of others is looked at again.
    fn interrupt(&self, thread: ThreadId, still: &dyn Fn() -> bool) {
        let _parking = crate::ffi::Parking::begin();
        for _ in 0..INTERRUPT_LOOKS {
            let done = Python::try_attach(|py| {
                let Some(ident) = self.0.of(thread).filter(|_| still()) else { return true };
                if !in_own_code(py, ident).unwrap_or(false) {
                    return false;
                }
                crate::ffi::raise_in(ident, &py.get_type::<Killed>());
                true
            });
            if done != Some(false) {
                return;
            }
            std::thread::sleep(Duration::from_micros(INTERRUPT_PAUSE_US));
        }
    }

    fn uninterrupt(&self) {
        Python::try_attach(|py| {
            if let Some(ident) = self.0.of(std::thread::current().id()) {
                crate::ffi::raise_nothing_in(py, ident);
            }
        });
    }
}

fn keep_thread_state(idents: &Idents, body: &mut dyn FnMut()) {
    let _parking = crate::ffi::Parking::begin();
    Python::try_attach(|py| {
        let ident = own_ident(py).unwrap_or_default();
        let thread = std::thread::current().id();
        idents.0.lock().push((thread, ident));
        let mut body = SendBody(body);
        py.detach(move || body.run());
        idents.0.lock().retain(|(other, _)| *other != thread);
    });
}

/// Runs the life of a thread that tells actors things and runs no code of theirs: with a thread state that is made once.
pub(crate) fn around(body: &mut dyn FnMut()) {
    let _parking = crate::ffi::Parking::begin();
    let mut body = SendBody(body);
    if Python::try_attach(|py| py.detach(|| body.run())).is_none() {
        body.run();
    }
}

fn own_ident(py: Python<'_>) -> PyResult<c_long> {
    let ident: u64 = py.import("_thread")?.call_method0("get_ident")?.extract()?;
    Ok(signed(ident))
}

/// Runs the whole life of a thread that runs actors, so that it is stopped where it stands, and not unwound, when the interpreter's end
/// overtakes it: neither Rust's frames nor greenlet's can be unwound. This frame is at the stack's base, which no switch moves.
#[pyfunction]
pub(crate) fn parked<'py>(body: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let _parking = crate::ffi::Parking::begin();
    body.call0()
}

/// The worker's own closure, run on its own thread: `detach` asks for `Send` only to keep Python objects out of it.
struct SendBody<'a>(&'a mut (dyn FnMut() + 'a));

// SAFETY: PyO3 runs the closure of `detach` on the calling thread before `detach` returns, so the body never changes threads.
#[allow(unsafe_code)]
unsafe impl Send for SendBody<'_> {}

impl SendBody<'_> {
    fn run(&mut self) {
        (self.0)();
    }
}

pub(crate) fn pools(idents: &Arc<Idents>) -> [PoolOptions; 2] {
    let mut executor = PoolOptions::new("python", EXECUTORS);
    executor.host = Arc::new(Executor(idents.clone()));
    let mut releasing = PoolOptions::new("release-gil", RELEASE_GIL_THREADS);
    releasing.host = Arc::new(Executor(idents.clone()));
    [executor, releasing]
}

thread_local! {
    /// The queue that this thread serves, by its address; 0 for all other threads.
    static SERVING: Cell<usize> = const { Cell::new(0) };
}

/// Says that this thread serves many actors (a hub of green threads, an event loop), whose queue this is: a send to a full mailbox with the
/// policy `block` goes over capacity here instead of stopping them all, and nobody waits here for one of them.
#[pyfunction]
pub(crate) fn never_block_here(queue: &Bound<'_, ReadyQueue>) {
    SERVING.set(queue.as_ptr() as usize);
}

pub(crate) fn must_not_block() -> bool {
    serving() != 0
}

/// The queue that this thread serves, or 0.
pub(crate) fn serving() -> usize {
    SERVING.get()
}
