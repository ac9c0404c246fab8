//! `bind`: names, keys and variables of line editing.
//!
//! Owns the bindings and what `bind` says about them; the interactive front end reads them from here and does what its editor can.
//! Like bash it warns where lines are not edited, and goes on.

mod init_file;
mod keymap;
mod keys;
mod table;

pub use keymap::{Action, Bindings, Keymap};

use std::rc::Rc;

use super::options::OptionReader;
use crate::state::options::SetOption;
use crate::{Bytes, Outcome, Session, sys};
use table::{FUNCTIONS, VARIABLES};

/// The version of readline whose names and keys these are.
const READLINE_VERSION: (u32, u32) = (8, 2);

/// How many keys a sentence names before it ends in dots.
const KEYS_NAMED: usize = 5;

/// A keymap as it is named: a prefix within one, for some.
#[derive(Debug, Clone, Copy)]
struct Place {
    keymap: Keymap,
    prefix: &'static [u8],
}

impl Place {
    fn named(name: &[u8]) -> Option<Place> {
        let (keymap, prefix): (_, &[u8]) = match name {
            b"emacs" | b"emacs-standard" => (Keymap::Emacs, b""),
            b"emacs-meta" => (Keymap::Emacs, b"\x1b"),
            b"emacs-ctlx" => (Keymap::Emacs, b"\x18"),
            b"vi" | b"vi-move" | b"vi-command" => (Keymap::ViCommand, b""),
            b"vi-insert" => (Keymap::ViInsert, b""),
            _ => return None,
        };
        Some(Place { keymap, prefix })
    }

    fn current(session: &Session) -> Place {
        let keymap = if session.is(SetOption::Vi) { Keymap::ViInsert } else { Keymap::Emacs };
        Place { keymap, prefix: b"" }
    }

    fn bind(self, session: &mut Session, keys: &[u8], action: Action) {
        let keys = [self.prefix, keys].concat();
        Rc::make_mut(&mut session.builtin_state.bindings).bind(self.keymap, keys, action);
    }

    /// The keys bound to `function` behind the prefix, as they are shown.
    fn shown_keys(self, bindings: &Bindings, function: &str) -> Vec<Bytes> {
        let keys = bindings.keys_of(self.keymap, function);
        keys.iter().filter_map(|keys| keys.strip_prefix(self.prefix)).map(quoted).collect()
    }
}

#[derive(Default)]
struct Request<'a> {
    keymap: Option<&'a [u8]>,
    lists: Vec<u8>,
    query: Option<&'a [u8]>,
    unbind: Option<&'a [u8]>,
    remove: Option<&'a [u8]>,
    command: Option<&'a [u8]>,
    file: Option<&'a [u8]>,
}

/// `bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:command] [keyseq:...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    if !session.interactive {
        session.builtin_error(b"bind", "warning: line editing not enabled");
    }
    let mut request = Request::default();
    let mut options = OptionReader::new(args, "lvpVPsSXf:q:u:m:r:x:");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'm' => request.keymap = Some(found.value),
                b'q' => request.query = Some(found.value),
                b'u' => request.unbind = Some(found.value),
                b'r' => request.remove = Some(found.value),
                b'x' => request.command = Some(found.value),
                b'f' => request.file = Some(found.value),
                letter => request.lists.push(letter),
            },
            Err(status) => return Ok(status),
        }
    }
    let place = match request.keymap.map(|name| (name, Place::named(name))) {
        None => Place::current(session),
        Some((_, Some(place))) => place,
        Some((name, None)) => {
            session.builtin_error(b"bind", [b"`", name, b"': invalid keymap name"].concat());
            return Ok(1);
        }
    };
    session.read_init_file();
    let status = carry_out(session, &request, place);
    for line in options.operands() {
        init_file::apply(session, place, line);
    }
    Ok(status)
}

fn carry_out(session: &mut Session, request: &Request<'_>, place: Place) -> i32 {
    for letter in b"lpPsSvVX" {
        if request.lists.contains(letter) {
            let text = list(session, *letter, place);
            session.write_out(&text);
        }
    }
    let mut status = 0;
    if let Some(file) = request.file
        && let Err(error) = init_file::read(session, place, file, 0)
    {
        session.builtin_error(b"bind", [file, b": cannot read: ", sys::strerror(error).as_bytes()].concat());
        status = 1;
    }
    if let Some(name) = request.query {
        status |= query(session, place, name);
    }
    if let Some(name) = request.unbind {
        status |= unbind(session, place, name);
    }
    if let Some(keys) = request.remove {
        let keys = keys.strip_prefix(b"\"").and_then(|keys| keys.strip_suffix(b"\"")).unwrap_or(keys);
        place.bind(session, &keys::parse(keys), Action::None);
    }
    if let Some(text) = request.command {
        status |= bind_command(session, place, text);
    }
    status
}

fn quoted(keys: &[u8]) -> Bytes {
    [b"\"", &keys::show(keys)[..], b"\""].concat()
}

/// The value of a variable; the editing mode is an option of the shell.
fn value(session: &Session, name: &str) -> Bytes {
    let vi = session.is(SetOption::Vi);
    match name {
        "editing-mode" => {
            if vi {
                b"vi".to_vec()
            } else {
                b"emacs".to_vec()
            }
        }
        "keymap" => {
            if vi {
                b"vi-insert".to_vec()
            } else {
                b"emacs".to_vec()
            }
        }
        _ => session.builtin_state.bindings.variable(name),
    }
}

fn list(session: &Session, letter: u8, place: Place) -> Bytes {
    let bindings = &session.builtin_state.bindings;
    let mut out = Bytes::new();
    match letter {
        b'l' => out.extend(FUNCTIONS.iter().flat_map(|(name, _)| [name.as_bytes(), b"\n"].concat())),
        b'p' | b'P' => {
            out.push(b'\n');
            for (name, _) in FUNCTIONS {
                list_function(bindings, place, name, letter == b'P', &mut out);
            }
        }
        b'v' => {
            for (name, _) in VARIABLES {
                out.extend([b"set ", name.as_bytes(), b" ", &value(session, name), b"\n"].concat());
            }
        }
        b'V' => {
            for (name, _) in VARIABLES {
                out.extend([name.as_bytes(), b" is set to `", &value(session, name), b"'\n"].concat());
            }
        }
        _ => list_own(bindings, letter, place, &mut out),
    }
    out
}

fn list_function(bindings: &Bindings, place: Place, name: &str, sentence: bool, out: &mut Bytes) {
    let keys = place.shown_keys(bindings, name);
    match (sentence, keys.is_empty()) {
        (false, true) => out.extend_from_slice(format!("# {name} (not bound)\n").as_bytes()),
        (false, false) => {
            for key in keys {
                out.extend([&key[..], b": ", name.as_bytes(), b"\n"].concat());
            }
        }
        (true, true) => out.extend_from_slice(format!("{name} is not bound to any keys\n").as_bytes()),
        (true, false) => {
            out.extend([name.as_bytes(), b" can be found on ", &named_keys(&keys), b"\n"].concat());
        }
    }
}

/// The first few keys.
fn named_keys(keys: &[Bytes]) -> Bytes {
    let first = keys.get(..KEYS_NAMED).unwrap_or(keys).join(&b", "[..]);
    [&first[..], if keys.len() > KEYS_NAMED { b", ..." } else { b"." }].concat()
}

/// Macros (`-s`, `-S`) and shell commands (`-X`).
fn list_own(bindings: &Bindings, letter: u8, place: Place, out: &mut Bytes) {
    for (keys, action) in bindings.changes(place.keymap) {
        let Some(keys) = keys.strip_prefix(place.prefix) else { continue };
        match (letter, action) {
            (b's', Action::Macro(text)) => {
                out.extend([&quoted(keys)[..], b": ", &quoted(text), b"\n"].concat());
            }
            (b'S', Action::Macro(text)) => {
                out.extend([&keys::show(keys)[..], b" outputs ", &keys::show(text), b"\n"].concat());
            }
            (b'X', Action::Command(text)) => {
                out.extend([&quoted(keys)[..], b": ", &quoted(text), b"\n"].concat());
            }
            _ => {}
        }
    }
}

/// The function of this name: readline's, or one that rush adds, which `bind -l` does not list.
fn function(name: &[u8]) -> Option<&'static str> {
    FUNCTIONS.iter().map(|(n, _)| *n).chain(["redo"]).find(|n| n.as_bytes().eq_ignore_ascii_case(name))
}

fn unknown_function(session: &mut Session, name: &[u8]) -> i32 {
    session.builtin_error(b"bind", [b"`", name, b"': unknown function name"].concat());
    1
}

fn query(session: &mut Session, place: Place, name: &[u8]) -> i32 {
    let Some(known) = function(name) else { return unknown_function(session, name) };
    let keys = place.shown_keys(&session.builtin_state.bindings, known);
    if keys.is_empty() {
        session.write_out(format!("{known} is not bound to any keys.\n").as_bytes());
        return 1;
    }
    session.write_out(&[known.as_bytes(), b" can be invoked via ", &named_keys(&keys), b"\n"].concat());
    0
}

fn unbind(session: &mut Session, place: Place, name: &[u8]) -> i32 {
    let Some(known) = function(name) else { return unknown_function(session, name) };
    for keys in session.builtin_state.bindings.keys_of(place.keymap, known) {
        if keys.starts_with(place.prefix) {
            Rc::make_mut(&mut session.builtin_state.bindings).bind(place.keymap, keys, Action::None);
        }
    }
    0
}

/// `-x`: `"keys": command`.
fn bind_command(session: &mut Session, place: Place, text: &[u8]) -> i32 {
    let text = text.trim_ascii();
    let Some(body) = text.strip_prefix(b"\"") else {
        session.builtin_error(b"bind", [text, b": first non-whitespace character is not `\"'"].concat());
        return 1;
    };
    let mut at = 0;
    while body.get(at).is_some_and(|byte| *byte != b'"') {
        at += 1 + usize::from(body.get(at) == Some(&b'\\'));
    }
    let (Some(keys), Some(rest)) = (body.get(..at), body.get(at + 1..)) else {
        session.builtin_error(b"bind", [b"no closing `\"' in ", text].concat());
        return 1;
    };
    let Some(command) = rest.trim_ascii().strip_prefix(b":") else {
        session.builtin_error(b"bind", [text, b": missing colon separator"].concat());
        return 1;
    };
    let command = command.trim_ascii();
    let inner = command.strip_prefix(b"\"").and_then(|command| command.strip_suffix(b"\""));
    let command = inner.map_or_else(|| command.to_vec(), unescaped);
    place.bind(session, &keys::parse(keys), Action::Command(command));
    0
}

/// The text of a quoted command: a backslash before a quote or a backslash goes.
fn unescaped(text: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let special = byte == b'\\' && matches!(bytes.peek(), Some(b'"' | b'\\'));
        out.push(if special { bytes.next().unwrap_or(byte) } else { byte });
    }
    out
}

impl Session {
    /// The bindings and variables of line editing.
    pub fn bindings(&self) -> &Bindings {
        &self.builtin_state.bindings
    }

    /// Reads the file that `INPUTRC` names, `~/.inputrc` or `/etc/inputrc`, if there is one; the first time only.
    pub fn read_init_file(&mut self) {
        if std::mem::replace(&mut Rc::make_mut(&mut self.builtin_state.bindings).initialised, true) {
            return;
        }
        let place = Place::current(self);
        let named = self.get(b"INPUTRC").map(|value| value.into_owned()).filter(|name| !name.is_empty());
        let home = self.get(b"HOME").map(|home| [&home[..], b"/.inputrc"].concat());
        for file in named.or(home).into_iter().chain([b"/etc/inputrc".to_vec()]) {
            if init_file::read(self, place, &file, 0).is_ok() {
                return;
            }
        }
    }

    /// Reads that file again.
    pub fn read_init_file_again(&mut self) {
        Rc::make_mut(&mut self.builtin_state.bindings).initialised = false;
        self.read_init_file();
    }
}
