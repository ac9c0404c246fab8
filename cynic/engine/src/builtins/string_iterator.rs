//! String iterators (22.1.5). <https://tc39.es/ecma262/#sec-string-iterator-objects>
//!
//! Internal slots: 0 the string (undefined when exhausted), 1 the position.

use super::string::this_string;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, iterator_next, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %StringIteratorPrototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::IteratorPrototype),
    properties: &[
        iterator_next(0, |vm, args| vm.next_by_step(args, step), step),
        to_string_tag("String Iterator"),
    ],
};

/// 22.1.3.38 String.prototype [ %Symbol.iterator% ]
pub(super) fn create(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let prototype = Value::object(vm.intrinsic(Intrinsic::StringIteratorPrototype));
    let o = vm.new_exotic(ObjectKind::StringIterator, prototype, 2);
    o.set_slot(0, Value::string(s));
    o.set_slot(1, Value::int32(0));
    Ok(Value::object(o))
}

/// 22.1.5.1.1
fn step(vm: &mut Vm, iterator: Object) -> Option<JsResult<Option<Value>>> {
    if !iterator.is(ObjectKind::StringIterator) {
        return None;
    }
    let Some(s) = iterator.slot(0).as_string() else { return Some(Ok(None)) };
    let position = iterator.slot(1).as_int32().unwrap_or(0) as usize;
    let Some((_, width)) = s.unmetered_view(vm).code_point_at(position) else {
        iterator.set_slot(0, Value::UNDEFINED);
        return Some(Ok(None));
    };
    iterator.set_slot(1, Value::int32((position + width) as i32));
    let character = vm.substring(s, position, position + width);
    Some(Ok(Some(Value::string(character))))
}
