//! Which lines are removed and added: of the shortest scripts the one that GNU `diff` finds.
//!
//! Four steps: lines that the other file does not have (and frequent lines among them) are changes beforehand; what is left
//! is searched from both ends at once, split where the searches meet, and searched again; runs of changes that could
//! stand elsewhere are moved down, or beside a run of the other file; runs become changes.

use std::io;

use super::text::Side;

/// Lines removed from the old file and the lines added in their place; either may be none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: (usize, usize),
    pub(super) new: (usize, usize),
}

/// Steps of one search behind which a script that may be longer is taken; more for long files.
const SEARCH_STEPS_MIN: usize = 4_096;
/// Equal lines that make a line frequent, in short files.
const FREQUENT_MIN: usize = 5;
/// Lines of a run of changes within which frequent ones at its ends are kept.
const RUN_EDGE: usize = 8;
/// Changes behind one another that end such an edge.
const RUN_EDGE_CHANGES: usize = 3;

/// Marks what is removed and added, and lists it. `poll` is asked now and then whether to go on.
pub(super) fn changes(
    sides: &mut [Side<'_>; 2],
    classes: usize,
    minimal: bool,
    poll: &dyn Fn() -> io::Result<()>,
) -> io::Result<Vec<Change>> {
    let [old, new] = sides;
    let searched_old = set_aside(old, &new.classes, classes, minimal);
    let searched_new = set_aside(new, &old.classes, classes, minimal);
    let lengths = (searched_old.classes.len(), searched_new.classes.len());
    let mut search = Search::new([searched_old, searched_new], [&mut old.changed, &mut new.changed], poll);
    search.between((0, lengths.0), (0, lengths.1), minimal)?;
    settle(old, &new.changed);
    settle(new, &old.changed);
    Ok(listed(old, new))
}

/// Lines that take part in the search.
struct Searched {
    places: Vec<usize>,
    classes: Vec<u32>,
}

/// What is known of a line before the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rarity {
    /// It is searched.
    Kept,
    /// The other file does not have it.
    Absent,
    /// The other file has it so often that it says little.
    Frequent,
}

/// Marks the lines that are changes beforehand; the others are to be searched.
fn set_aside(side: &mut Side<'_>, other: &[u32], classes: usize, minimal: bool) -> Searched {
    let mut counts = vec![0usize; classes];
    other.iter().for_each(|&class| counts[class as usize] += 1);
    let many = FREQUENT_MIN << halvings(side.classes.len() / 64);
    let mut rarities: Vec<Rarity> = side
        .classes
        .iter()
        .map(|&class| match counts[class as usize] {
            0 => Rarity::Absent,
            count if count > many => Rarity::Frequent,
            _ => Rarity::Kept,
        })
        .collect();
    keep_frequent(&mut rarities);
    let mut searched = Searched { places: Vec::new(), classes: Vec::new() };
    for (place, rarity) in rarities.iter().enumerate() {
        if minimal || *rarity == Rarity::Kept {
            searched.places.push(place);
            searched.classes.push(side.classes[place]);
        } else {
            side.changed[place] = true;
        }
    }
    searched
}

/// How often a quarter can be taken: the binary logarithm of the root.
fn halvings(number: usize) -> u32 {
    number.checked_ilog2().unwrap_or(0) / 2
}

/// Frequent lines are changes only inside a run of lines that the other file does not have.
fn keep_frequent(rarities: &mut [Rarity]) {
    let mut at = 0;
    while at < rarities.len() {
        match rarities[at] {
            Rarity::Kept => at += 1,
            Rarity::Frequent => {
                rarities[at] = Rarity::Kept;
                at += 1;
            }
            Rarity::Absent => {
                let kept = rarities[at..].iter().position(|&r| r == Rarity::Kept);
                let mut end = kept.map_or(rarities.len(), |length| at + length);
                while rarities[end - 1] == Rarity::Frequent {
                    end -= 1;
                    rarities[end] = Rarity::Kept;
                }
                keep_in_run(&mut rarities[at..end]);
                at = end;
            }
        }
    }
}

/// Which frequent lines of a run that absent ones begin and end are kept.
fn keep_in_run(run: &mut [Rarity]) {
    let frequent = run.iter().filter(|&&r| r == Rarity::Frequent).count();
    if frequent * 4 > run.len() {
        run.iter_mut().filter(|r| **r == Rarity::Frequent).for_each(|r| *r = Rarity::Kept);
        return;
    }
    let many = 1 + (1usize << halvings(run.len() / 4));
    for group in run.chunk_by_mut(|a, b| a == b) {
        if group[0] == Rarity::Frequent && group.len() >= many {
            group.fill(Rarity::Kept);
        }
    }
    keep_at_edge(run.iter_mut());
    keep_at_edge(run.iter_mut().rev());
}

/// Keeps the frequent lines at one end of a run.
fn keep_at_edge<'r>(run: impl Iterator<Item = &'r mut Rarity>) {
    let mut changes = 0;
    for (at, rarity) in run.enumerate() {
        match rarity {
            Rarity::Absent if at >= RUN_EDGE => return,
            Rarity::Absent => changes += 1,
            other => {
                *other = Rarity::Kept;
                changes = 0;
            }
        }
        if changes == RUN_EDGE_CHANGES {
            return;
        }
    }
}

/// A part of both texts, by the places of the searched lines.
struct Part {
    old: (usize, usize),
    new: (usize, usize),
    minimal: bool,
}

/// Where a part is split, and whether each half needs a shortest script.
struct Split {
    at: (isize, isize),
    minimal: (bool, bool),
}

struct Search<'s> {
    searched: [Searched; 2],
    changed: [&'s mut [bool]; 2],
    /// How far the searches have come, by diagonal: from the start and from the end.
    forward: Vec<isize>,
    backward: Vec<isize>,
    steps_max: usize,
    poll: &'s dyn Fn() -> io::Result<()>,
}

impl<'s> Search<'s> {
    fn new(
        searched: [Searched; 2],
        changed: [&'s mut [bool]; 2],
        poll: &'s dyn Fn() -> io::Result<()>,
    ) -> Self {
        let diagonals = searched[0].classes.len() + searched[1].classes.len() + 3;
        // A power of two above the root of the number of diagonals.
        let root = 1usize << (diagonals.ilog2() / 2 + 1);
        Self {
            searched,
            changed,
            forward: vec![0; diagonals],
            backward: vec![0; diagonals],
            steps_max: root.max(SEARCH_STEPS_MIN),
            poll,
        }
    }

    /// Marks what is removed and added between these bounds.
    fn between(&mut self, old: (usize, usize), new: (usize, usize), minimal: bool) -> io::Result<()> {
        let mut parts = vec![Part { old, new, minimal }];
        while let Some(mut part) = parts.pop() {
            self.trim(&mut part);
            let (old, new) = (part.old, part.new);
            if old.0 == old.1 || new.0 == new.1 {
                let [a, b] = &self.searched;
                a.places[old.0..old.1].iter().for_each(|&place| self.changed[0][place] = true);
                b.places[new.0..new.1].iter().for_each(|&place| self.changed[1][place] = true);
                continue;
            }
            let split = self.meeting(&part)?;
            let (x, y) = (split.at.0 as usize, split.at.1 as usize);
            parts.push(Part { old: (x, old.1), new: (y, new.1), minimal: split.minimal.1 });
            parts.push(Part { old: (old.0, x), new: (new.0, y), minimal: split.minimal.0 });
        }
        Ok(())
    }

    /// Takes equal lines from both ends of a part.
    fn trim(&self, part: &mut Part) {
        let [a, b] = &self.searched;
        let (old, new) = (&mut part.old, &mut part.new);
        while old.0 < old.1 && new.0 < new.1 && a.classes[old.0] == b.classes[new.0] {
            (old.0, new.0) = (old.0 + 1, new.0 + 1);
        }
        while old.0 < old.1 && new.0 < new.1 && a.classes[old.1 - 1] == b.classes[new.1 - 1] {
            (old.1, new.1) = (old.1 - 1, new.1 - 1);
        }
    }

    /// Where the searches from the two ends of a part meet: on a shortest way through it, or, where that takes too long, where one
    /// of them has come farthest.
    fn meeting(&mut self, part: &Part) -> io::Result<Split> {
        let (x0, x1) = (part.old.0 as isize, part.old.1 as isize);
        let (y0, y1) = (part.new.0 as isize, part.new.1 as isize);
        let (lowest, highest) = (x0 - y1, x1 - y0);
        let shift = self.searched[1].classes.len() as isize + 1;
        let slot = |diagonal: isize| (diagonal + shift) as usize;
        let [old, new] = &self.searched;
        let (old, new) = (old.classes.as_slice(), new.classes.as_slice());
        let (forward, backward) = (&mut self.forward, &mut self.backward);
        let (start, end) = (x0 - y0, x1 - y1);
        (forward[slot(start)], backward[slot(end)]) = (x0, x1);
        let (mut ahead, mut behind) = (Reach(start, start), Reach(end, end));
        let odd = (start - end) & 1 != 0;
        let met = |at: (isize, isize)| Ok(Split { at, minimal: (true, true) });
        for step in 1.. {
            (self.poll)()?;
            ahead.widen(lowest, highest, |outside| forward[slot(outside)] = -1);
            let mut diagonal = ahead.1;
            while diagonal >= ahead.0 {
                let (below, above) = (forward[slot(diagonal - 1)], forward[slot(diagonal + 1)]);
                let mut x = if below < above { above } else { below + 1 };
                while x < x1 && x - diagonal < y1 && old[x as usize] == new[(x - diagonal) as usize] {
                    x += 1;
                }
                forward[slot(diagonal)] = x;
                if odd && behind.has(diagonal) && backward[slot(diagonal)] <= x {
                    return met((x, x - diagonal));
                }
                diagonal -= 2;
            }
            behind.widen(lowest, highest, |outside| backward[slot(outside)] = isize::MAX);
            let mut diagonal = behind.1;
            while diagonal >= behind.0 {
                let (below, above) = (backward[slot(diagonal - 1)], backward[slot(diagonal + 1)]);
                let mut x = if below < above { below } else { above - 1 };
                while x > x0 && x - diagonal > y0 && old[x as usize - 1] == new[(x - diagonal) as usize - 1] {
                    x -= 1;
                }
                backward[slot(diagonal)] = x;
                if !odd && ahead.has(diagonal) && x <= forward[slot(diagonal)] {
                    return met((x, x - diagonal));
                }
                diagonal -= 2;
            }
            if !part.minimal && step >= self.steps_max {
                break;
            }
        }
        let farthest = ahead.each().map(|diagonal| {
            let x = forward[slot(diagonal)].min(x1).min(y1 + diagonal);
            (2 * x - diagonal, x)
        });
        let nearest = behind.each().map(|diagonal| {
            let x = backward[slot(diagonal)].max(x0).max(y0 + diagonal);
            (2 * x - diagonal, x)
        });
        // Of equal ones the first.
        let ahead =
            farthest.reduce(|best, next| if next.0 > best.0 { next } else { best }).unwrap_or((x0 + y0, x0));
        let behind =
            nearest.reduce(|best, next| if next.0 < best.0 { next } else { best }).unwrap_or((x1 + y1, x1));
        if (x1 + y1) - behind.0 < ahead.0 - (x0 + y0) {
            Ok(Split { at: (ahead.1, ahead.0 - ahead.1), minimal: (true, false) })
        } else {
            Ok(Split { at: (behind.1, behind.0 - behind.1), minimal: (false, true) })
        }
    }
}

/// The lowest and the highest diagonal that a search has come to.
struct Reach(isize, isize);

impl Reach {
    fn has(&self, diagonal: isize) -> bool {
        (self.0..=self.1).contains(&diagonal)
    }

    /// Every other diagonal, from the highest.
    fn each(&self) -> impl Iterator<Item = isize> + use<> {
        (self.0..=self.1).rev().step_by(2)
    }

    /// One diagonal more on each side; at the border one less, since every other one is looked at. `mark` is told which diagonals
    /// lie outside.
    fn widen(&mut self, lowest: isize, highest: isize, mut mark: impl FnMut(isize)) {
        if self.0 > lowest {
            self.0 -= 1;
            mark(self.0 - 1);
        } else {
            self.0 += 1;
        }
        if self.1 < highest {
            self.1 += 1;
            mark(self.1 + 1);
        } else {
            self.1 -= 1;
        }
    }
}

/// Moves runs of changes that could stand elsewhere. The unchanged lines of both sides correspond one to one, so the place
/// in the other file goes along.
fn settle(side: &mut Side<'_>, other: &[bool]) {
    let (classes, changed) = (side.classes.as_slice(), side.changed.as_mut_slice());
    let count = classes.len();
    let is_changed = |flags: &[bool], at: usize| flags.get(at).copied().unwrap_or(false);
    let before = |at: usize| at > 0 && is_changed(other, at - 1);
    let (mut end, mut opposite) = (0, 0);
    loop {
        // To the next run; `opposite` is behind what corresponds to the lines passed.
        while end < count && !changed[end] {
            while is_changed(other, opposite) {
                opposite += 1;
            }
            (end, opposite) = (end + 1, opposite + 1);
        }
        if end == count {
            return;
        }
        let mut start = end;
        while is_changed(changed, end) {
            end += 1;
        }
        while is_changed(other, opposite) {
            opposite += 1;
        }
        // The end of the run where it last stood beside a run of the other file.
        let mut beside;
        loop {
            let length = end - start;
            while start > 0 && classes[start - 1] == classes[end - 1] {
                (start, end) = (start - 1, end - 1);
                (changed[start], changed[end]) = (true, false);
                while start > 0 && changed[start - 1] {
                    start -= 1;
                }
                opposite -= 1;
                while is_changed(other, opposite) {
                    opposite -= 1;
                }
            }
            beside = before(opposite).then_some(end);
            while end < count && classes[start] == classes[end] {
                (changed[start], changed[end]) = (false, true);
                (start, end) = (start + 1, end + 1);
                while is_changed(changed, end) {
                    end += 1;
                }
                opposite += 1;
                while is_changed(other, opposite) {
                    beside = Some(end);
                    opposite += 1;
                }
            }
            if length == end - start {
                break;
            }
        }
        while beside.is_some_and(|beside| beside < end) {
            (start, end) = (start - 1, end - 1);
            (changed[start], changed[end]) = (true, false);
            opposite -= 1;
            while is_changed(other, opposite) {
                opposite -= 1;
            }
        }
    }
}

/// The runs of both sides, paired, by lines of the whole files.
fn listed(old: &Side<'_>, new: &Side<'_>) -> Vec<Change> {
    let mut out = Vec::new();
    let (mut a, mut b) = (0, 0);
    let run = |flags: &[bool], from: usize| {
        flags.get(from..).unwrap_or_default().iter().take_while(|&&changed| changed).count()
    };
    while a < old.changed.len() || b < new.changed.len() {
        let (removed, added) = (run(&old.changed, a), run(&new.changed, b));
        if removed + added > 0 {
            out.push(Change {
                old: (old.first + a, old.first + a + removed),
                new: (new.first + b, new.first + b + added),
            });
        }
        (a, b) = (a + removed + 1, b + added + 1);
    }
    out
}
