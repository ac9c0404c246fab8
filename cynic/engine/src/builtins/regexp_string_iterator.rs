//! RegExp String Iterators (22.2.9), the results of `matchAll`. <https://tc39.es/ecma262/#sec-regexp-string-iterator-objects>
//!
//! Internal slots: 0 the matcher (undefined when exhausted), 1 the string, 2 whether global, 3 whether unicode.

use super::regexp_exec::{advance_string_index, capture_key, regexp_exec};
use crate::atoms;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method, to_string_tag};
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %RegExpStringIteratorPrototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::IteratorPrototype),
    properties: &[method("next", 0, next), to_string_tag("RegExp String Iterator")],
};

/// CreateRegExpStringIterator (22.2.9.1).
pub(super) fn create(vm: &mut Vm, matcher: Object, s: JsStr, global: bool, unicode: bool) -> Object {
    let prototype = Value::object(vm.intrinsic(Intrinsic::RegExpStringIteratorPrototype));
    let o = vm.new_exotic(ObjectKind::RegExpStringIterator, prototype, 4);
    o.set_slot(0, Value::object(matcher));
    o.set_slot(1, Value::string(s));
    o.set_slot(2, Value::bool(global));
    o.set_slot(3, Value::bool(unicode));
    o
}

/// 22.2.9.2.1
fn next(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(o) = args.this.as_object().filter(|o| o.is(ObjectKind::RegExpStringIterator)) else {
        return Err(vm.throw_type_error("next called on an object that is not a RegExp String Iterator"));
    };
    let (Some(matcher), Some(s)) = (o.slot(0).as_object(), o.slot(1).as_string()) else {
        return Ok(Value::object(vm.create_iter_result_object(Value::UNDEFINED, true)));
    };
    let found = step(vm, o, matcher, s);
    // The closure of the specification ends for good when it throws, finds nothing, or is not global.
    if !matches!(found, Ok(Some(_))) || o.slot(2) != Value::TRUE {
        o.set_slot(0, Value::UNDEFINED);
    }
    let (value, done) = found?.map_or((Value::UNDEFINED, true), |result| (result, false));
    Ok(Value::object(vm.create_iter_result_object(value, done)))
}

fn step(vm: &mut Vm, o: Object, matcher: Object, s: JsStr) -> JsResult<Option<Value>> {
    let Some(result) = regexp_exec(vm, matcher, s)?.as_object() else { return Ok(None) };
    if o.slot(2) == Value::TRUE {
        let matched = vm.get(result, capture_key(0))?;
        if vm.to_string(matched)?.is_empty() {
            let this_index = vm.get(matcher, atoms::LAST_INDEX)?;
            let this_index = vm.to_length(this_index)?;
            let next_index = advance_string_index(vm, s, this_index, o.slot(3) == Value::TRUE);
            vm.set_or_throw(matcher, atoms::LAST_INDEX, Value::number(next_index as f64))?;
        }
    }
    Ok(Some(Value::object(result)))
}
