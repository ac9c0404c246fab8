//! WeakMap, WeakSet (24.3, 24.4) and WeakRef (26.1). <https://tc39.es/ecma262/#sec-weakmap-objects>
//!
//! WeakMap and WeakSet share a table of ephemerons (internal slot 0): a value is live only while its key is. Keys are
//! compared by address, which never changes. A WeakRef's slot 0 is a cell that the collector clears; its target is kept
//! alive until the current job ends.

use std::cell::{Cell, RefCell};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::atoms;
use crate::builtins::map::get_adder;
use crate::gc::{Data, ExternalCharge, Gc, Trace, Tracer};
use crate::limits::UNCHARGED_VALUES_MAX;
use crate::object::ObjectKind;
use crate::object::function::{CallArgs, NativeSpec};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, method, prototype, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %WeakMap%.
pub static WEAK_MAP: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("WeakMap", 0, construct_weak_map)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::WeakMapPrototype)],
};

/// %WeakMap.prototype%.
pub static WEAK_MAP_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::WeakMap),
        method("delete", 1, |vm, args| delete(vm, args, ObjectKind::WeakMap)),
        method("get", 1, map_get),
        method("getOrInsert", 2, get_or_insert),
        method("getOrInsertComputed", 2, get_or_insert_computed),
        method("has", 1, |vm, args| has(vm, args, ObjectKind::WeakMap)),
        method("set", 2, map_set),
        to_string_tag("WeakMap"),
    ],
};

/// %WeakSet%.
pub static WEAK_SET: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("WeakSet", 0, construct_weak_set)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::WeakSetPrototype)],
};

/// %WeakSet.prototype%.
pub static WEAK_SET_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::WeakSet),
        method("add", 1, set_add),
        method("delete", 1, |vm, args| delete(vm, args, ObjectKind::WeakSet)),
        method("has", 1, |vm, args| has(vm, args, ObjectKind::WeakSet)),
        to_string_tag("WeakSet"),
    ],
};

/// %WeakRef%.
pub static WEAK_REF: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("WeakRef", 1, construct_weak_ref)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::WeakRefPrototype)],
};

/// %WeakRef.prototype%.
pub static WEAK_REF_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[constructor(Intrinsic::WeakRef), method("deref", 0, deref), to_string_tag("WeakRef")],
};

/// Ephemerons by the address of their key.
#[derive(Default)]
pub(crate) struct WeakTable {
    entries: RefCell<FxHashMap<u64, Value>>,
    /// Keys of the entries that were written since the last collection. A young collection looks at no others, because what the last
    /// one found live has kept its mark.
    written: RefCell<FxHashSet<u64>>,
    charge: ExternalCharge,
}

impl Trace for WeakTable {
    const BARRIERED: bool = true;
    const WEAK: bool = true;

    fn trace(&self, _tracer: &mut Tracer<'_>) {}

    fn trace_ephemerons(&self, tracer: &mut Tracer<'_>) {
        if !tracer.is_full() {
            let entries = self.entries.borrow();
            for &key in self.written.borrow().iter() {
                if let Some(&value) = entries.get(&key) {
                    tracer.ephemeron(key, value);
                }
            }
            return;
        }
        for (&key, &value) in self.entries.borrow().iter() {
            tracer.ephemeron(key, value);
        }
    }

    fn sweep_weak(&self, tracer: &Tracer<'_>) {
        let written = std::mem::take(&mut *self.written.borrow_mut());
        if !tracer.is_full() {
            let mut entries = self.entries.borrow_mut();
            for key in written.into_iter().filter(|&key| !tracer.is_marked_bits(key)) {
                entries.remove(&key);
            }
            return;
        }
        self.entries.borrow_mut().retain(|&key, _| tracer.is_marked_bits(key));
    }
}

/// What a WeakRef holds.
pub(crate) struct WeakTarget {
    target: Cell<Value>,
    /// Held like any other value: in a deterministic isolate the collector must not show.
    is_strong: bool,
}

impl Trace for WeakTarget {
    const BARRIERED: bool = true;
    const WEAK: bool = true;

    fn trace(&self, tracer: &mut Tracer<'_>) {
        if self.is_strong {
            tracer.value(self.target.get());
        }
    }

    fn sweep_weak(&self, tracer: &Tracer<'_>) {
        if !tracer.is_marked(self.target.get()) {
            self.target.set(Value::UNDEFINED);
        }
    }
}

impl Vm {
    /// CanBeHeldWeakly (9.13).
    pub fn can_be_held_weakly(&self, v: Value) -> bool {
        v.is_object() || v.as_symbol().is_some_and(|s| !s.is_registered())
    }

    /// AddToKeptObjects (9.10.4.1).
    pub fn add_to_kept_objects(&mut self, v: Value) {
        self.kept_alive.push(v);
        // One object may be asked for without end: what is kept counts for the heap, this list does not.
        if self.kept_alive.len() >= 1024 && self.kept_alive.len() == self.kept_alive.capacity() {
            self.kept_alive.sort_unstable_by_key(|kept| kept.to_bits());
            self.kept_alive.dedup();
        }
    }

    /// ClearKeptObjects (9.10.4): the host calls it when a job has ended.
    pub fn clear_kept_objects(&mut self) {
        self.kept_alive.clear();
    }
}

type Table = Gc<Data<WeakTable>>;

fn this_weak(vm: &mut Vm, args: CallArgs, kind: ObjectKind) -> JsResult<Table> {
    if let Some(o) = args.this.as_object()
        && o.is(kind)
        && let Some(table) = o.data::<WeakTable>(0)
    {
        return Ok(table);
    }
    let message = format!("Method called on incompatible receiver {}", vm.describe(args.this));
    Err(vm.throw_type_error(&message))
}

fn invalid_key(vm: &mut Vm, v: Value) -> crate::vm::Abrupt {
    let message = format!("Invalid value used as weak key: {}", vm.describe(v));
    vm.throw_type_error(&message)
}

fn insert(vm: &mut Vm, table: Table, key: Value, value: Value) -> JsResult<()> {
    let mut entries = table.entries.borrow_mut();
    let before = entries.capacity();
    entries.insert(key.to_bits(), value);
    let capacity = entries.capacity();
    drop(entries);
    table.written.borrow_mut().insert(key.to_bits());
    table.write_barrier();
    if capacity == before || capacity <= UNCHARGED_VALUES_MAX {
        return Ok(());
    }
    vm.recharge_external(&table.charge, capacity * size_of::<(u64, Value)>())
}

fn lookup(table: Table, key: Value) -> Option<Value> {
    table.entries.borrow().get(&key.to_bits()).copied()
}

/// 24.3.1.1
fn construct_weak_map(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor WeakMap requires 'new'"));
    }
    let o = vm.ordinary_create_from_constructor(
        args.new_target,
        Intrinsic::WeakMapPrototype,
        ObjectKind::WeakMap,
        1,
    )?;
    let table = vm.alloc_data(WeakTable::default());
    o.set_slot(0, Value::cell(table));
    if args.get(0).is_nullish() {
        return Ok(Value::object(o));
    }
    let adder = get_adder(vm, o, atoms::SET, map_set)?;
    vm.add_entries_from_iterable(args.get(0), |vm, k, v| match adder {
        None if vm.can_be_held_weakly(k) => {
            insert(vm, table, k, v)?;
            Ok(())
        }
        None => Err(invalid_key(vm, k)),
        Some(f) => vm.call(f, Value::object(o), &[k, v]).map(|_| ()),
    })?;
    Ok(Value::object(o))
}

/// 24.4.1.1
fn construct_weak_set(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor WeakSet requires 'new'"));
    }
    let o = vm.ordinary_create_from_constructor(
        args.new_target,
        Intrinsic::WeakSetPrototype,
        ObjectKind::WeakSet,
        1,
    )?;
    let table = vm.alloc_data(WeakTable::default());
    o.set_slot(0, Value::cell(table));
    if args.get(0).is_nullish() {
        return Ok(Value::object(o));
    }
    let adder = vm.get(o, atoms::ADD)?;
    if !adder.is_callable() {
        return Err(vm.throw_type_error("'add' is not a function"));
    }
    let mut record = vm.get_iterator(args.get(0))?;
    while let Some(v) = vm.iterator_step_value(&mut record)? {
        let result = vm.call(adder, Value::object(o), &[v]);
        vm.close_if_abrupt(&record, result)?;
    }
    Ok(Value::object(o))
}

fn delete(vm: &mut Vm, args: CallArgs, kind: ObjectKind) -> JsResult<Value> {
    let table = this_weak(vm, args, kind)?;
    Ok(Value::bool(table.entries.borrow_mut().remove(&args.get(0).to_bits()).is_some()))
}

fn has(vm: &mut Vm, args: CallArgs, kind: ObjectKind) -> JsResult<Value> {
    let table = this_weak(vm, args, kind)?;
    Ok(Value::bool(lookup(table, args.get(0)).is_some()))
}

fn map_get(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_weak(vm, args, ObjectKind::WeakMap)?;
    Ok(lookup(table, args.get(0)).unwrap_or(Value::UNDEFINED))
}

fn map_set(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_weak(vm, args, ObjectKind::WeakMap)?;
    if !vm.can_be_held_weakly(args.get(0)) {
        return Err(invalid_key(vm, args.get(0)));
    }
    insert(vm, table, args.get(0), args.get(1))?;
    Ok(args.this)
}

fn get_or_insert(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_weak(vm, args, ObjectKind::WeakMap)?;
    if !vm.can_be_held_weakly(args.get(0)) {
        return Err(invalid_key(vm, args.get(0)));
    }
    if let Some(v) = lookup(table, args.get(0)) {
        return Ok(v);
    }
    insert(vm, table, args.get(0), args.get(1))?;
    Ok(args.get(1))
}

fn get_or_insert_computed(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_weak(vm, args, ObjectKind::WeakMap)?;
    if !vm.can_be_held_weakly(args.get(0)) {
        return Err(invalid_key(vm, args.get(0)));
    }
    if !args.get(1).is_callable() {
        let message = format!("{} is not a function", vm.describe(args.get(1)));
        return Err(vm.throw_type_error(&message));
    }
    if let Some(v) = lookup(table, args.get(0)) {
        return Ok(v);
    }
    let v = vm.call(args.get(1), Value::UNDEFINED, &[args.get(0)])?;
    insert(vm, table, args.get(0), v)?;
    Ok(v)
}

fn set_add(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let table = this_weak(vm, args, ObjectKind::WeakSet)?;
    if !vm.can_be_held_weakly(args.get(0)) {
        return Err(invalid_key(vm, args.get(0)));
    }
    insert(vm, table, args.get(0), Value::TRUE)?;
    Ok(args.this)
}

/// 26.1.1.1
fn construct_weak_ref(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor WeakRef requires 'new'"));
    }
    if !vm.can_be_held_weakly(args.get(0)) {
        return Err(
            vm.throw_type_error("WeakRef: the target must be an object or a symbol that is not registered")
        );
    }
    let o = vm.ordinary_create_from_constructor(
        args.new_target,
        Intrinsic::WeakRefPrototype,
        ObjectKind::WeakRef,
        1,
    )?;
    vm.add_to_kept_objects(args.get(0));
    let is_strong = vm.options.deterministic;
    let target = vm.alloc_data(WeakTarget { target: Cell::new(args.get(0)), is_strong });
    o.set_slot(0, Value::cell(target));
    Ok(Value::object(o))
}

/// 26.1.3.2
fn deref(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let target =
        args.this.as_object().filter(|o| o.is(ObjectKind::WeakRef)).and_then(|o| o.data::<WeakTarget>(0));
    let Some(target) = target else {
        let message = format!("Method called on incompatible receiver {}", vm.describe(args.this));
        return Err(vm.throw_type_error(&message));
    };
    let v = target.target.get();
    if !v.is_undefined() {
        vm.add_to_kept_objects(v);
    }
    Ok(v)
}
