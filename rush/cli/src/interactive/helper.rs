//! The editor's view of the session: completion, hints from the history, and highlighting. The session stands in the helper
//! while a line is edited and in the loop while a command runs.

use std::borrow::Cow;
use std::cell::RefCell;
use std::os::unix::ffi::OsStrExt;

use rush::Session;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Result};

/// Styles: a command that exists, one that does not, a string, a comment, a hint.
const FOUND: &str = "\x1b[32m";
const MISSING: &str = "\x1b[31m";
const STRING: &str = "\x1b[33m";
const HINT: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// What rustyline asks.
pub(super) struct Helper {
    /// The session, while a line is edited.
    pub(super) session: RefCell<Option<Session>>,
    /// Whether lines are coloured and hints shown.
    pub(super) styled: bool,
}

impl rustyline::Helper for Helper {}
impl Validator for Helper {}

impl Completer for Helper {
    type Candidate = Pair;

    fn complete(&self, line: &str, point: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let mut slot = self.session.borrow_mut();
        let Some(session) = slot.as_mut() else { return Ok((point, Vec::new())) };
        let found = session.complete_line(line.as_bytes(), point);
        let alone = found.candidates.len() == 1;
        let pairs = found.candidates.iter().map(|candidate| {
            let text = String::from_utf8_lossy(candidate).into_owned();
            let directory = found.files && is_directory(session, candidate);
            let mut replacement = quoted(&text, found.quote, found.files);
            if directory && !text.ends_with('/') {
                replacement.push('/');
            } else if alone && !directory && !found.no_space {
                replacement.extend(found.quote.map(char::from));
                replacement.push(' ');
            }
            let name = if found.files {
                text.trim_end_matches('/').rsplit('/').next().unwrap_or(&text)
            } else {
                &text
            };
            Pair { display: if directory { format!("{name}/") } else { name.to_string() }, replacement }
        });
        let pairs = pairs.collect();
        Ok((found.start, pairs))
    }
}

/// Whether a candidate, which may begin with a tilde, is a folder.
fn is_directory(session: &mut Session, name: &[u8]) -> bool {
    let home = session.get(b"HOME").map(|value| value.into_owned());
    let path = match (name.strip_prefix(b"~"), home) {
        (Some(rest), Some(home)) => [&home[..], rest].concat(),
        _ => name.to_vec(),
    };
    std::path::Path::new(std::ffi::OsStr::from_bytes(&path)).is_dir()
}

/// A candidate as it is typed: in the quote that is open, or with a backslash before what is special, which in a file's name is also what
/// ends words for completion.
fn quoted(text: &str, quote: Option<u8>, file: bool) -> String {
    match quote {
        Some(b'\'') => format!("'{}", text.replace('\'', "'\\''")),
        Some(_) => {
            let mut out = String::from('"');
            for character in text.chars() {
                if matches!(character, '"' | '\\' | '`' | '$') {
                    out.push('\\');
                }
                out.push(character);
            }
            out
        }
        None => {
            let mut out = String::new();
            let variable = text.starts_with('$');
            for (at, character) in text.char_indices() {
                let special =
                    " \t\n\\'\"`$&|;<>()*?[]{}!#".contains(character) || file && ":=@".contains(character);
                if special && !variable && !(at == 0 && character == '~') {
                    out.push('\\');
                }
                out.push(character);
            }
            out
        }
    }
}

impl Hinter for Helper {
    type Hint = String;

    /// The rest of the newest command that begins like the line.
    fn hint(&self, line: &str, point: usize, _: &Context<'_>) -> Option<String> {
        if !self.styled || line.is_empty() || point < line.len() {
            return None;
        }
        let slot = self.session.borrow();
        let entries = slot.as_ref()?.history_entries().list.iter().rev();
        let mut longer = entries.filter(|entry| entry.text.len() > line.len());
        let entry = longer.find(|entry| entry.text.starts_with(line.as_bytes()))?;
        let rest = std::str::from_utf8(&entry.text[line.len()..]).ok()?;
        (!rest.contains('\n')).then(|| rest.to_string())
    }
}

impl Highlighter for Helper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        let mut slot = self.session.borrow_mut();
        match slot.as_mut().filter(|_| self.styled) {
            Some(session) => Cow::Owned(colour(line, |word| session.names_command(word.as_bytes()))),
            None => Cow::Borrowed(line),
        }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("{HINT}{hint}{PLAIN}"))
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.styled
    }
}

/// The line with its commands and strings coloured.
fn colour(line: &str, mut exists: impl FnMut(&str) -> bool) -> String {
    let mut out = String::with_capacity(line.len() + 32);
    let mut rest = line;
    let mut at_command = true;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            _ if is_separator(first) => first.len_utf8(),
            _ => rest.find(|c: char| is_separator(c) || c == '\'' || c == '"').unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        match first {
            '\'' | '"' => {
                out.push_str(&format!("{STRING}{token}{PLAIN}"));
                at_command = false;
            }
            ';' | '|' | '&' | '(' | '\n' => {
                out.push_str(token);
                at_command = true;
            }
            _ if is_separator(first) => out.push_str(token),
            _ if at_command && !token.contains(['=', '$', '\\', '*', '?', '~']) => {
                let style = if exists(token) { FOUND } else { MISSING };
                out.push_str(&format!("{style}{token}{PLAIN}"));
                at_command = false;
            }
            _ => {
                out.push_str(token);
                at_command = at_command && token.contains('=');
            }
        }
        rest = after;
    }
    out
}

fn is_separator(character: char) -> bool {
    " \t\n;|&()<>".contains(character)
}

#[cfg(test)]
mod tests {
    use super::{colour, quoted};

    #[test]
    fn candidates_are_quoted_as_they_are_typed() {
        assert_eq!(quoted("a b$c", None, false), "a\\ b\\$c");
        assert_eq!(quoted("~/x y", None, true), "~/x\\ y");
        assert_eq!(quoted("$HOME", None, false), "$HOME");
        assert_eq!(quoted("a:b", None, true), "a\\:b");
        assert_eq!(quoted("a:b", None, false), "a:b");
        assert_eq!(quoted("a'b", Some(b'\''), true), "'a'\\''b");
        assert_eq!(quoted("a\"b", Some(b'"'), true), "\"a\\\"b");
    }

    #[test]
    fn only_styles_are_added() {
        let coloured = colour("x=1 ls 'a;b' | nope -l", |word| word == "ls");
        assert_eq!(coloured, "x=1 \x1b[32mls\x1b[0m \x1b[33m'a;b'\x1b[0m | \x1b[31mnope\x1b[0m -l");
    }
}
