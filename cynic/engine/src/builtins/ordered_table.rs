//! The table behind Map and Set: a hash index over entries in insertion order.
//!
//! Deleted entries stay as tombstones (EMPTY keys) so that positions held by iterators stay meaningful; compaction moves
//! entries down and adjusts the positions of all iterators that are still alive (the table knows them weakly).
//! Invariant: every live entry is in the index exactly once; keys are normalised (-0 is 0).

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::rc::{Rc, Weak};

use crate::gc::{ExternalCharge, Trace, Tracer};
use crate::limits::{
    GC_ARRAY_PORTION, GC_ELEMENTS_REMEMBERED_MAX, GC_FETCHED_AHEAD, GC_LONG_TABLE, GC_WRITTEN_MANY,
    UNCHARGED_VALUES_MAX,
};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// A key with its SameValueZero hash, comparable without the `Vm` (strings are flat once hashed).
#[derive(Copy, Clone)]
pub(crate) struct HashedKey {
    pub(crate) value: Value,
    pub(crate) hash: u32,
}

impl HashedKey {
    #[inline]
    pub(crate) fn new(vm: &mut Vm, v: Value) -> JsResult<HashedKey> {
        if let Some(s) = v.as_string() {
            // It may be compared with an equal key in another cell.
            vm.charge_bytes(s.len());
            vm.check_flat_room(s)?;
            return Ok(HashedKey { value: v, hash: s.hash(vm) });
        }
        if let Some(b) = v.as_bigint() {
            let mut h = std::collections::hash_map::DefaultHasher::new();
            h.write_u32(vm.hash_seed.word(0));
            b.value().hash(&mut h);
            return Ok(HashedKey { value: v, hash: h.finish() as u32 });
        }
        let value = if v.is_double() { Value::number(v.offset_double() + 0.0) } else { v };
        Ok(HashedKey { value, hash: vm.hash_seed.word(value.to_bits()) })
    }

    /// SameValueZero of normalised keys.
    #[inline]
    fn same(&self, other: Value) -> bool {
        if self.value == other {
            return true;
        }
        if let (Some(a), Some(b)) = (self.value.as_string(), other.as_string()) {
            return a.len() == b.len() && a.flat_view().is_some() && a.flat_view() == b.flat_view();
        }
        match (self.value.as_bigint(), other.as_bigint()) {
            (Some(a), Some(b)) => a.value() == b.value(),
            _ => false,
        }
    }
}

impl PartialEq for HashedKey {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.same(other.value)
    }
}
impl Eq for HashedKey {}
impl Hash for HashedKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.hash);
    }
}

/// Entries between the one that is traced and the one whose cells are fetched.
const AHEAD: usize = GC_FETCHED_AHEAD as usize / 2;

#[derive(Copy, Clone)]
struct Entry {
    key: Value,
    value: Value,
    hash: u32,
    /// The next entry of the same bucket, plus one.
    next: u32,
}

#[derive(Default)]
struct Inner {
    entries: Vec<Entry>,
    /// Heads of the buckets: entry position plus one.
    buckets: Vec<u32>,
    live: usize,
    /// No entry before this one is live.
    first_live: usize,
    iterators: Vec<Weak<Cell<u32>>>,
    /// Entries that were written since the table was traced; only of a long one.
    written: Vec<u32>,
    /// They were too many to note, or their places have changed.
    all_written: bool,
    /// So many that a collection should look at them before there are more.
    many_written: bool,
}

/// The table; interior mutability, because cells are shared.
#[derive(Default)]
pub(crate) struct OrderedTable {
    inner: RefCell<Inner>,
    /// For the table's memory, once it is not small any more.
    pub(crate) charge: ExternalCharge,
}

/// A position in the table that survives deletions and compactions.
#[derive(Debug)]
pub(crate) struct Position(Rc<Cell<u32>>);

impl Trace for OrderedTable {
    const BARRIERED: bool = true;

    fn trace(&self, tracer: &mut Tracer<'_>) {
        let mut from = Some(0);
        while let Some(at) = from {
            from = self.trace_part(tracer, at);
        }
    }

    fn trace_part(&self, tracer: &mut Tracer<'_>, from: usize) -> Option<usize> {
        let mut inner = self.inner.borrow_mut();
        if from == 0 {
            inner.written.clear();
            inner.all_written = false;
        }
        let entries = &inner.entries;
        let to = entries.len().min(from + GC_ARRAY_PORTION as usize / 2);
        for (i, e) in entries.get(from..to).unwrap_or_default().iter().enumerate() {
            if let Some(later) = entries.get(from + i + AHEAD) {
                tracer.fetch(later.key);
                tracer.fetch(later.value);
            }
            tracer.value(e.key);
            tracer.value(e.value);
        }
        (to < entries.len()).then_some(to)
    }

    fn trace_written(&self, tracer: &mut Tracer<'_>) -> bool {
        let mut inner = self.inner.borrow_mut();
        if inner.all_written || inner.entries.len() < GC_LONG_TABLE {
            return true;
        }
        for i in std::mem::take(&mut inner.written) {
            if let Some(e) = inner.entries.get(i as usize) {
                tracer.value(e.key);
                tracer.value(e.value);
            }
        }
        false
    }
}

impl Inner {
    fn find(&self, key: &HashedKey) -> Option<usize> {
        let mask = self.buckets.len().checked_sub(1)?;
        let mut at = self.buckets[key.hash as usize & mask];
        while at != 0 {
            let e = &self.entries[at as usize - 1];
            if e.hash == key.hash && key.same(e.key) {
                return Some(at as usize - 1);
            }
            at = e.next;
        }
        None
    }

    /// Notes that an entry was written.
    fn note_written(&mut self, i: usize) {
        if self.entries.len() < GC_LONG_TABLE {
            return;
        }
        // Those of a table that has just become long have not been noted.
        if self.entries.len() == GC_LONG_TABLE || self.written.len() >= GC_ELEMENTS_REMEMBERED_MAX {
            self.all_written = true;
        } else if !self.all_written {
            self.written.push(i as u32);
            self.many_written |= self.written.len().is_multiple_of(GC_WRITTEN_MANY);
        }
    }

    fn rehash(&mut self, buckets: usize) {
        self.buckets.clear();
        self.buckets.resize(buckets, 0);
        for i in 0..self.entries.len() {
            if !self.entries[i].key.is_empty() {
                self.link(i);
            }
        }
    }

    fn link(&mut self, i: usize) {
        let b = self.entries[i].hash as usize & (self.buckets.len() - 1);
        self.entries[i].next = self.buckets[b];
        self.buckets[b] = i as u32 + 1;
    }

    fn unlink(&mut self, i: usize) {
        let b = self.entries[i].hash as usize & (self.buckets.len() - 1);
        let after = self.entries[i].next;
        if self.buckets[b] == i as u32 + 1 {
            self.buckets[b] = after;
            return;
        }
        let mut at = self.buckets[b];
        while at != 0 {
            let e = &mut self.entries[at as usize - 1];
            if e.next == i as u32 + 1 {
                e.next = after;
                return;
            }
            at = e.next;
        }
    }

    /// Drops the tombstones and moves the iterators' positions along.
    fn compact(&mut self) {
        self.iterators.retain(|w| w.strong_count() > 0);
        if !self.iterators.is_empty() {
            let removed: Vec<u32> = self
                .entries
                .iter()
                .enumerate()
                .filter(|(_, e)| e.key.is_empty())
                .map(|(i, _)| i as u32)
                .collect();
            for position in self.iterators.iter().filter_map(Weak::upgrade) {
                let at = position.get();
                position.set(at - removed.partition_point(|&r| r < at) as u32);
            }
        }
        self.entries.retain(|e| !e.key.is_empty());
        self.written.clear();
        self.all_written = true;
        self.first_live = 0;
        self.rehash((self.entries.len() * 2).next_power_of_two().max(8));
    }
}

impl OrderedTable {
    /// Live entries.
    pub(crate) fn len(&self) -> usize {
        self.inner.borrow().live
    }

    pub(crate) fn get(&self, key: &HashedKey) -> Option<Value> {
        let inner = self.inner.borrow();
        inner.find(key).map(|i| inner.entries[i].value)
    }

    pub(crate) fn contains(&self, key: &HashedKey) -> bool {
        self.inner.borrow().find(key).is_some()
    }

    /// Sets or adds; true if it was added. The caller runs the write barrier of the table's cell.
    pub(crate) fn insert(&self, key: HashedKey, value: Value) -> bool {
        let mut inner = self.inner.borrow_mut();
        if let Some(i) = inner.find(&key) {
            inner.entries[i].value = value;
            if value.is_cell() {
                inner.note_written(i);
            }
            return false;
        }
        if inner.entries.len() >= inner.buckets.len() {
            if inner.entries.len() > 32 && inner.live * 2 < inner.entries.len() {
                inner.compact();
            } else {
                let buckets = (inner.buckets.len() * 2).max(8);
                inner.rehash(buckets);
            }
        }
        inner.entries.push(Entry { key: key.value, value, hash: key.hash, next: 0 });
        let i = inner.entries.len() - 1;
        inner.link(i);
        inner.note_written(i);
        inner.live += 1;
        true
    }

    pub(crate) fn remove(&self, key: &HashedKey) -> bool {
        let mut inner = self.inner.borrow_mut();
        let Some(i) = inner.find(key) else { return false };
        inner.unlink(i);
        inner.entries[i].key = Value::EMPTY;
        inner.entries[i].value = Value::UNDEFINED;
        inner.live -= 1;
        if i == inner.first_live {
            let from = inner.first_live;
            let ahead = inner.entries[from..].iter().take_while(|e| e.key.is_empty()).count();
            inner.first_live = from + ahead;
        }
        true
    }

    /// Removes everything; positions then mean the start of what is added afterwards.
    pub(crate) fn clear(&self) {
        let mut inner = self.inner.borrow_mut();
        for e in &mut inner.entries {
            e.key = Value::EMPTY;
            e.value = Value::UNDEFINED;
        }
        inner.live = 0;
        inner.compact();
    }

    /// A position before the first entry.
    pub(crate) fn begin_iteration(&self) -> Position {
        let mut inner = self.inner.borrow_mut();
        let position = Rc::new(Cell::new(0));
        if inner.iterators.len() >= 16 && inner.iterators.len() == inner.iterators.capacity() {
            inner.iterators.retain(|w| w.strong_count() > 0);
        }
        inner.iterators.push(Rc::downgrade(&position));
        Position(position)
    }

    /// The next live entry at or after the position, which moves behind it.
    pub(crate) fn next(&self, position: &Position) -> Option<(Value, Value)> {
        let inner = self.inner.borrow();
        let mut at = (position.0.get() as usize).max(inner.first_live);
        while let Some(e) = inner.entries.get(at) {
            at += 1;
            if !e.key.is_empty() {
                position.0.set(at as u32);
                return Some((e.key, e.value));
            }
        }
        position.0.set(at as u32);
        None
    }

    /// Whether a collection should look at what was written; answers so once.
    pub(crate) fn take_many_written(&self) -> bool {
        std::mem::take(&mut self.inner.borrow_mut().many_written)
    }

    /// Bytes of the table's own memory, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let inner = self.inner.borrow();
        inner.entries.capacity() * size_of::<Entry>() + inner.buckets.capacity() * 4
    }

    /// Whether one more entry makes the memory grow beyond what is small.
    pub(crate) fn is_about_to_grow(&self) -> bool {
        let inner = self.inner.borrow();
        let count = inner.entries.len();
        count >= UNCHARGED_VALUES_MAX && (count == inner.entries.capacity() || count >= inner.buckets.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(i: i32) -> HashedKey {
        let value = Value::int32(i);
        HashedKey { value, hash: (value.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 }
    }

    #[test]
    fn keeps_order_and_positions_over_deletion_and_compaction() {
        let t = OrderedTable::default();
        for i in 0..100 {
            assert!(t.insert(key(i), Value::int32(i)));
        }
        let p = t.begin_iteration();
        for i in 0..50 {
            assert_eq!(t.next(&p), Some((Value::int32(i), Value::int32(i))));
        }
        for i in 0..90 {
            assert!(t.remove(&key(i)));
        }
        for i in 100..400 {
            t.insert(key(i), Value::int32(i));
        }
        let rest: Vec<i32> = std::iter::from_fn(|| t.next(&p)).filter_map(|(k, _)| k.as_int32()).collect();
        assert_eq!(rest, (90..400).collect::<Vec<_>>());
        assert_eq!(t.len(), 310);
        t.clear();
        t.insert(key(7), Value::NULL);
        assert_eq!(t.next(&p), Some((Value::int32(7), Value::NULL)));
        assert_eq!(t.next(&p), None);
        assert!(t.contains(&key(7)) && !t.contains(&key(8)));
    }
}
