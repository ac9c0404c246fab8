//! Whole programs: the same output as node's, hardened or not, compiled or not, with and without the collector at its most eager; and the same
//! output, errors and steps in every mode of the code generator.

use std::time::Duration;

use cynic::{Engine, Error, Isolate, Jit, Limits, Zeal};
use serde_json::{Value, json};

use super::Failure;
use crate::peer::{self, PeerError};
use crate::program;
use crate::random::Random;

/// Programs of one round; a node start is paid once for all of them.
const PROGRAMS: usize = 60;
/// Steps that one program may take; those that take more have no verdict.
const FUEL: u64 = 5_000_000;
/// The heap of one program.
const HEAP_BYTES: usize = 64 << 20;
/// How often, in percent, a program runs with a collection at every allocation, and with a step of one.
const ZEAL_PERCENT: usize = 3;

/// Every mode, the one that the others are compared with first.
const MODES: [Jit; 4] = [Jit::Off, Jit::Template, Jit::ForceTemplate, Jit::EagerTemplate];
/// Begins the lines that say how much fuel is left.
const FUEL_LEFT: &str = "fuel left: ";
/// How many times a program of [`in_every_mode`] runs in one isolate, so that it is hot at the end.
const REPETITIONS: usize = 3;

/// How a program runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) hardened: bool,
    pub(super) zeal: Zeal,
    pub(super) jit: Jit,
    pub(super) fuel: u64,
}

impl Setting {
    /// Any, each mode as likely as the others.
    fn random(random: &mut Random) -> Setting {
        let zeal = match random.below(100) {
            n if n < ZEAL_PERCENT => Zeal::Whole,
            n if n < 2 * ZEAL_PERCENT => Zeal::Steps,
            _ => Zeal::Off,
        };
        Setting { hardened: random.chance(50), zeal, jit: MODES[random.below(MODES.len())], fuel: FUEL }
    }

    fn isolate(self) -> Isolate {
        let engine = Engine::new().deterministic();
        let engine = if self.hardened { engine } else { engine.unhardened() };
        let limits = Limits { heap_bytes: HEAP_BYTES, fuel: Some(self.fuel), ..Limits::default() };
        let mut isolate = engine.jit(self.jit).isolate(limits);
        isolate.set_gc_zeal(self.zeal);
        isolate
    }
}

/// What a program prints, or what it throws; `None` if a limit ended it.
fn evaluate(isolate: &mut Isolate, source: &str) -> Result<Option<String>, Error> {
    let mut realm = isolate.realm();
    match realm.evaluate("program", source) {
        Ok(value) => Ok(value.to(&mut realm).ok()),
        Err(Error::Thrown(exception)) => Ok(Some(format!("threw {}", exception.message))),
        Err(error) => Err(error),
    }
}

/// What one program prints, or why it has no result.
fn run(source: &str, setting: Setting) -> Option<String> {
    evaluate(&mut setting.isolate(), source).ok().flatten()
}

/// Random programs against node.
pub(super) fn against_node(random: &mut Random) -> Result<u64, Failure> {
    let programs: Vec<String> = (0..PROGRAMS).map(|_| program::program(random)).collect();
    let theirs = ask_node(&programs)?;
    for (source, theirs) in programs.iter().zip(&theirs) {
        let setting = Setting::random(random);
        let Some(ours) = run(source, setting) else { continue };
        if theirs.as_str() != Some(&ours) {
            let theirs = theirs.as_str().unwrap_or("nothing");
            return Err(Failure::Found(describe(source, &ours, theirs, setting)));
        }
    }
    Ok(PROGRAMS as u64)
}

/// Random programs in every mode: the same output and errors, and as much fuel left; sometimes with so little that it ends them.
pub(super) fn in_every_mode(random: &mut Random) -> Result<u64, Failure> {
    for _ in 0..PROGRAMS {
        // Each in a function of its own, so that it can run again.
        let source = format!("(() => {{\n{}\n}})()", program::program(random));
        let fuel = if random.chance(25) { 1 + random.below(20_000) as u64 } else { FUEL };
        let setting = Setting { fuel, ..Setting::random(random) };
        let [expected, others @ ..] = MODES.map(|jit| repeat(&source, Setting { jit, ..setting }));
        for (jit, found) in MODES[1..].iter().zip(others) {
            // Where the limits are looked at more often, calls that look take a step more.
            let (found, expected) = match jit {
                Jit::EagerTemplate if expected.contains("ended: ") => continue,
                Jit::EagerTemplate => (without_fuel(&found), without_fuel(&expected)),
                _ => (found, expected.clone()),
            };
            if found != expected {
                return Err(Failure::Found(describe(
                    &source,
                    &found,
                    &expected,
                    Setting { jit: *jit, ..setting },
                )));
            }
        }
    }
    Ok(PROGRAMS as u64)
}

/// What each of some runs of a program in one isolate gives, and the fuel that is left after it.
fn repeat(source: &str, setting: Setting) -> String {
    let mut isolate = setting.isolate();
    let mut outcomes = String::new();
    for _ in 0..REPETITIONS {
        let outcome = evaluate(&mut isolate, source);
        let ended = outcome.is_err();
        outcomes.push_str(&match outcome {
            Ok(text) => text.unwrap_or_else(|| "no text".to_string()),
            Err(error) => format!("ended: {error}"),
        });
        outcomes.push_str(&format!("\n{FUEL_LEFT}{:?}\n", isolate.fuel_left()));
        if ended {
            break;
        }
    }
    outcomes
}

fn without_fuel(outcomes: &str) -> String {
    outcomes.lines().filter(|line| !line.starts_with(FUEL_LEFT)).collect::<Vec<_>>().join("\n")
}

fn ask_node(programs: &[String]) -> Result<Vec<Value>, Failure> {
    let script = format!(
        "const run = (p) => {{ try {{ return (0, eval)(p); }} catch (e) {{ return 'threw ' + e; }} }};\n\
         process.stdout.write(JSON.stringify({}.map(run)));",
        json!(programs)
    );
    let answer = peer::ask("node", &["-"], script.as_bytes(), Duration::from_secs(60));
    let bytes = answer.map_err(|error| match error {
        PeerError::Absent(what) => Failure::Absent(what),
        PeerError::Failed(what) => Failure::Found(format!("the oracle failed: {what}")),
    })?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Array(answers)) if answers.len() == programs.len() => Ok(answers),
        _ => Err(Failure::Found("the oracle's answer is no list of results".to_string())),
    }
}

/// The program, and the first line in which the outputs differ.
fn describe(source: &str, ours: &str, theirs: &str, setting: Setting) -> String {
    let at = ours.lines().zip(theirs.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(ends)").to_string();
    format!("{setting:?}\nline {at}: ours     {}\n         expected {}\n{source}", line(ours), line(theirs))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Setting = Setting { hardened: false, zeal: Zeal::Off, jit: Jit::Off, fuel: FUEL };

    #[test]
    fn programs_end() {
        // A key among the first of these seeds once made an array of 2^31 holes.
        for seed in [6_000_409, 1, 2] {
            let mut random = Random::new(seed);
            for n in 0..PROGRAMS {
                let source = program::program(&mut random);
                assert!(run(&source, PLAIN).is_some(), "seed {seed}, program {n} does not end:\n{source}");
            }
        }
    }

    #[test]
    fn some_programs_in_every_mode() {
        for seed in [1, 2] {
            if let Err(Failure::Found(what) | Failure::Absent(what)) = in_every_mode(&mut Random::new(seed)) {
                panic!("seed {seed}: {what}");
            }
        }
    }
}
