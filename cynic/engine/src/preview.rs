//! Looking into objects without running guest code: what hosts need to show values to people.

use crate::builtins::ordered_table::OrderedTable;
use crate::builtins::promise;
use crate::gc::RootedVec;
use crate::object::{Object, flags};
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
