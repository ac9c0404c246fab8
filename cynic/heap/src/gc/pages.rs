//! Memory from the operating system: anonymous mappings aligned to a chunk. `pages_interpreted.rs` is the same for Miri.
//!
//! Invariant: fresh and discarded memory reads as zero.

use super::block::CHUNK_BYTES;

/// Maps at least `bytes`, aligned to a chunk.
pub(super) fn map(bytes: usize) -> Option<usize> {
    let want = bytes.checked_add(CHUNK_BYTES)?;
    // SAFETY: an anonymous private mapping at an address of the kernel's choice disturbs nobody.
    let raw = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            want,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if raw == libc::MAP_FAILED {
        return None;
    }
    let raw = raw as usize;
    let base = raw.next_multiple_of(CHUNK_BYTES);
    let end = base + bytes.next_multiple_of(4096);
    // SAFETY: both ranges lie inside the mapping just made and outside the part that is kept.
    unsafe {
        if base > raw {
            unmap(raw, base - raw);
        }
        if raw + want > end {
            unmap(end, raw + want - end);
        }
    }
    Some(base)
}

/// Gives memory back.
///
/// # Safety
/// The bounds are those of a mapping, or of its head or tail, and nothing refers to it.
pub(super) unsafe fn unmap(base: usize, bytes: usize) {
    // SAFETY: promised by the caller.
    unsafe { libc::munmap(base as *mut libc::c_void, bytes) };
}

/// Lets the operating system take whole pages back; they stay mapped.
///
/// # Safety
/// The range is mapped, and nothing refers to what is in it.
pub(super) unsafe fn discard(base: usize, bytes: usize) {
    // SAFETY: promised by the caller.
    unsafe { libc::madvise(base as *mut libc::c_void, bytes, libc::MADV_DONTNEED) };
}
