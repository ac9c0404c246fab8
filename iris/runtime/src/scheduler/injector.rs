//! The queue that all workers of a pool share: what other threads, timers and stand-ins that step aside hand in. Owns the order (first in,
//! first out) and the buffers; leaves to the pool who is woken for a job and to the worker when it looks here.
//!
//! One lock, held for a few moves: jobs lie in chunks, and a worker takes a chunk by exchanging it for the one that it has used up. So a
//! sender and a worker that keep up with each other allocate nothing (the blocks of a lock-free queue, which one thread allocates and another
//! frees, made both wait for the allocator's lock), and behind a thread that is interrupted in the middle of a push nobody spins: who has to wait parks.

use std::collections::VecDeque;

use crossbeam_deque::Worker as Deque;

use super::Job;
use crate::limits::{INJECTOR_CHUNK, INJECTOR_SPARES};
use crate::sync::{AtomicUsize, Mutex, Ordering};

type Chunk = Vec<Job>;

pub(super) struct Injector {
    /// Written under the lock, after the jobs; read without it.
    len: AtomicUsize,
    jobs: Mutex<Jobs>,
}

#[derive(Default)]
struct Jobs {
    /// Full chunks, but for what was taken singly from the first.
    full: VecDeque<Chunk>,
    /// What came after them.
    last: Chunk,
    /// Empty chunks with room.
    spare: Vec<Chunk>,
}

impl Jobs {
    fn push(&mut self, job: Job) {
        if self.last.len() >= INJECTOR_CHUNK {
            let empty = self.spare.pop().unwrap_or_else(|| Chunk::with_capacity(INJECTOR_CHUNK));
            self.full.push_back(std::mem::replace(&mut self.last, empty));
        }
        self.last.push(job);
    }

    fn pop(&mut self) -> Option<Job> {
        let first = self.full.front_mut().unwrap_or(&mut self.last);
        if first.is_empty() {
            return None;
        }
        let job = first.remove(0);
        if first.is_empty()
            && let Some(used) = self.full.pop_front()
        {
            self.keep(used);
        }
        Some(job)
    }

    /// Moves a chunk to `into`, which is empty, or half of what there is, so that another worker finds something too.
    fn take(&mut self, into: &mut Chunk) {
        if let Some(first) = self.full.pop_front() {
            let used = std::mem::replace(into, first);
            self.keep(used);
        } else {
            let half = self.last.len().div_ceil(2);
            into.extend(self.last.drain(..half));
        }
    }

    fn keep(&mut self, used: Chunk) {
        if used.capacity() > 0 && self.spare.len() < INJECTOR_SPARES {
            self.spare.push(used);
        }
    }
}

impl Injector {
    pub(super) fn new() -> Self {
        Self { len: AtomicUsize::new(0), jobs: Mutex::new(Jobs::default()) }
    }

    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::SeqCst)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a job at the end. Whoever sees a length of 0 after a fence that follows this in the order of fences has not missed it.
    #[inline]
    pub(super) fn push(&self, job: Job) {
        let mut jobs = self.jobs.lock();
        jobs.push(job);
        self.len.store(self.len.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Takes the first job.
    pub(super) fn pop(&self) -> Option<Job> {
        if self.is_empty() {
            return None;
        }
        let mut jobs = self.jobs.lock();
        let job = jobs.pop()?;
        self.len.store(self.len.load(Ordering::Relaxed) - 1, Ordering::Release);
        Some(job)
    }

    /// Takes several, half of a few, and returns the first; the others go to the end of the worker's own queue, where they may be stolen.
    /// `chunk` is the worker's, empty before and after.
    pub(super) fn pop_batch(&self, own: &Deque<Job>, chunk: &mut Chunk) -> Option<Job> {
        if self.is_empty() {
            return None;
        }
        let mut jobs = self.jobs.lock();
        jobs.take(chunk);
        self.len.store(self.len.load(Ordering::Relaxed) - chunk.len(), Ordering::Release);
        drop(jobs);
        let mut taken = chunk.drain(..);
        let first = taken.next();
        taken.for_each(|job| own.push(job));
        first
    }

    /// Drops everything; the jobs' destructors run without the lock.
    pub(super) fn clear(&self) {
        let jobs = std::mem::take(&mut *self.jobs.lock());
        self.len.store(0, Ordering::Release);
        drop(jobs);
    }
}

#[cfg(test)]
struct Numbered(u64);

#[cfg(test)]
impl super::Runnable for Numbered {
    fn run(self: std::sync::Arc<Self>, _: &super::Slice<'_>) -> u32 {
        1
    }

    fn id(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
fn job(id: u64) -> Job {
    std::sync::Arc::new(Numbered(id))
}

#[cfg(all(test, not(iris_loom)))]
mod tests {
    use super::*;

    const CHUNK: u64 = INJECTOR_CHUNK as u64;

    fn filled(jobs: u64) -> Injector {
        let injector = Injector::new();
        (0..jobs).for_each(|id| injector.push(job(id)));
        injector
    }

    /// The batch that a worker with nothing of its own gets.
    fn batch(injector: &Injector, chunk: &mut Chunk) -> Vec<u64> {
        let own = Deque::new_fifo();
        let first = injector.pop_batch(&own, chunk);
        assert!(chunk.is_empty());
        first.into_iter().chain(std::iter::from_fn(|| own.pop())).map(|job| job.id()).collect()
    }

    #[test]
    fn jobs_come_out_in_order_singly_and_in_batches() {
        let injector = filled(3 * CHUNK + 5);
        let mut chunk = Chunk::new();
        let mut out = Vec::new();
        while !injector.is_empty() {
            out.extend(injector.pop().map(|job| job.id()));
            out.extend(batch(&injector, &mut chunk));
            assert_eq!(injector.len() as u64, 3 * CHUNK + 5 - out.len() as u64);
        }
        assert_eq!(out, (0..3 * CHUNK + 5).collect::<Vec<_>>());
        assert!(injector.pop().is_none() && batch(&injector, &mut chunk).is_empty());
    }

    #[test]
    fn of_a_few_jobs_another_worker_finds_half() {
        let injector = filled(5);
        let mut chunk = Chunk::new();
        assert_eq!(batch(&injector, &mut chunk), [0, 1, 2]);
        assert_eq!(batch(&injector, &mut chunk), [3]);
        assert_eq!(batch(&injector, &mut chunk), [4]);
    }

    #[test]
    fn used_chunks_are_used_again_and_not_too_many_kept() {
        let jobs = CHUNK * 2 * INJECTOR_SPARES as u64;
        let injector = filled(jobs);
        let mut chunk = Chunk::new();
        for round in 0..2 {
            while !batch(&injector, &mut chunk).is_empty() {}
            let spare = injector.jobs.lock().spare.len();
            assert_eq!(spare, INJECTOR_SPARES, "round {round}");
            (0..jobs).for_each(|id| injector.push(job(id)));
            assert_eq!(injector.jobs.lock().spare.len(), 0);
        }
    }

    #[test]
    fn clear_drops_what_is_left() {
        let injector = filled(2 * CHUNK);
        let last = job(7);
        injector.push(last.clone());
        injector.clear();
        assert!(injector.is_empty() && injector.pop().is_none());
        assert_eq!(std::sync::Arc::strong_count(&last), 1);
    }
}

#[cfg(all(test, iris_loom))]
mod loom_tests {
    //! Run as the mailbox's (see there): the real queue under `watch`'s promise, because its length is read without the lock.

    use super::super::watch::{Call, Watch};
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn loom_a_job_in_the_shared_queue_is_seen_by_a_worker_that_lies_down() {
        loom::model(|| {
            let (watch, injector) = (Arc::new(Watch::new(1)), Arc::new(Injector::new()));
            watch.joined();
            let (theirs, queue) = (watch.clone(), injector.clone());
            let worker = thread::spawn(move || {
                let mut searching = true;
                loop {
                    if queue.pop().is_some() {
                        if std::mem::take(&mut searching) {
                            theirs.found();
                        }
                        continue;
                    }
                    if !searching {
                        theirs.search();
                        searching = true;
                    }
                    if theirs.lie_down(0, searching, || !queue.is_empty()) {
                        return;
                    }
                }
            });
            injector.push(job(1));
            let called = watch.call() != Call::Nobody;
            worker.join().unwrap();
            assert!(called || injector.is_empty(), "a job is left and nobody was called");
        });
    }
}
