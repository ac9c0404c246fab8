//! Marking: from roots to everything reachable, for young and full collections.
//!
//! Mark bits are sticky: a young collection keeps the marks of the last one, so that only cells allocated since,
//! the remembered cells (black cells written since) and the roots are traced. A full collection begins by
//! clearing all marks. Weak data is settled after marking: ephemerons to a fixpoint, then `sweep_weak`.
//! Invariant: after marking, a cell is live exactly when its mark bit is set (or it is immortal).

use super::block::Block;
use super::heap::Heap;
use super::{CellHeader, CellKind, DataHead, Gc, ValueArray, color};
use crate::object::JsObject;
use crate::property_key::PropertyKey;
use crate::shape::Shape;
use crate::string::StringCell;
use crate::symbol::SymbolCell;
use crate::value::Value;

/// What marking carries from step to step and from collection to collection.
#[derive(Default)]
pub(crate) struct MarkState {
    stack: Vec<*const CellHeader>,
    /// Live data cells that do not promise the barrier.
    unbarriered: Vec<*const CellHeader>,
    /// Live data cells with weak contents.
    weak: Vec<*const CellHeader>,
    /// Shapes reached in this full collection that have transitions to prune.
    shapes: Vec<Gc<Shape>>,
    active: bool,
}

impl MarkState {
    /// Whether marking is in progress.
    pub(crate) fn is_active(&self) -> bool {
        self.active
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
        if block.mark(block.index_of(addr)) {
            header.set_color(color::BLACK);
            self.heap.mark.stack.push(header);
        }
    }

    /// Marks whatever cell contains the address `word`, if any.
    #[inline]
    pub(crate) fn conservative(&mut self, word: usize) {
        let Some(block) = self.heap.chunks.block_containing(word) else { return };
        // SAFETY: the chunk table says that a block header is there.
        let block = unsafe { &*block };
        if word < block.cell_addr(0) {
            return;
        }
        let index = block.index_of(word);
        if index < block.cell_count as usize && block.is_allocated(index) {
            self.mark_addr(block.cell_addr(index));
        }
    }

    /// Traces until the mark stack is empty.
    fn drain(&mut self) {
        while let Some(header) = self.heap.mark.stack.pop() {
            // SAFETY: only marked, live cells are on the stack.
            unsafe { self.trace_cell(header) };
        }
    }

    /// Reports the children of a cell.
    ///
    /// # Safety
    /// `header` is the header of a live cell.
    unsafe fn trace_cell(&mut self, header: *const CellHeader) {
        // SAFETY: promised by the caller; each arm's cast follows from the kind.
        unsafe {
            match (*header).kind() {
                CellKind::Object => (*(header as *const JsObject)).trace(self),
                CellKind::ValueArray => {
                    for &v in (*(header as *const ValueArray)).as_slice() {
                        self.value(v);
                    }
                }
                CellKind::String => (*(header as *const StringCell)).trace(self),
                CellKind::Shape => (*(header as *const Shape)).trace(self),
                CellKind::Accessor => (*(header as *const super::Accessor)).trace(self),
                CellKind::Symbol => (*(header as *const SymbolCell)).trace(self),
                CellKind::Data => self.trace_data(header),
                CellKind::BigInt | CellKind::Free => {}
            }
        }
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
        // SAFETY: the table belongs to the cell.
        unsafe { (vtable.trace)(header as *const (), self) };
    }

    fn settle_ephemerons(&mut self) {
        loop {
            let mut changed = false;
            let mut i = 0;
            while let Some(&header) = self.heap.mark.weak.get(i) {
                i += 1;
                // SAFETY: the list holds live data cells.
                changed |= unsafe {
                    ((*(header as *const DataHead)).vtable.trace_ephemerons)(header as *const (), self)
                };
            }
            self.drain();
            if !changed {
                return;
            }
        }
    }

    fn sweep_weak(&mut self) {
        for i in 0..self.heap.mark.weak.len() {
            let header = self.heap.mark.weak[i];
            // SAFETY: the list holds live data cells.
            unsafe { ((*(header as *const DataHead)).vtable.sweep_weak)(header as *const (), self) };
        }
    }
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

/// Runs one whole collection. `roots` reports the roots; `weak` settles tables outside the heap that refer to cells
/// weakly (it may ask [`Tracer::is_marked`]).
pub(crate) fn collect(
    heap: &mut Heap,
    full: bool,
    mut roots: impl FnMut(&mut Tracer<'_>),
    weak: impl FnOnce(&Tracer<'_>),
) {
    heap.flush();
    heap.stats.peak_bytes = heap.stats.peak_bytes.max(heap.used_bytes());
    heap.mark.active = true;
    let remembered = std::mem::take(heap.remembered());
    let old_unbarriered = std::mem::take(&mut heap.mark.unbarriered);
    if full {
        heap.for_each_block(Block::clear_marks);
        heap.mark.weak.clear();
    }
    heap.mark.shapes.clear();
    let mut tracer = Tracer { heap, full, finalization: Default::default() };
    for &header in &remembered {
        // SAFETY: remembered cells were live at the last collection; in a young one they still are, and in a
        // full one they have not been swept yet.
        unsafe {
            (*header).set_color(color::BLACK);
            if !full {
                tracer.trace_cell(header);
            }
        }
    }
    if !full {
        for &header in &old_unbarriered {
            // SAFETY: live since the last collection, and kept by its mark.
            unsafe { tracer.trace_unbarriered(header) };
        }
    }
    roots(&mut tracer);
    tracer.drain();
    tracer.settle_ephemerons();
    tracer.sweep_weak();
    weak(&tracer);
    let finalization = tracer.finalization.get();
    if full {
        for shape in std::mem::take(&mut heap.mark.shapes) {
            shape.prune_transitions();
        }
    }
    heap.mark.active = false;
    heap.sweep();
    if finalization {
        heap.roots.set_finalization_due(true);
    }
    heap.schedule_next();
    let used = heap.used_bytes();
    if full {
        heap.stats.full_collections += 1;
        heap.stats.live_bytes = used;
        heap.full_at = used * 2 + heap.min_threshold;
        heap.chunks.release_free_pages(64 + heap.committed_bytes() / super::block::BLOCK_BYTES / 4);
    } else {
        heap.stats.young_collections += 1;
    }
}

impl Tracer<'_> {
    /// # Safety
    /// `header` is the header of a live data cell that is already marked.
    unsafe fn trace_unbarriered(&mut self, header: *const CellHeader) {
        self.heap.mark.unbarriered.push(header);
        // SAFETY: promised by the caller.
        unsafe { ((*(header as *const DataHead)).vtable.trace)(header as *const (), self) };
    }
}
