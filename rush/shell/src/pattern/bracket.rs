//! Bracket expressions: `[abc]`, `[!a-z]`, `[[:alpha:]]`, `[[=a=]]`, `[[.hyphen.]]`.
//!
//! Shared by shell patterns and regular expressions, which differ only in how the text is read. In the C
//! locale an equivalence class holds one character and a collating element is a character or its POSIX name.

use super::character::{fold, upper};

/// A named character class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Xdigit,
}

impl Class {
    /// The class called `name`.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alnum" => Self::Alnum,
            b"alpha" => Self::Alpha,
            b"ascii" => Self::Ascii,
            b"blank" => Self::Blank,
            b"cntrl" => Self::Cntrl,
            b"digit" => Self::Digit,
            b"graph" => Self::Graph,
            b"lower" => Self::Lower,
            b"print" => Self::Print,
            b"punct" => Self::Punct,
            b"space" => Self::Space,
            b"upper" => Self::Upper,
            b"word" => Self::Word,
            b"xdigit" => Self::Xdigit,
            _ => return None,
        })
    }

    /// Whether the class holds `code`.
    pub(crate) fn contains(self, code: u32) -> bool {
        let Some(c) = char::from_u32(code) else { return false };
        let ascii = c.is_ascii();
        match self {
            Self::Alnum => c.is_alphanumeric(),
            Self::Alpha => c.is_alphabetic(),
            Self::Ascii => ascii,
            Self::Blank => matches!(c, ' ' | '\t') || (!ascii && c.is_whitespace()),
            Self::Cntrl => c.is_control(),
            Self::Digit => c.is_ascii_digit(),
            Self::Graph => c.is_ascii_graphic() || (!ascii && !c.is_control() && !c.is_whitespace()),
            Self::Lower => c.is_lowercase(),
            Self::Print => c == ' ' || c.is_ascii_graphic() || (!ascii && !c.is_control()),
            Self::Punct => c.is_ascii_punctuation() || (!ascii && is_punctuation(c)),
            Self::Space => c.is_ascii_whitespace() || c == '\x0b' || (!ascii && c.is_whitespace()),
            Self::Upper => c.is_uppercase(),
            Self::Word => c.is_alphanumeric() || c == '_',
            Self::Xdigit => c.is_ascii_hexdigit(),
        }
    }
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_control() && !c.is_whitespace()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Range(u32, u32),
    Class(Class),
}

/// A compiled bracket expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bracket {
    negated: bool,
    items: Vec<Item>,
    /// The verdict for each ASCII character, negation included.
    ascii: [bool; 128],
    ignore_case: bool,
}

impl Bracket {
    pub(crate) fn new(negated: bool, ignore_case: bool) -> Self {
        Self { negated, items: Vec::new(), ascii: [false; 128], ignore_case }
    }

    pub(crate) fn add_range(&mut self, low: u32, high: u32) {
        if low <= high {
            self.items.push(Item::Range(low, high));
        }
    }

    pub(crate) fn add_class(&mut self, class: Class) {
        self.items.push(Item::Class(class));
    }

    /// Ends the construction: fills the table for ASCII.
    pub(crate) fn finish(mut self) -> Self {
        let mut ascii = [false; 128];
        for (code, verdict) in (0u32..).zip(ascii.iter_mut()) {
            *verdict = self.lookup(code) != self.negated;
        }
        self.ascii = ascii;
        self
    }

    /// Whether the expression matches the character.
    #[inline]
    pub(crate) fn contains(&self, code: u32) -> bool {
        match self.ascii.get(code as usize) {
            Some(&verdict) => verdict,
            None => self.lookup(code) != self.negated,
        }
    }

    fn lookup(&self, code: u32) -> bool {
        self.lookup_exact(code)
            || (self.ignore_case && (self.lookup_exact(fold(code)) || self.lookup_exact(upper(code))))
    }

    fn lookup_exact(&self, code: u32) -> bool {
        self.items.iter().any(|item| match *item {
            Item::Range(low, high) => (low..=high).contains(&code),
            Item::Class(class) => class.contains(code),
        })
    }
}

/// The character with the POSIX collating name `name` (or the character itself).
pub(crate) fn collating_element(name: &[u8], decode: impl Fn(&[u8]) -> (u32, usize)) -> Option<u32> {
    let (code, length) = decode(name);
    if length == name.len() && length > 0 {
        return Some(code);
    }
    COLLATING_NAMES.iter().find(|(n, _)| n.as_bytes() == name).map(|&(_, byte)| u32::from(byte))
}

/// POSIX XBD 6.1, the names of the portable character set that are not letters.
const COLLATING_NAMES: &[(&str, u8)] = &[
    ("NUL", 0),
    ("alert", 7),
    ("backspace", 8),
    ("tab", 9),
    ("newline", 10),
    ("vertical-tab", 11),
    ("form-feed", 12),
    ("carriage-return", 13),
    ("space", b' '),
    ("exclamation-mark", b'!'),
    ("quotation-mark", b'"'),
    ("number-sign", b'#'),
    ("dollar-sign", b'$'),
    ("percent-sign", b'%'),
    ("ampersand", b'&'),
    ("apostrophe", b'\''),
    ("left-parenthesis", b'('),
    ("right-parenthesis", b')'),
    ("asterisk", b'*'),
    ("plus-sign", b'+'),
    ("comma", b','),
    ("hyphen", b'-'),
    ("hyphen-minus", b'-'),
    ("minus", b'-'),
    ("dash", b'-'),
    ("period", b'.'),
    ("full-stop", b'.'),
    ("slash", b'/'),
    ("solidus", b'/'),
    ("zero", b'0'),
    ("one", b'1'),
    ("two", b'2'),
    ("three", b'3'),
    ("four", b'4'),
    ("five", b'5'),
    ("six", b'6'),
    ("seven", b'7'),
    ("eight", b'8'),
    ("nine", b'9'),
    ("colon", b':'),
    ("semicolon", b';'),
    ("less-than-sign", b'<'),
    ("equals-sign", b'='),
    ("greater-than-sign", b'>'),
    ("question-mark", b'?'),
    ("commercial-at", b'@'),
    ("left-square-bracket", b'['),
    ("backslash", b'\\'),
    ("reverse-solidus", b'\\'),
    ("right-square-bracket", b']'),
    ("circumflex", b'^'),
    ("underscore", b'_'),
    ("low-line", b'_'),
    ("grave-accent", b'`'),
    ("left-brace", b'{'),
    ("left-curly-bracket", b'{'),
    ("vertical-line", b'|'),
    ("right-brace", b'}'),
    ("right-curly-bracket", b'}'),
    ("tilde", b'~'),
    ("DEL", 127),
];
