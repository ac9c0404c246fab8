//! Array exotic objects (10.4.2): the coupling of `length` and the indices; making arrays.
//! <https://tc39.es/ecma262/#sec-array-exotic-objects>
//!
//! Invariant: `elements.len() <= length`; `length` is slot 0 of every array, a property of its shape.

use super::{ARRAY_LENGTH_SLOT, Object, ObjectKind, PropertyDescriptor, flags};
use crate::atoms;
use crate::gc::Gc;
use crate::property_key::PropertyKey;
use crate::realm::Intrinsic;
use crate::shape::{Shape, attrs};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

impl Vm {
    /// The shape of an array with this prototype.
    pub fn array_shape(&mut self, prototype: Value) -> Gc<Shape> {
        let root = self.root_shape(prototype, 0);
        let (shape, slot) = self.shape_add(root, atoms::LENGTH, attrs::WRITABLE);
        debug_assert_eq!(slot, ARRAY_LENGTH_SLOT);
        shape
    }

    /// ArrayCreate (10.4.2.2) with the realm's %Array.prototype% and length 0.
    #[inline]
    pub fn new_array(&mut self) -> Object {
        let shape = self.default_array_shape();
        let array = self.alloc_object(shape, ObjectKind::Array, 1, 0);
        array.set_array_length_slot(0);
        array
    }

    #[inline]
    pub(crate) fn default_array_shape(&mut self) -> Gc<Shape> {
        if let Some(shape) = self.realm_data().array_shape.get() {
            return shape;
        }
        let prototype = Value::object(self.intrinsic(Intrinsic::ArrayPrototype));
        let shape = self.array_shape(prototype);
        self.realm_data().array_shape.set(Some(shape));
        shape
    }

    /// ArrayCreate (10.4.2.2). Room is made only for a small length.
    pub fn array_create(&mut self, length: f64, prototype: Option<Object>) -> JsResult<Object> {
        if length > f64::from(u32::MAX) {
            return Err(self.throw_range_error("Invalid array length"));
        }
        let array = match prototype {
            None => self.new_array(),
            Some(p) => {
                let shape = self.array_shape(Value::object(p));
                let array = self.alloc_object(shape, ObjectKind::Array, 1, 0);
                array.set_array_length_slot(0);
                self.note_indexed_prototype(Value::object(p));
                array
            }
        };
        array.set_array_length_slot(length as u32);
        Ok(array)
    }

    /// CreateArrayFromList (7.3.18).
    pub fn new_array_from(&mut self, values: &[Value]) -> JsResult<Object> {
        self.new_array_with_room(values, 0)
    }

    /// The same with inline slots for `properties` more.
    pub(crate) fn new_array_with_room(&mut self, values: &[Value], properties: u8) -> JsResult<Object> {
        let shape = self.default_array_shape();
        let array = self.alloc_object(shape, ObjectKind::Array, 1 + properties, 0);
        array.set_array_length_slot(0);
        if !values.is_empty() {
            // As many as there are: most literals never grow.
            self.set_element_capacity(array, values.len() as u32)?;
        }
        array.elements().extend_from(values);
        array.set_array_length_slot(values.len() as u32);
        Ok(array)
    }

    /// `[[DefineOwnProperty]]` of arrays (10.4.2.1).
    pub fn array_define_own_property(
        &mut self,
        array: Object,
        key: PropertyKey,
        desc: &PropertyDescriptor,
    ) -> JsResult<bool> {
        if key == atoms::LENGTH {
            return self.array_set_length(array, desc);
        }
        let Some(i) = key.as_index() else { return self.ordinary_define_own_property(array, key, desc) };
        let length = array.array_length();
        if i >= length && !self.length_is_writable(array) {
            return Ok(false);
        }
        if !self.ordinary_define_own_property(array, key, desc)? {
            return Ok(false);
        }
        if i >= length {
            array.set_array_length_slot(i + 1);
        }
        Ok(true)
    }

    fn length_is_writable(&self, array: Object) -> bool {
        array.shape().lookup(atoms::LENGTH).is_some_and(|p| p.attrs & attrs::WRITABLE != 0)
    }

    /// ArraySetLength (10.4.2.4).
    pub fn array_set_length(&mut self, array: Object, desc: &PropertyDescriptor) -> JsResult<bool> {
        let Some(value) = desc.value else {
            let done = self.ordinary_define_own_property(array, atoms::LENGTH, desc)?;
            self.note_length_attributes(array);
            return Ok(done);
        };
        let new_length = self.to_uint32(value)?;
        let number = self.to_number(value)?;
        if f64::from(new_length) != number {
            return Err(self.throw_range_error("Invalid array length"));
        }
        let mut new_desc = *desc;
        new_desc.value = Some(Value::from(new_length));
        let old_length = array.array_length();
        if new_length >= old_length {
            let done = self.ordinary_define_own_property(array, atoms::LENGTH, &new_desc)?;
            self.note_length_attributes(array);
            return Ok(done);
        }
        if !self.length_is_writable(array) {
            return Ok(false);
        }
        let freeze = new_desc.writable == Some(false);
        if freeze {
            new_desc.writable = None;
        }
        if !self.ordinary_define_own_property(array, atoms::LENGTH, &new_desc)? {
            return Ok(false);
        }
        let reached = self.delete_from_end(array, new_length, old_length)?;
        if reached != new_length {
            array.set_array_length_slot(reached);
        }
        if freeze {
            let d = PropertyDescriptor { writable: Some(false), ..Default::default() };
            self.ordinary_define_own_property(array, atoms::LENGTH, &d)?;
            self.note_length_attributes(array);
        }
        Ok(reached == new_length)
    }

    fn note_length_attributes(&mut self, array: Object) {
        if !self.length_is_writable(array) {
            array.set_flag(flags::LENGTH_FROZEN);
        }
    }

    /// Deletes the elements from the end down to `new_length`; the length reached (an element may resist).
    fn delete_from_end(&mut self, array: Object, new_length: u32, old_length: u32) -> JsResult<u32> {
        if !array.has_flag(flags::HAS_SPARSE) {
            let e = array.elements();
            if e.len() <= new_length {
                return Ok(new_length);
            }
            if array.has_flag(flags::ELEMENTS_SEALED) {
                let last = e.as_slice().iter().rposition(|v| !v.is_empty());
                return Ok(new_length.max(last.map_or(0, |i| i as u32 + 1)));
            }
            e.set_len(new_length);
            return Ok(new_length);
        }
        let mut indices: Vec<u32> = array
            .shape()
            .table()
            .iter()
            .filter_map(|(k, _)| k.as_index())
            .filter(|&i| i >= new_length)
            .collect();
        indices.sort_unstable();
        debug_assert!(indices.last().is_none_or(|&i| i < old_length));
        for i in indices.into_iter().rev() {
            self.poll()?;
            if !self.ordinary_delete(array, PropertyKey::index(i)) {
                return Ok(i + 1);
            }
        }
        Ok(new_length)
    }
}
