//! Generated command lines of the in-process utilities against the GNU programs.

use rush_generate::{Bench, names};

use super::Failure;
use crate::random::Random;

/// Command lines of each utility that one round compares.
const LINES: u64 = 200;

/// Differences of one utility that a round describes.
const DIFFERENCES_MAX: usize = 5;

pub(super) fn against_gnu(random: &mut Random) -> Result<u64, Failure> {
    let (mut lines, mut differences) = (0, Vec::new());
    for name in names() {
        let Some(mut bench) = Bench::new(name) else { continue };
        let count = bench.run(random.next(), LINES, DIFFERENCES_MAX);
        let count = count.map_err(|error| Failure::Absent(format!("{name}: {error}")))?;
        lines += count.lines;
        differences.extend(count.differences);
    }
    match (lines, differences.is_empty()) {
        (0, _) => Err(Failure::Absent("no GNU programs".to_owned())),
        (_, true) => Ok(lines),
        _ => Err(Failure::Found(differences.join("\n"))),
    }
}
