//! Module namespace exotic objects (10.4.6). <https://tc39.es/ecma262/#sec-module-namespace-exotic-objects>
//!
//! Internal slot 0: a [`Namespace`] cell.

use super::Module;
use super::link::Resolution;
use crate::gc::{Data, Gc, RootedVec, Trace, Tracer, ValueArray};
use crate::object::internal_methods::ExoticMethods;
use crate::object::{Object, ObjectKind, OwnProperty, PropertyDescriptor, flags};
use crate::property_key::PropertyKey;
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The exports of a namespace, in code unit order.
pub struct Namespace {
    exports: Vec<(PropertyKey, Gc<ValueArray>)>,
}

impl Trace for Namespace {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        for (key, cell) in &self.exports {
            tracer.key(*key);
            tracer.cell(*cell);
        }
    }
}

/// The internal methods.
pub static METHODS: ExoticMethods = ExoticMethods {
    get_prototype_of: |_, _| Ok(Value::NULL),
    set_prototype_of: |_, _, prototype| Ok(prototype.is_null()),
    is_extensible: |_, _| Ok(false),
    prevent_extensions: |_, _| Ok(true),
    get_own_property,
    define_own_property,
    has_property: |vm, o, key| Ok(find(o, key).is_some() || vm.ordinary_get_own_property(o, key).is_some()),
    get,
    set: |_, _, _, _, _| Ok(false),
    delete: |vm, o, key| Ok(find(o, key).is_none() && (!key.is_symbol() || vm.ordinary_delete(o, key))),
    own_property_keys,
};

fn data(o: Object) -> Option<Gc<Data<Namespace>>> {
    o.data::<Namespace>(0)
}

fn find(o: Object, key: PropertyKey) -> Option<Gc<ValueArray>> {
    let data = data(o)?;
    data.exports.iter().find(|(name, _)| *name == key).map(|(_, cell)| *cell)
}

fn read(vm: &mut Vm, cell: Gc<ValueArray>, key: PropertyKey) -> JsResult<Value> {
    let value = cell.get(0);
    if value.is_empty() {
        let message = format!("cannot access '{}' before initialization", key.to_display());
        return Err(vm.throw_reference_error(&message));
    }
    Ok(value)
}

fn get_own_property(vm: &mut Vm, o: Object, key: PropertyKey) -> JsResult<Option<OwnProperty>> {
    match find(o, key) {
        Some(cell) => {
            let value = read(vm, cell, key)?;
            Ok(Some(OwnProperty::data(value, attrs::WRITABLE | attrs::ENUMERABLE)))
        }
        None => Ok(vm.ordinary_get_own_property(o, key)),
    }
}

fn get(vm: &mut Vm, o: Object, key: PropertyKey, receiver: Value) -> JsResult<Value> {
    match find(o, key) {
        Some(cell) => read(vm, cell, key),
        None => match vm.ordinary_get_own_property(o, key) {
            Some(property) => vm.property_value(&property, receiver),
            None => Ok(Value::UNDEFINED),
        },
    }
}

fn define_own_property(
    vm: &mut Vm,
    o: Object,
    key: PropertyKey,
    desc: &PropertyDescriptor,
) -> JsResult<bool> {
    let Some(cell) = find(o, key) else {
        return if key.is_symbol() { vm.ordinary_define_own_property(o, key, desc) } else { Ok(false) };
    };
    let current = read(vm, cell, key)?;
    let contradicts = desc.configurable == Some(true)
        || desc.enumerable == Some(false)
        || desc.is_accessor()
        || desc.writable == Some(false);
    if contradicts {
        return Ok(false);
    }
    Ok(desc.value.is_none_or(|value| vm.same_value(value, current)))
}

fn own_property_keys(vm: &mut Vm, o: Object) -> JsResult<RootedVec<PropertyKey>> {
    let mut keys = RootedVec::<PropertyKey>::new(&vm.heap);
    if let Some(data) = data(o) {
        keys.extend(data.exports.iter().map(|(key, _)| *key));
    }
    let own = vm.ordinary_own_property_keys(o);
    keys.extend(own.iter().copied().filter(|key| key.is_symbol()));
    Ok(keys)
}

impl Vm {
    /// GetModuleNamespace (16.2.1.10).
    pub fn module_namespace(&mut self, module: Module) -> JsResult<Object> {
        if let Some(namespace) = module.namespace.get().as_object() {
            return Ok(namespace);
        }
        // A module may export the namespace of the next, and so on.
        self.check_native_stack()?;
        let mut names: Vec<(Vec<u16>, crate::bytecode::Text)> =
            self.exported_names(module)?.into_iter().map(|name| (units(&name), name)).collect();
        names.sort();
        let shape = self.root_shape(Value::NULL, 1);
        let object =
            self.alloc_object(shape, ObjectKind::ModuleNamespace, 2, flags::EXOTIC | flags::NOT_EXTENSIBLE);
        // The object is known before its exports are: a module may export its own namespace.
        module.namespace.set(Value::object(object));
        module.write_barrier();
        if let Err(abrupt) = self.fill_namespace(module, object, names) {
            module.namespace.set(Value::UNDEFINED);
            return Err(abrupt);
        }
        Ok(object)
    }

    fn fill_namespace(
        &mut self,
        module: Module,
        object: Object,
        names: Vec<(Vec<u16>, crate::bytecode::Text)>,
    ) -> JsResult<()> {
        let mut exports = Vec::new();
        let mut rooted = self.scratch();
        for (_, name) in names {
            let cell = match self.resolve_export(module, &name)? {
                Resolution::Cell(cell) => cell,
                Resolution::Namespace(inner) => {
                    let namespace = Value::object(self.module_namespace(inner)?);
                    self.new_value_array(1, namespace)
                }
                Resolution::Missing | Resolution::Ambiguous => continue,
            };
            rooted.push(Value::cell(cell));
            let key = self.text_key(&name);
            rooted.push(key.to_value(self));
            exports.push((key, cell));
        }
        let data = self.alloc_data(Namespace { exports });
        object.set_slot(0, Value::cell(data));
        let tag = crate::atoms::MODULE.to_value(self);
        self.add_keyed_property(object, symbol::TO_STRING_TAG, tag, 0);
        self.ordinary_lock(object, crate::shape::Lock::PreventExtensions);
        Ok(())
    }
}

fn units(text: &crate::bytecode::Text) -> Vec<u16> {
    match text {
        crate::bytecode::Text::Utf8(text) => text.encode_utf16().collect(),
        crate::bytecode::Text::Utf16(units) => units.to_vec(),
    }
}
