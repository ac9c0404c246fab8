//! Property descriptors: the full record of the specification, and the engine's compact answer to "what is there".
//! <https://tc39.es/ecma262/#sec-property-descriptor-specification-type>

#![allow(unsafe_code)]

use crate::gc::{Accessor, Gc};
use crate::shape::attrs;
use crate::value::Value;

/// A Property Descriptor: every field may be absent.
#[derive(Copy, Clone, Default, Debug, PartialEq)]
pub struct PropertyDescriptor {
    /// `[[Value]]`.
    pub value: Option<Value>,
    /// `[[Get]]`: a callable or undefined.
    pub get: Option<Value>,
    /// `[[Set]]`: a callable or undefined.
    pub set: Option<Value>,
    /// `[[Writable]]`.
    pub writable: Option<bool>,
    /// `[[Enumerable]]`.
    pub enumerable: Option<bool>,
    /// `[[Configurable]]`.
    pub configurable: Option<bool>,
}

impl PropertyDescriptor {
    /// A complete data descriptor.
    pub fn data(value: Value, attributes: u8) -> Self {
        PropertyDescriptor {
            value: Some(value),
            writable: Some(attributes & attrs::WRITABLE != 0),
            enumerable: Some(attributes & attrs::ENUMERABLE != 0),
            configurable: Some(attributes & attrs::CONFIGURABLE != 0),
            ..Default::default()
        }
    }
    /// A complete accessor descriptor.
    pub fn accessor(get: Value, set: Value, attributes: u8) -> Self {
        PropertyDescriptor {
            get: Some(get),
            set: Some(set),
            enumerable: Some(attributes & attrs::ENUMERABLE != 0),
            configurable: Some(attributes & attrs::CONFIGURABLE != 0),
            ..Default::default()
        }
    }
    /// IsAccessorDescriptor (6.2.6.1).
    pub fn is_accessor(&self) -> bool {
        self.get.is_some() || self.set.is_some()
    }
    /// IsDataDescriptor (6.2.6.2).
    pub fn is_data(&self) -> bool {
        self.value.is_some() || self.writable.is_some()
    }
    /// IsGenericDescriptor (6.2.6.3).
    pub fn is_generic(&self) -> bool {
        !self.is_accessor() && !self.is_data()
    }
    /// The attributes, absent ones being false.
    pub fn attributes(&self) -> u8 {
        let mut a = 0;
        if self.writable == Some(true) {
            a |= attrs::WRITABLE;
        }
        if self.enumerable == Some(true) {
            a |= attrs::ENUMERABLE;
        }
        if self.configurable == Some(true) {
            a |= attrs::CONFIGURABLE;
        }
        if self.is_accessor() {
            a |= attrs::ACCESSOR;
        }
        a
    }
}

/// An own property as it is: a value (or an accessor cell) and its attributes.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct OwnProperty {
    /// The value, or the accessor cell when `attrs::ACCESSOR` is set.
    pub value: Value,
    /// See `shape::attrs`.
    pub attrs: u8,
}

impl OwnProperty {
    /// A data property.
    pub fn data(value: Value, attributes: u8) -> Self {
        OwnProperty { value, attrs: attributes }
    }
    /// The getter and setter pair, for an accessor property.
    #[inline]
    pub fn accessor(&self) -> Option<Gc<Accessor>> {
        if self.attrs & attrs::ACCESSOR != 0 { self.value.as_accessor() } else { None }
    }
    /// Whether the property is writable data.
    #[inline]
    pub fn is_writable(&self) -> bool {
        self.attrs & attrs::WRITABLE != 0
    }
    /// Whether `for-in` shows it.
    #[inline]
    pub fn is_enumerable(&self) -> bool {
        self.attrs & attrs::ENUMERABLE != 0
    }
    /// Whether it may be deleted or redefined.
    #[inline]
    pub fn is_configurable(&self) -> bool {
        self.attrs & attrs::CONFIGURABLE != 0
    }
    /// The complete descriptor.
    pub fn to_descriptor(self) -> PropertyDescriptor {
        match self.accessor() {
            Some(a) => PropertyDescriptor::accessor(a.getter(), a.setter(), self.attrs),
            None => PropertyDescriptor::data(self.value, self.attrs),
        }
    }
}
