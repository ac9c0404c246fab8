//! POSIX regular expressions with GNU's extensions, shared by the utilities that take them.
//!
//! Invariant: a match is the leftmost and of those the longest; groups are those of the path that a backtracking matcher prefers
//! among the paths of that length, as in the GNU C library. The `regex` crate finds where a match begins, and all of it
//! where its preference is the longest anyway (`Tree::greedy_is_longest`); the machine of this module does the rest.
//! What the library would refuse, and what depends on its tables, gives `None`: the utility declines.

mod machine;
mod parse;
mod translate;
mod tree;

use regex::bytes::{CaptureLocations, Regex, RegexBuilder};

use machine::Machine;

/// How an expression is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// `-E`, and awk's.
    pub(crate) extended: bool,
    pub(crate) ignore_case: bool,
    /// `^` and `$` also stand around newlines, which `.` and `[^a]` do not match.
    pub(crate) multiline: bool,
    /// Characters are those of UTF-8, not bytes.
    pub(crate) utf8: bool,
    /// Whose escapes stand for characters.
    pub(crate) escapes: Escapes,
}

/// Whose escapes for characters an expression has besides its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// None.
    #[default]
    None,
    /// Those of `sed`: `\n \t \f \v \a \r`, numbers as `\d065 \o101 \x41`, `\cA`.
    Sed,
    /// Those of `awk`: `\n \t \f \v \a \b \r \/ \" \101`; no back-references and no word boundaries.
    Awk,
}

/// The memory that a compiled expression may take.
const PROGRAM_BYTES_MAX: usize = 16 << 20;

/// Where a match and its groups stand; the first is the whole.
pub(crate) type Spans = Vec<Option<(usize, usize)>>;

/// A compiled expression.
pub(crate) struct Pattern {
    /// Finds where a match begins; `None` if there are back-references.
    fast: Option<Regex>,
    locations: Option<CaptureLocations>,
    /// Whether `fast` finds the longest.
    exact: bool,
    machine: Machine,
    /// How many groups there are.
    pub(crate) groups: usize,
}

impl Pattern {
    /// Compiles an expression; `None` for what only the program can answer, errors among it.
    pub(crate) fn new(text: &[u8], dialect: Dialect) -> Option<Self> {
        let tree = parse::parse(text, dialect)?;
        let machine = Machine::new(&tree, dialect)?;
        let fast = if tree.has_back_references {
            None
        } else {
            let regex = RegexBuilder::new(&translate::translate(&tree, dialect))
                .unicode(dialect.utf8)
                .multi_line(dialect.multiline)
                .dot_matches_new_line(!dialect.multiline)
                .size_limit(PROGRAM_BYTES_MAX)
                .build()
                .ok()?;
            Some(regex)
        };
        let locations = fast.as_ref().map(Regex::capture_locations);
        Some(Self { fast, locations, exact: tree.greedy_is_longest(), machine, groups: tree.groups })
    }

    /// Whether there is a match at or behind `from`.
    pub(crate) fn is_match(&mut self, text: &[u8], from: usize) -> bool {
        match &self.fast {
            Some(regex) => regex.is_match_at(text, from),
            None => self.machine.find(text, from, false, &mut Vec::new()),
        }
    }

    /// The whole of the first match at or behind `from`.
    pub(crate) fn find(&mut self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let Some(regex) = &self.fast else {
            let mut spans = Vec::new();
            self.machine.find(text, from, false, &mut spans);
            return spans.first().copied().flatten();
        };
        let found = regex.find_at(text, from)?;
        let end = if self.exact { found.end() } else { self.machine.longest(text, found.start())? };
        Some((found.start(), end))
    }

    /// The first match at or behind `from` with its groups.
    pub(crate) fn captures(&mut self, text: &[u8], from: usize, spans: &mut Spans) -> bool {
        spans.clear();
        let (Some(regex), Some(locations)) = (&self.fast, &mut self.locations) else {
            return self.machine.find(text, from, true, spans);
        };
        if self.exact {
            if regex.captures_read_at(locations, text, from).is_none() {
                return false;
            }
            spans.extend((0..=self.groups).map(|group| locations.get(group)));
            return true;
        }
        let Some(found) = regex.find_at(text, from) else { return false };
        let Some(end) = self.machine.longest(text, found.start()) else { return false };
        self.machine.groups_of(text, found.start(), end, spans)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Escapes, Pattern};

    fn groups(pattern: &str, text: &str) -> String {
        let dialect = Dialect { extended: true, escapes: Escapes::Sed, ..Dialect::default() };
        let mut pattern = Pattern::new(pattern.as_bytes(), dialect).expect("an expression");
        let mut spans = Vec::new();
        if !pattern.captures(text.as_bytes(), 0, &mut spans) {
            return "none".to_owned();
        }
        let shown = spans.iter().map(|span| span.map_or("-", |(start, end)| &text[start..end]));
        shown.collect::<Vec<_>>().join(",")
    }

    #[test]
    fn matches_are_the_longest_and_groups_those_of_the_first_path_of_that_length() {
        let cases = [
            ("(a|ab)(c|bcd)(d*)", "abcd", "abcd,a,bcd,"),
            ("a?(ab)?", "ab", "ab,ab"),
            ("((x)|(y))*", "xyx", "xyx,x,x,y"),
            ("(a*)*", "aaa", "aaa,aaa"),
            ("(a*)+", "aaa", "aaa,aaa"),
            ("(a|ab)(ab|b)*(b)*", "abab", "abab,a,ab,-"),
            ("(a(b)?)+", "aba", "aba,a,b"),
            ("(ab|a)(bcd|c)?(d|e)*", "abcde", "abcde,ab,c,e"),
            (r"(a*)b\1", "xaabaa", "aabaa,aa"),
            (r"(.)(.)\2\1", "xabba", "abba,a,b"),
            ("x*", "aaa", ""),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(groups(pattern, text), expected, "{pattern} on {text}");
        }
    }
}
