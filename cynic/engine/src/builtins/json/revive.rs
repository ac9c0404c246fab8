//! Revivers with source text access: what was read where, and InternalizeJSONProperty.
//! <https://tc39.es/ecma262/#sec-internalizejsonproperty>
//!
//! The parse records lie in one arena, so that deep texts neither build nor drop them recursively. Walking does recurse,
//! because each level calls the guest: it stops at the native stack's guard with a RangeError.

use super::{enumerable_own_keys, parse};
use crate::atoms;
use crate::gc::RootedVec;
use crate::object::Object;
use crate::property_key::PropertyKey;
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The number of a record in the arena.
type RecordId = usize;

/// What one value was read from.
enum Record {
    /// The source text, as units `start..end`.
    Primitive {
        start: usize,
        end: usize,
    },
    Array {
        elements: Vec<RecordId>,
    },
    Object {
        entries: Vec<(PropertyKey, RecordId)>,
    },
}

/// The parse records of a text, with the values that were read.
pub(super) struct Records {
    records: Vec<Record>,
    /// The value of each record, by its number.
    values: RootedVec,
    /// Keeps the keys of entries alive, whatever the reviver does to the objects.
    keys: RootedVec<PropertyKey>,
    open: Vec<RecordId>,
    /// The record completed last.
    last: RecordId,
}

impl Records {
    fn new(vm: &mut Vm) -> Self {
        Records {
            records: Vec::new(),
            values: vm.scratch(),
            keys: RootedVec::new(&vm.heap),
            open: Vec::new(),
            last: 0,
        }
    }

    fn push(&mut self, record: Record, value: Value) -> RecordId {
        self.records.push(record);
        self.values.push(value);
        self.records.len() - 1
    }

    /// A primitive was read.
    pub(super) fn primitive(&mut self, value: Value, start: usize, end: usize) {
        let id = self.push(Record::Primitive { start, end }, value);
        self.complete(id);
    }

    /// An array was begun.
    pub(super) fn open_array(&mut self) {
        let id = self.push(Record::Array { elements: Vec::new() }, Value::UNDEFINED);
        self.open.push(id);
    }

    /// An object was begun.
    pub(super) fn open_object(&mut self) {
        let id = self.push(Record::Object { entries: Vec::new() }, Value::UNDEFINED);
        self.open.push(id);
    }

    /// The innermost container is complete.
    pub(super) fn close(&mut self, value: Value) {
        if let Some(id) = self.open.pop() {
            self.values[id] = value;
            self.complete(id);
        }
    }

    fn complete(&mut self, id: RecordId) {
        self.last = id;
        if let Some(Record::Array { elements }) = self.open.last().map(|open| &mut self.records[*open]) {
            elements.push(id);
        }
    }

    /// The value completed last is the object's property `key`; a repeated key replaces the earlier one.
    pub(super) fn entry(&mut self, key: PropertyKey) {
        let last = self.last;
        self.keys.push(key);
        if let Some(Record::Object { entries }) = self.open.last().map(|open| &mut self.records[*open]) {
            match entries.iter_mut().find(|entry| entry.0 == key) {
                Some(entry) => entry.1 = last,
                None => entries.push((key, last)),
            }
        }
    }
}

/// JSON.parse with a reviver.
pub(super) fn parse_and_revive(vm: &mut Vm, text: JsStr, reviver: Value) -> JsResult<Value> {
    let mut records = Records::new(vm);
    let value = parse::parse(vm, text, Some(&mut records))?;
    let root = vm.new_object();
    let key = vm.key_from_str("");
    vm.create_data_property_or_throw(root, key, value)?;
    let top = records.last;
    let walk = Walk { text, reviver, records: &records };
    walk.internalize(vm, root, key, Some(top))
}

struct Walk<'a> {
    text: JsStr,
    reviver: Value,
    records: &'a Records,
}

impl Walk<'_> {
    /// InternalizeJSONProperty.
    fn internalize(
        &self,
        vm: &mut Vm,
        holder: Object,
        name: PropertyKey,
        record: Option<RecordId>,
    ) -> JsResult<Value> {
        vm.check_native_stack()?;
        vm.poll()?;
        let value = vm.get(holder, name)?;
        let unchanged = |id: &RecordId| vm.same_value(self.records.values[*id], value);
        let record = record.filter(unchanged).map(|id| &self.records.records[id]);
        let context = vm.new_object();
        if let Some(Record::Primitive { start, end }) = record {
            let source = vm.substring(self.text, *start, *end);
            vm.create_data_property_or_throw(context, atoms::SOURCE, Value::string(source))?;
        }
        if let Some(object) = value.as_object() {
            if vm.is_array(value)? {
                self.internalize_elements(vm, object, record)?;
            } else {
                self.internalize_entries(vm, object, record)?;
            }
        }
        let name = name.to_value(vm);
        vm.call(self.reviver, Value::object(holder), &[name, value, Value::object(context)])
    }

    fn internalize_elements(&self, vm: &mut Vm, array: Object, record: Option<&Record>) -> JsResult<()> {
        let elements: &[RecordId] = match record {
            Some(Record::Array { elements }) => elements,
            _ => &[],
        };
        let length = vm.length_of_array_like(array)?;
        let mut index = 0;
        while index < length {
            let key = vm.key_from_u64(index);
            let record = usize::try_from(index).ok().and_then(|index| elements.get(index)).copied();
            self.internalize_property(vm, array, key, record)?;
            index += 1;
        }
        Ok(())
    }

    fn internalize_entries(&self, vm: &mut Vm, object: Object, record: Option<&Record>) -> JsResult<()> {
        let entries: &[(PropertyKey, RecordId)] = match record {
            Some(Record::Object { entries }) => entries,
            _ => &[],
        };
        let keys = enumerable_own_keys(vm, object)?;
        for &key in keys.iter() {
            let record = entries.iter().find(|entry| entry.0 == key).map(|entry| entry.1);
            self.internalize_property(vm, object, key, record)?;
        }
        Ok(())
    }

    fn internalize_property(
        &self,
        vm: &mut Vm,
        object: Object,
        key: PropertyKey,
        record: Option<RecordId>,
    ) -> JsResult<()> {
        let new = self.internalize(vm, object, key, record)?;
        if new.is_undefined() {
            vm.delete_property(object, key)?;
        } else {
            vm.create_data_property(object, key, new)?;
        }
        Ok(())
    }
}
