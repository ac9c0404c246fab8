//! Async-from-sync iterators (27.1.6). <https://tc39.es/ecma262/#sec-async-from-sync-iterator-objects>
//!
//! Internal slots: 0 the sync iterator, 1 its next method.

use super::promise::{self, Capability};
use crate::atoms;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind};
use crate::ops::IteratorRecord;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method};
use crate::value::Value;
use crate::vm::jobs::ReactionHandler;
use crate::vm::{Abrupt, JsResult, Vm};

/// %AsyncFromSyncIteratorPrototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::AsyncIteratorPrototype),
    properties: &[method("next", 1, next), method("return", 1, return_), method("throw", 1, throw)],
};

impl Vm {
    /// CreateAsyncFromSyncIterator.
    pub(crate) fn create_async_from_sync_iterator(&mut self, record: IteratorRecord) -> Object {
        let prototype = Value::object(self.intrinsic(Intrinsic::AsyncFromSyncIteratorPrototype));
        let shape = self.root_shape(prototype, 2);
        let object = self.alloc_object(shape, ObjectKind::AsyncFromSyncIterator, 2, 0);
        object.set_slot(0, Value::object(record.iterator));
        object.set_slot(1, record.next_method);
        object
    }
}

fn record_of(this: Value) -> Option<IteratorRecord> {
    let object = this.as_object().filter(|o| o.is(ObjectKind::AsyncFromSyncIterator))?;
    let iterator = object.slot(0).as_object()?;
    Some(IteratorRecord { iterator, next_method: object.slot(1), done: false })
}

fn settle(vm: &mut Vm, capability: Capability, result: JsResult<()>) -> JsResult<Value> {
    match result {
        Ok(()) => Ok(capability.promise),
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            capability.reject(vm, reason)?;
            Ok(capability.promise)
        }
        Err(abrupt) => Err(abrupt),
    }
}

fn next(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let capability = promise::internal_capability(vm);
    let Some(mut record) = record_of(args.this) else { return Ok(capability.promise) };
    let value = (!args.is_empty()).then(|| args.get(0));
    let result = vm.iterator_next(&mut record, value);
    let result = result.and_then(|result| continuation(vm, result, capability, record, true));
    settle(vm, capability, result)
}

fn return_(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let capability = promise::internal_capability(vm);
    let Some(record) = record_of(args.this) else { return Ok(capability.promise) };
    let result = return_step(vm, args, capability, record);
    settle(vm, capability, result)
}

fn return_step(vm: &mut Vm, args: CallArgs, capability: Capability, record: IteratorRecord) -> JsResult<()> {
    let method = vm.get_method(Value::object(record.iterator), atoms::RETURN)?;
    if method.is_undefined() {
        let result = vm.create_iter_result_object(args.get(0), true);
        return capability.resolve(vm, Value::object(result));
    }
    let arguments = [args.get(0)];
    let arguments = if args.is_empty() { &[][..] } else { &arguments[..] };
    let result = vm.call(method, Value::object(record.iterator), arguments)?;
    match result.as_object() {
        Some(result) => continuation(vm, result, capability, record, false),
        None => Err(vm.throw_type_error("the result of the iterator's return method is not an object")),
    }
}

fn throw(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let capability = promise::internal_capability(vm);
    let Some(record) = record_of(args.this) else { return Ok(capability.promise) };
    let result = throw_step(vm, args, capability, record);
    settle(vm, capability, result)
}

fn throw_step(vm: &mut Vm, args: CallArgs, capability: Capability, record: IteratorRecord) -> JsResult<()> {
    let method = vm.get_method(Value::object(record.iterator), atoms::THROW)?;
    if method.is_undefined() {
        vm.iterator_close(&record, Ok(()))?;
        return Err(vm.throw_type_error("the iterator has no throw method"));
    }
    let arguments = [args.get(0)];
    let arguments = if args.is_empty() { &[][..] } else { &arguments[..] };
    let result = vm.call(method, Value::object(record.iterator), arguments)?;
    match result.as_object() {
        Some(result) => continuation(vm, result, capability, record, true),
        None => Err(vm.throw_type_error("the result of the iterator's throw method is not an object")),
    }
}

/// AsyncFromSyncIteratorContinuation (27.1.6.4).
fn continuation(
    vm: &mut Vm,
    result: Object,
    capability: Capability,
    record: IteratorRecord,
    close_on_rejection: bool,
) -> JsResult<()> {
    let done = vm.iterator_complete(result)?;
    let value = vm.iterator_value(result)?;
    let closes = !done && close_on_rejection;
    let wrapper = match promise::promise_resolve(vm, value) {
        Err(abrupt) if closes => return vm.iterator_close(&record, Err(abrupt)),
        other => other?,
    };
    let unwrap = ReactionHandler::Native(
        |vm, value, done, _| Ok(Value::object(vm.create_iter_result_object(value, done == Value::TRUE))),
        Value::bool(done),
        Value::UNDEFINED,
    );
    let rejected = if closes {
        ReactionHandler::Native(close_and_throw, Value::object(record.iterator), record.next_method)
    } else {
        ReactionHandler::Thrower
    };
    promise::perform_then(vm, wrapper, unwrap, rejected, Some(capability));
    Ok(())
}

fn close_and_throw(vm: &mut Vm, reason: Value, iterator: Value, next_method: Value) -> JsResult<Value> {
    let pending = vm.throw(reason);
    match iterator.as_object() {
        Some(iterator) => {
            vm.iterator_close(&IteratorRecord { iterator, next_method, done: false }, Err(pending))
        }
        None => Err(pending),
    }
}
