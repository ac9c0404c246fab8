//! Shell patterns: `*`, `?`, bracket expressions and the extended groups `?( *( +( @( !(`.
//!
//! Owns the pattern language and everything that matches with it: `case`, `[[ == ]]`, `${x#p}` and its kin,
//! `${x/p/r}`, and pathname expansion ([`pathname`]). A pattern is compiled once. Without groups matching is
//! linear in the text for ordinary patterns and never exponential; with groups it is polynomial (sets of
//! positions, no backtracking).
//!
//! Input convention: quoted characters arrive with a backslash before them ([`escape_into`]), so that the
//! expansion stages need no second encoding. A malformed pattern is not an error: it matches itself.
//! Collation is the C locale's: ranges compare code points, as bash does with `LC_COLLATE=C`.

mod bracket;
mod character;
mod groups;
mod parser;
pub mod pathname;
mod segments;
#[cfg(test)]
mod tests;

pub(crate) use bracket::{Bracket, Class, collating_element};
pub(crate) use character::{INVALID_BASE, fold};

use crate::limits;
use crate::sys::stack;

/// How a pattern is to be read and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// `?` and brackets match whole UTF-8 characters rather than bytes.
    pub utf8: bool,
    /// `nocasematch` or `nocaseglob`.
    pub ignore_case: bool,
    /// `extglob`: the groups are recognised.
    pub extended: bool,
}

/// Which of several possible matches is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The shortest (`#`, `%`).
    Shortest,
    /// The longest (`##`, `%%`).
    Longest,
}

/// The quantifier of an extended group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupKind {
    /// `?( )`
    Optional,
    /// `*( )`
    Star,
    /// `+( )`
    Plus,
    /// `@( )`
    Once,
    /// `!( )`
    Not,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// Bytes that match themselves (ASCII only, if case is ignored).
    Literal(Box<[u8]>),
    /// One character compared without case, already folded.
    Folded(u32),
    AnyCharacter,
    AnyString,
    Bracket(Box<Bracket>),
    Group(GroupKind, Alternatives),
}

/// The alternatives of a group.
#[derive(Debug, PartialEq)]
pub(crate) struct Alternatives(pub(crate) Vec<Vec<Node>>);

impl Clone for Alternatives {
    fn clone(&self) -> Self {
        stack::with_room(|| Self(self.0.clone()))
    }
}

impl Drop for Alternatives {
    /// Groups in groups are taken apart in a loop, however deep they are.
    fn drop(&mut self) {
        let mut rest = std::mem::take(&mut self.0);
        while let Some(nodes) = rest.pop() {
            for mut node in nodes {
                if let Node::Group(_, alternatives) = &mut node {
                    rest.append(&mut alternatives.0);
                }
            }
        }
    }
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    pub(crate) nodes: Vec<Node>,
    pub(crate) options: Options,
    pub(crate) has_groups: bool,
    /// Whether groups nest deeper than matching can follow; then it matches nothing, and who compiled it says so.
    pub(crate) too_deep: bool,
}

impl Pattern {
    /// Compiles `pattern`. Never fails; a pattern that is `too_deep` matches nothing.
    pub fn compile(pattern: &[u8], options: Options) -> Self {
        let (mut nodes, depth) = parser::parse(pattern, options);
        let too_deep = depth > limits::PATTERN_DEPTH_MAX;
        if too_deep {
            nodes = vec![Node::Group(GroupKind::Once, Alternatives(Vec::new()))];
        }
        let has_groups = nodes.iter().any(|n| matches!(n, Node::Group(..)));
        Self { nodes, options, has_groups, too_deep }
    }

    /// Whether the pattern was compiled with `options`.
    pub fn has_options(&self, options: Options) -> bool {
        self.options == options
    }

    /// The text that the pattern matches, if it is only that text.
    pub fn as_literal(&self) -> Option<&[u8]> {
        match self.nodes.as_slice() {
            [] => Some(b""),
            [Node::Literal(text)] if !self.options.ignore_case => Some(text),
            _ => None,
        }
    }

    /// Whether the pattern matches the whole of `text`.
    pub fn matches(&self, text: &[u8]) -> bool {
        match self.nodes.as_slice() {
            [] => text.is_empty(),
            [Node::Literal(literal)] if !self.options.ignore_case => **literal == *text,
            [Node::AnyString] => true,
            _ if self.has_groups => groups::matches(self, text),
            _ => segments::matches(self, text),
        }
    }

    /// The length of the shortest or longest prefix of `text` that matches.
    pub fn prefix(&self, text: &[u8], extent: Extent) -> Option<usize> {
        if self.has_groups {
            groups::prefix(self, text, extent)
        } else {
            segments::prefix(self, text, 0, extent)
        }
    }

    /// The start of the shortest or longest suffix of `text` that matches.
    pub fn suffix(&self, text: &[u8], extent: Extent) -> Option<usize> {
        if self.has_groups {
            groups::suffix(self, text, extent)
        } else {
            segments::suffix(self, text, extent)
        }
    }

    /// The leftmost, and there the longest, match at or after `from`, as start and end.
    pub fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        if self.has_groups { groups::find(self, text, from) } else { segments::find(self, text, from) }
    }

    /// Every match that `${x//pattern/...}` replaces, in order and not overlapping.
    pub fn find_all(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut from = 0;
        if text.is_empty() {
            return self.find(text, 0).into_iter().collect();
        }
        while from < text.len() {
            let Some((start, end)) = self.find(text, from) else { break };
            if start >= text.len() {
                break;
            }
            found.push((start, end));
            from =
                if end > start { end } else { start + character::length_at(text, start, self.options.utf8) };
        }
        found
    }

    /// Whether a name that begins with a dot can be matched by an explicit dot in the pattern.
    pub fn has_leading_dot(&self) -> bool {
        can_start_with_dot(&self.nodes)
    }
}

fn can_start_with_dot(nodes: &[Node]) -> bool {
    for node in nodes {
        match node {
            Node::Literal(text) => return text.first() == Some(&b'.'),
            Node::Group(GroupKind::Not, _) => return false,
            Node::Group(kind, alternatives) => {
                if alternatives.0.iter().any(|a| stack::with_room(|| can_start_with_dot(a))) {
                    return true;
                }
                let nullable = matches!(kind, GroupKind::Optional | GroupKind::Star);
                if !nullable && !alternatives.0.iter().any(Vec::is_empty) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    false
}

/// Whether `pattern` (with backslashes before quoted characters) has anything for pathname expansion to do.
pub fn has_magic(pattern: &[u8], extended: bool) -> bool {
    let mut open_bracket = false;
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        match byte {
            b'\\' => at += 1,
            b'*' | b'?' => return true,
            b'[' => open_bracket = true,
            b']' if open_bracket => return true,
            b'/' => open_bracket = false,
            b'+' | b'@' | b'!' if extended && pattern.get(at + 1) == Some(&b'(') => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Appends `text` so that every byte of it is literal in a pattern.
pub fn escape_into(out: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if byte.is_ascii_punctuation() && !matches!(byte, b'/' | b'_' | b',' | b'%' | b'=') {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

/// Removes the backslashes that [`escape_into`] put in.
pub fn unescape(pattern: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => out.push(bytes.next().unwrap_or(b'\\')),
            _ => out.push(byte),
        }
    }
    out
}

/// The code and length of the UTF-8 character at `at`; bytes that are not UTF-8 have codes outside Unicode.
pub fn character_at(text: &[u8], at: usize) -> (u32, usize) {
    character::decode(text, at, true)
}

/// The code and length of the UTF-8 character that ends at `end`.
pub fn character_before(text: &[u8], end: usize) -> (u32, usize) {
    character::decode_before(text, end, true)
}
