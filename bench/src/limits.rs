//! Every limit and default of the harness, each with its reason.

use std::time::Duration;

/// Timed runs of one row, after one warm-up that is discarded: the number that recorded runs promise.
pub(crate) const RUNS_DEFAULT: usize = 10;
/// More runs than this say nothing new and make an accident expensive.
pub(crate) const RUNS_MAX: usize = 1000;
/// Runs of one growth point: three sizes tell more than many runs of one.
pub(crate) const GROWTH_RUNS: usize = 3;
/// A single process that takes longer is killed and its row is reported as timed out.
pub(crate) const PROCESS_TIMEOUT: Duration = Duration::from_secs(20);
/// A program that times itself is run again until the runs of one sample have measured this together: what lasts a hundredth of a second
/// shows whom the system happened to let run.
pub(crate) const SAMPLE_MEASURED_MIN: Duration = Duration::from_millis(100);
/// The most runs of one sample, and the time after which no other is begun.
pub(crate) const SAMPLE_RUNS_MAX: usize = 10;
pub(crate) const SAMPLE_BUDGET: Duration = Duration::from_secs(2);
/// A contestant is given this long for the runs of one row; slow ones make fewer runs, never fewer than `RUNS_MIN`.
pub(crate) const ROW_BUDGET: Duration = Duration::from_secs(25);
/// The fewest timed runs from which a median is printed.
pub(crate) const RUNS_MIN: usize = 3;
/// Output of a contestant that is kept for the check and for messages.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 1 << 20;
/// Characters of a contestant's output or error that a message shows.
pub(crate) const EXCERPT_CHARS: usize = 100;
/// How often the watchdog looks at the clock.
pub(crate) const WATCHDOG_PERIOD: Duration = Duration::from_millis(50);
/// Growth with a log-log slope above this is flagged: 1 is linear, n log n over two decades stays below.
pub(crate) const SLOPE_MAX: f64 = 1.2;
/// A growth point below this is mostly start-up noise and does not enter the slope.
pub(crate) const SLOPE_POINT_MS_MIN: f64 = 2.0;
/// The same for memory, over the resident set of an empty program.
pub(crate) const SLOPE_POINT_KB_MIN: f64 = 1024.0;
/// The factors of a growth run on the size that the ordinary row has.
pub(crate) const GROWTH_FACTORS: [(&str, f64); 3] = [("x1", 0.1), ("x10", 1.0), ("x100", 10.0)];
/// Rounds of the five commands in one measured shell session.
pub(crate) const SESSION_ROUNDS: usize = 40;
/// Figures within this fraction of each other are printed without colour: layout noise is larger than that.
pub(crate) const NOISE: f64 = 0.05;
