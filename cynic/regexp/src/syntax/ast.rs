//! The tree between parser and compiler. Characters and sets are already closed under case, modifiers are resolved in each node, and
//! classes with strings have become disjunctions.

use crate::charset::CharSet;
use std::rc::Rc;

/// No upper bound on a repeat.
pub(crate) const UNBOUNDED: u32 = u32::MAX;

/// One node of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Empty,
    /// Exactly this character.
    Char(u32),
    /// One character of the set.
    Set(Rc<CharSet>),
    Sequence(Vec<Node>),
    Disjunction(Vec<Node>),
    Capture {
        index: u32,
        body: Box<Node>,
    },
    Repeat(Box<Repeat>),
    BackReference {
        target: Target,
        ignore_case: bool,
    },
    Look {
        behind: bool,
        negative: bool,
        body: Box<Node>,
    },
    LineStart {
        multiline: bool,
    },
    LineEnd {
        multiline: bool,
    },
    /// `extended` adds the two characters that fold to ASCII letters (22.2.2.7.5 WordCharacters).
    WordBoundary {
        negative: bool,
        extended: bool,
    },
}

/// What a back reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// A group by its number.
    Group(u32),
    /// The one group of a name, by the name's number, that took part.
    Name(u32),
}

/// A quantified node; groups `first_capture..end_capture` stand inside and are cleared at each iteration.
#[derive(Clone, Debug)]
pub(crate) struct Repeat {
    pub(crate) body: Node,
    /// What [`Node::is_nullable`], [`Node::is_always_empty`] and [`Node::weight`] say of the body. Kept, so that nested repeats do not look at
    /// what is innermost once for each level.
    pub(crate) body_is_nullable: bool,
    pub(crate) body_is_always_empty: bool,
    pub(crate) body_weight: u64,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) greedy: bool,
    pub(crate) first_capture: u32,
    pub(crate) end_capture: u32,
}

impl Node {
    /// The set of a node that always takes exactly one character.
    pub(crate) fn as_single_character(&self) -> Option<Rc<CharSet>> {
        match self {
            Self::Char(c) => Some(Rc::new(CharSet::single(*c))),
            Self::Set(set) => Some(Rc::clone(set)),
            _ => None,
        }
    }

    /// Whether the node may match without taking a character. May say yes where the answer is no.
    pub(crate) fn is_nullable(&self) -> bool {
        match self {
            Self::Char(_) | Self::Set(_) => false,
            Self::Sequence(items) => items.iter().all(Self::is_nullable),
            Self::Disjunction(items) => items.iter().any(Self::is_nullable),
            Self::Capture { body, .. } => body.is_nullable(),
            Self::Repeat(repeat) => repeat.min == 0 || repeat.body_is_nullable,
            _ => true,
        }
    }

    /// Whether the node can take no character at all.
    pub(crate) fn is_always_empty(&self) -> bool {
        match self {
            Self::Char(_) | Self::Set(_) | Self::BackReference { .. } => false,
            Self::Sequence(items) | Self::Disjunction(items) => items.iter().all(Self::is_always_empty),
            Self::Capture { body, .. } => body.is_always_empty(),
            Self::Repeat(repeat) => repeat.max == 0 || repeat.body_is_always_empty,
            _ => true,
        }
    }

    /// Instructions the node will roughly become, saturating.
    pub(crate) fn weight(&self) -> u64 {
        match self {
            Self::Sequence(items) | Self::Disjunction(items) => {
                items.iter().fold(1, |sum: u64, item| sum.saturating_add(item.weight() + 1))
            }
            Self::Capture { body, .. } | Self::Look { body, .. } => body.weight().saturating_add(2),
            Self::Repeat(repeat) => {
                let copies =
                    if repeat.max == UNBOUNDED { u64::from(repeat.min) + 1 } else { u64::from(repeat.max) };
                repeat.body_weight.saturating_add(2).saturating_mul(copies.max(1))
            }
            _ => 1,
        }
    }
}
