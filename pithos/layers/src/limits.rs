//! Every limit of layers, with its reason.

/// Folders in folders; deeper ones are no project, and a walk keeps one step of recursion for each.
pub const DEPTH_MAX: usize = 512;
/// Entries that one walk looks at: a build of a large project has some 100,000.
pub const ENTRIES_MAX: usize = 2_000_000;
/// A file larger than this is not compared line by line.
pub const DIFF_FILE_BYTES_MAX: u64 = 4 << 20;
/// Of a file, so much is looked at to tell whether it is binary.
pub const BINARY_LOOK_BYTES: usize = 8 << 10;
/// One comparison of lines gives up on the shortest answer after this; the answer is longer then, and still right.
pub const DIFF_PATIENCE_MS: u64 = 500;
/// Bytes that are read at once.
pub const READ_BYTES: usize = 64 << 10;
/// Extended attributes of one file.
pub const ATTRIBUTE_BYTES_MAX: usize = 64 << 10;
/// A journal larger than this was not written by a commit.
pub const JOURNAL_BYTES_MAX: u64 = 1 << 30;
