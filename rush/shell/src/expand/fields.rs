//! Field building: collects the pieces of a word into fields, splitting unquoted expansions at IFS (POSIX XCU 2.6.5),
//! and keeps, beside the text, a pattern with quoted characters escaped when pathname expansion may be needed.

use crate::Bytes;
use crate::pattern;
use std::rc::Rc;

/// The splitting characters, prepared.
#[derive(Debug, Clone)]
pub struct Separators {
    class: [Class; 256],
    /// Characters of several bytes; their first bytes have the class [`Class::Lead`].
    wide: Vec<Bytes>,
    /// What `"$*"` joins with.
    pub joiner: Option<Bytes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Text,
    White,
    Other,
    /// The first byte of a separator of several bytes, or of another character.
    Lead,
}

impl Separators {
    /// The separators of a value of IFS; `None` is unset. `utf8` says that a character may have several bytes.
    pub fn new(ifs: Option<&[u8]>, utf8: bool) -> Separators {
        let text = ifs.unwrap_or(b" \t\n");
        let mut separators = Separators { class: [Class::Text; 256], wide: Vec::new(), joiner: None };
        let mut rest = text;
        while let Some(first) = rest.first() {
            let (character, tail) = rest.split_at(if utf8 { character_length(rest) } else { 1 });
            separators.class[usize::from(*first)] = match first {
                b' ' | b'\t' | b'\n' => Class::White,
                _ if character.len() > 1 => Class::Lead,
                _ => Class::Other,
            };
            if character.len() > 1 {
                separators.wide.push(character.to_vec());
            }
            separators.joiner.get_or_insert_with(|| character.to_vec());
            rest = tail;
        }
        separators
    }

    /// Whether `byte` is IFS white space.
    pub fn is_white(&self, byte: u8) -> bool {
        self.class[usize::from(byte)] == Class::White
    }

    /// The length of the separator that `text` begins with, 0 if it does not.
    pub fn length_at(&self, text: &[u8]) -> usize {
        match text.first().map(|byte| self.class[usize::from(*byte)]) {
            None | Some(Class::Text) => 0,
            Some(Class::Lead) => {
                self.wide.iter().find(|wide| text.starts_with(wide)).map_or(0, |wide| wide.len())
            }
            Some(_) => 1,
        }
    }
}

/// The length of the UTF-8 character that `text` begins with; 1 for a byte that begins none.
fn character_length(text: &[u8]) -> usize {
    let end = text.len().min(char::MAX.len_utf8());
    let valid = (1..=end).find(|length| std::str::from_utf8(&text[..*length]).is_ok());
    valid.unwrap_or(1)
}

/// What the fields are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Arguments: split, and expand pathnames.
    Arguments,
    /// One string, not split.
    Single,
    /// One pattern, quoted characters escaped with backslashes.
    Pattern,
    /// A replacement in `${x/p/r}`: quoted `&` and backslashes escaped.
    Replacement,
    /// One extended regular expression, quoted characters escaped.
    Regex,
}

/// Fields under construction.
pub struct Fields<'o> {
    /// What they are for.
    pub purpose: Purpose,
    separators: Rc<Separators>,
    out: &'o mut Vec<Bytes>,
    /// Fields of `out` that pathname expansion has to look at, with their patterns.
    pub globs: Vec<(usize, Bytes)>,
    current: Bytes,
    pattern: Option<Bytes>,
    started: bool,
    after_white: bool,
    extglob: bool,
}

impl<'o> Fields<'o> {
    /// Fields that go to `out`.
    pub fn new(
        purpose: Purpose,
        separators: Rc<Separators>,
        extglob: bool,
        out: &'o mut Vec<Bytes>,
    ) -> Fields<'o> {
        Fields {
            purpose,
            separators,
            out,
            globs: Vec::new(),
            current: Bytes::new(),
            pattern: None,
            started: false,
            after_white: false,
            extglob,
        }
    }

    /// Whether fields are split.
    pub fn splits(&self) -> bool {
        self.purpose == Purpose::Arguments
    }

    /// What `"$*"` joins with.
    pub fn joiner(&self) -> Option<&[u8]> {
        self.separators.joiner.as_deref()
    }

    /// Unquoted text of the word itself: not split, pattern characters active.
    pub fn literal(&mut self, text: &[u8]) {
        self.started = true;
        self.after_white = false;
        self.push_active(text);
    }

    /// Quoted text; an empty one still makes a field.
    pub fn quoted(&mut self, text: &[u8]) {
        self.started = true;
        self.after_white = false;
        match self.purpose {
            Purpose::Pattern => pattern::escape_into(&mut self.current, text),
            // In a bracket expression a backslash would stand for itself.
            Purpose::Regex if in_bracket(&self.current) => self.current.extend_from_slice(text),
            Purpose::Regex => escape_regex(&mut self.current, text),
            Purpose::Replacement => {
                for &byte in text {
                    if matches!(byte, b'&' | b'\\') {
                        self.current.push(b'\\');
                    }
                    self.current.push(byte);
                }
            }
            Purpose::Single => self.current.extend_from_slice(text),
            Purpose::Arguments => {
                if let Some(pattern) = &mut self.pattern {
                    pattern::escape_into(pattern, text);
                }
                self.current.extend_from_slice(text);
            }
        }
    }

    /// The result of an unquoted expansion: split where that is the purpose.
    pub fn expanded(&mut self, text: &[u8]) {
        if !self.splits() {
            self.push_active(text);
            return;
        }
        let mut start = 0;
        let separators = self.separators.clone();
        for (at, byte) in text.iter().enumerate() {
            let class = separators.class[usize::from(*byte)];
            if class == Class::Text {
                continue;
            }
            let length = if class == Class::Lead { separators.length_at(&text[at..]) } else { 1 };
            if length == 0 {
                continue;
            }
            if at > start {
                self.add_split(&text[start..at]);
            }
            start = at + length;
            self.separator(class);
        }
        if start < text.len() {
            self.add_split(&text[start..]);
        }
    }

    fn add_split(&mut self, text: &[u8]) {
        self.started = true;
        self.after_white = false;
        self.push_active(text);
    }

    fn separator(&mut self, class: Class) {
        if self.started {
            self.end_field();
            self.after_white = class == Class::White;
        } else if class != Class::White {
            if !self.after_white {
                self.started = true;
                self.end_field();
            }
            self.after_white = false;
        }
    }

    fn push_active(&mut self, text: &[u8]) {
        if self.splits() && self.pattern.is_none() && starts_pattern(text, self.extglob) {
            let mut pattern = Bytes::with_capacity(self.current.len() + text.len());
            pattern::escape_into(&mut pattern, &self.current);
            self.pattern = Some(pattern);
        }
        if let Some(pattern) = &mut self.pattern {
            pattern.extend_from_slice(text);
        }
        self.current.extend_from_slice(text);
    }

    /// Ends the field between two elements of `"$@"`, empty or not.
    pub fn break_quoted(&mut self) {
        self.started = true;
        self.end_field();
        self.after_white = false;
    }

    /// Ends the field between two elements of an unquoted `$@` or `$*`: as if the first character of IFS stood there, so that
    /// an empty element makes a field unless that is white space.
    pub fn break_unquoted(&mut self) {
        let first = self.separators.joiner.as_ref().and_then(|joiner| joiner.first());
        match first.map(|byte| self.separators.class[usize::from(*byte)]) {
            Some(Class::White) => self.separator(Class::White),
            Some(_) => self.separator(Class::Other),
            None => {
                if self.started {
                    self.end_field();
                }
                self.after_white = false;
            }
        }
    }

    fn end_field(&mut self) {
        if let Some(pattern) = self.pattern.take() {
            self.globs.push((self.out.len(), pattern));
        }
        self.out.push(std::mem::take(&mut self.current));
        self.started = false;
    }

    /// Ends the word: the last field counts if it has content or quotes.
    pub fn finish(mut self) -> Vec<(usize, Bytes)> {
        if self.started || !self.splits() {
            self.end_field();
        }
        self.globs
    }
}

/// Whether `text` has a character that can begin a pattern.
fn starts_pattern(text: &[u8], extglob: bool) -> bool {
    text.iter().any(|b| matches!(b, b'*' | b'?' | b'[' | b'\\')) || extglob && text.contains(&b'(')
}

/// Escapes what an extended regular expression would read as an operator.
fn escape_regex(out: &mut Bytes, text: &[u8]) {
    for &byte in text {
        if b".[]{}()\\*+?|^$".contains(&byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

/// Whether a bracket expression is open at the end of `regex`.
fn in_bracket(regex: &[u8]) -> bool {
    let mut at = 0;
    while let Some(byte) = regex.get(at) {
        at += match byte {
            b'\\' => 2,
            b'[' => match bracket_length(&regex[at..]) {
                Some(length) => length,
                None => return true,
            },
            _ => 1,
        };
    }
    false
}

/// The length of the bracket expression that `text` begins with, if it is closed.
fn bracket_length(text: &[u8]) -> Option<usize> {
    let mut at = if text.get(1) == Some(&b'^') { 2 } else { 1 };
    // A bracket that comes first stands for itself.
    if text.get(at) == Some(&b']') {
        at += 1;
    }
    loop {
        match (text.get(at)?, text.get(at + 1)) {
            (b']', _) => return Some(at + 1),
            (b'[', Some(kind @ (b':' | b'.' | b'='))) => {
                let end = [*kind, b']'];
                at += 2 + text[at + 2..].windows(2).position(|pair| pair == end)? + 2;
            }
            _ => at += 1,
        }
    }
}
