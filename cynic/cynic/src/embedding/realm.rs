//! Realms: where everything is done.

use std::rc::Rc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::class::{self, Class};
use super::convert::IntoJs;
use super::error::{Error, Exception, HostError, Result};
use super::function::{self, HostFunction};
use super::handle::Handle;
use super::isolate::{RealmId, Script};
use super::promise::{PromiseState, Resolver};
use super::{deserialize, serialize};
use cynic_engine::builtins::{json, promise};
use cynic_engine::gc::{Persistent, data_of};
use cynic_engine::object::{Object, ObjectKind};
use cynic_engine::preview;
use cynic_engine::realm::{Intrinsic, Realm as RealmRecord};
use cynic_engine::shape::attrs;
use cynic_engine::structured_clone::Cloned;
use cynic_engine::value::Value;
use cynic_engine::vm::eval::Program;
use cynic_engine::vm::{JsResult, Vm};

/// A global environment, entered.
pub struct Realm<'i> {
    pub(crate) vm: &'i mut Vm,
}

impl Realm<'_> {
    pub(crate) fn handle(&self, value: Value) -> Handle {
        Handle::new(self.vm, value)
    }

    pub(crate) fn check<T>(&mut self, result: JsResult<T>) -> Result<T> {
        result.map_err(|abrupt| Error::of(self.vm, abrupt))
    }

    pub(super) fn object(&mut self, handle: &Handle) -> Result<Object> {
        let value = handle.value_in(self.vm)?;
        value.as_object().ok_or_else(|| super::convert::mismatch("an object", self, value).into())
    }

    /// Makes a host function a global. In a hardened isolate only before the first evaluation.
    pub fn define<S, F: HostFunction<S>>(&mut self, name: &str, function: F) -> Result<()> {
        let function = function::make(self, name, function);
        self.define_value(name, function)
    }

    /// Makes a value a global. In a hardened isolate only before the first evaluation; what it holds is the host's to harden
    /// ([`Realm::harden`]).
    pub fn define_global(&mut self, name: &str, value: impl IntoJs) -> Result<()> {
        let value = value.into_js(self)?.value_in(self.vm)?;
        self.define_value(name, value)
    }

    fn define_value(&mut self, name: &str, value: Value) -> Result<()> {
        if self.vm.is_global_sealed() {
            return Err(HostError::GlobalSealed.into());
        }
        let key = self.vm.key_from_str(name);
        let global = self.vm.global_object();
        self.vm.add_keyed_property(global, key, value, attrs::METHOD);
        Ok(())
    }

    /// A function object that calls Rust, to be passed to guests.
    pub fn function<S, F: HostFunction<S>>(&mut self, name: &str, function: F) -> Handle {
        let function = function::make(self, name, function);
        self.handle(function)
    }

    /// Freezes everything reachable from a value.
    pub fn harden(&mut self, value: &Handle) -> Result<()> {
        let value = value.value_in(self.vm)?;
        let hardened = self.vm.harden(value);
        self.check(hardened)
    }

    /// Evaluates a script and gives its completion value. Jobs wait for [`super::Isolate::run_jobs`] or [`Realm::settle`].
    pub fn evaluate(&mut self, name: &str, text: &str) -> Result<Handle> {
        self.vm.seal_global();
        let value = self.vm.evaluate_script(name, text);
        let value = self.check(value)?;
        Ok(self.handle(value))
    }

    /// A function of `parameters` (a list as it is written) whose body is `text`, such as a CommonJS module. Places in it, of errors and in
    /// stacks, are those in `text`.
    pub fn function_of_body(&mut self, name: &str, parameters: &str, text: &str) -> Result<Handle> {
        self.vm.seal_global();
        let function = self.vm.function_of_body(name, parameters, text);
        let function = self.check(function)?;
        Ok(self.handle(function))
    }

    /// Evaluates a script whose completion value nobody wants.
    pub fn execute(&mut self, name: &str, text: &str) -> Result<()> {
        self.vm.seal_global();
        let executed = self.vm.execute_script(name, text);
        self.check(executed)
    }

    /// Compiles a script whose completion value nobody wants, at the expense of this isolate's limits.
    pub fn compile(&mut self, name: &str, text: &str) -> Result<Script> {
        let compiled = self.vm.compile_script(name, text);
        self.check(compiled).map(|code| Script { code })
    }

    /// Compiles a program that does not say whether it is a script or a module: it is a script if it can be one. `None` is a module.
    pub fn compile_program(&mut self, name: &str, text: &str) -> Result<Option<Script>> {
        let compiled = self.vm.compile_program(name, text);
        Ok(match self.check(compiled)? {
            Program::Script(code) => Some(Script { code }),
            Program::Module => None,
        })
    }

    /// Throws the SyntaxError that a module's text has, if it has one.
    pub fn check_module(&mut self, name: &str, text: &str) -> Result<()> {
        let checked = self.vm.check_module(name, text);
        self.check(checked)
    }

    /// Runs a compiled script.
    pub fn run(&mut self, script: &Script) -> Result<Handle> {
        self.vm.seal_global();
        let value = self.vm.run_script(&script.code);
        let value = self.check(value)?;
        Ok(self.handle(value))
    }

    /// Loads a module and what it imports, evaluates it, and waits for it as [`Realm::settle`] does; gives its namespace object.
    pub fn import(&mut self, key: &str) -> Result<Handle> {
        self.vm.seal_global();
        let module = self.vm.load_module(key);
        let module = self.check(module)?;
        self.finish_import(module)
    }

    /// The same for a module whose text the host has already.
    pub fn import_text(&mut self, key: &str, text: &str) -> Result<Handle> {
        self.vm.seal_global();
        let module = self.vm.load_module_from(key, text);
        let module = self.check(module)?;
        self.finish_import(module)
    }

    /// Loads a module whose text the host has, and begins to evaluate it: the promise of that, which jobs and timers settle.
    pub fn begin_import_text(&mut self, key: &str, text: &str) -> Result<Handle> {
        self.vm.seal_global();
        let module = self.vm.load_module_from(key, text);
        let module = self.check(module)?;
        let evaluation = self.vm.evaluate_module(module);
        let evaluation = self.check(evaluation)?;
        Ok(self.handle(Value::object(evaluation)))
    }

    fn finish_import(&mut self, module: cynic_engine::vm::modules::Module) -> Result<Handle> {
        let evaluation = self.vm.evaluate_module(module);
        let evaluation = self.check(evaluation)?;
        let evaluation = self.handle(Value::object(evaluation));
        let namespace = self.vm.module_namespace(module);
        let namespace = self.check(namespace)?;
        let namespace = self.handle(Value::object(namespace));
        self.settle(&evaluation)?;
        Ok(namespace)
    }

    /// A further realm of the isolate: its own global object and intrinsics.
    pub fn new_realm(&mut self) -> RealmId {
        let realm = self.vm.new_realm();
        RealmId { root: Persistent::new(&self.vm.heap, Value::cell(realm)) }
    }

    /// Does something in another realm of the isolate.
    pub fn in_realm<T>(&mut self, id: &RealmId, act: impl FnOnce(&mut Realm<'_>) -> Result<T>) -> Result<T> {
        let record = Some(&id.root).filter(|root| root.belongs_to(&self.vm.heap)).map(Persistent::get);
        let Some(record) = record.and_then(data_of::<RealmRecord>) else {
            return Err(HostError::ForeignHandle.into());
        };
        let previous = self.vm.enter_realm(record);
        let result = act(&mut Realm { vm: &mut *self.vm });
        self.vm.enter_realm(previous);
        result
    }

    /// A class whose instances hold what `make` gives in an [`Instance`](super::Instance); see [`Class`].
    pub fn class<T: 'static, S, F: HostFunction<S>>(&mut self, name: &str, make: F) -> Class<T> {
        class::class(self, name, make)
    }

    /// Looks at the limits, as guest code does: for host functions that work for long.
    pub fn poll(&mut self) -> Result<()> {
        let polled = self.vm.poll_slow(1);
        self.check(polled)
    }

    /// Collects garbage now.
    pub fn collect_garbage(&mut self) {
        self.vm.collect_garbage();
    }

    /// The global object.
    pub fn global(&mut self) -> Handle {
        let global = self.vm.global_object();
        self.handle(Value::object(global))
    }

    /// A new empty object.
    pub fn new_object(&mut self) -> Handle {
        let object = self.vm.new_object();
        self.handle(Value::object(object))
    }

    /// A new Error, to reject a promise with. (A host function that fails returns its `Err`.)
    pub fn new_error(&mut self, message: &str) -> Handle {
        let error = self.vm.new_error(Intrinsic::ErrorPrototype, message);
        self.handle(Value::object(error))
    }

    /// `object[key]`.
    pub fn get(&mut self, object: &Handle, key: &str) -> Result<Handle> {
        let object = self.object(object)?;
        let key = self.vm.key_from_str(key);
        let value = self.vm.get(object, key);
        let value = self.check(value)?;
        Ok(self.handle(value))
    }

    /// `object[key] = value`.
    pub fn set(&mut self, object: &Handle, key: &str, value: impl IntoJs) -> Result<()> {
        let value = value.into_js(self)?;
        let (object, value) = (self.object(object)?, value.value_in(self.vm)?);
        let key = self.vm.key_from_str(key);
        let done = self.vm.set_or_throw(object, key, value);
        self.check(done)
    }

    /// Calls a function with `this` undefined.
    pub fn call(&mut self, function: &Handle, arguments: &[Handle]) -> Result<Handle> {
        let undefined = self.handle(Value::UNDEFINED);
        self.call_with(function, &undefined, arguments)
    }

    /// Calls a function.
    pub fn call_with(&mut self, function: &Handle, this: &Handle, arguments: &[Handle]) -> Result<Handle> {
        let (function, this) = (function.value_in(self.vm)?, this.value_in(self.vm)?);
        let arguments = self.values(arguments)?;
        let result = self.vm.call(function, this, &arguments);
        let result = self.check(result)?;
        Ok(self.handle(result))
    }

    /// Calls a method.
    pub fn call_method(&mut self, object: &Handle, name: &str, arguments: &[Handle]) -> Result<Handle> {
        let method = self.get(object, name)?;
        self.call_with(&method, object, arguments)
    }

    /// `new constructor(...arguments)`.
    pub fn construct(&mut self, constructor: &Handle, arguments: &[Handle]) -> Result<Handle> {
        let object = self.object(constructor)?;
        if !object.is_constructor() {
            return Err(HostError::Conversion("expected a constructor".to_owned()).into());
        }
        let arguments = self.values(arguments)?;
        let result = self.vm.construct(object, &arguments, object);
        let result = self.check(result)?;
        Ok(self.handle(Value::object(result)))
    }

    fn values(&mut self, handles: &[Handle]) -> Result<cynic_engine::gc::RootedVec> {
        let mut values = self.vm.scratch();
        for handle in handles {
            values.push(handle.value_in(self.vm)?);
        }
        Ok(values)
    }

    /// A Rust value as a JavaScript value.
    pub fn value(&mut self, value: impl IntoJs) -> Result<Handle> {
        value.into_js(self)
    }

    /// Anything that serde can write.
    pub fn to_js<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<Handle> {
        serialize::to_js(self, value)
    }

    /// Anything that serde can read. Getters of guest objects run.
    pub fn from_js<T: DeserializeOwned>(&mut self, value: &Handle) -> Result<T> {
        deserialize::from_js(self, value)
    }

    /// `JSON.stringify(value)`; `None` for what has no JSON text (undefined, functions).
    pub fn to_json(&mut self, value: &Handle) -> Result<Option<String>> {
        let value = value.value_in(self.vm)?;
        let text = json::to_text(self.vm, value);
        self.check(text)
    }

    /// `JSON.parse(text)`.
    pub fn parse_json(&mut self, text: &str) -> Result<Handle> {
        let text = self.vm.new_string(text);
        let value = json::parse_text(self.vm, text);
        let value = self.check(value)?;
        Ok(self.handle(value))
    }

    /// A pending promise and its resolver.
    pub fn promise(&mut self) -> (Handle, Resolver) {
        let promise = promise::new_promise(self.vm);
        let promise = self.handle(Value::object(promise));
        (promise.clone(), Resolver { promise, is_used: Rc::default() })
    }

    /// The state of a promise; other values count as fulfilled promises of themselves.
    pub fn promise_state(&mut self, value: &Handle) -> Result<PromiseState> {
        let value = value.value_in(self.vm)?;
        let Some(promise) = value.as_object().filter(|object| object.is(ObjectKind::Promise)) else {
            return Ok(PromiseState::Fulfilled(self.handle(value)));
        };
        Ok(match preview::promise_state(promise) {
            preview::PromiseState::Pending => PromiseState::Pending,
            preview::PromiseState::Fulfilled(value) => PromiseState::Fulfilled(self.handle(value)),
            preview::PromiseState::Rejected(reason) => PromiseState::Rejected(self.handle(reason)),
        })
    }

    /// Runs jobs until a promise is settled: its value, or its reason as an exception. A promise that waits for the host
    /// (timers, a [`Resolver`]) is [`HostError::NeverSettles`] when the jobs have run out.
    pub fn settle(&mut self, promise: &Handle) -> Result<Handle> {
        let ran = self.vm.run_jobs();
        self.check(ran)?;
        match self.promise_state(promise)? {
            PromiseState::Fulfilled(value) => Ok(value),
            PromiseState::Pending => Err(HostError::NeverSettles.into()),
            PromiseState::Rejected(reason) => {
                let (promise, reason) = (promise.value_in(self.vm)?, reason.value_in(self.vm)?);
                self.vm.forget_rejection(promise);
                Err(Error::Thrown(Box::new(Exception::of(self.vm, reason))))
            }
        }
    }

    /// Says that the host has seen why a promise was rejected: it does not count as unhandled.
    pub fn mark_handled(&mut self, promise: &Handle) -> Result<()> {
        let promise = promise.value_in(self.vm)?;
        self.vm.forget_rejection(promise);
        Ok(())
    }

    /// The error of a guest that threw this value.
    pub fn thrown(&mut self, value: &Handle) -> Error {
        match value.value_in(self.vm) {
            Ok(value) => Error::Thrown(Box::new(Exception::of(self.vm, value))),
            Err(error) => error.into(),
        }
    }

    /// The value as text, as `String(value)` has it.
    pub fn to_text(&mut self, value: &Handle) -> Result<String> {
        let value = value.value_in(self.vm)?;
        let text = self.vm.to_rust_string(value);
        self.check(text)
    }

    /// A value as data that may go to another isolate or thread (structured clone).
    pub fn clone_out(&mut self, value: &Handle) -> Result<Cloned> {
        let value = value.value_in(self.vm)?;
        let cloned = self.vm.structured_serialize(value);
        self.check(cloned)
    }

    /// Such data as a value of this realm.
    pub fn clone_in(&mut self, cloned: &Cloned) -> Result<Handle> {
        let value = self.vm.structured_deserialize(cloned);
        let value = self.check(value)?;
        Ok(self.handle(value))
    }
}
