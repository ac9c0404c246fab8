//! Futures on a pool: the small executor behind async actors. Owns the future and its wake state; leaves IO to whatever
//! reactor the future brings (Tokio's types work inside an entered Tokio handle). Invariant: a task is queued at most once, and
//! a wake during its poll queues it again.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

use super::{Runnable, Slice};
use crate::context::Running;
use crate::runtime::Shared;
use crate::sync::{AtomicU8, Ordering};

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const POLLING: u8 = 2;
const WOKEN: u8 = 3;

/// Whether a task is queued. Each change is a read-modify-write even where the value stays, so that whatever a waker wrote before is seen
/// by the poll that its wake-up leads to.
struct Wakes(AtomicU8);

impl Wakes {
    /// A task that is queued.
    fn queued() -> Self {
        Self(AtomicU8::new(QUEUED))
    }

    /// True if the caller has to queue the task.
    fn wake(&self) -> bool {
        let next = |state| match state {
            IDLE => QUEUED,
            POLLING => WOKEN,
            queued => queued,
        };
        let old = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |state| Some(next(state)));
        old == Ok(IDLE)
    }

    fn begin(&self) {
        self.0.swap(POLLING, Ordering::SeqCst);
    }

    /// The poll is over and the future is not. True if it was woken meanwhile and has to be queued again.
    fn pend(&self) -> bool {
        let woken = self.0.compare_exchange(POLLING, IDLE, Ordering::SeqCst, Ordering::SeqCst).is_err();
        if woken {
            self.0.swap(QUEUED, Ordering::SeqCst);
        }
        woken
    }
}

pub(crate) struct Task {
    future: Mutex<Option<Boxed>>,
    wakes: Wakes,
    shared: Weak<Shared>,
    pool: u8,
    pid: u64,
}

impl Task {
    pub(crate) fn spawn(
        shared: &Arc<Shared>,
        pool: u8,
        pid: u64,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        let task = Arc::new(Self {
            future: Mutex::new(Some(Box::pin(future))),
            wakes: Wakes::queued(),
            shared: Arc::downgrade(shared),
            pool,
            pid,
        });
        shared.schedule(pool, task);
    }

    fn queue(self: Arc<Self>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.schedule(self.pool, self);
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if self.wakes.wake() {
            self.queue();
        }
    }
}

impl Runnable for Task {
    fn run(self: Arc<Self>, _slice: &Slice<'_>) -> u32 {
        self.wakes.begin();
        let waker = Waker::from(self.clone());
        let mut slot = self.future.lock();
        let Some(future) = slot.as_mut() else { return 1 };
        let running = Running::enter(self.shared.as_ptr(), self.pid);
        let polled =
            catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
        drop(running);
        if !matches!(polled, Ok(Poll::Pending)) {
            let done = slot.take();
            drop(slot);
            crate::cell::drop_quietly(done);
            return 1;
        }
        drop(slot);
        if self.wakes.pend() {
            self.queue();
        }
        1
    }

    fn id(&self) -> u64 {
        self.pid
    }
}

#[cfg(all(test, iris_loom))]
mod loom_tests {
    use super::*;
    use crate::sync::{AtomicUsize, check_within};
    use loom::sync::Arc;
    use loom::thread;

    /// What wakers have written must be seen by a poll: two wakers, and a task that is polled once per permit.
    #[test]
    fn loom_no_wake_up_of_a_task_is_lost() {
        check_within(4, || {
            let wakes = Arc::new(Wakes::queued());
            let (permits, events) = (Arc::new(AtomicUsize::new(1)), Arc::new(AtomicUsize::new(0)));
            let wakers: Vec<_> = (0..2)
                .map(|_| {
                    let (wakes, permits, events) = (wakes.clone(), permits.clone(), events.clone());
                    thread::spawn(move || {
                        events.fetch_add(1, Ordering::Relaxed);
                        if wakes.wake() {
                            permits.fetch_add(1, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            let poll = || {
                let mut seen = 0;
                while permits.load(Ordering::Relaxed) > 0 {
                    permits.fetch_sub(1, Ordering::Relaxed);
                    wakes.begin();
                    seen = events.load(Ordering::Relaxed);
                    if wakes.pend() {
                        permits.fetch_add(1, Ordering::Relaxed);
                    }
                }
                seen
            };
            let first = poll();
            wakers.into_iter().for_each(|waker| waker.join().unwrap());
            assert_eq!(first.max(poll()), 2, "an event was never polled for");
        });
    }
}
