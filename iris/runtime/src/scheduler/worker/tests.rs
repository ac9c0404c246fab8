//! Whose job a worker takes, step by step on one thread: two workers that no thread drives, over the queues of a real pool.

use std::any::Any;
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::time::Duration;

use super::*;
use crate::behaviour::{Behaviour, Direction, Flow, Handler};
use crate::context::Context;
use crate::exit::ExitReason;
use crate::handle::SpawnOptions;
use crate::reference::ActorRef;
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

/// A job that takes a millisecond for its message and keeps the pace that it was given.
#[derive(Default)]
struct Slow {
    pace: AtomicU32,
}

impl Runnable for Slow {
    fn run(self: Arc<Self>, slice: &Slice<'_>) -> u32 {
        self.pace.store(slice.pace, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(1));
        1
    }

    fn id(&self) -> u64 {
        0
    }
}

/// Miri interprets, so it gets by with few.
const fn scaled(count: usize, few: usize) -> usize {
    if cfg!(miri) { few } else { count }
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
    let slot = pool.slots[id].get_or_init(|| Box::new(WorkerSlot::new(&deque)));
    pool.watch.joined();
    Worker::new(runtime.handle().shared(), pool, slot, Rc::new(Local { key: pool.key, id, deque }))
}

#[test]
fn the_default_pool_starts_with_the_first_actor() {
    let runtime = Runtime::builder().workers(3).pool(PoolOptions::new("other", 3)).build();
    let threads = || runtime.handle().shared().pools.iter().map(Pool::threads_started).collect::<Vec<_>>();
    let spawn = |pool| {
        let options = SpawnOptions { pool, ..SpawnOptions::default() };
        runtime.spawn_with(options, Handler::new(|_: &mut Context<'_, ()>, ()| ())).expect("there is room")
    };
    assert_eq!(threads(), [0, 0]);
    spawn(1);
    assert_eq!(threads(), [0, 0], "another pool waits for a message");
    spawn(0);
    assert_eq!(threads(), [crate::limits::EARLY_WORKERS, 0]);
    spawn(0);
    assert_eq!(threads(), [crate::limits::EARLY_WORKERS, 0]);
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
    for stroke in 1..=scaled(1_000, 10) {
        // The other looks between any two strokes.
        assert!(second.search().is_none());
        let job = first.next().expect("it was not taken away");
        first.turn(job, Instant::now());
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
    let count = scaled(1_000, 100);
    (0..count).for_each(|_| worker.local.deque.push(long.clone()));
    let outside = Counting::new(1);
    (0..count).for_each(|_| injector.push(outside.clone()));
    // A turn of the own queue after 61 of the shared one, and some at first.
    for _ in 0..count + count / 10 {
        let before = long.turns();
        let job = worker.next().expect("there is work");
        worker.turn(job, Instant::now());
        if long.turns() > before {
            worker.local.deque.push(long.clone());
        }
    }
    assert_eq!(outside.turns(), count, "a turn of a hundred messages is more than the own queue's share");
    assert!(long.turns() >= count / 66, "nor does the own queue starve");
}

#[test]
fn the_keepers_tick_lets_the_shared_queue_go_first() {
    let runtime = system(1);
    let mut worker = worker(&runtime);
    let (own, outside) = (Counting::new(1), Counting::new(1));
    (0..1_000).for_each(|_| worker.local.deque.push(own.clone()));
    let step = |worker: &mut Worker<'_>| {
        let job = worker.next().expect("there is work");
        worker.turn(job, Instant::now());
    };
    (0..3).for_each(|_| step(&mut worker));
    pool(&runtime).injector.push(outside.clone());
    step(&mut worker);
    assert_eq!(outside.turns(), 0, "the own queue's share is not over");
    pool(&runtime).tick.fetch_add(1, Ordering::Relaxed);
    step(&mut worker);
    assert_eq!(outside.turns(), 1);
}

#[test]
fn a_round_of_a_long_queue_is_to_take_a_quarter_of_a_second() {
    let budget = |messages, elapsed_us, waiting| {
        let mut pace = Pace { budget: u32::MAX };
        pace.look(messages, elapsed_us, waiting);
        pace.budget
    };
    assert_eq!(budget(64, 192, 100_000), 1, "each gets a message at least");
    assert_eq!(budget(64, 192, 10_000), 8);
    assert_eq!(budget(100, 10, 10_000), 250);
    assert_eq!(budget(64, 0, 0), 16_000_000, "nobody waits, and the clock stood");
}

#[test]
fn turns_get_short_where_many_wait() {
    let runtime = system(1);
    let mut worker = worker(&runtime);
    let slow = Arc::new(Slow::default());
    (0..400).for_each(|_| worker.local.deque.push(slow.clone()));
    worker.slice(&mut None);
    let given = || slow.pace.load(Ordering::Relaxed);
    assert_eq!(given(), u32::MAX, "there was no look at the clock before");
    worker.slice(&mut None);
    assert_eq!(given(), 1, "a message of each of those who wait takes longer than a round should");
}

/// Hands each message on to the next in the ring, and each swap out.
struct Circling {
    at: usize,
    ring: Arc<std::sync::OnceLock<Vec<ActorRef<()>>>>,
    swapped: Arc<AtomicUsize>,
}

impl Behaviour<()> for Circling {
    fn handle(&mut self, _: &mut Context<'_, ()>, (): ()) -> Flow {
        let ring = self.ring.get().expect("it is complete before the first message");
        let _ = ring[(self.at + 1) % ring.len()].send(());
        Flow::Continue
    }

    fn code_change(&mut self, _: &mut dyn Any, _: Direction) -> Result<(), ExitReason> {
        self.swapped.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// An actor of the pool, which a worker of the test drives.
fn actor(runtime: &Runtime, behaviour: Circling) -> ActorRef<()> {
    let options = SpawnOptions { pool: 1, ..SpawnOptions::default() };
    runtime.spawn_with(options, behaviour).expect("there is room")
}

#[test]
fn a_turn_reads_what_has_waited_since_the_last_one() {
    let runtime = system(1);
    let mut worker = worker(&runtime);
    let (ring, swapped): (Arc<std::sync::OnceLock<_>>, Arc<AtomicUsize>) = Default::default();
    let make = |at| Circling { at, ring: ring.clone(), swapped: swapped.clone() };
    let pair = vec![actor(&runtime, make(0)), actor(&runtime, make(1))];
    ring.set(pair.clone()).unwrap_or_else(|_| unreachable!());
    worker.pace.budget = 1;
    let mut turn = || {
        let job = worker.next().expect("there is work");
        worker.turn(job, Instant::now())
    };
    (0..250).for_each(|_| pair[0].send(()).expect("it lives"));
    assert_eq!(turn(), 1, "none had waited when it was queued");
    assert_eq!((turn(), turn()), (1, 100), "the other's first; then of 249, which have waited, its budget");
}

/// A worker with an actor that has 250 messages, and a turn of it in a slice that ends in an hour or has ended.
fn turn_of_250(others: usize, more_time: Duration) -> u32 {
    let runtime = system(1);
    let mut worker = worker(&runtime);
    let options = SpawnOptions { pool: 1, ..SpawnOptions::default() };
    let idle = Handler::new(|_: &mut Context<'_, ()>, ()| ());
    let actor = runtime.spawn_with(options, idle).expect("there is room");
    (0..250).for_each(|_| actor.send(()).expect("it lives"));
    let job = worker.next().expect("there is work");
    (0..others).for_each(|_| worker.local.deque.push(Counting::new(1)));
    worker.turn(job, Instant::now() + more_time)
}

#[test]
fn a_turn_goes_on_while_nobody_else_waits_and_the_slice_lasts() {
    let hour = Duration::from_secs(3_600);
    assert_eq!(turn_of_250(0, hour), 250);
    assert_eq!(turn_of_250(1, hour), 100, "another waits");
    assert_eq!(turn_of_250(0, Duration::ZERO), 100, "the slice is over");
}

#[test]
fn messages_that_gather_do_not_hold_up_what_comes_from_outside() {
    let count = scaled(2_000, 20);
    let runtime = system(1);
    let mut worker = worker(&runtime);
    let (ring, swapped): (Arc<std::sync::OnceLock<_>>, Arc<AtomicUsize>) = Default::default();
    let make = |at| Circling { at, ring: ring.clone(), swapped: swapped.clone() };
    let actors: Vec<_> = (0..count).map(|at| actor(&runtime, make(at))).collect();
    ring.set(actors.clone()).unwrap_or_else(|_| unreachable!());
    worker.pace.budget = 1;
    let mut handle = |enough: &dyn Fn(usize) -> bool| {
        let mut messages = 0;
        while !enough(messages) {
            let job = worker.next().expect("there is work");
            messages += worker.turn(job, Instant::now()) as usize;
        }
        messages
    };
    actors.iter().for_each(|actor| actor.send(()).expect("it lives"));
    handle(&|messages| messages >= 8 * count);
    for (at, actor) in actors.iter().enumerate() {
        actor.hot_swap(make(at)).expect("it lives");
    }
    let messages = handle(&|_| swapped.load(Ordering::Relaxed) == count);
    assert!(messages <= 6 * count, "{messages} messages of {count} actors");
}
