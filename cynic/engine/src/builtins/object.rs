//! Object objects (20.1). <https://tc39.es/ecma262/#sec-object-objects>

use crate::object::ObjectKind;
use crate::object::function::{CallArgs, NativeSpec};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, prototype};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Object%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Object", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::ObjectPrototype)],
};

/// %Object.prototype%, an immutable prototype exotic object (10.4.7).
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: None,
    properties: &[constructor(Intrinsic::Object)],
};

/// 20.1.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if args.is_construct() && args.new_target != Value::object(args.callee) {
        let o = vm.ordinary_create_from_constructor(
            args.new_target,
            Intrinsic::ObjectPrototype,
            ObjectKind::Ordinary,
            0,
        )?;
        return Ok(Value::object(o));
    }
    let v = args.get(0);
    if v.is_nullish() {
        return Ok(Value::object(vm.new_object()));
    }
    Ok(Value::object(vm.to_object(v)?))
}
