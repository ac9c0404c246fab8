//! The one lock of this crate and the server. Its content is reached by [`Locked::with`] only: no guard can outlive the closure, and a closure that would take any lock
//! of this crate is a panic with a message (which a call survives) and never a server that waits for itself. `clippy.toml` forbids the
//! standard library's locks beside it. Invariant: a panic in a closure poisons nothing: every critical section leaves its data whole.
#![allow(clippy::disallowed_types)]

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

thread_local! {
    static HELD: Cell<bool> = const { Cell::new(false) };
}

/// A value behind a lock.
#[derive(Debug, Default)]
pub struct Locked<T>(Mutex<T>);

impl<T> Locked<T> {
    /// Puts a value behind a lock.
    pub fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Gives `work` the value. What it drops and calls must take no lock of this crate.
    ///
    /// # Panics
    /// When this thread is inside another call of it.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let _held = Held::enter();
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// This thread is inside a [`Locked::with`].
struct Held;

impl Held {
    fn enter() -> Self {
        assert!(
            !HELD.replace(true),
            "a lock was taken inside another: take out what is needed, then look further"
        );
        Self
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.set(false);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::Locked;

    #[test]
    fn a_lock_inside_a_lock_is_a_panic_and_no_wait_without_end() {
        let (outer, other) = (Locked::new(1), Locked::new(2));
        for inner in [&outer, &other] {
            let nested =
                catch_unwind(AssertUnwindSafe(|| outer.with(|value| inner.with(|inner| *value += *inner))));
            assert!(nested.is_err());
        }
        assert_eq!(outer.with(|value| *value), 1, "it can be used afterwards");
    }
}
