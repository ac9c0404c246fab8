//! What inline caches may remember: lookups that say where a property is and for how long that holds.
//!
//! For the virtual machine's slow paths: perform the lookup here, do what it says, and keep the answer. The guards:
//! * an own property: the receiver's shape;
//! * a prototype's property or absence: the receiver's shape and `Vm::proto_epoch` (which advances whenever any
//!   prototype gains, loses or redefines a property, or gets another prototype);
//! * values are read from the holder each time, so changing a value needs no guard.

use super::{Object, flags};
use crate::atoms;
use crate::gc::Gc;
use crate::property_key::PropertyKey;
use crate::shape::{Shape, attrs};
use crate::vm::Vm;

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

impl Vm {
    /// Finds `key` (not an index) for `[[Get]]`.
    pub fn lookup_for_get(&mut self, o: Object, key: PropertyKey) -> GetLookup {
        if key.is_index() || o.has_flag(flags::EXOTIC) {
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
                    if self.absence_is_guarded(o, current) {
                        return GetLookup::Accessor { holder: current, slot: info.slot };
                    }
                    return GetLookup::Uncacheable;
                }
                if current == o {
                    return GetLookup::Own { slot: info.slot };
                }
                if self.absence_is_guarded(o, current) {
                    return GetLookup::Prototype { holder: current, slot: info.slot };
                }
                return GetLookup::Uncacheable;
            }
            match current.prototype().as_object() {
                None if self.absence_is_guarded(o, current) => return GetLookup::Absent,
                None => return GetLookup::Uncacheable,
                Some(p) if p.has_flag(flags::EXOTIC) => return GetLookup::Uncacheable,
                Some(p) => current = p,
            }
        }
    }

    /// Whether shape and epoch together guard that `o` itself does not have the property found on `holder`.
    fn absence_is_guarded(&self, o: Object, holder: Object) -> bool {
        o == holder || !o.shape().is_dictionary() || o.has_flag(flags::IS_PROTOTYPE)
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
