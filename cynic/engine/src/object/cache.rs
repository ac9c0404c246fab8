//! What inline caches may remember: lookups that say where a property is and for how long that holds.
//!
//! For the virtual machine's slow paths: perform the lookup here, do what it says, and keep the answer. The guards:
//! * an own property: the receiver's shape;
//! * a prototype's property or absence: the receiver's shape and `Vm::proto_epoch` (which advances whenever any
//!   prototype gains, loses or redefines a property, or gets another prototype);
//! * values are read from the holder each time, so changing a value needs no guard.

#![allow(unsafe_code)]

use super::{Object, ObjectKind, flags};
use crate::gc::Gc;
use crate::property_key::PropertyKey;
use crate::shape::{Shape, attrs};
use crate::value::Value;
use crate::vm::{JsResult, Vm};
use crate::{atoms, limits};

/// Where `[[Get]]` finds a property.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum GetLookup {
    /// Own data in a slot. Guard: shape.
    Own {
        /// The slot.
        slot: u32,
    },
    /// Data of a prototype. Guard: shape and epoch.
    Prototype {
        /// The prototype that has it.
        holder: Object,
        /// The slot there.
        slot: u32,
    },
    /// An accessor; the slot of `holder` holds the pair. Guard: shape and epoch.
    Accessor {
        /// The object that has it.
        holder: Object,
        /// The slot there.
        slot: u32,
    },
    /// Nowhere: undefined. Guard: shape and epoch.
    Absent,
    /// Ask `Vm::get` each time.
    Uncacheable,
}

/// What `[[Set]]` with the object as receiver does.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum SetLookup {
    /// Overwrites own writable data. Guard: shape.
    Own {
        /// The slot.
        slot: u32,
    },
    /// Adds a property. Guard: the old shape and epoch. Store with `Vm::add_slot(object, shape, slot, value)`.
    Add {
        /// The shape afterwards.
        shape: Gc<Shape>,
        /// The new slot.
        slot: u32,
    },
    /// Ask `Vm::set` each time.
    Uncacheable,
}

/// One remembered answer of [`Vm::lookup_for_get`].
#[derive(Copy, Clone, Default)]
struct CachedLookup {
    shape: usize,
    key: usize,
    /// The holder's address; [`CachedLookup::OWN`] or [`CachedLookup::ABSENT`] otherwise.
    holder: usize,
    /// The slot, and [`CachedLookup::ACCESSOR`].
    slot: u32,
    epoch: u64,
}

impl CachedLookup {
    const OWN: usize = 0;
    const ABSENT: usize = 1;
    const ACCESSOR: u32 = 1 << 31;
}

/// The answers that all property sites share: what a site does not remember itself is mostly found here.
///
/// Holds addresses without keeping the cells alive, so every stop of the collector must clear it.
/// Empty until something is remembered.
#[derive(Default)]
pub(crate) struct LookupCache(Vec<CachedLookup>);

impl LookupCache {
    #[inline(always)]
    fn place(shape: usize, key: usize) -> usize {
        let mixed = (shape >> 4) ^ (key >> 3).wrapping_mul(31);
        mixed & (limits::LOOKUP_CACHE_ENTRIES - 1)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.0.fill(CachedLookup::default());
    }

    #[inline(always)]
    fn entry(&self, o: Object, key: usize, epoch: u64) -> Option<&CachedLookup> {
        let shape = o.shape().addr();
        let entry = self.0.get(Self::place(shape, key))?;
        (entry.shape == shape && entry.key == key && entry.epoch == epoch).then_some(entry)
    }

    #[inline(always)]
    fn find(&self, o: Object, key: usize, epoch: u64) -> Option<GetLookup> {
        let entry = self.entry(o, key, epoch)?;
        let slot = entry.slot & !CachedLookup::ACCESSOR;
        let holder = match entry.holder {
            CachedLookup::ABSENT => return Some(GetLookup::Absent),
            CachedLookup::OWN => o,
            // SAFETY: no collection has happened since the holder was found, or the cache would have been cleared.
            address => unsafe { Object::from_addr(address as *mut super::JsObject) },
        };
        Some(if entry.slot & CachedLookup::ACCESSOR != 0 {
            GetLookup::Accessor { holder, slot }
        } else if entry.holder == CachedLookup::OWN {
            GetLookup::Own { slot }
        } else {
            GetLookup::Prototype { holder, slot }
        })
    }

    fn remember(&mut self, o: Object, key: usize, epoch: u64, found: GetLookup) {
        let place = |holder: Object| if holder == o { CachedLookup::OWN } else { holder.addr() };
        let (holder, slot) = match found {
            GetLookup::Own { slot } => (CachedLookup::OWN, slot),
            GetLookup::Prototype { holder, slot } => (holder.addr(), slot),
            GetLookup::Accessor { holder, slot } => (place(holder), slot | CachedLookup::ACCESSOR),
            GetLookup::Absent => (CachedLookup::ABSENT, 0),
            GetLookup::Uncacheable => return,
        };
        if self.0.is_empty() {
            self.0.resize(limits::LOOKUP_CACHE_ENTRIES, CachedLookup::default());
        }
        let shape = o.shape().addr();
        if let Some(entry) = self.0.get_mut(Self::place(shape, key)) {
            *entry = CachedLookup { shape, key, holder, slot, epoch };
        }
    }
}

/// Whether an exotic object leaves this key to the ordinary methods: of typed arrays, names that no number spells (they begin
/// with a lower-case letter).
fn is_ordinary_for(o: Object, key: PropertyKey) -> bool {
    if !o.has_flag(flags::EXOTIC) {
        return true;
    }
    let starts_low = |name: crate::string::JsStr| {
        name.flat_view().and_then(|view| view.get(0)).is_some_and(|unit| (0x61..=0x7a).contains(&unit))
    };
    o.is(ObjectKind::TypedArray) && key.as_string().is_none_or(starts_low)
}

impl Vm {
    /// [`Vm::lookup_for_get`] with a memory.
    #[inline]
    pub(crate) fn lookup_for_get_cached(&mut self, o: Object, key: PropertyKey) -> GetLookup {
        let Some(address) = key.cell_addr() else { return GetLookup::Uncacheable };
        if !is_ordinary_for(o, key) {
            return GetLookup::Uncacheable;
        }
        if let Some(found) = self.lookup_cache.find(o, address, self.proto_epoch) {
            return found;
        }
        let found = self.lookup_for_get(o, key);
        self.lookup_cache.remember(o, address, self.proto_epoch, found);
        found
    }

    /// What the slot holds that [`Vm::lookup_for_get_cached`] remembers for the property of an object that is not exotic, and whether
    /// that is an accessor.
    #[cfg(cynic_jit)]
    #[inline(always)]
    pub(crate) fn value_remembered(&self, o: Object, key: PropertyKey) -> Option<(Value, bool)> {
        if o.has_flag(flags::EXOTIC) {
            return None;
        }
        let entry = self.lookup_cache.entry(o, key.cell_addr()?, self.proto_epoch)?;
        let holder = match entry.holder {
            CachedLookup::ABSENT => return Some((Value::UNDEFINED, false)),
            CachedLookup::OWN => o,
            // SAFETY: as in `LookupCache::find`.
            address => unsafe { Object::from_addr(address as *mut super::JsObject) },
        };
        let is_accessor = entry.slot & CachedLookup::ACCESSOR != 0;
        Some((holder.slot(entry.slot & !CachedLookup::ACCESSOR), is_accessor))
    }

    /// `Get(o, key)` through the lookup cache.
    #[inline]
    pub(crate) fn get_cached(&mut self, o: Object, key: PropertyKey) -> JsResult<Value> {
        match self.lookup_for_get_cached(o, key) {
            GetLookup::Own { slot } => Ok(o.slot(slot)),
            GetLookup::Prototype { holder, slot } => Ok(holder.slot(slot)),
            GetLookup::Absent => Ok(Value::UNDEFINED),
            GetLookup::Accessor { .. } | GetLookup::Uncacheable => self.get(o, key),
        }
    }

    /// Data that a string or number finds on its prototypes: holder and slot. Guard: epoch.
    pub(crate) fn lookup_for_primitive(&mut self, base: Value, key: PropertyKey) -> Option<(Object, u32)> {
        if key.is_index() || base.is_string() && key == atoms::LENGTH {
            return None;
        }
        let (_, prototype) = self.primitive_home(base);
        let prototype = self.intrinsic(prototype);
        prototype.set_flag(flags::IS_PROTOTYPE);
        let mut current = prototype;
        while current == prototype || !current.has_flag(flags::EXOTIC) {
            if let Some(info) = current.shape().lookup(key) {
                let v = current.slot(info.slot);
                if v.is_static_ptr() {
                    self.materialize_slot(current, info.slot, v);
                }
                return (info.attrs & attrs::ACCESSOR == 0).then_some((current, info.slot));
            }
            current = current.prototype().as_object()?;
        }
        None
    }

    /// Finds `key` (not an index) for `[[Get]]`.
    pub fn lookup_for_get(&mut self, o: Object, key: PropertyKey) -> GetLookup {
        if key.is_index() || !is_ordinary_for(o, key) {
            return GetLookup::Uncacheable;
        }
        let mut current = o;
        loop {
            if let Some(info) = current.shape().lookup(key) {
                let v = current.slot(info.slot);
                if v.is_static_ptr() {
                    self.materialize_slot(current, info.slot, v);
                }
                if info.attrs & attrs::ACCESSOR != 0 {
                    if Self::absence_is_guarded(o, current) {
                        return GetLookup::Accessor { holder: current, slot: info.slot };
                    }
                    return GetLookup::Uncacheable;
                }
                if current == o {
                    return GetLookup::Own { slot: info.slot };
                }
                if Self::absence_is_guarded(o, current) {
                    return GetLookup::Prototype { holder: current, slot: info.slot };
                }
                return GetLookup::Uncacheable;
            }
            match current.prototype().as_object() {
                None if Self::additions_are_guarded(o) => return GetLookup::Absent,
                None => return GetLookup::Uncacheable,
                Some(p) if p.has_flag(flags::EXOTIC) => return GetLookup::Uncacheable,
                Some(p) => current = p,
            }
        }
    }

    /// Whether shape and epoch together guard that `o` gains no property: a dictionary gains them without becoming another shape.
    fn additions_are_guarded(o: Object) -> bool {
        !o.shape().is_dictionary() || o.has_flag(flags::IS_PROTOTYPE)
    }

    /// Whether shape and epoch together guard that `o` itself does not have the property found on `holder`.
    fn absence_is_guarded(o: Object, holder: Object) -> bool {
        o == holder || Self::additions_are_guarded(o)
    }

    /// Finds what assigning `key` (not an index) does.
    pub fn lookup_for_set(&mut self, o: Object, key: PropertyKey) -> SetLookup {
        if key.is_index() || o.has_flag(flags::EXOTIC) || o.is_array() && key == atoms::LENGTH {
            return SetLookup::Uncacheable;
        }
        if let Some(info) = o.shape().lookup(key) {
            if info.attrs & (attrs::ACCESSOR | attrs::WRITABLE) == attrs::WRITABLE {
                return SetLookup::Own { slot: info.slot };
            }
            return SetLookup::Uncacheable;
        }
        if o.shape().is_dictionary() || !o.shape().is_extensible() || o.has_flag(flags::IS_PROTOTYPE) {
            return SetLookup::Uncacheable;
        }
        let mut p = o.prototype().as_object();
        while let Some(current) = p {
            if current.has_flag(flags::EXOTIC) {
                return SetLookup::Uncacheable;
            }
            if let Some(info) = current.shape().lookup(key) {
                let plain = info.attrs & (attrs::ACCESSOR | attrs::WRITABLE) == attrs::WRITABLE;
                let mended = info.attrs & attrs::ACCESSOR == 0
                    && self.options.hardened
                    && !current.shape().is_extensible();
                if !plain && !mended {
                    return SetLookup::Uncacheable;
                }
                break;
            }
            p = current.prototype().as_object();
        }
        let (shape, slot) = self.shape_add(o.shape(), key, attrs::ALL);
        if shape.is_dictionary() {
            return SetLookup::Uncacheable;
        }
        SetLookup::Add { shape, slot }
    }
}
