//! BigInt objects and their prototype. <https://tc39.es/ecma262/#sec-bigint-objects>
//!
//! Owns the constructor's conversions, `asIntN`/`asUintN` and formatting. Arithmetic operators are in `ops`. Work whose
//! size the guest chooses is charged before it is done.

use num_bigint::{BigInt as Integer, BigUint, Sign};
use num_traits::{FromPrimitive, One, Signed, Zero};

use crate::bigint::BigInt;
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::object::function::NativeSpec;
use crate::ops::bigint_text;
use crate::ops::conversion::Hint;
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, constructor as constructor_row, method, prototype, to_string_tag,
};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %BigInt%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("BigInt", 1, constructor)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        method("asIntN", 2, as_int_n),
        method("asUintN", 2, as_uint_n),
        prototype(Intrinsic::BigIntPrototype),
    ],
};

/// %BigInt.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor_row(Intrinsic::BigInt),
        method("toLocaleString", 0, to_locale_string),
        method("toString", 0, to_string),
        method("valueOf", 0, value_of),
        to_string_tag("BigInt"),
    ],
};

/// BigInt ( value ). <https://tc39.es/ecma262/#sec-bigint-constructor-number-value>
fn constructor(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.new_target.is_undefined() {
        return Err(vm.throw_type_error("BigInt is not a constructor"));
    }
    let primitive = vm.to_primitive(args.get(0), Hint::Number)?;
    let big = match primitive.as_number() {
        Some(number) => number_to_bigint(vm, number)?,
        None => vm.to_bigint(primitive)?,
    };
    Ok(Value::bigint(big))
}

/// NumberToBigInt. <https://tc39.es/ecma262/#sec-numbertobigint>
fn number_to_bigint(vm: &mut Vm, number: f64) -> JsResult<BigInt> {
    match Integer::from_f64(number).filter(|_| number.trunc() == number) {
        Some(integer) => Ok(vm.new_bigint(integer)),
        None => {
            let message =
                format!("The number {number} cannot be converted to a BigInt because it is not an integer");
            Err(vm.throw_range_error(&message))
        }
    }
}

impl Vm {
    /// ToBigInt. <https://tc39.es/ecma262/#sec-tobigint>
    pub fn to_bigint(&mut self, value: Value) -> JsResult<BigInt> {
        let primitive = self.to_primitive(value, Hint::Number)?;
        if let Some(big) = primitive.as_bigint() {
            return Ok(big);
        }
        if primitive.is_bool() {
            return Ok(self.new_bigint(Integer::from(u8::from(primitive == Value::TRUE))));
        }
        let Some(text) = primitive.as_string() else {
            let message = format!("Cannot convert {} to a BigInt", self.describe(primitive));
            return Err(self.throw_type_error(&message));
        };
        match crate::ops::compare::string_to_bigint(text, self)? {
            Some(integer) => Ok(self.new_bigint(integer)),
            None => {
                let message = format!("Cannot convert {} to a BigInt", self.describe(primitive));
                Err(self.throw_syntax_error(&message))
            }
        }
    }
}

/// ThisBigIntValue. <https://tc39.es/ecma262/#sec-thisbigintvalue>
fn this_bigint_value(vm: &mut Vm, args: CallArgs, method: &str) -> JsResult<BigInt> {
    let this = args.this;
    let big = this
        .as_bigint()
        .or_else(|| this.as_object().filter(|object| object.is(ObjectKind::BigInt))?.slot(0).as_bigint());
    big.ok_or_else(|| vm.throw_type_error(&format!("BigInt.prototype.{method} needs a BigInt as this")))
}

/// BigInt.prototype.valueOf. <https://tc39.es/ecma262/#sec-bigint.prototype.valueof>
fn value_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bigint(this_bigint_value(vm, args, "valueOf")?))
}

/// BigInt.prototype.toString. <https://tc39.es/ecma262/#sec-bigint.prototype.tostring>
fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let big = this_bigint_value(vm, args, "toString")?;
    let radix = match args.get(0) {
        radix if radix.is_undefined() => 10.0,
        radix => vm.to_integer_or_infinity(radix)?,
    };
    if !(2.0..=36.0).contains(&radix) {
        return Err(vm.throw_range_error("toString() radix must be between 2 and 36"));
    }
    text_in_radix(vm, big, radix as u32)
}

/// BigInt.prototype.toLocaleString without ECMA-402: as toString.
fn to_locale_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let big = this_bigint_value(vm, args, "toLocaleString")?;
    text_in_radix(vm, big, 10)
}

fn text_in_radix(vm: &mut Vm, big: BigInt, radix: u32) -> JsResult<Value> {
    let text = bigint_text::format(vm, big.value(), radix)?;
    Ok(Value::string(vm.new_string(&text)))
}

/// BigInt.asIntN. <https://tc39.es/ecma262/#sec-bigint.asintn>
fn as_int_n(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let bits = vm.to_index(args.get(0))?;
    let big = vm.to_bigint(args.get(1))?;
    // A value that fits is itself; it also keeps 2^bits from being computed for enormous `bits`.
    if big.value().bits() < bits {
        return Ok(Value::bigint(big));
    }
    let wrapped = low_bits(big.value(), bits);
    let negative = bits > 0 && wrapped.bit(bits - 1);
    let result = Integer::from(wrapped);
    let result = if negative { result - (Integer::one() << bits) } else { result };
    Ok(Value::bigint(vm.new_bigint(result)))
}

/// BigInt.asUintN. <https://tc39.es/ecma262/#sec-bigint.asuintn>
fn as_uint_n(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let bits = vm.to_index(args.get(0))?;
    let big = vm.to_bigint(args.get(1))?;
    if !big.value().is_negative() && big.value().bits() <= bits {
        return Ok(Value::bigint(big));
    }
    if bits > crate::limits::BIGINT_BITS_MAX {
        return Err(vm.throw_range_error("Maximum BigInt size exceeded"));
    }
    let wrapped = low_bits(big.value(), bits);
    Ok(Value::bigint(vm.new_bigint(Integer::from_biguint(Sign::Plus, wrapped))))
}

/// `value` modulo 2^bits.
fn low_bits(value: &Integer, bits: u64) -> BigUint {
    if bits == 0 {
        return BigUint::zero();
    }
    let modulus = BigUint::one() << bits;
    let magnitude = value.magnitude() & (&modulus - 1u32);
    if value.is_negative() && !magnitude.is_zero() { modulus - magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_wrap_negative_values() {
        assert_eq!(low_bits(&Integer::from(-1), 8), BigUint::from(255u32));
        assert_eq!(low_bits(&Integer::from(-256), 8), BigUint::zero());
        assert_eq!(low_bits(&Integer::from(257), 8), BigUint::one());
        assert_eq!(low_bits(&Integer::from(5), 0), BigUint::zero());
    }
}
