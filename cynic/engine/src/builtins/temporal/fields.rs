//! Property bags: PrepareCalendarFields and the conversions of single fields; calendars and time zones from values.
//! <https://tc39.es/proposal-temporal/#sec-temporal-preparecalendarfields>
//!
//! Fields are read in alphabetical order and converted as they are read, which guests can observe. The library's fields are
//! unsigned: a negative time field is noted here and settled when the overflow option is known.

use std::str::FromStr;

use temporal_rs::fields::{CalendarFields, YearMonthCalendarFields, ZonedDateTimeFields};
use temporal_rs::options::Overflow;
use temporal_rs::partial::PartialTime;
use temporal_rs::{
    Calendar, MonthCode, PlainDate, PlainDateTime, PlainMonthDay, PlainTime, PlainYearMonth, TimeZone,
    TinyAsciiStr, UtcOffset, ZonedDateTime,
};

use super::object::{check, check_text, value_of};
use crate::object::Object;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Which fields a caller is interested in.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) year: bool,
    pub(super) month: bool,
    pub(super) day: bool,
    pub(super) time: bool,
    pub(super) offset: bool,
    pub(super) time_zone: bool,
}

impl Wanted {
    const NONE: Wanted =
        Wanted { year: false, month: false, day: false, time: false, offset: false, time_zone: false };
    /// Year, month and day.
    pub(super) const DATE: Wanted = Wanted { year: true, month: true, day: true, ..Wanted::NONE };
    /// Year and month.
    pub(super) const YEAR_MONTH: Wanted = Wanted { year: true, month: true, ..Wanted::NONE };
    /// The year alone.
    pub(super) const YEAR: Wanted = Wanted { year: true, ..Wanted::NONE };
    /// The day alone.
    pub(super) const DAY: Wanted = Wanted { day: true, ..Wanted::NONE };
    /// Date and time.
    pub(super) const DATE_TIME: Wanted = Wanted { time: true, ..Wanted::DATE };
    /// Date, time and offset.
    pub(super) const OFFSET_DATE_TIME: Wanted = Wanted { offset: true, ..Wanted::DATE_TIME };
    /// Date, time, offset and time zone.
    pub(super) const ZONED: Wanted = Wanted { time_zone: true, ..Wanted::OFFSET_DATE_TIME };
}

/// The fields that were present.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) date: CalendarFields,
    pub(super) time: PartialTime,
    pub(super) offset: Option<UtcOffset>,
    pub(super) time_zone: Option<TimeZone>,
    any: bool,
    negative_time: bool,
}

impl Fields {
    /// Whether any of the wanted fields was there.
    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Settles what the unsigned fields cannot say: a negative time is out of range if `overflow` rejects.
    pub(super) fn check_overflow(&self, vm: &mut Vm, overflow: Overflow) -> JsResult<()> {
        if self.negative_time && overflow == Overflow::Reject {
            return Err(vm.throw_range_error("time fields must not be negative"));
        }
        Ok(())
    }

    /// The fields of a year and month.
    pub(super) fn year_month(&self) -> YearMonthCalendarFields {
        YearMonthCalendarFields {
            year: self.date.year,
            month: self.date.month,
            month_code: self.date.month_code,
            era: self.date.era,
            era_year: self.date.era_year,
        }
    }

    /// The fields of a zoned date and time.
    pub(super) fn zoned(&self) -> ZonedDateTimeFields {
        ZonedDateTimeFields { calendar_fields: self.date.clone(), time: self.time, offset: self.offset }
    }
}

/// PrepareCalendarFields, without its check for required fields.
pub(super) fn prepare(vm: &mut Vm, calendar: &Calendar, bag: Object, wanted: Wanted) -> JsResult<Fields> {
    let mut fields = Fields::default();
    let eras = wanted.year && has_eras(calendar);
    if wanted.day {
        fields.date.day = read(vm, &mut fields.any, bag, "day", to_positive_u8)?;
    }
    if eras {
        fields.date.era = read(vm, &mut fields.any, bag, "era", to_era)?;
        fields.date.era_year = read(vm, &mut fields.any, bag, "eraYear", to_i32)?;
    }
    if wanted.time {
        fields.time.hour = read_time(vm, &mut fields, bag, "hour")?.map(saturate_u8);
        fields.time.microsecond = read_time(vm, &mut fields, bag, "microsecond")?;
        fields.time.millisecond = read_time(vm, &mut fields, bag, "millisecond")?;
        fields.time.minute = read_time(vm, &mut fields, bag, "minute")?.map(saturate_u8);
    }
    if wanted.month {
        fields.date.month = read(vm, &mut fields.any, bag, "month", to_positive_u8)?;
        fields.date.month_code = read(vm, &mut fields.any, bag, "monthCode", to_month_code)?;
    }
    if wanted.time {
        fields.time.nanosecond = read_time(vm, &mut fields, bag, "nanosecond")?;
    }
    if wanted.offset {
        fields.offset = read(vm, &mut fields.any, bag, "offset", to_offset)?;
    }
    if wanted.time {
        fields.time.second = read_time(vm, &mut fields, bag, "second")?.map(saturate_u8);
    }
    if wanted.time_zone {
        fields.time_zone = read(vm, &mut fields.any, bag, "timeZone", to_time_zone)?;
    }
    if wanted.year {
        fields.date.year = read(vm, &mut fields.any, bag, "year", to_i32)?;
    }
    Ok(fields)
}

fn has_eras(calendar: &Calendar) -> bool {
    !matches!(calendar.identifier(), "iso8601" | "chinese" | "dangi")
}

fn read<T>(
    vm: &mut Vm,
    any: &mut bool,
    bag: Object,
    name: &str,
    convert: fn(&mut Vm, Value) -> JsResult<T>,
) -> JsResult<Option<T>> {
    let key = vm.key_from_str(name);
    let value = vm.get(bag, key)?;
    if value.is_undefined() {
        return Ok(None);
    }
    *any = true;
    convert(vm, value).map(Some)
}

fn read_time(vm: &mut Vm, fields: &mut Fields, bag: Object, name: &str) -> JsResult<Option<u16>> {
    let number = read(vm, &mut fields.any, bag, name, to_integer_with_truncation)?;
    fields.negative_time |= number.is_some_and(|number| number < 0.0);
    Ok(number.map(|number| number as u16))
}

fn saturate_u8(number: u16) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// The time fields of a bag, with the same treatment of negative ones. ToTemporalTimeRecord.
pub(super) fn prepare_time(vm: &mut Vm, bag: Object) -> JsResult<Fields> {
    let mut fields = Fields::default();
    fields.time.hour = read_time(vm, &mut fields, bag, "hour")?.map(saturate_u8);
    fields.time.microsecond = read_time(vm, &mut fields, bag, "microsecond")?;
    fields.time.millisecond = read_time(vm, &mut fields, bag, "millisecond")?;
    fields.time.minute = read_time(vm, &mut fields, bag, "minute")?.map(saturate_u8);
    fields.time.nanosecond = read_time(vm, &mut fields, bag, "nanosecond")?;
    fields.time.second = read_time(vm, &mut fields, bag, "second")?.map(saturate_u8);
    if !fields.any {
        return Err(vm.throw_type_error("the object has no time field"));
    }
    Ok(fields)
}

/// ToIntegerWithTruncation.
pub(super) fn to_integer_with_truncation(vm: &mut Vm, value: Value) -> JsResult<f64> {
    let number = vm.to_number(value)?;
    if !number.is_finite() {
        return Err(vm.throw_range_error("the number must be finite"));
    }
    Ok(number.trunc() + 0.0)
}

/// ToIntegerIfIntegral.
pub(super) fn to_integer_if_integral(vm: &mut Vm, value: Value) -> JsResult<f64> {
    let number = vm.to_number(value)?;
    if !number.is_finite() || number.trunc() != number {
        return Err(vm.throw_range_error("the number must be a whole number"));
    }
    Ok(number + 0.0)
}

/// ToIntegerWithTruncation, saturated: what does not fit is out of every calendar's range.
fn to_i32(vm: &mut Vm, value: Value) -> JsResult<i32> {
    Ok(to_integer_with_truncation(vm, value)? as i32)
}

/// ToPositiveIntegerWithTruncation, saturated.
fn to_positive_u8(vm: &mut Vm, value: Value) -> JsResult<u8> {
    let number = to_integer_with_truncation(vm, value)?;
    if number <= 0.0 {
        return Err(vm.throw_range_error("the number must be positive"));
    }
    Ok(number as u8)
}

/// A value that must be a string after ToPrimitive.
fn to_required_string(vm: &mut Vm, value: Value, what: &str) -> JsResult<String> {
    let primitive = vm.to_primitive(value, crate::ops::conversion::Hint::String)?;
    match primitive.as_string() {
        Some(string) => string.text(vm),
        None => Err(vm.throw_type_error(&format!("{what} must be a string"))),
    }
}

/// ToMonthCode.
fn to_month_code(vm: &mut Vm, value: Value) -> JsResult<MonthCode> {
    let text = to_required_string(vm, value, "monthCode")?;
    check(vm, MonthCode::try_from_utf8(text.as_bytes()))
}

/// ToOffsetString.
fn to_offset(vm: &mut Vm, value: Value) -> JsResult<UtcOffset> {
    let text = to_required_string(vm, value, "offset")?;
    check(vm, UtcOffset::from_utf8(text.as_bytes()))
}

fn to_era(vm: &mut Vm, value: Value) -> JsResult<TinyAsciiStr<19>> {
    let text = vm.to_rust_string(value)?;
    TinyAsciiStr::try_from_str(&text).map_err(|_| vm.throw_range_error(&format!("{text:?} is not an era")))
}

/// ToTemporalTimeZoneIdentifier.
pub(super) fn to_time_zone(vm: &mut Vm, value: Value) -> JsResult<TimeZone> {
    if let Some(zoned) = value_of::<ZonedDateTime>(value) {
        return Ok(*zoned.time_zone());
    }
    match value.as_string() {
        Some(text) => check_text(vm, text, TimeZone::try_from_str),
        None => Err(vm.throw_type_error("a time zone must be a string")),
    }
}

/// The calendar of a Temporal object that has one.
fn calendar_slot(value: Value) -> Option<Calendar> {
    let date = value_of::<PlainDate>(value).map(|date| date.calendar().clone());
    date.or_else(|| value_of::<PlainDateTime>(value).map(|date| date.calendar().clone()))
        .or_else(|| value_of::<PlainMonthDay>(value).map(|date| date.calendar().clone()))
        .or_else(|| value_of::<PlainYearMonth>(value).map(|date| date.calendar().clone()))
        .or_else(|| value_of::<ZonedDateTime>(value).map(|date| date.calendar().clone()))
}

/// ToTemporalCalendarIdentifier.
pub(super) fn to_calendar(vm: &mut Vm, value: Value) -> JsResult<Calendar> {
    if let Some(calendar) = calendar_slot(value) {
        return Ok(calendar);
    }
    match value.as_string() {
        Some(text) => check_text(vm, text, Calendar::from_str),
        None => Err(vm.throw_type_error("a calendar must be a string")),
    }
}

/// The `calendar` argument of a constructor: an identifier only.
pub(super) fn to_calendar_identifier(vm: &mut Vm, value: Value) -> JsResult<Calendar> {
    if value.is_undefined() {
        return Ok(Calendar::default());
    }
    match value.as_string() {
        Some(text) => check_text(vm, text, |text| Calendar::try_from_utf8(text.as_bytes())),
        None => Err(vm.throw_type_error("a calendar must be a string")),
    }
}

/// GetTemporalCalendarIdentifierWithISODefault.
pub(super) fn calendar_of_bag(vm: &mut Vm, bag: Object) -> JsResult<Calendar> {
    if let Some(calendar) = calendar_slot(Value::object(bag)) {
        return Ok(calendar);
    }
    let key = vm.key_from_str("calendar");
    let value = vm.get(bag, key)?;
    if value.is_undefined() { Ok(Calendar::default()) } else { to_calendar(vm, value) }
}

/// IsPartialTemporalObject: the bag of a `with` method, or a TypeError.
pub(super) fn partial_bag(vm: &mut Vm, value: Value) -> JsResult<Object> {
    let Some(bag) = value.as_object() else {
        return Err(vm.throw_type_error("the fields must be an object"));
    };
    let has_slots = calendar_slot(value).is_some() || value_of::<PlainTime>(value).is_some();
    let has_slots = has_slots || has_property(vm, bag, "calendar")? || has_property(vm, bag, "timeZone")?;
    if has_slots {
        return Err(vm.throw_type_error("the fields must not have a calendar or a time zone"));
    }
    Ok(bag)
}

fn has_property(vm: &mut Vm, bag: Object, name: &str) -> JsResult<bool> {
    let key = vm.key_from_str(name);
    Ok(!vm.get(bag, key)?.is_undefined())
}

/// The fields of a `with` method: at least one must be there.
pub(super) fn prepare_partial(
    vm: &mut Vm,
    calendar: &Calendar,
    bag: Object,
    wanted: Wanted,
) -> JsResult<Fields> {
    let fields = prepare(vm, calendar, bag, wanted)?;
    if !fields.any() {
        return Err(vm.throw_type_error("the object has none of the fields"));
    }
    Ok(fields)
}
