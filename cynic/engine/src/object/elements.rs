//! Dense elements: reading, storing, appending, growing; turning sparse.
//!
//! Invariant: an object has elements or sparse indexed properties, never both. Reads here answer EMPTY for a hole or
//! an index out of range; the caller then asks the prototype chain.

#![allow(unsafe_code)]

use super::{Object, flags};
use crate::gc::{Gc, ValueArray};
use crate::limits;
use crate::object::empty_array;
use crate::property_key::PropertyKey;
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

impl super::JsObject {
    /// The element at `i`, or EMPTY (a hole, out of range, or sparse).
    #[inline(always)]
    pub fn element(&self, i: u32) -> Value {
        self.elements().get(i)
    }

    /// Overwrites the element at `i` if it is there and may simply be written; false: take the slow path.
    #[inline(always)]
    pub fn try_set_element(&self, i: u32, v: Value) -> bool {
        let e = self.elements();
        if !self.has_flag(flags::ELEMENT_WRITE_SLOW) && !e.get(i).is_empty() {
            e.set(i, v);
            true
        } else {
            false
        }
    }

    /// The attributes that the elements have in common.
    pub fn element_attrs(&self) -> u8 {
        if self.has_flag(flags::ELEMENTS_FROZEN) {
            attrs::ENUMERABLE
        } else if self.has_flag(flags::ELEMENTS_SEALED) {
            attrs::ENUMERABLE | attrs::WRITABLE
        } else {
            attrs::ALL
        }
    }
}

impl Vm {
    /// Appends all elements of an array to another, holes as holes, if that is nothing but copying them; false: take the slow path.
    pub(crate) fn try_append_elements(&mut self, to: Object, from: Object) -> JsResult<bool> {
        if !self.has_plain_elements(from) || !self.has_plain_elements(to) {
            return Ok(false);
        }
        let (before, count) = (to.array_length(), from.elements().len());
        let Some(length) = before.checked_add(count).filter(|&length| length < u32::MAX) else {
            return Ok(false);
        };
        self.poll_bytes(count as usize * size_of::<Value>())?;
        self.reserve_elements(to, length)?;
        to.elements().extend_from(from.elements().as_slice());
        to.set_array_length_slot(length);
        Ok(true)
    }

    /// Appends to an array if that is nothing but storing the next element; false: take the slow path.
    /// (No prototype may have indexed properties: `Vm::indexed_prototypes`.)
    #[inline(always)]
    pub fn try_push_element(&mut self, array: Object, v: Value) -> bool {
        if !array.is_array() || array.has_flag(flags::ELEMENT_APPEND_SLOW) || self.indexed_prototypes {
            return false;
        }
        let e = array.elements();
        let n = e.len();
        if n != array.array_length() {
            return false;
        }
        if e.push(v) {
            array.set_array_length_slot(n + 1);
            return true;
        }
        self.push_growing(array, v)
    }

    #[cold]
    #[inline(never)]
    fn push_growing(&mut self, array: Object, v: Value) -> bool {
        let n = array.elements().len();
        if n >= u32::MAX - 1 || self.reserve_elements(array, n + 1).is_err() {
            return false;
        }
        array.elements().push(v);
        array.set_array_length_slot(n + 1);
        true
    }

    /// Takes the first of a plain array's elements off; the array's length is the caller's business.
    pub(crate) fn take_first_element(&mut self, array: Object) -> JsResult<()> {
        let move_start = |array: Object| {
            // SAFETY: an object is the only owner of its elements, and gets the new reference at once.
            let rest = unsafe { array.elements().without_first() };
            rest.map(|rest| array.set_elements(rest)).is_some()
        };
        if move_start(array) {
            return Ok(());
        }
        let n = array.elements().len();
        if array.elements().has_moved() {
            // The start has gone as far as it can: it begins anew in another cell.
            self.poll()?;
            self.set_element_capacity(array, n + n / 8)?;
            if move_start(array) {
                return Ok(());
            }
        }
        self.poll_bytes(n as usize * size_of::<Value>())?;
        let e = array.elements();
        e.as_mut_slice().copy_within(1.., 0);
        e.set_len(n - 1);
        Ok(())
    }

    /// Makes room for `needed` elements, growing geometrically.
    pub fn reserve_elements(&mut self, object: Object, needed: u32) -> JsResult<()> {
        let old = object.elements();
        if needed <= old.capacity() {
            return Ok(());
        }
        let capacity = needed.max(old.capacity().saturating_add(old.capacity() / 2)).max(4);
        self.set_element_capacity(object, capacity)
    }

    pub(super) fn set_element_capacity(&mut self, object: Object, capacity: u32) -> JsResult<()> {
        let bytes = capacity as usize * size_of::<Value>();
        if bytes > limits::LARGE_ALLOCATION_BYTES {
            self.check_heap_room(bytes)?;
        }
        let old = object.elements();
        let hangs = u32::from(old.tail().is_some());
        let new = self.alloc_value_array(capacity.saturating_add(hangs));
        let usable = self.heap.usable_bytes(new.addr()) - ValueArray::DATA_OFFSET;
        new.set_capacity((usable / size_of::<Value>() - hangs as usize).min(u32::MAX as usize) as u32);
        if let Some(tail) = old.tail() {
            // SAFETY: one value less than the cell has room for is the capacity.
            unsafe { new.add_tail(tail) };
        }
        // SAFETY: the new array has room for the old one's values; the cell is fresh, so it needs no barrier.
        unsafe { std::ptr::copy_nonoverlapping(old.data(), new.data(), old.len() as usize) };
        new.len.set(old.len());
        object.set_elements(new);
        if old.capacity() as usize * size_of::<Value>() > limits::LARGE_ALLOCATION_BYTES {
            // SAFETY: the object was the only owner; element slices are never held across an allocation.
            unsafe { self.heap.free_large_now(old.addr()) };
        }
        Ok(())
    }

    /// Defines element `i` with default attributes where no element is: dense if that is sensible, else sparse.
    /// The array's length is the caller's business.
    pub(crate) fn add_element(&mut self, object: Object, i: u32, v: Value) -> JsResult<()> {
        if object.has_flag(flags::IS_PROTOTYPE) {
            self.indexed_prototypes = true;
            self.bump_proto_epoch();
        }
        if !object.has_flag(flags::HAS_SPARSE) {
            let len = object.elements().len();
            if i < len {
                object.elements().set(i, v);
                return Ok(());
            }
            let dense = i < limits::DENSE_INDEX_ALWAYS
                || i < object.elements().capacity()
                || i == len
                || i / limits::DENSE_FACTOR < present_elements(object);
            if dense {
                self.reserve_elements(object, i + 1)?;
                object.elements().set_len(i);
                object.elements().push(v);
                return Ok(());
            }
            self.make_elements_sparse(object);
        }
        self.add_keyed_property(object, PropertyKey::index(i), v, attrs::ALL);
        Ok(())
    }

    /// Turns the elements into keyed properties, with the attributes they have.
    pub(crate) fn make_elements_sparse(&mut self, object: Object) {
        if object.has_flag(flags::HAS_SPARSE) {
            return;
        }
        let attributes = object.element_attrs();
        let old: Gc<ValueArray> = object.elements();
        object.set_flag(flags::HAS_SPARSE);
        object.clear_flag(flags::ELEMENTS_FROZEN | flags::ELEMENTS_SEALED);
        let bare = match old.tail() {
            Some(overflow) => self.alloc_value_array_with_tail(0, overflow),
            None => empty_array(),
        };
        object.set_elements(bare);
        let dictionary = self.shape_to_dictionary(object.shape());
        object.set_shape(dictionary);
        for i in 0..old.len() {
            let v = old.get(i);
            if !v.is_empty() {
                self.add_keyed_property(object, PropertyKey::index(i), v, attributes);
            }
        }
    }

    /// A new dense array of `len` holes, or with the length only when that is large.
    pub fn alloc_elements(&mut self, object: Object, len: u32) -> JsResult<()> {
        self.reserve_elements(object, len)?;
        object.elements().set_len(len);
        Ok(())
    }
}

/// How many elements are no holes. Only asked for when a store beyond the capacity leaves a gap, so the walk is paid for by the growth: without
/// it, indices that double each time would stay dense up to 2^32.
fn present_elements(object: Object) -> u32 {
    let elements = object.elements();
    (0..elements.len()).filter(|&i| elements.get(i) != Value::EMPTY).count() as u32
}
