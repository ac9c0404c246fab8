//! Room for deep recursion: when the native stack is nearly used up, work goes on on a segment of memory of its own, so that
//! a script may nest as deeply as its limits allow and not as deeply as the stack that the process happens to have.
//!
//! Own code because `stacker` reads the process's memory map at its first question, which costs more than the shell's start.
//! Each thread knows the lowest address that its work may reach (`FLOOR`); the segments of a thread are a stack themselves, each
//! unmapped when the work on it returns. Where switching is not implemented for the processor, the stack stays as it is.

use crate::limits;
use std::cell::Cell;

thread_local! {
    /// The lowest address that work may reach before it moves to a new segment; 0 before it is known.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
    /// How many segments are in use.
    static SEGMENTS: Cell<usize> = const { Cell::new(0) };
    /// The segment that was left last: a loop that crosses a border again and again maps no memory each time.
    static SPARE: Cell<Option<Segment>> = const { Cell::new(None) };
}

/// About where the stack pointer is.
#[inline(always)]
fn here() -> usize {
    let marker = 0u8;
    &raw const marker as usize
}

/// Whether so little stack is left that deeper work needs a new segment.
#[inline]
fn is_used_up() -> bool {
    let floor = FLOOR.get();
    if floor != 0 {
        return here() < floor;
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes one `rlimit`.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
    let half = usize::try_from(limit.rlim_cur / 2).unwrap_or(usize::MAX);
    FLOOR.set(here().saturating_sub(half.min(limits::NATIVE_STACK_BYTES)));
    false
}

/// Whether neither the stack nor another segment has room.
pub fn is_exhausted() -> bool {
    is_used_up() && (SEGMENTS.get() >= limits::STACK_SEGMENTS_MAX || !CAN_SWITCH)
}

/// Runs `work` with enough stack for another level of recursion. What recurses without end asks `is_exhausted` before.
#[inline]
pub fn with_room<T>(work: impl FnOnce() -> T) -> T {
    if is_used_up() && SEGMENTS.get() < limits::STACK_SEGMENTS_MAX { on_segment(work) } else { work() }
}

/// What `run` is given: the work, and then its result or the panic that ended it.
struct Call<F, T> {
    work: Option<F>,
    result: Option<std::thread::Result<T>>,
}

#[inline(never)]
fn on_segment<F: FnOnce() -> T, T>(work: F) -> T {
    let Some(segment) = SPARE.take().or_else(Segment::new).filter(|_| CAN_SWITCH) else { return work() };
    let floor = FLOOR.replace(segment.base as usize + limits::STACK_RESERVE_BYTES);
    SEGMENTS.set(SEGMENTS.get() + 1);
    let mut call = Call { work: Some(work), result: None };
    // SAFETY: the top is the end of a mapping of `STACK_SEGMENT_BYTES` that lives until the call has returned, aligned as a page;
    // `call` outlives it as well, and `run::<F, T>` is the function for its type.
    unsafe { switch(segment.top(), (&raw mut call).cast(), run::<F, T>) };
    SEGMENTS.set(SEGMENTS.get() - 1);
    FLOOR.set(floor);
    SPARE.set(Some(segment));
    match call.result {
        Some(Ok(result)) => result,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => std::process::abort(),
    }
}

/// Runs on the new segment. No panic leaves it: there is nothing above to unwind into.
unsafe extern "C" fn run<F: FnOnce() -> T, T>(data: *mut libc::c_void) {
    // SAFETY: `on_segment` passes a pointer to its own `Call<F, T>`, which nothing else uses meanwhile.
    let call = unsafe { &mut *data.cast::<Call<F, T>>() };
    if let Some(work) = call.work.take() {
        call.result = Some(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)));
    }
}

/// Memory for a stack, with pages below that nothing may touch.
struct Segment {
    base: *mut libc::c_void,
}

/// A page of the largest size in use.
const GUARD_BYTES: usize = 64 << 10;

impl Segment {
    fn new() -> Option<Segment> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping touches no memory that is in use.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                limits::STACK_SEGMENT_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let segment = Segment { base };
        // SAFETY: the first pages of the mapping just made, which nothing uses yet.
        let guarded = unsafe { libc::mprotect(base, GUARD_BYTES, libc::PROT_NONE) };
        (guarded == 0).then_some(segment)
    }

    fn top(&self) -> usize {
        self.base as usize + limits::STACK_SEGMENT_BYTES
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length, and no work is on it any more.
        unsafe { libc::munmap(self.base, limits::STACK_SEGMENT_BYTES) };
    }
}

const CAN_SWITCH: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Calls `run(data)` with the stack pointer at `top`.
///
/// # Safety
/// `top` is 16-byte aligned and ends enough writable memory; `run` neither unwinds nor keeps `data`.
#[cfg(target_arch = "x86_64")]
unsafe fn switch(top: usize, data: *mut libc::c_void, run: unsafe extern "C" fn(*mut libc::c_void)) {
    // SAFETY: the old stack pointer is kept in r13, which a C function preserves; everything else that it may change is declared.
    unsafe {
        std::arch::asm!(
            "mov r13, rsp",
            "mov rsp, r12",
            "call {run}",
            "mov rsp, r13",
            run = in(reg) run,
            in("r12") top,
            out("r13") _,
            in("rdi") data,
            clobber_abi("C"),
        );
    }
}

/// Calls `run(data)` with the stack pointer at `top`.
///
/// # Safety
/// `top` is 16-byte aligned and ends enough writable memory; `run` neither unwinds nor keeps `data`.
#[cfg(target_arch = "aarch64")]
unsafe fn switch(top: usize, data: *mut libc::c_void, run: unsafe extern "C" fn(*mut libc::c_void)) {
    // SAFETY: the old stack pointer is kept in x21, which a C function preserves; everything else that it may change is declared.
    unsafe {
        std::arch::asm!(
            "mov x21, sp",
            "mov sp, x20",
            "blr {run}",
            "mov sp, x21",
            run = in(reg) run,
            in("x20") top,
            out("x21") _,
            in("x0") data,
            clobber_abi("C"),
        );
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn switch(_top: usize, _data: *mut libc::c_void, _run: unsafe extern "C" fn(*mut libc::c_void)) {}
