//! First sets: with which characters a node, or what follows it, can begin. Always an over-approximation, so that "not in the set" proves failure;
//! "disjoint" proves that a choice needs no alternative kept.

use crate::charset::CharSet;
use crate::limits::{FIRST_SET_DEPTH_MAX, FIRST_SET_WIDTH_MAX, SEARCH_PREFIX_UNITS_MAX};
use crate::syntax::ast::Node;
use std::rc::Rc;

/// Characters that can come next; `None` is anything, the end of input included.
pub(super) type NextSet = Option<Rc<CharSet>>;

/// The characters a node can begin with, and whether it may take none.
pub(super) struct First {
    pub(super) chars: NextSet,
    pub(super) nullable: bool,
}

impl First {
    fn anything() -> Self {
        Self { chars: None, nullable: true }
    }

    fn nothing_taken() -> Self {
        Self { chars: Some(Rc::new(CharSet::empty())), nullable: true }
    }

    /// With what follows the node taken in.
    pub(super) fn then(self, follow: &NextSet) -> NextSet {
        if self.nullable { union(&self.chars, follow) } else { self.chars }
    }
}

pub(super) fn union(a: &NextSet, b: &NextSet) -> NextSet {
    match (a, b) {
        (Some(a), Some(b)) if a.is_empty() => Some(b.clone()),
        (Some(a), Some(b)) if b.is_empty() => Some(a.clone()),
        (Some(a), Some(b)) => Some(Rc::new(a.union(b))),
        _ => None,
    }
}

pub(super) fn disjoint(a: &NextSet, b: &NextSet) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.is_disjoint(b))
}

/// The first set of a node matched forwards.
pub(super) fn first(node: &Node) -> First {
    first_at(node, 0)
}

fn first_at(node: &Node, depth: u32) -> First {
    if depth > FIRST_SET_DEPTH_MAX {
        return First { chars: None, nullable: node.is_nullable() };
    }
    match node {
        Node::Char(c) => First { chars: Some(Rc::new(CharSet::single(*c))), nullable: false },
        Node::Set(set) => First { chars: Some(set.clone()), nullable: false },
        Node::Sequence(items) => first_of_sequence(items, depth),
        Node::Disjunction(items) => first_of_disjunction(items, depth),
        Node::Capture { body, .. } => first_at(body, depth + 1),
        Node::Repeat(repeat) if repeat.max == 0 => First::nothing_taken(),
        Node::Repeat(repeat) => {
            let body = first_at(&repeat.body, depth + 1);
            First { nullable: body.nullable || repeat.min == 0, ..body }
        }
        Node::BackReference { .. } => First::anything(),
        Node::Empty
        | Node::Look { .. }
        | Node::LineStart { .. }
        | Node::LineEnd { .. }
        | Node::WordBoundary { .. } => First::nothing_taken(),
    }
}

fn first_of_sequence(items: &[Node], depth: u32) -> First {
    let mut chars = Some(Rc::new(CharSet::empty()));
    for (i, item) in items.iter().enumerate() {
        if i >= FIRST_SET_WIDTH_MAX {
            return First::anything();
        }
        let next = first_at(item, depth + 1);
        chars = union(&chars, &next.chars);
        if !next.nullable {
            return First { chars, nullable: false };
        }
    }
    First { chars, nullable: true }
}

fn first_of_disjunction(items: &[Node], depth: u32) -> First {
    let mut nullable = false;
    let mut ranges = Some(Vec::new());
    for item in items {
        let next = first_at(item, depth + 1);
        nullable |= next.nullable;
        match (&mut ranges, next.chars) {
            (Some(ranges), Some(chars)) => ranges.extend_from_slice(chars.ranges()),
            _ => ranges = None,
        }
    }
    First { chars: ranges.map(|ranges| Rc::new(CharSet::from_ranges(ranges))), nullable }
}

/// What can come next after `items`, given what follows the whole sequence.
pub(super) fn next_after(items: &[Node], follow: &NextSet) -> NextSet {
    first_of_sequence(items, 0).then(follow)
}

/// The characters that every match begins with, as far as they are literal.
pub(super) fn literal_prefix(node: &Node, units: &mut Vec<u16>) {
    take_prefix(node, units);
}

/// True if the node was taken whole, so that what follows continues the prefix.
fn take_prefix(node: &Node, units: &mut Vec<u16>) -> bool {
    match node {
        // Lone surrogates are left to the matcher, which knows about pairs.
        Node::Char(c) if !(0xD800..=0xDFFF).contains(c) && units.len() < SEARCH_PREFIX_UNITS_MAX => {
            crate::syntax::push_code_point(units, *c);
            true
        }
        Node::Sequence(items) => items.iter().all(|item| take_prefix(item, units)),
        Node::Capture { body, .. } => take_prefix(body, units),
        Node::Empty => true,
        _ => false,
    }
}

/// Whether every match must begin at the start of the input or (with `lines`) of a line.
pub(super) fn is_anchored(node: &Node, lines: bool) -> bool {
    match node {
        Node::LineStart { multiline } => lines || !multiline,
        Node::Sequence(items) => items.first().is_some_and(|item| is_anchored(item, lines)),
        Node::Disjunction(items) => items.iter().all(|item| is_anchored(item, lines)),
        Node::Capture { body, .. } => is_anchored(body, lines),
        Node::Repeat(repeat) => repeat.min > 0 && is_anchored(&repeat.body, lines),
        _ => false,
    }
}
