//! Dense elements: reading, storing, appending, growing.
//!
//! Invariant: an object has elements or sparse indexed properties, never both. Reads here answer EMPTY for a hole or
//! an index out of range; the caller then asks the prototype chain.

use super::{Object, flags};
use crate::gc::ValueArray;
use crate::limits;
use crate::mutator::{JsResult, Mutator};
use crate::shape::attrs;
use crate::value::Value;

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

    /// Takes the first element off by moving the start of the elements inside their cell; false if it cannot move.
    pub fn move_elements_start(&self) -> bool {
        // SAFETY: an object is the only owner of its elements, and gets the new reference at once.
        let rest = unsafe { self.elements().without_first() };
        rest.map(|rest| self.set_elements(rest)).is_some()
    }
}

impl Mutator {
    /// Appends to an array if that is nothing but storing the next element; false: take the slow path.
    /// (No prototype may have indexed properties: `Mutator::indexed_prototypes`.)
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

    /// Makes room for `needed` elements, growing geometrically.
    pub fn reserve_elements(&mut self, object: Object, needed: u32) -> JsResult<()> {
        let old = object.elements();
        if needed <= old.capacity() {
            return Ok(());
        }
        let capacity = needed.max(old.capacity().saturating_add(old.capacity() / 2)).max(4);
        self.set_element_capacity(object, capacity)
    }

    /// Moves the elements to a cell with room for that many, which are no fewer.
    pub fn set_element_capacity(&mut self, object: Object, capacity: u32) -> JsResult<()> {
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

    /// A new dense array of `len` holes, or with the length only when that is large.
    pub fn alloc_elements(&mut self, object: Object, len: u32) -> JsResult<()> {
        self.reserve_elements(object, len)?;
        object.elements().set_len(len);
        Ok(())
    }
}
