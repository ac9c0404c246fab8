//! W1 to W7 on tokio: an actor is a task with an unbounded channel.

#![forbid(unsafe_code)]

use pithos_bench_peers::{Outcome, Sizes, arguments, report, resident_bytes};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

struct Counter {
    left: AtomicU64,
    done: Notify,
}

impl Counter {
    fn new(target: u64) -> Arc<Counter> {
        Arc::new(Counter { left: AtomicU64::new(target), done: Notify::new() })
    }
    fn tick(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.notify_one();
        }
    }
}

async fn counting(mut inbox: UnboundedReceiver<u64>, counter: Arc<Counter>) {
    while inbox.recv().await.is_some() {
        counter.tick();
    }
}

fn spawn_all(count: u64, counter: &Arc<Counter>) -> (Vec<UnboundedSender<u64>>, Vec<JoinHandle<()>>) {
    let mut senders = Vec::with_capacity(count as usize);
    let mut tasks = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let (sender, inbox) = unbounded_channel();
        senders.push(sender);
        tasks.push(tokio::spawn(counting(inbox, counter.clone())));
    }
    (senders, tasks)
}

async fn w1(s: Sizes) -> Outcome {
    let counter = Counter::new(s.population);
    let start = Instant::now();
    let (senders, tasks) = spawn_all(s.population, &counter);
    let elapsed = start.elapsed();
    drop((senders, tasks));
    Outcome { ops: s.population, elapsed, ..Outcome::default() }
}

async fn w2(s: Sizes) -> Outcome {
    let counter = Counter::new(s.population);
    let (senders, _tasks) = spawn_all(s.population, &counter);
    let start = Instant::now();
    for sender in &senders {
        let _ = sender.send(1);
    }
    counter.done.notified().await;
    Outcome { ops: s.population, elapsed: start.elapsed(), ..Outcome::default() }
}

async fn w3(s: Sizes) -> Outcome {
    let (sender, mut inbox) = unbounded_channel::<u64>();
    let count = s.messages;
    let task = tokio::spawn(async move {
        let mut wrong = 0;
        for expected in 0..count {
            if inbox.recv().await != Some(expected) {
                wrong += 1;
            }
        }
        wrong
    });
    let start = Instant::now();
    for i in 0..count {
        let _ = sender.send(i);
    }
    let wrong = task.await.unwrap_or(count);
    Outcome { ops: count, elapsed: start.elapsed(), wrong, ..Outcome::default() }
}

async fn w4(s: Sizes) -> Outcome {
    let (there, mut at_echo) = unbounded_channel::<u64>();
    let (back, mut at_pinger) = unbounded_channel::<u64>();
    let rounds = s.rounds;
    tokio::spawn(async move {
        while let Some(value) = at_echo.recv().await {
            let _ = back.send(value);
        }
    });
    let start = Instant::now();
    let pinger = tokio::spawn(async move {
        let mut wrong = 0;
        for i in 0..rounds {
            let _ = there.send(i);
            if at_pinger.recv().await != Some(i) {
                wrong += 1;
            }
        }
        wrong
    });
    let wrong = pinger.await.unwrap_or(rounds);
    Outcome { ops: rounds, elapsed: start.elapsed(), wrong, ..Outcome::default() }
}

type Behaviour = Box<dyn FnMut(u64) -> bool + Send>;

enum Swappable {
    Message(u64),
    Swap(Behaviour),
}

fn behaviour(version: u64) -> Behaviour {
    Box::new(move |message| message == version)
}

async fn w5(s: Sizes) -> Outcome {
    let (sender, mut inbox) = unbounded_channel();
    let swaps = s.swaps;
    let (done, result) = oneshot::channel();
    tokio::spawn(async move {
        let mut handler = behaviour(0);
        let (mut wrong, mut swapped) = (0, 0);
        while swapped < swaps {
            match inbox.recv().await {
                Some(Swappable::Message(m)) => wrong += u64::from(!handler(m)),
                Some(Swappable::Swap(new)) => {
                    handler = new;
                    swapped += 1;
                }
                None => break,
            }
        }
        let _ = done.send(wrong);
    });
    let start = Instant::now();
    for version in 0..swaps {
        for _ in 0..5 {
            let _ = sender.send(Swappable::Message(version));
        }
        let _ = sender.send(Swappable::Swap(behaviour(version + 1)));
    }
    let wrong = result.await.unwrap_or(swaps);
    Outcome { ops: swaps, elapsed: start.elapsed(), wrong, ..Outcome::default() }
}

/// Lets every task reach its first `recv`.
async fn settle() {
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
}

async fn w6(s: Sizes) -> Outcome {
    let counter = Counter::new(s.population);
    let before = resident_bytes();
    let (senders, tasks) = spawn_all(s.population, &counter);
    settle().await;
    let bytes_per_actor = resident_bytes().saturating_sub(before) / s.population;
    drop((senders, tasks));
    Outcome { ops: s.population, bytes_per_actor, ..Outcome::default() }
}

async fn w7(s: Sizes) -> Outcome {
    let counter = Counter::new(s.population);
    let (senders, tasks) = spawn_all(s.population, &counter);
    let start = Instant::now();
    drop(senders);
    for task in tasks {
        let _ = task.await;
    }
    Outcome { ops: s.population, elapsed: start.elapsed(), ..Outcome::default() }
}

#[tokio::main(flavor = "multi_thread")]
async fn main() {
    let (workload, sizes) = arguments();
    let outcome = match workload.as_str() {
        "W1" => w1(sizes).await,
        "W2" => w2(sizes).await,
        "W3" => w3(sizes).await,
        "W4" => w4(sizes).await,
        "W5" => w5(sizes).await,
        "W6" => w6(sizes).await,
        "W7" => w7(sizes).await,
        _ => report(&workload, None),
    };
    report(&workload, Some(outcome));
}
