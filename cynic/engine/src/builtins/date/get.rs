//! The getters of Date.prototype, local and UTC.
//! <https://tc39.es/ecma262/#sec-properties-of-the-date-prototype-object>

use super::this_time_value;
use crate::datetime::civil::{Fields, MS_PER_MINUTE};
use crate::object::function::CallArgs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

fn field(vm: &mut Vm, args: CallArgs, local: bool, select: fn(&Fields) -> i64) -> JsResult<Value> {
    let time = this_time_value(vm, args)?;
    if time.is_nan() {
        return Ok(Value::NAN);
    }
    let time = if local { vm.host_local_time(time) } else { time };
    Ok(Value::number(select(&Fields::of(time)) as f64))
}

macro_rules! getters {
    ($($local:ident $utc:ident $select:expr;)*) => {
        $(
            pub(super) fn $local(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
                field(vm, args, true, $select)
            }
            pub(super) fn $utc(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
                field(vm, args, false, $select)
            }
        )*
    };
}

getters! {
    date utc_date |fields| fields.day;
    day utc_day |fields| fields.weekday;
    full_year utc_full_year |fields| fields.year;
    hours utc_hours |fields| fields.hour;
    milliseconds utc_milliseconds |fields| fields.millisecond;
    minutes utc_minutes |fields| fields.minute;
    month utc_month |fields| fields.month;
    seconds utc_seconds |fields| fields.second;
}

/// Date.prototype.getTime and valueOf. <https://tc39.es/ecma262/#sec-date.prototype.gettime>
pub(super) fn time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::number(this_time_value(vm, args)?))
}

/// Date.prototype.getTimezoneOffset. <https://tc39.es/ecma262/#sec-date.prototype.gettimezoneoffset>
pub(super) fn timezone_offset(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_time_value(vm, args)?;
    if time.is_nan() {
        return Ok(Value::NAN);
    }
    Ok(Value::number((time - vm.host_local_time(time)) / MS_PER_MINUTE))
}
