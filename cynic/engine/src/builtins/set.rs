//! Set objects (24.2) and their iterators. <https://tc39.es/ecma262/#sec-set-objects>
//!
//! A set's internal slot 0 is its table, in which keys and values are the same.

use crate::atoms;
use crate::builtins::map::{Yields, get_adder, new_table_iterator, table_iterator_step, this_table};
use crate::builtins::ordered_table::{HashedKey, OrderedTable};
use crate::gc::{Data, Gc};
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind};
use crate::ops::IteratorRecord;
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, ValueSpec, constructor, data, getter, iterator_next, method, prototype,
    species, symbol_data, to_string_tag,
};
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Set%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Set", 0, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::SetPrototype), species()],
};

/// %Set.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::Set),
        method("add", 1, add),
        method("clear", 0, clear),
        method("delete", 1, delete),
        method("difference", 1, difference),
        method("entries", 0, |vm, args| iterate(vm, args, Yields::Entries)),
        method("forEach", 1, for_each),
        method("has", 1, has),
        method("intersection", 1, intersection),
        method("isDisjointFrom", 1, is_disjoint_from),
        method("isSubsetOf", 1, is_subset_of),
        method("isSupersetOf", 1, is_superset_of),
        data("keys", ValueSpec::SameAs("values"), attrs::METHOD),
        getter("size", size),
        method("symmetricDifference", 1, symmetric_difference),
        method("union", 1, union),
        method("values", 0, |vm, args| iterate(vm, args, Yields::Keys)),
        symbol_data(symbol::ITERATOR, ValueSpec::SameAs("values"), attrs::METHOD),
        to_string_tag("Set"),
    ],
};

/// %SetIteratorPrototype%.
pub static ITERATOR_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::IteratorPrototype),
    properties: &[
        iterator_next(0, |vm, args| vm.next_by_step(args, step), step),
        to_string_tag("Set Iterator"),
    ],
};

type Table = Gc<Data<OrderedTable>>;

fn this_set(vm: &mut Vm, args: CallArgs) -> JsResult<Table> {
    this_table(vm, args.this, ObjectKind::Set, "Set")
}

impl Vm {
    /// A new empty Set with the given prototype, and its table.
    fn new_set_with(&mut self, prototype: Value) -> (Object, Table) {
        let o = self.new_exotic(ObjectKind::Set, prototype, 1);
        let table = self.alloc_data(OrderedTable::default());
        o.set_slot(0, Value::cell(table));
        (o, table)
    }

    /// A new empty Set.
    pub fn new_set(&mut self) -> Object {
        let prototype = Value::object(self.intrinsic(Intrinsic::SetPrototype));
        self.new_set_with(prototype).0
    }

    fn set_add(&mut self, table: Table, v: Value) -> JsResult<()> {
        let key = HashedKey::new(self, v)?;
        self.table_insert(table, key, key.value)
    }
}

/// 24.2.2.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor Set requires 'new'"));
    }
    let prototype = vm.get_prototype_from_constructor(args.new_target, Intrinsic::SetPrototype)?;
    let (o, table) = vm.new_set_with(Value::object(prototype));
    if args.get(0).is_nullish() {
        return Ok(Value::object(o));
    }
    let adder = get_adder(vm, o, atoms::ADD, add)?;
    let mut record = vm.get_iterator(args.get(0))?;
    while let Some(v) = vm.iterator_step_value(&mut record)? {
        let result = match adder {
            // OPTIMIZATION: equals calling %Set.prototype.add%.
            None => vm.set_add(table, v),
            Some(f) => vm.call(f, Value::object(o), &[v]).map(|_| ()),
        };
        vm.close_if_abrupt(&record, result)?;
    }
    Ok(Value::object(o))
}

fn add(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    vm.set_add(table, args.get(0))?;
    Ok(args.this)
}

fn clear(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let set = this_set(vm, args)?;
    vm.charge_bytes(set.bytes());
    set.clear();
    Ok(Value::UNDEFINED)
}

fn delete(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let key = HashedKey::new(vm, args.get(0))?;
    Ok(Value::bool(table.remove(&key)))
}

fn for_each(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let f = args.get(0);
    if !f.is_callable() {
        let message = format!("{} is not a function", vm.describe(f));
        return Err(vm.throw_type_error(&message));
    }
    let position = table.begin_iteration();
    while let Some((k, _)) = table.next(&position) {
        vm.call(f, args.get(1), &[k, k, args.this])?;
    }
    Ok(Value::UNDEFINED)
}

fn has(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let key = HashedKey::new(vm, args.get(0))?;
    Ok(Value::bool(table.contains(&key)))
}

fn size(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::from(this_set(vm, args)?.len()))
}

fn iterate(vm: &mut Vm, args: CallArgs, yields: Yields) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    Ok(new_table_iterator(vm, table, yields, ObjectKind::SetIterator, Intrinsic::SetIteratorPrototype))
}

fn step(vm: &mut Vm, iterator: Object) -> Option<JsResult<Option<Value>>> {
    table_iterator_step(vm, iterator, ObjectKind::SetIterator)
}

/// A Set Record (24.2.1.1).
struct SetRecord {
    set: Object,
    size: f64,
    has: Value,
    keys: Value,
}

impl SetRecord {
    fn has(&self, vm: &mut Vm, v: Value) -> JsResult<bool> {
        Ok(vm.call(self.has, Value::object(self.set), &[v])?.to_boolean())
    }

    /// GetIteratorFromMethod on `keys`, without Symbol.iterator.
    fn keys(&self, vm: &mut Vm) -> JsResult<IteratorRecord> {
        let iterator = vm.call(self.keys, Value::object(self.set), &[])?;
        match iterator.as_object() {
            Some(o) => vm.get_iterator_direct(o),
            None => Err(vm.throw_type_error("the keys method did not return an object")),
        }
    }
}

/// GetSetRecord (24.2.1.2).
fn get_set_record(vm: &mut Vm, v: Value) -> JsResult<SetRecord> {
    let Some(set) = v.as_object() else {
        let message = format!("{} is not a set-like object", vm.describe(v));
        return Err(vm.throw_type_error(&message));
    };
    let raw = vm.get(set, atoms::SIZE)?;
    let number = vm.to_number(raw)?;
    if number.is_nan() {
        return Err(vm.throw_type_error("the size of a set-like object must be a number"));
    }
    let size = if number.is_infinite() { number } else { number.trunc() };
    if size < 0.0 {
        return Err(vm.throw_range_error("the size of a set-like object must not be negative"));
    }
    let has = vm.get(set, atoms::HAS)?;
    if !has.is_callable() {
        return Err(vm.throw_type_error("the 'has' property of a set-like object must be a function"));
    }
    let keys = vm.get(set, atoms::KEYS)?;
    if !keys.is_callable() {
        return Err(vm.throw_type_error("the 'keys' property of a set-like object must be a function"));
    }
    Ok(SetRecord { set, size, has, keys })
}

fn copy_of(vm: &mut Vm, table: Table) -> JsResult<(Object, Table)> {
    let prototype = Value::object(vm.intrinsic(Intrinsic::SetPrototype));
    let (o, copy) = vm.new_set_with(prototype);
    let position = table.begin_iteration();
    while let Some((k, _)) = table.next(&position) {
        vm.poll()?;
        vm.set_add(copy, k)?;
    }
    Ok((o, copy))
}

/// 24.2.4.18
fn union(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let other = get_set_record(vm, args.get(0))?;
    let mut keys = other.keys(vm)?;
    let (o, result) = copy_of(vm, table)?;
    while let Some(v) = vm.iterator_step_value(&mut keys)? {
        vm.set_add(result, v)?;
    }
    Ok(Value::object(o))
}

/// 24.2.4.9
fn intersection(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let other = get_set_record(vm, args.get(0))?;
    let prototype = Value::object(vm.intrinsic(Intrinsic::SetPrototype));
    let (o, result) = vm.new_set_with(prototype);
    if table.len() as f64 <= other.size {
        let position = table.begin_iteration();
        while let Some((k, _)) = table.next(&position) {
            if other.has(vm, k)? {
                vm.set_add(result, k)?;
            }
        }
    } else {
        let mut keys = other.keys(vm)?;
        while let Some(v) = vm.iterator_step_value(&mut keys)? {
            let key = HashedKey::new(vm, v)?;
            if table.contains(&key) {
                vm.set_add(result, v)?;
            }
        }
    }
    Ok(Value::object(o))
}

/// 24.2.4.5
fn difference(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let other = get_set_record(vm, args.get(0))?;
    if table.len() as f64 <= other.size {
        let (o, result) = copy_of(vm, table)?;
        let position = table.begin_iteration();
        while let Some((k, _)) = table.next(&position) {
            if other.has(vm, k)? {
                let key = HashedKey::new(vm, k)?;
                result.remove(&key);
            }
        }
        return Ok(Value::object(o));
    }
    let mut keys = other.keys(vm)?;
    let (o, result) = copy_of(vm, table)?;
    while let Some(v) = vm.iterator_step_value(&mut keys)? {
        let key = HashedKey::new(vm, v)?;
        result.remove(&key);
    }
    Ok(Value::object(o))
}

/// 24.2.4.17
fn symmetric_difference(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let other = get_set_record(vm, args.get(0))?;
    let mut keys = other.keys(vm)?;
    let (o, result) = copy_of(vm, table)?;
    while let Some(v) = vm.iterator_step_value(&mut keys)? {
        let key = HashedKey::new(vm, v)?;
        if table.contains(&key) {
            result.remove(&key);
        } else {
            vm.set_add(result, v)?;
        }
    }
    Ok(Value::object(o))
}

/// 24.2.4.11
fn is_subset_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let other = get_set_record(vm, args.get(0))?;
    if table.len() as f64 > other.size {
        return Ok(Value::FALSE);
    }
    let position = table.begin_iteration();
    while let Some((k, _)) = table.next(&position) {
        if !other.has(vm, k)? {
            return Ok(Value::FALSE);
        }
    }
    Ok(Value::TRUE)
}

/// 24.2.4.12
fn is_superset_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let other = get_set_record(vm, args.get(0))?;
    if (table.len() as f64) < other.size {
        return Ok(Value::FALSE);
    }
    let mut keys = other.keys(vm)?;
    while let Some(v) = vm.iterator_step_value(&mut keys)? {
        let key = HashedKey::new(vm, v)?;
        if !table.contains(&key) {
            return vm.iterator_close(&keys, Ok(Value::FALSE));
        }
    }
    Ok(Value::TRUE)
}

/// 24.2.4.10
fn is_disjoint_from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_set(vm, args)?;
    let other = get_set_record(vm, args.get(0))?;
    if table.len() as f64 <= other.size {
        let position = table.begin_iteration();
        while let Some((k, _)) = table.next(&position) {
            if other.has(vm, k)? {
                return Ok(Value::FALSE);
            }
        }
        return Ok(Value::TRUE);
    }
    let mut keys = other.keys(vm)?;
    while let Some(v) = vm.iterator_step_value(&mut keys)? {
        let key = HashedKey::new(vm, v)?;
        if table.contains(&key) {
            return vm.iterator_close(&keys, Ok(Value::FALSE));
        }
    }
    Ok(Value::TRUE)
}
