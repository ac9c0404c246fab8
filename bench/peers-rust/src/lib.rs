//! What the Rust peers share: arguments in, one line of JSON out, as `bench/actors/README.md` says.

#![forbid(unsafe_code)]

use std::time::Duration;

/// What one workload yielded.
#[derive(Default)]
pub struct Outcome {
    /// Operations that were processed.
    pub ops: u64,
    /// Time they took.
    pub elapsed: Duration,
    /// Resident bytes per idle actor (W6).
    pub bytes_per_actor: u64,
    /// Violations seen by the workload's own checks.
    pub wrong: u64,
}

/// The sizes of one run.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// Actors in W1, W2, W6, W7.
    pub population: u64,
    /// Messages in W3.
    pub messages: u64,
    /// Round trips in W4.
    pub rounds: u64,
    /// Behaviour swaps in W5.
    pub swaps: u64,
}

/// Workload and sizes from the command line.
pub fn arguments() -> (String, Sizes) {
    let mut args = std::env::args().skip(1);
    let workload = args.next().unwrap_or_default();
    let scale: f64 = args.next().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let size = |n: f64| (n * scale) as u64;
    let sizes = Sizes { population: size(1e5), messages: size(1e6), rounds: size(1e5), swaps: size(1e5) };
    (workload, sizes)
}

/// Prints the outcome and ends the process: 3 when the workload is unknown.
pub fn report(workload: &str, outcome: Option<Outcome>) -> ! {
    let Some(o) = outcome else { std::process::exit(3) };
    println!(
        "{{\"workload\":\"{workload}\",\"ops\":{},\"seconds\":{:.6},\"bytes_per_actor\":{},\"wrong\":{}}}",
        o.ops,
        o.elapsed.as_secs_f64(),
        o.bytes_per_actor,
        o.wrong
    );
    std::process::exit(0);
}

/// The resident set of this process.
pub fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
