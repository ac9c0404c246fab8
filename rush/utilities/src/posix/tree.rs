//! The tree of an expression.

use std::sync::OnceLock;

use regex::Regex;

/// One element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Empty,
    /// A character (a byte where there are no others).
    Character(u32),
    Any,
    Set(Set),
    Assert(Assertion),
    /// A group, by its number.
    Group(usize, Box<Node>),
    Concatenation(Vec<Node>),
    Alternatives(Vec<Node>),
    Repeat {
        node: Box<Node>,
        least: u32,
        most: Option<u32>,
    },
    BackReference(usize),
}

/// What takes no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assertion {
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
    WordBoundary,
    NotWordBoundary,
    WordStart,
    WordEnd,
}

/// A bracket expression, `\w` or the like.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Set {
    pub(super) negated: bool,
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) classes: Vec<Class>,
}

/// A class of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Alnum,
    Alpha,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Xdigit,
    /// `[[:alnum:]_]`
    Word,
}

/// An expression.
pub(super) struct Tree {
    pub(super) root: Node,
    pub(super) groups: usize,
    pub(super) has_back_references: bool,
}

impl Tree {
    /// Whether the path that a backtracking matcher prefers is the longest, too. It is where nothing but single characters is
    /// repeated and there are no alternatives: of two paths that part at an optional character, the one that takes it is
    /// never behind the other in the expression, and where it overtakes it, it could go on as that one does.
    pub(super) fn greedy_is_longest(&self) -> bool {
        is_chain(&self.root)
    }
}

fn is_chain(node: &Node) -> bool {
    match node {
        Node::Empty | Node::Character(_) | Node::Any | Node::Set(_) | Node::Assert(_) => true,
        Node::Group(_, inner) => is_chain(inner),
        Node::Concatenation(nodes) => nodes.iter().all(is_chain),
        Node::Repeat { node, .. } => is_single(node),
        Node::Alternatives(_) | Node::BackReference(_) => false,
    }
}

fn is_single(node: &Node) -> bool {
    match node {
        Node::Character(_) | Node::Any | Node::Set(_) => true,
        Node::Group(_, inner) => is_single(inner),
        _ => false,
    }
}

impl Class {
    /// Whether the character is in the class, as the C library's UTF-8 locale (or, without, its C locale) has it.
    pub(super) fn contains(self, c: u32, utf8: bool) -> bool {
        match u8::try_from(c) {
            Ok(byte) if byte < 0x80 => self.contains_ascii(byte),
            _ if !utf8 => false,
            _ => char::from_u32(c).is_some_and(|c| self.contains_wide(c)),
        }
    }

    fn contains_ascii(self, byte: u8) -> bool {
        match self {
            Class::Alnum => byte.is_ascii_alphanumeric(),
            Class::Alpha => byte.is_ascii_alphabetic(),
            Class::Blank => matches!(byte, b' ' | b'\t'),
            Class::Cntrl => byte.is_ascii_control(),
            Class::Digit => byte.is_ascii_digit(),
            Class::Graph => byte.is_ascii_graphic(),
            Class::Lower => byte.is_ascii_lowercase(),
            Class::Print => matches!(byte, b' '..=b'~'),
            Class::Punct => byte.is_ascii_punctuation(),
            Class::Space => matches!(byte, b'\t'..=b'\r' | b' '),
            Class::Upper => byte.is_ascii_uppercase(),
            Class::Xdigit => byte.is_ascii_hexdigit(),
            Class::Word => byte.is_ascii_alphanumeric() || byte == b'_',
        }
    }

    /// Those that [`Class::has_wide_table`] refuses are in no set.
    fn contains_wide(self, c: char) -> bool {
        match self {
            Class::Alnum | Class::Alpha | Class::Word => {
                // Letters, and the digits of every script.
                static TABLE: OnceLock<Option<Regex>> = OnceLock::new();
                let table = TABLE.get_or_init(|| Regex::new("[\\p{Alphabetic}\\p{Nd}]").ok());
                table.as_ref().is_some_and(|table| table.is_match(c.encode_utf8(&mut [0; 4])))
            }
            Class::Blank => {
                matches!(c, '\u{1680}' | '\u{2000}'..='\u{2006}' | '\u{2008}'..='\u{200a}' | '\u{205f}' | '\u{3000}')
            }
            Class::Cntrl => matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}'),
            Class::Lower => c.is_lowercase(),
            Class::Upper => {
                static TABLE: OnceLock<Option<Regex>> = OnceLock::new();
                let table = TABLE.get_or_init(|| Regex::new("[\\p{Uppercase}\\p{Lt}]").ok());
                table.as_ref().is_some_and(|table| table.is_match(c.encode_utf8(&mut [0; 4])))
            }
            Class::Space => Class::Blank.contains_wide(c) || matches!(c, '\u{2028}' | '\u{2029}'),
            Class::Digit | Class::Xdigit | Class::Graph | Class::Print | Class::Punct => false,
        }
    }

    /// Whether what is said of characters beyond ASCII holds for all of them: of the others only the system's tables know.
    pub(super) fn has_wide_table(self) -> bool {
        !matches!(self, Class::Graph | Class::Print | Class::Punct)
    }

    /// What stands in brackets of the `regex` crate for the class.
    pub(super) fn text(self, utf8: bool) -> &'static str {
        match (self, utf8) {
            (Class::Alnum, false) => "0-9A-Za-z",
            (Class::Alpha, false) => "A-Za-z",
            (Class::Blank, false) => "\\t ",
            (Class::Cntrl, false) => "\\x00-\\x1f\\x7f",
            (Class::Lower, false) => "a-z",
            (Class::Space, false) => "\\t-\\r ",
            (Class::Upper, false) => "A-Z",
            (Class::Word, false) => "0-9A-Za-z_",
            (Class::Alnum, true) => "0-9A-Za-z[\\p{Alphabetic}\\p{Nd}&&[^\\x00-\\x7f]]",
            (Class::Alpha, true) => "A-Za-z[\\p{Alphabetic}\\p{Nd}&&[^\\x00-\\x7f]]",
            (Class::Word, true) => "0-9A-Za-z_[\\p{Alphabetic}\\p{Nd}&&[^\\x00-\\x7f]]",
            (Class::Blank, true) => "\\t \\u{1680}\\u{2000}-\\u{2006}\\u{2008}-\\u{200a}\\u{205f}\\u{3000}",
            (Class::Cntrl, true) => "\\x00-\\x1f\\x7f-\\x{9f}\\u{2028}\\u{2029}",
            (Class::Lower, true) => "\\p{Lowercase}",
            (Class::Space, true) => {
                "\\t-\\r \\u{1680}\\u{2000}-\\u{2006}\\u{2008}-\\u{200a}\\u{2028}\\u{2029}\\u{205f}\\u{3000}"
            }
            (Class::Upper, true) => "\\p{Uppercase}\\p{Lt}",
            (Class::Digit, _) => "0-9",
            (Class::Graph, _) => "!-~",
            (Class::Print, _) => "\\x20-~",
            (Class::Punct, _) => "!-/:-@\\[-`{-~",
            (Class::Xdigit, _) => "0-9A-Fa-f",
        }
    }
}

impl Set {
    /// Whether the character is in the set.
    pub(super) fn contains(&self, c: u32, utf8: bool) -> bool {
        let inside = self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c))
            || self.classes.iter().any(|class| class.contains(c, utf8));
        inside != self.negated
    }
}
