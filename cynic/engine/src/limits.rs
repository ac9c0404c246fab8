//! Every limit of the engine, with its default and its reason. Hosts change the run-time ones per isolate.

pub use cynic_heap::limits::*;

/// Registers of the virtual machine's stack (8 bytes each, reserved, committed when touched): deep recursion must end
/// in a RangeError here or at the native guard.
pub const VM_STACK_REGISTERS: usize = 4 << 20;
/// Bytes of native stack kept free for native code that does not check: anything that recurses checks first.
pub const NATIVE_STACK_RESERVE_BYTES: usize = 192 * 1024;
/// Native stack that a deterministic isolate may use from where it was made: less than what any main thread has.
pub const DETERMINISTIC_STACK_BYTES: usize = 4 << 20;
/// Elements are kept dense while an index is below this, however sparse.
pub const DENSE_INDEX_ALWAYS: u32 = 1024;
/// Above that, elements stay dense while at least one in this many would be in use.
pub const DENSE_FACTOR: u32 = 8;
/// Code units of the longest text of a number in decimal.
pub const NUMBER_TEXT_UNITS_MAX: usize = 32;
/// Bytes that one unit of a source takes at most: a lone surrogate becomes an escape behind a backslash, which the text does not have.
pub const ESCAPED_UNIT_BYTES: usize = 6;
/// How often the text of a dynamic function is held at once: alone as parameters and as a body, together, and in parentheses.
pub const DYNAMIC_FUNCTION_COPIES: usize = 4;
/// Bytes (or units) between two polls of a loop over text or bytes.
pub const POLLED_PIECE: usize = 64 << 10;
/// Depth of a prototype chain of proxies or bound functions before a RangeError.
pub const PROXY_CHAIN_MAX: u32 = 10_000;
/// Promises of `Atomics.waitAsync` that are pending in one isolate: each is outside the heap, and is looked at in every round.
pub const ASYNC_WAITERS_MAX: usize = 1 << 16;
/// Years whose months are counted in a calendar that is computed astronomically: the date library goes through them one by one.
pub const LUNISOLAR_YEARS_MAX: u32 = 2_500;
/// The same in the other calendars that are not the ISO one, where it is quicker.
pub const COUNTED_YEARS_MAX: u32 = 200_000;
/// Own keys of an object that are listed without a look at the room for the list.
pub const KEYS_UNCHECKED_MAX: usize = 4096;
/// Arguments in one call (spread, apply).
pub const ARGUMENTS_MAX: usize = 1 << 18;
/// Most bytes of one array buffer, its maximal length included; beyond it is a RangeError, as on every engine somewhere.
pub const BUFFER_BYTES_MAX: u64 = 1 << 32;
/// Frames of the virtual machine's stack: deep recursion ends in a RangeError here at the latest.
pub const VM_FRAMES_MAX: usize = 200_000;
/// A structured clone is charged to the heap in steps of so many bytes.
pub const CLONE_STEP_BYTES: usize = 16 << 10;
/// Jobs that an empty queue keeps room for.
pub const JOBS_KEPT: usize = 1024;
/// Sources of regular expressions up to this length are kept compiled for the next object.
pub const REGEXP_CACHED_UNITS_MAX: usize = 4096;
/// Code units of a pattern that the message of its SyntaxError quotes.
pub const REGEXP_QUOTED_UNITS_MAX: usize = 4096;
/// Prototypes that are looked through for a text that is only shown.
pub const PREVIEW_PROTOTYPES_MAX: usize = 100;
/// Frames that an error's stack shows.
pub const STACK_TRACE_FRAMES_MAX: usize = 10;
/// Code units of an error's name, and of its message, that its stack begins with: more than anybody reads, and the three parts
/// of a stack always fit a string.
pub const STACK_HEADER_PART_UNITS_MAX: usize = 1 << 27;
/// How often a property site learns before it is left to the lookup cache that all sites share.
pub const IC_MISSES_MAX: u32 = 16;
/// Entries of that cache, a power of two.
pub const LOOKUP_CACHE_ENTRIES: usize = 512;
/// Inline slots of an object literal, or of what a constructor makes; further properties overflow.
pub const INLINE_SLOTS_MAX: u32 = 24;

/// Addresses reserved for compiled code, of which a part is used: a jump reaches all of them, and no guest guesses where the part is.
pub const JIT_RESERVED_BYTES: usize = 64 << 20;
/// Compiled code of an isolate: some 250,000 instructions of bytecode.
pub const JIT_CODE_BYTES_MAX: usize = 16 << 20;
/// Up to how many times 16 bytes are left unused before compiled code.
pub const JIT_GAPS_MAX: usize = 8;
/// How hot a function must be to be compiled.
pub const JIT_HEAT: u32 = 64;
/// How much hotter the running function gets at a look at the limits.
pub const JIT_HEAT_TOP: u32 = 32;
/// How much hotter those get that wait for it.
pub const JIT_HEAT_BELOW: u32 = 8;
/// How much hotter a function gets that compiled code enters.
pub const JIT_HEAT_FROM_CODE: u32 = 2;
/// How many waiting functions a look at the limits sees.
pub const JIT_FRAMES_SEEN: usize = 3;
/// How many functions' heat is remembered; then all are forgotten.
pub const JIT_HEAT_ENTRIES_MAX: usize = 256;
/// Words of bytecode beyond which a function is not compiled: one compilation is a pause that no limit interrupts.
pub const JIT_WORDS_MAX: usize = 100_000;
