//! Scopes, uninitialised bindings and globals.

use super::super::State;
use super::super::closure::SCOPE_SLOT;
use super::slow_paths;
use crate::object::cache::{GetLookup, SetLookup};
use crate::property_key::PropertyKey;
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// The scope the running closure captured. Code without a closure (scripts, modules, eval) has its scope in the
/// callee's place.
#[inline(always)]
pub(in super::super) fn captured_scope(s: State) -> Value {
    // SAFETY: the callee is below register 0.
    let callee = unsafe { *s.regs.sub(1) };
    match callee.as_object() {
        Some(closure) => closure.slot(SCOPE_SLOT),
        None => callee,
    }
}

fn constant_text(s: State, index: u32) -> String {
    s.constant(index).as_string().map(|name| name.to_rust_string()).unwrap_or_default()
}

fn throw_uninitialized(vm: &mut Vm, name: &str) -> Abrupt {
    vm.throw_reference_error(&format!("cannot access '{name}' before initialization"))
}

impl Vm {
    fn read_global(&mut self, s: State, or_undefined: bool) -> JsResult<Value> {
        let key = s.ic().property_key();
        if let Some(binding) = self.global_binding(key) {
            let value = binding.cell.get(0);
            if value.is_empty() {
                return Err(throw_uninitialized(self, &key.to_display()));
            }
            s.ic().far = binding.cell.addr();
            s.template_cell().write_barrier();
            return Ok(value);
        }
        let global = self.global_object();
        if let GetLookup::Own { slot } = self.lookup_for_get(global, key) {
            let ic = s.ic();
            ic.shape = global.shape().addr();
            ic.slot = slot;
            s.template_cell().write_barrier();
            return Ok(global.slot(slot));
        }
        if !self.has_property(global, key)? {
            if or_undefined {
                return Ok(Value::UNDEFINED);
            }
            return Err(self.throw_unresolvable(key));
        }
        self.get(global, key)
    }

    #[cold]
    fn throw_unresolvable(&mut self, key: PropertyKey) -> Abrupt {
        self.throw_reference_error(&format!("{} is not defined", key.to_display()))
    }

    fn write_global(&mut self, s: State, value: Value) -> JsResult<()> {
        let key = s.ic().property_key();
        if let Some(binding) = self.global_binding(key) {
            if binding.cell.get(0).is_empty() {
                return Err(throw_uninitialized(self, &key.to_display()));
            }
            if binding.is_const {
                return Err(throw_constant(self, &key.to_display()));
            }
            s.ic().far = binding.cell.addr();
            s.template_cell().write_barrier();
            binding.cell.set(0, value);
            return Ok(());
        }
        let global = self.global_object();
        if let SetLookup::Own { slot } = self.lookup_for_set(global, key) {
            let ic = s.ic();
            ic.shape = global.shape().addr();
            ic.slot = slot;
            s.template_cell().write_barrier();
            global.set_slot(slot, value);
            return Ok(());
        }
        if !self.has_property(global, key)? {
            return Err(self.throw_unresolvable(key));
        }
        self.set_or_throw(global, key, value)
    }
}

/// The message of a ReferenceError about `this`.
pub(super) const UNBOUND_THIS: &str =
    "must call super constructor before accessing 'this' or returning from a derived constructor";

fn throw_constant(vm: &mut Vm, name: &str) -> Abrupt {
    vm.throw_type_error(&format!("assignment to constant variable '{name}'"))
}

slow_paths! {
    fn new_scope(s) {
        let vm = s.vm();
        let bytes = (s.x() as usize).saturating_mul(size_of::<Value>());
        if bytes > crate::limits::LARGE_ALLOCATION_BYTES
            && let Err(abrupt) = vm.check_heap_room(bytes)
        {
            return s.unwind(abrupt);
        }
        let scope = vm.new_value_array(s.x() + 1, Value::EMPTY);
        scope.set(0, s.reg(s.b()));
        s.set(s.a(), Value::cell(scope));
        s.advance(2)
    }
    fn clone_scope(s) {
        let vm = s.vm();
        if let Some(old) = s.reg(s.b()).as_value_array() {
            let scope = vm.alloc_value_array(old.len());
            for value in old.as_slice() {
                scope.push(*value);
            }
            s.set(s.a(), Value::cell(scope));
        }
        s.advance(1)
    }
    #[cold]
    fn throw_tdz(s) {
        let name = constant_text(s, s.x());
        let abrupt = throw_uninitialized(s.vm(), &name);
        s.unwind(abrupt)
    }
    #[cold]
    fn throw_unbound_this(s) {
        let abrupt = s.vm().throw_reference_error(UNBOUND_THIS);
        s.unwind(abrupt)
    }
    #[cold]
    fn throw_bound_this(s) {
        let abrupt = s.vm().throw_reference_error("super constructor may only be called once");
        s.unwind(abrupt)
    }
    #[cold]
    fn throw_const(s) {
        let name = constant_text(s, s.x());
        let abrupt = throw_constant(s.vm(), &name);
        s.unwind(abrupt)
    }
    #[cold]
    fn throw_error(s) {
        let message = constant_text(s, s.x());
        let vm = s.vm();
        let abrupt = match s.a() {
            1 => vm.throw_type_error(&message),
            2 => vm.throw_reference_error(&message),
            _ => vm.throw_syntax_error(&message),
        };
        s.unwind(abrupt)
    }
    fn get_global(s) {
        let result = s.vm().read_global(s, false);
        s.finish(2, s.a(), result)
    }
    fn get_global_or_undefined(s) {
        let result = s.vm().read_global(s, true);
        s.finish(2, s.a(), result)
    }
    fn has_global(s) {
        let vm = s.vm();
        let name = constant_text(s, s.x());
        let key = vm.key_from_str(&name);
        let result = vm.has_global(key).map(Value::bool);
        s.finish(2, s.a(), result)
    }
    fn set_global(s) {
        let result = s.vm().write_global(s, s.reg(s.a()));
        s.proceed(2, result)
    }
    fn init_global(s) {
        let key = s.ic().property_key();
        if let Some(binding) = s.vm().global_binding(key) {
            binding.cell.set(0, s.reg(s.a()));
        }
        s.advance(2)
    }
    fn define_global_function(s) {
        let key = s.ic().property_key();
        let result = s.vm().define_global_function(key, s.reg(s.a()));
        s.proceed(2, result)
    }
}
