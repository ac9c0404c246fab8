//! W1 to W7 on ractor, on tokio's multi-threaded runtime.

#![forbid(unsafe_code)]

use pithos_bench_peers::{Outcome, Sizes, arguments, report, resident_bytes};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::sync::Notify;

struct Counter {
    left: AtomicU64,
    wrong: AtomicU64,
    done: Notify,
}

impl Counter {
    fn new(target: u64) -> Arc<Counter> {
        Arc::new(Counter { left: AtomicU64::new(target), wrong: AtomicU64::new(0), done: Notify::new() })
    }
    fn tick(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.notify_one();
        }
    }
    fn check(&self, right: bool) {
        if !right {
            self.wrong.fetch_add(1, Ordering::Relaxed);
        }
    }
}

type Behaviour = Box<dyn FnMut(u64) -> bool + Send>;

fn behaviour(version: u64) -> Behaviour {
    Box::new(move |message| message == version)
}

enum Message {
    Number(u64),
    Ping(u64, ActorRef<Message>),
    Swap(Behaviour),
}

#[derive(Clone)]
enum Role {
    Counting,
    Summing,
    Echo,
    Pinger { echo: ActorRef<Message>, rounds: u64 },
    Swappable,
}

struct State {
    at: u64,
    handler: Behaviour,
}

struct Peer {
    role: Role,
    counter: Arc<Counter>,
}

impl Actor for Peer {
    type Msg = Message;
    type State = State;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Message>, (): ()) -> Result<State, ActorProcessingErr> {
        Ok(State { at: 0, handler: behaviour(0) })
    }

    async fn handle(
        &self,
        me: ActorRef<Message>,
        message: Message,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match (&self.role, message) {
            (Role::Counting, _) => self.counter.tick(),
            (Role::Summing, Message::Number(n)) => {
                self.counter.check(n == state.at);
                state.at += 1;
                self.counter.tick();
            }
            (Role::Echo, Message::Ping(n, from)) => {
                let _ = from.cast(Message::Number(n));
            }
            (Role::Pinger { echo, rounds }, Message::Number(n)) => {
                self.counter.check(n == state.at);
                state.at += 1;
                self.counter.tick();
                if state.at < *rounds {
                    let _ = echo.cast(Message::Ping(state.at, me));
                }
            }
            (Role::Swappable, Message::Number(n)) => self.counter.check((state.handler)(n)),
            (Role::Swappable, Message::Swap(new)) => {
                state.handler = new;
                self.counter.tick();
            }
            _ => self.counter.check(false),
        }
        Ok(())
    }
}

type Spawned = (ActorRef<Message>, tokio::task::JoinHandle<()>);

async fn start(role: Role, counter: &Arc<Counter>) -> Spawned {
    match Actor::spawn(None, Peer { role, counter: counter.clone() }, ()).await {
        Ok(spawned) => spawned,
        Err(error) => {
            eprintln!("ractor: {error}");
            std::process::exit(1)
        }
    }
}

async fn spawn_all(count: u64, counter: &Arc<Counter>) -> Vec<Spawned> {
    let mut all = Vec::with_capacity(count as usize);
    for _ in 0..count {
        all.push(start(Role::Counting, counter).await);
    }
    all
}

fn outcome(ops: u64, start: Instant, counter: &Counter) -> Outcome {
    Outcome {
        ops,
        elapsed: start.elapsed(),
        wrong: counter.wrong.load(Ordering::Relaxed),
        ..Outcome::default()
    }
}

async fn w1(s: Sizes) -> Outcome {
    let counter = Counter::new(s.population);
    let start = Instant::now();
    let all = spawn_all(s.population, &counter).await;
    let result = outcome(s.population, start, &counter);
    drop(all);
    result
}

async fn w2(s: Sizes) -> Outcome {
    let counter = Counter::new(s.population);
    let all = spawn_all(s.population, &counter).await;
    let start = Instant::now();
    for (actor, _) in &all {
        let _ = actor.cast(Message::Number(1));
    }
    counter.done.notified().await;
    outcome(s.population, start, &counter)
}

async fn w3(s: Sizes) -> Outcome {
    let counter = Counter::new(s.messages);
    let (actor, _) = start(Role::Summing, &counter).await;
    let begin = Instant::now();
    for i in 0..s.messages {
        let _ = actor.cast(Message::Number(i));
    }
    counter.done.notified().await;
    outcome(s.messages, begin, &counter)
}

async fn w4(s: Sizes) -> Outcome {
    let counter = Counter::new(s.rounds);
    let (echo, _) = start(Role::Echo, &counter).await;
    let (pinger, _) = start(Role::Pinger { echo: echo.clone(), rounds: s.rounds }, &counter).await;
    let begin = Instant::now();
    let _ = echo.cast(Message::Ping(0, pinger));
    counter.done.notified().await;
    outcome(s.rounds, begin, &counter)
}

async fn w5(s: Sizes) -> Outcome {
    let counter = Counter::new(s.swaps);
    let (actor, _) = start(Role::Swappable, &counter).await;
    let begin = Instant::now();
    for version in 0..s.swaps {
        for _ in 0..5 {
            let _ = actor.cast(Message::Number(version));
        }
        let _ = actor.cast(Message::Swap(behaviour(version + 1)));
    }
    counter.done.notified().await;
    outcome(s.swaps, begin, &counter)
}

async fn w6(s: Sizes) -> Outcome {
    let counter = Counter::new(s.population);
    let before = resident_bytes();
    let all = spawn_all(s.population, &counter).await;
    let bytes_per_actor = resident_bytes().saturating_sub(before) / s.population;
    drop(all);
    Outcome { ops: s.population, bytes_per_actor, ..Outcome::default() }
}

async fn w7(s: Sizes) -> Outcome {
    let counter = Counter::new(s.population);
    let all = spawn_all(s.population, &counter).await;
    let start = Instant::now();
    for (actor, _) in &all {
        actor.stop(None);
    }
    for (_, task) in all {
        let _ = task.await;
    }
    outcome(s.population, start, &counter)
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
