//! Evaluation with top-level await (16.2.1.5.3). <https://tc39.es/ecma262/#sec-moduleevaluation>

use super::{Module, Status, module_of};
use crate::builtins::promise;
use crate::gc::data_of;
use crate::object::Object;
use crate::value::Value;
use crate::vm::interpreter::coroutine::{self, Coroutine, Mode};
use crate::vm::jobs::ReactionHandler;
use crate::vm::{Abrupt, JsResult, Vm};

fn set_error(module: Module, error: Value) {
    module.status.set(Status::Evaluated);
    module.error.set(error);
    module.write_barrier();
}

fn settle(vm: &mut Vm, module: Module, error: Option<Value>) {
    let Some(promise) = module.promise.get().as_object() else { return };
    match error {
        None => promise::fulfill_promise(vm, promise, Value::UNDEFINED),
        Some(error) => promise::reject_promise(vm, promise, error),
    }
}

impl Vm {
    /// Evaluate() of a linked module.
    pub(crate) fn evaluate_linked(&mut self, module: Module) -> JsResult<Object> {
        let mut module = module;
        if module.status.get() >= Status::EvaluatingAsync
            && let Some(root) = module_of(module.cycle_root.get())
        {
            module = root;
        }
        if let Some(promise) = module.promise.get().as_object() {
            return Ok(promise);
        }
        let promise = promise::new_promise(self);
        module.promise.set(Value::object(promise));
        module.write_barrier();
        let mut stack = Vec::new();
        let mut index = 0;
        match self.inner_evaluation(module, &mut stack, &mut index) {
            Ok(()) => {
                if module.async_order.get() == 0 || module.status.get() == Status::Evaluated {
                    settle(self, module, None);
                }
            }
            Err(Abrupt::Terminate) => return Err(Abrupt::Terminate),
            Err(Abrupt::Throw) => {
                let error = self.take_exception();
                for other in stack {
                    set_error(other, error);
                }
                if module.error.get().is_empty() {
                    set_error(module, error);
                }
                settle(self, module, Some(error));
            }
        }
        Ok(promise)
    }

    /// InnerModuleEvaluation (16.2.1.5.3.1).
    fn inner_evaluation(&mut self, module: Module, stack: &mut Vec<Module>, index: &mut u32) -> JsResult<()> {
        match module.status.get() {
            Status::EvaluatingAsync | Status::Evaluated => {
                let error = module.error.get();
                return if error.is_empty() { Ok(()) } else { Err(self.throw(error)) };
            }
            Status::Evaluating => return Ok(()),
            _ => {}
        }
        self.check_native_stack()?;
        module.status.set(Status::Evaluating);
        module.dfs_index.set(*index);
        module.dfs_ancestor.set(*index);
        module.pending_dependencies.set(0);
        *index += 1;
        stack.push(module);
        let requested = module.requested.borrow().clone();
        for target in requested.into_iter().filter_map(module_of) {
            self.inner_evaluation(target, stack, index)?;
            self.note_dependency(module, target, stack)?;
        }
        if module.pending_dependencies.get() > 0 || module.code.has_top_level_await {
            self.interpreter.module_order += 1;
            module.async_order.set(self.interpreter.module_order);
            if module.pending_dependencies.get() == 0 {
                self.execute_async(module)?;
            }
        } else {
            self.execute(module)?;
        }
        if module.dfs_ancestor.get() == module.dfs_index.get() {
            while let Some(other) = stack.pop() {
                let next =
                    if other.async_order.get() == 0 { Status::Evaluated } else { Status::EvaluatingAsync };
                other.status.set(next);
                other.cycle_root.set(Value::cell(module));
                other.write_barrier();
                if other == module {
                    break;
                }
            }
        }
        Ok(())
    }

    fn note_dependency(&mut self, module: Module, target: Module, stack: &[Module]) -> JsResult<()> {
        let mut target = target;
        if target.status.get() == Status::Evaluating {
            debug_assert!(stack.contains(&target));
            module.dfs_ancestor.set(module.dfs_ancestor.get().min(target.dfs_ancestor.get()));
        } else {
            if let Some(root) = module_of(target.cycle_root.get()) {
                target = root;
            }
            let error = target.error.get();
            if !error.is_empty() {
                return Err(self.throw(error));
            }
        }
        if target.async_order.get() > 0 && target.status.get() != Status::Evaluated {
            module.pending_dependencies.set(module.pending_dependencies.get() + 1);
            target.async_parents.borrow_mut().push(Value::cell(module));
            target.write_barrier();
        }
        Ok(())
    }

    /// ExecuteModule of a module without top-level await.
    fn execute(&mut self, module: Module) -> JsResult<()> {
        match data_of::<Coroutine>(module.coroutine.get()) {
            Some(body) => coroutine::resume(self, body, Mode::Next, Value::UNDEFINED).map(drop),
            None => Ok(()),
        }
    }

    /// ExecuteAsyncModule (16.2.1.5.3.2).
    fn execute_async(&mut self, module: Module) -> JsResult<()> {
        let promise = promise::new_promise(self);
        let cell = Value::cell(module);
        let fulfilled =
            ReactionHandler::Native(|vm, _, module, _| fulfilled(vm, module), cell, Value::UNDEFINED);
        let rejected = ReactionHandler::Native(
            |vm, error, module, _| rejected(vm, module, error),
            cell,
            Value::UNDEFINED,
        );
        promise::perform_then(self, promise, fulfilled, rejected, None);
        if let Some(body) = data_of::<Coroutine>(module.coroutine.get()) {
            body.promise.set(Value::object(promise));
            body.write_barrier();
            coroutine::resume(self, body, Mode::Next, Value::UNDEFINED)?;
        }
        Ok(())
    }
}

/// GatherAvailableAncestors (16.2.1.5.3.3).
fn gather_available_ancestors(module: Module, list: &mut Vec<Module>) {
    let parents = module.async_parents.borrow().clone();
    for parent in parents.into_iter().filter_map(module_of) {
        let root_failed = module_of(parent.cycle_root.get()).is_some_and(|root| !root.error.get().is_empty());
        if list.contains(&parent) || root_failed {
            continue;
        }
        parent.pending_dependencies.set(parent.pending_dependencies.get().saturating_sub(1));
        if parent.pending_dependencies.get() == 0 {
            list.push(parent);
            if !parent.code.has_top_level_await {
                gather_available_ancestors(parent, list);
            }
        }
    }
}

fn finish_async(vm: &mut Vm, module: Module) {
    module.status.set(Status::Evaluated);
    settle(vm, module, None);
}

/// AsyncModuleExecutionFulfilled (16.2.1.5.3.4).
fn fulfilled(vm: &mut Vm, module: Value) -> JsResult<Value> {
    let Some(module) = module_of(module) else { return Ok(Value::UNDEFINED) };
    if module.status.get() == Status::Evaluated {
        return Ok(Value::UNDEFINED);
    }
    finish_async(vm, module);
    let mut ancestors = Vec::new();
    gather_available_ancestors(module, &mut ancestors);
    ancestors.sort_by_key(|ancestor| ancestor.async_order.get());
    for ancestor in ancestors {
        if ancestor.status.get() == Status::Evaluated {
            continue;
        }
        if ancestor.code.has_top_level_await {
            vm.execute_async(ancestor)?;
            continue;
        }
        match vm.execute(ancestor) {
            Ok(()) => finish_async(vm, ancestor),
            Err(Abrupt::Throw) => {
                let error = vm.take_exception();
                rejected(vm, Value::cell(ancestor), error)?;
            }
            Err(abrupt) => return Err(abrupt),
        }
    }
    Ok(Value::UNDEFINED)
}

/// AsyncModuleExecutionRejected (16.2.1.5.3.5).
fn rejected(vm: &mut Vm, module: Value, error: Value) -> JsResult<Value> {
    let Some(module) = module_of(module) else { return Ok(Value::UNDEFINED) };
    if module.status.get() == Status::Evaluated {
        return Ok(Value::UNDEFINED);
    }
    set_error(module, error);
    settle(vm, module, Some(error));
    let parents = module.async_parents.borrow().clone();
    for parent in parents {
        rejected(vm, parent, error)?;
    }
    Ok(Value::UNDEFINED)
}
