//! How much memory this process holds in large pieces, and the bound at which a utility that runs in it has to stop: a
//! program that takes too much ends alone, and what runs in the shell must not take the shell along.
//!
//! The allocator of the command reports to it; where another allocator is used nothing is known and nothing is bounded. A utility
//! asks whether it is to stop between steps, so the bound leaves room for what one step may take.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::resource;

static HELD: AtomicUsize = AtomicUsize::new(0);
static BOUND: AtomicUsize = AtomicUsize::new(usize::MAX);
static EXCEEDED: AtomicBool = AtomicBool::new(false);

/// Of what is free, a utility may take this part: a list that is full doubles, and what was read is put together again.
const PARTS: usize = 4;
/// What the process needs beside what is reported.
const BASE_BYTES: usize = 16 << 20;

/// So many bytes more are held.
pub fn grew(bytes: usize) {
    HELD.fetch_add(bytes, Ordering::Relaxed);
}

/// So many bytes less are held.
pub fn shrank(bytes: usize) {
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

/// Whether the utility that runs holds more than it may; then it stays so until it has ended.
pub fn is_exceeded() -> bool {
    if HELD.load(Ordering::Relaxed) > BOUND.load(Ordering::Relaxed) {
        EXCEEDED.store(true, Ordering::Relaxed);
    }
    EXCEEDED.load(Ordering::Relaxed)
}

/// The bound of one utility; the one around it holds again when it is dropped.
pub struct Bounded {
    around: usize,
}

impl Bounded {
    /// Bounds what is taken from now on.
    pub fn new() -> Bounded {
        let held = HELD.load(Ordering::Relaxed);
        let free = most().saturating_sub(held).saturating_sub(BASE_BYTES);
        let around = BOUND.load(Ordering::Relaxed);
        BOUND.store(around.min(held.saturating_add(free / PARTS)), Ordering::Relaxed);
        Bounded { around }
    }
}

impl Default for Bounded {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        BOUND.store(self.around, Ordering::Relaxed);
        EXCEEDED.store(false, Ordering::Relaxed);
    }
}

/// What this process can have at most: the machine's memory, or what is set as a limit.
#[allow(clippy::unnecessary_cast, reason = "the type of a resource differs between C libraries")]
fn most() -> usize {
    let soft = |resource: u32| resource::limits(resource).map_or(u64::MAX, |limits| limits.soft);
    let limit = soft(libc::RLIMIT_AS as u32).min(soft(libc::RLIMIT_DATA as u32));
    usize::try_from(limit).unwrap_or(usize::MAX).min(machine())
}

/// The bytes of memory that the machine has.
fn machine() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        // SAFETY: sysconf takes and returns numbers.
        let (pages, size) =
            unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        let known = usize::try_from(pages).ok().zip(usize::try_from(size).ok());
        known.map_or(usize::MAX, |(pages, size)| pages.saturating_mul(size))
    })
}
