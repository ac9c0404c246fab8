//! Clocks and times.

pub use super::platform::{random_u32, start_seconds};
use crate::Bytes;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds and microseconds since the epoch.
pub fn now() -> (i64, u32) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs() as i64, since.subsec_micros())
}

/// Seconds since the epoch.
pub fn now_seconds() -> i64 {
    now().0
}

/// Seconds of the clock that nobody sets.
pub fn monotonic_seconds() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills a live structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec
}

/// Real, user and system time so far, in microseconds; the processor's times include children.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clocks {
    /// Monotonic time.
    pub real_us: u64,
    /// User time.
    pub user_us: u64,
    /// System time.
    pub system_us: u64,
}

/// Reads the clocks.
pub fn clocks() -> Clocks {
    let mut clocks = Clocks::default();
    let micros = |t: libc::timeval| t.tv_sec as u64 * 1_000_000 + t.tv_usec as u64;
    // SAFETY: both calls fill live structures.
    unsafe {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        clocks.real_us = time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000;
        for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &mut usage);
            clocks.user_us += micros(usage.ru_utime);
            clocks.system_us += micros(usage.ru_stime);
        }
    }
    clocks
}

/// `strftime` of local time.
pub fn format_time(format: &[u8], seconds: i64) -> Bytes {
    let Ok(format) = std::ffi::CString::new(format) else { return Bytes::new() };
    let mut buffer = vec![0u8; 256];
    let time = seconds as _;
    // SAFETY: localtime_r fills the structure; strftime writes at most the buffer's length.
    let n = unsafe {
        let mut fields: libc::tm = std::mem::zeroed();
        libc::localtime_r(&time, &mut fields);
        libc::strftime(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr(), &fields)
    };
    buffer.truncate(n);
    buffer
}
