//! The host object `$262` that tests find. <https://github.com/tc39/test262/blob/main/INTERPRETING.md>

use cynic_engine::object::function::CallArgs;
use cynic_engine::realm::{Intrinsic, PropertySpec, ValueSpec, data, method};
use cynic_engine::shape::attrs;
use cynic_engine::value::Value;
use cynic_engine::vm::{JsResult, Vm};

/// The row of the global object.
pub(super) static GLOBALS: &[PropertySpec] = &[data(
    "$262",
    ValueSpec::Constant(|vm| Value::object(vm.new_host_namespace(HOST_OBJECT))),
    attrs::METHOD,
)];

static HOST_OBJECT: &[PropertySpec] = &[
    super::agent::ROW,
    method("createRealm", 0, create_realm),
    method("detachArrayBuffer", 1, detach_array_buffer),
    method("evalScript", 1, eval_script),
    method("gc", 0, |vm, _| {
        vm.collect_garbage();
        Ok(Value::UNDEFINED)
    }),
    data("global", ValueSpec::Intrinsic(Intrinsic::GlobalThis), attrs::METHOD),
];

/// A new realm; its own `$262`.
fn create_realm(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    let realm = vm.new_realm();
    let previous = vm.enter_realm(realm);
    cynic::host::install_globals(vm);
    vm.install_globals(GLOBALS);
    let global = vm.global_object();
    let key = vm.key_from_str("$262");
    let result = vm.get(global, key);
    vm.enter_realm(previous);
    result
}

fn eval_script(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = vm.to_rust_string(args.get(0))?;
    vm.evaluate_script("evalScript", &text)
}

fn detach_array_buffer(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    match args.get(0).as_object() {
        Some(buffer) if vm.detach_array_buffer(buffer) => Ok(Value::NULL),
        _ => Err(vm.throw_type_error("detachArrayBuffer needs an ArrayBuffer")),
    }
}
