//! Matching by sets of positions, then dividing the match among the subexpressions.
//!
//! A backward pass from every position finds where matches can start; a forward pass from the first of them
//! finds the longest end. Each node can then be divided over a known span by asking which positions its
//! parts can reach from the left and from the right.

use super::{Assertion, Captures, Node};
use rustc_hash::FxHashSet;

use crate::pattern::{Class, INVALID_BASE, character_at, character_before, fold};

/// Positions in ascending order, without repetition.
type Positions = Vec<usize>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}
use Direction::{Backward, Forward};

struct Matcher<'t> {
    text: &'t [u8],
}

pub(super) fn captures(root: &Node, groups: usize, text: &[u8]) -> Option<Captures> {
    let matcher = Matcher { text };
    let start = matcher.leftmost(root)?;
    let end = *matcher.step(root, &[start], Forward).last()?;
    let mut spans: Captures = vec![None; groups + 1];
    if let Some(whole) = spans.first_mut() {
        *whole = Some((start, end));
    }
    if groups > 0 {
        matcher.divide(root, start, &[end], &mut spans);
    }
    Some(spans)
}

fn is_anchored(node: &Node) -> bool {
    match node {
        Node::Assertion(Assertion::Start) => true,
        Node::Sequence(items) => items.first().is_some_and(is_anchored),
        Node::Group(_, inner) => is_anchored(inner),
        _ => false,
    }
}

impl Matcher<'_> {
    fn leftmost(&self, root: &Node) -> Option<usize> {
        if is_anchored(root) {
            return (!self.step(root, &[0], Forward).is_empty()).then_some(0);
        }
        let everywhere = self.boundaries(0);
        self.step(root, &everywhere, Backward).first().copied()
    }

    fn boundaries(&self, from: usize) -> Positions {
        let mut positions = vec![from];
        let mut at = from;
        while at < self.text.len() {
            at += character_at(self.text, at).1.max(1);
            positions.push(at);
        }
        positions
    }

    /// Where `node` can end when it starts at one of `positions` (or start when it ends there).
    fn step(&self, node: &Node, positions: &[usize], direction: Direction) -> Positions {
        match node {
            Node::Empty => positions.to_vec(),
            Node::Literal(literal) => {
                positions.iter().filter_map(|&p| self.literal(literal, p, direction)).collect()
            }
            Node::Folded(_) | Node::AnyCharacter | Node::Bracket(_) => {
                positions.iter().filter_map(|&p| self.character(node, p, direction)).collect()
            }
            Node::Assertion(assertion) => {
                positions.iter().copied().filter(|&p| self.holds(*assertion, p)).collect()
            }
            Node::Group(_, inner) => self.step(inner, positions, direction),
            Node::Sequence(items) => self.sequence(items, positions, direction),
            Node::Alternation(branches) => {
                let all = branches.iter().flat_map(|b| self.step(b, positions, direction));
                sorted(all.collect())
            }
            Node::Repeat(inner, minimum, maximum) => {
                self.repeat(inner, *minimum, *maximum, positions, direction)
            }
        }
    }

    fn sequence(&self, items: &[Node], positions: &[usize], direction: Direction) -> Positions {
        let mut current = positions.to_vec();
        let advance = |current: &mut Positions, node: &Node| {
            *current = self.step(node, current, direction);
            !current.is_empty()
        };
        match direction {
            Forward => items.iter().all(|node| advance(&mut current, node)),
            Backward => items.iter().rev().all(|node| advance(&mut current, node)),
        };
        current
    }

    fn literal(&self, literal: &[u8], at: usize, direction: Direction) -> Option<usize> {
        match direction {
            Forward => {
                let end = at + literal.len();
                (self.text.get(at..end)? == literal).then_some(end)
            }
            Backward => {
                let start = at.checked_sub(literal.len())?;
                (self.text.get(start..at)? == literal).then_some(start)
            }
        }
    }

    fn character(&self, node: &Node, at: usize, direction: Direction) -> Option<usize> {
        let (code, length) = match direction {
            Forward => character_at(self.text, at),
            Backward => character_before(self.text, at),
        };
        let accepted = length > 0
            && match node {
                Node::AnyCharacter => code < INVALID_BASE,
                Node::Folded(folded) => fold(code) == *folded,
                Node::Bracket(bracket) => code < INVALID_BASE && bracket.contains(code),
                _ => false,
            };
        accepted.then_some(if direction == Forward { at + length } else { at - length })
    }

    fn is_word(&self, code: u32, length: usize) -> bool {
        length > 0 && Class::Word.contains(code)
    }

    fn holds(&self, assertion: Assertion, at: usize) -> bool {
        let (code, length) = character_before(self.text, at);
        let before = self.is_word(code, length);
        let (code, length) = character_at(self.text, at);
        let after = self.is_word(code, length);
        match assertion {
            Assertion::Start => at == 0,
            Assertion::End => at == self.text.len(),
            Assertion::WordBoundary => before != after,
            Assertion::NotWordBoundary => before == after,
            Assertion::WordStart => !before && after,
            Assertion::WordEnd => before && !after,
        }
    }

    fn repeat(
        &self,
        inner: &Node,
        minimum: usize,
        maximum: Option<usize>,
        positions: &[usize],
        direction: Direction,
    ) -> Positions {
        let mut frontier = positions.to_vec();
        for _ in 0..minimum {
            let next = self.step(inner, &frontier, direction);
            if next == frontier {
                break;
            }
            frontier = next;
            if frontier.is_empty() {
                return frontier;
            }
        }
        let mut reached = frontier.clone();
        let mut seen = Seen::new(self.text.len() + 1, &frontier);
        let mut left = maximum.map_or(usize::MAX, |m| m - minimum);
        while left > 0 && !frontier.is_empty() {
            frontier = self.step(inner, &frontier, direction);
            frontier.retain(|&p| seen.is_new(p));
            reached.extend_from_slice(&frontier);
            left -= 1;
        }
        sorted(reached)
    }

    /// Walks `node` from `start` to one of the positions of `reach`, recording the spans of its groups, and
    /// returns where it ends. Earlier branches and more repetitions come first, as in glibc.
    fn divide(&self, node: &Node, start: usize, reach: &[usize], spans: &mut Captures) -> Option<usize> {
        match node {
            Node::Group(index, inner) => {
                let end = self.divide(inner, start, reach, spans)?;
                if let Some(span) = spans.get_mut(*index) {
                    *span = Some((start, end));
                }
                Some(end)
            }
            Node::Sequence(items) => self.divide_sequence(items, start, reach, spans),
            Node::Alternation(branches) => {
                let fits = |b: &&Node| common_last(&self.step(b, &[start], Forward), reach).is_some();
                let branch = branches.iter().find(fits)?;
                self.divide(branch, start, reach, spans)
            }
            Node::Repeat(inner, minimum, maximum) if !is_single(inner) => {
                self.divide_repeat(inner, *minimum, *maximum, start, reach, spans)
            }
            _ => common_last(&self.step(node, &[start], Forward), reach),
        }
    }

    fn divide_sequence(
        &self,
        items: &[Node],
        start: usize,
        reach: &[usize],
        spans: &mut Captures,
    ) -> Option<usize> {
        // From where the rest of the sequence can reach the end.
        let mut reaches = vec![reach.to_vec()];
        for item in items.iter().skip(1).rev() {
            let next = self.step(item, reaches.last().map_or(&[], Vec::as_slice), Backward);
            reaches.push(next);
        }
        let mut at = start;
        for (item, reach) in items.iter().zip(reaches.iter().rev()) {
            at = self.divide(item, at, reach, spans)?;
        }
        Some(at)
    }

    fn divide_repeat(
        &self,
        inner: &Node,
        minimum: usize,
        maximum: Option<usize>,
        start: usize,
        reach: &[usize],
        spans: &mut Captures,
    ) -> Option<usize> {
        let mut at = start;
        let mut done = 0usize;
        // From where any number of further repetitions can reach the end: the same after each of them.
        let mut any: Option<Positions> = None;
        while maximum.is_none_or(|m| done < m) {
            let least = minimum.saturating_sub(done + 1);
            let most = maximum.map(|m| m - done - 1);
            let some;
            let next: &[usize] = if least == 0 && most.is_none() {
                any.get_or_insert_with(|| self.repeat(inner, 0, None, reach, Backward))
            } else {
                some = self.repeat(inner, least, most, reach, Backward);
                &some
            };
            let next = if done > 0 || reach.binary_search(&at).is_err() {
                // After the first, only repetitions that consume something.
                next.get(next.partition_point(|&p| p <= at)..).unwrap_or_default()
            } else {
                next
            };
            // Where this repetition can end: seldom more than a few places of all those.
            let mut ends = self.step(inner, &[at], Forward);
            ends.retain(|p| next.binary_search(p).is_ok());
            if ends.is_empty() {
                break;
            }
            let stop = self.divide(inner, at, &ends, spans)?;
            done += 1;
            if stop == at {
                break;
            }
            at = stop;
        }
        reach.binary_search(&at).is_ok().then_some(at)
    }
}

/// The positions that were reached: a bit for each of the text where they are many, a set where they are few, because one of these is made for every
/// repetition of what is repeated itself.
enum Seen {
    Few(FxHashSet<usize>),
    Many(Vec<bool>),
}

/// How many of the text's positions make many.
const MANY: usize = 16;

impl Seen {
    fn new(length: usize, first: &[usize]) -> Seen {
        if first.len() < length / MANY {
            return Seen::Few(first.iter().copied().collect());
        }
        let mut seen = vec![false; length];
        for &position in first {
            if let Some(seen) = seen.get_mut(position) {
                *seen = true;
            }
        }
        Seen::Many(seen)
    }

    /// Whether it was not reached before; now it is.
    fn is_new(&mut self, position: usize) -> bool {
        match self {
            Seen::Few(set) => set.insert(position),
            Seen::Many(seen) => seen.get_mut(position).is_some_and(|seen| !std::mem::replace(seen, true)),
        }
    }
}

/// The largest position that is in both.
fn common_last(left: &[usize], right: &[usize]) -> Option<usize> {
    left.iter().rev().find(|p| right.binary_search(p).is_ok()).copied()
}

/// Whether every repetition takes one character and holds no group, so that more is simply longer.
fn is_single(node: &Node) -> bool {
    matches!(node, Node::Folded(_) | Node::AnyCharacter | Node::Bracket(_))
}

fn sorted(mut positions: Positions) -> Positions {
    positions.sort_unstable();
    positions.dedup();
    positions
}
