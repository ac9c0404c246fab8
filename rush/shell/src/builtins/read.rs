//! `read`: reads a line, or a number of characters, and splits it into variables.
//!
//! Reads ahead only where the bytes can be put back, so that a command run next finds the rest.

use std::os::fd::RawFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::assign::{assign_reference, is_reference, not_an_identifier, settle};
use super::options::{OptionReader, parse_integer};
use crate::expand::fields::Separators;
use crate::state::descriptors::OpenFile;
use crate::state::names::is_name;
use crate::sys::{self, resource};
use crate::{Bytes, Outcome, Session, Status};

/// Read-ahead where bytes can be put back.
const CHUNK_BYTES: usize = 512;
/// The status of a time-out: 128 + SIGALRM.
const TIMED_OUT: Status = 142;

struct Request {
    array: Option<Bytes>,
    delimiter: u8,
    /// At most this many characters (`-n`), or exactly (`-N`).
    count: Option<usize>,
    exact: bool,
    raw: bool,
    silent: bool,
    prompt: Option<Bytes>,
    timeout: Option<Duration>,
    descriptor: usize,
    initial: Bytes,
}

/// `read [-Eers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (request, names) = match parse(session, args) {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    if let Some(bad) = names.iter().find(|n| !is_reference(n)) {
        session.builtin_error(b"read", not_an_identifier(bad));
        return Ok(1);
    }
    let Some(file) = session.descriptors.get(request.descriptor) else {
        let text = format!("{}: invalid file descriptor: {}", request.descriptor, sys::strerror(libc::EBADF));
        session.builtin_error(b"read", text);
        return Ok(1);
    };
    let descriptor = file.os_descriptor();
    if request.timeout == Some(Duration::ZERO) {
        let ready = descriptor.is_none_or(|fd| resource::wait_readable(fd, request.timeout).unwrap_or(false));
        return Ok(i32::from(!ready));
    }
    let _modes = terminal_modes(session, &request, descriptor);
    let mut reader = LineReader {
        request: &request,
        file,
        descriptor,
        line: Line::default(),
        escaping: false,
        counted: Counted::default(),
        started: request.timeout.map(|_| Instant::now()),
    };
    let end = reader.read(session);
    let LineReader { line, .. } = reader;
    let status = match end {
        End::Delimiter => 0,
        End::Input => 1,
        End::TimedOut => TIMED_OUT,
        End::Interrupted(unwind) => return Err(unwind),
        End::Error(error) => {
            session.builtin_error(
                b"read",
                format!("read error: {}: {}", request.descriptor, sys::strerror(error)),
            );
            1
        }
    };
    let assigned = if let Some(array) = &request.array {
        let separators = session.separators();
        // An exact number of characters is not split.
        let fields = if request.exact { vec![line.text.clone()] } else { split_all(&line, &separators) };
        let result = session.set_array(array, fields);
        settle(session, result)?
    } else {
        assign_fields(session, &request, names, &line)?
    };
    Ok(if assigned { status } else { 1 })
}

fn parse<'a>(session: &mut Session, args: &'a [Bytes]) -> Result<(Request, &'a [Bytes]), Status> {
    let mut request = Request {
        array: None,
        delimiter: b'\n',
        count: None,
        exact: false,
        raw: false,
        silent: false,
        prompt: None,
        timeout: None,
        descriptor: 0,
        initial: Bytes::new(),
    };
    let mut timed = false;
    let mut options = OptionReader::new(args, "eErsa:d:i:n:N:p:t:u:");
    while let Some(found) = options.next(session)? {
        let invalid = |session: &mut Session, what: &str| {
            session.builtin_error(b"read", [found.value, b": ".as_slice(), what.as_bytes()].concat());
            Err(1)
        };
        match found.letter {
            b'r' => request.raw = true,
            b's' => request.silent = true,
            b'a' if !is_name(found.value) => {
                session.builtin_error(b"read", not_an_identifier(found.value));
                return Err(1);
            }
            b'a' => request.array = Some(found.value.to_vec()),
            b'd' => request.delimiter = found.value.first().copied().unwrap_or(0),
            b'i' => request.initial = found.value.to_vec(),
            b'p' => request.prompt = Some(found.value.to_vec()),
            b'n' | b'N' => match parse_integer(found.value).and_then(|n| usize::try_from(n).ok()) {
                Some(count) => {
                    request.count = Some(count);
                    request.exact = found.letter == b'N';
                }
                None => return invalid(session, "invalid number"),
            },
            b't' => match parse_timeout(found.value) {
                Some(timeout) => {
                    request.timeout = Some(timeout);
                    timed = true;
                }
                None => return invalid(session, "invalid timeout specification"),
            },
            b'u' => match parse_integer(found.value).and_then(|n| usize::try_from(n).ok()) {
                Some(number) => request.descriptor = number,
                None => return invalid(session, "invalid file descriptor specification"),
            },
            _ => {}
        }
    }
    if !timed {
        request.timeout = default_timeout(session, request.descriptor);
    }
    Ok((request, options.operands()))
}

/// TMOUT, for what is no regular file.
fn default_timeout(session: &mut Session, number: usize) -> Option<Duration> {
    let timeout = parse_timeout(&session.get(b"TMOUT")?).filter(|timeout| !timeout.is_zero())?;
    let file = session.descriptors.get(number)?;
    let regular = file.os_descriptor().is_none_or(|fd| sys::regular_file(fd).is_some());
    (!regular).then_some(timeout)
}

fn parse_timeout(text: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(text).ok()?;
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let seconds: f64 = plain.then(|| text.parse().ok())??;
    Duration::try_from_secs_f64(seconds).ok()
}

fn terminal_modes(
    session: &mut Session,
    request: &Request,
    descriptor: Option<RawFd>,
) -> Option<resource::TerminalModes> {
    let fd = descriptor.filter(|&fd| resource::is_terminal(fd))?;
    if let Some(prompt) = &request.prompt {
        session.write_err(prompt);
    }
    let characters = request.count.is_some() || request.delimiter != b'\n';
    if !request.silent && !characters {
        return None;
    }
    resource::TerminalModes::change(fd, request.silent, characters)
}

/// Why reading stopped.
enum End {
    Delimiter,
    Input,
    TimedOut,
    Interrupted(crate::Unwind),
    Error(i32),
}

/// What was read, and where a backslash protected a byte of it.
#[derive(Default)]
struct Line {
    text: Bytes,
    /// Positions, ascending.
    escaped: Vec<usize>,
}

impl Line {
    fn is_escaped(&self, at: usize) -> bool {
        !self.escaped.is_empty() && self.escaped.binary_search(&at).is_ok()
    }

    /// Adds `text`; the shell's strings hold no NUL.
    fn push(&mut self, text: &[u8]) {
        if memchr::memchr(0, text).is_none() {
            self.text.extend_from_slice(text);
        } else {
            self.text.extend(text.iter().filter(|b| **b != 0));
        }
    }
}

/// How many characters the line has, kept up to date as bytes come.
#[derive(Default)]
struct Counted {
    characters: usize,
    /// The bytes they take; what follows is not complete yet.
    bytes: usize,
}

struct LineReader<'r> {
    request: &'r Request,
    file: Rc<OpenFile>,
    descriptor: Option<RawFd>,
    line: Line,
    /// Whether the last byte was an active backslash.
    escaping: bool,
    counted: Counted,
    started: Option<Instant>,
}

impl LineReader<'_> {
    fn read(&mut self, session: &mut Session) -> End {
        if self.request.count == Some(0) {
            return End::Delimiter;
        }
        let seekable = self.request.timeout.is_none() && self.file.can_unread();
        let mut buffer = [0u8; CHUNK_BYTES];
        loop {
            let window = if seekable { CHUNK_BYTES } else { 1 };
            if session.is_given_up()
                && let Err(unwind) = session.interrupted()
            {
                return End::Interrupted(unwind);
            }
            if let (Some(timeout), Some(fd), Some(started)) =
                (self.request.timeout, self.descriptor, self.started)
            {
                let left = timeout.saturating_sub(started.elapsed());
                match resource::wait_readable(fd, Some(left)) {
                    Ok(true) => {}
                    Ok(false) => return End::TimedOut,
                    Err(libc::EINTR) => match session.interrupted() {
                        Ok(()) => continue,
                        Err(unwind) => return End::Interrupted(unwind),
                    },
                    Err(error) => return End::Error(error),
                }
            }
            let ahead = if seekable { session.read_ahead_of(&self.file) } else { Ok(()) };
            let read = ahead.and_then(|()| self.file.read(buffer.get_mut(..window).unwrap_or_default()));
            let count = match read {
                Ok(0) => return End::Input,
                Ok(count) => count,
                Err(libc::EINTR) => match session.interrupted() {
                    Ok(()) => continue,
                    Err(unwind) => return End::Interrupted(unwind),
                },
                Err(error) => return End::Error(error),
            };
            let bytes = buffer.get(..count).unwrap_or_default();
            if let Some(used) = self.take(bytes) {
                if used < count {
                    self.file.unread(count - used);
                }
                return End::Delimiter;
            }
        }
    }

    /// Takes bytes until the line is complete; the number used, or `None` if more are needed.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.request.count.is_none() && !self.escaping {
                let rest = bytes.get(at..).unwrap_or_default();
                let plain = self.plain_length(rest);
                self.line.push(rest.get(..plain).unwrap_or_default());
                at += plain;
                if plain > 0 {
                    continue;
                }
            }
            at += 1;
            if self.escaping {
                self.escaping = false;
                if byte == b'\n' {
                    continue;
                }
                self.line.escaped.push(self.line.text.len());
                self.line.push(&[byte]);
            } else if byte == b'\\' && !self.request.raw {
                self.escaping = true;
                continue;
            } else if byte == self.request.delimiter && !self.request.exact {
                return Some(at);
            } else {
                self.line.push(&[byte]);
            }
            if self.request.count.is_some_and(|count| self.characters() >= count) {
                return Some(at);
            }
        }
        None
    }

    /// How many bytes of `rest` stand for themselves.
    fn plain_length(&self, rest: &[u8]) -> usize {
        let delimiter = self.request.delimiter;
        let stop = match (self.request.raw, self.request.exact) {
            (true, true) => None,
            (true, false) => memchr::memchr(delimiter, rest),
            (false, true) => memchr::memchr(b'\\', rest),
            (false, false) => memchr::memchr2(delimiter, b'\\', rest),
        };
        stop.unwrap_or(rest.len())
    }

    /// Complete characters read so far.
    fn characters(&mut self) -> usize {
        let text = &self.line.text;
        let Counted { characters, bytes } = &mut self.counted;
        while *bytes < text.len() {
            let expected = match text.get(*bytes) {
                Some(0xC2..=0xDF) => 2,
                Some(0xE0..=0xEF) => 3,
                Some(0xF0..=0xF4) => 4,
                _ => 1,
            };
            let (_, length) = crate::pattern::character_at(text, *bytes);
            let rest = text.get(*bytes..).unwrap_or_default();
            if length == 1 && expected > rest.len() && rest.iter().skip(1).all(|b| b & 0xC0 == 0x80) {
                break;
            }
            *bytes += length.max(1);
            *characters += 1;
        }
        *characters
    }
}

fn assign_fields(
    session: &mut Session,
    request: &Request,
    names: &[Bytes],
    line: &Line,
) -> Result<bool, crate::Unwind> {
    if names.is_empty() {
        return assign_reference(session, b"read", b"REPLY", line.text.clone());
    }
    let separators = session.separators();
    let mut cursor = Cursor { line, at: 0, separators: &separators };
    let mut assigned = true;
    let Some((last, first)) = names.split_last() else { return Ok(true) };
    if request.exact {
        let mut text = line.text.clone();
        for name in names {
            assigned &= assign_reference(session, b"read", name, std::mem::take(&mut text))?;
        }
        return Ok(assigned);
    }
    cursor.skip_white();
    for name in first {
        let field = cursor.field().unwrap_or_default();
        assigned &= assign_reference(session, b"read", name, field)?;
    }
    let rest = cursor.rest();
    Ok(assign_reference(session, b"read", last, rest)? && assigned)
}

struct Cursor<'l> {
    line: &'l Line,
    at: usize,
    separators: &'l Separators,
}

impl Cursor<'_> {
    fn is_white(&self, at: usize) -> bool {
        self.line.text.get(at).is_some_and(|&b| self.separators.is_white(b)) && !self.line.is_escaped(at)
    }

    /// The length of the separator at a position, 0 if there is none.
    fn separator_at(&self, at: usize) -> usize {
        if self.line.is_escaped(at) {
            return 0;
        }
        self.line.text.get(at..).map_or(0, |rest| self.separators.length_at(rest))
    }

    fn at_end(&self) -> bool {
        self.at >= self.line.text.len()
    }

    fn text(&self, start: usize, end: usize) -> Bytes {
        self.line.text.get(start..end).unwrap_or_default().to_vec()
    }

    fn skip_white(&mut self) {
        while self.is_white(self.at) {
            self.at += 1;
        }
    }

    /// Passes over the next field and the separators behind it; where the field ends.
    fn skip_field(&mut self) -> usize {
        while !self.at_end() && self.separator_at(self.at) == 0 {
            self.at += 1;
        }
        let end = self.at;
        self.skip_white();
        let length = self.separator_at(self.at);
        if length > 0 {
            self.at += length;
            self.skip_white();
        }
        end
    }

    /// The next field; the separators behind it are passed over.
    fn field(&mut self) -> Option<Bytes> {
        if self.at_end() {
            return None;
        }
        let start = self.at;
        let end = self.skip_field();
        Some(self.text(start, end))
    }

    /// What is left for the last variable: one field if that is all, otherwise the text itself.
    fn rest(&mut self) -> Bytes {
        let start = self.at;
        let mut end = self.skip_field();
        if !self.at_end() {
            end = self.line.text.len();
            while end > start && self.is_white(end - 1) {
                end -= 1;
            }
        }
        self.text(start, end)
    }
}

fn split_all(line: &Line, separators: &Separators) -> Vec<Bytes> {
    let mut cursor = Cursor { line, at: 0, separators };
    cursor.skip_white();
    let mut fields = Vec::new();
    while let Some(field) = cursor.field() {
        fields.push(field);
    }
    fields
}
