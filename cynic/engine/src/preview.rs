//! Looking into objects and the global environment without running guest code: what hosts need to show values to people, and to
//! complete what people type.

use crate::builtins::ordered_table::OrderedTable;
use crate::builtins::promise;
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

/// The entries of a Map or Set: keys and values in turn (of a set, each twice).
pub fn collection_entries(vm: &mut Vm, object: Object) -> RootedVec {
    let mut entries = vm.scratch();
    let Some(table) = object.data::<OrderedTable>(0) else { return entries };
    let position = table.begin_iteration();
    while let Some((key, value)) = table.next(&position) {
        entries.push(key);
        entries.push(value);
    }
    entries
}

/// The bytes of an array buffer; `None` if it is detached.
pub fn buffer_bytes(vm: &Vm, object: Object) -> Option<Vec<u8>> {
    vm.bytes_of(Value::object(object))
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
