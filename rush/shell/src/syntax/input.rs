//! The text being parsed: a buffer that grows by lines, a position, and the line number at the position.
//! Alias expansion replaces text in the buffer. Leaves the meaning of bytes to the parser.

use super::class::{self, SKIPPED};
use crate::Bytes;
use std::ops::Range;

/// Where further lines come from.
pub trait LineSource {
    /// Appends the next line or lines to `buffer`; false at the end of the input.
    fn read_line(&mut self, buffer: &mut Bytes) -> bool;

    /// Tells the source that the next line continues a command (for `PS2`).
    fn set_continuation(&mut self, _continuation: bool) {}
}

/// The text being parsed.
pub struct Input {
    buffer: Bytes,
    position: usize,
    source: Option<Box<dyn LineSource>>,
    /// A stretch of the buffer without a newline: most questions for the line fall in it or at its end.
    counted: Range<usize>,
    /// Its line.
    counted_line: u32,
}

impl Input {
    /// Input that is all there, starting on line `line`.
    pub fn from_bytes(text: &[u8], line: u32) -> Input {
        let mut buffer = text.to_vec();
        if buffer.contains(&0) {
            buffer.retain(|b| *b != 0);
        }
        Input { buffer, position: 0, source: None, counted: 0..0, counted_line: line }
    }

    /// Input read line by line from `source`.
    pub fn from_source(source: Box<dyn LineSource>) -> Input {
        Input { buffer: Bytes::new(), position: 0, source: Some(source), counted: 0..0, counted_line: 1 }
    }

    /// The position in the buffer.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Moves to `position`.
    pub fn seek(&mut self, position: usize) {
        self.position = position.min(self.buffer.len());
    }

    /// Moves on by `count` bytes.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.position = (self.position + count).min(self.buffer.len());
    }

    /// The byte at the position, reading on if the buffer is used up. Line continuations are skipped.
    #[inline]
    pub fn current(&mut self) -> Option<u8> {
        match self.buffer.get(self.position) {
            Some(byte) if *byte != b'\\' => Some(*byte),
            _ => self.current_slowly(),
        }
    }

    #[cold]
    fn current_slowly(&mut self) -> Option<u8> {
        loop {
            let byte = self.raw_current()?;
            if byte == b'\\' && self.raw_at(1) == Some(b'\n') {
                self.position += 2;
                continue;
            }
            return Some(byte);
        }
    }

    /// Skips blanks; whether a token follows for certain, rather than a comment, a continuation or the buffer's end.
    #[inline(always)]
    pub(super) fn skip_to_token(&mut self) -> bool {
        loop {
            match self.buffer.get(self.position) {
                Some(byte) if !class::is(*byte, SKIPPED) => return true,
                Some(b' ') => self.position += 1,
                _ => return false,
            }
        }
    }

    /// The byte at the position; continuations are not special.
    #[inline]
    pub fn raw_current(&mut self) -> Option<u8> {
        self.raw_at(0)
    }

    /// The byte `offset` after the position.
    #[inline]
    pub fn raw_at(&mut self, offset: usize) -> Option<u8> {
        match self.buffer.get(self.position + offset) {
            Some(byte) => Some(*byte),
            None => self.raw_at_slowly(offset),
        }
    }

    #[cold]
    fn raw_at_slowly(&mut self, offset: usize) -> Option<u8> {
        while self.position + offset >= self.buffer.len() {
            if !self.fill() {
                return None;
            }
        }
        self.buffer.get(self.position + offset).copied()
    }

    /// The byte after the current one, skipping continuations. Nothing is after the end of a line: no operator goes on
    /// there, and looking would wait for a line that whoever types has not written yet.
    #[inline]
    pub fn after_current(&mut self) -> Option<u8> {
        match self.rest() {
            [current, next, ..] if !matches!(current, b'\\' | b'\n') && *next != b'\\' => Some(*next),
            _ => self.after_current_slowly(),
        }
    }

    #[cold]
    fn after_current_slowly(&mut self) -> Option<u8> {
        if self.current()? == b'\n' {
            return None;
        }
        let saved = self.position;
        self.position += 1;
        let next = self.current();
        self.position = saved;
        next
    }

    /// What is buffered from the position on; never reads.
    #[inline]
    pub fn rest(&self) -> &[u8] {
        self.buffer.get(self.position..).unwrap_or_default()
    }

    /// The buffered text between two positions.
    pub fn slice(&self, start: usize, end: usize) -> &[u8] {
        self.buffer.get(start..end).unwrap_or_default()
    }

    /// Takes one line without its newline, for here-documents; `None` at the end. The flag says whether a newline
    /// ended it.
    pub fn take_line(&mut self) -> Option<(&[u8], bool)> {
        self.raw_current()?;
        let start = self.position;
        let ended = self.take_until(b'\n').is_some();
        let line = self.slice(start, self.position - usize::from(ended));
        Some((line, ended))
    }

    fn fill(&mut self) -> bool {
        let Some(source) = &mut self.source else { return false };
        let before = self.buffer.len();
        let more = source.read_line(&mut self.buffer);
        if self.buffer[before..].contains(&0) {
            let mut kept = self.buffer.split_off(before);
            kept.retain(|b| *b != 0);
            self.buffer.append(&mut kept);
        }
        more
    }

    /// Tells the source whether a command has begun.
    pub fn set_continuation(&mut self, continuation: bool) {
        if let Some(source) = &mut self.source {
            source.set_continuation(continuation);
        }
    }

    /// Forgets the text before the position, when that is worth it.
    pub fn compact(&mut self) {
        if self.position > 1 << 16 && self.position * 2 > self.buffer.len() {
            self.line();
            self.buffer.drain(..self.position);
            self.counted = 0..0;
            self.position = 0;
        }
    }

    /// Drops whatever is buffered, up to the end of the current line.
    pub fn skip_line(&mut self) {
        while let Some(byte) = self.raw_current() {
            self.position += 1;
            if byte == b'\n' {
                break;
            }
        }
    }

    /// Consumes the text up to the next `byte`, and `byte`; `None` (and everything is consumed) if there is none.
    pub fn take_until(&mut self, byte: u8) -> Option<&[u8]> {
        let start = self.position;
        let mut searched = start;
        loop {
            if let Some(at) = find(byte, self.buffer.get(searched..).unwrap_or_default()) {
                self.position = searched + at + 1;
                return self.buffer.get(start..searched + at);
            }
            searched = self.buffer.len();
            if !self.fill() {
                self.position = self.buffer.len();
                return None;
            }
        }
    }

    /// The line number at `position`.
    pub fn line_at(&mut self, position: usize) -> u32 {
        let here = std::mem::replace(&mut self.position, position);
        let line = self.line();
        self.position = here;
        line
    }

    /// The line number at the position.
    #[inline]
    pub fn line(&mut self) -> u32 {
        if self.position < self.counted.start || self.position > self.counted.end {
            self.count_lines();
        }
        self.counted_line
    }

    fn count_lines(&mut self) {
        let position = self.position.min(self.buffer.len());
        let Range { start, end } = self.counted;
        if position > end {
            self.counted_line += count_newlines(&self.buffer[end..position]);
        } else if position < start {
            self.counted_line -= count_newlines(&self.buffer[position..start]);
        }
        let rest = &self.buffer[position..];
        self.counted = position..position + find(b'\n', rest).unwrap_or(rest.len());
    }

    /// The whole line that holds `position`.
    pub fn line_text(&self, position: usize) -> &[u8] {
        let position = position.min(self.buffer.len());
        let start = self.buffer[..position].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let end = self.buffer[position..]
            .iter()
            .position(|b| *b == b'\n')
            .map_or(self.buffer.len(), |i| i + position);
        &self.buffer[start..end]
    }

    /// Replaces the text from `start` to `end`, which must not be before the position's line start, and moves to
    /// `start`.
    pub fn splice(&mut self, start: usize, end: usize, text: &[u8]) {
        self.seek(start);
        self.line();
        self.counted.end = self.position;
        self.buffer.splice(start..end, text.iter().copied());
    }

    /// Whether everything has been consumed and no source is left.
    pub fn at_end(&mut self) -> bool {
        self.raw_current().is_none()
    }
}

/// What is looked for in shell text is mostly this near. Beyond it vector instructions pay off, though the first use
/// of them asks the processor what it can do, which costs a short script more than it takes.
const NEAR_BYTES: usize = 64;

/// Where `byte` is in `text`.
fn find(byte: u8, text: &[u8]) -> Option<usize> {
    const WORD: usize = size_of::<u64>();
    let (near, far) = text.split_at(text.len().min(NEAR_BYTES));
    let (words, rest) = near.as_chunks::<WORD>();
    for (index, word) in words.iter().enumerate() {
        let zeros = zero_bytes(u64::from_le_bytes(*word) ^ u64::from_le_bytes([byte; WORD]));
        if zeros != 0 {
            return Some(index * WORD + zeros.trailing_zeros() as usize / 8);
        }
    }
    if let Some(at) = rest.iter().position(|b| *b == byte) {
        return Some(words.len() * WORD + at);
    }
    if far.is_empty() { None } else { Some(near.len() + memchr::memchr(byte, far)?) }
}

/// The high bits of the bytes of `word` that are zero; those after the first may be wrong.
fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    word.wrapping_sub(LOW) & !word & HIGH
}

fn count_newlines(bytes: &[u8]) -> u32 {
    if bytes.len() > NEAR_BYTES {
        return memchr::memchr_iter(b'\n', bytes).count() as u32;
    }
    bytes.iter().filter(|b| **b == b'\n').count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::variables::Variables;
    use crate::syntax::{Context, Next, Parser};
    use std::cell::Cell;
    use std::rc::Rc;

    /// Gives one line at a time and counts what was asked for.
    struct Typed(Vec<&'static str>, Rc<Cell<usize>>);

    impl LineSource for Typed {
        fn read_line(&mut self, buffer: &mut Bytes) -> bool {
            let asked = self.1.get();
            self.1.set(asked + 1);
            self.0.get(asked).map(|line| buffer.extend_from_slice(line.as_bytes())).is_some()
        }
    }

    #[test]
    fn the_first_of_several_bytes_is_found() {
        for length in 0..150usize {
            let mut text = vec![b'a'; length];
            assert_eq!(find(b'\n', &text), None);
            for at in (0..length).rev() {
                text[at] = b'\n';
                assert_eq!(find(b'\n', &text), Some(at), "{length}");
            }
        }
        // A byte that differs from the wanted one by its lowest bit, after it.
        assert_eq!(find(b'\n', b"\n\x0b\x0b\x0b\x0b\x0b\x0b\x0b"), Some(0));
        assert_eq!(find(b'\n', b"\x0b\x0a\x0b\x0b\x0b\x0b\x0b\x8a"), Some(1));
    }

    #[test]
    fn a_command_is_complete_at_its_newline() {
        for lines in
            [vec!["echo hi\n", "echo there\n"], vec!["a && b &\n", "c\n"], vec!["x=1; { y; }\n", "z\n"]]
        {
            let asked = Rc::new(Cell::new(0));
            let mut input = Input::from_source(Box::new(Typed(lines.clone(), Rc::clone(&asked))));
            let mut variables = Variables::default();
            let context = Context { variables: &mut variables, aliases: None, extglob: true, posix: false };
            assert!(matches!(Parser::new(&mut input, context).next_command(), Ok(Next::List(_))));
            assert_eq!(asked.get(), 1, "{lines:?}");
        }
    }
}
