//! %eval% (19.2.1). <https://tc39.es/ecma262/#sec-eval-x>
//!
//! Direct eval is recognised by the interpreter; the function itself is indirect eval.

use crate::object::function::NativeSpec;
use crate::realm::{Body, Intrinsic, IntrinsicSpec};

/// %eval%.
pub static FUNCTION: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::new("eval", 1, |vm, args| vm.perform_indirect_eval(args.get(0)))),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[],
};
