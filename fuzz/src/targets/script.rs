//! Whole programs: the same output as node's, hardened or not, with and without the collector at its most eager.

use std::time::Duration;

use cynic::{Engine, Error, Limits, Zeal};
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

/// What one program prints, or why it has no result.
pub(super) fn run(source: &str, hardened: bool, zeal: Zeal) -> Option<String> {
    let engine = if hardened { Engine::new() } else { Engine::new().unhardened() };
    let mut isolate =
        engine.isolate(Limits { heap_bytes: HEAP_BYTES, fuel: Some(FUEL), ..Limits::default() });
    isolate.set_gc_zeal(zeal);
    let mut realm = isolate.realm();
    match realm.evaluate("program", source) {
        Ok(value) => value.to(&mut realm).ok(),
        Err(Error::Thrown(exception)) => Some(format!("threw {}", exception.message)),
        Err(_) => None,
    }
}

/// Random programs against node.
pub(super) fn against_node(random: &mut Random) -> Result<u64, Failure> {
    let programs: Vec<String> = (0..PROGRAMS).map(|_| program::program(random)).collect();
    let theirs = ask_node(&programs)?;
    for (source, theirs) in programs.iter().zip(&theirs) {
        let hardened = random.chance(50);
        let zeal = match random.below(100) {
            n if n < ZEAL_PERCENT => Zeal::Whole,
            n if n < 2 * ZEAL_PERCENT => Zeal::Steps,
            _ => Zeal::Off,
        };
        let Some(ours) = run(source, hardened, zeal) else { continue };
        if theirs.as_str() != Some(&ours) {
            let theirs = theirs.as_str().unwrap_or("nothing");
            return Err(Failure::Found(describe(source, &ours, theirs, hardened, zeal)));
        }
    }
    Ok(PROGRAMS as u64)
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
fn describe(source: &str, ours: &str, theirs: &str, hardened: bool, zeal: Zeal) -> String {
    let at = ours.lines().zip(theirs.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(ends)").to_string();
    format!(
        "hardened: {hardened}, zeal: {zeal:?}\nline {at}: ours   {}\n         theirs {}\n{source}",
        line(ours),
        line(theirs)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_end() {
        // A key among the first of these seeds once made an array of 2^31 holes.
        for seed in [6_000_409, 1, 2] {
            let mut random = Random::new(seed);
            for n in 0..PROGRAMS {
                let source = program::program(&mut random);
                assert!(
                    run(&source, false, Zeal::Off).is_some(),
                    "seed {seed}, program {n} does not end:\n{source}"
                );
            }
        }
    }
}
