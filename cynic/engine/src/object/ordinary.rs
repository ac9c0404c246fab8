//! Ordinary object internal methods (10.1). <https://tc39.es/ecma262/#sec-ordinary-object-internal-methods-and-internal-slots>
//!
//! Everything here works on the object itself (slots, elements, shape); exotic objects reuse what they do not override.
//! OPTIMIZATION notes name the specification's path that they must equal.

use super::{Object, ObjectKind, OwnProperty, PropertyDescriptor, flags};
use crate::atoms;
use crate::gc::RootedVec;
use crate::property_key::PropertyKey;
use crate::shape::{Lock, attrs};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

impl Vm {
    /// OrdinaryGetOwnProperty (10.1.5.1), without guest-visible steps.
    #[inline]
    pub fn ordinary_get_own_property(&mut self, o: Object, key: PropertyKey) -> Option<OwnProperty> {
        if let Some(i) = key.as_index() {
            let v = o.element(i);
            if !v.is_empty() {
                return Some(OwnProperty::data(v, o.element_attrs()));
            }
            if !o.has_flag(flags::HAS_SPARSE) {
                return None;
            }
        }
        let info = o.shape().lookup(key)?;
        let mut value = o.slot(info.slot);
        if value.is_static_ptr() {
            value = self.materialize_slot(o, info.slot, value);
        }
        Some(OwnProperty { value, attrs: info.attrs })
    }

    /// OrdinaryDefineOwnProperty (10.1.6.1).
    pub fn ordinary_define_own_property(
        &mut self,
        o: Object,
        key: PropertyKey,
        desc: &PropertyDescriptor,
    ) -> JsResult<bool> {
        let current = self.ordinary_get_own_property(o, key);
        let extensible = o.shape().is_extensible();
        self.validate_and_apply_property_descriptor(Some(o), key, extensible, desc, current)
    }

    /// ValidateAndApplyPropertyDescriptor (10.1.6.3).
    pub fn validate_and_apply_property_descriptor(
        &mut self,
        o: Option<Object>,
        key: PropertyKey,
        extensible: bool,
        desc: &PropertyDescriptor,
        current: Option<OwnProperty>,
    ) -> JsResult<bool> {
        let Some(current) = current else {
            if !extensible {
                return Ok(false);
            }
            if let Some(o) = o {
                let value = self.descriptor_slot_value(desc, None);
                self.add_own_property(o, key, value, desc.attributes())?;
            }
            return Ok(true);
        };
        if !self.is_compatible_change(desc, &current) {
            return Ok(false);
        }
        if let Some(o) = o {
            let value = self.descriptor_slot_value(desc, Some(&current));
            let attributes = merged_attributes(desc, &current);
            self.replace_own_property(o, key, value, attributes, &current)?;
        }
        Ok(true)
    }

    /// The checks of ValidateAndApplyPropertyDescriptor for a property that exists.
    fn is_compatible_change(&mut self, desc: &PropertyDescriptor, current: &OwnProperty) -> bool {
        if current.is_configurable() {
            return true;
        }
        if desc.configurable == Some(true) || desc.enumerable.is_some_and(|e| e != current.is_enumerable()) {
            return false;
        }
        let accessor = current.accessor();
        if !desc.is_generic() && desc.is_accessor() != accessor.is_some() {
            return false;
        }
        if let Some(a) = accessor {
            return desc.get.is_none_or(|g| self.same_value(g, a.getter()))
                && desc.set.is_none_or(|s| self.same_value(s, a.setter()));
        }
        if !current.is_writable() {
            return desc.writable != Some(true)
                && desc.value.is_none_or(|v| self.same_value(v, current.value));
        }
        true
    }

    /// What goes into the slot: a value or an accessor cell, absent fields coming from `current`.
    fn descriptor_slot_value(&mut self, desc: &PropertyDescriptor, current: Option<&OwnProperty>) -> Value {
        if desc.is_accessor() {
            let old = current.and_then(|c| c.accessor());
            let get = desc.get.or(old.map(|a| a.getter())).unwrap_or(Value::UNDEFINED);
            let set = desc.set.or(old.map(|a| a.setter())).unwrap_or(Value::UNDEFINED);
            return Value::cell(self.new_accessor(get, set));
        }
        match current {
            Some(c) if c.accessor().is_some() && desc.is_data() => desc.value.unwrap_or(Value::UNDEFINED),
            Some(c) => desc.value.unwrap_or(c.value),
            None => desc.value.unwrap_or(Value::UNDEFINED),
        }
    }

    /// Adds a property that is not there. `value` is an accessor cell if the attributes say so.
    pub(crate) fn add_own_property(
        &mut self,
        o: Object,
        key: PropertyKey,
        value: Value,
        attributes: u8,
    ) -> JsResult<()> {
        if let Some(i) = key.as_index() {
            if attributes == attrs::ALL && !o.has_flag(flags::ELEMENTS_SEALED | flags::ELEMENTS_FROZEN) {
                return self.add_element(o, i, value);
            }
            self.make_elements_sparse(o);
            if o.has_flag(flags::IS_PROTOTYPE) {
                self.indexed_prototypes = true;
            }
        }
        self.add_keyed_property(o, key, value, attributes);
        Ok(())
    }

    /// Adds a keyed property that is not there (an index key only when the object is sparse).
    pub fn add_keyed_property(&mut self, o: Object, key: PropertyKey, value: Value, attributes: u8) {
        let (shape, slot) = self.shape_add(o.shape(), key, attributes);
        self.add_slot(o, shape, slot, value);
        if o.has_flag(flags::IS_PROTOTYPE) {
            self.bump_proto_epoch();
        }
    }

    /// Gives a property that exists a new value and new attributes.
    fn replace_own_property(
        &mut self,
        o: Object,
        key: PropertyKey,
        value: Value,
        attributes: u8,
        current: &OwnProperty,
    ) -> JsResult<()> {
        if let Some(i) = key.as_index()
            && !o.has_flag(flags::HAS_SPARSE)
        {
            if attributes == o.element_attrs() {
                o.elements().set(i, value);
                return Ok(());
            }
            self.make_elements_sparse(o);
            if o.has_flag(flags::IS_PROTOTYPE) {
                self.indexed_prototypes = true;
            }
        }
        if attributes != current.attrs {
            let shape = self.shape_change_attrs(o.shape(), key, attributes);
            o.set_shape(shape);
            if o.has_flag(flags::IS_PROTOTYPE) {
                self.bump_proto_epoch();
            }
        } else if attributes & attrs::ACCESSOR != 0 && o.has_flag(flags::IS_PROTOTYPE) {
            self.bump_proto_epoch();
        }
        if let Some(info) = o.shape().lookup(key) {
            o.set_slot(info.slot, value);
        }
        Ok(())
    }

    /// OrdinaryHasProperty (10.1.7.1), along ordinary prototypes without recursion.
    pub fn ordinary_has_property(&mut self, o: Object, key: PropertyKey) -> JsResult<bool> {
        let mut current = o;
        loop {
            if self.ordinary_get_own_property(current, key).is_some() {
                return Ok(true);
            }
            match current.prototype().as_object() {
                None => return Ok(false),
                Some(p) if p.has_flag(flags::EXOTIC) => return self.has_property(p, key),
                Some(p) => current = p,
            }
        }
    }

    /// OrdinaryGet (10.1.8.1), along ordinary prototypes without recursion.
    pub fn ordinary_get(&mut self, o: Object, key: PropertyKey, receiver: Value) -> JsResult<Value> {
        let mut current = o;
        loop {
            if let Some(p) = self.ordinary_get_own_property(current, key) {
                return self.property_value(&p, receiver);
            }
            match current.prototype().as_object() {
                None => return Ok(Value::UNDEFINED),
                Some(p) if p.has_flag(flags::EXOTIC) => return self.get_with_receiver(p, key, receiver),
                Some(p) => current = p,
            }
        }
    }

    /// The value of a property: data, or what its getter returns.
    #[inline]
    pub fn property_value(&mut self, p: &OwnProperty, receiver: Value) -> JsResult<Value> {
        match p.accessor() {
            None => Ok(p.value),
            Some(a) if a.getter().is_undefined() => Ok(Value::UNDEFINED),
            Some(a) => self.call(a.getter(), receiver, &[]),
        }
    }

    /// OrdinarySet (10.1.9.1), along ordinary prototypes without recursion.
    pub fn ordinary_set(&mut self, o: Object, key: PropertyKey, v: Value, receiver: Value) -> JsResult<bool> {
        let mut current = o;
        loop {
            if let Some(p) = self.ordinary_get_own_property(current, key) {
                return self.set_found(current, &p, key, v, receiver);
            }
            match current.prototype().as_object() {
                None => break,
                Some(p) if p.has_flag(flags::EXOTIC) => return self.set(p, key, v, receiver),
                Some(p) => current = p,
            }
        }
        // OPTIMIZATION: equals CreateDataProperty on the receiver; it has been searched already if it is `o`.
        if receiver == Value::object(o) && !o.is_array() {
            return self.create_absent(o, key, v);
        }
        self.set_on_receiver(key, v, receiver)
    }

    fn create_absent(&mut self, o: Object, key: PropertyKey, v: Value) -> JsResult<bool> {
        if !o.shape().is_extensible() {
            return Ok(false);
        }
        self.add_own_property(o, key, v, attrs::ALL)?;
        Ok(true)
    }

    /// The rest of OrdinarySetWithOwnDescriptor (10.1.9.2) once `p` was found on `holder`.
    fn set_found(
        &mut self,
        holder: Object,
        p: &OwnProperty,
        key: PropertyKey,
        v: Value,
        receiver: Value,
    ) -> JsResult<bool> {
        if let Some(a) = p.accessor() {
            if a.setter().is_undefined() {
                return Ok(false);
            }
            self.call(a.setter(), receiver, &[v])?;
            return Ok(true);
        }
        let own = receiver == Value::object(holder);
        if !p.is_writable() {
            // The override mistake, mended: a constant on a locked prototype does not keep its heirs from having
            // a property of that name.
            if own || !self.options.hardened || holder.shape().is_extensible() {
                return Ok(false);
            }
            return self.set_on_receiver(key, v, receiver);
        }
        if !own {
            return self.set_on_receiver(key, v, receiver);
        }
        // OPTIMIZATION: equals [[DefineOwnProperty]] with only [[Value]] on writable data.
        if holder.is_array() && key == atoms::LENGTH {
            return self
                .array_set_length(holder, &PropertyDescriptor { value: Some(v), ..Default::default() });
        }
        if let Some(i) = key.as_index()
            && !holder.has_flag(flags::HAS_SPARSE)
        {
            holder.elements().set(i, v);
            return Ok(true);
        }
        if let Some(info) = holder.shape().lookup(key) {
            holder.set_slot(info.slot, v);
        }
        Ok(true)
    }

    /// The part of OrdinarySetWithOwnDescriptor that works on the receiver.
    pub(crate) fn set_on_receiver(&mut self, key: PropertyKey, v: Value, receiver: Value) -> JsResult<bool> {
        let Some(r) = receiver.as_object() else { return Ok(false) };
        match self.get_own_property(r, key)? {
            Some(existing) => {
                if existing.accessor().is_some() || !existing.is_writable() {
                    return Ok(false);
                }
                let desc = PropertyDescriptor { value: Some(v), ..Default::default() };
                self.define_own_property(r, key, &desc)
            }
            None => self.create_data_property(r, key, v),
        }
    }

    /// OrdinaryDelete (10.1.10.1).
    pub fn ordinary_delete(&mut self, o: Object, key: PropertyKey) -> bool {
        let Some(p) = self.ordinary_get_own_property(o, key) else { return true };
        if !p.is_configurable() {
            return false;
        }
        if let Some(i) = key.as_index()
            && !o.has_flag(flags::HAS_SPARSE)
        {
            let e = o.elements();
            if !o.is_array() && i + 1 == e.len() {
                e.set_len(i);
            } else {
                e.set(i, Value::EMPTY);
            }
            return true;
        }
        if let Some(info) = o.shape().lookup(key) {
            o.set_slot(info.slot, Value::UNDEFINED);
            let shape = self.shape_remove(o.shape(), key);
            o.set_shape(shape);
            if o.has_flag(flags::IS_PROTOTYPE) {
                self.bump_proto_epoch();
            }
        }
        true
    }

    /// OrdinaryOwnPropertyKeys (10.1.11.1): indices in order, then strings, then symbols as they were created.
    pub fn ordinary_own_property_keys(&mut self, o: Object) -> RootedVec<PropertyKey> {
        let e = o.elements();
        let mut keys = RootedVec::new(&self.heap);
        keys.extend((0..e.len()).filter(|&i| !e.get(i).is_empty()).map(PropertyKey::index));
        let shape = o.shape();
        let table = shape.table();
        if o.has_flag(flags::HAS_SPARSE) {
            let mut indices: Vec<u32> = table.iter().filter_map(|(k, _)| k.as_index()).collect();
            indices.sort_unstable();
            keys.extend(indices.into_iter().map(PropertyKey::index));
        }
        keys.extend(table.iter().map(|(k, _)| k).filter(|k| k.is_string()));
        keys.extend(table.iter().map(|(k, _)| k).filter(|k| k.is_symbol() && !k.is_private()));
        keys
    }

    /// OrdinarySetPrototypeOf (10.1.2.1). `prototype` is an object or null.
    pub fn ordinary_set_prototype_of(&mut self, o: Object, prototype: Value) -> bool {
        if o.prototype() == prototype {
            return true;
        }
        if !o.shape().is_extensible() || o.has_flag(flags::IMMUTABLE_PROTOTYPE) {
            return false;
        }
        let mut p = prototype.as_object();
        while let Some(ancestor) = p {
            if ancestor == o {
                return false;
            }
            if ancestor.is(ObjectKind::Proxy) {
                break;
            }
            p = ancestor.prototype().as_object();
        }
        self.replace_prototype(o, prototype);
        true
    }

    /// Gives the object another prototype without asking.
    pub(crate) fn replace_prototype(&mut self, o: Object, prototype: Value) {
        let shape = self.shape_with_prototype(o.shape(), prototype);
        o.set_shape(shape);
        if o.has_flag(flags::IS_PROTOTYPE) {
            self.bump_proto_epoch();
            self.note_indexed_prototype(prototype);
        } else if let Some(p) = prototype.as_object() {
            self.note_indexed_prototype(Value::object(p));
        }
    }

    /// Remembers that some prototype has indexed properties, once one does.
    pub(crate) fn note_indexed_prototype(&mut self, prototype: Value) {
        let mut p = prototype.as_object();
        // What was found plain before has reported every change since (`add_element`, a new prototype), so that the
        // walk is short even when every object of a long chain becomes a prototype in its turn.
        while let Some(o) = p.filter(|o| !o.has_flag(flags::CHAIN_NOTED)) {
            if o.has_flag(flags::EXOTIC | flags::HAS_SPARSE) || !o.elements().is_empty() {
                self.indexed_prototypes = true;
                return;
            }
            p = o.prototype().as_object();
        }
        if let Some(o) = prototype.as_object().filter(|o| o.has_flag(flags::IS_PROTOTYPE)) {
            o.set_flag(flags::CHAIN_NOTED);
        }
    }

    /// OrdinaryPreventExtensions (10.1.4.1), and the locking half of SetIntegrityLevel for ordinary objects.
    pub fn ordinary_lock(&mut self, o: Object, lock: Lock) {
        let shape = self.shape_locked(o.shape(), lock);
        o.set_shape(shape);
        o.set_flag(flags::NOT_EXTENSIBLE);
        match lock {
            Lock::PreventExtensions => {}
            Lock::Seal => o.set_flag(flags::ELEMENTS_SEALED),
            Lock::Freeze => {
                o.set_flag(flags::ELEMENTS_SEALED | flags::ELEMENTS_FROZEN);
                if o.is_array() {
                    o.set_flag(flags::LENGTH_FROZEN);
                }
            }
        }
        if o.has_flag(flags::IS_PROTOTYPE) {
            self.bump_proto_epoch();
        }
    }
}

/// The attributes after applying `desc` to `current`.
fn merged_attributes(desc: &PropertyDescriptor, current: &OwnProperty) -> u8 {
    let pick = |field: Option<bool>, bit: u8| match field {
        Some(true) => bit,
        Some(false) => 0,
        None => current.attrs & bit,
    };
    let shared = pick(desc.enumerable, attrs::ENUMERABLE) | pick(desc.configurable, attrs::CONFIGURABLE);
    let was_accessor = current.attrs & attrs::ACCESSOR != 0;
    if desc.is_accessor() || was_accessor && desc.is_generic() {
        return shared | attrs::ACCESSOR;
    }
    if was_accessor {
        return shared | if desc.writable == Some(true) { attrs::WRITABLE } else { 0 };
    }
    shared | pick(desc.writable, attrs::WRITABLE)
}
