//! Executable memory: reserved, written, made executable, given back.
//!
//! One region per isolate: a run of addresses at a random place inside a larger reservation, so that pages without access lie around it.
//! Invariant (W^X): a page is never writable and executable at the same time; what is unused is filled with traps; nothing is changed
//! where code still runs, because whoever gives memory back was the last who could run it.
//! Left to others: what the code is, and that it is right.

#![allow(unsafe_code)]

use crate::limits;

const PAGE: usize = 4096;
/// The instruction that stops a program that gets where no code is.
const TRAP: u8 = 0xcc;

/// Executable memory of one isolate.
pub(super) struct Region {
    reservation: *mut u8,
    /// The first byte that is handed out.
    base: usize,
    /// Bytes handed out from the base on, gaps included.
    used: usize,
    /// Bytes from the base on that have been made executable.
    prepared: usize,
    /// What was given back: offset and length.
    free: Vec<(usize, usize)>,
}

impl Region {
    /// Reserves addresses. `None` where the system refuses.
    pub(super) fn reserve() -> Option<Region> {
        // SAFETY: an anonymous private mapping without access disturbs nobody.
        let reservation = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                limits::JIT_RESERVED_BYTES,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if reservation == libc::MAP_FAILED {
            return None;
        }
        let pages = (limits::JIT_RESERVED_BYTES - limits::JIT_CODE_BYTES_MAX) / PAGE - 2;
        let base = reservation as usize + (1 + random() % pages) * PAGE;
        Some(Region { reservation: reservation.cast(), base, used: 0, prepared: 0, free: Vec::new() })
    }

    /// The address of `len` bytes that nobody else has; `None` when the region is full.
    pub(super) fn take(&mut self, len: usize) -> Option<usize> {
        let len = len.next_multiple_of(16);
        if let Some(i) = self.free.iter().position(|&(_, room)| room >= len) {
            let (offset, room) = self.free[i];
            if room == len {
                self.free.swap_remove(i);
            } else {
                self.free[i] = (offset + len, room - len);
            }
            return Some(self.base + offset);
        }
        // A gap of a random length, so that code does not lie where somebody expects it.
        let offset = self.used + (random() % limits::JIT_GAPS_MAX) * 16;
        if offset + len > limits::JIT_CODE_BYTES_MAX {
            return None;
        }
        self.used = offset + len;
        Some(self.base + offset)
    }

    /// Writes code to memory that [`Region::take`] gave; false where the system refuses.
    pub(super) fn write(&mut self, address: usize, code: &[u8]) -> bool {
        let start = address & !(PAGE - 1);
        let end = (address + code.len()).next_multiple_of(PAGE);
        // The gap before the code may be of pages that nobody has touched.
        let first = start.min(self.base + self.prepared);
        if !protect(first, end - first, libc::PROT_READ | libc::PROT_WRITE) {
            return false;
        }
        // SAFETY: the pages are the region's and writable now; the code's place was handed out for it alone.
        unsafe {
            let fresh = self.base + self.prepared;
            if end > fresh {
                std::ptr::write_bytes(fresh as *mut u8, TRAP, end - fresh);
            }
            std::ptr::copy_nonoverlapping(code.as_ptr(), address as *mut u8, code.len());
        }
        self.prepared = self.prepared.max(end - self.base);
        protect(first, end - first, libc::PROT_READ | libc::PROT_EXEC)
    }

    /// Takes back what [`Region::take`] gave for `len` bytes, in which nothing runs any more.
    pub(super) fn give_back(&mut self, address: usize, len: usize) {
        let len = len.next_multiple_of(16);
        if self.write(address, &vec![TRAP; len]) {
            self.free.push((address - self.base, len));
        }
    }

    /// Bytes handed out.
    pub(super) fn used_bytes(&self) -> usize {
        self.used - self.free.iter().map(|&(_, len)| len).sum::<usize>()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with exactly these bounds, and all code in it is gone: each keeps the region alive.
        unsafe { libc::munmap(self.reservation.cast(), limits::JIT_RESERVED_BYTES) };
    }
}

fn protect(address: usize, len: usize, protection: libc::c_int) -> bool {
    // SAFETY: whole pages of the region, in which nothing runs at this moment: the isolate's one thread is here.
    unsafe { libc::mprotect(address as *mut libc::c_void, len, protection) == 0 }
}

/// Some bits that nobody outside can guess.
fn random() -> usize {
    let mut bytes = [0u8; 4];
    // SAFETY: the buffer is ours. Should the system have none, the place is the one the kernel chose.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), libc::GRND_NONBLOCK) };
    u32::from_le_bytes(bytes) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_written_given_back_and_used_again() {
        let Some(mut region) = Region::reserve() else { return };
        let Some(a) = region.take(40) else { panic!("an empty region has room") };
        if !region.write(a, &[0xc3; 40]) {
            return;
        }
        // SAFETY: what was written can be read.
        assert_eq!(unsafe { *(a as *const u8) }, 0xc3);
        region.give_back(a, 40);
        // SAFETY: as above.
        assert_eq!(unsafe { *(a as *const u8) }, TRAP);
        assert_eq!(region.take(16), Some(a));
        assert_eq!(region.take(32), Some(a + 16));
        assert_eq!(region.used_bytes(), region.used);
    }

    #[test]
    fn a_region_ends() {
        let Some(mut region) = Region::reserve() else { return };
        let mut taken = 0;
        while region.take(1 << 20).is_some() {
            taken += 1;
        }
        assert!(taken > 0 && region.used_bytes() <= limits::JIT_CODE_BYTES_MAX);
    }
}
