//! Seeded simulation of the whole core: crashes, restarts, links, timers, swaps and overflow in one system, under a scheduler that
//! draws from the seed. Checks that a seed repeats exactly and that no seed breaks the promises. A failure prints its seed.
//! `IRIS_SEEDS` sets how many seeds are run.

use std::sync::Arc;
use std::time::Duration;

use iris_runtime::simulation::Simulation;
use iris_runtime::supervisor::*;
use iris_runtime::*;
use parking_lot::Mutex;

#[derive(Clone)]
enum Message {
    Numbered(u64),
    Crash,
    Forward(u64, u32),
}

#[derive(Default)]
struct Books {
    /// Messages handled, per incarnation: they must be increasing.
    handled: Vec<u64>,
    wrong: Vec<String>,
    starts: u64,
}

struct Node {
    books: Arc<Mutex<Books>>,
    last: u64,
    version: u64,
}

impl Behaviour<Message> for Node {
    fn handle(&mut self, cx: &mut Context<'_, Message>, message: Message) -> Flow {
        match message {
            Message::Numbered(number) => {
                let mut books = self.books.lock();
                if number <= self.last {
                    books.wrong.push(format!("{number} after {}", self.last));
                }
                // The upper half of the number is the version that was current when it was sent.
                if number >> 32 != self.version {
                    books.wrong.push(format!("version {} ran {number:x}", self.version));
                }
                self.last = number;
                books.handled.push(number);
                Flow::Continue
            }
            Message::Crash => Flow::Exit(ExitReason::error("told to")),
            Message::Forward(number, hops) => {
                if hops > 0 {
                    let again = Message::Forward(number, hops - 1);
                    cx.handle().send_after(Duration::from_millis(u64::from(hops)), &cx.me(), again);
                }
                Flow::Continue
            }
        }
    }

    fn code_change(&mut self, previous: &mut dyn std::any::Any, _: Direction) -> Result<(), ExitReason> {
        if let Some(previous) = previous.downcast_ref::<Self>() {
            self.last = previous.last;
        }
        Ok(())
    }
}

struct World {
    simulation: Simulation,
    supervisor: SupervisorRef,
    books: Arc<Mutex<Books>>,
}

fn world(seed: u64, strategy: Strategy) -> World {
    let simulation = Simulation::new(seed);
    let books = Arc::new(Mutex::new(Books::default()));
    let supervisor =
        (0..4).fold(Supervisor::new(strategy).intensity(1_000, Duration::from_secs(3_600)), |all, at| {
            let books = books.clone();
            all.child(ChildSpec::new(format!("n{at}"), move |cx| {
                books.lock().starts += 1;
                cx.spawn(Node { books: books.clone(), last: 0, version: 0 })
            }))
        });
    let supervisor = supervisor.start(simulation.handle(), SpawnOptions::default()).expect("it starts");
    World { simulation, supervisor, books }
}

fn nodes(world: &World) -> Vec<Pid> {
    // First let restarts finish, then ask.
    assert!(world.simulation.settle(1_000_000));
    let call = world.supervisor.which_children();
    assert!(world.simulation.settle(1_000_000));
    let children = call.wait(Some(Duration::ZERO)).expect("the supervisor answers");
    children.into_iter().filter_map(|child| child.pid).collect()
}

/// Drives one world with choices from its seed; returns the digest of its trace and what it handled.
fn drive(seed: u64) -> (u64, Vec<u64>) {
    let strategies = [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne];
    let world = world(seed, strategies[(seed % 3) as usize]);
    let (simulation, handle) = (&world.simulation, world.simulation.handle());
    let (mut number, mut sent, mut refused) = (0_u64, 0_u64, 0_u64);
    let before = handle.dead_letters();
    for _ in 0..12 {
        let pids = nodes(&world);
        assert_eq!(pids.len(), 4, "seed {seed}: a supervised child is missing");
        for _ in 0..simulation.draw(12) {
            let pid = pids[simulation.draw(4)];
            match simulation.draw(16) {
                0 => drop(handle.send(pid, Message::Crash)),
                1 => drop(handle.send(pid, Message::Forward(number, 3))),
                2 => {
                    handle.link(pid, pids[simulation.draw(4)]);
                }
                3 => (0..simulation.draw(20)).for_each(|_| {
                    simulation.step();
                }),
                4 => swap(&world, pid),
                _ => {
                    number += 1;
                    let version = handle.version(pid).map_or(0, |version| u64::from(version) - 1);
                    let numbered = Message::Numbered((version << 32) | number);
                    if handle.send(pid, numbered).is_ok() { sent += 1 } else { refused += 1 }
                }
            }
        }
    }
    assert!(simulation.run(1_000_000), "seed {seed}: it does not come to rest");
    let books = world.books.lock();
    assert!(books.wrong.is_empty(), "seed {seed}: {:?}", books.wrong);
    let dead = handle.dead_letters() - before;
    assert!(books.handled.len() as u64 <= sent, "seed {seed}: handled more than was sent");
    assert!(
        books.handled.len() as u64 + dead >= sent,
        "seed {seed}: {refused} refused, some accepted messages vanished"
    );
    assert!(books.starts >= 4);
    (simulation.digest(), books.handled.clone())
}

fn swap(world: &World, pid: Pid) {
    let handle = world.simulation.handle();
    if let Some(actor) = handle.actor::<Message>(pid) {
        let version = handle.version(pid).map_or(0, u64::from);
        actor.hot_swap(Node { books: world.books.clone(), last: 0, version });
    }
}

fn seeds() -> u64 {
    std::env::var("IRIS_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(if cfg!(miri) {
        10
    } else {
        10_000
    })
}

#[test]
fn no_seed_breaks_the_promises() {
    for seed in 0..seeds() {
        drive(seed);
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let seeds = if cfg!(miri) { 2 } else { 50 };
    for seed in 0..seeds {
        assert_eq!(drive(seed), drive(seed), "seed {seed} does not repeat");
    }
    let digests: std::collections::BTreeSet<u64> = (0..seeds).map(|seed| drive(seed).0).collect();
    assert!(
        digests.len() as u64 * 10 > seeds * 8,
        "the seed hardly matters: {} different traces",
        digests.len()
    );
}
