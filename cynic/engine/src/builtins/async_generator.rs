//! Async generators (27.4, 27.6) and %AsyncIteratorPrototype% (27.1.4).
//! <https://tc39.es/ecma262/#sec-asyncgenerator-objects>

use super::generator::COROUTINE_SLOT;
use super::promise;
use crate::gc::{Data, Gc};
use crate::object::ObjectKind;
use crate::object::function::{CallArgs, NativeSpec};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, ValueSpec, data, method, symbol_method, to_string_tag};
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::eval::DynamicKind;
use crate::vm::interpreter::coroutine::{self, Coroutine, CoroutineState, Mode, Request};
use crate::vm::jobs::ReactionHandler;
use crate::vm::{Abrupt, JsResult, Vm};

/// %AsyncGeneratorFunction%.
pub static FUNCTION: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("AsyncGeneratorFunction", 1, |vm, args| {
        vm.create_dynamic_function(args, DynamicKind::AsyncGenerator)
    })),
    prototype: Some(Intrinsic::Function),
    properties: &[data("prototype", ValueSpec::Intrinsic(Intrinsic::AsyncGeneratorFunctionPrototype), 0)],
};

/// %AsyncGeneratorFunction.prototype%.
pub static FUNCTION_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        data("constructor", ValueSpec::Intrinsic(Intrinsic::AsyncGeneratorFunction), attrs::CONFIGURABLE),
        data("prototype", ValueSpec::Intrinsic(Intrinsic::AsyncGeneratorPrototype), attrs::CONFIGURABLE),
        to_string_tag("AsyncGeneratorFunction"),
    ],
};

/// %AsyncGeneratorPrototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::AsyncIteratorPrototype),
    properties: &[
        data(
            "constructor",
            ValueSpec::Intrinsic(Intrinsic::AsyncGeneratorFunctionPrototype),
            attrs::CONFIGURABLE,
        ),
        method("next", 1, |vm, args| request(vm, args, Mode::Next)),
        method("return", 1, |vm, args| request(vm, args, Mode::Return)),
        method("throw", 1, |vm, args| request(vm, args, Mode::Throw)),
        to_string_tag("AsyncGenerator"),
    ],
};

/// %AsyncIteratorPrototype%.
pub static ITERATOR_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        symbol_method(symbol::ASYNC_DISPOSE, "[Symbol.asyncDispose]", 0, async_dispose),
        symbol_method(symbol::ASYNC_ITERATOR, "[Symbol.asyncIterator]", 0, |_, args| Ok(args.this)),
    ],
};

/// %AsyncIteratorPrototype% [ %Symbol.asyncDispose% ].
fn async_dispose(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let capability = promise::internal_capability(vm);
    let result = vm.get_method(args.this, crate::atoms::RETURN).and_then(|method| {
        if method.is_undefined() { Ok(Value::UNDEFINED) } else { vm.call(method, args.this, &[]) }
    });
    let settled = result.and_then(|result| promise::promise_resolve(vm, result));
    match settled {
        Ok(inner) => {
            let to_undefined = ReactionHandler::Native(
                |_, _, _, _| Ok(Value::UNDEFINED),
                Value::UNDEFINED,
                Value::UNDEFINED,
            );
            promise::perform_then(vm, inner, to_undefined, ReactionHandler::Thrower, Some(capability));
        }
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            capability.reject(vm, reason)?;
        }
        Err(abrupt) => return Err(abrupt),
    }
    Ok(capability.promise)
}

type Generator = Gc<Data<Coroutine>>;

/// AsyncGenerator.prototype.next, return and throw (27.6.1.2 to 4).
fn request(vm: &mut Vm, args: CallArgs, mode: Mode) -> JsResult<Value> {
    let capability = promise::internal_capability(vm);
    let object = args.this.as_object().filter(|o| o.is(ObjectKind::AsyncGenerator));
    let Some(generator) = object.and_then(|o| o.data::<Coroutine>(COROUTINE_SLOT)) else {
        let message = "an async generator method was called on a value that is not an async generator";
        let error = vm.new_error(Intrinsic::TypeErrorPrototype, message);
        capability.reject(vm, Value::object(error))?;
        return Ok(capability.promise);
    };
    let value = args.get(0);
    let state = generator.state.get();
    if state == CoroutineState::Start && mode != Mode::Next {
        generator.state.set(CoroutineState::Completed);
    }
    if generator.state.get() == CoroutineState::Completed && mode != Mode::Return {
        match mode {
            Mode::Throw => capability.reject(vm, value)?,
            _ => {
                let result = vm.create_iter_result_object(Value::UNDEFINED, true);
                capability.resolve(vm, Value::object(result))?;
            }
        }
        return Ok(capability.promise);
    }
    generator.queue.borrow_mut().push_back(Request { mode, value, capability });
    generator.write_barrier();
    match generator.state.get() {
        CoroutineState::Start | CoroutineState::Suspended if !is_awaiting(generator) => {
            resume(vm, generator, mode, value)?;
        }
        CoroutineState::Completed => await_return(vm, generator)?,
        _ => {}
    }
    Ok(capability.promise)
}

/// Whether the generator is suspended at an await rather than at a yield: it goes on by itself then.
fn is_awaiting(generator: Generator) -> bool {
    generator.state.get() == CoroutineState::Suspended && generator.is_awaiting()
}

fn resume(vm: &mut Vm, generator: Generator, mode: Mode, value: Value) -> JsResult<()> {
    coroutine::resume(vm, generator, mode, value).map(drop)
}

/// AsyncGeneratorCompleteStep (27.6.3.5).
fn complete_step(
    vm: &mut Vm,
    generator: Generator,
    result: Result<Value, Value>,
    done: bool,
) -> JsResult<()> {
    let Some(request) = generator.queue.borrow_mut().pop_front() else { return Ok(()) };
    match result {
        Err(reason) => request.capability.reject(vm, reason),
        Ok(value) => {
            let object = vm.create_iter_result_object(value, done);
            request.capability.resolve(vm, Value::object(object))
        }
    }
}

/// AsyncGeneratorYield (27.6.3.8) after the frame was suspended: answers a request, and goes on with the next.
pub(crate) fn yielded(vm: &mut Vm, generator: Generator, value: Value) -> JsResult<()> {
    complete_step(vm, generator, Ok(value), false)?;
    let next = generator.queue.borrow().front().copied();
    match next {
        Some(request) => resume(vm, generator, request.mode, request.value),
        None => Ok(()),
    }
}

/// The body ended: with a value, or with the reason of an exception.
pub(crate) fn complete(vm: &mut Vm, generator: Generator, result: Result<Value, Value>) -> JsResult<()> {
    generator.state.set(CoroutineState::Completed);
    complete_step(vm, generator, result, true)?;
    drain_queue(vm, generator)
}

/// AsyncGeneratorDrainQueue (27.6.3.10).
fn drain_queue(vm: &mut Vm, generator: Generator) -> JsResult<()> {
    loop {
        let next: Option<Request> = generator.queue.borrow().front().copied();
        match next {
            None => return Ok(()),
            Some(request) => match request.mode {
                Mode::Return => return await_return(vm, generator),
                Mode::Throw => complete_step(vm, generator, Err(request.value), true)?,
                Mode::Next => complete_step(vm, generator, Ok(Value::UNDEFINED), true)?,
            },
        }
    }
}

/// AsyncGeneratorAwaitReturn (27.6.3.9).
fn await_return(vm: &mut Vm, generator: Generator) -> JsResult<()> {
    let Some(request): Option<Request> = generator.queue.borrow().front().copied() else { return Ok(()) };
    generator.state.set(CoroutineState::AwaitingReturn);
    match promise::promise_resolve(vm, request.value) {
        Ok(awaited) => {
            let cell = Value::cell(generator);
            let fulfilled =
                ReactionHandler::Native(|vm, v, g, _| returned(vm, g, Ok(v)), cell, Value::UNDEFINED);
            let rejected =
                ReactionHandler::Native(|vm, v, g, _| returned(vm, g, Err(v)), cell, Value::UNDEFINED);
            promise::perform_then(vm, awaited, fulfilled, rejected, None);
            Ok(())
        }
        Err(Abrupt::Throw) => {
            let reason = vm.take_exception();
            complete(vm, generator, Err(reason))
        }
        Err(abrupt) => Err(abrupt),
    }
}

fn returned(vm: &mut Vm, generator: Value, result: Result<Value, Value>) -> JsResult<Value> {
    if let Some(generator) = crate::gc::data_of::<Coroutine>(generator) {
        complete(vm, generator, result)?;
    }
    Ok(Value::UNDEFINED)
}
