//! Characters of byte strings: UTF-8 where valid, otherwise single bytes.
//!
//! Invariant: every byte string splits in exactly one way, forwards and backwards. A byte that is not part
//! of a valid UTF-8 character is a character of its own, with a code outside Unicode ([`INVALID_BASE`]).

/// Codes of bytes that are not valid UTF-8.
pub(crate) const INVALID_BASE: u32 = 0x11_0000;

/// Decodes the character at `at`: its code and its length in bytes. The end of the text has length 0.
#[inline]
pub(crate) fn decode(text: &[u8], at: usize, utf8: bool) -> (u32, usize) {
    let Some(&first) = text.get(at) else { return (0, 0) };
    if first < 0x80 {
        return (u32::from(first), 1);
    }
    if utf8 && let Some(decoded) = decode_multibyte(text.get(at..).unwrap_or_default()) {
        return decoded;
    }
    (INVALID_BASE + u32::from(first), 1)
}

fn decode_multibyte(text: &[u8]) -> Option<(u32, usize)> {
    let first = *text.first()?;
    let (length, initial, minimum) = match first {
        0xC2..=0xDF => (2, u32::from(first & 0x1F), 0x80),
        0xE0..=0xEF => (3, u32::from(first & 0x0F), 0x800),
        0xF0..=0xF4 => (4, u32::from(first & 0x07), 0x1_0000),
        _ => return None,
    };
    let mut code = initial;
    for &byte in text.get(1..length)? {
        if byte & 0xC0 != 0x80 {
            return None;
        }
        code = code << 6 | u32::from(byte & 0x3F);
    }
    (code >= minimum && char::from_u32(code).is_some()).then_some((code, length))
}

/// The length in bytes of the character at `at`, at least 1.
#[inline]
pub(crate) fn length_at(text: &[u8], at: usize, utf8: bool) -> usize {
    decode(text, at, utf8).1.max(1)
}

/// Decodes the character that ends at `end`: its code and its length in bytes.
pub(crate) fn decode_before(text: &[u8], end: usize, utf8: bool) -> (u32, usize) {
    let Some(last) = end.checked_sub(1).and_then(|i| text.get(i)) else { return (0, 0) };
    if *last < 0x80 || !utf8 {
        return decode(text, end - 1, utf8);
    }
    for length in 2..=4 {
        let Some(start) = end.checked_sub(length) else { break };
        let (code, decoded) = decode(text, start, true);
        if decoded == length {
            return (code, length);
        }
    }
    (INVALID_BASE + u32::from(*last), 1)
}

/// Folds case: simple lower case where that is one character.
#[inline]
pub(crate) fn fold(code: u32) -> u32 {
    if code < 0x80 {
        return match code {
            0x41..=0x5A => code + 0x20,
            _ => code,
        };
    }
    let Some(character) = char::from_u32(code) else { return code };
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => u32::from(one),
        _ => code,
    }
}

/// The other case of a character, or itself.
pub(crate) fn upper(code: u32) -> u32 {
    let Some(character) = char::from_u32(code) else { return code };
    let mut upper = character.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => u32::from(one),
        _ => code,
    }
}
