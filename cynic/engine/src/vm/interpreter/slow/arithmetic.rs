//! Operators on anything but two small numbers: strings, BigInts, objects.

use num_bigint::BigInt as Integer;
use num_traits::{Signed, ToPrimitive, Zero};

use super::slow_paths;
use crate::limits;
use crate::ops::bigint_division;
use crate::ops::conversion::Hint;
use crate::ops::numeric::double_to_int32;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// A numeric operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Sub,
    Mul,
    Div,
    Mod,
    Exp,
    And,
    Or,
    Xor,
    Shl,
    Sar,
    Shr,
}

impl Vm {
    /// The `+` operator (13.15.3).
    pub(crate) fn add_values(&mut self, a: Value, b: Value) -> JsResult<Value> {
        if let (Some(x), Some(y)) = (a.as_string(), b.as_string()) {
            return Ok(Value::string(self.concat(x, y)?));
        }
        let a = self.to_primitive(a, Hint::Default)?;
        let b = self.to_primitive(b, Hint::Default)?;
        if a.is_string() || b.is_string() {
            let x = self.to_string(a)?;
            let y = self.to_string(b)?;
            return Ok(Value::string(self.concat(x, y)?));
        }
        let a = self.to_numeric(a)?;
        let b = self.to_numeric(b)?;
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            return Ok(Value::number(x + y));
        }
        match (a.as_bigint(), b.as_bigint()) {
            (Some(x), Some(y)) => self.bigint_result(x.value() + y.value()),
            _ => Err(self.throw_mixed()),
        }
    }

    #[cold]
    fn throw_mixed(&mut self) -> crate::vm::Abrupt {
        self.throw_type_error("cannot mix BigInt and other types, use explicit conversions")
    }

    fn bigint_result(&mut self, value: Integer) -> JsResult<Value> {
        if value.bits() > limits::BIGINT_BITS_MAX {
            return Err(self.throw_range_error("BigInt is too large"));
        }
        self.poll_n((value.bits() >> 12) as u32 + 1)?;
        Ok(Value::bigint(self.new_bigint(value)))
    }

    /// ApplyStringOrNumericBinaryOperator for everything but `+`.
    pub(crate) fn numeric_operator(&mut self, operator: Operator, a: Value, b: Value) -> JsResult<Value> {
        let a = self.to_numeric(a)?;
        let b = self.to_numeric(b)?;
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            return Ok(number_operator(operator, x, y));
        }
        match (a.as_bigint(), b.as_bigint()) {
            (Some(x), Some(y)) => {
                let (x, y) = (x.value().clone(), y.value().clone());
                self.bigint_operator(operator, &x, &y)
            }
            _ => Err(self.throw_mixed()),
        }
    }

    fn bigint_operator(&mut self, operator: Operator, x: &Integer, y: &Integer) -> JsResult<Value> {
        let result = match operator {
            Operator::Sub => x - y,
            Operator::Mul => {
                self.poll_n(
                    ((x.bits() >> 6).saturating_mul((y.bits() >> 6) + 1) >> 8).min(1 << 24) as u32 + 1,
                )?;
                if x.bits() + y.bits() > limits::BIGINT_BITS_MAX + 64 {
                    return Err(self.throw_range_error("BigInt is too large"));
                }
                x * y
            }
            Operator::Div | Operator::Mod if y.is_zero() => {
                return Err(self.throw_range_error("division by zero"));
            }
            Operator::Div => {
                let (quotient, _) = bigint_division::divide(self, x.magnitude(), y.magnitude())?;
                Integer::from_biguint(x.sign() * y.sign(), quotient)
            }
            Operator::Mod => {
                let (_, remainder) = bigint_division::divide(self, x.magnitude(), y.magnitude())?;
                Integer::from_biguint(x.sign(), remainder)
            }
            Operator::Exp => return self.bigint_power(x, y),
            Operator::And => x & y,
            Operator::Or => x | y,
            Operator::Xor => x ^ y,
            Operator::Shl => return self.bigint_shift(x, y, false),
            Operator::Sar => return self.bigint_shift(x, y, true),
            Operator::Shr => {
                return Err(self.throw_type_error("BigInts have no unsigned right shift, use >> instead"));
            }
        };
        self.bigint_result(result)
    }

    fn bigint_power(&mut self, x: &Integer, y: &Integer) -> JsResult<Value> {
        if y.is_negative() {
            return Err(self.throw_range_error("the exponent must not be negative"));
        }
        let is_small = x.bits() <= 1 && !x.is_negative() || x == &Integer::from(-1);
        let exponent = match y.to_u32() {
            Some(exponent)
                if is_small
                    || x.bits().saturating_mul(u64::from(exponent)) <= limits::BIGINT_BITS_MAX + 64 =>
            {
                exponent
            }
            _ if is_small => u32::from(y.bit(0)) + 2,
            _ => return Err(self.throw_range_error("BigInt is too large")),
        };
        self.poll_n((x.bits().saturating_mul(u64::from(exponent)) >> 8).min(1 << 20) as u32 + 1)?;
        self.bigint_result(x.pow(exponent))
    }

    fn bigint_shift(&mut self, x: &Integer, y: &Integer, right: bool) -> JsResult<Value> {
        let is_right = right != y.is_negative();
        let distance = y.magnitude().to_u64();
        let result = match (is_right, distance) {
            (true, Some(distance)) if distance <= x.bits() => x >> distance,
            (true, _) => Integer::from(if x.is_negative() { -1 } else { 0 }),
            (false, _) if x.is_zero() => Integer::zero(),
            (false, Some(distance)) if distance <= limits::BIGINT_BITS_MAX => x << distance,
            (false, _) => return Err(self.throw_range_error("BigInt is too large")),
        };
        self.bigint_result(result)
    }

    /// The BigInt of a literal: decimal digits, as the front end normalises them.
    pub(crate) fn bigint_literal(&mut self, digits: &str) -> Value {
        let (radix, digits) = match digits.get(..2) {
            Some("0x" | "0X") => (16, &digits[2..]),
            Some("0o" | "0O") => (8, &digits[2..]),
            Some("0b" | "0B") => (2, &digits[2..]),
            _ => (10, digits),
        };
        let value = Integer::parse_bytes(digits.as_bytes(), radix).unwrap_or_default();
        Value::bigint(self.new_bigint(value))
    }

    fn unary_step(&mut self, v: Value, step: i32) -> JsResult<Value> {
        let v = self.to_numeric(v)?;
        match v.as_bigint() {
            Some(big) => self.bigint_result(big.value() + Integer::from(step)),
            None => Ok(Value::number(v.as_number().unwrap_or(f64::NAN) + f64::from(step))),
        }
    }

    /// Unary minus (13.5.5).
    pub(crate) fn negate(&mut self, v: Value) -> JsResult<Value> {
        let v = self.to_numeric(v)?;
        match v.as_bigint() {
            Some(big) => self.bigint_result(-big.value()),
            None => Ok(Value::number(-v.as_number().unwrap_or(f64::NAN))),
        }
    }

    fn bitwise_not(&mut self, v: Value) -> JsResult<Value> {
        let v = self.to_numeric(v)?;
        match v.as_bigint() {
            Some(big) => self.bigint_result(-(big.value() + Integer::from(1))),
            None => Ok(Value::int32(!double_to_int32(v.as_number().unwrap_or(f64::NAN)))),
        }
    }
}

fn number_operator(operator: Operator, x: f64, y: f64) -> Value {
    let (a, b) = (double_to_int32(x), double_to_int32(y));
    match operator {
        Operator::Sub => Value::number(x - y),
        Operator::Mul => Value::number(x * y),
        Operator::Div => Value::number(x / y),
        Operator::Mod => Value::number(remainder(x, y)),
        Operator::Exp => Value::number(number_exponentiate(x, y)),
        Operator::And => Value::int32(a & b),
        Operator::Or => Value::int32(a | b),
        Operator::Xor => Value::int32(a ^ b),
        Operator::Shl => Value::int32(a.wrapping_shl(b as u32)),
        Operator::Sar => Value::int32(a.wrapping_shr(b as u32)),
        Operator::Shr => Value::number(f64::from((a as u32).wrapping_shr(b as u32))),
    }
}

/// Number::remainder (6.1.6.1.6). Integers, which are common beyond int32, are divided as such.
fn remainder(x: f64, y: f64) -> f64 {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if x.abs() < EXACT && y.abs() < EXACT && x.trunc() == x && y.trunc() == y && y != 0.0 {
        return ((x.abs() as u64 % y.abs() as u64) as f64).copysign(x);
    }
    x % y
}

/// Number::exponentiate (6.1.6.1.3): unlike `powf`, 1 to an infinite or NaN power is NaN.
pub fn number_exponentiate(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || base.abs() == 1.0 && exponent.is_infinite() {
        return f64::NAN;
    }
    base.powf(exponent)
}

macro_rules! binary {
    ($($name:ident $name_i:ident $operator:ident;)*) => {
        slow_paths! {
    fn concat(s) {
        // SAFETY: verified code: the registers are inside the frame, which outlives the instruction.
        let parts = unsafe { std::slice::from_raw_parts(s.regs.add(s.b()), s.x() as usize) };
        let result = s.vm().concat_all(parts).map(Value::string);
        s.finish(2, s.a(), result)
    }
            $(
                fn $name(s) {
                    let result = s.vm().numeric_operator(Operator::$operator, s.reg(s.b()), s.reg(s.c()));
                    s.finish(1, s.a(), result)
                }
                fn $name_i(s) {
                    let result = s.vm().numeric_operator(Operator::$operator, s.reg(s.b()), Value::int32(s.x() as i32));
                    s.finish(2, s.a(), result)
                }
            )*
        }
    };
}

binary! {
    sub sub_i Sub;
    mul mul_i Mul;
    modulo mod_i Mod;
    bit_and bit_and_i And;
    bit_or bit_or_i Or;
    bit_xor bit_xor_i Xor;
    shl shl_i Shl;
    sar sar_i Sar;
    shr shr_i Shr;
}

slow_paths! {
    fn add(s) {
        let result = s.vm().add_values(s.reg(s.b()), s.reg(s.c()));
        s.finish(1, s.a(), result)
    }
    fn add_i(s) {
        let result = s.vm().add_values(s.reg(s.b()), Value::int32(s.x() as i32));
        s.finish(2, s.a(), result)
    }
    fn div(s) {
        let result = s.vm().numeric_operator(Operator::Div, s.reg(s.b()), s.reg(s.c()));
        s.finish(1, s.a(), result)
    }
    fn exp(s) {
        let result = s.vm().numeric_operator(Operator::Exp, s.reg(s.b()), s.reg(s.c()));
        s.finish(1, s.a(), result)
    }
    fn inc(s) {
        let result = s.vm().unary_step(s.reg(s.b()), 1);
        s.finish(1, s.a(), result)
    }
    fn dec(s) {
        let result = s.vm().unary_step(s.reg(s.b()), -1);
        s.finish(1, s.a(), result)
    }
    fn neg(s) {
        let result = s.vm().negate(s.reg(s.b()));
        s.finish(1, s.a(), result)
    }
    fn bit_not(s) {
        let result = s.vm().bitwise_not(s.reg(s.b()));
        s.finish(1, s.a(), result)
    }
    fn to_number(s) {
        let result = s.vm().to_number(s.reg(s.b())).map(Value::number);
        s.finish(1, s.a(), result)
    }
    fn to_numeric(s) {
        let result = s.vm().to_numeric(s.reg(s.b()));
        s.finish(1, s.a(), result)
    }
    fn to_string(s) {
        let result = s.vm().to_string(s.reg(s.b())).map(Value::string);
        s.finish(1, s.a(), result)
    }
    fn to_property_key(s) {
        let vm = s.vm();
        let result = vm.to_property_key(s.reg(s.b())).map(|key| key.to_value(vm));
        s.finish(1, s.a(), result)
    }
}
