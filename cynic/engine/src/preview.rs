//! Looking into objects and the global environment without running guest code: what hosts need to show values to people, and to
//! complete what people type.

use crate::atoms;
use crate::builtins::ordered_table::OrderedTable;
use crate::builtins::{array_buffer, promise, typed_array};
use crate::gc::RootedVec;
use crate::object::{Object, ObjectKind, flags};
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::Vm;

/// The state of a promise with its value or reason.
#[derive(Clone, Copy)]
pub enum PromiseState {
    /// Not settled.
    Pending,
    /// Has a value.
    Fulfilled(Value),
    /// Has a reason.
    Rejected(Value),
}

/// The state of a promise; other objects are pending.
pub fn promise_state(object: Object) -> PromiseState {
    let Some(data) = promise::data(object) else { return PromiseState::Pending };
    match data.state() {
        promise::PromiseState::Pending => PromiseState::Pending,
        promise::PromiseState::Fulfilled => PromiseState::Fulfilled(data.result()),
        promise::PromiseState::Rejected => PromiseState::Rejected(data.result()),
    }
}

/// How many entries a Map or Set has.
pub fn collection_size(object: Object) -> usize {
    object.data::<OrderedTable>(0).map_or(0, |table| table.len())
}

/// The first entries of a Map or Set: keys and values in turn (of a set, each twice).
pub fn collection_entries(vm: &mut Vm, object: Object, at_most: usize) -> RootedVec {
    let mut entries = vm.scratch();
    let Some(table) = object.data::<OrderedTable>(0) else { return entries };
    let position = table.begin_iteration();
    while entries.len() / 2 < at_most
        && let Some((key, value)) = table.next(&position)
    {
        entries.push(key);
        entries.push(value);
    }
    entries
}

/// The first bytes of an array buffer, and how many it has; `None` if it is detached.
pub fn buffer_bytes(vm: &mut Vm, object: Object, at_most: usize) -> Option<(Vec<u8>, usize)> {
    let buffer = array_buffer::buffer_of(object)?;
    Some((buffer.to_vec(vm, 0, buffer.len().min(at_most)), buffer.len()))
}

/// The length of a typed array; 0 if it is out of bounds.
pub fn typed_array_length(vm: &mut Vm, object: Object) -> usize {
    typed_array::typed_array_length(vm, object).unwrap_or_default() as usize
}

/// The stack of an error object: a text of its own, or what was captured.
pub fn error_stack(vm: &mut Vm, error: Object) -> Option<String> {
    if let Some(own) = vm.ordinary_get_own_property(error, atoms::STACK) {
        return own.value.as_string().map(|text| text.to_rust_string());
    }
    match crate::builtins::error::captured_stack(vm, error) {
        Ok(stack) => stack.map(|stack| stack.to_rust_string()),
        Err(_) => {
            vm.take_exception();
            None
        }
    }
}

/// Names that an expression of the current realm may begin with: the global environment's bindings and properties.
pub fn global_names(vm: &mut Vm) -> Vec<String> {
    let mut names = vm.global_binding_names();
    let global = vm.global_object();
    names.extend(property_names(vm, Value::object(global)));
    names
}

/// The value of a global name, unless a getter or a proxy would have to be asked, or it is not initialised.
pub fn peek_global(vm: &mut Vm, name: &str) -> Option<Value> {
    let key = vm.key_from_str(name);
    if let Some(value) = vm.peek_global_binding(key) {
        return (!value.is_empty()).then_some(value);
    }
    let global = vm.global_object();
    peek_property(vm, Value::object(global), name)
}

/// The value of a property, own or inherited, unless a getter or a proxy would have to be asked.
pub fn peek_property(vm: &mut Vm, of: Value, name: &str) -> Option<Value> {
    let key = vm.key_from_str(name);
    chain(vm, of).find_map(|object| vm.ordinary_get_own_property(object, key)).and_then(|property| {
        let is_data = property.attrs & attrs::ACCESSOR == 0 && !property.value.is_empty();
        is_data.then_some(property.value)
    })
}

/// The names of the properties, own and inherited, that are strings and no indices; what lies behind a proxy is left out.
pub fn property_names(vm: &mut Vm, of: Value) -> Vec<String> {
    let mut names = Vec::new();
    for object in chain(vm, of) {
        let keys = vm.ordinary_own_property_keys(object);
        names.extend(keys.iter().filter_map(|key| key.as_string()).map(|name| name.to_rust_string()));
    }
    names
}

/// The object that a value is, or is a primitive value of, and its prototypes, up to a proxy.
fn chain(vm: &mut Vm, value: Value) -> impl Iterator<Item = Object> + use<> {
    let is_nothing = value.is_undefined() || value.is_null() || value.is_empty();
    let first = if is_nothing { None } else { vm.to_object(value).ok() };
    let ordinary = |object: &Object| !object.is(ObjectKind::Proxy);
    std::iter::successors(first, |object| object.prototype().as_object()).take_while(ordinary)
}

/// The ISO text of a Date.
pub fn date_text(object: Object) -> String {
    match crate::builtins::date::date_value(object) {
        Some(time) if time.is_finite() => crate::datetime::format::iso_string(time),
        _ => "Invalid Date".into(),
    }
}

/// The literal of a RegExp.
pub fn regexp_text(vm: &mut Vm, object: Object) -> String {
    crate::builtins::regexp::literal_text(vm, object)
}

/// The ISO text of a Temporal object.
pub fn temporal_text(vm: &mut Vm, object: Object) -> Option<String> {
    crate::builtins::temporal::display(vm, object)
}

/// Whether a function is a class constructor.
pub fn is_class(function: Object) -> bool {
    function.has_flag(flags::CLASS_CONSTRUCTOR)
}
