//! The Reflect object (28.1). <https://tc39.es/ecma262/#sec-reflect-object>

use crate::builtins::object::keys_to_array;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Reflect%.
pub static REFLECT: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        method("apply", 3, apply),
        method("construct", 2, construct),
        method("defineProperty", 3, define_property),
        method("deleteProperty", 2, delete_property),
        method("get", 2, get),
        method("getOwnPropertyDescriptor", 2, get_own_property_descriptor),
        method("getPrototypeOf", 1, get_prototype_of),
        method("has", 2, has),
        method("isExtensible", 1, is_extensible),
        method("ownKeys", 1, own_keys),
        method("preventExtensions", 1, prevent_extensions),
        method("set", 3, set),
        method("setPrototypeOf", 2, set_prototype_of),
        to_string_tag("Reflect"),
    ],
};

fn target(vm: &mut Vm, args: CallArgs) -> JsResult<Object> {
    match args.get(0).as_object() {
        Some(o) => Ok(o),
        None => Err(vm.throw_type_error("the target of a Reflect function must be an object")),
    }
}

/// 28.1.1
fn apply(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.get(0).is_callable() {
        return Err(vm.throw_type_error("Reflect.apply: the target is not a function"));
    }
    let list = vm.create_list_from_array_like(args.get(2))?;
    vm.call(args.get(0), args.get(1), &list)
}

/// 28.1.2
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(f) = args.get(0).as_object().filter(|f| f.is_constructor()) else {
        return Err(vm.throw_type_error("Reflect.construct: the target is not a constructor"));
    };
    let new_target = match args.len() {
        0..=2 => f,
        _ => match args.get(2).as_object().filter(|f| f.is_constructor()) {
            Some(n) => n,
            None => return Err(vm.throw_type_error("Reflect.construct: newTarget is not a constructor")),
        },
    };
    let list = vm.create_list_from_array_like(args.get(1))?;
    Ok(Value::object(vm.construct(f, &list, new_target)?))
}

/// 28.1.3
fn define_property(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    let key = vm.to_property_key(args.get(1))?;
    let desc = vm.to_property_descriptor(args.get(2))?;
    Ok(Value::bool(vm.define_own_property(o, key, &desc)?))
}

/// 28.1.4
fn delete_property(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    let key = vm.to_property_key(args.get(1))?;
    Ok(Value::bool(vm.delete_property(o, key)?))
}

/// 28.1.5
fn get(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    let key = vm.to_property_key(args.get(1))?;
    let receiver = if args.len() < 3 { args.get(0) } else { args.get(2) };
    vm.get_with_receiver(o, key, receiver)
}

/// 28.1.6
fn get_own_property_descriptor(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    let key = vm.to_property_key(args.get(1))?;
    let p = vm.get_own_property(o, key)?;
    vm.from_own_property(p)
}

/// 28.1.7
fn get_prototype_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    vm.get_prototype_of(o)
}

/// 28.1.8
fn has(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    let key = vm.to_property_key(args.get(1))?;
    Ok(Value::bool(vm.has_property(o, key)?))
}

/// 28.1.9
fn is_extensible(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    Ok(Value::bool(vm.is_extensible(o)?))
}

/// 28.1.10
fn own_keys(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    let keys = vm.own_property_keys(o)?;
    Ok(Value::object(keys_to_array(vm, &keys, |_| true)?))
}

/// 28.1.11
fn prevent_extensions(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    Ok(Value::bool(vm.prevent_extensions(o)?))
}

/// 28.1.12
fn set(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    let key = vm.to_property_key(args.get(1))?;
    let receiver = if args.len() < 4 { args.get(0) } else { args.get(3) };
    Ok(Value::bool(vm.set(o, key, args.get(2), receiver)?))
}

/// 28.1.13
fn set_prototype_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = target(vm, args)?;
    let p = args.get(1);
    if !p.is_object() && !p.is_null() {
        return Err(vm.throw_type_error("Reflect.setPrototypeOf: the prototype must be an object or null"));
    }
    Ok(Value::bool(vm.set_prototype_of(o, p)?))
}
