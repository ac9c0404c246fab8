//! Typed array exotic objects (10.4.5): integer-indexed elements in a buffer.
//! <https://tc39.es/ecma262/#sec-typedarray-exotic-objects>

use crate::gc::RootedVec;
use crate::object::internal_methods::{ExoticMethods, ORDINARY, exotic_get, exotic_has_property, exotic_set};
use crate::object::typed_view::TypedArrayObject as _;
use crate::object::{Object, OwnProperty, PropertyDescriptor};
use crate::property_key::PropertyKey;
use crate::shape::{Lock, attrs};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The internal methods of typed arrays.
pub(crate) static METHODS: ExoticMethods = ExoticMethods {
    prevent_extensions,
    get_own_property,
    define_own_property,
    has_property,
    get,
    set,
    delete,
    own_property_keys,
    ..ORDINARY
};

/// A key as the exotic methods see it.
enum Numeric {
    /// Not a CanonicalNumericIndexString: an ordinary property.
    No,
    /// An index that no typed array can have.
    Invalid,
    Index(usize),
}

fn numeric(vm: &mut Vm, key: PropertyKey) -> Numeric {
    if let Some(i) = key.as_index() {
        return Numeric::Index(i as usize);
    }
    // OPTIMIZATION: a numeric string begins like a number, `-0`, `Infinity` or `NaN`; the names of methods do not.
    let first = key.as_string().and_then(|s| s.flat_view()?.get(0));
    if !first.is_some_and(|unit| matches!(u8::try_from(unit), Ok(b'0'..=b'9' | b'-' | b'I' | b'N'))) {
        return Numeric::No;
    }
    match vm.canonical_numeric_index(key) {
        None => Numeric::No,
        Some(n) if n.trunc() == n && n.is_finite() && n.is_sign_positive() && n < 9_007_199_254_740_992.0 => {
            Numeric::Index(n as usize)
        }
        Some(_) => Numeric::Invalid,
    }
}

/// TypedArrayGetElement (10.4.5.17).
fn element(vm: &mut Vm, o: Object, i: usize) -> Option<Value> {
    let view = o.typed_view()?;
    let bits = view.bits_at(i)?;
    Some(view.element.to_value(vm, bits))
}

/// TypedArraySetElement (10.4.5.18).
pub(super) fn set_element(vm: &mut Vm, o: Object, i: Option<usize>, v: Value) -> JsResult<()> {
    let Some(view) = o.typed_view() else { return Ok(()) };
    let bits = view.element.to_bits(vm, v)?;
    if let Some(i) = i {
        view.set_bits(i, bits);
    }
    Ok(())
}

fn is_valid_index(o: Object, i: usize) -> bool {
    o.typed_view().and_then(|view| view.length()).is_some_and(|length| i < length)
}

/// 10.4.5.1: only a typed array whose set of indices cannot change can be locked.
fn prevent_extensions(vm: &mut Vm, o: Object) -> JsResult<bool> {
    let fixed = o.typed_view().is_some_and(|view| {
        view.fixed_length.is_some() && (!view.buffer.is_resizable() || view.buffer.is_shared())
    });
    if fixed {
        vm.ordinary_lock(o, Lock::PreventExtensions);
    }
    Ok(fixed)
}

/// 10.4.5.2
fn get_own_property(vm: &mut Vm, o: Object, key: PropertyKey) -> JsResult<Option<OwnProperty>> {
    Ok(match numeric(vm, key) {
        Numeric::No => vm.ordinary_get_own_property(o, key),
        Numeric::Invalid => None,
        Numeric::Index(i) => element(vm, o, i).map(|v| OwnProperty::data(v, attrs::ALL)),
    })
}

/// 10.4.5.3
fn has_property(vm: &mut Vm, o: Object, key: PropertyKey) -> JsResult<bool> {
    match numeric(vm, key) {
        Numeric::No => exotic_has_property(vm, o, key),
        Numeric::Invalid => Ok(false),
        Numeric::Index(i) => Ok(is_valid_index(o, i)),
    }
}

/// 10.4.5.4
fn define_own_property(
    vm: &mut Vm,
    o: Object,
    key: PropertyKey,
    desc: &PropertyDescriptor,
) -> JsResult<bool> {
    let i = match numeric(vm, key) {
        Numeric::No => return vm.ordinary_define_own_property(o, key, desc),
        Numeric::Invalid => return Ok(false),
        Numeric::Index(i) => i,
    };
    let refused = !is_valid_index(o, i)
        || desc.configurable == Some(false)
        || desc.enumerable == Some(false)
        || desc.is_accessor()
        || desc.writable == Some(false);
    if refused {
        return Ok(false);
    }
    if let Some(v) = desc.value {
        set_element(vm, o, Some(i), v)?;
    }
    Ok(true)
}

/// 10.4.5.5
fn get(vm: &mut Vm, o: Object, key: PropertyKey, receiver: Value) -> JsResult<Value> {
    match numeric(vm, key) {
        Numeric::No => exotic_get(vm, o, key, receiver),
        Numeric::Invalid => Ok(Value::UNDEFINED),
        Numeric::Index(i) => Ok(element(vm, o, i).unwrap_or(Value::UNDEFINED)),
    }
}

/// 10.4.5.6
fn set(vm: &mut Vm, o: Object, key: PropertyKey, v: Value, receiver: Value) -> JsResult<bool> {
    let i = match numeric(vm, key) {
        Numeric::No => return exotic_set(vm, o, key, v, receiver),
        Numeric::Invalid => None,
        Numeric::Index(i) => Some(i),
    };
    if receiver == Value::object(o) {
        set_element(vm, o, i, v)?;
        return Ok(true);
    }
    if i.is_none_or(|i| !is_valid_index(o, i)) {
        return Ok(true);
    }
    exotic_set(vm, o, key, v, receiver)
}

/// 10.4.5.7
fn delete(vm: &mut Vm, o: Object, key: PropertyKey) -> JsResult<bool> {
    match numeric(vm, key) {
        Numeric::No => Ok(vm.ordinary_delete(o, key)),
        Numeric::Invalid => Ok(true),
        Numeric::Index(i) => Ok(!is_valid_index(o, i)),
    }
}

/// 10.4.5.8
fn own_property_keys(vm: &mut Vm, o: Object) -> JsResult<RootedVec<PropertyKey>> {
    let mut keys: RootedVec<PropertyKey> = RootedVec::new(&vm.heap);
    let length = o.typed_view().and_then(|view| view.length()).unwrap_or(0);
    vm.check_heap_room(length * size_of::<PropertyKey>())?;
    vm.poll_n((length / 16) as u32)?;
    for i in 0..length as u64 {
        let key = vm.key_from_u64(i);
        keys.push(key);
    }
    let rest = vm.ordinary_own_property_keys(o);
    keys.extend(rest.iter());
    Ok(keys)
}
