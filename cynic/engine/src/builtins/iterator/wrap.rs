//! `Iterator.from` and the wrapper it makes for iterators that do not inherit from %Iterator.prototype% (27.1.3.2.2).
//!
//! A wrapper's internal slots: 0 the iterator, 1 its `next` method.

use crate::atoms;
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::ops::IteratorRecord;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method};
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %WrapForValidIteratorPrototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::IteratorPrototype),
    properties: &[method("next", 0, next), method("return", 0, return_)],
};

impl Vm {
    /// GetIteratorFlattenable (7.4.5). Strings are accepted only by `Iterator.from`.
    pub(super) fn get_iterator_flattenable(
        &mut self,
        v: Value,
        accept_strings: bool,
    ) -> JsResult<IteratorRecord> {
        if !(v.is_object() || accept_strings && v.is_string()) {
            let message = format!("{} is not an object", self.describe(v));
            return Err(self.throw_type_error(&message));
        }
        let f = self.get_method(v, symbol::ITERATOR)?;
        let iterator = if f.is_undefined() { v } else { self.call(f, v, &[])? };
        match iterator.as_object() {
            Some(o) => self.get_iterator_direct(o),
            None => Err(self.throw_type_error("Result of the Symbol.iterator method is not an object")),
        }
    }
}

/// 27.1.3.2.2
pub(super) fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let record = vm.get_iterator_flattenable(args.get(0), true)?;
    let constructor = Value::object(vm.intrinsic(Intrinsic::Iterator));
    if vm.ordinary_has_instance(constructor, Value::object(record.iterator))? {
        return Ok(Value::object(record.iterator));
    }
    let prototype = Value::object(vm.intrinsic(Intrinsic::WrapForValidIteratorPrototype));
    let o = vm.new_exotic(ObjectKind::WrapForValidIterator, prototype, 2);
    o.set_slot(0, Value::object(record.iterator));
    o.set_slot(1, record.next_method);
    Ok(Value::object(o))
}

fn this_wrapper(vm: &mut Vm, args: CallArgs) -> JsResult<(Value, Value)> {
    match args.this.as_object().filter(|o| o.is(ObjectKind::WrapForValidIterator)) {
        Some(o) => Ok((o.slot(0), o.slot(1))),
        None => Err(vm.throw_type_error("not a wrapped iterator")),
    }
}

fn next(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (iterator, f) = this_wrapper(vm, args)?;
    vm.call(f, iterator, &[])
}

fn return_(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (iterator, _) = this_wrapper(vm, args)?;
    let f = vm.get_method(iterator, atoms::RETURN)?;
    if f.is_undefined() {
        return Ok(Value::object(vm.create_iter_result_object(Value::UNDEFINED, true)));
    }
    vm.call(f, iterator, &[])
}
