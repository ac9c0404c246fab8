//! Every limit of the front end, with its reason.

/// Words of the table of live registers of one function (8 bytes each, a few per word of code): the frames of larger functions
/// are scanned whole.
pub const LIVENESS_WORDS_MAX: usize = 32 * 1024;
/// Passes over a function's code that finding its live registers may take: one per level of loops, about.
pub const LIVENESS_PASSES_MAX: usize = 32;
/// Deepest nesting of a source text, in brackets, operators and keywords: V8 and SpiderMonkey give up well before.
pub const NESTING_MAX: u32 = 16_000;
/// Tokens that a parser of TypeScript may read again because a `<` before them might begin type arguments, added up over all such
/// signs: it tries each, so that `a<b<c…` takes quadratic time.
pub const TYPE_ATTEMPTS_MAX: u64 = 4_000_000;
/// The same for parentheses that may be the parameters of an arrow function with defaults, besides a few for each byte of the text.
pub const ARROW_ATTEMPTS_MAX: u64 = 1_000_000;
/// See [`ARROW_ATTEMPTS_MAX`].
pub const ARROW_ATTEMPTS_PER_BYTE: u64 = 8;
/// Bytes of all texts that the constants of a source's enums may be: they are worked out before the program runs, and each may be
/// twice the one before.
pub const ENUM_TEXT_BYTES_MAX: usize = 1 << 18;
/// Enums that are looked through for the names in the constants of enums, added up.
pub const ENUM_LOOKUPS_MAX: u64 = 4_000_000;
/// The longest text of a number, about.
pub const NUMBER_TEXT_BYTES_MAX: usize = 32;
/// Native stack that parser, semantic pass and compiler need together for one unit of nesting, at most (measured: see
/// `docs/cynic.md`).
pub const FRONT_END_BYTES_PER_UNIT: usize = if cfg!(debug_assertions) { 12 * 1024 } else { 4 * 1024 };
/// Native stack that compiling needs besides.
pub const FRONT_END_BYTES: usize = 256 * 1024;
/// The largest stack that is reserved for compiling one text; only what is used is ever committed.
pub const FRONT_END_STACK_BYTES_MAX: usize = 1 << 30;
/// Functions inside functions: each level is one of recursion when compiled code is checked and dropped.
pub const FUNCTION_NESTING_MAX: usize = 4_000;
/// Bytes of heap room that compiling asks for, per byte of the text: the copies of the text itself.
pub const COMPILE_BYTES_PER_BYTE: usize = 4;
/// Statements and functions that are compiled between two looks at the deadline.
pub const COMPILE_POLL_INTERVAL: u32 = 64;
/// The same for each word and each mark (measured over some 40 kinds of source: at most 132).
pub const COMPILE_BYTES_PER_TOKEN: usize = 140;
/// The same for each function besides (measured: 1,270 for the five tokens of `a=>1,`, the shortest there is).
pub const COMPILE_BYTES_PER_FUNCTION: usize = 700;
/// Bytes of one BigInt literal: the parser's conversion is quadratic and cannot be interrupted.
pub const BIGINT_LITERAL_BYTES_MAX: usize = 1 << 18;
