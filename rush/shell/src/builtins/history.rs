//! `history`: the list of commands, with their times if `HISTTIMEFORMAT` is set, and its file.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::rc::Rc;

use super::options::{OptionReader, parse_integer};
use crate::history::expansion::{self, Expansion};
use crate::history::{self, History};
use crate::state::options::Shopt;
use crate::{Bytes, Outcome, Session, Unwind, sys};

#[derive(Default)]
struct Request<'a> {
    clear: bool,
    delete: Option<&'a [u8]>,
    file_actions: Vec<u8>,
    print: bool,
    store: bool,
}

/// `history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let limit = session.history_limit(b"HISTSIZE");
    Rc::make_mut(&mut session.builtin_state.history).truncate(limit);
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
                letter if !request.file_actions.contains(&letter) => request.file_actions.push(letter),
                _ => {}
            },
            Err(status) => return Ok(status),
        }
    }
    let words = options.operands();
    if request.file_actions.len() > 1 {
        session.builtin_error(b"history", "cannot use more than one of -anrw");
        return Ok(1);
    }
    if request.clear {
        session.builtin_state.history = Rc::default();
        if words.is_empty() {
            return Ok(0);
        }
    }
    if request.store {
        if !words.is_empty() {
            store(session, &words.join(&b' '));
        }
        return Ok(0);
    }
    if request.print {
        return Ok(print(session, words));
    }
    if let Some(range) = request.delete {
        return Ok(delete(session, range));
    }
    if !request.file_actions.is_empty()
        && let Some(name) = words.first()
        && let Some(status) = session.refused_path(b"history", name)
    {
        return Ok(status);
    }
    match request.file_actions.first() {
        Some(action) => Ok(file(session, *action, words.first())),
        None if request.clear => Ok(0),
        None if words.len() > 1 && parse_integer(&words[0]).is_some() => {
            session.builtin_error(b"history", "too many arguments");
            Err(Unwind::Discard(1))
        }
        None => Ok(list(session, words.first())),
    }
}

/// `-s`: an entry in the place of the command itself.
fn store(session: &mut Session, text: &[u8]) {
    Rc::make_mut(&mut session.builtin_state.history).forget_current();
    session.remember_entry(text);
    Rc::make_mut(&mut session.builtin_state.history).holds_current = false;
}

/// `-p`: what history expansion makes of the words, without the command itself.
fn print(session: &mut Session, words: &[Bytes]) -> i32 {
    Rc::make_mut(&mut session.builtin_state.history).forget_current();
    let mut status = 0;
    for word in words {
        let line = match expansion::expand(word, &session.history_entries()) {
            Ok(Expansion::Unchanged) => word.clone(),
            Ok(Expansion::Changed(text) | Expansion::Shown(text)) => text,
            Err(_) => {
                session.builtin_error(b"history", [&word[..], b": history expansion failed"].concat());
                status = 1;
                continue;
            }
        };
        session.write_out(&[&line[..], b"\n"].concat());
    }
    status
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
    let format = session.get(b"HISTTIMEFORMAT").map(|value| value.into_owned()).unwrap_or_default();
    let skip = history.entries.len().saturating_sub(count);
    for (index, entry) in history.entries.iter().enumerate().skip(skip) {
        let mut line = format!("{:5}  ", history.base + index + 1).into_bytes();
        if !format.is_empty() {
            line.extend(sys::format_time(&format, entry.time));
        }
        line.extend_from_slice(&entry.text);
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
    let (first, last) = match dash {
        None => (range, range),
        Some(at) => (range.get(..at).unwrap_or_default(), range.get(at + 1..).unwrap_or_default()),
    };
    let bounds = [first, last].map(|word| entry_index(&history, word).ok_or(word));
    match bounds {
        [Ok(first), Ok(last)] if first <= last => {
            let holds_current = history.holds_current && last + 1 < history.entries.len();
            drop(history);
            let history = Rc::make_mut(&mut session.builtin_state.history);
            history.entries.drain(first..=last);
            history.removals += 1;
            history.holds_current = holds_current;
            history.unsaved = history.unsaved.min(history.entries.len());
            0
        }
        [Err(word), _] | [_, Err(word)] => {
            session.builtin_error(b"history", [word, b": history position out of range"].concat());
            1
        }
        _ => 1,
    }
}

fn file(session: &mut Session, action: u8, name: Option<&Bytes>) -> i32 {
    let name = name.cloned().or_else(|| session.get(b"HISTFILE").map(|v| v.into_owned()));
    let nothing_new = action == b'a' && session.builtin_state.history.unsaved == 0;
    let Some(name) = name.filter(|name| !name.is_empty()) else { return i32::from(!nothing_new) };
    let path = Path::new(std::ffi::OsStr::from_bytes(&name));
    let timed = session.times_history();
    let appends = session.shopt(Shopt::Histappend);
    let history = Rc::make_mut(&mut session.builtin_state.history);
    let result = match action {
        b'r' | b'n' => history::read(path).map(|text| {
            let skip = if action == b'n' { history.lines_read } else { 0 };
            let (entries, lines) = history::parse(&text, skip, timed, sys::now_seconds());
            history.lines_read = lines;
            // As bash: what `-n` reads counts as new, so that it is not lost if the file is written anew.
            if action == b'n' && !appends {
                history.unsaved += entries.len();
            }
            history.entries.extend(entries);
        }),
        b'w' => create(false).open(path).and_then(|mut file| {
            file.write_all(&history::format(&history.entries, timed))?;
            history.unsaved = 0;
            Ok(())
        }),
        _ => append(history, path, timed),
    };
    let limit = session.history_limit(b"HISTSIZE");
    Rc::make_mut(&mut session.builtin_state.history).truncate(limit);
    match result {
        Ok(()) => 0,
        // Only `-a`, which begins by creating the file, says why.
        Err(error) if action == b'a' => {
            let reason = sys::strerror(error.raw_os_error().unwrap_or(libc::EIO));
            session.builtin_error(b"history", [&name[..], b": cannot create: ", reason.as_bytes()].concat());
            1
        }
        Err(_) => 1,
    }
}

fn create(append: bool) -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.create(true).append(append).truncate(!append).write(true).mode(0o600);
    options
}

fn append(history: &mut History, path: &Path, timed: bool) -> std::io::Result<()> {
    if history.unsaved == 0 {
        return Ok(());
    }
    let start = history.entries.len().saturating_sub(history.unsaved);
    let text = history::format(history.entries.get(start..).unwrap_or_default(), timed);
    create(true).open(path)?.write_all(&text)?;
    history.lines_read += text.iter().filter(|byte| **byte == b'\n').count();
    history.unsaved = 0;
    Ok(())
}
