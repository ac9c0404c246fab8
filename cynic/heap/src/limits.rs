//! Every limit of the heap, with its default and its reason.

/// Most code units in a string: what fits a length of 30 bits, and what V8 allows (2^29 - 24).
pub const STRING_UNITS_MAX: usize = (1 << 29) - 24;
/// Bytes that one code unit of a string takes at most in UTF-8.
pub const TEXT_BYTES_PER_UNIT: usize = 3;
/// Allocations above this size are checked against the heap limit before they are made; smaller ones set a flag
/// that the next poll sees.
pub const LARGE_ALLOCATION_BYTES: usize = 256 * 1024;
/// Default hard limit of a heap: generous for a command, an embedder sets less.
pub const HEAP_BYTES_DEFAULT: usize = 4 << 30;
/// What the nursery of a small heap grows to where nearly all survives: small enough to stay in a second-level cache.
pub const GC_THRESHOLD_BYTES_DEFAULT: usize = 2 << 20;
/// Elements of an array that are traced at once; a longer array is traced in portions of this size.
pub const GC_ARRAY_PORTION: u32 = 4096;
/// Elements from which on those of an array are remembered one by one when they are written.
pub const GC_LONG_ARRAY: u32 = 1024;
/// Written elements of long arrays that are remembered between two collections; then whole arrays are.
pub const GC_ELEMENTS_REMEMBERED_MAX: usize = 1 << 16;
/// Cells that were written since the last collection: with so many a collection is due, because it has to look at each.
pub const GC_REMEMBERED_MAX: usize = 12_288;
/// Elements of long arrays, or entries of one long table, that were written since the last collection: with so many a collection is due.
pub const GC_WRITTEN_MANY: usize = 1 << 14;
/// Entries from which on those of a Map or Set are remembered one by one when they are written.
pub const GC_LONG_TABLE: usize = 1024;
/// How many values before it is looked at the header of one in a long list is fetched.
pub const GC_FETCHED_AHEAD: u32 = 16;
/// Bytes allocated between two steps of an incremental marking.
pub const GC_STEP_BYTES: usize = 32 * 1024;
/// Cells traced in one step: with the line above, marking runs several times faster than allocation, and a step stays
/// well under a millisecond.
pub const GC_STEP_CELLS: usize = 12_000;
/// The nursery shrinks when more than this survives a young collection, which keeps that stop short, and grows when much
/// less does.
pub const GC_SURVIVING_BYTES_MAX: usize = 1 << 20;
/// The smallest nursery, unless the host asked for less, and the first one.
pub const GC_NURSERY_BYTES_MIN: usize = 512 << 10;
/// The largest nursery, unless the host asked for more.
pub const GC_NURSERY_BYTES_MAX: usize = 16 << 20;
/// The heap grows by one part in this many of what is live before it is collected in full again.
pub const GC_GROWTH_DIVISOR: usize = 4;
/// At least this must survive young collections before a small heap is collected in full.
pub const GC_GROWTH_BYTES_MIN: usize = 512 << 10;
/// Free blocks (16 KiB) whose pages are kept for the next allocations, besides a part of the heap.
pub const GC_FREE_BLOCKS_KEPT: usize = 32;
/// Free blocks whose pages are given back in one stop: unmapping takes time.
pub const GC_BLOCKS_RELEASED_MAX: usize = 64;
/// A heap below this is marked in one stop, which is then short.
pub const GC_INCREMENTAL_MIN_BYTES: usize = 4 << 20;
/// Near the heap's limit at least this part of it is allocated between two collections: each looks at all roots, however little is new.
pub const GC_NEAR_LIMIT_DIVISOR: usize = 256;
/// A collection forced by the heap limit is futile when it gains less than this part of the limit.
pub const GC_GAIN_MIN_DIVISOR: usize = 64;
/// Most rounds of root scanning before the last stop.
pub const GC_ROUNDS_MAX: u32 = 4;
/// Cells traced in one step of a marking whose steps a test wants at every chance.
pub const GC_ZEAL_STEP_CELLS: usize = 64;
/// Cells of a run that such a test hands out at once: more than one, so that a step finds runs open.
pub const GC_ZEAL_RUN_CELLS: usize = 4;
/// Properties of an object before its shape becomes a dictionary.
pub const SHAPE_PROPERTIES_MAX: u32 = 128;
/// Transitions from one shape before further children become dictionaries.
pub const SHAPE_TRANSITIONS_MAX: usize = 512;
/// Most bits of a BigInt; beyond it is a RangeError, more than JavaScriptCore's and SpiderMonkey's 2^20, less
/// than V8's 2^30: one multiplication or division cannot be interrupted, and takes 0.2 s at this size.
pub const BIGINT_BITS_MAX: u64 = 1 << 22;
/// Steps between two looks at fuel, deadline and cancellation.
pub const POLL_INTERVAL: u32 = 4096;
/// Bytes that one step pays for where work is done in one go: between two looks at the limits lie 256 KiB of it.
pub const BYTES_PER_STEP: usize = 64;
/// Work on fewer bytes is not charged: the instruction or the call that does it is a step already.
pub const CHARGED_BYTES_MIN: usize = 1024;
/// Digits of a BigInt, in bytes, that are not charged to the heap: as many again as its cell has.
pub const BIGINT_UNCHARGED_BYTES_MAX: usize = 64;
/// Saved registers of a coroutine, and entries of a Map or Set, that are not charged to the heap.
pub const UNCHARGED_VALUES_MAX: usize = 16;
