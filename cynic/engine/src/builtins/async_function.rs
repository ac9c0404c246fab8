//! %AsyncFunction% and its prototype (27.7). <https://tc39.es/ecma262/#sec-async-function-objects>

use crate::object::ObjectKind;
use crate::object::function::NativeSpec;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, ValueSpec, data, to_string_tag};
use crate::shape::attrs;
use crate::vm::eval::DynamicKind;

/// %AsyncFunction%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("AsyncFunction", 1, |vm, args| {
        vm.create_dynamic_function(args, DynamicKind::Async)
    })),
    prototype: Some(Intrinsic::Function),
    properties: &[data("prototype", ValueSpec::Intrinsic(Intrinsic::AsyncFunctionPrototype), 0)],
};

/// %AsyncFunction.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        data("constructor", ValueSpec::Intrinsic(Intrinsic::AsyncFunction), attrs::CONFIGURABLE),
        to_string_tag("AsyncFunction"),
    ],
};
