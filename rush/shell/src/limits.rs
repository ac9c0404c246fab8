//! Every limit of the shell, with its reason. Nothing else in the crate hard-codes a bound.

/// Nesting of commands, substitutions and groups in the parser; deeper input is a syntax error, not a stack overflow.
/// A group counts up to three levels.
pub const PARSE_DEPTH_MAX: usize = 40_000;

/// A command of a script with at least this much text is kept when it has run, until the next such one has: taking a
/// large tree apart takes a tenth of the time of parsing it, and after the last one nobody needs the memory.
pub const LARGE_COMMAND_BYTES: usize = 64 * 1024;

/// Function calls on the stack when FUNCNEST does not say otherwise; bash dies of stack overflow much later.
pub const CALL_DEPTH_MAX: usize = 10_000;

/// Alias expansions in one command; a guard against growth, recursion itself is prevented by name.
pub const ALIAS_EXPANSIONS_MAX: usize = 10_000;

/// Buffered output of one builtin before it is written out, in bytes.
pub const OUTPUT_BUFFER_BYTES: usize = 32 * 1024;

/// Links followed from nameref to nameref before it counts as a loop (bash's NAMEREF_MAX).
pub const NAMEREF_DEPTH_MAX: usize = 8;

/// An indexed array with at most this many holes per element stays a plain vector.
pub const ARRAY_GROWTH_SLACK: i64 = 64;

/// Native stack that work uses (at most half of what `ulimit -s` allows) before it moves to segments of its own: half of the
/// 2 MiB that a thread usually has.
pub const NATIVE_STACK_BYTES: usize = 1 << 20;

/// One segment of stack. Memory is only taken for what is used of it.
pub const STACK_SEGMENT_BYTES: usize = 16 << 20;

/// What a segment keeps free for work that does not ask for room: builtins and in-process utilities.
pub const STACK_RESERVE_BYTES: usize = 2 << 20;

/// Segments of stack of one thread: 10,000 function calls with a few compound commands each.
pub const STACK_SEGMENTS_MAX: usize = 32;

/// What fits into a pipe without a reader (Linux's default); more is fed by a child.
pub const PIPE_BYTES: usize = 65_536;

/// Bytes read at once from files, pipes and substitutions.
pub const READ_CHUNK_BYTES: usize = 65_536;

/// Bytes that `read` takes from a file in advance; what is not used is put back before anyone else can look.
pub const READ_AHEAD_BYTES: usize = 8_192;

/// History entries kept when HISTSIZE does not say (bash's default).
pub const HISTORY_ENTRIES_DEFAULT: usize = 500;

/// Pipelines whose stages a host is told of, per run: the last ones.
pub const PIPELINES_RECORDED_MAX: usize = 64;

/// Of a history file, what is read: the newest entries.
pub const HISTORY_BYTES_MAX: u64 = 64 << 20;

/// Of a file of line editing (`~/.inputrc`).
pub const INIT_FILE_BYTES_MAX: u64 = 4 << 20;

/// Files of line editing (`~/.inputrc`) that include one another.
pub const INIT_FILE_DEPTH_MAX: usize = 16;

/// How long a program is silent before the spinner is shown.
pub const SPINNER_DELAY_MS: i32 = 50;

/// How long a frame of the spinner stands.
pub const SPINNER_FRAME_MS: i32 = 80;

/// Elements for which the parser keeps the room of a list that it has built; a longer list is most of the tree, and keeps its
/// own.
pub const SPARE_ROOM_MAX: usize = 4096;

/// The longest here-document that programs find as a pipe, which holds this much; a longer one is a file, as in bash.
pub const HERE_DOCUMENT_PIPE_BYTES: usize = 64 * 1024;

/// Groups of a pattern inside one another: as deep as groups of commands. A deeper pattern is an error.
pub const PATTERN_DEPTH_MAX: usize = 40_000;
