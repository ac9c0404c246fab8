//! Matching with extended groups, by sets of positions: a node maps the set of places where it may start to
//! the set of places where it may end. Nothing backtracks, so no pattern is exponential; `!( )` falls out as
//! the complement of what its alternatives reach. Every step exists in both directions, which gives
//! suffixes the same way as prefixes.

use super::character::{decode, decode_before};
use super::segments::{accepts, same};
use super::{Extent, GroupKind, Node, Pattern};
use crate::sys::stack;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

struct Walk<'a> {
    text: &'a [u8],
    utf8: bool,
    ignore_case: bool,
    direction: Direction,
}

/// Positions in ascending order, without repetition.
type Positions = Vec<usize>;

pub(super) fn matches(pattern: &Pattern, text: &[u8]) -> bool {
    reach(pattern, text, vec![0], Direction::Forward).last() == Some(&text.len())
}

pub(super) fn prefix(pattern: &Pattern, text: &[u8], extent: Extent) -> Option<usize> {
    let ends = reach(pattern, text, vec![0], Direction::Forward);
    match extent {
        Extent::Shortest => ends.first().copied(),
        Extent::Longest => ends.last().copied(),
    }
}

pub(super) fn suffix(pattern: &Pattern, text: &[u8], extent: Extent) -> Option<usize> {
    let starts = reach(pattern, text, vec![text.len()], Direction::Backward);
    match extent {
        Extent::Shortest => starts.last().copied(),
        Extent::Longest => starts.first().copied(),
    }
}

pub(super) fn find(pattern: &Pattern, text: &[u8], from: usize) -> Option<(usize, usize)> {
    let walk = walk(pattern, text, Direction::Backward);
    let everywhere = walk.boundaries(from);
    let starts = walk.sequence(&pattern.nodes, everywhere);
    let start = starts.into_iter().find(|&s| s >= from)?;
    reach(pattern, text, vec![start], Direction::Forward).last().map(|&end| (start, end))
}

fn walk<'a>(pattern: &Pattern, text: &'a [u8], direction: Direction) -> Walk<'a> {
    let options = pattern.options;
    Walk { text, utf8: options.utf8, ignore_case: options.ignore_case, direction }
}

fn reach(pattern: &Pattern, text: &[u8], from: Positions, direction: Direction) -> Positions {
    walk(pattern, text, direction).sequence(&pattern.nodes, from)
}

impl Walk<'_> {
    fn sequence(&self, nodes: &[Node], mut positions: Positions) -> Positions {
        let count = nodes.len();
        for index in 0..count {
            let index = if self.direction == Direction::Forward { index } else { count - 1 - index };
            let Some(node) = nodes.get(index) else { break };
            if positions.is_empty() {
                break;
            }
            positions = self.node(node, positions);
        }
        positions
    }

    fn node(&self, node: &Node, positions: Positions) -> Positions {
        match node {
            Node::Literal(literal) => positions.iter().filter_map(|&p| self.literal(literal, p)).collect(),
            Node::AnyString => self.everything_beyond(&positions),
            Node::Group(kind, alternatives) => {
                stack::with_room(|| self.group(*kind, &alternatives.0, positions))
            }
            _ => positions.iter().filter_map(|&p| self.character(node, p)).collect(),
        }
    }

    fn literal(&self, literal: &[u8], at: usize) -> Option<usize> {
        let (start, end, next) = match self.direction {
            Direction::Forward => (at, at.checked_add(literal.len())?, at + literal.len()),
            Direction::Backward => (at.checked_sub(literal.len())?, at, at - literal.len()),
        };
        same(self.text.get(start..end)?, literal, self.ignore_case).then_some(next)
    }

    fn character(&self, node: &Node, at: usize) -> Option<usize> {
        let (code, length) = self.step(at);
        let next = if self.direction == Direction::Forward { at + length } else { at - length };
        (length > 0 && accepts(node, code)).then_some(next)
    }

    fn step(&self, at: usize) -> (u32, usize) {
        match self.direction {
            Direction::Forward => decode(self.text, at, self.utf8),
            Direction::Backward => decode_before(self.text, at, self.utf8),
        }
    }

    /// Every position between characters from `from` on.
    fn boundaries(&self, from: usize) -> Positions {
        let mut positions = vec![from];
        let mut at = from;
        while at < self.text.len() {
            at += decode(self.text, at, self.utf8).1.max(1);
            positions.push(at);
        }
        positions
    }

    fn everything_beyond(&self, positions: &[usize]) -> Positions {
        match self.direction {
            Direction::Forward => positions.first().map_or(Vec::new(), |&first| self.boundaries(first)),
            Direction::Backward => {
                let Some(&last) = positions.last() else { return Vec::new() };
                let mut all = self.boundaries(0);
                all.retain(|&p| p <= last);
                all
            }
        }
    }

    fn alternatives(&self, alternatives: &[Vec<Node>], positions: &Positions) -> Positions {
        let mut reached = Vec::new();
        for alternative in alternatives {
            reached.extend(self.sequence(alternative, positions.clone()));
        }
        sorted(reached)
    }

    fn group(&self, kind: GroupKind, alternatives: &[Vec<Node>], positions: Positions) -> Positions {
        match kind {
            GroupKind::Once => self.alternatives(alternatives, &positions),
            GroupKind::Optional => {
                let mut reached = self.alternatives(alternatives, &positions);
                reached.extend(positions);
                sorted(reached)
            }
            GroupKind::Star => self.repeat(alternatives, positions),
            GroupKind::Plus => {
                let once = self.alternatives(alternatives, &positions);
                self.repeat(alternatives, once)
            }
            GroupKind::Not => self.complement(alternatives, &positions),
        }
    }

    /// What any number of repetitions reach, the start included.
    fn repeat(&self, alternatives: &[Vec<Node>], positions: Positions) -> Positions {
        let mut seen = vec![false; self.text.len() + 1];
        let mut reached = Vec::new();
        let mut frontier = positions;
        loop {
            frontier.retain(|&p| seen.get_mut(p).is_some_and(|s| !std::mem::replace(s, true)));
            if frontier.is_empty() {
                return sorted(reached);
            }
            reached.extend_from_slice(&frontier);
            frontier = self.alternatives(alternatives, &frontier);
        }
    }

    fn complement(&self, alternatives: &[Vec<Node>], positions: &Positions) -> Positions {
        let forward = self.direction == Direction::Forward;
        let mut starts = positions.clone();
        if !forward {
            starts.reverse();
        }
        let Some((&first, rest)) = starts.split_first() else { return Vec::new() };
        // What the first start does not reach, and perhaps a later one does.
        let mut open = self.alternatives(alternatives, &vec![first]);
        let mut reached = self.everything_beyond(&[first]);
        reached.retain(|p| open.binary_search(p).is_err());
        for &start in rest {
            open.retain(|&p| if forward { p >= start } else { p <= start });
            if open.is_empty() {
                break;
            }
            let excluded = self.alternatives(alternatives, &vec![start]);
            open.retain(|p| {
                let stays = excluded.binary_search(p).is_ok();
                if !stays {
                    reached.push(*p);
                }
                stays
            });
        }
        sorted(reached)
    }
}

fn sorted(mut positions: Positions) -> Positions {
    positions.sort_unstable();
    positions.dedup();
    positions
}
