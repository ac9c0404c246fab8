//! Temporal.Now. <https://tc39.es/proposal-temporal/#sec-temporal-now-object>
//!
//! The clock and the local time zone are the isolate's host's.

use temporal_rs::{Instant, TimeZone, ZonedDateTime};

use super::fields::to_time_zone;
use super::object::{check, create, text, wrap};
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

pub(crate) static NOW: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        method("instant", 0, instant),
        method("plainDateISO", 0, plain_date_iso),
        method("plainDateTimeISO", 0, plain_date_time_iso),
        method("plainTimeISO", 0, plain_time_iso),
        method("timeZoneId", 0, time_zone_id),
        method("zonedDateTimeISO", 0, zoned_date_time_iso),
        to_string_tag("Temporal.Now"),
    ],
};

fn system_instant(vm: &mut Vm) -> JsResult<Instant> {
    let nanoseconds = vm.host_now_nanoseconds()?;
    check(vm, Instant::try_new(nanoseconds))
}

fn system_time_zone(vm: &mut Vm) -> JsResult<TimeZone> {
    let identifier = vm.host.capabilities.time_zone.clone();
    check(vm, TimeZone::try_from_identifier_str(&identifier))
}

/// SystemDateTime: the current time in the zone that is asked for.
fn system_zoned(vm: &mut Vm, args: CallArgs) -> JsResult<ZonedDateTime> {
    let time_zone = match args.get(0) {
        value if value.is_undefined() => system_time_zone(vm)?,
        value => to_time_zone(vm, value)?,
    };
    let instant = system_instant(vm)?;
    check(vm, ZonedDateTime::try_new_iso_from_instant(instant, time_zone))
}

fn time_zone_id(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    let time_zone = system_time_zone(vm)?;
    let identifier = check(vm, time_zone.identifier())?;
    text(vm, &identifier)
}

fn instant(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    let instant = system_instant(vm);
    let instant = instant?;
    create(vm, instant)
}

fn zoned_date_time_iso(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = system_zoned(vm, args)?;
    create(vm, zoned)
}

fn plain_date_time_iso(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = system_zoned(vm, args)?;
    create(vm, zoned.to_plain_date_time())
}

fn plain_date_iso(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = system_zoned(vm, args)?;
    create(vm, zoned.to_plain_date())
}

fn plain_time_iso(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let zoned = system_zoned(vm, args)?;
    wrap(vm, Ok(zoned.to_plain_time()))
}
