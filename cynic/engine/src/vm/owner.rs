//! What the isolate does for the program's side of its heap: more roots, weak tables, the RangeError.
//!
//! Invariant: a [`Mutator`] that [`mutator`] made stands in a [`Vm`] as its first field, and nowhere else, from the first allocation on.
//! While the heap is traced, `&mut Mutator` is held further up the stack, so nothing here makes a reference to the whole `Vm`, or to its `Mutator`.

#![allow(unsafe_code)]

use std::mem::offset_of;

use cynic_heap::mutator::{Mutator, Owner};

use super::{Abrupt, Vm};
use crate::gc::Tracer;
use crate::value::Value;

const _: () = assert!(offset_of!(Vm, mutator) == 0);

static OWNER: Owner = Owner { trace, purge, forget_caches, throw_range_error };

/// The mutator of a `Vm` that is being made.
pub(super) fn mutator(heap_bytes_max: usize) -> Mutator {
    // SAFETY: the module's invariant; the functions below find the `Vm` at the mutator's own address.
    unsafe { Mutator::new(heap_bytes_max, &OWNER) }
}

unsafe fn trace(mutator: *const Mutator, tracer: &mut Tracer<'_>) {
    let vm = mutator.cast::<Vm>();
    // SAFETY: the invariant; only fields beside the mutator are borrowed, which the collector does not touch.
    let (stack, interpreter, kept_alive, symbols, realm) =
        unsafe { (&(*vm).stack, &(*vm).interpreter, &(*vm).kept_alive, &(*vm).symbol_registry, (*vm).realm) };
    if let Some(realm) = realm {
        tracer.cell(realm);
    }
    tracer.values(kept_alive);
    for (&key, &symbol) in symbols {
        tracer.key(key);
        tracer.cell(symbol);
    }
    interpreter.trace(stack, tracer);
}

unsafe fn purge(mutator: *mut Mutator, tracer: &Tracer<'_>) {
    let vm = mutator.cast::<Vm>();
    // SAFETY: as in `trace`.
    let registries = unsafe { &mut (*vm).finalization_registries };
    registries.retain(|&registry| tracer.is_marked(Value::cell(registry)));
}

unsafe fn forget_caches(mutator: *mut Mutator) {
    let vm = mutator.cast::<Vm>();
    // SAFETY: as in `trace`.
    let vm = unsafe { &mut *vm };
    vm.lookup_cache.clear();
    vm.interpreter.forget_caches();
}

unsafe fn throw_range_error(mutator: *mut Mutator, message: &str) -> Abrupt {
    // SAFETY: the invariant; whoever allocates holds the `Vm` exclusively, and gave up its mutator for this call.
    let vm = unsafe { &mut *mutator.cast::<Vm>() };
    vm.throw_range_error(message)
}

#[cfg(test)]
mod tests {
    use crate::string::JsStr;
    use crate::vm::{Options, Vm};

    #[test]
    fn nothing_is_collected_at_the_limit_while_collection_is_postponed() {
        let text = |i: usize| format!("text {i:>100}");
        let mut vm = Vm::new(Options::default());
        vm.heap.set_zeal(true);
        let limit = vm.heap.used_bytes() + 4096;
        vm.heap.set_limit(limit);
        vm.heap.postpone_collections();
        // Only this list refers to the strings, as to the keys of a table that is being made.
        let strings: Vec<JsStr> = (0..100).map(|i| vm.new_string(&text(i))).collect();
        vm.heap.resume_collections();
        for (i, string) in strings.iter().enumerate() {
            assert_eq!(string.to_rust_string(), text(i));
        }
        assert!(vm.termination().is_none());
        vm.collect_garbage();
    }
}
