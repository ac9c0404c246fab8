//! `history`: the list of commands. Reading lines into it is the interactive front end's business.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use super::options::{OptionReader, parse_integer};
use crate::{Bytes, Outcome, Session};

/// The history list.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The commands, oldest first.
    pub entries: Vec<Bytes>,
    /// The number of the first entry, less one: how many were dropped.
    pub base: usize,
    /// How many entries at the end are not in the history file yet.
    pub unsaved: usize,
    /// How many lines of the history file have been read.
    pub lines_read: usize,
}

impl History {
    /// Adds a command, keeping at most `limit` entries.
    pub fn push(&mut self, entry: Bytes, limit: usize) {
        self.entries.push(entry);
        self.unsaved += 1;
        let excess = self.entries.len().saturating_sub(limit);
        self.entries.drain(..excess);
        self.base += excess;
    }
}

#[derive(Default)]
struct Request<'a> {
    clear: bool,
    delete: Option<&'a [u8]>,
    file_action: Option<u8>,
    print: bool,
    store: bool,
}

/// `history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    enforce_size(session);
    let mut request = Request::default();
    let mut options = OptionReader::new(args, "acd:npsrw");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'c' => request.clear = true,
                b'd' => request.delete = Some(found.value),
                b'p' => request.print = true,
                b's' => request.store = true,
                letter => request.file_action = Some(letter),
            },
            Err(status) => return Ok(status),
        }
    }
    let words = options.operands();
    if request.clear {
        session.builtin_state.history = Rc::default();
        return Ok(0);
    }
    if request.store {
        if !words.is_empty() {
            Rc::make_mut(&mut session.builtin_state.history).push(words.join(&b' '), usize::MAX);
        }
        return Ok(0);
    }
    if request.print {
        for word in words {
            session.write_out(&[word.as_slice(), b"\n"].concat());
        }
        return Ok(0);
    }
    if let Some(range) = request.delete {
        return Ok(delete(session, range));
    }
    match request.file_action {
        Some(action) => Ok(file(session, action, words.first())),
        None if words.len() > 1 => {
            session.builtin_error(b"history", "too many arguments");
            Ok(1)
        }
        None => Ok(list(session, words.first())),
    }
}

/// Drops the oldest entries beyond `HISTSIZE`.
fn enforce_size(session: &mut Session) {
    let size = session.get(b"HISTSIZE").and_then(|v| parse_integer(&v)).and_then(|n| usize::try_from(n).ok());
    let Some(size) = size else { return };
    let excess = session.builtin_state.history.entries.len().saturating_sub(size);
    if excess > 0 {
        let history = Rc::make_mut(&mut session.builtin_state.history);
        history.entries.drain(..excess);
        history.base += excess;
    }
}

fn list(session: &mut Session, count: Option<&Bytes>) -> i32 {
    let history = session.builtin_state.history.clone();
    let count = match count {
        None => history.entries.len(),
        Some(word) => match parse_integer(word) {
            Some(number) => usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX),
            None => {
                session.builtin_error(b"history", [word, b": numeric argument required".as_slice()].concat());
                return 1;
            }
        },
    };
    let skip = history.entries.len().saturating_sub(count);
    for (index, entry) in history.entries.iter().enumerate().skip(skip) {
        let mut line = format!("{:5}  ", history.base + index + 1).into_bytes();
        line.extend_from_slice(entry);
        line.push(b'\n');
        session.write_out(&line);
    }
    0
}

/// The index of the entry that `word` counts to, from the front or (negative) from the end.
fn entry_index(history: &History, word: &[u8]) -> Option<usize> {
    let number = parse_integer(word)?;
    let length = history.entries.len() as i64;
    let index = if number < 0 { length + number } else { number - 1 - history.base as i64 };
    (0..length).contains(&index).then_some(index as usize)
}

fn delete(session: &mut Session, range: &[u8]) -> i32 {
    let history = session.builtin_state.history.clone();
    let dash = range.iter().skip(1).position(|&b| b == b'-').map(|p| p + 1);
    let bounds = match dash {
        None => entry_index(&history, range).map(|i| (i, i)),
        Some(at) => {
            let (first, last) =
                (range.get(..at).unwrap_or_default(), range.get(at + 1..).unwrap_or_default());
            entry_index(&history, first).zip(entry_index(&history, last))
        }
    };
    match bounds {
        Some((first, last)) if first <= last => {
            Rc::make_mut(&mut session.builtin_state.history).entries.drain(first..=last);
            0
        }
        _ => {
            session.builtin_error(b"history", [range, b": history position out of range"].concat());
            1
        }
    }
}

fn file(session: &mut Session, action: u8, name: Option<&Bytes>) -> i32 {
    let name = name.cloned().or_else(|| session.get(b"HISTFILE").map(|v| v.into_owned()));
    let Some(name) = name else { return 0 };
    let path = Path::new(std::ffi::OsStr::from_bytes(&name));
    let history = Rc::make_mut(&mut session.builtin_state.history);
    let result = match action {
        b'r' | b'n' => fs::read(path).map(|text| {
            let lines: Vec<&[u8]> =
                text.strip_suffix(b"\n").unwrap_or(&text).split(|&b| b == b'\n').collect();
            let skip = if action == b'n' { history.lines_read } else { 0 };
            history.lines_read = lines.len();
            history.entries.extend(lines.into_iter().skip(skip).map(<[u8]>::to_vec));
        }),
        b'w' => fs::write(path, joined(&history.entries)),
        _ => {
            let start = history.entries.len().saturating_sub(history.unsaved);
            let text = joined(history.entries.get(start..).unwrap_or_default());
            let open = fs::OpenOptions::new().append(true).create(true).open(path);
            open.and_then(|mut file| file.write_all(&text))
        }
    };
    match result {
        Ok(()) => {
            history.unsaved = 0;
            0
        }
        Err(error) => {
            session.builtin_os_error(b"history", &name, error.raw_os_error().unwrap_or(libc::EIO));
            1
        }
    }
}

fn joined(entries: &[Bytes]) -> Bytes {
    let mut text = Bytes::new();
    for entry in entries {
        text.extend_from_slice(entry);
        text.push(b'\n');
    }
    text
}
