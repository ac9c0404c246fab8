//! Every bound of what is kept, with its reason.

/// How long an entry is kept, in seconds: a week.
pub const AGE_SECONDS_MAX: u64 = 7 * 24 * 3600;

/// Entries that are kept: what a list can show, and a look through all of them takes a few milliseconds.
pub const ENTRIES_MAX: usize = 200;

/// Bytes of everything that is kept, after which the oldest entries go.
pub const BYTES_MAX: u64 = 2 << 30;

/// The largest file that is copied (where a link does not do): a tenth of a second before a command is the most that
/// nobody notices.
pub const COPY_BYTES_MAX: u64 = 256 << 20;

/// Files and folders that are kept of one command: a second's work.
pub const FILES_MAX: u64 = 200_000;

/// Levels of folders: each holds two descriptors while it is walked.
pub const DEPTH_MAX: usize = 200;

/// Things that one entry keeps: a loop over more is not a slip of the hand.
pub const ACTIONS_MAX: usize = 10_000;

/// Bytes copied at once.
pub const BLOCK_BYTES: usize = 128 << 10;
