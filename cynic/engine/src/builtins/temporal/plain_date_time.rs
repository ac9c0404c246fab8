//! Temporal.PlainDateTime. <https://tc39.es/proposal-temporal/#sec-temporal-plaindatetime-objects>

use temporal_rs::fields::DateTimeFields;
use temporal_rs::options::{DisplayCalendar, ToStringRoundingOptions};
use temporal_rs::partial::PartialDateTime;
use temporal_rs::{PlainDate, PlainDateTime, ZonedDateTime};

use super::arithmetic::{add_durations, differences};
use super::calendar_getters::{self, day_getters, identity_getters, numbers, time_getters, year_getters};
use super::duration::{order_value, to_duration};
use super::fields::{self, Wanted, to_calendar, to_calendar_identifier, to_time_zone};
use super::object::{
    check, check_text, construct, create, require_new, text, this_value, value_of, value_of_throws, wrap,
};
use super::options::Options;
use super::plain_date::date_from_arguments;
use super::plain_time::{time_from_arguments, to_optional_time};
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::object::function::NativeSpec;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, getter, method, prototype, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

pub(crate) static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("PlainDateTime", 3, new)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::TemporalPlainDateTimePrototype),
        method("compare", 2, compare),
        method("from", 1, from),
    ],
};

pub(crate) static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::TemporalPlainDateTime),
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
        getter("hour", hour),
        getter("inLeapYear", in_leap_year),
        getter("microsecond", microsecond),
        getter("millisecond", millisecond),
        getter("minute", minute),
        getter("month", month),
        getter("monthCode", month_code),
        getter("monthsInYear", months_in_year),
        getter("nanosecond", nanosecond),
        method("round", 1, round),
        getter("second", second),
        method("since", 1, since),
        method("subtract", 1, subtract),
        method("toJSON", 0, to_plain_string),
        method("toLocaleString", 0, to_plain_string),
        method("toPlainDate", 0, to_plain_date),
        method("toPlainTime", 0, to_plain_time),
        method("toString", 0, to_string),
        method("toZonedDateTime", 1, to_zoned_date_time),
        method("until", 1, until),
        method("valueOf", 0, value_of_throws),
        getter("weekOfYear", week_of_year),
        method("with", 1, with),
        method("withCalendar", 1, with_calendar),
        method("withPlainTime", 0, with_plain_time),
        getter("year", year),
        getter("yearOfWeek", year_of_week),
        to_string_tag("Temporal.PlainDateTime"),
    ],
};

identity_getters! { PlainDateTime }
year_getters! { PlainDateTime }
day_getters! { PlainDateTime }
time_getters! { PlainDateTime }
add_durations! { PlainDateTime }
differences! { PlainDateTime, to_date_time }

fn new(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    require_new(vm, args, "Temporal.PlainDateTime")?;
    let (year, month, day) = date_from_arguments(vm, args)?;
    let time = time_from_arguments(vm, args, 3)?;
    let calendar = to_calendar_identifier(vm, args.get(9))?;
    let result = PlainDateTime::try_new(
        year,
        month,
        day,
        time.hour(),
        time.minute(),
        time.second(),
        time.millisecond(),
        time.microsecond(),
        time.nanosecond(),
        calendar,
    );
    let date_time = check(vm, result)?;
    construct(vm, args, date_time)
}

/// ToTemporalDateTime. <https://tc39.es/proposal-temporal/#sec-temporal-totemporaldatetime>
pub(super) fn to_date_time(vm: &mut Vm, value: Value, options: Value) -> JsResult<PlainDateTime> {
    if let Some(date_time) = value_of::<PlainDateTime>(value) {
        Options::from(vm, options)?.overflow(vm)?;
        return Ok(date_time);
    }
    if let Some(zoned) = value_of::<ZonedDateTime>(value) {
        Options::from(vm, options)?.overflow(vm)?;
        return Ok(zoned.to_plain_date_time());
    }
    if let Some(date) = value_of::<PlainDate>(value) {
        Options::from(vm, options)?.overflow(vm)?;
        return check(vm, date.to_plain_date_time(None));
    }
    if let Some(bag) = value.as_object() {
        let calendar = fields::calendar_of_bag(vm, bag)?;
        let found = fields::prepare(vm, &calendar, bag, Wanted::DATE_TIME)?;
        let overflow = Options::from(vm, options)?.overflow(vm)?;
        found.check_overflow(vm, overflow)?;
        let fields = DateTimeFields { calendar_fields: found.date, time: found.time };
        return check(vm, PlainDateTime::from_partial(PartialDateTime { fields, calendar }, Some(overflow)));
    }
    let Some(text) = value.as_string() else {
        return Err(vm.throw_type_error("a date and time must be an object or a string"));
    };
    let date_time = check_text(vm, text, |text| PlainDateTime::from_utf8(text.as_bytes()))?;
    Options::from(vm, options)?.overflow(vm)?;
    Ok(date_time)
}

fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = to_date_time(vm, args.get(0), args.get(1))?;
    create(vm, date_time)
}

fn compare(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let one = to_date_time(vm, args.get(0), Value::UNDEFINED)?;
    let two = to_date_time(vm, args.get(1), Value::UNDEFINED)?;
    Ok(order_value(one.compare_iso(&two)))
}

fn with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    let bag = fields::partial_bag(vm, args.get(0))?;
    let found = fields::prepare_partial(vm, date_time.calendar(), bag, Wanted::DATE_TIME)?;
    let overflow = Options::from(vm, args.get(1))?.overflow(vm)?;
    found.check_overflow(vm, overflow)?;
    let fields = DateTimeFields { calendar_fields: found.date, time: found.time };
    wrap(vm, date_time.with(fields, Some(overflow)))
}

fn with_plain_time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    let time = to_optional_time(vm, args.get(0))?;
    wrap(vm, date_time.with_time(time))
}

fn with_calendar(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    let calendar = to_calendar(vm, args.get(0))?;
    create(vm, date_time.with_calendar(calendar))
}

fn round(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    let options = Options::from_string_or_object(vm, args.get(0), "smallestUnit")?.rounding_options(vm)?;
    wrap(vm, date_time.round(options))
}

fn equals(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    let other = to_date_time(vm, args.get(0), Value::UNDEFINED)?;
    Ok(Value::bool(date_time == other))
}

fn to_plain_date(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    create(vm, date_time.to_plain_date())
}

fn to_plain_time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    create(vm, date_time.to_plain_time())
}

fn to_zoned_date_time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    let time_zone = to_time_zone(vm, args.get(0))?;
    let disambiguation = Options::from(vm, args.get(1))?.disambiguation(vm)?;
    wrap(vm, date_time.to_zoned_date_time(time_zone, disambiguation))
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    let options = Options::from(vm, args.get(0))?;
    let calendar = options.calendar_name(vm)?;
    let rounding = options.to_string_options(vm)?;
    let result = check(vm, date_time.to_ixdtf_string(rounding, calendar))?;
    text(vm, &result)
}

fn to_plain_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let date_time = this_value::<PlainDateTime>(vm, args)?;
    let result = date_time.to_ixdtf_string(ToStringRoundingOptions::default(), DisplayCalendar::Auto);
    let result = check(vm, result)?;
    text(vm, &result)
}
