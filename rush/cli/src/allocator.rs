//! The command's allocator: free lists of blocks in front of the system's. A shell's life is small blocks that come and
//! go (the nodes of the tree, fields, values), which musl's allocator is slow at and which make glibc's coalesce and
//! split without end.
//!
//! Invariant: a block of at most `BLOCK_MAX` bytes has the size of its class, and is either in use or in exactly one
//! list, that of the thread that freed it last. Such blocks are never given back to the system.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;

use rush::sys::memory;

/// Small sizes are multiples of this, which is also the alignment of every block.
const GRANULE: usize = 16;
/// Up to here there is a class for every multiple of `GRANULE`.
const SMALL_MAX: usize = 1024;
/// The largest block; between it and `SMALL_MAX` four classes share every doubling.
const BLOCK_MAX: usize = 32 * 1024;
const SMALL_CLASSES: usize = SMALL_MAX / GRANULE + 1;
const CLASSES: usize = SMALL_CLASSES + 4 * (BLOCK_MAX / SMALL_MAX).ilog2() as usize;
/// The first chunk, of which even the shortest run touches most pages: they are made at once.
const FIRST_CHUNK_BYTES: usize = 32 * 1024;
/// What is taken from the system at once. Pages of the next chunks are made when touched: a short run needs few.
const CHUNK_BYTES: usize = 256 * 1024;
/// Chunks after which a run is a large one.
const SMALL_CHUNKS: usize = 4;
/// Chunks of a large run: huge pages, where the system has them, are made with one fault instead of 512.
const HUGE_CHUNK_BYTES: usize = 4 << 20;
/// Alignment of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The exit status when memory runs out, which is bash's.
const OUT_OF_MEMORY: i32 = 2;

/// A free block, holding the link to the next one of its class.
struct Free {
    next: *mut Free,
}

/// A thread's free blocks, and the rest of the chunk that new ones are cut from.
struct Lists {
    free: [*mut Free; CLASSES],
    chunk: *mut u8,
    left: usize,
    chunks: usize,
}

thread_local! {
    static LISTS: UnsafeCell<Lists> = const {
        UnsafeCell::new(Lists { free: [ptr::null_mut(); CLASSES], chunk: ptr::null_mut(), left: 0, chunks: 0 })
    };
}

impl Lists {
    /// A block of `class`, or null.
    #[inline]
    fn take(&mut self, class: usize) -> *mut u8 {
        let block = self.free[class];
        if block.is_null() {
            return granted(self.cut(class_size(class)));
        }
        // SAFETY: a block in a list is free, large enough for a link and was given one by `put`.
        self.free[class] = unsafe { (*block).next };
        block.cast()
    }

    #[inline]
    fn put(&mut self, class: usize, block: *mut u8) {
        let block = block.cast::<Free>();
        // SAFETY: the caller gives up a block of this class, which has room for a link and its alignment.
        unsafe { (*block).next = self.free[class] };
        self.free[class] = block;
    }

    /// `size` bytes from the chunk, or from a new one.
    #[inline]
    fn cut(&mut self, size: usize) -> *mut u8 {
        if self.left < size && !self.renew() {
            return ptr::null_mut();
        }
        let block = self.chunk;
        // SAFETY: `left` bytes from `chunk` on belong to this thread, and `size` is not more.
        self.chunk = unsafe { block.add(size) };
        self.left -= size;
        block
    }

    #[cold]
    fn renew(&mut self) -> bool {
        let (chunk, size) = if self.chunks == 0 {
            (map(FIRST_CHUNK_BYTES, libc::MAP_POPULATE), FIRST_CHUNK_BYTES)
        } else if self.chunks < SMALL_CHUNKS {
            (map(CHUNK_BYTES, 0), CHUNK_BYTES)
        } else {
            (map_huge(), HUGE_CHUNK_BYTES)
        };
        if chunk.is_null() {
            return false;
        }
        memory::grew(size);
        (self.chunk, self.left) = (chunk, size);
        self.chunks += 1;
        true
    }
}

/// `size` bytes of new pages, or null. `more` are further flags.
fn map(size: usize, more: i32) -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | more;
    // SAFETY: a new mapping, of no one else's memory.
    let pages =
        unsafe { libc::mmap(ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if pages == libc::MAP_FAILED { ptr::null_mut() } else { pages.cast() }
}

/// `HUGE_CHUNK_BYTES` at an address where huge pages fit, or null. What is mapped beside them is never touched.
fn map_huge() -> *mut u8 {
    let pages = map(HUGE_CHUNK_BYTES + HUGE_PAGE_BYTES, 0);
    if pages.is_null() {
        return pages;
    }
    let offset = pages.align_offset(HUGE_PAGE_BYTES);
    // SAFETY: the mapping has a huge page to spare; the advice changes nothing but how pages are made.
    unsafe {
        let chunk = pages.add(offset);
        libc::madvise(chunk.cast(), HUGE_CHUNK_BYTES, libc::MADV_HUGEPAGE);
        chunk
    }
}

/// `block`, unless there is none: then the shell ends, as bash does, with a message.
#[inline]
fn granted(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        give_up();
    }
    block
}

#[cold]
fn give_up() -> ! {
    const MESSAGE: &[u8] = b"rush: cannot allocate memory\n";
    // SAFETY: the message is as long as said; ending the process takes no memory.
    unsafe {
        libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(OUT_OF_MEMORY)
    }
}

/// The class of blocks for `layout`, if there is one.
#[inline]
fn class_of(layout: Layout) -> Option<usize> {
    let size = layout.size();
    if size > BLOCK_MAX || layout.align() > GRANULE {
        None
    } else if size <= SMALL_MAX {
        Some(size.div_ceil(GRANULE))
    } else {
        let doubling = (size - 1).ilog2();
        let quarter = ((size - 1) >> (doubling - 2)) & 3;
        Some(SMALL_CLASSES + 4 * (doubling - SMALL_MAX.ilog2()) as usize + quarter)
    }
}

/// The size of the blocks of `class`.
#[inline]
fn class_size(class: usize) -> usize {
    match class.checked_sub(SMALL_CLASSES) {
        None => class * GRANULE,
        Some(large) => (SMALL_MAX << (large / 4)) / 4 * (5 + large % 4),
    }
}

#[inline]
fn with<T>(action: impl FnOnce(&mut Lists) -> T) -> T {
    // SAFETY: the lists are this thread's, and no action calls back into the allocator.
    LISTS.with(|lists| action(unsafe { &mut *lists.get() }))
}

/// A block of the system's, which is accounted for.
fn accounted(block: *mut u8, bytes: usize) -> *mut u8 {
    memory::grew(bytes);
    granted(block)
}

/// The allocator.
pub(crate) struct Blocks;

// SAFETY: blocks are disjoint pieces of this thread's mappings, aligned to `GRANULE`, at least as large as their class,
// and in a list only while free; the class follows from the layout alone, so that a block comes back to a list of its
// own size. The rest is the system's.
unsafe impl GlobalAlloc for Blocks {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match class_of(layout) {
            Some(class) => with(|lists| lists.take(class)),
            // SAFETY: the caller's promise is the one asked for.
            None => accounted(unsafe { System.alloc(layout) }, layout.size()),
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match class_of(layout) {
            Some(class) => with(|lists| lists.put(class, block)),
            // SAFETY: by its layout the block is the system's.
            None => unsafe {
                memory::shrank(layout.size());
                System.dealloc(block, layout);
            },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if class_of(layout).is_none() {
            // SAFETY: the caller's promise is the one asked for.
            return accounted(unsafe { System.alloc_zeroed(layout) }, layout.size());
        }
        // SAFETY: as above; and a block that is not null has the layout's size.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                ptr::write_bytes(block, 0, layout.size());
            }
            block
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that `size` with the old alignment is a layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class_of(layout), class_of(wanted)) {
            (Some(old), Some(new)) if old == new => block,
            (None, None) => {
                memory::shrank(layout.size());
                // SAFETY: both are the system's.
                accounted(unsafe { System.realloc(block, layout, size) }, size)
            }
            // SAFETY: the new block is another one, and both are as large as what is copied.
            _ => unsafe {
                let moved = self.alloc(wanted);
                if !moved.is_null() {
                    ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                    self.dealloc(block, layout);
                }
                moved
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_fits_its_class_and_no_smaller_one() {
        for size in 1..=BLOCK_MAX {
            let class = class_of(Layout::from_size_align(size, 8).unwrap()).unwrap();
            assert!(class < CLASSES && size <= class_size(class), "{size}");
            assert!(class == 1 || class_size(class - 1) < size || class == SMALL_CLASSES, "{size}");
            assert_eq!(class_size(class) % GRANULE, 0);
        }
        assert!(class_of(Layout::from_size_align(BLOCK_MAX + 1, 8).unwrap()).is_none());
        assert!(class_of(Layout::from_size_align(8, 64).unwrap()).is_none());
    }

    #[test]
    fn blocks_keep_their_bytes_when_they_grow() {
        let mut bytes: Vec<u8> = Vec::new();
        for n in 0..100_000usize {
            bytes.push(n as u8);
        }
        assert!(bytes.iter().enumerate().all(|(n, byte)| *byte == n as u8));
    }
}
