//! Pattern, Disjunction, Alternative, Term (22.2.1), with Annex B.1.2's extensions where neither `u` nor `v` is set. Escapes are in `escape`, classes in
//! `class` and `class_set`.

use super::ast::{Node, Repeat, UNBOUNDED};
use super::case_memo::CaseMemo;
use super::groups::GroupTable;
use crate::charset::{CharSet, RangeList};
use crate::error::{SyntaxError, SyntaxErrorKind as Kind};
use crate::flags::Flags;
use crate::limits::{CAPTURES_MAX, CLASS_WORK_MAX, NESTING_MAX, PATTERN_UNITS_MAX, PROPERTY_RANGES_MAX};
use crate::meter::Meter;
use crate::unicode::casing::{self, CaseMode};
use std::collections::HashSet;
use std::rc::Rc;

pub(super) type Parsed<T> = Result<T, SyntaxError>;

/// What a node is taken to hold: itself, and what a growing list of nodes has besides.
const NODE_BYTES: usize = 2 * size_of::<Node>();
/// What a name of groups is taken to hold.
const NAME_BYTES: usize = 160;

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
    pub(super) meter: Meter<'a>,
    pub(super) case: CaseMemo,
    /// The sets of the tree; equal ones are shared.
    interned: HashSet<Rc<CharSet>>,
    /// Whether a tree is wanted, or only its early errors.
    keep: bool,
    captures: u32,
    depth: u32,
    /// What properties have brought in, see [`PROPERTY_RANGES_MAX`].
    property_ranges: usize,
    /// See [`CLASS_WORK_MAX`].
    class_work: usize,
    /// For each name, whether a group has it that can take part in a match together with a group declared here.
    names_taken: Vec<bool>,
    /// The names taken in the current alternative and in those around it, in the order of their groups.
    taken: Vec<u32>,
}

/// Whether a pattern is short enough to be looked at.
pub(crate) fn check_length(units: usize) -> Parsed<()> {
    if units > PATTERN_UNITS_MAX { Err(SyntaxError { offset: 0, kind: Kind::TooLarge }) } else { Ok(()) }
}

/// Parses a whole pattern. Without `keep` the tree is dropped while it is read.
pub(crate) fn parse<'a>(
    source: &'a [u16],
    flags: Flags,
    keep: bool,
    meter: Meter<'a>,
) -> Parsed<(Node, GroupTable, Meter<'a>)> {
    check_length(source.len())?;
    let mut parser = Parser::new(source, flags, keep, meter);
    if parser.groups.count >= CAPTURES_MAX {
        return Err(SyntaxError { offset: 0, kind: Kind::TooManyGroups });
    }
    let node = parser.disjunction()?;
    parser.check()?;
    match parser.peek() {
        None => Ok((node, parser.groups, parser.meter)),
        Some(_) => Err(parser.error(Kind::UnmatchedParenthesis)),
    }
}

impl<'a> Parser<'a> {
    fn new(source: &'a [u16], flags: Flags, keep: bool, mut meter: Meter<'a>) -> Self {
        meter.work(source.len());
        let groups = GroupTable::scan(source, flags.unicode_sets());
        meter.hold(groups.names.len() * NAME_BYTES);
        Self {
            keep,
            names_taken: vec![false; groups.names.len()],
            groups,
            ..Self::bare(source, 0, flags, meter)
        }
    }

    /// A parser that only reads a group name at `pos`.
    pub(super) fn for_name(source: &'a [u16], pos: usize, meter: Meter<'a>) -> Self {
        Self::bare(source, pos, Flags::default(), meter)
    }

    fn bare(source: &'a [u16], pos: usize, flags: Flags, meter: Meter<'a>) -> Self {
        Self {
            source,
            pos,
            unicode: flags.either_unicode(),
            sets: flags.unicode_sets(),
            modifiers: Modifiers {
                ignore_case: flags.ignore_case(),
                multiline: flags.multiline(),
                dot_all: flags.dot_all(),
            },
            groups: GroupTable::default(),
            behind: false,
            meter,
            case: CaseMemo::default(),
            interned: HashSet::new(),
            keep: false,
            captures: 0,
            depth: 0,
            property_ranges: 0,
            class_work: 0,
            names_taken: Vec::new(),
            taken: Vec::new(),
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
    pub(super) fn character(&mut self, c: u32) -> Node {
        if !self.modifiers.ignore_case {
            return Node::Char(c);
        }
        self.set_node(CharSet::single(c))
    }

    /// The node for one character of `set`, which is closed under case here.
    pub(super) fn set_node(&mut self, set: CharSet) -> Node {
        let set = if self.modifiers.ignore_case { self.close(set) } else { self.intern(set) };
        Self::node_of_set(set)
    }

    pub(super) fn node_of_set(set: Rc<CharSet>) -> Node {
        match set.as_single() {
            Some(only) => Node::Char(only),
            None => Node::Set(set),
        }
    }

    /// The set, and all that equals a member when case is ignored.
    pub(super) fn close(&mut self, set: CharSet) -> Rc<CharSet> {
        if let Some(known) = self.case.closed(&set) {
            self.work(set.ranges().len());
            return known;
        }
        self.work(CaseMemo::cost(&set));
        let mode = self.case_mode();
        let closed = self.intern(casing::close_over_case(mode, &set));
        self.case.remember_closed(set, &closed);
        closed
    }

    /// The set shared with those equal to it.
    pub(super) fn intern(&mut self, set: CharSet) -> Rc<CharSet> {
        self.meter.work(set.ranges().len());
        if let Some(known) = self.interned.get(&set) {
            return Rc::clone(known);
        }
        self.meter.hold(set.bytes());
        let set = Rc::new(set);
        self.interned.insert(Rc::clone(&set));
        set
    }

    // Limits.

    /// Counts the ranges of a property.
    pub(super) fn spend_property(&mut self, ranges: usize) -> Parsed<()> {
        self.property_ranges += ranges;
        if self.property_ranges > PROPERTY_RANGES_MAX { Err(self.error(Kind::TooLarge)) } else { Ok(()) }
    }

    /// Counts ranges that are looked at; [`Parser::check`] says whether these were too many.
    pub(super) fn work(&mut self, ranges: usize) {
        self.class_work += ranges;
        self.meter.work(ranges);
    }

    /// Counts the work on a class.
    pub(super) fn spend_class(&mut self, ranges: usize) -> Parsed<()> {
        self.work(ranges);
        self.check()
    }

    /// Fails if the pattern has asked for too much, or the caller has said stop.
    pub(super) fn check(&self) -> Parsed<()> {
        let over = if self.class_work > CLASS_WORK_MAX { Err(Kind::TooLarge) } else { self.meter.check() };
        over.map_err(|kind| self.error(kind))
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
        let outer = self.taken.len();
        let mut alternatives = Vec::new();
        let mut elsewhere = Vec::new();
        loop {
            let alternative = self.alternative()?;
            if self.keep {
                self.meter.hold(NODE_BYTES);
                alternatives.push(alternative);
            }
            if !self.eat(b"|") {
                break;
            }
            // The next alternative may use the same names again.
            for name in self.taken.split_off(outer) {
                self.take_name(name, false);
                elsewhere.push(name);
            }
        }
        // What follows all alternatives may use the names of none.
        self.meter.work(elsewhere.len());
        for name in elsewhere {
            if !self.is_taken(name) {
                self.take_name(name, true);
                self.taken.push(name);
            }
        }
        self.leave();
        Ok(self.disjunction_of(alternatives))
    }

    fn alternative(&mut self) -> Parsed<Node> {
        let mut terms = Vec::new();
        while let Some(unit) = self.peek() {
            if unit == u16::from(b'|') || unit == u16::from(b')') {
                break;
            }
            self.meter.work(1);
            self.check()?;
            let term = self.term()?;
            if self.keep {
                self.meter.hold(NODE_BYTES);
                terms.push(term);
            }
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
                Some(c) => self.character(c),
                None => Node::Empty,
            },
        };
        self.quantified(atom, first_capture)
    }

    fn assertion(&mut self, length: usize, node: Node) -> Node {
        self.pos += length;
        node
    }

    fn dot(&mut self) -> Node {
        let newlines = CharSet::from_ranges(vec![(0xA, 0xA), (0xD, 0xD), (0x2028, 0x2029)]);
        let set = if self.modifiers.dot_all { CharSet::all() } else { newlines.complement() };
        Node::Set(self.intern(set))
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
        self.meter.hold(NODE_BYTES);
        Ok(Node::Repeat(Box::new(Repeat {
            body_is_nullable: atom.is_nullable(),
            body_is_always_empty: atom.is_always_empty(),
            body_weight: atom.weight(),
            body: atom,
            min,
            max,
            greedy,
            first_capture,
            end_capture,
        })))
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
            self.declare_name(&name, name_start)?;
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
        self.meter.hold(NODE_BYTES);
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
    fn declare_name(&mut self, name: &[u16], offset: usize) -> Parsed<()> {
        let Some(id) = self.groups.id_of(name) else { return Ok(()) };
        if self.is_taken(id) {
            return Err(self.error_at(offset, Kind::DuplicateGroupName));
        }
        self.take_name(id, true);
        self.taken.push(id);
        Ok(())
    }

    fn is_taken(&self, name: u32) -> bool {
        self.names_taken.get(name as usize).copied().unwrap_or(false)
    }

    fn take_name(&mut self, name: u32, taken: bool) {
        if let Some(state) = self.names_taken.get_mut(name as usize) {
            *state = taken;
        }
    }

    /// OPTIMIZATION: a choice between single characters is a set; equal to the disjunction, since only one alternative can match a character.
    fn disjunction_of(&mut self, mut alternatives: Vec<Node>) -> Node {
        if alternatives.len() <= 1 {
            return alternatives.pop().unwrap_or(Node::Empty);
        }
        if !alternatives.iter().all(|node| matches!(node, Node::Char(_) | Node::Set(_))) {
            return Node::Disjunction(alternatives);
        }
        let mut ranges = RangeList::default();
        for node in &alternatives {
            match node {
                Node::Char(c) => ranges.add(&[(*c, *c)], &mut self.meter),
                Node::Set(set) => ranges.add(set.ranges(), &mut self.meter),
                _ => {}
            }
        }
        let set = ranges.into_set(&mut self.meter);
        Node::Set(self.intern(set))
    }
}

pub(super) fn combine_surrogates(lead: u32, trail: u32) -> u32 {
    0x1_0000 + ((lead - 0xD800) << 10) + (trail - 0xDC00)
}
