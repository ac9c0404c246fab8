//! Pattern, Disjunction, Alternative, Term (22.2.1), with Annex B.1.2's extensions where neither `u` nor `v` is set. Escapes are in `escape`, classes in
//! `class` and `class_set`.

use super::ast::{Node, Repeat, UNBOUNDED};
use super::groups::GroupTable;
use crate::charset::CharSet;
use crate::error::{SyntaxError, SyntaxErrorKind as Kind};
use crate::flags::Flags;
use crate::limits::{CAPTURES_MAX, CLASS_WORK_MAX, NESTING_MAX, PATTERN_UNITS_MAX, PROPERTY_RANGES_MAX};
use crate::unicode::casing::{self, CaseMode};
use std::rc::Rc;

pub(super) type Parsed<T> = Result<T, SyntaxError>;

/// The flags that `(?ims-ims:)` can change.
#[derive(Clone, Copy)]
pub(super) struct Modifiers {
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
    pub(super) dot_all: bool,
}

/// A recursive-descent parser over the code units of a pattern.
pub(crate) struct Parser<'a> {
    pub(super) source: &'a [u16],
    pub(super) pos: usize,
    /// `u` or `v`: code points, and no Annex B.
    pub(super) unicode: bool,
    /// `v`.
    pub(super) sets: bool,
    pub(super) modifiers: Modifiers,
    pub(super) groups: GroupTable,
    /// Inside a lookbehind, where terms are matched from right to left.
    pub(super) behind: bool,
    captures: u32,
    depth: u32,
    /// What properties have brought in, see [`PROPERTY_RANGES_MAX`].
    property_ranges: usize,
    /// See [`CLASS_WORK_MAX`].
    class_work: usize,
    /// The way from the root to here: which alternative of which disjunction.
    path: Vec<(u32, u32)>,
    disjunctions: u32,
    /// Named groups seen so far, with their paths.
    seen_names: Vec<(Vec<u16>, Vec<(u32, u32)>)>,
}

/// Parses a whole pattern.
pub(crate) fn parse(source: &[u16], flags: Flags) -> Parsed<(Node, GroupTable)> {
    if source.len() > PATTERN_UNITS_MAX {
        return Err(SyntaxError { offset: 0, kind: Kind::TooLarge });
    }
    let mut parser = Parser::new(source, flags);
    if parser.groups.count >= CAPTURES_MAX {
        return Err(SyntaxError { offset: 0, kind: Kind::TooManyGroups });
    }
    let node = parser.disjunction()?;
    match parser.peek() {
        None => Ok((node, parser.groups)),
        Some(_) => Err(parser.error(Kind::UnmatchedParenthesis)),
    }
}

impl<'a> Parser<'a> {
    fn new(source: &'a [u16], flags: Flags) -> Self {
        Self {
            source,
            pos: 0,
            unicode: flags.either_unicode(),
            sets: flags.unicode_sets(),
            modifiers: Modifiers {
                ignore_case: flags.ignore_case(),
                multiline: flags.multiline(),
                dot_all: flags.dot_all(),
            },
            groups: GroupTable::scan(source, flags.unicode_sets()),
            behind: false,
            captures: 0,
            depth: 0,
            property_ranges: 0,
            class_work: 0,
            path: Vec::new(),
            disjunctions: 0,
            seen_names: Vec::new(),
        }
    }

    /// A parser that only reads a group name at `pos`.
    pub(super) fn for_name(source: &'a [u16], pos: usize) -> Self {
        let modifiers = Modifiers { ignore_case: false, multiline: false, dot_all: false };
        Self {
            source,
            pos,
            unicode: false,
            sets: false,
            modifiers,
            groups: GroupTable::default(),
            behind: false,
            captures: 0,
            depth: 0,
            property_ranges: 0,
            class_work: 0,
            path: Vec::new(),
            disjunctions: 0,
            seen_names: Vec::new(),
        }
    }

    // Cursor.

    pub(super) fn peek(&self) -> Option<u16> {
        self.source.get(self.pos).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u16> {
        self.source.get(self.pos + ahead).copied()
    }

    pub(super) fn looking_at(&self, text: &[u8]) -> bool {
        text.iter().enumerate().all(|(i, &byte)| self.peek_at(i) == Some(u16::from(byte)))
    }

    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.looking_at(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    /// The next character: a code point in a unicode pattern, else a code unit.
    pub(super) fn bump(&mut self) -> Option<u32> {
        if self.unicode {
            return self.bump_code_point();
        }
        let unit = self.peek()?;
        self.pos += 1;
        Some(u32::from(unit))
    }

    /// The next code point, whatever the flags (names are always read so).
    pub(super) fn bump_code_point(&mut self) -> Option<u32> {
        let lead = self.peek()?;
        self.pos += 1;
        if let (0xD800..=0xDBFF, Some(trail @ 0xDC00..=0xDFFF)) = (lead, self.peek()) {
            self.pos += 1;
            return Some(combine_surrogates(u32::from(lead), u32::from(trail)));
        }
        Some(u32::from(lead))
    }

    pub(super) fn error(&self, kind: Kind) -> SyntaxError {
        self.error_at(self.pos, kind)
    }

    pub(super) fn error_at(&self, offset: usize, kind: Kind) -> SyntaxError {
        SyntaxError { offset, kind }
    }

    // Case.

    pub(super) fn case_mode(&self) -> CaseMode {
        if self.unicode { CaseMode::Unicode } else { CaseMode::Legacy }
    }

    /// The node for one literal character under the current modifiers.
    pub(super) fn character(&self, c: u32) -> Node {
        if !self.modifiers.ignore_case {
            return Node::Char(c);
        }
        self.set_node(CharSet::single(c))
    }

    /// The node for one character of `set`, which is closed under case here.
    pub(super) fn set_node(&self, set: CharSet) -> Node {
        let set = self.close(set);
        match set.as_single() {
            Some(only) => Node::Char(only),
            None => Node::Set(Rc::new(set)),
        }
    }

    pub(super) fn close(&self, set: CharSet) -> CharSet {
        if self.modifiers.ignore_case { casing::close_over_case(self.case_mode(), &set) } else { set }
    }

    // Limits.

    /// Counts the ranges of a property.
    pub(super) fn spend_property(&mut self, ranges: usize) -> Parsed<()> {
        self.property_ranges += ranges;
        if self.property_ranges > PROPERTY_RANGES_MAX { Err(self.error(Kind::TooLarge)) } else { Ok(()) }
    }

    /// Counts the work on a class: `ranges`, and the table of foldings if case does not matter.
    pub(super) fn spend_class(&mut self, ranges: usize) -> Parsed<()> {
        let foldings = if self.modifiers.ignore_case { casing::FOLDINGS } else { 0 };
        self.class_work += ranges + foldings;
        if self.class_work > CLASS_WORK_MAX { Err(self.error(Kind::TooLarge)) } else { Ok(()) }
    }

    /// The same for one character outside classes; ASCII has a table of its own.
    pub(super) fn spend_character(&mut self, c: u32) -> Parsed<()> {
        if c < 0x80 { Ok(()) } else { self.spend_class(0) }
    }

    // Grammar.

    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > NESTING_MAX { Err(self.error(Kind::TooDeep)) } else { Ok(()) }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    fn disjunction(&mut self) -> Parsed<Node> {
        self.enter()?;
        let id = self.disjunctions;
        self.disjunctions += 1;
        let mut alternatives = Vec::new();
        loop {
            self.path.push((id, alternatives.len() as u32));
            let alternative = self.alternative();
            self.path.pop();
            alternatives.push(alternative?);
            if !self.eat(b"|") {
                break;
            }
        }
        self.leave();
        Ok(disjunction_of(alternatives))
    }

    fn alternative(&mut self) -> Parsed<Node> {
        let mut terms = Vec::new();
        while let Some(unit) = self.peek() {
            if unit == u16::from(b'|') || unit == u16::from(b')') {
                break;
            }
            terms.push(self.term()?);
        }
        Ok(if terms.len() == 1 { terms.pop().unwrap_or(Node::Empty) } else { Node::Sequence(terms) })
    }

    fn term(&mut self) -> Parsed<Node> {
        let start = self.pos;
        let first_capture = self.captures + 1;
        let Some(unit) = self.peek() else { return Ok(Node::Empty) };
        let atom = match u8::try_from(unit).unwrap_or(0) {
            b'^' => return Ok(self.assertion(1, Node::LineStart { multiline: self.modifiers.multiline })),
            b'$' => return Ok(self.assertion(1, Node::LineEnd { multiline: self.modifiers.multiline })),
            b'\\' if self.looking_at(b"\\b") || self.looking_at(b"\\B") => {
                let negative = self.looking_at(b"\\B");
                let extended = self.unicode && self.modifiers.ignore_case;
                return Ok(self.assertion(2, Node::WordBoundary { negative, extended }));
            }
            b'(' => {
                let (node, quantifiable) = self.group()?;
                if !quantifiable {
                    return Ok(node);
                }
                node
            }
            b'.' => {
                self.pos += 1;
                self.dot()
            }
            b'[' => self.character_class()?,
            b'\\' => self.atom_escape()?,
            b'*' | b'+' | b'?' => return Err(self.error(Kind::NothingToRepeat)),
            b'{' | b'}' | b']' if self.unicode => return Err(self.error(Kind::LoneQuantifierBracket)),
            b'{' if self.braced_quantifier().is_some() => {
                return Err(self.error_at(start, Kind::NothingToRepeat));
            }
            _ => match self.bump() {
                Some(c) => {
                    self.spend_character(c)?;
                    self.character(c)
                }
                None => Node::Empty,
            },
        };
        self.quantified(atom, first_capture)
    }

    fn assertion(&mut self, length: usize, node: Node) -> Node {
        self.pos += length;
        node
    }

    fn dot(&self) -> Node {
        let newlines = CharSet::from_ranges(vec![(0xA, 0xA), (0xD, 0xD), (0x2028, 0x2029)]);
        Node::Set(Rc::new(if self.modifiers.dot_all { CharSet::all() } else { newlines.complement() }))
    }

    /// Reads the quantifier after `atom`, if there is one.
    fn quantified(&mut self, atom: Node, first_capture: u32) -> Parsed<Node> {
        let start = self.pos;
        let (min, max) = match self.peek().and_then(|unit| u8::try_from(unit).ok()) {
            Some(b'*') => (0, UNBOUNDED),
            Some(b'+') => (1, UNBOUNDED),
            Some(b'?') => (0, 1),
            Some(b'{') => match self.braced_quantifier() {
                Some(bounds) => bounds,
                None if self.unicode => return Err(self.error(Kind::IncompleteQuantifier)),
                None => return Ok(atom),
            },
            _ => return Ok(atom),
        };
        if self.pos == start {
            self.pos += 1;
        }
        if min > max {
            return Err(self.error_at(start, Kind::QuantifierOrder));
        }
        let greedy = !self.eat(b"?");
        let end_capture = self.captures + 1;
        Ok(Node::Repeat(Box::new(Repeat { body: atom, min, max, greedy, first_capture, end_capture })))
    }

    /// `{n}`, `{n,}` or `{n,m}`; the cursor moves only over a complete one.
    fn braced_quantifier(&mut self) -> Option<(u32, u32)> {
        let start = self.pos;
        let bounds = self.braces();
        if bounds.is_none() {
            self.pos = start;
        }
        bounds
    }

    fn braces(&mut self) -> Option<(u32, u32)> {
        self.pos += 1;
        let min = self.decimal_digits()?;
        let max = match (self.eat(b","), self.looking_at(b"}")) {
            (true, true) => u64::MAX,
            (true, false) => self.decimal_digits()?,
            (false, _) => min,
        };
        if !self.eat(b"}") {
            return None;
        }
        // A count beyond 2^32 can never be reached; only the order of the two still matters.
        let clamp = |n: u64| u32::try_from(n).unwrap_or(UNBOUNDED);
        if min > max && clamp(min) <= clamp(max) {
            return Some((1, 0));
        }
        Some((clamp(min), clamp(max)))
    }

    /// Digits as a number, saturating.
    pub(super) fn decimal_digits(&mut self) -> Option<u64> {
        let start = self.pos;
        let mut value = 0_u64;
        while let Some(digit) = self.peek().and_then(|unit| char::from_u32(u32::from(unit))?.to_digit(10)) {
            value = value.saturating_mul(10).saturating_add(u64::from(digit));
            self.pos += 1;
        }
        (self.pos > start).then_some(value)
    }

    /// Everything that begins with `(`, and whether a quantifier may follow.
    fn group(&mut self) -> Parsed<(Node, bool)> {
        let start = self.pos;
        self.pos += 1;
        if !self.eat(b"?") {
            return Ok((self.capture(start)?, true));
        }
        for (text, behind, negative) in
            [(&b"="[..], false, false), (b"!", false, true), (b"<=", true, false), (b"<!", true, true)]
        {
            if self.eat(text) {
                let outer = std::mem::replace(&mut self.behind, behind);
                let body = Box::new(self.group_body(start)?);
                self.behind = outer;
                // Annex B: a lookahead can be quantified, a lookbehind never.
                return Ok((Node::Look { behind, negative, body }, !self.unicode && !behind));
            }
        }
        if self.eat(b":") {
            return Ok((self.group_body(start)?, true));
        }
        if self.eat(b"<") {
            let name_start = self.pos;
            let name = self.group_name()?;
            self.declare_name(name, name_start)?;
            return Ok((self.capture(start)?, true));
        }
        let outer = self.modifiers;
        self.modifiers = self.modifier_flags()?;
        let body = self.group_body(start)?;
        self.modifiers = outer;
        Ok((body, true))
    }

    fn capture(&mut self, start: usize) -> Parsed<Node> {
        self.captures += 1;
        let index = self.captures;
        let body = Box::new(self.group_body(start)?);
        Ok(Node::Capture { index, body })
    }

    fn group_body(&mut self, start: usize) -> Parsed<Node> {
        let body = self.disjunction()?;
        if self.eat(b")") { Ok(body) } else { Err(self.error_at(start, Kind::UnterminatedGroup)) }
    }

    /// `ims-ims:` after `(?`.
    fn modifier_flags(&mut self) -> Parsed<Modifiers> {
        let mut modifiers = self.modifiers;
        let (mut seen, mut adding, mut any) = (0_u8, true, false);
        loop {
            let unit = self.peek().and_then(|unit| u8::try_from(unit).ok());
            let (bit, target) = match unit {
                Some(b'i') => (1, &mut modifiers.ignore_case),
                Some(b'm') => (2, &mut modifiers.multiline),
                Some(b's') => (4, &mut modifiers.dot_all),
                Some(b'-') if adding => {
                    adding = false;
                    self.pos += 1;
                    continue;
                }
                Some(b':') if any => {
                    self.pos += 1;
                    return Ok(modifiers);
                }
                Some(b':' | b'-') => return Err(self.error(Kind::InvalidModifiers)),
                _ => return Err(self.error(Kind::InvalidGroup)),
            };
            if seen & bit != 0 {
                return Err(self.error(Kind::RepeatedModifier));
            }
            seen |= bit;
            any = true;
            *target = adding;
            self.pos += 1;
        }
    }

    /// Two groups may share a name only if they are in different alternatives of one disjunction (MightBothParticipate).
    fn declare_name(&mut self, name: Vec<u16>, offset: usize) -> Parsed<()> {
        let apart = |other: &[(u32, u32)]| self.path.iter().zip(other).any(|(a, b)| a.0 == b.0 && a.1 != b.1);
        if self.seen_names.iter().any(|(seen, path)| *seen == name && !apart(path)) {
            return Err(self.error_at(offset, Kind::DuplicateGroupName));
        }
        self.seen_names.push((name, self.path.clone()));
        Ok(())
    }
}

pub(super) fn combine_surrogates(lead: u32, trail: u32) -> u32 {
    0x1_0000 + ((lead - 0xD800) << 10) + (trail - 0xDC00)
}

/// OPTIMIZATION: a choice between single characters is a set; equal to the disjunction, since only one alternative can match a character.
fn disjunction_of(mut alternatives: Vec<Node>) -> Node {
    if alternatives.len() == 1 {
        return alternatives.pop().unwrap_or(Node::Empty);
    }
    let sets: Option<Vec<CharSet>> = alternatives.iter().map(Node::as_single_character).collect();
    match sets {
        Some(sets) => {
            let ranges = sets.iter().flat_map(|set| set.ranges().iter().copied()).collect();
            Node::Set(Rc::new(CharSet::from_ranges(ranges)))
        }
        None => Node::Disjunction(alternatives),
    }
}
