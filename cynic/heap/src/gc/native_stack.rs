//! The native stack: its bounds (for the overflow guard) and its conservative scan.
//!
//! Invariant: the scan covers everything from the caller's frame to the stack's base, and the callee-saved
//! registers; a word that is not the address of a live cell is ignored by the tracer.

use std::cell::Cell;

use super::Tracer;

/// The part of the address space that is a stack, `low..high`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StackBounds {
    /// The lowest address the stack may grow down to.
    pub low: usize,
    /// One past the highest address.
    pub high: usize,
}

thread_local! {
    static BOUNDS: Cell<Option<StackBounds>> = const { Cell::new(None) };
}

impl StackBounds {
    /// The bounds of the current thread's own stack.
    pub fn of_current_thread() -> StackBounds {
        if let Some(b) = BOUNDS.get() {
            return b;
        }
        let b = query();
        BOUNDS.set(Some(b));
        b
    }
}

impl StackBounds {
    /// Bytes between here and the lowest address.
    pub fn room(&self) -> usize {
        address_of_frame().saturating_sub(self.low)
    }
}

fn query() -> StackBounds {
    let here = address_of_frame();
    let holds = |&(low, high): &(usize, usize)| low < here && here < high;
    match of_main_thread().filter(holds).or_else(of_system).filter(holds) {
        Some((low, high)) => StackBounds { low, high },
        // Unknown: assume a small stack around this frame, which errs on the side of an early RangeError.
        _ => StackBounds { low: here.saturating_sub(512 * 1024), high: here + 64 * 1024 },
    }
}

/// The same of the stack on which the kernel started the process, if this can be its thread. The C library would read a text of all mappings for that, a
/// fifth of what starting an empty program takes.
#[cfg(all(target_os = "linux", not(miri)))]
fn of_main_thread() -> Option<(usize, usize)> {
    /// Below this, the kernel keeps the room under a stack free of other mappings.
    const LIMIT_MAX: libc::rlim_t = 64 << 20;
    /// Pages are at most so large.
    const PAGE: usize = 64 << 10;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain calls; the out-pointer is valid.
    let (is_main, known) = unsafe {
        let is_main = libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid());
        (is_main, libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) == 0)
    };
    if !(is_main && known && limit.rlim_cur <= LIMIT_MAX) {
        return None;
    }
    // The kernel puts these above the first frame, the name of the program highest of all.
    // SAFETY: reads of what the kernel told the process.
    let (random, name) = unsafe { (libc::getauxval(libc::AT_RANDOM), libc::getauxval(libc::AT_EXECFN)) };
    if random == 0 || name == 0 {
        return None;
    }
    // The name may go on into the next page: the bound errs to the side of an early RangeError.
    let top = (name as usize).next_multiple_of(PAGE);
    Some((top.checked_sub(limit.rlim_cur as usize)? + PAGE, random as usize & !7))
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn of_main_thread() -> Option<(usize, usize)> {
    None
}

/// The lowest address of this thread's stack and the one above its highest.
#[cfg(not(any(miri, target_vendor = "apple")))]
fn of_system() -> Option<(usize, usize)> {
    // SAFETY: plain calls into the C library with valid out-pointers; the attribute object is destroyed again.
    unsafe {
        let mut attr: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attr) != 0 {
            return None;
        }
        let mut addr: *mut libc::c_void = std::ptr::null_mut();
        let mut size: libc::size_t = 0;
        let ok = libc::pthread_attr_getstack(&attr, &mut addr, &mut size) == 0;
        libc::pthread_attr_destroy(&mut attr);
        ok.then_some((addr as usize, addr as usize + size))
    }
}

/// The lowest address of this thread's stack and the one above its highest.
#[cfg(target_vendor = "apple")]
fn of_system() -> Option<(usize, usize)> {
    // SAFETY: two reads of what the C library knows of this thread.
    let (high, size) = unsafe {
        let this = libc::pthread_self();
        (libc::pthread_get_stackaddr_np(this) as usize, libc::pthread_get_stacksize_np(this))
    };
    Some((high.checked_sub(size)?, high))
}

/// An interpreter has no stack in memory.
#[cfg(miri)]
fn of_system() -> Option<(usize, usize)> {
    None
}

/// An address in the caller's frame.
#[inline(always)]
pub fn address_of_frame() -> usize {
    let marker = 0u8;
    std::hint::black_box(&raw const marker) as usize
}

/// Reports every word of the native stack above the caller, and the callee-saved registers.
#[inline(never)]
pub(crate) fn scan(tracer: &mut Tracer<'_>, high: usize) {
    let registers = callee_saved();
    for &word in std::hint::black_box(&registers) {
        tracer.conservative(word);
    }
    let mut at = (registers.as_ptr() as usize) & !7;
    while at + 8 <= high {
        // SAFETY: `at..high` lies between this frame and the base of the current stack, which is mapped; the read is
        // volatile because the words belong to other frames.
        let word = unsafe { std::ptr::read_volatile(at as *const usize) };
        tracer.conservative(word);
        at += 8;
    }
}

#[cfg(miri)]
fn callee_saved() -> [usize; 0] {
    []
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn callee_saved() -> [usize; 6] {
    let mut r = [0usize; 6];
    // SAFETY: only reads registers into the array.
    unsafe {
        std::arch::asm!(
            "mov [{0}], rbx", "mov [{0} + 8], rbp", "mov [{0} + 16], r12",
            "mov [{0} + 24], r13", "mov [{0} + 32], r14", "mov [{0} + 40], r15",
            in(reg) r.as_mut_ptr(), options(nostack, preserves_flags)
        );
    }
    r
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn callee_saved() -> [usize; 10] {
    let mut r = [0usize; 10];
    // SAFETY: only reads registers into the array.
    unsafe {
        std::arch::asm!(
            "stp x19, x20, [{0}]", "stp x21, x22, [{0}, #16]", "stp x23, x24, [{0}, #32]",
            "stp x25, x26, [{0}, #48]", "stp x27, x28, [{0}, #64]",
            in(reg) r.as_mut_ptr(), options(nostack, preserves_flags)
        );
    }
    r
}
