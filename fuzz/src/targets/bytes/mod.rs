//! Bytes from outside: each reader gets valid texts that were damaged, and must answer or refuse. A reader takes `&[u8]` and nothing else, so that
//! any driver can feed it: `pithos-fuzz NAME --file FILE` runs one input (of a corpus, or what another fuzzer found).
//!
//! A reader says what is wrong; a panic is caught and told with the bytes.

mod calls;
mod readers;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Failure;
use crate::random::Random;

/// Inputs of one round.
const CASES: u64 = 300;
/// Changes that are made to one valid text.
const CHANGES_MAX: usize = 6;
/// The longest run of bytes that one change inserts, repeats or removes.
const RUN_MAX: usize = 40;

/// What reads: an error is a finding.
type Reader = fn(&[u8]) -> Result<(), String>;

/// A reader with valid texts to begin with, and the words that its formats are made of.
pub(crate) struct Source {
    name: &'static str,
    read: Reader,
    valid: fn() -> Vec<Vec<u8>>,
    words: &'static [&'static str],
}

/// Every reader.
const SOURCES: &[Source] = &[
    Source {
        name: "bytes-wire",
        read: readers::wire,
        valid: readers::wire_valid,
        words: readers::JSON_WORDS,
    },
    Source {
        name: "bytes-terms",
        read: readers::terms,
        valid: readers::terms_valid,
        words: &["\u{83}", "w", "h", "t", "m", "l", "j"],
    },
    Source {
        name: "bytes-policy",
        read: readers::policy,
        valid: readers::policy_valid,
        words: readers::POLICY_WORDS,
    },
    Source {
        name: "bytes-pattern",
        read: readers::pattern,
        valid: readers::pattern_valid,
        words: &["(?<a>", "\\k<a>", "{1,2}", "[^", "]", "|", "\\p{L}", "(?=", ")", "*?"],
    },
    Source {
        name: "bytes-zone",
        read: readers::zone,
        valid: readers::zone_valid,
        words: &["TZif", "\0\0\0\u{1}", "EST5EDT,M3.2.0,M11.1.0", "<+03>-3", "J60/-167"],
    },
    Source { name: "bytes-json", read: calls::json, valid: calls::json_valid, words: readers::JSON_WORDS },
    Source {
        name: "bytes-git",
        read: calls::git,
        valid: calls::git_valid,
        words: &["DIRC", "ref: ", "tree ", "parent ", "[core]", "\0", "TREE"],
    },
];

macro_rules! rounds {
    ($($name:ident = $index:literal),*) => {$(
        pub(super) fn $name(random: &mut Random) -> Result<u64, Failure> {
            round(&SOURCES[$index], random)
        }
    )*};
}
rounds!(wire = 0, terms = 1, policy = 2, pattern = 3, zone = 4, json = 5, git = 6);

/// Runs one input through the reader of this name; what is wrong with it.
pub(crate) fn one(name: &str, bytes: &[u8]) -> Option<Result<(), String>> {
    SOURCES.iter().find(|source| source.name == name).map(|source| judged(source, bytes))
}

fn round(source: &Source, random: &mut Random) -> Result<u64, Failure> {
    let valid = (source.valid)();
    if valid.is_empty() {
        return Err(Failure::Absent(format!("nothing valid to begin with for {}", source.name)));
    }
    for text in &valid {
        judged(source, text).map_err(Failure::Found)?;
    }
    for _ in 0..CASES {
        let bytes = damaged(&valid, source.words, random);
        judged(source, &bytes).map_err(Failure::Found)?;
    }
    Ok(CASES)
}

fn judged(source: &Source, bytes: &[u8]) -> Result<(), String> {
    let result = catch_unwind(AssertUnwindSafe(|| (source.read)(bytes)));
    let wrong = match result {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(wrong)) => wrong,
        Err(_) => "a panic (its message is above)".to_string(),
    };
    Err(format!("{}: {wrong}\ninput of {} bytes: {}", source.name, bytes.len(), bytes.escape_ascii()))
}

/// One of the valid texts with a few changes.
fn damaged(valid: &[Vec<u8>], words: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = valid[random.below(valid.len())].clone();
    for _ in 0..=random.below(CHANGES_MAX) {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(RUN_MAX)).min(bytes.len());
        match random.below(8) {
            0 | 1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 if at < bytes.len() => {
                bytes[at] = *[0, 1, 0x7f, 0x80, 0xfe, 0xff, b'-', b'9'].get(random.below(8)).unwrap_or(&0)
            }
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            5 => {
                let run = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, run));
            }
            6 => drop(bytes.splice(at..at, random.pick(words).bytes())),
            _ => {
                let other = &valid[random.below(valid.len())];
                let from = random.below(other.len() + 1);
                let to = (from + random.below(RUN_MAX)).min(other.len());
                drop(bytes.splice(at..at, other[from..to].iter().copied()));
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{Failure, Random, SOURCES, round};

    /// Seeds of every run; `make fuzz` takes others each time.
    const SEEDS: u64 = 3;

    #[test]
    fn damaged_bytes_are_answered_or_refused() {
        for source in SOURCES {
            for seed in 0..SEEDS {
                match round(source, &mut Random::new(seed)) {
                    Ok(_) => {}
                    Err(Failure::Absent(what)) => pithos_skipped::part(&what),
                    Err(Failure::Found(report)) => panic!("seed {seed}: {report}"),
                }
            }
        }
    }
}
