//! The setters of Date.prototype, local and UTC.
//! <https://tc39.es/ecma262/#sec-properties-of-the-date-prototype-object>
//!
//! All follow one pattern: coerce the arguments in order, then, unless the date was invalid, replace some fields and let
//! the remaining ones stand. Only the year setters revive an invalid date.

use super::this_time_value;
use crate::datetime::civil::{self, Fields, make_date, make_day, make_time, time_clip, time_within_day};
use crate::object::function::CallArgs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Whether a method works in the local zone.
#[derive(Clone, Copy, PartialEq)]
enum Zone {
    Local,
    Utc,
}

/// The fields as numbers, in the order of the Date constructor's arguments.
const YEAR: usize = 0;
const MONTH: usize = 1;
const DAY: usize = 2;
const HOUR: usize = 3;
const MINUTE: usize = 4;
const SECOND: usize = 5;
const MILLISECOND: usize = 6;

/// Sets up to `count` consecutive fields, from `first`, from the arguments.
fn set_fields(vm: &mut Vm, args: CallArgs, zone: Zone, first: usize, count: usize) -> JsResult<Value> {
    let time = this_time_value(vm, args)?;
    let given = args.len().clamp(1, count);
    let mut numbers = [0.0; 4];
    for (index, number) in numbers.iter_mut().enumerate().take(given) {
        *number = vm.to_number(args.get(index))?;
    }
    let time = match (time.is_nan(), first) {
        (true, YEAR) => 0.0,
        (true, _) => return Ok(Value::NAN),
        (false, _) if zone == Zone::Local => vm.host_local_time(time),
        (false, _) => time,
    };
    let mut fields = numbers_of(&Fields::of(time));
    fields[first..first + given].copy_from_slice(&numbers[..given]);
    let day =
        if first <= DAY { make_day(fields[YEAR], fields[MONTH], fields[DAY]) } else { civil::day(time) };
    let within = if first >= HOUR {
        make_time(fields[HOUR], fields[MINUTE], fields[SECOND], fields[MILLISECOND])
    } else {
        time_within_day(time)
    };
    store(vm, args, zone, make_date(day, within))
}

fn numbers_of(fields: &Fields) -> [f64; 7] {
    let Fields { year, month, day, hour, minute, second, millisecond, .. } = *fields;
    [year, month, day, hour, minute, second, millisecond].map(|field| field as f64)
}

fn store(vm: &mut Vm, args: CallArgs, zone: Zone, time: f64) -> JsResult<Value> {
    let time = time_clip(if zone == Zone::Local { vm.host_utc(time) } else { time });
    if let Some(object) = args.this.as_object() {
        object.set_slot(0, Value::number(time));
    }
    Ok(Value::number(time))
}

macro_rules! setters {
    ($($local:ident $utc:ident $first:ident $count:literal;)*) => {
        $(
            pub(super) fn $local(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
                set_fields(vm, args, Zone::Local, $first, $count)
            }
            pub(super) fn $utc(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
                set_fields(vm, args, Zone::Utc, $first, $count)
            }
        )*
    };
}

setters! {
    date utc_date DAY 1;
    full_year utc_full_year YEAR 3;
    hours utc_hours HOUR 4;
    milliseconds utc_milliseconds MILLISECOND 1;
    minutes utc_minutes MINUTE 3;
    month utc_month MONTH 2;
    seconds utc_seconds SECOND 2;
}

/// Date.prototype.setTime. <https://tc39.es/ecma262/#sec-date.prototype.settime>
pub(super) fn time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    this_time_value(vm, args)?;
    let time = vm.to_number(args.get(0))?;
    store(vm, args, Zone::Utc, time)
}
