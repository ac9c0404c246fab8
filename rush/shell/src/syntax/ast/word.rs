//! Words. A word without quotes and expansions is its text; whatever else there is to know of one is in a block of its
//! own.

use super::{Assignment, Part, Text};
use std::cell::OnceCell;
use std::ops::Deref;
use std::rc::Rc;

/// A word: what expands to fields.
#[derive(Debug, Clone)]
pub struct Word(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// A constant that is written as it is.
    Plain(Text),
    Written(Box<Written>),
}

/// A word that is not written as the field it expands to.
#[derive(Debug, Clone)]
struct Written {
    content: Content,
    source: Text,
    extra: Option<Box<Extra>>,
}

/// Deep trees are taken apart with room for it.
impl Drop for Written {
    fn drop(&mut self) {
        if let Content::Parts(parts) = &mut self.content {
            let parts = std::mem::take(parts);
            crate::sys::stack::with_room(|| drop(parts));
        }
    }
}

#[derive(Debug, Clone)]
enum Content {
    Constant(Text),
    Parts(Parts),
}

/// What few words have.
#[derive(Debug, Clone, Default)]
struct Extra {
    braces: Option<BraceCell>,
    assignment: Option<Assignment>,
}

/// The words that brace expansion gives; `None` inside if there is nothing to expand.
pub type BraceCell = OnceCell<Option<Rc<[Word]>>>;

/// Whether a word needs any expansion.
#[derive(Debug, Clone, Copy)]
pub enum WordKind<'a> {
    /// Expands to exactly this field in every context: no expansion, no pattern characters, no braces.
    Constant(&'a Text),
    /// Expands part by part.
    Parts(&'a [Part]),
}

/// The parts of a word: mostly one.
#[derive(Debug, Clone)]
pub enum Parts {
    /// A part by itself.
    One(Part),
    /// None or several.
    Many(Box<[Part]>),
}

impl Default for Parts {
    fn default() -> Self {
        Parts::Many(Box::default())
    }
}

impl From<Vec<Part>> for Parts {
    fn from(list: Vec<Part>) -> Self {
        Parts::Many(list.into())
    }
}

impl From<Parts> for Box<[Part]> {
    fn from(parts: Parts) -> Self {
        match parts {
            Parts::One(part) => Box::new([part]),
            Parts::Many(list) => list,
        }
    }
}

impl Deref for Parts {
    type Target = [Part];

    #[inline]
    fn deref(&self) -> &[Part] {
        match self {
            Parts::One(part) => std::slice::from_ref(part),
            Parts::Many(list) => list,
        }
    }
}

impl Default for Word {
    fn default() -> Self {
        Word::constant(Text::EMPTY)
    }
}

impl Word {
    /// A constant word.
    #[inline]
    pub fn constant(text: Text) -> Word {
        Word(Kind::Plain(text))
    }

    /// A constant word that is written as `source`, with quotes.
    pub fn quoted(text: Text, source: Text) -> Word {
        Word::written(Content::Constant(text), source, None)
    }

    /// A word of parts that is written as `source`. `braces` says that brace expansion has to look.
    pub fn expanding(parts: Parts, source: Text, braces: bool) -> Word {
        let extra = braces.then(|| Box::new(Extra { braces: Some(BraceCell::new()), assignment: None }));
        Word::written(Content::Parts(parts), source, extra)
    }

    /// A word of parts, without its source text.
    pub fn from_parts(list: Vec<Part>) -> Word {
        Word::expanding(Parts::from(list), Text::EMPTY, false)
    }

    fn written(content: Content, source: Text, extra: Option<Box<Extra>>) -> Word {
        Word(Kind::Written(Box::new(Written { content, source, extra })))
    }

    /// This word as the argument of a declaration builtin that forms `assignment` and is written as `source`.
    pub fn declaring(self, assignment: Assignment, source: Text) -> Word {
        let (content, extra) = match self.0 {
            Kind::Plain(text) => (Content::Constant(text), None),
            Kind::Written(mut written) => {
                let content = std::mem::replace(&mut written.content, Content::Constant(Text::EMPTY));
                (content, written.extra.take())
            }
        };
        let mut extra = extra.unwrap_or_default();
        extra.assignment = Some(assignment);
        Word::written(content, source, Some(extra))
    }

    /// This word with `head` before it.
    pub fn after(&self, head: Part) -> Word {
        let mut list = vec![head];
        match self.kind() {
            WordKind::Constant(text) => list.push(Part::Quoted(text.clone())),
            WordKind::Parts(parts) => list.extend(parts.iter().cloned()),
        }
        Word::from_parts(list)
    }

    /// This word with its tilde-prefixes as quoted text.
    pub fn without_tildes(&self) -> Word {
        let WordKind::Parts(parts) = self.kind() else { return self.clone() };
        let plain = parts.iter().map(|part| match part {
            Part::Tilde(user) => Part::Quoted(Text::from([b"~", &user[..]].concat())),
            other => other.clone(),
        });
        Word::from_parts(plain.collect())
    }

    /// The constant or the parts.
    #[inline]
    pub fn kind(&self) -> WordKind<'_> {
        match &self.0 {
            Kind::Plain(text) => WordKind::Constant(text),
            Kind::Written(written) => match &written.content {
                Content::Constant(text) => WordKind::Constant(text),
                Content::Parts(parts) => WordKind::Parts(parts),
            },
        }
    }

    /// The constant, if it is one.
    #[inline]
    pub fn as_constant(&self) -> Option<&[u8]> {
        match self.kind() {
            WordKind::Constant(text) => Some(text),
            WordKind::Parts(_) => None,
        }
    }

    /// Whether it is a constant that is written as it is.
    pub fn is_plain(&self) -> bool {
        matches!(self.0, Kind::Plain(_))
    }

    /// The text as written.
    pub fn source(&self) -> &[u8] {
        match &self.0 {
            Kind::Plain(text) => text,
            Kind::Written(written) => &written.source,
        }
    }

    /// The word's text if it is entirely unquoted literal text.
    pub fn unquoted_literal(&self) -> Option<&[u8]> {
        match self.kind() {
            WordKind::Constant(text) if self.is_plain() => Some(text),
            WordKind::Parts([Part::Literal(text)]) => Some(text),
            _ => None,
        }
    }

    /// Where the words are kept that brace expansion gives, if an unquoted brace occurs.
    #[inline]
    pub fn braces(&self) -> Option<&BraceCell> {
        self.extra()?.braces.as_ref()
    }

    /// The assignment this word forms, as an argument of a declaration builtin.
    #[inline]
    pub fn assignment(&self) -> Option<&Assignment> {
        self.extra()?.assignment.as_ref()
    }

    #[inline]
    fn extra(&self) -> Option<&Extra> {
        match &self.0 {
            Kind::Plain(_) => None,
            Kind::Written(written) => written.extra.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_word_is_its_text() {
        assert_eq!(size_of::<Word>(), size_of::<Text>());
        assert_eq!(size_of::<Content>(), size_of::<Part>());
    }
}
