//! Memory for cells: chunks from the operating system, cut into aligned blocks of equal cells.
//!
//! A chunk is 1 MiB, aligned to its size: 64 blocks of 16 KiB, of which the first holds the heads of the others. A head has
//! two bitmaps: `alloc` (the cell is live or was allocated since the last sweep) and `mark` (sticky: survived a
//! collection). The heads of a chunk lie together so that walking over all of them is quick, and so that they do not
//! fight for the same sets of the cache, as they would at the start of each block.
//! A large cell has a run of blocks (or a mapping of its own) and the same head with one cell, so that the collector needs
//! no second path. Pages are committed by the first touch.
//! Left to others: what cells are (`gc`), when to collect (`heap`), marking (`collect`).

use std::cell::Cell;

use super::heap::HeapLink;
use super::pages;

/// Bytes in a block, and its alignment.
pub(crate) const BLOCK_BYTES: usize = 16 * 1024;
/// Bytes in a chunk of blocks, and the alignment of every mapping.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;
const BLOCKS_PER_CHUNK: usize = CHUNK_BYTES / BLOCK_BYTES;
/// The smallest cell, which bounds the bitmaps.
pub(crate) const CELL_MIN: usize = 32;
const BITMAP_WORDS: usize = BLOCK_BYTES / CELL_MIN / 64;
/// The largest cell that shares a block with others.
pub(crate) const SMALL_MAX: usize = BLOCK_BYTES / 2;
/// Blocks of a chunk that hold the heads of the others.
const HEAD_BLOCKS: usize = 1;
/// Bytes of a mapping for one large cell before the cell.
const HUGE_HEAD_BYTES: usize = HEAD_BLOCKS * BLOCK_BYTES;

/// The head of a block.
#[repr(C, align(64))]
pub(crate) struct Block {
    /// The heap's own record, for the write barrier.
    pub(crate) link: *const HeapLink,
    pub(crate) cell_bytes: u32,
    pub(crate) cell_count: u32,
    /// ceil(2^32 / cell_bytes), to divide by multiplying (exact for offsets below 2^14).
    reciprocal: u32,
    /// Bytes of the whole mapping for a large cell, 0 for a block of small cells.
    pub(crate) large_bytes: usize,
    pub(crate) finalizable: bool,
    /// Cells of the block were handed out since the last collection.
    pub(crate) is_young: Cell<bool>,
    pub(crate) class: u8,
    mark: [Cell<u64>; BITMAP_WORDS],
    alloc: [Cell<u64>; BITMAP_WORDS],
}

const _: () = assert!(size_of::<Block>() * BLOCKS_PER_CHUNK <= HEAD_BLOCKS * BLOCK_BYTES);

impl Block {
    /// Prepares the block whose memory begins at `at`, and returns its head.
    ///
    /// # Safety
    /// `at` must be the address of a block (or of the first of a run, or of a huge mapping's second block) in a chunk,
    /// used by nobody else.
    pub(crate) unsafe fn init(
        at: *mut u8,
        link: *const HeapLink,
        cell_bytes: usize,
        class: u8,
        finalizable: bool,
        large_bytes: usize,
    ) -> *mut Block {
        let cell_count = if large_bytes != 0 { 1 } else { BLOCK_BYTES / cell_bytes };
        let block = Block::of(at as usize) as *mut Block;
        // SAFETY: promised by the caller.
        unsafe {
            block.write(Block {
                link,
                cell_bytes: cell_bytes as u32,
                cell_count: cell_count as u32,
                reciprocal: ((1u64 << 32) / cell_bytes as u64 + 1) as u32,
                large_bytes,
                finalizable,
                is_young: Cell::new(false),
                class,
                mark: [const { Cell::new(0) }; BITMAP_WORDS],
                alloc: [const { Cell::new(0) }; BITMAP_WORDS],
            });
        }
        block
    }

    /// The block of a cell's address (or of any address in a small block).
    #[inline(always)]
    pub(crate) fn of(addr: usize) -> *const Block {
        let chunk = addr & !(CHUNK_BYTES - 1);
        (chunk + (addr & (CHUNK_BYTES - 1)) / BLOCK_BYTES * size_of::<Block>()) as *const Block
    }

    /// Where the block's memory begins.
    #[inline(always)]
    pub(crate) fn addr(&self) -> usize {
        let head = self as *const Block as usize;
        let chunk = head & !(CHUNK_BYTES - 1);
        chunk + (head - chunk) / size_of::<Block>() * BLOCK_BYTES
    }

    /// The index of the cell that contains `addr`.
    #[inline(always)]
    pub(crate) fn index_of(&self, addr: usize) -> usize {
        if self.large_bytes != 0 {
            return 0;
        }
        let offset = addr & (BLOCK_BYTES - 1);
        ((offset as u64 * self.reciprocal as u64) >> 32) as usize
    }

    #[inline(always)]
    pub fn cell_addr(&self, index: usize) -> usize {
        self.addr() + index * self.cell_bytes as usize
    }

    #[inline(always)]
    pub(crate) fn is_marked(&self, index: usize) -> bool {
        self.mark[index / 64].get() >> (index % 64) & 1 != 0
    }

    /// Sets the mark; true if it was not set.
    #[inline(always)]
    pub(crate) fn mark(&self, index: usize) -> bool {
        let word = &self.mark[index / 64];
        let bit = 1u64 << (index % 64);
        let old = word.get();
        word.set(old | bit);
        old & bit == 0
    }

    pub(crate) fn clear_marks(&self) {
        for w in &self.mark {
            w.set(0);
        }
    }

    #[inline(always)]
    pub(crate) fn is_allocated(&self, index: usize) -> bool {
        self.alloc[index / 64].get() >> (index % 64) & 1 != 0
    }

    #[inline(always)]
    fn set_allocated(&self, index: usize, on: bool) {
        let word = &self.alloc[index / 64];
        let bit = 1u64 << (index % 64);
        word.set(if on { word.get() | bit } else { word.get() & !bit });
    }

    /// Sets or clears `alloc` for a run of cells.
    pub(crate) fn set_run_allocated(&self, from: usize, to: usize, on: bool) {
        for i in from..to {
            self.set_allocated(i, on);
        }
    }

    /// The next run of free cells at or after `from`: (first, end).
    pub(crate) fn next_free_run(&self, from: usize) -> Option<(usize, usize)> {
        let count = self.cell_count as usize;
        let first = self.find(from, count, 0)?;
        let end = self.find(first + 1, count, !0).unwrap_or(count);
        Some((first, end))
    }

    /// The first index at or after `from` whose alloc bit differs from the bits of `same` (0: finds a clear bit).
    fn find(&self, from: usize, count: usize, flip: u64) -> Option<usize> {
        let mut i = from;
        while i < count {
            // With flip 0 we look for a clear bit, with flip !0 for a set bit.
            let word = !(self.alloc[i / 64].get() ^ flip) >> (i % 64);
            if word != 0 {
                let at = i + word.trailing_zeros() as usize;
                return (at < count).then_some(at);
            }
            i = (i / 64 + 1) * 64;
        }
        None
    }

    /// Calls `f` with the index of every cell that is allocated and not marked, then makes `alloc` equal `mark`.
    /// Returns the number of live cells.
    pub(crate) fn sweep(&self, mut f: impl FnMut(usize)) -> usize {
        let mut live = 0;
        let words = (self.cell_count as usize).div_ceil(64);
        for w in 0..words {
            let mark = self.mark[w].get();
            let mut dead = self.alloc[w].get() & !mark;
            live += mark.count_ones() as usize;
            while dead != 0 {
                f(w * 64 + dead.trailing_zeros() as usize);
                dead &= dead - 1;
            }
            self.alloc[w].set(mark);
        }
        live
    }

    /// Cells that are allocated.
    pub(crate) fn allocated_count(&self) -> usize {
        self.alloc.iter().map(|w| w.get().count_ones() as usize).sum()
    }

    pub(crate) fn for_each_allocated(&self, mut f: impl FnMut(usize)) {
        for i in 0..self.cell_count as usize {
            if self.is_allocated(i) {
                f(self.cell_addr(i));
            }
        }
    }
}

/// One mapping: either 64 blocks, or one large cell.
struct Chunk {
    base: usize,
    bytes: usize,
    /// Bit per block in use (for a chunk of blocks).
    used: u64,
    /// Bit per block that has a header: the first of a run.
    starts: u64,
    /// Bit per block that was used before and may hold dirty pages.
    dirty: u64,
    /// Whether the whole mapping is one large cell.
    huge: bool,
}

/// All the mappings of one heap, sorted by address.
#[derive(Default)]
pub(crate) struct Chunks {
    chunks: Vec<Chunk>,
    /// Index of a chunk that may have free blocks.
    hint: usize,
    low: usize,
    high: usize,
}

impl Chunks {
    /// `count` contiguous free blocks, or None when the operating system refuses.
    pub(crate) fn alloc_blocks(&mut self, count: usize) -> Option<*mut u8> {
        debug_assert!(count <= BLOCKS_PER_CHUNK - HEAD_BLOCKS);
        let n = self.chunks.len();
        for k in 0..n {
            let i = (self.hint + k) % n;
            let chunk = &mut self.chunks[i];
            if chunk.huge {
                continue;
            }
            if let Some(at) = find_zero_run(chunk.used, count) {
                chunk.used |= run_mask(at, count);
                chunk.starts |= 1 << at;
                chunk.dirty |= run_mask(at, count);
                self.hint = i;
                return Some((chunk.base + at * BLOCK_BYTES) as *mut u8);
            }
        }
        let base = pages::map(CHUNK_BYTES)?;
        let (heads, run) = (run_mask(0, HEAD_BLOCKS), run_mask(HEAD_BLOCKS, count));
        let (used, starts) = (heads | run, heads | 1 << HEAD_BLOCKS);
        self.hint = self.insert(Chunk { base, bytes: CHUNK_BYTES, used, starts, dirty: used, huge: false });
        Some((base + HEAD_BLOCKS * BLOCK_BYTES) as *mut u8)
    }

    /// Memory for a large cell of `bytes` in all; the size that was really taken is the second result.
    pub(crate) fn alloc_large(&mut self, bytes: usize) -> Option<(*mut u8, usize)> {
        let blocks = bytes.div_ceil(BLOCK_BYTES);
        if blocks <= BLOCKS_PER_CHUNK / 2 {
            return self.alloc_blocks(blocks).map(|p| (p, blocks * BLOCK_BYTES));
        }
        let bytes = bytes.checked_add(HUGE_HEAD_BYTES)?.checked_next_multiple_of(BLOCK_BYTES)?;
        let base = pages::map(bytes)?;
        self.insert(Chunk { base, bytes, used: 0, starts: 0, dirty: 0, huge: true });
        Some(((base + HUGE_HEAD_BYTES) as *mut u8, bytes - HUGE_HEAD_BYTES))
    }

    fn insert(&mut self, chunk: Chunk) -> usize {
        if self.chunks.is_empty() || chunk.base < self.low {
            self.low = chunk.base;
        }
        self.high = self.high.max(chunk.base + chunk.bytes);
        let at = self.chunks.partition_point(|c| c.base < chunk.base);
        self.chunks.insert(at, chunk);
        at
    }

    fn chunk_index(&self, addr: usize) -> Option<usize> {
        if addr < self.low || addr >= self.high {
            return None;
        }
        let i = self.chunks.partition_point(|c| c.base <= addr).checked_sub(1)?;
        (addr < self.chunks[i].base + self.chunks[i].bytes).then_some(i)
    }

    /// The block whose memory contains `addr`, for the conservative scan.
    pub(crate) fn block_containing(&self, addr: usize) -> Option<*const Block> {
        let chunk = &self.chunks[self.chunk_index(addr)?];
        let at = (addr - chunk.base) / BLOCK_BYTES;
        if at < HEAD_BLOCKS {
            return None;
        }
        if chunk.huge {
            return Some(Block::of(chunk.base + HUGE_HEAD_BYTES));
        }
        if chunk.used >> at & 1 == 0 {
            return None;
        }
        // Inside a large run only the first block has a head.
        let first = 63 - (chunk.starts & run_mask(0, at + 1)).leading_zeros() as usize;
        Some(Block::of(chunk.base + first * BLOCK_BYTES))
    }

    /// Gives the memory of a block, or of a large cell, back.
    ///
    /// # Safety
    /// `block` came from this object and nothing refers to its cells any more.
    pub(crate) unsafe fn free(&mut self, block: *mut Block) {
        // SAFETY: the head is still there.
        let memory = unsafe { (*block).addr() };
        let Some(i) = self.chunk_index(memory) else { return };
        if self.chunks[i].huge {
            let chunk = self.chunks.remove(i);
            // SAFETY: the mapping was made with exactly these bounds, and nothing refers to its cell.
            unsafe { pages::unmap(chunk.base, chunk.bytes) };
            self.hint = 0;
            return;
        }
        // SAFETY: the header is still there.
        let count = unsafe { ((*block).large_bytes / BLOCK_BYTES).max(1) };
        let chunk = &mut self.chunks[i];
        let at = (memory - chunk.base) / BLOCK_BYTES;
        chunk.used &= !run_mask(at, count);
        chunk.starts &= !(1 << at);
        self.hint = self.hint.min(i);
    }

    /// Returns the pages of free blocks to the operating system, but for `keep` blocks, and at most `most` blocks at
    /// once, because it takes time.
    pub(crate) fn release_free_pages(&mut self, keep: usize, most: usize) {
        let (mut keep, mut left) = (keep, most);
        for chunk in self.chunks.iter_mut().filter(|c| !c.huge) {
            let mut idle = chunk.dirty & !chunk.used;
            while idle != 0 {
                let at = idle.trailing_zeros() as usize;
                let len = (!(idle >> at)).trailing_zeros() as usize;
                let len = len.min(BLOCKS_PER_CHUNK - at);
                idle &= !run_mask(at, len);
                if left < len {
                    return;
                }
                if keep >= len {
                    keep -= len;
                    continue;
                }
                left -= len;
                chunk.dirty &= !run_mask(at, len);
                // SAFETY: the blocks are free: nothing refers to this memory, and it reads as zero afterwards.
                unsafe { pages::discard(chunk.base + at * BLOCK_BYTES, len * BLOCK_BYTES) };
            }
        }
    }

    /// Bytes of all mappings that are in use.
    pub(crate) fn used_bytes(&self) -> usize {
        self.chunks
            .iter()
            .map(
                |c| if c.huge { c.bytes } else { (c.used.count_ones() as usize - HEAD_BLOCKS) * BLOCK_BYTES },
            )
            .sum()
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            // SAFETY: the mapping was made with exactly these bounds, and the heap is going away.
            unsafe { pages::unmap(chunk.base, chunk.bytes) };
        }
    }
}

fn run_mask(at: usize, count: usize) -> u64 {
    if count >= 64 { !0 } else { ((1u64 << count) - 1) << at }
}

fn find_zero_run(used: u64, count: usize) -> Option<usize> {
    if count == 1 {
        return (used != !0).then(|| (!used).trailing_zeros() as usize);
    }
    (0..=BLOCKS_PER_CHUNK - count).find(|&at| used & run_mask(at, count) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_by_reciprocal_is_exact() {
        let mut chunks = Chunks::default();
        for cell in (CELL_MIN..=SMALL_MAX).step_by(8) {
            let p = chunks.alloc_blocks(1).expect("memory");
            // SAFETY: a fresh block.
            let b = unsafe { &*Block::init(p, std::ptr::null(), cell, 0, false, 0) };
            for i in 0..b.cell_count as usize {
                let a = b.cell_addr(i);
                assert_eq!((b.index_of(a), b.index_of(a + cell - 1)), (i, i), "{cell}");
            }
            assert!(b.cell_addr(b.cell_count as usize) <= b.addr() + BLOCK_BYTES);
            assert!(b.addr() == p as usize);
        }
    }

    #[test]
    fn free_runs_and_sweep() {
        let mut chunks = Chunks::default();
        let p = chunks.alloc_blocks(1).expect("memory");
        // SAFETY: a fresh block.
        let b = unsafe { &*Block::init(p, std::ptr::null(), 32, 0, false, 0) };
        let n = b.cell_count as usize;
        assert_eq!(b.next_free_run(0), Some((0, n)));
        b.set_run_allocated(0, n, true);
        assert_eq!(b.next_free_run(0), None);
        b.mark(3);
        b.mark(100);
        let mut dead = 0;
        assert_eq!(b.sweep(|_| dead += 1), 2);
        assert_eq!(dead, n - 2);
        assert_eq!(b.next_free_run(0), Some((0, 3)));
        assert_eq!(b.next_free_run(3), Some((4, 100)));
        assert_eq!(b.next_free_run(101), Some((101, n)));
    }

    #[test]
    fn large_runs_are_found_from_inside() {
        let mut chunks = Chunks::default();
        let (p, bytes) = chunks.alloc_large(100_000).expect("memory");
        // SAFETY: fresh memory of that size.
        let b = unsafe { Block::init(p, std::ptr::null(), bytes, 0, false, bytes) };
        assert_eq!(chunks.block_containing(p as usize + 99_000), Some(b as *const Block));
        assert_eq!(Block::of(p as usize), b as *const Block);
        // SAFETY: nothing refers to it.
        unsafe { chunks.free(b) };
        assert_eq!(chunks.block_containing(p as usize + 99_000), None);
        let (p, bytes) = chunks.alloc_large(5 << 20).expect("memory");
        // SAFETY: fresh memory of that size.
        let b = unsafe { Block::init(p, std::ptr::null(), 5 << 20, 0, false, bytes) };
        assert_eq!(chunks.block_containing(p as usize + (4 << 20)), Some(b as *const Block));
    }
}
