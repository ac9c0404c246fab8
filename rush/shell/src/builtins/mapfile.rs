//! `mapfile` and `readarray`: read lines into an indexed array.

use std::rc::Rc;

use super::assign::{not_an_identifier, settle};
use super::options::{OptionReader, parse_integer};
use crate::expand::Index;
use crate::state::descriptors::OpenFile;
use crate::state::names::is_name;
use crate::state::value::{Value, decimal};
use crate::{Bytes, Outcome, Session, Status, limits, quote, sys};

struct Request {
    delimiter: u8,
    count: usize,
    origin: Option<i64>,
    skip: usize,
    trim: bool,
    descriptor: usize,
    callback: Option<Bytes>,
    quantum: usize,
    array: Bytes,
}

/// `mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let name = args.first().map_or(b"mapfile".as_slice(), Vec::as_slice).to_vec();
    let request = match parse(session, args, &name) {
        Ok(request) => request,
        Err(status) => return Ok(status),
    };
    let Some(file) = session.descriptors.get(request.descriptor) else {
        let text = format!("{}: invalid file descriptor: {}", request.descriptor, sys::strerror(libc::EBADF));
        session.builtin_error(&name, text);
        return Ok(1);
    };
    let id = session.variables.intern(&request.array);
    if matches!(session.value(id), Value::Associative(_)) {
        session.builtin_error(&name, [request.array.as_slice(), b": not an indexed array"].concat());
        return Ok(1);
    }
    let mut lines = Lines { file, pending: Bytes::new(), at: 0, ended: false };
    if request.origin.is_none() && request.callback.is_none() {
        let mut values = Vec::new();
        let mut skip = request.skip;
        while request.count == 0 || values.len() < request.count {
            let Some(line) = lines.next(&request) else { break };
            if skip > 0 {
                skip -= 1;
                continue;
            }
            values.push(line);
        }
        lines.put_back();
        let result = session.set_array(&request.array, values);
        return Ok(i32::from(!settle(session, result)?));
    }
    store_each(session, &request, &mut lines)
}

fn parse(session: &mut Session, args: &[Bytes], name: &[u8]) -> Result<Request, Status> {
    let mut request = Request {
        delimiter: b'\n',
        count: 0,
        origin: None,
        skip: 0,
        trim: false,
        descriptor: 0,
        callback: None,
        quantum: 5_000,
        array: b"MAPFILE".to_vec(),
    };
    let mut options = OptionReader::new(args, "d:n:O:s:tu:C:c:");
    while let Some(found) = options.next(session)? {
        let number = parse_integer(found.value).filter(|n| *n >= 0);
        let problem = match (found.letter, number) {
            (b't', _) => {
                request.trim = true;
                continue;
            }
            (b'd', _) => {
                request.delimiter = found.value.first().copied().unwrap_or(0);
                continue;
            }
            (b'C', _) => {
                request.callback = Some(found.value.to_vec());
                continue;
            }
            (b'n', Some(n)) => {
                request.count = n as usize;
                continue;
            }
            (b'O', Some(n)) => {
                request.origin = Some(n);
                continue;
            }
            (b's', Some(n)) => {
                request.skip = n as usize;
                continue;
            }
            (b'u', Some(n)) => {
                request.descriptor = n as usize;
                continue;
            }
            (b'c', Some(n)) if n > 0 => {
                request.quantum = n as usize;
                continue;
            }
            (b'O', None) => "invalid array origin",
            (b'u', None) => "invalid file descriptor specification",
            (b'c', _) => "invalid callback quantum",
            _ => "invalid line count",
        };
        session.builtin_error(name, [found.value, b": ".as_slice(), problem.as_bytes()].concat());
        return Err(1);
    }
    if let Some(array) = options.operands().first() {
        if array.is_empty() {
            session.builtin_error(name, "empty array variable name");
            return Err(2);
        }
        if !is_name(array) {
            session.builtin_error(name, not_an_identifier(array));
            return Err(1);
        }
        request.array.clone_from(array);
    }
    Ok(request)
}

fn store_each(session: &mut Session, request: &Request, lines: &mut Lines) -> Outcome {
    let mut index = request.origin.unwrap_or(0);
    if request.origin.is_none() {
        let result = session.set_array(&request.array, Vec::new());
        if !settle(session, result)? {
            return Ok(1);
        }
    }
    let id = session.variables.intern(&request.array);
    let mut skip = request.skip;
    let mut stored = 0usize;
    while request.count == 0 || stored < request.count {
        let Some(line) = lines.next(request) else { break };
        if skip > 0 {
            skip -= 1;
            continue;
        }
        stored += 1;
        if let Some(callback) = &request.callback
            && stored.is_multiple_of(request.quantum)
        {
            let command =
                [callback, b" ".as_slice(), &decimal(index), b" ", &quote::reusable(&line)].concat();
            session.evaluate_command(&command)?;
        }
        let result = session.assign(id, Some(Index::Number(index)), line, false);
        if !settle(session, result)? {
            return Ok(1);
        }
        index += 1;
    }
    lines.put_back();
    Ok(0)
}

struct Lines {
    file: Rc<OpenFile>,
    pending: Bytes,
    at: usize,
    ended: bool,
}

impl Lines {
    fn next(&mut self, request: &Request) -> Option<Bytes> {
        let mut searched = 0;
        loop {
            let rest = self.pending.get(self.at..).unwrap_or_default();
            if let Some(found) = memchr::memchr(request.delimiter, rest.get(searched..).unwrap_or_default()) {
                let end = searched + found;
                let length = if request.trim { end } else { end + 1 };
                let line = rest.get(..length).unwrap_or_default().to_vec();
                self.at += end + 1;
                return Some(strip_nul(line));
            }
            searched = rest.len();
            if self.ended {
                let line = rest.to_vec();
                self.at = self.pending.len();
                return (!line.is_empty()).then(|| strip_nul(line));
            }
            self.pending.drain(..self.at);
            self.at = 0;
            // Where nothing can be put back, no more than asked for may be read.
            let bounded = request.count > 0 && !self.file.can_unread();
            let window = if bounded { 1 } else { limits::READ_CHUNK_BYTES };
            let start = self.pending.len();
            self.pending.resize(start + window, 0);
            let count = loop {
                if sys::fatal_pending().is_some() {
                    break 0;
                }
                match self.file.read(self.pending.get_mut(start..).unwrap_or_default()) {
                    Err(libc::EINTR) => {}
                    other => break other.unwrap_or(0),
                }
            };
            self.pending.truncate(start + count);
            self.ended = count == 0;
        }
    }

    /// Gives unused input back for the next reader.
    fn put_back(&mut self) {
        let unused = self.pending.len() - self.at;
        if unused > 0 && self.file.can_unread() {
            self.file.unread(unused);
        }
    }
}

/// A line ends at a NUL, as a C string does.
fn strip_nul(mut line: Bytes) -> Bytes {
    if let Some(end) = memchr::memchr(0, &line) {
        line.truncate(end);
    }
    line
}
