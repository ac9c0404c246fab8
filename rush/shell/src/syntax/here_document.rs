//! Here-document bodies: read after the newline that ends the line with the operator.

use super::ast::{HereBody, HereDocument, Word};
use super::parser::Parser;
use super::word::Mode;
use super::{Input, Parsed};
use crate::Bytes;
use std::rc::Rc;

/// A here-document whose body has not been read yet.
pub(super) struct Pending {
    pub(super) here: Rc<HereDocument>,
    pub(super) strip: bool,
}

impl Parser<'_> {
    /// Reads the bodies that wait.
    pub(super) fn read_pending(&mut self) -> Parsed<()> {
        for pending in std::mem::take(&mut self.pending) {
            let line = self.input.line();
            let text = self.here_text(&pending, line);
            let word = if pending.here.quoted || !text.iter().any(|b| matches!(b, b'$' | b'`' | b'\\')) {
                Word::constant(text.clone())
            } else {
                let mut input = Input::from_bytes(&text, line);
                self.nested(&mut input, |parser| parser.remaining_word(Mode::HereDocument))?
            };
            let _ = pending.here.body.set(HereBody { text, word });
        }
        Ok(())
    }

    fn here_text(&mut self, pending: &Pending, line: u32) -> Bytes {
        let mut text = Bytes::new();
        loop {
            let joined = !pending.here.quoted && ends_in_continuation(&text);
            let Some((mut content, newline)) = self.input.take_line() else {
                self.warn_end_of_file(&pending.here.delimiter, line);
                return text;
            };
            if pending.strip && !joined {
                let tabs = content.iter().take_while(|b| **b == b'\t').count();
                content.drain(..tabs);
            }
            if content == pending.here.delimiter && !joined {
                return text;
            }
            // Inside a substitution the closing parenthesis may follow the delimiter on its line.
            text.extend_from_slice(&content);
            if newline {
                text.push(b'\n');
            } else {
                self.warn_end_of_file(&pending.here.delimiter, line);
                return text;
            }
        }
    }

    fn warn_end_of_file(&mut self, delimiter: &[u8], line: u32) {
        let end = self.input.line();
        let mut message =
            format!("warning: here-document at line {line} delimited by end-of-file (wanted `").into_bytes();
        message.extend_from_slice(delimiter);
        message.extend_from_slice(b"')");
        self.warnings.push((end, message));
    }
}

/// Whether `text` ends in an unescaped backslash and a newline.
fn ends_in_continuation(text: &[u8]) -> bool {
    let Some(rest) = text.strip_suffix(b"\n") else { return false };
    rest.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}
