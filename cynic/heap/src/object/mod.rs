//! [`JsObject`]: the one layout of all objects.
//!
//! ```text
//! header  kind | colour | object kind | inline capacity | flags          8 bytes
//! shape                                                                  8
//! elements   dense array-index properties (a ValueArray)                 8
//! inline slots: internal slots first, then properties                    8 each
//! ```
//!
//! Property slots beyond the inline ones, the *overflow*, are a ValueArray too. Few objects have them, so that the object has
//! no word for them: they hang on the elements ([`ValueArray::tail`]), which may be empty.
//!
//! Exotic state lives in *internal slots*: the first `shape.first_slot()` slots, which no property entry names.
//! They hold values, or cells of native data (`Gc<Data<T>>`), and are traced like any slot.
//!
//! Elements hold the indexed properties with default attributes (or, by a flag, sealed or frozen ones); EMPTY is a
//! hole. An object whose indexed properties are too sparse or have odd attributes keeps them as keyed properties
//! (flag `HAS_SPARSE`) and has no elements.
//!
//! Values are boxed as they are, int32 and double alike, so one element kind does: reading a packed number array
//! needs no conversion (a deviation from the plan of several kinds, which pays only where doubles are unboxed).
//!
//! Invariant: every store goes through [`JsObject::set_slot`], [`JsObject::set_inline_slot`] or a method of
//! `elements`, which run the write barrier.
//! Left to others: the internal methods (`internal_methods`, `ordinary`, `array_exotic`, ...).

pub mod descriptor;
pub mod elements;

use std::cell::Cell;

use crate::gc::{CellHeader, CellKind, Data, Gc, Trace, Tracer, ValueArray, color, data_of};
use crate::mutator::Mutator;
use crate::shape::Shape;
use crate::value::Value;

pub use descriptor::{OwnProperty, PropertyDescriptor};

/// A pointer to an object.
pub type Object = Gc<JsObject>;

/// Which internal slots and internal methods an object has.
#[repr(u8)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ObjectKind {
    Ordinary = 0,
    Array,
    /// Compiled code with its scope.
    Closure,
    NativeFunction,
    BoundFunction,
    Error,
    Boolean,
    Number,
    String,
    Symbol,
    BigInt,
    Date,
    RegExp,
    Map,
    Set,
    WeakMap,
    WeakSet,
    WeakRef,
    FinalizationRegistry,
    Promise,
    Proxy,
    ArrayBuffer,
    SharedArrayBuffer,
    TypedArray,
    DataView,
    Arguments,
    Generator,
    AsyncGenerator,
    AsyncFunction,
    ForInIterator,
    ArrayIterator,
    MapIterator,
    SetIterator,
    StringIterator,
    RegExpStringIterator,
    IteratorHelper,
    WrapForValidIterator,
    AsyncFromSyncIterator,
    ModuleNamespace,
    Global,
    RawJson,
    DisposableStack,
    AsyncDisposableStack,
    TemporalInstant,
    TemporalPlainDate,
    TemporalPlainTime,
    TemporalPlainDateTime,
    TemporalPlainYearMonth,
    TemporalPlainMonthDay,
    TemporalZonedDateTime,
    TemporalDuration,
    /// An object of the host's.
    Host,
}

/// Object flags.
pub mod flags {
    /// Has `[[Call]]`.
    pub const CALLABLE: u32 = 1;
    /// Has `[[Construct]]`.
    pub const CONSTRUCTOR: u32 = 1 << 1;
    /// Its internal methods come from a table (`internal_methods::ExoticMethods`).
    pub const EXOTIC: u32 = 1 << 2;
    /// Some shape has it as prototype: changes to its set of properties advance `Mutator::proto_epoch`.
    pub const IS_PROTOTYPE: u32 = 1 << 3;
    /// Indexed properties are keyed properties; there are no elements.
    pub const HAS_SPARSE: u32 = 1 << 4;
    /// The elements cannot be deleted or redefined.
    pub const ELEMENTS_SEALED: u32 = 1 << 5;
    /// The elements cannot be changed either.
    pub const ELEMENTS_FROZEN: u32 = 1 << 6;
    /// An array whose `length` is not writable.
    pub const LENGTH_FROZEN: u32 = 1 << 7;
    /// A class constructor, which cannot be called.
    pub const CLASS_CONSTRUCTOR: u32 = 1 << 8;
    /// A derived class constructor, which has no `this` until `super` returns.
    pub const DERIVED: u32 = 1 << 9;
    /// Hardened already (see `builtins::harden`).
    pub const HARDENED: u32 = 1 << 10;
    /// Some slots are rows of const tables, materialised when first read.
    pub const HAS_LAZY: u32 = 1 << 11;
    /// Not extensible (a copy of the shape's flag, for one test on the element fast path).
    pub const NOT_EXTENSIBLE: u32 = 1 << 12;
    /// A strict-mode constructor made by the language's own syntax as a method: no construct, for messages.
    pub const METHOD: u32 = 1 << 13;
    /// An immutable prototype exotic object (10.4.7).
    pub const IMMUTABLE_PROTOTYPE: u32 = 1 << 14;
    /// A prototype that had no indexed properties, nor had any object above it, when it became one.
    pub const CHAIN_NOTED: u32 = 1 << 15;
    /// Free for the virtual machine's own use.
    pub const VM_0: u32 = 1 << 24;
    /// Free for the virtual machine's own use.
    pub const VM_1: u32 = 1 << 25;
    /// Free for the virtual machine's own use.
    pub const VM_2: u32 = 1 << 26;
    /// Writing an existing element needs the slow path.
    pub const ELEMENT_WRITE_SLOW: u32 = EXOTIC | HAS_SPARSE | ELEMENTS_SEALED | ELEMENTS_FROZEN;
    /// Appending an element needs the slow path.
    pub const ELEMENT_APPEND_SLOW: u32 = ELEMENT_WRITE_SLOW | LENGTH_FROZEN | NOT_EXTENSIBLE;
}

/// Inline slots of an object made without a better hint.
pub const INLINE_SLOTS_DEFAULT: u8 = 4;
/// The slot of an array's length.
pub const ARRAY_LENGTH_SLOT: u32 = 0;

/// An object; see the module's head.
#[repr(C)]
pub struct JsObject {
    header: CellHeader,
    shape: Cell<Gc<Shape>>,
    elements: Cell<Gc<ValueArray>>,
}

/// Bytes before the inline slots.
pub const OBJECT_HEADER_BYTES: usize = size_of::<JsObject>();
/// Byte offset of the shape pointer, for generated code.
pub const SHAPE_OFFSET: usize = std::mem::offset_of!(JsObject, shape);
/// Byte offset of the elements pointer, for generated code.
pub const ELEMENTS_OFFSET: usize = std::mem::offset_of!(JsObject, elements);

/// The array of length 0 that stands for "none".
struct EmptyArray(ValueArray);
// SAFETY: immortal and of capacity 0, so it is never written.
unsafe impl Sync for EmptyArray {}
static EMPTY_ARRAY: EmptyArray = EmptyArray(ValueArray::immortal_empty());

/// The shared array without room.
#[inline(always)]
pub fn empty_array() -> Gc<ValueArray> {
    Gc::from_static(&EMPTY_ARRAY.0)
}

impl ValueArray {
    const fn immortal_empty() -> Self {
        ValueArray {
            header: CellHeader::immortal(CellKind::ValueArray, 0, 0),
            len: Cell::new(0),
            capacity: Cell::new(0),
        }
    }
}

impl JsObject {
    /// The kind.
    #[inline(always)]
    pub fn kind(&self) -> ObjectKind {
        // SAFETY: the byte is only ever set from an `ObjectKind`.
        unsafe { std::mem::transmute::<u8, ObjectKind>(self.header.a.get()) }
    }
    /// Whether the object has this kind.
    #[inline(always)]
    pub fn is(&self, kind: ObjectKind) -> bool {
        self.header.a.get() == kind as u8
    }
    /// Changes the kind (the internal slots must fit it).
    pub fn set_kind(&self, kind: ObjectKind) {
        self.header.a.set(kind as u8);
    }
    /// Whether this is an Array exotic object (not: IsArray, which looks through proxies).
    #[inline(always)]
    pub fn is_array(&self) -> bool {
        self.is(ObjectKind::Array)
    }
    /// All flags.
    #[inline(always)]
    pub fn flags(&self) -> u32 {
        self.header.c.get()
    }
    /// Whether any of these flags is set.
    #[inline(always)]
    pub fn has_flag(&self, flag: u32) -> bool {
        self.header.c.get() & flag != 0
    }
    /// Sets flags.
    #[inline(always)]
    pub fn set_flag(&self, flag: u32) {
        self.header.c.set(self.header.c.get() | flag);
    }
    /// Clears flags.
    pub fn clear_flag(&self, flag: u32) {
        self.header.c.set(self.header.c.get() & !flag);
    }
    /// IsCallable of an object.
    #[inline(always)]
    pub fn is_callable(&self) -> bool {
        self.has_flag(flags::CALLABLE)
    }
    /// IsConstructor of an object.
    #[inline(always)]
    pub fn is_constructor(&self) -> bool {
        self.has_flag(flags::CONSTRUCTOR)
    }
    /// The shape.
    #[inline(always)]
    pub fn shape(&self) -> Gc<Shape> {
        self.shape.get()
    }
    /// Replaces the shape (the slots must fit it already).
    #[inline(always)]
    pub fn set_shape(&self, shape: Gc<Shape>) {
        self.shape.set(shape);
        self.header.write_barrier();
    }
    /// The value of `[[Prototype]]` of an ordinary object: an object or null.
    #[inline(always)]
    pub fn prototype(&self) -> Value {
        self.shape.get().prototype()
    }
    /// Inline slots.
    #[inline(always)]
    pub fn inline_capacity(&self) -> u32 {
        u32::from(self.header.b.get())
    }
    /// The first inline slot.
    #[inline(always)]
    pub fn inline_slots(&self) -> *mut Value {
        // SAFETY: the inline slots follow the header in the same cell.
        unsafe { (self as *const JsObject as *mut u8).add(OBJECT_HEADER_BYTES) as *mut Value }
    }
    /// The dense elements.
    #[inline(always)]
    pub fn elements(&self) -> Gc<ValueArray> {
        self.elements.get()
    }
    /// Replaces the elements. What hangs on the old ones must hang on the new ones.
    pub fn set_elements(&self, e: Gc<ValueArray>) {
        self.elements.set(e);
        self.header.write_barrier();
    }
    /// The slots beyond the inline ones.
    #[inline(always)]
    pub fn overflow(&self) -> Gc<ValueArray> {
        self.elements.get().tail().unwrap_or_else(empty_array)
    }

    /// The value in slot `i` of the shape's numbering.
    #[inline(always)]
    pub fn slot(&self, i: u32) -> Value {
        let n = self.inline_capacity();
        if i < n {
            // SAFETY: `i` is below the inline capacity.
            unsafe { *self.inline_slots().add(i as usize) }
        } else {
            self.overflow().get(i - n)
        }
    }

    /// Stores into slot `i`, which must exist, with the barrier.
    #[inline(always)]
    pub fn set_slot(&self, i: u32, v: Value) {
        let n = self.inline_capacity();
        if i < n {
            // SAFETY: `i` is below the inline capacity.
            unsafe { *self.inline_slots().add(i as usize) = v };
            self.header.write_barrier();
        } else {
            debug_assert!(i - n < self.overflow().len());
            self.overflow().set(i - n, v);
        }
    }

    /// The value in inline slot `i`.
    ///
    /// # Safety
    /// `i < self.inline_capacity()`.
    #[inline(always)]
    pub unsafe fn inline_slot(&self, i: u32) -> Value {
        debug_assert!(i < self.inline_capacity());
        // SAFETY: promised by the caller.
        unsafe { *self.inline_slots().add(i as usize) }
    }

    /// Stores into inline slot `i`, with the barrier.
    ///
    /// # Safety
    /// `i < self.inline_capacity()`.
    #[inline(always)]
    pub unsafe fn set_inline_slot(&self, i: u32, v: Value) {
        debug_assert!(i < self.inline_capacity());
        // SAFETY: promised by the caller.
        unsafe { *self.inline_slots().add(i as usize) = v };
        self.header.write_barrier();
    }

    /// Stores into inline slot `i` of an object that is young, or remembered already.
    ///
    /// # Safety
    /// `i < self.inline_capacity()`.
    #[inline(always)]
    pub unsafe fn set_inline_slot_remembered(&self, i: u32, v: Value) {
        debug_assert!(i < self.inline_capacity() && self.header.color() != color::BLACK);
        // SAFETY: promised by the caller.
        unsafe { *self.inline_slots().add(i as usize) = v };
    }

    /// The native data in internal slot `i`, if it is a `T`.
    pub fn data<T: Trace>(&self, i: u32) -> Option<Gc<Data<T>>> {
        data_of::<T>(self.slot(i))
    }

    /// The array's length, of an Array; 0 of anything else, which a caller has ruled out (so that the compiler drops the test).
    #[inline(always)]
    pub fn array_length(&self) -> u32 {
        debug_assert!(self.is_array());
        if !self.is_array() {
            return 0;
        }
        // SAFETY: arrays have at least one inline slot.
        let v = unsafe { self.inline_slot(ARRAY_LENGTH_SLOT) };
        match v.as_int32() {
            Some(i) => i as u32,
            None => v.as_number().unwrap_or(0.0) as u32,
        }
    }

    /// The array's length, of an Array that has fewer than 2^31 elements: for handlers, which keep free of floating-point arithmetic.
    #[inline(always)]
    pub fn short_array_length(&self) -> Option<u32> {
        debug_assert!(self.is_array());
        if !self.is_array() {
            return None;
        }
        // SAFETY: arrays have at least one inline slot.
        let v = unsafe { self.inline_slot(ARRAY_LENGTH_SLOT) };
        v.as_int32().map(|length| length as u32)
    }

    /// Stores an Array's length (nothing else changes).
    #[inline(always)]
    pub fn set_array_length_slot(&self, n: u32) {
        debug_assert!(self.is_array());
        if !self.is_array() {
            return;
        }
        let v = if n <= i32::MAX as u32 { Value::int32(n as i32) } else { Value::double(f64::from(n)) };
        // SAFETY: arrays have at least one inline slot; numbers need no barrier.
        unsafe { *self.inline_slots().add(ARRAY_LENGTH_SLOT as usize) = v };
    }

    pub(crate) fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.cell(self.shape.get());
        if self.elements.get().header().color() != color::IMMORTAL {
            tracer.cell(self.elements.get());
        }
        for i in 0..self.inline_capacity() {
            // SAFETY: `i` is below the inline capacity, and all inline slots are initialised.
            tracer.value(unsafe { *self.inline_slots().add(i as usize) });
        }
    }
}

impl Mutator {
    /// A new object. All slots are undefined; the shape must need no more than `inline_slots` plus overflow, which is
    /// made here when the shape has more slots.
    #[inline(always)]
    pub fn alloc_object(
        &mut self,
        shape: Gc<Shape>,
        kind: ObjectKind,
        inline_slots: u8,
        object_flags: u32,
    ) -> Object {
        let bytes = OBJECT_HEADER_BYTES + inline_slots as usize * size_of::<Value>();
        let p = self.alloc_raw(bytes, false) as *mut JsObject;
        // SAFETY: fresh memory of that size; everything is initialised before the next allocation.
        let object = unsafe {
            p.write(JsObject {
                header: CellHeader::new(CellKind::Object, kind as u8, inline_slots, object_flags),
                shape: Cell::new(shape),
                elements: Cell::new(empty_array()),
            });
            let slots = (p as *mut u8).add(OBJECT_HEADER_BYTES) as *mut Value;
            for i in 0..inline_slots as usize {
                *slots.add(i) = Value::UNDEFINED;
            }
            Gc::from_addr(p)
        };
        if shape.slot_count() > u32::from(inline_slots) {
            self.grow_overflow(object, shape.slot_count() - u32::from(inline_slots));
        }
        object
    }

    /// Makes room for `needed` overflow slots, undefined where new.
    #[cold]
    #[inline(never)]
    pub(crate) fn grow_overflow(&mut self, object: Object, needed: u32) {
        let old = object.overflow();
        if old.capacity() < needed {
            // 2, 6, 14, 30: with their head, these fill cells of a power of two.
            let capacity = needed.max(old.capacity() * 2 + 2);
            let new = self.alloc_value_array(capacity);
            for &v in old.as_slice() {
                new.push(v);
            }
            self.set_overflow(object, new);
        }
        let array = object.overflow();
        while array.len() < needed {
            array.push(Value::UNDEFINED);
        }
    }

    /// Hangs `overflow` on the object's elements, which move to a cell with room for it if theirs has none.
    fn set_overflow(&mut self, object: Object, overflow: Gc<ValueArray>) {
        let old = object.elements();
        if old.tail().is_some() {
            old.set_tail(overflow);
            return;
        }
        object.shape().note_overflow(object.inline_capacity() + 1);
        let new = self.alloc_value_array_with_tail(old.capacity(), overflow);
        for &v in old.as_slice() {
            new.push(v);
        }
        object.set_elements(new);
    }

    /// Puts `v` in the slot of a property just added, and gives the object its new shape.
    #[inline]
    pub fn add_slot(&mut self, object: Object, shape: Gc<Shape>, slot: u32, v: Value) {
        let n = object.inline_capacity();
        if slot >= n && slot - n >= object.overflow().len() {
            self.grow_overflow(object, slot - n + 1);
        }
        object.set_slot(slot, v);
        object.set_shape(shape);
    }

    /// An array of values in a cell: no value is initialised.
    pub fn alloc_value_array(&mut self, capacity: u32) -> Gc<ValueArray> {
        let bytes = ValueArray::DATA_OFFSET + capacity as usize * size_of::<Value>();
        let p = self.alloc_raw(bytes, false) as *mut ValueArray;
        // SAFETY: fresh memory of that size; no value counts as initialised.
        unsafe {
            p.write(ValueArray::new_header(0, capacity));
            Gc::from_addr(p)
        }
    }

    /// The same with another array hanging on it.
    pub fn alloc_value_array_with_tail(&mut self, capacity: u32, tail: Gc<ValueArray>) -> Gc<ValueArray> {
        let array = self.alloc_value_array(capacity + 1);
        array.set_capacity(capacity);
        // SAFETY: the cell has room for one value more than the capacity.
        unsafe { array.add_tail(tail) };
        array
    }

    /// An array of `len` values, all `fill`: a captured scope, for example.
    pub fn new_value_array(&mut self, len: u32, fill: Value) -> Gc<ValueArray> {
        let array = self.alloc_value_array(len);
        for _ in 0..len {
            array.push(fill);
        }
        array
    }

    /// Native data in a cell of its own.
    pub fn alloc_data<T: Trace>(&mut self, value: T) -> Gc<Data<T>> {
        const { assert!(align_of::<T>() <= 16) };
        let p = self.alloc_raw(size_of::<Data<T>>(), std::mem::needs_drop::<T>()) as *mut Data<T>;
        // SAFETY: fresh memory of that size.
        unsafe {
            p.write(Data::new(value));
            Gc::from_addr(p)
        }
    }

    /// A getter and setter pair, for an accessor property's slot.
    pub fn new_accessor(&mut self, get: Value, set: Value) -> Gc<crate::gc::Accessor> {
        let p = self.alloc_raw(size_of::<crate::gc::Accessor>(), false) as *mut crate::gc::Accessor;
        // SAFETY: fresh memory of that size.
        unsafe {
            p.write(crate::gc::Accessor::new(get, set));
            Gc::from_addr(p)
        }
    }
}
