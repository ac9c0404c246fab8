//! Short calls: what compiled code asks for in the middle of an instruction, where executing the whole instruction out of line would look
//! again at everything that the code has looked at.
//!
//! Invariant: they neither allocate nor throw, take no step and do not collect, so that the frame's place need not be known. Where the
//! interpreter would have paid what is owed, they have no answer, and the instruction goes out of line.

use crate::object::flags;
use crate::property_key::PropertyKey;
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::Vm;

/// What [`named`] finds.
#[repr(C)]
pub(crate) struct Named {
    value: Value,
    what: u64,
}

/// The kinds of answers of [`named`].
pub(crate) mod what {
    /// None: the general way has to be taken.
    pub(crate) const UNKNOWN: u64 = 0;
    /// The value of the property.
    pub(crate) const VALUE: u64 = 1;
    /// The getter that is to be called for it.
    pub(crate) const GETTER: u64 = 2;
}

/// The value in slot `i` of an object.
pub(crate) unsafe extern "C" fn slot(object: Value, i: u32) -> Value {
    object.as_object().map_or(Value::UNDEFINED, |object| object.slot(i))
}

/// Slot `i` of an object, which it has, = `value`.
pub(crate) unsafe extern "C" fn set_slot(object: Value, i: u32, value: Value) {
    if let Some(object) = object.as_object() {
        object.set_slot(i, value);
    }
}

/// Element `i` of an object, which is there and may be written, = `value`.
pub(crate) unsafe extern "C" fn set_element(object: Value, i: u32, value: Value) {
    if let Some(object) = object.as_object() {
        debug_assert!(!object.has_flag(flags::ELEMENT_WRITE_SLOW));
        object.elements().set(i, value);
    }
}

/// The property `key` of an object, if the answer to that is remembered by the isolate: for sites that meet many shapes.
pub(crate) unsafe extern "C" fn named(vm: *mut Vm, object: Value, key: u64) -> Named {
    // SAFETY: compiled code has the isolate to itself.
    let vm = unsafe { &mut *vm };
    // SAFETY: the bits of the key that the site's cache keeps alive.
    let key = unsafe { std::mem::transmute::<u64, PropertyKey>(key) };
    let answer = |value, what| Named { value, what };
    let known = object.as_object().filter(|_| vm.budget > 0);
    match known.and_then(|object| vm.value_remembered(object, key)) {
        Some((value, false)) => answer(value, what::VALUE),
        Some((pair, true)) => match getter(pair) {
            Some(getter) => answer(getter, what::GETTER),
            None => answer(Value::UNDEFINED, what::UNKNOWN),
        },
        None => answer(Value::UNDEFINED, what::UNKNOWN),
    }
}

/// Overwrites the own property `key` of an object, if it is ordinary writable data: whether it was.
pub(crate) unsafe extern "C" fn set_named(vm: *mut Vm, object: Value, key: u64, value: Value) -> u32 {
    // SAFETY: compiled code has the isolate to itself.
    let vm = unsafe { &mut *vm };
    // SAFETY: as in `named`.
    let key = unsafe { std::mem::transmute::<u64, PropertyKey>(key) };
    let Some(object) = object.as_object().filter(|_| vm.budget > 0) else { return 0 };
    let has_other_rules = key.is_index() || object.has_flag(flags::EXOTIC) || object.is_array();
    let own = if has_other_rules { None } else { object.shape().lookup(key) };
    let Some(info) = own.filter(|info| info.attrs & (attrs::ACCESSOR | attrs::WRITABLE) == attrs::WRITABLE)
    else {
        return 0;
    };
    object.set_slot(info.slot, value);
    1
}

/// `array.push(value)` where the array has room for it: the new length, or 0.
pub(crate) unsafe extern "C" fn push(vm: *mut Vm, array: Value, value: Value) -> u32 {
    // SAFETY: compiled code has the isolate to itself.
    let vm = unsafe { &*vm };
    let Some(array) = array.as_object().filter(|array| vm.has_plain_elements(*array)) else { return 0 };
    let elements = array.elements();
    let length = elements.len() + 1;
    if length > i32::MAX as u32 || !elements.push(value) {
        return 0;
    }
    array.set_array_length_slot(length);
    length
}

/// `array.pop()` of an array that has a last element; else the marker that no value is.
pub(crate) unsafe extern "C" fn pop(vm: *mut Vm, array: Value) -> Value {
    // SAFETY: compiled code has the isolate to itself.
    let vm = unsafe { &*vm };
    let Some(array) = array.as_object().filter(|array| vm.has_plain_elements(*array)) else {
        return Value::EMPTY;
    };
    let elements = array.elements();
    let Some(last) = elements.len().checked_sub(1) else { return Value::EMPTY };
    let value = elements.get(last);
    if !value.is_empty() {
        elements.set_len(last);
        array.set_array_length_slot(last);
    }
    value
}

fn getter(pair: Value) -> Option<Value> {
    pair.as_accessor().map(|pair| pair.getter()).filter(|getter| getter.is_object())
}

/// The unit `i` of a string; negative if it is none, has to be made flat first, or has none there.
pub(crate) unsafe extern "C" fn unit(string: Value, i: u32) -> i32 {
    let flat = string.as_string();
    let view = flat.as_ref().and_then(|string| string.flat_view());
    view.and_then(|view| view.get(i as usize)).map_or(-1, i32::from)
}
