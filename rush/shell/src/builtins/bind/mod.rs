//! `bind`: names, keys and variables of line editing.
//!
//! Owns the table of bindings and what `bind` says about it; the interactive front end reads the bindings of
//! shell commands (`-x`) and macros from here. Like bash it warns where lines are not edited, and goes on.

mod table;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::options::OptionReader;
use crate::{Bytes, Outcome, Session};
use table::{FUNCTIONS, VARIABLES};

/// What keys do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// An editing function.
    Function(&'static str),
    /// Text that is typed instead.
    Macro(Bytes),
    /// A shell command (`bind -x`).
    Command(Bytes),
    /// Unbound by `bind -r` or `-u`.
    None,
}

/// What was changed from the defaults.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    /// By keymap (`emacs` or `vi`) and key sequence as it was written.
    pub keys: BTreeMap<(&'static str, Bytes), Action>,
    /// Variables that were set.
    pub variables: BTreeMap<&'static str, Bytes>,
}

impl Bindings {
    /// The key sequences bound to `function` in `keymap`, sorted.
    fn keys_of(&self, keymap: &'static str, function: &str) -> Vec<Bytes> {
        let defaults = FUNCTIONS.iter().filter(|(name, _)| *name == function && keymap == "emacs");
        let mut keys: Vec<Bytes> = defaults
            .flat_map(|(_, keys)| keys.iter())
            .map(|k| Bytes::from(*k))
            .filter(|k| !self.keys.contains_key(&(keymap, k.clone())))
            .collect();
        let bound = self.keys.iter().filter(|((map, _), action)| {
            *map == keymap && matches!(action, Action::Function(name) if *name == function)
        });
        keys.extend(bound.map(|((_, key), _)| key.clone()));
        keys.sort();
        keys
    }

    fn variable(&self, name: &str) -> Bytes {
        let default = VARIABLES.iter().find(|(n, _)| *n == name).map_or("", |(_, v)| *v);
        self.variables.get(name).cloned().unwrap_or_else(|| default.into())
    }
}

#[derive(Default)]
struct Request<'a> {
    keymap: Option<&'a [u8]>,
    lists: Vec<u8>,
    query: Option<&'a [u8]>,
    unbind: Option<&'a [u8]>,
    remove: Option<&'a [u8]>,
    commands: Vec<&'a [u8]>,
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
                b'x' => request.commands.push(found.value),
                b'f' => request.file = Some(found.value),
                letter => request.lists.push(letter),
            },
            Err(status) => return Ok(status),
        }
    }
    let keymap = match request.keymap {
        None | Some(b"emacs" | b"emacs-standard" | b"emacs-meta" | b"emacs-ctlx") => "emacs",
        Some(b"vi" | b"vi-move" | b"vi-command" | b"vi-insert") => "vi",
        Some(name) => {
            session.builtin_error(b"bind", [b"`", name, b"': invalid keymap name"].concat());
            return Ok(1);
        }
    };
    for letter in &request.lists {
        let text = list(&session.builtin_state.bindings, *letter, keymap);
        session.write_out(&text);
    }
    let mut status = 0;
    if let Some(name) = request.query {
        status |= query(session, keymap, name);
    }
    if let Some(name) = request.unbind {
        status |= unbind(session, keymap, name);
    }
    if let Some(keys) = request.remove {
        let keys = unquote(keys);
        Rc::make_mut(&mut session.builtin_state.bindings).keys.insert((keymap, keys), Action::None);
    }
    for text in &request.commands {
        status |= bind_command(session, keymap, text);
    }
    if let Some(file) = request.file {
        status |= read_file(session, keymap, file);
    }
    for line in options.operands() {
        status |= apply_line(session, keymap, line);
    }
    Ok(status)
}

fn quoted(keys: &[u8]) -> Bytes {
    [b"\"", keys, b"\""].concat()
}

fn list(bindings: &Bindings, letter: u8, keymap: &'static str) -> Bytes {
    let mut out = Bytes::new();
    match letter {
        b'l' => out.extend(FUNCTIONS.iter().flat_map(|(name, _)| [name.as_bytes(), b"\n"].concat())),
        b'p' | b'P' => {
            out.push(b'\n');
            for (name, _) in FUNCTIONS {
                list_function(bindings, keymap, name, letter == b'P', &mut out);
            }
        }
        b'v' => {
            for (name, _) in VARIABLES {
                out.extend([b"set ", name.as_bytes(), b" ", &bindings.variable(name), b"\n"].concat());
            }
        }
        b'V' => {
            for (name, _) in VARIABLES {
                out.extend([name.as_bytes(), b" is set to `", &bindings.variable(name), b"'\n"].concat());
            }
        }
        _ => list_own(bindings, letter, keymap, &mut out),
    }
    out
}

fn list_function(bindings: &Bindings, keymap: &'static str, name: &str, sentence: bool, out: &mut Bytes) {
    let keys = bindings.keys_of(keymap, name);
    match (sentence, keys.is_empty()) {
        (false, true) => out.extend_from_slice(format!("# {name} (not bound)\n").as_bytes()),
        (false, false) => {
            for key in keys {
                out.extend([quoted(&key).as_slice(), b": ", name.as_bytes(), b"\n"].concat());
            }
        }
        (true, true) => out.extend_from_slice(format!("{name} is not bound to any keys\n").as_bytes()),
        (true, false) => {
            let shown: Vec<Bytes> = keys.iter().map(|k| quoted(k)).collect();
            out.extend([name.as_bytes(), b" can be found on ", &shown.join(&b", "[..]), b".\n"].concat());
        }
    }
}

/// Macros (`-s`, `-S`) and shell commands (`-X`).
fn list_own(bindings: &Bindings, letter: u8, keymap: &'static str, out: &mut Bytes) {
    for ((map, key), action) in &bindings.keys {
        if *map != keymap {
            continue;
        }
        match (letter, action) {
            (b's', Action::Macro(text)) => {
                out.extend([&quoted(key), b": ".as_slice(), &quoted(text), b"\n"].concat())
            }
            (b'S', Action::Macro(text)) => out.extend([key, b" outputs ".as_slice(), text, b"\n"].concat()),
            (b'X', Action::Command(text)) => {
                out.extend([&quoted(key), b": ".as_slice(), &quoted(text), b"\n"].concat());
            }
            _ => {}
        }
    }
}

fn function(name: &[u8]) -> Option<&'static str> {
    FUNCTIONS.iter().map(|(n, _)| *n).find(|n| n.as_bytes() == name)
}

fn unknown_function(session: &mut Session, name: &[u8]) -> i32 {
    session.builtin_error(b"bind", [b"`", name, b"': unknown function name"].concat());
    1
}

fn query(session: &mut Session, keymap: &'static str, name: &[u8]) -> i32 {
    let Some(known) = function(name) else { return unknown_function(session, name) };
    let keys = session.builtin_state.bindings.keys_of(keymap, known);
    if keys.is_empty() {
        session.write_out(format!("{known} is not bound to any keys.\n").as_bytes());
        return 1;
    }
    let shown: Vec<Bytes> = keys.iter().map(|k| quoted(k)).collect();
    session.write_out(&[known.as_bytes(), b" can be invoked via ", &shown.join(&b", "[..]), b".\n"].concat());
    0
}

fn unbind(session: &mut Session, keymap: &'static str, name: &[u8]) -> i32 {
    let Some(known) = function(name) else { return unknown_function(session, name) };
    let keys = session.builtin_state.bindings.keys_of(keymap, known);
    let bindings = Rc::make_mut(&mut session.builtin_state.bindings);
    for key in keys {
        bindings.keys.insert((keymap, key), Action::None);
    }
    0
}

/// Removes the quotes around a key sequence.
fn unquote(keys: &[u8]) -> Bytes {
    keys.strip_prefix(b"\"").and_then(|k| k.strip_suffix(b"\"")).unwrap_or(keys).to_vec()
}

/// Splits `"keys": rest` behind the closing quote.
fn split_keys(line: &[u8]) -> Option<(Bytes, &[u8])> {
    let line = line.trim_ascii_start();
    let body = line.strip_prefix(b"\"")?;
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => {
                let rest = body.get(at + 1..)?.trim_ascii_start().strip_prefix(b":")?;
                return Some((body.get(..at)?.to_vec(), rest.trim_ascii()));
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn bind_command(session: &mut Session, keymap: &'static str, text: &[u8]) -> i32 {
    let Some((keys, command)) = split_keys(text) else {
        session.builtin_error(b"bind", [text, b": first non-whitespace character is not `\"'"].concat());
        return 1;
    };
    let action = Action::Command(unquote(command));
    Rc::make_mut(&mut session.builtin_state.bindings).keys.insert((keymap, keys), action);
    0
}

/// One line of an initialisation file: `set name value`, `"keys": function` or `"keys": "macro"`.
fn apply_line(session: &mut Session, keymap: &'static str, line: &[u8]) -> i32 {
    let line = line.trim_ascii();
    if line.is_empty() || matches!(line.first(), Some(b'#' | b'$')) {
        return 0;
    }
    if let Some(setting) = line.strip_prefix(b"set ") {
        let setting = setting.trim_ascii();
        let end = setting.iter().position(u8::is_ascii_whitespace).unwrap_or(setting.len());
        let (name, value) = setting.split_at_checked(end).unwrap_or((setting, b""));
        if let Some((known, _)) = VARIABLES.iter().find(|(n, _)| n.as_bytes() == name) {
            let bindings = Rc::make_mut(&mut session.builtin_state.bindings);
            bindings.variables.insert(known, value.trim_ascii().to_vec());
        }
        return 0;
    }
    let Some((keys, target)) = split_keys(line) else {
        let text = [b"readline: ", line, b": no key sequence terminator\n"].concat();
        session.write_err(&text);
        return 0;
    };
    let action = match (target.first(), function(target)) {
        (Some(b'"' | b'\''), _) => Action::Macro(unquote(target)),
        (_, Some(name)) => Action::Function(name),
        (_, None) => return unknown_function(session, target),
    };
    Rc::make_mut(&mut session.builtin_state.bindings).keys.insert((keymap, keys), action);
    0
}

fn read_file(session: &mut Session, keymap: &'static str, file: &[u8]) -> i32 {
    use std::os::unix::ffi::OsStrExt;
    match std::fs::read(std::ffi::OsStr::from_bytes(file)) {
        Ok(text) => {
            for line in text.split(|&b| b == b'\n') {
                apply_line(session, keymap, line);
            }
            0
        }
        Err(error) => {
            let reason = crate::sys::strerror(error.raw_os_error().unwrap_or(libc::EIO));
            session.builtin_error(b"bind", [file, b": cannot read: ", reason.as_bytes()].concat());
            1
        }
    }
}
