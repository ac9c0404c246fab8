//! Generators, async functions, awaits; `import()` and `import.meta`.

use super::super::coroutine::{self, CoroutineKind, CoroutineState, Left};
use super::super::{Next, State};
use super::slow_paths;
use crate::builtins::{async_generator, generator, promise};
use crate::bytecode::CodeKind;
use crate::value::Value;
use crate::vm::JsResult;
use crate::vm::jobs::ReactionHandler;

/// The function whose code is running.
fn callee(s: State) -> Value {
    // SAFETY: the callee is below register 0.
    unsafe { *s.regs.sub(1) }
}

fn start_generator(s: State) -> JsResult<Value> {
    let vm = s.vm();
    let function = &s.template().function;
    if function.kind == CodeKind::Module {
        let coroutine = vm.new_coroutine(CoroutineKind::Module, Value::UNDEFINED);
        coroutine::suspend(s, coroutine, CoroutineState::Start);
        return Ok(Value::cell(coroutine));
    }
    let kind = if function.is_async { CoroutineKind::AsyncGenerator } else { CoroutineKind::Generator };
    let object = generator::create(vm, callee(s), kind)?;
    let coroutine = vm.new_coroutine(kind, Value::UNDEFINED);
    object.set_slot(generator::COROUTINE_SLOT, Value::cell(coroutine));
    coroutine::suspend(s, coroutine, CoroutineState::Start);
    Ok(Value::object(object))
}

/// Await (27.7.5.3): suspends until `value` settles.
fn await_in(s: State, value: Value) -> JsResult<Value> {
    let vm = s.vm();
    let promise = promise::promise_resolve(vm, value)?;
    let coroutine = match coroutine::of_frame(s.frame()) {
        Some(coroutine) => coroutine,
        None => return Err(vm.throw_syntax_error("await is not available here")),
    };
    coroutine::suspend(s, coroutine, CoroutineState::Suspended);
    let fulfilled = ReactionHandler::Resume(coroutine, coroutine::Mode::Next);
    let rejected = ReactionHandler::Resume(coroutine, coroutine::Mode::Throw);
    promise::perform_then(vm, promise, fulfilled, rejected, None);
    Ok(coroutine.promise.get())
}

fn leave_with(s: State, result: JsResult<Value>) -> Next {
    match result {
        Ok(value) => coroutine::finish(s, value),
        Err(abrupt) => coroutine::fail(s, abrupt),
    }
}

fn yield_in(s: State, value: Value, is_delegating: bool) -> Next {
    let vm = s.vm();
    let Some(coroutine) = coroutine::of_frame(s.frame()) else {
        let abrupt = vm.throw_syntax_error("yield is not available here");
        return s.unwind(abrupt);
    };
    coroutine.is_delegating.set(is_delegating);
    coroutine::suspend(s, coroutine, CoroutineState::Suspended);
    if coroutine.kind == CoroutineKind::AsyncGenerator {
        let next = coroutine::finish(s, Value::UNDEFINED);
        if let Err(abrupt) = async_generator::yielded(vm, coroutine, value) {
            vm.interpreter.exit = Err(abrupt);
        }
        return next;
    }
    coroutine::leave_generator(s, if is_delegating { Left::Delegated } else { Left::Yielded }, value)
}

slow_paths! {
    fn generator_start(s) {
        let result = start_generator(s);
        leave_with(s, result)
    }
    fn async_start(s) {
        let vm = s.vm();
        let promise = promise::new_promise(vm);
        let coroutine = vm.new_coroutine(CoroutineKind::AsyncFunction, Value::object(promise));
        s.frame().coroutine = Value::cell(coroutine);
        s.advance(1)
    }
    fn yield_value(s) {
        yield_in(s, s.reg(s.b()), false)
    }
    fn yield_delegate(s) {
        yield_in(s, s.reg(s.b()), s.template().function.is_generator && !s.template().function.is_async)
    }
    fn await_value(s) {
        let result = await_in(s, s.reg(s.b()));
        leave_with(s, result)
    }
    fn async_return(s) {
        let vm = s.vm();
        let value = s.reg(s.a());
        let Some(coroutine) = coroutine::of_frame(s.frame()) else {
            return coroutine::finish(s, value);
        };
        coroutine.state.set(CoroutineState::Completed);
        let promise = coroutine.promise.get();
        if let Some(object) = promise.as_object()
            && let Err(abrupt) = promise::resolve_promise(vm, object, value)
        {
            return coroutine::fail(s, abrupt);
        }
        coroutine::finish(s, promise)
    }
    fn generator_return(s) {
        let value = s.reg(s.a());
        let Some(coroutine) = coroutine::of_frame(s.frame()) else {
            return coroutine::finish(s, value);
        };
        coroutine.state.set(CoroutineState::Completed);
        if coroutine.kind == CoroutineKind::AsyncGenerator {
            let vm = s.vm();
            let next = coroutine::finish(s, Value::UNDEFINED);
            if let Err(abrupt) = async_generator::complete(vm, coroutine, Ok(value)) {
                vm.interpreter.exit = Err(abrupt);
            }
            return next;
        }
        if let Some(promise) = coroutine.promise.get().as_object() {
            // A module with top-level await.
            promise::fulfill_promise(s.vm(), promise, Value::UNDEFINED);
        }
        coroutine::leave_generator(s, Left::Done, value)
    }
    fn import_meta(s) {
        let result = s.vm().import_meta(s.template().referrer);
        s.finish(1, s.a(), result)
    }
    fn dynamic_import(s) {
        let referrer = s.template().referrer;
        let result = s.vm().dynamic_import(referrer, s.reg(s.b()), s.reg(s.c()));
        s.finish(2, s.a(), result)
    }
}
