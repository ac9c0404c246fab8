//! Futures on a pool: the small executor behind async actors. Owns the future and its wake state; leaves IO to whatever
//! reactor the future brings (Tokio's types work inside an entered Tokio handle). Invariant: a task is queued at most once, and
//! a wake during its poll queues it again.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

use super::{Runnable, Slice};
use crate::runtime::Shared;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const POLLING: u8 = 2;
const WOKEN: u8 = 3;

pub(crate) struct Task {
    future: Mutex<Option<Boxed>>,
    state: AtomicU8,
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
            state: AtomicU8::new(QUEUED),
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
        let old = self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |state| match state {
            IDLE => Some(QUEUED),
            POLLING => Some(WOKEN),
            _ => None,
        });
        if old == Ok(IDLE) {
            self.queue();
        }
    }
}

impl Runnable for Task {
    fn run(self: Arc<Self>, _slice: &Slice<'_>) -> u32 {
        self.state.store(POLLING, Ordering::SeqCst);
        let waker = Waker::from(self.clone());
        let mut slot = self.future.lock();
        let Some(future) = slot.as_mut() else { return 1 };
        let polled =
            catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
        if !matches!(polled, Ok(Poll::Pending)) {
            let done = slot.take();
            drop(slot);
            crate::cell::drop_quietly(done);
            return 1;
        }
        drop(slot);
        if self.state.compare_exchange(POLLING, IDLE, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            self.state.store(QUEUED, Ordering::SeqCst);
            self.queue();
        }
        1
    }

    fn id(&self) -> u64 {
        self.pid
    }
}
