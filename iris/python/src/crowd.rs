//! Python code that does not return, beside others that wait for the GIL. Owns the interpreter's switch interval while that is so: at its usual
//! 5 ms each of eight loops takes as much at every turn, and an answer needs several turns. As soon as code has overstayed that holds a thread
//! of iris, the interval is `CROWDED_S`; when none does any more it is what it was.
//! Invariant: whoever sets the interval meanwhile is respected: it is put back only where it is still ours, and never made longer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use pyo3::prelude::*;

use crate::limits::{CROWDED_S, OVERSTAY_MS, THREADS_WATCHED};

/// Since when each thread that runs handlers has done so without a pause, in milliseconds from `BEGUN`; 0 for a free place.
static SINCE: [AtomicU64; THREADS_WATCHED] = [const { AtomicU64::new(0) }; THREADS_WATCHED];
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// A hub, an event loop or an actor's own thread is stuck, as the watch over them says.
static STUCK: AtomicBool = AtomicBool::new(false);
/// Whether the interval is ours.
static SHORT: AtomicBool = AtomicBool::new(false);
/// What it was before, and what the interpreter tells of ours.
static BEFORE: Mutex<Option<(f64, f64)>> = Mutex::new(None);

fn now_ms() -> u64 {
    // 0 is for nobody.
    BEGUN.elapsed().as_millis() as u64 + 1
}

/// The stay of one thread with the GIL; over when it is dropped.
pub(crate) struct Stay(Option<&'static AtomicU64>);

impl Drop for Stay {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Ordering::Relaxed);
        }
    }
}

/// A thread begins to run handlers; if others have overstayed, turns are short from now on.
pub(crate) fn enter(py: Python<'_>) -> Stay {
    let now = now_ms();
    let free =
        |place: &&AtomicU64| place.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    let stay = Stay(SINCE.iter().find(free));
    adapt(py, now);
    stay
}

/// It has come back.
pub(crate) fn leave(py: Python<'_>, stay: Stay) {
    drop(stay);
    if SHORT.load(Ordering::Relaxed) {
        adapt(py, now_ms());
    }
}

/// Whether a hub, a loop or a thread of an actor is stuck: told by the watch over them.
#[pyfunction]
pub(crate) fn note_stuck(py: Python<'_>, stuck: bool) {
    STUCK.store(stuck, Ordering::Relaxed);
    adapt(py, now_ms());
}

/// In the child of a fork nobody else runs.
pub(crate) fn forget() {
    SINCE.iter().for_each(|place| place.store(0, Ordering::Relaxed));
    STUCK.store(false, Ordering::Relaxed);
}

fn adapt(py: Python<'_>, now: u64) {
    let overstays = |place: &AtomicU64| {
        let since = place.load(Ordering::Relaxed);
        since != 0 && now.saturating_sub(since) >= OVERSTAY_MS
    };
    let crowded = STUCK.load(Ordering::Relaxed) || SINCE.iter().any(overstays);
    if crowded == SHORT.load(Ordering::Relaxed) {
        return;
    }
    // Only memory can be lacking, and then the interval is what it is.
    let _ = if crowded { shorten(py) } else { restore(py) };
}

fn interval(py: Python<'_>) -> PyResult<f64> {
    py.import("sys")?.call_method0("getswitchinterval")?.extract()
}

fn set_interval(py: Python<'_>, seconds: f64) -> PyResult<()> {
    py.import("sys")?.call_method1("setswitchinterval", (seconds,)).map(drop)
}

fn shorten(py: Python<'_>) -> PyResult<()> {
    let before = interval(py)?;
    SHORT.store(true, Ordering::Relaxed);
    if before > CROWDED_S {
        set_interval(py, CROWDED_S)?;
        let ours = interval(py)?;
        *BEFORE.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some((before, ours));
    }
    Ok(())
}

fn restore(py: Python<'_>) -> PyResult<()> {
    SHORT.store(false, Ordering::Relaxed);
    let before = BEFORE.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    match before {
        Some((before, ours)) if interval(py)? == ours => set_interval(py, before),
        _ => Ok(()),
    }
}
