//! Array iterators (23.1.5), over anything with a length. <https://tc39.es/ecma262/#sec-array-iterator-objects>
//!
//! Internal slots: 0 the object (undefined when done), 1 the next index, 2 what is yielded.

use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, iterator_next, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %ArrayIteratorPrototype%.
pub static ITERATOR_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::IteratorPrototype),
    properties: &[iterator_next(0, next, step), to_string_tag("Array Iterator")],
};

/// Yields indices.
pub(crate) const KEYS: i32 = 0;
/// Yields elements.
pub(crate) const VALUES: i32 = 1;
/// Yields `[index, element]`.
pub(crate) const ENTRIES: i32 = 2;

impl Vm {
    /// CreateArrayIterator (23.1.5.1); `kind` is one of the constants of this file.
    pub(crate) fn create_array_iterator(&mut self, o: Value, kind: i32) -> Value {
        let prototype = Value::object(self.intrinsic(Intrinsic::ArrayIteratorPrototype));
        let iterator = self.new_exotic(ObjectKind::ArrayIterator, prototype, 3);
        iterator.set_slot(0, o);
        iterator.set_slot(1, Value::ZERO);
        iterator.set_slot(2, Value::int32(kind));
        Value::object(iterator)
    }
}

pub(super) fn keys(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.this)?;
    Ok(vm.create_array_iterator(Value::object(o), KEYS))
}

pub(crate) fn values(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.this)?;
    Ok(vm.create_array_iterator(Value::object(o), VALUES))
}

pub(super) fn entries(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.this)?;
    Ok(vm.create_array_iterator(Value::object(o), ENTRIES))
}

/// 23.1.5.2.1
pub(crate) fn next(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.next_by_step(args, step)
}

fn step(vm: &mut Vm, iterator: Object) -> Option<JsResult<Option<Value>>> {
    iterator.is(ObjectKind::ArrayIterator).then(|| vm.array_iterator_step(iterator))
}

impl Vm {
    /// One step of an array iterator: None when it is done.
    pub(crate) fn array_iterator_step(&mut self, iterator: Object) -> JsResult<Option<Value>> {
        let Some(o) = iterator.slot(0).as_object() else { return Ok(None) };
        let at = iterator.slot(1).as_number().unwrap_or(0.0) as u64;
        let n = if o.is(ObjectKind::TypedArray) {
            crate::builtins::typed_array::typed_array_length(self, o)?
        } else {
            self.length_of_array_like(o)?
        };
        if at >= n {
            iterator.set_slot(0, Value::UNDEFINED);
            return Ok(None);
        }
        iterator.set_slot(1, Value::number((at + 1) as f64));
        let index = Value::number(at as f64);
        let kind = iterator.slot(2).as_int32().unwrap_or(VALUES);
        if kind == KEYS {
            return Ok(Some(index));
        }
        let v = self.get_element(o, at)?;
        if kind == VALUES {
            return Ok(Some(v));
        }
        let pair = self.new_array_from(&[index, v])?;
        Ok(Some(Value::object(pair)))
    }
}
