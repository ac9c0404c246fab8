//! What a guest may make the host hold or write. Memory that the heap's limit sees needs no row here.

/// Timers an isolate may have waiting; what they are here is host memory that the heap limit does not see.
pub const TIMERS_MAX: usize = 100_000;
/// Labels of `console.count` and `console.time` an isolate may have, each kind.
pub const LABELS_MAX: usize = 1000;
/// Bytes of such a label.
pub const LABEL_BYTES_MAX: usize = 1000;
/// Rows and columns of `console.table` beyond these are not shown.
pub const TABLE_ROWS_MAX: usize = 1000;
/// See [`TABLE_ROWS_MAX`].
pub const TABLE_COLUMNS_MAX: usize = 50;
/// Columns that the groups of the console may indent.
pub const GROUP_COLUMNS_MAX: usize = 200;
/// Bytes of a text that is parsed as a URL, which is done in one go: browsers allow 1 or 2 MB where they navigate.
pub const URL_BYTES_MAX: usize = 4 << 20;
/// What showing one value may take: bytes of text, and keys that are looked at. What is left then is only counted.
pub const INSPECT_WORK_MAX: usize = 32 << 20;
/// Code units of an encoding's label that are looked at, and quoted when it is unknown: more than any known label has.
pub const ENCODING_LABEL_UNITS_SHOWN: usize = 100;
/// Bytes that `crypto.getRandomValues` gives at once, by its specification.
pub const RANDOM_BYTES_MAX: usize = 65536;
