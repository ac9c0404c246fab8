//! [`Value`]: one ECMAScript language value in 64 bits.
//!
//! Encoding (NaN-boxing that favours pointers, so that a cell value *is* the cell's address and the
//! conservative stack scan and the interpreter need no unmasking):
//!
//! | bits 63..48      | meaning                                                     |
//! |------------------|-------------------------------------------------------------|
//! | `0x0000`         | heap cell pointer (bit 1 clear), or an immediate (bit 1 set) |
//! | `0x0002..0xfffc` | a double, its bits offset by 2^49                           |
//! | `0xfffe`         | an int32 in the low half                                     |
//!
//! Invariant: a double is never stored with an impure NaN (see [`Value::number`]), and the word 0 is
//! never a value (zeroed memory is skipped by the collector).
//! Left to others: conversions that can run guest code (`ops`).

use crate::bigint::{BigInt, BigIntCell};
use crate::gc::{CellHeader, CellKind, Gc};
use crate::object::{JsObject, Object};
use crate::string::{JsStr, StringCell};
use crate::symbol::{Symbol, SymbolCell};

const NUMBER_TAG: u64 = 0xfffe_0000_0000_0000;
const DOUBLE_OFFSET: u64 = 1 << 49;
const OTHER_BIT: u64 = 2;
const NOT_CELL_MASK: u64 = NUMBER_TAG | OTHER_BIT;
const LAZY_TAG: u64 = 0x1a;
const LAZY_MASK: u64 = 0x1f | NUMBER_TAG;

/// An ECMAScript language value (or one of the engine's internal markers).
#[repr(transparent)]
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct Value(u64);

impl Value {
    /// `null`.
    pub const NULL: Value = Value(0x02);
    /// `undefined`.
    pub const UNDEFINED: Value = Value(0x0a);
    /// `false`.
    pub const FALSE: Value = Value(0x06);
    /// `true`.
    pub const TRUE: Value = Value(0x07);
    /// Internal: an array hole, a binding in its temporal dead zone, "no value". Never visible to a guest.
    pub const EMPTY: Value = Value(0x12);
    /// The int32 zero.
    pub const ZERO: Value = Value(NUMBER_TAG);
    /// `NaN`.
    pub const NAN: Value = Value(0x7ff8_0000_0000_0000 + DOUBLE_OFFSET);

    /// An int32.
    #[inline(always)]
    pub const fn int32(i: i32) -> Value {
        Value(NUMBER_TAG | i as u32 as u64)
    }

    /// A number whose bits are known to be pure (the result of arithmetic); stays a double.
    #[inline(always)]
    pub const fn double(f: f64) -> Value {
        Value(f.to_bits().wrapping_add(DOUBLE_OFFSET))
    }

    /// Any number: an int32 when it is one (and not -0), else a double with a canonical NaN.
    #[inline]
    pub fn number(f: f64) -> Value {
        let i = f as i32;
        if f64::from(i).to_bits() == f.to_bits() {
            return Value::int32(i);
        }
        if f.is_nan() {
            return Value::NAN;
        }
        Value::double(f)
    }

    /// A boolean.
    #[inline(always)]
    pub const fn bool(b: bool) -> Value {
        Value(0x06 | b as u64)
    }

    /// A string.
    #[inline(always)]
    pub fn string(s: JsStr) -> Value {
        Value(s.addr() as u64)
    }

    /// An object.
    #[inline(always)]
    pub fn object(o: Object) -> Value {
        Value(o.addr() as u64)
    }

    /// A symbol.
    #[inline(always)]
    pub fn symbol(s: Symbol) -> Value {
        Value(s.addr() as u64)
    }

    /// A BigInt.
    #[inline(always)]
    pub fn bigint(b: BigInt) -> Value {
        Value(b.addr() as u64)
    }

    /// Internal: any heap cell, for internal slots (scopes, templates, native data).
    #[inline(always)]
    pub fn cell<T>(c: Gc<T>) -> Value {
        Value(c.addr() as u64)
    }

    /// Internal: a pointer to static data (an intrinsic's specification) that the collector ignores.
    #[inline(always)]
    pub fn static_ptr<T>(p: &'static T) -> Value {
        const { assert!(align_of::<T>() >= 8) };
        Value((((p as *const T as u64) >> 3) << 5) | LAZY_TAG)
    }

    /// The raw word.
    #[inline(always)]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// A value from its raw word.
    ///
    /// # Safety
    /// `bits` must come from [`Value::to_bits`] of a value that is still alive.
    #[inline(always)]
    pub const unsafe fn from_bits(bits: u64) -> Value {
        Value(bits)
    }

    /// Whether this is `undefined`.
    #[inline(always)]
    pub fn is_undefined(self) -> bool {
        self == Value::UNDEFINED
    }
    /// Whether this is `null`.
    #[inline(always)]
    pub fn is_null(self) -> bool {
        self == Value::NULL
    }
    /// Whether this is `undefined` or `null`.
    #[inline(always)]
    pub fn is_nullish(self) -> bool {
        self.0 & !0x08 == 0x02
    }
    /// Whether this is the internal "no value" marker.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self == Value::EMPTY
    }
    /// Whether this is `true` or `false`.
    #[inline(always)]
    pub fn is_bool(self) -> bool {
        self.0 & !1 == 0x06
    }
    /// Whether this is an int32.
    #[inline(always)]
    pub fn is_int32(self) -> bool {
        self.0 >= NUMBER_TAG
    }
    /// Whether this is a number kept as a double.
    #[inline(always)]
    pub fn is_double(self) -> bool {
        self.0.wrapping_sub(DOUBLE_OFFSET) < NUMBER_TAG - DOUBLE_OFFSET
    }
    /// Whether this is a number.
    #[inline(always)]
    pub fn is_number(self) -> bool {
        self.0 >= DOUBLE_OFFSET
    }
    /// Whether both are int32 (one test).
    #[inline(always)]
    pub fn both_int32(a: Value, b: Value) -> bool {
        (a.0 & b.0) >= NUMBER_TAG
    }
    /// Whether this is a heap cell (string, symbol, BigInt, object, or internal).
    #[inline(always)]
    pub fn is_cell(self) -> bool {
        self.0 & NOT_CELL_MASK == 0
    }
    /// Whether this marks a property that is still only a row of a const table.
    #[inline(always)]
    pub fn is_static_ptr(self) -> bool {
        self.0 & LAZY_MASK == LAZY_TAG
    }
    /// The pointer given to [`Value::static_ptr`].
    ///
    /// # Safety
    /// The value must have been made by `static_ptr::<T>` with this very `T`.
    #[inline(always)]
    pub unsafe fn as_static_ptr<T>(self) -> &'static T {
        debug_assert!(self.is_static_ptr());
        // SAFETY: the caller promises the type; the address came from a `&'static T`.
        unsafe { &*(((self.0 >> 5) << 3) as *const T) }
    }

    /// The cell's header, when this is a cell.
    #[inline(always)]
    pub fn cell_header(&self) -> Option<&CellHeader> {
        if self.is_cell() && self.0 != 0 {
            // SAFETY: a cell value holds the address of a live cell, which begins with a header; the
            // collector keeps it alive as long as the value is reachable, from where it is borrowed here.
            Some(unsafe { &*(self.0 as *const CellHeader) })
        } else {
            None
        }
    }

    #[inline(always)]
    fn is_kind(self, kind: CellKind) -> bool {
        self.is_cell() && {
            // SAFETY: as in `cell_header`; 0 is never a value.
            unsafe { (*(self.0 as *const CellHeader)).kind() == kind }
        }
    }
    /// Whether this is an object.
    #[inline(always)]
    pub fn is_object(self) -> bool {
        self.is_kind(CellKind::Object)
    }
    /// Whether this is a string.
    #[inline(always)]
    pub fn is_string(self) -> bool {
        self.is_kind(CellKind::String)
    }
    /// Whether this is a symbol.
    #[inline(always)]
    pub fn is_symbol(self) -> bool {
        self.is_kind(CellKind::Symbol)
    }
    /// Whether this is a BigInt.
    #[inline(always)]
    pub fn is_bigint(self) -> bool {
        self.is_kind(CellKind::BigInt)
    }
    /// Whether this is a callable object.
    #[inline(always)]
    pub fn is_callable(self) -> bool {
        self.as_object().is_some_and(|o| o.is_callable())
    }
    /// Whether this is a constructor.
    #[inline(always)]
    pub fn is_constructor(self) -> bool {
        self.as_object().is_some_and(|o| o.is_constructor())
    }

    /// The low half of the word, which is the int32 of a value that is one.
    #[inline(always)]
    pub fn low_int32(self) -> i32 {
        debug_assert!(self.is_int32());
        self.0 as u32 as i32
    }
    /// The int32.
    #[inline(always)]
    pub fn as_int32(self) -> Option<i32> {
        if self.is_int32() { Some(self.0 as u32 as i32) } else { None }
    }
    /// The word as the double of a value that is one; some other number for others.
    #[inline(always)]
    pub fn offset_double(self) -> f64 {
        f64::from_bits(self.0.wrapping_sub(DOUBLE_OFFSET))
    }
    /// The number, whichever way it is kept.
    #[inline(always)]
    pub fn as_number(self) -> Option<f64> {
        if self.is_int32() {
            Some(f64::from(self.0 as u32 as i32))
        } else if self.is_number() {
            Some(self.offset_double())
        } else {
            None
        }
    }
    /// The boolean.
    #[inline(always)]
    pub fn as_bool(self) -> Option<bool> {
        if self.is_bool() { Some(self == Value::TRUE) } else { None }
    }
    /// The object.
    #[inline(always)]
    pub fn as_object(self) -> Option<Object> {
        // SAFETY: the kind has been tested.
        if self.is_object() { Some(unsafe { Gc::from_addr(self.0 as usize as *mut JsObject) }) } else { None }
    }
    /// The string.
    #[inline(always)]
    pub fn as_string(self) -> Option<JsStr> {
        // SAFETY: the kind has been tested.
        if self.is_string() { Some(unsafe { Gc::from_addr(self.0 as *mut StringCell) }) } else { None }
    }
    /// The symbol.
    #[inline(always)]
    pub fn as_symbol(self) -> Option<Symbol> {
        // SAFETY: the kind has been tested.
        if self.is_symbol() { Some(unsafe { Gc::from_addr(self.0 as *mut SymbolCell) }) } else { None }
    }
    /// The BigInt.
    #[inline(always)]
    pub fn as_bigint(self) -> Option<BigInt> {
        // SAFETY: the kind has been tested.
        if self.is_bigint() { Some(unsafe { Gc::from_addr(self.0 as *mut BigIntCell) }) } else { None }
    }

    /// ToBoolean (7.1.2): pure, so it lives here. <https://tc39.es/ecma262/#sec-toboolean>
    #[inline]
    pub fn to_boolean(self) -> bool {
        if self.is_bool() {
            return self == Value::TRUE;
        }
        if let Some(i) = self.as_int32() {
            return i != 0;
        }
        if self.is_number() {
            let f = self.offset_double();
            return f != 0.0 && !f.is_nan();
        }
        if let Some(s) = self.as_string() {
            return !s.is_empty();
        }
        if let Some(b) = self.as_bigint() {
            return !b.is_zero();
        }
        self.is_cell()
    }

    /// The result of `typeof`, as the engine's interned string.
    pub fn type_of(self) -> JsStr {
        use crate::atoms;
        if self.is_number() {
            atoms::NUMBER.static_str()
        } else if self.is_bool() {
            atoms::BOOLEAN.static_str()
        } else if self.is_undefined() || !self.is_cell() && !self.is_null() {
            atoms::UNDEFINED.static_str()
        } else if self.is_string() {
            atoms::STRING.static_str()
        } else if self.is_symbol() {
            atoms::SYMBOL.static_str()
        } else if self.is_bigint() {
            atoms::BIGINT.static_str()
        } else if self.is_callable() {
            atoms::FUNCTION.static_str()
        } else {
            atoms::OBJECT.static_str()
        }
    }
}

impl Default for Value {
    fn default() -> Self {
        Value::UNDEFINED
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Value::bool(b)
    }
}
impl From<i32> for Value {
    fn from(i: i32) -> Self {
        Value::int32(i)
    }
}
impl From<u32> for Value {
    fn from(i: u32) -> Self {
        Value::number(f64::from(i))
    }
}
impl From<usize> for Value {
    fn from(i: usize) -> Self {
        Value::number(i as f64)
    }
}
impl From<f64> for Value {
    fn from(f: f64) -> Self {
        Value::number(f)
    }
}
impl From<Object> for Value {
    fn from(o: Object) -> Self {
        Value::object(o)
    }
}
impl From<JsStr> for Value {
    fn from(s: JsStr) -> Self {
        Value::string(s)
    }
}
impl From<Symbol> for Value {
    fn from(s: Symbol) -> Self {
        Value::symbol(s)
    }
}
impl From<BigInt> for Value {
    fn from(b: BigInt) -> Self {
        Value::bigint(b)
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(n) = self.as_number() {
            write!(f, "{n}")
        } else if let Some(s) = self.as_string() {
            write!(f, "{:?}", s.to_rust_string())
        } else if self.is_object() {
            write!(f, "[object {:#x}]", self.0)
        } else if self.is_cell() {
            write!(f, "[cell {:#x}]", self.0)
        } else {
            f.write_str(match *self {
                Value::UNDEFINED => "undefined",
                Value::NULL => "null",
                Value::TRUE => "true",
                Value::FALSE => "false",
                Value::EMPTY => "<empty>",
                _ => "<internal>",
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_and_keep_their_kind() {
        for f in [
            0.0,
            -0.0,
            1.5,
            -1.0,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            2147483647.0,
            2147483648.0,
            5e-324,
        ] {
            let v = Value::number(f);
            assert!(v.is_number() && !v.is_cell(), "{f}");
            assert_eq!(v.as_number().map(f64::to_bits), Some(f.to_bits()));
        }
        assert!(Value::number(7.0).is_int32());
        assert!(Value::number(-0.0).is_double());
        assert!(Value::number(f64::from_bits(0xffff_ffff_ffff_ffff)).as_number().is_some_and(f64::is_nan));
    }

    #[test]
    fn immediates_are_distinct() {
        let all = [Value::UNDEFINED, Value::NULL, Value::TRUE, Value::FALSE, Value::EMPTY, Value::int32(0)];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(a == b, i == j);
            }
            assert!(!a.is_cell() && !a.is_object() && !a.is_static_ptr());
        }
        assert!(
            Value::UNDEFINED.is_nullish()
                && Value::NULL.is_nullish()
                && !Value::FALSE.is_nullish()
                && !Value::EMPTY.is_nullish()
        );
        assert!(
            Value::both_int32(Value::int32(-1), Value::int32(1))
                && !Value::both_int32(Value::int32(1), Value::number(0.5))
        );
    }
}
