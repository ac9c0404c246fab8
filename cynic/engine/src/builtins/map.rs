//! Map objects (24.1) and their iterators. <https://tc39.es/ecma262/#sec-map-objects>
//!
//! A map's internal slot 0 is its table. A map iterator's slots: 0 the iteration state (undefined when done), 1 what it
//! yields.

use crate::atoms;
use crate::builtins::group_by::group_by;
use crate::builtins::ordered_table::{HashedKey, OrderedTable, Position};
use crate::gc::{Data, Gc, Trace, Tracer};
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NativeFn, NativeSpec};
use crate::object::{Object, ObjectKind};
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, ValueSpec, constructor, getter, iterator_next, method, prototype,
    species, symbol_data, to_string_tag,
};
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Map%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Map", 0, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::MapPrototype), method("groupBy", 2, map_group_by), species()],
};

/// %Map.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::Map),
        method("clear", 0, clear),
        method("delete", 1, delete),
        method("entries", 0, |vm, args| iterate(vm, args, Yields::Entries)),
        method("forEach", 1, for_each),
        method("get", 1, get),
        method("getOrInsert", 2, get_or_insert),
        method("getOrInsertComputed", 2, get_or_insert_computed),
        method("has", 1, has),
        method("keys", 0, |vm, args| iterate(vm, args, Yields::Keys)),
        method("set", 2, set),
        getter("size", size),
        method("values", 0, |vm, args| iterate(vm, args, Yields::Values)),
        symbol_data(symbol::ITERATOR, ValueSpec::SameAs("entries"), attrs::METHOD),
        to_string_tag("Map"),
    ],
};

/// %MapIteratorPrototype%.
pub static ITERATOR_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::IteratorPrototype),
    properties: &[
        iterator_next(0, |vm, args| vm.next_by_step(args, step), step),
        to_string_tag("Map Iterator"),
    ],
};

/// What an iterator over a table yields.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Yields {
    Keys,
    Values,
    Entries,
}

/// An iterator's hold on a table.
pub(crate) struct TableIteration {
    pub(crate) table: Gc<Data<OrderedTable>>,
    pub(crate) position: Position,
    pub(crate) yields: Yields,
}

impl Trace for TableIteration {
    const BARRIERED: bool = true;

    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.cell(self.table);
    }
}

/// The table of `this`, which must be of `kind`.
pub(crate) fn this_table(
    vm: &mut Vm,
    this: Value,
    kind: ObjectKind,
    name: &str,
) -> JsResult<Gc<Data<OrderedTable>>> {
    if let Some(o) = this.as_object()
        && o.is(kind)
        && let Some(table) = o.data::<OrderedTable>(0)
    {
        return Ok(table);
    }
    let message = format!("Method called on incompatible receiver {}: expected a {name}", vm.describe(this));
    Err(vm.throw_type_error(&message))
}

fn this_map(vm: &mut Vm, args: CallArgs) -> JsResult<Gc<Data<OrderedTable>>> {
    this_table(vm, args.this, ObjectKind::Map, "Map")
}

impl Vm {
    /// A new empty Map with the given prototype.
    pub fn new_map(&mut self, prototype: Value) -> Object {
        let o = self.new_exotic(ObjectKind::Map, prototype, 1);
        let table = self.alloc_data(OrderedTable::default());
        o.set_slot(0, Value::cell(table));
        o
    }

    /// Adds or sets an entry of a table, with the barrier and the heap's limit.
    pub(crate) fn table_insert(
        &mut self,
        table: Gc<Data<OrderedTable>>,
        key: HashedKey,
        value: Value,
    ) -> JsResult<()> {
        let grows = table.is_about_to_grow();
        table.insert(key, value);
        table.write_barrier();
        if table.take_many_written() {
            self.collect_written();
        }
        if grows {
            self.recharge_external(&table.charge, table.bytes())?;
        }
        Ok(())
    }
}

/// 24.1.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor Map requires 'new'"));
    }
    let prototype = vm.get_prototype_from_constructor(args.new_target, Intrinsic::MapPrototype)?;
    let map = vm.new_map(Value::object(prototype));
    if args.get(0).is_nullish() {
        return Ok(Value::object(map));
    }
    let adder = get_adder(vm, map, atoms::SET, set)?;
    let Some(table) = map.data::<OrderedTable>(0) else { return Ok(Value::object(map)) };
    vm.add_entries_from_iterable(args.get(0), |vm, k, v| match adder {
        // OPTIMIZATION: equals calling %Map.prototype.set%.
        None => {
            let key = HashedKey::new(vm, k)?;
            vm.table_insert(table, key, v)
        }
        Some(f) => vm.call(f, Value::object(map), &[k, v]).map(|_| ()),
    })?;
    Ok(Value::object(map))
}

/// The adder method; None when it is the engine's own.
pub(crate) fn get_adder(
    vm: &mut Vm,
    o: Object,
    name: crate::property_key::PropertyKey,
    native: NativeFn,
) -> JsResult<Option<Value>> {
    let adder = vm.get(o, name)?;
    let Some(f) = adder.as_object().filter(|f| f.is_callable()) else {
        let message = format!("'{}' is not a function", name.to_display());
        return Err(vm.throw_type_error(&message));
    };
    let own = f.is(ObjectKind::NativeFunction) && std::ptr::fn_addr_eq(f.native_spec().function, native);
    Ok(if own { None } else { Some(adder) })
}

/// 24.1.2.1
fn map_group_by(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let groups = group_by(vm, args.get(0), args.get(1), |vm, k| Ok(HashedKey::new(vm, k)?.value))?;
    let prototype = Value::object(vm.intrinsic(Intrinsic::MapPrototype));
    let map = vm.new_map(prototype);
    let Some(table) = map.data::<OrderedTable>(0) else { return Ok(Value::object(map)) };
    for i in 0..groups.len() {
        let array = vm.new_array_from(&groups.values(vm, i))?;
        let key = HashedKey::new(vm, groups.key(i))?;
        vm.table_insert(table, key, Value::object(array))?;
    }
    Ok(Value::object(map))
}

fn clear(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let map = this_map(vm, args)?;
    vm.charge_bytes(map.bytes());
    map.clear();
    Ok(Value::UNDEFINED)
}

fn delete(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_map(vm, args)?;
    let key = HashedKey::new(vm, args.get(0))?;
    Ok(Value::bool(table.remove(&key)))
}

/// 24.1.3.5
fn for_each(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_map(vm, args)?;
    let f = args.get(0);
    if !f.is_callable() {
        let message = format!("{} is not a function", vm.describe(f));
        return Err(vm.throw_type_error(&message));
    }
    let position = table.begin_iteration();
    while let Some((k, v)) = table.next(&position) {
        vm.call(f, args.get(1), &[v, k, args.this])?;
    }
    Ok(Value::UNDEFINED)
}

fn get(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_map(vm, args)?;
    let key = HashedKey::new(vm, args.get(0))?;
    Ok(table.get(&key).unwrap_or(Value::UNDEFINED))
}

fn get_or_insert(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_map(vm, args)?;
    let key = HashedKey::new(vm, args.get(0))?;
    if let Some(v) = table.get(&key) {
        return Ok(v);
    }
    vm.table_insert(table, key, args.get(1))?;
    Ok(args.get(1))
}

fn get_or_insert_computed(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_map(vm, args)?;
    let f = args.get(1);
    if !f.is_callable() {
        let message = format!("{} is not a function", vm.describe(f));
        return Err(vm.throw_type_error(&message));
    }
    let key = HashedKey::new(vm, args.get(0))?;
    if let Some(v) = table.get(&key) {
        return Ok(v);
    }
    let v = vm.call(f, Value::UNDEFINED, &[key.value])?;
    vm.table_insert(table, key, v)?;
    Ok(v)
}

fn has(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_map(vm, args)?;
    let key = HashedKey::new(vm, args.get(0))?;
    Ok(Value::bool(table.contains(&key)))
}

fn set(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_map(vm, args)?;
    let key = HashedKey::new(vm, args.get(0))?;
    vm.table_insert(table, key, args.get(1))?;
    Ok(args.this)
}

fn size(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::from(this_map(vm, args)?.len()))
}

/// CreateMapIterator (24.1.5.1).
fn iterate(vm: &mut Vm, args: CallArgs, yields: Yields) -> JsResult<Value> {
    let table = this_map(vm, args)?;
    Ok(new_table_iterator(vm, table, yields, ObjectKind::MapIterator, Intrinsic::MapIteratorPrototype))
}

/// An iterator object over a table.
pub(crate) fn new_table_iterator(
    vm: &mut Vm,
    table: Gc<Data<OrderedTable>>,
    yields: Yields,
    kind: ObjectKind,
    prototype: Intrinsic,
) -> Value {
    let prototype = Value::object(vm.intrinsic(prototype));
    let o = vm.new_exotic(kind, prototype, 1);
    let state = vm.alloc_data(TableIteration { table, position: table.begin_iteration(), yields });
    o.set_slot(0, Value::cell(state));
    Value::object(o)
}

/// 24.1.5.2.1 and 24.2.6.2.1: one step of a map or set iterator.
pub(crate) fn table_iterator_step(
    vm: &mut Vm,
    iterator: Object,
    kind: ObjectKind,
) -> Option<JsResult<Option<Value>>> {
    if !iterator.is(kind) {
        return None;
    }
    let Some(state) = iterator.data::<TableIteration>(0) else { return Some(Ok(None)) };
    let Some((k, v)) = state.table.next(&state.position) else {
        iterator.set_slot(0, Value::UNDEFINED);
        return Some(Ok(None));
    };
    Some(match state.yields {
        Yields::Keys => Ok(Some(k)),
        Yields::Values => Ok(Some(v)),
        Yields::Entries => vm.new_array_from(&[k, v]).map(|entry| Some(Value::object(entry))),
    })
}

fn step(vm: &mut Vm, iterator: Object) -> Option<JsResult<Option<Value>>> {
    table_iterator_step(vm, iterator, ObjectKind::MapIterator)
}
