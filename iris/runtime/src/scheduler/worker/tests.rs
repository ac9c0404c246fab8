//! Whose job a worker takes, step by step on one thread: two workers that no thread drives, over the queues of a real pool.

use std::sync::atomic::AtomicUsize;

use super::*;
use crate::runtime::Runtime;
use crate::scheduler::{PoolOptions, Runnable};

/// A job that counts its turns and says how many messages each was.
struct Counting {
    turns: AtomicUsize,
    messages: u32,
}

impl Counting {
    fn new(messages: u32) -> Arc<Self> {
        Arc::new(Self { turns: AtomicUsize::new(0), messages })
    }

    fn turns(&self) -> usize {
        self.turns.load(Ordering::Relaxed)
    }
}

impl Runnable for Counting {
    fn run(self: Arc<Self>, _: &Slice<'_>) -> u32 {
        self.turns.fetch_add(1, Ordering::Relaxed);
        self.messages
    }

    fn id(&self) -> u64 {
        0
    }
}

/// A runtime whose pool 1 has two slots and no thread.
fn system(workers: usize) -> Runtime {
    Runtime::builder().pool(PoolOptions { spares: 1, ..PoolOptions::new("still", workers) }).build()
}

fn pool(runtime: &Runtime) -> &Pool {
    &runtime.handle().shared().pools[1]
}

/// The next worker of the pool, counted as awake and searching.
fn worker(runtime: &Runtime) -> Worker<'_> {
    let pool = pool(runtime);
    let id = pool.started.fetch_add(1, Ordering::SeqCst);
    let deque = Deque::new_fifo();
    let slot = pool.slots[id].get_or_init(|| WorkerSlot::new(&deque));
    pool.watch.joined();
    Worker::new(runtime.handle().shared(), pool, slot, Rc::new(Local { key: pool.key, id, deque }))
}

#[test]
fn a_lone_job_is_left_to_its_owner_unless_that_is_stuck() {
    let runtime = system(1);
    let (first, second) = (worker(&runtime), worker(&runtime));
    let (pool, thief) = (pool(&runtime), second.local.id);
    let ball = Counting::new(1);
    first.local.deque.push(ball.clone());
    assert!(pool.steal(thief).is_none() && !pool.has_stealable(), "the owner takes it next");
    pool.mark_stuck(first.slot);
    assert!(pool.has_stealable() && pool.steal(thief).is_some());
    pool.clear_stuck(first.slot);
    first.local.deque.push(ball.clone());
    first.local.deque.push(ball);
    assert!(pool.has_stealable() && pool.steal(thief).is_some(), "one of two");
    assert!(pool.steal(thief).is_none(), "the other is a lone one again");
}

#[test]
fn a_ball_stays_with_one_worker_while_another_is_awake() {
    let runtime = system(2);
    let (mut first, mut second) = (worker(&runtime), worker(&runtime));
    let ball = Counting::new(1);
    first.local.deque.push(ball.clone());
    for stroke in 1..=1_000 {
        // The other looks between any two strokes.
        assert!(second.search().is_none());
        let job = first.next().expect("it was not taken away");
        first.turn(job);
        assert_eq!(ball.turns(), stroke);
        first.local.deque.push(ball.clone());
    }
}

#[test]
fn who_steps_aside_leaves_nothing_where_nobody_looks() {
    let runtime = system(1);
    let (mut principal, stand_in) = (worker(&runtime), worker(&runtime));
    let pool = pool(&runtime);
    principal.local.deque.push(Counting::new(1));
    principal.slot.parker.unpark();
    assert!(principal.step_aside(), "two are awake where one should be");
    assert!(pool.has_stealable(), "the job that it had");
    let mut stand_in = stand_in;
    assert!(stand_in.search().is_some());
}

#[test]
fn what_comes_from_outside_gets_its_share_beside_turns_of_a_hundred_messages() {
    let runtime = system(1);
    let mut worker = worker(&runtime);
    let injector = &pool(&runtime).injector;
    let long = Counting::new(100);
    (0..1_000).for_each(|_| worker.local.deque.push(long.clone()));
    let outside = Counting::new(1);
    (0..1_000).for_each(|_| injector.push(outside.clone()));
    for _ in 0..1_100 {
        let before = long.turns();
        let job = worker.next().expect("there is work");
        worker.turn(job);
        if long.turns() > before {
            worker.local.deque.push(long.clone());
        }
    }
    assert_eq!(outside.turns(), 1_000, "a turn of a hundred messages is more than the own queue's share");
    assert!(long.turns() >= 15, "nor does the own queue starve");
}

#[test]
fn the_keepers_tick_lets_the_shared_queue_go_first() {
    let runtime = system(1);
    let mut worker = worker(&runtime);
    let (own, outside) = (Counting::new(1), Counting::new(1));
    (0..1_000).for_each(|_| worker.local.deque.push(own.clone()));
    let step = |worker: &mut Worker<'_>| {
        let job = worker.next().expect("there is work");
        worker.turn(job);
    };
    (0..3).for_each(|_| step(&mut worker));
    pool(&runtime).injector.push(outside.clone());
    step(&mut worker);
    assert_eq!(outside.turns(), 0, "the own queue's share is not over");
    pool(&runtime).tick.fetch_add(1, Ordering::Relaxed);
    step(&mut worker);
    assert_eq!(outside.turns(), 1);
}
