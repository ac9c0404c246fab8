//! The slab of cells: pid in, cell out. Owns slots and their generations. Invariant: a slot's generation grows each time
//! its cell leaves, so a stale pid never resolves. Leaves the life of cells to their `Arc`s.
//!
//! Slots lie in pages of 64 with one lock each. A page whose slots are all free gives its memory back and keeps the highest of their
//! generations: from there they go on when it is used again. The headers of the pages (32 bytes each) lie in chunks, which double in
//! size and are never moved or freed before the slab is, so a page is found with two shifts.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::cell::AnyCell;
use crate::limits::{SLAB_CHUNKS, SLAB_FIRST_CHUNK, SLAB_PAGES_KEPT};
use crate::pid::Pid;

/// Slots of a page: as many as a word has bits.
const PAGE: u32 = u64::BITS;

struct Slot {
    generation: u32,
    cell: Option<Arc<dyn AnyCell>>,
}

struct Page {
    /// A bit for each slot that may be given out.
    free: u64,
    /// The generation of all slots while there is no memory for them.
    generation: u32,
    /// Whether the slab's list of pages with free slots has it.
    listed: bool,
    slots: Option<Box<[Slot]>>,
}

impl Page {
    /// One that nothing is known of, with all its slots free.
    fn fresh() -> Self {
        Self { free: u64::MAX, generation: 1, listed: false, slots: None }
    }

    /// Reserves the lowest free slot; its place and generation.
    fn take(&mut self) -> Option<(u32, u32)> {
        let at = self.free.trailing_zeros();
        if at == PAGE {
            return None;
        }
        self.free &= self.free - 1;
        let generation = self.generation;
        let slots =
            self.slots.get_or_insert_with(|| (0..PAGE).map(|_| Slot { generation, cell: None }).collect());
        Some((at, slots[at as usize].generation))
    }

    /// The slot of a pid, if it still is that pid's.
    fn slot(&mut self, pid: Pid) -> Option<&mut Slot> {
        let slot = self.slots.as_mut()?.get_mut((pid.index() % PAGE) as usize)?;
        (slot.generation == pid.generation()).then_some(slot)
    }

    /// Lets go of memory that nobody uses. A retired slot is never free, so its page stays.
    fn shrink(&mut self) {
        if self.free == u64::MAX
            && let Some(slots) = self.slots.take()
        {
            self.generation = slots.iter().map(|slot| slot.generation).max().unwrap_or(self.generation);
        }
    }
}

pub(crate) struct Slab {
    chunks: [OnceLock<Box<[Mutex<Page>]>>; SLAB_CHUNKS],
    listing: Mutex<Listing>,
}

/// Where there is room. Its lock may be held when a page's is taken, and never the other way round.
#[derive(Default)]
struct Listing {
    /// Pages that have free slots.
    free: Vec<u32>,
    /// The first page that has never been used.
    next: u32,
}

impl Slab {
    pub(crate) fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; SLAB_CHUNKS], listing: Mutex::default() }
    }

    fn locate(page: u32) -> (usize, usize) {
        let shifted = page as usize + SLAB_FIRST_CHUNK;
        let chunk = (shifted.ilog2() - SLAB_FIRST_CHUNK.ilog2()) as usize;
        (chunk, shifted - (SLAB_FIRST_CHUNK << chunk))
    }

    fn page(&self, page: u32) -> Option<&Mutex<Page>> {
        let (chunk, offset) = Self::locate(page);
        self.chunks.get(chunk)?.get()?.get(offset)
    }

    /// Makes sure that there is a header for the page.
    fn make_page(&self, page: u32) -> Option<()> {
        let (chunk, _) = Self::locate(page);
        self.chunks
            .get(chunk)?
            .get_or_init(|| (0..SLAB_FIRST_CHUNK << chunk).map(|_| Mutex::new(Page::fresh())).collect());
        Some(())
    }

    /// Reserves a slot and tells its pid; `put` must follow. `None` when the slab is full.
    pub(crate) fn reserve(&self) -> Option<Pid> {
        let mut listing = self.listing.lock();
        let number = match listing.free.last() {
            Some(number) => *number,
            None => {
                let number = listing.next;
                number.checked_mul(PAGE)?;
                self.make_page(number)?;
                listing.next += 1;
                listing.free.push(number);
                number
            }
        };
        let mut page = self.page(number)?.lock();
        let (at, generation) = page.take()?;
        page.listed = page.free != 0;
        if !page.listed {
            listing.free.pop();
        }
        Some(Pid::new(number * PAGE + at, generation))
    }

    pub(crate) fn put(&self, pid: Pid, cell: Arc<dyn AnyCell>) {
        if let Some(page) = self.page(pid.index() / PAGE)
            && let Some(slot) = page.lock().slot(pid)
        {
            slot.cell = Some(cell);
        }
    }

    pub(crate) fn get(&self, pid: Pid) -> Option<Arc<dyn AnyCell>> {
        self.page(pid.index() / PAGE)?.lock().slot(pid)?.cell.clone()
    }

    /// Whether the cell is here: saves the reference count.
    pub(crate) fn contains(&self, pid: Pid) -> bool {
        self.page(pid.index() / PAGE)
            .is_some_and(|page| page.lock().slot(pid).is_some_and(|slot| slot.cell.is_some()))
    }

    pub(crate) fn remove(&self, pid: Pid) {
        let number = pid.index() / PAGE;
        let Some(page) = self.page(number) else { return };
        let mut page = page.lock();
        let Some(slot) = page.slot(pid) else { return };
        let cell = slot.cell.take();
        slot.generation = slot.generation.wrapping_add(1);
        // A slot whose generation would start again is retired rather than reused.
        let reusable = slot.generation != 0;
        let mut unlisted = false;
        if reusable {
            page.free |= 1 << (pid.index() % PAGE);
            unlisted = !std::mem::replace(&mut page.listed, true);
            if number as usize >= SLAB_PAGES_KEPT {
                page.shrink();
            }
        }
        drop(page);
        if unlisted {
            self.listing.lock().free.push(number);
        }
        drop(cell);
    }

    /// All living cells, in index order.
    pub(crate) fn all(&self) -> Vec<Arc<dyn AnyCell>> {
        let mut cells = Vec::new();
        for page in self.chunks.iter().filter_map(OnceLock::get).flatten() {
            let page = page.lock();
            cells.extend(page.slots.iter().flatten().filter_map(|slot| slot.cell.clone()));
        }
        cells
    }
}

#[cfg(all(test, not(iris_loom)))]
mod tests {
    use super::*;

    #[test]
    fn pages_find_their_chunk() {
        assert_eq!(Slab::locate(0), (0, 0));
        assert_eq!(Slab::locate(15), (0, 15));
        assert_eq!(Slab::locate(16), (1, 0));
        assert_eq!(Slab::locate(47), (1, 31));
        assert_eq!(Slab::locate(48), (2, 0));
        assert!(Slab::locate(u32::MAX / PAGE).0 < SLAB_CHUNKS);
    }

    /// The slots of more pages than are kept. (Miri interprets, so it keeps few and gets by with few.)
    const COUNT: u32 = PAGE * if cfg!(miri) { SLAB_PAGES_KEPT as u32 + 2 } else { 40 };

    fn reserve(slab: &Slab, count: u32) -> Vec<Pid> {
        (0..count).filter_map(|_| slab.reserve()).collect()
    }

    /// Slots that there is memory for.
    fn backed(slab: &Slab) -> usize {
        let pages = slab.chunks.iter().filter_map(OnceLock::get).flatten();
        pages.map(|page| page.lock().slots.as_ref().map_or(0, |slots| slots.len())).sum()
    }

    #[test]
    fn empty_pages_give_their_memory_back_and_no_pid_comes_twice() {
        let slab = Slab::new();
        let mut seen = std::collections::HashSet::new();
        for round in 0..3 {
            let pids = reserve(&slab, COUNT);
            assert_eq!(backed(&slab), COUNT as usize);
            assert!(pids.iter().all(|pid| pid.index() < COUNT), "room that was there is used again");
            for pid in &pids {
                assert!(seen.insert(*pid), "{pid} comes again in round {round}");
            }
            pids.iter().for_each(|pid| slab.remove(*pid));
            // Removed twice is removed once.
            pids.iter().for_each(|pid| slab.remove(*pid));
            assert_eq!(backed(&slab), SLAB_PAGES_KEPT * PAGE as usize);
        }
    }

    #[test]
    fn a_page_with_one_reserved_slot_stays() {
        let slab = Slab::new();
        let pids = reserve(&slab, COUNT);
        let (kept, gone) = pids.split_at(pids.len() - 1);
        kept.iter().for_each(|pid| slab.remove(*pid));
        assert_eq!(backed(&slab), (SLAB_PAGES_KEPT + 1) * PAGE as usize);
        slab.remove(gone[0]);
        assert_eq!(backed(&slab), SLAB_PAGES_KEPT * PAGE as usize);
    }

    #[test]
    fn a_slot_whose_generation_ran_out_is_retired_and_keeps_its_page() {
        let slab = Slab::new();
        let pids = reserve(&slab, COUNT);
        let last = pids[pids.len() - 1];
        let page = slab.page(last.index() / PAGE).expect("it was used");
        page.lock().slot(last).expect("it is reserved").generation = u32::MAX;
        let worn = Pid::new(last.index(), u32::MAX);
        pids.iter().chain([&worn]).for_each(|pid| slab.remove(*pid));
        assert_eq!(backed(&slab), (SLAB_PAGES_KEPT + 1) * PAGE as usize);
        assert!(reserve(&slab, COUNT - 1).iter().all(|pid| pid.index() != last.index()));
    }
}
