//! Roots in Rust memory: [`RootedVec`] for builtins, [`Persistent`] for embedders.
//!
//! Both are entries of the heap's registry, so they need no borrow of the `Vm` and no lifetime.
//! Invariant: an entry is registered exactly as long as its owner lives.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::rc::Rc;

use super::{Heap, Tracer};
use crate::property_key::PropertyKey;
use crate::value::Value;

/// The vectors of one element type that are registered.
type Registered<T> = RefCell<Vec<*const UnsafeCell<Vec<T>>>>;

/// The rooted containers of one heap.
#[derive(Default)]
pub struct RootRegistry {
    values: Registered<Value>,
    keys: Registered<PropertyKey>,
    slots: RefCell<Vec<Value>>,
    free: RefCell<Vec<usize>>,
    finalization_due: Cell<bool>,
}

impl RootRegistry {
    pub(crate) fn trace(&self, tracer: &mut Tracer<'_>) {
        for &v in self.values.borrow().iter() {
            // SAFETY: a registered vector is alive (it unregisters when dropped), and no `&mut` to its contents is
            // in use while the collector runs on the same thread.
            tracer.values(unsafe { &*(*v).get() });
        }
        for &v in self.keys.borrow().iter() {
            // SAFETY: as above.
            for &k in unsafe { &*(*v).get() } {
                tracer.key(k);
            }
        }
        tracer.values(&self.slots.borrow());
    }

    /// Bytes of what the registered vectors hold.
    pub(crate) fn list_bytes(&self) -> usize {
        // SAFETY: as in `trace`; only the lengths are read.
        let values: usize = self.values.borrow().iter().map(|&v| unsafe { (*(*v).get()).len() }).sum();
        // SAFETY: as above.
        let keys: usize = self.keys.borrow().iter().map(|&v| unsafe { (*(*v).get()).len() }).sum();
        values * size_of::<Value>() + keys * size_of::<PropertyKey>()
    }

    /// The heap ends: no handle refers to a cell any more.
    pub(crate) fn forget_values(&self) {
        self.slots.borrow_mut().fill(Value::UNDEFINED);
    }

    pub(crate) fn set_finalization_due(&self, due: bool) {
        self.finalization_due.set(due);
    }
    pub(crate) fn finalization_due(&self) -> bool {
        self.finalization_due.get()
    }
}

/// What a [`RootedVec`] may hold.
pub trait Rootable: Sized + 'static {
    #[doc(hidden)]
    fn registered(registry: &RootRegistry) -> &RefCell<Vec<*const UnsafeCell<Vec<Self>>>>;
}

impl Rootable for Value {
    fn registered(registry: &RootRegistry) -> &Registered<Value> {
        &registry.values
    }
}

impl Rootable for PropertyKey {
    fn registered(registry: &RootRegistry) -> &Registered<PropertyKey> {
        &registry.keys
    }
}

/// A vector of values (or property keys) that the collector sees. Dereferences to `Vec`.
pub struct RootedVec<T: Rootable = Value> {
    /// A box, held by its address: the registry reads through the same address, which the compiler must not take for the box's alone.
    values: NonNull<UnsafeCell<Vec<T>>>,
    registry: Rc<RootRegistry>,
}

impl<T: Rootable> RootedVec<T> {
    /// An empty vector rooted in `heap`.
    pub fn new(heap: &Heap) -> Self {
        let values = NonNull::from(Box::leak(Box::new(UnsafeCell::new(Vec::new()))));
        T::registered(&heap.roots).borrow_mut().push(values.as_ptr());
        RootedVec { values, registry: heap.roots.clone() }
    }
}

impl<T: Rootable> Deref for RootedVec<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        // SAFETY: the box lives as long as this; borrowed through `&self`, and the collector only reads.
        unsafe { &*self.values.as_ref().get() }
    }
}

impl<T: Rootable> DerefMut for RootedVec<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        // SAFETY: as above; borrowed through `&mut self`, and the collector runs only when no such borrow is in use.
        unsafe { &mut *self.values.as_ref().get() }
    }
}

impl<T: Rootable> Drop for RootedVec<T> {
    fn drop(&mut self) {
        let mut registered = T::registered(&self.registry).borrow_mut();
        let me = self.values.as_ptr().cast_const();
        if let Some(i) = registered.iter().rposition(|&v| std::ptr::eq(v, me)) {
            registered.swap_remove(i);
        }
        // SAFETY: made by `Box::leak`, and no longer registered.
        drop(unsafe { Box::from_raw(self.values.as_ptr()) });
    }
}

/// A value that stays alive as long as this handle does, wherever the handle is kept; undefined once the heap has ended.
pub struct Persistent {
    index: usize,
    registry: Rc<RootRegistry>,
}

impl Persistent {
    /// Roots `v` in `heap`.
    pub fn new(heap: &Heap, v: Value) -> Self {
        Self::in_registry(heap.roots.clone(), v)
    }

    fn in_registry(registry: Rc<RootRegistry>, v: Value) -> Self {
        let reused = registry.free.borrow_mut().pop();
        let mut slots = registry.slots.borrow_mut();
        let index = match reused {
            Some(i) => {
                slots[i] = v;
                i
            }
            None => {
                slots.push(v);
                slots.len() - 1
            }
        };
        drop(slots);
        Persistent { index, registry }
    }

    /// The value.
    pub fn get(&self) -> Value {
        self.registry.slots.borrow()[self.index]
    }

    /// Whether the value is one of that heap's.
    pub fn belongs_to(&self, heap: &Heap) -> bool {
        Rc::ptr_eq(&self.registry, &heap.roots)
    }
}

impl Clone for Persistent {
    fn clone(&self) -> Self {
        Self::in_registry(Rc::clone(&self.registry), self.get())
    }
}

impl Drop for Persistent {
    fn drop(&mut self) {
        self.registry.slots.borrow_mut()[self.index] = Value::UNDEFINED;
        self.registry.free.borrow_mut().push(self.index);
    }
}
