//! The Temporal namespace. <https://tc39.es/proposal-temporal/>
//!
//! The arithmetic is `temporal_rs`'s. Owned here: what guests can observe around it, that is the reading of arguments,
//! property bags and options in the specified order (`fields`, `options`), and the objects (`object`); one file per type.

mod arithmetic;
mod calendar_getters;
pub(crate) mod duration;
mod fields;
pub(crate) mod instant;
mod lunisolar;
pub(crate) mod now;
mod object;
mod options;
pub(crate) mod plain_date;
pub(crate) mod plain_date_time;
pub(crate) mod plain_month_day;
pub(crate) mod plain_time;
pub(crate) mod plain_year_month;
pub(crate) mod zoned_date_time;

use crate::object::{Object, ObjectKind};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, PropertySpec, ValueSpec, data, to_string_tag};
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::Vm;

const fn member(name: &'static str, of: Intrinsic) -> PropertySpec {
    data(name, ValueSpec::Intrinsic(of), attrs::METHOD)
}

/// The text of a Temporal object, as its `toString` without options gives it.
pub(crate) fn display(vm: &mut Vm, object: Object) -> Option<String> {
    let prototype = match object.kind() {
        ObjectKind::TemporalDuration => Intrinsic::TemporalDurationPrototype,
        ObjectKind::TemporalInstant => Intrinsic::TemporalInstantPrototype,
        ObjectKind::TemporalPlainDate => Intrinsic::TemporalPlainDatePrototype,
        ObjectKind::TemporalPlainDateTime => Intrinsic::TemporalPlainDateTimePrototype,
        ObjectKind::TemporalPlainMonthDay => Intrinsic::TemporalPlainMonthDayPrototype,
        ObjectKind::TemporalPlainTime => Intrinsic::TemporalPlainTimePrototype,
        ObjectKind::TemporalPlainYearMonth => Intrinsic::TemporalPlainYearMonthPrototype,
        ObjectKind::TemporalZonedDateTime => Intrinsic::TemporalZonedDateTimePrototype,
        _ => return None,
    };
    let prototype = vm.intrinsic(prototype);
    let method = vm.get(prototype, crate::atoms::TO_JSON).ok()?;
    let text = vm.call(method, Value::object(object), &[]).ok()?;
    text.as_string().and_then(|text| text.text(vm).ok())
}

pub(crate) static NAMESPACE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        member("Duration", Intrinsic::TemporalDuration),
        member("Instant", Intrinsic::TemporalInstant),
        member("Now", Intrinsic::TemporalNow),
        member("PlainDate", Intrinsic::TemporalPlainDate),
        member("PlainDateTime", Intrinsic::TemporalPlainDateTime),
        member("PlainMonthDay", Intrinsic::TemporalPlainMonthDay),
        member("PlainTime", Intrinsic::TemporalPlainTime),
        member("PlainYearMonth", Intrinsic::TemporalPlainYearMonth),
        member("ZonedDateTime", Intrinsic::TemporalZonedDateTime),
        to_string_tag("Temporal"),
    ],
};
