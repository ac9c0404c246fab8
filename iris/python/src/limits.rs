//! The limits of the Python side, each with its reason. The core's own are in `iris_runtime::limits`.

/// Executor threads for Python handlers: the GIL lets one run, stand-ins for blocked ones aside.
pub(crate) const EXECUTORS: usize = 1;

/// Threads of the `release_gil` pool that may run at the same time unless `set_release_gil_limits` says otherwise.
pub(crate) const RELEASE_GIL_THREADS: usize = 8;

/// Restarts of one child within `COMPAT_PERIOD_S` on the compatibility surface, which has no way to say it.
pub(crate) const COMPAT_INTENSITY: u32 = 10;

/// The window for `COMPAT_INTENSITY`, in seconds.
pub(crate) const COMPAT_PERIOD_S: u64 = 5;

/// Time in seconds that `stop` gives actors to end unless told otherwise.
pub(crate) const STOP_TIMEOUT_S: f64 = 5.0;

/// Time in milliseconds after which a thread that waits looks for signals (Ctrl-C), which only Python code can handle.
pub(crate) const SIGNALS_MS: u64 = 50;

/// Looks at a handler that is to be interrupted, until one finds it in its own code; and the pause between two, in microseconds: long enough
/// for it to leave a call into asyncio. The caller comes back when none does.
pub(crate) const INTERRUPT_LOOKS: u32 = 40;
pub(crate) const INTERRUPT_PAUSE_US: u64 = 500;

/// Attempts to wake the thread behind a queue before it counts as gone.
pub(crate) const WAKE_ATTEMPTS: u32 = 8;

/// Largest buffer of `allocate_buffer`, in bytes.
pub(crate) const BUFFER_MAX: usize = 1 << 34;

/// Exit reasons kept for actors that have ended, so that they can be asked for.
pub(crate) const REASONS_KEPT: usize = 10_000;

/// Actors at a stop from which giving memory back to the system is worth its milliseconds.
pub(crate) const TRIM_ACTORS_MIN: usize = 10_000;

/// The last of them that keep the exception itself, for those who ask soon: it refers to its frames and all that they know.
pub(crate) const EXCEPTIONS_KEPT: usize = 8;

/// Supervisors of a group on the compatibility surface before it is looked whether some have ended.
pub(crate) const GROUP_SWEEP_MIN: usize = 64;

/// Bytes kept of the message of an exception that is older.
pub(crate) const MESSAGE_BYTES_KEPT: usize = 1_024;

/// Bytes kept of its traceback.
pub(crate) const TRACEBACK_BYTES_KEPT: usize = 4_096;

/// The shortest tick between nodes, in milliseconds: below it a busy machine would take its peers for dead.
pub(crate) const TICK_MS_MIN: u64 = 100;

/// The longest time that can be given, in seconds: three decades, far below what a `Duration` or the clock can hold.
pub(crate) const SECONDS_MAX: f64 = 1e9;

/// Time in milliseconds after which a thread that runs handlers without a pause makes others' turns short: twenty slices.
pub(crate) const OVERSTAY_MS: u64 = 20;

/// CPython's switch interval while that is so, in seconds. Beside eight loops an answer takes tens of turns; shorter ones would cost the loops
/// more than a quarter of what they do.
pub(crate) const CROWDED_S: f64 = 0.0002;

/// Threads that are looked at for that; further ones are not.
pub(crate) const THREADS_WATCHED: usize = 128;
