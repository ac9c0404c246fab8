//! Every limit of an overlay, with its reason.

/// Files and folders that the upper folders of one overlay may hold, taken together: a list of more than these is no longer
/// looked at, and a tree of more is better committed by the tool that made it.
pub const CHANGES_MAX: usize = 1_000_000;

/// A file larger than this is named in a diff with its sizes and not compared line by line.
pub const DIFF_FILE_BYTES_MAX: u64 = 4 << 20;

/// How long two files are compared before the rest is shown as replaced, in milliseconds.
pub const DIFF_PATIENCE_MS: u64 = 1_000;

/// Lines of context around each change.
pub const DIFF_CONTEXT_LINES: usize = 3;

/// How much of a file decides whether it is text.
pub(crate) const BINARY_PROBE_BYTES: usize = 8 << 10;

/// Levels that one overlay may have; the kernel takes more, but each is looked up in every miss.
pub const LEVELS_MAX: usize = 16;
