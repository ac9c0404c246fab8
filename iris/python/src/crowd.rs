//! Python code that does not return, beside others that wait for the GIL. Owns the interpreter's switch interval while that is so: at its usual
//! 5 ms each of eight loops takes as much at every turn, and an answer needs several turns. As soon as code has overstayed that holds a thread
//! of iris, the interval is `CROWDED_S`; when none does any more it is what it was.
//! Invariant: whoever sets the interval meanwhile is respected: it is put back only where it is still ours, and never made longer. What the
//! interval was, what ours is and whether it is ours change in one step, under one lock: also where no GIL orders those who get here.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::limits::{CROWDED_S, OVERSTAY_MS, THREADS_WATCHED};

/// Since when each thread that runs handlers has done so without a pause, in milliseconds from `BEGUN`; 0 for a free place.
static SINCE: [AtomicU64; THREADS_WATCHED] = [const { AtomicU64::new(0) }; THREADS_WATCHED];
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// A hub, an event loop or an actor's own thread is stuck, as the watch over them says.
static STUCK: AtomicBool = AtomicBool::new(false);
/// Whether turns are short: `TURNS` as it was left, for those who only look. Written with the lock held.
static SHORT: AtomicBool = AtomicBool::new(false);
static TURNS: Mutex<Turns> = Mutex::new(Turns::Usual);

/// How long turns are.
#[derive(Clone, Copy)]
enum Turns {
    /// As the program has them.
    Usual,
    /// Short; as the program had them before, and what the interpreter tells of ours. Nothing of it where they were as short before.
    Short(Option<(f64, f64)>),
}

fn now_ms() -> u64 {
    // 0 is for nobody.
    BEGUN.elapsed().as_millis() as u64 + 1
}

/// The stay of one thread with the GIL; over when it is dropped.
pub(crate) struct Stay(Option<&'static AtomicU64>);

impl Drop for Stay {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Ordering::SeqCst);
        }
    }
}

/// A thread begins to run handlers; if others have overstayed, turns are short from now on.
pub(crate) fn enter(py: Python<'_>) -> Stay {
    let now = now_ms();
    let free =
        |place: &&AtomicU64| place.compare_exchange(0, now, Ordering::SeqCst, Ordering::Relaxed).is_ok();
    let stay = Stay(SINCE.iter().find(free));
    adapt(py, now);
    stay
}

/// It has come back.
pub(crate) fn leave(py: Python<'_>, stay: Stay) {
    drop(stay);
    if SHORT.load(Ordering::SeqCst) {
        adapt(py, now_ms());
    }
}

/// Whether a hub, a loop or a thread of an actor is stuck: told by the watch over them.
#[pyfunction]
pub(crate) fn note_stuck(py: Python<'_>, stuck: bool) {
    STUCK.store(stuck, Ordering::SeqCst);
    adapt(py, now_ms());
}

/// In the child of a fork nobody else runs.
pub(crate) fn forget() {
    SINCE.iter().for_each(|place| place.store(0, Ordering::SeqCst));
    STUCK.store(false, Ordering::SeqCst);
}

fn crowded(now: u64) -> bool {
    let overstays = |place: &AtomicU64| {
        let since = place.load(Ordering::SeqCst);
        since != 0 && now.saturating_sub(since) >= OVERSTAY_MS
    };
    STUCK.load(Ordering::SeqCst) || SINCE.iter().any(overstays)
}

/// Makes turns as long as they are to be. Nobody waits for the lock, which is held while the interpreter is called (and with that, perhaps, a
/// finalizer that gets here again): who has it looks once more when it has let go, so what changed meanwhile is not passed over.
fn adapt(py: Python<'_>, now: u64) {
    while crowded(now) != SHORT.load(Ordering::SeqCst) {
        let Some(mut turns) = TURNS.try_lock() else { return };
        // Only memory can be lacking, and then the interval is what it is.
        *turns = match (crowded(now), *turns) {
            (true, Turns::Usual) => Turns::Short(shorten(py).ok().flatten()),
            (false, Turns::Short(before)) => {
                let _ = before.map(|before| restore(py, before));
                Turns::Usual
            }
            (_, as_they_are) => as_they_are,
        };
        SHORT.store(matches!(*turns, Turns::Short(_)), Ordering::SeqCst);
    }
}

fn interval(py: Python<'_>) -> PyResult<f64> {
    py.import("sys")?.call_method0("getswitchinterval")?.extract()
}

fn set_interval(py: Python<'_>, seconds: f64) -> PyResult<()> {
    py.import("sys")?.call_method1("setswitchinterval", (seconds,)).map(drop)
}

/// What the interval was and what the interpreter tells of ours, if it was longer.
fn shorten(py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
    let before = interval(py)?;
    if before <= CROWDED_S {
        return Ok(None);
    }
    set_interval(py, CROWDED_S)?;
    Ok(Some((before, interval(py)?)))
}

fn restore(py: Python<'_>, (before, ours): (f64, f64)) -> PyResult<()> {
    if interval(py)? == ours { set_interval(py, before) } else { Ok(()) }
}
