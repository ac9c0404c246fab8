//! What records are read from, and how they are told apart.

use std::fs::File;
use std::io::{self, Read};

use crate::Context;
use crate::limits::{AWK_RECORD_BYTES_MAX, BLOCK_BYTES};
use crate::posix::Pattern;

/// What ends a record.
pub(super) enum End {
    Byte(u8),
    /// Empty lines.
    Paragraph,
    Pattern(Box<Pattern>),
}

enum Source {
    Standard,
    File(File),
    None,
}

/// An open input.
pub(super) struct Reader {
    source: Source,
    buffer: Vec<u8>,
    start: usize,
    ended: bool,
}

impl Reader {
    pub(super) fn standard() -> Reader {
        Reader { source: Source::Standard, buffer: Vec::new(), start: 0, ended: false }
    }

    pub(super) fn file(file: File) -> Reader {
        Reader { source: Source::File(file), buffer: Vec::new(), start: 0, ended: false }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Reads more; false at the end.
    fn fill(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let old = self.buffer.len();
        if old > AWK_RECORD_BYTES_MAX {
            return Err(io::Error::other("a record is too long"));
        }
        self.buffer.resize(old + BLOCK_BYTES.max(old.min(16 << 20)), 0);
        let free = self.buffer.get_mut(old..).unwrap_or_default();
        let result = loop {
            let result = match &self.source {
                Source::None => Ok(0),
                Source::Standard => context.input.read(free),
                Source::File(file) => context.polled(file).read(free),
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        self.buffer.truncate(old + result.as_ref().copied().unwrap_or(0));
        let count = result?;
        if count == 0 {
            self.ended = true;
            self.source = Source::None;
        }
        Ok(count > 0)
    }

    /// The next record, appended to `out`; false if there is none.
    pub(super) fn read(
        &mut self,
        context: &mut Context<'_>,
        end: &mut End,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        match end {
            End::Byte(byte) => self.read_to(context, *byte, out),
            End::Paragraph => self.read_paragraph(context, out),
            End::Pattern(pattern) => self.read_to_pattern(context, pattern, out),
        }
    }

    fn take(&mut self, length: usize, skip: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.rest().get(..length).unwrap_or_default());
        self.start = (self.start + length + skip).min(self.buffer.len());
    }

    fn read_to(&mut self, context: &mut Context<'_>, byte: u8, out: &mut Vec<u8>) -> io::Result<bool> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memchr(byte, self.rest().get(searched..).unwrap_or_default()) {
                self.take(searched + at, 1, out);
                return Ok(true);
            }
            searched = self.rest().len();
            if !self.fill(context)? {
                let any = searched > 0;
                self.take(searched, 0, out);
                return Ok(any);
            }
        }
    }

    fn read_paragraph(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let blank = self.rest().iter().take_while(|c| **c == b'\n').count();
            self.start += blank;
            if !self.rest().is_empty() {
                break;
            }
            if !self.fill(context)? {
                return Ok(false);
            }
        }
        let mut searched = 0;
        loop {
            let rest = self.rest();
            if let Some(at) = memchr::memmem::find(rest.get(searched..).unwrap_or_default(), b"\n\n") {
                self.take(searched + at, 2, out);
                return Ok(true);
            }
            searched = rest.len().saturating_sub(1);
            if !self.fill(context)? {
                let rest = self.rest();
                let newline = usize::from(rest.last() == Some(&b'\n'));
                let length = rest.len() - newline;
                self.take(length, newline, out);
                return Ok(true);
            }
        }
    }

    fn read_to_pattern(
        &mut self,
        context: &mut Context<'_>,
        pattern: &mut Pattern,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        if self.rest().is_empty() && !self.fill(context)? {
            return Ok(false);
        }
        loop {
            let rest = self.buffer.get(self.start..).unwrap_or_default();
            let mut from = 0;
            let found = loop {
                match pattern.find(rest, from) {
                    // What matches nothing ends nothing.
                    Some((start, end)) if start == end && end < rest.len() => from = end + 1,
                    found => break found.filter(|(start, end)| start != end),
                }
            };
            if let Some((start, end)) = found
                && (end < rest.len() || self.ended)
            {
                self.take(start, end - start, out);
                return Ok(true);
            }
            // More may be read, and a match at the end may become longer.
            if !self.fill(context)? {
                match found {
                    Some((start, end)) => self.take(start, end - start, out),
                    None => {
                        let length = self.rest().len();
                        self.take(length, 0, out);
                    }
                }
                return Ok(true);
            }
        }
    }
}
