//! Shows changes: as commands of an editor with their lines, or with the lines around them in one of two forms.

use super::DiffOptions;
use super::options::Style;
use super::script::Change;
use super::text::{Side, is_space};

/// Bytes of the line that names the function of a hunk.
const FUNCTION_BYTES_MAX: usize = 40;

/// Shows the changes of two texts behind one another.
pub(super) struct Printer<'p> {
    pub(super) options: &'p DiffOptions,
    pub(super) sides: &'p [Side<'p>; 2],
    /// The lines that name the two files.
    pub(super) names: [Vec<u8>; 2],
    /// Where the search for a function's line stopped last, and what it found.
    searched: usize,
    found: Option<usize>,
}

/// Whether nothing but empty lines was removed and added, and that does not count.
pub(super) fn is_ignored(changes: &[Change], sides: &[Side<'_>; 2], options: &DiffOptions) -> bool {
    let blank = |side: &Side<'_>, lines: (usize, usize)| {
        (lines.0..lines.1).all(|index| {
            let line = side.line(index);
            // White space may count for more than none.
            line.is_empty()
                || (options.space >= super::options::Space::NotAtEnd
                    && line.iter().all(|&byte| is_space(byte)))
        })
    };
    options.ignore_blank
        && changes.iter().all(|change| blank(&sides[0], change.old) && blank(&sides[1], change.new))
}

impl<'p> Printer<'p> {
    pub(super) fn new(options: &'p DiffOptions, sides: &'p [Side<'p>; 2], names: [Vec<u8>; 2]) -> Self {
        Self { options, sides, names, searched: 0, found: None }
    }

    /// Everything.
    pub(super) fn all(&mut self, changes: &[Change], out: &mut Vec<u8>) {
        let mut rest = changes;
        let mut named = false;
        while !rest.is_empty() {
            let (hunk, behind) = rest.split_at(self.hunk_length(rest));
            rest = behind;
            if is_ignored(hunk, self.sides, self.options) {
                continue;
            }
            if !std::mem::replace(&mut named, true) {
                self.header(out);
            }
            match self.options.style {
                Style::Unified => self.unified(hunk, out),
                Style::Context => self.context(hunk, out),
                _ => self.normal(hunk, out),
            }
        }
    }

    /// How many changes are shown together.
    fn hunk_length(&self, changes: &[Change]) -> usize {
        if self.options.style == Style::Normal {
            return 1;
        }
        let near = |pair: &[Change]| {
            let between = pair[1].old.0 - pair[0].old.1;
            // One that does not count joins only if it would be seen.
            if is_ignored(&pair[1..], self.sides, self.options) {
                between < self.options.around
            } else {
                between <= 2 * self.options.around
            }
        };
        1 + changes.windows(2).take_while(|pair| near(pair)).count()
    }

    fn header(&self, out: &mut Vec<u8>) {
        let marks: [&[u8]; 2] = match self.options.style {
            Style::Unified => [b"--- ", b"+++ "],
            Style::Context => [b"*** ", b"--- "],
            _ => return,
        };
        for (mark, name) in marks.iter().zip(&self.names) {
            out.extend_from_slice(mark);
            out.extend_from_slice(name);
            out.push(b'\n');
        }
    }

    fn line(&self, mark: &[u8], which: usize, index: usize, out: &mut Vec<u8>) {
        let side = &self.sides[which];
        out.extend_from_slice(mark);
        out.extend_from_slice(side.line(index));
        out.push(b'\n');
        if side.is_incomplete(index) {
            out.extend_from_slice(b"\\ No newline at end of file\n");
        }
    }

    fn normal(&self, hunk: &[Change], out: &mut Vec<u8>) {
        for Change { old, new } in hunk {
            let letter = match (old.0 == old.1, new.0 == new.1) {
                (true, _) => 'a',
                (_, true) => 'd',
                _ => 'c',
            };
            let range = |lines: &(usize, usize)| {
                if lines.1 > lines.0 + 1 {
                    format!("{},{}", lines.0 + 1, lines.1)
                } else {
                    lines.1.to_string()
                }
            };
            out.extend_from_slice(format!("{}{letter}{}\n", range(old), range(new)).as_bytes());
            (old.0..old.1).for_each(|index| self.line(b"< ", 0, index, out));
            if letter == 'c' {
                out.extend_from_slice(b"---\n");
            }
            (new.0..new.1).for_each(|index| self.line(b"> ", 1, index, out));
        }
    }

    /// The lines of a hunk in both files, with those around it.
    fn extent(&self, hunk: &[Change]) -> [(usize, usize); 2] {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return [(0, 0); 2] };
        let around = self.options.around;
        let wide = |start: usize, end: usize, side: &Side<'_>| {
            (start.saturating_sub(around), end.saturating_add(around).min(side.count()))
        };
        let [old, new] = self.sides;
        [wide(first.old.0, last.old.1, old), wide(first.new.0, last.new.1, new)]
    }

    fn unified(&mut self, hunk: &[Change], out: &mut Vec<u8>) {
        let [old, new] = self.extent(hunk);
        let range = |lines: (usize, usize)| match lines.1 - lines.0 {
            0 => format!("{},0", lines.0),
            1 => lines.1.to_string(),
            count => format!("{},{count}", lines.0 + 1),
        };
        out.extend_from_slice(format!("@@ -{} +{} @@", range(old), range(new)).as_bytes());
        self.function(old.0, out);
        out.push(b'\n');
        let mut at = old.0;
        for change in hunk {
            (at..change.old.0).for_each(|index| self.line(b" ", 0, index, out));
            (change.old.0..change.old.1).for_each(|index| self.line(b"-", 0, index, out));
            (change.new.0..change.new.1).for_each(|index| self.line(b"+", 1, index, out));
            at = change.old.1;
        }
        (at..old.1).for_each(|index| self.line(b" ", 0, index, out));
    }

    fn context(&mut self, hunk: &[Change], out: &mut Vec<u8>) {
        let [old, new] = self.extent(hunk);
        let range = |lines: (usize, usize)| {
            if lines.1 > lines.0 + 1 { format!("{},{}", lines.0 + 1, lines.1) } else { lines.1.to_string() }
        };
        out.extend_from_slice(b"***************");
        self.function(old.0, out);
        out.extend_from_slice(format!("\n*** {} ****\n", range(old)).as_bytes());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for Change { old, new } in hunk {
            let both = old.0 < old.1 && new.0 < new.1;
            let mark = |alone: &'static [u8; 2]| if both { b"! " } else { alone };
            removed.push((*old, mark(b"- ")));
            added.push((*new, mark(b"+ ")));
        }
        self.half(0, old, &removed, out);
        out.extend_from_slice(format!("--- {} ----\n", range(new)).as_bytes());
        self.half(1, new, &added, out);
    }

    /// One file's lines of a hunk, if any of them changed.
    fn half(
        &self,
        which: usize,
        lines: (usize, usize),
        changed: &[((usize, usize), &'static [u8; 2])],
        out: &mut Vec<u8>,
    ) {
        if changed.iter().all(|((start, end), _)| start == end) {
            return;
        }
        let mut at = lines.0;
        for ((start, end), mark) in changed {
            (at..*start).for_each(|index| self.line(b"  ", which, index, out));
            (*start..*end).for_each(|index| self.line(*mark, which, index, out));
            at = *end;
        }
        (at..lines.1).for_each(|index| self.line(b"  ", which, index, out));
    }

    /// The last line before the hunk that begins like a function (`-p`).
    fn function(&mut self, before: usize, out: &mut Vec<u8>) {
        if !self.options.function {
            return;
        }
        let side = &self.sides[0];
        let names = |index: &usize| {
            side.line(*index).first().is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_' || b == b'$')
        };
        let found = (self.searched.min(before)..before).rev().find(names);
        self.searched = before;
        self.found = found.or(self.found);
        let Some(index) = self.found else { return };
        let line = side.line(index);
        let line = line.get(..FUNCTION_BYTES_MAX).unwrap_or(line);
        let length = line.iter().rposition(|&byte| !is_space(byte)).map_or(0, |at| at + 1);
        out.push(b' ');
        out.extend_from_slice(&line[..length]);
    }
}
