//! `fc`: shows commands of the history, or runs them again, edited or with a substitution.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::rc::Rc;

use super::options::{OptionReader, parse_integer};
use crate::history::History;
use crate::{Bytes, Outcome, Session, Unwind, quote};

/// How many commands `fc -l` shows by default.
const DEFAULT_COUNT: usize = 16;

const NOT_FOUND: &str = "no command found";
const OUT_OF_RANGE: &str = "history specification out of range";

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
        return again(session, words);
    }
    if request.list {
        return Ok(list(session, &request, &words));
    }
    edit(session, &request, &words)
}

/// The index, among the entries before the command that runs, of the command that `word` names: a number, an offset from the end, or how
/// it begins. `-0` is the command that runs, for listing. An error is what to say.
fn find(history: &History, word: &[u8], listing: bool, first: bool) -> Result<usize, &'static str> {
    let last = history.earlier().len().checked_sub(1).ok_or(NOT_FOUND)?;
    match parse_integer(word) {
        Some(0) if word.starts_with(b"-") && listing => Ok(history.entries.len() - 1),
        Some(0) if word.starts_with(b"-") => Err(OUT_OF_RANGE),
        Some(0) => Ok(last),
        Some(number) if number < 0 => Ok((last + 1).saturating_sub(number.unsigned_abs() as usize)),
        Some(number) => match (number.unsigned_abs() as usize).saturating_sub(history.base + 1) {
            index if index <= last => Ok(index),
            // POSIX: the oldest for the first of a range, the newest for its end.
            _ => Ok(if first { 0 } else { last }),
        },
        None => history.earlier().iter().rposition(|entry| entry.text.starts_with(word)).ok_or(NOT_FOUND),
    }
}

/// The first and the last command that `words` name.
fn range(history: &History, words: &[Bytes], listing: bool) -> Result<(usize, usize), &'static str> {
    let last = history.earlier().len().saturating_sub(1);
    let Some(word) = words.first() else {
        return Ok(if listing { ((last + 1).saturating_sub(DEFAULT_COUNT), last) } else { (last, last) });
    };
    let first = find(history, word, listing, true)?;
    let end = match words.get(1) {
        Some(word) => find(history, word, listing, false)?,
        None if listing && first <= last => last,
        None => first,
    };
    Ok((first, end))
}

fn refuse(session: &mut Session, message: &str) -> i32 {
    session.builtin_error(b"fc", message);
    1
}

fn list(session: &mut Session, request: &Request<'_>, words: &[Bytes]) -> i32 {
    let history = session.builtin_state.history.clone();
    if history.earlier().is_empty() {
        return 0;
    }
    let (first, last) = match range(&history, words, true) {
        Ok(range) => range,
        Err(message) => return refuse(session, message),
    };
    let mut indices: Vec<usize> = (first.min(last)..=first.max(last)).collect();
    if first > last || request.reverse {
        indices.reverse();
    }
    for index in indices {
        let Some(entry) = history.entries.get(index) else { continue };
        let number =
            if request.without_numbers { String::new() } else { (history.base + index + 1).to_string() };
        session.write_out(&[number.as_bytes(), b"\t ", &entry.text, b"\n"].concat());
    }
    0
}

/// `fc -s`: runs a command again, with substitutions; it takes the place of the `fc` in the history.
fn again(session: &mut Session, words: Vec<Bytes>) -> Outcome {
    let equals = |w: &Bytes| w.iter().position(|&b| b == b'=');
    let substitutions = words.iter().take_while(|word| equals(word).is_some()).count();
    let history = session.builtin_state.history.clone();
    let index = match words.get(substitutions) {
        Some(word) => find(&history, word, false, true).ok(),
        None => history.earlier().len().checked_sub(1),
    };
    let Some(mut command) = index.and_then(|i| history.entries.get(i)).map(|entry| entry.text.clone()) else {
        return Ok(refuse(session, NOT_FOUND));
    };
    for word in words.iter().take(substitutions) {
        let at = equals(word).unwrap_or(0);
        let (old, new) = (word.get(..at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default());
        command = replace_all(&command, old, new);
    }
    drop(history);
    session.write_err(&[command.as_slice(), b"\n"].concat());
    Rc::make_mut(&mut session.builtin_state.history).forget_current();
    session.remember_entry(&command);
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
    if history.earlier().is_empty() {
        return Ok(0);
    }
    let (first, last) = match range(&history, words, false) {
        Ok(range) => range,
        Err(message) => return Ok(refuse(session, message)),
    };
    let mut entries: Vec<Bytes> = history
        .entries
        .get(first.min(last)..=first.max(last))
        .unwrap_or_default()
        .iter()
        .map(|entry| entry.text.clone())
        .collect();
    if first > last || request.reverse {
        entries.reverse();
    }
    drop(history);
    // The command that asked for the editor is not remembered; what the editor leaves is.
    Rc::make_mut(&mut session.builtin_state.history).forget_current();
    let editor = match request.editor {
        Some(editor) => editor.to_vec(),
        None => session.history_editor(),
    };
    match session.edit_text(&editor, &[entries.join(&b'\n'), b"\n".to_vec()].concat()) {
        Ok(Some(edited)) => {
            session.write_err(&edited);
            session.remember(&edited);
            session.evaluate_command(&edited)
        }
        Ok(None) => Ok(1),
        Err(unwind) => Err(unwind),
    }
}

impl Session {
    /// The editor of `fc`: `FCEDIT`, `EDITOR` or vi.
    fn history_editor(&mut self) -> Bytes {
        self.first_of(&[b"FCEDIT", b"EDITOR"])
    }

    /// The editor for the line being edited: `VISUAL`, `EDITOR` or vi.
    pub fn visual_editor(&mut self) -> Bytes {
        self.first_of(&[b"VISUAL", b"EDITOR"])
    }

    fn first_of(&mut self, names: &[&[u8]]) -> Bytes {
        let editor = names.iter().find_map(|name| {
            self.get(name).map(|value| value.into_owned()).filter(|value| !value.is_empty())
        });
        editor.unwrap_or_else(|| b"vi".to_vec())
    }

    /// What `editor` makes of `text`; `None` if it failed.
    pub fn edit_text(&mut self, editor: &[u8], text: &[u8]) -> Result<Option<Bytes>, Unwind> {
        let folder = self.get(b"TMPDIR").map(|value| value.into_owned()).unwrap_or_else(|| b"/tmp".to_vec());
        let path = Path::new(OsStr::from_bytes(&folder)).join(format!("rush-fc.{}", self.pid));
        // A new file of our own: never one that somebody else has put there.
        let created = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        if let Err(error) = created.and_then(|mut file| file.write_all(text)) {
            self.builtin_error(b"fc", format!("cannot create a temporary file: {error}"));
            return Ok(None);
        }
        let quoted = quote::single_quote(path.as_os_str().as_bytes());
        let status = self.evaluate_command(&[editor, b" ", &quoted].concat());
        let edited = std::fs::read(&path).unwrap_or_default();
        let _ = std::fs::remove_file(&path);
        Ok((status? == 0).then_some(edited))
    }
}
