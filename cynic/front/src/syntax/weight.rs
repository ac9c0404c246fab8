//! How much memory compiling a text may take, found out before anything is parsed.
//!
//! Invariant: the estimate is never below what tree, semantic tables, scopes and code take together at their highest. It reads bytes and
//! not tokens: what looks like code inside a string counts too, because only a parser knows for certain that it is none.

use super::nesting;
use crate::limits;

/// An upper bound, in bytes, for what compiling `text` takes.
pub fn weight(text: &str) -> usize {
    let again = usize::try_from(nesting::measure(text).arrow_attempts).unwrap_or(usize::MAX);
    read_once(text).saturating_add(again.saturating_mul(limits::COMPILE_BYTES_PER_TOKEN))
}

/// The same without what the parser reads again and keeps.
fn read_once(text: &str) -> usize {
    let mut total = text.len().saturating_mul(limits::COMPILE_BYTES_PER_BYTE);
    let mut before = Class::Space;
    let mut last = b' ';
    for &byte in text.as_bytes() {
        let class = Class::of(byte);
        if class == Class::Mark || class == Class::Word && before != Class::Word {
            total = total.saturating_add(limits::COMPILE_BYTES_PER_TOKEN);
        }
        // What an arrow, a method or a function begins its body with.
        if last == b'=' && byte == b'>' || last == b')' && byte == b'{' {
            total = total.saturating_add(limits::COMPILE_BYTES_PER_FUNCTION);
        }
        if class != Class::Space {
            last = byte;
        }
        before = class;
    }
    total
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Word,
    Mark,
}

impl Class {
    fn of(byte: u8) -> Self {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => Self::Space,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | 0x80.. => Self::Word,
            _ => Self::Mark,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn long_words_are_light_and_functions_heavy() {
        assert!(weight(&"x".repeat(1000)) < 10_000);
        for function in ["a=>1,", "a(){}", "a () {}"] {
            assert!(weight(&function.repeat(1000)) > 1_100_000, "{function}");
        }
    }
}
