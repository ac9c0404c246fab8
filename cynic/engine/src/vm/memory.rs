//! Allocation and collection from the isolate's side: it knows the roots and what to do at the limit.
//!
//! [`Vm::alloc_raw`] never fails from the caller's view: small cells beyond the heap limit are still handed out, but the
//! next poll ends the guest. Anything whose size the guest chooses is checked first with [`Vm::check_heap_room`].

#![allow(unsafe_code)]

use std::time::Instant;

use super::{JsResult, Termination, Vm};
use crate::gc::collect::{self, Phase};
use crate::gc::{ExternalCharge, GcStats, Heap, Tracer, native_stack};
use crate::limits;
use crate::value::Value;

impl Vm {
    /// Memory for a cell of `bytes`, which the caller initialises before anything else.
    #[inline(always)]
    pub(crate) fn alloc_raw(&mut self, bytes: usize, finalizable: bool) -> *mut u8 {
        match self.heap.alloc_fast(bytes, finalizable) {
            Some(p) => p,
            None => self.alloc_raw_slow(bytes, finalizable),
        }
    }

    #[cold]
    #[inline(never)]
    fn alloc_raw_slow(&mut self, bytes: usize, finalizable: bool) -> *mut u8 {
        // Smaller cells are not charged: whether they come here depends on where free cells are.
        if bytes > crate::gc::block::SMALL_MAX {
            self.charge_bytes(bytes);
        }
        self.make_room(bytes);
        if let Some(p) = self.heap.alloc_slow(bytes, finalizable) {
            return p;
        }
        self.collect_garbage();
        match self.heap.alloc_slow(bytes, finalizable) {
            Some(p) => p,
            // The operating system has no memory left: nothing sensible can follow in this process.
            None => std::alloc::handle_alloc_error(std::alloc::Layout::new::<[u64; 1024]>()),
        }
    }

    /// Collects if that is due before `bytes` more are in use. A guest that they take over its limit ends at the next poll.
    pub(crate) fn make_room(&mut self, bytes: usize) {
        if self.heap.collection_due(bytes) {
            self.collect_due();
        }
        if self.heap.used_bytes() + bytes > self.heap.limit() {
            self.at_heap_limit();
        }
    }

    /// The heap is full: the guest ends at the next poll, unless collecting helps. While collection is postponed, an allocation
    /// after that finds the heap full again.
    #[cold]
    fn at_heap_limit(&mut self) {
        if self.termination().is_some() || self.heap.inhibit != 0 {
            return;
        }
        if !self.collect_at_limit() || self.heap.used_bytes() >= self.heap.limit() {
            self.terminate(Termination::Heap);
            self.budget = 0;
        }
    }

    /// A full collection because the heap is nearly full; false if the last one of this kind gained too little, and too
    /// little has been allocated since, for another to be worth it: a guest at its limit would spend its time collecting.
    fn collect_at_limit(&mut self) -> bool {
        let (before, little) = (self.heap.used_bytes(), self.heap.limit() / limits::GC_GAIN_MIN_DIVISOR);
        if self.heap.futile_at.is_some_and(|at| before.saturating_sub(at) < little) {
            return false;
        }
        self.collect_garbage();
        let after = self.heap.used_bytes();
        self.heap.futile_at = (before.saturating_sub(after) < little).then_some(after);
        // Collecting takes time that no step accounts for: look at the deadline soon.
        self.budget = 0;
        true
    }

    /// Makes sure that `bytes` more fit the heap, collecting if that helps; ends the guest otherwise. No borrow of a cell's data
    /// may be held, and nothing by a list outside the heap alone.
    pub fn check_heap_room(&mut self, bytes: usize) -> JsResult<()> {
        if self.heap.zeal() && self.heap.inhibit == 0 {
            self.collect_garbage();
        }
        if self.heap.used_bytes().saturating_add(bytes) <= self.heap.limit() {
            return Ok(());
        }
        if self.collect_at_limit() && self.heap.used_bytes().saturating_add(bytes) <= self.heap.limit() {
            return Ok(());
        }
        Err(self.terminate(Termination::Heap))
    }

    /// Bytes that fit the heap's limit besides what is in use.
    pub fn heap_room(&self) -> usize {
        self.heap.limit().saturating_sub(self.heap.used_bytes())
    }

    /// Charges memory that a cell owns outside the heap (a buffer). The charge ends when it is dropped.
    pub fn charge_external(&mut self, bytes: usize) -> JsResult<ExternalCharge> {
        if self.heap.collection_due(bytes) {
            self.collect_due();
        }
        self.check_heap_room(bytes)?;
        self.charge_bytes(bytes);
        Ok(self.heap.charge_unchecked(bytes))
    }

    /// Changes a charge to `bytes`, when what it is for has grown or shrunk; may collect, as [`Vm::check_heap_room`] does.
    pub fn recharge_external(&mut self, charge: &ExternalCharge, bytes: usize) -> JsResult<()> {
        let grows = bytes > charge.bytes();
        self.charge_bytes(bytes.saturating_sub(charge.bytes()));
        charge.set_unchecked(&self.heap, bytes);
        if !grows {
            return Ok(());
        }
        if self.heap.collection_due(0) {
            self.collect_due();
        }
        self.check_heap_room(0)
    }

    /// What is due: a young collection, a step of a full one, or its beginning.
    fn collect_due(&mut self) {
        if let Phase::Marking(rounds) = self.heap.mark.phase {
            return self.full_step(rounds);
        }
        let used = self.heap.used_bytes();
        if self.heap.zeal() || used >= self.heap.full_at && used < limits::GC_INCREMENTAL_MIN_BYTES {
            self.collect_garbage();
        } else if used >= self.heap.full_at {
            self.heap.stepped_at = self.heap.cell_bytes;
            self.stop(|heap, roots, _| collect::begin_full(heap, roots));
        } else {
            self.stop(|heap, roots, weak| collect::young(heap, roots, weak));
        }
    }

    /// Much was written to traced cells: looks at it now, so that no stop has to look at more.
    pub(crate) fn collect_written(&mut self) {
        if self.heap.inhibit != 0 {
            return;
        }
        match self.heap.mark.phase {
            Phase::Marking(_) => self.stop(|heap, _, _| collect::relieve(heap)),
            Phase::Idle => self.collect_due(),
        }
    }

    /// One stop of an incremental marking: a step, another round, or the end.
    fn full_step(&mut self, rounds: u32) {
        if self.heap.has_many_remembered() {
            self.stop(|heap, _, _| collect::relieve(heap));
        } else if !self.heap.mark.nothing_left() {
            self.stop(|heap, _, _| {
                collect::mark_step(heap, limits::GC_STEP_CELLS);
            });
        } else if rounds < limits::GC_ROUNDS_MAX && !self.heap.mark.settled {
            self.stop(|heap, roots, _| {
                collect::next_round(heap, roots);
                heap.mark.settled = collect::mark_step(heap, limits::GC_STEP_CELLS / 2);
            });
        } else {
            self.stop(|heap, roots, weak| collect::finish(heap, roots, weak));
        }
        self.heap.stepped_at = self.heap.cell_bytes;
    }

    /// A full collection in one stop (a marking that is under way is started afresh).
    pub fn collect_garbage(&mut self) {
        self.stop(|heap, roots, weak| {
            collect::begin_full(heap, |_| {});
            collect::finish(heap, roots, weak);
        });
    }

    /// Figures about the heap.
    pub fn gc_stats(&self) -> GcStats {
        self.heap.stats()
    }

    /// Stops the program for `work`, which gets the heap, the roots and the weak tables.
    #[inline(never)]
    fn stop(
        &mut self,
        work: impl FnOnce(&mut Heap, &mut dyn FnMut(&mut Tracer<'_>), &mut dyn FnMut(&Tracer<'_>)),
    ) {
        let start = Instant::now();
        self.heap.inhibit += 1;
        self.lookup_cache.clear();
        let (exception, realm) = (self.exception, self.realm);
        let high = self.native_stack.high;
        let registry = self.heap.roots.clone();
        let Vm {
            heap,
            stack,
            interpreter,
            interned,
            root_shapes,
            symbol_registry,
            kept_alive,
            finalization_registries,
            ..
        } = self;
        let mut roots = |t: &mut Tracer<'_>| {
            t.value(exception);
            if let Some(r) = realm {
                t.cell(r);
            }
            t.values(kept_alive);
            for (&key, &symbol) in symbol_registry.iter() {
                t.key(key);
                t.cell(symbol);
            }
            registry.trace(t);
            interpreter.trace(stack, t);
            native_stack::scan(t, high);
        };
        let mut weak = |t: &Tracer<'_>| {
            interned.purge(t);
            finalization_registries.retain(|&r| t.is_marked(Value::cell(r)));
            root_shapes.retain(|&(prototype, _), shape| {
                t.is_marked_bits(prototype) && t.is_marked(Value::cell(*shape))
            });
        };
        work(heap, &mut roots, &mut weak);
        self.heap.inhibit -= 1;
        self.heap.note_pause(start.elapsed().as_nanos() as u64);
    }
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
        vm.heap.set_limit(vm.heap.used_bytes() + 4096);
        vm.heap.inhibit += 1;
        // Only this list refers to the strings, as to the keys of a table that is being made.
        let strings: Vec<JsStr> = (0..100).map(|i| vm.new_string(&text(i))).collect();
        vm.heap.inhibit -= 1;
        for (i, string) in strings.iter().enumerate() {
            assert_eq!(string.to_rust_string(), text(i));
        }
        assert!(vm.termination().is_none());
        vm.collect_garbage();
    }
}
