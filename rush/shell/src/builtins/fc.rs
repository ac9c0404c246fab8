//! `fc`: shows commands of the history, or runs them again, edited or with a substitution.

use std::io::Write;

use super::history::History;
use super::options::{OptionReader, parse_integer};
use crate::{Bytes, Outcome, Session, quote};

/// How many commands `fc -l` shows by default.
const DEFAULT_COUNT: usize = 16;

#[derive(Default)]
struct Request<'a> {
    editor: Option<&'a [u8]>,
    list: bool,
    without_numbers: bool,
    reverse: bool,
    substitute: bool,
}

/// `fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut request = Request::default();
    let negative =
        |w: &Bytes| w.len() > 1 && w.first() == Some(&b'-') && w.iter().skip(1).all(u8::is_ascii_digit);
    let end = args.iter().skip(1).position(negative).map_or(args.len(), |p| p + 1);
    let mut options = OptionReader::new(args.get(..end).unwrap_or(args), "e:lnrs");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'e' => request.editor = Some(found.value),
                b'l' => request.list = true,
                b'n' => request.without_numbers = true,
                b'r' => request.reverse = true,
                _ => request.substitute = true,
            },
            Err(status) => return Ok(status),
        }
    }
    let mut words = options.operands().to_vec();
    words.extend_from_slice(args.get(end..).unwrap_or_default());
    if request.substitute || request.editor == Some(b"-") {
        return again(session, &words);
    }
    if request.list {
        return Ok(list(session, &request, &words));
    }
    edit(session, &request, &words)
}

/// The index of the command that `word` names: a number, an offset from the end, or how it begins.
fn find(history: &History, word: &[u8]) -> Option<usize> {
    let length = history.entries.len();
    match parse_integer(word) {
        Some(number) if number < 0 => Some(length.saturating_sub(number.unsigned_abs() as usize)),
        Some(number) => {
            let index = usize::try_from(number).ok()?.checked_sub(history.base + 1)?;
            Some(index.min(length.saturating_sub(1)))
        }
        None => history.entries.iter().rposition(|e| e.starts_with(word)),
    }
}

fn not_found(session: &mut Session) -> i32 {
    session.builtin_error(b"fc", "no command found");
    1
}

fn range(session: &mut Session, words: &[Bytes], count: usize) -> Option<(usize, usize)> {
    let history = session.builtin_state.history.clone();
    let last = history.entries.len().saturating_sub(1);
    let first = match words.first() {
        Some(word) => find(&history, word)?,
        None => history.entries.len().saturating_sub(count),
    };
    let end = match words.get(1) {
        Some(word) => find(&history, word)?,
        None if count > 1 => last,
        None => first,
    };
    Some((first, end))
}

fn list(session: &mut Session, request: &Request<'_>, words: &[Bytes]) -> i32 {
    let history = session.builtin_state.history.clone();
    if history.entries.is_empty() {
        return 0;
    }
    let Some((first, last)) = range(session, words, DEFAULT_COUNT) else { return not_found(session) };
    let mut indices: Vec<usize> = (first.min(last)..=first.max(last)).collect();
    if (first > last) != request.reverse {
        indices.reverse();
    }
    for index in indices {
        let Some(entry) = history.entries.get(index) else { continue };
        let number =
            if request.without_numbers { String::new() } else { (history.base + index + 1).to_string() };
        session.write_out(&[number.as_bytes(), b"\t ", entry, b"\n"].concat());
    }
    0
}

/// `fc -s`: runs a command again, with a substitution.
fn again(session: &mut Session, words: &[Bytes]) -> Outcome {
    let equals = |w: &Bytes| w.iter().position(|&b| b == b'=');
    let (substitution, rest) = match words.split_first() {
        Some((word, rest)) if equals(word).is_some() => (Some(word.clone()), rest),
        _ => (None, words),
    };
    let history = session.builtin_state.history.clone();
    let index = match rest.first() {
        Some(word) => find(&history, word),
        None => history.entries.len().checked_sub(1),
    };
    let Some(mut command) = index.and_then(|i| history.entries.get(i)).cloned() else {
        return Ok(not_found(session));
    };
    if let Some(word) = substitution {
        let at = equals(&word).unwrap_or(0);
        let (old, new) = (word.get(..at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default());
        command = replace_all(&command, old, new);
    }
    session.write_err(&[command.as_slice(), b"\n"].concat());
    session.evaluate_command(&command)
}

fn replace_all(text: &[u8], old: &[u8], new: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut rest = text;
    while !old.is_empty() {
        let Some(at) = memchr::memmem::find(rest, old) else { break };
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(new);
        rest = rest.get(at + old.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// Opens commands in an editor and runs what it leaves.
fn edit(session: &mut Session, request: &Request<'_>, words: &[Bytes]) -> Outcome {
    let history = session.builtin_state.history.clone();
    let Some((first, last)) = range(session, words, 1).filter(|_| !history.entries.is_empty()) else {
        return Ok(not_found(session));
    };
    let variable = |session: &mut Session, name: &[u8]| session.get(name).map(|v| v.into_owned());
    let editor = request
        .editor
        .map(<[u8]>::to_vec)
        .or_else(|| variable(session, b"FCEDIT"))
        .or_else(|| variable(session, b"EDITOR"))
        .unwrap_or_else(|| b"vi".to_vec());
    let path = std::env::temp_dir().join(format!("rush-fc.{}", session.pid));
    let entries = history.entries.get(first.min(last)..=first.max(last)).unwrap_or_default();
    let text = [entries.join(&b'\n'), b"\n".to_vec()].concat();
    // A new file of our own: never one that somebody else has put there.
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    if let Err(error) = created.and_then(|mut file| file.write_all(&text)) {
        session.builtin_error(b"fc", format!("cannot create a temporary file: {error}"));
        return Ok(1);
    }
    let quoted = quote::single_quote(path.as_os_str().as_encoded_bytes());
    let status = session.evaluate_command(&[editor.as_slice(), b" ", &quoted].concat());
    let edited = std::fs::read(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    if status? != 0 {
        return Ok(1);
    }
    session.write_err(&edited);
    session.evaluate_command(&edited)
}
