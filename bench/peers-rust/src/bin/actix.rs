//! W1 to W7 on actix: actors on one arbiter thread, which is how actix is used by default.

#![forbid(unsafe_code)]

use actix::prelude::*;
use pithos_bench_peers::{Outcome, Sizes, arguments, report, resident_bytes};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;
use tokio::sync::Notify;

struct Counter {
    left: Cell<u64>,
    done: Notify,
}

impl Counter {
    fn new(target: u64) -> Rc<Counter> {
        Rc::new(Counter { left: Cell::new(target), done: Notify::new() })
    }
    fn tick(&self) {
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0 {
            self.done.notify_one();
        }
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Number(u64);

#[derive(Message)]
#[rtype(result = "()")]
struct Stop;

struct Counting {
    counter: Rc<Counter>,
    ended: Rc<Counter>,
}

impl Actor for Counting {
    type Context = Context<Self>;
    fn started(&mut self, context: &mut Self::Context) {
        context.set_mailbox_capacity(usize::MAX >> 8);
    }
    fn stopped(&mut self, _: &mut Self::Context) {
        self.ended.tick();
    }
}

impl Handler<Number> for Counting {
    type Result = ();
    fn handle(&mut self, _: Number, _: &mut Self::Context) {
        self.counter.tick();
    }
}

impl Handler<Stop> for Counting {
    type Result = ();
    fn handle(&mut self, _: Stop, context: &mut Self::Context) {
        context.stop();
    }
}

fn spawn_all(count: u64) -> (Vec<Addr<Counting>>, Rc<Counter>, Rc<Counter>) {
    let counter = Counter::new(count);
    let ended = Counter::new(count);
    let addresses = (0..count)
        .map(|_| Counting { counter: counter.clone(), ended: ended.clone() }.start())
        .collect::<Vec<_>>();
    (addresses, counter, ended)
}

async fn w1(s: Sizes) -> Outcome {
    let start = Instant::now();
    let all = spawn_all(s.population);
    let elapsed = start.elapsed();
    drop(all);
    Outcome { ops: s.population, elapsed, ..Outcome::default() }
}

async fn w2(s: Sizes) -> Outcome {
    let (addresses, counter, _ended) = spawn_all(s.population);
    tokio::task::yield_now().await;
    let start = Instant::now();
    for address in &addresses {
        address.do_send(Number(1));
    }
    counter.done.notified().await;
    Outcome { ops: s.population, elapsed: start.elapsed(), ..Outcome::default() }
}

struct Summing {
    expected: u64,
    wrong: Rc<Cell<u64>>,
    counter: Rc<Counter>,
}

impl Actor for Summing {
    type Context = Context<Self>;
}

impl Handler<Number> for Summing {
    type Result = ();
    fn handle(&mut self, message: Number, _: &mut Self::Context) {
        if message.0 != self.expected {
            self.wrong.set(self.wrong.get() + 1);
        }
        self.expected += 1;
        self.counter.tick();
    }
}

async fn w3(s: Sizes) -> Outcome {
    let (wrong, counter) = (Rc::new(Cell::new(0)), Counter::new(s.messages));
    let address = Summing { expected: 0, wrong: wrong.clone(), counter: counter.clone() }.start();
    let start = Instant::now();
    for i in 0..s.messages {
        address.do_send(Number(i));
    }
    counter.done.notified().await;
    Outcome { ops: s.messages, elapsed: start.elapsed(), wrong: wrong.get(), ..Outcome::default() }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Ping(u64, Addr<Pinger>);

struct Echo;

impl Actor for Echo {
    type Context = Context<Self>;
}

impl Handler<Ping> for Echo {
    type Result = ();
    fn handle(&mut self, message: Ping, _: &mut Self::Context) {
        message.1.do_send(Number(message.0));
    }
}

struct Pinger {
    echo: Addr<Echo>,
    at: u64,
    wrong: Rc<Cell<u64>>,
    counter: Rc<Counter>,
    rounds: u64,
}

impl Actor for Pinger {
    type Context = Context<Self>;
    fn started(&mut self, context: &mut Self::Context) {
        self.echo.do_send(Ping(0, context.address()));
    }
}

impl Handler<Number> for Pinger {
    type Result = ();
    fn handle(&mut self, message: Number, context: &mut Self::Context) {
        if message.0 != self.at {
            self.wrong.set(self.wrong.get() + 1);
        }
        self.at += 1;
        self.counter.tick();
        if self.at < self.rounds {
            self.echo.do_send(Ping(self.at, context.address()));
        }
    }
}

async fn w4(s: Sizes) -> Outcome {
    let (wrong, counter) = (Rc::new(Cell::new(0)), Counter::new(s.rounds));
    let echo = Echo.start();
    let start = Instant::now();
    let pinger =
        Pinger { echo, at: 0, wrong: wrong.clone(), counter: counter.clone(), rounds: s.rounds }.start();
    counter.done.notified().await;
    let elapsed = start.elapsed();
    drop(pinger);
    Outcome { ops: s.rounds, elapsed, wrong: wrong.get(), ..Outcome::default() }
}

type Behaviour = Box<dyn FnMut(u64) -> bool + Send>;

fn behaviour(version: u64) -> Behaviour {
    Box::new(move |message| message == version)
}

#[derive(Message)]
#[rtype(result = "()")]
struct Swap(Behaviour);

struct Swappable {
    handler: Behaviour,
    wrong: Rc<Cell<u64>>,
    counter: Rc<Counter>,
}

impl Actor for Swappable {
    type Context = Context<Self>;
}

impl Handler<Number> for Swappable {
    type Result = ();
    fn handle(&mut self, message: Number, _: &mut Self::Context) {
        if !(self.handler)(message.0) {
            self.wrong.set(self.wrong.get() + 1);
        }
    }
}

impl Handler<Swap> for Swappable {
    type Result = ();
    fn handle(&mut self, message: Swap, _: &mut Self::Context) {
        self.handler = message.0;
        self.counter.tick();
    }
}

async fn w5(s: Sizes) -> Outcome {
    let (wrong, counter) = (Rc::new(Cell::new(0)), Counter::new(s.swaps));
    let address = Swappable { handler: behaviour(0), wrong: wrong.clone(), counter: counter.clone() }.start();
    let start = Instant::now();
    for version in 0..s.swaps {
        for _ in 0..5 {
            address.do_send(Number(version));
        }
        address.do_send(Swap(behaviour(version + 1)));
    }
    counter.done.notified().await;
    Outcome { ops: s.swaps, elapsed: start.elapsed(), wrong: wrong.get(), ..Outcome::default() }
}

async fn w6(s: Sizes) -> Outcome {
    let before = resident_bytes();
    let (addresses, _counter, _ended) = spawn_all(s.population);
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    let bytes_per_actor = resident_bytes().saturating_sub(before) / s.population;
    drop(addresses);
    Outcome { ops: s.population, bytes_per_actor, ..Outcome::default() }
}

async fn w7(s: Sizes) -> Outcome {
    let (addresses, _counter, ended) = spawn_all(s.population);
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    let start = Instant::now();
    for address in &addresses {
        address.do_send(Stop);
    }
    ended.done.notified().await;
    Outcome { ops: s.population, elapsed: start.elapsed(), ..Outcome::default() }
}

#[actix::main]
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
