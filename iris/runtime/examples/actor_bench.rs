//! W1 to W7 on iris, and on tokio (mpsc and a task per actor) for the ratio. Owns the workloads; prints one JSON line per run.
//! Usage: actor_bench WORKLOAD [SCALE] [iris|tokio]. Figures count messages when they have been processed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use iris_runtime::{ActorRef, Behaviour, Context, Flow, Runtime};

struct Outcome {
    ops: u64,
    seconds: f64,
    bytes: u64,
    wrong: u64,
}

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn timed(ops: u64, begin: Instant, wrong: u64) -> Outcome {
    Outcome { ops, seconds: begin.elapsed().as_secs_f64(), bytes: 0, wrong }
}

/// Counts down and wakes the waiter at zero.
#[derive(Clone)]
struct Countdown(Arc<(AtomicU64, std::thread::Thread)>);

impl Countdown {
    fn new(count: u64) -> Self {
        Self(Arc::new((AtomicU64::new(count), std::thread::current())))
    }

    fn tick(&self) {
        if self.0.0.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.1.unpark();
        }
    }

    fn wait(&self) {
        while self.0.0.load(Ordering::Acquire) > 0 {
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }
}

mod on_iris {
    use super::*;

    struct Counting(Countdown);

    impl Behaviour<u64> for Counting {
        fn handle(&mut self, _: &mut Context<'_, u64>, _: u64) -> Flow {
            self.0.tick();
            Flow::Continue
        }
    }

    struct Summing {
        expected: u64,
        count: u64,
        wrong: Arc<AtomicU64>,
        done: Countdown,
    }

    impl Behaviour<u64> for Summing {
        fn handle(&mut self, _: &mut Context<'_, u64>, message: u64) -> Flow {
            if message != self.expected {
                self.wrong.fetch_add(1, Ordering::Relaxed);
            }
            self.expected += 1;
            if self.expected == self.count {
                self.done.tick();
            }
            Flow::Continue
        }
    }

    fn population(runtime: &Runtime, count: u64, done: &Countdown) -> Vec<ActorRef<u64>> {
        (0..count).filter_map(|_| runtime.spawn(Counting(done.clone())).ok()).collect()
    }

    fn flood(runtime: &Runtime, count: u64) -> Outcome {
        let (done, wrong) = (Countdown::new(1), Arc::new(AtomicU64::new(0)));
        let summing = Summing { expected: 0, count, wrong: wrong.clone(), done: done.clone() };
        let Ok(actor) = runtime.spawn(summing) else { return timed(0, Instant::now(), 1) };
        let begin = Instant::now();
        for message in 0..count {
            let _ = actor.send(message);
        }
        done.wait();
        timed(count, begin, wrong.load(Ordering::Relaxed))
    }

    enum Ping {
        Serve(ActorRef<Ping>),
        Ball(u64),
    }

    fn rally(runtime: &Runtime, rounds: u64) -> Outcome {
        let done = Countdown::new(1);
        let finish = done.clone();
        let mut partner: Option<ActorRef<Ping>> = None;
        let echo = runtime.spawn_fn(move |_: &mut Context<'_, Ping>, message| match message {
            Ping::Serve(other) => partner = Some(other),
            Ping::Ball(value) => {
                if let Some(partner) = &partner {
                    let _ = partner.send(Ping::Ball(value + 1));
                }
            }
        });
        let Ok(echo) = echo else { return timed(0, Instant::now(), 1) };
        let there = echo.clone();
        let pinger = runtime.spawn_fn(move |_: &mut Context<'_, Ping>, message| {
            if let Ping::Ball(value) = message {
                if value >= rounds {
                    finish.tick();
                } else {
                    let _ = there.send(Ping::Ball(value));
                }
            }
        });
        let Ok(pinger) = pinger else { return timed(0, Instant::now(), 1) };
        let begin = Instant::now();
        let _ = echo.send(Ping::Serve(pinger.clone()));
        let _ = pinger.send(Ping::Ball(0));
        done.wait();
        timed(rounds, begin, 0)
    }

    struct Versioned {
        version: u64,
        wrong: Arc<AtomicU64>,
        done: Countdown,
    }

    impl Behaviour<u64> for Versioned {
        fn handle(&mut self, _: &mut Context<'_, u64>, message: u64) -> Flow {
            if message != self.version {
                self.wrong.fetch_add(1, Ordering::Relaxed);
            }
            self.done.tick();
            Flow::Continue
        }
    }

    fn blitz(runtime: &Runtime, swaps: u64) -> Outcome {
        let (done, wrong) = (Countdown::new(5 * swaps), Arc::new(AtomicU64::new(0)));
        let make = |version| Versioned { version, wrong: wrong.clone(), done: done.clone() };
        let Ok(actor) = runtime.spawn(make(0)) else { return timed(0, Instant::now(), 1) };
        let begin = Instant::now();
        for version in 0..swaps {
            for _ in 0..5 {
                let _ = actor.send(version);
            }
            actor.hot_swap(make(version + 1));
        }
        done.wait();
        timed(swaps, begin, wrong.load(Ordering::Relaxed))
    }

    pub(super) fn run(workload: &str, scale: f64, workers: Option<usize>) -> Option<Outcome> {
        let builder = Runtime::builder();
        let runtime = workers.map_or_else(Runtime::new, |workers| builder.workers(workers).build());
        let count = (100_000.0 * scale) as u64;
        let done = Countdown::new(count);
        Some(match workload {
            "W1" => {
                let begin = Instant::now();
                let actors = population(&runtime, count, &done);
                timed(actors.len() as u64, begin, 0)
            }
            "W2" => {
                let actors = population(&runtime, count, &done);
                let begin = Instant::now();
                actors.iter().for_each(|actor| drop(actor.send(1)));
                done.wait();
                timed(count, begin, 0)
            }
            "W3" => flood(&runtime, count * 10),
            "W4" => rally(&runtime, count),
            "W5" => blitz(&runtime, count),
            "W6" => {
                let before = resident();
                let actors = population(&runtime, count, &done);
                let bytes = (resident() - before) / count.max(1);
                drop(actors);
                Outcome { ops: count, seconds: 0.0, bytes, wrong: 0 }
            }
            "W7" => {
                drop(population(&runtime, count, &done));
                let begin = Instant::now();
                let report = runtime.stop(None, Duration::from_secs(30));
                timed(count, begin, u64::from(!report.complete))
            }
            // CPU-bound handlers on many actors: two cores against one.
            "CPU" => {
                let work = |_: &mut Context<'_, u64>, seed: u64| {
                    let end = (0..2_000)
                        .fold(seed | 1, |x, _| x.wrapping_mul(6_364_136_223_846_793_005).rotate_left(9));
                    std::hint::black_box(end);
                };
                let done = Countdown::new(count * 2);
                let actors: Vec<ActorRef<u64>> = (0..1_000)
                    .filter_map(|_| {
                        let done = done.clone();
                        let handler = move |cx: &mut Context<'_, u64>, seed| {
                            work(cx, seed);
                            done.tick();
                        };
                        runtime.spawn_fn(handler).ok()
                    })
                    .collect();
                let begin = Instant::now();
                for at in 0..count * 2 {
                    let _ = actors[(at % 1_000) as usize].send(at);
                }
                done.wait();
                timed(count * 2, begin, 0)
            }
            _ => return None,
        })
    }
}

mod on_tokio {
    use super::*;
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
    use tokio::task::JoinHandle;

    fn population(count: u64, done: &Countdown) -> (Vec<UnboundedSender<u64>>, Vec<JoinHandle<()>>) {
        let actor = |_| {
            let (sender, mut receiver) = unbounded_channel::<u64>();
            let done = done.clone();
            let task = tokio::spawn(async move {
                while receiver.recv().await.is_some() {
                    done.tick();
                }
            });
            (sender, task)
        };
        (0..count).map(actor).unzip()
    }

    async fn settle(actors: u64) {
        // Every task has been polled once when a task spawned after them has.
        for _ in 0..actors.min(4) {
            let _ = tokio::spawn(async {}).await;
        }
    }

    async fn rally(rounds: u64) -> Outcome {
        let (there, mut at_echo) = unbounded_channel::<u64>();
        let (back, mut at_pinger) = unbounded_channel::<u64>();
        let begin = Instant::now();
        tokio::spawn(async move {
            while let Some(value) = at_echo.recv().await {
                if back.send(value + 1).is_err() {
                    break;
                }
            }
        });
        let pinger = tokio::spawn(async move {
            let mut value = 0;
            while value < rounds {
                let _ = there.send(value);
                value = at_pinger.recv().await.unwrap_or(rounds);
            }
        });
        let _ = pinger.await;
        timed(rounds, begin, 0)
    }

    async fn flood(count: u64) -> Outcome {
        let (sender, mut receiver) = unbounded_channel::<u64>();
        let summing = tokio::spawn(async move {
            let mut wrong = 0;
            for expected in 0..count {
                wrong += u64::from(receiver.recv().await != Some(expected));
            }
            wrong
        });
        let begin = Instant::now();
        for message in 0..count {
            let _ = sender.send(message);
        }
        let wrong = summing.await.unwrap_or(count);
        timed(count, begin, wrong)
    }

    async fn workload(name: &str, count: u64) -> Option<Outcome> {
        let done = Countdown::new(count);
        Some(match name {
            "W1" => {
                let begin = Instant::now();
                let actors = population(count, &done);
                settle(count).await;
                timed(actors.0.len() as u64, begin, 0)
            }
            "W2" => {
                let (senders, _tasks) = population(count, &done);
                settle(count).await;
                let begin = Instant::now();
                for sender in &senders {
                    let _ = sender.send(1);
                }
                done.wait();
                timed(count, begin, 0)
            }
            "W3" => flood(count * 10).await,
            "W4" => rally(count).await,
            "W6" => {
                let before = resident();
                let actors = population(count, &done);
                settle(count).await;
                let bytes = (resident() - before) / count.max(1);
                drop(actors);
                Outcome { ops: count, seconds: 0.0, bytes, wrong: 0 }
            }
            "W7" => {
                let (senders, tasks) = population(count, &done);
                settle(count).await;
                let begin = Instant::now();
                drop(senders);
                for task in tasks {
                    let _ = task.await;
                }
                timed(count, begin, 0)
            }
            _ => return None,
        })
    }

    pub(super) fn run(name: &str, scale: f64) -> Option<Outcome> {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().ok()?;
        runtime.block_on(workload(name, (100_000.0 * scale) as u64))
    }
}

fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1);
    let workload = arguments.next().unwrap_or_default();
    let scale = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let system = arguments.next().unwrap_or_else(|| "iris".to_owned());
    let workers = std::env::var("IRIS_WORKERS").ok().and_then(|text| text.parse().ok());
    let outcome = match system.as_str() {
        "iris" => on_iris::run(&workload, scale, workers),
        "tokio" => on_tokio::run(&workload, scale),
        _ => None,
    };
    let Some(Outcome { ops, seconds, bytes, wrong }) = outcome else {
        eprintln!("usage: actor_bench W1|W2|W3|W4|W5|W6|W7|CPU [SCALE] [iris|tokio] (tokio has no W5)");
        return 3.into();
    };
    println!(
        "{{\"workload\":\"{workload}\",\"system\":\"{system}\",\"ops\":{ops},\"seconds\":{seconds:.6},\"bytes_per_actor\":{bytes},\"wrong\":{wrong},\"per_second\":{:.0}}}",
        if seconds > 0.0 { ops as f64 / seconds } else { 0.0 }
    );
    0.into()
}
