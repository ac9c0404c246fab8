//! W1 to W9 on iris, in the protocol of bench/actors/README.md. Owns the workloads; prints one JSON line per run. Beside them:
//! CPU, computing handlers on 1,000 actors (compare IRIS_WORKERS=1 with 2 for how throughput grows with the cores), and RING, a hot swap
//! of 100,000 actors from outside while 100,000 messages circle among them: the time until the last has been applied; SLOWRING is the
//! same with handlers that compute for some microseconds.
#![forbid(unsafe_code)]

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use iris_runtime::{ActorRef, Behaviour, Context, Direction, ExitReason, Flow, ReplyTo, Runtime};

#[derive(Default)]
struct Outcome {
    ops: u64,
    seconds: f64,
    bytes: u64,
    wrong: u64,
    latency_us: f64,
}

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn timed(ops: u64, begin: Instant, wrong: u64) -> Outcome {
    Outcome { ops, seconds: begin.elapsed().as_secs_f64(), wrong, ..Outcome::default() }
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

    type Echo = ActorRef<ReplyTo<()>>;

    fn echo(runtime: &Runtime) -> Option<Echo> {
        let answer = |_: &mut Context<'_, ReplyTo<()>>, reply: ReplyTo<()>| {
            reply.send(());
        };
        runtime.spawn_fn(answer).ok()
    }

    /// Asks until told to end; the latencies in ascending order, in microseconds.
    fn ask_while(echo: &Echo, mut more: impl FnMut(usize) -> bool) -> Vec<f64> {
        let mut samples = Vec::new();
        while more(samples.len()) {
            let then = Instant::now();
            if echo.ask(None, |reply| reply).is_ok() {
                samples.push(then.elapsed().as_secs_f64() * 1e6);
            }
        }
        samples.sort_by(f64::total_cmp);
        samples
    }

    fn ping_under_load(runtime: &Runtime, count: u64) -> Outcome {
        let others = population(runtime, count, &Countdown::new(u64::MAX));
        let Some(echo) = echo(runtime) else { return Outcome { wrong: 1, ..Outcome::default() } };
        let stop = AtomicBool::new(false);
        let begin = Instant::now();
        let samples = std::thread::scope(|scope| {
            scope.spawn(|| {
                for batch in others.chunks(50).cycle().take_while(|_| !stop.load(Ordering::Relaxed)) {
                    batch.iter().for_each(|actor| drop(actor.send(1)));
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            let samples = ask_while(&echo, |asked| asked < 2_000);
            stop.store(true, Ordering::Relaxed);
            samples
        });
        let p99 = samples.get(samples.len() * 99 / 100).copied().unwrap_or_default();
        Outcome { latency_us: p99, ..timed(samples.len() as u64, begin, 0) }
    }

    fn ping_beside_blocked(runtime: &Runtime, scale: f64) -> Outcome {
        let left = Arc::new(AtomicU64::new(2));
        for _ in 0..2 {
            let left = left.clone();
            let blocking = move |_: &mut Context<'_, u64>, ms| {
                std::thread::sleep(Duration::from_millis(ms));
                left.fetch_sub(1, Ordering::SeqCst);
            };
            if let Ok(actor) = runtime.spawn_fn(blocking) {
                let _ = actor.send((2_000.0 * scale) as u64);
            }
        }
        let Some(echo) = echo(runtime) else { return Outcome { wrong: 1, ..Outcome::default() } };
        let begin = Instant::now();
        let samples = ask_while(&echo, |_| left.load(Ordering::SeqCst) > 0);
        let worst = samples.last().copied().unwrap_or_default();
        Outcome { latency_us: worst, ..timed(samples.len() as u64, begin, 0) }
    }

    /// Hands every message on to the next in the ring.
    struct Circling {
        at: usize,
        ring: Arc<std::sync::OnceLock<Vec<ActorRef<u64>>>>,
        applied: Countdown,
        work: u64,
    }

    /// Computes for about a nanosecond and a half for each of `steps`.
    fn compute(seed: u64, steps: u64) {
        let step = |x: u64, _| x.wrapping_mul(6_364_136_223_846_793_005).rotate_left(9);
        std::hint::black_box((0..steps).fold(seed | 1, step));
    }

    impl Behaviour<u64> for Circling {
        fn handle(&mut self, _: &mut Context<'_, u64>, message: u64) -> Flow {
            compute(message, self.work);
            if let Some(next) = self.ring.get().and_then(|ring| ring.get((self.at + 1) % ring.len())) {
                let _ = next.send(message);
            }
            Flow::Continue
        }

        fn code_change(&mut self, _: &mut dyn Any, _: Direction) -> Result<(), ExitReason> {
            self.applied.tick();
            Ok(())
        }
    }

    fn swap_a_ring(runtime: &Runtime, count: u64, work: u64) -> Outcome {
        let (ring, applied) = (Arc::default(), Countdown::new(count));
        let make = |at| Circling { at, ring: Arc::clone(&ring), applied: applied.clone(), work };
        let actors: Vec<_> = (0..count as usize).filter_map(|at| runtime.spawn(make(at)).ok()).collect();
        let _ = ring.set(actors.clone());
        actors.iter().for_each(|actor| drop(actor.send(0)));
        // Long enough for the messages to gather where they like.
        std::thread::sleep(Duration::from_millis(500));
        let begin = Instant::now();
        for (at, actor) in actors.iter().enumerate() {
            actor.hot_swap(make(at));
        }
        applied.wait();
        timed(count, begin, 0)
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
                Outcome { ops: count, bytes, ..Outcome::default() }
            }
            "W7" => {
                drop(population(&runtime, count, &done));
                let begin = Instant::now();
                let report = runtime.stop(None, Duration::from_secs(30));
                timed(count, begin, u64::from(!report.complete))
            }
            "W8" => ping_under_load(&runtime, count),
            "W9" => ping_beside_blocked(&runtime, scale),
            "RING" => swap_a_ring(&runtime, count, 0),
            "SLOWRING" => swap_a_ring(&runtime, count, 2_000),
            // CPU-bound handlers on many actors: two cores against one.
            "CPU" => {
                let done = Countdown::new(count * 2);
                let actors: Vec<ActorRef<u64>> = (0..1_000)
                    .filter_map(|_| {
                        let done = done.clone();
                        let handler = move |_: &mut Context<'_, u64>, seed| {
                            compute(seed, 2_000);
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

fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1);
    let workload = arguments.next().unwrap_or_default();
    let scale = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let workers = std::env::var("IRIS_WORKERS").ok().and_then(|text| text.parse().ok());
    let Some(Outcome { ops, seconds, bytes, wrong, latency_us }) = on_iris::run(&workload, scale, workers)
    else {
        eprintln!("usage: iris-actors W1|W2|W3|W4|W5|W6|W7|W8|W9|CPU|RING|SLOWRING [SCALE]");
        return 3.into();
    };
    println!(
        "{{\"workload\":\"{workload}\",\"ops\":{ops},\"seconds\":{seconds:.6},\"bytes_per_actor\":{bytes},\"wrong\":{wrong},\"latency_us\":{latency_us:.1}}}"
    );
    0.into()
}
