//! The lines of an initialisation file (`~/.inputrc`) and of `bind`'s operands: settings, bindings, `$if` and `$include`.

use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use super::keymap::Action;
use super::table::{FUNCTIONS, VARIABLES};
use super::{Place, keys};
use crate::state::options::SetOption;
use crate::{Bytes, Session, limits};

/// Values other than on and off that variables have.
const CHOICES: [(&str, &[&[u8]]); 2] =
    [("bell-style", &[b"none", b"off", b"on", b"visible", b"audible"]), ("editing-mode", &[b"vi", b"emacs"])];

/// Reads one file; an error is the system's number.
pub(super) fn read(session: &mut Session, place: Place, file: &[u8], depth: usize) -> Result<(), i32> {
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(file));
    let (text, whole) = crate::sys::end_of_file(path, limits::INIT_FILE_BYTES_MAX)
        .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
    if !whole {
        return Err(libc::EFBIG);
    }
    let mut reader = Reader { place, depth, outer: Vec::new(), skips: false };
    for line in text.split(|byte| *byte == b'\n') {
        reader.line(session, line.trim_ascii());
    }
    Ok(())
}

/// Carries out one line.
pub(super) fn apply(session: &mut Session, place: Place, line: &[u8]) {
    Reader { place, depth: 0, outer: Vec::new(), skips: false }.line(session, line.trim_ascii());
}

struct Reader {
    place: Place,
    depth: usize,
    /// What `skips` was outside each `$if` that is open.
    outer: Vec<bool>,
    /// Whether lines are left out.
    skips: bool,
}

/// A word and what follows it.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_ascii())
}

impl Reader {
    fn line(&mut self, session: &mut Session, line: &[u8]) {
        match line.first() {
            None | Some(b'#') => {}
            Some(b'$') => self.directive(session, &line[1..]),
            _ if self.skips => {}
            _ => match word(line) {
                (name, setting) if name.eq_ignore_ascii_case(b"set") && !setting.is_empty() => {
                    self.set(session, setting);
                }
                _ => self.bind(session, line),
            },
        }
    }

    fn directive(&mut self, session: &mut Session, line: &[u8]) {
        let (name, rest) = word(line);
        match &name.to_ascii_lowercase()[..] {
            b"if" => {
                self.outer.push(self.skips);
                self.skips = self.skips || !holds(session, rest);
            }
            b"else" => self.skips = self.outer.last().is_none_or(|outer| *outer || !self.skips),
            b"endif" => self.skips = self.outer.pop().unwrap_or(false),
            b"include" if !self.skips && self.depth < limits::INIT_FILE_DEPTH_MAX => {
                let file = match (rest.strip_prefix(b"~"), session.get(b"HOME")) {
                    (Some(rest), Some(home)) => [&home[..], rest].concat(),
                    _ => rest.to_vec(),
                };
                // A file that is not there is no error.
                let _ = read(session, self.place, &file, self.depth + 1);
            }
            _ => {}
        }
    }

    fn set(&mut self, session: &mut Session, setting: &[u8]) {
        let (name, rest) = word(setting);
        let known = VARIABLES.iter().find(|(n, _)| name.eq_ignore_ascii_case(n.as_bytes()));
        let Some((known, default)) = known else {
            session.write_err(&[b"readline: ", name, b": unknown variable name\n"].concat());
            return;
        };
        let switch = matches!(*default, "on" | "off");
        let value: Bytes = if switch {
            let on = rest.is_empty() || rest.eq_ignore_ascii_case(b"on") || rest == b"1";
            if on { b"on".to_vec() } else { b"off".to_vec() }
        } else {
            word(rest).0.to_vec()
        };
        let choices = CHOICES.iter().find(|(name, _)| name == known).map(|(_, choices)| *choices);
        if !value.is_empty() && choices.is_some_and(|choices| !choices.contains(&&value[..])) {
            let message = [b"readline: ", name, b": could not set value to `", &value, b"'\n"].concat();
            session.write_err(&message);
            return;
        }
        match *known {
            "editing-mode" => {
                let option = if value == b"vi" { SetOption::Vi } else { SetOption::Emacs };
                session.change_option(option, true);
            }
            "keymap" => {
                if let Some(place) = Place::named(&value) {
                    self.place = place;
                }
            }
            _ if value.is_empty() => {}
            _ => Rc::make_mut(&mut session.builtin_state.bindings).set_variable(known, value),
        }
    }

    /// `"keys": function`, `"keys": "macro"` or `Key-name: ...`.
    fn bind(&mut self, session: &mut Session, line: &[u8]) {
        let Some((keys, target)) = split_keys(line) else {
            session.write_err(&[b"readline: ", line, b": no key sequence terminator\n"].concat());
            return;
        };
        let action = match target.first() {
            None => return,
            Some(quote @ (b'"' | b'\'')) => Action::Macro(keys::parse(inside(target, *quote))),
            Some(_) => {
                let name = word(target).0;
                match FUNCTIONS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes())) {
                    Some((known, _)) => Action::Function(known),
                    // As bash: no word of it.
                    None => return,
                }
            }
        };
        self.place.bind(session, &keys, action);
    }
}

/// The text between the quote that it begins with and the next one.
fn inside(text: &[u8], quote: u8) -> &[u8] {
    let body = text.get(1..).unwrap_or_default();
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        match byte {
            b'\\' => at += 1,
            _ if byte == quote => break,
            _ => {}
        }
        at += 1;
    }
    body.get(..at).unwrap_or(body)
}

/// The keys of a binding and what they are bound to.
fn split_keys(line: &[u8]) -> Option<(Bytes, &[u8])> {
    if line.first() == Some(&b'"') {
        let text = inside(line, b'"');
        let rest = line.get(text.len() + 2..)?.trim_ascii();
        return Some((keys::parse(text), rest.strip_prefix(b":").unwrap_or(rest).trim_ascii()));
    }
    let colon = line.iter().position(|byte| *byte == b':').filter(|at| *at > 0)?;
    let (name, rest) = line.split_at(colon);
    Some((vec![keys::named(name.trim_ascii())], rest[1..].trim_ascii()))
}

/// Whether the condition of an `$if` holds.
fn holds(session: &mut Session, condition: &[u8]) -> bool {
    if let Some(term) = condition.strip_prefix(b"term=") {
        let value = session.get(b"TERM").map(|value| value.into_owned()).unwrap_or_default();
        let base = value.split(|byte| *byte == b'-').next().unwrap_or_default();
        return term == value || term == base;
    }
    if let Some(mode) = condition.strip_prefix(b"mode=") {
        return mode == if session.is(SetOption::Vi) { &b"vi"[..] } else { b"emacs" };
    }
    if let Some(version) = condition.strip_prefix(b"version") {
        return version_holds(version.trim_ascii());
    }
    let (name, _) = word(condition);
    if let Some((variable, _)) = VARIABLES.iter().find(|(known, _)| known.as_bytes() == name) {
        let rest = word(condition).1;
        let (operator, wanted) = word(rest);
        let equal = super::value(session, variable) == wanted;
        return if operator == b"!=" { !equal } else { equal };
    }
    condition.eq_ignore_ascii_case(b"bash") || condition.eq_ignore_ascii_case(b"rush")
}

/// `version >= 8.0`: the version is readline's that bash 5.2 has.
fn version_holds(condition: &[u8]) -> bool {
    let digits = condition.iter().position(u8::is_ascii_digit).unwrap_or(condition.len());
    let (operator, number) = condition.split_at(digits);
    let parts: Vec<u32> =
        String::from_utf8_lossy(number).split('.').map(|part| part.parse().unwrap_or(0)).collect();
    let wanted = (parts.first().copied().unwrap_or(0), parts.get(1).copied().unwrap_or(0));
    let order = super::READLINE_VERSION.cmp(&wanted);
    match operator.trim_ascii() {
        b"=" | b"==" | b"" => order.is_eq(),
        b"!=" => order.is_ne(),
        b">=" => order.is_ge(),
        b"<=" => order.is_le(),
        b">" => order.is_gt(),
        b"<" => order.is_lt(),
        _ => false,
    }
}
