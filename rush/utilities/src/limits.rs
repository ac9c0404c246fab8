//! Every bound of the utilities, with its reason.

/// Bytes read or written at once.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// Bytes read at once where they are passed on as they are, or nearly: fewer system calls, and still in the processor's cache.
pub const COPY_BLOCK_BYTES: usize = 128 * 1024;

/// The status of a program that SIGPIPE ended: 128 + 13.
pub const BROKEN_PIPE_STATUS: i32 = 141;

/// The status of what SIGINT ended: 128 + 2.
pub const INTERRUPTED_STATUS: i32 = 130;

/// Lines that `sort` puts in order at once; between such runs it asks whether it is to stop.
pub const SORT_RUN_LINES: usize = 1 << 16;

/// Directory levels that recursive utilities descend; deeper trees are left to the external program's error.
pub const DIRECTORY_DEPTH_MAX: usize = 1_000;

/// The most argument bytes that `xargs` puts on one command line; GNU's default.
pub const XARGS_BYTES_MAX: usize = 131_072;

/// The largest file inside `.git` that the in-process git reads (indexes, lists of refs, indexes of packs, loose objects).
pub const GIT_FILE_BYTES_MAX: u64 = 16 << 20;

/// The largest object that the in-process git reads.
pub const GIT_OBJECT_BYTES_MAX: usize = 32 << 20;

/// Deltas on the way to one object; git makes at most 4,095.
pub const GIT_DELTA_DEPTH_MAX: usize = 4_095;

/// Index entries up to which the in-process git looks at the work tree; beyond, git's threads win.
pub const GIT_ENTRIES_MAX: usize = 5_000;

/// Folder entries that looking for untracked files reads before it is left to git.
pub const GIT_WALK_ENTRIES_MAX: usize = 50_000;

/// Commits that counting how far two branches are apart reads before it is left to git.
pub const GIT_COMMITS_MAX: usize = 20_000;

/// Removed or new files among which the in-process git looks for renamed ones; git's own limit is 1,000.
pub const GIT_RENAMES_MAX: usize = 200;

/// The largest file that the in-process `git diff` compares.
pub const GIT_DIFF_BYTES_MAX: usize = 4 << 20;

/// Changed paths whose content the in-process `git diff` compares; more are left to git.
pub const GIT_DIFF_PATHS_MAX: usize = 1_000;

/// Commits that the in-process `git log` prints; a longer history is streamed by git.
pub const GIT_LOG_MAX: usize = 2_000;

/// Bytes of JSON that `json` reads; the values take several times as much.
pub const JSON_BYTES_MAX: u64 = 64 << 20;

/// Parentheses and brackets inside each other in a filter of `json query`.
pub const JSON_FILTER_DEPTH_MAX: usize = 64;

/// Results of a filter of `json query`, at each of its stages.
pub const JSON_RESULTS_MAX: usize = 1_000_000;

/// Nulls that `json set` puts before an item behind the end of an array.
pub const JSON_PADDING_MAX: usize = 100_000;

/// Levels of braces, parentheses and operators in a program of `awk`; deeper ones are left to the program.
pub const AWK_DEPTH_MAX: usize = 200;

/// Operators in one expression of `awk`, which may lie within each other; more are left to the program.
pub const AWK_OPERATORS_MAX: usize = 1_000;

/// Calls of functions within calls in `awk`: they take the heap's memory and not the stack's.
pub const AWK_CALLS_MAX: usize = 100_000;

/// Fields of a record that `awk` makes by assigning to one.
pub const AWK_FIELDS_MAX: usize = 10_000_000;

/// The longest record of `awk`: fields are counted in 32 bits.
pub const AWK_RECORD_BYTES_MAX: usize = 1 << 30;

/// The widest output of one conversion of `awk`'s `printf`.
pub const AWK_WIDTH_MAX: usize = 1 << 24;

/// Regular expressions that `awk` makes as it runs and keeps.
pub const AWK_PATTERNS_MAX: usize = 256;

/// Jumps back and calls between two questions whether `awk` is to stop.
pub const AWK_POLL_OPS: u32 = 10_000;

/// The longest text that `awk` makes without asking whether it is to stop.
pub const AWK_POLL_BYTES: usize = 64 * 1024;

/// Bytes of the two files that `diff` compares in memory; larger ones are left to the program.
pub const DIFF_BYTES_MAX: u64 = 1 << 30;
