//! Every limit of the regular-expression engine, with its reason. Callers see a limit as a [`crate::SyntaxError`]
//! (pattern too large) or as [`crate::Interrupted`] (matching too expensive), never as a panic.

/// Nested groups and classes in one pattern. The parser and the compiler recurse once per level, so this bounds native
/// stack; patterns written by people stay under 50.
pub const NESTING_MAX: u32 = 400;

/// Code units of one pattern. The tree takes some fifty bytes for each, before the limit on the program can be looked at.
pub const PATTERN_UNITS_MAX: usize = 1 << 20;

/// Instructions in one compiled program (16 bytes each). Bounded repeats multiply, so a short pattern can ask for much.
pub const PROGRAM_OPS_MAX: usize = 1 << 20;

/// Ranges that a pattern may bring in by properties of characters and by their strings (8 bytes each, several times over): `\p{L}` alone
/// has some 680, and a pattern of a million units has room for a hundred thousand such escapes.
pub const PROPERTY_RANGES_MAX: usize = 1 << 19;

/// Bytes that compiling may come to hold between two reports to its caller.
pub const BYTES_PER_REPORT: isize = 1 << 16;

/// Closures and foldings of sets that the parser remembers: patterns repeat the same few.
pub const CASE_MEMO_ENTRIES_MAX: usize = 256;

/// Sets of one program that get a table of bits for the basic plane (8 KiB each); the others are searched.
pub const SET_PLANES_MAX: usize = 256;

/// Ranges of a first set: beyond, it is "anything".
pub const FIRST_SET_RANGES_MAX: usize = 2048;

/// Ranges looked at while the classes of one pattern are built. A set operation looks at all ranges so far, so a class can ask for the
/// square of its length, and folding one character looks at the table of all foldings.
pub const CLASS_WORK_MAX: usize = 1 << 26;

/// Capturing groups in one pattern; every attempt clears two slots per group.
pub const CAPTURES_MAX: u32 = 1 << 15;

/// A counted repeat is unrolled while copies times body weight stays under this; above, it runs on a counter.
pub const UNROLL_WEIGHT_MAX: u64 = 600;

/// Entries on the backtrack stack (16 bytes each, so 64 MiB).
pub const BACKTRACK_ENTRIES_MAX: usize = 1 << 22;

/// Steps between two calls of the budget callback: rare enough to cost nothing, often enough for a deadline.
pub const STEPS_PER_POLL: u32 = 1 << 14;

/// Steps per input unit after which a search is taken to be catastrophic and remembers its failures (see `exec::memo`).
pub const MEMO_AFTER_STEPS_PER_UNIT: u64 = 12;

/// Bits in the table of remembered failures (32 MiB); a larger product of program and input stays with the budget alone.
pub const MEMO_BITS_MAX: u64 = 1 << 28;

/// Levels of the tree looked at to find which characters can come first; deeper nests are "anything".
pub const FIRST_SET_DEPTH_MAX: u32 = 10;

/// Alternatives of one disjunction, and following items of one sequence, that the first-set analysis compares.
pub const FIRST_SET_WIDTH_MAX: usize = 256;

/// Units of a literal prefix that the search for starts looks at: a longer one would make the search quadratic.
pub const SEARCH_PREFIX_UNITS_MAX: usize = 16;
