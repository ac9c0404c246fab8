//! Escapes: AtomEscape, CharacterEscape, CharacterClassEscape and group names (22.2.1, Annex B.1.2).

use super::ast::{Node, Target};
use super::case_memo::CaseMemo;
use super::parser::{Parsed, Parser, combine_surrogates};
use crate::charset::CharSet;
use crate::error::SyntaxErrorKind as Kind;
use crate::unicode::{casing, properties};

/// Where an escape stands; a few mean different things inside a class.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Atom,
    Class,
}

/// `\d`, `\p{...}` and their kin: characters, and for properties of strings also strings.
pub(super) struct ClassEscape {
    pub(super) chars: CharSet,
    pub(super) strings: Option<Vec<Vec<u32>>>,
}

impl ClassEscape {
    fn characters(chars: CharSet) -> Self {
        Self { chars, strings: None }
    }
}

impl Parser<'_> {
    /// An escape outside a class; the cursor is on the backslash.
    pub(super) fn atom_escape(&mut self) -> Parsed<Node> {
        let start = self.pos;
        self.pos += 1;
        let Some(unit) = self.peek() else { return Err(self.error_at(start, Kind::TrailingBackslash)) };
        match u8::try_from(unit).unwrap_or(0) {
            b'1'..=b'9' => {
                if let Some(node) = self.decimal_reference(start)? {
                    return Ok(node);
                }
            }
            b'k' if self.unicode || !self.groups.names.is_empty() => return self.named_reference(start),
            _ => {}
        }
        let known = self.case.escape(unit, self.modifiers.ignore_case);
        if let Some(node) = known {
            self.pos += 1;
            return Ok(node);
        }
        if let Some(escape) = self.character_class_escape(start)? {
            return Ok(match escape.strings {
                Some(strings) => self.node_of_strings(&escape.chars, &strings)?,
                None => {
                    let node = self.set_node(escape.chars);
                    self.case.remember_escape(unit, self.modifiers.ignore_case, &node);
                    node
                }
            });
        }
        let c = self.character_escape(start, Place::Atom)?;
        Ok(self.character(c))
    }

    /// `\1`; `None` where Annex B reads it as an octal or identity escape.
    fn decimal_reference(&mut self, start: usize) -> Parsed<Option<Node>> {
        let digits = self.pos;
        let number = self.decimal_digits().unwrap_or(0);
        if number <= u64::from(self.groups.count) {
            let target = Target::Group(number as u32);
            return Ok(Some(Node::BackReference { target, ignore_case: self.modifiers.ignore_case }));
        }
        if self.unicode {
            return Err(self.error_at(start, Kind::InvalidDecimalEscape));
        }
        self.pos = digits;
        Ok(None)
    }

    fn named_reference(&mut self, start: usize) -> Parsed<Node> {
        self.pos += 1;
        if !self.eat(b"<") {
            return Err(self.error_at(start, Kind::InvalidNamedReference));
        }
        let name = self.group_name().map_err(|_| self.error_at(start, Kind::InvalidNamedReference))?;
        let Some(id) = self.groups.id_of(&name) else {
            return Err(self.error_at(start, Kind::UnknownGroupName));
        };
        Ok(Node::BackReference { target: Target::Name(id), ignore_case: self.modifiers.ignore_case })
    }

    /// A group name and its `>`; the cursor is behind the `<`.
    pub(super) fn group_name(&mut self) -> Parsed<Vec<u16>> {
        let start = self.pos;
        let mut name = Vec::new();
        loop {
            let Some(mut c) = self.bump_code_point() else {
                return Err(self.error_at(start, Kind::InvalidGroupName));
            };
            if c == u32::from(b'>') && !name.is_empty() {
                return Ok(name);
            }
            if c == u32::from(b'\\') {
                let escaped = if self.eat(b"u") { self.unicode_escape(true) } else { None };
                c = escaped.ok_or_else(|| self.error_at(start, Kind::InvalidGroupName))?;
            }
            let allowed = if name.is_empty() {
                properties::is_identifier_start(c)
            } else {
                properties::is_identifier_part(c)
            };
            if !allowed {
                return Err(self.error_at(start, Kind::InvalidGroupName));
            }
            push_code_point(&mut name, c);
        }
    }

    /// `\d \D \s \S \w \W`, and `\p \P` in unicode patterns; the cursor is behind the backslash.
    pub(super) fn character_class_escape(&mut self, start: usize) -> Parsed<Option<ClassEscape>> {
        let Some(letter) = self.peek().and_then(|unit| u8::try_from(unit).ok()) else { return Ok(None) };
        let set = match letter.to_ascii_lowercase() {
            b'd' => CharSet::from_ranges(vec![(0x30, 0x39)]),
            b's' => white_space(),
            b'w' => self.word_characters(),
            b'p' if self.unicode => {
                self.pos += 1;
                return self.property_escape(start, letter == b'P').map(Some);
            }
            _ => return Ok(None),
        };
        self.pos += 1;
        let set = self.maybe_fold(set);
        let set = if letter.is_ascii_uppercase() { self.complement(&set) } else { set };
        Ok(Some(ClassEscape::characters(set)))
    }

    /// 22.2.2.7.5 WordCharacters.
    fn word_characters(&self) -> CharSet {
        let word = CharSet::from_ranges(vec![(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]);
        if self.unicode && self.modifiers.ignore_case {
            casing::close_over_case(self.case_mode(), &word)
        } else {
            word
        }
    }

    /// 22.2.2.7.4 MaybeSimpleCaseFolding.
    pub(super) fn maybe_fold(&mut self, set: CharSet) -> CharSet {
        if !(self.sets && self.modifiers.ignore_case) {
            return set;
        }
        if let Some(known) = self.case.folded(&set) {
            self.work(known.ranges().len());
            return known;
        }
        self.work(CaseMemo::cost(&set));
        let folded = casing::fold_set(&set);
        self.case.remember_folded(set, &folded);
        folded
    }

    /// 22.2.2.7.6 CharacterComplement, among 22.2.2.7.2 AllCharacters: with `v` and `i` only folded characters exist.
    pub(super) fn complement(&mut self, set: &CharSet) -> CharSet {
        self.work(set.ranges().len());
        self.maybe_fold(CharSet::all()).subtract(set)
    }

    /// `{Name}` or `{Name=Value}` after `\p` or `\P`.
    fn property_escape(&mut self, start: usize, negated: bool) -> Parsed<ClassEscape> {
        let fail = self.error_at(start, Kind::InvalidPropertyName);
        if !self.eat(b"{") {
            return Err(fail);
        }
        let name = self.property_word();
        let value = if self.eat(b"=") { Some(self.property_word()) } else { None };
        if !self.eat(b"}") {
            return Err(fail);
        }
        if let Some(chars) = properties::characters(&name, value.as_deref()) {
            self.spend_property(chars.ranges().len())?;
            let chars = self.maybe_fold(chars);
            let chars = if negated { self.complement(&chars) } else { chars };
            return Ok(ClassEscape::characters(chars));
        }
        if self.sets
            && !negated
            && value.is_none()
            && let Some(set) = properties::strings(&name)
        {
            let units: usize = set.strings.iter().map(Vec::len).sum();
            self.spend_property(set.chars.ranges().len() + units)?;
            return Ok(ClassEscape { chars: self.maybe_fold(set.chars), strings: Some(set.strings) });
        }
        Err(fail)
    }

    fn property_word(&mut self) -> String {
        let mut word = String::new();
        while let Some(unit) = self.peek().and_then(|unit| u8::try_from(unit).ok()) {
            if !(unit.is_ascii_alphanumeric() || unit == b'_') {
                break;
            }
            word.push(char::from(unit));
            self.pos += 1;
        }
        word
    }

    /// CharacterEscape; the cursor is behind the backslash.
    pub(super) fn character_escape(&mut self, start: usize, place: Place) -> Parsed<u32> {
        let Some(c) = self.bump() else { return Err(self.error_at(start, Kind::TrailingBackslash)) };
        let letter = u8::try_from(c).unwrap_or(0);
        Ok(match letter {
            b't' => 0x9,
            b'n' => 0xA,
            b'v' => 0xB,
            b'f' => 0xC,
            b'r' => 0xD,
            b'c' => return self.control_escape(start, place),
            b'0' if !self.peek().is_some_and(is_digit) => 0,
            b'0'..=b'7' if !self.unicode => self.legacy_octal(c - 0x30),
            b'0'..=b'9' if self.unicode => return Err(self.error_at(start, Kind::InvalidDecimalEscape)),
            b'x' => match self.hex_digits(2) {
                Some(value) => value,
                None if self.unicode => return Err(self.error_at(start, Kind::InvalidEscape)),
                None => c,
            },
            b'u' => match self.unicode_escape(self.unicode) {
                Some(value) => value,
                None if self.unicode => return Err(self.error_at(start, Kind::InvalidUnicodeEscape)),
                None => c,
            },
            _ if self.unicode => {
                let syntax = letter != 0 && b"^$\\.*+?()[]{}|/".contains(&letter);
                if !(syntax || (letter == b'-' && place == Place::Class)) {
                    return Err(self.error_at(start, Kind::InvalidEscape));
                }
                c
            }
            b'k' if !self.groups.names.is_empty() => {
                return Err(self.error_at(start, Kind::InvalidNamedReference));
            }
            _ => c,
        })
    }

    /// `\cA`; Annex B lets a lone `\c` stand for its backslash, and in a class also `\c1` and `\c_` for controls.
    fn control_escape(&mut self, start: usize, place: Place) -> Parsed<u32> {
        let next = self.peek().and_then(|unit| u8::try_from(unit).ok());
        let in_class = place == Place::Class && !self.unicode;
        match next {
            Some(letter)
                if letter.is_ascii_alphabetic()
                    || (in_class && (letter.is_ascii_digit() || letter == b'_')) =>
            {
                self.pos += 1;
                Ok(u32::from(letter % 32))
            }
            _ if self.unicode => Err(self.error_at(start, Kind::InvalidEscape)),
            _ => {
                self.pos = start + 1;
                Ok(u32::from(b'\\'))
            }
        }
    }

    /// Annex B LegacyOctalEscapeSequence: at most three digits and at most 0o377.
    fn legacy_octal(&mut self, first: u32) -> u32 {
        let mut value = first;
        let more = if first <= 3 { 2 } else { 1 };
        for _ in 0..more {
            match self.peek() {
                Some(unit @ 0x30..=0x37) => value = value * 8 + u32::from(unit - 0x30),
                _ => break,
            }
            self.pos += 1;
        }
        value
    }

    fn hex_digits(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for i in 0..count {
            value = value * 16 + char::from_u32(u32::from(self.peek_at(i)?))?.to_digit(16)?;
        }
        self.pos += count;
        Some(value)
    }

    /// What follows `\u`: four digits, and where `full` also a surrogate pair of two escapes or `{...}`.
    pub(super) fn unicode_escape(&mut self, full: bool) -> Option<u32> {
        let start = self.pos;
        if full && self.eat(b"{") {
            let value = self.braced_code_point();
            if value.is_none() {
                self.pos = start;
            }
            return value;
        }
        let unit = self.hex_digits(4)?;
        if full && (0xD800..0xDC00).contains(&unit) && self.looking_at(b"\\u") {
            let after_lead = self.pos;
            self.pos += 2;
            match self.hex_digits(4) {
                Some(trail @ 0xDC00..=0xDFFF) => return Some(combine_surrogates(unit, trail)),
                _ => self.pos = after_lead,
            }
        }
        Some(unit)
    }

    fn braced_code_point(&mut self) -> Option<u32> {
        let mut value = 0_u32;
        let mut digits = 0;
        while let Some(digit) = self.peek().and_then(|unit| char::from_u32(u32::from(unit))?.to_digit(16)) {
            value = value.saturating_mul(16).saturating_add(digit);
            digits += 1;
            self.pos += 1;
        }
        (digits > 0 && value <= 0x10_FFFF && self.eat(b"}")).then_some(value)
    }
}

fn is_digit(unit: u16) -> bool {
    (0x30..=0x39).contains(&unit)
}

fn white_space() -> CharSet {
    CharSet::from_ranges(vec![
        (0x9, 0xD),
        (0x20, 0x20),
        (0xA0, 0xA0),
        (0x1680, 0x1680),
        (0x2000, 0x200A),
        (0x2028, 0x2029),
        (0x202F, 0x202F),
        (0x205F, 0x205F),
        (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    ])
}

/// Appends `c` as one or two code units.
pub(crate) fn push_code_point(units: &mut Vec<u16>, c: u32) {
    match u16::try_from(c) {
        Ok(unit) => units.push(unit),
        Err(_) => {
            let offset = c - 0x1_0000;
            units.push(0xD800 + (offset >> 10) as u16);
            units.push(0xDC00 + (offset & 0x3FF) as u16);
        }
    }
}
