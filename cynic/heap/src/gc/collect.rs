//! Marking: from roots to everything reachable, at once or in steps.
//!
//! Mark bits are sticky: a *young* collection keeps the marks of the last one, so that only cells allocated since, the
//! remembered cells (black cells written since) and the roots are traced; it is done in one stop. A *full* collection
//! clears all marks, and marks either in one stop or incrementally:
//!
//! 1. [`begin_full`]: clear marks, scan the roots;
//! 2. [`mark_step`], called as the program allocates: trace for a bounded amount of work;
//! 3. when nothing is left, [`next_round`]: scan the roots and the remembered cells again; a round that finds little is
//!    the last, and [`finish`] settles weak data and sweeps. Each of these is a stop of its own.
//!
//! The write barrier is the same for both: a store into a black cell puts the cell on the remembered list (the
//! retreating wavefront), so an incremental marking traces it again before it ends. New cells are white.
//! Invariant: after `finish`, a cell is live exactly when its mark bit is set (or it is immortal).

use super::block::Block;
use super::heap::Heap;
use super::moving_start;
use super::{CellHeader, CellKind, DataHead, Gc, ValueArray, color};
use crate::limits;
use crate::object::JsObject;
use crate::property_key::PropertyKey;
use crate::shape::Shape;
use crate::string::StringCell;
use crate::symbol::SymbolCell;
use crate::value::Value;
use rustc_hash::FxHashMap;

/// Where marking is.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Phase {
    /// No full marking is under way.
    #[default]
    Idle,
    /// Marking incrementally; how many times the roots have been scanned.
    Marking(u32),
}

/// What marking carries from step to step and from collection to collection.
#[derive(Default)]
pub(crate) struct MarkState {
    stack: Vec<*const CellHeader>,
    /// Long arrays that are being traced in portions: the array and the next element.
    arrays: Vec<(*const ValueArray, u32)>,
    /// Long tables in data cells that are being traced in portions: the cell and where the next one begins.
    tables: Vec<(*const CellHeader, usize)>,
    /// Live data cells that do not promise the barrier.
    unbarriered: Vec<*const CellHeader>,
    /// Live data cells with weak contents.
    weak: Vec<*const CellHeader>,
    /// Shapes reached in this full collection that have transitions to prune.
    shapes: Vec<Gc<Shape>>,
    /// Values of weak keys that have not been reached yet, by the address of the key.
    waiting: FxHashMap<usize, Vec<Value>>,
    /// The last round found little, so that the end will be short.
    pub(crate) settled: bool,
    pub(crate) phase: Phase,
}

impl MarkState {
    /// Whether marking is in progress.
    pub(crate) fn is_active(&self) -> bool {
        self.phase != Phase::Idle
    }

    pub(crate) fn nothing_left(&self) -> bool {
        self.stack.is_empty() && self.arrays.is_empty() && self.tables.is_empty()
    }
}

/// Reports cell pointers to the collector.
pub struct Tracer<'a> {
    heap: &'a mut Heap,
    full: bool,
    finalization: std::cell::Cell<bool>,
}

impl Tracer<'_> {
    /// Reports a value.
    #[inline(always)]
    pub fn value(&mut self, v: Value) {
        if v.is_cell() && v.to_bits() != 0 {
            self.mark_addr(v.to_bits() as usize);
        }
    }

    /// Reports values.
    #[inline]
    pub fn values(&mut self, values: &[Value]) {
        for &v in values {
            self.value(v);
        }
    }

    /// Reports a cell.
    #[inline(always)]
    pub fn cell<T>(&mut self, c: Gc<T>) {
        self.mark_addr(c.addr());
    }

    /// Says that `v` will be reported soon: its header is fetched meanwhile.
    #[inline(always)]
    pub fn fetch(&self, v: Value) {
        fetch(v);
    }

    /// Reports a property key.
    #[inline]
    pub fn key(&mut self, key: PropertyKey) {
        if let Some(addr) = key.cell_addr() {
            self.mark_addr(addr);
        }
    }

    /// Whether a cell is known to be live.
    pub fn is_marked(&self, v: Value) -> bool {
        if !v.is_cell() || v.to_bits() == 0 {
            return true;
        }
        is_marked_addr(v.to_bits() as usize)
    }

    /// The same for the bits of a value kept weakly; only during `trace_ephemerons` and `sweep_weak`.
    pub fn is_marked_bits(&self, bits: u64) -> bool {
        // SAFETY: what is dead is still readable here; the caller drops it before its memory is reused.
        self.is_marked(unsafe { Value::from_bits(bits) })
    }

    /// Reports a value that lives as long as both its table and its key do; only during `trace_ephemerons`.
    pub fn ephemeron(&mut self, key: u64, value: Value) {
        if self.is_marked_bits(key) {
            self.value(value);
        } else {
            self.heap.mark.waiting.entry(key as usize).or_default().push(value);
        }
    }

    /// Whether this collection visits the whole heap, so that weak edges may be cut.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Says that finalization callbacks have become due.
    pub fn note_finalization(&self) {
        self.finalization.set(true);
    }

    pub(crate) fn note_shape_with_transitions(&mut self, shape: Gc<Shape>) {
        self.heap.mark.shapes.push(shape);
    }

    /// Marks the live cell at `addr`.
    #[inline]
    fn mark_addr(&mut self, addr: usize) {
        // SAFETY: reported addresses are live cells (or immortal ones, which have no block).
        let header = unsafe { &*(addr as *const CellHeader) };
        if header.color() == color::IMMORTAL {
            return;
        }
        debug_assert!(header.kind() != CellKind::Free, "a dead cell was reported: {addr:#x}");
        // SAFETY: a cell that is not immortal lies in a block.
        let block = unsafe { &*Block::of(addr) };
        debug_assert!(
            self.heap.holds_cell(block, addr),
            "not a cell, or one that is not made yet: {addr:#x}"
        );
        if block.mark(block.index_of(addr)) {
            header.set_color(color::BLACK);
            self.heap.mark.stack.push(header);
        }
    }

    /// Marks whatever cell contains the address `word`, if any.
    #[inline]
    pub fn conservative(&mut self, word: usize) {
        let Some(block) = self.heap.chunks.block_containing(word) else { return };
        // SAFETY: the chunk table says that a block header is there.
        let block = unsafe { &*block };
        if word < block.cell_addr(0) {
            return;
        }
        let index = block.index_of(word);
        if index >= block.cell_count as usize || !block.is_allocated(index) {
            return;
        }
        let cell = block.cell_addr(index);
        // Between two steps of a marking runs are open, and the saved registers of a coroutine may hold any word.
        if !self.heap.is_handed_out_later(block, cell) {
            // SAFETY: an allocated cell is there.
            let header = unsafe { moving_start::current(cell as *const CellHeader) };
            self.mark_addr(header as usize);
        }
    }

    /// Traces up to `budget` units of work (cells, and elements of arrays); what is left of the budget.
    fn drain_some(&mut self, budget: usize) -> usize {
        let mut left = budget;
        while left > 0 {
            if let Some(header) = self.heap.mark.stack.pop() {
                // SAFETY: only marked, live cells are on the stack.
                left = left.saturating_sub(1 + unsafe { self.trace_cell(header) } / 8);
            } else if let Some((array, from)) = self.heap.mark.arrays.pop() {
                // SAFETY: only marked, live arrays are on the list.
                left = left.saturating_sub(unsafe { self.trace_portion(array, from) });
            } else if let Some((table, from)) = self.heap.mark.tables.pop() {
                // SAFETY: only marked, live data cells are on the list.
                unsafe { self.trace_table(table, from) };
                left = left.saturating_sub(limits::GC_ARRAY_PORTION as usize / 4);
            } else {
                break;
            }
        }
        left
    }

    /// Traces until nothing is left.
    fn drain(&mut self) {
        while !self.heap.mark.nothing_left() {
            self.drain_some(usize::MAX);
        }
    }

    /// Reports the children of a cell; roughly how many there were beyond a few.
    ///
    /// # Safety
    /// `header` is the header of a live cell.
    unsafe fn trace_cell(&mut self, header: *const CellHeader) -> usize {
        // SAFETY: promised by the caller; each arm's cast follows from the kind.
        unsafe {
            let header = moving_start::current(header);
            match (*header).kind() {
                CellKind::Object => (*(header as *const JsObject)).trace(self),
                CellKind::ValueArray => {
                    let array = header as *const ValueArray;
                    (*array).take_dirty_start();
                    return self.trace_array(array, 0);
                }
                CellKind::String => (*(header as *const StringCell)).trace(self),
                CellKind::Shape => (*(header as *const Shape)).trace(self),
                CellKind::Accessor => (*(header as *const super::Accessor)).trace(self),
                CellKind::Symbol => (*(header as *const SymbolCell)).trace(self),
                CellKind::Data => self.trace_data(header),
                CellKind::BigInt | CellKind::Moved | CellKind::Free => {}
            }
        }
        0
    }

    /// Reports what hangs on an array, and its values from `from` on; of a long one in portions.
    ///
    /// # Safety
    /// `array` is live.
    unsafe fn trace_array(&mut self, array: *const ValueArray, from: u32) -> usize {
        // SAFETY: promised by the caller.
        let a = unsafe { &*array };
        if let Some(tail) = a.tail() {
            self.cell(tail);
        }
        if a.len().saturating_sub(from) > limits::GC_ARRAY_PORTION {
            self.heap.mark.arrays.push((array, from));
            return 0;
        }
        self.values_ahead(a, from..a.len());
        a.len().saturating_sub(from) as usize
    }

    /// Reports some values of an array. Those of a long one lie all over the heap, so their headers are fetched ahead.
    #[inline]
    fn values_ahead(&mut self, array: &ValueArray, range: std::ops::Range<u32>) {
        if range.len() <= limits::GC_FETCHED_AHEAD as usize {
            range.for_each(|i| self.value(array.get(i)));
            return;
        }
        for i in range {
            fetch(array.get(i + limits::GC_FETCHED_AHEAD));
            self.value(array.get(i));
        }
    }

    /// # Safety
    /// `array` is live.
    unsafe fn trace_portion(&mut self, array: *const ValueArray, from: u32) -> usize {
        // SAFETY: promised by the caller. The part that has been taken off meanwhile was traced or is dead.
        let (a, from) = unsafe {
            let (now, index) = moving_start::current_index(array, from);
            (&*now, index.unwrap_or(0))
        };
        let array: *const ValueArray = a;
        let to = a.len().min(from.saturating_add(limits::GC_ARRAY_PORTION));
        self.values_ahead(a, from..to);
        if to < a.len() {
            self.heap.mark.arrays.push((array, to));
        }
        1 + to.saturating_sub(from) as usize / 8
    }

    /// # Safety
    /// `header` is the header of a live data cell.
    unsafe fn trace_data(&mut self, header: *const CellHeader) {
        // SAFETY: promised by the caller.
        let vtable = unsafe { (*(header as *const DataHead)).vtable };
        if !vtable.barriered {
            self.heap.mark.unbarriered.push(header);
        }
        if vtable.weak {
            self.heap.mark.weak.push(header);
        }
        // SAFETY: promised by the caller.
        unsafe { self.trace_table(header, 0) };
    }

    /// Reports what a data cell holds, of a long table a portion.
    ///
    /// # Safety
    /// `header` is the header of a live data cell.
    unsafe fn trace_table(&mut self, header: *const CellHeader, from: usize) {
        // SAFETY: promised by the caller; the function table belongs to the cell.
        let next = unsafe { ((*(header as *const DataHead)).vtable.trace)(header as *const (), self, from) };
        if let Some(next) = next {
            self.heap.mark.tables.push((header, next));
        }
    }

    /// Traces again the live data cells that promise no barrier.
    fn retrace_unbarriered(&mut self) {
        for i in 0..self.heap.mark.unbarriered.len() {
            let header = self.heap.mark.unbarriered[i];
            // SAFETY: the list holds live data cells.
            unsafe { self.trace_table(header, 0) };
        }
    }

    /// Traces again the remembered cells. In a full marking, those not reached yet wait until they are.
    fn retrace_remembered(&mut self) {
        for header in std::mem::take(self.heap.remembered()) {
            // SAFETY: a remembered cell was live when it was written, and nothing has been swept since.
            unsafe {
                let header = moving_start::current(header);
                if self.full && !is_marked_addr(header as usize) {
                    // It is traced when it is reached, with what it holds then; until then stores need no barrier.
                    (*header).set_color(color::WHITE);
                    continue;
                }
                (*header).set_color(color::BLACK);
                self.retrace(header);
            }
        }
        let elements = std::mem::take(self.heap.remembered_elements());
        self.heap.stats.elements_traced_again += elements.len() as u64;
        for (array, i) in elements {
            // SAFETY: such an array is on the remembered list, too.
            unsafe {
                let (array, i) = moving_start::current_index(array, i);
                if let Some(i) = i.filter(|_| !self.full || is_marked_addr(array as usize)) {
                    self.value((*array).get(i));
                }
            }
        }
    }

    /// Reports the children of a cell that was traced before, without listing it again.
    ///
    /// # Safety
    /// `header` is the header of a live cell.
    unsafe fn retrace(&mut self, header: *const CellHeader) {
        // SAFETY: promised by the caller.
        unsafe {
            match (*header).kind() {
                CellKind::Data => {
                    if ((*(header as *const DataHead)).vtable.trace_written)(header as *const (), self) {
                        self.trace_table(header, 0);
                    }
                }
                CellKind::ValueArray => {
                    let array = header as *const ValueArray;
                    let from = (*array).take_dirty_start();
                    self.heap.stats.elements_traced_again += u64::from((*array).len() - from);
                    self.trace_array(array, from);
                }
                _ => {
                    self.trace_cell(header);
                }
            }
        }
    }

    fn settle_ephemerons(&mut self) {
        let mut i = 0;
        loop {
            while let Some(&header) = self.heap.mark.weak.get(i) {
                i += 1;
                // SAFETY: the list holds live data cells.
                unsafe {
                    ((*(header as *const DataHead)).vtable.trace_ephemerons)(header as *const (), self)
                };
            }
            if self.heap.mark.nothing_left() {
                break;
            }
            // Every cell that is reached from here on may be a key that a value waits for.
            while let Some(header) = self.heap.mark.stack.pop() {
                for value in self.heap.mark.waiting.remove(&(header as usize)).unwrap_or_default() {
                    self.value(value);
                }
                // SAFETY: only marked, live cells are on the stack.
                unsafe { self.trace_cell(header) };
            }
            while let Some((array, from)) = self.heap.mark.arrays.pop() {
                // SAFETY: only marked, live arrays are on the list.
                unsafe { self.trace_portion(array, from) };
            }
            while let Some((table, from)) = self.heap.mark.tables.pop() {
                // SAFETY: only marked, live data cells are on the list.
                unsafe { self.trace_table(table, from) };
            }
        }
        self.heap.mark.waiting = FxHashMap::default();
    }

    fn sweep_weak(&mut self) {
        for i in 0..self.heap.mark.weak.len() {
            let header = self.heap.mark.weak[i];
            // SAFETY: the list holds live data cells.
            unsafe { ((*(header as *const DataHead)).vtable.sweep_weak)(header as *const (), self) };
        }
    }
}

/// Has the processor fetch the header of the cell that `v` may be, which will be needed soon.
#[inline(always)]
pub(crate) fn fetch(v: Value) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, which any word may be given to.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(v.to_bits() as *const i8);
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = v;
}

/// Whether the cell at `addr` is live after marking.
pub(crate) fn is_marked_addr(addr: usize) -> bool {
    // SAFETY: the caller has a pointer to a cell that has not been swept yet.
    unsafe {
        if (*(addr as *const CellHeader)).color() == color::IMMORTAL {
            return true;
        }
        let block = &*Block::of(addr);
        block.is_marked(block.index_of(addr))
    }
}

/// Starts a full marking and scans the roots.
pub(crate) fn begin_full(heap: &mut Heap, roots: impl FnOnce(&mut Tracer<'_>)) {
    heap.flush();
    heap.stats.peak_bytes = heap.stats.peak_bytes.max(heap.used_bytes());
    heap.for_each_block(Block::clear_marks);
    let mark = &mut heap.mark;
    mark.stack.clear();
    mark.arrays.clear();
    mark.tables.clear();
    mark.unbarriered.clear();
    mark.weak.clear();
    mark.shapes.clear();
    mark.settled = false;
    mark.phase = Phase::Marking(1);
    roots(&mut Tracer { heap, full: true, finalization: Default::default() });
}

/// Marks for a bounded amount of work; true when nothing is left of this round.
pub(crate) fn mark_step(heap: &mut Heap, budget: usize) -> bool {
    let mut tracer = Tracer { heap, full: true, finalization: Default::default() };
    tracer.drain_some(budget);
    heap.mark.nothing_left()
}

/// Traces again the remembered cells, of which there are many, so that the next round finds few.
pub(crate) fn relieve(heap: &mut Heap) {
    let mut tracer = Tracer { heap, full: true, finalization: Default::default() };
    tracer.retrace_remembered();
}

/// Scans the roots and the remembered cells again.
pub(crate) fn next_round(heap: &mut Heap, roots: impl FnOnce(&mut Tracer<'_>)) {
    heap.flush();
    if let Phase::Marking(n) = heap.mark.phase {
        heap.mark.phase = Phase::Marking(n + 1);
    }
    let mut tracer = Tracer { heap, full: true, finalization: Default::default() };
    tracer.retrace_remembered();
    tracer.retrace_unbarriered();
    roots(&mut tracer);
}

/// Ends a full marking: one last round, then weak data, then the sweeper takes over. `weak` settles tables outside the
/// heap that refer to cells weakly.
pub(crate) fn finish(heap: &mut Heap, roots: impl FnOnce(&mut Tracer<'_>), weak: impl FnOnce(&Tracer<'_>)) {
    next_round(heap, roots);
    let mut tracer = Tracer { heap, full: true, finalization: Default::default() };
    tracer.drain();
    settle(&mut tracer, weak);
    for shape in std::mem::take(&mut heap.mark.shapes) {
        shape.prune_transitions();
    }
    heap.mark.phase = Phase::Idle;
    heap.sweep_all();
    heap.stats.full_collections += 1;
    heap.stats.live_bytes = heap.used_bytes();
    heap.schedule_full();
    heap.schedule_next();
    heap.release_pages();
}

fn settle(tracer: &mut Tracer<'_>, weak: impl FnOnce(&Tracer<'_>)) {
    tracer.settle_ephemerons();
    tracer.sweep_weak();
    weak(tracer);
    if tracer.finalization.get() {
        tracer.heap.roots.set_finalization_due(true);
    }
}

/// A young collection, in one stop.
pub(crate) fn young(heap: &mut Heap, roots: impl FnOnce(&mut Tracer<'_>), weak: impl FnOnce(&Tracer<'_>)) {
    heap.flush();
    heap.stats.peak_bytes = heap.stats.peak_bytes.max(heap.used_bytes());
    let mut tracer = Tracer { heap, full: false, finalization: Default::default() };
    tracer.retrace_remembered();
    tracer.retrace_unbarriered();
    roots(&mut tracer);
    tracer.drain();
    settle(&mut tracer, weak);
    heap.mark.shapes.clear();
    heap.sweep_young();
    heap.stats.young_collections += 1;
    heap.adapt_nursery();
    heap.schedule_next();
    heap.release_pages();
}
