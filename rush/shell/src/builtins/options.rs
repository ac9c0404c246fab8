//! Reading a builtin's options, with bash's messages for the ones it does not have.

use crate::{Bytes, Session, Status};

/// An option that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    /// The letter.
    pub(crate) letter: u8,
    /// Whether it began with `+` rather than `-`.
    pub(crate) plus: bool,
    /// Its argument, if it takes one.
    pub(crate) value: &'a [u8],
}

/// Goes through the options of `args`, whose first element is the builtin's name.
pub(crate) struct OptionReader<'a> {
    args: &'a [Bytes],
    letters: &'static [u8],
    plus: bool,
    index: usize,
    at: usize,
}

impl<'a> OptionReader<'a> {
    /// Reads options among `letters`; a letter with a colon behind it takes an argument.
    pub(crate) fn new(args: &'a [Bytes], letters: &'static str) -> Self {
        Self { args, letters: letters.as_bytes(), plus: false, index: 1, at: 0 }
    }

    /// The same, also with `+` before the letters.
    pub(crate) fn with_plus(args: &'a [Bytes], letters: &'static str) -> Self {
        Self { plus: true, ..Self::new(args, letters) }
    }

    /// The next option, or `None` when the operands begin. An unknown option is reported; `Err` is the status.
    pub(crate) fn next(&mut self, session: &mut Session) -> Result<Option<Found<'a>>, Status> {
        if self.at == 0 && !self.enter() {
            return Ok(None);
        }
        let Some(word) = self.args.get(self.index) else { return Ok(None) };
        let plus = word.first() == Some(&b'+');
        let letter = word.get(self.at).copied().unwrap_or(b'?');
        self.at += 1;
        let rest = word.get(self.at..).unwrap_or_default();
        let position = self.letters.iter().position(|&l| l == letter && l != b':');
        let Some(position) = position else {
            let sign = if plus { '+' } else { '-' };
            let message = [&[sign as u8, letter], b": invalid option".as_slice()].concat();
            return Err(self.refuse(session, &message));
        };
        let takes_value = self.letters.get(position + 1) == Some(&b':');
        if !takes_value {
            if rest.is_empty() {
                self.leave();
            }
            return Ok(Some(Found { letter, plus, value: b"" }));
        }
        self.leave();
        if !rest.is_empty() {
            return Ok(Some(Found { letter, plus, value: rest }));
        }
        let Some(value) = self.args.get(self.index) else {
            let message = [b"-", [letter].as_slice(), b": option requires an argument"].concat();
            return Err(self.refuse(session, &message));
        };
        self.index += 1;
        Ok(Some(Found { letter, plus, value }))
    }

    fn enter(&mut self) -> bool {
        let Some(word) = self.args.get(self.index) else { return false };
        if word.as_slice() == b"--" {
            self.index += 1;
            return false;
        }
        let sign = matches!(word.first(), Some(b'-')) || (self.plus && word.first() == Some(&b'+'));
        if !sign || word.len() < 2 {
            return false;
        }
        self.at = 1;
        true
    }

    fn leave(&mut self) {
        self.index += 1;
        self.at = 0;
    }

    fn refuse(&self, session: &mut Session, message: &[u8]) -> Status {
        let name = self.args.first().map_or(b"".as_slice(), Vec::as_slice);
        session.builtin_error(name, message);
        usage(session, name)
    }

    /// The operands: what follows the options.
    pub(crate) fn operands(&self) -> &'a [Bytes] {
        self.args.get(self.index..).unwrap_or_default()
    }
}

/// Prints the synopsis of `builtin` on standard error and gives the status for a usage error.
pub(crate) fn usage(session: &mut Session, builtin: &[u8]) -> Status {
    let synopsis = super::find(builtin).map_or("", |b| b.synopsis);
    let mut text = builtin.to_vec();
    text.extend_from_slice(b": usage: ");
    text.extend_from_slice(builtin);
    if !synopsis.is_empty() {
        text.push(b' ');
        text.extend_from_slice(synopsis.as_bytes());
    }
    text.push(b'\n');
    session.write_err(&text);
    session.misuse = Some(2);
    2
}

/// Reports an unknown option `option` (for builtins that look at their words themselves).
pub(crate) fn invalid_option(session: &mut Session, builtin: &[u8], option: &[u8]) -> Status {
    session.builtin_error(builtin, [option, b": invalid option"].concat());
    usage(session, builtin)
}

/// A decimal number with an optional sign and blanks around it, as most builtins take one.
pub(crate) fn parse_integer(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim_matches([' ', '\t', '\n']);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}
