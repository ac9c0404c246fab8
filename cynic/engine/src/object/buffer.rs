//! [`Buffer`]: the bytes behind ArrayBuffer and SharedArrayBuffer, and raw access to them.
//!
//! The memory is reserved once, at its maximal length, zeroed (the system commits pages as they are touched), and never moves; growing and
//! shrinking change the length only, and what is cut off is zeroed. Shared memory is counted by reference and may be seen by several
//! isolates on several threads, so all access to it is atomic; other memory belongs to one thread.
//!
//! Invariants: `data` has `capacity` bytes; `len() <= capacity`; every access checks its range against `len()` first; a detached buffer has
//! length 0. Left to others: elements and their types (`builtins::element_type`), and who may detach what (`builtins::array_buffer`).

#![allow(unsafe_code)]
#![allow(clippy::useless_conversion, reason = "one macro body for four widths")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::gc::{ExternalCharge, Trace, Tracer};
use crate::limits;
use crate::vm::{JsResult, Vm};

/// Zeroed memory of a fixed size, aligned to 8.
struct Memory {
    data: *mut u8,
    capacity: usize,
}

impl Memory {
    fn new(capacity: usize) -> Option<Self> {
        if capacity == 0 {
            return Some(Memory { data: std::ptr::dangling_mut::<u64>().cast(), capacity });
        }
        let layout = Layout::from_size_align(capacity, 8).ok()?;
        // SAFETY: the layout has a size above 0.
        let data = unsafe { alloc_zeroed(layout) };
        (!data.is_null()).then_some(Memory { data, capacity })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.capacity > 0
            && let Ok(layout) = Layout::from_size_align(self.capacity, 8)
        {
            // SAFETY: allocated with this layout in `new`, and freed once.
            unsafe { dealloc(self.data, layout) };
        }
    }
}

/// A waiter of `Atomics.wait` or `waitAsync` in the list of its place.
pub type WaiterRef = Arc<crate::builtins::atomics_wait::Waiter>;

/// The memory of a SharedArrayBuffer.
pub struct SharedBlock {
    memory: Memory,
    len: AtomicUsize,
    /// Who waits at which byte, in order of arrival.
    pub(crate) waiters: Mutex<HashMap<usize, VecDeque<WaiterRef>>>,
}

// SAFETY: every access to the memory of a shared block is atomic (see `Buffer::read_shared` and its kin), and the length is atomic.
unsafe impl Send for SharedBlock {}
// SAFETY: as above.
unsafe impl Sync for SharedBlock {}

enum Storage {
    Own(#[allow(dead_code, reason = "kept to be dropped")] Memory),
    Shared(Arc<SharedBlock>),
}

/// The bytes of an ArrayBuffer or SharedArrayBuffer.
pub struct Buffer {
    data: Cell<*mut u8>,
    storage: RefCell<Storage>,
    /// Of memory that is not shared; 0 for a shared block, which has its own.
    len: Cell<usize>,
    capacity: usize,
    resizable: bool,
    shared: bool,
    detached: Cell<bool>,
    charge: RefCell<Option<ExternalCharge>>,
}

/// Where the length of memory that is not shared is, for generated code.
#[cfg(cynic_jit)]
pub(super) const LEN_OFFSET: usize = std::mem::offset_of!(Buffer, len);
/// Where the address of the bytes is, for generated code.
#[cfg(cynic_jit)]
pub(super) const DATA_OFFSET: usize = std::mem::offset_of!(Buffer, data);

impl Trace for Buffer {
    const BARRIERED: bool = true;
    fn trace(&self, _: &mut Tracer<'_>) {}
}

/// What an atomic read-modify-write does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicOperation {
    /// Add.
    Add,
    /// Bitwise and.
    And,
    /// Store the operand.
    Exchange,
    /// Bitwise or.
    Or,
    /// Subtract.
    Sub,
    /// Bitwise exclusive or.
    Xor,
}

impl AtomicOperation {
    fn apply(self, old: u64, operand: u64) -> u64 {
        match self {
            Self::Add => old.wrapping_add(operand),
            Self::And => old & operand,
            Self::Exchange => operand,
            Self::Or => old | operand,
            Self::Sub => old.wrapping_sub(operand),
            Self::Xor => old ^ operand,
        }
    }
}

/// Calls `$then` with the atomic of the right width at `$at`. The caller has checked the range, and that `$at` is a multiple of the size; the memory
/// is aligned to 8 and lives as long as the buffer; shared memory is only accessed atomically.
macro_rules! with_atomic {
    ($data:expr, $at:expr, $size:expr, |$cell:ident, $int:ident| $then:expr) => {{
        match $size {
            1 => {
                type $int = u8;
                // SAFETY: see the macro's head.
                let $cell = unsafe { AtomicU8::from_ptr($data.add($at)) };
                $then
            }
            2 => {
                type $int = u16;
                // SAFETY: see the macro's head.
                let $cell = unsafe { AtomicU16::from_ptr($data.add($at).cast()) };
                $then
            }
            4 => {
                type $int = u32;
                // SAFETY: see the macro's head.
                let $cell = unsafe { AtomicU32::from_ptr($data.add($at).cast()) };
                $then
            }
            _ => {
                type $int = u64;
                // SAFETY: see the macro's head.
                let $cell = unsafe { AtomicU64::from_ptr($data.add($at).cast()) };
                $then
            }
        }
    }};
}

impl Buffer {
    /// New zeroed memory of `len` bytes that may grow to `max`. A RangeError if that is too much for any machine, the end of the guest if it is too
    /// much for its heap.
    pub fn new(vm: &mut Vm, len: u64, max: Option<u64>, shared: bool) -> JsResult<Buffer> {
        let capacity = max.unwrap_or(len);
        if capacity > limits::BUFFER_BYTES_MAX || len > capacity {
            return Err(vm.throw_range_error("Array buffer allocation failed"));
        }
        let (len, capacity) = (len as usize, capacity as usize);
        let charge = if len > 0 { Some(vm.charge_external(len)?) } else { None };
        let Some(memory) = Memory::new(capacity) else {
            return Err(vm.throw_range_error("Array buffer allocation failed"));
        };
        let data = memory.data;
        let storage = if shared {
            Storage::Shared(Arc::new(SharedBlock {
                memory,
                len: AtomicUsize::new(len),
                waiters: Mutex::default(),
            }))
        } else {
            Storage::Own(memory)
        };
        Ok(Buffer {
            data: Cell::new(data),
            storage: RefCell::new(storage),
            len: Cell::new(if shared { 0 } else { len }),
            capacity,
            resizable: max.is_some(),
            shared,
            detached: Cell::new(false),
            charge: RefCell::new(charge),
        })
    }

    /// A buffer over a block that another isolate shares.
    pub fn from_shared(vm: &mut Vm, block: Arc<SharedBlock>, growable: bool) -> JsResult<Buffer> {
        let charge = vm.charge_external(block.len.load(Ordering::SeqCst))?;
        Ok(Buffer {
            data: Cell::new(block.memory.data),
            len: Cell::new(0),
            capacity: block.memory.capacity,
            storage: RefCell::new(Storage::Shared(block)),
            resizable: growable,
            shared: true,
            detached: Cell::new(false),
            charge: RefCell::new(Some(charge)),
        })
    }

    /// The block of shared memory, for passing it on and for waiting.
    pub fn shared_block(&self) -> Option<Arc<SharedBlock>> {
        match &*self.storage.borrow() {
            Storage::Shared(block) => Some(Arc::clone(block)),
            Storage::Own(_) => None,
        }
    }

    /// Bytes now.
    #[inline]
    pub fn len(&self) -> usize {
        if self.shared { self.shared_len() } else { self.len.get() }
    }

    /// Bytes now, if the memory belongs to this isolate alone; else 0.
    #[inline(always)]
    pub(crate) fn own_len(&self) -> usize {
        self.len.get()
    }

    /// The bytes, of which [`Buffer::own_len`] may be accessed plainly.
    #[inline(always)]
    pub(crate) fn own_data(&self) -> *mut u8 {
        self.data.get()
    }

    #[inline(never)]
    fn shared_len(&self) -> usize {
        match &*self.storage.borrow() {
            Storage::Shared(block) => block.len.load(Ordering::SeqCst),
            Storage::Own(_) => 0,
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length it may grow to.
    pub fn max_len(&self) -> usize {
        if self.detached.get() { 0 } else { self.capacity }
    }

    /// Whether the length can change.
    #[inline]
    pub fn is_resizable(&self) -> bool {
        self.resizable
    }

    /// Whether this is a SharedArrayBuffer's.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Whether the memory has been taken away.
    #[inline]
    pub fn is_detached(&self) -> bool {
        self.detached.get()
    }

    /// DetachArrayBuffer: gives the memory back.
    pub fn detach(&self) {
        if self.shared {
            return;
        }
        self.len.set(0);
        self.detached.set(true);
        self.charge.replace(None);
        let nothing: *mut u8 = std::ptr::dangling_mut::<u64>().cast();
        self.data.set(nothing);
        self.storage.replace(Storage::Own(Memory { data: nothing, capacity: 0 }));
    }

    /// Changes the length of a resizable buffer; `false` if it is out of bounds (or, for shared memory, shrinks).
    pub fn resize(&self, vm: &mut Vm, new_len: u64) -> JsResult<bool> {
        if !self.resizable || self.detached.get() || new_len > self.capacity as u64 {
            return Ok(false);
        }
        let new_len = new_len as usize;
        if let Some(block) = self.shared_block() {
            return self.grow_shared(vm, &block, new_len);
        }
        let old = self.len.get();
        if new_len > old {
            let charge = vm.charge_external(new_len)?;
            self.charge.replace(Some(charge));
        } else {
            vm.charge_bytes(old - new_len);
            // SAFETY: `new_len..old` is inside the memory, which only this thread uses.
            unsafe { std::ptr::write_bytes(self.data.get().add(new_len), 0, old - new_len) };
        }
        self.len.set(new_len);
        Ok(true)
    }

    fn grow_shared(&self, vm: &mut Vm, block: &SharedBlock, new_len: usize) -> JsResult<bool> {
        let charge = vm.charge_external(new_len)?;
        let grown = block
            .len
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |len| (len <= new_len).then_some(new_len));
        if grown.is_ok() {
            self.charge.replace(Some(charge));
        }
        Ok(grown.is_ok())
    }

    #[inline]
    fn in_range(&self, at: usize, size: usize) -> bool {
        at.checked_add(size).is_some_and(|end| end <= self.len())
    }

    /// The `size` (1, 2, 4 or 8) bytes at `at` as a little-endian number; 0 out of range.
    #[inline]
    pub fn read(&self, at: usize, size: usize) -> u64 {
        if !self.in_range(at, size) {
            return 0;
        }
        if self.shared {
            return self.read_shared(at, size);
        }
        // SAFETY: the range was checked; the memory belongs to this thread; reads are unaligned.
        unsafe {
            let p = self.data.get().add(at);
            match size {
                1 => u64::from(p.read()),
                2 => u64::from(u16::from_le(p.cast::<u16>().read_unaligned())),
                4 => u64::from(u32::from_le(p.cast::<u32>().read_unaligned())),
                _ => u64::from_le(p.cast::<u64>().read_unaligned()),
            }
        }
    }

    /// Stores the low `size` bytes of `bits` at `at`; nothing out of range.
    #[inline]
    pub fn write(&self, at: usize, size: usize, bits: u64) {
        if !self.in_range(at, size) {
            return;
        }
        if self.shared {
            return self.write_shared(at, size, bits);
        }
        // SAFETY: as in `read`.
        unsafe {
            let p = self.data.get().add(at);
            match size {
                1 => p.write(bits as u8),
                2 => p.cast::<u16>().write_unaligned((bits as u16).to_le()),
                4 => p.cast::<u32>().write_unaligned((bits as u32).to_le()),
                _ => p.cast::<u64>().write_unaligned(bits.to_le()),
            }
        }
    }

    #[inline(never)]
    fn read_shared(&self, at: usize, size: usize) -> u64 {
        if !at.is_multiple_of(size) {
            return (0..size).map(|i| self.read_shared(at + i, 1) << (8 * i)).sum();
        }
        with_atomic!(self.data.get(), at, size, |cell, Int| u64::from(Int::from_le(
            cell.load(Ordering::Relaxed)
        )))
    }

    #[inline(never)]
    fn write_shared(&self, at: usize, size: usize, bits: u64) {
        if !at.is_multiple_of(size) {
            return (0..size).for_each(|i| self.write_shared(at + i, 1, bits >> (8 * i)));
        }
        with_atomic!(self.data.get(), at, size, |cell, Int| cell
            .store((bits as Int).to_le(), Ordering::Relaxed));
    }

    /// Atomics.load: sequentially consistent. `at` must be a multiple of `size`.
    pub fn atomic_load(&self, at: usize, size: usize) -> u64 {
        if !self.in_range(at, size) {
            return 0;
        }
        with_atomic!(self.data.get(), at, size, |cell, Int| u64::from(Int::from_le(
            cell.load(Ordering::SeqCst)
        )))
    }

    /// Atomics.store.
    pub fn atomic_store(&self, at: usize, size: usize, bits: u64) {
        if self.in_range(at, size) {
            with_atomic!(self.data.get(), at, size, |cell, Int| cell
                .store((bits as Int).to_le(), Ordering::SeqCst));
        }
    }

    /// AtomicReadModifyWrite: the old value.
    pub fn atomic_update(&self, at: usize, size: usize, operation: AtomicOperation, operand: u64) -> u64 {
        if !self.in_range(at, size) {
            return 0;
        }
        with_atomic!(self.data.get(), at, size, |cell, Int| {
            let update = |old: Int| {
                let new = operation.apply(u64::from(Int::from_le(old)), operand);
                Some((new as Int).to_le())
            };
            let old = cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, update).unwrap_or_else(|old| old);
            u64::from(Int::from_le(old))
        })
    }

    /// Atomics.compareExchange: the old value.
    pub fn atomic_compare_exchange(&self, at: usize, size: usize, expected: u64, replacement: u64) -> u64 {
        if !self.in_range(at, size) {
            return 0;
        }
        with_atomic!(self.data.get(), at, size, |cell, Int| {
            let (expected, replacement) = ((expected as Int).to_le(), (replacement as Int).to_le());
            let old = cell.compare_exchange(expected, replacement, Ordering::SeqCst, Ordering::SeqCst);
            u64::from(Int::from_le(old.unwrap_or_else(|old| old)))
        })
    }

    /// Charges work over `count` bytes: shared memory is copied one atomic byte at a time.
    fn charge(&self, vm: &mut Vm, count: usize) {
        vm.charge_bytes(if self.shared { count.saturating_mul(8) } else { count });
    }

    /// Copies `count` bytes within the buffer, as if through a copy. Ranges that do not fit are cut off.
    pub fn copy_within(&self, vm: &mut Vm, from: usize, to: usize, count: usize) {
        let len = self.len();
        let count = count.min(len.saturating_sub(from)).min(len.saturating_sub(to));
        if count == 0 {
            return;
        }
        self.charge(vm, count);
        if self.shared {
            if from >= to {
                (0..count).for_each(|i| self.write_shared(to + i, 1, self.read_shared(from + i, 1)));
            } else {
                (0..count).rev().for_each(|i| self.write_shared(to + i, 1, self.read_shared(from + i, 1)));
            }
            return;
        }
        // SAFETY: both ranges are inside the memory, which belongs to this thread; they may overlap.
        unsafe { std::ptr::copy(self.data.get().add(from), self.data.get().add(to), count) };
    }

    /// Copies `count` bytes of another buffer to `to`. Ranges that do not fit are cut off.
    pub fn copy_from(&self, vm: &mut Vm, other: &Buffer, from: usize, to: usize, count: usize) {
        if self.data == other.data {
            return self.copy_within(vm, from, to, count);
        }
        let count = count.min(other.len().saturating_sub(from)).min(self.len().saturating_sub(to));
        if count == 0 {
            return;
        }
        if other.shared {
            other.charge(vm, count)
        } else {
            self.charge(vm, count)
        }
        if self.shared || other.shared {
            (0..count).for_each(|i| self.write(to + i, 1, other.read(from + i, 1)));
            return;
        }
        // SAFETY: both ranges were cut to the memories, which are different and belong to this thread.
        unsafe { std::ptr::copy_nonoverlapping(other.data.get().add(from), self.data.get().add(to), count) };
    }

    /// The bytes of a range, copied; cut to what is there.
    pub fn to_vec(&self, vm: &mut Vm, from: usize, to: usize) -> Vec<u8> {
        let to = to.min(self.len());
        let from = from.min(to);
        self.charge(vm, to - from);
        if self.shared {
            return (from..to).map(|at| self.read_shared(at, 1) as u8).collect();
        }
        // SAFETY: the range is inside the memory; nothing writes to it while it is copied.
        unsafe { std::slice::from_raw_parts(self.data.get().add(from), to - from) }.to_vec()
    }

    /// Stores bytes at `at`, as many as fit.
    pub fn write_bytes(&self, vm: &mut Vm, at: usize, bytes: &[u8]) {
        let count = bytes.len().min(self.len().saturating_sub(at));
        let bytes = bytes.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            return;
        }
        self.charge(vm, count);
        if self.shared {
            bytes.iter().enumerate().for_each(|(i, &byte)| self.write_shared(at + i, 1, u64::from(byte)));
            return;
        }
        // SAFETY: the range is inside the memory; `bytes` is Rust memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.get().add(at), count) };
    }
}
