//! The register stack: one contiguous reservation of values that never moves.
//!
//! Frames are laid out on it by the interpreter. Invariant: everything below `top` is initialised memory, scanned
//! conservatively by the collector (so a frame may keep words there that are not values).

#![allow(unsafe_code)]

use crate::gc::Tracer;
use crate::value::Value;

/// The registers of one isolate.
pub struct RegisterStack {
    base: *mut Value,
    capacity: usize,
    limit: *mut Value,
    /// One past the last register in use. The interpreter keeps it above every live register whenever anything
    /// may allocate.
    pub top: *mut Value,
}

/// Where the limit is, for generated code.
#[cfg(cynic_jit)]
pub(super) const LIMIT_OFFSET: usize = std::mem::offset_of!(RegisterStack, limit);

impl RegisterStack {
    /// Reserves room for `capacity` registers; pages are committed when touched.
    pub fn new(capacity: usize) -> Self {
        // SAFETY: an anonymous private mapping disturbs nobody.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                capacity * size_of::<Value>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            // An isolate without registers runs no bytecode; every push reports an overflow.
            return RegisterStack {
                base: std::ptr::null_mut(),
                capacity: 0,
                limit: std::ptr::null_mut(),
                top: std::ptr::null_mut(),
            };
        }
        let base = base as *mut Value;
        RegisterStack { base, capacity, limit: base.wrapping_add(capacity), top: base }
    }

    /// The first register.
    #[inline(always)]
    pub fn base(&self) -> *mut Value {
        self.base
    }

    /// One past the last register there could be.
    #[inline(always)]
    pub fn limit(&self) -> *mut Value {
        self.limit
    }

    /// Whether `count` more registers fit.
    #[inline(always)]
    pub fn has_room(&self, count: usize) -> bool {
        (self.limit() as usize).wrapping_sub(self.top as usize) / size_of::<Value>() >= count
    }

    /// The registers from `from` to `to`, as far as they are in use.
    pub(crate) fn registers(&self, from: *const Value, to: *const Value) -> &[Value] {
        let (from, to) = (from.max(self.base), to.min(self.top));
        if from >= to {
            return &[];
        }
        // SAFETY: everything below `top` is initialised (the mapping starts as zeros), and any bits are a `Value`'s.
        unsafe { std::slice::from_raw_parts(from, to.offset_from(from) as usize) }
    }

    /// Reports whatever the registers from `from` to `to` point to.
    pub(crate) fn trace(&self, from: *const Value, to: *const Value, tracer: &mut Tracer<'_>) {
        for register in self.registers(from, to) {
            tracer.conservative(register.to_bits() as usize);
        }
    }

    /// Lets go of the pages above `top`, after a deep recursion.
    pub fn release_unused(&mut self) {
        let from = (self.top as usize).next_multiple_of(4096);
        let end = self.limit() as usize;
        if from < end {
            // SAFETY: the range is inside the reservation and above every live register.
            unsafe { libc::madvise(from as *mut libc::c_void, end - from, libc::MADV_DONTNEED) };
        }
    }
}

impl Drop for RegisterStack {
    fn drop(&mut self) {
        if !self.base.is_null() {
            // SAFETY: the mapping was made with exactly these bounds.
            unsafe { libc::munmap(self.base as *mut libc::c_void, self.capacity * size_of::<Value>()) };
        }
    }
}
