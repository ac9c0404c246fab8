//! `Array.fromAsync` (23.1.2.1 of the proposal, stage 4). <https://tc39.es/proposal-array-from-async/>
//!
//! The specification writes an async closure; here it is a state machine whose steps end in an await. Invariant: between
//! two steps exactly one promise reaction refers to the state.

use std::cell::Cell;

use super::construct::construct_receiver;
use super::{LENGTH_MAX, callback};
use crate::atoms;
use crate::builtins::promise::{Capability, internal_capability, perform_then, promise_resolve};
use crate::gc::{Data, Gc, Trace, Tracer};
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::ops::IteratorRecord;
use crate::symbol;
use crate::value::Value;
use crate::vm::jobs::ReactionHandler;
use crate::vm::{Abrupt, JsResult, Vm};

/// What the awaited value is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Stage {
    /// The result of the iterator's `next`.
    NextResult,
    /// An element of an array-like.
    Element,
    /// What the mapping function answered.
    Mapped,
    /// What the iterator's `return` answered, before `thrown` is thrown.
    Closing,
}

struct State {
    capability: Capability,
    array: Object,
    /// Absent for an array-like.
    record: Option<IteratorRecord>,
    items: Value,
    length: u64,
    mapper: Option<Value>,
    this_arg: Value,
    index: Cell<u64>,
    stage: Cell<Stage>,
    thrown: Cell<Value>,
}

impl Trace for State {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.capability.trace(tracer);
        tracer.cell(self.array);
        if let Some(r) = self.record {
            tracer.cell(r.iterator);
            tracer.value(r.next_method);
        }
        tracer.value(self.items);
        tracer.value(self.this_arg);
        tracer.value(self.thrown.get());
        if let Some(f) = self.mapper {
            tracer.value(f);
        }
    }
}

/// How a step ends.
enum Step {
    Await(Value),
    Done,
}

type StateRef = Gc<Data<State>>;

pub(super) fn from_async(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let capability = internal_capability(vm);
    match start(vm, args, capability) {
        Ok(state) => {
            let first = begin_element(vm, state);
            settle(vm, state, first)?;
        }
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            capability.reject(vm, reason)?;
        }
        Err(Abrupt::Terminate) => return Err(Abrupt::Terminate),
    }
    Ok(capability.promise)
}

fn start(vm: &mut Vm, args: CallArgs, capability: Capability) -> JsResult<StateRef> {
    let (items, this_arg) = (args.get(0), args.get(2));
    let mapper = match args.get(1) {
        f if f.is_undefined() => None,
        f => Some(callback(vm, f)?),
    };
    let record = open(vm, items)?;
    let mut state = State {
        capability,
        array: vm.new_array(),
        record,
        items,
        length: 0,
        mapper,
        this_arg,
        index: Cell::new(0),
        stage: Cell::new(Stage::NextResult),
        thrown: Cell::new(Value::UNDEFINED),
    };
    if record.is_some() {
        state.array = construct_receiver(vm, args.this, None)?;
    } else {
        let source = vm.to_object(items)?;
        state.items = Value::object(source);
        state.length = vm.length_of_array_like(source)?;
        state.array = construct_receiver(vm, args.this, Some(state.length))?;
    }
    Ok(vm.alloc_data(state))
}

/// The async iterator of the items, or a sync one made async; None for an array-like.
fn open(vm: &mut Vm, items: Value) -> JsResult<Option<IteratorRecord>> {
    let f = vm.get_method(items, symbol::ASYNC_ITERATOR)?;
    if !f.is_undefined() {
        return vm.get_iterator_from_method(items, f).map(Some);
    }
    let f = vm.get_method(items, symbol::ITERATOR)?;
    if f.is_undefined() {
        return Ok(None);
    }
    let sync = vm.get_iterator_from_method(items, f)?;
    let iterator = vm.create_async_from_sync_iterator(sync);
    vm.get_iterator_direct(iterator).map(Some)
}

/// Asks for the next element, or ends.
fn begin_element(vm: &mut Vm, state: StateRef) -> JsResult<Step> {
    let k = state.index.get();
    if let Some(record) = state.record {
        if k >= LENGTH_MAX {
            let error = vm.throw_type_error("too many items");
            return close(vm, state, error);
        }
        state.stage.set(Stage::NextResult);
        return vm.call(record.next_method, Value::object(record.iterator), &[]).map(Step::Await);
    }
    if k >= state.length {
        vm.set_length(state.array, state.length)?;
        return Ok(Step::Done);
    }
    state.stage.set(Stage::Element);
    let Some(source) = state.items.as_object() else { return Ok(Step::Done) };
    let key = vm.key_from_u64(k);
    vm.get(source, key).map(Step::Await)
}

/// Goes on with what was awaited: a value, or the reason of a rejection.
fn advance(vm: &mut Vm, state: StateRef, outcome: Result<Value, Value>) -> JsResult<Step> {
    match (state.stage.get(), outcome) {
        (Stage::Closing, _) => Err(vm.throw(state.thrown.get())),
        (Stage::NextResult | Stage::Element, Err(reason)) => Err(vm.throw(reason)),
        (Stage::Mapped, Err(reason)) => {
            let error = vm.throw(reason);
            close(vm, state, error)
        }
        (Stage::NextResult, Ok(result)) => {
            let Some(result) = result.as_object() else {
                return Err(vm.throw_type_error("the iterator's result is not an object"));
            };
            if vm.iterator_complete(result)? {
                vm.set_length(state.array, state.index.get())?;
                return Ok(Step::Done);
            }
            let v = vm.iterator_value(result)?;
            map_or_define(vm, state, v)
        }
        (Stage::Element, Ok(v)) => map_or_define(vm, state, v),
        (Stage::Mapped, Ok(v)) => define(vm, state, v),
    }
}

fn map_or_define(vm: &mut Vm, state: StateRef, v: Value) -> JsResult<Step> {
    let Some(f) = state.mapper else { return define(vm, state, v) };
    state.stage.set(Stage::Mapped);
    match vm.call(f, state.this_arg, &[v, Value::number(state.index.get() as f64)]) {
        Ok(mapped) => Ok(Step::Await(mapped)),
        Err(e) => close(vm, state, e),
    }
}

fn define(vm: &mut Vm, state: StateRef, v: Value) -> JsResult<Step> {
    let k = state.index.get();
    let key = vm.key_from_u64(k);
    if let Err(e) = vm.create_data_property_or_throw(state.array, key, v) {
        return close(vm, state, e);
    }
    state.index.set(k + 1);
    begin_element(vm, state)
}

/// AsyncIteratorClose (7.4.13) after a throw: awaits what `return` answers, then throws.
fn close(vm: &mut Vm, state: StateRef, error: Abrupt) -> JsResult<Step> {
    let (Some(record), Abrupt::Throw) = (state.record, error) else { return Err(error) };
    state.thrown.set(vm.take_exception());
    state.stage.set(Stage::Closing);
    let iterator = Value::object(record.iterator);
    let answer = match vm.get_method(iterator, atoms::RETURN) {
        Ok(f) if f.is_undefined() => Err(Abrupt::Throw),
        Ok(f) => vm.call(f, iterator, &[]),
        Err(e) => Err(e),
    };
    match answer {
        Ok(v) => Ok(Step::Await(v)),
        Err(Abrupt::Terminate) => Err(Abrupt::Terminate),
        Err(Abrupt::Throw) => Err(vm.throw(state.thrown.get())),
    }
}

/// Acts on how a step ended: awaits, or settles the promise.
fn settle(vm: &mut Vm, state: StateRef, step: JsResult<Step>) -> JsResult<()> {
    let mut step = step;
    loop {
        match step {
            Ok(Step::Await(v)) => match promise_resolve(vm, v) {
                Ok(promise) => {
                    let cell = Value::cell(state);
                    let on_fulfilled = ReactionHandler::Native(fulfilled, cell, Value::UNDEFINED);
                    let on_rejected = ReactionHandler::Native(rejected, cell, Value::UNDEFINED);
                    perform_then(vm, promise, on_fulfilled, on_rejected, None);
                    return Ok(());
                }
                Err(Abrupt::Throw) => {
                    let reason = vm.take_exception();
                    step = advance(vm, state, Err(reason));
                }
                Err(Abrupt::Terminate) => return Err(Abrupt::Terminate),
            },
            Ok(Step::Done) => return state.capability.resolve(vm, Value::object(state.array)),
            Err(Abrupt::Throw) => {
                let reason = vm.take_exception();
                return state.capability.reject(vm, reason);
            }
            Err(Abrupt::Terminate) => return Err(Abrupt::Terminate),
        }
    }
}

fn resume(vm: &mut Vm, cell: Value, outcome: Result<Value, Value>) -> JsResult<Value> {
    if let Some(state) = crate::gc::data_of::<State>(cell) {
        let step = advance(vm, state, outcome);
        settle(vm, state, step)?;
    }
    Ok(Value::UNDEFINED)
}

fn fulfilled(vm: &mut Vm, v: Value, cell: Value, _: Value) -> JsResult<Value> {
    resume(vm, cell, Ok(v))
}

fn rejected(vm: &mut Vm, reason: Value, cell: Value, _: Value) -> JsResult<Value> {
    resume(vm, cell, Err(reason))
}
