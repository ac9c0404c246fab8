//! Temporal.Instant. <https://tc39.es/proposal-temporal/#sec-temporal-instant-objects>

use num_bigint::BigInt as Integer;
use num_traits::ToPrimitive;
use temporal_rs::options::ToStringRoundingOptions;
use temporal_rs::{Instant, TimeZone, ZonedDateTime};

use super::duration::{order_value, to_duration};
use super::fields::to_time_zone;
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
    body: Body::Function(NativeSpec::constructor("Instant", 1, new)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::TemporalInstantPrototype),
        method("compare", 2, compare),
        method("from", 1, from),
        method("fromEpochMilliseconds", 1, from_epoch_milliseconds),
        method("fromEpochNanoseconds", 1, from_epoch_nanoseconds),
    ],
};

pub(crate) static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::TemporalInstant),
        method("add", 1, add),
        getter("epochMilliseconds", epoch_milliseconds),
        getter("epochNanoseconds", epoch_nanoseconds),
        method("equals", 1, equals),
        method("round", 1, round),
        method("since", 1, since),
        method("subtract", 1, subtract),
        method("toJSON", 0, to_plain_string),
        method("toLocaleString", 0, to_plain_string),
        method("toString", 0, to_string),
        method("toZonedDateTimeISO", 1, to_zoned_date_time_iso),
        method("until", 1, until),
        method("valueOf", 0, value_of_throws),
        to_string_tag("Temporal.Instant"),
    ],
};

/// A BigInt as nanoseconds; what does not fit is out of range anyway.
pub(super) fn nanoseconds_from(vm: &mut Vm, value: Value) -> JsResult<i128> {
    let big = vm.to_bigint(value)?;
    match big.value().to_i128() {
        Some(nanoseconds) => Ok(nanoseconds),
        None => Err(vm.throw_range_error("the time is outside the range of Temporal")),
    }
}

/// Nanoseconds as a BigInt.
pub(super) fn nanoseconds_value(vm: &mut Vm, nanoseconds: i128) -> Value {
    Value::bigint(vm.new_bigint(Integer::from(nanoseconds)))
}

fn new(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    require_new(vm, args, "Temporal.Instant")?;
    let nanoseconds = nanoseconds_from(vm, args.get(0))?;
    let instant = check(vm, Instant::try_new(nanoseconds))?;
    construct(vm, args, instant)
}

/// ToTemporalInstant. <https://tc39.es/proposal-temporal/#sec-temporal-totemporalinstant>
pub(super) fn to_instant(vm: &mut Vm, value: Value) -> JsResult<Instant> {
    if let Some(instant) = value_of::<Instant>(value) {
        return Ok(instant);
    }
    if let Some(zoned) = value_of::<ZonedDateTime>(value) {
        return Ok(zoned.to_instant());
    }
    let primitive =
        if value.is_object() { vm.to_primitive(value, crate::ops::conversion::Hint::String)? } else { value };
    match primitive.as_string() {
        Some(text) => check_text(vm, text, |text| Instant::from_utf8(text.as_bytes())),
        None => Err(vm.throw_type_error("an instant must be a string")),
    }
}

fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = to_instant(vm, args.get(0))?;
    create(vm, instant)
}

fn from_epoch_milliseconds(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let number = vm.to_number(args.get(0))?;
    if !number.is_finite() || number.trunc() != number {
        return Err(vm.throw_range_error("the number must be a whole number"));
    }
    wrap(vm, Instant::from_epoch_milliseconds(number as i64))
}

/// The Instant of a valid time value of a Date.
pub(crate) fn from_time_value(vm: &mut Vm, time: f64) -> JsResult<Value> {
    wrap(vm, Instant::from_epoch_milliseconds(time as i64))
}

fn from_epoch_nanoseconds(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let nanoseconds = nanoseconds_from(vm, args.get(0))?;
    wrap(vm, Instant::try_new(nanoseconds))
}

fn compare(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let one = to_instant(vm, args.get(0))?;
    let two = to_instant(vm, args.get(1))?;
    Ok(order_value(one.as_i128().cmp(&two.as_i128())))
}

fn epoch_milliseconds(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    Ok(Value::number(instant.epoch_milliseconds() as f64))
}

fn epoch_nanoseconds(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    Ok(nanoseconds_value(vm, instant.as_i128()))
}

fn add(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    let duration = to_duration(vm, args.get(0))?;
    wrap(vm, instant.add(&duration))
}

fn subtract(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    let duration = to_duration(vm, args.get(0))?;
    wrap(vm, instant.subtract(&duration))
}

fn until(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    let other = to_instant(vm, args.get(0))?;
    let settings = Options::from(vm, args.get(1))?.difference_settings(vm)?;
    wrap(vm, instant.until(&other, settings))
}

fn since(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    let other = to_instant(vm, args.get(0))?;
    let settings = Options::from(vm, args.get(1))?.difference_settings(vm)?;
    wrap(vm, instant.since(&other, settings))
}

fn round(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    let options = Options::from_string_or_object(vm, args.get(0), "smallestUnit")?.rounding_options(vm)?;
    wrap(vm, instant.round(options))
}

fn equals(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    let other = to_instant(vm, args.get(0))?;
    Ok(Value::bool(instant.as_i128() == other.as_i128()))
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    let options = Options::from(vm, args.get(0))?;
    let rounding = options.to_string_options(vm)?;
    let time_zone = options.get(vm, "timeZone")?;
    let time_zone: Option<TimeZone> =
        if time_zone.is_undefined() { None } else { Some(to_time_zone(vm, time_zone)?) };
    let result = check(vm, instant.to_ixdtf_string(time_zone, rounding))?;
    text(vm, &result)
}

fn to_plain_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    let result = check(vm, instant.to_ixdtf_string(None, ToStringRoundingOptions::default()))?;
    text(vm, &result)
}

fn to_zoned_date_time_iso(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let instant = this_value::<Instant>(vm, args)?;
    let time_zone = to_time_zone(vm, args.get(0))?;
    wrap(vm, instant.to_zoned_date_time_iso(time_zone))
}
