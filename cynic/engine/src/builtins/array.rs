//! Array objects (23.1). <https://tc39.es/ecma262/#sec-array-objects>

use crate::object::ObjectKind;
use crate::object::function::{CallArgs, NativeSpec};
use crate::property_key::PropertyKey;
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, ValueSpec, constructor, data, method, prototype, species,
};
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Array%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Array", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::ArrayPrototype), method("isArray", 1, is_array), species()],
};

/// %Array.prototype%, itself an array.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Array, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        data("length", ValueSpec::Number(0.0), attrs::WRITABLE),
        constructor(Intrinsic::Array),
        method("push", 1, push),
    ],
};

/// 23.1.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let new_target = if args.is_construct() { args.new_target } else { Value::object(args.callee) };
    let prototype = vm.get_prototype_from_constructor(new_target, Intrinsic::ArrayPrototype)?;
    let array = vm.array_create(0.0, Some(prototype))?;
    if args.len() == 1 {
        return construct_with_length(vm, array, args.get(0));
    }
    vm.reserve_elements(array, args.len() as u32)?;
    for &v in args.as_slice() {
        vm.create_data_property_or_throw(array, PropertyKey::index(array.array_length()), v)?;
    }
    Ok(Value::object(array))
}

fn construct_with_length(vm: &mut Vm, array: crate::object::Object, length: Value) -> JsResult<Value> {
    let Some(n) = length.as_number() else {
        vm.create_data_property_or_throw(array, PropertyKey::index(0), length)?;
        return Ok(Value::object(array));
    };
    if f64::from(n as u32) != n {
        return Err(vm.throw_range_error("Invalid array length"));
    }
    array.set_array_length_slot(n as u32);
    Ok(Value::object(array))
}

/// 23.1.2.2
fn is_array(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(vm.is_array(args.get(0))?))
}

/// 23.1.3.23
fn push(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.this)?;
    let mut n = vm.length_of_array_like(o)?;
    if n + args.len() as u64 > 9_007_199_254_740_991 {
        return Err(vm.throw_type_error("Pushing elements past the largest integer index"));
    }
    for &v in args.as_slice() {
        // OPTIMIZATION: equals Set(O, ToString(len), v) followed by the update of length.
        if !vm.try_push_element(o, v) {
            let key = vm.key_from_u64(n);
            vm.set_or_throw(o, key, v)?;
        }
        n += 1;
    }
    let length = Value::number(n as f64);
    vm.set_or_throw(o, crate::atoms::LENGTH, length)?;
    Ok(length)
}
