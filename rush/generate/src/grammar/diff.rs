//! `diff`: two files, one of which may be standard input that holds a changed version of one of the tree's.

use super::{Grammar, flag, name, optional, small, text, valued};
use crate::random::Random;
use crate::tree::FILES;

pub(super) const DIFF: Grammar = Grammar {
    name: "diff",
    options: &[
        flag(b'u', ""),
        flag(b'c', ""),
        flag(b'q', "brief"),
        flag(b'b', "ignore-space-change"),
        flag(b'w', "ignore-all-space"),
        flag(b'i', "ignore-case"),
        flag(b'B', "ignore-blank-lines"),
        valued(b'U', "", small),
        optional(0, "unified", small),
        flag(b'N', "new-file"),
        flag(b's', "report-identical-files"),
        flag(b'r', "recursive"),
        flag(b'a', "text"),
        flag(b'p', "show-c-function"),
        flag(b'Z', "ignore-trailing-space"),
        flag(b'd', "minimal"),
        flag(0, "strip-trailing-cr"),
        flag(0, "normal"),
        valued(b'C', "", small),
        optional(0, "context", small),
        valued(b'L', "label", label),
        valued(b'x', "exclude", pattern),
        optional(0, "color", colour),
        flag(b'y', "side-by-side"),
        flag(b'e', "ed"),
    ],
    operands,
    input,
    mixed: true,
    changes: false,
};

fn label(random: &mut Random) -> Vec<u8> {
    random.word(&["old", "new", "a b", "", "caf\u{e9}"])
}

fn pattern(random: &mut Random) -> Vec<u8> {
    random.word(&["*.rs", "x.rs", "d", "?", "*", ".*"])
}

fn colour(random: &mut Random) -> Vec<u8> {
    random.word(&["never", "auto", "always", "no"])
}

fn operands(random: &mut Random) -> Vec<Vec<u8>> {
    // The time of standard input is that of the run, so it needs a label.
    if random.chance(60) {
        let file = if random.chance(80) { source(random).0.as_bytes().to_vec() } else { name(random) };
        let mut out = vec![b"-Lone".to_vec(), b"-Ltwo".to_vec(), b"-".to_vec()];
        out.insert(2 + random.below(2), file);
        return out;
    }
    let count = *random.pick(&[&1usize, &2, &2, &2, &2, &2, &2, &2, &2, &3]);
    let folders = random.chance(25);
    let pick = |random: &mut Random| {
        if folders { random.word(&["d", "d/sub", "empty", ".", "d/", "dirlink"]) } else { name(random) }
    };
    (0..count).map(|_| pick(random)).filter(|name| name != b"-").collect()
}

/// One of the files that many lines can be compared with.
fn source(random: &mut Random) -> (&'static str, &'static [u8]) {
    FILES[random.below(14)]
}

fn input(random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        source(random).1.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..random.below(5) {
        let at = random.below(lines.len() + 1);
        match random.below(6) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at].make_ascii_uppercase(),
            2 if at < lines.len() => lines[at].insert(0, b' '),
            3 => lines.insert(at, b"\n".to_vec()),
            4 => lines.insert(at, text(random)),
            _ => lines.truncate(at),
        }
    }
    lines.concat()
}
