//! Redirections.

use super::ast::{Command, HereDocument, Redirect, RedirectNumber, RedirectOperator, Word};
use super::here_document::Pending;
use super::parser::Parser;
use super::{Parsed, Text};
use crate::Bytes;
use crate::state::names::is_name_byte;
use std::rc::Rc;

impl Parser<'_> {
    /// The redirection at the position; nothing is consumed if there is none.
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let Some((number, length)) = self.redirect_number() else { return Ok(None) };
        self.input.advance(length);
        let Some(operator) = self.redirect_operator() else {
            return Ok(None);
        };
        self.skip_blanks();
        if matches!(operator, RedirectOperator::HereDocument | RedirectOperator::HereDocumentStripped) {
            return self.here_document(number, operator).map(Some);
        }
        let Some(target) = self.word()? else { return Err(self.unexpected()) };
        Ok(Some(Redirect { number, operator, target, here: None }))
    }

    /// What stands before a redirection operator and how long it is; `None` if no redirection follows.
    fn redirect_number(&mut self) -> Option<(RedirectNumber, usize)> {
        let byte = self.input.current()?;
        match byte {
            b'<' | b'>' => self.at_operator(0).then_some((RedirectNumber::Default, 0)),
            b'&' => (self.input.raw_at(1) == Some(b'>')).then_some((RedirectNumber::Default, 0)),
            b'0'..=b'9' => {
                let rest = self.input.rest();
                let length = rest.iter().position(|b| !b.is_ascii_digit())?;
                let digits = std::str::from_utf8(&rest[..length]).ok()?;
                let number = digits.parse().ok()?;
                self.at_operator(length).then_some((RedirectNumber::Number(number), length))
            }
            b'{' => {
                let rest = self.input.rest();
                let length = rest.iter().position(|b| *b == b'}')?;
                let name = &rest[1..length];
                let plain = !name.is_empty()
                    && !name[0].is_ascii_digit()
                    && name.iter().all(|b| is_name_byte(*b) || matches!(b, b'[' | b']'));
                let name = Text::new(name);
                (plain && self.at_operator(length + 1))
                    .then_some((RedirectNumber::Variable(name), length + 1))
            }
            _ => None,
        }
    }

    /// Whether a redirection operator (not a process substitution) is `offset` bytes on.
    fn at_operator(&mut self, offset: usize) -> bool {
        matches!(self.input.raw_at(offset), Some(b'<' | b'>'))
            && (self.input.raw_at(offset + 1) != Some(b'('))
    }

    fn redirect_operator(&mut self) -> Option<RedirectOperator> {
        use RedirectOperator::*;
        let (operator, length) = match self.input.rest() {
            [b'<', b'<', b'-', ..] => (HereDocumentStripped, 3),
            [b'<', b'<', b'<', ..] => (HereString, 3),
            [b'&', b'>', b'>', ..] => (AppendOutputAndError, 3),
            [b'<', b'<', ..] => (HereDocument, 2),
            [b'>', b'>', ..] => (Append, 2),
            [b'<', b'&', ..] => (DuplicateInput, 2),
            [b'>', b'&', ..] => (DuplicateOutput, 2),
            [b'<', b'>', ..] => (ReadWrite, 2),
            [b'>', b'|', ..] => (Clobber, 2),
            [b'&', b'>', ..] => (OutputAndError, 2),
            [b'<', ..] => (Input, 1),
            [b'>', ..] => (Output, 1),
            _ => return None,
        };
        self.input.advance(length);
        Some(operator)
    }

    fn here_document(&mut self, number: RedirectNumber, operator: RedirectOperator) -> Parsed<Redirect> {
        let start = self.input.position();
        let Some(target) = self.here_delimiter()? else { return Err(self.unexpected()) };
        let (delimiter, quoted) = target;
        let source = self.input.slice(start, self.input.position()).to_vec();
        let here = Rc::new(HereDocument { delimiter, quoted, body: Default::default() });
        let strip = operator == RedirectOperator::HereDocumentStripped;
        let line = self.input.line();
        self.pending.push(Pending { here: here.clone(), strip, line });
        let target = Word::quoted(Text::new(&source), Text::new(&source));
        Ok(Redirect { number, operator, target, here: Some(here) })
    }

    /// The delimiter after quote removal, and whether any of it was quoted. Expansions in it are plain text.
    fn here_delimiter(&mut self) -> Parsed<Option<(Bytes, bool)>> {
        let start = self.input.position();
        if self.word()?.is_none() {
            return Ok(None);
        }
        let source = self.input.slice(start, self.input.position()).to_vec();
        Ok(Some(remove_quotes(&source)))
    }
}

/// Quote removal over source text.
fn remove_quotes(source: &[u8]) -> (Bytes, bool) {
    let mut out = Bytes::new();
    let mut quoted = false;
    let mut quote = 0u8;
    let mut bytes = source.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if quote != b'\'' => {
                let next = bytes.peek().copied();
                let escapes = quote == 0 || matches!(next, Some(b'$' | b'`' | b'"' | b'\\' | b'\n'));
                quoted = true;
                if escapes {
                    bytes.next();
                    if let Some(next) = next.filter(|n| *n != b'\n') {
                        out.push(next);
                    }
                } else {
                    out.push(b'\\');
                }
            }
            b'\'' | b'"' if quote == 0 => {
                quote = byte;
                quoted = true;
            }
            _ if byte == quote => quote = 0,
            b'$' if quote == 0 && matches!(bytes.peek(), Some(b'\'' | b'"')) => {}
            _ => out.push(byte),
        }
    }
    (out, quoted)
}

/// `|&`: adds `2>&1` to `command`.
pub(super) fn add_error_to_output(command: &mut Command) {
    let redirect = Redirect {
        number: RedirectNumber::Number(2),
        operator: RedirectOperator::DuplicateOutput,
        target: Word::constant(Text::new(b"1")),
        here: None,
    };
    match command {
        Command::Simple(simple) => simple.add_redirect(redirect),
        Command::Compound(compound) => compound.redirects.push(redirect),
        Command::Function(_) | Command::Coprocess(_) => {}
    }
}
