//! The primitives of what loom checks (the mailbox's states, who of a pool is awake, a task's wake-ups), so that it can stand in for them.
//! Owns nothing else; every other file uses `parking_lot` and `std` directly.

#[cfg(not(iris_loom))]
pub(crate) use parking_lot::Mutex;
#[cfg(not(iris_loom))]
pub(crate) use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering, fence};

#[cfg(iris_loom)]
pub(crate) use loom::sync::atomic::{AtomicU8, AtomicUsize, Ordering, fence};

/// loom's check of a model that has too many orders for all of them (they take hours): those in which a thread is interrupted at most
/// this often. A thread that waits or ends counts as no interruption.
#[cfg(all(test, iris_loom))]
pub(crate) fn check_within(interruptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions);
    builder.check(model);
}

/// loom's mutex with `parking_lot`'s signature: no poisoning, because no user code runs under the lock.
#[cfg(iris_loom)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(iris_loom)]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        match self.0.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}
