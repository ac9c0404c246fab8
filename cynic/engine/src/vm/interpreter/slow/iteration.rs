//! Iteration protocols, for-in enumeration.

use std::cell::{Cell, RefCell};

use super::super::{Next, State, coroutine};
use super::slow_paths;
use crate::atoms;
use crate::builtins::array;
use crate::gc::{Data, ExternalCharge, Gc, Trace, Tracer, data_of};
use crate::limits;
use crate::object::cache::GetLookup;
use crate::object::function::{NATIVE_REALM_SLOT, NativeFn, NativeFunctionObject as _};
use crate::object::{Object, ObjectKind, flags};
use crate::ops::IteratorRecord;
use crate::property_key::PropertyKey;
use crate::realm::Intrinsic;
use crate::shape::{PropertyInfo, attrs};
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The state of a for-in loop: keys of the object whose turn it is, and what was seen.
pub(crate) struct ForInState {
    object: Cell<Value>,
    /// `None`: a key whose property was gone when its turn came, which does not hide one of a prototype.
    keys: RefCell<Vec<Option<PropertyKey>>>,
    next: Cell<usize>,
    /// What the objects before this one had; empty for the first.
    visited: RefCell<rustc_hash::FxHashSet<PropertyKey>>,
    /// For these two, when they are large.
    charge: ExternalCharge,
}

impl Trace for ForInState {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.value(self.object.get());
        for key in self.keys.borrow().iter().flatten() {
            tracer.key(*key);
        }
        for key in self.visited.borrow().iter() {
            tracer.key(*key);
        }
    }
}

/// Whether neither this object nor any above it has a property that for-in would show.
fn shows_nothing(object: Object) -> bool {
    let mut at = Some(object);
    while let Some(object) = at {
        if object.has_flag(flags::EXOTIC | flags::HAS_SPARSE) || !object.elements().is_empty() {
            return false;
        }
        let shown = |info: PropertyInfo| info.attrs & attrs::ENUMERABLE != 0;
        if object.shape().table().iter().any(|(key, info)| shown(info) && !key.is_symbol()) {
            return false;
        }
        at = object.prototype().as_object();
    }
    true
}

/// See [`Vm::iteration_slots`]. Keeps no prototype alive, so every stop of the collector must clear it.
#[derive(Clone, Copy, Default)]
pub(crate) struct IterationSlots {
    epoch: u64,
    prototype: usize,
    values: u32,
    next: u32,
}

impl Vm {
    /// Whether iterating this array with `for-of` is reading its elements: the array, its prototype and the array
    /// iterator are as the language made them.
    pub(crate) fn array_iteration_is_default(&mut self, array: Object) -> bool {
        let prototype = self.intrinsic(Intrinsic::ArrayPrototype);
        if array.prototype() != Value::object(prototype) || array.shape().property_count() > 1 {
            return false;
        }
        let iterator_prototype = self.intrinsic(Intrinsic::ArrayIteratorPrototype);
        let Some(slots) = self.iteration_slots(prototype, iterator_prototype) else { return false };
        self.is_native_in_slot(prototype, slots.values, array::iterator::values)
            && self.is_native_in_slot(iterator_prototype, slots.next, array::iterator::next)
            && iterator_prototype.shape().property_count() <= 2
    }

    /// Where the two functions are that iterate over arrays: remembered as long as no prototype gains, loses or redefines a property.
    fn iteration_slots(&mut self, prototype: Object, iterator_prototype: Object) -> Option<IterationSlots> {
        let known = self.interpreter.iteration_slots;
        if known.epoch == self.proto_epoch && known.prototype == prototype.addr() {
            return Some(known);
        }
        let GetLookup::Own { slot: values } = self.lookup_for_get_cached(prototype, symbol::ITERATOR) else {
            return None;
        };
        let GetLookup::Own { slot: next } = self.lookup_for_get_cached(iterator_prototype, atoms::NEXT)
        else {
            return None;
        };
        let both = [prototype, iterator_prototype];
        let slots = IterationSlots { epoch: self.proto_epoch, prototype: prototype.addr(), values, next };
        // Changes of other objects advance no epoch.
        if both.iter().all(|object| object.has_flag(flags::IS_PROTOTYPE)) {
            self.interpreter.iteration_slots = slots;
        }
        Some(slots)
    }

    /// Whether a slot holds the native function of this realm that runs `code`.
    fn is_native_in_slot(&self, object: Object, slot: u32, code: NativeFn) -> bool {
        let Some(function) = object.slot(slot).as_object().filter(|o| o.is(ObjectKind::NativeFunction))
        else {
            return false;
        };
        std::ptr::fn_addr_eq(function.native_spec().function, code)
            && function.slot(NATIVE_REALM_SLOT) == Value::cell(self.realm())
    }

    fn open_iterator(&mut self, value: Value, allow_fast: bool) -> JsResult<(Value, Value)> {
        if allow_fast
            && let Some(array) = value.as_object().filter(|o| o.is_array())
            && self.array_iteration_is_default(array)
        {
            return Ok((value, Value::ZERO));
        }
        let record = self.get_iterator(value)?;
        if allow_fast && coroutine::may_step(self, record.iterator, record.next_method) {
            return Ok((Value::object(record.iterator), coroutine::STEPS));
        }
        Ok((Value::object(record.iterator), unmarked(record.next_method)))
    }

    /// GetIterator with hint async (7.4.4).
    fn open_async_iterator(&mut self, value: Value) -> JsResult<(Value, Value)> {
        let method = self.get_method(value, symbol::ASYNC_ITERATOR)?;
        if method.is_undefined() {
            let record = self.get_iterator(value)?;
            let iterator = self.create_async_from_sync_iterator(record);
            let next = self.get(iterator, atoms::NEXT)?;
            return Ok((Value::object(iterator), next));
        }
        let record = self.get_iterator_from_method(value, method)?;
        Ok((Value::object(record.iterator), unmarked(record.next_method)))
    }

    fn for_in_state(&mut self, value: Value) -> JsResult<Value> {
        let object = if value.is_nullish() { Value::NULL } else { Value::object(self.to_object(value)?) };
        let state = ForInState {
            object: Cell::new(object),
            keys: RefCell::default(),
            next: Cell::new(0),
            visited: RefCell::default(),
            charge: ExternalCharge::default(),
        };
        let state = self.alloc_data(state);
        if let Some(object) = object.as_object() {
            self.for_in_keys(state, object)?;
        }
        Ok(Value::cell(state))
    }

    fn for_in_keys(&mut self, state: Gc<Data<ForInState>>, object: Object) -> JsResult<()> {
        let keys = self.own_property_keys(object)?;
        if keys.len() > limits::UNCHARGED_VALUES_MAX {
            // The list and the set that its keys get into.
            self.check_heap_room(keys.len() * 2 * size_of::<Option<PropertyKey>>())?;
        }
        let strings = keys.iter().copied().filter(|key| !key.is_symbol()).map(Some).collect();
        let before = state.keys.replace(strings);
        let mut visited = state.visited.borrow_mut();
        visited.extend(before.into_iter().flatten());
        let entries = state.keys.borrow().len() + visited.len();
        drop(visited);
        state.next.set(0);
        if entries <= limits::UNCHARGED_VALUES_MAX {
            return Ok(());
        }
        self.recharge_external(&state.charge, entries * size_of::<Option<PropertyKey>>())
    }

    /// Goes on with the prototype of `object`.
    fn for_in_parent(&mut self, state: Gc<Data<ForInState>>, object: Object) -> JsResult<()> {
        let parent = self.get_prototype_of(object)?;
        match parent.as_object().filter(|parent| !shows_nothing(*parent)) {
            Some(parent) => {
                state.object.set(Value::object(parent));
                self.for_in_keys(state, parent)
            }
            None => {
                state.object.set(Value::NULL);
                Ok(())
            }
        }
    }

    /// EnumerateObjectProperties (14.7.5.9): the next key, or none.
    fn for_in_next(&mut self, state: Gc<Data<ForInState>>) -> JsResult<Option<Value>> {
        loop {
            let Some(object) = state.object.get().as_object() else { return Ok(None) };
            self.poll()?;
            let index = state.next.get();
            let Some(key) = state.keys.borrow().get(index).copied() else {
                self.for_in_parent(state, object)?;
                continue;
            };
            state.next.set(index + 1);
            let Some(key) = key.filter(|key| !state.visited.borrow().contains(key)) else { continue };
            match self.is_enumerable_own(object, key)? {
                Some(true) => return Ok(Some(key.to_value(self))),
                Some(false) => {}
                None => {
                    if let Some(gone) = state.keys.borrow_mut().get_mut(index) {
                        *gone = None;
                    }
                }
            }
        }
    }

    /// Whether an own property is enumerable; `None` if there is no such property.
    fn is_enumerable_own(&mut self, object: Object, key: PropertyKey) -> JsResult<Option<bool>> {
        if !object.has_flag(flags::EXOTIC) && !key.is_index() {
            let info = object.shape().lookup(key);
            return Ok(info.map(|info| info.attrs & attrs::ENUMERABLE != 0));
        }
        Ok(self.get_own_property(object, key)?.map(|property| property.is_enumerable()))
    }

    fn next_value(&mut self, s: State) -> JsResult<Option<Value>> {
        let (iterator, next) = (s.reg(s.b()), s.reg(s.b() + 1));
        let Some(object) = iterator.as_object() else { return Ok(None) };
        if let Some(index) = next.as_int32() {
            let index = index as u32;
            if index >= object.array_length() {
                return Ok(None);
            }
            s.set(s.b() + 1, Value::int32(index as i32 + 1));
            return self.get(object, PropertyKey::index(index)).map(Some);
        }
        let mut record = IteratorRecord { iterator: object, next_method: next, done: false };
        self.iterator_step_value(&mut record)
    }
}

/// An int32 in the second register of a record marks an array's, and `true` that of a generator which the loop steps: a `next`
/// that is one must not go there. Calling what is put in its place fails as well.
fn unmarked(next: Value) -> Value {
    if next.is_int32() || next == coroutine::STEPS { Value::NULL } else { next }
}

fn finish_record(s: State, result: JsResult<(Value, Value)>) -> Next {
    match result {
        Ok((iterator, next)) => {
            s.set(s.a(), iterator);
            s.set(s.a() + 1, next);
            s.advance(1)
        }
        Err(abrupt) => s.unwind(abrupt),
    }
}

/// The record in registers b and b+1, unless it is closed or the fast one, which has nothing to close.
fn open_record(s: State) -> Option<IteratorRecord> {
    let (iterator, next) = (s.reg(s.b()), s.reg(s.b() + 1));
    let iterator = iterator.as_object().filter(|_| !next.is_int32())?;
    Some(IteratorRecord { iterator, next_method: next, done: false })
}

slow_paths! {
    fn get_iterator(s) {
        let result = s.vm().open_iterator(s.reg(s.b()), s.c() == 0);
        finish_record(s, result)
    }
    fn get_async_iterator(s) {
        let result = s.vm().open_async_iterator(s.reg(s.b()));
        finish_record(s, result)
    }
    fn iterator_next(s) {
        if let Some(entered) = coroutine::enter_step(s) {
            return entered.unwrap_or_else(|abrupt| coroutine::complete_step(s, Err(abrupt)));
        }
        let item = s.vm().next_value(s);
        coroutine::complete_step(s, item)
    }
    fn iterator_call(s) {
        let result = s.vm().call(s.reg(s.b() + 1), s.reg(s.b()), &[]);
        s.finish(1, s.a(), result)
    }
    fn iterator_call_with(s) {
        if let Some(entered) = coroutine::enter_next(s) {
            return entered.unwrap_or_else(|abrupt| s.unwind(abrupt));
        }
        let result = s.vm().call(s.reg(s.b() + 1), s.reg(s.b()), &[s.reg(s.c())]);
        s.finish(1, s.a(), result)
    }
    fn iterator_result(s) {
        let vm = s.vm();
        let Some(result) = s.reg(s.b()).as_object() else {
            return throw_not_object_value(s, s.reg(s.b()));
        };
        match vm.iterator_complete(result) {
            Ok(true) => s.jump_to(s.x() as i32),
            Ok(false) => {
                let value = vm.iterator_value(result);
                s.finish(2, s.a(), value)
            }
            Err(abrupt) => s.unwind(abrupt),
        }
    }
    #[cold]
    fn throw_not_object(s) {
        throw_not_object_value(s, s.reg(s.a()))
    }
    fn iterator_close(s) {
        match open_record(s) {
            Some(record) => {
                let result = s.vm().iterator_close(&record, Ok(()));
                s.proceed(1, result)
            }
            None => s.advance(1),
        }
    }
    fn iterator_close_silently(s) {
        if let Some(record) = open_record(s) {
            let vm = s.vm();
            let pending = vm.throw(Value::UNDEFINED);
            if let Err(crate::vm::Abrupt::Terminate) = vm.iterator_close::<()>(&record, Err(pending)) {
                return s.unwind(crate::vm::Abrupt::Terminate);
            }
            vm.take_exception();
        }
        s.advance(1)
    }
    fn iterator_get_method(s) {
        let key = s.ic().property_key();
        let result = s.vm().get_method(s.reg(s.b()), key);
        s.finish(2, s.a(), result)
    }
    fn for_in_prepare(s) {
        let result = s.vm().for_in_state(s.reg(s.b()));
        s.finish(1, s.a(), result)
    }
    fn for_in_next(s) {
        let Some(state) = data_of::<ForInState>(s.reg(s.b())) else {
            return s.jump_to(s.x() as i32);
        };
        match s.vm().for_in_next(state) {
            Ok(Some(key)) => {
                s.set(s.a(), key);
                s.advance(2)
            }
            Ok(None) => s.jump_to(s.x() as i32),
            Err(abrupt) => s.unwind(abrupt),
        }
    }
}

#[cold]
fn throw_not_object_value(s: State, value: Value) -> Next {
    let vm = s.vm();
    let message = format!("iterator result {} is not an object", vm.describe(value));
    let abrupt = vm.throw_type_error(&message);
    s.unwind(abrupt)
}
