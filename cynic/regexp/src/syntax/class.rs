//! CharacterClass without `v`: NonemptyClassRanges, with Annex B's tolerance for classes at the ends of a range.

use super::ast::Node;
use super::escape::Place;
use super::parser::{Parsed, Parser};
use crate::charset::CharSet;
use crate::error::SyntaxErrorKind as Kind;
use std::rc::Rc;

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
        let mut ranges = Vec::new();
        loop {
            if self.eat(b"]") {
                break;
            }
            let low_at = self.pos;
            let low = self.class_atom(start)?;
            if !self.looking_at(b"-") || self.looking_at(b"-]") {
                add(&mut ranges, low);
                continue;
            }
            self.pos += 1;
            let high = self.class_atom(start)?;
            match (low, high) {
                (Atom::Char(low), Atom::Char(high)) if low <= high => ranges.push((low, high)),
                (Atom::Char(_), Atom::Char(_)) => return Err(self.error_at(low_at, Kind::ClassRangeOrder)),
                _ if self.unicode => return Err(self.error_at(low_at, Kind::ClassRangeOfClass)),
                (low, high) => {
                    add(&mut ranges, low);
                    add(&mut ranges, Atom::Char(u32::from(b'-')));
                    add(&mut ranges, high);
                }
            }
        }
        self.spend_class(ranges.len())?;
        let set = self.close(CharSet::from_ranges(ranges));
        let set = if negated { set.complement() } else { set };
        Ok(match set.as_single() {
            Some(only) => Node::Char(only),
            None => Node::Set(Rc::new(set)),
        })
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

fn add(ranges: &mut Vec<(u32, u32)>, atom: Atom) {
    match atom {
        Atom::Char(c) => ranges.push((c, c)),
        Atom::Set(set) => ranges.extend_from_slice(set.ranges()),
    }
}
