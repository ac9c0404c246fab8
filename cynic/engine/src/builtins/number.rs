//! Number objects and their prototype; the global `parseFloat`, `parseInt`, `isNaN` and `isFinite`.
//! <https://tc39.es/ecma262/#sec-number-objects>
//!
//! Owns argument checks; the digits come from `numeric`.

use num_bigint::BigUint;
use num_traits::ToPrimitive;

use crate::numeric::{decimal, radix};
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::object::function::NativeSpec;
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, ValueSpec, constant, constructor as constructor_row, data, method,
    prototype,
};
use crate::shape::attrs;
use crate::string::StrView;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Number%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Number", 1, constructor)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        constant("EPSILON", f64::EPSILON),
        constant("MAX_SAFE_INTEGER", SAFE_INTEGER_MAX),
        constant("MAX_VALUE", f64::MAX),
        constant("MIN_SAFE_INTEGER", -SAFE_INTEGER_MAX),
        constant("MIN_VALUE", 5e-324),
        constant("NEGATIVE_INFINITY", f64::NEG_INFINITY),
        constant("NaN", f64::NAN),
        constant("POSITIVE_INFINITY", f64::INFINITY),
        method("isFinite", 1, is_finite),
        method("isInteger", 1, is_integer),
        method("isNaN", 1, is_nan),
        method("isSafeInteger", 1, is_safe_integer),
        data("parseFloat", ValueSpec::From(Intrinsic::GlobalThis, "parseFloat"), attrs::METHOD),
        data("parseInt", ValueSpec::From(Intrinsic::GlobalThis, "parseInt"), attrs::METHOD),
        prototype(Intrinsic::NumberPrototype),
    ],
};

/// %Number.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Number, 1),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor_row(Intrinsic::Number),
        method("toExponential", 1, to_exponential),
        method("toFixed", 1, to_fixed),
        method("toLocaleString", 0, to_locale_string),
        method("toPrecision", 1, to_precision),
        method("toString", 1, to_string),
        method("valueOf", 0, value_of),
    ],
};

/// The largest integer n such that n and n + 1 are both exactly numbers.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// The most digits that the formatting methods take.
const DIGITS_MAX: f64 = 100.0;

/// Number ( value ). <https://tc39.es/ecma262/#sec-number-constructor-number-value>
fn constructor(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let number = if args.is_empty() {
        Value::ZERO
    } else {
        let numeric = vm.to_numeric(args.get(0))?;
        match numeric.as_bigint() {
            Some(big) => Value::number(crate::ops::numeric::bigint_to_f64(big.value())),
            None => numeric,
        }
    };
    if args.new_target.is_undefined() {
        return Ok(number);
    }
    let kind = ObjectKind::Number;
    let object = vm.ordinary_create_from_constructor(args.new_target, Intrinsic::NumberPrototype, kind, 1)?;
    object.set_slot(0, number);
    Ok(Value::object(object))
}

/// ThisNumberValue. <https://tc39.es/ecma262/#sec-thisnumbervalue>
fn this_number_value(vm: &mut Vm, args: CallArgs, method: &str) -> JsResult<f64> {
    let this = args.this;
    // The prototype itself is a Number object for 0; its slot was never set.
    if this.as_object() == Some(vm.intrinsic(Intrinsic::NumberPrototype)) {
        return Ok(0.0);
    }
    let number = this
        .as_number()
        .or_else(|| this.as_object().filter(|object| object.is(ObjectKind::Number))?.slot(0).as_number());
    number.ok_or_else(|| vm.throw_type_error(&format!("Number.prototype.{method} needs a number as this")))
}

fn is_finite(_vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(args.get(0).as_number().is_some_and(f64::is_finite)))
}

fn is_nan(_vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(args.get(0).as_number().is_some_and(f64::is_nan)))
}

fn is_whole(value: Value) -> bool {
    value.as_number().is_some_and(|number| number.is_finite() && number.trunc() == number)
}

fn is_integer(_vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(is_whole(args.get(0))))
}

fn is_safe_integer(_vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let value = args.get(0);
    Ok(Value::bool(
        is_whole(value) && value.as_number().is_some_and(|number| number.abs() <= SAFE_INTEGER_MAX),
    ))
}

/// Number.prototype.valueOf. <https://tc39.es/ecma262/#sec-number.prototype.valueof>
fn value_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::number(this_number_value(vm, args, "valueOf")?))
}

/// Number.prototype.toString. <https://tc39.es/ecma262/#sec-number.prototype.tostring>
fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let number = this_number_value(vm, args, "toString")?;
    let radix = match args.get(0) {
        radix if radix.is_undefined() => 10.0,
        radix => vm.to_integer_or_infinity(radix)?,
    };
    if !(2.0..=36.0).contains(&radix) {
        return Err(vm.throw_range_error("toString() radix must be between 2 and 36"));
    }
    if radix == 10.0 || !number.is_finite() {
        return Ok(Value::string(vm.number_to_string(number)));
    }
    let text = radix::to_radix_string(number, radix as u32);
    Ok(Value::string(vm.new_string(&text)))
}

/// Number.prototype.toLocaleString without ECMA-402: as toString.
/// <https://tc39.es/ecma262/#sec-number.prototype.tolocalestring>
fn to_locale_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let number = this_number_value(vm, args, "toLocaleString")?;
    Ok(Value::string(vm.number_to_string(number)))
}

/// A digit count between `least` and 100, after the receiver has been found to be finite.
fn digit_count(vm: &mut Vm, digits: f64, least: f64, method: &str) -> JsResult<usize> {
    if (least..=DIGITS_MAX).contains(&digits) {
        return Ok(digits as usize);
    }
    Err(vm.throw_range_error(&format!("{method}() argument must be between {least} and 100")))
}

/// Number.prototype.toFixed. <https://tc39.es/ecma262/#sec-number.prototype.tofixed>
fn to_fixed(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let number = this_number_value(vm, args, "toFixed")?;
    let digits = vm.to_integer_or_infinity(args.get(0))?;
    let digits = digit_count(vm, digits, 0.0, "toFixed")?;
    if !number.is_finite() || number.abs() >= 1e21 {
        return Ok(Value::string(vm.number_to_string(number)));
    }
    let text = decimal::to_fixed(number, digits);
    Ok(Value::string(vm.new_string(&text)))
}

/// Number.prototype.toExponential. <https://tc39.es/ecma262/#sec-number.prototype.toexponential>
fn to_exponential(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let number = this_number_value(vm, args, "toExponential")?;
    let digits = vm.to_integer_or_infinity(args.get(0))?;
    if !number.is_finite() {
        return Ok(Value::string(vm.number_to_string(number)));
    }
    let digits = digit_count(vm, digits, 0.0, "toExponential")?;
    let text = if args.get(0).is_undefined() {
        decimal::to_exponential_shortest(number)
    } else {
        decimal::to_exponential(number, digits)
    };
    Ok(Value::string(vm.new_string(&text)))
}

/// Number.prototype.toPrecision. <https://tc39.es/ecma262/#sec-number.prototype.toprecision>
fn to_precision(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let number = this_number_value(vm, args, "toPrecision")?;
    if args.get(0).is_undefined() {
        return Ok(Value::string(vm.number_to_string(number)));
    }
    let digits = vm.to_integer_or_infinity(args.get(0))?;
    if !number.is_finite() {
        return Ok(Value::string(vm.number_to_string(number)));
    }
    let digits = digit_count(vm, digits, 1.0, "toPrecision")?;
    let text = decimal::to_precision(number, digits);
    Ok(Value::string(vm.new_string(&text)))
}

/// isFinite ( number ). <https://tc39.es/ecma262/#sec-isfinite-number>
pub(super) fn global_is_finite(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(vm.to_number(args.get(0))?.is_finite()))
}

/// isNaN ( number ). <https://tc39.es/ecma262/#sec-isnan-number>
pub(super) fn global_is_nan(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(vm.to_number(args.get(0))?.is_nan()))
}

/// parseFloat. <https://tc39.es/ecma262/#sec-parsefloat-string>
pub(super) fn parse_float(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if args.get(0).is_int32() {
        return Ok(args.get(0));
    }
    let string = vm.to_string(args.get(0))?;
    let view = string.unmetered_view(vm);
    vm.charge_bytes(number_units(&view));
    Ok(Value::number(decimal_prefix(&view).unwrap_or(f64::NAN)))
}

/// For how many units a number is looked for, roughly: up to the first that is neither white space nor ASCII alphanumeric.
fn number_units(view: &StrView<'_>) -> usize {
    let belongs = |unit: u16| {
        crate::ops::numeric::is_white_space(unit)
            || u8::try_from(unit).is_ok_and(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c))
    };
    view.units().take_while(|unit| belongs(*unit)).count()
}

/// The value of the longest prefix that is a StrDecimalLiteral, after white space.
fn decimal_prefix(view: &StrView<'_>) -> Option<f64> {
    let start = skip_white_space(view);
    let mut text = String::new();
    let mut accepted = 0;
    let mut at = start;
    let digits = |text: &mut String, at: &mut usize| {
        let before = *at;
        while let Some(digit) = ascii_at(view, *at).filter(char::is_ascii_digit) {
            text.push(digit);
            *at += 1;
        }
        *at - before
    };
    if let Some(sign) = ascii_at(view, at).filter(|sign| matches!(sign, '+' | '-')) {
        text.push(sign);
        at += 1;
    }
    if matches_ascii(view, at, "Infinity") {
        return Some(if text == "-" { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    let mut any = digits(&mut text, &mut at);
    if ascii_at(view, at) == Some('.') {
        text.push('.');
        at += 1;
        any += digits(&mut text, &mut at);
    }
    if any == 0 {
        return None;
    }
    accepted = accepted.max(text.len());
    if let Some('e' | 'E') = ascii_at(view, at) {
        text.push('e');
        at += 1;
        if let Some(sign) = ascii_at(view, at).filter(|sign| matches!(sign, '+' | '-')) {
            text.push(sign);
            at += 1;
        }
        if digits(&mut text, &mut at) > 0 {
            accepted = text.len();
        }
    }
    text.truncate(accepted);
    text.parse().ok()
}

fn ascii_at(view: &StrView<'_>, at: usize) -> Option<char> {
    u8::try_from(view.get(at)?).ok().filter(u8::is_ascii).map(char::from)
}

fn matches_ascii(view: &StrView<'_>, at: usize, text: &str) -> bool {
    text.bytes().enumerate().all(|(index, byte)| view.get(at + index) == Some(u16::from(byte)))
}

/// Where the leading white space ends.
fn skip_white_space(view: &StrView<'_>) -> usize {
    (0..view.len()).find(|at| !crate::ops::numeric::is_white_space(view.at(*at))).unwrap_or(view.len())
}

/// parseInt. <https://tc39.es/ecma262/#sec-parseint-string-radix>
pub(super) fn parse_int(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let string = vm.to_string(args.get(0))?;
    let radix = vm.to_int32(args.get(1))?;
    let view = string.unmetered_view(vm);
    vm.charge_bytes(number_units(&view));
    let mut at = skip_white_space(&view);
    let negative = ascii_at(&view, at) == Some('-');
    if matches!(ascii_at(&view, at), Some('+' | '-')) {
        at += 1;
    }
    let has_prefix = ascii_at(&view, at) == Some('0') && matches!(ascii_at(&view, at + 1), Some('x' | 'X'));
    let radix = match radix {
        0 | 16 if has_prefix => {
            at += 2;
            16
        }
        0 => 10,
        2..=36 => radix as u32,
        _ => return Ok(Value::NAN),
    };
    let digits: Vec<u8> = (at..view.len())
        .map_while(|at| ascii_at(&view, at).filter(|character| character.is_digit(radix)))
        .map(|character| character as u8)
        .collect();
    vm.poll_n(digits.len() as u32)?;
    let magnitude = integer_value(&digits, radix);
    Ok(Value::number(if negative { -magnitude } else { magnitude }))
}

/// The value of digits, rounded once; NaN if there are none.
fn integer_value(digits: &[u8], radix: u32) -> f64 {
    /// So many digits of any radix are below 2^53.
    const EXACT_DIGITS: usize = 10;
    /// A double with more digits than this is infinite in any radix; also bounds the work below.
    const DIGITS_MAX: usize = 1100;
    let significant: &[u8] = match digits.iter().position(|digit| *digit != b'0') {
        Some(first) => &digits[first..],
        None if digits.is_empty() => return f64::NAN,
        None => return 0.0,
    };
    if significant.len() > DIGITS_MAX {
        return f64::INFINITY;
    }
    if significant.len() <= EXACT_DIGITS {
        let value = |digit: u8| u64::from(char::from(digit).to_digit(radix).unwrap_or(0));
        return significant.iter().fold(0, |number, digit| number * u64::from(radix) + value(*digit)) as f64;
    }
    BigUint::parse_bytes(significant, radix).and_then(|number| number.to_f64()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Option<f64> {
        decimal_prefix(&StrView::Latin1(text.as_bytes()))
    }

    #[test]
    fn decimal_prefixes() {
        let cases = [
            ("1.5x", Some(1.5)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("1e", Some(1.0)),
            ("1e+", Some(1.0)),
            ("1e+2", Some(100.0)),
            ("-Infinityx", Some(f64::NEG_INFINITY)),
            ("+.e1", None),
            ("", None),
            ("0x10", Some(0.0)),
            ("  7", Some(7.0)),
            ("1_0", Some(1.0)),
        ];
        for (text, expected) in cases {
            assert_eq!(prefix(text), expected, "{text}");
        }
        assert!(prefix("-0").is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()));
    }

    #[test]
    fn integers_are_rounded_once() {
        assert_eq!(integer_value(b"9007199254740993", 10), 9_007_199_254_740_992.0);
        assert_eq!(
            integer_value(b"100000000000000000000000000000000000000000000000000001", 2),
            9_007_199_254_740_992.0
        );
        assert_eq!(integer_value(&[b'z'; 1101], 36), f64::INFINITY);
        assert_eq!(integer_value(b"000", 10), 0.0);
        assert!(integer_value(b"", 10).is_nan());
    }
}
