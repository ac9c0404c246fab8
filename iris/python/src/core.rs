//! One actor system as Python sees it. Owns the core runtime and how it is let go: without the GIL, never after a fork (the child has
//! none of its threads) and never while the interpreter shuts down. Leaves the methods to `runtime`.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use iris_runtime::{Handle, Runtime};
use pyo3::prelude::*;

use crate::compat::Compat;
use crate::host;

pub(crate) struct Core {
    runtime: ManuallyDrop<Runtime>,
    pub(crate) handle: Handle,
    pub(crate) compat: Arc<Compat>,
    process: u32,
}

impl Core {
    pub(crate) fn new() -> Arc<Self> {
        let [python, releasing] = host::pools();
        let runtime = Runtime::builder().pool(python).pool(releasing).build();
        let handle = runtime.handle().clone();
        Arc::new(Self {
            runtime: ManuallyDrop::new(runtime),
            handle,
            compat: Arc::new(Compat::default()),
            process: std::process::id(),
        })
    }

    /// Whether this process is a child that was forked after the runtime was made.
    pub(crate) fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }
}

#[allow(unsafe_code)]
impl Drop for Core {
    fn drop(&mut self) {
        if self.is_forked() {
            return;
        }
        // SAFETY: `drop` runs once, and nothing uses the field afterwards.
        let runtime = unsafe { ManuallyDrop::take(&mut self.runtime) };
        let mut left = Some(runtime);
        Python::try_attach(|py| {
            let runtime = left.take();
            py.detach(move || drop(runtime));
        });
        if let Some(runtime) = left {
            // The interpreter is going: its threads may not be waited for.
            let _ = ManuallyDrop::new(runtime);
        }
    }
}
