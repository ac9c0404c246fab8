//! Ctrl-C as a request: a thread of its own waits for the signal and passes it on.
//!
//! Invariant: the signal is blocked in the thread that calls [`watch`] and in those it starts later, so that nothing else gets it.

use cynic::CancelToken;
use nix::sys::signal::{SigSet, Signal};

/// Cancels what `token` belongs to whenever the process is interrupted. Call it before other threads are started.
pub(crate) fn watch(token: CancelToken) -> Result<(), String> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.thread_block().map_err(|error| format!("the interrupt signal cannot be waited for: {error}"))?;
    std::thread::spawn(move || {
        while signals.wait().is_ok() {
            token.cancel();
        }
    });
    Ok(())
}
