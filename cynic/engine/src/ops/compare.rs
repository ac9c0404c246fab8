//! Testing and comparison (7.2). <https://tc39.es/ecma262/#sec-testing-and-comparison-operations>

use std::cmp::Ordering;

use num_bigint::BigInt as Integer;

use super::conversion::Hint;
use super::numeric;
use crate::limits;
use crate::object::{Object, ObjectKind};
use crate::string::{JsStr, StrView};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

impl Vm {
    /// Whether two strings have the same units.
    #[inline]
    pub fn string_equals(&mut self, a: JsStr, b: JsStr) -> bool {
        if a.ptr_eq(b) {
            return true;
        }
        if a.len() != b.len() || a.is_interned() && b.is_interned() {
            return false;
        }
        let (x, y) = (a.unmetered_view(self), b.unmetered_view(self));
        if x.len() >= limits::CHARGED_BYTES_MIN {
            // Most long strings differ early: only those that do not are work.
            if !x.begins_like(&y, limits::CHARGED_BYTES_MIN) {
                return false;
            }
            self.charge_bytes(x.len());
        }
        x == y
    }

    /// Makes sure that two values can be compared inside the heap's limit, if they are strings: what can fail asks before it compares them.
    #[inline]
    pub fn check_comparison_room(&mut self, a: Value, b: Value) -> JsResult<()> {
        let (Some(x), Some(y)) = (a.as_string(), b.as_string()) else { return Ok(()) };
        self.check_flat_room(x)?;
        self.check_flat_room(y)
    }

    /// Compares two strings by code units.
    pub fn string_compare(&mut self, a: JsStr, b: JsStr) -> Ordering {
        if let (Some(StrView::Latin1(x)), Some(StrView::Latin1(y))) = (a.flat_view(), b.flat_view()) {
            // Most strings differ in their first unit or two, which is not worth a call.
            return match (x, y) {
                ([x0, ..], [y0, ..]) if x0 != y0 => x0.cmp(y0),
                ([_, x1, ..], [_, y1, ..]) if x1 != y1 => x1.cmp(y1),
                _ if x.len().min(y.len()) < limits::CHARGED_BYTES_MIN => x.cmp(y),
                _ => self.long_string_compare(a, b),
            };
        }
        self.long_string_compare(a, b)
    }

    #[inline(never)]
    fn long_string_compare(&mut self, a: JsStr, b: JsStr) -> Ordering {
        let (x, y) = (a.unmetered_view(self), b.unmetered_view(self));
        if x.begins_like(&y, limits::CHARGED_BYTES_MIN) {
            self.charge_bytes(x.len().min(y.len()));
        }
        x.cmp(&y)
    }

    /// IsStrictlyEqual (7.2.15).
    #[inline]
    pub fn strict_equals(&mut self, a: Value, b: Value) -> bool {
        if a.is_number() && b.is_number() {
            return if Value::both_int32(a, b) { a == b } else { a.as_number() == b.as_number() };
        }
        if a == b {
            return true;
        }
        self.same_cell_value(a, b)
    }

    /// Whether two different words are equal strings or BigInts.
    fn same_cell_value(&mut self, a: Value, b: Value) -> bool {
        if let (Some(x), Some(y)) = (a.as_string(), b.as_string()) {
            return self.string_equals(x, y);
        }
        match (a.as_bigint(), b.as_bigint()) {
            (Some(x), Some(y)) => x.value() == y.value(),
            _ => false,
        }
    }

    /// SameValue (7.2.10).
    pub fn same_value(&mut self, a: Value, b: Value) -> bool {
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            return x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
        }
        a == b || self.same_cell_value(a, b)
    }

    /// SameValueZero (7.2.11).
    #[inline]
    pub fn same_value_zero(&mut self, a: Value, b: Value) -> bool {
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            return x == y || x.is_nan() && y.is_nan();
        }
        a == b || self.same_cell_value(a, b)
    }

    /// IsLooselyEqual (7.2.14).
    pub fn is_loosely_equal(&mut self, a: Value, b: Value) -> JsResult<bool> {
        if a.is_nullish() || b.is_nullish() {
            return Ok(a.is_nullish() && b.is_nullish());
        }
        if a.is_object() && b.is_object() {
            return Ok(a == b);
        }
        if a.is_object() {
            let a = self.to_primitive(a, Hint::Default)?;
            return self.is_loosely_equal(a, b);
        }
        if b.is_object() {
            let b = self.to_primitive(b, Hint::Default)?;
            return self.is_loosely_equal(a, b);
        }
        self.primitives_loosely_equal(a, b)
    }

    fn primitives_loosely_equal(&mut self, a: Value, b: Value) -> JsResult<bool> {
        let same_type = a.is_number() && b.is_number()
            || a.is_string() && b.is_string()
            || a.is_bool() && b.is_bool()
            || a.is_symbol()
            || b.is_symbol()
            || a.is_bigint() && b.is_bigint();
        if same_type {
            self.check_comparison_room(a, b)?;
            return Ok(self.strict_equals(a, b));
        }
        if let Some(x) = a.as_bigint() {
            return self.bigint_loosely_equals(x.value(), b);
        }
        if let Some(y) = b.as_bigint() {
            return self.bigint_loosely_equals(y.value(), a);
        }
        Ok(self.to_number(a)? == self.to_number(b)?)
    }

    fn bigint_loosely_equals(&mut self, a: &Integer, b: Value) -> JsResult<bool> {
        if let Some(s) = b.as_string() {
            let parsed = string_to_bigint(s, self)?;
            return Ok(parsed.is_some_and(|n| n == *a));
        }
        let n = self.to_number(b)?;
        Ok(compare_bigint_number(a, n) == Some(Ordering::Equal))
    }

    /// IsLessThan (7.2.13): None is undefined (a NaN was involved).
    pub fn is_less_than(&mut self, a: Value, b: Value, left_first: bool) -> JsResult<Option<bool>> {
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            return Ok(x.partial_cmp(&y).map(|o| o == Ordering::Less));
        }
        if let (Some(x), Some(y)) = (a.as_string(), b.as_string()) {
            self.check_comparison_room(a, b)?;
            return Ok(Some(self.string_compare(x, y) == Ordering::Less));
        }
        let (x, y) = if left_first {
            let x = self.to_primitive(a, Hint::Number)?;
            (x, self.to_primitive(b, Hint::Number)?)
        } else {
            let y = self.to_primitive(b, Hint::Number)?;
            (self.to_primitive(a, Hint::Number)?, y)
        };
        Ok(self.compare_primitives(x, y)?.map(|o| o == Ordering::Less))
    }

    fn compare_primitives(&mut self, x: Value, y: Value) -> JsResult<Option<Ordering>> {
        self.check_comparison_room(x, y)?;
        match (x.as_string(), y.as_string(), x.as_bigint(), y.as_bigint()) {
            (Some(a), Some(b), _, _) => return Ok(Some(self.string_compare(a, b))),
            (Some(a), _, _, Some(b)) => return Ok(string_to_bigint(a, self)?.map(|n| n.cmp(b.value()))),
            (_, Some(b), Some(a), _) => return Ok(string_to_bigint(b, self)?.map(|n| a.value().cmp(&n))),
            _ => {}
        }
        let a = self.to_numeric(x)?;
        let b = self.to_numeric(y)?;
        Ok(match (a.as_bigint(), b.as_bigint()) {
            (Some(m), Some(n)) => Some(m.value().cmp(n.value())),
            (Some(m), None) => compare_bigint_number(m.value(), b.as_number().unwrap_or(f64::NAN)),
            (None, Some(n)) => {
                compare_bigint_number(n.value(), a.as_number().unwrap_or(f64::NAN)).map(Ordering::reverse)
            }
            (None, None) => a.as_number().unwrap_or(f64::NAN).partial_cmp(&b.as_number().unwrap_or(f64::NAN)),
        })
    }

    /// IsArray (7.2.2).
    pub fn is_array(&mut self, v: Value) -> JsResult<bool> {
        let Some(mut o) = v.as_object() else { return Ok(false) };
        for _ in 0..crate::limits::PROXY_CHAIN_MAX {
            match o.kind() {
                ObjectKind::Array => return Ok(true),
                ObjectKind::Proxy => o = crate::builtins::proxy::target(self, o)?,
                _ => return Ok(false),
            }
        }
        Err(self.throw_range_error("too many nested proxies"))
    }

    /// IsIntegralNumber (7.2.6).
    pub fn is_integral_number(&self, v: Value) -> bool {
        v.is_int32() || v.as_number().is_some_and(|n| n.is_finite() && n.trunc() == n)
    }

    /// Whether `o` is a RegExp by IsRegExp (7.2.8).
    pub fn is_regexp(&mut self, v: Value) -> JsResult<bool> {
        let Some(o) = v.as_object() else { return Ok(false) };
        let matcher = self.get(o, crate::symbol::MATCH)?;
        if !matcher.is_undefined() {
            return Ok(matcher.to_boolean());
        }
        Ok(is_kind(o, ObjectKind::RegExp))
    }
}

fn is_kind(o: Object, kind: ObjectKind) -> bool {
    o.is(kind)
}

/// StringToBigInt (7.1.14). A RangeError if the integer would be too large.
pub fn string_to_bigint(s: JsStr, vm: &mut Vm) -> JsResult<Option<Integer>> {
    vm.check_flat_room(s)?;
    vm.pay()?;
    let view = s.view(vm);
    let (from, to) = numeric::trimmed(view);
    // No more is looked at than the largest integer takes, in bits, with its prefix.
    let longest = crate::limits::BIGINT_BITS_MAX as usize + 2;
    let mut text = Vec::with_capacity((to - from).min(longest));
    for i in from..to {
        let u = view.at(i);
        if u >= 0x80 {
            return Ok(None);
        }
        if text.len() == longest {
            return Err(vm.throw_range_error("BigInt is too large"));
        }
        text.push(u as u8);
    }
    if text.is_empty() {
        return Ok(Some(Integer::ZERO));
    }
    let (radix, digits) = match text.get(..2) {
        Some(b"0x" | b"0X") => (16, &text[2..]),
        Some(b"0o" | b"0O") => (8, &text[2..]),
        Some(b"0b" | b"0B") => (2, &text[2..]),
        _ => (10, &text[..]),
    };
    let unsigned = if radix == 10 {
        digits.strip_prefix(b"-").or(digits.strip_prefix(b"+")).unwrap_or(digits)
    } else {
        digits
    };
    if unsigned.is_empty() || !unsigned.iter().all(|&d| (d as char).is_digit(radix)) {
        return Ok(None);
    }
    // A decimal digit is more than three bits.
    let bits = unsigned.len() as u64 * if radix == 10 { 3 } else { u64::from(radix.ilog2()) };
    if bits > crate::limits::BIGINT_BITS_MAX {
        return Err(vm.throw_range_error("BigInt is too large"));
    }
    super::bigint_text::parse(vm, digits, radix)
}

/// Compares an integer with a double exactly; None for NaN.
pub fn compare_bigint_number(a: &Integer, n: f64) -> Option<Ordering> {
    use num_traits::FromPrimitive;
    if n.is_nan() {
        return None;
    }
    if n == f64::INFINITY {
        return Some(Ordering::Less);
    }
    if n == f64::NEG_INFINITY {
        return Some(Ordering::Greater);
    }
    let whole = Integer::from_f64(n.trunc())?;
    Some(match a.cmp(&whole) {
        Ordering::Equal if n.fract() > 0.0 => Ordering::Less,
        Ordering::Equal if n.fract() < 0.0 => Ordering::Greater,
        other => other,
    })
}
