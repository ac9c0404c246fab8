//! Long arrays that lose their first value by moving their start: a queue is linear.
//!
//! The head of a large [`ValueArray`] moves one value up inside its cell; what was its head stays behind, of the kind `Moved`, and the one at the cell's
//! beginning knows how far the head has come. The collector may have noted an address where the head was before (on the native stack, on its
//! lists): it asks [`current`]. Invariant: the head stays in the first block of the cell, where every address leads to the
//! block's head ([`Block::of`]); the array's values end where they did.

use super::block::{BLOCK_BYTES, Block};
use super::{CellHeader, CellKind, Gc, ValueArray, color};
use crate::limits;
use crate::value::Value;

const STEP: usize = size_of::<Value>();

impl ValueArray {
    /// Takes the first value off by moving the start; `None` if the array is not long, or the start cannot move on.
    ///
    /// # Safety
    /// The caller has the only reference to the array, and replaces it by the one it gets.
    pub(crate) unsafe fn without_first(&self) -> Option<Gc<ValueArray>> {
        if self.len() < limits::GC_LONG_ARRAY || self.header.color() == color::IMMORTAL {
            return None;
        }
        let old = self as *const ValueArray as usize;
        let at = old + STEP;
        // SAFETY: the array is not immortal, so it lies in a block.
        let block = unsafe { &*Block::of(old) };
        if block.large_bytes == 0 || at + size_of::<ValueArray>() > block.addr() + BLOCK_BYTES {
            return None;
        }
        let dirty = match self.header.c.get() {
            u32::MAX => u32::MAX,
            first => first.saturating_sub(1),
        };
        let (len, capacity) = (self.len() - 1, self.capacity() - 1);
        let header = CellHeader::new(CellKind::ValueArray, self.header.a.get(), 0, dirty);
        header.set_color(self.header.color());
        self.header.kind.set(CellKind::Moved);
        // SAFETY: the new head takes the place of the second half of the old one and of the first value, which nobody reads any more.
        unsafe {
            let moved = at as *mut ValueArray;
            moved.write(ValueArray { header, len: len.into(), capacity: capacity.into() });
            (*(block.addr() as *const CellHeader)).c.set(((at - block.addr()) / STEP) as u32);
            Some(Gc::from_addr(moved))
        }
    }

    /// Whether the start has moved.
    pub fn has_moved(&self) -> bool {
        let at = self as *const ValueArray as usize;
        // SAFETY: what is not immortal lies in a block.
        self.header.color() != color::IMMORTAL
            && unsafe {
                let block = &*Block::of(at);
                block.large_bytes != 0 && block.addr() != at
            }
    }
}

/// Where the head of a cell is now.
///
/// # Safety
/// `header` is or was the header of a cell that has not been swept.
#[inline(always)]
pub(crate) unsafe fn current(header: *const CellHeader) -> *const CellHeader {
    // SAFETY: promised by the caller.
    if unsafe { (*header).kind() } != CellKind::Moved {
        return header;
    }
    // SAFETY: a head that has moved is in the first block of its cell, whose beginning says how far.
    unsafe {
        let base = (*Block::of(header as usize)).addr();
        (base + (*(base as *const CellHeader)).c.get() as usize * STEP) as *const CellHeader
    }
}

/// Which value of the array as it is now the one at `i` of the array at `noted` is, if it is still there.
///
/// # Safety
/// As [`current`], of an array.
pub(crate) unsafe fn current_index(noted: *const ValueArray, i: u32) -> (*const ValueArray, Option<u32>) {
    // SAFETY: promised by the caller.
    let now = unsafe { current(noted as *const CellHeader) } as *const ValueArray;
    let moved = (now as usize - noted as usize) / STEP;
    (now, (i as usize).checked_sub(moved).map(|i| i as u32))
}
