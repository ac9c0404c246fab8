//! String exotic objects (10.4.3): indices and `length` of wrapped strings.
//! <https://tc39.es/ecma262/#sec-string-exotic-objects>
//!
//! Internal slot 0: the string (undefined in %String.prototype%, which stands for the empty string).

use crate::atoms;
use crate::gc::RootedVec;
use crate::object::internal_methods::{ExoticMethods, ORDINARY};
use crate::object::{Object, OwnProperty, PropertyDescriptor};
use crate::property_key::PropertyKey;
use crate::shape::attrs;
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The internal methods of String objects.
pub(crate) static METHODS: ExoticMethods =
    ExoticMethods { get_own_property, define_own_property, delete, own_property_keys, ..ORDINARY };

fn string_of(o: Object) -> JsStr {
    o.slot(0).as_string().unwrap_or_else(crate::string::empty)
}

/// StringGetOwnProperty (10.4.3.5), and `length`.
fn string_own(vm: &mut Vm, o: Object, key: PropertyKey) -> Option<OwnProperty> {
    let s = string_of(o);
    if key == atoms::LENGTH {
        return Some(OwnProperty::data(Value::from(s.len()), 0));
    }
    let i = key.as_index()?;
    let unit = s.unmetered_view(vm).get(i as usize)?;
    Some(OwnProperty::data(Value::string(vm.new_string_unit(unit)), attrs::ENUMERABLE))
}

fn get_own_property(vm: &mut Vm, o: Object, key: PropertyKey) -> JsResult<Option<OwnProperty>> {
    Ok(string_own(vm, o, key).or_else(|| vm.ordinary_get_own_property(o, key)))
}

fn define_own_property(
    vm: &mut Vm,
    o: Object,
    key: PropertyKey,
    desc: &PropertyDescriptor,
) -> JsResult<bool> {
    match string_own(vm, o, key) {
        Some(p) => {
            let extensible = o.shape().is_extensible();
            vm.validate_and_apply_property_descriptor(None, key, extensible, desc, Some(p))
        }
        None => vm.ordinary_define_own_property(o, key, desc),
    }
}

fn delete(vm: &mut Vm, o: Object, key: PropertyKey) -> JsResult<bool> {
    if string_own(vm, o, key).is_some() {
        return Ok(false);
    }
    Ok(vm.ordinary_delete(o, key))
}

/// 10.4.3.3
fn own_property_keys(vm: &mut Vm, o: Object) -> JsResult<RootedVec<PropertyKey>> {
    let n = string_of(o).len() as u32;
    let mut keys: RootedVec<PropertyKey> = RootedVec::new(&vm.heap);
    keys.extend((0..n).map(PropertyKey::index));
    let rest = vm.ordinary_own_property_keys(o);
    let named = rest.iter().position(|k| !k.is_index()).unwrap_or(rest.len());
    keys.extend(rest.iter().take(named).filter(|k| k.as_index().is_some_and(|i| i >= n)));
    keys.push(atoms::LENGTH);
    keys.extend(rest.iter().skip(named));
    Ok(keys)
}
