//! DisposableStack and AsyncDisposableStack (27.3, 27.4). <https://tc39.es/ecma262/#sec-disposablestack-objects>
//!
//! Internal slot 0 of both is a [`Resources`] cell. A stack is disposed of once: its resources are taken out, last one first.
//! Invariant: resources run only after they have left the list, so that re-entry finds none of them again.

use std::cell::{Cell, RefCell};

use crate::builtins::promise::{self, Capability};
use crate::gc::{Data, ExternalCharge, Gc, Trace, Tracer, data_of};
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind};
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, KeySpec, PropertySpec, ValueSpec, constructor, getter, method, prototype,
    to_string_tag,
};
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::jobs::ReactionHandler;
use crate::vm::{Abrupt, JsResult, Vm};

/// %DisposableStack%.
pub static DISPOSABLE_STACK: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("DisposableStack", 0, |vm, args| {
        construct(vm, args, &SYNC)
    })),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::DisposableStackPrototype)],
};

/// %DisposableStack.prototype%.
pub static DISPOSABLE_STACK_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        method("adopt", 2, |vm, args| adopt(vm, args, &SYNC)),
        constructor(Intrinsic::DisposableStack),
        method("defer", 1, |vm, args| defer(vm, args, &SYNC)),
        method("dispose", 0, dispose),
        getter("disposed", |vm, args| is_disposed(vm, args, &SYNC)),
        method("move", 0, |vm, args| move_resources(vm, args, &SYNC)),
        method("use", 1, |vm, args| use_resource(vm, args, &SYNC)),
        PropertySpec {
            key: KeySpec::Symbol(symbol::DISPOSE),
            value: ValueSpec::SameAs("dispose"),
            attrs: attrs::METHOD,
        },
        to_string_tag("DisposableStack"),
    ],
};

/// %AsyncDisposableStack%.
pub static ASYNC_DISPOSABLE_STACK: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("AsyncDisposableStack", 0, |vm, args| {
        construct(vm, args, &ASYNC)
    })),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::AsyncDisposableStackPrototype)],
};

/// %AsyncDisposableStack.prototype%.
pub static ASYNC_DISPOSABLE_STACK_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        method("adopt", 2, |vm, args| adopt(vm, args, &ASYNC)),
        constructor(Intrinsic::AsyncDisposableStack),
        method("defer", 1, |vm, args| defer(vm, args, &ASYNC)),
        method("disposeAsync", 0, dispose_async),
        getter("disposed", |vm, args| is_disposed(vm, args, &ASYNC)),
        method("move", 0, |vm, args| move_resources(vm, args, &ASYNC)),
        method("use", 1, |vm, args| use_resource(vm, args, &ASYNC)),
        PropertySpec {
            key: KeySpec::Symbol(symbol::ASYNC_DISPOSE),
            value: ValueSpec::SameAs("disposeAsync"),
            attrs: attrs::METHOD,
        },
        to_string_tag("AsyncDisposableStack"),
    ],
};

/// What tells the two classes apart.
struct Class {
    name: &'static str,
    kind: ObjectKind,
    prototype: Intrinsic,
    is_async: bool,
}

static SYNC: Class = Class {
    name: "DisposableStack",
    kind: ObjectKind::DisposableStack,
    prototype: Intrinsic::DisposableStackPrototype,
    is_async: false,
};

static ASYNC: Class = Class {
    name: "AsyncDisposableStack",
    kind: ObjectKind::AsyncDisposableStack,
    prototype: Intrinsic::AsyncDisposableStackPrototype,
    is_async: true,
};

/// A DisposableResource Record.
#[derive(Clone, Copy)]
enum Resource {
    /// The dispose method of a value; undefined if there was no value. `is_fallback`: a synchronous method of an async stack, whose
    /// result is not awaited itself.
    Method { value: Value, method: Value, is_fallback: bool },
    /// A function for a value.
    Adopted { value: Value, function: Value },
    /// A function.
    Deferred(Value),
}

impl Resource {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        match self {
            Resource::Method { value, method, .. } => {
                tracer.value(*value);
                tracer.value(*method);
            }
            Resource::Adopted { value, function } => {
                tracer.value(*value);
                tracer.value(*function);
            }
            Resource::Deferred(function) => tracer.value(*function),
        }
    }

    /// Calls what disposes of the resource.
    fn call(&self, vm: &mut Vm) -> JsResult<Value> {
        match *self {
            Resource::Method { value, method, .. } => vm.call(method, value, &[]),
            Resource::Adopted { value, function } => vm.call(function, Value::UNDEFINED, &[value]),
            Resource::Deferred(function) => vm.call(function, Value::UNDEFINED, &[]),
        }
    }
}

/// The internal slots of a stack.
#[derive(Default)]
struct Resources {
    list: RefCell<Vec<Resource>>,
    is_disposed: Cell<bool>,
    charge: ExternalCharge,
}

impl Trace for Resources {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        for resource in self.list.borrow().iter() {
            resource.trace(tracer);
        }
    }
}

fn create(vm: &mut Vm, class: &Class, prototype: Value, resources: Resources) -> Object {
    let data = vm.alloc_data(resources);
    let object = vm.new_exotic(class.kind, prototype, 1);
    object.set_slot(0, Value::cell(data));
    object
}

fn construct(vm: &mut Vm, args: CallArgs, class: &Class) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error(&format!("{} must be called with new", class.name)));
    }
    let prototype = vm.get_prototype_from_constructor(args.new_target, class.prototype)?;
    Ok(Value::object(create(vm, class, Value::object(prototype), Resources::default())))
}

/// RequireInternalSlot.
fn this_stack(vm: &mut Vm, args: &CallArgs, class: &Class) -> JsResult<Gc<Data<Resources>>> {
    let object = args.this.as_object().filter(|object| object.is(class.kind));
    match object.and_then(|object| object.data::<Resources>(0)) {
        Some(resources) => Ok(resources),
        None => Err(vm.throw_type_error(&format!("this is not a {}", class.name))),
    }
}

/// The same for a stack that can still be changed.
fn open_stack(vm: &mut Vm, args: &CallArgs, class: &Class) -> JsResult<Gc<Data<Resources>>> {
    let resources = this_stack(vm, args, class)?;
    if resources.is_disposed.get() {
        return Err(vm.throw_reference_error(&format!("the {} has been disposed of", class.name)));
    }
    Ok(resources)
}

fn push(vm: &mut Vm, resources: Gc<Data<Resources>>, resource: Resource) -> JsResult<()> {
    let mut list = resources.list.borrow_mut();
    let grows = list.len() == list.capacity();
    list.push(resource);
    let bytes = list.capacity() * size_of::<Resource>();
    drop(list);
    resources.write_barrier();
    if grows { vm.recharge_external(&resources.charge, bytes) } else { Ok(()) }
}

fn function_argument(vm: &mut Vm, function: Value) -> JsResult<Value> {
    if function.is_callable() {
        return Ok(function);
    }
    Err(vm.throw_type_error("what disposes of a resource must be a function"))
}

fn adopt(vm: &mut Vm, args: CallArgs, class: &Class) -> JsResult<Value> {
    let resources = open_stack(vm, &args, class)?;
    let function = function_argument(vm, args.get(1))?;
    push(vm, resources, Resource::Adopted { value: args.get(0), function })?;
    Ok(args.get(0))
}

fn defer(vm: &mut Vm, args: CallArgs, class: &Class) -> JsResult<Value> {
    let resources = open_stack(vm, &args, class)?;
    let function = function_argument(vm, args.get(0))?;
    push(vm, resources, Resource::Deferred(function))?;
    Ok(Value::UNDEFINED)
}

/// `use`: AddDisposableResource (7.5.4).
fn use_resource(vm: &mut Vm, args: CallArgs, class: &Class) -> JsResult<Value> {
    let resources = open_stack(vm, &args, class)?;
    let value = args.get(0);
    if value.is_nullish() && !class.is_async {
        return Ok(value);
    }
    let (method, awaits_result) = vm.dispose_method(value, class.is_async)?;
    push(vm, resources, Resource::Method { value, method, is_fallback: !awaits_result })?;
    Ok(value)
}

fn is_disposed(vm: &mut Vm, args: CallArgs, class: &Class) -> JsResult<Value> {
    Ok(Value::bool(this_stack(vm, &args, class)?.is_disposed.get()))
}

fn move_resources(vm: &mut Vm, args: CallArgs, class: &Class) -> JsResult<Value> {
    let resources = open_stack(vm, &args, class)?;
    let prototype = Value::object(vm.intrinsic(class.prototype));
    let object = create(vm, class, prototype, Resources::default());
    if let Some(moved) = object.data::<Resources>(0) {
        moved.list.swap(&resources.list);
        moved.write_barrier();
        moved.charge.set_beyond_limit(&vm.heap, resources.charge.bytes());
        resources.charge.set_beyond_limit(&vm.heap, 0);
    }
    resources.is_disposed.set(true);
    Ok(Value::object(object))
}

/// `dispose`: DisposeResources (7.5.7) without awaits.
fn dispose(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let resources = this_stack(vm, &args, &SYNC)?;
    resources.is_disposed.set(true);
    let mut pending: Option<Value> = None;
    loop {
        let Some(resource) = resources.list.borrow_mut().pop() else { break };
        vm.poll()?;
        match resource.call(vm) {
            Ok(_) => {}
            Err(Abrupt::Throw) => {
                let error = vm.take_exception();
                pending = Some(vm.suppress(error, pending));
            }
            Err(abrupt) => return Err(abrupt),
        }
    }
    match pending {
        Some(error) => Err(vm.throw(error)),
        None => Ok(Value::UNDEFINED),
    }
}

/// An asynchronous disposal under way.
struct Disposal {
    resources: Gc<Data<Resources>>,
    capability: Capability,
    /// The error so far, or EMPTY.
    error: Cell<Value>,
    needs_await: Cell<bool>,
    has_awaited: Cell<bool>,
}

impl Trace for Disposal {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.cell(self.resources);
        self.capability.trace(tracer);
        tracer.value(self.error.get());
    }
}

impl Disposal {
    fn note_error(&self, vm: &mut Vm, error: Value) {
        let pending = Some(self.error.get()).filter(|pending| *pending != Value::EMPTY);
        let error = vm.suppress(error, pending);
        self.error.set(error);
    }
}

/// `disposeAsync`.
fn dispose_async(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let capability = promise::internal_capability(vm);
    let resources = match this_stack(vm, &args, &ASYNC) {
        Ok(resources) => resources,
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            capability.reject(vm, reason)?;
            return Ok(capability.promise);
        }
        Err(abrupt) => return Err(abrupt),
    };
    if resources.is_disposed.replace(true) {
        capability.resolve(vm, Value::UNDEFINED)?;
        return Ok(capability.promise);
    }
    let disposal = vm.alloc_data(Disposal {
        resources,
        capability,
        error: Cell::new(Value::EMPTY),
        needs_await: Cell::new(false),
        has_awaited: Cell::new(false),
    });
    drive(vm, disposal)?;
    Ok(capability.promise)
}

/// Disposes until something has to be awaited; settles the promise at the end.
fn drive(vm: &mut Vm, disposal: Gc<Data<Disposal>>) -> JsResult<()> {
    loop {
        let Some(resource) = disposal.resources.list.borrow_mut().pop() else { break };
        vm.poll()?;
        if let Resource::Method { method, .. } = resource
            && method.is_undefined()
        {
            disposal.needs_await.set(true);
            continue;
        }
        let is_fallback = matches!(resource, Resource::Method { is_fallback: true, .. });
        let awaited = match resource.call(vm) {
            Ok(_) if is_fallback => Ok(Value::UNDEFINED),
            // The error of a synchronous method arrives by a promise too.
            Err(Abrupt::Throw) if is_fallback => {
                let reason = vm.take_exception();
                let rejected = promise::new_promise(vm);
                promise::reject_promise(vm, rejected, reason);
                Ok(Value::object(rejected))
            }
            other => other,
        };
        match awaited.and_then(|value| await_value(vm, disposal, value)) {
            Ok(()) => {
                disposal.has_awaited.set(true);
                return Ok(());
            }
            Err(Abrupt::Throw) => {
                let error = vm.take_exception();
                disposal.note_error(vm, error);
            }
            Err(abrupt) => return Err(abrupt),
        }
    }
    if disposal.needs_await.replace(false) && !disposal.has_awaited.get() {
        return await_value(vm, disposal, Value::UNDEFINED);
    }
    match disposal.error.get() {
        Value::EMPTY => disposal.capability.resolve(vm, Value::UNDEFINED),
        error => disposal.capability.reject(vm, error),
    }
}

fn await_value(vm: &mut Vm, disposal: Gc<Data<Disposal>>, value: Value) -> JsResult<()> {
    let awaited = promise::promise_resolve(vm, value)?;
    let state = Value::cell(disposal);
    let go_on = ReactionHandler::Native(|vm, _, state, _| resume(vm, None, state), state, Value::UNDEFINED);
    let note = ReactionHandler::Native(
        |vm, error, state, _| resume(vm, Some(error), state),
        state,
        Value::UNDEFINED,
    );
    promise::perform_then(vm, awaited, go_on, note, None);
    Ok(())
}

fn resume(vm: &mut Vm, error: Option<Value>, state: Value) -> JsResult<Value> {
    if let Some(disposal) = data_of::<Disposal>(state) {
        if let Some(error) = error {
            disposal.note_error(vm, error);
        }
        drive(vm, disposal)?;
    }
    Ok(Value::UNDEFINED)
}
