//! Promises (27.2). <https://tc39.es/ecma262/#sec-promise-objects>
//!
//! A promise's internal slot 0 is a [`PromiseData`] cell. Reactions of the engine's own (awaits, module evaluation) are
//! native handlers, so that they cost no function objects.

use std::cell::{Cell, RefCell};

use crate::atoms;
use crate::gc::{Data, Gc, Trace, Tracer, ValueArray};
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind};
use crate::ops::IteratorRecord;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, method, prototype, species, to_string_tag};
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::interpreter::coroutine::Coroutine;
use crate::vm::jobs::{Job, ReactionHandler};
use crate::vm::{Abrupt, JsResult, Vm};

/// %Promise%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Promise", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        method("all", 1, all),
        method("allSettled", 1, all_settled),
        method("any", 1, any),
        prototype(Intrinsic::PromisePrototype),
        method("race", 1, race),
        method("reject", 1, reject),
        method("resolve", 1, resolve),
        method("try", 1, try_),
        method("withResolvers", 0, with_resolvers),
        species(),
    ],
};

/// %Promise.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::Promise),
        method("catch", 1, catch),
        method("finally", 1, finally),
        method("then", 2, then),
        to_string_tag("Promise"),
    ],
};

/// `[[PromiseState]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromiseState {
    /// Not settled.
    Pending,
    /// Has a value.
    Fulfilled,
    /// Has a reason.
    Rejected,
}

/// A PromiseCapability Record (27.2.1.1).
#[derive(Clone, Copy, Debug)]
pub struct Capability {
    /// `[[Promise]]`.
    pub promise: Value,
    /// `[[Resolve]]`, or undefined: the promise is one of the engine's own and is settled directly.
    pub resolve: Value,
    /// `[[Reject]]`, likewise.
    pub reject: Value,
}

impl Capability {
    /// Reports what the record holds.
    pub fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.value(self.promise);
        tracer.value(self.resolve);
        tracer.value(self.reject);
    }

    /// Calls `[[Resolve]]`.
    pub fn resolve(&self, vm: &mut Vm, value: Value) -> JsResult<()> {
        match self.promise.as_object() {
            Some(promise) if self.resolve.is_undefined() => resolve_promise(vm, promise, value),
            _ => vm.call(self.resolve, Value::UNDEFINED, &[value]).map(drop),
        }
    }

    /// Calls `[[Reject]]`.
    pub fn reject(&self, vm: &mut Vm, reason: Value) -> JsResult<()> {
        match self.promise.as_object() {
            Some(promise) if self.reject.is_undefined() => {
                reject_promise(vm, promise, reason);
                Ok(())
            }
            _ => vm.call(self.reject, Value::UNDEFINED, &[reason]).map(drop),
        }
    }
}

struct Reaction {
    capability: Option<Capability>,
    on_fulfilled: ReactionHandler,
    on_rejected: ReactionHandler,
}

/// The internal slots of a promise.
pub struct PromiseData {
    state: Cell<PromiseState>,
    result: Cell<Value>,
    reactions: RefCell<Vec<Reaction>>,
    is_handled: Cell<bool>,
}

impl Trace for PromiseData {
    const BARRIERED: bool = true;

    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.value(self.result.get());
        for reaction in self.reactions.borrow().iter() {
            if let Some(capability) = &reaction.capability {
                capability.trace(tracer);
            }
            reaction.on_fulfilled.trace(tracer);
            reaction.on_rejected.trace(tracer);
        }
    }
}

impl PromiseData {
    /// `[[PromiseState]]`.
    pub fn state(&self) -> PromiseState {
        self.state.get()
    }
    /// `[[PromiseResult]]`.
    pub fn result(&self) -> Value {
        self.result.get()
    }
}

/// The slots of a promise.
pub fn data(promise: Object) -> Option<Gc<Data<PromiseData>>> {
    if promise.is(ObjectKind::Promise) { promise.data::<PromiseData>(0) } else { None }
}

fn allocate(vm: &mut Vm, prototype: Value) -> Object {
    let cell = vm.alloc_data(PromiseData {
        state: Cell::new(PromiseState::Pending),
        result: Cell::new(Value::UNDEFINED),
        reactions: RefCell::default(),
        is_handled: Cell::new(false),
    });
    let shape = vm.root_shape(prototype, 1);
    let object = vm.alloc_object(shape, ObjectKind::Promise, 1, 0);
    object.set_slot(0, Value::cell(cell));
    object
}

/// A new pending promise with the realm's %Promise.prototype%.
pub fn new_promise(vm: &mut Vm) -> Object {
    let prototype = Value::object(vm.intrinsic(Intrinsic::PromisePrototype));
    allocate(vm, prototype)
}

fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Promise constructor cannot be called without 'new'"));
    }
    let executor = args.get(0);
    if !executor.is_callable() {
        return Err(vm.throw_type_error("the promise executor is not a function"));
    }
    let prototype = vm.get_prototype_from_constructor(args.new_target, Intrinsic::PromisePrototype)?;
    let promise = allocate(vm, Value::object(prototype));
    let (resolve, reject) = resolving_functions(vm, promise);
    match vm.call(executor, Value::UNDEFINED, &[resolve, reject]) {
        Ok(_) => {}
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            vm.call(reject, Value::UNDEFINED, &[reason])?;
        }
        Err(abrupt) => return Err(abrupt),
    }
    Ok(Value::object(promise))
}

static RESOLVE_FUNCTION: NativeSpec = NativeSpec::new("", 1, |vm, args| settle_once(vm, args, false));
static REJECT_FUNCTION: NativeSpec = NativeSpec::new("", 1, |vm, args| settle_once(vm, args, true));

/// CreateResolvingFunctions (27.2.1.3).
pub fn resolving_functions(vm: &mut Vm, promise: Object) -> (Value, Value) {
    let already_resolved = Value::cell(vm.new_value_array(1, Value::FALSE));
    let captured = [Value::object(promise), already_resolved];
    let resolve = vm.new_native_function(&RESOLVE_FUNCTION, &captured);
    let reject = vm.new_native_function(&REJECT_FUNCTION, &captured);
    (Value::object(resolve), Value::object(reject))
}

/// True the first time for a captured one-slot array.
fn first_time(flag: Value) -> bool {
    let Some(flag) = flag.as_value_array() else { return false };
    let first = flag.get(0) == Value::FALSE;
    flag.set(0, Value::TRUE);
    first
}

fn settle_once(vm: &mut Vm, args: CallArgs, is_reject: bool) -> JsResult<Value> {
    if let (Some(promise), true) = (args.captured(0).as_object(), first_time(args.captured(1))) {
        if is_reject {
            reject_promise(vm, promise, args.get(0));
        } else {
            resolve_promise(vm, promise, args.get(0))?;
        }
    }
    Ok(Value::UNDEFINED)
}

/// The promise resolve function's steps (27.2.1.3.2) after the already-resolved test.
pub fn resolve_promise(vm: &mut Vm, promise: Object, resolution: Value) -> JsResult<()> {
    if resolution == Value::object(promise) {
        let error = vm.new_error(Intrinsic::TypeErrorPrototype, "a promise cannot be resolved with itself");
        reject_promise(vm, promise, Value::object(error));
        return Ok(());
    }
    let Some(thenable) = resolution.as_object() else {
        fulfill_promise(vm, promise, resolution);
        return Ok(());
    };
    match vm.get(thenable, atoms::THEN) {
        Ok(then) if then.is_callable() => {
            vm.enqueue_job(Job::ResolveThenable { promise, thenable: resolution, then });
        }
        Ok(_) => fulfill_promise(vm, promise, resolution),
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            reject_promise(vm, promise, reason);
        }
        Err(abrupt) => return Err(abrupt),
    }
    Ok(())
}

/// The job of resolving a promise with a thenable.
pub(crate) fn resolve_thenable(vm: &mut Vm, promise: Object, thenable: Value, then: Value) -> JsResult<()> {
    let (resolve, reject) = resolving_functions(vm, promise);
    match vm.call(then, thenable, &[resolve, reject]) {
        Ok(_) => Ok(()),
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            vm.call(reject, Value::UNDEFINED, &[reason]).map(drop)
        }
        Err(abrupt) => Err(abrupt),
    }
}

/// FulfillPromise (27.2.1.4).
pub fn fulfill_promise(vm: &mut Vm, promise: Object, value: Value) {
    settle(vm, promise, PromiseState::Fulfilled, value);
}

/// RejectPromise (27.2.1.7).
pub fn reject_promise(vm: &mut Vm, promise: Object, reason: Value) {
    let unhandled = data(promise).is_some_and(|data| !data.is_handled.get());
    settle(vm, promise, PromiseState::Rejected, reason);
    if unhandled {
        vm.interpreter.rejections.push(Value::object(promise));
    }
}

fn settle(vm: &mut Vm, promise: Object, state: PromiseState, value: Value) {
    let Some(data) = data(promise) else { return };
    if data.state.get() != PromiseState::Pending {
        return;
    }
    data.state.set(state);
    data.result.set(value);
    data.write_barrier();
    for reaction in data.reactions.take() {
        enqueue_reaction(vm, state, value, reaction);
    }
}

fn enqueue_reaction(vm: &mut Vm, state: PromiseState, argument: Value, reaction: Reaction) {
    let handler = if state == PromiseState::Fulfilled { reaction.on_fulfilled } else { reaction.on_rejected };
    vm.enqueue_job(Job::Reaction { handler, argument, capability: reaction.capability });
}

/// The first coroutine that awaits the promise.
pub(crate) fn awaited_by(promise: Object) -> Option<Gc<Data<Coroutine>>> {
    let data = data(promise)?;
    let reactions = data.reactions.borrow();
    reactions.iter().find_map(|reaction| match reaction.on_fulfilled {
        ReactionHandler::Resume(coroutine, _) => Some(coroutine),
        _ => None,
    })
}

/// PerformPromiseThen (27.2.5.4.1).
pub fn perform_then(
    vm: &mut Vm,
    promise: Object,
    on_fulfilled: ReactionHandler,
    on_rejected: ReactionHandler,
    capability: Option<Capability>,
) {
    let Some(data) = data(promise) else { return };
    let reaction = Reaction { capability, on_fulfilled, on_rejected };
    match data.state.get() {
        PromiseState::Pending => {
            data.reactions.borrow_mut().push(reaction);
            data.write_barrier();
        }
        state => enqueue_reaction(vm, state, data.result.get(), reaction),
    }
    if !data.is_handled.replace(true) && data.state.get() == PromiseState::Rejected {
        vm.interpreter.rejections.retain(|rejected| *rejected != Value::object(promise));
    }
}

/// PromiseResolve (27.2.4.7.1) with %Promise%.
pub fn promise_resolve(vm: &mut Vm, value: Value) -> JsResult<Object> {
    let constructor = vm.intrinsic(Intrinsic::Promise);
    if let Some(promise) = value.as_object().filter(|o| o.is(ObjectKind::Promise)) {
        let own = vm.get(promise, atoms::CONSTRUCTOR)?;
        if own == Value::object(constructor) {
            return Ok(promise);
        }
    }
    let promise = new_promise(vm);
    resolve_promise(vm, promise, value)?;
    Ok(promise)
}

/// PromiseResolve with any constructor.
pub fn promise_resolve_with(vm: &mut Vm, constructor: Value, value: Value) -> JsResult<Value> {
    if let Some(promise) = value.as_object().filter(|o| o.is(ObjectKind::Promise)) {
        let own = vm.get(promise, atoms::CONSTRUCTOR)?;
        if vm.same_value(own, constructor) {
            return Ok(value);
        }
    }
    let capability = new_capability(vm, constructor)?;
    capability.resolve(vm, value)?;
    Ok(capability.promise)
}

static CAPABILITY_EXECUTOR: NativeSpec = NativeSpec::new("", 2, |vm, args| {
    let Some(functions) = args.captured(0).as_value_array() else { return Ok(Value::UNDEFINED) };
    if !functions.get(0).is_undefined() || !functions.get(1).is_undefined() {
        return Err(vm.throw_type_error("the promise executor was called twice"));
    }
    functions.set(0, args.get(0));
    functions.set(1, args.get(1));
    Ok(Value::UNDEFINED)
});

/// NewPromiseCapability (27.2.1.5).
pub fn new_capability(vm: &mut Vm, constructor: Value) -> JsResult<Capability> {
    if constructor == Value::object(vm.intrinsic(Intrinsic::Promise)) {
        let promise = new_promise(vm);
        let (resolve, reject) = resolving_functions(vm, promise);
        return Ok(Capability { promise: Value::object(promise), resolve, reject });
    }
    let Some(object) = constructor.as_object().filter(|o| o.is_constructor()) else {
        return Err(vm.throw_type_error("the promise constructor is not a constructor"));
    };
    let functions: Gc<ValueArray> = vm.new_value_array(2, Value::UNDEFINED);
    let executor = vm.new_native_function(&CAPABILITY_EXECUTOR, &[Value::cell(functions)]);
    let promise = vm.construct(object, &[Value::object(executor)], object)?;
    let (resolve, reject) = (functions.get(0), functions.get(1));
    if !resolve.is_callable() || !reject.is_callable() {
        return Err(vm.throw_type_error("the promise constructor gave no resolving functions"));
    }
    Ok(Capability { promise: Value::object(promise), resolve, reject })
}

/// A capability of the engine's own: settled directly.
pub fn internal_capability(vm: &mut Vm) -> Capability {
    let promise = new_promise(vm);
    Capability { promise: Value::object(promise), resolve: Value::UNDEFINED, reject: Value::UNDEFINED }
}

/// IfAbruptRejectPromise (27.2.1.1.1).
fn reject_if_abrupt(vm: &mut Vm, capability: &Capability, result: JsResult<Value>) -> JsResult<Value> {
    match result {
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            capability.reject(vm, reason)?;
            Ok(capability.promise)
        }
        other => other,
    }
}

/// 27.2.5.4
fn then(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(promise) = args.this.as_object().filter(|o| o.is(ObjectKind::Promise)) else {
        return Err(vm.throw_type_error("Promise.prototype.then was called on a value that is not a promise"));
    };
    let constructor = vm.species_constructor(promise, Intrinsic::Promise)?;
    // OPTIMIZATION: equals NewPromiseCapability(%Promise%), whose functions nobody else gets to see.
    let capability = if constructor == vm.intrinsic(Intrinsic::Promise) {
        internal_capability(vm)
    } else {
        new_capability(vm, Value::object(constructor))?
    };
    let handler = |value: Value, default| match value.as_object().filter(|o| o.is_callable()) {
        Some(function) => ReactionHandler::Function(function),
        None => default,
    };
    let on_fulfilled = handler(args.get(0), ReactionHandler::Identity);
    let on_rejected = handler(args.get(1), ReactionHandler::Thrower);
    perform_then(vm, promise, on_fulfilled, on_rejected, Some(capability));
    Ok(capability.promise)
}

/// 27.2.5.1
fn catch(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.invoke(args.this, atoms::THEN, &[Value::UNDEFINED, args.get(0)])
}

static THEN_FINALLY: NativeSpec = NativeSpec::new("", 1, |vm, args| finally_step(vm, args, false));
static CATCH_FINALLY: NativeSpec = NativeSpec::new("", 1, |vm, args| finally_step(vm, args, true));
static VALUE_THUNK: NativeSpec = NativeSpec::new("", 0, |_, args| Ok(args.captured(0)));
static THROWER: NativeSpec = NativeSpec::new("", 0, |vm, args| Err(vm.throw(args.captured(0))));

/// 27.2.5.3
fn finally(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(promise) = args.this.as_object() else {
        return Err(
            vm.throw_type_error("Promise.prototype.finally was called on a value that is not an object")
        );
    };
    let constructor = Value::object(vm.species_constructor(promise, Intrinsic::Promise)?);
    let on_finally = args.get(0);
    if !on_finally.is_callable() {
        return vm.invoke(args.this, atoms::THEN, &[on_finally, on_finally]);
    }
    let captured = [on_finally, constructor];
    let on_fulfilled = Value::object(vm.new_native_function(&THEN_FINALLY, &captured));
    let on_rejected = Value::object(vm.new_native_function(&CATCH_FINALLY, &captured));
    vm.invoke(args.this, atoms::THEN, &[on_fulfilled, on_rejected])
}

fn finally_step(vm: &mut Vm, args: CallArgs, is_catch: bool) -> JsResult<Value> {
    let result = vm.call(args.captured(0), Value::UNDEFINED, &[])?;
    let promise = promise_resolve_with(vm, args.captured(1), result)?;
    let spec = if is_catch { &THROWER } else { &VALUE_THUNK };
    let function = Value::object(vm.new_native_function(spec, &[args.get(0)]));
    vm.invoke(promise, atoms::THEN, &[function])
}

/// 27.2.4.7
fn resolve(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.this.is_object() {
        return Err(vm.throw_type_error("Promise.resolve was called on a value that is not an object"));
    }
    promise_resolve_with(vm, args.this, args.get(0))
}

/// 27.2.4.6
fn reject(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let capability = new_capability(vm, args.this)?;
    capability.reject(vm, args.get(0))?;
    Ok(capability.promise)
}

/// 27.2.4.8
fn try_(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.this.is_object() {
        return Err(vm.throw_type_error("Promise.try was called on a value that is not an object"));
    }
    let capability = new_capability(vm, args.this)?;
    match vm.call(args.get(0), Value::UNDEFINED, args.rest(1)) {
        Ok(value) => capability.resolve(vm, value)?,
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            capability.reject(vm, reason)?;
        }
        Err(abrupt) => return Err(abrupt),
    }
    Ok(capability.promise)
}

/// 27.2.4.9
fn with_resolvers(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let capability = new_capability(vm, args.this)?;
    let shape = vm.empty_object_shape();
    let object = vm.alloc_object(shape, ObjectKind::Ordinary, 3, 0);
    vm.create_data_property_or_throw(object, atoms::PROMISE, capability.promise)?;
    vm.create_data_property_or_throw(object, atoms::RESOLVE, capability.resolve)?;
    vm.create_data_property_or_throw(object, atoms::REJECT, capability.reject)?;
    Ok(Value::object(object))
}

/// A combinator: what its element functions do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Combinator {
    All,
    AllSettled,
    Any,
    Race,
}

fn all(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    combine(vm, args, Combinator::All)
}

fn all_settled(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    combine(vm, args, Combinator::AllSettled)
}

fn any(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    combine(vm, args, Combinator::Any)
}

fn race(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    combine(vm, args, Combinator::Race)
}

fn combine(vm: &mut Vm, args: CallArgs, which: Combinator) -> JsResult<Value> {
    let constructor = args.this;
    let capability = new_capability(vm, constructor)?;
    let resolve = promise_resolve_method(vm, constructor);
    if resolve.is_err() {
        return reject_if_abrupt(vm, &capability, resolve);
    }
    let Ok(resolve) = resolve else { return Ok(capability.promise) };
    let mut record = match vm.get_iterator(args.get(0)) {
        Ok(record) => record,
        Err(abrupt) => return reject_if_abrupt(vm, &capability, Err(abrupt)),
    };
    let result = perform_combinator(vm, &mut record, constructor, &capability, resolve, which);
    let result = match result {
        Err(Abrupt::Throw) if !record.done => vm.iterator_close(&record, result),
        other => other,
    };
    reject_if_abrupt(vm, &capability, result)
}

/// GetPromiseResolve (27.2.4.1.1).
fn promise_resolve_method(vm: &mut Vm, constructor: Value) -> JsResult<Value> {
    let resolve = vm.get_v(constructor, atoms::RESOLVE)?;
    if resolve.is_callable() {
        return Ok(resolve);
    }
    Err(vm.throw_type_error("the 'resolve' of the promise constructor is not a function"))
}

/// Index of the remaining-elements counter in the shared state of a combinator.
const REMAINING: u32 = 0;
/// Index of the array of values.
const VALUES: u32 = 1;
/// Index of the settling function.
const SETTLE: u32 = 2;

fn perform_combinator(
    vm: &mut Vm,
    record: &mut IteratorRecord,
    constructor: Value,
    capability: &Capability,
    resolve: Value,
    which: Combinator,
) -> JsResult<Value> {
    let shared = vm.new_value_array(3, Value::UNDEFINED);
    let values = vm.new_array();
    shared.set(REMAINING, Value::int32(1));
    shared.set(VALUES, Value::object(values));
    shared.set(SETTLE, if which == Combinator::Any { capability.reject } else { capability.resolve });
    let mut index = 0;
    while let Some(next) = vm.iterator_step_value(record)? {
        if which != Combinator::Race {
            vm.append_element(values, Value::UNDEFINED)?;
        }
        let promise = vm.call(resolve, constructor, &[next])?;
        let (on_fulfilled, on_rejected) = element_functions(vm, capability, shared, index, which);
        if which != Combinator::Race {
            let remaining = shared.get(REMAINING).as_int32().unwrap_or(0);
            shared.set(REMAINING, Value::int32(remaining + 1));
        }
        vm.invoke(promise, atoms::THEN, &[on_fulfilled, on_rejected])?;
        index += 1;
    }
    if which != Combinator::Race {
        finish_one(vm, shared, which)?;
    }
    Ok(capability.promise)
}

static FULFILL_ELEMENT: NativeSpec =
    NativeSpec::new("", 1, |vm, args| element(vm, args, Combinator::All, true));
static SETTLE_FULFILLED: NativeSpec =
    NativeSpec::new("", 1, |vm, args| element(vm, args, Combinator::AllSettled, true));
static SETTLE_REJECTED: NativeSpec =
    NativeSpec::new("", 1, |vm, args| element(vm, args, Combinator::AllSettled, false));
static REJECT_ELEMENT: NativeSpec =
    NativeSpec::new("", 1, |vm, args| element(vm, args, Combinator::Any, false));

fn element_functions(
    vm: &mut Vm,
    capability: &Capability,
    shared: Gc<ValueArray>,
    index: i32,
    which: Combinator,
) -> (Value, Value) {
    let already_called = Value::cell(vm.new_value_array(1, Value::FALSE));
    let captured = [Value::cell(shared), Value::int32(index), already_called];
    let mut function = |spec| Value::object(vm.new_native_function(spec, &captured));
    match which {
        Combinator::All => (function(&FULFILL_ELEMENT), capability.reject),
        Combinator::AllSettled => (function(&SETTLE_FULFILLED), function(&SETTLE_REJECTED)),
        Combinator::Any => (capability.resolve, function(&REJECT_ELEMENT)),
        Combinator::Race => (capability.resolve, capability.reject),
    }
}

fn element(vm: &mut Vm, args: CallArgs, which: Combinator, fulfilled: bool) -> JsResult<Value> {
    let (Some(shared), true) = (args.captured(0).as_value_array(), first_time(args.captured(2))) else {
        return Ok(Value::UNDEFINED);
    };
    let mut value = args.get(0);
    if which == Combinator::AllSettled {
        let shape = vm.empty_object_shape();
        let object = vm.alloc_object(shape, ObjectKind::Ordinary, 2, 0);
        let (status, key) =
            if fulfilled { (atoms::FULFILLED, atoms::VALUE) } else { (atoms::REJECTED, atoms::REASON) };
        let status = status.to_value(vm);
        vm.create_data_property_or_throw(object, atoms::STATUS, status)?;
        vm.create_data_property_or_throw(object, key, value)?;
        value = Value::object(object);
    }
    let index = args.captured(1).as_int32().unwrap_or(0) as u32;
    if let Some(values) = shared.get(VALUES).as_object() {
        values.elements().set(index, value);
    }
    finish_one(vm, shared, which)
}

/// Counts one element down; the last one settles the combined promise.
fn finish_one(vm: &mut Vm, shared: Gc<ValueArray>, which: Combinator) -> JsResult<Value> {
    let remaining = shared.get(REMAINING).as_int32().unwrap_or(0) - 1;
    shared.set(REMAINING, Value::int32(remaining));
    if remaining > 0 {
        return Ok(Value::UNDEFINED);
    }
    let mut result = shared.get(VALUES);
    if which == Combinator::Any {
        let error = vm.new_error(Intrinsic::AggregateErrorPrototype, "all promises were rejected");
        vm.add_keyed_property(error, atoms::ERRORS, result, attrs::METHOD);
        result = Value::object(error);
    }
    vm.call(shared.get(SETTLE), Value::UNDEFINED, &[result])
}
