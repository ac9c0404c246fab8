//! `import()` (13.3.10).

use super::link::ImportSite;
use super::{Module, module_of};
use crate::atoms;
use crate::builtins::promise::{self, Capability};
use crate::bytecode::Text;
use crate::object::Object;
use crate::ops::objects::EnumerableKind;
use crate::value::Value;
use crate::vm::jobs::{Job, ReactionHandler};
use crate::vm::{Abrupt, JsResult, Vm};

impl Vm {
    /// EvaluateImportCall: the promise of the namespace.
    pub(crate) fn dynamic_import(
        &mut self,
        referrer: Value,
        specifier: Value,
        options: Value,
    ) -> JsResult<Value> {
        let capability = promise::internal_capability(self);
        let result = self.start_import(referrer, specifier, options, capability);
        self.reject_on_throw(capability, result)
    }

    fn reject_on_throw(&mut self, capability: Capability, result: JsResult<()>) -> JsResult<Value> {
        match result {
            Ok(()) => Ok(capability.promise),
            Err(Abrupt::Throw) => {
                let reason = self.take_exception();
                capability.reject(self, reason)?;
                Ok(capability.promise)
            }
            Err(abrupt) => Err(abrupt),
        }
    }

    fn start_import(
        &mut self,
        referrer: Value,
        specifier: Value,
        options: Value,
        capability: Capability,
    ) -> JsResult<()> {
        let specifier = self.to_string(specifier)?;
        let specifier = Text::Utf16(specifier.to_units().into());
        let attributes = self.import_attributes(options)?;
        let name = self.referrer_name(referrer);
        let module = self.load_request(&name, &specifier, &attributes, ImportSite::Running)?;
        self.enqueue_job(Job::Native(continue_import, Value::cell(module), capability.promise));
        Ok(())
    }

    fn import_attributes(&mut self, options: Value) -> JsResult<Vec<(Text, Text)>> {
        let mut attributes = Vec::new();
        if options.is_undefined() {
            return Ok(attributes);
        }
        let Some(options) = options.as_object() else {
            return Err(self.throw_type_error("the options of import() must be an object"));
        };
        let with = self.get(options, atoms::WITH)?;
        if with.is_undefined() {
            return Ok(attributes);
        }
        let Some(with) = with.as_object() else {
            return Err(self.throw_type_error("the attributes of import() must be an object"));
        };
        let keys: Object = self.enumerable_own_properties(with, EnumerableKind::Keys)?;
        for i in 0..keys.array_length() {
            let key = keys.element(i);
            let property = self.to_property_key(key)?;
            let value = self.get(with, property)?;
            let (Some(key), Some(value)) = (key.as_string(), value.as_string()) else {
                return Err(self.throw_type_error("import attributes must be strings"));
            };
            attributes.push((key.to_rust_string().as_str().into(), value.to_rust_string().as_str().into()));
        }
        Ok(attributes)
    }
}

/// ContinueDynamicImport: load the graph, link, evaluate; then the namespace.
fn continue_import(vm: &mut Vm, module: Value, promise: Value) -> JsResult<()> {
    let capability = Capability { promise, resolve: Value::UNDEFINED, reject: Value::UNDEFINED };
    let Some(module) = module_of(module) else { return Ok(()) };
    let result = link_and_evaluate(vm, module, capability);
    vm.reject_on_throw(capability, result).map(drop)
}

fn link_and_evaluate(vm: &mut Vm, module: Module, capability: Capability) -> JsResult<()> {
    vm.load_requested(module)?;
    let evaluated = vm.evaluate_module(module)?;
    let handler = ReactionHandler::Native(
        |vm, _, module, _| match module_of(module) {
            Some(module) => vm.module_namespace(module).map(Value::object),
            None => Ok(Value::UNDEFINED),
        },
        Value::cell(module),
        Value::UNDEFINED,
    );
    promise::perform_then(vm, evaluated, handler, ReactionHandler::Thrower, Some(capability));
    Ok(())
}
