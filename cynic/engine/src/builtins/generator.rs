//! Generators: %GeneratorFunction%, its prototype and %GeneratorPrototype% (27.3, 27.5).
//! <https://tc39.es/ecma262/#sec-generator-objects>
//!
//! A generator object's internal slot 0 is its coroutine.

use crate::atoms;
use crate::gc::{Data, Gc};
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NATIVE_REALM_SLOT, NativeSpec, StepFn};
use crate::object::{Object, ObjectKind};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, ValueSpec, data, iterator_next, method, to_string_tag};
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::eval::DynamicKind;
use crate::vm::interpreter::coroutine::{self, Coroutine, CoroutineKind, CoroutineState, Mode};
use crate::vm::{Abrupt, JsResult, Vm};

/// The internal slot of a generator's coroutine.
pub const COROUTINE_SLOT: u32 = 0;

/// %GeneratorFunction%.
pub static FUNCTION: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("GeneratorFunction", 1, |vm, args| {
        vm.create_dynamic_function(args, DynamicKind::Generator)
    })),
    prototype: Some(Intrinsic::Function),
    properties: &[data("prototype", ValueSpec::Intrinsic(Intrinsic::GeneratorFunctionPrototype), 0)],
};

/// %GeneratorFunction.prototype%.
pub static FUNCTION_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        data("constructor", ValueSpec::Intrinsic(Intrinsic::GeneratorFunction), attrs::CONFIGURABLE),
        data("prototype", ValueSpec::Intrinsic(Intrinsic::GeneratorPrototype), attrs::CONFIGURABLE),
        to_string_tag("GeneratorFunction"),
    ],
};

/// %GeneratorPrototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::IteratorPrototype),
    properties: &[
        data("constructor", ValueSpec::Intrinsic(Intrinsic::GeneratorFunctionPrototype), attrs::CONFIGURABLE),
        iterator_next(1, |vm, args| resume(vm, args, Mode::Next), step),
        method("return", 1, |vm, args| resume(vm, args, Mode::Return)),
        method("throw", 1, |vm, args| resume(vm, args, Mode::Throw)),
        to_string_tag("Generator"),
    ],
};

/// The object of a new generator of either kind, for the running function.
pub(crate) fn create(vm: &mut Vm, function: Value, kind: CoroutineKind) -> JsResult<Object> {
    let (default, object_kind) = match kind {
        CoroutineKind::AsyncGenerator => (Intrinsic::AsyncGeneratorPrototype, ObjectKind::AsyncGenerator),
        _ => (Intrinsic::GeneratorPrototype, ObjectKind::Generator),
    };
    let prototype = vm.get_prototype_from_constructor(function, default)?;
    let shape = vm.root_shape(Value::object(prototype), 1);
    Ok(vm.alloc_object(shape, object_kind, 1, 0))
}

fn coroutine_of(vm: &mut Vm, this: Value) -> JsResult<Gc<Data<Coroutine>>> {
    let object = this.as_object().filter(|o| o.is(ObjectKind::Generator));
    match object.and_then(|o| o.data::<Coroutine>(COROUTINE_SLOT)) {
        Some(coroutine) => Ok(coroutine),
        None => Err(vm.throw_type_error("a generator method was called on a value that is not a generator")),
    }
}

/// Throws because a generator is resumed by itself.
pub(crate) fn throw_running(vm: &mut Vm) -> Abrupt {
    vm.throw_type_error("the generator is already running")
}

/// Whether `next` is %GeneratorPrototype%.next of the current realm.
pub(crate) fn is_next(vm: &Vm, next: Value) -> bool {
    let Some(function) = next.as_object().filter(|o| o.is(ObjectKind::NativeFunction)) else { return false };
    let is_ours =
        function.native_spec().step.is_some_and(|known| std::ptr::fn_addr_eq(known, step as StepFn));
    is_ours && function.slot(NATIVE_REALM_SLOT) == Value::cell(vm.realm())
}

/// GeneratorResume and GeneratorResumeAbrupt (27.5.3.3, 27.5.3.4).
fn resume(vm: &mut Vm, args: CallArgs, mode: Mode) -> JsResult<Value> {
    let coroutine = coroutine_of(vm, args.this)?;
    let value = args.get(0);
    let mut state = coroutine.state.get();
    if state == CoroutineState::Running {
        return Err(throw_running(vm));
    }
    if state == CoroutineState::Start && mode != Mode::Next {
        coroutine.state.set(CoroutineState::Completed);
        state = CoroutineState::Completed;
    }
    if state == CoroutineState::Completed {
        return match mode {
            Mode::Throw => Err(vm.throw(value)),
            Mode::Next => Ok(Value::object(vm.create_iter_result_object(Value::UNDEFINED, true))),
            Mode::Return => Ok(Value::object(vm.create_iter_result_object(value, true))),
        };
    }
    let result = coroutine::resume(vm, coroutine, mode, value)?;
    let is_done = coroutine.state.get() == CoroutineState::Completed;
    if !is_done && coroutine.is_delegating.get() {
        return Ok(result);
    }
    debug_assert_ne!(atoms::DONE, atoms::VALUE);
    Ok(Value::object(vm.create_iter_result_object(result, is_done)))
}

/// GeneratorResume for a loop, which wants the value only.
fn step(vm: &mut Vm, generator: Object) -> Option<JsResult<Option<Value>>> {
    if !generator.is(ObjectKind::Generator) {
        return None;
    }
    let coroutine = generator.data::<Coroutine>(COROUTINE_SLOT)?;
    match coroutine.state.get() {
        CoroutineState::Completed => return Some(Ok(None)),
        CoroutineState::Start | CoroutineState::Suspended => {}
        _ => return None,
    }
    let result = match coroutine::resume(vm, coroutine, Mode::Next, Value::UNDEFINED) {
        Ok(result) => result,
        Err(abrupt) => return Some(Err(abrupt)),
    };
    if coroutine.state.get() == CoroutineState::Completed {
        return Some(Ok(None));
    }
    if coroutine.is_delegating.get()
        && let Some(inner) = result.as_object()
    {
        return Some(vm.iterator_result_value(inner));
    }
    Some(Ok(Some(result)))
}
