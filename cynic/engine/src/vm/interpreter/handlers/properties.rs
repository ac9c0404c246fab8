//! Property access through inline caches, and elements.

use super::super::state::{elsewhere, slow};
use super::super::{State, Step, Ways as _, slow};
use super::outlined;
use crate::gc::color;
use crate::object::typed_view::{typed_array_get_number, typed_array_set_number};
use crate::object::{Object, ObjectKind, flags};
use crate::value::Value;

/// The own property of `v` that the site's cache knows to be in an inline slot.
#[inline(always)]
fn own_inline(s: State, v: Value) -> Option<Value> {
    let object = v.as_object()?;
    let ic = s.ic();
    if object.shape().addr() != ic.shape || ic.slot >= object.inline_capacity() {
        return None;
    }
    // SAFETY: the slot is inside the inline capacity.
    Some(unsafe { object.inline_slot(ic.slot) })
}

/// The property of `v` that a prototype has, if the site's cache knows where.
#[inline(always)]
fn of_prototype(s: State, v: Value) -> Option<Value> {
    let object = v.as_object()?;
    let ic = s.ic();
    if object.shape().addr() != ic.far_shape || ic.epoch != s.vm().proto_epoch {
        return None;
    }
    if ic.far == 0 {
        return Some(Value::UNDEFINED);
    }
    // SAFETY: the cache keeps its holder alive; `far` is never a shape at a get site.
    let holder = unsafe {
        crate::gc::Gc::<crate::object::JsObject>::from_addr(ic.far as *mut crate::object::JsObject)
    };
    Some(holder.slot(ic.far_slot))
}

/// The own property of `v` in any slot, by either shape of the site's cache.
#[inline(always)]
fn own_anywhere(s: State, v: Value) -> Option<Value> {
    let object = v.as_object()?;
    let ic = s.ic();
    let shape = object.shape().addr();
    if shape == ic.shape {
        return Some(object.slot(ic.slot));
    }
    (shape == ic.shape_2).then(|| object.slot(ic.slot_2))
}

#[inline(always)]
pub(crate) fn get_prop(s: State) -> Step {
    if let Some(value) = own_inline(s, s.reg(s.b())) {
        s.set(s.a(), value);
        return s.next(2);
    }
    elsewhere!(s, get_prop_further)
}

#[inline(always)]
fn get_prop_further(s: State) -> Step {
    let v = s.reg(s.b());
    if let Some(value) = of_prototype(s, v).or_else(|| own_anywhere(s, v)) {
        s.set(s.a(), value);
        return s.next(2);
    }
    slow!(s, slow::properties::get_prop)
}

#[inline(always)]
pub(crate) fn get_method(s: State) -> Step {
    let object = s.reg(s.b());
    if let Some(value) = of_prototype(s, object) {
        s.set(s.a(), value);
        s.set(s.a() + 1, object);
        return s.next(2);
    }
    elsewhere!(s, get_own_method)
}

#[inline(always)]
fn get_own_method(s: State) -> Step {
    let object = s.reg(s.b());
    if let Some(value) = own_anywhere(s, object) {
        s.set(s.a(), value);
        s.set(s.a() + 1, object);
        return s.next(2);
    }
    slow!(s, slow::properties::get_method)
}

#[inline(always)]
pub(crate) fn get_length(s: State) -> Step {
    let v = s.reg(s.b());
    if let Some(object) = v.as_object() {
        if object.is_array() {
            // SAFETY: arrays keep their length in their first inline slot.
            s.set(s.a(), unsafe { object.inline_slot(crate::object::ARRAY_LENGTH_SLOT) });
            return s.next(2);
        }
    } else if let Some(string) = v.as_string() {
        s.set(s.a(), Value::int32(string.len() as i32));
        return s.next(2);
    }
    elsewhere!(s, get_prop_further)
}

#[inline(always)]
pub(crate) fn set_prop(s: State) -> Step {
    let v = s.reg(s.a());
    if let Some(object) = v.as_object() {
        let ic = s.ic();
        // An old object's first write since the last collection must be remembered, which is done out of line.
        if object.shape().addr() == ic.shape
            && ic.slot < object.inline_capacity()
            && object.header().color() != color::BLACK
        {
            // SAFETY: the slot is inside the inline capacity.
            unsafe { object.set_inline_slot_remembered(ic.slot, s.reg(s.b())) };
            return s.next(2);
        }
    }
    elsewhere!(s, set_prop_further)
}

#[inline(always)]
fn set_prop_further(s: State) -> Step {
    let v = s.reg(s.a());
    if let Some(object) = v.as_object() {
        let ic = s.ic();
        let shape = object.shape().addr();
        if shape == ic.far_shape && ic.epoch == s.vm().proto_epoch && ic.far_slot < object.inline_capacity() {
            // SAFETY: at a set site `far` is the shape after adding the property, kept alive by the cache; the slot
            // is inside the inline capacity.
            unsafe {
                object.set_inline_slot(ic.far_slot, s.reg(s.b()));
                object.set_shape(crate::gc::Gc::from_addr(ic.far as *mut crate::shape::Shape));
            }
            return s.next(2);
        }
        if shape == ic.shape {
            object.set_slot(ic.slot, s.reg(s.b()));
            return s.next(2);
        }
        if shape == ic.shape_2 {
            object.set_slot(ic.slot_2, s.reg(s.b()));
            return s.next(2);
        }
    }
    slow!(s, slow::properties::set_prop)
}

/// The dense element of an object under an int32 key.
#[inline(always)]
fn dense_element(object: Value, key: Value) -> Option<Value> {
    if !key.is_int32() {
        return None;
    }
    let object = object.as_object()?;
    let element = object.element(key.low_int32() as u32);
    if element.is_empty() { None } else { Some(element) }
}

#[inline(always)]
pub(crate) fn get_elem(s: State) -> Step {
    if let Some(value) = dense_element(s.reg(s.b()), s.reg(s.c())) {
        s.set(s.a(), value);
        return s.next(2);
    }
    elsewhere!(s, get_typed_element)
}

#[inline(always)]
fn get_typed_element(s: State) -> Step {
    let (v, key) = (s.reg(s.b()), s.reg(s.c()));
    if key.is_int32()
        && let Some(object) = v.as_object()
        && let Some(value) = typed_array_get_number(object, key.low_int32() as u32)
    {
        s.set(s.a(), value);
        return s.next(2);
    }
    slow!(s, slow::properties::get_elem)
}

#[inline(always)]
pub(crate) fn get_elem_method(s: State) -> Step {
    let object = s.reg(s.b());
    if let Some(value) = dense_element(object, s.reg(s.c())) {
        s.set(s.a(), value);
        s.set(s.a() + 1, object);
        return s.next(2);
    }
    slow!(s, slow::properties::get_elem_method)
}

#[inline(always)]
pub(crate) fn set_elem(s: State) -> Step {
    let (v, key) = (s.reg(s.a()), s.reg(s.b()));
    if key.is_int32()
        && let Some(object) = v.as_object()
    {
        let elements = object.elements();
        let i = key.low_int32() as u32;
        // Only a young array needs no barrier at all.
        if !object.has_flag(flags::ELEMENT_WRITE_SLOW)
            && elements.header().color() == color::WHITE
            && !elements.get(i).is_empty()
        {
            elements.set(i, s.reg(s.c()));
            return s.next(2);
        }
    }
    elsewhere!(s, set_elem_further)
}

#[inline(always)]
fn set_elem_further(s: State) -> Step {
    let (v, key) = (s.reg(s.a()), s.reg(s.b()));
    if key.is_int32()
        && let Some(object) = v.as_object()
    {
        let i = key.low_int32() as u32;
        if object.is(ObjectKind::TypedArray) {
            if typed_array_set_number(object, i, s.reg(s.c())) {
                return s.next(2);
            }
        } else if object.try_set_element(i, s.reg(s.c())) {
            return s.next(2);
        }
    }
    slow!(s, slow::properties::set_elem)
}

/// The private member of the site's cache: key and shape must both match, because a class may be evaluated again.
#[inline(always)]
fn private_slot(s: State, v: Value, name: Value) -> Option<Object> {
    let ic = s.ic();
    v.as_object().filter(|object| object.shape().addr() == ic.shape && ic.far == name.to_bits() as usize)
}

#[inline(always)]
pub(crate) fn get_private(s: State) -> Step {
    if let Some(object) = private_slot(s, s.reg(s.b()), s.reg(s.c())) {
        s.set(s.a(), object.slot(s.ic().slot));
        return s.next(2);
    }
    slow!(s, slow::properties::get_private)
}

#[inline(always)]
pub(crate) fn set_private(s: State) -> Step {
    if let Some(object) = private_slot(s, s.reg(s.a()), s.reg(s.b())) {
        object.set_slot(s.ic().slot, s.reg(s.c()));
        return s.next(2);
    }
    slow!(s, slow::properties::set_private)
}

#[inline(always)]
pub(crate) fn require_object_coercible(s: State) -> Step {
    if s.reg(s.a()).is_nullish() {
        return slow!(s, slow::properties::throw_nullish);
    }
    s.next(1)
}

/// `v` as an ordinary compiled closure.
#[inline(always)]
pub(super) fn as_closure(v: Value) -> Option<Object> {
    v.as_object().filter(|object| object.is(ObjectKind::Closure))
}

outlined! {
    delete_prop => slow::properties::delete_prop;
    get_super_base => slow::properties::get_super_base;
    get_super => slow::properties::get_super;
    set_super => slow::properties::set_super;
    add_private => slow::properties::add_private;
    has_private => slow::properties::has_private;
    new_private_name => slow::properties::new_private_name;
    define_field => slow::properties::define_field;
    define_own => slow::properties::define_own;
    define_method => slow::properties::define_method;
    set_home => slow::properties::set_home;
    set_function_name => slow::properties::set_function_name;
    copy_data_properties => slow::properties::copy_data_properties;
    set_prototype_literal => slow::properties::set_prototype_literal;
}
