//! The garbage-collected heap: cells, pointers to them, and the tracing contract.
//!
//! Start reading here. A *cell* begins with a [`CellHeader`] and never moves. [`Gc<T>`] is a plain copyable
//! pointer to one; it needs no rooting in locals, because the native stack and the register stack are
//! scanned conservatively. Values kept in Rust collections across an allocation belong in a
//! [`RootedVec`].
//!
//! Invariants:
//! * a cell is fully initialised before the next allocation (the collector may see it from the stack);
//! * every store of a cell pointer into a cell goes through a setter that runs the write barrier
//!   ([`CellHeader::write_barrier`]); [`Data`] cells that do not promise that are rescanned in every young collection;
//! * immortal cells (static strings and symbols) are never written and never marked.
//!
//! Layout of the folder: `pages` (from the system), `block` (memory), `heap` (allocation, accounting), `collect` (mark and sweep),
//! `roots` (rooted containers), `native_stack` (conservative scanning).

pub mod block;
pub mod collect;
pub mod heap;
pub(crate) mod moving_start;
pub mod native_stack;
#[cfg_attr(miri, path = "pages_interpreted.rs")]
mod pages;
pub mod roots;
#[cfg(test)]
mod tests;

use std::any::TypeId;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

pub use collect::Tracer;
pub use heap::{ExternalCharge, GcStats, Heap, Zeal};
pub use roots::{Persistent, RootedVec};

use crate::limits;
use crate::value::Value;

/// What a cell is; the first byte of every cell.
#[repr(u8)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CellKind {
    /// Not a cell: free or never used memory.
    Free = 0,
    /// A string (flat, rope or slice).
    String,
    /// A symbol or private name.
    Symbol,
    /// A BigInt.
    BigInt,
    /// An object of any kind.
    Object,
    /// A shape.
    Shape,
    /// A getter and setter pair.
    Accessor,
    /// A counted array of values: elements, overflow slots, scopes.
    ValueArray,
    /// Rust data with a trace function ([`Data`]).
    Data,
    /// What was the head of an array whose start has moved on (`moving_start`).
    Moved,
}

/// The collector's colour of a cell.
pub mod color {
    /// Allocated since the last collection.
    pub const WHITE: u8 = 0;
    /// Survived a collection: a store into it must be remembered.
    pub const BLACK: u8 = 1;
    /// Black, and already on the remembered list.
    pub const REMEMBERED: u8 = 2;
    /// Static memory: never marked, never written.
    pub const IMMORTAL: u8 = 3;
}

/// The first word of every cell.
#[repr(C, align(8))]
pub struct CellHeader {
    kind: Cell<CellKind>,
    color: Cell<u8>,
    /// Kind-specific byte (object kind; string flags).
    pub(crate) a: Cell<u8>,
    /// Kind-specific byte (inline slot capacity).
    pub(crate) b: Cell<u8>,
    /// Kind-specific word (object flags; string length).
    pub(crate) c: Cell<u32>,
}

impl CellHeader {
    /// The header of a new cell.
    pub(crate) const fn new(kind: CellKind, a: u8, b: u8, c: u32) -> Self {
        CellHeader {
            kind: Cell::new(kind),
            color: Cell::new(color::WHITE),
            a: Cell::new(a),
            b: Cell::new(b),
            c: Cell::new(c),
        }
    }

    /// The header of a cell in static memory.
    pub(crate) const fn immortal(kind: CellKind, a: u8, c: u32) -> Self {
        CellHeader {
            kind: Cell::new(kind),
            color: Cell::new(color::IMMORTAL),
            a: Cell::new(a),
            b: Cell::new(0),
            c: Cell::new(c),
        }
    }

    /// What the cell is.
    #[inline(always)]
    pub fn kind(&self) -> CellKind {
        self.kind.get()
    }

    /// The collector's colour.
    #[inline(always)]
    pub fn color(&self) -> u8 {
        self.color.get()
    }

    #[inline(always)]
    pub(crate) fn set_color(&self, c: u8) {
        self.color.set(c);
    }

    pub(crate) fn set_free(&self) {
        self.kind.set(CellKind::Free);
    }

    /// Records that this cell was written: must run with every store of a cell pointer into it
    /// (before or after, with no allocation in between). One byte test when the cell is young.
    #[inline(always)]
    pub fn write_barrier(&self) {
        if self.color.get() == color::BLACK {
            self.write_barrier_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn write_barrier_slow(&self) {
        self.color.set(color::REMEMBERED);
        heap::remember(self);
    }
}

/// Where the parts of cells are, for generated code.
pub mod offsets {
    use super::{CellHeader, Data, ValueArray};
    use std::mem::offset_of;

    /// The byte that says what a cell is.
    pub const KIND: usize = offset_of!(CellHeader, kind);
    /// The byte with the colour.
    pub const COLOR: usize = offset_of!(CellHeader, color);
    /// An object's kind; whether something hangs on an array.
    pub const A: usize = offset_of!(CellHeader, a);
    /// An object's inline capacity.
    pub const B: usize = offset_of!(CellHeader, b);
    /// An object's flags; a string's length.
    pub const C: usize = offset_of!(CellHeader, c);
    /// An array's count of values.
    pub const ARRAY_LEN: usize = offset_of!(ValueArray, len);
    /// For how many values an array has room.
    pub const ARRAY_CAPACITY: usize = offset_of!(ValueArray, capacity);
    /// An array's first value.
    pub const ARRAY_VALUES: usize = ValueArray::DATA_OFFSET;

    /// Where the data of a [`Data`] cell is.
    pub const fn data<T>() -> usize {
        offset_of!(Data<T>, value)
    }
}

/// A copyable pointer to a cell of type `T`. Kept alive by being on a stack, in a cell, or in a root.
#[repr(transparent)]
pub struct Gc<T>(NonNull<T>, PhantomData<*const T>);

impl<T> Copy for Gc<T> {}
impl<T> Clone for Gc<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Gc<T> {
    /// A pointer from the cell's address.
    ///
    /// # Safety
    /// `ptr` must be the address of a live, initialised cell of type `T`.
    #[inline(always)]
    pub unsafe fn from_addr(ptr: *mut T) -> Self {
        debug_assert!(!ptr.is_null());
        // SAFETY: the caller promises a live cell, so the pointer is not null.
        Gc(unsafe { NonNull::new_unchecked(ptr) }, PhantomData)
    }

    /// A pointer to a cell in static memory.
    pub(crate) const fn from_static(cell: &'static T) -> Self {
        Gc(NonNull::from_ref(cell), PhantomData)
    }

    /// The cell's address, which is also its identity.
    #[inline(always)]
    pub fn addr(self) -> usize {
        self.0.as_ptr() as usize
    }

    /// The pointer.
    #[inline(always)]
    pub const fn as_ptr(self) -> *mut T {
        self.0.as_ptr()
    }

    /// Identity.
    #[inline(always)]
    pub fn ptr_eq(self, other: Gc<T>) -> bool {
        self.0 == other.0
    }

    /// The header every cell starts with.
    #[inline(always)]
    pub fn header(&self) -> &CellHeader {
        // SAFETY: every cell type is `repr(C)` and begins with its header; the cell lives as long as it is
        // reachable, which callers that still hold the pointer ensure.
        unsafe { &*(self.0.as_ptr() as *const CellHeader) }
    }

    /// See [`CellHeader::write_barrier`].
    #[inline(always)]
    pub fn write_barrier(self) {
        self.header().write_barrier();
    }
}

impl<T> Deref for Gc<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: a `Gc` points to a live initialised cell (see `from_addr`).
        unsafe { self.0.as_ref() }
    }
}

impl<T> PartialEq for Gc<T> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for Gc<T> {}
impl<T> std::hash::Hash for Gc<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.addr().hash(state);
    }
}
impl<T> std::fmt::Debug for Gc<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gc({:#x})", self.addr())
    }
}

/// Rust data that may live in a [`Data`] cell.
pub trait Trace: 'static {
    /// Whether every store of a cell pointer into this data is followed by [`CellHeader::write_barrier`] on its
    /// cell. When false (the safe default), the collector rescans the cell in every young collection.
    const BARRIERED: bool = false;

    /// Reports every cell pointer the data holds.
    fn trace(&self, tracer: &mut Tracer<'_>);

    /// Reports a bounded part of what a long table holds, beginning at `from`: where the next part begins, if there is one. A part
    /// that begins at 0 is a trace of all; what is written from then on is written to a traced cell.
    fn trace_part(&self, tracer: &mut Tracer<'_>, from: usize) -> Option<usize> {
        debug_assert!(from == 0);
        self.trace(tracer);
        None
    }

    /// Reports at least what was written since the data was traced, and does so before anything else is written. True: that was not
    /// noted, and all has to be traced again.
    fn trace_written(&self, _tracer: &mut Tracer<'_>) -> bool {
        true
    }

    /// Called after marking in every collection, for data with weak contents: drop what is not marked.
    fn sweep_weak(&self, _tracer: &Tracer<'_>) {}

    /// Whether [`Trace::sweep_weak`] and [`Trace::trace_ephemerons`] have anything to do.
    const WEAK: bool = false;

    /// A number of its own, for types that fast paths look for; 0 for all others.
    const TAG: u8 = 0;

    /// Reports every weak key with its value ([`Tracer::ephemeron`]).
    fn trace_ephemerons(&self, _tracer: &mut Tracer<'_>) {}
}

/// The per-type table a [`Data`] cell points to.
pub(crate) struct DataVTable {
    pub(crate) trace: unsafe fn(*const (), &mut Tracer<'_>, usize) -> Option<usize>,
    pub(crate) trace_written: unsafe fn(*const (), &mut Tracer<'_>) -> bool,
    pub(crate) drop: unsafe fn(*mut ()),
    pub(crate) sweep_weak: unsafe fn(*const (), &Tracer<'_>),
    pub(crate) trace_ephemerons: unsafe fn(*const (), &mut Tracer<'_>),
    pub(crate) type_id: fn() -> TypeId,
    pub(crate) needs_drop: bool,
    pub(crate) barriered: bool,
    pub(crate) weak: bool,
    pub(crate) tag: u8,
}

/// The tags of types of data ([`Trace::TAG`]).
pub mod tag {
    /// A coroutine.
    pub const COROUTINE: u8 = 1;
    /// A function template.
    pub const TEMPLATE: u8 = 2;
}

/// A cell that holds any Rust data with a [`Trace`] implementation. Dereferences to the data.
#[repr(C)]
pub struct Data<T> {
    header: CellHeader,
    vtable: &'static DataVTable,
    value: T,
}

/// The part of [`Data`] that does not depend on the type.
#[repr(C)]
pub(crate) struct DataHead {
    pub(crate) header: CellHeader,
    pub(crate) vtable: &'static DataVTable,
}

struct VTableOf<T>(PhantomData<T>);

impl<T: Trace> VTableOf<T> {
    const TABLE: DataVTable = DataVTable {
        // SAFETY: the collector passes the address of a live `Data<T>` cell of this very type.
        trace: |p, t, from| unsafe { (*(p as *const Data<T>)).value.trace_part(t, from) },
        // SAFETY: as above.
        trace_written: |p, t| unsafe { (*(p as *const Data<T>)).value.trace_written(t) },
        // SAFETY: as above; called once, when the cell is swept.
        drop: |p| unsafe { std::ptr::drop_in_place(&raw mut (*(p as *mut Data<T>)).value) },
        // SAFETY: as above.
        sweep_weak: |p, t| unsafe { (*(p as *const Data<T>)).value.sweep_weak(t) },
        // SAFETY: as above.
        trace_ephemerons: |p, t| unsafe { (*(p as *const Data<T>)).value.trace_ephemerons(t) },
        type_id: TypeId::of::<T>,
        needs_drop: std::mem::needs_drop::<T>(),
        barriered: T::BARRIERED,
        weak: T::WEAK,
        tag: T::TAG,
    };
}

impl<T: Trace> Data<T> {
    pub(crate) fn new(value: T) -> Self {
        Data {
            header: CellHeader::new(CellKind::Data, 0, 0, 0),
            vtable: const { &VTableOf::<T>::TABLE },
            value,
        }
    }
}

impl<T> Data<T> {
    /// The address of the data, to step outside the borrow of a local pointer.
    #[inline(always)]
    pub fn data_ptr(&self) -> *const T {
        &raw const self.value
    }
}

impl<T> Deref for Data<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.value
    }
}

/// The data cell in `v`, if it holds a `T`.
#[inline]
pub fn data_of<T: Trace>(v: Value) -> Option<Gc<Data<T>>> {
    let header = v.cell_header()?;
    if header.kind() != CellKind::Data {
        return None;
    }
    // SAFETY: the kind says that this is a data cell, whose head is type-independent.
    let head = unsafe { &*(header as *const CellHeader as *const DataHead) };
    let is_known = if T::TAG == 0 {
        (head.vtable.type_id)() == TypeId::of::<T>()
    } else {
        debug_assert!(head.vtable.tag != T::TAG || (head.vtable.type_id)() == TypeId::of::<T>());
        head.vtable.tag == T::TAG
    };
    if !is_known {
        return None;
    }
    // SAFETY: the type has just been compared.
    Some(unsafe { Gc::from_addr(header as *const CellHeader as *mut Data<T>) })
}

/// A counted array of values in one cell: object elements, overflow slots, captured scopes.
/// `len` values are initialised and traced; up to `capacity` may be. Another array may hang on it, in the place after those.
#[repr(C)]
pub struct ValueArray {
    pub(crate) header: CellHeader,
    pub(crate) len: Cell<u32>,
    pub(crate) capacity: Cell<u32>,
}

impl ValueArray {
    /// Bytes before the first value.
    pub const DATA_OFFSET: usize = size_of::<ValueArray>();

    pub(crate) fn new_header(len: u32, capacity: u32) -> Self {
        ValueArray {
            // The header's word is the first index that was written since the array was traced.
            header: CellHeader::new(CellKind::ValueArray, 0, 0, 0),
            len: Cell::new(len),
            capacity: Cell::new(capacity),
        }
    }

    /// Initialised values.
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len.get()
    }
    /// Whether no value is initialised.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len.get() == 0
    }
    /// Room.
    #[inline(always)]
    pub fn capacity(&self) -> u32 {
        self.capacity.get()
    }
    pub(crate) fn set_capacity(&self, capacity: u32) {
        self.capacity.set(capacity);
    }

    /// The array that hangs on this one.
    #[inline(always)]
    pub fn tail(&self) -> Option<Gc<ValueArray>> {
        if self.header.a.get() == 0 {
            return None;
        }
        // SAFETY: the byte says that the place after the capacity exists and holds the address of an array.
        unsafe {
            let tail = *self.data().add(self.capacity.get() as usize);
            Some(Gc::from_addr(tail.to_bits() as *mut ValueArray))
        }
    }

    /// Replaces the array that hangs on this one, which has one already.
    pub(crate) fn set_tail(&self, tail: Gc<ValueArray>) {
        debug_assert!(self.header.a.get() != 0);
        // SAFETY: the place after the capacity exists where there is a tail.
        unsafe { *self.data().add(self.capacity.get() as usize) = Value::cell(tail) };
        self.header.write_barrier();
    }

    /// Hangs `tail` on this array.
    ///
    /// # Safety
    /// The cell has room for one value more than the capacity, which does not change from now on.
    pub(crate) unsafe fn add_tail(&self, tail: Gc<ValueArray>) {
        self.header.a.set(1);
        self.set_tail(tail);
    }

    /// The first value.
    #[inline(always)]
    pub fn data(&self) -> *mut Value {
        // SAFETY: the values follow the header in the same cell.
        unsafe { (self as *const Self as *mut u8).add(Self::DATA_OFFSET) as *mut Value }
    }

    /// The value at `i`, or EMPTY when it is out of range.
    #[inline(always)]
    pub fn get(&self, i: u32) -> Value {
        if i < self.len.get() {
            // SAFETY: `i` is below the initialised length.
            unsafe { *self.data().add(i as usize) }
        } else {
            Value::EMPTY
        }
    }

    /// The value at `i`.
    ///
    /// # Safety
    /// `i < self.len()`.
    #[inline(always)]
    pub unsafe fn get_unchecked(&self, i: u32) -> Value {
        debug_assert!(i < self.len.get());
        // SAFETY: promised by the caller.
        unsafe { *self.data().add(i as usize) }
    }

    /// Stores at `i` (ignored when out of range), with the barrier.
    #[inline(always)]
    pub fn set(&self, i: u32, v: Value) {
        if i < self.len.get() {
            // SAFETY: `i` is below the initialised length.
            unsafe { *self.data().add(i as usize) = v };
            self.barrier_at(i, self.len.get() >= limits::GC_LONG_ARRAY);
        }
    }

    /// The write barrier for element `i`: remembers where the array became dirty, so that a young collection need not
    /// look at the rest of a long array; or, `alone`, that this element did.
    #[inline(always)]
    fn barrier_at(&self, i: u32, alone: bool) {
        if self.header.color.get() != color::WHITE {
            if i < self.header.c.get() && !(alone && heap::remember_element(self, i)) {
                self.header.c.set(i);
            }
            self.header.write_barrier();
        }
    }

    /// The first index to trace; from now on only later writes count.
    pub(crate) fn take_dirty_start(&self) -> u32 {
        self.header.c.replace(u32::MAX).min(self.len.get())
    }

    /// Appends without growing; false when full.
    #[inline(always)]
    pub fn push(&self, v: Value) -> bool {
        let n = self.len.get();
        if n >= self.capacity.get() {
            return false;
        }
        // SAFETY: `n` is below the capacity.
        unsafe { *self.data().add(n as usize) = v };
        self.len.set(n + 1);
        self.barrier_at(n, false);
        true
    }

    /// Appends as many of these as there is room for.
    pub fn extend_from(&self, values: &[Value]) {
        let n = self.len.get();
        let count = values.len().min((self.capacity.get() - n) as usize);
        // SAFETY: the values go to places below the capacity; where they come from this very array, that is before its end.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.data().add(n as usize), count) };
        self.len.set(n + count as u32);
        if count > 0 {
            self.barrier_at(n, false);
        }
    }

    /// Shortens, or lengthens within the capacity with EMPTY.
    pub fn set_len(&self, n: u32) {
        let n = n.min(self.capacity.get());
        for i in self.len.get()..n {
            // SAFETY: `i` is below the capacity.
            unsafe { *self.data().add(i as usize) = Value::EMPTY };
        }
        self.len.set(n);
    }

    /// Drops the first value; the others move up.
    pub fn remove_first(&self) {
        let n = self.len.get();
        if n > 0 {
            // SAFETY: both ranges lie within the initialised values.
            unsafe { std::ptr::copy(self.data().add(1), self.data(), n as usize - 1) };
            self.len.set(n - 1);
            self.barrier_at(0, false);
        }
    }

    /// The initialised values. Do not hold it across anything that can run guest code or allocate.
    #[inline(always)]
    pub fn as_slice(&self) -> &[Value] {
        // SAFETY: `len` values are initialised; `Value` is `Copy` and the engine is single-threaded.
        unsafe { std::slice::from_raw_parts(self.data(), self.len.get() as usize) }
    }

    /// The values in the opposite order.
    pub fn reverse(&self) {
        self.barrier_at(0, false);
        // SAFETY: `len` values are initialised, and nobody else sees the slice, which is gone when this returns.
        unsafe { std::slice::from_raw_parts_mut(self.data(), self.len.get() as usize) }.reverse();
    }

    /// Replaces the values `at..at + removed` by `items`, moving the rest; false without room, or where they do not lie within the array. The items
    /// are in no array of the heap.
    pub fn splice(&self, at: usize, removed: usize, items: &[Value]) -> bool {
        let n = self.len.get() as usize;
        let Some(rest) = n.checked_sub(at).and_then(|after| after.checked_sub(removed)) else { return false };
        let new_length = at + items.len() + rest;
        if new_length > self.capacity.get() as usize {
            return false;
        }
        // SAFETY: both places of the rest, and that of the items, lie below the capacity; the items lie elsewhere, or were copied where they are.
        unsafe {
            let place = self.data().add(at);
            std::ptr::copy(place.add(removed), place.add(items.len()), rest);
            std::ptr::copy(items.as_ptr(), place, items.len());
        }
        self.len.set(new_length as u32);
        self.barrier_at(0, false);
        true
    }
}

/// A getter and setter pair; the value of an accessor property's slot.
#[repr(C)]
pub struct Accessor {
    header: CellHeader,
    get: Cell<Value>,
    set: Cell<Value>,
}

impl Accessor {
    pub(crate) fn new(get: Value, set: Value) -> Self {
        Accessor {
            header: CellHeader::new(CellKind::Accessor, 0, 0, 0),
            get: Cell::new(get),
            set: Cell::new(set),
        }
    }
    /// The getter, or undefined.
    #[inline(always)]
    pub fn getter(&self) -> Value {
        self.get.get()
    }
    /// The setter, or undefined.
    #[inline(always)]
    pub fn setter(&self) -> Value {
        self.set.get()
    }
    pub(crate) fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.value(self.get.get());
        tracer.value(self.set.get());
    }
}

impl Value {
    /// The accessor pair in a property slot.
    #[inline(always)]
    pub fn as_accessor(self) -> Option<Gc<Accessor>> {
        match self.cell_header() {
            Some(h) if h.kind() == CellKind::Accessor => {
                // SAFETY: the kind has been tested.
                Some(unsafe { Gc::from_addr(h as *const CellHeader as *mut Accessor) })
            }
            _ => None,
        }
    }
    /// The value array in an internal slot.
    #[inline(always)]
    pub fn as_value_array(self) -> Option<Gc<ValueArray>> {
        match self.cell_header() {
            Some(h) if h.kind() == CellKind::ValueArray => {
                // SAFETY: the kind has been tested.
                Some(unsafe { Gc::from_addr(h as *const CellHeader as *mut ValueArray) })
            }
            _ => None,
        }
    }
}
