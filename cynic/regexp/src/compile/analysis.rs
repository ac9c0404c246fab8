//! First sets: with which characters a node, or what follows it, can begin. Always an over-approximation, so that "not in the set" proves failure;
//! "disjoint" proves that a choice needs no alternative kept.

use crate::charset::{CharSet, RangeList};
use crate::limits::{
    FIRST_SET_DEPTH_MAX, FIRST_SET_RANGES_MAX, FIRST_SET_WIDTH_MAX, SEARCH_PREFIX_UNITS_MAX,
};
use crate::meter::Meter;
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
    pub(super) fn then(self, follow: &NextSet, meter: &mut Meter<'_>) -> NextSet {
        if self.nullable { union(&self.chars, follow, meter) } else { self.chars }
    }
}

pub(super) fn union(a: &NextSet, b: &NextSet, meter: &mut Meter<'_>) -> NextSet {
    let ranges = |set: &NextSet| set.as_ref().map_or(0, |set| set.ranges().len());
    meter.work(ranges(a) + ranges(b) + 1);
    match (a, b) {
        (Some(a), Some(b)) if a.is_empty() => Some(b.clone()),
        (Some(a), Some(b)) if b.is_empty() => Some(a.clone()),
        (Some(a), Some(b)) if Rc::ptr_eq(a, b) => Some(a.clone()),
        (Some(a), Some(b)) => {
            Some(Rc::new(a.union(b))).filter(|set| set.ranges().len() <= FIRST_SET_RANGES_MAX)
        }
        _ => None,
    }
}

pub(super) fn disjoint(a: &NextSet, b: &NextSet) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.is_disjoint(b))
}

/// The first set of a node matched forwards.
pub(super) fn first(node: &Node, meter: &mut Meter<'_>) -> First {
    first_at(node, 0, meter)
}

fn first_at(node: &Node, depth: u32, meter: &mut Meter<'_>) -> First {
    meter.work(1);
    if depth > FIRST_SET_DEPTH_MAX || meter.is_stopped() {
        return First::anything();
    }
    match node {
        Node::Char(c) => First { chars: Some(Rc::new(CharSet::single(*c))), nullable: false },
        Node::Set(set) => First { chars: Some(set.clone()), nullable: false },
        Node::Sequence(items) => first_of_sequence(items, depth, meter),
        Node::Disjunction(items) => first_of_disjunction(items, depth, meter),
        Node::Capture { body, .. } => first_at(body, depth + 1, meter),
        Node::Repeat(repeat) if repeat.max == 0 => First::nothing_taken(),
        Node::Repeat(repeat) => {
            let body = first_at(&repeat.body, depth + 1, meter);
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

fn first_of_sequence(items: &[Node], depth: u32, meter: &mut Meter<'_>) -> First {
    let mut chars = Some(Rc::new(CharSet::empty()));
    for (i, item) in items.iter().enumerate() {
        if i >= FIRST_SET_WIDTH_MAX {
            return First::anything();
        }
        let next = first_at(item, depth + 1, meter);
        chars = union(&chars, &next.chars, meter);
        if !next.nullable {
            return First { chars, nullable: false };
        }
    }
    First { chars, nullable: true }
}

fn first_of_disjunction(items: &[Node], depth: u32, meter: &mut Meter<'_>) -> First {
    let mut nullable = false;
    let mut ranges = RangeList::default();
    for item in items {
        let next = first_at(item, depth + 1, meter);
        // Once it is anything, no alternative takes that back.
        let Some(chars) = next.chars else { return First::anything() };
        nullable |= next.nullable;
        ranges.add(chars.ranges(), meter);
    }
    let set = ranges.into_set(meter);
    let chars = Some(set).filter(|set| set.ranges().len() <= FIRST_SET_RANGES_MAX).map(Rc::new);
    First { chars, nullable }
}

/// What can come next after each of `items`, given what follows the whole sequence. Goes through them once and in pieces, because the sets of a
/// long sequence would take much memory.
pub(super) struct Followers<'n> {
    items: &'n [Node],
    follow: NextSet,
    /// The piece that is known: from which item on, and what can come from each of its items on.
    known_from: usize,
    known: Vec<NextSet>,
}

impl<'n> Followers<'n> {
    pub(super) fn new(items: &'n [Node], follow: &NextSet) -> Self {
        Self { items, follow: follow.clone(), known_from: 0, known: Vec::new() }
    }

    /// What can come from item `index` on. Asked for in ascending order.
    pub(super) fn from(&mut self, index: usize, meter: &mut Meter<'_>) -> NextSet {
        if index >= self.items.len() {
            return self.follow.clone();
        }
        if let Some(known) = index.checked_sub(self.known_from).and_then(|i| self.known.get(i)) {
            return known.clone();
        }
        let end = self.items.len().min(index + FIRST_SET_WIDTH_MAX);
        let beyond = self.items.get(end..).unwrap_or_default();
        let mut next = first_of_sequence(beyond, 0, meter).then(&self.follow, meter);
        self.known.clear();
        for item in self.items.get(index..end).unwrap_or_default().iter().rev() {
            next = first_at(item, 1, meter).then(&next, meter);
            self.known.push(next.clone());
        }
        self.known.reverse();
        self.known_from = index;
        self.known.first().cloned().flatten()
    }
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
