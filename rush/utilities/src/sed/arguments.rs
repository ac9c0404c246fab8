//! The arguments of commands: what stands between delimiters, texts, labels, names of files.

use std::collections::HashMap;

/// A place in the script.
pub(super) struct Cursor<'s> {
    text: &'s [u8],
    at: usize,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(text: &'s [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn back(&mut self) {
        self.at -= 1;
    }

    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    pub(super) fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        self.skip(|b| b.is_ascii_whitespace() && b != b'\n');
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let start = self.at;
        self.skip(|b| b.is_ascii_digit());
        std::str::from_utf8(self.text.get(start..self.at)?).ok()?.parse().ok()
    }

    pub(super) fn rest_of_line(&mut self) -> &'s [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let line = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
        self.at += line.len();
        line
    }

    /// Nothing but the end of the command may follow.
    pub(super) fn end_of_command(&mut self) -> Option<()> {
        self.skip_blanks();
        match self.peek() {
            None | Some(b'}' | b'#') => Some(()),
            Some(b';' | b'\n') => {
                self.at += 1;
                Some(())
            }
            _ => None,
        }
    }

    /// A label; none for one that releases read differently.
    pub(super) fn label(&mut self) -> Option<Vec<u8>> {
        self.skip_blanks();
        let start = self.at;
        self.skip(|b| b != b';' && !b.is_ascii_whitespace());
        let label = self.text.get(start..self.at)?.to_vec();
        if label.contains(&b'}') || label.contains(&b'#') || label.contains(&b'{') {
            return None;
        }
        self.skip_blanks();
        matches!(self.peek(), None | Some(b';' | b'\n')).then_some(label)
    }

    pub(super) fn file_name(&mut self) -> Option<Vec<u8>> {
        self.skip_blanks();
        let name = self.rest_of_line().to_vec();
        (!name.is_empty()).then_some(name)
    }

    /// What stands before the next `delimiter`. Backslashes stay, but before a delimiter (which then is itself), and `\n` is a
    /// newline in an expression.
    pub(super) fn delimited(&mut self, delimiter: u8, expression: bool) -> Option<Vec<u8>> {
        if matches!(delimiter, b'\\' | b'\n') || !delimiter.is_ascii() {
            return None;
        }
        let mut out = Vec::new();
        let special = b"*.[]^$+?(){}|&0123456789nwWsSbB<>`'tfvardoxcULEul".contains(&delimiter);
        loop {
            match self.next()? {
                byte if byte == delimiter => return Some(out),
                b'\n' => return None,
                b'\\' => {
                    let next = self.next()?;
                    if next == delimiter {
                        // Whether it is the operator then is told differently by releases.
                        if special {
                            return None;
                        }
                        // In a bracket expression the backslash is one of its characters.
                        if expression && out.contains(&b'[') {
                            out.push(b'\\');
                        }
                        out.push(next);
                    } else if next == b'n' && expression {
                        out.push(b'\n');
                    } else {
                        out.extend([b'\\', next]);
                    }
                }
                byte => out.push(byte),
            }
        }
    }

    /// The text of `a`, `i` and `c`, with its newline.
    pub(super) fn text(&mut self) -> Option<Vec<u8>> {
        self.skip_blanks();
        let mut out = Vec::new();
        // `a\text`: the blanks behind the backslash are text, which is what it is written for. What is an escape then
        // differs.
        if self.eat(b'\\') && !self.eat(b'\n') && matches!(self.peek(), None | Some(b'\\')) {
            return None;
        }
        // No text at all is an error, or not, depending on the piece.
        self.peek()?;
        if out.is_empty() && self.peek() == Some(b'}') {
            return None;
        }
        loop {
            match self.next() {
                None => break,
                Some(b'\n') => break,
                Some(b'\\') => match self.next() {
                    // The next piece would go on, or it is an error.
                    None => return None,
                    Some(b't') if !out.is_empty() => out.push(b'\t'),
                    Some(byte) if byte.is_ascii_alphanumeric() => return None,
                    Some(byte) => out.push(byte),
                },
                Some(byte) => out.push(byte),
            }
        }
        out.push(b'\n');
        Some(out)
    }
}

/// The `y` command.
#[derive(Debug)]
pub(super) struct Transliteration {
    bytes: [u8; 256],
    wide: Option<HashMap<char, char>>,
}

impl Transliteration {
    pub(super) fn new(from: &[u8], to: &[u8], utf8: bool) -> Option<Self> {
        let (from, to) = (plain(from)?, plain(to)?);
        let mut bytes = [0u8; 256];
        (0u8..=255).zip(bytes.iter_mut()).for_each(|(byte, slot)| *slot = byte);
        if !utf8 || (from.is_ascii() && to.is_ascii()) {
            if from.len() != to.len() {
                return None;
            }
            for (a, b) in from.iter().zip(&to).rev() {
                bytes[usize::from(*a)] = *b;
            }
            return Some(Self { bytes, wide: None });
        }
        let (from, to) = (String::from_utf8(from).ok()?, String::from_utf8(to).ok()?);
        if from.chars().count() != to.chars().count() {
            return None;
        }
        let mut wide = HashMap::new();
        for (a, b) in from.chars().zip(to.chars()) {
            wide.entry(a).or_insert(b);
        }
        Some(Self { bytes, wide: Some(wide) })
    }

    pub(super) fn apply(&self, text: &mut Vec<u8>) {
        let Some(wide) = &self.wide else {
            text.iter_mut().for_each(|byte| *byte = self.bytes[usize::from(*byte)]);
            return;
        };
        let mut out = Vec::with_capacity(text.len());
        for chunk in text.utf8_chunks() {
            for c in chunk.valid().chars() {
                let new = wide.get(&c).copied().unwrap_or(c);
                out.extend_from_slice(new.encode_utf8(&mut [0; 4]).as_bytes());
            }
            out.extend_from_slice(chunk.invalid());
        }
        *text = out;
    }
}

/// A set of `y` without its backslashes.
fn plain(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next()? {
            b'\\' => out.push(b'\\'),
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            _ => return None,
        }
    }
    Some(out)
}
