//! Type conversion (7.1). <https://tc39.es/ecma262/#sec-type-conversion>

use crate::atoms;
use crate::limits;
use crate::object::{Object, ObjectKind};
use crate::property_key::PropertyKey;
use crate::realm::Intrinsic;
use crate::string::builder::write_u32;
use crate::string::{JsStr, small_integer};
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The preferred type of ToPrimitive.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Hint {
    /// No preference.
    Default,
    /// A number.
    Number,
    /// A string.
    String,
}

/// Number::toString (6.1.6.1.20) for radix 10.
pub fn number_to_rust_string(n: f64) -> String {
    ryu_js::Buffer::new().format(n).to_owned()
}

impl Vm {
    /// ToPrimitive (7.1.1).
    #[inline]
    pub fn to_primitive(&mut self, v: Value, hint: Hint) -> JsResult<Value> {
        match v.as_object() {
            None => Ok(v),
            Some(o) => self.object_to_primitive(o, hint),
        }
    }

    fn object_to_primitive(&mut self, o: Object, hint: Hint) -> JsResult<Value> {
        let exotic = self.get_method(Value::object(o), symbol::TO_PRIMITIVE)?;
        if !exotic.is_undefined() {
            let name = match hint {
                Hint::Default => atoms::DEFAULT,
                Hint::Number => atoms::NUMBER,
                Hint::String => atoms::STRING,
            };
            let result = self.call(exotic, Value::object(o), &[Value::string(name.static_str())])?;
            if result.is_object() {
                return Err(self.throw_type_error("Cannot convert object to primitive value"));
            }
            return Ok(result);
        }
        self.ordinary_to_primitive(o, hint)
    }

    /// OrdinaryToPrimitive (7.1.1.1).
    pub fn ordinary_to_primitive(&mut self, o: Object, hint: Hint) -> JsResult<Value> {
        let order = if hint == Hint::String {
            [atoms::TO_STRING, atoms::VALUE_OF]
        } else {
            [atoms::VALUE_OF, atoms::TO_STRING]
        };
        for name in order {
            let method = self.get(o, name)?;
            if method.is_callable() {
                let result = self.call(method, Value::object(o), &[])?;
                if !result.is_object() {
                    return Ok(result);
                }
            }
        }
        Err(self.throw_type_error("Cannot convert object to primitive value"))
    }

    /// ToNumber (7.1.4).
    #[inline]
    pub fn to_number(&mut self, v: Value) -> JsResult<f64> {
        match v.as_number() {
            Some(n) => Ok(n),
            None => self.to_number_slow(v),
        }
    }

    #[cold]
    fn to_number_slow(&mut self, v: Value) -> JsResult<f64> {
        if let Some(b) = v.as_bool() {
            return Ok(f64::from(u8::from(b)));
        }
        if v.is_undefined() {
            return Ok(f64::NAN);
        }
        if v.is_null() {
            return Ok(0.0);
        }
        if let Some(s) = v.as_string() {
            self.check_flat_room(s)?;
            self.pay()?;
            return Ok(super::numeric::string_to_number(s.view(self)));
        }
        if v.is_symbol() {
            return Err(self.throw_type_error("Cannot convert a Symbol value to a number"));
        }
        if v.is_bigint() {
            return Err(self.throw_type_error("Cannot convert a BigInt value to a number"));
        }
        if !v.is_object() {
            // An internal marker, which only damaged bytecode brings here, is its own primitive.
            return Ok(f64::NAN);
        }
        let primitive = self.to_primitive(v, Hint::Number)?;
        self.to_number(primitive)
    }

    /// ToNumeric (7.1.3): a number or a BigInt.
    #[inline]
    pub fn to_numeric(&mut self, v: Value) -> JsResult<Value> {
        if v.is_number() {
            return Ok(v);
        }
        let p = self.to_primitive(v, Hint::Number)?;
        if p.is_bigint() {
            return Ok(p);
        }
        Ok(Value::number(self.to_number(p)?))
    }

    /// ToIntegerOrInfinity (7.1.5).
    #[inline]
    pub fn to_integer_or_infinity(&mut self, v: Value) -> JsResult<f64> {
        if let Some(i) = v.as_int32() {
            return Ok(f64::from(i));
        }
        let n = self.to_number(v)?;
        Ok(if n.is_nan() { 0.0 } else { n.trunc() + 0.0 })
    }

    /// ToInt32 (7.1.6).
    #[inline]
    pub fn to_int32(&mut self, v: Value) -> JsResult<i32> {
        if let Some(i) = v.as_int32() {
            return Ok(i);
        }
        Ok(super::numeric::double_to_int32(self.to_number(v)?))
    }

    /// ToUint32 (7.1.7).
    #[inline]
    pub fn to_uint32(&mut self, v: Value) -> JsResult<u32> {
        Ok(self.to_int32(v)? as u32)
    }

    /// ToLength (7.1.20).
    #[inline]
    pub fn to_length(&mut self, v: Value) -> JsResult<u64> {
        if let Some(i) = v.as_int32() {
            return Ok(i.max(0) as u64);
        }
        let n = self.to_integer_or_infinity(v)?;
        Ok(n.clamp(0.0, 9_007_199_254_740_991.0) as u64)
    }

    /// ToIndex (7.1.22).
    pub fn to_index(&mut self, v: Value) -> JsResult<u64> {
        let n = self.to_integer_or_infinity(v)?;
        if !(0.0..=9_007_199_254_740_991.0).contains(&n) {
            return Err(self.throw_range_error("Invalid index"));
        }
        Ok(n as u64)
    }

    /// ToString (7.1.17).
    #[inline]
    pub fn to_string(&mut self, v: Value) -> JsResult<JsStr> {
        match v.as_string() {
            Some(s) => {
                self.check_flat_room(s)?;
                Ok(s)
            }
            None => self.to_string_slow(v),
        }
    }

    fn to_string_slow(&mut self, v: Value) -> JsResult<JsStr> {
        if let Some(s) = self.primitive_to_string(v) {
            return Ok(s);
        }
        if v.is_symbol() {
            return Err(self.throw_type_error("Cannot convert a Symbol value to a string"));
        }
        if let Some(b) = v.as_bigint() {
            return self.bigint_to_string(b);
        }
        if !v.is_object() {
            // An internal marker, as in `to_number_slow`.
            return Ok(atoms::UNDEFINED.static_str());
        }
        let primitive = self.to_primitive(v, Hint::String)?;
        self.to_string(primitive)
    }

    /// ToString of what cannot fail.
    fn primitive_to_string(&mut self, v: Value) -> Option<JsStr> {
        if let Some(i) = v.as_int32() {
            return Some(self.int32_to_string(i));
        }
        if let Some(n) = v.as_number() {
            return Some(self.number_to_string(n));
        }
        let name = match v {
            Value::UNDEFINED => atoms::UNDEFINED,
            Value::NULL => atoms::NULL,
            Value::TRUE => atoms::TRUE,
            Value::FALSE => atoms::FALSE,
            _ => return None,
        };
        Some(name.static_str())
    }

    /// The decimal digits of an integer.
    pub fn int32_to_string(&mut self, i: i32) -> JsStr {
        if let Some(digits) = small_integer(i) {
            return digits;
        }
        let mut buffer = [0u8; 10];
        let digits = write_u32(i.unsigned_abs(), &mut buffer);
        if i >= 0 {
            return self.new_string_latin1(digits);
        }
        let mut signed = [b'-'; 11];
        signed[1..=digits.len()].copy_from_slice(digits);
        self.new_string_latin1(&signed[..=digits.len()])
    }

    /// Number::toString (6.1.6.1.20) for radix 10.
    pub fn number_to_string(&mut self, n: f64) -> JsStr {
        if let Some(i) = Value::number(n).as_int32() {
            return self.int32_to_string(i);
        }
        let mut buffer = ryu_js::Buffer::new();
        let text = buffer.format(n);
        self.new_string_latin1(text.as_bytes())
    }

    fn bigint_to_string(&mut self, b: crate::bigint::BigInt) -> JsResult<JsStr> {
        self.poll_n(1)?;
        let text = super::bigint_text::format(self, b.value(), 10)?;
        Ok(self.new_string_latin1(text.as_bytes()))
    }

    /// ToObject (7.1.18).
    #[inline]
    pub fn to_object(&mut self, v: Value) -> JsResult<Object> {
        match v.as_object() {
            Some(o) => Ok(o),
            None => self.wrap_primitive(v),
        }
    }

    fn wrap_primitive(&mut self, v: Value) -> JsResult<Object> {
        if v.is_nullish() {
            return Err(self.throw_type_error("Cannot convert undefined or null to object"));
        }
        let (kind, prototype) = self.primitive_home(v);
        let prototype = Value::object(self.intrinsic(prototype));
        let o = self.new_exotic(kind, prototype, 1);
        o.set_slot(0, v);
        if kind == ObjectKind::String {
            o.set_flag(crate::object::flags::EXOTIC);
        }
        Ok(o)
    }

    /// The kind of the wrapper object of a primitive (not null or undefined), and the prototype.
    pub fn primitive_home(&self, v: Value) -> (ObjectKind, Intrinsic) {
        if v.is_string() {
            (ObjectKind::String, Intrinsic::StringPrototype)
        } else if v.is_bool() {
            (ObjectKind::Boolean, Intrinsic::BooleanPrototype)
        } else if v.is_symbol() {
            (ObjectKind::Symbol, Intrinsic::SymbolPrototype)
        } else if v.is_bigint() {
            (ObjectKind::BigInt, Intrinsic::BigIntPrototype)
        } else {
            (ObjectKind::Number, Intrinsic::NumberPrototype)
        }
    }

    /// ToPropertyKey (7.1.19).
    #[inline]
    pub fn to_property_key(&mut self, v: Value) -> JsResult<PropertyKey> {
        if let Some(i) = v.as_int32()
            && i >= 0
        {
            return Ok(PropertyKey::index(i as u32));
        }
        if let Some(s) = v.as_string() {
            self.check_flat_room(s)?;
            return Ok(self.key_from_string(s));
        }
        self.to_property_key_slow(v)
    }

    fn to_property_key_slow(&mut self, v: Value) -> JsResult<PropertyKey> {
        let p = self.to_primitive(v, Hint::String)?;
        if let Some(s) = p.as_symbol() {
            return Ok(PropertyKey::symbol(s));
        }
        if let Some(n) = p.as_number()
            && n >= 0.0
            && n < f64::from(u32::MAX)
            && n.trunc() == n
        {
            return Ok(PropertyKey::index(n as u32));
        }
        let s = self.to_string(p)?;
        Ok(self.key_from_string(s))
    }

    /// The key of an integer property (`Set(O, ! ToString(𝔽(n)))` of the array algorithms).
    #[inline]
    pub fn key_from_u64(&mut self, n: u64) -> PropertyKey {
        if n < u64::from(u32::MAX) {
            return PropertyKey::index(n as u32);
        }
        let s = self.number_to_string(n as f64);
        self.key_from_string(s)
    }

    /// CanonicalNumericIndexString (7.1.21): undefined when the key is not one.
    pub fn canonical_numeric_index(&mut self, key: PropertyKey) -> Option<f64> {
        if let Some(i) = key.as_index() {
            return Some(f64::from(i));
        }
        let s = key.as_string()?;
        // A longer text is not what ToString makes of any number.
        let view = s.flat_view().filter(|view| view.len() <= limits::NUMBER_TEXT_UNITS_MAX)?;
        if view.equals_ascii("-0") {
            return Some(-0.0);
        }
        let n = super::numeric::string_to_number(view);
        let text = number_to_rust_string(n);
        view.equals_ascii(&text).then_some(n)
    }

    /// RequireObjectCoercible (7.2.1).
    #[inline]
    pub fn require_object_coercible(&mut self, v: Value) -> JsResult<Value> {
        if v.is_nullish() {
            return Err(self.throw_type_error("Cannot convert undefined or null to object"));
        }
        Ok(v)
    }

    /// The text of a string value, for Rust code.
    pub fn to_rust_string(&mut self, v: Value) -> JsResult<String> {
        let s = self.to_string(v)?;
        s.text(self)
    }
}
