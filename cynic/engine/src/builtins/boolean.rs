//! Boolean objects (20.3). <https://tc39.es/ecma262/#sec-boolean-objects>
//!
//! Internal slot 0: the boolean.

use crate::atoms;
use crate::object::ObjectKind;
use crate::object::function::{CallArgs, NativeSpec};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, method, prototype};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Boolean%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Boolean", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::BooleanPrototype)],
};

/// %Boolean.prototype%, whose slot holds undefined for `false`.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Boolean, 1),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::Boolean),
        method("toString", 0, to_string),
        method("valueOf", 0, value_of),
    ],
};

/// 20.3.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let b = Value::bool(args.get(0).to_boolean());
    if !args.is_construct() {
        return Ok(b);
    }
    let o = vm.ordinary_create_from_constructor(
        args.new_target,
        Intrinsic::BooleanPrototype,
        ObjectKind::Boolean,
        1,
    )?;
    o.set_slot(0, b);
    Ok(Value::object(o))
}

/// ThisBooleanValue (20.3.3.3.1).
fn this_boolean_value(vm: &mut Vm, v: Value) -> JsResult<bool> {
    if let Some(b) = v.as_bool() {
        return Ok(b);
    }
    match v.as_object() {
        Some(o) if o.is(ObjectKind::Boolean) => Ok(o.slot(0) == Value::TRUE),
        _ => Err(vm.throw_type_error("this is not a Boolean")),
    }
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let b = this_boolean_value(vm, args.this)?;
    let name = if b { atoms::TRUE } else { atoms::FALSE };
    Ok(Value::string(name.static_str()))
}

fn value_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(this_boolean_value(vm, args.this)?))
}
