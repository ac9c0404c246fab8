//! The slab of cells: pid in, cell out. Owns slots and their generations. Invariant: a slot's generation grows each time
//! its cell leaves, so a stale pid never resolves. Chunks double in size and are never moved or freed before the slab is, so a slot is
//! found with two shifts; a free slot keeps 32 bytes. Leaves the life of cells to their `Arc`s.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::cell::AnyCell;
use crate::limits::{SLAB_CHUNKS, SLAB_FIRST_CHUNK};
use crate::pid::Pid;

struct Slot {
    generation: u32,
    cell: Option<Arc<dyn AnyCell>>,
}

type Chunk = Box<[Mutex<Slot>]>;

pub(crate) struct Slab {
    chunks: [OnceLock<Chunk>; SLAB_CHUNKS],
    next: AtomicU32,
    free: Mutex<Vec<u32>>,
}

impl Slab {
    pub(crate) fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; SLAB_CHUNKS],
            next: AtomicU32::new(0),
            free: Mutex::new(Vec::new()),
        }
    }

    fn locate(index: u32) -> (usize, usize) {
        let shifted = index as usize + SLAB_FIRST_CHUNK;
        let chunk = (shifted.ilog2() - SLAB_FIRST_CHUNK.ilog2()) as usize;
        (chunk, shifted - (SLAB_FIRST_CHUNK << chunk))
    }

    fn slot(&self, index: u32) -> Option<&Mutex<Slot>> {
        let (chunk, offset) = Self::locate(index);
        self.chunks.get(chunk)?.get()?.get(offset)
    }

    /// Reserves a slot and tells its pid; `put` must follow. `None` when the slab is full.
    pub(crate) fn reserve(&self) -> Option<Pid> {
        let reused = self.free.lock().pop();
        let index = match reused {
            Some(index) => index,
            None => self
                .next
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| next.checked_add(1))
                .ok()?,
        };
        let (chunk, _) = Self::locate(index);
        self.chunks.get(chunk)?.get_or_init(|| {
            let size = SLAB_FIRST_CHUNK << chunk;
            (0..size).map(|_| Mutex::new(Slot { generation: 1, cell: None })).collect()
        });
        let generation = self.slot(index)?.lock().generation;
        Some(Pid::new(index, generation))
    }

    pub(crate) fn put(&self, pid: Pid, cell: Arc<dyn AnyCell>) {
        if let Some(slot) = self.slot(pid.index()) {
            slot.lock().cell = Some(cell);
        }
    }

    pub(crate) fn get(&self, pid: Pid) -> Option<Arc<dyn AnyCell>> {
        let slot = self.slot(pid.index())?.lock();
        if slot.generation == pid.generation() { slot.cell.clone() } else { None }
    }

    /// Runs `body` on the cell while its slot is locked: saves the reference count on the hot path.
    pub(crate) fn with<R>(&self, pid: Pid, body: impl FnOnce(&Arc<dyn AnyCell>) -> R) -> Option<R> {
        let slot = self.slot(pid.index())?.lock();
        if slot.generation == pid.generation() { slot.cell.as_ref().map(body) } else { None }
    }

    pub(crate) fn remove(&self, pid: Pid) {
        let Some(slot) = self.slot(pid.index()) else { return };
        let mut slot = slot.lock();
        if slot.generation != pid.generation() {
            return;
        }
        let cell = slot.cell.take();
        slot.generation = slot.generation.wrapping_add(1);
        // A slot whose generation would start again is retired rather than reused.
        let reusable = slot.generation != 0;
        drop(slot);
        if reusable {
            self.free.lock().push(pid.index());
        }
        drop(cell);
    }

    /// All living cells, in index order.
    pub(crate) fn all(&self) -> Vec<Arc<dyn AnyCell>> {
        let mut cells = Vec::new();
        for chunk in self.chunks.iter().filter_map(OnceLock::get) {
            cells.extend(chunk.iter().filter_map(|slot| slot.lock().cell.clone()));
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_find_their_chunk() {
        assert_eq!(Slab::locate(0), (0, 0));
        assert_eq!(Slab::locate(63), (0, 63));
        assert_eq!(Slab::locate(64), (1, 0));
        assert_eq!(Slab::locate(191), (1, 127));
        assert_eq!(Slab::locate(192), (2, 0));
        assert!(Slab::locate(u32::MAX - 64).0 < SLAB_CHUNKS + 2);
    }
}
