//! Temporal.PlainMonthDay. <https://tc39.es/proposal-temporal/#sec-temporal-plainmonthday-objects>

use temporal_rs::PlainMonthDay;
use temporal_rs::options::{DisplayCalendar, Overflow};
use temporal_rs::partial::PartialDate;

use super::calendar_getters::{identity_getters, numbers};
use super::fields::{self, Wanted, to_calendar_identifier, to_integer_with_truncation};
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
    body: Body::Function(NativeSpec::constructor("PlainMonthDay", 2, new)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::TemporalPlainMonthDayPrototype), method("from", 1, from)],
};

pub(crate) static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::TemporalPlainMonthDay),
        getter("calendarId", calendar_id),
        getter("day", day),
        method("equals", 1, equals),
        getter("monthCode", month_code),
        method("toJSON", 0, to_plain_string),
        method("toLocaleString", 0, to_plain_string),
        method("toPlainDate", 1, to_plain_date),
        method("toString", 0, to_string),
        method("valueOf", 0, value_of_throws),
        method("with", 1, with),
        to_string_tag("Temporal.PlainMonthDay"),
    ],
};

identity_getters! { PlainMonthDay }
numbers! { PlainMonthDay: day }

/// The leap year that a month and day without a year is placed in.
const REFERENCE_YEAR: f64 = 1972.0;

fn new(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    require_new(vm, args, "Temporal.PlainMonthDay")?;
    let month = to_integer_with_truncation(vm, args.get(0))?;
    let day = to_integer_with_truncation(vm, args.get(1))?;
    let calendar = to_calendar_identifier(vm, args.get(2))?;
    let year = match args.get(3) {
        year if year.is_undefined() => REFERENCE_YEAR,
        year => to_integer_with_truncation(vm, year)?,
    };
    let result = PlainMonthDay::new_with_overflow(
        month as u8,
        day as u8,
        calendar,
        Overflow::Reject,
        Some(year as i32),
    );
    let month_day = check(vm, result)?;
    construct(vm, args, month_day)
}

/// ToTemporalMonthDay. <https://tc39.es/proposal-temporal/#sec-temporal-totemporalmonthday>
fn to_month_day(vm: &mut Vm, value: Value, options: Value) -> JsResult<PlainMonthDay> {
    if let Some(month_day) = value_of::<PlainMonthDay>(value) {
        Options::from(vm, options)?.overflow(vm)?;
        return Ok(month_day);
    }
    if let Some(bag) = value.as_object() {
        let calendar = fields::calendar_of_bag(vm, bag)?;
        let found = fields::prepare(vm, &calendar, bag, Wanted::DATE)?;
        let overflow = Options::from(vm, options)?.overflow(vm)?;
        let partial = PartialDate { calendar_fields: found.date, calendar };
        return check(vm, PlainMonthDay::from_partial(partial, Some(overflow)));
    }
    let Some(text) = value.as_string() else {
        return Err(vm.throw_type_error("a month and day must be an object or a string"));
    };
    let month_day = check_text(vm, text, |text| PlainMonthDay::from_utf8(text.as_bytes()))?;
    Options::from(vm, options)?.overflow(vm)?;
    Ok(month_day)
}

fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let month_day = to_month_day(vm, args.get(0), args.get(1))?;
    create(vm, month_day)
}

fn with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let month_day = this_value::<PlainMonthDay>(vm, args)?;
    let bag = fields::partial_bag(vm, args.get(0))?;
    let found = fields::prepare_partial(vm, month_day.calendar(), bag, Wanted::DATE)?;
    let overflow = Options::from(vm, args.get(1))?.overflow(vm)?;
    wrap(vm, month_day.with(found.date, Some(overflow)))
}

fn equals(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let month_day = this_value::<PlainMonthDay>(vm, args)?;
    let other = to_month_day(vm, args.get(0), Value::UNDEFINED)?;
    Ok(Value::bool(month_day == other))
}

fn to_plain_date(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let month_day = this_value::<PlainMonthDay>(vm, args)?;
    let Some(bag) = args.get(0).as_object() else {
        return Err(vm.throw_type_error("the year must be given as an object"));
    };
    let found = fields::prepare(vm, month_day.calendar(), bag, Wanted::YEAR)?;
    wrap(vm, month_day.to_plain_date(Some(found.date)))
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let month_day = this_value::<PlainMonthDay>(vm, args)?;
    let calendar = Options::from(vm, args.get(0))?.calendar_name(vm)?;
    text(vm, &month_day.to_ixdtf_string(calendar))
}

fn to_plain_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let month_day = this_value::<PlainMonthDay>(vm, args)?;
    text(vm, &month_day.to_ixdtf_string(DisplayCalendar::Auto))
}
