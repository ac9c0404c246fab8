//! Shapes (hidden classes): which properties an object has, where, with which attributes, and its prototype.
//!
//! Shapes form a tree of transitions from one root per prototype and number of internal slots; an object that outgrows
//! it (many properties, deletions, redefinitions) gets a *dictionary*, a shape of its own.
//!
//! What inline caches rely on:
//! * a shape that is not a dictionary never changes; a dictionary keeps its identity only while properties are added
//!   to it: deleting or redefining one moves its table to a new shape. So (shape, slot) of an own property is
//!   valid as long as the shape matches;
//! * the *absence* of a property is cacheable for a non-dictionary, and for a prototype guarded by `Mutator::proto_epoch`;
//! * the prototype is part of the shape.
//!
//! Invariants: slots are numbered from `first_slot` (internal slots come before); a table's live entries are in
//! property creation order.

#![allow(unsafe_code)]

use std::cell::{Cell, UnsafeCell};

use rustc_hash::FxHashMap;

use crate::atoms;
use crate::gc::{CellHeader, CellKind, ExternalCharge, Gc, Heap, Tracer};
use crate::limits;
use crate::mutator::Mutator;
use crate::object::Object;
use crate::property_key::PropertyKey;
use crate::value::Value;

/// Property attributes.
pub mod attrs {
    /// The value may be changed.
    pub const WRITABLE: u8 = 1;
    /// `for-in` and `Object.keys` show it.
    pub const ENUMERABLE: u8 = 2;
    /// It may be deleted and redefined.
    pub const CONFIGURABLE: u8 = 4;
    /// The slot holds a getter and setter pair.
    pub const ACCESSOR: u8 = 8;
    /// What assignment makes.
    pub const ALL: u8 = WRITABLE | ENUMERABLE | CONFIGURABLE;
    /// What builtin methods have.
    pub const METHOD: u8 = WRITABLE | CONFIGURABLE;
}

const DICTIONARY: u8 = 1;
const NOT_EXTENSIBLE: u8 = 2;

/// Pseudo-attributes of the transitions that are not additions.
mod operation {
    pub(super) const PREVENT_EXTENSIONS: u8 = 0xf0;
    pub(super) const SEAL: u8 = 0xf1;
    pub(super) const FREEZE: u8 = 0xf2;
}

/// How far an object is locked by [`Mutator::shape_locked`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Lock {
    /// No new properties.
    PreventExtensions,
    /// And none can be deleted or redefined.
    Seal,
    /// And none can be changed.
    Freeze,
}

/// Where a property is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PropertyInfo {
    /// Index for `JsObject::slot`.
    pub slot: u32,
    /// See [`attrs`].
    pub attrs: u8,
}

#[derive(Copy, Clone)]
struct Entry {
    key: Option<PropertyKey>,
    info: PropertyInfo,
}

/// Properties in creation order, with a hash index when there are more than a few.
#[derive(Default)]
pub struct PropertyTable {
    entries: Vec<Entry>,
    /// Open addressing: entry position plus one; empty while linear search is as good.
    index: Vec<u32>,
    removed: usize,
    free_slots: Vec<u32>,
    /// For the memory of a dictionary's table that is not small. Tables of shared shapes are bounded by
    /// `limits::SHAPE_PROPERTIES_MAX` and `limits::SHAPE_TRANSITIONS_MAX`.
    charge: ExternalCharge,
}

impl Clone for PropertyTable {
    fn clone(&self) -> Self {
        PropertyTable {
            entries: self.entries.clone(),
            index: self.index.clone(),
            removed: self.removed,
            free_slots: self.free_slots.clone(),
            charge: ExternalCharge::default(),
        }
    }
}

const LINEAR_MAX: usize = 8;

impl PropertyTable {
    fn with_capacity(n: usize) -> Self {
        PropertyTable { entries: Vec::with_capacity(n), ..Default::default() }
    }

    fn find(&self, key: PropertyKey) -> Option<usize> {
        if self.index.is_empty() {
            return self.entries.iter().position(|e| e.key == Some(key));
        }
        let mask = self.index.len() - 1;
        let mut at = key.table_hash() as usize & mask;
        while self.index[at] != 0 {
            let e = self.index[at] as usize - 1;
            if self.entries[e].key == Some(key) {
                return Some(e);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn push(&mut self, key: PropertyKey, info: PropertyInfo) {
        self.entries.push(Entry { key: Some(key), info });
        if self.index.is_empty() {
            if self.entries.len() > LINEAR_MAX {
                self.reindex();
            }
        } else if self.entries.len() * 4 > self.index.len() * 3 {
            self.reindex();
        } else {
            self.index_entry(self.entries.len() - 1);
        }
    }

    fn index_entry(&mut self, e: usize) {
        let Some(key) = self.entries[e].key else { return };
        let mask = self.index.len() - 1;
        let mut at = key.table_hash() as usize & mask;
        while self.index[at] != 0 {
            at = (at + 1) & mask;
        }
        self.index[at] = e as u32 + 1;
    }

    fn reindex(&mut self) {
        if self.removed > 0 {
            self.entries.retain(|e| e.key.is_some());
            self.removed = 0;
        }
        self.index.clear();
        if self.entries.len() > LINEAR_MAX {
            self.index.resize((self.entries.len() * 2).next_power_of_two(), 0);
            for e in 0..self.entries.len() {
                self.index_entry(e);
            }
        }
    }

    fn remove(&mut self, key: PropertyKey) {
        if let Some(e) = self.find(key) {
            // The index keeps pointing at the dead entry, so that probing goes on behind it.
            self.free_slots.push(self.entries[e].info.slot);
            self.entries[e].key = None;
            self.removed += 1;
            if self.removed > 16 && self.removed * 2 > self.entries.len() {
                self.reindex();
            }
        }
    }

    fn len(&self) -> usize {
        self.entries.len() - self.removed
    }

    /// Charges the memory to the heap, if it is not small.
    fn charge_to(&self, heap: &Heap) {
        let capacity = self.entries.capacity();
        if capacity > limits::UNCHARGED_VALUES_MAX {
            let bytes = capacity * size_of::<Entry>() + self.index.capacity() * size_of::<u32>();
            self.charge.set_beyond_limit(heap, bytes);
        }
    }

    /// The properties in order.
    pub fn iter(&self) -> impl Iterator<Item = (PropertyKey, PropertyInfo)> + '_ {
        self.entries.iter().filter_map(|e| e.key.map(|k| (k, e.info)))
    }
}

#[derive(Default)]
enum Transitions {
    #[default]
    None,
    One(PropertyKey, u8, Gc<Shape>),
    Many(FxHashMap<(PropertyKey, u8), Gc<Shape>>),
}

/// A shape; see the module's head.
#[repr(C)]
pub struct Shape {
    header: CellHeader,
    prototype: Value,
    parent: Option<Gc<Shape>>,
    /// The property this shape adds to its parent.
    key: Option<PropertyKey>,
    info: PropertyInfo,
    /// The next free slot.
    slot_count: Cell<u32>,
    property_count: Cell<u32>,
    first_slot: u32,
    /// See [`Shape::slots_seen`].
    slots_seen: Cell<u32>,
    table: UnsafeCell<Option<Box<PropertyTable>>>,
    transitions: UnsafeCell<Transitions>,
    /// The realm in which rows of const tables are materialised, or undefined.
    realm: Value,
}

impl Shape {
    /// The prototype: an object or null.
    #[inline(always)]
    pub fn prototype(&self) -> Value {
        self.prototype
    }
    /// Whether objects of this shape may get new properties.
    #[inline(always)]
    pub fn is_extensible(&self) -> bool {
        self.header.a.get() & NOT_EXTENSIBLE == 0
    }
    /// Whether this is the shape of one object only, which may gain properties without changing identity.
    #[inline(always)]
    pub fn is_dictionary(&self) -> bool {
        self.header.a.get() & DICTIONARY != 0
    }
    /// Internal slots before the first property.
    pub fn first_slot(&self) -> u32 {
        self.first_slot
    }
    /// One more than the highest slot in use.
    #[inline(always)]
    pub fn slot_count(&self) -> u32 {
        self.slot_count.get()
    }
    /// How many slots the next object that begins with this shape will want. Of a root, the most that any came to have
    /// before it became a dictionary; of another, what was too many for one, or 0.
    #[inline(always)]
    pub fn slots_seen(&self) -> u32 {
        self.slots_seen.get()
    }
    fn note_slots(&self, count: u32) {
        let mut root = self;
        while let Some(parent) = &root.parent {
            root = parent;
        }
        root.slots_seen.set(root.slots_seen.get().max(count));
    }
    /// An object of this shape needs `count` slots, more than it has inline. It may have begun with any shape above this one,
    /// as a literal does.
    pub(crate) fn note_overflow(&self, count: u32) {
        let mut shape = self;
        while let Some(parent) = &shape.parent {
            shape.slots_seen.set(shape.slots_seen.get().max(count));
            shape = parent;
        }
    }
    /// Number of properties.
    pub fn property_count(&self) -> u32 {
        self.property_count.get()
    }
    /// The realm of an intrinsic's rows, or undefined.
    pub fn realm(&self) -> Value {
        self.realm
    }

    #[allow(clippy::mut_from_ref)]
    fn table_slot(&self) -> &mut Option<Box<PropertyTable>> {
        // SAFETY: shapes are used by one thread, and no reference to the table outlives a method of this module
        // that could change it.
        unsafe { &mut *self.table.get() }
    }

    #[allow(clippy::mut_from_ref)]
    fn transitions_mut(&self) -> &mut Transitions {
        // SAFETY: as in `table_slot`.
        unsafe { &mut *self.transitions.get() }
    }

    /// Where `key` is.
    #[inline]
    pub fn lookup(&self, key: PropertyKey) -> Option<PropertyInfo> {
        if let Some(table) = self.table_slot() {
            return table.find(key).map(|e| table.entries[e].info);
        }
        if self.property_count.get() as usize <= LINEAR_MAX {
            return self.lookup_by_chain(key);
        }
        let table = self.build_table();
        table.find(key).map(|e| table.entries[e].info)
    }

    fn lookup_by_chain(&self, key: PropertyKey) -> Option<PropertyInfo> {
        let mut shape = self;
        loop {
            if shape.key == Some(key) {
                return Some(shape.info);
            }
            match &shape.parent {
                // A parent may be a locked shape or a root with a table of its own.
                Some(p) if p.table_slot().is_some() => return p.lookup(key),
                Some(p) => shape = p,
                None => return None,
            }
        }
    }

    fn build_table(&self) -> &mut PropertyTable {
        let slot = self.table_slot();
        if slot.is_none() {
            let mut chain: Vec<(PropertyKey, PropertyInfo)> =
                Vec::with_capacity(self.property_count.get() as usize);
            let mut table = PropertyTable::with_capacity(self.property_count.get() as usize);
            let mut shape = self;
            loop {
                if let Some(k) = shape.key {
                    chain.push((k, shape.info));
                }
                match &shape.parent {
                    Some(p) => {
                        if let Some(t) = p.table_slot() {
                            table = (**t).clone();
                            break;
                        }
                        shape = p;
                    }
                    None => break,
                }
            }
            for (k, info) in chain.into_iter().rev() {
                table.push(k, info);
            }
            *slot = Some(Box::new(table));
        }
        match slot {
            Some(t) => t,
            None => unreachable!("just built"),
        }
    }

    /// The properties in creation order.
    pub fn table(&self) -> &PropertyTable {
        self.build_table()
    }

    /// The property created `i`-th; `None` past the end. Deleted ones of a dictionary are passed over by the caller.
    pub fn property_at(&self, i: usize) -> Option<(PropertyKey, PropertyInfo)> {
        let entry = self.table().entries.get(i)?;
        entry.key.map(|key| (key, entry.info))
    }

    /// The properties in creation order, copied. The keys live as long as the shape, or an object that still has them.
    pub fn properties(&self) -> Vec<(PropertyKey, PropertyInfo)> {
        self.table().iter().collect()
    }

    fn transition(&self, key: PropertyKey, what: u8) -> Option<Gc<Shape>> {
        match self.transitions_mut() {
            Transitions::None => None,
            Transitions::One(k, a, s) => (*k == key && *a == what).then_some(*s),
            Transitions::Many(map) => map.get(&(key, what)).copied(),
        }
    }

    fn transition_count(&self) -> usize {
        match self.transitions_mut() {
            Transitions::None => 0,
            Transitions::One(..) => 1,
            Transitions::Many(map) => map.len(),
        }
    }

    fn add_transition(&self, key: PropertyKey, what: u8, child: Gc<Shape>) {
        let transitions = self.transitions_mut();
        match transitions {
            Transitions::None => *transitions = Transitions::One(key, what, child),
            Transitions::One(k, a, s) => {
                let map = FxHashMap::from_iter([((*k, *a), *s), ((key, what), child)]);
                *transitions = Transitions::Many(map);
            }
            Transitions::Many(map) => {
                map.insert((key, what), child);
            }
        }
        self.header.write_barrier();
    }

    pub(crate) fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.value(self.prototype);
        tracer.value(self.realm);
        if let Some(p) = self.parent {
            tracer.cell(p);
        }
        if let Some(k) = self.key {
            tracer.key(k);
        }
        if let Some(table) = self.table_slot() {
            for (k, _) in table.iter() {
                tracer.key(k);
            }
        }
        let full = tracer.is_full();
        match self.transitions_mut() {
            Transitions::None => {}
            _ if full => {
                // SAFETY: the address of this live cell.
                let me = unsafe { Gc::from_addr(self as *const Shape as *mut Shape) };
                tracer.note_shape_with_transitions(me);
            }
            Transitions::One(_, _, s) => tracer.cell(*s),
            Transitions::Many(map) => map.values().for_each(|s| tracer.cell(*s)),
        }
    }

    /// Drops the transitions to shapes that nothing else refers to (after a full marking).
    pub(crate) fn prune_transitions(&self) {
        let live = |s: &Gc<Shape>| crate::gc::collect::is_marked_addr(s.addr());
        let transitions = self.transitions_mut();
        match transitions {
            Transitions::One(_, _, s) if !live(s) => *transitions = Transitions::None,
            Transitions::Many(map) => {
                map.retain(|_, s| live(s));
                if map.is_empty() {
                    *transitions = Transitions::None;
                }
            }
            _ => {}
        }
    }
}

impl Mutator {
    fn alloc_shape(&mut self, shape: Shape) -> Gc<Shape> {
        let p = self.alloc_raw(size_of::<Shape>(), true) as *mut Shape;
        // SAFETY: fresh memory of that size.
        unsafe {
            p.write(shape);
            Gc::from_addr(p)
        }
    }

    /// The shape of an empty object with this prototype (an object or null) and `first_slot` internal slots.
    pub fn root_shape(&mut self, prototype: Value, first_slot: u32) -> Gc<Shape> {
        if let Some(&s) = self.root_shapes.get(&(prototype.to_bits(), first_slot)) {
            return s;
        }
        if let Some(p) = prototype.as_object() {
            p.set_flag(crate::object::flags::IS_PROTOTYPE);
        }
        let shape = self.alloc_shape(Shape {
            header: CellHeader::new(CellKind::Shape, 0, 0, 0),
            prototype,
            parent: None,
            key: None,
            info: PropertyInfo { slot: 0, attrs: 0 },
            slot_count: Cell::new(first_slot),
            property_count: Cell::new(0),
            first_slot,
            slots_seen: Cell::new(0),
            table: UnsafeCell::new(None),
            transitions: UnsafeCell::default(),
            realm: Value::UNDEFINED,
        });
        self.root_shapes.insert((prototype.to_bits(), first_slot), shape);
        self.young_root_shapes.push((prototype.to_bits(), first_slot));
        shape
    }

    /// A dictionary shape with the given properties.
    pub fn dictionary_shape(
        &mut self,
        prototype: Value,
        first_slot: u32,
        properties: &[(PropertyKey, PropertyInfo)],
        extensible: bool,
        realm: Value,
    ) -> Gc<Shape> {
        let mut table = PropertyTable::with_capacity(properties.len());
        let mut slot_count = first_slot;
        for &(k, info) in properties {
            slot_count = slot_count.max(info.slot + 1);
            table.push(k, info);
        }
        if let Some(p) = prototype.as_object() {
            p.set_flag(crate::object::flags::IS_PROTOTYPE);
        }
        let a = DICTIONARY | if extensible { 0 } else { NOT_EXTENSIBLE };
        self.alloc_shape(Shape {
            header: CellHeader::new(CellKind::Shape, a, 0, 0),
            prototype,
            parent: None,
            key: None,
            info: PropertyInfo { slot: 0, attrs: 0 },
            slot_count: Cell::new(slot_count),
            property_count: Cell::new(properties.len() as u32),
            first_slot,
            slots_seen: Cell::new(0),
            table: UnsafeCell::new(Some(Box::new(table))),
            transitions: UnsafeCell::default(),
            realm,
        })
    }

    /// The shape after adding `key`, and the new property's slot. Cacheable unless the result is a dictionary.
    pub fn shape_add(&mut self, shape: Gc<Shape>, key: PropertyKey, attributes: u8) -> (Gc<Shape>, u32) {
        if shape.is_dictionary() {
            return (shape, self.dictionary_add(shape, key, attributes));
        }
        if let Some(child) = shape.transition(key, attributes) {
            return (child, child.info.slot);
        }
        if shape.property_count.get() >= limits::SHAPE_PROPERTIES_MAX
            || shape.transition_count() >= limits::SHAPE_TRANSITIONS_MAX
        {
            let dictionary = self.shape_to_dictionary(shape);
            return (dictionary, self.dictionary_add(dictionary, key, attributes));
        }
        let slot = shape.slot_count.get();
        let info = PropertyInfo { slot, attrs: attributes };
        let child = self.alloc_shape(Shape {
            // Only private names are ever added to a locked shape, and it stays locked.
            header: CellHeader::new(CellKind::Shape, shape.header.a.get(), 0, 0),
            prototype: shape.prototype,
            parent: Some(shape),
            key: Some(key),
            info,
            slot_count: Cell::new(slot + 1),
            property_count: Cell::new(shape.property_count.get() + 1),
            first_slot: shape.first_slot,
            slots_seen: Cell::new(0),
            table: UnsafeCell::new(None),
            transitions: UnsafeCell::default(),
            realm: shape.realm,
        });
        // The table moves to the newest descendant, so that building a large object is linear.
        if shape.property_count.get() as usize >= LINEAR_MAX
            && shape.parent.is_some()
            && let Some(mut table) = shape.table_slot().take()
        {
            table.push(key, info);
            *child.table_slot() = Some(table);
        }
        shape.add_transition(key, attributes, child);
        child.note_slots(slot + 1);
        (child, slot)
    }

    fn dictionary_add(&mut self, shape: Gc<Shape>, key: PropertyKey, attributes: u8) -> u32 {
        let table = shape.build_table();
        let slot = table.free_slots.pop().unwrap_or_else(|| {
            let n = shape.slot_count.get();
            shape.slot_count.set(n + 1);
            n
        });
        let grows = table.entries.len() == table.entries.capacity();
        table.push(key, PropertyInfo { slot, attrs: attributes });
        if grows {
            table.charge_to(&self.heap);
        }
        shape.property_count.set(table.len() as u32);
        shape.write_barrier();
        slot
    }

    /// A dictionary with the same properties (a fresh identity if it was one already: the old shape is dead then).
    pub fn shape_to_dictionary(&mut self, shape: Gc<Shape>) -> Gc<Shape> {
        let a = DICTIONARY | shape.header.a.get();
        let new = self.alloc_shape(Shape {
            header: CellHeader::new(CellKind::Shape, a, 0, 0),
            prototype: shape.prototype,
            parent: None,
            key: None,
            info: shape.info,
            slot_count: Cell::new(shape.slot_count.get()),
            property_count: Cell::new(shape.property_count.get()),
            first_slot: shape.first_slot,
            slots_seen: Cell::new(0),
            table: UnsafeCell::new(None),
            transitions: UnsafeCell::default(),
            realm: shape.realm,
        });
        // Only now, because allocating may collect, and the old shape's table keeps the keys alive.
        let table = shape.build_table();
        let table = if shape.is_dictionary() { std::mem::take(table) } else { table.clone() };
        table.charge_to(&self.heap);
        *new.table_slot() = Some(Box::new(table));
        new
    }

    /// The shape after deleting `key`, which exists.
    pub fn shape_remove(&mut self, shape: Gc<Shape>, key: PropertyKey) -> Gc<Shape> {
        if !shape.is_dictionary()
            && shape.key == Some(key)
            && let Some(parent) = shape.parent
        {
            return parent;
        }
        let d = self.shape_to_dictionary(shape);
        let table = d.build_table();
        table.remove(key);
        d.property_count.set(table.len() as u32);
        d
    }

    /// The shape after changing the attributes of `key`, which exists.
    pub fn shape_change_attrs(&mut self, shape: Gc<Shape>, key: PropertyKey, attributes: u8) -> Gc<Shape> {
        let d = self.shape_to_dictionary(shape);
        let table = d.build_table();
        if let Some(e) = table.find(key) {
            table.entries[e].info.attrs = attributes;
        }
        d
    }

    /// The shape after `Object.preventExtensions`, `seal` or `freeze`. Private names stay as they are.
    pub fn shape_locked(&mut self, shape: Gc<Shape>, lock: Lock) -> Gc<Shape> {
        let what = match lock {
            Lock::PreventExtensions => operation::PREVENT_EXTENSIONS,
            Lock::Seal => operation::SEAL,
            Lock::Freeze => operation::FREEZE,
        };
        if let Some(s) = shape.transition(atoms::LENGTH, what) {
            return s;
        }
        let locked = self.shape_to_dictionary(shape);
        for e in &mut locked.build_table().entries {
            if e.key.is_some_and(|k| k.is_private()) {
                continue;
            }
            match lock {
                Lock::PreventExtensions => {}
                Lock::Seal => e.info.attrs &= !attrs::CONFIGURABLE,
                Lock::Freeze if e.info.attrs & attrs::ACCESSOR != 0 => e.info.attrs &= !attrs::CONFIGURABLE,
                Lock::Freeze => e.info.attrs &= !(attrs::CONFIGURABLE | attrs::WRITABLE),
            }
        }
        if shape.is_dictionary() {
            locked.header.a.set(DICTIONARY | NOT_EXTENSIBLE);
        } else {
            // A locked shape cannot gain ordinary properties, so it can be shared like any other.
            locked.header.a.set(NOT_EXTENSIBLE);
            shape.add_transition(atoms::LENGTH, what, locked);
        }
        locked
    }

    /// A dictionary with the same properties, all frozen, that may gain others.
    pub fn shape_with_frozen_properties(&mut self, shape: Gc<Shape>) -> Gc<Shape> {
        let mut properties = shape.properties();
        for (_, info) in &mut properties {
            info.attrs &= !attrs::CONFIGURABLE;
            if info.attrs & attrs::ACCESSOR == 0 {
                info.attrs &= !attrs::WRITABLE;
            }
        }
        let open = self.dictionary_shape(shape.prototype(), shape.first_slot, &properties, true, shape.realm);
        open.slot_count.set(shape.slot_count.get());
        open
    }

    /// The same properties in the same slots under another prototype.
    pub fn shape_with_prototype(&mut self, shape: Gc<Shape>, prototype: Value) -> Gc<Shape> {
        if shape.is_dictionary() || !shape.is_extensible() || shape.property_count.get() > 32 {
            let properties = shape.properties();
            let d = self.dictionary_shape(
                prototype,
                shape.first_slot,
                &properties,
                shape.is_extensible(),
                shape.realm,
            );
            d.slot_count.set(shape.slot_count.get());
            return d;
        }
        let mut s = self.root_shape(prototype, shape.first_slot);
        for (k, info) in shape.properties() {
            let (next, slot) = self.shape_add(s, k, info.attrs);
            debug_assert_eq!(slot, info.slot);
            s = next;
        }
        s
    }
}

/// Whether an object of this shape has its key `k` at a cacheable place: a convenience for assertions in tests.
pub fn same_shape(a: Object, b: Object) -> bool {
    a.shape().ptr_eq(b.shape())
}
