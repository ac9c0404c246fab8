//! Explicit resource management: lists of disposable resources. <https://tc39.es/ecma262/#sec-disposable-resource-objects>
//!
//! A list is an array of triples: value, method, hint (0 sync, 1 async). The completion so far is a kind register
//! (0 normal, 1 throw) with its value in the register after it.

use super::super::{Next, State};
use super::slow_paths;
use crate::object::Object;
use crate::realm::Intrinsic;
use crate::symbol;
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

impl Vm {
    /// GetDisposeMethod and CreateDisposableResource; the method is undefined for null and undefined values.
    pub(crate) fn dispose_method(&mut self, value: Value, is_async: bool) -> JsResult<(Value, bool)> {
        if value.is_nullish() {
            return Ok((Value::UNDEFINED, is_async));
        }
        if !value.is_object() {
            return Err(self.throw_type_error("a resource must be an object, null or undefined"));
        }
        if is_async {
            let method = self.get_method(value, symbol::ASYNC_DISPOSE)?;
            if !method.is_undefined() {
                return Ok((method, true));
            }
        }
        let method = self.get_method(value, symbol::DISPOSE)?;
        if method.is_undefined() {
            return Err(self.throw_type_error("the resource has no dispose method"));
        }
        // A synchronous method of an async resource: its result is not awaited itself.
        Ok((method, false))
    }

    /// The error that replaces a completion after a disposer threw `error`.
    pub(crate) fn suppress(&mut self, error: Value, pending: Option<Value>) -> Value {
        let Some(suppressed) = pending else { return error };
        let message = "an error was suppressed during disposal";
        let object = self.new_error(Intrinsic::SuppressedErrorPrototype, message);
        self.add_keyed_property(object, crate::atoms::ERROR, error, crate::shape::attrs::METHOD);
        self.add_keyed_property(object, crate::atoms::SUPPRESSED, suppressed, crate::shape::attrs::METHOD);
        Value::object(object)
    }
}

fn list(s: State, register: usize) -> Option<Object> {
    s.reg(register).as_object().filter(|list| list.is_array())
}

/// Takes the last resource of the list: value, method, hint.
fn pop(list: Object) -> Option<(Value, Value, bool)> {
    let elements = list.elements();
    let length = elements.len();
    if length < 3 {
        return None;
    }
    let triple =
        (elements.get(length - 3), elements.get(length - 2), elements.get(length - 1) == Value::TRUE);
    elements.set_len(length - 3);
    list.set_array_length_slot(length - 3);
    Some(triple)
}

fn note_error(s: State, kind: usize, error: Value) {
    let vm = s.vm();
    let pending = (s.reg(kind) == Value::int32(1)).then(|| s.reg(kind + 1));
    let error = vm.suppress(error, pending);
    s.set(kind, Value::int32(1));
    s.set(kind + 1, error);
}

fn terminated(s: State) -> Next {
    s.unwind(Abrupt::Terminate)
}

slow_paths! {
    fn new_disposables(s) {
        let list = s.vm().new_array();
        s.set(s.a(), Value::object(list));
        s.advance(1)
    }
    fn add_disposable(s) {
        let vm = s.vm();
        let is_async = s.x() == 1;
        let value = s.reg(s.b());
        if value.is_nullish() && !is_async {
            return s.advance(2);
        }
        let (method, awaits_result) = match vm.dispose_method(value, is_async) {
            Ok(resource) => resource,
            Err(abrupt) => return s.unwind(abrupt),
        };
        let Some(list) = list(s, s.a()) else { return s.advance(2) };
        // Hint: TRUE awaits the result, NULL awaits undefined, FALSE does not wait.
        let hint = match (is_async, awaits_result) {
            (true, true) => Value::TRUE,
            (true, false) => Value::NULL,
            (false, _) => Value::FALSE,
        };
        for part in [value, method, hint] {
            if let Err(abrupt) = vm.append_element(list, part) {
                return s.unwind(abrupt);
            }
        }
        s.advance(2)
    }
    fn dispose_sync(s) {
        let Some(list) = list(s, s.a()) else { return s.advance(1) };
        while let Some((value, method, _)) = pop(list) {
            match s.vm().call(method, value, &[]) {
                Ok(_) => {}
                Err(Abrupt::Throw) => {
                    let error = s.vm().take_exception();
                    note_error(s, s.b(), error);
                }
                Err(Abrupt::Terminate) => return terminated(s),
            }
        }
        s.advance(1)
    }
    fn dispose_next(s) {
        let Some(list) = list(s, s.b()) else { return s.jump_to(s.x() as i32) };
        loop {
            let length = list.elements().len();
            let hint = if length >= 3 { list.elements().get(length - 1) } else { Value::FALSE };
            let Some((value, method, _)) = pop(list) else {
                return s.jump_to(s.x() as i32);
            };
            if method.is_undefined() {
                s.set(s.a(), Value::UNDEFINED);
                return s.advance(2);
            }
            match s.vm().call(method, value, &[]) {
                Ok(result) if hint != Value::FALSE => {
                    s.set(s.a(), if hint == Value::TRUE { result } else { Value::UNDEFINED });
                    return s.advance(2);
                }
                Ok(_) => {}
                Err(Abrupt::Throw) => {
                    let error = s.vm().take_exception();
                    note_error(s, s.c(), error);
                }
                Err(Abrupt::Terminate) => return terminated(s),
            }
        }
    }
    fn dispose_error(s) {
        note_error(s, s.b(), s.reg(s.a()));
        s.advance(1)
    }
}
