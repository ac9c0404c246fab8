//! Matching without groups. A pattern is a row of segments with `*` between them; each segment is a row of
//! nodes that consume one character or a literal each. Taking the earliest (or, from the end, the latest)
//! place for every inner segment is always right, so nothing is ever tried twice.

use super::character::{decode, decode_before, fold, length_at};
use super::{Extent, Node, Pattern};
use memchr::memmem;

/// The segments of `nodes`: what stands before, between and behind the stars.
fn split(nodes: &[Node]) -> Vec<&[Node]> {
    nodes.split(|n| *n == Node::AnyString).collect()
}

/// The end of `segment` when it starts at `at`.
fn match_forward(pattern: &Pattern, segment: &[Node], text: &[u8], mut at: usize) -> Option<usize> {
    for node in segment {
        at = match node {
            Node::Literal(literal) => {
                let end = at.checked_add(literal.len())?;
                same(text.get(at..end)?, literal, pattern.options.ignore_case).then_some(end)?
            }
            _ => {
                let (code, length) = decode(text, at, pattern.options.utf8);
                (length > 0 && accepts(node, code)).then_some(at + length)?
            }
        };
    }
    Some(at)
}

/// The start of `segment` when it ends at `end`.
fn match_backward(pattern: &Pattern, segment: &[Node], text: &[u8], mut end: usize) -> Option<usize> {
    for node in segment.iter().rev() {
        end = match node {
            Node::Literal(literal) => {
                let start = end.checked_sub(literal.len())?;
                same(text.get(start..end)?, literal, pattern.options.ignore_case).then_some(start)?
            }
            _ => {
                let (code, length) = decode_before(text, end, pattern.options.utf8);
                (length > 0 && accepts(node, code)).then_some(end - length)?
            }
        };
    }
    Some(end)
}

#[inline]
pub(super) fn same(text: &[u8], literal: &[u8], ignore_case: bool) -> bool {
    if ignore_case { text.eq_ignore_ascii_case(literal) } else { text == literal }
}

/// Whether a node that consumes one character accepts it.
#[inline]
pub(super) fn accepts(node: &Node, code: u32) -> bool {
    match node {
        Node::AnyCharacter => true,
        Node::Bracket(bracket) => bracket.contains(code),
        Node::Folded(folded) => fold(code) == *folded,
        Node::Literal(_) | Node::AnyString | Node::Group(..) => false,
    }
}

/// The earliest place at or after `from` where `segment` matches, as start and end.
fn earliest(pattern: &Pattern, segment: &[Node], text: &[u8], from: usize) -> Option<(usize, usize)> {
    let exact = !pattern.options.ignore_case;
    match segment {
        [] => return Some((from, from)),
        [Node::Literal(literal)] if exact => {
            let start = from + memmem::find(text.get(from..)?, literal)?;
            return Some((start, start + literal.len()));
        }
        _ => {}
    }
    let leading = match segment.first() {
        Some(Node::Literal(literal)) if exact => Some(&**literal),
        _ => None,
    };
    let mut at = from;
    while at <= text.len() {
        if let Some(literal) = leading {
            at += memmem::find(text.get(at..)?, literal)?;
        }
        if let Some(end) = match_forward(pattern, segment, text, at) {
            return Some((at, end));
        }
        at += length_at(text, at, pattern.options.utf8);
    }
    None
}

/// The latest place at or before `until` where `segment` ends, not starting before `from`, as start and end.
fn latest(
    pattern: &Pattern,
    segment: &[Node],
    text: &[u8],
    from: usize,
    until: usize,
) -> Option<(usize, usize)> {
    if segment.is_empty() {
        return (from <= until).then_some((until, until));
    }
    let mut end = until;
    loop {
        if end < from {
            return None;
        }
        if let Some(start) = match_backward(pattern, segment, text, end)
            && start >= from
        {
            return Some((start, end));
        }
        let (_, length) = decode_before(text, end, pattern.options.utf8);
        if length == 0 {
            return None;
        }
        end -= length;
    }
}

pub(super) fn matches(pattern: &Pattern, text: &[u8]) -> bool {
    let segments = split(&pattern.nodes);
    let [first, inner @ .., last] = segments.as_slice() else {
        return match_forward(pattern, &pattern.nodes, text, 0) == Some(text.len());
    };
    let Some(mut at) = match_forward(pattern, first, text, 0) else { return false };
    let Some(tail) = match_backward(pattern, last, text, text.len()) else { return false };
    for segment in inner {
        match earliest(pattern, segment, text, at) {
            Some((_, end)) if end <= tail => at = end,
            _ => return false,
        }
    }
    at <= tail
}

/// The end of the shortest or longest match that starts at `from`.
pub(super) fn prefix(pattern: &Pattern, text: &[u8], from: usize, extent: Extent) -> Option<usize> {
    let segments = split(&pattern.nodes);
    let [first, inner @ .., last] = segments.as_slice() else {
        return match_forward(pattern, &pattern.nodes, text, from);
    };
    let mut at = match_forward(pattern, first, text, from)?;
    for segment in inner {
        at = earliest(pattern, segment, text, at)?.1;
    }
    match extent {
        Extent::Shortest => earliest(pattern, last, text, at).map(|(_, end)| end),
        Extent::Longest => latest(pattern, last, text, at, text.len()).map(|(_, end)| end),
    }
}

pub(super) fn suffix(pattern: &Pattern, text: &[u8], extent: Extent) -> Option<usize> {
    let segments = split(&pattern.nodes);
    let [first, inner @ .., last] = segments.as_slice() else {
        return match_backward(pattern, &pattern.nodes, text, text.len());
    };
    let mut end = match_backward(pattern, last, text, text.len())?;
    for segment in inner.iter().rev() {
        end = latest(pattern, segment, text, 0, end)?.0;
    }
    match extent {
        Extent::Shortest => latest(pattern, first, text, 0, end).map(|(start, _)| start),
        Extent::Longest => match earliest(pattern, first, text, 0)? {
            (start, stop) if stop <= end => Some(start),
            _ => None,
        },
    }
}

pub(super) fn find(pattern: &Pattern, text: &[u8], from: usize) -> Option<(usize, usize)> {
    let first = pattern.nodes.split(|n| *n == Node::AnyString).next().unwrap_or_default();
    if first.is_empty() && pattern.nodes.is_empty() {
        return None;
    }
    // If the rest does not match after the earliest start, it matches after no later one.
    let (start, _) = earliest(pattern, first, text, from)?;
    prefix(pattern, text, start, Extent::Longest).map(|end| (start, end))
}
