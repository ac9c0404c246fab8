//! Key sequences: from readline's notation to the bytes that the keys send, and back.

use crate::Bytes;

const ESCAPE: u8 = 0x1b;
const RUBOUT: u8 = 0x7f;

/// Names that stand for a key outside quotes.
const NAMES: [(&[u8], u8); 11] = [
    (b"del", RUBOUT),
    (b"esc", ESCAPE),
    (b"escape", ESCAPE),
    (b"lfd", b'\n'),
    (b"newline", b'\n'),
    (b"ret", b'\r'),
    (b"return", b'\r'),
    (b"rubout", RUBOUT),
    (b"space", b' '),
    (b"spc", b' '),
    (b"tab", b'\t'),
];

pub(super) fn control(byte: u8) -> u8 {
    if byte == b'?' { RUBOUT } else { byte.to_ascii_uppercase() & 0x1f }
}

/// The bytes of a sequence in readline's notation: `\C-`, `\M-`, `\e`, C's escapes.
pub(super) fn parse(text: &[u8]) -> Bytes {
    let (mut out, mut rest) = (Bytes::new(), text);
    while let Some((&byte, after)) = rest.split_first() {
        let (key, after) = if byte == b'\\' { escape(after) } else { (byte, after) };
        out.push(key);
        rest = after;
    }
    out
}

/// The key behind a backslash, and what follows it.
fn escape(text: &[u8]) -> (u8, &[u8]) {
    for (prefix, change) in [(b"C-", control as fn(u8) -> u8), (b"M-", |byte| byte | 0x80)] {
        if let Some(rest) = text.strip_prefix(prefix) {
            let (key, rest) = match rest.split_first() {
                Some((b'\\', after)) => escape(after),
                Some((byte, after)) => (*byte, after),
                None => return (b'\\', text),
            };
            return (change(key), rest);
        }
    }
    let Some((&letter, rest)) = text.split_first() else { return (b'\\', text) };
    let key = match letter {
        b'a' => 7,
        b'b' => 8,
        b'd' => RUBOUT,
        b'e' => ESCAPE,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'0'..=b'7' => return number(text, 8, 3),
        b'x' if rest.first().is_some_and(u8::is_ascii_hexdigit) => return number(rest, 16, 2),
        other => other,
    };
    (key, rest)
}

fn number(text: &[u8], radix: u32, limit: usize) -> (u8, &[u8]) {
    let digits = text.iter().take(limit).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let (digits, rest) = text.split_at(digits);
    let value =
        digits.iter().fold(0, |value, byte| value * radix + char::from(*byte).to_digit(radix).unwrap_or(0));
    (value as u8, rest)
}

/// The key that a name outside quotes gives: `Control-x`, `M-x`, `Rubout`.
pub(super) fn named(text: &[u8]) -> u8 {
    let name = match text.iter().rposition(|byte| *byte == b'-') {
        Some(at) if at + 1 < text.len() => &text[at + 1..],
        _ => text,
    };
    let lower = text.to_ascii_lowercase();
    let holds = |part: &[u8]| lower.windows(part.len()).any(|window| window == part);
    let known = NAMES.iter().find(|(known, _)| *known == name.to_ascii_lowercase());
    let mut key = known.map_or(name.first().copied().unwrap_or(0), |(_, key)| *key);
    if holds(b"control-") || holds(b"ctrl-") || lower.starts_with(b"c-") || holds(b"-c-") {
        key = control(key);
    }
    if holds(b"meta-") || lower.starts_with(b"m-") || holds(b"-m-") {
        key |= 0x80;
    }
    key
}

/// A sequence in readline's notation.
pub(super) fn show(keys: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    for &key in keys {
        match key {
            ESCAPE => out.extend_from_slice(b"\\e"),
            RUBOUT => out.extend_from_slice(b"\\C-?"),
            0x1c => out.extend_from_slice(b"\\C-\\\\"),
            0..=31 => out.extend_from_slice(&[b'\\', b'C', b'-', (key | 0x40).to_ascii_lowercase()]),
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', key]),
            128.. => out.extend_from_slice(format!("\\{key:03o}").as_bytes()),
            _ => out.push(key),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{named, parse, show};

    #[test]
    fn notation_and_bytes() {
        assert_eq!(parse(b"\\C-x\\C-E\\e[A\\t\\\\\\\"q"), b"\x18\x05\x1b[A\t\\\"q");
        assert_eq!(parse(b"\\M-x\\C-?\\d\\033\\x41"), b"\xf8\x7f\x7f\x1bA");
        assert_eq!(parse(b"\\C-\\M-a"), [control_meta_a()]);
        assert_eq!(show(b"\x18\x1b[A\t\x7f\"\\\xf8"), b"\\C-x\\e[A\\C-i\\C-?\\\"\\\\\\370");
        assert_eq!(show(b"\0\x1c\x1d\x1f"), b"\\C-@\\C-\\\\\\C-]\\C-_");
    }

    fn control_meta_a() -> u8 {
        super::control(b'a' | 0x80)
    }

    #[test]
    fn names_of_keys() {
        assert_eq!(named(b"Control-o"), 15);
        assert_eq!(named(b"C-p"), 16);
        assert_eq!(named(b"Rubout"), 127);
        assert_eq!(named(b"M-x"), 0xf8);
        assert_eq!(named(b"SPC"), b' ');
        assert_eq!(named(b"foo"), b'f');
    }
}
