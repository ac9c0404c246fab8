//! The methods of Date.prototype that make text, and `[Symbol.toPrimitive]`.
//! <https://tc39.es/ecma262/#sec-properties-of-the-date-prototype-object>
//!
//! The locale methods behave as ECMA-262 says without ECMA-402: as their plain counterparts.

use super::this_time_value;
use crate::atoms;
use crate::datetime::format;
use crate::object::function::CallArgs;
use crate::ops::conversion::Hint;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

const INVALID: &str = "Invalid Date";

fn text_of(vm: &mut Vm, args: CallArgs, render: fn(&mut Vm, f64) -> String) -> JsResult<Value> {
    let time = this_time_value(vm, args)?;
    let text = if time.is_nan() { INVALID.to_owned() } else { render(vm, time) };
    Ok(Value::string(vm.new_string(&text)))
}

fn time_part(vm: &mut Vm, time: f64) -> String {
    let local = vm.host_local_time(time);
    let name = vm.host_time_zone_name(time);
    format::time_string(local, local - time, &name)
}

/// ToDateString. <https://tc39.es/ecma262/#sec-todatestring>
pub(super) fn to_date_string(vm: &mut Vm, time: f64) -> String {
    if time.is_nan() {
        return INVALID.to_owned();
    }
    let date = format::date_string(vm.host_local_time(time));
    format!("{date} {}", time_part(vm, time))
}

/// Date.prototype.toString and toLocaleString. <https://tc39.es/ecma262/#sec-date.prototype.tostring>
pub(super) fn string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    text_of(vm, args, to_date_string)
}

/// Date.prototype.toDateString and toLocaleDateString. <https://tc39.es/ecma262/#sec-date.prototype.todatestring>
pub(super) fn date_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    text_of(vm, args, |vm, time| format::date_string(vm.host_local_time(time)))
}

/// Date.prototype.toTimeString and toLocaleTimeString. <https://tc39.es/ecma262/#sec-date.prototype.totimestring>
pub(super) fn time_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    text_of(vm, args, time_part)
}

/// Date.prototype.toUTCString. <https://tc39.es/ecma262/#sec-date.prototype.toutcstring>
pub(super) fn utc_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    text_of(vm, args, |_, time| format::utc_string(time))
}

/// Date.prototype.toISOString. <https://tc39.es/ecma262/#sec-date.prototype.toisostring>
pub(super) fn iso_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_time_value(vm, args)?;
    if time.is_nan() {
        return Err(vm.throw_range_error("Invalid time value"));
    }
    Ok(Value::string(vm.new_string(&format::iso_string(time))))
}

/// Date.prototype.toJSON. <https://tc39.es/ecma262/#sec-date.prototype.tojson>
pub(super) fn to_json(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let object = vm.to_object(args.this)?;
    let primitive = vm.to_primitive(Value::object(object), Hint::Number)?;
    if primitive.as_number().is_some_and(|number| !number.is_finite()) {
        return Ok(Value::NULL);
    }
    let method = vm.get(object, atoms::TO_ISO_STRING)?;
    vm.call(method, Value::object(object), &[])
}

/// Date.prototype.toTemporalInstant. <https://tc39.es/proposal-temporal/#sec-date.prototype.totemporalinstant>
pub(super) fn to_temporal_instant(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let time = this_time_value(vm, args)?;
    if time.is_nan() {
        return Err(vm.throw_range_error("Invalid time value"));
    }
    crate::builtins::temporal::instant::from_time_value(vm, time)
}

/// Date.prototype [ %Symbol.toPrimitive% ]. <https://tc39.es/ecma262/#sec-date.prototype-%symbol.toprimitive%>
pub(super) fn to_primitive(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(object) = args.this.as_object() else {
        return Err(vm.throw_type_error("Date.prototype[Symbol.toPrimitive] needs an object as this"));
    };
    let hint = args.get(0).as_string().map(|hint| hint.text(vm)).transpose()?;
    let preferred = match hint.as_deref() {
        Some("string" | "default") => Hint::String,
        Some("number") => Hint::Number,
        _ => return Err(vm.throw_type_error("Invalid hint")),
    };
    vm.ordinary_to_primitive(object, preferred)
}
