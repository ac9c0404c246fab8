//! Every bound of the utilities, with its reason.

/// Bytes read or written at once.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// The status of a program that SIGPIPE ended: 128 + 13.
pub const BROKEN_PIPE_STATUS: i32 = 141;

/// Directory levels that recursive utilities descend; deeper trees are left to the external program's error.
pub const DIRECTORY_DEPTH_MAX: usize = 1_000;

/// The most argument bytes that `xargs` puts on one command line; GNU's default.
pub const XARGS_BYTES_MAX: usize = 131_072;
