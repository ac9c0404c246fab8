//! `pithos-fuzz`: random inputs from a seed, judged by an oracle. Runs on stable Rust and needs nothing but, for the differential targets, the peer
//! it compares with. Every failure prints the seed that repeats it.
#![forbid(unsafe_code)]

mod peer;
mod program;
mod random;
mod targets;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use random::Random;

const USAGE: &str = "\
usage: pithos-fuzz TARGET|all [--seconds N] [--seed N] [--rounds N] [--failures N]
       pithos-fuzz bytes-… --file FILE

Runs rounds of a target until the time is over (default 60 s), the rounds are done or too many failed (default 10). A round is one batch of cases from one seed;
a failure prints the case and the seed, and `--seed N --rounds 1` repeats it. A target of bytes reads one input with `--file`.

targets:
";

/// How long a target runs when nothing is said.
const SECONDS_DEFAULT: u64 = 60;

struct Options {
    target: String,
    time: Duration,
    seed: u64,
    rounds: u64,
    failures: u32,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [target, flag, file] = words.as_slice()
        && flag == "--file"
    {
        return read_file(target, file);
    }
    let options = match parse(words.into_iter()) {
        Ok(options) => options,
        Err(message) => {
            eprint!("{message}\n{USAGE}");
            targets::ALL.iter().for_each(|target| eprintln!("  {:22} {}", target.name, target.about));
            return ExitCode::from(2);
        }
    };
    let chosen =
        targets::ALL.iter().filter(|target| options.target == "all" || target.name == options.target);
    let mut failures = 0;
    for target in chosen {
        failures += run(target, &options);
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One input for a target of bytes.
fn read_file(target: &str, file: &str) -> ExitCode {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::from(2);
        }
    };
    match targets::bytes::one(target, &bytes) {
        None => {
            eprintln!("'{target}' does not read bytes");
            ExitCode::from(2)
        }
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(wrong)) => {
            println!("{wrong}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let target = words.next().ok_or("no target was given")?;
    if target != "all" && !targets::ALL.iter().any(|known| known.name == target) {
        return Err(format!("'{target}' is no target"));
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let mut options = Options {
        target,
        time: Duration::from_secs(SECONDS_DEFAULT),
        seed: now.as_secs(),
        rounds: u64::MAX,
        failures: FAILURES_MAX,
    };
    while let Some(flag) = words.next() {
        let value = words.next().ok_or(format!("{flag} needs a value"))?;
        let number: u64 = value.parse().map_err(|_| format!("{flag}: '{value}' is no number"))?;
        match flag.as_str() {
            "--seconds" => options.time = Duration::from_secs(number),
            "--seed" => options.seed = number,
            "--rounds" => options.rounds = number,
            "--failures" => options.failures = u32::try_from(number).unwrap_or(u32::MAX),
            _ => return Err(format!("unknown flag '{flag}'")),
        }
    }
    Ok(options)
}

/// Runs one target; the number of failures, at most one a round.
fn run(target: &targets::Target, options: &Options) -> u32 {
    let start = Instant::now();
    let (mut rounds, mut cases, mut failures) = (0, 0, 0);
    while rounds < options.rounds && start.elapsed() < options.time {
        let seed = options.seed.wrapping_add(rounds);
        rounds += 1;
        match (target.round)(&mut Random::new(seed)) {
            Ok(count) => cases += count,
            Err(targets::Failure::Absent(what)) if cases == 0 && failures == 0 => {
                println!("{}: skipped: {what}", target.name);
                return 0;
            }
            // The oracle was there before: one round is lost, and has to be looked at.
            Err(targets::Failure::Absent(what)) => {
                failures += 1;
                println!("{}: LOST the round of seed {seed}: {what}", target.name);
                if failures >= options.failures {
                    break;
                }
            }
            Err(targets::Failure::Found(report)) => {
                failures += 1;
                println!(
                    "{}: FAILED\n{report}\nrepeat: pithos-fuzz {} --seed {seed} --rounds 1",
                    target.name, target.name
                );
                if failures >= options.failures {
                    break;
                }
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{}: {rounds} rounds in {seconds:.0} s, {failures} failed; {cases} cases in the others",
        target.name
    );
    failures
}

/// A target stops after this many failures unless something else is said.
const FAILURES_MAX: u32 = 10;
