//! Temporal.ZonedDateTime. <https://tc39.es/proposal-temporal/#sec-temporal-zoneddatetime-objects>

use temporal_rs::options::{
    DisplayCalendar, DisplayOffset, DisplayTimeZone, OffsetDisambiguation, ToStringRoundingOptions,
};
use temporal_rs::parsed_intermediates::ParsedZonedDateTime;
use temporal_rs::partial::PartialZonedDateTime;
use temporal_rs::{TimeZone, ZonedDateTime};

use super::arithmetic::{add_durations, differences};
use super::calendar_getters::{self, day_getters, identity_getters, numbers, time_getters, year_getters};
use super::duration::{order_value, to_duration};
use super::fields::{self, Wanted, to_calendar, to_calendar_identifier, to_time_zone};
use super::instant::{nanoseconds_from, nanoseconds_value};
use super::object::{
    check, check_text, construct, create, require_new, text, this_value, value_of, value_of_throws, wrap,
};
use super::options::Options;
use super::plain_time::to_optional_time;
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::object::function::NativeSpec;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, getter, method, prototype, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

pub(crate) static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("ZonedDateTime", 2, new)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::TemporalZonedDateTimePrototype),
        method("compare", 2, compare),
        method("from", 1, from),
    ],
};

pub(crate) static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::TemporalZonedDateTime),
        method("add", 1, add),
        getter("calendarId", calendar_id),
        getter("day", day),
        getter("dayOfWeek", day_of_week),
        getter("dayOfYear", day_of_year),
        getter("daysInMonth", days_in_month),
        getter("daysInWeek", days_in_week),
        getter("daysInYear", days_in_year),
        getter("epochMilliseconds", epoch_milliseconds),
        getter("epochNanoseconds", epoch_nanoseconds),
        method("equals", 1, equals),
        getter("era", era),
        getter("eraYear", era_year),
        method("getTimeZoneTransition", 1, get_time_zone_transition),
        getter("hour", hour),
        getter("hoursInDay", hours_in_day),
        getter("inLeapYear", in_leap_year),
        getter("microsecond", microsecond),
        getter("millisecond", millisecond),
        getter("minute", minute),
        getter("month", month),
        getter("monthCode", month_code),
        getter("monthsInYear", months_in_year),
        getter("nanosecond", nanosecond),
        getter("offset", offset),
        getter("offsetNanoseconds", offset_nanoseconds),
        method("round", 1, round),
        getter("second", second),
        method("since", 1, since),
        method("startOfDay", 0, start_of_day),
        method("subtract", 1, subtract),
        getter("timeZoneId", time_zone_id),
        method("toInstant", 0, to_instant),
        method("toJSON", 0, to_plain_string),
        method("toLocaleString", 0, to_plain_string),
        method("toPlainDate", 0, to_plain_date),
        method("toPlainDateTime", 0, to_plain_date_time),
        method("toPlainTime", 0, to_plain_time),
        method("toString", 0, to_string),
        method("until", 1, until),
        method("valueOf", 0, value_of_throws),
        getter("weekOfYear", week_of_year),
        method("with", 1, with),
        method("withCalendar", 1, with_calendar),
        method("withPlainTime", 0, with_plain_time),
        method("withTimeZone", 1, with_time_zone),
        getter("year", year),
        getter("yearOfWeek", year_of_week),
        to_string_tag("Temporal.ZonedDateTime"),
    ],
};

identity_getters! { ZonedDateTime }
year_getters! { ZonedDateTime }
day_getters! { ZonedDateTime }
time_getters! { ZonedDateTime }
add_durations! { ZonedDateTime }
differences! { ZonedDateTime, to_zoned }

fn new(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    require_new(vm, args, "Temporal.ZonedDateTime")?;
    let nanoseconds = nanoseconds_from(vm, args.get(0))?;
    let Some(identifier) = args.get(1).as_string() else {
        return Err(vm.throw_type_error("a time zone must be a string"));
    };
    let time_zone = check_text(vm, identifier, TimeZone::try_from_identifier_str)?;
    let calendar = to_calendar_identifier(vm, args.get(2))?;
    let zoned = check(vm, ZonedDateTime::try_new(nanoseconds, time_zone, calendar))?;
    construct(vm, args, zoned)
}

/// ToTemporalZonedDateTime. <https://tc39.es/proposal-temporal/#sec-temporal-totemporalzoneddatetime>
pub(super) fn to_zoned(vm: &mut Vm, value: Value, options: Value) -> JsResult<ZonedDateTime> {
    if let Some(zoned) = value_of::<ZonedDateTime>(value) {
        let options = Options::from(vm, options)?;
        options.disambiguation(vm)?;
        options.offset(vm, OffsetDisambiguation::Reject)?;
        options.overflow(vm)?;
        return Ok(zoned);
    }
    if let Some(bag) = value.as_object() {
        let calendar = fields::calendar_of_bag(vm, bag)?;
        let found = fields::prepare(vm, &calendar, bag, Wanted::ZONED)?;
        if found.time_zone.is_none() {
            return Err(vm.throw_type_error("the field timeZone is required"));
        }
        let options = Options::from(vm, options)?;
        let disambiguation = options.disambiguation(vm)?;
        let offset = options.offset(vm, OffsetDisambiguation::Reject)?;
        let overflow = options.overflow(vm)?;
        found.check_overflow(vm, overflow)?;
        let partial = PartialZonedDateTime { fields: found.zoned(), timezone: found.time_zone, calendar };
        let result = ZonedDateTime::from_partial(partial, Some(overflow), Some(disambiguation), Some(offset));
        return check(vm, result);
    }
    let Some(text) = value.as_string() else {
        return Err(vm.throw_type_error("a zoned date and time must be an object or a string"));
    };
    let parsed = check_text(vm, text, |text| ParsedZonedDateTime::from_utf8(text.as_bytes()))?;
    let options = Options::from(vm, options)?;
    let disambiguation = options.disambiguation(vm)?;
    let offset = options.offset(vm, OffsetDisambiguation::Reject)?;
    options.overflow(vm)?;
    check(vm, ZonedDateTime::from_parsed(parsed, disambiguation, offset))
}

fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = to_zoned(vm, args.get(0), args.get(1))?;
    create(vm, zoned)
}

fn compare(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let one = to_zoned(vm, args.get(0), Value::UNDEFINED)?;
    let two = to_zoned(vm, args.get(1), Value::UNDEFINED)?;
    Ok(order_value(one.compare_instant(&two)))
}

fn time_zone_id(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let identifier = check(vm, zoned.time_zone().identifier())?;
    text(vm, &identifier)
}

fn epoch_milliseconds(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    Ok(Value::number(zoned.epoch_milliseconds() as f64))
}

fn epoch_nanoseconds(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    Ok(nanoseconds_value(vm, zoned.epoch_nanoseconds().0))
}

fn hours_in_day(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    Ok(Value::number(check(vm, zoned.hours_in_day())?))
}

fn offset(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    text(vm, &zoned.offset())
}

fn offset_nanoseconds(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    Ok(Value::number(zoned.offset_nanoseconds() as f64))
}

fn with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let bag = fields::partial_bag(vm, args.get(0))?;
    let found = fields::prepare_partial(vm, zoned.calendar(), bag, Wanted::OFFSET_DATE_TIME)?;
    let options = Options::from(vm, args.get(1))?;
    let disambiguation = options.disambiguation(vm)?;
    let offset = options.offset(vm, OffsetDisambiguation::Prefer)?;
    let overflow = options.overflow(vm)?;
    found.check_overflow(vm, overflow)?;
    wrap(vm, zoned.with(found.zoned(), Some(disambiguation), Some(offset), Some(overflow)))
}

fn with_plain_time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let time = to_optional_time(vm, args.get(0))?;
    wrap(vm, zoned.with_plain_time(time))
}

fn with_time_zone(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let time_zone = to_time_zone(vm, args.get(0))?;
    wrap(vm, zoned.with_timezone(time_zone))
}

fn with_calendar(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let calendar = to_calendar(vm, args.get(0))?;
    create(vm, zoned.with_calendar(calendar))
}

fn round(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let options = Options::from_string_or_object(vm, args.get(0), "smallestUnit")?.rounding_options(vm)?;
    wrap(vm, zoned.round(options))
}

fn equals(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let other = to_zoned(vm, args.get(0), Value::UNDEFINED)?;
    Ok(Value::bool(check(vm, zoned.equals(&other))?))
}

fn start_of_day(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    wrap(vm, zoned.start_of_day())
}

fn get_time_zone_transition(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let options = Options::from_string_or_object(vm, args.get(0), "direction")?;
    let direction = options.direction(vm)?;
    match check(vm, zoned.get_time_zone_transition(direction))? {
        Some(transition) => create(vm, transition),
        None => Ok(Value::NULL),
    }
}

fn to_instant(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    create(vm, zoned.to_instant())
}

fn to_plain_date(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    create(vm, zoned.to_plain_date())
}

fn to_plain_time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    create(vm, zoned.to_plain_time())
}

fn to_plain_date_time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    create(vm, zoned.to_plain_date_time())
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let options = Options::from(vm, args.get(0))?;
    let calendar = options.calendar_name(vm)?;
    let precision = options.precision(vm)?;
    let offset = options.display_offset(vm)?;
    let rounding_mode = options.rounding_mode(vm)?;
    let smallest_unit = options.unit(vm, "smallestUnit")?;
    let time_zone = options.time_zone_name(vm)?;
    let rounding = ToStringRoundingOptions { precision, smallest_unit, rounding_mode };
    let result = check(vm, zoned.to_ixdtf_string(offset, time_zone, calendar, rounding))?;
    text(vm, &result)
}

fn to_plain_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = this_value::<ZonedDateTime>(vm, args)?;
    let rounding = ToStringRoundingOptions::default();
    let (offset, time_zone, calendar) = (DisplayOffset::Auto, DisplayTimeZone::Auto, DisplayCalendar::Auto);
    let result = check(vm, zoned.to_ixdtf_string(offset, time_zone, calendar, rounding))?;
    text(vm, &result)
}
