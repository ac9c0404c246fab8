//! Temporal.PlainDate. <https://tc39.es/proposal-temporal/#sec-temporal-plaindate-objects>

use temporal_rs::options::DisplayCalendar;
use temporal_rs::partial::PartialDate;
use temporal_rs::{PlainDate, PlainDateTime, TimeZone, ZonedDateTime};

use super::arithmetic::{add_durations, differences};
use super::calendar_getters::{self, day_getters, identity_getters, numbers, year_getters};
use super::duration::{order_value, to_duration};
use super::fields::{
    self, Wanted, to_calendar, to_calendar_identifier, to_integer_with_truncation, to_time_zone,
};
use super::object::{
    check, check_text, construct, create, require_new, text, this_value, value_of, value_of_throws, wrap,
};
use super::options::Options;
use super::plain_time::{to_optional_time, to_time};
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::object::function::NativeSpec;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, getter, method, prototype, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

pub(crate) static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("PlainDate", 3, new)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::TemporalPlainDatePrototype),
        method("compare", 2, compare),
        method("from", 1, from),
    ],
};

pub(crate) static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::TemporalPlainDate),
        method("add", 1, add),
        getter("calendarId", calendar_id),
        getter("day", day),
        getter("dayOfWeek", day_of_week),
        getter("dayOfYear", day_of_year),
        getter("daysInMonth", days_in_month),
        getter("daysInWeek", days_in_week),
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
        method("toPlainDateTime", 0, to_plain_date_time),
        method("toPlainMonthDay", 0, to_plain_month_day),
        method("toPlainYearMonth", 0, to_plain_year_month),
        method("toString", 0, to_string),
        method("toZonedDateTime", 1, to_zoned_date_time),
        method("until", 1, until),
        method("valueOf", 0, value_of_throws),
        getter("weekOfYear", week_of_year),
        method("with", 1, with),
        method("withCalendar", 1, with_calendar),
        getter("year", year),
        getter("yearOfWeek", year_of_week),
        to_string_tag("Temporal.PlainDate"),
    ],
};

identity_getters! { PlainDate }
year_getters! { PlainDate }
day_getters! { PlainDate }
add_durations! { PlainDate }
differences! { PlainDate, to_date }

/// Year, month and day of a constructor, as the library takes them; month and day out of a byte are out of range.
pub(super) fn date_from_arguments(vm: &mut Vm, args: CallArgs) -> JsResult<(i32, u8, u8)> {
    let year = to_integer_with_truncation(vm, args.get(0))?;
    let month = to_integer_with_truncation(vm, args.get(1))?;
    let day = to_integer_with_truncation(vm, args.get(2))?;
    // A negative month or day saturates to 0, which no month or day is.
    Ok((year as i32, month as u8, day as u8))
}

fn new(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    require_new(vm, args, "Temporal.PlainDate")?;
    let (year, month, day) = date_from_arguments(vm, args)?;
    let calendar = to_calendar_identifier(vm, args.get(3))?;
    let date = check(vm, PlainDate::try_new(year, month, day, calendar))?;
    construct(vm, args, date)
}

/// ToTemporalDate. <https://tc39.es/proposal-temporal/#sec-temporal-totemporaldate>
pub(super) fn to_date(vm: &mut Vm, value: Value, options: Value) -> JsResult<PlainDate> {
    let known = value_of::<PlainDate>(value)
        .or_else(|| value_of::<ZonedDateTime>(value).map(|zoned| zoned.to_plain_date()))
        .or_else(|| value_of::<PlainDateTime>(value).map(|date_time| date_time.to_plain_date()));
    if let Some(date) = known {
        Options::from(vm, options)?.overflow(vm)?;
        return Ok(date);
    }
    if let Some(bag) = value.as_object() {
        let calendar = fields::calendar_of_bag(vm, bag)?;
        let found = fields::prepare(vm, &calendar, bag, Wanted::DATE)?;
        let overflow = Options::from(vm, options)?.overflow(vm)?;
        let partial = PartialDate { calendar_fields: found.date, calendar };
        return check(vm, PlainDate::from_partial(partial, Some(overflow)));
    }
    let Some(text) = value.as_string() else {
        return Err(vm.throw_type_error("a date must be an object or a string"));
    };
    let date = check_text(vm, text, |text| PlainDate::from_utf8(text.as_bytes()))?;
    Options::from(vm, options)?.overflow(vm)?;
    Ok(date)
}

fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = to_date(vm, args.get(0), args.get(1))?;
    create(vm, date)
}

fn compare(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let one = to_date(vm, args.get(0), Value::UNDEFINED)?;
    let two = to_date(vm, args.get(1), Value::UNDEFINED)?;
    Ok(order_value(one.compare_iso(&two)))
}

fn with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = this_value::<PlainDate>(vm, args)?;
    let bag = fields::partial_bag(vm, args.get(0))?;
    let found = fields::prepare_partial(vm, date.calendar(), bag, Wanted::DATE)?;
    let overflow = Options::from(vm, args.get(1))?.overflow(vm)?;
    wrap(vm, date.with(found.date, Some(overflow)))
}

fn with_calendar(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = this_value::<PlainDate>(vm, args)?;
    let calendar = to_calendar(vm, args.get(0))?;
    create(vm, date.with_calendar(calendar))
}

fn equals(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = this_value::<PlainDate>(vm, args)?;
    let other = to_date(vm, args.get(0), Value::UNDEFINED)?;
    Ok(Value::bool(date == other))
}

fn to_plain_date_time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = this_value::<PlainDate>(vm, args)?;
    let time = to_optional_time(vm, args.get(0))?;
    wrap(vm, date.to_plain_date_time(time))
}

fn to_plain_month_day(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = this_value::<PlainDate>(vm, args)?;
    wrap(vm, date.to_plain_month_day())
}

fn to_plain_year_month(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = this_value::<PlainDate>(vm, args)?;
    wrap(vm, date.to_plain_year_month())
}

/// Temporal.PlainDate.prototype.toZonedDateTime: a time zone, or an object with `timeZone` and `plainTime`.
/// <https://tc39.es/proposal-temporal/#sec-temporal.plaindate.prototype.tozoneddatetime>
fn to_zoned_date_time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = this_value::<PlainDate>(vm, args)?;
    let item = args.get(0);
    let (time_zone, time): (TimeZone, _) = match item.as_object() {
        None => (to_time_zone(vm, item)?, None),
        Some(object) => {
            let key = vm.key_from_str("timeZone");
            let time_zone = vm.get(object, key)?;
            if time_zone.is_undefined() {
                (to_time_zone(vm, item)?, None)
            } else {
                let time_zone = to_time_zone(vm, time_zone)?;
                let key = vm.key_from_str("plainTime");
                let time = vm.get(object, key)?;
                let time =
                    if time.is_undefined() { None } else { Some(to_time(vm, time, Value::UNDEFINED)?) };
                (time_zone, time)
            }
        }
    };
    wrap(vm, date.to_zoned_date_time(time_zone, time))
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = this_value::<PlainDate>(vm, args)?;
    let calendar = Options::from(vm, args.get(0))?.calendar_name(vm)?;
    text(vm, &date.to_ixdtf_string(calendar))
}

fn to_plain_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date = this_value::<PlainDate>(vm, args)?;
    text(vm, &date.to_ixdtf_string(DisplayCalendar::Auto))
}
