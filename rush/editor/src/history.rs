//! Looking through the history: by prefix for suggestions, by parts of a text, and fuzzily for the list of a search. A hundred thousand
//! entries are looked through between two keys: of each entry the first bytes and the set of its characters are kept side by side, so
//! that most are passed over without being read.

use std::ops::Range;

/// The commands of the history, oldest first. The editor only reads them.
pub trait History {
    /// How many there are.
    fn count(&self) -> usize;
    /// One of them; the oldest is 0.
    fn entry(&self, index: usize) -> &[u8];
    /// A number that changes when entries before the newest are removed or changed.
    fn generation(&self) -> u64;
}

/// What is kept of one entry.
#[derive(Debug, Clone, Copy)]
struct Digest {
    /// Its first eight bytes.
    head: u64,
    /// The set of its characters, letters in lower case.
    set: u64,
}

/// What is kept of all entries.
#[derive(Debug, Clone, Default)]
pub(crate) struct HistoryIndex {
    digests: Vec<Digest>,
    generation: u64,
    /// The last suggestion: for which line, and from which entry backwards the next one is to be looked for.
    suggested: Option<(String, usize)>,
}

/// An entry that a search found, and which of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) index: usize,
    pub(crate) parts: Vec<Range<usize>>,
}

fn head(text: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(text) {
        *to = *from;
    }
    u64::from_be_bytes(bytes)
}

fn set(text: &[u8]) -> u64 {
    text.iter().fold(0, |set, byte| set | 1 << (byte.to_ascii_lowercase() % 64))
}

impl HistoryIndex {
    /// Follows the history.
    pub(crate) fn follow(&mut self, history: &dyn History) {
        if history.generation() != self.generation || self.digests.len() > history.count() {
            self.digests.clear();
            self.generation = history.generation();
        }
        let new = self.digests.len()..history.count();
        if !new.is_empty() {
            self.suggested = None;
        }
        self.digests.extend(new.map(|index| {
            let text = history.entry(index);
            Digest { head: head(text), set: set(text) }
        }));
    }

    /// The newest entry of one line that begins like `line` and is longer.
    pub(crate) fn suggestion(&mut self, history: &dyn History, line: &str) -> Option<usize> {
        // What had no suggestion has none when it is longer; what had one has it still, or an older one.
        let from = match &self.suggested {
            Some((known, from)) if line.starts_with(known.as_str()) => *from,
            _ => self.digests.len(),
        };
        let found = self.newest_with_prefix(history, line.as_bytes(), from);
        self.suggested = Some((line.to_string(), found.map_or(0, |index| index + 1)));
        found
    }

    fn newest_with_prefix(&self, history: &dyn History, prefix: &[u8], from: usize) -> Option<usize> {
        let wanted = head(prefix);
        let mask = if prefix.len() >= 8 { u64::MAX } else { !(u64::MAX >> (8 * prefix.len())) };
        let digests = self.digests.get(..from)?;
        digests
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, digest)| digest.head & mask == wanted)
            .map(|(at, _)| at)
            .find(|at| {
                let text = history.entry(*at);
                text.len() > prefix.len() && text.starts_with(prefix) && !text.contains(&b'\n')
            })
    }

    /// The newest entries that hold `query`, at most `limit`: first those that hold it as it is, then those that hold its characters
    /// in this order. Without capitals in it, `query` finds both cases. Each text is found once.
    pub(crate) fn search(&self, history: &dyn History, query: &str, limit: usize) -> Vec<Hit> {
        let needle = Needle::new(query);
        let mut hits: Vec<Hit> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for fuzzy in [false, true] {
            let wanted =
                if fuzzy { set(&query.replace(' ', "").into_bytes()) } else { set(query.as_bytes()) };
            for index in (0..self.digests.len()).rev() {
                if hits.len() >= limit {
                    return hits;
                }
                if self.digests.get(index).is_none_or(|digest| digest.set & wanted != wanted) {
                    continue;
                }
                let text = history.entry(index);
                let parts = if fuzzy { needle.scattered(text) } else { needle.whole(text) };
                if let Some(parts) = parts
                    && seen.insert(text)
                {
                    hits.push(Hit { index, parts });
                }
            }
            if query.is_empty() {
                break;
            }
        }
        hits
    }
}

/// What is searched for.
struct Needle<'a> {
    bytes: &'a [u8],
    folds: bool,
}

impl Needle<'_> {
    fn new(query: &str) -> Needle<'_> {
        Needle { bytes: query.as_bytes(), folds: !query.chars().any(char::is_uppercase) }
    }

    fn same(&self, byte: u8, wanted: u8) -> bool {
        byte == wanted || self.folds && byte.eq_ignore_ascii_case(&wanted)
    }

    fn whole(&self, text: &[u8]) -> Option<Vec<Range<usize>>> {
        let Some(first) = self.bytes.first() else { return Some(Vec::new()) };
        let last = text.len().checked_sub(self.bytes.len())?;
        let found = (0..=last).find(|at| {
            text.get(*at).is_some_and(|byte| self.same(*byte, *first))
                && text.iter().skip(*at).zip(self.bytes).all(|(byte, wanted)| self.same(*byte, *wanted))
        })?;
        Some(std::iter::once(found..found + self.bytes.len()).collect())
    }

    fn scattered(&self, text: &[u8]) -> Option<Vec<Range<usize>>> {
        let (mut parts, mut at) = (Vec::<Range<usize>>::new(), 0);
        for wanted in self.bytes.iter().filter(|byte| **byte != b' ') {
            let offset = text.get(at..)?.iter().position(|byte| self.same(*byte, *wanted))?;
            let place = at + offset;
            match parts.last_mut() {
                Some(last) if last.end == place => last.end += 1,
                _ => parts.push(place..place + 1),
            }
            at = place + 1;
        }
        Some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct List(Vec<&'static str>);

    impl History for List {
        fn count(&self) -> usize {
            self.0.len()
        }
        fn entry(&self, index: usize) -> &[u8] {
            self.0[index].as_bytes()
        }
        fn generation(&self) -> u64 {
            0
        }
    }

    fn index(list: &List) -> HistoryIndex {
        let mut index = HistoryIndex::default();
        index.follow(list);
        index
    }

    #[test]
    fn suggestions_are_the_newest_with_the_prefix() {
        let list = List(vec!["git status", "git push", "ls", "git commit\nx", "git log --oneline"]);
        let mut index = index(&list);
        let mut suggested = |line: &str| index.suggestion(&list, line).map(|at| list.0[at]);
        assert_eq!(suggested("g"), Some("git log --oneline"));
        assert_eq!(suggested("git p"), Some("git push"));
        assert_eq!(suggested("git px"), None);
        assert_eq!(suggested("git pxy"), None);
        assert_eq!(suggested("git s"), Some("git status"));
        assert_eq!(suggested("git log --onelin"), Some("git log --oneline"));
        assert_eq!(suggested("git log --oneline"), None);
    }

    #[test]
    fn searches_find_texts_then_scattered_characters() {
        let list = List(vec!["cargo test", "ls", "cat Cargo.toml", "ls", "crate go"]);
        let index = index(&list);
        let found = |query: &str| -> Vec<&str> {
            index.search(&list, query, 10).iter().map(|hit| list.0[hit.index]).collect()
        };
        assert_eq!(found("cargo"), ["cat Cargo.toml", "cargo test"]);
        assert_eq!(found("Cargo"), ["cat Cargo.toml"]);
        assert_eq!(found("crgo"), ["crate go", "cat Cargo.toml", "cargo test"]);
        assert_eq!(found("ls"), ["ls"]);
        assert_eq!(found("").len(), 4);
        assert_eq!(index.search(&list, "ctoml", 10)[0].parts, [0..1, 2..3, 8..9, 12..14]);
    }
}
