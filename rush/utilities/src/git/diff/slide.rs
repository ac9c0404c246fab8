//! Where a group of changed lines is shown that could as well stand some lines above or below, since the lines around it
//! repeat: joined with its neighbours, beside a group of the other file, or where the indentation says that a block begins.

use super::lines::Side;

/// Places that are tried for one group.
const PLACES_MAX: usize = 100;
/// Indentation that is told apart.
const INDENTATION_MAX: i64 = 200;
/// Empty lines that are counted.
const EMPTY_LINES_MAX: i64 = 20;

/// What speaks against a border between two groups, as git weighs it.
mod weight {
    pub(super) const AT_START: i64 = 1;
    pub(super) const AT_END: i64 = 21;
    pub(super) const EMPTY_LINE: i64 = -30;
    pub(super) const EMPTY_LINE_BEHIND: i64 = 6;
    /// Deeper than before; the second figure of each pair is for borders with empty lines.
    pub(super) const DEEPER: (i64, i64) = (-4, 10);
    /// Less deep than before and than behind.
    pub(super) const DEEPER_BEHIND: (i64, i64) = (24, 17);
    /// Less deep than before.
    pub(super) const LESS_DEEP: (i64, i64) = (23, 17);
    pub(super) const INDENTATION: i64 = 60;
}

/// A stretch of changed lines, perhaps empty, that unchanged lines or an end of the file surround.
#[derive(Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
}

impl Group {
    fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl Side<'_> {
    fn is_changed(&self, at: usize) -> bool {
        self.changed.get(at).copied().unwrap_or(false)
    }

    fn group_at(&self, start: usize) -> Group {
        let mut end = start;
        while self.is_changed(end) {
            end += 1;
        }
        Group { start, end }
    }

    fn next(&self, group: &mut Group) -> bool {
        let there = group.end < self.lines.len();
        if there {
            *group = self.group_at(group.end + 1);
        }
        there
    }

    fn previous(&self, group: &mut Group) -> bool {
        let there = group.start > 0;
        if there {
            group.end = group.start - 1;
            group.start = group.end;
            self.extend_up(group);
        }
        there
    }

    fn extend_up(&self, group: &mut Group) {
        while group.start > 0 && self.is_changed(group.start - 1) {
            group.start -= 1;
        }
    }

    /// Moves a group up by a line, and takes in the group that it then touches.
    fn slide_up(&mut self, group: &mut Group) -> bool {
        let may = group.start > 0 && self.numbers[group.start - 1] == self.numbers[group.end - 1];
        if may {
            (group.start, group.end) = (group.start - 1, group.end - 1);
            self.changed[group.start] = true;
            self.changed[group.end] = false;
            self.extend_up(group);
        }
        may
    }

    /// Moves a group down by a line, and takes in the group that it then touches.
    fn slide_down(&mut self, group: &mut Group) -> bool {
        let may = group.end < self.lines.len() && self.numbers[group.start] == self.numbers[group.end];
        if may {
            self.changed[group.start] = false;
            self.changed[group.end] = true;
            group.start += 1;
            group.end = self.group_at(group.end + 1).end;
        }
        may
    }
}

/// Chooses the places of all groups of `side`. The groups of `other` go along: the unchanged lines between two
/// groups are the same number on both sides.
pub(super) fn settle(side: &mut Side<'_>, other: &Side<'_>) {
    let (mut group, mut opposite) = (side.group_at(0), other.group_at(0));
    loop {
        if !group.is_empty() {
            settle_group(side, other, &mut group, &mut opposite);
        }
        if !side.next(&mut group) || !other.next(&mut opposite) {
            return;
        }
    }
}

fn settle_group(side: &mut Side<'_>, other: &Side<'_>, group: &mut Group, opposite: &mut Group) {
    let (mut size, mut highest_end, mut beside);
    loop {
        size = group.end - group.start;
        beside = false;
        while side.slide_up(group) && other.previous(opposite) {}
        highest_end = group.end;
        beside |= !opposite.is_empty();
        while side.slide_down(group) && other.next(opposite) {
            beside |= !opposite.is_empty();
        }
        // It may have met others and may then move further.
        if size == group.end - group.start {
            break;
        }
    }
    if group.end == highest_end {
        return;
    }
    if beside {
        while opposite.is_empty() && side.slide_up(group) && other.previous(opposite) {}
        return;
    }
    let best = best_end(side, group, size, highest_end);
    while group.end > best && side.slide_up(group) && other.previous(opposite) {}
}

/// Where a group of `size` lines had best end.
fn best_end(side: &Side<'_>, group: &Group, size: usize, highest_end: usize) -> usize {
    let first = highest_end.max(group.end.saturating_sub(size + 1)).max(group.end.saturating_sub(PLACES_MAX));
    let mut best = (first, None);
    for end in first..=group.end {
        let (lower, upper) = (Border::at(side, end).score(), Border::at(side, end - size).score());
        let score = (lower.0 + upper.0, lower.1 + upper.1);
        if best.1.is_none_or(|best| compare(score, best) <= 0) {
            best = (end, Some(score));
        }
    }
    best.0
}

/// Which of two scores is better; not more than 0 if the first is no worse.
fn compare(a: (i64, i64), b: (i64, i64)) -> i64 {
    weight::INDENTATION * (a.0 - b.0).signum() + (a.1 - b.1)
}

/// The columns before a line's text; `None` for a line of blanks.
fn indentation(line: &[u8]) -> Option<i64> {
    let mut columns = 0;
    for byte in line {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 8 - columns % 8,
            b'\n' | b'\r' => {}
            _ => return Some(columns),
        }
        if columns >= INDENTATION_MAX {
            return Some(INDENTATION_MAX);
        }
    }
    None
}

/// What surrounds the border above a line.
struct Border {
    at_end: bool,
    here: Option<i64>,
    /// Empty lines above it, and the indentation of what is above those.
    empty_before: i64,
    before: Option<i64>,
    /// The same below the line.
    empty_behind: i64,
    behind: Option<i64>,
}

impl Border {
    fn at(side: &Side<'_>, at: usize) -> Border {
        let lines = &side.lines;
        let look = |stretch: &mut dyn Iterator<Item = &&[u8]>| {
            let mut empty = 0;
            for line in stretch {
                if let Some(columns) = indentation(line) {
                    return (empty, Some(columns));
                }
                empty += 1;
                if empty == EMPTY_LINES_MAX {
                    return (empty, Some(0));
                }
            }
            (empty, None)
        };
        let (empty_before, before) = look(&mut lines.iter().take(at).rev());
        let (empty_behind, behind) = look(&mut lines.iter().skip(at + 1));
        let here = lines.get(at).and_then(|line| indentation(line));
        Border { at_end: at >= lines.len(), here, empty_before, before, empty_behind, behind }
    }

    /// The indentation, and what speaks against the border.
    fn score(&self) -> (i64, i64) {
        let mut against = 0;
        if self.before.is_none() && self.empty_before == 0 {
            against += weight::AT_START;
        }
        if self.at_end {
            against += weight::AT_END;
        }
        let behind = if self.here.is_none() { 1 + self.empty_behind } else { 0 };
        let empty = self.empty_before + behind;
        against += weight::EMPTY_LINE * empty + weight::EMPTY_LINE_BEHIND * behind;
        let columns = self.here.or(self.behind);
        let pick = |pair: (i64, i64)| if empty != 0 { pair.1 } else { pair.0 };
        if let (Some(columns), Some(before)) = (columns, self.before) {
            if columns > before {
                against += pick(weight::DEEPER);
            } else if columns < before {
                let deeper_behind = self.behind.is_some_and(|behind| behind > columns);
                against += pick(if deeper_behind { weight::DEEPER_BEHIND } else { weight::LESS_DEEP });
            }
        }
        (columns.unwrap_or(-1), against)
    }
}
