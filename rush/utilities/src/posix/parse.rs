//! Reading basic and extended expressions. `None` for what the C library refuses and for what only its tables know.

use super::tree::{Assertion, Class, Node, Set, Tree};
use super::{Dialect, Escapes};

/// Groups inside each other.
const NESTING_MAX: usize = 200;
/// The most that an interval may ask for; beyond that the program says what it does.
const REPEAT_MAX: u32 = 1_000;

pub(super) fn parse(text: &[u8], dialect: Dialect) -> Option<Tree> {
    let characters: Vec<u32> = if dialect.utf8 {
        std::str::from_utf8(text).ok()?.chars().map(u32::from).collect()
    } else {
        text.iter().map(|b| u32::from(*b)).collect()
    };
    // What is one character in both cases beyond ASCII is for the system's tables.
    if dialect.ignore_case && !text.is_ascii() {
        return None;
    }
    let mut parser =
        Parser { text: &characters, at: 0, dialect, groups: 0, open: Vec::new(), references: false };
    let root = parser.alternatives(0)?;
    if parser.at < characters.len() {
        return None;
    }
    Some(Tree { root, groups: parser.groups, has_back_references: parser.references })
}

struct Parser<'t> {
    text: &'t [u32],
    at: usize,
    dialect: Dialect,
    groups: usize,
    /// Groups that are not closed yet.
    open: Vec<usize>,
    references: bool,
}

const fn c(byte: u8) -> u32 {
    byte as u32
}

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> Option<u32> {
        self.text.get(self.at + ahead).copied()
    }

    fn is(&self, ahead: usize, byte: u8) -> bool {
        self.peek(ahead) == Some(c(byte))
    }

    /// Whether an operator stands here: `byte`, behind a backslash in basic expressions.
    fn operator(&self, byte: u8) -> bool {
        if self.dialect.extended { self.is(0, byte) } else { self.is(0, b'\\') && self.is(1, byte) }
    }

    fn operator_length(&self) -> usize {
        if self.dialect.extended { 1 } else { 2 }
    }

    fn alternatives(&mut self, depth: usize) -> Option<Node> {
        if depth > NESTING_MAX {
            return None;
        }
        let mut all = vec![self.branch(depth)?];
        while self.operator(b'|') {
            self.at += self.operator_length();
            all.push(self.branch(depth)?);
        }
        if all.len() == 1 { all.pop() } else { Some(Node::Alternatives(all)) }
    }

    fn branch(&mut self, depth: usize) -> Option<Node> {
        let mut nodes = Vec::new();
        // Where a basic expression has an anchor or a star that is itself.
        let mut at_start = true;
        loop {
            if self.at >= self.text.len()
                || self.operator(b'|')
                || (self.operator(b')') && (depth > 0 || self.dialect.extended))
            {
                break;
            }
            let node = self.element(depth, at_start)?;
            at_start = false;
            if let Node::Assert(_) = node {
                // What follows an anchor repeats nothing.
                if self.repetition_follows() {
                    if self.dialect.extended || !self.is(0, b'*') {
                        return None;
                    }
                    self.at += 1;
                    nodes.push(node);
                    nodes.push(self.repeated(Node::Character(c(b'*')))?);
                    continue;
                }
                nodes.push(node);
                continue;
            }
            nodes.push(self.repeated(node)?);
        }
        match nodes.len() {
            0 => Some(Node::Empty),
            1 => nodes.pop(),
            _ => Some(Node::Concatenation(nodes)),
        }
    }

    fn repetition_follows(&self) -> bool {
        self.is(0, b'*') || [b'+', b'?', b'{'].iter().any(|byte| self.operator(*byte))
    }

    fn repeated(&mut self, mut node: Node) -> Option<Node> {
        while self.repetition_follows() {
            let (least, most) = if self.is(0, b'*') {
                self.at += 1;
                (0, None)
            } else if self.operator(b'+') {
                self.at += self.operator_length();
                (1, None)
            } else if self.operator(b'?') {
                self.at += self.operator_length();
                (0, Some(1))
            } else {
                self.at += self.operator_length();
                self.interval()?
            };
            // Nothing but counts inside counts makes programs large.
            if matches!(&node, Node::Repeat { most: Some(high), .. } if *high > 1)
                && most.is_some_and(|m| m > 1)
            {
                return None;
            }
            node = Node::Repeat { node: Box::new(node), least, most };
        }
        Some(node)
    }

    /// `m,n}` behind the brace.
    fn interval(&mut self) -> Option<(u32, Option<u32>)> {
        let mut number = |parser: &mut Self| {
            let start = parser.at;
            let mut value = 0u32;
            while let Some(digit) = parser.peek(0).and_then(char::from_u32).and_then(|d| d.to_digit(10)) {
                value = value.saturating_mul(10).saturating_add(digit);
                parser.at += 1;
            }
            (parser.at > start).then_some(value)
        };
        let low = number(self);
        let (least, most) = if self.is(0, b',') {
            self.at += 1;
            (low.unwrap_or(0), number(self))
        } else {
            (low?, low)
        };
        if !self.operator(b'}') {
            return None;
        }
        self.at += self.operator_length();
        let fits = least <= REPEAT_MAX && most.is_none_or(|most| most <= REPEAT_MAX && least <= most);
        fits.then_some((least, most))
    }

    fn element(&mut self, depth: usize, at_start: bool) -> Option<Node> {
        let extended = self.dialect.extended;
        if self.operator(b'(') {
            self.at += self.operator_length();
            self.groups += 1;
            let number = self.groups;
            self.open.push(number);
            let inner = self.alternatives(depth + 1)?;
            if !self.operator(b')') {
                return None;
            }
            self.at += self.operator_length();
            self.open.pop();
            return Some(Node::Group(number, Box::new(inner)));
        }
        if self.operator(b')') || (extended && [b'*', b'+', b'?', b'{'].iter().any(|b| self.is(0, *b))) {
            return None;
        }
        let character = self.peek(0)?;
        let byte = u8::try_from(character).unwrap_or(0);
        match byte {
            b'\\' => self.escaped(at_start),
            b'.' => {
                self.at += 1;
                Some(Node::Any)
            }
            b'[' => {
                self.at += 1;
                self.bracket()
            }
            b'^' if extended || at_start => {
                self.at += 1;
                Some(Node::Assert(Assertion::LineStart))
            }
            b'$' if extended || self.ends_branch() => {
                self.at += 1;
                Some(Node::Assert(Assertion::LineEnd))
            }
            _ => {
                self.at += 1;
                Some(self.character(character))
            }
        }
    }

    /// Whether the dollar sign that stands here ends a branch of a basic expression.
    fn ends_branch(&self) -> bool {
        self.at + 1 == self.text.len() || (self.is(1, b'\\') && (self.is(2, b')') || self.is(2, b'|')))
    }

    fn character(&self, character: u32) -> Node {
        let letter = u8::try_from(character).ok().filter(u8::is_ascii_alphabetic);
        match letter {
            Some(letter) if self.dialect.ignore_case => {
                let mut set = Set::default();
                self.fold(letter, letter, &mut set);
                Node::Set(set)
            }
            _ => Node::Character(character),
        }
    }

    /// Adds letters in both cases, with those beyond ASCII that have the same upper case.
    fn fold(&self, low: u8, high: u8, set: &mut Set) {
        let (low, high) = (low.to_ascii_uppercase(), high.to_ascii_uppercase());
        set.ranges.push((c(low), c(high)));
        for letter in low..=high {
            if letter.is_ascii_uppercase() {
                let lower = c(letter.to_ascii_lowercase());
                set.ranges.push((lower, lower));
            }
        }
        let mut also = |letter: u8, other: u32| {
            if self.dialect.utf8 && (low..=high).contains(&letter) {
                set.ranges.push((other, other));
            }
        };
        also(b'S', 0x17f);
        also(b'I', 0x131);
    }

    fn escaped(&mut self, at_start: bool) -> Option<Node> {
        let next = self.peek(1)?;
        let byte = u8::try_from(next).ok().filter(u8::is_ascii)?;
        let awk = self.dialect.escapes == Escapes::Awk;
        self.at += 2;
        let assertion = |assertion| Some(Node::Assert(assertion));
        let class = |class, negated| {
            let set = Set { negated, classes: vec![class], ranges: Vec::new() };
            Some(Node::Set(set))
        };
        if self.dialect.escapes != Escapes::None
            && let Some(character) = self.escape(byte)
        {
            return Some(self.character(character?));
        }
        match byte {
            _ if awk && byte.is_ascii_alphanumeric() => None,
            b'w' => class(Class::Word, false),
            b'W' => class(Class::Word, true),
            b's' => class(Class::Space, false),
            b'S' => class(Class::Space, true),
            b'b' => assertion(Assertion::WordBoundary),
            b'B' => assertion(Assertion::NotWordBoundary),
            b'<' if !awk => assertion(Assertion::WordStart),
            b'>' if !awk => assertion(Assertion::WordEnd),
            b'`' if !awk => assertion(Assertion::TextStart),
            b'\'' if !awk => assertion(Assertion::TextEnd),
            b'1'..=b'9' => {
                let number = usize::from(byte - b'0');
                if number > self.groups || self.open.contains(&number) {
                    return None;
                }
                self.references = true;
                Some(Node::BackReference(number))
            }
            // Behind nothing these are themselves in basic expressions.
            b'+' | b'?' if !self.dialect.extended => at_start.then_some(Node::Character(next)),
            b'{' if !self.dialect.extended => None,
            _ if byte.is_ascii_alphanumeric() => None,
            _ => Some(Node::Character(next)),
        }
    }

    /// The character behind a backslash and `letter` in `sed` or `awk`; the inner `None` declines.
    fn escape(&mut self, letter: u8) -> Option<Option<u32>> {
        let awk = self.dialect.escapes == Escapes::Awk;
        let simple = match letter {
            b'n' => b'\n',
            b't' => b'\t',
            b'f' => 0x0c,
            b'v' => 0x0b,
            b'a' => 0x07,
            b'r' => b'\r',
            b'b' if awk => 0x08,
            b'/' | b'"' | b'&' if awk => letter,
            b'd' if !awk => return Some(self.numeric(10, 3)),
            b'o' if !awk => return Some(self.numeric(8, 3)),
            b'x' if !awk => return Some(self.numeric(16, 2)),
            b'0'..=b'7' if awk => {
                self.at -= 1;
                return Some(self.numeric(8, 3));
            }
            // Control characters and the rest are rare and subtle.
            b'c' if !awk => return Some(None),
            _ => return None,
        };
        Some(Some(c(simple)))
    }

    /// A character by its number; beyond ASCII it would be a byte, which need not be a character.
    fn numeric(&mut self, base: u32, most: usize) -> Option<u32> {
        let mut value = 0;
        let mut digits = 0;
        while digits < most
            && let Some(digit) = self.peek(0).and_then(char::from_u32).and_then(|d| d.to_digit(base))
        {
            value = value * base + digit;
            self.at += 1;
            digits += 1;
        }
        (digits > 0 && value < 0x80 && value > 0).then_some(value)
    }

    /// A bracket expression behind its opening.
    fn bracket(&mut self) -> Option<Node> {
        let mut set = Set::default();
        if self.is(0, b'^') {
            set.negated = true;
            self.at += 1;
        }
        let first = self.at;
        loop {
            if self.is(0, b']') && self.at > first {
                self.at += 1;
                break;
            }
            let start = self.at;
            if self.is(0, b'[') && [b':', b'.', b'='].iter().any(|b| self.is(1, *b)) {
                if !self.is(1, b':') {
                    return None;
                }
                set.classes.push(self.class()?);
                // A class begins no range.
                if self.is(0, b'-') && !self.is(1, b']') {
                    return None;
                }
                continue;
            }
            let low = self.bracket_character()?;
            if !self.is(0, b'-') || self.is(1, b']') || self.peek(1).is_none() {
                self.bracket_range(low, low, &mut set)?;
                continue;
            }
            self.at += 1;
            if self.is(0, b'[') && [b':', b'.', b'='].iter().any(|b| self.is(1, *b)) {
                return None;
            }
            let high = self.bracket_character()?;
            // Beyond ASCII the order is the locale's; and `a-b-c` is for the library to judge.
            if high < low || high >= 0x80 && self.dialect.utf8 || (self.is(0, b'-') && !self.is(1, b']')) {
                return None;
            }
            self.bracket_range(low, high, &mut set)?;
            debug_assert!(self.at > start);
        }
        // `[:space:]` without outer brackets: some programs refuse it.
        let inner = self.text.get(first..self.at.saturating_sub(1)).unwrap_or_default();
        if inner.len() > 1 && inner.first() == Some(&c(b':')) && inner.last() == Some(&c(b':')) {
            return None;
        }
        if set.negated && self.dialect.multiline {
            set.ranges.push((c(b'\n'), c(b'\n')));
        }
        Some(Node::Set(set))
    }

    fn bracket_range(&self, low: u32, high: u32, set: &mut Set) -> Option<()> {
        let single = u8::try_from(low).ok().filter(|_| low == high && low < 0x80);
        if !self.dialect.ignore_case {
            set.ranges.push((low, high));
            return Some(());
        }
        match (single, u8::try_from(low), u8::try_from(high)) {
            (Some(byte), ..) => self.fold(byte, byte, set),
            (None, Ok(low), Ok(high)) if low.is_ascii_alphanumeric() && high.is_ascii_alphanumeric() => {
                // Both ends are read in upper case.
                if low.to_ascii_uppercase() > high.to_ascii_uppercase() {
                    return None;
                }
                self.fold(low, high, set);
            }
            _ => return None,
        }
        Some(())
    }

    fn bracket_character(&mut self) -> Option<u32> {
        let character = self.peek(0)?;
        self.at += 1;
        if character != c(b'\\') || self.dialect.escapes == Escapes::None {
            return Some(character);
        }
        let Some(byte) = self.peek(0).and_then(|next| u8::try_from(next).ok()) else {
            return Some(character);
        };
        self.at += 1;
        if self.dialect.escapes == Escapes::Awk {
            return match self.escape(byte) {
                Some(character) => character,
                None if byte.is_ascii_alphanumeric() => None,
                None => Some(c(byte)),
            };
        }
        match self.escape(byte) {
            Some(character) => character,
            // Otherwise a backslash is itself.
            None => {
                self.at -= 1;
                Some(character)
            }
        }
    }

    /// `[:name:]`
    fn class(&mut self) -> Option<Class> {
        self.at += 2;
        let mut name = String::new();
        while !self.is(0, b':') {
            name.push(self.peek(0).and_then(char::from_u32).filter(char::is_ascii_lowercase)?);
            self.at += 1;
        }
        if !self.is(1, b']') {
            return None;
        }
        self.at += 2;
        let class = match name.as_str() {
            "alnum" => Class::Alnum,
            "alpha" => Class::Alpha,
            "blank" => Class::Blank,
            "cntrl" => Class::Cntrl,
            "digit" => Class::Digit,
            "graph" => Class::Graph,
            "lower" | "upper" if self.dialect.ignore_case => Class::Alpha,
            "lower" => Class::Lower,
            "print" => Class::Print,
            "punct" => Class::Punct,
            "space" => Class::Space,
            "upper" => Class::Upper,
            "xdigit" => Class::Xdigit,
            _ => return None,
        };
        (!self.dialect.utf8 || class.has_wide_table()).then_some(class)
    }
}
