//! The order between the two output streams of a host that reads both through pipes. Two pipes say nothing of which was written first, so the
//! shell writes to one only when the host has taken what is in the other. A host asks for it; a shell of its own pays one load a write.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Between two looks at a pipe.
const LOOK_PAUSE_US: u64 = 20;
/// A host that takes nothing for so many looks (some 20 ms) gives up the order.
const LOOKS_MAX: u32 = 500;

static KEPT: AtomicBool = AtomicBool::new(false);

/// Says that descriptors 1 and 2 of this process are pipes whose order a host wants kept.
pub fn keep_stream_order(on: bool) {
    KEPT.store(on, Ordering::Relaxed);
}

/// Before a write to `fd`: lets the host take what the other stream holds.
pub(super) fn before_write(fd: RawFd) {
    if (fd == 1 || fd == 2) && KEPT.load(Ordering::Relaxed) {
        wait_until_taken(3 - fd);
    }
}

/// Before a program starts, which may write to either.
pub fn settle_streams() {
    if KEPT.load(Ordering::Relaxed) {
        wait_until_taken(1);
        wait_until_taken(2);
    }
}

fn wait_until_taken(fd: RawFd) {
    for _ in 0..LOOKS_MAX {
        if !holds_bytes(fd) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_micros(LOOK_PAUSE_US));
    }
}

fn holds_bytes(fd: RawFd) -> bool {
    let mut count: libc::c_int = 0;
    // SAFETY: the control command writes one integer, and `count` is one that lives through the call.
    let result = unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut count) };
    result == 0 && count > 0
}
