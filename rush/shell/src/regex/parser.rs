//! The syntax of extended regular expressions (POSIX XBD 9.4 with glibc's readings of what POSIX leaves open):
//! an operator with nothing to repeat is an error, `)` without `(` is literal, `{,n}` starts at zero.

use super::{Assertion, InvalidRegex, NESTING_MAX, Node, REPEAT_MAX};
use crate::pattern::{Bracket, Class, character_at, collating_element, fold};

pub(super) fn parse(pattern: &[u8], ignore_case: bool) -> Result<(Node, usize), InvalidRegex> {
    let mut parser = Parser { pattern, at: 0, groups: 0, nesting: 0, ignore_case };
    let root = parser.alternation()?;
    Ok((root, parser.groups))
}

struct Parser<'p> {
    pattern: &'p [u8],
    at: usize,
    groups: usize,
    nesting: usize,
    ignore_case: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.pattern.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    fn alternation(&mut self) -> Result<Node, InvalidRegex> {
        let mut branches = vec![self.sequence()?];
        while self.peek() == Some(b'|') {
            self.at += 1;
            branches.push(self.sequence()?);
        }
        Ok(if branches.len() == 1 { branches.swap_remove(0) } else { Node::Alternation(branches) })
    }

    fn sequence(&mut self) -> Result<Node, InvalidRegex> {
        let mut items: Vec<Node> = Vec::new();
        while let Some(byte) = self.peek() {
            if byte == b'|' || (byte == b')' && self.nesting > 0) {
                break;
            }
            let atom = self.atom(byte)?;
            let item = if matches!(atom, Node::Assertion(_)) { atom } else { self.quantified(atom)? };
            match (items.last_mut(), item) {
                (Some(Node::Literal(last)), Node::Literal(more)) => last.extend(more),
                (_, item) => items.push(item),
            }
        }
        Ok(match items.len() {
            0 => Node::Empty,
            1 => items.swap_remove(0),
            _ => Node::Sequence(items),
        })
    }

    fn quantified(&mut self, mut atom: Node) -> Result<Node, InvalidRegex> {
        loop {
            let (minimum, maximum) = match self.peek() {
                Some(b'*') => (0, None),
                Some(b'+') => (1, None),
                Some(b'?') => (0, Some(1)),
                Some(b'{') => {
                    let bounds = self.interval()?;
                    atom = Node::Repeat(Box::new(atom), bounds.0, bounds.1);
                    continue;
                }
                _ => return Ok(atom),
            };
            self.at += 1;
            atom = match atom {
                // Quantifiers in a row add nothing to the first star, and would nest without bound.
                Node::Repeat(inner, 0, None) => Node::Repeat(inner, 0, None),
                atom => Node::Repeat(Box::new(atom), minimum, maximum),
            };
        }
    }

    fn number(&mut self) -> Option<usize> {
        let digits = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
        let value = self.rest().iter().take(digits);
        let value = value.fold(0usize, |v, b| v.saturating_mul(10).saturating_add(usize::from(b - b'0')));
        self.at += digits;
        (digits > 0).then_some(value)
    }

    fn interval(&mut self) -> Result<(usize, Option<usize>), InvalidRegex> {
        self.at += 1;
        let minimum = self.number();
        let maximum = if self.peek() == Some(b',') {
            self.at += 1;
            self.number()
        } else if minimum.is_none() {
            return Err(InvalidRegex("invalid content of {}"));
        } else {
            minimum
        };
        if self.peek() != Some(b'}') {
            return Err(InvalidRegex("unmatched {"));
        }
        self.at += 1;
        let minimum = minimum.unwrap_or(0);
        if maximum.is_some_and(|m| m < minimum) || maximum.unwrap_or(minimum).max(minimum) > REPEAT_MAX {
            return Err(InvalidRegex("invalid content of {}"));
        }
        Ok((minimum, maximum))
    }

    fn literal(&mut self) -> Node {
        let (code, length) = character_at(self.pattern, self.at);
        let bytes = self.rest().get(..length).unwrap_or_default().to_vec();
        self.at += length.max(1);
        if self.ignore_case && char::from_u32(code).is_some_and(char::is_alphabetic) {
            return Node::Folded(fold(code));
        }
        Node::Literal(bytes)
    }

    fn atom(&mut self, byte: u8) -> Result<Node, InvalidRegex> {
        let assertion = match byte {
            b'*' | b'+' | b'?' | b'{' => return Err(InvalidRegex("nothing to repeat")),
            b'(' => return self.group(),
            b'[' => return self.bracket(),
            b'\\' => return self.escape(),
            b'.' => {
                self.at += 1;
                return Ok(Node::AnyCharacter);
            }
            b'^' => Assertion::Start,
            b'$' => Assertion::End,
            _ => return Ok(self.literal()),
        };
        self.at += 1;
        Ok(Node::Assertion(assertion))
    }

    fn group(&mut self) -> Result<Node, InvalidRegex> {
        self.at += 1;
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(InvalidRegex("too deeply nested"));
        }
        self.groups += 1;
        let index = self.groups;
        let inner = self.alternation()?;
        if self.peek() != Some(b')') {
            return Err(InvalidRegex("unmatched ("));
        }
        self.at += 1;
        self.nesting -= 1;
        Ok(Node::Group(index, Box::new(inner)))
    }

    fn escape(&mut self) -> Result<Node, InvalidRegex> {
        self.at += 1;
        let Some(byte) = self.peek() else { return Err(InvalidRegex("trailing backslash")) };
        let node = match byte {
            b'w' | b'W' => word(byte == b'W'),
            b's' | b'S' => {
                let mut bracket = Bracket::new(byte == b'S', false);
                bracket.add_class(Class::Space);
                Node::Bracket(Box::new(bracket.finish()))
            }
            b'b' => Node::Assertion(Assertion::WordBoundary),
            b'B' => Node::Assertion(Assertion::NotWordBoundary),
            b'<' => Node::Assertion(Assertion::WordStart),
            b'>' => Node::Assertion(Assertion::WordEnd),
            b'`' => Node::Assertion(Assertion::Start),
            b'\'' => Node::Assertion(Assertion::End),
            b'1'..=b'9' => return Err(InvalidRegex("back-references are not supported")),
            _ => return Ok(self.literal()),
        };
        self.at += 1;
        Ok(node)
    }

    fn bracket(&mut self) -> Result<Node, InvalidRegex> {
        self.at += 1;
        let negated = self.peek() == Some(b'^');
        self.at += usize::from(negated);
        let mut bracket = Bracket::new(negated, self.ignore_case);
        let first = self.at;
        loop {
            let Some(byte) = self.peek() else { return Err(InvalidRegex("unmatched [")) };
            if byte == b']' && self.at > first {
                self.at += 1;
                return Ok(Node::Bracket(Box::new(bracket.finish())));
            }
            if let Some(name) = self.named(b':')? {
                let class = Class::named(name).ok_or(InvalidRegex("unknown character class"))?;
                let both = self.ignore_case && matches!(class, Class::Lower | Class::Upper);
                bracket.add_class(if both { Class::Alpha } else { class });
                continue;
            }
            let low = self.endpoint()?;
            let next = self.pattern.get(self.at + 1).copied();
            if self.peek() == Some(b'-') && !matches!(next, None | Some(b']')) {
                self.at += 1;
                let high = self.endpoint()?;
                if high < low {
                    return Err(InvalidRegex("invalid range end"));
                }
                bracket.add_range(low, high);
            } else {
                bracket.add_range(low, low);
            }
        }
    }

    /// The text of `[:name:]`, `[.name.]` or `[=name=]` here, if there is one.
    fn named(&mut self, mark: u8) -> Result<Option<&[u8]>, InvalidRegex> {
        if self.peek() != Some(b'[') || self.pattern.get(self.at + 1) != Some(&mark) {
            return Ok(None);
        }
        let start = self.at + 2;
        let body = self.pattern.get(start..).unwrap_or_default();
        let end = body.windows(2).position(|w| w == [mark, b']']).ok_or(InvalidRegex("unmatched ["))?;
        self.at = start + end + 2;
        Ok(body.get(..end))
    }

    fn endpoint(&mut self) -> Result<u32, InvalidRegex> {
        for mark in [b'.', b'='] {
            if let Some(name) = self.named(mark)? {
                return collating_element(name, |t| character_at(t, 0))
                    .ok_or(InvalidRegex("invalid collation character"));
            }
        }
        let (code, length) = character_at(self.pattern, self.at);
        if length == 0 {
            return Err(InvalidRegex("unmatched ["));
        }
        self.at += length;
        Ok(code)
    }
}

fn word(negated: bool) -> Node {
    let mut bracket = Bracket::new(negated, false);
    bracket.add_class(Class::Word);
    Node::Bracket(Box::new(bracket.finish()))
}
