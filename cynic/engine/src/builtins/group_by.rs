//! GroupBy (7.3.34), shared by `Object.groupBy` and `Map.groupBy`.
//! <https://tc39.es/ecma262/#sec-groupby>

use std::collections::HashMap;

use crate::builtins::ordered_table::HashedKey;
use crate::gc::RootedVec;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Items between two looks at the heap limit.
const ITEMS_PER_CHECK: usize = 4096;
/// Bytes of bookkeeping per item, when each is a group of its own.
const BYTES_PER_ITEM: usize = 96;

/// The groups in the order of their first members.
pub(crate) struct Groups {
    keys: RootedVec,
    items: RootedVec,
    /// For each group, where its members stand among the items.
    members: Vec<Vec<u32>>,
}

impl Groups {
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }
    pub(crate) fn key(&self, i: usize) -> Value {
        self.keys[i]
    }
    pub(crate) fn values(&self, vm: &Vm, i: usize) -> RootedVec {
        let mut values = vm.scratch();
        values.extend(self.members[i].iter().map(|&at| self.items[at as usize]));
        values
    }
}

/// Groups the items of an iterable by what `callback` answers, passed through `coerce`.
pub(crate) fn group_by(
    vm: &mut Vm,
    items: Value,
    callback: Value,
    coerce: impl Fn(&mut Vm, Value) -> JsResult<Value>,
) -> JsResult<Groups> {
    vm.require_object_coercible(items)?;
    if !callback.is_callable() {
        let message = format!("{} is not a function", vm.describe(callback));
        return Err(vm.throw_type_error(&message));
    }
    let mut groups = Groups { keys: vm.scratch(), items: vm.scratch(), members: Vec::new() };
    let mut index: HashMap<HashedKey, usize> = HashMap::new();
    let mut record = vm.get_iterator(items)?;
    let mut k = 0.0;
    while let Some(v) = vm.iterator_step_value(&mut record)? {
        let key = vm.call(callback, Value::UNDEFINED, &[v, Value::number(k)]).and_then(|key| coerce(vm, key));
        let key = vm.close_if_abrupt(&record, key)?;
        let hashed = HashedKey::new(vm, key)?;
        let at = *index.entry(hashed).or_insert_with(|| {
            groups.keys.push(key);
            groups.members.push(Vec::new());
            groups.members.len() - 1
        });
        groups.members[at].push(groups.items.len() as u32);
        groups.items.push(v);
        if groups.items.len().is_multiple_of(ITEMS_PER_CHECK) {
            vm.check_heap_room(groups.items.len() * BYTES_PER_ITEM)?;
        }
        k += 1.0;
    }
    Ok(groups)
}
