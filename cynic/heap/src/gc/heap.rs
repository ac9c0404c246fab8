//! [`Heap`]: allocation, byte accounting and the decision when to collect.
//!
//! Small cells come from size classes; each class bumps a pointer through a run of free cells
//! ([`Heap::alloc_fast`], a compare and an add). Cells that own Rust memory live in classes of their own
//! (`finalizable`), so that sweeping the others never touches a cell. When the run is used up, the slow path
//! (called from `Vm`, which knows the roots) may collect, then finds the next run.
//! Invariant: `alloc` bits cover the whole run that is being bumped through; [`Heap::flush`] clears the rest of it
//! before anybody reads them.

use std::cell::{Cell, OnceCell, UnsafeCell};
use std::mem::offset_of;
use std::rc::Rc;

use super::block::{BLOCK_BYTES, Block, CELL_MIN, Chunks, SMALL_MAX};
use super::roots::RootRegistry;
use super::{CellHeader, DataHead, ValueArray};
use crate::limits;

const fn build_class_sizes() -> [u16; CLASS_COUNT] {
    let mut sizes = [0u16; CLASS_COUNT];
    let mut i = 0;
    while i < FINE_CLASSES {
        sizes[i] = ((i + 1) * CLASS_STEP) as u16;
        if sizes[i] < CELL_MIN as u16 {
            sizes[i] = CELL_MIN as u16;
        }
        i += 1;
    }
    let rest =
        [320, 384, 448, 512, 640, 768, 896, 1024, 1360, 1632, 2048, 2720, 4096, 5456, SMALL_MAX as u16];
    let mut k = 0;
    while k < rest.len() {
        sizes[FINE_CLASSES + k] = rest[k];
        k += 1;
    }
    sizes
}

/// Size classes of one kind (plain or finalizable).
pub(crate) const CLASS_COUNT: usize = FINE_CLASSES + 15;
/// Bytes between the sizes of the classes for the smallest cells: all cells are made of words.
const CLASS_STEP: usize = 8;
/// How many classes there are with that step.
const FINE_CLASSES: usize = FINE_MAX / CLASS_STEP;
/// The largest cell of those classes.
const FINE_MAX: usize = 256;
static CLASS_SIZES: [u16; CLASS_COUNT] = build_class_sizes();

const fn build_class_table() -> [u8; SMALL_MAX / 16 + 1] {
    let sizes = build_class_sizes();
    let mut table = [0u8; SMALL_MAX / 16 + 1];
    let mut i = 1;
    while i < table.len() {
        let mut class = 0;
        while (sizes[class] as usize) < i * 16 {
            class += 1;
        }
        table[i] = class as u8;
        i += 1;
    }
    table
}

static CLASS_TABLE: [u8; SMALL_MAX / 16 + 1] = build_class_table();

/// The class for a cell of `bytes` ([`CELL_MIN`] to [`SMALL_MAX`]).
#[inline(always)]
fn class_of(bytes: usize) -> usize {
    if bytes <= FINE_MAX { bytes.div_ceil(CLASS_STEP) - 1 } else { CLASS_TABLE[bytes.div_ceil(16)] as usize }
}

/// The run of free cells being handed out.
#[derive(Copy, Clone, Default)]
pub(crate) struct Bump {
    pub(crate) cursor: usize,
    pub(crate) end: usize,
}

/// What every block points back to.
#[derive(Default)]
pub(crate) struct HeapLink {
    remembered: UnsafeCell<Vec<*const CellHeader>>,
    /// Elements of long arrays on that list that were written one by one.
    elements: UnsafeCell<Vec<(*const ValueArray, u32)>>,
}

/// Puts a black cell on its heap's remembered list.
pub(super) fn remember(header: &CellHeader) {
    let block = Block::of(header as *const CellHeader as usize);
    // SAFETY: a black cell lies in a block of a live heap (immortal cells are never black), and the heap is
    // used by one thread at a time, so the list is not borrowed.
    unsafe { (*(*(*block).link).remembered.get()).push(header) }
}

/// Notes that one element of an array that is or will be on the remembered list was written; false when there are too many already.
#[inline(never)]
pub(super) fn remember_element(array: &ValueArray, i: u32) -> bool {
    let block = Block::of(array as *const ValueArray as usize);
    // SAFETY: as in `remember`: the array has a colour, so it lies in a block.
    let elements = unsafe { &mut *(*(*block).link).elements.get() };
    let room = elements.len() < limits::GC_ELEMENTS_REMEMBERED_MAX;
    if room && array.get(i).is_cell() {
        elements.push((array, i));
    }
    room
}

/// The blocks of one size class.
#[derive(Default)]
pub(crate) struct SizeClass {
    pub(crate) blocks: Vec<*mut Block>,
    /// The block whose free runs are being handed out, and the cell to look for the next one at.
    current: Option<*mut Block>,
    next_cell: usize,
    /// Blocks that the last young collection found room in.
    roomy: Vec<*mut Block>,
    /// The first of `blocks` that has not been looked at since the last full collection.
    next_block: usize,
}

/// Figures about the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcStats {
    /// Full collections.
    pub full_collections: u64,
    /// Young collections.
    pub young_collections: u64,
    /// Bytes found live by the last full collection.
    pub live_bytes: usize,
    /// Bytes in use now: cells, and what was charged for buffers.
    pub used_bytes: usize,
    /// Most bytes in use at any collection.
    pub peak_bytes: usize,
    /// The longest stop, in nanoseconds.
    pub pause_ns_max: u64,
    /// All stops together, in nanoseconds.
    pub pause_ns_total: u64,
    /// Number of stops (a collection done in steps has several).
    pub pauses: u64,
    /// Elements of arrays that were traced again because they were, or may have been, written.
    pub elements_traced_again: u64,
    /// Stops by length: below 0.25, 0.5, 1, 2, 4, 8 milliseconds, and longer.
    pub pause_histogram: [u64; 7],
}

/// How a test makes the collector show its mistakes. What is freed is poisoned, unless it is off.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Zeal {
    /// Collect when it is due.
    #[default]
    Off,
    /// A full collection in one stop at every allocation.
    Whole,
    /// Marking is always under way: a small step of it at every run of cells that is handed out, and runs are short. So steps fall while
    /// runs of other classes are open, and between any two instructions that allocate.
    Steps,
}

/// The heap of one isolate.
pub struct Heap {
    pub(crate) bump: [Bump; CLASS_COUNT * 2],
    pub(crate) classes: [SizeClass; CLASS_COUNT * 2],
    pub(crate) large: Vec<*mut Block>,
    /// Blocks with cells that were handed out since the last collection.
    young: Vec<*mut Block>,
    pub(crate) chunks: Chunks,
    link: Box<HeapLink>,
    external: Rc<Cell<usize>>,
    pub(crate) roots: Rc<RootRegistry>,
    /// Bytes of cells handed out (whole runs until the next flush).
    pub(crate) cell_bytes: usize,
    /// `cell_bytes` plus external bytes right after the last collection.
    pub(crate) bytes_after_gc: usize,
    /// Used bytes at which the next collection is due.
    pub(crate) collect_at: usize,
    /// Used bytes at which a due collection is a full one.
    pub(crate) full_at: usize,
    pub(crate) limit: usize,
    pub(crate) min_threshold: usize,
    /// What the nursery of a small heap usually is.
    first_nursery: usize,
    /// Bytes allocated between two young collections: as many as leave a bounded number of survivors.
    nursery: usize,
    pub(crate) mark: super::collect::MarkState,
    pub(crate) stats: GcStats,
    zeal: Zeal,
    /// `cell_bytes` at the last step of an incremental marking.
    pub(crate) stepped_at: usize,
    /// Used bytes after a collection at the limit that gained next to nothing.
    pub(crate) futile_at: Option<usize>,
    /// Collection is postponed while this is not zero.
    pub(crate) inhibit: u32,
}

/// Bytes outside the heap that are charged to it; released when dropped. The default charges nothing.
#[derive(Default)]
pub struct ExternalCharge {
    /// Of the heap that is charged, once there is something to charge.
    counter: OnceCell<Rc<Cell<usize>>>,
    bytes: Cell<usize>,
}

impl ExternalCharge {
    /// Charged bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Charges `bytes` in their place, without checking the limit.
    pub fn set_beyond_limit(&self, heap: &Heap, bytes: usize) {
        let counter = self.counter.get_or_init(|| heap.external.clone());
        counter.set(counter.get().saturating_sub(self.bytes.replace(bytes)) + bytes);
    }
}

impl Drop for ExternalCharge {
    fn drop(&mut self) {
        if let Some(counter) = self.counter.get() {
            counter.set(counter.get().saturating_sub(self.bytes.get()));
        }
    }
}

impl Heap {
    /// A heap that may hold `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Heap {
            bump: [Bump::default(); CLASS_COUNT * 2],
            classes: std::array::from_fn(|_| SizeClass::default()),
            large: Vec::new(),
            young: Vec::new(),
            chunks: Chunks::default(),
            link: Box::new(HeapLink::default()),
            external: Rc::default(),
            roots: Rc::default(),
            cell_bytes: 0,
            bytes_after_gc: 0,
            collect_at: limits::GC_NURSERY_BYTES_MIN,
            full_at: limits::GC_GROWTH_BYTES_MIN + limits::GC_NURSERY_BYTES_MIN,
            limit,
            min_threshold: limits::GC_THRESHOLD_BYTES_DEFAULT,
            first_nursery: limits::GC_NURSERY_BYTES_MIN,
            nursery: limits::GC_NURSERY_BYTES_MIN,
            mark: Default::default(),
            stats: GcStats::default(),
            zeal: Zeal::Off,
            stepped_at: 0,
            futile_at: None,
            inhibit: 0,
        }
    }

    /// Collect at every allocation, and poison what is freed.
    pub fn set_zeal(&mut self, on: bool) {
        self.set_zeal_mode(if on { Zeal::Whole } else { Zeal::Off });
    }
    /// See [`Zeal`].
    pub fn set_zeal_mode(&mut self, zeal: Zeal) {
        if self.zeal != zeal {
            self.flush();
            self.zeal = zeal;
        }
    }
    /// See [`Zeal`].
    pub fn zeal(&self) -> Zeal {
        self.zeal
    }
    /// The hard limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }
    /// Changes the hard limit.
    pub fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }
    /// Changes how many bytes may be allocated before the first collection, and at least between two.
    pub fn set_threshold(&mut self, bytes: usize) {
        self.min_threshold = bytes.max(64 * 1024);
        self.first_nursery = self.min_threshold;
        self.nursery = self.min_threshold;
        self.full_at = self.full_at.max(self.used_bytes() + self.nursery);
        self.schedule_next();
    }
    /// Bytes in use: cells and external charges.
    #[inline]
    pub fn used_bytes(&self) -> usize {
        self.cell_bytes + self.external.get()
    }
    /// Figures so far.
    pub fn stats(&self) -> GcStats {
        GcStats { used_bytes: self.used_bytes(), ..self.stats }
    }

    /// Whether a collection found targets of finalization registries dead.
    pub fn finalization_due(&self) -> bool {
        self.roots.finalization_due()
    }

    /// Says that callbacks of finalization registries are due, or have been asked for.
    pub fn set_finalization_due(&self, due: bool) {
        self.roots.set_finalization_due(due);
    }

    /// Nothing is collected until [`Heap::resume_collections`] has been called as often.
    pub fn postpone_collections(&mut self) {
        self.inhibit += 1;
    }

    /// Undoes one [`Heap::postpone_collections`].
    pub fn resume_collections(&mut self) {
        self.inhibit -= 1;
    }

    pub(crate) fn note_pause(&mut self, ns: u64) {
        self.stats.pause_ns_max = self.stats.pause_ns_max.max(ns);
        self.stats.pause_ns_total += ns;
        self.stats.pauses += 1;
        let quarter_ms = ns / 250_000;
        let bucket = (u64::BITS - quarter_ms.leading_zeros()).min(6);
        self.stats.pause_histogram[bucket as usize] += 1;
    }

    pub(crate) fn remembered(&mut self) -> &mut Vec<*const CellHeader> {
        // SAFETY: `&mut self`; the barrier pushes only from the same thread, and nobody keeps this reference.
        unsafe { &mut *self.link.remembered.get() }
    }

    /// Whether so many cells have been written that looking at them again takes a stop of its own.
    #[inline]
    pub(crate) fn has_many_remembered(&self) -> bool {
        // SAFETY: as in `remembered`.
        unsafe {
            (*self.link.remembered.get()).len() >= limits::GC_REMEMBERED_MAX
                || (*self.link.elements.get()).len() >= limits::GC_WRITTEN_MANY
        }
    }

    pub(crate) fn remembered_elements(&mut self) -> &mut Vec<(*const ValueArray, u32)> {
        // SAFETY: as in `remembered`.
        unsafe { &mut *self.link.elements.get() }
    }

    /// Charges `bytes` outside the heap, without checking the limit (the caller does).
    pub fn charge_beyond_limit(&self, bytes: usize) -> ExternalCharge {
        let charge = ExternalCharge::default();
        charge.set_beyond_limit(self, bytes);
        charge
    }

    /// The bump path: None when the run is used up (or the cell is large).
    #[inline(always)]
    pub(crate) fn alloc_fast(&mut self, bytes: usize, finalizable: bool) -> Option<*mut u8> {
        if bytes > SMALL_MAX {
            return None;
        }
        let bytes = bytes.max(CELL_MIN);
        let class = class_of(bytes) + if finalizable { CLASS_COUNT } else { 0 };
        let size = if bytes <= FINE_MAX {
            bytes.next_multiple_of(CLASS_STEP)
        } else {
            CLASS_SIZES[class % CLASS_COUNT] as usize
        };
        let bump = &mut self.bump[class];
        let at = bump.cursor;
        if bump.end - at >= size {
            bump.cursor = at + size;
            return Some(at as *mut u8);
        }
        None
    }

    /// Where, from the heap's own address, the cursor and the end of the run are from which cells of `bytes` without a finaliser are taken,
    /// and how far such a cell moves the cursor: what generated code needs to do as [`Heap::alloc_fast`] does. `None` for large cells.
    pub fn run_of(bytes: usize) -> Option<(usize, usize, usize)> {
        if bytes > SMALL_MAX {
            return None;
        }
        let class = class_of(bytes.max(CELL_MIN));
        let run = offset_of!(Heap, bump) + class * size_of::<Bump>();
        Some((run + offset_of!(Bump, cursor), run + offset_of!(Bump, end), CLASS_SIZES[class] as usize))
    }

    /// Whether a collection should run before more is allocated.
    #[inline]
    pub(crate) fn collection_due(&self, extra: usize) -> bool {
        if self.has_many_remembered() {
            return self.inhibit == 0;
        }
        if self.zeal != Zeal::Off {
            return self.inhibit == 0;
        }
        if self.mark.is_active() {
            return self.inhibit == 0 && self.cell_bytes + extra >= self.stepped_at + limits::GC_STEP_BYTES;
        }
        self.inhibit == 0 && self.used_bytes() + extra >= self.collect_at
    }

    /// Allocates after the slow path has collected if it had to. None: the operating system has no memory.
    pub(crate) fn alloc_slow(&mut self, bytes: usize, finalizable: bool) -> Option<*mut u8> {
        if bytes > SMALL_MAX {
            return self.alloc_large(bytes, finalizable);
        }
        // The class that `alloc_fast` looks at next time, or it would never find the rest of the run.
        let kind = class_of(bytes.max(CELL_MIN));
        let class = kind + if finalizable { CLASS_COUNT } else { 0 };
        let size = CLASS_SIZES[kind] as usize;
        self.retire(class);
        let run = match self.next_run(class) {
            Some(run) => run,
            None => {
                self.add_block(class, size, finalizable)?;
                self.next_run(class)?
            }
        };
        self.bump[class] = Bump { cursor: run.cursor + size, end: run.end };
        Some(run.cursor as *mut u8)
    }

    fn add_block(&mut self, class: usize, size: usize, finalizable: bool) -> Option<()> {
        let at = self.chunks.alloc_blocks(1)?;
        let link: *const HeapLink = &*self.link;
        // SAFETY: fresh block-sized memory.
        let block = unsafe { Block::init(at, link, size, class as u8, finalizable, 0) };
        let c = &mut self.classes[class];
        c.blocks.push(block);
        c.next_block = c.blocks.len();
        c.roomy.push(block);
        Some(())
    }

    /// The next run of free cells of a class, marked as allocated.
    fn next_run(&mut self, class: usize) -> Option<Bump> {
        let zeal = self.zeal;
        let c = &mut self.classes[class];
        loop {
            let Some(ptr) = c.current else {
                c.current = Some(c.roomy.pop().or_else(|| {
                    let next = c.blocks.get(c.next_block).copied();
                    c.next_block += usize::from(next.is_some());
                    next
                })?);
                c.next_cell = 0;
                continue;
            };
            // SAFETY: blocks in the lists are live.
            let block = unsafe { &*ptr };
            let Some((first, mut end)) = block.next_free_run(c.next_cell) else {
                c.current = None;
                continue;
            };
            end = match zeal {
                Zeal::Off => end,
                Zeal::Whole => first + 1,
                Zeal::Steps => end.min(first + limits::GC_ZEAL_RUN_CELLS),
            };
            block.set_run_allocated(first, end, true);
            c.next_cell = end;
            self.cell_bytes += (end - first) * block.cell_bytes as usize;
            if !block.is_young.replace(true) {
                self.young.push(ptr);
            }
            return Some(Bump {
                cursor: block.cell_addr(first),
                end: block.cell_addr(first) + (end - first) * block.cell_bytes as usize,
            });
        }
    }

    /// Gives up the rest of a class's run.
    fn retire(&mut self, class: usize) {
        let bump = std::mem::take(&mut self.bump[class]);
        if bump.cursor >= bump.end {
            return;
        }
        // SAFETY: the run lies in a live block of this heap.
        let block = unsafe { &*Block::of(bump.cursor) };
        let from = block.index_of(bump.cursor);
        let to = block.index_of(bump.end - 1) + 1;
        block.set_run_allocated(from, to, false);
        self.cell_bytes -= (to - from) * block.cell_bytes as usize;
    }

    /// Makes the alloc bits exact: no run is being bumped through afterwards.
    pub(crate) fn flush(&mut self) {
        for class in 0..CLASS_COUNT * 2 {
            self.retire(class);
        }
    }

    /// Whether the cell at `addr` lies in the part of a run that has not been handed out: its `alloc` bit is set, but nothing is there
    /// except what an earlier cell left.
    #[inline(always)]
    pub(crate) fn is_handed_out_later(&self, block: &Block, addr: usize) -> bool {
        // The class of a large cell is 0, and none of that class's runs lies in its memory.
        let bump = &self.bump[block.class as usize];
        bump.cursor <= addr && addr < bump.end
    }

    /// Whether a cell of this heap that has been handed out, and has not been swept, begins at `addr`, in `block`.
    pub(crate) fn holds_cell(&self, block: &Block, addr: usize) -> bool {
        let index = block.index_of(addr);
        std::ptr::eq(block.link, &raw const *self.link)
            && index < block.cell_count as usize
            && block.is_allocated(index)
            // The start of a long array may have moved.
            && (block.large_bytes != 0 || block.cell_addr(index) == addr)
            && !self.is_handed_out_later(block, addr)
    }

    fn alloc_large(&mut self, bytes: usize, finalizable: bool) -> Option<*mut u8> {
        let (at, taken) = self.chunks.alloc_large(bytes)?;
        let link: *const HeapLink = &*self.link;
        // SAFETY: fresh memory of `taken` bytes.
        let block = unsafe { &*Block::init(at, link, taken, 0, finalizable, taken) };
        block.set_run_allocated(0, 1, true);
        self.cell_bytes += taken;
        self.large.push(block as *const Block as *mut Block);
        Some(at)
    }

    /// Bytes the cell at `addr` may use.
    pub(crate) fn usable_bytes(&self, addr: usize) -> usize {
        // SAFETY: `addr` is a live cell of this heap.
        let block = unsafe { &*Block::of(addr) };
        if block.large_bytes != 0 { block.large_bytes } else { block.cell_bytes as usize }
    }

    /// Frees a large cell now, when its only owner lets go of it (an outgrown element array).
    ///
    /// # Safety
    /// Nothing refers to the cell any more, not even a local.
    pub(crate) unsafe fn free_large_now(&mut self, addr: usize) {
        let block = Block::of(addr);
        // SAFETY: `addr` is a live cell of this heap.
        let (large_bytes, finalizable) = unsafe { ((*block).large_bytes, (*block).finalizable) };
        if large_bytes == 0 || finalizable || self.mark.is_active() || self.zeal != Zeal::Off {
            return;
        }
        // A remembered cell is still on the list, by address: leave it to the collector.
        // SAFETY: the header is readable.
        if unsafe { (*(addr as *const CellHeader)).color() } == super::color::REMEMBERED {
            return;
        }
        if let Some(i) = self.large.iter().rposition(|&b| std::ptr::eq(b, block)) {
            self.large.swap_remove(i);
            self.cell_bytes -= large_bytes;
            // SAFETY: the caller promises that nothing refers to it.
            unsafe { self.chunks.free(block as *mut Block) };
        }
    }

    /// Frees what a full marking did not reach. Cells that own nothing cost a few operations on bitmaps per block.
    pub(crate) fn sweep_all(&mut self) {
        let poison = self.zeal != Zeal::Off;
        self.young.clear();
        let mut cell_bytes = 0;
        for class in &mut self.classes {
            (class.current, class.next_cell, class.next_block) = (None, 0, 0);
            class.roomy.clear();
            let chunks = &mut self.chunks;
            class.blocks.retain(|&ptr| {
                // SAFETY: blocks in the list are live.
                let block = unsafe { &*ptr };
                block.is_young.set(false);
                let live = sweep_block(block, poison);
                cell_bytes += live * block.cell_bytes as usize;
                if live == 0 {
                    // SAFETY: no cell of the block is live, and none needs finalising any more.
                    unsafe { chunks.free(ptr) };
                }
                live != 0
            });
        }
        self.cell_bytes = cell_bytes;
        self.sweep_large();
    }

    /// Frees what a young marking did not reach: only blocks that cells were taken from since the last collection have
    /// any. Blocks that it empties are kept, to be used next.
    pub(crate) fn sweep_young(&mut self) {
        let poison = self.zeal != Zeal::Off;
        for class in &mut self.classes {
            (class.current, class.next_cell) = (None, 0);
            class.roomy.clear();
        }
        for ptr in std::mem::take(&mut self.young) {
            // SAFETY: blocks in the list are live: they are freed by full collections only, which clear the list.
            let block = unsafe { &*ptr };
            block.is_young.set(false);
            let before = block.allocated_count();
            let live = sweep_block(block, poison);
            self.cell_bytes -= (before - live) * block.cell_bytes as usize;
            if live < block.cell_count as usize {
                self.classes[block.class as usize].roomy.push(ptr);
            }
        }
        self.cell_bytes -= self.large_bytes();
        self.sweep_large();
    }

    fn large_bytes(&self) -> usize {
        // SAFETY: blocks in the list are live.
        self.large.iter().map(|&block| unsafe { (*block).large_bytes }).sum()
    }

    /// Frees the large cells that were not reached, and counts the others again.
    fn sweep_large(&mut self) {
        let (chunks, mut kept) = (&mut self.chunks, 0);
        self.large.retain(|&ptr| {
            // SAFETY: blocks in the list are live.
            let block = unsafe { &*ptr };
            let live = sweep_block(block, false);
            if live == 0 {
                // SAFETY: the cell is dead and finalised.
                unsafe { chunks.free(ptr) };
            } else {
                kept += block.large_bytes;
            }
            live != 0
        });
        self.cell_bytes += kept;
    }

    /// Chooses the nursery's size from what survived the young collection that has just been done: smaller where much survives, which
    /// takes long; larger where nearly all does, so that collecting is in vain; else a part of the heap.
    pub(crate) fn adapt_nursery(&mut self) {
        let survived = self.used_bytes().saturating_sub(self.bytes_after_gc);
        let least = self.min_threshold.min(limits::GC_NURSERY_BYTES_MIN);
        let part = (self.used_bytes() / 8).min(limits::GC_NURSERY_BYTES_MAX);
        let usual = self.first_nursery.max(part);
        if survived > limits::GC_SURVIVING_BYTES_MAX {
            self.nursery = (self.nursery / 2).max(least);
        } else if survived > self.nursery / 8 * 7 {
            self.nursery = (self.nursery * 2).min(self.min_threshold.max(part));
        } else if self.nursery > usual {
            self.nursery = (self.nursery / 2).max(usual);
        } else if survived < limits::GC_SURVIVING_BYTES_MAX / 4 {
            self.nursery = (self.nursery * 2).min(usual);
        }
    }

    /// Chooses when the next full collection is due, after one that has just been done.
    pub(crate) fn schedule_full(&mut self) {
        let used = self.used_bytes();
        let least = limits::GC_GROWTH_BYTES_MIN.min(self.min_threshold) + self.first_nursery;
        self.full_at = used + (used / limits::GC_GROWTH_DIVISOR).max(least);
    }

    /// Gives some pages of free blocks back to the operating system.
    pub(crate) fn release_pages(&mut self) {
        let keep = limits::GC_FREE_BLOCKS_KEPT + self.cell_bytes / BLOCK_BYTES / 16;
        self.chunks.release_free_pages(keep, limits::GC_BLOCKS_RELEASED_MAX);
    }

    /// Sets the thresholds for the next collection from what is live now.
    pub(crate) fn schedule_next(&mut self) {
        let used = self.used_bytes();
        self.bytes_after_gc = used;
        // A full collection that is due within the nursery is not put off until its end.
        self.collect_at = (used + self.nursery).min(self.full_at.max(used + self.nursery / 4));
        if self.limit > used {
            self.collect_at = self
                .collect_at
                .min(used + (self.limit - used) / 2 + self.limit / limits::GC_NEAR_LIMIT_DIVISOR);
        }
    }

    pub(crate) fn for_each_block(&self, mut f: impl FnMut(&Block)) {
        for class in &self.classes {
            for &b in &class.blocks {
                // SAFETY: blocks in the list are live.
                f(unsafe { &*b });
            }
        }
        for &b in &self.large {
            // SAFETY: as above.
            f(unsafe { &*b });
        }
    }

    /// Bytes of blocks in use, which is what the process pays for (but for untouched pages).
    pub fn committed_bytes(&self) -> usize {
        self.chunks.used_bytes()
    }
}

fn sweep_block(block: &Block, poison: bool) -> usize {
    let finalizable = block.finalizable;
    if !finalizable && !poison {
        return block.sweep(|_| {});
    }
    block.sweep(|i| {
        let addr = block.cell_addr(i);
        if finalizable {
            // SAFETY: the cell was allocated, initialised, and is unreachable; it is finalised once.
            unsafe { finalize(addr) };
        }
        if poison {
            // SAFETY: the dead cell's memory belongs to the heap.
            unsafe { std::ptr::write_bytes(addr as *mut u8, 0x5c, block.cell_bytes as usize) };
        }
        // SAFETY: as above; the header is writable.
        unsafe { (*(addr as *const CellHeader)).set_free() };
    })
}

/// Drops what a finalizable cell owns.
///
/// # Safety
/// `addr` is an initialised finalizable cell that nothing will use again.
unsafe fn finalize(addr: usize) {
    use super::CellKind;
    // SAFETY: promised by the caller; each arm's cast follows from the kind.
    unsafe {
        match (*(addr as *const CellHeader)).kind() {
            CellKind::Data => {
                let vtable = (*(addr as *const DataHead)).vtable;
                if vtable.needs_drop {
                    (vtable.drop)(addr as *mut ());
                }
            }
            CellKind::Shape => std::ptr::drop_in_place(addr as *mut crate::shape::Shape),
            CellKind::BigInt => std::ptr::drop_in_place(addr as *mut crate::bigint::BigIntCell),
            _ => {}
        }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // Handles may outlive the heap; what they refer to is undefined from now on.
        self.roots.forget_values();
        self.flush();
        self.for_each_block(|block| {
            if block.finalizable {
                // SAFETY: the heap is going away; every allocated cell is initialised.
                block.for_each_allocated(|addr| unsafe { finalize(addr) });
            }
        });
        debug_assert_eq!(BLOCK_BYTES % 4096, 0);
    }
}
