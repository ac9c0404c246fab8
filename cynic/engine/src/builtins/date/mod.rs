//! Date objects. <https://tc39.es/ecma262/#sec-date-objects>
//!
//! Owns the constructor and its functions; `get`, `set` and `text` hold the prototype's methods. Calendar arithmetic is in
//! `datetime`; the clock and the local zone are the isolate's.

mod get;
mod set;
mod text;

use crate::datetime::civil::{make_date, make_day, make_full_year, make_time, time_clip};
use crate::datetime::parse::{self, Parsed};
use crate::object::function::CallArgs;
use crate::object::function::NativeSpec;
use crate::object::{Object, ObjectKind};
use crate::ops::conversion::Hint;
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, PropertySpec, ValueSpec, constructor as constructor_row, data, method,
    prototype, symbol_method,
};
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Date%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Date", 7, constructor)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        method("UTC", 7, utc),
        method("now", 0, now),
        method("parse", 1, parse),
        prototype(Intrinsic::DatePrototype),
    ],
};

/// %Date.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor_row(Intrinsic::Date),
        method("getDate", 0, get::date),
        method("getDay", 0, get::day),
        method("getFullYear", 0, get::full_year),
        method("getHours", 0, get::hours),
        method("getMilliseconds", 0, get::milliseconds),
        method("getMinutes", 0, get::minutes),
        method("getMonth", 0, get::month),
        method("getSeconds", 0, get::seconds),
        method("getTime", 0, get::time),
        method("getTimezoneOffset", 0, get::timezone_offset),
        method("getUTCDate", 0, get::utc_date),
        method("getUTCDay", 0, get::utc_day),
        method("getUTCFullYear", 0, get::utc_full_year),
        method("getUTCHours", 0, get::utc_hours),
        method("getUTCMilliseconds", 0, get::utc_milliseconds),
        method("getUTCMinutes", 0, get::utc_minutes),
        method("getUTCMonth", 0, get::utc_month),
        method("getUTCSeconds", 0, get::utc_seconds),
        method("setDate", 1, set::date),
        method("setFullYear", 3, set::full_year),
        method("setHours", 4, set::hours),
        method("setMilliseconds", 1, set::milliseconds),
        method("setMinutes", 3, set::minutes),
        method("setMonth", 2, set::month),
        method("setSeconds", 2, set::seconds),
        method("setTime", 1, set::time),
        method("setUTCDate", 1, set::utc_date),
        method("setUTCFullYear", 3, set::utc_full_year),
        method("setUTCHours", 4, set::utc_hours),
        method("setUTCMilliseconds", 1, set::utc_milliseconds),
        method("setUTCMinutes", 3, set::utc_minutes),
        method("setUTCMonth", 2, set::utc_month),
        method("setUTCSeconds", 2, set::utc_seconds),
        method("toDateString", 0, text::date_string),
        method("toISOString", 0, text::iso_string),
        method("toJSON", 1, text::to_json),
        method("toLocaleDateString", 0, text::date_string),
        method("toLocaleString", 0, text::string),
        method("toLocaleTimeString", 0, text::time_string),
        method("toString", 0, text::string),
        method("toTemporalInstant", 0, text::to_temporal_instant),
        method("toTimeString", 0, text::time_string),
        method("toUTCString", 0, text::utc_string),
        data("toGMTString", ValueSpec::SameAs("toUTCString"), attrs::METHOD),
        method("valueOf", 0, get::time),
        PropertySpec {
            attrs: attrs::CONFIGURABLE,
            ..symbol_method(symbol::TO_PRIMITIVE, "[Symbol.toPrimitive]", 1, text::to_primitive)
        },
    ],
};

/// Units beyond which a text is not a date; keeps parsing of hostile texts short.
const TEXT_UNITS_MAX: usize = 1000;

/// Date ( ...values ). <https://tc39.es/ecma262/#sec-date>
fn constructor(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if args.new_target.is_undefined() {
        let now = vm.host_now_ms()?;
        let text = text::to_date_string(vm, now);
        return Ok(Value::string(vm.new_string(&text)));
    }
    let time = match args.len() {
        0 => vm.host_now_ms()?,
        1 => time_from_value(vm, args.get(0))?,
        _ => {
            let local = time_from_components(vm, args)?;
            time_clip(vm.host_utc(local))
        }
    };
    let kind = ObjectKind::Date;
    let date = vm.ordinary_create_from_constructor(args.new_target, Intrinsic::DatePrototype, kind, 1)?;
    date.set_slot(0, Value::number(time));
    Ok(Value::object(date))
}

/// The time value that `new Date(value)` stands for.
fn time_from_value(vm: &mut Vm, value: Value) -> JsResult<f64> {
    if let Some(time) = value.as_object().and_then(date_value) {
        return Ok(time);
    }
    let primitive = vm.to_primitive(value, Hint::Default)?;
    match primitive.as_string() {
        Some(_) => parse_text(vm, primitive),
        None => Ok(time_clip(vm.to_number(primitive)?)),
    }
}

/// Year, month and so on, as Date.UTC and the constructor take them; not clipped.
fn time_from_components(vm: &mut Vm, args: CallArgs) -> JsResult<f64> {
    let mut fields = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    for (index, field) in fields.iter_mut().enumerate().take(args.len().max(1)) {
        *field = vm.to_number(args.get(index))?;
    }
    let [year, month, day, hour, minute, second, ms] = fields;
    let year = make_full_year(year);
    Ok(make_date(make_day(year, month, day), make_time(hour, minute, second, ms)))
}

fn parse_text(vm: &mut Vm, string: Value) -> JsResult<f64> {
    let string = vm.to_string(string)?;
    if string.len() > TEXT_UNITS_MAX {
        return Ok(f64::NAN);
    }
    let text = string.text(vm)?;
    Ok(match parse::parse(&text) {
        Some(Parsed::Utc(time)) => time_clip(time),
        Some(Parsed::Local(time)) => time_clip(vm.host_utc(time)),
        None => f64::NAN,
    })
}

/// Date.now. <https://tc39.es/ecma262/#sec-date.now>
fn now(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    Ok(Value::number(vm.host_now_ms()?))
}

/// Date.parse. <https://tc39.es/ecma262/#sec-date.parse>
fn parse(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::number(parse_text(vm, args.get(0))?))
}

/// Date.UTC. <https://tc39.es/ecma262/#sec-date.utc>
fn utc(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::number(time_clip(time_from_components(vm, args)?)))
}

/// `[[DateValue]]`, of a Date.
pub(crate) fn date_value(object: Object) -> Option<f64> {
    if object.is(ObjectKind::Date) { object.slot(0).as_number() } else { None }
}

/// ThisTimeValue: the receiver's time value. <https://tc39.es/ecma262/#sec-properties-of-the-date-prototype-object>
fn this_time_value(vm: &mut Vm, args: CallArgs) -> JsResult<f64> {
    match args.this.as_object().and_then(date_value) {
        Some(time) => Ok(time),
        None => Err(vm.throw_type_error("this is not a Date object")),
    }
}
