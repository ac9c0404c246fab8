//! The getters that dates, date-times, zoned date-times, year-months and month-days share.
//!
//! One macro per group of fields makes table rows for a type whose Rust value has the library's accessor names.

use temporal_rs::TinyAsciiStr;

use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// A number, or undefined.
pub(super) fn optional(number: Option<impl Into<f64>>) -> JsResult<Value> {
    Ok(number.map_or(Value::UNDEFINED, |number| Value::number(number.into())))
}

/// An era, or undefined.
pub(super) fn era(vm: &mut Vm, era: Option<TinyAsciiStr<16>>) -> JsResult<Value> {
    Ok(match era {
        Some(era) => Value::string(vm.new_string(&era)),
        None => Value::UNDEFINED,
    })
}

/// Defines getters `fn name(vm, args)` that read a number from the receiver.
macro_rules! numbers {
    ($type:ty: $($name:ident)*) => {
        $(
            fn $name(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
                let value = this_value::<$type>(vm, args)?;
                Ok(Value::number(f64::from(value.$name())))
            }
        )*
    };
}

/// Defines the getters of a year: era, eraYear, year, inLeapYear, monthsInYear, daysInYear, daysInMonth, month.
macro_rules! year_getters {
    ($type:ty) => {
        numbers! { $type: year month days_in_month days_in_year months_in_year }

        fn era(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            let value = this_value::<$type>(vm, args)?;
            calendar_getters::era(vm, value.era())
        }
        fn era_year(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            calendar_getters::optional(this_value::<$type>(vm, args)?.era_year())
        }
        fn in_leap_year(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            Ok(Value::bool(this_value::<$type>(vm, args)?.in_leap_year()))
        }
    };
}

/// Defines the getters of a day: day, dayOfWeek, dayOfYear, weekOfYear, yearOfWeek, daysInWeek.
macro_rules! day_getters {
    ($type:ty) => {
        numbers! { $type: day day_of_week day_of_year days_in_week }

        fn week_of_year(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            calendar_getters::optional(this_value::<$type>(vm, args)?.week_of_year())
        }
        fn year_of_week(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            calendar_getters::optional(this_value::<$type>(vm, args)?.year_of_week())
        }
    };
}

/// Defines calendarId and monthCode.
macro_rules! identity_getters {
    ($type:ty) => {
        fn calendar_id(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            let value = this_value::<$type>(vm, args)?;
            text(vm, value.calendar().identifier())
        }
        fn month_code(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            let value = this_value::<$type>(vm, args)?;
            text(vm, value.month_code().as_str())
        }
    };
}

/// Defines the getters of a time of day.
macro_rules! time_getters {
    ($type:ty) => {
        numbers! { $type: hour minute second millisecond microsecond nanosecond }
    };
}

pub(super) use {day_getters, identity_getters, numbers, time_getters, year_getters};
