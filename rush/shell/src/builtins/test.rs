//! `test` and `[`: conditions on files, strings and numbers.
//!
//! POSIX decides by the number of arguments up to four; more of them are parsed with `!`, `-a`, `-o` and
//! parentheses. [`unary`] and [`file_comparison`] also serve `[[ ]]`.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::options::parse_integer;
use crate::state::options::SetOption;
use crate::sys::{resource, stack};
use crate::{Bytes, Outcome, Session, Unwind};

/// Why a condition has no truth value: a message, or the end of the command.
pub(crate) enum Problem {
    Message(Bytes),
    Unwind(Unwind),
}

impl From<Unwind> for Problem {
    fn from(unwind: Unwind) -> Self {
        Self::Unwind(unwind)
    }
}

type Truth = Result<bool, Problem>;

fn message<T>(parts: &[&[u8]]) -> Result<T, Problem> {
    Err(Problem::Message(parts.concat()))
}

/// `test [expr]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let name = args.first().map_or(b"test".as_slice(), Vec::as_slice);
    finish(session, name, args.get(1..).unwrap_or_default())
}

/// `[ arg... ]`
pub(super) fn run_bracket(session: &mut Session, args: &[Bytes]) -> Outcome {
    match args.split_last() {
        Some((last, rest)) if last.as_slice() == b"]" && !rest.is_empty() => {
            finish(session, b"[", rest.get(1..).unwrap_or_default())
        }
        _ => {
            session.builtin_error(b"[", "missing `]'");
            Ok(2)
        }
    }
}

fn finish(session: &mut Session, name: &[u8], words: &[Bytes]) -> Outcome {
    match (Evaluation { session, words, at: 0 }).by_count() {
        Ok(truth) => Ok(i32::from(!truth)),
        Err(Problem::Unwind(unwind)) => Err(unwind),
        Err(Problem::Message(text)) => {
            session.builtin_error(name, text);
            Ok(2)
        }
    }
}

struct Evaluation<'s, 'w> {
    session: &'s mut Session,
    words: &'w [Bytes],
    at: usize,
}

impl<'w> Evaluation<'_, 'w> {
    fn by_count(&mut self) -> Truth {
        match self.words {
            [] => Ok(false),
            [word] => Ok(!word.is_empty()),
            [operator, word] => self.two(operator, word),
            [left, operator, right] => self.three(left, operator, right),
            [not, a, b, c] if not.as_slice() == b"!" => self.three(a, b, c).map(|truth| !truth),
            [open, a, b, close] if open.as_slice() == b"(" && close.as_slice() == b")" => self.two(a, b),
            _ => self.expression(),
        }
    }

    fn two(&mut self, operator: &[u8], word: &[u8]) -> Truth {
        if operator == b"!" {
            return Ok(word.is_empty());
        }
        match unary_letter(operator) {
            Some(letter) => unary(self.session, letter, word),
            None => message(&[operator, b": unary operator expected"]),
        }
    }

    fn three(&mut self, left: &[u8], operator: &[u8], right: &[u8]) -> Truth {
        if is_binary(operator) {
            return binary(self.session, left, operator, right);
        }
        match operator {
            b"-a" => return Ok(!left.is_empty() && !right.is_empty()),
            b"-o" => return Ok(!left.is_empty() || !right.is_empty()),
            _ => {}
        }
        if left == b"!" {
            return self.two(operator, right).map(|truth| !truth);
        }
        if left == b"(" && right == b")" {
            return Ok(!operator.is_empty());
        }
        message(&[operator, b": binary operator expected"])
    }

    fn expression(&mut self) -> Truth {
        let truth = self.or()?;
        match self.words.get(self.at) {
            None => Ok(truth),
            Some(word) if word.starts_with(b"-") => message(&[b"syntax error: `", word, b"' unexpected"]),
            Some(_) => message(&[b"too many arguments"]),
        }
    }

    fn peek(&self) -> Option<&'w [u8]> {
        self.words.get(self.at).map(Vec::as_slice)
    }

    fn or(&mut self) -> Truth {
        let mut truth = self.and()?;
        while self.peek() == Some(b"-o") {
            self.at += 1;
            let right = self.and()?;
            truth = truth || right;
        }
        Ok(truth)
    }

    fn and(&mut self) -> Truth {
        let mut truth = self.term()?;
        while self.peek() == Some(b"-a") {
            self.at += 1;
            let right = self.term()?;
            truth = truth && right;
        }
        Ok(truth)
    }

    fn term(&mut self) -> Truth {
        let mut negated = false;
        while self.peek() == Some(b"!") {
            self.at += 1;
            negated = !negated;
        }
        Ok(self.primary()? != negated)
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Truth) -> Truth {
        if stack::is_exhausted() {
            return message(&[b"expression nested too deeply"]);
        }
        stack::with_room(|| read(self))
    }

    fn primary(&mut self) -> Truth {
        let Some(word) = self.peek() else { return message(&[b"argument expected"]) };
        let second = self.words.get(self.at + 1).map(Vec::as_slice);
        let third = self.words.get(self.at + 2).map(Vec::as_slice);
        if word == b"(" {
            self.at += 1;
            let truth = self.deeper(Self::or)?;
            return match self.peek() {
                Some(b")") => {
                    self.at += 1;
                    Ok(truth)
                }
                None => message(&[b"`)' expected"]),
                Some(found) => message(&[b"`)' expected, found ", found]),
            };
        }
        if let (Some(operator), Some(right)) = (second, third)
            && is_binary(operator)
        {
            self.at += 3;
            return binary(self.session, word, operator, right);
        }
        if let (Some(letter), Some(operand)) = (unary_letter(word), second) {
            self.at += 2;
            return unary(self.session, letter, operand);
        }
        self.at += 1;
        Ok(!word.is_empty())
    }
}

fn unary_letter(operator: &[u8]) -> Option<u8> {
    match operator {
        [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter) => Some(*letter),
        _ => None,
    }
}

fn is_binary(operator: &[u8]) -> bool {
    matches!(
        operator,
        b"=" | b"=="
            | b"!="
            | b"<"
            | b">"
            | b"-eq"
            | b"-ne"
            | b"-lt"
            | b"-le"
            | b"-gt"
            | b"-ge"
            | b"-nt"
            | b"-ot"
            | b"-ef"
    )
}

fn binary(session: &mut Session, left: &[u8], operator: &[u8], right: &[u8]) -> Truth {
    let _ = session;
    match operator {
        b"=" | b"==" => return Ok(left == right),
        b"!=" => return Ok(left != right),
        b"<" => return Ok(left < right),
        b">" => return Ok(left > right),
        b"-nt" | b"-ot" | b"-ef" => return Ok(file_comparison(left, operator, right)),
        _ => {}
    }
    let number = |text: &[u8]| match parse_integer(text) {
        Some(number) => Ok(number),
        None => message(&[text, b": integer expression expected"]),
    };
    let (left, right) = (number(left)?, number(right)?);
    Ok(match operator {
        b"-eq" => left == right,
        b"-ne" => left != right,
        b"-lt" => left < right,
        b"-le" => left <= right,
        b"-gt" => left > right,
        _ => left >= right,
    })
}

fn metadata(path: &[u8]) -> Option<Metadata> {
    std::fs::metadata(Path::new(std::ffi::OsStr::from_bytes(path))).ok()
}

/// `-nt`, `-ot` and `-ef`.
pub(crate) fn file_comparison(left: &[u8], operator: &[u8], right: &[u8]) -> bool {
    let (left, right) = (metadata(left), metadata(right));
    let modified = |m: &Metadata| (m.mtime(), m.mtime_nsec());
    match (operator, left, right) {
        (b"-ef", Some(left), Some(right)) => left.dev() == right.dev() && left.ino() == right.ino(),
        (b"-nt", Some(left), Some(right)) => modified(&left) > modified(&right),
        (b"-nt", Some(_), None) => true,
        (b"-ot", Some(left), Some(right)) => modified(&left) < modified(&right),
        (b"-ot", None, Some(_)) => true,
        _ => false,
    }
}

/// A unary condition, `letter` without its minus sign.
pub(crate) fn unary(session: &mut Session, letter: u8, operand: &[u8]) -> Truth {
    let path = session.process_path(operand);
    let path = &path[..];
    Ok(match letter {
        b'n' => !operand.is_empty(),
        b'z' => operand.is_empty(),
        b'o' => SetOption::from_name(operand).is_some_and(|o| session.is(o)),
        b'v' => session.is_variable_set(operand)?,
        b'R' => session.is_nameref_text(operand),
        b't' => match parse_integer(operand) {
            Some(number) => usize::try_from(number).is_ok_and(|n| session.descriptor_is_terminal(n)),
            None => false,
        },
        b'r' => resource::access(path, libc::R_OK),
        b'w' => resource::access(path, libc::W_OK),
        b'x' => resource::access(path, libc::X_OK),
        b'h' | b'L' => std::fs::symlink_metadata(Path::new(std::ffi::OsStr::from_bytes(path)))
            .is_ok_and(|m| m.file_type().is_symlink()),
        _ => metadata(path).is_some_and(|m| file_condition(letter, &m)),
    })
}

fn file_condition(letter: u8, metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    match letter {
        b'b' => kind.is_block_device(),
        b'c' => kind.is_char_device(),
        b'd' => kind.is_dir(),
        b'f' => kind.is_file(),
        b'p' => kind.is_fifo(),
        b'S' => kind.is_socket(),
        b's' => metadata.size() > 0,
        b'u' => metadata.mode() & 0o4000 != 0,
        b'g' => metadata.mode() & 0o2000 != 0,
        b'k' => metadata.mode() & 0o1000 != 0,
        b'O' => metadata.uid() == resource::effective_ids().0,
        b'G' => metadata.gid() == resource::effective_ids().1,
        b'N' => (metadata.mtime(), metadata.mtime_nsec()) > (metadata.atime(), metadata.atime_nsec()),
        _ => true,
    }
}
