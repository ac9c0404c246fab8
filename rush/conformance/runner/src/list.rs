//! The committed list of cases that rush fails, and the comparison with a run. One case per line: file, number in
//! the file, description. The denominator that the project reports against is documented in `docs/rush.md`.

use crate::run::{CaseResult, Verdict};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Cases whose result is a race between two processes in any shell; either result is as good.
const RACES: &[&str] = &["background#12"];

/// The list's place in the tree.
fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oils-failures.txt")
}

/// Compares the failures with the list, or rewrites it.
pub(crate) fn compare(results: &[CaseResult], bless: bool, verbose: bool) -> Result<(), String> {
    let of = |verdict| results.iter().filter(move |result| result.verdict == verdict);
    let failures: Vec<&CaseResult> = of(Verdict::Fail).collect();
    let (passed, skipped) = (of(Verdict::Pass).count(), of(Verdict::Skip).count());
    println!("{} cases, {passed} pass, {} fail, {skipped} skipped", results.len(), failures.len());
    of(Verdict::Skip).for_each(|result| println!("{} skipped: {}", result.key(), result.reason));
    if verbose {
        for failure in &failures {
            println!("{}: {}", failure.key(), failure.reason);
        }
    }
    if bless {
        let mut text = String::from(
            "# Oils cases that rush fails. `make bless` rewrites this file; see docs/rush.md.\n",
        );
        for failure in &failures {
            text.push_str(&format!("{}\t{}\n", failure.key(), failure.description));
        }
        return std::fs::write(path(), text).map_err(|e| format!("{}: {e}", path().display()));
    }
    let text = std::fs::read_to_string(path()).map_err(|e| format!("{}: {e}", path().display()))?;
    let listed: BTreeMap<&str, ()> = text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .filter_map(|l| l.split('\t').next())
        .map(|key| (key, ()))
        .collect();
    let mut surprises = 0;
    for result in results.iter().filter(|result| result.verdict != Verdict::Skip) {
        let known = listed.contains_key(result.key().as_str());
        let passed = result.verdict == Verdict::Pass;
        if known == passed && !RACES.contains(&result.key().as_str()) {
            surprises += 1;
            let what = if passed { "passes unexpectedly" } else { "fails unexpectedly" };
            println!("{} ({}) {what} {}", result.key(), result.description, result.reason);
        }
    }
    if surprises > 0 { Err(format!("{surprises} cases differ from the expectation list")) } else { Ok(()) }
}
