//! Which lines of two files differ: the shortest script that makes the new file of the old one, found as git finds it.
//!
//! Three steps, each of which decides between scripts of one length: lines at both ends that are the same are set
//! aside; lines that stand in one file only (and frequent lines among them) are changes beforehand; what is left is
//! searched from both ends at once, split where the searches meet, and searched again.
//!
//! Invariant: where git would begin to guess because the search has become expensive, this declines.

use std::collections::HashMap;

use crate::git::{Attempt, Decline};

/// Steps of one search after which git may settle for a longer script.
const SEARCH_STEPS_MAX: usize = 256;
/// How many equal lines make a line frequent, at most.
const FREQUENT_MAX: usize = 1_024;
/// Lines on each side that are looked at for whether a frequent line stands among changes.
const NEIGHBOURS: usize = 100;
/// How many more of the neighbours have to be changes than frequent, plus one.
const CHANGES_PER_FREQUENT: usize = 4;

/// One of the two files.
pub(super) struct Side<'t> {
    /// Its lines with their ends.
    pub(super) lines: Vec<&'t [u8]>,
    /// Equal lines of both files have equal numbers.
    pub(super) numbers: Vec<u32>,
    /// Whether the line is removed (of the old file) or added (of the new one).
    pub(super) changed: Vec<bool>,
}

/// What is known of a line before the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rarity {
    /// It is not in the other file.
    Absent,
    Rare,
    Frequent,
}

/// Lines that take part in the search, by place and number.
#[derive(Default)]
struct Searched {
    places: Vec<usize>,
    numbers: Vec<u32>,
}

/// Compares two files.
pub(super) fn compare<'t>(old: &'t [u8], new: &'t [u8]) -> Attempt<[Side<'t>; 2]> {
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let mut counts: Vec<[usize; 2]> = Vec::new();
    let mut side = |text: &'t [u8], which: usize| {
        let lines: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
        let mut numbers = Vec::with_capacity(lines.len());
        for line in &lines {
            let number = *known.entry(line).or_insert_with(|| {
                counts.push([0; 2]);
                (counts.len() - 1) as u32
            });
            counts[number as usize][which] += 1;
            numbers.push(number);
        }
        let changed = vec![false; lines.len()];
        Side { lines, numbers, changed }
    };
    let mut sides = [side(old, 0), side(new, 1)];
    let (start, end) = common_ends(&sides[0].numbers, &sides[1].numbers);
    let [old, new] = &mut sides;
    let searched_old = old.set_aside(start, end, |number| counts[number as usize][1]);
    let searched_new = new.set_aside(start, end, |number| counts[number as usize][0]);
    let lengths = (searched_old.numbers.len(), searched_new.numbers.len());
    let mut search =
        Search { searched: [searched_old, searched_new], changed: [&mut old.changed, &mut new.changed] };
    search.between((0, lengths.0), (0, lengths.1))?;
    Ok(sides)
}

/// How many lines are the same at the beginning and, of the others, at the end.
fn common_ends(old: &[u32], new: &[u32]) -> (usize, usize) {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
    (start, rest.take_while(|(a, b)| a == b).count())
}

/// A power of two near the square root.
fn root(number: usize) -> usize {
    1 << (usize::BITS - number.leading_zeros()).div_ceil(2)
}

impl Side<'_> {
    /// Marks the lines that are changes beforehand; the others between the common ends are to be searched.
    fn set_aside(&mut self, start: usize, end: usize, in_other: impl Fn(u32) -> usize) -> Searched {
        let many = root(self.numbers.len()).min(FREQUENT_MAX);
        let inner = start..self.numbers.len() - end;
        let rarity = |number: &u32| match in_other(*number) {
            0 => Rarity::Absent,
            count if count >= many => Rarity::Frequent,
            _ => Rarity::Rare,
        };
        let rarities: Vec<Rarity> = self.numbers[inner.clone()].iter().map(rarity).collect();
        let mut searched = Searched::default();
        for (at, place) in inner.enumerate() {
            let kept = match rarities[at] {
                Rarity::Absent => false,
                Rarity::Rare => true,
                Rarity::Frequent => !is_among_changes(&rarities, at),
            };
            if kept {
                searched.places.push(place);
                searched.numbers.push(self.numbers[place]);
            } else {
                self.changed[place] = true;
            }
        }
        searched
    }
}

/// Whether a frequent line stands among lines that the other file does not have.
fn is_among_changes(rarities: &[Rarity], at: usize) -> bool {
    let count = |stretch: &mut dyn Iterator<Item = &Rarity>| {
        let (mut absent, mut frequent) = (0, 0);
        for rarity in stretch {
            match rarity {
                Rarity::Absent => absent += 1,
                Rarity::Frequent => frequent += 1,
                Rarity::Rare => break,
            }
        }
        (absent, frequent)
    };
    let before = count(&mut rarities[at.saturating_sub(NEIGHBOURS)..at].iter().rev());
    let after = count(&mut rarities[at + 1..].iter().take(NEIGHBOURS));
    if before.0 == 0 || after.0 == 0 {
        return false;
    }
    let (absent, frequent) = (before.0 + after.0, before.1 + after.1 + 2);
    frequent * CHANGES_PER_FREQUENT < frequent + absent
}

struct Search<'s> {
    searched: [Searched; 2],
    changed: [&'s mut Vec<bool>; 2],
}

impl Search<'_> {
    /// Marks what is removed and added between these bounds.
    fn between(&mut self, old: (usize, usize), new: (usize, usize)) -> Attempt<()> {
        let mut boxes = vec![(old, new)];
        while let Some((mut old, mut new)) = boxes.pop() {
            let [a, b] = &self.searched;
            while old.0 < old.1 && new.0 < new.1 && a.numbers[old.0] == b.numbers[new.0] {
                (old.0, new.0) = (old.0 + 1, new.0 + 1);
            }
            while old.0 < old.1 && new.0 < new.1 && a.numbers[old.1 - 1] == b.numbers[new.1 - 1] {
                (old.1, new.1) = (old.1 - 1, new.1 - 1);
            }
            if old.0 == old.1 || new.0 == new.1 {
                a.places[old.0..old.1].iter().for_each(|&place| self.changed[0][place] = true);
                b.places[new.0..new.1].iter().for_each(|&place| self.changed[1][place] = true);
                continue;
            }
            let (x, y) = meeting(&a.numbers[old.0..old.1], &b.numbers[new.0..new.1])?;
            let (x, y) = (old.0 + x, new.0 + y);
            if x > old.1 || y > new.1 {
                return Err(Decline);
            }
            boxes.push(((x, old.1), (y, new.1)));
            boxes.push(((old.0, x), (new.0, y)));
        }
        Ok(())
    }
}

/// How far one of the two searches has come on each diagonal (the place in the old file less that in the new one).
struct Front {
    /// By diagonal, moved by `shift`; a diagonal outside is marked by what no place can be.
    reached: Vec<isize>,
    low: isize,
    high: isize,
}

/// Where the searches from the two ends of a box meet: on a shortest way through it.
fn meeting(old: &[u32], new: &[u32]) -> Attempt<(usize, usize)> {
    let (width, height) = (old.len() as isize, new.len() as isize);
    // Diagonals of the box are -height to width; one more on each side holds the marks.
    let slot = |diagonal: isize| (diagonal + height + 1) as usize;
    let front = |diagonal: isize, at: isize| {
        let mut reached = vec![0; (width + height + 3) as usize];
        reached[slot(diagonal)] = at;
        Front { reached, low: diagonal, high: diagonal }
    };
    let end = width - height;
    let (mut forward, mut backward) = (front(0, 0), front(end, width));
    let odd = end & 1 != 0;
    for _ in 1..SEARCH_STEPS_MAX {
        forward.widen(-1, -height, width, slot);
        let mut diagonal = forward.high;
        while diagonal >= forward.low {
            let (below, above) = (forward.reached[slot(diagonal - 1)], forward.reached[slot(diagonal + 1)]);
            let mut x = if below >= above { below + 1 } else { above };
            while x < width && x - diagonal < height && old[x as usize] == new[(x - diagonal) as usize] {
                x += 1;
            }
            forward.reached[slot(diagonal)] = x;
            if odd && backward.has(diagonal) && backward.reached[slot(diagonal)] <= x {
                return Ok((x as usize, (x - diagonal) as usize));
            }
            diagonal -= 2;
        }
        backward.widen(isize::MAX, -height, width, slot);
        let mut diagonal = backward.high;
        while diagonal >= backward.low {
            let (below, above) = (backward.reached[slot(diagonal - 1)], backward.reached[slot(diagonal + 1)]);
            let mut x = if below < above { below } else { above - 1 };
            while x > 0 && x - diagonal > 0 && old[x as usize - 1] == new[(x - diagonal) as usize - 1] {
                x -= 1;
            }
            backward.reached[slot(diagonal)] = x;
            if !odd && forward.has(diagonal) && x <= forward.reached[slot(diagonal)] {
                return Ok((x as usize, (x - diagonal) as usize));
            }
            diagonal -= 2;
        }
    }
    Err(Decline)
}

impl Front {
    fn has(&self, diagonal: isize) -> bool {
        (self.low..=self.high).contains(&diagonal)
    }

    /// One diagonal more on each side; at the border of the box one less, since every other one is looked at.
    fn widen(&mut self, outside: isize, lowest: isize, highest: isize, slot: impl Fn(isize) -> usize) {
        if self.low > lowest {
            self.low -= 1;
            self.reached[slot(self.low - 1)] = outside;
        } else {
            self.low += 1;
        }
        if self.high < highest {
            self.high += 1;
            self.reached[slot(self.high + 1)] = outside;
        } else {
            self.high -= 1;
        }
    }
}
