//! Temporal.Duration. <https://tc39.es/proposal-temporal/#sec-temporal-duration-objects>

use std::cmp::Ordering;
use std::str::FromStr;

use temporal_rs::options::{
    Disambiguation, OffsetDisambiguation, Overflow, RelativeTo, RoundingOptions, Unit,
};
use temporal_rs::partial::{PartialDate, PartialDuration, PartialZonedDateTime};
use temporal_rs::{Duration, PlainDate, PlainDateTime, Sign, ZonedDateTime};

use super::fields::{self, Wanted, to_integer_if_integral};
use super::lunisolar;
use super::object::{
    check, check_text, construct, create, require_new, text, this_value, value_of, value_of_throws, wrap,
};
use super::options::Options;
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::object::function::NativeSpec;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, getter, method, prototype, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

pub(crate) static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Duration", 0, new)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::TemporalDurationPrototype),
        method("compare", 2, compare),
        method("from", 1, from),
    ],
};

pub(crate) static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(crate::object::ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::TemporalDuration),
        method("abs", 0, abs),
        method("add", 1, add),
        getter("blank", blank),
        getter("days", |vm, args| component(vm, args, |d| d.days() as f64)),
        getter("hours", |vm, args| component(vm, args, |d| d.hours() as f64)),
        getter("microseconds", |vm, args| component(vm, args, |d| d.microseconds() as f64)),
        getter("milliseconds", |vm, args| component(vm, args, |d| d.milliseconds() as f64)),
        getter("minutes", |vm, args| component(vm, args, |d| d.minutes() as f64)),
        getter("months", |vm, args| component(vm, args, |d| d.months() as f64)),
        getter("nanoseconds", |vm, args| component(vm, args, |d| d.nanoseconds() as f64)),
        method("negated", 0, negated),
        method("round", 1, round),
        getter("seconds", |vm, args| component(vm, args, |d| d.seconds() as f64)),
        getter("sign", |vm, args| component(vm, args, |d| f64::from(d.sign() as i8))),
        method("subtract", 1, subtract),
        method("toJSON", 0, to_plain_string),
        method("toLocaleString", 0, to_plain_string),
        method("toString", 0, to_string),
        method("total", 1, total),
        method("valueOf", 0, value_of_throws),
        getter("weeks", |vm, args| component(vm, args, |d| d.weeks() as f64)),
        method("with", 1, with),
        getter("years", |vm, args| component(vm, args, |d| d.years() as f64)),
        to_string_tag("Temporal.Duration"),
    ],
};

/// Temporal.Duration ( ... ). <https://tc39.es/proposal-temporal/#sec-temporal.duration>
fn new(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    require_new(vm, args, "Temporal.Duration")?;
    let mut parts = [0.0; 10];
    for (index, part) in parts.iter_mut().enumerate() {
        let value = args.get(index);
        if !value.is_undefined() {
            *part = to_integer_if_integral(vm, value)?;
        }
    }
    let duration = from_parts(vm, parts)?;
    construct(vm, args, duration)
}

/// Years to nanoseconds. What does not fit saturates, and is then out of range.
fn from_parts(vm: &mut Vm, parts: [f64; 10]) -> JsResult<Duration> {
    let [years, months, weeks, days, hours, minutes, seconds, ms, us, ns] = parts;
    let result = Duration::new(
        years as i64,
        months as i64,
        weeks as i64,
        days as i64,
        hours as i64,
        minutes as i64,
        seconds as i64,
        ms as i64,
        us as i128,
        ns as i128,
    );
    check(vm, result)
}

/// ToTemporalDuration. <https://tc39.es/proposal-temporal/#sec-temporal-totemporalduration>
pub(super) fn to_duration(vm: &mut Vm, value: Value) -> JsResult<Duration> {
    if let Some(duration) = value_of::<Duration>(value) {
        return Ok(duration);
    }
    if let Some(bag) = value.as_object() {
        let partial = to_partial(vm, bag)?;
        return check(vm, Duration::from_partial_duration(partial));
    }
    match value.as_string() {
        Some(text) => check_text(vm, text, Duration::from_str),
        None => Err(vm.throw_type_error("a duration must be an object or a string")),
    }
}

/// ToTemporalPartialDurationRecord. <https://tc39.es/proposal-temporal/#sec-temporal-totemporalpartialdurationrecord>
fn to_partial(vm: &mut Vm, bag: Object) -> JsResult<PartialDuration> {
    let mut partial = PartialDuration::empty();
    partial.days = part(vm, bag, "days")?.map(|part| part as i64);
    partial.hours = part(vm, bag, "hours")?.map(|part| part as i64);
    partial.microseconds = part(vm, bag, "microseconds")?.map(|part| part as i128);
    partial.milliseconds = part(vm, bag, "milliseconds")?.map(|part| part as i64);
    partial.minutes = part(vm, bag, "minutes")?.map(|part| part as i64);
    partial.months = part(vm, bag, "months")?.map(|part| part as i64);
    partial.nanoseconds = part(vm, bag, "nanoseconds")?.map(|part| part as i128);
    partial.seconds = part(vm, bag, "seconds")?.map(|part| part as i64);
    partial.weeks = part(vm, bag, "weeks")?.map(|part| part as i64);
    partial.years = part(vm, bag, "years")?.map(|part| part as i64);
    if partial.is_empty() {
        return Err(vm.throw_type_error("the object has no duration field"));
    }
    Ok(partial)
}

fn part(vm: &mut Vm, bag: Object, name: &str) -> JsResult<Option<f64>> {
    let key = vm.key_from_str(name);
    let value = vm.get(bag, key)?;
    if value.is_undefined() {
        return Ok(None);
    }
    to_integer_if_integral(vm, value).map(Some)
}

/// Temporal.Duration.from. <https://tc39.es/proposal-temporal/#sec-temporal.duration.from>
fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = to_duration(vm, args.get(0))?;
    create(vm, duration)
}

/// Temporal.Duration.compare. <https://tc39.es/proposal-temporal/#sec-temporal.duration.compare>
fn compare(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let one = to_duration(vm, args.get(0))?;
    let two = to_duration(vm, args.get(1))?;
    let options = Options::from(vm, args.get(2))?;
    let relative_to = relative_to(vm, options)?;
    let order = check(vm, one.compare(&two, relative_to))?;
    Ok(order_value(order))
}

/// -1, 0 or 1.
pub(super) fn order_value(order: Ordering) -> Value {
    Value::int32(order as i8 as i32)
}

fn component(vm: &mut Vm, args: CallArgs, select: fn(&Duration) -> f64) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    Ok(Value::number(select(&duration)))
}

fn blank(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    Ok(Value::bool(duration.sign() == Sign::Zero))
}

fn abs(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    create(vm, duration.abs())
}

fn negated(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    create(vm, duration.negated())
}

/// Temporal.Duration.prototype.with. <https://tc39.es/proposal-temporal/#sec-temporal.duration.prototype.with>
fn with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    let Some(bag) = args.get(0).as_object() else {
        return Err(vm.throw_type_error("the fields must be an object"));
    };
    let partial = to_partial(vm, bag)?;
    let result = Duration::new(
        partial.years.unwrap_or(duration.years()),
        partial.months.unwrap_or(duration.months()),
        partial.weeks.unwrap_or(duration.weeks()),
        partial.days.unwrap_or(duration.days()),
        partial.hours.unwrap_or(duration.hours()),
        partial.minutes.unwrap_or(duration.minutes()),
        partial.seconds.unwrap_or(duration.seconds()),
        partial.milliseconds.unwrap_or(duration.milliseconds()),
        partial.microseconds.unwrap_or(duration.microseconds()),
        partial.nanoseconds.unwrap_or(duration.nanoseconds()),
    );
    wrap(vm, result)
}

fn add(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    let other = to_duration(vm, args.get(0))?;
    wrap(vm, duration.add(&other))
}

fn subtract(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    let other = to_duration(vm, args.get(0))?;
    wrap(vm, duration.subtract(&other))
}

/// Temporal.Duration.prototype.round. <https://tc39.es/proposal-temporal/#sec-temporal.duration.prototype.round>
fn round(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    let options = Options::from_string_or_object(vm, args.get(0), "smallestUnit")?;
    let mut rounding = RoundingOptions::default();
    rounding.largest_unit = options.unit(vm, "largestUnit")?;
    let relative_to = relative_to(vm, options)?;
    rounding.increment = Some(options.rounding_increment(vm)?);
    rounding.rounding_mode = options.rounding_mode(vm)?;
    rounding.smallest_unit = options.unit(vm, "smallestUnit")?;
    let units = (rounding.largest_unit, rounding.smallest_unit);
    lunisolar::check_duration(vm, &duration, relative_to.as_ref(), units.0, units.1)?;
    wrap(vm, duration.round(rounding, relative_to))
}

/// Temporal.Duration.prototype.total. <https://tc39.es/proposal-temporal/#sec-temporal.duration.prototype.total>
fn total(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    let options = Options::from_string_or_object(vm, args.get(0), "unit")?;
    let relative_to = relative_to(vm, options)?;
    let unit = match options.unit(vm, "unit")? {
        Some(unit) if unit != Unit::Auto => unit,
        _ => return Err(vm.throw_range_error("the option unit is required")),
    };
    lunisolar::check_duration(vm, &duration, relative_to.as_ref(), Some(unit), None)?;
    let total = check(vm, duration.total(unit, relative_to))?;
    Ok(Value::number(total.as_inner()))
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    let options = Options::from(vm, args.get(0))?;
    let options = options.to_string_options(vm)?;
    let result = check(vm, duration.as_temporal_string(options))?;
    text(vm, &result)
}

fn to_plain_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let duration = this_value::<Duration>(vm, args)?;
    let result = check(vm, duration.as_temporal_string(Default::default()))?;
    text(vm, &result)
}

/// GetTemporalRelativeToOption. <https://tc39.es/proposal-temporal/#sec-temporal-gettemporalrelativetooption>
fn relative_to(vm: &mut Vm, options: Options) -> JsResult<Option<RelativeTo>> {
    let value = options.get(vm, "relativeTo")?;
    if value.is_undefined() {
        return Ok(None);
    }
    if let Some(zoned) = value_of::<ZonedDateTime>(value) {
        return Ok(Some(zoned.into()));
    }
    if let Some(date) = value_of::<PlainDate>(value) {
        return Ok(Some(date.into()));
    }
    if let Some(date_time) = value_of::<PlainDateTime>(value) {
        return Ok(Some(date_time.to_plain_date().into()));
    }
    if let Some(bag) = value.as_object() {
        return relative_to_from_bag(vm, bag).map(Some);
    }
    match value.as_string() {
        Some(text) => check_text(vm, text, RelativeTo::try_from_str).map(Some),
        None => Err(vm.throw_type_error("relativeTo must be an object or a string")),
    }
}

fn relative_to_from_bag(vm: &mut Vm, bag: Object) -> JsResult<RelativeTo> {
    let calendar = fields::calendar_of_bag(vm, bag)?;
    let found = fields::prepare(vm, &calendar, bag, Wanted::ZONED)?;
    if found.time_zone.is_none() {
        let partial = PartialDate { calendar_fields: found.date, calendar };
        return Ok(check(vm, PlainDate::from_partial(partial, Some(Overflow::Constrain)))?.into());
    }
    let partial = PartialZonedDateTime { fields: found.zoned(), timezone: found.time_zone, calendar };
    let zoned = ZonedDateTime::from_partial(
        partial,
        Some(Overflow::Constrain),
        Some(Disambiguation::Compatible),
        Some(OffsetDisambiguation::Reject),
    );
    Ok(check(vm, zoned)?.into())
}
