//! Temporal.PlainYearMonth. <https://tc39.es/proposal-temporal/#sec-temporal-plainyearmonth-objects>

use temporal_rs::PlainYearMonth;
use temporal_rs::options::DisplayCalendar;
use temporal_rs::partial::PartialYearMonth;

use super::arithmetic::differences;
use super::calendar_getters::{self, identity_getters, numbers, year_getters};
use super::duration::{order_value, to_duration};
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
    body: Body::Function(NativeSpec::constructor("PlainYearMonth", 2, new)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::TemporalPlainYearMonthPrototype),
        method("compare", 2, compare),
        method("from", 1, from),
    ],
};

pub(crate) static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::TemporalPlainYearMonth),
        method("add", 1, add),
        getter("calendarId", calendar_id),
        getter("daysInMonth", days_in_month),
        getter("daysInYear", days_in_year),
        method("equals", 1, equals),
        getter("era", era),
        getter("eraYear", era_year),
        getter("inLeapYear", in_leap_year),
        getter("month", month),
        getter("monthCode", month_code),
        getter("monthsInYear", months_in_year),
        method("since", 1, since),
        method("subtract", 1, subtract),
        method("toJSON", 0, to_plain_string),
        method("toLocaleString", 0, to_plain_string),
        method("toPlainDate", 1, to_plain_date),
        method("toString", 0, to_string),
        method("until", 1, until),
        method("valueOf", 0, value_of_throws),
        method("with", 1, with),
        getter("year", year),
        to_string_tag("Temporal.PlainYearMonth"),
    ],
};

identity_getters! { PlainYearMonth }
year_getters! { PlainYearMonth }
differences! { PlainYearMonth, to_year_month }

fn new(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    require_new(vm, args, "Temporal.PlainYearMonth")?;
    let year = to_integer_with_truncation(vm, args.get(0))?;
    let month = to_integer_with_truncation(vm, args.get(1))?;
    let calendar = to_calendar_identifier(vm, args.get(2))?;
    let day = match args.get(3) {
        day if day.is_undefined() => 1.0,
        day => to_integer_with_truncation(vm, day)?,
    };
    let year_month = check(vm, PlainYearMonth::try_new(year as i32, month as u8, Some(day as u8), calendar))?;
    construct(vm, args, year_month)
}

/// ToTemporalYearMonth. <https://tc39.es/proposal-temporal/#sec-temporal-totemporalyearmonth>
fn to_year_month(vm: &mut Vm, value: Value, options: Value) -> JsResult<PlainYearMonth> {
    if let Some(year_month) = value_of::<PlainYearMonth>(value) {
        Options::from(vm, options)?.overflow(vm)?;
        return Ok(year_month);
    }
    if let Some(bag) = value.as_object() {
        let calendar = fields::calendar_of_bag(vm, bag)?;
        let found = fields::prepare(vm, &calendar, bag, Wanted::YEAR_MONTH)?;
        let overflow = Options::from(vm, options)?.overflow(vm)?;
        let partial = PartialYearMonth { calendar_fields: found.year_month(), calendar };
        return check(vm, PlainYearMonth::from_partial(partial, Some(overflow)));
    }
    let Some(text) = value.as_string() else {
        return Err(vm.throw_type_error("a year and month must be an object or a string"));
    };
    let year_month = check_text(vm, text, |text| PlainYearMonth::from_utf8(text.as_bytes()))?;
    Options::from(vm, options)?.overflow(vm)?;
    Ok(year_month)
}

fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let year_month = to_year_month(vm, args.get(0), args.get(1))?;
    create(vm, year_month)
}

fn compare(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let one = to_year_month(vm, args.get(0), Value::UNDEFINED)?;
    let two = to_year_month(vm, args.get(1), Value::UNDEFINED)?;
    Ok(order_value(one.compare_iso(&two)))
}

fn add(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let year_month = this_value::<PlainYearMonth>(vm, args)?;
    let duration = to_duration(vm, args.get(0))?;
    let overflow = Options::from(vm, args.get(1))?.overflow(vm)?;
    wrap(vm, year_month.add(&duration, overflow))
}

fn subtract(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let year_month = this_value::<PlainYearMonth>(vm, args)?;
    let duration = to_duration(vm, args.get(0))?;
    let overflow = Options::from(vm, args.get(1))?.overflow(vm)?;
    wrap(vm, year_month.subtract(&duration, overflow))
}

fn with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let year_month = this_value::<PlainYearMonth>(vm, args)?;
    let bag = fields::partial_bag(vm, args.get(0))?;
    let found = fields::prepare_partial(vm, year_month.calendar(), bag, Wanted::YEAR_MONTH)?;
    let overflow = Options::from(vm, args.get(1))?.overflow(vm)?;
    wrap(vm, year_month.with(found.year_month(), Some(overflow)))
}

fn equals(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let year_month = this_value::<PlainYearMonth>(vm, args)?;
    let other = to_year_month(vm, args.get(0), Value::UNDEFINED)?;
    Ok(Value::bool(year_month == other))
}

fn to_plain_date(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let year_month = this_value::<PlainYearMonth>(vm, args)?;
    let Some(bag) = args.get(0).as_object() else {
        return Err(vm.throw_type_error("the day must be given as an object"));
    };
    let found = fields::prepare(vm, year_month.calendar(), bag, Wanted::DAY)?;
    if !found.any() {
        return Err(vm.throw_type_error("the field day is required"));
    }
    wrap(vm, year_month.to_plain_date(Some(found.date)))
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let year_month = this_value::<PlainYearMonth>(vm, args)?;
    let calendar = Options::from(vm, args.get(0))?.calendar_name(vm)?;
    text(vm, &year_month.to_ixdtf_string(calendar))
}

fn to_plain_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let year_month = this_value::<PlainYearMonth>(vm, args)?;
    text(vm, &year_month.to_ixdtf_string(DisplayCalendar::Auto))
}
