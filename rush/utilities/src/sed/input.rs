//! The files that are edited, line by line.

use std::fs::File;
use std::io::{self, Read};

use crate::Context;
use crate::context::reason;
use crate::limits::BLOCK_BYTES;

enum Source {
    None,
    Standard,
    File(File),
}

/// What reading found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, which had its end or not.
    Read { ended: bool },
    /// This file has no more, and the next counts for itself.
    EndOfFile,
    /// Nothing has more.
    End,
}

pub(super) struct Input {
    files: std::vec::IntoIter<Vec<u8>>,
    source: Source,
    buffer: Vec<u8>,
    /// What of the buffer was not used yet.
    start: usize,
    end: u8,
    separate: bool,
    in_place: bool,
    /// The name of the file that is open.
    pub(super) name: Vec<u8>,
    /// Where the file is that is open, if it is edited.
    pub(super) edited: Option<File>,
    pub(super) status: i32,
    /// A file of this name was opened since somebody asked.
    pub(super) opened: bool,
}

impl Input {
    pub(super) fn new(files: Vec<Vec<u8>>, end: u8, separate: bool, in_place: bool) -> Self {
        Self {
            files: files.into_iter(),
            source: Source::None,
            buffer: Vec::new(),
            start: 0,
            end,
            separate,
            in_place,
            name: b"-".to_vec(),
            edited: None,
            status: 0,
            opened: false,
        }
    }

    /// Opens the next file that can be; false if there is none.
    fn open(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        for name in self.files.by_ref() {
            context.poll()?;
            if name == b"-" {
                self.source = Source::Standard;
                self.name = name;
                self.opened = true;
                return Ok(true);
            }
            let path = context.path(&name).into_owned();
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) => {
                    self.status = 2;
                    context.complain(&[b"can't read ", &name, b": ", reason(&error).as_bytes()]);
                    continue;
                }
            };
            if self.in_place {
                if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                    self.status = 4;
                    context.complain(&[b"couldn't edit ", &name, b": not a regular file"]);
                    continue;
                }
                self.edited = Some(file.try_clone()?);
            }
            self.source = Source::File(file);
            self.name = name;
            self.opened = true;
            return Ok(true);
        }
        Ok(false)
    }

    /// Reads more of the open file; false at its end.
    fn fill(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let old = self.buffer.len();
        self.buffer.resize(old + BLOCK_BYTES, 0);
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
        match result {
            Ok(count) => Ok(count > 0),
            Err(error) => {
                context.poll()?;
                let name = if matches!(self.source, Source::Standard) { b"stdin" } else { &self.name[..] };
                let name = name.to_vec();
                let verb: &[u8] = if error.kind() == io::ErrorKind::IsADirectory {
                    b"couldn't read "
                } else {
                    b"read error on "
                };
                let verb = if verb == b"couldn't read " { b"read error on ".as_slice() } else { verb };
                context.complain(&[verb, &name, b": ", reason(&error).as_bytes()]);
                self.status = 4;
                Err(io::Error::other(Ended))
            }
        }
    }

    /// The next line, appended to `line` without its end.
    pub(super) fn read(&mut self, context: &mut Context<'_>, line: &mut Vec<u8>) -> io::Result<Line> {
        let mut searched = 0;
        loop {
            if matches!(self.source, Source::None) && !self.open(context)? {
                return Ok(Line::End);
            }
            let rest = self.buffer.get(self.start..).unwrap_or_default();
            if let Some(at) = memchr::memchr(self.end, rest.get(searched..).unwrap_or_default()) {
                let length = searched + at;
                line.extend_from_slice(rest.get(..length).unwrap_or_default());
                self.start += length + 1;
                return Ok(Line::Read { ended: true });
            }
            searched = rest.len();
            if self.fill(context)? {
                continue;
            }
            let rest = self.buffer.get(self.start..).unwrap_or_default();
            let partial = !rest.is_empty();
            line.extend_from_slice(rest);
            self.start = self.buffer.len();
            if partial {
                return Ok(Line::Read { ended: false });
            }
            self.source = Source::None;
            searched = 0;
            if self.separate {
                return Ok(Line::EndOfFile);
            }
        }
    }

    /// Whether there is no further line (in this file, where files are separate).
    pub(super) fn at_end(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        loop {
            if self.start < self.buffer.len() {
                return Ok(false);
            }
            if !matches!(self.source, Source::None) {
                if self.fill(context)? {
                    return Ok(false);
                }
                if self.separate {
                    return Ok(true);
                }
                self.source = Source::None;
            }
            if self.separate || !self.open(context)? {
                return Ok(true);
            }
        }
    }

    /// Gives back what was read of standard input and not used.
    pub(super) fn give_back(&mut self, context: &mut Context<'_>) {
        let unused = self.buffer.len() - self.start;
        if unused > 0 && matches!(self.source, Source::Standard) {
            context.input.unread(unused);
        }
    }
}

/// What ends everything after its message.
#[derive(Debug)]
pub(super) struct Ended;

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ended")
    }
}

impl std::error::Error for Ended {}
