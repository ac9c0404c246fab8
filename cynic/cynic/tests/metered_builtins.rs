//! Runs *every* function that a guest can reach, and the operators of the language, over large receivers and arguments, and asserts
//! that none works for long without looking at the limits: neither in one stretch, nor in calls that each cost more than the
//! steps they are charged, which a loop would repeat thousands of times between two looks.
//!
//! The functions are found by reflection, so that a new one is tested without being named here. Time is the thread's processor
//! time, and what exceeds a bound is run again, so that other programs on the machine do not matter. `CYNIC_METERED_ROUNDS` sets how many
//! combinations each function gets (all receivers are 75), `CYNIC_METERED_ONLY` picks functions by a part of their name.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use cynic::host::inspect::Styles;
use cynic::host::{Sink, Stream};
use cynic::{Engine, Handle, Isolate, Limits};
use rustix::time::{ClockId, clock_gettime};

/// Bytes, units, or sixteen times the elements of what is large.
const SCALE: usize = 1 << 20;
/// How much slower this build may be than an optimised one.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 6 } else { 1 };
/// The longest stretch without a look at the limits.
const STRETCH_MAX: Duration = Duration::from_millis(20 * SLOWNESS as u64);
/// What a step may cost: 4,096 of them lie between two looks.
const STEP_MAX: Duration = Duration::from_micros(5 * SLOWNESS as u64);
/// What a call may cost besides its steps.
const CALL_MAX: Duration = Duration::from_micros(400 * SLOWNESS as u64);
/// After this many steps a call is ended: it is metered.
const STEPS_MAX: u64 = 100_000;
/// How often a call must exceed a bound to count.
const TRIALS: usize = 3;
const ROUNDS: usize = 25;
const HEAP_BYTES_MAX: usize = 3 << 30;

struct Nowhere;

impl Sink for Nowhere {
    fn line(&mut self, _: Stream, _: &str) {}
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// The longest stretch between two looks at the limits.
#[derive(Default)]
struct Looks {
    last: Cell<Duration>,
    longest: Cell<Duration>,
}

impl Looks {
    fn look(&self) {
        let now = processor_time();
        self.longest.set(self.longest.get().max(now - self.last.get()));
        self.last.set(now);
    }
    fn start(&self) {
        self.last.set(processor_time());
        self.longest.set(Duration::ZERO);
    }
}

struct Bench {
    isolate: Isolate,
    looks: Rc<Looks>,
}

/// What one call cost.
struct Cost {
    time: Duration,
    steps: u64,
    stretch: Duration,
}

impl Cost {
    fn is_excessive(&self) -> bool {
        self.stretch > STRETCH_MAX || self.time > CALL_MAX + STEP_MAX * self.steps as u32
    }
}

impl Bench {
    fn new() -> Bench {
        let limits = Limits { heap_bytes: HEAP_BYTES_MAX, ..Limits::default() };
        let mut isolate = Engine::new().unhardened().allow_eval().isolate(limits);
        cynic::host::install(&mut isolate, Box::new(Nowhere), Styles::Plain);
        isolate.set_can_block(false);
        let source = include_str!("metered_builtins.js").replace("SCALE;", &format!("{SCALE};"));
        if let Err(error) = isolate.realm().evaluate("metered_builtins.js", &source) {
            panic!("{error}");
        }
        let looks = Rc::new(Looks::default());
        let look = Rc::clone(&looks);
        isolate.on_look(move || look.look());
        Bench { isolate, looks }
    }

    fn evaluate(&mut self, text: &str) -> Handle {
        match self.isolate.realm().evaluate("call.js", text) {
            Ok(value) => value,
            Err(error) => panic!("{text}: {error}"),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let value = self.evaluate(text);
        self.isolate.realm().to_text(&value).unwrap_or_default()
    }

    /// Makes the operands of a combination; its description. Where earlier calls have damaged what this needs (a prototype, say), a fresh isolate does.
    fn prepare(&mut self, index: usize, round: usize) -> String {
        let text = format!("prepare({index}, {round})");
        let mut realm = self.isolate.realm();
        if let Ok(value) = realm.evaluate("call.js", &text) {
            return realm.to_text(&value).unwrap_or_default();
        }
        *self = Bench::new();
        self.text(&text)
    }

    fn perform(&mut self) -> Cost {
        let perform = self.evaluate("perform");
        self.isolate.set_fuel(Some(STEPS_MAX));
        self.looks.start();
        let start = processor_time();
        let called = self.isolate.realm().call(&perform, &[]);
        let _ = called.and_then(|_| self.isolate.run_jobs());
        let time = processor_time() - start;
        self.looks.look();
        let left = self.isolate.fuel_left().unwrap_or(0);
        self.isolate.recover();
        self.isolate.set_fuel(None);
        Cost { time, steps: STEPS_MAX - left, stretch: self.looks.longest.get() }
    }

    /// A complaint, if the combination exceeds a bound each time.
    fn complaint(&mut self, index: usize, round: usize) -> Option<String> {
        let mut worst = None;
        for _ in 0..TRIALS {
            let what = self.prepare(index, round);
            let cost = self.perform();
            if !cost.is_excessive() {
                return None;
            }
            worst = Some(format!(
                "{:.1} ms ({:.1} ms in one stretch), {} steps: {what}",
                cost.time.as_secs_f64() * 1e3,
                cost.stretch.as_secs_f64() * 1e3,
                cost.steps
            ));
        }
        worst
    }
}

#[test]
fn every_builtin_pays_for_its_work() {
    let mut bench = Bench::new();
    let names = bench.text("found.map(([name]) => name).join('\\n')");
    let names: Vec<String> = names.lines().map(str::to_owned).collect();
    assert!(names.len() > 850, "{} functions found", names.len());
    let rounds = std::env::var("CYNIC_METERED_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    let only = std::env::var("CYNIC_METERED_ONLY").unwrap_or_default();
    let mut complaints = Vec::new();
    for (index, _) in names.iter().enumerate().filter(|(_, name)| name.contains(&only)) {
        // Every function gets its own part of the receivers; its first complaint is enough.
        complaints.extend((0..rounds).find_map(|round| bench.complaint(index, index + round * 3)));
    }
    assert!(complaints.is_empty(), "{} combinations:\n{}", complaints.len(), complaints.join("\n"));
}
