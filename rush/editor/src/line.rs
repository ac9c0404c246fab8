//! The line that is edited: its text, the cursor, the mark, and what can be undone. Positions are bytes at the boundaries of what a
//! reader takes for one character.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use crate::limits;

/// A state that can be gone back to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Snapshot {
    text: String,
    point: usize,
}

/// The line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    text: String,
    point: usize,
    /// The other end of the region.
    pub(crate) mark: usize,
    /// Whether the region is shown.
    pub(crate) region: bool,
    /// The marks of vi, `a` to `z`.
    pub(crate) marks: [Option<usize>; 26],
    undo: Vec<Snapshot>,
    redo: Vec<Snapshot>,
    /// How many characters have been typed since the last state was kept; 0 begins a new one.
    typed: usize,
}

impl Line {
    pub(crate) fn new(text: String, point: usize) -> Line {
        let mut line = Line { text, ..Line::default() };
        line.move_to(point);
        line
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn point(&self) -> usize {
        self.point
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn before(&self) -> &str {
        &self.text[..self.point]
    }

    pub(crate) fn after(&self) -> &str {
        &self.text[self.point..]
    }

    /// Moves the cursor, to a boundary at or before `point`.
    pub(crate) fn move_to(&mut self, point: usize) {
        self.point = self.boundary(point);
        self.typed = 0;
    }

    /// The nearest boundary at or before `at`.
    pub(crate) fn boundary(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// The boundary behind the character at `at`.
    pub(crate) fn next(&self, at: usize) -> usize {
        let at = self.boundary(at);
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len())
    }

    /// The boundary before the character that ends at `at`.
    pub(crate) fn previous(&self, at: usize) -> usize {
        let at = self.boundary(at);
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        cursor.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0)
    }

    /// `count` characters further; negative is back.
    pub(crate) fn moved(&self, at: usize, count: i64) -> usize {
        let mut at = at;
        for _ in 0..count.unsigned_abs().min(self.text.len() as u64 + 1) {
            at = if count < 0 { self.previous(at) } else { self.next(at) };
        }
        at
    }

    /// The beginning of the row of text that `at` is in.
    pub(crate) fn row_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Its end.
    pub(crate) fn row_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline)
    }

    /// Keeps the state, before a change.
    fn keep(&mut self) {
        self.typed = 0;
        self.redo.clear();
        let state = Snapshot { text: self.text.clone(), point: self.point };
        if self.undo.last() != Some(&state) {
            self.undo.push(state);
        }
        let bytes: usize = self.undo.iter().map(|state| state.text.len()).sum();
        let spare = bytes.saturating_sub(limits::UNDO_BYTES_MAX);
        let mut gone = 0;
        // The newest stays, however long it is.
        let oldest = self.undo.iter().take(self.undo.len() - 1).take_while(|state| {
            let more = gone < spare;
            gone += state.text.len();
            more
        });
        let count = oldest.count().max(self.undo.len().saturating_sub(limits::UNDO_STATES_MAX));
        self.undo.drain(..count);
    }

    /// How many characters that are typed are one change: the more there are, the more, because each state is a copy.
    fn together(&self) -> usize {
        limits::TYPED_TOGETHER_MAX.max(self.text.len() / 32)
    }

    /// Puts text before the cursor, as one change.
    pub(crate) fn insert(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.keep();
        self.put(text);
    }

    /// Puts what was typed before the cursor; a row of characters is one change.
    pub(crate) fn type_text(&mut self, text: &str) {
        let typed = self.typed;
        let full = typed >= self.together();
        if typed == 0 || full {
            self.keep();
        } else {
            self.redo.clear();
        }
        self.put(text);
        self.typed = if full { 1 } else { typed + 1 };
    }

    fn put(&mut self, text: &str) {
        self.text.insert_str(self.point, text);
        if self.mark > self.point {
            self.mark += text.len();
        }
        self.point += text.len();
        self.region = false;
    }

    /// Takes a part out of the text; the cursor stands where it was.
    pub(crate) fn remove(&mut self, range: Range<usize>) -> String {
        let range = self.boundary(range.start)..self.boundary(range.end);
        if range.is_empty() {
            self.point = range.start;
            return String::new();
        }
        self.keep();
        if self.mark >= range.end {
            self.mark -= range.len();
        } else if self.mark > range.start {
            self.mark = range.start;
        }
        self.point = range.start;
        self.region = false;
        self.text.drain(range).collect()
    }

    /// Puts `text` where a part of the line is; the cursor stands behind it.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: &str) {
        let range = self.boundary(range.start)..self.boundary(range.end);
        self.keep();
        self.point = range.start + text.len();
        self.text.replace_range(range, text);
        self.mark = self.boundary(self.mark);
        self.region = false;
    }

    /// Makes `text` the line, as one change.
    pub(crate) fn set(&mut self, text: String, point: usize) {
        if self.text != text {
            self.keep();
            self.text = text;
        }
        self.move_to(point);
        self.mark = self.boundary(self.mark);
    }

    /// The part between mark and cursor.
    pub(crate) fn region(&self) -> Range<usize> {
        let mark = self.boundary(self.mark);
        self.point.min(mark)..self.point.max(mark)
    }

    /// Takes the last change back; false if there is none.
    pub(crate) fn undo(&mut self) -> bool {
        let Some(state) = self.undo.pop() else { return false };
        let now = self.swap(state);
        self.redo.push(now);
        true
    }

    /// Makes a change again that was taken back.
    pub(crate) fn redo(&mut self) -> bool {
        let Some(state) = self.redo.pop() else { return false };
        let now = self.swap(state);
        self.undo.push(now);
        true
    }

    /// Takes all changes back.
    pub(crate) fn revert(&mut self) {
        while self.undo() {}
    }

    fn swap(&mut self, state: Snapshot) -> Snapshot {
        let now = Snapshot { text: std::mem::replace(&mut self.text, state.text), point: self.point };
        self.move_to(state.point);
        self.mark = self.boundary(self.mark);
        self.region = false;
        now
    }
}

#[cfg(test)]
mod tests {
    use super::Line;
    use crate::limits;

    #[test]
    fn characters_are_what_a_reader_sees() {
        let line = Line::new("ae\u{301}👩‍👩‍👧x".into(), 0);
        assert_eq!(line.next(1), 4);
        assert_eq!(line.next(4), 22);
        assert_eq!(line.previous(22), 4);
        assert_eq!(line.previous(4), 1);
        assert_eq!(line.moved(0, 100), line.len());
    }

    #[test]
    fn changes_are_taken_back_and_made_again() {
        let mut line = Line::default();
        for character in ["a", "b", "c"] {
            line.type_text(character);
        }
        line.remove(1..2);
        line.insert("xyz");
        assert_eq!(line.text(), "axyzc");
        assert!(line.undo() && line.text() == "ac");
        assert!(line.undo() && line.text() == "abc");
        assert!(line.undo() && line.text().is_empty() && !line.undo());
        assert!(line.redo() && line.text() == "abc");
        assert!(line.redo() && line.redo() && line.text() == "axyzc" && !line.redo());
        line.undo();
        line.insert("n");
        assert!(!line.redo());
    }

    #[test]
    fn what_can_be_undone_of_a_long_line_is_bounded() {
        let mut line = Line::new(String::new(), 0);
        for _ in 0..300_000 {
            line.type_text("x");
        }
        assert!(line.undo.len() < 1_000, "{}", line.undo.len());
        for _ in 0..200 {
            line.insert("y");
        }
        let bytes = |line: &Line| line.undo.iter().map(|state| state.text.len()).sum::<usize>();
        assert!(bytes(&line) <= limits::UNDO_BYTES_MAX);
        line.insert(&"z".repeat(2 * limits::UNDO_BYTES_MAX));
        line.insert("z");
        assert_eq!(line.undo.len(), 1);
        assert!(line.undo());
    }
}
