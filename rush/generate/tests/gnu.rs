//! Generated command lines of every utility against GNU, with fixed seeds. `GENERATE_LINES`, `GENERATE_SEED`,
//! `GENERATE_ONLY` and `GENERATE_DIFFERENCES` make a longer run by hand.

use rush_generate::{Bench, names};

/// Command lines of each utility in `make test`: some seconds for all.
const LINES: u64 = 400;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Runs the utilities whose place leaves this remainder, so that tests run side by side.
fn some(remainder: usize) {
    let (lines, seed) = (setting("GENERATE_LINES", LINES), setting("GENERATE_SEED", 1));
    let most = setting("GENERATE_DIFFERENCES", 10) as usize;
    let only = std::env::var("GENERATE_ONLY").unwrap_or_default();
    let mut failures = Vec::new();
    for name in names().into_iter().skip(remainder).step_by(2) {
        if !only.is_empty() && !only.split(',').any(|wanted| wanted == name) {
            continue;
        }
        let Some(mut bench) = Bench::new(name) else {
            pithos_skipped::part(&format!("{name} is not GNU's here"));
            continue;
        };
        let count = bench.run(seed, lines, most).expect("files and processes");
        println!("{name}: {} lines, {} answered, {} differ", count.lines, count.answered, count.differing);
        count.differences.iter().for_each(|difference| println!("{difference}"));
        failures.extend(count.differences);
    }
    let failures = failures.len();
    assert!(failures == 0, "{failures} differ");
}

#[test]
fn utilities_equal_gnu() {
    some(0);
}

#[test]
fn more_utilities_equal_gnu() {
    some(1);
}
