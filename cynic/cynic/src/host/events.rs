//! Events, messages between ports, and aborting: `DOMException`, `Event`, `EventTarget`, `MessageChannel`, `AbortController` and their kin.
//!
//! They are written in JavaScript (`events.js`), over what this file hands in; private fields keep their state from programs. The script
//! is compiled once per process, run when a realm asks for the first of them, and hardened in a hardened isolate.

use std::sync::{Arc, OnceLock};

use cynic_engine::bytecode::code::FunctionCode;
use cynic_engine::compiler::{self, CompileOptions};
use cynic_engine::object::Object;
use cynic_engine::object::function::{CallArgs, NativeFn, NativeSpec};
use cynic_engine::realm::{PropertySpec, ValueSpec, data};
use cynic_engine::shape::attrs;
use cynic_engine::value::Value;
use cynic_engine::vm::jobs::Job;
use cynic_engine::vm::{Abrupt, JsResult, Vm};

use crate::host::{performance, timers};

/// What stack traces call the script.
const NAME: &str = "cynic:events";

/// The globals.
pub(crate) static ROWS: &[PropertySpec] = &[
    row("AbortController", |vm| member(vm, "AbortController")),
    row("AbortSignal", |vm| member(vm, "AbortSignal")),
    row("CustomEvent", |vm| member(vm, "CustomEvent")),
    row("DOMException", |vm| member(vm, "DOMException")),
    row("Event", |vm| member(vm, "Event")),
    row("EventTarget", |vm| member(vm, "EventTarget")),
    row("MessageChannel", |vm| member(vm, "MessageChannel")),
    row("MessageEvent", |vm| member(vm, "MessageEvent")),
    row("MessagePort", |vm| member(vm, "MessagePort")),
];

const fn row(name: &'static str, make: fn(&mut Vm) -> Value) -> PropertySpec {
    data(name, ValueSpec::Constant(make), attrs::METHOD)
}

/// What the script takes from the isolate.
static SERVICES: [(&str, NativeSpec); 5] = [
    service("clone", cynic_engine::structured_clone::structured_clone),
    service("now", |vm, args| performance::now(vm, args).or_else(|_| zero(vm))),
    service("postTask", timers::post_task),
    service("report", report),
    service("setTimer", timers::set_timeout),
];

const fn service(name: &'static str, function: NativeFn) -> (&'static str, NativeSpec) {
    (name, NativeSpec::new(name, 0, function))
}

/// A host that does not give the time stamps events with 0.
fn zero(vm: &mut Vm) -> JsResult<Value> {
    if vm.termination().is_some() {
        return Err(Abrupt::Terminate);
    }
    vm.take_exception();
    Ok(Value::int32(0))
}

/// An error of a listener ends the program as an error of a job does, after the other listeners.
fn report(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    static RETHROW: NativeSpec = NativeSpec::new("", 0, |vm, args| Err(vm.throw(args.get(0))));
    let function = Value::object(vm.new_native_function(&RETHROW, &[]));
    vm.check_heap_room(0)?;
    vm.enqueue_job(Job::Call { function, arguments: vec![args.get(0)] });
    Ok(Value::UNDEFINED)
}

/// One of the classes; EMPTY, which is asked for again, if there is no stack or heap left to make them.
fn member(vm: &mut Vm, name: &str) -> Value {
    let made = classes(vm).and_then(|classes| {
        let key = vm.key_from_str(name);
        vm.get(classes, key)
    });
    match made {
        Ok(class) => class,
        Err(Abrupt::Throw) => {
            vm.take_exception();
            Value::EMPTY
        }
        Err(Abrupt::Terminate) => Value::EMPTY,
    }
}

fn classes(vm: &mut Vm) -> JsResult<Object> {
    let kept = vm.realm_data().host_data.get();
    if let Some(classes) = kept.as_object() {
        return Ok(classes);
    }
    let function = vm.run_script(compiled())?;
    let services = vm.new_object();
    for (name, spec) in &SERVICES {
        let service = vm.new_native_function(spec, &[]);
        vm.define_data(services, name, Value::object(service), attrs::ALL)?;
    }
    let classes = vm.call(function, Value::UNDEFINED, &[Value::object(services)])?;
    if vm.options.hardened {
        vm.harden(classes)?;
    }
    vm.realm_data().host_data.set(classes);
    vm.realm().write_barrier();
    match classes.as_object() {
        Some(classes) => Ok(classes),
        None => Err(vm.throw_type_error("the events of the host are not there")),
    }
}

fn compiled() -> &'static Arc<FunctionCode> {
    static CODE: OnceLock<Arc<FunctionCode>> = OnceLock::new();
    CODE.get_or_init(|| {
        let code = compiler::compile_script(NAME, include_str!("events.js"), CompileOptions::default());
        code.unwrap_or_else(|error| unreachable!("a test compiles it: {error}"))
    })
}

/// Throws a DOMException.
pub(crate) fn throw_dom_exception(vm: &mut Vm, name: &str, message: &str) -> Abrupt {
    let made = classes(vm).and_then(|classes| {
        let key = vm.key_from_str("DOMException");
        let class = vm.get(classes, key)?;
        let (message, name) = (vm.new_string(message), vm.new_string(name));
        let arguments = [Value::string(message), Value::string(name)];
        let constructor = class.as_object().filter(|class| class.is_constructor());
        let Some(constructor) = constructor else { return Err(vm.throw_type_error("no DOMException")) };
        vm.construct(constructor, &arguments, constructor)
    });
    match made {
        Ok(exception) => vm.throw(Value::object(exception)),
        Err(abrupt) => abrupt,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_script_compiles() {
        super::compiled();
    }
}
