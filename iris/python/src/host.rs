//! The threads that run Python. Owns their thread state: it is made once per thread and kept, because making one per message costs
//! 9 microseconds. Invariant: an executor holds the GIL only inside `hold`. Leaves slices and stand-ins to the core's scheduler.

use std::cell::Cell;

use iris_runtime::{Host, PoolOptions};
use pyo3::prelude::*;

use crate::limits::{EXECUTORS, RELEASE_GIL_THREADS};

/// The pool of Python handlers.
pub(crate) const PYTHON_POOL: u8 = 1;
/// The pool of handlers with `release_gil=True`.
pub(crate) const RELEASE_GIL_POOL: u8 = 2;

/// Holds the GIL for a slice: many actors, many messages.
struct Executor;

impl Host for Executor {
    fn thread(&self, body: &mut dyn FnMut()) {
        keep_thread_state(body);
    }

    fn hold(&self, body: &mut dyn FnMut()) {
        // `None` while the interpreter shuts down: then nothing Python may run any more.
        Python::try_attach(|_| body());
    }
}

/// Keeps the thread state, takes the GIL per message: for handlers that block or compute in C.
struct Releasing;

impl Host for Releasing {
    fn thread(&self, body: &mut dyn FnMut()) {
        keep_thread_state(body);
    }
}

fn keep_thread_state(body: &mut dyn FnMut()) {
    Python::try_attach(|py| {
        let mut body = SendBody(body);
        py.detach(move || body.run());
    });
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

pub(crate) fn pools() -> [PoolOptions; 2] {
    let mut executor = PoolOptions::new("python", EXECUTORS);
    executor.host = std::sync::Arc::new(Executor);
    let mut releasing = PoolOptions::new("release-gil", RELEASE_GIL_THREADS);
    releasing.host = std::sync::Arc::new(Releasing);
    [executor, releasing]
}

thread_local! {
    static NEVER_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread serves many actors (a hub of green threads, an event loop): a send to a full mailbox with the policy
/// `block` goes over capacity here instead of stopping them all.
#[pyfunction]
pub(crate) fn never_block_here() {
    NEVER_BLOCK.set(true);
}

pub(crate) fn must_not_block() -> bool {
    NEVER_BLOCK.get()
}
