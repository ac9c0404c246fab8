//! Operations on iterators (7.4). <https://tc39.es/ecma262/#sec-operations-on-iterator-objects>

use crate::atoms;
use crate::gc::{Gc, RootedVec};
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, StepFn};
use crate::object::{Object, ObjectKind};
use crate::shape::Shape;
use crate::symbol;
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// An Iterator Record (7.4.1).
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct IteratorRecord {
    /// `[[Iterator]]`.
    pub iterator: Object,
    /// `[[NextMethod]]`.
    pub next_method: Value,
    /// `[[Done]]`.
    pub done: bool,
}

impl Vm {
    /// GetIterator (7.4.4) for sync iteration.
    pub fn get_iterator(&mut self, v: Value) -> JsResult<IteratorRecord> {
        let method = self.get_method(v, symbol::ITERATOR)?;
        if method.is_undefined() {
            let message = format!("{} is not iterable", self.describe(v));
            return Err(self.throw_type_error(&message));
        }
        self.get_iterator_from_method(v, method)
    }

    /// GetIteratorFromMethod (7.4.3).
    pub fn get_iterator_from_method(&mut self, v: Value, method: Value) -> JsResult<IteratorRecord> {
        let iterator = self.call(method, v, &[])?;
        match iterator.as_object() {
            Some(o) => self.get_iterator_direct(o),
            None => Err(self.throw_type_error("Result of the Symbol.iterator method is not an object")),
        }
    }

    /// GetIteratorDirect (7.4.2).
    pub fn get_iterator_direct(&mut self, iterator: Object) -> JsResult<IteratorRecord> {
        let next_method = self.get_cached(iterator, atoms::NEXT)?;
        Ok(IteratorRecord { iterator, next_method, done: false })
    }

    /// IteratorNext (7.4.6).
    pub fn iterator_next(&mut self, record: &mut IteratorRecord, value: Option<Value>) -> JsResult<Object> {
        let args = [value.unwrap_or(Value::UNDEFINED)];
        let args = if value.is_some() { &args[..] } else { &[] };
        let result = self.call(record.next_method, Value::object(record.iterator), args);
        let result = result.inspect_err(|_| record.done = true)?;
        match result.as_object() {
            Some(o) => Ok(o),
            None => {
                record.done = true;
                let message = format!("Iterator result {} is not an object", self.describe(result));
                Err(self.throw_type_error(&message))
            }
        }
    }

    /// IteratorComplete (7.4.7).
    pub fn iterator_complete(&mut self, result: Object) -> JsResult<bool> {
        Ok(self.get_cached(result, atoms::DONE)?.to_boolean())
    }

    /// IteratorValue (7.4.8).
    pub fn iterator_value(&mut self, result: Object) -> JsResult<Value> {
        self.get_cached(result, atoms::VALUE)
    }

    /// What a result object says: a value, or that the iterator is done.
    pub(crate) fn iterator_result_value(&mut self, result: Object) -> JsResult<Option<Value>> {
        if self.iterator_complete(result)? { Ok(None) } else { self.iterator_value(result).map(Some) }
    }

    /// IteratorStep (7.4.9): None when done.
    pub fn iterator_step(&mut self, record: &mut IteratorRecord) -> JsResult<Option<Object>> {
        let result = self.iterator_next(record, None)?;
        let done = self.iterator_complete(result).inspect_err(|_| record.done = true)?;
        if done {
            record.done = true;
            return Ok(None);
        }
        Ok(Some(result))
    }

    /// IteratorStepValue (7.4.10): None when done.
    pub fn iterator_step_value(&mut self, record: &mut IteratorRecord) -> JsResult<Option<Value>> {
        self.poll()?;
        if let Some(value) = self.step_natively(record) {
            record.done |= !matches!(value, Ok(Some(_)));
            return value;
        }
        let Some(result) = self.iterator_step(record)? else { return Ok(None) };
        let value = self.iterator_value(result).inspect_err(|_| record.done = true)?;
        Ok(Some(value))
    }

    /// OPTIMIZATION: equals calling `next` and reading its result, which nobody else can see, for the engine's own iterators.
    fn step_natively(&mut self, record: &IteratorRecord) -> Option<JsResult<Option<Value>>> {
        let next = record.next_method.as_object().filter(|o| o.is(ObjectKind::NativeFunction))?;
        let step = next.native_spec().step?;
        if next.slot(crate::object::function::NATIVE_REALM_SLOT) != Value::cell(self.realm()) {
            return None;
        }
        if let Err(abrupt) = self.check_native_stack() {
            return Some(Err(abrupt));
        }
        step(self, record.iterator)
    }

    /// The `next` of an iterator with a step function.
    pub(crate) fn next_by_step(&mut self, args: CallArgs, step: StepFn) -> JsResult<Value> {
        let Some(stepped) = args.this.as_object().and_then(|o| step(self, o)) else {
            let message = format!("next method called on incompatible receiver {}", self.describe(args.this));
            return Err(self.throw_type_error(&message));
        };
        let value = stepped?;
        let result = self.create_iter_result_object(value.unwrap_or(Value::UNDEFINED), value.is_none());
        Ok(Value::object(result))
    }

    /// IteratorClose (7.4.11) after `completion`, which is returned unless closing fails and it had not.
    pub fn iterator_close<T>(&mut self, record: &IteratorRecord, completion: JsResult<T>) -> JsResult<T> {
        match completion {
            Err(Abrupt::Terminate) => Err(Abrupt::Terminate),
            Err(Abrupt::Throw) => {
                let thrown = self.take_exception();
                match self.call_return(record.iterator) {
                    Err(Abrupt::Terminate) => Err(Abrupt::Terminate),
                    _ => Err(self.throw(thrown)),
                }
            }
            Ok(value) => match self.call_return(record.iterator)? {
                Some(result) if !result.is_object() => {
                    Err(self.throw_type_error("The iterator's return method did not return an object"))
                }
                _ => Ok(value),
            },
        }
    }

    /// Calls the iterator's `return` method, if it has one.
    fn call_return(&mut self, iterator: Object) -> JsResult<Option<Value>> {
        let method = self.get_method(Value::object(iterator), atoms::RETURN)?;
        if method.is_undefined() {
            return Ok(None);
        }
        self.call(method, Value::object(iterator), &[]).map(Some)
    }

    /// Closes the iterator if `result` is abrupt (IfAbruptCloseIterator).
    pub fn close_if_abrupt<T>(&mut self, record: &IteratorRecord, result: JsResult<T>) -> JsResult<T> {
        match result {
            Ok(v) => Ok(v),
            Err(e) => self.iterator_close(record, Err(e)),
        }
    }

    /// CreateIterResultObject (7.4.14).
    pub fn create_iter_result_object(&mut self, value: Value, done: bool) -> Object {
        let shape = match self.realm().iterator_result_shape.get() {
            Some(shape) => shape,
            None => self.make_iterator_result_shape(),
        };
        let o = self.alloc_object(shape, ObjectKind::Ordinary, 2, 0);
        o.set_slot(0, value);
        o.set_slot(1, Value::bool(done));
        o
    }

    #[cold]
    fn make_iterator_result_shape(&mut self) -> Gc<Shape> {
        let shape = self.empty_object_shape();
        let (shape, value_slot) = self.shape_add(shape, atoms::VALUE, crate::shape::attrs::ALL);
        let (shape, done_slot) = self.shape_add(shape, atoms::DONE, crate::shape::attrs::ALL);
        debug_assert_eq!((value_slot, done_slot), (0, 1));
        self.realm().iterator_result_shape.set(Some(shape));
        shape
    }

    /// IteratorToList (7.4.16), rooted.
    pub fn iterator_to_list(&mut self, record: &mut IteratorRecord) -> JsResult<RootedVec> {
        let mut list = self.scratch();
        while let Some(v) = self.iterator_step_value(record)? {
            list.push(v);
            if list.len().is_multiple_of(4096) {
                self.check_heap_room(list.len() * 8)?;
            }
        }
        Ok(list)
    }

    /// GetIterator and IteratorToList in one.
    pub fn iterable_to_list(&mut self, v: Value) -> JsResult<RootedVec> {
        let mut record = self.get_iterator(v)?;
        self.iterator_to_list(&mut record)
    }
}
