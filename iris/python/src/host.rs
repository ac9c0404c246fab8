//! The threads that run Python. Owns their thread state: it is made once per thread and kept, because making one per message costs
//! 9 microseconds. Invariant: an executor holds the GIL only inside `hold`. Leaves slices and stand-ins to the core's scheduler.

use std::cell::Cell;
use std::sync::Arc;

use iris_runtime::{Host, PoolOptions};
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::limits::{EXECUTORS, RELEASE_GIL_THREADS};
use crate::queue::ReadyQueue;

/// The pool of Python handlers.
pub(crate) const PYTHON_POOL: u8 = 1;
/// The pool of handlers with `release_gil=True`.
pub(crate) const RELEASE_GIL_POOL: u8 = 2;

/// The identities of the threads that run Python handlers, as Python's `threading` knows them.
#[derive(Default)]
pub(crate) struct Idents(Mutex<Vec<std::ffi::c_long>>);

impl Idents {
    /// Raises `SystemExit` in every handler that runs: the way to end one that computes for ever. It cannot reach a handler that waits
    /// outside Python; such a thread is left alone until the process ends.
    pub(crate) fn interrupt(&self, py: Python<'_>) {
        for ident in self.0.lock().iter() {
            crate::ffi::raise_system_exit_in(py, *ident);
        }
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
        Python::try_attach(|_| body());
    }
}

fn keep_thread_state(idents: &Idents, body: &mut dyn FnMut()) {
    let _parking = crate::ffi::Parking::begin();
    Python::try_attach(|py| {
        let ident = own_ident(py).unwrap_or_default();
        idents.0.lock().push(ident);
        let mut body = SendBody(body);
        py.detach(move || body.run());
        idents.0.lock().retain(|other| *other != ident);
    });
}

fn own_ident(py: Python<'_>) -> PyResult<std::ffi::c_long> {
    let ident: u64 = py.import("_thread")?.call_method0("get_ident")?.extract()?;
    // The interpreter's own functions take the same bits as a signed number.
    Ok(ident.cast_signed() as std::ffi::c_long)
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
