//! Iterator objects (27.1): %Iterator%, %Iterator.prototype% and its consuming methods.
//! <https://tc39.es/ecma262/#sec-iterator-objects>
//!
//! The lazy methods make helper objects, which are in `helper`.

mod chunking;
pub mod helper;
pub mod wrap;
pub mod zip;

use crate::atoms;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind, PropertyDescriptor};
use crate::ops::IteratorRecord;
use crate::property_key::PropertyKey;
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, KeySpec, PropertySpec, ValueSpec, method, prototype, symbol_method,
};
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Iterator%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Iterator", 0, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::IteratorPrototype),
        method("concat", 0, helper::concat),
        method("from", 1, wrap::from),
        method("zip", 1, zip::zip),
        method("zipKeyed", 1, zip::zip_keyed),
    ],
};

/// %Iterator.prototype%. `constructor` and `Symbol.toStringTag` are accessors for web compatibility (27.1.4.1).
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        PropertySpec {
            key: KeySpec::Name("constructor"),
            value: ValueSpec::Accessor(
                NativeSpec::getter("constructor", |vm, _| {
                    Ok(Value::object(vm.intrinsic(Intrinsic::Iterator)))
                }),
                NativeSpec::setter("constructor", |vm, args| {
                    setter_that_ignores_prototype(vm, args, atoms::CONSTRUCTOR)
                }),
            ),
            attrs: attrs::CONFIGURABLE,
        },
        method("chunks", 1, chunking::chunks),
        method("drop", 1, helper::drop),
        method("every", 1, every),
        method("filter", 1, helper::filter),
        method("find", 1, find),
        method("flatMap", 1, helper::flat_map),
        method("forEach", 1, for_each),
        method("includes", 1, chunking::includes),
        method("map", 1, helper::map),
        method("reduce", 1, reduce),
        method("some", 1, some),
        method("take", 1, helper::take),
        method("toArray", 0, to_array),
        method("windows", 1, chunking::windows),
        symbol_method(symbol::DISPOSE, "[Symbol.dispose]", 0, dispose),
        symbol_method(symbol::ITERATOR, "[Symbol.iterator]", 0, |_, args| Ok(args.this)),
        PropertySpec {
            key: KeySpec::Symbol(symbol::TO_STRING_TAG),
            value: ValueSpec::Accessor(
                NativeSpec::getter("[Symbol.toStringTag]", |vm, _| {
                    Ok(Value::string(vm.intern_str("Iterator")))
                }),
                NativeSpec::setter("[Symbol.toStringTag]", |vm, args| {
                    setter_that_ignores_prototype(vm, args, symbol::TO_STRING_TAG)
                }),
            ),
            attrs: attrs::CONFIGURABLE,
        },
    ],
};

/// 27.1.3.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() || args.new_target == Value::object(args.callee) {
        return Err(vm.throw_type_error("Iterator is an abstract class: it can only be extended"));
    }
    let o = vm.ordinary_create_from_constructor(
        args.new_target,
        Intrinsic::IteratorPrototype,
        ObjectKind::Ordinary,
        0,
    )?;
    Ok(Value::object(o))
}

/// SetterThatIgnoresPrototypeProperties (7.3.35).
fn setter_that_ignores_prototype(vm: &mut Vm, args: CallArgs, key: PropertyKey) -> JsResult<Value> {
    let Some(o) = args.this.as_object() else {
        return Err(vm.throw_type_error("the receiver is not an object"));
    };
    if o == vm.intrinsic(Intrinsic::IteratorPrototype) {
        return Err(vm.throw_type_error("Cannot assign to this property of Iterator.prototype"));
    }
    match vm.get_own_property(o, key)? {
        None => vm.define_property_or_throw(o, key, &PropertyDescriptor::data(args.get(0), attrs::ALL))?,
        Some(_) => vm.set_or_throw(o, key, args.get(0))?,
    }
    Ok(Value::UNDEFINED)
}

/// The receiver, which must be an object.
pub(super) fn this_iterator(vm: &mut Vm, args: CallArgs) -> JsResult<Object> {
    match args.this.as_object() {
        Some(o) => Ok(o),
        None => Err(vm.throw_type_error("Iterator helper called on non-object")),
    }
}

/// A record of an iterator whose `next` has not been looked up: enough to close it.
pub(super) fn unopened(o: Object) -> IteratorRecord {
    IteratorRecord { iterator: o, next_method: Value::UNDEFINED, done: false }
}

/// The callback argument, closing the iterator when it is not callable.
pub(super) fn callback(vm: &mut Vm, o: Object, f: Value) -> JsResult<Value> {
    if f.is_callable() {
        return Ok(f);
    }
    let message = format!("{} is not a function", vm.describe(f));
    let error = vm.throw_type_error(&message);
    vm.iterator_close(&unopened(o), Err(error))
}

/// Calls the callback for each value; Some from `step` closes the iterator and ends the walk.
fn walk(
    vm: &mut Vm,
    args: CallArgs,
    mut step: impl FnMut(Value, Value) -> Option<Value>,
) -> JsResult<Option<Value>> {
    let o = this_iterator(vm, args)?;
    let f = callback(vm, o, args.get(0))?;
    let mut record = vm.get_iterator_direct(o)?;
    let mut counter = 0.0;
    while let Some(v) = vm.iterator_step_value(&mut record)? {
        let answer = vm.call(f, Value::UNDEFINED, &[v, Value::number(counter)]);
        let answer = vm.close_if_abrupt(&record, answer)?;
        if let Some(end) = step(v, answer) {
            return vm.iterator_close(&record, Ok(Some(end)));
        }
        counter += 1.0;
    }
    Ok(None)
}

/// 27.1.4.3
fn every(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let end = walk(vm, args, |_, answer| (!answer.to_boolean()).then_some(Value::FALSE))?;
    Ok(end.unwrap_or(Value::TRUE))
}

/// 27.1.4.10
fn some(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let end = walk(vm, args, |_, answer| answer.to_boolean().then_some(Value::TRUE))?;
    Ok(end.unwrap_or(Value::FALSE))
}

/// 27.1.4.5
fn find(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let end = walk(vm, args, |v, answer| answer.to_boolean().then_some(v))?;
    Ok(end.unwrap_or(Value::UNDEFINED))
}

/// 27.1.4.7
fn for_each(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    walk(vm, args, |_, _| None)?;
    Ok(Value::UNDEFINED)
}

/// 27.1.4.9
fn reduce(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = this_iterator(vm, args)?;
    let f = callback(vm, o, args.get(0))?;
    let mut record = vm.get_iterator_direct(o)?;
    let (mut accumulator, mut counter) = (args.get(1), 0.0);
    if args.len() < 2 {
        accumulator = match vm.iterator_step_value(&mut record)? {
            Some(v) => v,
            None => return Err(vm.throw_type_error("Reduce of an empty iterator with no initial value")),
        };
        counter = 1.0;
    }
    while let Some(v) = vm.iterator_step_value(&mut record)? {
        let result = vm.call(f, Value::UNDEFINED, &[accumulator, v, Value::number(counter)]);
        accumulator = vm.close_if_abrupt(&record, result)?;
        counter += 1.0;
    }
    Ok(accumulator)
}

/// 27.1.4.12
fn to_array(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = this_iterator(vm, args)?;
    let mut record = vm.get_iterator_direct(o)?;
    let list = vm.iterator_to_list(&mut record)?;
    Ok(Value::object(vm.new_array_from(&list)?))
}

/// 27.1.4.14
fn dispose(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let f = vm.get_method(args.this, atoms::RETURN)?;
    if !f.is_undefined() {
        vm.call(f, args.this, &[])?;
    }
    Ok(Value::UNDEFINED)
}
