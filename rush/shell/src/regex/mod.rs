//! POSIX extended regular expressions for `[[ string =~ pattern ]]`.
//!
//! Owns their syntax as glibc reads it and their meaning as POSIX defines it: the leftmost match, and the longest
//! one there. Within that match subexpressions are found as glibc finds them (earlier branches and more
//! repetitions first), because scripts see glibc's BASH_REMATCH. Libraries with Perl's leftmost-first
//! alternation give other matches, so this matcher is our own. It works with sets of positions
//! in both directions and never backtracks, so no expression is exponential.
//!
//! Not there: back-references (`\1`), which are refused when compiled. Collation is the C locale's.

mod matcher;
mod parser;
#[cfg(test)]
mod tests;

use crate::pattern::Bracket;

/// Copies of a repeated expression; more is refused as glibc refuses it.
pub const REPEAT_MAX: usize = 32_767;
/// Nested parentheses; matching recurses once per level.
pub const NESTING_MAX: usize = 250;

/// Why a pattern was refused. The shell only reports that it was (status 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidRegex(pub &'static str);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Empty,
    /// Bytes that match themselves.
    Literal(Vec<u8>),
    /// A character compared without case, already folded.
    Folded(u32),
    AnyCharacter,
    Bracket(Box<Bracket>),
    Assertion(Assertion),
    Group(usize, Box<Node>),
    Sequence(Vec<Node>),
    Alternation(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assertion {
    Start,
    End,
    WordBoundary,
    NotWordBoundary,
    WordStart,
    WordEnd,
}

/// The span of the whole match and of each subexpression that took part.
pub type Captures = Vec<Option<(usize, usize)>>;

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Regex {
    root: Node,
    groups: usize,
}

impl Regex {
    /// Compiles `pattern`.
    pub fn new(pattern: &[u8], ignore_case: bool) -> Result<Self, InvalidRegex> {
        let (root, groups) = parser::parse(pattern, ignore_case)?;
        Ok(Self { root, groups })
    }

    /// Searches `text`; element 0 of the result is the whole match.
    pub fn captures(&self, text: &[u8]) -> Option<Captures> {
        matcher::captures(&self.root, self.groups, text)
    }
}

/// Appends `text` so that it matches only itself.
pub fn escape_into(out: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if matches!(
            byte,
            b'\\' | b'.' | b'[' | b']' | b'(' | b')' | b'{' | b'}' | b'*' | b'+' | b'?' | b'|' | b'^' | b'$'
        ) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}
