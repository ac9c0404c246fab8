//! Memory for the heap under Miri, which knows no part of a mapping: from Rust's allocator. The same functions as in `pages.rs`.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use super::block::CHUNK_BYTES;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, CHUNK_BYTES).ok().filter(|layout| layout.size() > 0)
}

/// Takes `bytes`, aligned to a chunk.
pub(super) fn map(bytes: usize) -> Option<usize> {
    // SAFETY: the layout is not empty.
    let memory = unsafe { alloc_zeroed(layout(bytes)?) };
    (!memory.is_null()).then(|| memory.expose_provenance())
}

/// Gives memory back.
///
/// # Safety
/// The bounds are those of what [`map`] gave, and nothing refers to it.
pub(super) unsafe fn unmap(base: usize, bytes: usize) {
    if let Some(layout) = layout(bytes) {
        // SAFETY: promised by the caller.
        unsafe { dealloc(std::ptr::with_exposed_provenance_mut(base), layout) };
    }
}

/// Overwrites with zeros.
///
/// # Safety
/// The range lies in what [`map`] gave, and nothing refers to what is in it.
pub(super) unsafe fn discard(base: usize, bytes: usize) {
    // SAFETY: promised by the caller.
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(base).write_bytes(0, bytes) };
}
