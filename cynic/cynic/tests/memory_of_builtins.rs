//! Runs *every* function that a guest can reach, and the operators of the language, over large receivers and arguments in a heap that is nearly full,
//! and asserts that the process takes little more memory than the heap has room for: neither by what a call needs while it works, nor by what its
//! results keep when a guest makes them for ever.
//!
//! The functions and their operands are those of `metered_builtins.js`. What a call takes is the greatest resident set of the process since the call
//! began, so it is Linux's `/proc/self` that tells. `CYNIC_MEMORY_ROUNDS` sets how many combinations each function gets (all receivers are 75),
//! `CYNIC_MEMORY_ONLY` picks functions by a part of their name. A build with assertions takes one of `STRIDE` functions, as it is slow.

use std::process::Command;

use cynic::host::inspect::Styles;
use cynic::host::{Sink, Stream};
use cynic::{Engine, Error, Handle, Isolate, Limits};

/// The heap's limit; nearly all of it is a buffer that nothing touches.
const HEAP_BYTES: usize = 512 << 20;
/// What is left of it.
const ROOM: usize = 1 << 20;
/// What a call may take besides: the nursery, what the allocator rounds up, a table in the middle of its growth.
const BESIDES: usize = 7 << 20;
/// Bytes or units of what is large where one call is measured, and where its results are kept.
const SCALES: [(usize, &str); 2] = [(4 << 20, "perform"), (32 << 10, "performForEver")];
/// After this many steps a call is ended.
const STEPS_MAX: u64 = 500_000;
/// How often a call must exceed the bound to count.
const TRIALS: usize = 2;
const ROUNDS: usize = if cfg!(debug_assertions) { 1 } else { 2 };
/// Every so many functions one is taken.
const STRIDE: usize = if cfg!(debug_assertions) { 8 } else { 1 };
/// Says that this process is the one that is measured.
const MEASURED: &str = "CYNIC_MEMORY_MEASURED";

/// What keeps the results of a function until the heap is full.
const FOR_EVER: &str = "let results = [];
function performForEver() {
  for (;;) {
    let result;
    try { result = constructs ? Reflect.construct(f, [receiver, ...values]) : Reflect.apply(f, receiver, values); } catch {}
    results.push(result);
  }
}
let ballast;
function forget() { results = []; ballast = undefined; receiver = values = undefined; }
function fill(bytes) { results = []; ballast = new ArrayBuffer(bytes); }";

struct Nowhere;

impl Sink for Nowhere {
    fn line(&mut self, _: Stream, _: &str) {}
}

/// A size in `/proc/self/status`, in bytes.
fn status(name: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<usize>().ok()).unwrap_or(0) << 10
}

/// Makes the greatest resident set the present one; whether the system can.
fn reset_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

struct Bench {
    isolate: Isolate,
    scale: usize,
}

impl Bench {
    fn new(scale: usize) -> Bench {
        let limits = Limits { heap_bytes: HEAP_BYTES, ..Limits::default() };
        let mut isolate = Engine::new().unhardened().allow_eval().isolate(limits);
        cynic::host::install(&mut isolate, Box::new(Nowhere), Styles::Plain);
        isolate.set_can_block(false);
        let source = include_str!("metered_builtins.js").replace("SCALE;", &format!("{scale};"));
        for (name, text) in [("metered_builtins.js", &*source), ("for_ever.js", FOR_EVER)] {
            if let Err(error) = isolate.realm().evaluate(name, text) {
                panic!("{error}");
            }
        }
        Bench { isolate, scale }
    }

    fn evaluate(&mut self, text: &str) -> Result<Handle, Error> {
        self.isolate.realm().evaluate("call.js", text)
    }

    fn text(&mut self, text: &str) -> Result<String, Error> {
        let value = self.evaluate(text)?;
        self.isolate.realm().to_text(&value)
    }

    /// Makes the operands of a combination and fills the heap; the combination's description.
    fn prepare(&mut self, index: usize, round: usize) -> Result<String, Error> {
        let what = self.text(&format!("prepare({index}, {round})"))?;
        self.isolate.collect_garbage();
        let bytes = HEAP_BYTES.saturating_sub(self.isolate.heap_bytes() + ROOM);
        self.evaluate(&format!("fill({bytes})"))?;
        Ok(what)
    }

    /// What a call takes at its greatest, and what it is; `None` if it could not be made.
    fn measure(&mut self, how: &str, index: usize, round: usize) -> Option<(usize, String)> {
        let what = match self.prepare(index, round) {
            Ok(what) => what,
            // Earlier calls have damaged what this needs (a prototype, say).
            Err(_) => {
                *self = Bench::new(self.scale);
                self.prepare(index, round).ok()?
            }
        };
        let perform = self.evaluate(how).ok()?;
        self.isolate.set_fuel(Some(STEPS_MAX));
        assert!(reset_peak(), "it could be reset before");
        let before = status("VmRSS:");
        let called = self.isolate.realm().call(&perform, &[]);
        let _ = called.and_then(|_| self.isolate.run_jobs());
        let taken = status("VmHWM:").saturating_sub(before);
        self.isolate.recover();
        self.isolate.set_fuel(None);
        self.isolate.clear_jobs();
        if self.evaluate("forget()").is_err() {
            *self = Bench::new(self.scale);
        }
        Some((taken, what))
    }

    /// A complaint, if the combination exceeds the bound each time.
    fn complaint(&mut self, how: &str, index: usize, round: usize) -> Option<String> {
        let mut worst = None;
        for _ in 0..TRIALS {
            let (taken, what) = self.measure(how, index, round)?;
            if taken <= ROOM + BESIDES {
                return None;
            }
            worst = Some(format!("{:.1} MB, {how}: {what}", taken as f64 / 1e6));
        }
        worst
    }
}

/// Every function of arrays and iterators over receivers of huge lengths, which it gathers in lists of its own.
fn huge_lengths(complaints: &mut Vec<String>) {
    const HEAP: usize = 8 << 20;
    /// Steps in which a list without a bound grows to several times the limit.
    const STEPS: u64 = 6_000_000;
    const NAMES: &str = "[...['Array', 'Iterator'].flatMap((c) => Reflect.ownKeys(globalThis[c].prototype)
        .filter((k) => typeof k === 'string' && k !== 'constructor')
        .filter((k) => typeof Object.getOwnPropertyDescriptor(globalThis[c].prototype, k).value === 'function')
        .map((k) => `(x) => ${c}.prototype.${k}.call(${c === 'Array' ? 'x' : 'x.values ? x.values() : Array.prototype.values.call(x)'}, 1, 2)`)),
        '(x) => Array.from(x)', '(x) => [...x]', '(x) => Math.max(...x)', '(x) => Math.max.apply(null, x)', '(x) => new Set(x)',
        '(x) => Object.groupBy(x, () => 1)', '(x) => Map.groupBy(x, () => 1)', '(x) => Float64Array.from(x)', '(x) => new Float64Array(x)',
        '(x) => Promise.all(x)', '(x) => JSON.stringify(x)', '(x) => structuredClone(x)', '(x) => Array.prototype.toSorted.call(x)',
        '(x) => Array.prototype.sort.call(x)', '(x) => Reflect.ownKeys(x)', '(x) => Iterator.zip([x, x]).toArray()'].join('\\n')";
    let isolate = || Engine::new().unhardened().isolate(Limits { heap_bytes: HEAP, ..Limits::default() });
    let mut first = isolate();
    let mut realm = first.realm();
    let names =
        realm.evaluate("names.js", NAMES).and_then(|names| names.to::<String>(&mut realm)).expect("names");
    assert!(names.lines().count() > 60, "{names}");
    for function in names.lines() {
        for receiver in ["Array(2 ** 32 - 1)", "{ length: 2 ** 32 - 1 }", "{ length: 2 ** 53 - 1, 0: 1 }"] {
            let mut isolate = isolate();
            isolate.set_fuel(Some(STEPS));
            assert!(reset_peak(), "it could be reset before");
            let before = status("VmRSS:");
            let call = format!("({function})({receiver})");
            let _ = isolate.realm().evaluate("call.js", &call).map(drop);
            let taken = status("VmHWM:").saturating_sub(before);
            if taken > 2 * HEAP + BESIDES {
                complaints.push(format!("{:.1} MB: {call}", taken as f64 / 1e6));
            }
        }
    }
}

/// Not a test by itself: the process that is measured.
#[test]
fn measured() {
    if std::env::var_os(MEASURED).is_none() {
        return;
    }
    let rounds = std::env::var("CYNIC_MEMORY_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    let only = std::env::var("CYNIC_MEMORY_ONLY").unwrap_or_default();
    let mut complaints = Vec::new();
    if only.is_empty() || only == "huge" {
        huge_lengths(&mut complaints);
    }
    for (scale, how) in SCALES {
        let mut bench = Bench::new(scale);
        let names = bench.text("found.map(([name]) => name).join('\\n')").expect("names");
        let names: Vec<String> = names.lines().map(str::to_owned).collect();
        assert!(names.len() > 850, "{} functions found", names.len());
        let picked = |&(index, name): &(usize, &String)| {
            if only.is_empty() { index % STRIDE == 0 } else { name.contains(&only) }
        };
        for (index, _) in names.iter().enumerate().filter(picked) {
            // Every function gets its own part of the receivers; its first complaint is enough.
            complaints.extend((0..rounds).find_map(|round| bench.complaint(how, index, index + round * 3)));
        }
    }
    assert!(complaints.is_empty(), "{} combinations:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn no_builtin_takes_more_memory_than_the_heap_has_room_for() {
    if !reset_peak() || status("VmHWM:") == 0 {
        eprintln!("skipped: /proc/self does not tell the greatest resident set");
        return;
    }
    // What is freed goes back to the system at once, so that it does not hide what is taken after it.
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "measured", "--nocapture"])
        .envs([("MALLOC_MMAP_THRESHOLD_", "65536"), ("MALLOC_TRIM_THRESHOLD_", "65536")])
        .env(MEASURED, "1")
        .output()
        .expect("this program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
