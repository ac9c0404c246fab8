//! Revivers with source text access: what was read where, and InternalizeJSONProperty.
//! <https://tc39.es/ecma262/#sec-internalizejsonproperty>
//!
//! The parse records lie in one arena, so that deep texts neither build nor drop them recursively. Walking does recurse,
//! because each level calls the guest: it stops at the native stack's guard with a RangeError.

use rustc_hash::FxHashMap;

use super::{enumerable_own_keys, parse};
use crate::atoms;
use crate::gc::RootedVec;
use crate::object::Object;
use crate::property_key::PropertyKey;
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The number of a record in the arena: of records there are no more than units of text.
type RecordId = u32;

/// No record.
const NONE: RecordId = RecordId::MAX;

/// What one value was read from.
#[derive(Clone, Copy)]
enum Source {
    /// The units `start..end`.
    Primitive { start: u32, end: u32 },
    /// What its elements or entries were read from, in a chain.
    Container { first: RecordId, last: RecordId },
}

struct Record {
    source: Source,
    /// The next in the same container.
    next: RecordId,
}

/// The parse records of a text, with the values that were read.
pub(super) struct Records {
    records: Vec<Record>,
    /// The value of each record, by its number.
    values: RootedVec,
    /// The key of each record that an object's property was read from. They stay alive, whatever the reviver does to the objects.
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
            last: NONE,
        }
    }

    /// Bytes that the records take.
    pub(super) fn bytes(&self) -> usize {
        let per_record = size_of::<Record>() + size_of::<Value>() + size_of::<PropertyKey>();
        self.records.len() * per_record + self.open.len() * size_of::<RecordId>()
    }

    fn push(&mut self, source: Source, value: Value) -> RecordId {
        self.records.push(Record { source, next: NONE });
        self.values.push(value);
        self.keys.push(PropertyKey::index(0));
        self.records.len() as RecordId - 1
    }

    /// A primitive was read.
    pub(super) fn primitive(&mut self, value: Value, start: usize, end: usize) {
        let id = self.push(Source::Primitive { start: start as u32, end: end as u32 }, value);
        self.complete(id);
    }

    /// An array or an object was begun.
    pub(super) fn open(&mut self) {
        let id = self.push(Source::Container { first: NONE, last: NONE }, Value::UNDEFINED);
        self.open.push(id);
    }

    /// The innermost container is complete.
    pub(super) fn close(&mut self, value: Value) {
        if let Some(id) = self.open.pop() {
            self.values[id as usize] = value;
            self.complete(id);
        }
    }

    fn complete(&mut self, id: RecordId) {
        self.last = id;
        let Some(&container) = self.open.last() else { return };
        let Source::Container { first, last } = &mut self.records[container as usize].source else { return };
        let before = std::mem::replace(last, id);
        if before == NONE {
            *first = id;
        } else {
            self.records[before as usize].next = id;
        }
    }

    /// The value completed last is the object's property `key`.
    pub(super) fn entry(&mut self, key: PropertyKey) {
        self.keys[self.last as usize] = key;
    }

    /// The records of a container's elements or entries, in the order of the text.
    fn parts(&self, container: Option<RecordId>) -> impl Iterator<Item = RecordId> + '_ {
        let known = |id: RecordId| (id != NONE).then_some(id);
        let first = match container.map(|id| self.records[id as usize].source) {
            Some(Source::Container { first, .. }) => known(first),
            _ => None,
        };
        std::iter::successors(first, move |&id| known(self.records[id as usize].next))
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
    let _charge = vm.charge_external(records.bytes())?;
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
        let record = record.filter(|&id| vm.same_value(self.records.values[id as usize], value));
        let context = vm.new_object();
        if let Some(Source::Primitive { start, end }) =
            record.map(|id| self.records.records[id as usize].source)
        {
            let source = vm.substring(self.text, start as usize, end as usize);
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

    fn internalize_elements(&self, vm: &mut Vm, array: Object, record: Option<RecordId>) -> JsResult<()> {
        let mut elements = self.records.parts(record);
        let length = vm.length_of_array_like(array)?;
        let mut index = 0;
        while index < length {
            let key = vm.key_from_u64(index);
            self.internalize_property(vm, array, key, elements.next())?;
            index += 1;
        }
        Ok(())
    }

    fn internalize_entries(&self, vm: &mut Vm, object: Object, record: Option<RecordId>) -> JsResult<()> {
        // Of a repeated key the last entry counts.
        let entries: FxHashMap<PropertyKey, RecordId> =
            self.records.parts(record).map(|id| (self.records.keys[id as usize], id)).collect();
        let keys = enumerable_own_keys(vm, object)?;
        for &key in keys.iter() {
            self.internalize_property(vm, object, key, entries.get(&key).copied())?;
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
