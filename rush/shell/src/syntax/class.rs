//! What a byte can mean to the scanner, as one table: every decision about a byte is one look-up.

/// A set of classes; a byte is in each whose bit its entry has.
pub(super) type Classes = u16;

/// Blanks.
const BLANK: Classes = 1;
/// Ends an unquoted word.
const META: Classes = 2;
/// Ends a run of characters that stand for themselves.
pub(super) const ENDS_PLAIN: Classes = 4;
/// Needs the general path of word parsing.
pub(super) const SPECIAL: Classes = 8;
/// Ends a plain run inside a word under construction.
pub(super) const WORD_STOP: Classes = 16;
/// Ends a plain run between double quotes.
pub(super) const QUOTED_STOP: Classes = 32;
/// Cannot stand in a name.
pub(super) const NOT_NAME: Classes = 64;
/// Can mean something in a pattern.
pub(super) const PATTERN: Classes = 128;
/// Begins what is skipped before a token: a blank, a comment, a line continuation.
pub(super) const SKIPPED: Classes = 256;
/// Can begin a reserved word.
pub(super) const RESERVED: Classes = 512;
/// Can begin a redirection: an operator, or what may stand before one.
pub(super) const REDIRECTS: Classes = 1024;

const TABLE: [Classes; 256] = {
    let mut table = [NOT_NAME; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b == b'_' || b.is_ascii_alphanumeric() {
            table[byte] = 0;
        }
        if matches!(b, b' ' | b'\t') {
            table[byte] |= BLANK;
        }
        if matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>') {
            table[byte] |= META | ENDS_PLAIN | SPECIAL | WORD_STOP;
        }
        if matches!(b, b'\'' | b'"' | b'\\' | b'$' | b'`') {
            table[byte] |= ENDS_PLAIN | SPECIAL | WORD_STOP;
        }
        if matches!(b, b'*' | b'?' | b'[' | b'{' | b'~' | b'+' | b'@' | b'!' | b'=') {
            table[byte] |= SPECIAL | WORD_STOP;
        }
        if matches!(b, b':' | b'}') {
            table[byte] |= WORD_STOP;
        }
        if matches!(b, b'$' | b'`' | b'\\' | b'"') {
            table[byte] |= QUOTED_STOP;
        }
        if matches!(b, b'*' | b'?' | b'[' | b'\\' | b'(' | b'|') {
            table[byte] |= PATTERN;
        }
        if matches!(b, b' ' | b'\t' | b'#' | b'\\') {
            table[byte] |= SKIPPED;
        }
        if matches!(b, b'c'..=b'f' | b'i' | b's'..=b'u' | b'w' | b'{' | b'}' | b'!' | b'[' | b']') {
            table[byte] |= RESERVED;
        }
        if matches!(b, b'<' | b'>' | b'&' | b'{' | b'0'..=b'9') {
            table[byte] |= REDIRECTS;
        }
        byte += 1;
    }
    table
};

/// Whether `byte` is in one of `classes`.
#[inline]
pub(super) fn is(byte: u8, classes: Classes) -> bool {
    TABLE[usize::from(byte)] & classes != 0
}

/// Whether `byte` is a blank.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    is(byte, BLANK)
}

/// Whether `byte` ends an unquoted word.
#[inline]
pub(super) fn is_meta(byte: u8) -> bool {
    is(byte, META)
}

/// Where the first byte of `classes` is in `text`.
#[inline]
pub(super) fn find(text: &[u8], classes: Classes) -> Option<usize> {
    text.iter().position(|byte| is(*byte, classes))
}
