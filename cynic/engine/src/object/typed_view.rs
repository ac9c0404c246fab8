//! [`TypedView`]: the window that a typed array or DataView has on a buffer, and [`ElementType`].
//!
//! Internal slots of both kinds of object: 0 a `Data<TypedView>`, 1 the buffer object. A view without a length tracks its buffer's.
//! Invariant: objects of kind `TypedArray` hold the cell in slot 0 from birth, inline; [`JsObject::typed_view`] relies on it.

#![allow(unsafe_code)]

use num_bigint::BigInt as Integer;
use num_traits::ToPrimitive;

use super::buffer::Buffer;
use super::{JsObject, Object, ObjectKind};
use crate::gc::{Data, Gc, Trace, Tracer};
use crate::numeric::half;
use crate::ops::numeric::double_to_int32;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The types of elements (table 73 of the specification).
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ElementType {
    Int8,
    Uint8,
    Uint8Clamped,
    Int16,
    Uint16,
    Int32,
    Uint32,
    BigInt64,
    BigUint64,
    Float16,
    Float32,
    Float64,
}

impl ElementType {
    /// All types, in the order of the enum.
    pub const ALL: [ElementType; 12] = [
        Self::Int8,
        Self::Uint8,
        Self::Uint8Clamped,
        Self::Int16,
        Self::Uint16,
        Self::Int32,
        Self::Uint32,
        Self::BigInt64,
        Self::BigUint64,
        Self::Float16,
        Self::Float32,
        Self::Float64,
    ];

    /// Bytes of an element.
    #[inline(always)]
    pub const fn size(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 | Self::Uint8Clamped => 1,
            Self::Int16 | Self::Uint16 | Self::Float16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::BigInt64 | Self::BigUint64 | Self::Float64 => 8,
        }
    }

    /// Whether elements are BigInts.
    #[inline(always)]
    pub const fn is_bigint(self) -> bool {
        matches!(self, Self::BigInt64 | Self::BigUint64)
    }

    /// Whether elements are integers that wrap around, which is what `Atomics` works on.
    pub const fn is_unclamped_integer(self) -> bool {
        !matches!(self, Self::Uint8Clamped | Self::Float16 | Self::Float32 | Self::Float64)
    }

    /// The name of the constructor.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "Int8Array",
            Self::Uint8 => "Uint8Array",
            Self::Uint8Clamped => "Uint8ClampedArray",
            Self::Int16 => "Int16Array",
            Self::Uint16 => "Uint16Array",
            Self::Int32 => "Int32Array",
            Self::Uint32 => "Uint32Array",
            Self::BigInt64 => "BigInt64Array",
            Self::BigUint64 => "BigUint64Array",
            Self::Float16 => "Float16Array",
            Self::Float32 => "Float32Array",
            Self::Float64 => "Float64Array",
        }
    }

    /// RawBytesToNumeric (25.1.3.14), from bytes as a little-endian number.
    #[inline]
    pub fn to_value(self, vm: &mut Vm, bits: u64) -> Value {
        match self {
            Self::BigInt64 => Value::bigint(vm.new_bigint(Integer::from(bits as i64))),
            Self::BigUint64 => Value::bigint(vm.new_bigint(Integer::from(bits))),
            _ => self.number_value(bits),
        }
    }

    /// The same for the types whose elements are numbers.
    #[inline(always)]
    fn number_value(self, bits: u64) -> Value {
        match self {
            Self::Int8 => Value::int32(i32::from(bits as i8)),
            Self::Uint8 | Self::Uint8Clamped => Value::int32(i32::from(bits as u8)),
            Self::Int16 => Value::int32(i32::from(bits as i16)),
            Self::Uint16 => Value::int32(i32::from(bits as u16)),
            Self::Int32 => Value::int32(bits as i32),
            Self::Uint32 => Value::from(bits as u32),
            Self::Float16 => Value::number(half::f16_bits_to_f64(bits as u16)),
            Self::Float32 => Value::number(f64::from(f32::from_bits(bits as u32))),
            _ => Value::number(f64::from_bits(bits)),
        }
    }

    /// ToNumber or ToBigInt, then NumericToRawBytes (25.1.3.16).
    #[inline]
    pub fn to_bits(self, vm: &mut Vm, v: Value) -> JsResult<u64> {
        if self.is_bigint() {
            let big = vm.to_bigint(v)?;
            return Ok(bigint_bits(big.value()));
        }
        let n = vm.to_number(v)?;
        Ok(self.number_bits(n))
    }

    /// NumericToRawBytes of a number.
    #[inline]
    pub fn number_bits(self, n: f64) -> u64 {
        match self {
            Self::Float16 => u64::from(half::f64_to_f16_bits(n)),
            Self::Float32 => u64::from((n as f32).to_bits()),
            Self::Float64 => n.to_bits(),
            Self::Uint8Clamped => u64::from(clamp_to_u8(n)),
            _ => u64::from(double_to_int32(n) as u32) & (u64::MAX >> (64 - 8 * self.size())),
        }
    }
}

/// ToUint8Clamp (7.1.12): half goes to even.
fn clamp_to_u8(n: f64) -> u8 {
    n.round_ties_even() as u8
}

/// The low 64 bits in two's complement.
fn bigint_bits(big: &Integer) -> u64 {
    if let Some(small) = big.to_i64() {
        return small as u64;
    }
    let low = big.magnitude().iter_u64_digits().next().unwrap_or(0);
    if big.sign() == num_bigint::Sign::Minus { low.wrapping_neg() } else { low }
}

/// What a typed array or DataView sees of a buffer.
pub struct TypedView {
    /// The bytes.
    pub buffer: Gc<Data<Buffer>>,
    /// The type of the elements; of a DataView, `Uint8`.
    pub element: ElementType,
    /// Where it begins.
    pub byte_offset: usize,
    /// Elements, unless the view tracks the length of its buffer.
    pub fixed_length: Option<usize>,
    /// Elements that can be reached without asking the buffer for its length: none of a view that tracks it.
    own_length: usize,
    /// Where those end, in bytes of the buffer.
    own_end: usize,
}

/// Where parts of a [`TypedView`] and its buffer are, for generated code.
#[cfg(cynic_jit)]
pub(crate) mod offsets {
    use super::{Buffer, TypedView};
    use crate::gc::offsets::data;
    use std::mem::offset_of;

    pub(crate) const BUFFER: usize = data::<TypedView>() + offset_of!(TypedView, buffer);
    pub(crate) const ELEMENT: usize = data::<TypedView>() + offset_of!(TypedView, element);
    pub(crate) const BYTE_OFFSET: usize = data::<TypedView>() + offset_of!(TypedView, byte_offset);
    pub(crate) const OWN_LENGTH: usize = data::<TypedView>() + offset_of!(TypedView, own_length);
    pub(crate) const OWN_END: usize = data::<TypedView>() + offset_of!(TypedView, own_end);
    pub(crate) const BUFFER_LEN: usize = data::<Buffer>() + super::super::buffer::LEN_OFFSET;
    pub(crate) const BUFFER_DATA: usize = data::<Buffer>() + super::super::buffer::DATA_OFFSET;
}

impl Trace for TypedView {
    const BARRIERED: bool = true;
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.cell(self.buffer);
    }
}

impl TypedView {
    /// A view of `buffer` from `byte_offset` on, of so many elements or as many as there are.
    pub fn new(
        buffer: Gc<Data<Buffer>>,
        element: ElementType,
        byte_offset: usize,
        fixed_length: Option<usize>,
    ) -> Self {
        let own_length = fixed_length.unwrap_or(0);
        let own_end = byte_offset + own_length * element.size();
        TypedView { buffer, element, byte_offset, fixed_length, own_length, own_end }
    }

    /// TypedArrayLength (10.4.5.12), or `None` if IsTypedArrayOutOfBounds (10.4.5.13).
    #[inline]
    pub fn length(&self) -> Option<usize> {
        let bytes = self.buffer.len();
        if self.buffer.is_detached() {
            return None;
        }
        match self.fixed_length {
            Some(n) => (self.byte_offset + n * self.element.size() <= bytes).then_some(n),
            None => Some(bytes.checked_sub(self.byte_offset)? / self.element.size()),
        }
    }

    /// The element at `i` as raw bits, if `i` is valid.
    #[inline]
    pub fn bits_at(&self, i: usize) -> Option<u64> {
        if i >= self.length()? {
            return None;
        }
        let size = self.element.size();
        Some(self.buffer.read(self.byte_offset + i * size, size))
    }

    /// Stores raw bits at `i`; nothing if `i` is not valid.
    #[inline]
    pub fn set_bits(&self, i: usize, bits: u64) {
        if self.length().is_some_and(|length| i < length) {
            let size = self.element.size();
            self.buffer.write(self.byte_offset + i * size, size, bits);
        }
    }

    /// The element at `i`, or undefined.
    pub fn value_at(&self, vm: &mut Vm, i: usize) -> Value {
        match self.bits_at(i) {
            Some(bits) => self.element.to_value(vm, bits),
            None => Value::UNDEFINED,
        }
    }
}

/// What only typed arrays have.
pub trait TypedArrayObject {
    /// The view of an object of kind `TypedArray`.
    fn typed_view(&self) -> Option<&TypedView>;
}

impl TypedArrayObject for JsObject {
    #[inline(always)]
    fn typed_view(&self) -> Option<&TypedView> {
        if !self.is(ObjectKind::TypedArray) {
            return None;
        }
        // SAFETY: typed arrays have at least one inline slot.
        let slot = unsafe { self.inline_slot(0) };
        let cell = slot.cell_header()?;
        // SAFETY: slot 0 of a typed array holds its `Data<TypedView>` from birth, and the object keeps it alive.
        Some(unsafe { &**(cell as *const crate::gc::CellHeader as *const Data<TypedView>) })
    }
}

/// The address of element `i` of type `T`, if the view has a fixed length, its memory belongs to this isolate alone, and the
/// element is there.
#[inline(always)]
fn own_element<T>(view: &TypedView, i: usize) -> Option<*mut T> {
    if i >= view.own_length || view.own_end > view.buffer.own_len() {
        return None;
    }
    debug_assert_eq!(size_of::<T>(), view.element.size());
    Some(view.buffer.own_data().wrapping_add(view.byte_offset).cast::<T>().wrapping_add(i))
}

/// OPTIMIZATION: equals `Get(o, i)` for a typed array of numbers and a valid index; `None` takes the general way.
#[inline(always)]
pub fn typed_array_get_number(o: Object, i: u32) -> Option<Value> {
    let view = o.typed_view()?;
    let i = i as usize;
    macro_rules! read {
        ($type:ty) => {{
            let element = own_element::<$type>(view, i)?;
            // SAFETY: the element is inside the buffer; `byte_offset` is a multiple of its size, but is not relied upon.
            unsafe { element.read_unaligned() }
        }};
    }
    Some(match view.element {
        ElementType::Int8 => Value::int32(i32::from(read!(i8))),
        ElementType::Uint8 | ElementType::Uint8Clamped => Value::int32(i32::from(read!(u8))),
        ElementType::Int16 => Value::int32(i32::from(read!(i16))),
        ElementType::Uint16 => Value::int32(i32::from(read!(u16))),
        ElementType::Int32 => Value::int32(read!(i32)),
        ElementType::Uint32 => Value::from(read!(u32)),
        ElementType::Float32 => pure_double(f64::from(read!(f32))),
        ElementType::Float64 => pure_double(read!(f64)),
        ElementType::Float16 | ElementType::BigInt64 | ElementType::BigUint64 => return None,
    })
}

/// A double as it is, integer or not: numeric code reads it back as one.
#[inline(always)]
fn pure_double(n: f64) -> Value {
    if n.is_nan() { Value::NAN } else { Value::double(n) }
}

/// OPTIMIZATION: equals `Set(o, i, v)` for a typed array of numbers, a number and a valid index; false takes the general way.
#[inline(always)]
pub fn typed_array_set_number(o: Object, i: u32, v: Value) -> bool {
    let Some(view) = o.typed_view() else { return false };
    let i = i as usize;
    macro_rules! write {
        ($type:ty, $n:expr) => {{
            let Some(element) = own_element::<$type>(view, i) else { return false };
            // SAFETY: as in `typed_array_get_number`.
            unsafe { element.write_unaligned($n) }
        }};
    }
    let integer = || match v.as_int32() {
        Some(n) => Some(n),
        None => v.as_number().map(double_to_int32),
    };
    match view.element {
        ElementType::Float64 => {
            let Some(n) = v.as_number() else { return false };
            write!(f64, n);
        }
        ElementType::Float32 => {
            let Some(n) = v.as_number() else { return false };
            write!(f32, n as f32);
        }
        ElementType::Uint8Clamped => {
            let Some(n) = v.as_number() else { return false };
            write!(u8, clamp_to_u8(n));
        }
        ElementType::Float16 | ElementType::BigInt64 | ElementType::BigUint64 => return false,
        element => {
            let Some(n) = integer() else { return false };
            match element.size() {
                1 => write!(u8, n as u8),
                2 => write!(u16, n as u16),
                _ => write!(u32, n as u32),
            }
        }
    }
    true
}
