//! `[[Call]]` and `[[Construct]]` from native code. <https://tc39.es/ecma262/#sec-call>
//!
//! Native functions run here; compiled closures go to the interpreter through [`ClosureHooks`]. Invariant: the current
//! realm is the callee's during a call, and is put back afterwards, whatever the outcome.

#![allow(unsafe_code)]

use super::{JsResult, Vm};
use crate::gc::{Data, Gc};
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NATIVE_REALM_SLOT, NativeFn};
use crate::object::{Object, ObjectKind};
use crate::realm::Realm;
use crate::string::JsStr;
use crate::value::Value;

/// How the interpreter is reached, so that the runtime core does not depend on it.
#[derive(Copy, Clone)]
pub struct ClosureHooks {
    /// Runs a closure: callee, this, arguments, new.target (undefined for a call).
    pub call: fn(&mut Vm, Object, Value, &[Value], Value) -> JsResult<Value>,
    /// The captured stack of a new error, kept in its internal slot 0 (a data cell, or undefined).
    pub capture_stack: fn(&mut Vm) -> Value,
    /// The text of a captured stack, each frame on a line of its own that begins with a line feed.
    pub format_stack: fn(&mut Vm, Value) -> String,
    /// The source text of a closure, for `Function.prototype.toString`.
    pub source_text: fn(&mut Vm, Object) -> Option<JsStr>,
    /// `Function(string)`: CreateDynamicFunction.
    pub dynamic_function: NativeFn,
    /// The realm a closure was made in.
    pub realm_of: fn(&mut Vm, Object) -> Option<Gc<Data<Realm>>>,
}

impl Default for ClosureHooks {
    fn default() -> Self {
        ClosureHooks {
            call: |vm, _, _, _, _| Err(vm.throw_type_error("this isolate has no interpreter")),
            capture_stack: |_| Value::UNDEFINED,
            format_stack: |_, _| String::new(),
            source_text: |_, _| None,
            dynamic_function: |vm, _| {
                Err(vm.throw_eval_error("code generation from strings is not available"))
            },
            realm_of: |_, _| None,
        }
    }
}

impl Vm {
    /// Call (7.3.13).
    #[inline]
    pub fn call(&mut self, f: Value, this: Value, args: &[Value]) -> JsResult<Value> {
        match f.as_object() {
            Some(o) if o.is_callable() => self.call_object(o, this, args, Value::UNDEFINED),
            _ => Err(self.throw_not_callable(f)),
        }
    }

    #[cold]
    fn throw_not_callable(&mut self, f: Value) -> super::Abrupt {
        let message = format!("{} is not a function", self.describe(f));
        self.throw_type_error(&message)
    }

    /// Construct (7.3.14). `f` must be a constructor; so must `new_target`.
    pub fn construct(&mut self, f: Object, args: &[Value], new_target: Object) -> JsResult<Object> {
        if !f.is_constructor() {
            return Err(self.throw_type_error("not a constructor"));
        }
        let result = self.call_object(f, Value::EMPTY, args, Value::object(new_target))?;
        match result.as_object() {
            Some(o) => Ok(o),
            None => Err(self.throw_type_error("a constructor did not return an object")),
        }
    }

    /// `[[Call]]` (new_target undefined) or `[[Construct]]` of a function object.
    pub fn call_object(
        &mut self,
        f: Object,
        this: Value,
        args: &[Value],
        new_target: Value,
    ) -> JsResult<Value> {
        self.check_native_stack()?;
        self.poll()?;
        match f.kind() {
            ObjectKind::NativeFunction => {
                // SAFETY: the slice outlives the call; callers keep it rooted (native or register stack, RootedVec).
                let call_args =
                    unsafe { CallArgs::new(args.as_ptr(), args.len() as u32, this, f, new_target) };
                self.call_native(f, call_args)
            }
            ObjectKind::Closure => (self.closure_hooks.call)(self, f, this, args, new_target),
            ObjectKind::BoundFunction => crate::builtins::function::call_bound(self, f, args, new_target),
            ObjectKind::Proxy => crate::builtins::proxy::call_proxy(self, f, this, args, new_target),
            _ => Err(self.throw_not_callable(Value::object(f))),
        }
    }

    /// Runs a native function in its realm.
    #[inline(always)]
    pub fn call_native(&mut self, f: Object, args: CallArgs) -> JsResult<Value> {
        self.pay()?;
        let function = f.native_spec().function;
        // SAFETY: native functions have their realm in an inline slot from birth.
        let realm = unsafe { f.inline_slot(NATIVE_REALM_SLOT) };
        if realm == Value::cell(self.realm()) {
            return function(self, args);
        }
        self.call_native_in(realm, function, args)
    }

    #[cold]
    fn call_native_in(&mut self, realm: Value, function: NativeFn, args: CallArgs) -> JsResult<Value> {
        let Some(realm) = crate::gc::data_of::<Realm>(realm) else {
            return function(self, args);
        };
        let realm: Gc<_> = realm;
        let previous = self.enter_realm(realm);
        let result = function(self, args);
        self.enter_realm(previous);
        result
    }
}
