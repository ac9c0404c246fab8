//! Handles: values that the host keeps.

use super::convert::FromJs;
use super::error::{HostError, Result};
use super::realm::Realm;
use cynic_engine::gc::Persistent;
use cynic_engine::value::Value;
use cynic_engine::vm::Vm;

/// A value of an isolate, alive as long as the handle is. It may be kept anywhere on the isolate's thread; when the isolate has ended, it is
/// undefined.
#[derive(Clone)]
pub struct Handle {
    root: Persistent,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handle({})", self.type_of())
    }
}

impl Handle {
    pub(crate) fn new(vm: &Vm, value: Value) -> Self {
        Handle { root: Persistent::new(&vm.heap, value) }
    }

    /// The value, if it belongs to that isolate: it is rooted as long as the handle is kept.
    pub(crate) fn value_in(&self, vm: &Vm) -> Result<Value, HostError> {
        if self.root.belongs_to(&vm.heap) { Ok(self.root.get()) } else { Err(HostError::ForeignHandle) }
    }

    /// What `typeof` says.
    pub fn type_of(&self) -> String {
        self.root.get().type_of().to_rust_string()
    }

    /// Whether it is `undefined`.
    pub fn is_undefined(&self) -> bool {
        self.root.get().is_undefined()
    }

    /// Whether it is `undefined` or `null`.
    pub fn is_nullish(&self) -> bool {
        self.root.get().is_nullish()
    }

    /// Whether it can be called.
    pub fn is_function(&self) -> bool {
        self.root.get().is_callable()
    }

    /// Whether it is an object (a function too).
    pub fn is_object(&self) -> bool {
        self.root.get().is_object()
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.root.get().as_object().is_some_and(|object| object.is_array())
    }

    /// The value as a Rust type; no conversion of JavaScript's own is done.
    pub fn to<T: FromJs>(&self, realm: &mut Realm<'_>) -> Result<T> {
        T::from_js(self, realm)
    }
}
