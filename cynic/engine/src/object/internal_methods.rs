//! The essential internal methods (6.1.7.2), dispatched by object kind.
//! <https://tc39.es/ecma262/#sec-object-internal-methods-and-internal-slots>
//!
//! Ordinary objects and arrays take the direct path; objects with the `EXOTIC` flag go through their kind's
//! [`ExoticMethods`] table. A new exotic kind adds a table in its own file and a row in [`exotic_methods`].

use super::{Object, ObjectKind, OwnProperty, PropertyDescriptor, flags};
use crate::gc::RootedVec;
use crate::limits;
use crate::property_key::PropertyKey;
use crate::shape::Lock;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The internal methods of one exotic kind.
pub struct ExoticMethods {
    /// `[[GetPrototypeOf]]`: an object or null.
    pub get_prototype_of: fn(&mut Vm, Object) -> JsResult<Value>,
    /// `[[SetPrototypeOf]]`.
    pub set_prototype_of: fn(&mut Vm, Object, Value) -> JsResult<bool>,
    /// `[[IsExtensible]]`.
    pub is_extensible: fn(&mut Vm, Object) -> JsResult<bool>,
    /// `[[PreventExtensions]]`.
    pub prevent_extensions: fn(&mut Vm, Object) -> JsResult<bool>,
    /// `[[GetOwnProperty]]`.
    pub get_own_property: fn(&mut Vm, Object, PropertyKey) -> JsResult<Option<OwnProperty>>,
    /// `[[DefineOwnProperty]]`.
    pub define_own_property: fn(&mut Vm, Object, PropertyKey, &PropertyDescriptor) -> JsResult<bool>,
    /// `[[HasProperty]]`.
    pub has_property: fn(&mut Vm, Object, PropertyKey) -> JsResult<bool>,
    /// `[[Get]]`.
    pub get: fn(&mut Vm, Object, PropertyKey, Value) -> JsResult<Value>,
    /// `[[Set]]`.
    pub set: fn(&mut Vm, Object, PropertyKey, Value, Value) -> JsResult<bool>,
    /// `[[Delete]]`.
    pub delete: fn(&mut Vm, Object, PropertyKey) -> JsResult<bool>,
    /// `[[OwnPropertyKeys]]`.
    pub own_property_keys: fn(&mut Vm, Object) -> JsResult<RootedVec<PropertyKey>>,
}

/// What exotic objects have where they override nothing.
pub const ORDINARY: ExoticMethods = ExoticMethods {
    get_prototype_of: |_, o| Ok(o.prototype()),
    set_prototype_of: |vm, o, p| Ok(vm.ordinary_set_prototype_of(o, p)),
    is_extensible: |_, o| Ok(o.shape().is_extensible()),
    prevent_extensions: |vm, o| {
        vm.ordinary_lock(o, Lock::PreventExtensions);
        Ok(true)
    },
    get_own_property: |vm, o, k| Ok(vm.ordinary_get_own_property(o, k)),
    define_own_property: |vm, o, k, d| vm.ordinary_define_own_property(o, k, d),
    has_property: exotic_has_property,
    get: exotic_get,
    set: exotic_set,
    delete: |vm, o, k| Ok(vm.ordinary_delete(o, k)),
    own_property_keys: |vm, o| Ok(vm.ordinary_own_property_keys(o)),
};

/// OrdinaryHasProperty for an object whose `[[GetOwnProperty]]` is its own.
pub fn exotic_has_property(vm: &mut Vm, o: Object, key: PropertyKey) -> JsResult<bool> {
    if vm.get_own_property(o, key)?.is_some() {
        return Ok(true);
    }
    match vm.get_prototype_of(o)?.as_object() {
        Some(p) => vm.has_property(p, key),
        None => Ok(false),
    }
}

/// OrdinaryGet for an object whose `[[GetOwnProperty]]` is its own.
pub fn exotic_get(vm: &mut Vm, o: Object, key: PropertyKey, receiver: Value) -> JsResult<Value> {
    match vm.get_own_property(o, key)? {
        Some(p) => vm.property_value(&p, receiver),
        None => match vm.get_prototype_of(o)?.as_object() {
            Some(p) => vm.get_with_receiver(p, key, receiver),
            None => Ok(Value::UNDEFINED),
        },
    }
}

/// OrdinarySet for an object whose `[[GetOwnProperty]]` is its own.
pub fn exotic_set(vm: &mut Vm, o: Object, key: PropertyKey, v: Value, receiver: Value) -> JsResult<bool> {
    let Some(p) = vm.get_own_property(o, key)? else {
        return match vm.get_prototype_of(o)?.as_object() {
            Some(parent) => vm.set(parent, key, v, receiver),
            None => vm.set_on_receiver(key, v, receiver),
        };
    };
    if let Some(a) = p.accessor() {
        if a.setter().is_undefined() {
            return Ok(false);
        }
        vm.call(a.setter(), receiver, &[v])?;
        return Ok(true);
    }
    if !p.is_writable() {
        return Ok(false);
    }
    vm.set_on_receiver(key, v, receiver)
}

/// The table of an exotic kind. One row per kind, in alphabetical order.
fn exotic_methods(kind: ObjectKind) -> &'static ExoticMethods {
    static DEFAULT: ExoticMethods = ORDINARY;
    match kind {
        ObjectKind::ModuleNamespace => &crate::vm::modules::namespace::METHODS,
        ObjectKind::Proxy => &crate::builtins::proxy::METHODS,
        ObjectKind::String => &crate::builtins::string_exotic::METHODS,
        ObjectKind::TypedArray => &crate::builtins::typed_array_exotic::METHODS,
        _ => &DEFAULT,
    }
}

impl Vm {
    /// `[[GetPrototypeOf]]`.
    #[inline]
    pub fn get_prototype_of(&mut self, o: Object) -> JsResult<Value> {
        if !o.has_flag(flags::EXOTIC) {
            return Ok(o.prototype());
        }
        (exotic_methods(o.kind()).get_prototype_of)(self, o)
    }

    /// `[[SetPrototypeOf]]`.
    pub fn set_prototype_of(&mut self, o: Object, prototype: Value) -> JsResult<bool> {
        if !o.has_flag(flags::EXOTIC) {
            return Ok(self.ordinary_set_prototype_of(o, prototype));
        }
        (exotic_methods(o.kind()).set_prototype_of)(self, o, prototype)
    }

    /// `[[IsExtensible]]`.
    pub fn is_extensible(&mut self, o: Object) -> JsResult<bool> {
        if !o.has_flag(flags::EXOTIC) {
            return Ok(o.shape().is_extensible());
        }
        (exotic_methods(o.kind()).is_extensible)(self, o)
    }

    /// `[[PreventExtensions]]`.
    pub fn prevent_extensions(&mut self, o: Object) -> JsResult<bool> {
        if !o.has_flag(flags::EXOTIC) {
            self.ordinary_lock(o, Lock::PreventExtensions);
            return Ok(true);
        }
        (exotic_methods(o.kind()).prevent_extensions)(self, o)
    }

    /// `[[GetOwnProperty]]`.
    #[inline]
    pub fn get_own_property(&mut self, o: Object, key: PropertyKey) -> JsResult<Option<OwnProperty>> {
        if !o.has_flag(flags::EXOTIC) {
            return Ok(self.ordinary_get_own_property(o, key));
        }
        (exotic_methods(o.kind()).get_own_property)(self, o, key)
    }

    /// `[[DefineOwnProperty]]`.
    #[inline]
    pub fn define_own_property(
        &mut self,
        o: Object,
        key: PropertyKey,
        desc: &PropertyDescriptor,
    ) -> JsResult<bool> {
        if o.has_flag(flags::EXOTIC) {
            return (exotic_methods(o.kind()).define_own_property)(self, o, key, desc);
        }
        if o.is_array() {
            return self.array_define_own_property(o, key, desc);
        }
        self.ordinary_define_own_property(o, key, desc)
    }

    /// `[[HasProperty]]`.
    #[inline]
    pub fn has_property(&mut self, o: Object, key: PropertyKey) -> JsResult<bool> {
        if !o.has_flag(flags::EXOTIC) {
            return self.ordinary_has_property(o, key);
        }
        self.check_native_stack()?;
        (exotic_methods(o.kind()).has_property)(self, o, key)
    }

    /// Get (7.3.2): `[[Get]]` with the object itself as receiver.
    #[inline]
    pub fn get(&mut self, o: Object, key: PropertyKey) -> JsResult<Value> {
        self.get_with_receiver(o, key, Value::object(o))
    }

    /// `[[Get]]`.
    #[inline]
    pub fn get_with_receiver(&mut self, o: Object, key: PropertyKey, receiver: Value) -> JsResult<Value> {
        if !o.has_flag(flags::EXOTIC) {
            return self.ordinary_get(o, key, receiver);
        }
        self.check_native_stack()?;
        (exotic_methods(o.kind()).get)(self, o, key, receiver)
    }

    /// `[[Set]]`. False: the assignment is refused (a TypeError in strict code).
    #[inline]
    pub fn set(&mut self, o: Object, key: PropertyKey, v: Value, receiver: Value) -> JsResult<bool> {
        if !o.has_flag(flags::EXOTIC) {
            return self.ordinary_set(o, key, v, receiver);
        }
        self.check_native_stack()?;
        (exotic_methods(o.kind()).set)(self, o, key, v, receiver)
    }

    /// `[[Delete]]`.
    pub fn delete_property(&mut self, o: Object, key: PropertyKey) -> JsResult<bool> {
        if !o.has_flag(flags::EXOTIC) {
            return Ok(self.ordinary_delete(o, key));
        }
        (exotic_methods(o.kind()).delete)(self, o, key)
    }

    /// `[[OwnPropertyKeys]]`, rooted.
    pub fn own_property_keys(&mut self, o: Object) -> JsResult<RootedVec<PropertyKey>> {
        let string = if o.is(ObjectKind::String) { o.slot(0).as_string() } else { None };
        let keys_max = o.elements().len() as usize
            + o.shape().property_count() as usize
            + string.map_or(0, |string| string.len());
        if keys_max > limits::KEYS_UNCHECKED_MAX {
            // Half as much again, or twice: the list grows.
            self.check_heap_room(keys_max * 2 * size_of::<PropertyKey>())?;
            self.poll_n((keys_max / 16) as u32)?;
        }
        if !o.has_flag(flags::EXOTIC) {
            return Ok(self.ordinary_own_property_keys(o));
        }
        (exotic_methods(o.kind()).own_property_keys)(self, o)
    }
}
