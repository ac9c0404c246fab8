//! Array values. `IndexedArray` stays a plain vector while its indices are 0..n and turns into an ordered map when it
//! gets holes; `AssociativeArray` enumerates in bash's bucket order, which scripts can see.

use crate::Bytes;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// An indexed array; indices are never negative here (negative subscripts are resolved by the caller).
#[derive(Debug, Clone)]
pub enum IndexedArray {
    /// Elements 0..n without holes.
    Dense(Vec<Bytes>),
    /// Any set of indices.
    Sparse(BTreeMap<i64, Bytes>),
}

impl Default for IndexedArray {
    fn default() -> Self {
        IndexedArray::Dense(Vec::new())
    }
}

thread_local! {
    /// The one empty array that stands for "declared, but never assigned to": any change makes a copy of it.
    static DECLARED_INDEXED: Rc<IndexedArray> = Rc::new(IndexedArray::default());
    static DECLARED_ASSOCIATIVE: Rc<AssociativeArray> = Rc::new(AssociativeArray::default());
}

impl IndexedArray {
    /// An array that was declared, but never assigned to.
    pub fn declared() -> Rc<Self> {
        DECLARED_INDEXED.with(Rc::clone)
    }

    /// Whether this is an array that was declared, but never assigned to.
    pub fn is_declared_only(self: &Rc<Self>) -> bool {
        DECLARED_INDEXED.with(|declared| Rc::ptr_eq(declared, self))
    }

    /// An array of `values` from index 0.
    pub fn from_values(values: Vec<Bytes>) -> Self {
        IndexedArray::Dense(values)
    }

    /// The element at `index`.
    pub fn get(&self, index: i64) -> Option<&Bytes> {
        match self {
            IndexedArray::Dense(v) => usize::try_from(index).ok().and_then(|i| v.get(i)),
            IndexedArray::Sparse(m) => m.get(&index),
        }
    }

    /// Stores `value` at `index`.
    pub fn set(&mut self, index: i64, value: Bytes) {
        if let IndexedArray::Dense(v) = self {
            let len = v.len() as i64;
            if (0..len).contains(&index) {
                v[index as usize] = value;
                return;
            }
            if index == len {
                v.push(value);
                return;
            }
        }
        self.make_sparse().insert(index, value);
    }

    /// The element at `index`, made empty if absent, for appending.
    pub fn entry(&mut self, index: i64) -> &mut Bytes {
        if self.get(index).is_none() {
            self.set(index, Bytes::new());
        }
        match self {
            IndexedArray::Dense(v) => &mut v[index as usize],
            IndexedArray::Sparse(m) => m.entry(index).or_default(),
        }
    }

    /// Removes the element at `index`; says whether it was there.
    pub fn remove(&mut self, index: i64) -> bool {
        if let IndexedArray::Dense(v) = self {
            if index + 1 == v.len() as i64 {
                v.pop();
                return true;
            }
            if self.get(index).is_none() {
                return false;
            }
        }
        self.make_sparse().remove(&index).is_some()
    }

    /// How many elements are set.
    pub fn len(&self) -> usize {
        match self {
            IndexedArray::Dense(v) => v.len(),
            IndexedArray::Sparse(m) => m.len(),
        }
    }

    /// Whether no element is set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The highest index that is set, or -1.
    pub fn max_index(&self) -> i64 {
        match self {
            IndexedArray::Dense(v) => v.len() as i64 - 1,
            IndexedArray::Sparse(m) => m.keys().next_back().copied().unwrap_or(-1),
        }
    }

    /// Elements in index order.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (i64, &Bytes)> + '_> {
        match self {
            IndexedArray::Dense(v) => Box::new(v.iter().enumerate().map(|(i, b)| (i as i64, b))),
            IndexedArray::Sparse(m) => Box::new(m.iter().map(|(i, b)| (*i, b))),
        }
    }

    /// The elements at `start` and above, in index order.
    pub fn from(&self, start: i64) -> Box<dyn Iterator<Item = &Bytes> + '_> {
        match self {
            IndexedArray::Dense(v) => {
                let start = usize::try_from(start).unwrap_or(0).min(v.len());
                Box::new(v[start..].iter())
            }
            IndexedArray::Sparse(m) => Box::new(m.range(start..).map(|(_, b)| b)),
        }
    }

    fn make_sparse(&mut self) -> &mut BTreeMap<i64, Bytes> {
        if let IndexedArray::Dense(v) = self {
            let map = std::mem::take(v).into_iter().enumerate().map(|(i, b)| (i as i64, b)).collect();
            *self = IndexedArray::Sparse(map);
        }
        match self {
            IndexedArray::Sparse(m) => m,
            IndexedArray::Dense(_) => unreachable!("made sparse above"),
        }
    }
}

/// An associative array.
#[derive(Debug, Clone, Default)]
pub struct AssociativeArray {
    entries: FxHashMap<Bytes, (Bytes, u64)>,
    next: u64,
}

/// bash's table starts with this many buckets and quadruples when it holds twice as many entries.
const BUCKETS_INITIAL: u64 = 1024;

impl AssociativeArray {
    /// An array that was declared, but never assigned to.
    pub fn declared() -> Rc<Self> {
        DECLARED_ASSOCIATIVE.with(Rc::clone)
    }

    /// Whether this is an array that was declared, but never assigned to.
    pub fn is_declared_only(self: &Rc<Self>) -> bool {
        DECLARED_ASSOCIATIVE.with(|declared| Rc::ptr_eq(declared, self))
    }

    /// The value under `key`.
    pub fn get(&self, key: &[u8]) -> Option<&Bytes> {
        self.entries.get(key).map(|e| &e.0)
    }

    /// Stores `value` under `key`.
    pub fn set(&mut self, key: Bytes, value: Bytes) {
        *self.entry(key) = value;
    }

    /// The value under `key`, made empty if absent, for appending.
    pub fn entry(&mut self, key: Bytes) -> &mut Bytes {
        let next = &mut self.next;
        let slot = self.entries.entry(key).or_insert_with(|| {
            *next += 1;
            (Bytes::new(), *next)
        });
        &mut slot.0
    }

    /// Removes `key`; says whether it was there.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        self.entries.remove(key).is_some()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Entries in the order bash's hash table enumerates them: by bucket, newest first within one.
    pub fn iter(&self) -> impl Iterator<Item = (&Bytes, &Bytes)> {
        let mut buckets = BUCKETS_INITIAL;
        while self.entries.len() as u64 >= buckets * 2 {
            buckets *= 4;
        }
        let mut all: Vec<_> =
            self.entries.iter().map(|(k, (v, n))| (hash(k) & (buckets - 1), !*n, k, v)).collect();
        all.sort_unstable_by_key(|e| (e.0, e.1));
        all.into_iter().map(|(_, _, k, v)| (k, v))
    }
}

/// The 32-bit FNV-1 hash that bash's tables use.
fn hash(key: &[u8]) -> u64 {
    let mut h: u32 = 2_166_136_261;
    for b in key {
        h = h.wrapping_mul(16_777_619) ^ u32::from(*b);
    }
    u64::from(h)
}
