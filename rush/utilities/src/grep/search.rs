//! Searching one stream line by line, and printing what was selected.
//!
//! Input is read in blocks and never held as a whole. A NUL byte makes the rest of the stream binary: what is
//! selected there is only mentioned.

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use super::pattern::Matcher;
use crate::json::Json;
use crate::limits::BLOCK_BYTES;

pub(super) struct Style {
    pub(super) invert: bool,
    pub(super) count: bool,
    /// `-l` or `-L`.
    pub(super) list: Option<u8>,
    pub(super) quiet: bool,
    pub(super) numbers: bool,
    pub(super) names: bool,
    pub(super) only_matching: bool,
    pub(super) maximum: Option<usize>,
    pub(super) after: usize,
    pub(super) before: usize,
    /// Whether lines around were asked for, be it none: then groups are set apart.
    pub(super) context: bool,
    pub(super) text: bool,
    pub(super) null: bool,
    pub(super) no_messages: bool,
    pub(super) json: bool,
}

/// What is collected over all files.
pub(super) struct Report {
    json: Option<Json>,
    /// Whether a group of context was printed before, so that `--` separates the next one.
    separated: bool,
    /// What files are read into.
    buffer: Vec<u8>,
}

impl Report {
    pub(super) fn new(json: bool) -> Self {
        let json = json.then(|| {
            let mut json = Json::default();
            json.open('[');
            json
        });
        Self { json, separated: false, buffer: Vec::new() }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        match self.json.take() {
            Some(mut json) => {
                json.close(']');
                json.finish()
            }
            None => Vec::new(),
        }
    }
}

pub(super) struct Search<'s> {
    style: &'s Style,
    matcher: &'s Matcher,
    utf8: bool,
    name: &'s [u8],
    line: u64,
    pub(super) selected: usize,
    pub(super) binary_matches: bool,
    binary: bool,
    done: bool,
    /// Lines that may become leading context: number and text.
    before: VecDeque<(u64, Vec<u8>)>,
    after_left: usize,
    /// The line behind the last that was printed.
    next: Option<u64>,
    /// The lines from there on, as many as can become trailing context: what is no text in the locale's encoding is not printed,
    /// and trailing context goes on behind what was.
    held: Vec<Vec<u8>>,
    /// Whether the last line that was selected was not printed.
    unsettled: bool,
    last_selected: u64,
    out: Vec<u8>,
    /// Where in the stream the block begins, how much of it was read, and where the last line that was wanted ends.
    base: u64,
    read: u64,
    enough_at: Option<u64>,
}

impl<'s> Search<'s> {
    /// Bytes that were read behind the last line that was wanted: somebody else's, in a file.
    pub(super) fn unused(&self) -> usize {
        self.enough_at.map_or(0, |at| usize::try_from(self.read - at).unwrap_or(0))
    }

    pub(super) fn new(style: &'s Style, matcher: &'s Matcher, utf8: bool, name: &'s [u8]) -> Self {
        Self {
            style,
            matcher,
            utf8,
            name,
            line: 0,
            selected: 0,
            binary_matches: false,
            binary: false,
            done: false,
            before: VecDeque::new(),
            after_left: 0,
            next: None,
            held: Vec::new(),
            unsettled: false,
            last_selected: 0,
            out: Vec::new(),
            base: 0,
            read: 0,
            enough_at: None,
        }
    }

    /// Searches `input`; the inner error is one of reading.
    pub(super) fn run(
        &mut self,
        input: &mut dyn Read,
        output: &mut dyn Write,
        report: &mut Report,
    ) -> io::Result<io::Result<()>> {
        // OPTIMIZATION: one buffer for all files.
        let mut buffer = std::mem::take(&mut report.buffer);
        buffer.resize(buffer.len().max(BLOCK_BYTES), 0);
        let mut filled = 0;
        self.done = self.style.maximum == Some(0);
        while !self.done {
            if filled == buffer.len() {
                buffer.resize(buffer.len() * 2, 0);
            }
            let count = match input.read(buffer.get_mut(filled..).unwrap_or_default()) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Ok(Err(error)),
            };
            let fresh = buffer.get(filled..filled + count).unwrap_or_default();
            self.binary |= !self.style.text && memchr::memchr(0, fresh).is_some();
            let newline = memchr::memrchr(b'\n', fresh).map(|at| filled + at + 1);
            filled += count;
            self.read += count as u64;
            let end = if count == 0 { filled } else { newline.unwrap_or(0) };
            self.lines(buffer.get(..end).unwrap_or_default(), report);
            output.write_all(&self.out)?;
            self.out.clear();
            if count == 0 {
                break;
            }
            buffer.copy_within(end..filled, 0);
            filled -= end;
            self.base += end as u64;
        }
        self.settle();
        report.buffer = buffer;
        self.summary(report);
        output.write_all(&self.out)?;
        self.out.clear();
        Ok(Ok(()))
    }

    fn lines(&mut self, block: &[u8], report: &mut Report) {
        let mut at = 0;
        while at < block.len() && !self.done {
            let sure;
            (at, sure) = self.skip_to_candidate(block, at);
            if at >= block.len() {
                break;
            }
            let rest = block.get(at..).unwrap_or_default();
            // In a binary file zeros end lines, too.
            let length =
                if self.binary { memchr::memchr2(b'\n', 0, rest) } else { memchr::memchr(b'\n', rest) };
            let length = length.unwrap_or(rest.len());
            let line = rest.get(..length).unwrap_or_default();
            at += length + 1;
            self.line += 1;
            // Behind the last line that is wanted there is only context.
            let full = self.style.maximum.is_some_and(|most| self.selected >= most);
            if !full && (sure || self.matcher.is_match(line) != self.style.invert) {
                self.select(line, report);
                if self.style.maximum.is_some_and(|most| self.selected >= most) {
                    self.enough_at = Some(self.base + at.min(block.len()) as u64);
                }
            } else {
                self.pass(line);
            }
        }
    }

    /// OPTIMIZATION: goes straight to the next line that may be selected, or to the first of those before it that are shown with it;
    /// whether it is surely selected. Equals passing over the lines between one by one.
    fn skip_to_candidate(&mut self, block: &[u8], at: usize) -> (usize, bool) {
        let holds = self.prints_lines() && self.held.len() < self.style.after;
        if self.style.invert || self.binary || self.after_left > 0 || holds {
            return (at, false);
        }
        let rest = block.get(at..).unwrap_or_default();
        let line_of = |place: usize| memchr::memrchr(b'\n', &rest[..place]).map_or(0, |newline| newline + 1);
        let (mut start, mut sure) = match self.matcher.candidate(rest) {
            Some((place, sure)) => (line_of(place), sure),
            None => (rest.len(), false),
        };
        for _ in 0..self.style.before {
            if start == 0 {
                break;
            }
            (start, sure) = (line_of(start - 1), false);
        }
        // Whether context is adjacent is told by the numbers of lines.
        if self.style.numbers || self.style.json || self.style.context {
            let skipped = rest.get(..start).unwrap_or_default();
            self.line += memchr::memchr_iter(b'\n', skipped).count() as u64;
        }
        (at + start, sure)
    }

    fn prints_lines(&self) -> bool {
        !self.style.count && !self.style.quiet && self.style.list.is_none()
    }

    fn select(&mut self, line: &[u8], report: &mut Report) {
        self.selected += 1;
        let enough = self.style.maximum.is_some_and(|m| self.selected >= m);
        if self.style.quiet || self.style.list.is_some() {
            self.done = true;
            return;
        }
        if !self.prints_lines() {
            self.done = enough;
            return;
        }
        if self.binary {
            report.separated |= self.style.context;
            self.binary_matches = true;
            self.done = true;
            return;
        }
        if report.json.is_some() && !self.can_be_shown(line) {
            self.done = enough;
            return;
        }
        if let Some(json) = &mut report.json {
            json.open('{');
            json.field("file", self.name);
            json.plain_field("line", self.line);
            json.field("text", line);
            json.close('}');
        } else if self.style.only_matching {
            if !self.style.invert {
                for (start, end) in self.matcher.spans(line) {
                    if !self.can_be_shown(line.get(start..end).unwrap_or_default()) {
                        break;
                    }
                    self.prefix(self.line, b':');
                    self.out.extend_from_slice(line.get(start..end).unwrap_or_default());
                    self.out.push(b'\n');
                }
            }
        } else {
            self.leading_context(report);
            self.unsettled = !self.print(self.line, line, b':');
            if self.unsettled {
                self.hold(line);
            }
            self.after_left = self.style.after;
            self.last_selected = self.line;
        }
        if enough {
            self.done = self.after_left == 0;
            if !self.done {
                // Trailing context still follows, but nothing more is selected.
                self.finish_context();
            }
        }
    }

    /// `-m` with `-A`: the external program prints trailing context and then stops.
    fn finish_context(&mut self) {
        self.done = false;
    }

    fn leading_context(&mut self, report: &mut Report) {
        // Neighbours that are selected because they do not match are one piece.
        if self.style.invert && self.last_selected + 1 == self.line && self.last_selected > 0 {
            return;
        }
        self.settle();
        let context = self.style.context;
        let first = self.line.saturating_sub(self.style.before as u64).max(self.next.unwrap_or(1));
        // Nothing is adjacent to the first lines of a file.
        if context && report.separated && self.next != Some(first) {
            self.out.extend_from_slice(b"--\n");
        }
        report.separated |= context;
        for (number, text) in std::mem::take(&mut self.before) {
            self.print(number, &text, b'-');
        }
    }

    /// Trailing context behind a line that was selected and not printed is what follows the last line that was, as far as it can
    /// be shown.
    fn settle(&mut self) {
        if !std::mem::take(&mut self.unsettled) || self.after_left == 0 {
            return;
        }
        let first = *self.next.get_or_insert(1);
        let left = std::mem::take(&mut self.after_left);
        let held = std::mem::take(&mut self.held);
        for (number, line) in (first..).zip(&held).take(left) {
            if !self.print(number, line, b'-') {
                break;
            }
        }
        let printed = usize::try_from(self.next.unwrap_or(first) - first).unwrap_or(0);
        self.held = held.into_iter().skip(printed).collect();
    }

    /// Keeps a line that was not printed.
    fn hold(&mut self, line: &[u8]) {
        if self.held.len() < self.style.after && self.prints_lines() {
            self.held.push(line.to_vec());
        }
    }

    /// A line that is not selected.
    fn pass(&mut self, line: &[u8]) {
        self.settle();
        if self.after_left > 0 {
            self.after_left -= 1;
            if !self.print(self.line, line, b'-') {
                self.after_left = 0;
                self.hold(line);
            }
            if self.after_left == 0 && self.style.maximum.is_some_and(|m| self.selected >= m) {
                self.done = true;
            }
            return;
        }
        self.hold(line);
        if self.style.before > 0 && self.prints_lines() {
            if self.before.len() == self.style.before {
                self.before.pop_front();
            }
            self.before.push_back((self.line, line.to_vec()));
        }
    }

    fn prefix(&mut self, number: u64, separator: u8) {
        if self.style.names {
            self.out.extend_from_slice(self.name);
            self.out.push(if self.style.null { 0 } else { separator });
        }
        if self.style.numbers {
            self.out.extend_from_slice(number.to_string().as_bytes());
            self.out.push(separator);
        }
    }

    /// Text is shown; what is none in the locale's encoding only makes that mentioned. (Without a multibyte encoding every byte is a
    /// character.)
    fn can_be_shown(&mut self, text: &[u8]) -> bool {
        let shown = self.style.text || !self.utf8 || std::str::from_utf8(text).is_ok();
        self.binary_matches |= !shown;
        shown
    }

    /// Whether the line could be shown.
    fn print(&mut self, number: u64, line: &[u8], separator: u8) -> bool {
        if !self.can_be_shown(line) {
            return false;
        }
        self.next = Some(number + 1);
        self.held.clear();
        self.prefix(number, separator);
        self.out.extend_from_slice(line);
        self.out.push(b'\n');
        true
    }

    /// `-c`, `-l` and `-L`.
    fn summary(&mut self, report: &mut Report) {
        if self.style.quiet || report.json.is_some() {
            return;
        }
        if let Some(list) = self.style.list {
            if (list == b'l') == (self.selected > 0) {
                self.out.extend_from_slice(self.name);
                self.out.push(if self.style.null { 0 } else { b'\n' });
            }
        } else if self.style.count {
            if self.style.names {
                self.out.extend_from_slice(self.name);
                self.out.push(if self.style.null { 0 } else { b':' });
            }
            self.out.extend_from_slice(format!("{}\n", self.selected).as_bytes());
        }
    }
}
