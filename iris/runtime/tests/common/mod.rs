//! What the tests on real threads share: how long they wait for what has to come.

use std::time::{Duration, Instant};

/// Under Miri time is virtual, and every step of the interpreter takes microseconds of it.
pub const LONG: Duration = Duration::from_secs(if cfg!(miri) { 2_000 } else { 20 });

pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + LONG;
    while !done() {
        assert!(Instant::now() < until, "gave up waiting for: {what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}
