//! Temporal objects: native `temporal_rs` values in the internal slot of an object.
//!
//! Invariant: an object of a Temporal kind holds the Rust value of that kind in slot 0, and it never changes.

use temporal_rs::{
    Duration, Instant, PlainDate, PlainDateTime, PlainMonthDay, PlainTime, PlainYearMonth, TemporalError,
    TemporalResult, ZonedDateTime, error::ErrorKind,
};

use crate::gc::{Trace, Tracer};
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::realm::Intrinsic;
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// A Rust value that a Temporal object holds.
pub(super) trait TemporalType: Clone + 'static {
    const KIND: ObjectKind;
    const PROTOTYPE: Intrinsic;
    const NAME: &'static str;
}

/// The cell's content. The library's values hold nothing of the heap's.
struct Held<T>(T);

impl<T: TemporalType> Trace for Held<T> {
    fn trace(&self, _tracer: &mut Tracer<'_>) {}
}

macro_rules! temporal_types {
    ($($type:ident $kind:ident $prototype:ident;)*) => {
        $(
            impl TemporalType for $type {
                const KIND: ObjectKind = ObjectKind::$kind;
                const PROTOTYPE: Intrinsic = Intrinsic::$prototype;
                const NAME: &'static str = concat!("Temporal.", stringify!($type));
            }
        )*
    };
}

temporal_types! {
    Duration TemporalDuration TemporalDurationPrototype;
    Instant TemporalInstant TemporalInstantPrototype;
    PlainDate TemporalPlainDate TemporalPlainDatePrototype;
    PlainDateTime TemporalPlainDateTime TemporalPlainDateTimePrototype;
    PlainMonthDay TemporalPlainMonthDay TemporalPlainMonthDayPrototype;
    PlainTime TemporalPlainTime TemporalPlainTimePrototype;
    PlainYearMonth TemporalPlainYearMonth TemporalPlainYearMonthPrototype;
    ZonedDateTime TemporalZonedDateTime TemporalZonedDateTimePrototype;
}

/// A new object that holds `value`, with the intrinsic prototype of the current realm.
pub(super) fn create<T: TemporalType>(vm: &mut Vm, value: T) -> JsResult<Value> {
    let prototype = vm.intrinsic(T::PROTOTYPE);
    Ok(allocate(vm, Value::object(prototype), value))
}

/// A new object that holds `value`, with the prototype of `new_target`.
pub(super) fn construct<T: TemporalType>(vm: &mut Vm, args: CallArgs, value: T) -> JsResult<Value> {
    let prototype = vm.get_prototype_from_constructor(args.new_target, T::PROTOTYPE)?;
    Ok(allocate(vm, Value::object(prototype), value))
}

fn allocate<T: TemporalType>(vm: &mut Vm, prototype: Value, value: T) -> Value {
    let data = vm.alloc_data(Held(value));
    let shape = vm.root_shape(prototype, 1);
    let object = vm.alloc_object(shape, T::KIND, 1, 0);
    object.set_slot(0, Value::cell(data));
    Value::object(object)
}

/// Fails a constructor that is called without `new`.
pub(super) fn require_new(vm: &mut Vm, args: CallArgs, name: &str) -> JsResult<()> {
    if args.is_construct() {
        return Ok(());
    }
    Err(vm.throw_type_error(&format!("{name} must be called with new")))
}

/// The Rust value in a Temporal object of that type.
pub(super) fn value_of<T: TemporalType>(value: Value) -> Option<T> {
    let object = value.as_object()?;
    if !object.is(T::KIND) {
        return None;
    }
    object.data::<Held<T>>(0).map(|data| data.0.clone())
}

/// RequireInternalSlot of the receiver.
pub(super) fn this_value<T: TemporalType>(vm: &mut Vm, args: CallArgs) -> JsResult<T> {
    value_of(args.this).ok_or_else(|| vm.throw_type_error(&format!("this is not a {}", T::NAME)))
}

/// Throws a library error as the exception it stands for.
pub(super) fn throw(vm: &mut Vm, error: TemporalError) -> Abrupt {
    let message = error.into_message();
    match error.kind() {
        ErrorKind::Type => vm.throw_type_error(message),
        ErrorKind::Syntax => vm.throw_syntax_error(message),
        ErrorKind::Range | ErrorKind::Generic | ErrorKind::Assert => vm.throw_range_error(message),
    }
}

/// Turns a library result into a completion.
pub(super) fn check<T>(vm: &mut Vm, result: TemporalResult<T>) -> JsResult<T> {
    result.map_err(|error| throw(vm, error))
}

/// The same for what the library makes of a text.
pub(super) fn check_text<T>(
    vm: &mut Vm,
    text: JsStr,
    parse: impl FnOnce(&str) -> TemporalResult<T>,
) -> JsResult<T> {
    let text = text.text(vm)?;
    check(vm, parse(&text))
}

/// Turns a library result into an object.
pub(super) fn wrap<T: TemporalType>(vm: &mut Vm, result: TemporalResult<T>) -> JsResult<Value> {
    let value = check(vm, result)?;
    create(vm, value)
}

/// Text as a string value.
pub(super) fn text(vm: &mut Vm, text: &str) -> JsResult<Value> {
    Ok(Value::string(vm.new_string(text)))
}

/// `valueOf` of every Temporal object: always an error, so that `<` is not misused.
pub(super) fn value_of_throws(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    Err(vm.throw_type_error("Temporal objects have no primitive value; use compare() or equals()"))
}
