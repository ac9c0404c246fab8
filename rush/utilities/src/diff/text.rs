//! The two texts as `diff` sees them: what is the same at both ends, and between them lines with a number for each class of
//! lines that count as equal.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;

use super::DiffOptions;
use super::options::Space;

/// Lines between two questions whether to go on.
const POLL_LINES: usize = 1 << 16;

/// One of the two files.
pub(super) struct Side<'t> {
    text: &'t [u8],
    /// Where each line begins, and the end.
    starts: Vec<usize>,
    /// The first line that is compared; those before it are the same in both.
    pub(super) first: usize,
    /// The class of each compared line.
    pub(super) classes: Vec<u32>,
    /// Whether each compared line is removed or added.
    pub(super) changed: Vec<bool>,
    /// Whether the last line has no end.
    pub(super) incomplete: bool,
}

impl<'t> Side<'t> {
    /// How many lines there are.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// A line without its end.
    pub(super) fn line(&self, index: usize) -> &'t [u8] {
        let line = self.text.get(self.starts[index]..self.starts[index + 1]).unwrap_or_default();
        line.strip_suffix(b"\n").unwrap_or(line)
    }

    /// Whether the line has no end.
    pub(super) fn is_incomplete(&self, index: usize) -> bool {
        self.incomplete && index + 1 == self.count()
    }
}

/// Reads both texts into lines, and gives the number of classes.
/// `poll` is asked now and then whether to go on.
pub(super) fn sides<'t>(
    old: &'t [u8],
    new: &'t [u8],
    options: &DiffOptions,
    poll: &dyn Fn() -> io::Result<()>,
) -> io::Result<([Side<'t>; 2], usize)> {
    let (start, ends) = common_ends(old, new, options.around);
    let mut classes = Classes { known: HashMap::with_hasher(Seeded::new()), count: 0, options };
    let mut side = |text: &'t [u8], end: usize| -> io::Result<Side<'t>> {
        let incomplete = text.last().is_some_and(|&last| last != b'\n');
        let mut starts = vec![0];
        for at in memchr::memchr_iter(b'\n', text) {
            if starts.len().is_multiple_of(POLL_LINES) {
                poll()?;
            }
            starts.push(at + 1);
        }
        if incomplete {
            starts.push(text.len());
        }
        let place = |at: usize| starts.partition_point(|&start| start < at);
        let (first, last) = (place(start), place(end));
        let mut side =
            Side { text, starts, first, classes: Vec::new(), changed: vec![false; last - first], incomplete };
        for index in first..last {
            if side.classes.len().is_multiple_of(POLL_LINES) {
                poll()?;
            }
            side.classes.push(classes.of(side.line(index), side.is_incomplete(index)));
        }
        Ok(side)
    };
    let sides = [side(old, ends[0])?, side(new, ends[1])?];
    Ok((sides, classes.count))
}

/// Where the same beginning stops in both, and where the same end begins in each, in whole lines. As many lines as are shown around a
/// change are left to be compared: GNU does so, and which of several shortest scripts is found depends on it.
fn common_ends(old: &[u8], new: &[u8], around: usize) -> (usize, [usize; 2]) {
    let mut start = same_start(old, new);
    let mut left = around;
    while start > 0 {
        if old[start - 1] == b'\n' {
            if left == 0 {
                break;
            }
            left -= 1;
        }
        start = memchr::memrchr(b'\n', &old[..start - 1]).map_or(0, |at| at + 1);
    }
    let complete = |text: &[u8]| text.last().is_none_or(|&last| last == b'\n');
    if complete(old) != complete(new) {
        return (start, [old.len(), new.len()]);
    }
    let length = same_end(&old[start..], &new[start..]);
    let at_line = |text: &[u8]| length == text.len() || text[text.len() - length - 1] == b'\n';
    let mut back = length;
    for _ in 0..around + usize::from(!(at_line(old) && at_line(new))) {
        if back == 0 {
            break;
        }
        back = memchr::memchr(b'\n', &old[old.len() - back..]).map_or(0, |at| back - at - 1);
    }
    (start, [old.len() - back, new.len() - back])
}

const CHUNK: usize = 4096;

fn same_start(old: &[u8], new: &[u8]) -> usize {
    let chunks = old.chunks(CHUNK).zip(new.chunks(CHUNK)).take_while(|(a, b)| a == b);
    let at: usize = chunks.map(|(a, _)| a.len()).sum();
    at + old[at..].iter().zip(&new[at..]).take_while(|(a, b)| a == b).count()
}

fn same_end(old: &[u8], new: &[u8]) -> usize {
    let chunks = old.rchunks(CHUNK).zip(new.rchunks(CHUNK)).take_while(|(a, b)| a == b);
    let length: usize = chunks.map(|(a, _)| a.len()).sum();
    let (old, new) = (&old[..old.len() - length], &new[..new.len() - length]);
    length + old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// Numbers for lines that count as equal.
struct Classes<'t, 'o> {
    known: HashMap<(Cow<'t, [u8]>, bool), u32, Seeded>,
    count: usize,
    options: &'o DiffOptions,
}

impl<'t> Classes<'t, '_> {
    fn of(&mut self, line: &'t [u8], incomplete: bool) -> u32 {
        // A line without its end is another line, except where white space at the end does not count.
        let key = (self.key(line), incomplete && self.options.space == Space::Counts);
        let next = self.count as u32;
        let class = *self.known.entry(key).or_insert(next);
        self.count += usize::from(class == next);
        class
    }

    /// What of the line counts.
    fn key(&self, line: &'t [u8]) -> Cow<'t, [u8]> {
        let DiffOptions { space, ignore_case, .. } = *self.options;
        if space <= Space::NotAtEnd && !ignore_case {
            return Cow::Borrowed(if space == Space::Counts { line } else { trim_end(line) });
        }
        let line = if space == Space::Counts { line } else { trim_end(line) };
        let mut out = Vec::with_capacity(line.len());
        for &byte in line {
            if is_space(byte) && space == Space::Ignored {
                continue;
            }
            if is_space(byte) && space == Space::Amount {
                if out.last() != Some(&b' ') {
                    out.push(b' ');
                }
                continue;
            }
            out.push(if ignore_case { byte.to_ascii_lowercase() } else { byte });
        }
        Cow::Owned(out)
    }
}

/// What C's `isspace` says in the locales that are supported.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn trim_end(line: &[u8]) -> &[u8] {
    let length = line.iter().rposition(|&byte| !is_space(byte)).map_or(0, |at| at + 1);
    &line[..length]
}

/// A hash that is quick for lines and, by its seed, none that a text could be made for.
struct Seeded(u64);

impl Seeded {
    fn new() -> Self {
        Self(RandomState::new().hash_one(0u8) | 1)
    }
}

impl BuildHasher for Seeded {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded { state: self.0, seed: self.0 }
    }
}

struct Folded {
    state: u64,
    seed: u64,
}

impl Folded {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.seed ^ 0x9e37_79b9_7f4a_7c15);
        self.state = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for Folded {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    fn finish(&self) -> u64 {
        self.state
    }
}
