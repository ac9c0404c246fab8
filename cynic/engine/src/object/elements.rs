//! Dense elements: appending, taking off, adding with a gap; turning sparse.
//!
//! Invariant: an object has elements or sparse indexed properties, never both. Reading, storing and growing are the heap's (`cynic_heap::object::elements`).

use super::{Object, flags};
use crate::gc::{Gc, ValueArray};
use crate::limits;
use crate::object::empty_array;
use crate::property_key::PropertyKey;
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

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

    /// Takes the first of a plain array's elements off; the array's length is the caller's business.
    pub(crate) fn take_first_element(&mut self, array: Object) -> JsResult<()> {
        if array.move_elements_start() {
            return Ok(());
        }
        let n = array.elements().len();
        if array.elements().has_moved() {
            // The start has gone as far as it can: it begins anew in another cell.
            self.poll()?;
            self.set_element_capacity(array, n + n / 8)?;
            if array.move_elements_start() {
                return Ok(());
            }
        }
        self.poll_bytes(n as usize * size_of::<Value>())?;
        array.elements().remove_first();
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
}

/// How many elements are no holes. Only asked for when a store beyond the capacity leaves a gap, so the walk is paid for by the growth: without
/// it, indices that double each time would stay dense up to 2^32.
fn present_elements(object: Object) -> u32 {
    let elements = object.elements();
    (0..elements.len()).filter(|&i| elements.get(i) != Value::EMPTY).count() as u32
}
