//! Temporal.PlainTime. <https://tc39.es/proposal-temporal/#sec-temporal-plaintime-objects>

use temporal_rs::options::{Overflow, ToStringRoundingOptions};
use temporal_rs::{PlainDateTime, PlainTime, ZonedDateTime};

use super::arithmetic::differences;
use super::duration::{order_value, to_duration};
use super::fields::{self, to_integer_with_truncation};
use super::object::{
    check, check_text, construct, create, require_new, text, this_value, value_of, value_of_throws, wrap,
};
use super::options::Options;
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::object::function::NativeSpec;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, getter, method, prototype, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

pub(crate) static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("PlainTime", 0, new)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::TemporalPlainTimePrototype),
        method("compare", 2, compare),
        method("from", 1, from),
    ],
};

pub(crate) static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::TemporalPlainTime),
        method("add", 1, add),
        method("equals", 1, equals),
        getter("hour", |vm, args| component(vm, args, |t| u16::from(t.hour()))),
        getter("microsecond", |vm, args| component(vm, args, PlainTime::microsecond)),
        getter("millisecond", |vm, args| component(vm, args, PlainTime::millisecond)),
        getter("minute", |vm, args| component(vm, args, |t| u16::from(t.minute()))),
        getter("nanosecond", |vm, args| component(vm, args, PlainTime::nanosecond)),
        method("round", 1, round),
        getter("second", |vm, args| component(vm, args, |t| u16::from(t.second()))),
        method("since", 1, since),
        method("subtract", 1, subtract),
        method("toJSON", 0, to_plain_string),
        method("toLocaleString", 0, to_plain_string),
        method("toString", 0, to_string),
        method("until", 1, until),
        method("valueOf", 0, value_of_throws),
        method("with", 1, with),
        to_string_tag("Temporal.PlainTime"),
    ],
};

/// Up to six time arguments of a constructor, from `first` on; RejectTime.
pub(super) fn time_from_arguments(vm: &mut Vm, args: CallArgs, first: usize) -> JsResult<PlainTime> {
    let mut parts = [0.0; 6];
    for (index, part) in parts.iter_mut().enumerate() {
        let value = args.get(first + index);
        if !value.is_undefined() {
            *part = to_integer_with_truncation(vm, value)?;
        }
    }
    if parts.iter().any(|part| !(0.0..=999.0).contains(part)) {
        return Err(vm.throw_range_error("the time is out of range"));
    }
    let [hour, minute, second, ms, us, ns] = parts;
    let result = PlainTime::try_new(hour as u8, minute as u8, second as u8, ms as u16, us as u16, ns as u16);
    // Above 255 the first three would have been saturated, which is out of their range too.
    check(vm, result)
}

differences! { PlainTime, to_time }

fn new(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    require_new(vm, args, "Temporal.PlainTime")?;
    let time = time_from_arguments(vm, args, 0)?;
    construct(vm, args, time)
}

/// ToTemporalTime. <https://tc39.es/proposal-temporal/#sec-temporal-totemporaltime>
pub(super) fn to_time(vm: &mut Vm, value: Value, options: Value) -> JsResult<PlainTime> {
    let known = value_of::<PlainTime>(value)
        .or_else(|| value_of::<PlainDateTime>(value).map(|date_time| date_time.to_plain_time()))
        .or_else(|| value_of::<ZonedDateTime>(value).map(|zoned| zoned.to_plain_time()));
    if let Some(time) = known {
        Options::from(vm, options)?.overflow(vm)?;
        return Ok(time);
    }
    if let Some(bag) = value.as_object() {
        let found = fields::prepare_time(vm, bag)?;
        let overflow = Options::from(vm, options)?.overflow(vm)?;
        found.check_overflow(vm, overflow)?;
        return check(vm, PlainTime::from_partial(found.time, Some(overflow)));
    }
    let Some(text) = value.as_string() else {
        return Err(vm.throw_type_error("a time must be an object or a string"));
    };
    let time = check_text(vm, text, |text| PlainTime::from_utf8(text.as_bytes()))?;
    Options::from(vm, options)?.overflow(vm)?;
    Ok(time)
}

/// ToTimeRecordOrMidnight and the like: undefined stands for no time.
pub(super) fn to_optional_time(vm: &mut Vm, value: Value) -> JsResult<Option<PlainTime>> {
    if value.is_undefined() {
        return Ok(None);
    }
    to_time(vm, value, Value::UNDEFINED).map(Some)
}

fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = to_time(vm, args.get(0), args.get(1))?;
    create(vm, time)
}

fn compare(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let one = to_time(vm, args.get(0), Value::UNDEFINED)?;
    let two = to_time(vm, args.get(1), Value::UNDEFINED)?;
    Ok(order_value(one.cmp(&two)))
}

fn component(vm: &mut Vm, args: CallArgs, select: fn(&PlainTime) -> u16) -> JsResult<Value> {
    let time = this_value::<PlainTime>(vm, args)?;
    Ok(Value::int32(i32::from(select(&time))))
}

fn add(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_value::<PlainTime>(vm, args)?;
    let duration = to_duration(vm, args.get(0))?;
    wrap(vm, time.add(&duration))
}

fn subtract(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_value::<PlainTime>(vm, args)?;
    let duration = to_duration(vm, args.get(0))?;
    wrap(vm, time.subtract(&duration))
}

fn with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_value::<PlainTime>(vm, args)?;
    let bag = fields::partial_bag(vm, args.get(0))?;
    let found = fields::prepare_time(vm, bag)?;
    let overflow: Overflow = Options::from(vm, args.get(1))?.overflow(vm)?;
    found.check_overflow(vm, overflow)?;
    wrap(vm, time.with(found.time, Some(overflow)))
}

fn round(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_value::<PlainTime>(vm, args)?;
    let options = Options::from_string_or_object(vm, args.get(0), "smallestUnit")?.rounding_options(vm)?;
    wrap(vm, time.round(options))
}

fn equals(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_value::<PlainTime>(vm, args)?;
    let other = to_time(vm, args.get(0), Value::UNDEFINED)?;
    Ok(Value::bool(time == other))
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_value::<PlainTime>(vm, args)?;
    let options = Options::from(vm, args.get(0))?.to_string_options(vm)?;
    let result = check(vm, time.to_ixdtf_string(options))?;
    text(vm, &result)
}

fn to_plain_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_value::<PlainTime>(vm, args)?;
    let result = check(vm, time.to_ixdtf_string(ToStringRoundingOptions::default()))?;
    text(vm, &result)
}
