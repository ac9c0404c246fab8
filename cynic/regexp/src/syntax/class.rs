//! CharacterClass without `v`: NonemptyClassRanges, with Annex B's tolerance for classes at the ends of a range.

use super::ast::Node;
use super::escape::Place;
use super::parser::{Parsed, Parser};
use crate::charset::{CharSet, RangeList};
use crate::error::SyntaxErrorKind as Kind;

/// A ClassAtom: one character, or a set that cannot bound a range.
enum Atom {
    Char(u32),
    Set(CharSet),
}

impl Parser<'_> {
    /// `[...]`; the cursor is on the bracket.
    pub(super) fn character_class(&mut self) -> Parsed<Node> {
        let start = self.pos;
        if self.sets {
            return self.set_class();
        }
        self.pos += 1;
        let negated = self.eat(b"^");
        let mut ranges = RangeList::default();
        loop {
            self.check()?;
            if self.eat(b"]") {
                break;
            }
            let low_at = self.pos;
            let low = self.class_atom(start)?;
            if !self.looking_at(b"-") || self.looking_at(b"-]") {
                self.add_atom(&mut ranges, &low);
                continue;
            }
            self.pos += 1;
            let high = self.class_atom(start)?;
            match (low, high) {
                (Atom::Char(low), Atom::Char(high)) if low <= high => {
                    ranges.add(&[(low, high)], &mut self.meter);
                }
                (Atom::Char(_), Atom::Char(_)) => return Err(self.error_at(low_at, Kind::ClassRangeOrder)),
                _ if self.unicode => return Err(self.error_at(low_at, Kind::ClassRangeOfClass)),
                (low, high) => {
                    self.add_atom(&mut ranges, &low);
                    self.add_atom(&mut ranges, &Atom::Char(u32::from(b'-')));
                    self.add_atom(&mut ranges, &high);
                }
            }
        }
        let set = ranges.into_set(&mut self.meter);
        let set = if self.modifiers.ignore_case { self.close(set) } else { self.intern(set) };
        let set = if negated { self.intern(set.complement()) } else { set };
        self.check()?;
        Ok(Self::node_of_set(set))
    }

    fn add_atom(&mut self, ranges: &mut RangeList, atom: &Atom) {
        match atom {
            Atom::Char(c) => ranges.add(&[(*c, *c)], &mut self.meter),
            Atom::Set(set) => ranges.add(set.ranges(), &mut self.meter),
        }
    }

    fn class_atom(&mut self, class_start: usize) -> Parsed<Atom> {
        let start = self.pos;
        if !self.eat(b"\\") {
            return match self.bump() {
                Some(c) => Ok(Atom::Char(c)),
                None => Err(self.error_at(class_start, Kind::UnterminatedClass)),
            };
        }
        if self.eat(b"b") {
            return Ok(Atom::Char(0x8));
        }
        if let Some(escape) = self.character_class_escape(start)? {
            return Ok(Atom::Set(escape.chars));
        }
        self.character_escape(start, Place::Class).map(Atom::Char)
    }
}
