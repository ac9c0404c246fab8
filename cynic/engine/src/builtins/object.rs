//! Object objects (20.1): the constructor. <https://tc39.es/ecma262/#sec-object-objects>
//! (%Object.prototype% is in `object_prototype`.)

use crate::builtins::group_by::group_by;
use crate::gc::RootedVec;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind, PropertyDescriptor};
use crate::ops::objects::EnumerableKind;
use crate::property_key::PropertyKey;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method, prototype};
use crate::shape::Lock;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Object%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Object", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::ObjectPrototype),
        method("assign", 2, assign),
        method("create", 2, create),
        method("defineProperties", 2, define_properties),
        method("defineProperty", 3, define_property),
        method("entries", 1, |vm, args| enumerate(vm, args, EnumerableKind::Entries)),
        method("freeze", 1, |vm, args| lock(vm, args, Lock::Freeze)),
        method("fromEntries", 1, from_entries),
        method("getOwnPropertyDescriptor", 2, get_own_property_descriptor),
        method("getOwnPropertyDescriptors", 1, get_own_property_descriptors),
        method("getOwnPropertyNames", 1, |vm, args| own_keys(vm, args, false)),
        method("getOwnPropertySymbols", 1, |vm, args| own_keys(vm, args, true)),
        method("getPrototypeOf", 1, get_prototype_of),
        method("groupBy", 2, object_group_by),
        method("hasOwn", 2, has_own),
        method("is", 2, is),
        method("isExtensible", 1, is_extensible),
        method("isFrozen", 1, |vm, args| is_locked(vm, args, Lock::Freeze)),
        method("isSealed", 1, |vm, args| is_locked(vm, args, Lock::Seal)),
        method("keys", 1, |vm, args| enumerate(vm, args, EnumerableKind::Keys)),
        method("preventExtensions", 1, |vm, args| lock(vm, args, Lock::PreventExtensions)),
        method("seal", 1, |vm, args| lock(vm, args, Lock::Seal)),
        method("setPrototypeOf", 2, set_prototype_of),
        method("values", 1, |vm, args| enumerate(vm, args, EnumerableKind::Values)),
    ],
};

/// 20.1.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if args.is_construct() && args.new_target != Value::object(args.callee) {
        let o = vm.ordinary_create_from_constructor(
            args.new_target,
            Intrinsic::ObjectPrototype,
            ObjectKind::Ordinary,
            0,
        )?;
        return Ok(Value::object(o));
    }
    let v = args.get(0);
    if v.is_nullish() {
        return Ok(Value::object(vm.new_object()));
    }
    Ok(Value::object(vm.to_object(v)?))
}

/// 20.1.2.1
fn assign(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let to = vm.to_object(args.get(0))?;
    for &source in args.rest(1) {
        if source.is_nullish() {
            continue;
        }
        let from = vm.to_object(source)?;
        let keys = vm.own_property_keys(from)?;
        for &key in keys.iter() {
            vm.poll()?;
            if let Some(p) = vm.get_own_property(from, key)?
                && p.is_enumerable()
            {
                let v = if p.accessor().is_none() && !from.has_flag(crate::object::flags::EXOTIC) {
                    p.value
                } else {
                    vm.get(from, key)?
                };
                vm.set_or_throw(to, key, v)?;
            }
        }
    }
    Ok(Value::object(to))
}

/// 20.1.2.2
fn create(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let p = args.get(0);
    if !p.is_object() && !p.is_null() {
        let message = format!("Object prototype may only be an Object or null: {}", vm.describe(p));
        return Err(vm.throw_type_error(&message));
    }
    let o = vm.new_object_with(p);
    if args.get(1).is_undefined() {
        return Ok(Value::object(o));
    }
    object_define_properties(vm, o, args.get(1))
}

/// 20.1.2.3
fn define_properties(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = this_object(vm, args.get(0), "Object.defineProperties")?;
    object_define_properties(vm, o, args.get(1))
}

fn this_object(vm: &mut Vm, v: Value, who: &str) -> JsResult<Object> {
    match v.as_object() {
        Some(o) => Ok(o),
        None => Err(vm.throw_type_error(&format!("{who} called on non-object"))),
    }
}

/// ObjectDefineProperties (20.1.2.3.1).
fn object_define_properties(vm: &mut Vm, o: Object, properties: Value) -> JsResult<Value> {
    let props = vm.to_object(properties)?;
    let keys = vm.own_property_keys(props)?;
    // The descriptors' values are kept alive by a rooted copy beside the records.
    let mut roots = vm.scratch();
    let mut descriptors: Vec<(PropertyKey, PropertyDescriptor)> = Vec::new();
    for &key in keys.iter() {
        vm.poll()?;
        if let Some(p) = vm.get_own_property(props, key)?
            && p.is_enumerable()
        {
            let v = vm.get(props, key)?;
            let desc = vm.to_property_descriptor(v)?;
            roots.extend([desc.value, desc.get, desc.set].into_iter().flatten());
            descriptors.push((key, desc));
        }
    }
    for (key, desc) in &descriptors {
        vm.define_property_or_throw(o, *key, desc)?;
    }
    Ok(Value::object(o))
}

/// 20.1.2.4
fn define_property(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = this_object(vm, args.get(0), "Object.defineProperty")?;
    let key = vm.to_property_key(args.get(1))?;
    let desc = vm.to_property_descriptor(args.get(2))?;
    vm.define_property_or_throw(o, key, &desc)?;
    Ok(Value::object(o))
}

/// 20.1.2.5, 20.1.2.19, 20.1.2.24
fn enumerate(vm: &mut Vm, args: CallArgs, kind: EnumerableKind) -> JsResult<Value> {
    let o = vm.to_object(args.get(0))?;
    Ok(Value::object(vm.enumerable_own_properties(o, kind)?))
}

/// 20.1.2.6, 20.1.2.20, 20.1.2.22
fn lock(vm: &mut Vm, args: CallArgs, level: Lock) -> JsResult<Value> {
    let Some(o) = args.get(0).as_object() else { return Ok(args.get(0)) };
    let done = if level == Lock::PreventExtensions {
        vm.prevent_extensions(o)?
    } else {
        vm.set_integrity_level(o, level)?
    };
    if !done {
        return Err(vm.throw_type_error("the object refused to be locked"));
    }
    Ok(args.get(0))
}

/// 20.1.2.7
fn from_entries(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.require_object_coercible(args.get(0))?;
    let o = vm.new_object();
    vm.add_entries_from_iterable(args.get(0), |vm, k, v| {
        let key = vm.to_property_key(k)?;
        vm.create_data_property_or_throw(o, key, v)
    })?;
    Ok(Value::object(o))
}

impl Vm {
    /// AddEntriesFromIterable (24.1.1.2), the adder being Rust code.
    pub fn add_entries_from_iterable(
        &mut self,
        iterable: Value,
        mut add: impl FnMut(&mut Vm, Value, Value) -> JsResult<()>,
    ) -> JsResult<()> {
        let mut record = self.get_iterator(iterable)?;
        while let Some(entry) = self.iterator_step_value(&mut record)? {
            let result = self.entry_parts(entry).and_then(|(k, v)| add(self, k, v));
            self.close_if_abrupt(&record, result)?;
        }
        Ok(())
    }

    fn entry_parts(&mut self, entry: Value) -> JsResult<(Value, Value)> {
        let Some(e) = entry.as_object() else {
            let message = format!("Iterator value {} is not an entry object", self.describe(entry));
            return Err(self.throw_type_error(&message));
        };
        let k = self.get(e, PropertyKey::index(0))?;
        let v = self.get(e, PropertyKey::index(1))?;
        Ok((k, v))
    }
}

/// 20.1.2.8
fn get_own_property_descriptor(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.get(0))?;
    let key = vm.to_property_key(args.get(1))?;
    let p = vm.get_own_property(o, key)?;
    vm.from_own_property(p)
}

/// 20.1.2.9
fn get_own_property_descriptors(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.get(0))?;
    let keys = vm.own_property_keys(o)?;
    let result = vm.new_object();
    for &key in keys.iter() {
        vm.poll()?;
        let p = vm.get_own_property(o, key)?;
        let desc = vm.from_own_property(p)?;
        if !desc.is_undefined() {
            vm.create_data_property_or_throw(result, key, desc)?;
        }
    }
    Ok(Value::object(result))
}

/// GetOwnPropertyKeys (20.1.2.11.1).
fn own_keys(vm: &mut Vm, args: CallArgs, symbols: bool) -> JsResult<Value> {
    let o = vm.to_object(args.get(0))?;
    let keys = vm.own_property_keys(o)?;
    Ok(Value::object(keys_to_array(vm, &keys, |k| k.is_symbol() == symbols)?))
}

/// An array of the keys that `keep` accepts.
pub(crate) fn keys_to_array(
    vm: &mut Vm,
    keys: &RootedVec<PropertyKey>,
    keep: impl Fn(PropertyKey) -> bool,
) -> JsResult<Object> {
    let array = vm.new_array();
    vm.reserve_elements(array, keys.len() as u32)?;
    for &key in keys.iter().filter(|&&k| keep(k)) {
        vm.poll()?;
        let v = key.to_value(vm);
        vm.create_data_property_or_throw(array, PropertyKey::index(array.array_length()), v)?;
    }
    Ok(array)
}

/// 20.1.2.12
fn get_prototype_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.get(0))?;
    vm.get_prototype_of(o)
}

/// 20.1.2.13
fn object_group_by(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let groups = group_by(vm, args.get(0), args.get(1), |vm, k| {
        let key = vm.to_property_key(k)?;
        Ok(key.to_value(vm))
    })?;
    let o = vm.new_object_with(Value::NULL);
    for i in 0..groups.len() {
        let key = vm.to_property_key(groups.key(i))?;
        let array = vm.new_array_from(&groups.values(vm, i))?;
        vm.create_data_property_or_throw(o, key, Value::object(array))?;
    }
    Ok(Value::object(o))
}

/// 20.1.2.14
fn has_own(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.get(0))?;
    let key = vm.to_property_key(args.get(1))?;
    Ok(Value::bool(vm.has_own_property(o, key)?))
}

/// 20.1.2.15
fn is(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.check_comparison_room(args.get(0), args.get(1))?;
    Ok(Value::bool(vm.same_value(args.get(0), args.get(1))))
}

/// 20.1.2.16
fn is_extensible(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(match args.get(0).as_object() {
        Some(o) => vm.is_extensible(o)?,
        None => false,
    }))
}

/// 20.1.2.17, 20.1.2.18
fn is_locked(vm: &mut Vm, args: CallArgs, level: Lock) -> JsResult<Value> {
    Ok(Value::bool(match args.get(0).as_object() {
        Some(o) => vm.test_integrity_level(o, level)?,
        None => true,
    }))
}

/// 20.1.2.23
fn set_prototype_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.require_object_coercible(args.get(0))?;
    let p = args.get(1);
    if !p.is_object() && !p.is_null() {
        let message = format!("Object prototype may only be an Object or null: {}", vm.describe(p));
        return Err(vm.throw_type_error(&message));
    }
    if let Some(o) = args.get(0).as_object()
        && !vm.set_prototype_of(o, p)?
    {
        return Err(vm.throw_type_error(
            "the object's prototype cannot be set: it is locked, or the chain would be a cycle",
        ));
    }
    Ok(args.get(0))
}
