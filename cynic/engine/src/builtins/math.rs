//! The Math object. <https://tc39.es/ecma262/#sec-math-object>
//!
//! Owns argument coercion and the special cases in which ECMA-262 differs from IEEE 754 libraries. Exact algorithms are in
//! `numeric`; the source of randomness is the isolate's.

use crate::numeric::{exact_sum::ExactSum, half};
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constant, method, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The Math object.
pub static MATH: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constant("E", std::f64::consts::E),
        constant("LN10", std::f64::consts::LN_10),
        constant("LN2", std::f64::consts::LN_2),
        constant("LOG10E", std::f64::consts::LOG10_E),
        constant("LOG2E", std::f64::consts::LOG2_E),
        constant("PI", std::f64::consts::PI),
        constant("SQRT1_2", std::f64::consts::FRAC_1_SQRT_2),
        constant("SQRT2", std::f64::consts::SQRT_2),
        to_string_tag("Math"),
        method("abs", 1, abs),
        method("acos", 1, acos),
        method("acosh", 1, acosh),
        method("asin", 1, asin),
        method("asinh", 1, asinh),
        method("atan", 1, atan),
        method("atan2", 2, atan2),
        method("atanh", 1, atanh),
        method("cbrt", 1, cbrt),
        method("ceil", 1, ceil),
        method("clz32", 1, clz32),
        method("cos", 1, cos),
        method("cosh", 1, cosh),
        method("exp", 1, exp),
        method("expm1", 1, expm1),
        method("f16round", 1, f16round),
        method("floor", 1, floor),
        method("fround", 1, fround),
        method("hypot", 2, hypot),
        method("imul", 2, imul),
        method("log", 1, log),
        method("log10", 1, log10),
        method("log1p", 1, log1p),
        method("log2", 1, log2),
        method("max", 2, max),
        method("min", 2, min),
        method("pow", 2, pow),
        method("random", 0, random),
        method("round", 1, round),
        method("sign", 1, sign),
        method("sin", 1, sin),
        method("sinh", 1, sinh),
        method("sqrt", 1, sqrt),
        method("sumPrecise", 1, sum_precise),
        method("tan", 1, tan),
        method("tanh", 1, tanh),
        method("trunc", 1, trunc),
    ],
};

/// Functions of one number that are the library's, special cases included.
macro_rules! unary {
    ($($name:ident => $function:expr;)*) => {
        $(
            fn $name(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
                let x = vm.to_number(args.get(0))?;
                let function: fn(f64) -> f64 = $function;
                Ok(Value::number(function(x)))
            }
        )*
    };
}

unary! {
    acos => f64::acos;
    acosh => inverse_cosh;
    asin => f64::asin;
    asinh => |x| if x == 0.0 || !x.is_finite() { x } else { f64::asinh(x) };
    atan => f64::atan;
    atanh => inverse_tanh;
    cbrt => f64::cbrt;
    ceil => f64::ceil;
    cos => f64::cos;
    cosh => f64::cosh;
    exp => f64::exp;
    expm1 => f64::exp_m1;
    f16round => |x| half::f16_bits_to_f64(half::f64_to_f16_bits(x));
    fround => |x| f64::from(x as f32);
    log => f64::ln;
    log10 => f64::log10;
    log1p => f64::ln_1p;
    log2 => f64::log2;
    round => round_half_up;
    sign => |x| if x == 0.0 || x.is_nan() { x } else { x.signum() };
    sin => f64::sin;
    sinh => f64::sinh;
    tan => f64::tan;
    tanh => f64::tanh;
    trunc => f64::trunc;
}

/// Math.abs. <https://tc39.es/ecma262/#sec-math.abs>
fn abs(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    // OPTIMIZATION: an int32 other than the least stays one; equal to the general case below.
    if let Some(positive) = args.get(0).as_int32().and_then(i32::checked_abs) {
        return Ok(Value::int32(positive));
    }
    Ok(Value::number(vm.to_number(args.get(0))?.abs()))
}

/// Math.floor. <https://tc39.es/ecma262/#sec-math.floor>
fn floor(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    // OPTIMIZATION: an int32 is its own floor.
    if args.get(0).is_int32() {
        return Ok(args.get(0));
    }
    Ok(Value::number(vm.to_number(args.get(0))?.floor()))
}

/// Math.sqrt. <https://tc39.es/ecma262/#sec-math.sqrt>
fn sqrt(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::number(vm.to_number(args.get(0))?.sqrt()))
}

/// Rounds to the nearest integer, ties towards +∞; keeps -0.
/// Not `ln(x + √(x² - 1))`: near 1 that would lose the digits of `x - 1`, and for large `x` the square is infinite.
fn inverse_cosh(x: f64) -> f64 {
    /// From here on one is lost beside the square.
    const LARGE: f64 = 268_435_456.0;
    if x < 1.0 {
        f64::NAN
    } else if x < 2.0 {
        let t = x - 1.0;
        (t + (2.0 * t + t * t).sqrt()).ln_1p()
    } else if x < LARGE {
        (2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt())).ln()
    } else {
        x.ln() + std::f64::consts::LN_2
    }
}

/// Not `½ ln((1 + x) / (1 - x))`: near 0 that would lose the digits of `x`.
fn inverse_tanh(x: f64) -> f64 {
    let magnitude = x.abs();
    let double = magnitude + magnitude;
    let result = if magnitude < 0.5 {
        (double + double * magnitude / (1.0 - magnitude)).ln_1p()
    } else {
        (double / (1.0 - magnitude)).ln_1p()
    };
    (0.5 * result).copysign(x)
}

fn round_half_up(x: f64) -> f64 {
    // From 2^52 on every double is whole, and adding one half would round.
    if !x.is_finite() || x.abs() >= 4_503_599_627_370_496.0 {
        return x;
    }
    let floor = x.floor();
    let rounded = if x - floor >= 0.5 { floor + 1.0 } else { floor };
    rounded.copysign(x)
}

/// Number::exponentiate: as IEEE's pow, but ±1 to an infinite power and anything to NaN are NaN.
/// <https://tc39.es/ecma262/#sec-numeric-types-number-exponentiate>
pub(crate) fn exponentiate(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) {
        return f64::NAN;
    }
    base.powf(exponent)
}

/// Math.pow. <https://tc39.es/ecma262/#sec-math.pow>
fn pow(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let base = vm.to_number(args.get(0))?;
    let exponent = vm.to_number(args.get(1))?;
    Ok(Value::number(exponentiate(base, exponent)))
}

/// Math.atan2. <https://tc39.es/ecma262/#sec-math.atan2>
fn atan2(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let y = vm.to_number(args.get(0))?;
    let x = vm.to_number(args.get(1))?;
    Ok(Value::number(y.atan2(x)))
}

/// Math.clz32. <https://tc39.es/ecma262/#sec-math.clz32>
fn clz32(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let n = vm.to_uint32(args.get(0))?;
    Ok(Value::int32(n.leading_zeros() as i32))
}

/// Math.imul. <https://tc39.es/ecma262/#sec-math.imul>
fn imul(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let a = vm.to_int32(args.get(0))?;
    let b = vm.to_int32(args.get(1))?;
    Ok(Value::int32(a.wrapping_mul(b)))
}

/// Coerces every argument, then folds; the order of coercions is observable, so none may be skipped.
fn fold_numbers(
    vm: &mut Vm,
    args: CallArgs,
    start: f64,
    mut combine: impl FnMut(f64, f64) -> f64,
) -> JsResult<f64> {
    let mut result = start;
    for index in 0..args.len() {
        let number = vm.to_number(args.get(index))?;
        result = combine(result, number);
    }
    Ok(result)
}

fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a == b { if a.is_sign_negative() { b } else { a } } else { a.max(b) }
}

fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a == b { if a.is_sign_negative() { a } else { b } } else { a.min(b) }
}

/// Math.max. <https://tc39.es/ecma262/#sec-math.max>
fn max(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::number(fold_numbers(vm, args, f64::NEG_INFINITY, larger)?))
}

/// Math.min. <https://tc39.es/ecma262/#sec-math.min>
fn min(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::number(fold_numbers(vm, args, f64::INFINITY, smaller)?))
}

/// Math.hypot. <https://tc39.es/ecma262/#sec-math.hypot>
fn hypot(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let mut infinite = false;
    let result = fold_numbers(vm, args, 0.0, |so_far, number| {
        infinite |= number.is_infinite();
        so_far.hypot(number)
    })?;
    Ok(Value::number(if infinite { f64::INFINITY } else { result }))
}

/// Math.random. <https://tc39.es/ecma262/#sec-math.random>
fn random(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    Ok(Value::number(vm.host_random()?))
}

/// What Math.sumPrecise has seen besides finite numbers other than -0.
struct SumState {
    sum: ExactSum,
    only_minus_zero: bool,
    not_a_number: bool,
    plus_infinity: bool,
    minus_infinity: bool,
}

impl SumState {
    fn add(&mut self, number: f64) {
        if number.is_nan() {
            self.not_a_number = true;
        } else if number == f64::INFINITY {
            self.plus_infinity = true;
        } else if number == f64::NEG_INFINITY {
            self.minus_infinity = true;
        } else {
            self.only_minus_zero &= number == 0.0 && number.is_sign_negative();
            self.sum.add(number);
        }
    }

    fn finish(self) -> f64 {
        match (self.plus_infinity, self.minus_infinity) {
            _ if self.not_a_number => f64::NAN,
            (true, true) => f64::NAN,
            (true, false) => f64::INFINITY,
            (false, true) => f64::NEG_INFINITY,
            (false, false) if self.only_minus_zero => -0.0,
            (false, false) => self.sum.finish(),
        }
    }
}

/// Math.sumPrecise. <https://tc39.es/ecma262/#sec-math.sumprecise>
fn sum_precise(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let items = args.get(0);
    if items.is_nullish() {
        return Err(vm.throw_type_error("Math.sumPrecise needs an iterable"));
    }
    let mut iterator = vm.get_iterator(items)?;
    let mut state = SumState {
        sum: ExactSum::new(),
        only_minus_zero: true,
        not_a_number: false,
        plus_infinity: false,
        minus_infinity: false,
    };
    while let Some(value) = vm.iterator_step_value(&mut iterator)? {
        let Some(number) = value.as_number() else {
            let error = vm.throw_type_error("Math.sumPrecise takes numbers only");
            return vm.iterator_close(&iterator, Err(error));
        };
        state.add(number);
        vm.poll()?;
    }
    Ok(Value::number(state.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: f64, expected: f64, x: f64) {
        let tolerance = expected.abs() * 4.0 * f64::EPSILON;
        assert!((found - expected).abs() <= tolerance, "{x}: {found} and not {expected}");
    }

    #[test]
    fn inverse_hyperbolic_functions_keep_their_digits() {
        for exponent in 14..52 {
            let t = (-f64::from(exponent)).exp2();
            let series = 1.0 - t / 12.0 + 3.0 * t * t / 160.0 - 5.0 * t * t * t / 896.0;
            close(inverse_cosh(1.0 + t), (2.0 * t).sqrt() * series, 1.0 + t);
            for x in [t, -t, 3.0 * t] {
                let square = x * x;
                close(inverse_tanh(x), x * (1.0 + square / 3.0 + square * square / 5.0), x);
            }
        }
        // From 1 on: below, rounding `cosh(y)` itself loses digits of `y`.
        for step in 16..200 {
            let y = f64::from(step) / 16.0;
            close(inverse_cosh(y.cosh()), y, y);
        }
        let ln_2 = std::f64::consts::LN_2;
        close(inverse_cosh(f64::MAX), f64::MAX.ln() + ln_2, f64::MAX);
        assert_eq!(
            (inverse_cosh(1.0), inverse_tanh(1.0), inverse_tanh(-1.0)),
            (0.0, f64::INFINITY, f64::NEG_INFINITY)
        );
        assert_eq!(inverse_cosh(f64::INFINITY), f64::INFINITY);
        assert!(
            [
                inverse_cosh(0.99),
                inverse_cosh(-2.0),
                inverse_cosh(f64::NAN),
                inverse_tanh(1.5),
                inverse_tanh(f64::NAN)
            ]
            .iter()
            .all(|x| x.is_nan())
        );
        assert!(inverse_tanh(-0.0).is_sign_negative());
    }

    #[test]
    fn rounding_ties_go_up_and_zero_keeps_its_sign() {
        let cases = [
            (0.5, 1.0),
            (-0.5, -0.0),
            (2.5, 3.0),
            (-2.5, -2.0),
            (0.499_999_999_999_999_94, 0.0),
            (-0.2, -0.0),
        ];
        for (x, expected) in cases {
            assert_eq!(round_half_up(x).to_bits(), f64::to_bits(expected), "{x}");
        }
        assert_eq!(round_half_up(4_503_599_627_370_495.5), 4_503_599_627_370_496.0);
    }

    #[test]
    fn powers_differ_from_ieee_at_one() {
        assert!(exponentiate(1.0, f64::INFINITY).is_nan());
        assert!(exponentiate(-1.0, f64::NEG_INFINITY).is_nan());
        assert!(exponentiate(1.0, f64::NAN).is_nan());
        assert_eq!(exponentiate(f64::NAN, 0.0), 1.0);
    }

    #[test]
    fn extremes_order_the_zeros() {
        assert!(larger(-0.0, 0.0).is_sign_positive());
        assert!(larger(0.0, -0.0).is_sign_positive());
        assert!(smaller(0.0, -0.0).is_sign_negative());
        assert!(smaller(f64::NAN, 1.0).is_nan());
    }
}
