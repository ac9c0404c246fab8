//! One actor system as Python sees it. Owns the core runtime and how it is let go: without the GIL, never after a fork (the child has
//! none of its threads) and never while the interpreter shuts down. Leaves the methods to `runtime`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use iris_runtime::{Handle, Runtime};
use pyo3::prelude::*;

use crate::compat::Compat;
use crate::host;

/// How often this process is a child of a fork, as seen from its first ancestor with this module.
static FORKS: AtomicU32 = AtomicU32::new(0);

pub(crate) fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Called in the child, before any other code of ours.
#[pyfunction]
pub(crate) fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    crate::crowd::forget();
}

pub(crate) struct Core {
    /// Only ever empty while it is dropped.
    runtime: Option<Runtime>,
    pub(crate) handle: Handle,
    pub(crate) compat: Arc<Compat>,
    idents: Arc<host::Idents>,
    process: u32,
}

impl Core {
    pub(crate) fn new() -> Arc<Self> {
        let idents = Arc::default();
        let [python, releasing] = host::pools(&idents);
        let compat = Arc::new(Compat::default());
        // It has references to supervisors, and they to the runtime.
        let told = Arc::downgrade(&compat);
        let runtime = Runtime::builder().pool(python).pool(releasing);
        let runtime = runtime.on_end(move |pid, reason| {
            if let Some(compat) = told.upgrade() {
                compat.ended(pid, reason);
            }
        });
        let after = Arc::downgrade(&compat);
        let runtime = runtime.after_end(move |pid, reason| {
            if let Some(compat) = after.upgrade() {
                compat.tell(pid, reason);
            }
        });
        let runtime = runtime.build();
        let handle = runtime.handle().clone();
        Arc::new(Self { runtime: Some(runtime), handle, compat, idents, process: std::process::id() })
    }

    /// Ends the actors and joins the threads, while the interpreter can still let them finish. A thread that the interpreter's end finds
    /// in Python is unwound by it, which no Rust frame survives; so handlers that compute for ever are interrupted.
    pub(crate) fn close(&self, py: Python<'_>, timeout: Duration) {
        let Some(runtime) = self.runtime.as_ref().filter(|_| !self.is_forked()) else { return };
        self.handle.request_stop();
        if !py.detach(|| self.handle.join(Some(timeout))) {
            self.idents.interrupt(py);
        }
        py.detach(|| runtime.close_within(timeout / 4));
    }

    /// Whether this process is a child that was forked after the runtime was made.
    pub(crate) fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let mut left = self.runtime.take();
        if !self.is_forked() {
            Python::try_attach(|py| {
                // References outlive the runtime, and their reasons must not keep the frames that hold them.
                self.compat.forget_exceptions();
                let runtime = left.take();
                py.detach(move || drop(runtime));
            });
        }
        if let Some(runtime) = left {
            // After a fork, or while the interpreter goes: its threads are not there to be waited for.
            Box::leak(Box::new(runtime));
        }
    }
}
