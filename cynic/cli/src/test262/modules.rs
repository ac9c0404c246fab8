//! Tests that are modules. <https://github.com/tc39/test262/blob/main/INTERPRETING.md>

use cynic_engine::builtins::promise;
use cynic_engine::compiler;
use cynic_engine::gc::Persistent;
use cynic_engine::object::Object;
use cynic_engine::value::Value;
use cynic_engine::vm::{Abrupt, Vm};

use super::evaluate::{Stop, compile_options, drain};
use super::metadata::Phase;
use super::worker::Test;

/// Loads, links and evaluates a test, and runs its jobs.
pub(super) fn run(vm: &mut Vm, test: &Test<'_>) -> Result<(), Stop> {
    let key = test.file.to_string_lossy();
    // Compiled here first, to tell the test's own early errors from those of what it imports.
    compiler::compile_module(&key, test.source, compile_options())
        .map_err(|error| Stop::Syntax(error.to_string()))?;
    let module = vm.load_module_from(&key, test.source).map_err(|abrupt| stop(abrupt, Phase::Resolution))?;
    let evaluation = vm.evaluate_module(module).map_err(|abrupt| stop(abrupt, Phase::Resolution))?;
    let root = Persistent::new(&vm.heap, Value::object(evaluation));
    let drained = drain(vm);
    let reason = root.get().as_object().and_then(rejection);
    match reason {
        Some(reason) => {
            vm.throw(reason);
            Err(Stop::Threw(Phase::Runtime))
        }
        None => drained,
    }
}

fn rejection(promise: Object) -> Option<Value> {
    let data = promise::data(promise)?;
    (data.state() == promise::PromiseState::Rejected).then(|| data.result())
}

fn stop(abrupt: Abrupt, phase: Phase) -> Stop {
    match abrupt {
        Abrupt::Throw => Stop::Threw(phase),
        Abrupt::Terminate => Stop::Terminated,
    }
}
