//! `queueMicrotask`.

use cynic_engine::object::function::CallArgs;
use cynic_engine::value::Value;
use cynic_engine::vm::jobs::Job;
use cynic_engine::vm::{JsResult, Vm};

pub(crate) fn queue_microtask(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let function = args.get(0);
    if !function.as_object().is_some_and(|function| function.is_callable()) {
        return Err(vm.throw_type_error("queueMicrotask needs a function"));
    }
    vm.check_heap_room(0)?;
    vm.enqueue_job(Job::Call { function, arguments: Vec::new() });
    Ok(Value::UNDEFINED)
}
