//! Every limit of the `cynic` command, with its reason. The engine's own limits are in the engine.

use std::time::Duration;

/// Bytes of a source file: no string is longer, and a device may have no end.
pub(crate) const SOURCE_BYTES_MAX: u64 = 1 << 29;

/// Guest time for one test262 test. The slowest tests (whole-range URI decoding, regular expression properties) need well
/// under a second in a release build; checked builds are ten times slower.
pub(crate) const TEST262_DEADLINE: Duration = Duration::from_secs(20);

/// Wall time after which a worker is killed. Beyond the deadline, so that only a worker that fails to notice its
/// deadline is ever killed.
pub(crate) const TEST262_WATCHDOG: Duration = Duration::from_secs(30);

/// How much longer than usual a test may take when every allocation collects.
pub(crate) const TEST262_ZEAL_FACTOR: u32 = 10;

/// Heap of one test262 test. The largest arrays of the suite need some tens of MB.
pub(crate) const TEST262_HEAP_BYTES_MAX: usize = 512 << 20;

/// Native stack of a test262 worker's evaluating thread; as large as a main thread's usual stack.
pub(crate) const TEST262_STACK_BYTES: usize = 16 << 20;

/// How much of a dead worker's standard error goes into the report.
pub(crate) const TEST262_CRASH_MESSAGE_BYTES_MAX: usize = 2000;

/// Bytes of a package's description that is read to resolve an import.
pub(crate) const DESCRIPTION_BYTES_MAX: u64 = 4 << 20;

/// Columns of a source line that an uncaught error shows: a bundle may be one line.
pub(crate) const EXCERPT_COLUMNS_MAX: usize = 160;

/// Entries that the REPL's history file keeps.
pub(crate) const HISTORY_ENTRIES_MAX: usize = 1000;

/// Completions that the REPL offers at once: nobody reads more.
pub(crate) const COMPLETIONS_MAX: usize = 1000;

/// How often the progress line is redrawn.
pub(crate) const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
