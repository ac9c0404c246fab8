//! Here-document bodies: read after the newline that ends the line with the operator.

use super::ast::{HereBody, HereDocument, Word};
use super::parser::Parser;
use super::word::Mode;
use super::{Input, Parsed, Text};
use crate::Bytes;
use std::rc::Rc;

/// A here-document whose body has not been read yet.
pub(super) struct Pending {
    pub(super) here: Rc<HereDocument>,
    pub(super) strip: bool,
    /// The line of the operator.
    pub(super) line: u32,
}

impl Parser<'_> {
    /// Reads the bodies that wait.
    #[inline]
    pub(super) fn read_pending(&mut self) -> Parsed<()> {
        if self.pending.is_empty() { Ok(()) } else { self.read_here_documents() }
    }

    fn read_here_documents(&mut self) -> Parsed<()> {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.here_text(&pending);
            let word = if pending.here.quoted || !text.iter().any(|b| matches!(b, b'$' | b'`' | b'\\')) {
                Word::constant(Text::new(&text))
            } else {
                // bash counts the lines of the body from the operator's.
                let mut input = Input::from_bytes(&text, pending.line);
                self.nested(&mut input, |parser| parser.remaining_word(Mode::HereDocument))?
            };
            let _ = pending.here.body.set(HereBody { text, word });
        }
        Ok(())
    }

    fn here_text(&mut self, pending: &Pending) -> Bytes {
        let mut text = Bytes::new();
        loop {
            let joined = !pending.here.quoted && ends_in_continuation(&text);
            let Some((mut content, newline)) = self.input.take_line() else {
                self.warn_end_of_file(pending);
                return text;
            };
            if pending.strip && !joined {
                let tabs = content.iter().take_while(|b| **b == b'\t').count();
                content = &content[tabs..];
            }
            if *content == *pending.here.delimiter && !joined {
                return text;
            }
            // Inside a substitution the closing parenthesis may follow the delimiter on its line.
            text.extend_from_slice(content);
            text.push(b'\n');
            if !newline {
                self.warn_end_of_file(pending);
                return text;
            }
        }
    }

    fn warn_end_of_file(&mut self, pending: &Pending) {
        // The last line, not the one that would follow it.
        let at = self.input.position();
        let ended = at > 0 && self.input.slice(at - 1, at) == b"\n";
        let end = self.input.line() - u32::from(ended);
        let line = pending.line;
        let mut message =
            format!("warning: here-document at line {line} delimited by end-of-file (wanted `").into_bytes();
        message.extend_from_slice(&pending.here.delimiter);
        message.extend_from_slice(b"')");
        self.warnings.push((end, message));
    }
}

/// Whether `text` ends in an unescaped backslash and a newline.
fn ends_in_continuation(text: &[u8]) -> bool {
    let Some(rest) = text.strip_suffix(b"\n") else { return false };
    rest.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}
