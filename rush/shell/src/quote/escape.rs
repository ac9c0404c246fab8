//! Backslash escapes: `$'...'`, `echo -e`, `printf` formats and `%b`, which differ in small ways.

/// Where the escape stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `$'...'`
    DollarSingle,
    /// `echo -e`
    Echo,
    /// The argument of `printf %b`
    PrintfArgument,
    /// The format of `printf`
    PrintfFormat,
}

/// What an escape stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// One byte.
    Byte(u8),
    /// One character, to be written in UTF-8.
    Character(u32),
    /// `\c` in `echo -e` and `%b`: no more output.
    Stop,
    /// Not an escape: the backslash stands for itself.
    Backslash,
    /// `\x` without a digit: the backslash stands for itself, after a message.
    MissingHex,
    /// `\u` or `\U` without a digit: the backslash stands for itself, after a message.
    MissingUnicode(u8),
}

/// Reads the escape whose text after the backslash is `rest`, and how many bytes of `rest` it takes.
pub fn decode(rest: &[u8], dialect: Dialect) -> (Escape, usize) {
    let Some(&first) = rest.first() else { return (Escape::Backslash, 0) };
    let byte = match first {
        b'a' => 0x07,
        b'b' => 0x08,
        b'e' | b'E' => 0x1b,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' => b'\\',
        b'\'' | b'"' | b'?' if matches!(dialect, Dialect::DollarSingle | Dialect::PrintfFormat) => first,
        b'0' if matches!(dialect, Dialect::Echo | Dialect::PrintfArgument) => {
            let (value, length) = digits(rest.get(1..).unwrap_or_default(), 8, 3);
            return (Escape::Byte(value as u8), 1 + length);
        }
        b'0'..=b'7' if dialect != Dialect::Echo => {
            let (value, length) = digits(rest, 8, 3);
            return (Escape::Byte(value as u8), length);
        }
        b'x' => return hexadecimal(rest, dialect),
        b'u' => return unicode(rest, 4),
        b'U' => return unicode(rest, 8),
        b'c' if matches!(dialect, Dialect::Echo | Dialect::PrintfArgument) => return (Escape::Stop, 1),
        b'c' if dialect == Dialect::DollarSingle => return control(rest),
        _ => return (Escape::Backslash, 0),
    };
    (Escape::Byte(byte), 1)
}

/// Decodes every escape in `text`. A NUL ends the text, as it ends a C string.
pub fn dollar_single(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (escape, length) = decode(text.get(at..).unwrap_or_default(), Dialect::DollarSingle);
        at += length;
        match escape {
            Escape::Byte(0) | Escape::Stop => break,
            Escape::Byte(byte) => out.push(byte),
            Escape::Character(0) => break,
            Escape::Character(code) => push_character(&mut out, code),
            Escape::Backslash | Escape::MissingHex | Escape::MissingUnicode(_) => out.push(b'\\'),
        }
    }
    out
}

/// Appends `code` in UTF-8; codes beyond Unicode in UTF-8's original, longer form, as bash does.
pub fn push_character(out: &mut Vec<u8>, code: u32) {
    match code {
        0..=0x7f => out.push(code as u8),
        0x80..=0x7ff => out.extend([0xc0 | (code >> 6) as u8, tail(code)]),
        0x800..=0xffff => out.extend([0xe0 | (code >> 12) as u8, tail(code >> 6), tail(code)]),
        0x1_0000..=0x1f_ffff => {
            out.extend([0xf0 | (code >> 18) as u8, tail(code >> 12), tail(code >> 6), tail(code)]);
        }
        0x20_0000..=0x3ff_ffff => {
            out.extend([0xf8 | (code >> 24) as u8, tail(code >> 18), tail(code >> 12), tail(code >> 6)]);
            out.push(tail(code));
        }
        0x400_0000..=0x7fff_ffff => {
            out.extend([0xfc | (code >> 30) as u8, tail(code >> 24), tail(code >> 18), tail(code >> 12)]);
            out.extend([tail(code >> 6), tail(code)]);
        }
        _ => {}
    }
}

fn tail(code: u32) -> u8 {
    0x80 | (code & 0x3f) as u8
}

/// Reads at most `count` digits; the value and how many there were.
fn digits(text: &[u8], base: u32, count: usize) -> (u32, usize) {
    let mut value = 0u32;
    let mut length = 0;
    for &byte in text.iter().take(count) {
        let Some(digit) = (byte as char).to_digit(base) else { break };
        value = value.wrapping_mul(base).wrapping_add(digit);
        length += 1;
    }
    (value, length)
}

fn hexadecimal(rest: &[u8], dialect: Dialect) -> (Escape, usize) {
    if dialect == Dialect::DollarSingle && rest.get(1) == Some(&b'{') {
        let (value, length) = digits(rest.get(2..).unwrap_or_default(), 16, usize::MAX);
        let close = usize::from(rest.get(2 + length) == Some(&b'}'));
        if length > 0 {
            return (Escape::Byte(value as u8), 2 + length + close);
        }
    }
    match digits(rest.get(1..).unwrap_or_default(), 16, 2) {
        (_, 0) => (Escape::MissingHex, 0),
        (value, length) => (Escape::Byte(value as u8), 1 + length),
    }
}

fn unicode(rest: &[u8], count: usize) -> (Escape, usize) {
    match digits(rest.get(1..).unwrap_or_default(), 16, count) {
        (_, 0) => (Escape::MissingUnicode(rest.first().copied().unwrap_or(b'u')), 0),
        (value, length) => (Escape::Character(value), 1 + length),
    }
}

fn control(rest: &[u8]) -> (Escape, usize) {
    match (rest.get(1), rest.get(2)) {
        (None, _) => (Escape::Backslash, 0),
        (Some(b'?'), _) => (Escape::Byte(0x7f), 2),
        (Some(b'\\'), Some(b'\\')) => (Escape::Byte(0x1c), 3),
        (Some(byte), _) => (Escape::Byte(byte.to_ascii_uppercase() & 0x1f), 2),
    }
}
