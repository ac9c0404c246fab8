//! The global environment: lexical bindings in cells, variables on the global object.
//! <https://tc39.es/ecma262/#sec-global-environment-records>
//!
//! In a hardened isolate the global object is frozen, so `var` and function declarations of scripts become bindings of
//! the declarative part, which may be declared again.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::bytecode::code::GlobalDeclarations;
use crate::gc::{Data, Gc, Trace, Tracer, ValueArray, data_of};
use crate::object::PropertyDescriptor;
use crate::property_key::PropertyKey;
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Index of the environment in the realm's data.
const GLOBAL_ENV: usize = 0;

/// A lexical binding of the global environment.
#[derive(Clone, Copy)]
pub struct GlobalBinding {
    /// One-slot array with the value.
    pub cell: Gc<ValueArray>,
    /// Assignment throws.
    pub is_const: bool,
    /// Stands in for a `var` of a hardened global object.
    is_var: bool,
}

/// The declarative record of a realm.
#[derive(Default)]
pub struct GlobalEnv {
    bindings: RefCell<FxHashMap<PropertyKey, GlobalBinding>>,
}

impl Trace for GlobalEnv {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        for (key, binding) in self.bindings.borrow().iter() {
            tracer.key(*key);
            tracer.cell(binding.cell);
        }
    }
}

impl Vm {
    fn global_env(&mut self) -> Gc<Data<GlobalEnv>> {
        let slot = &self.realm_data().vm_data[GLOBAL_ENV];
        if let Some(env) = data_of::<GlobalEnv>(slot.get()) {
            return env;
        }
        let env = self.alloc_data(GlobalEnv::default());
        self.realm_data().vm_data[GLOBAL_ENV].set(Value::cell(env));
        self.realm().write_barrier();
        env
    }

    /// The lexical binding `key`.
    pub(crate) fn global_binding(&mut self, key: PropertyKey) -> Option<GlobalBinding> {
        self.global_env().bindings.borrow().get(&key).copied()
    }

    /// The value of the lexical binding `key`, EMPTY before it is initialised.
    pub(crate) fn peek_global_binding(&mut self, key: PropertyKey) -> Option<Value> {
        self.global_binding(key).map(|binding| binding.cell.get(0))
    }

    /// The names of all lexical bindings.
    pub(crate) fn global_binding_names(&mut self) -> Vec<String> {
        let env = self.global_env();
        let bindings = env.bindings.borrow();
        bindings.keys().filter_map(|key| key.as_string()).map(|name| name.to_rust_string()).collect()
    }

    fn add_global_binding(&mut self, key: PropertyKey, value: Value, is_const: bool, is_var: bool) {
        let cell = self.new_value_array(1, value);
        let env = self.global_env();
        env.bindings.borrow_mut().insert(key, GlobalBinding { cell, is_const, is_var });
        env.write_barrier();
        // A property of that name is shadowed from now on: caches of it must miss.
        let global = self.global_object();
        if global.shape().lookup(key).is_some() {
            let shape = self.shape_to_dictionary(global.shape());
            global.set_shape(shape);
        }
    }

    /// Makes room for declarations of names that are declared: at a prompt, the last one counts. What code has of a binding stays the
    /// same binding.
    fn redeclare_globals(&mut self, globals: &GlobalDeclarations) {
        let env = self.global_env();
        for (name, is_const) in &globals.lexicals {
            let key = self.key_from_str(name);
            if let Some(binding) = env.bindings.borrow_mut().get_mut(&key) {
                (binding.is_const, binding.is_var) = (*is_const, false);
                binding.cell.set(0, Value::EMPTY);
            }
        }
        for name in globals.functions.iter().chain(&globals.vars) {
            let key = self.key_from_str(name);
            if let Some(binding) = env.bindings.borrow_mut().get_mut(&key).filter(|binding| !binding.is_var) {
                (binding.is_const, binding.is_var) = (false, true);
                if binding.cell.get(0) == Value::EMPTY {
                    binding.cell.set(0, Value::UNDEFINED);
                }
            }
        }
    }

    /// GlobalDeclarationInstantiation (16.1.7); functions are initialised by the script's code.
    pub(crate) fn declare_globals(&mut self, globals: &GlobalDeclarations) -> JsResult<()> {
        let may_redeclare = self.options.redeclare_globals;
        if may_redeclare {
            self.redeclare_globals(globals);
        }
        for (name, _) in globals.lexicals.iter().filter(|_| !may_redeclare) {
            let key = self.key_from_str(name);
            if self.global_binding(key).is_some() || self.has_restricted_global(key)? {
                return Err(self.throw_redeclaration(name));
            }
        }
        for name in globals.functions.iter().chain(&globals.vars) {
            let key = self.key_from_str(name);
            if self.global_binding(key).is_some_and(|binding| !binding.is_var) {
                return Err(self.throw_redeclaration(name));
            }
        }
        let is_hardened = self.options.hardened;
        if !is_hardened {
            self.check_global_declarations(globals)?;
        }
        for (name, is_const) in &globals.lexicals {
            let key = self.key_from_str(name);
            if may_redeclare && self.global_binding(key).is_some() {
                continue;
            }
            self.add_global_binding(key, Value::EMPTY, *is_const, false);
        }
        for name in &globals.vars {
            let key = self.key_from_str(name);
            self.declare_global_var(key)?;
        }
        Ok(())
    }

    fn throw_redeclaration(&mut self, name: &str) -> crate::vm::Abrupt {
        self.throw_syntax_error(&format!("'{name}' has already been declared"))
    }

    fn has_restricted_global(&mut self, key: PropertyKey) -> JsResult<bool> {
        if self.options.hardened {
            return Ok(false);
        }
        let global = self.global_object();
        Ok(self.get_own_property(global, key)?.is_some_and(|property| !property.is_configurable()))
    }

    /// CanDeclareGlobalFunction and CanDeclareGlobalVar for everything declared.
    fn check_global_declarations(&mut self, globals: &GlobalDeclarations) -> JsResult<()> {
        let global = self.global_object();
        for name in &globals.functions {
            let key = self.key_from_str(name);
            let allowed = match self.get_own_property(global, key)? {
                None => self.is_extensible(global)?,
                Some(property) => {
                    property.is_configurable()
                        || property.accessor().is_none() && property.is_writable() && property.is_enumerable()
                }
            };
            if !allowed {
                return Err(self.throw_type_error(&format!("cannot declare global function '{name}'")));
            }
        }
        for name in &globals.vars {
            let key = self.key_from_str(name);
            if self.get_own_property(global, key)?.is_none() && !self.is_extensible(global)? {
                return Err(self.throw_type_error(&format!("cannot declare global variable '{name}'")));
            }
        }
        Ok(())
    }

    fn declare_global_var(&mut self, key: PropertyKey) -> JsResult<()> {
        if self.options.hardened {
            if self.global_binding(key).is_none() {
                self.add_global_binding(key, Value::UNDEFINED, false, true);
            }
            return Ok(());
        }
        let global = self.global_object();
        if self.get_own_property(global, key)?.is_none() {
            let descriptor = PropertyDescriptor::data(Value::UNDEFINED, attrs::WRITABLE | attrs::ENUMERABLE);
            self.define_property_or_throw(global, key, &descriptor)?;
        }
        Ok(())
    }

    /// CreateGlobalFunctionBinding.
    pub(crate) fn define_global_function(&mut self, key: PropertyKey, value: Value) -> JsResult<()> {
        if self.options.hardened {
            self.declare_global_var(key)?;
            if let Some(binding) = self.global_binding(key) {
                binding.cell.set(0, value);
            }
            return Ok(());
        }
        if let Some(binding) = self.global_binding(key) {
            // Only at a prompt: the name was a lexical binding, and that is what code finds.
            binding.cell.set(0, value);
            return Ok(());
        }
        let global = self.global_object();
        let existing = self.get_own_property(global, key)?;
        let descriptor = match existing {
            Some(property) if !property.is_configurable() => {
                PropertyDescriptor { value: Some(value), ..PropertyDescriptor::default() }
            }
            _ => PropertyDescriptor::data(value, attrs::WRITABLE | attrs::ENUMERABLE),
        };
        self.define_property_or_throw(global, key, &descriptor)?;
        self.set_or_throw(global, key, value)
    }

    /// Whether the current realm's global environment has a lexical binding or property of that name.
    pub fn has_global(&mut self, key: PropertyKey) -> JsResult<bool> {
        if self.global_binding(key).is_some() {
            return Ok(true);
        }
        let global = self.global_object();
        self.has_property(global, key)
    }
}
