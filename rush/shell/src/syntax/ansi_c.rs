//! The escapes of `$'...'`.

use crate::Bytes;

/// Decodes the text between the quotes of `$'...'`. A NUL ends the text, as in bash.
pub fn decode_ansi_c(raw: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(raw.len());
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(&escape) = raw.get(at) else {
            out.push(b'\\');
            break;
        };
        at += 1;
        match escape {
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'e' | b'E' => out.push(27),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\\' | b'\'' | b'"' | b'?' => out.push(escape),
            b'0'..=b'7' => {
                let value = number(raw, &mut at, 8, 2, u32::from(escape - b'0'));
                out.push(value as u8);
            }
            b'x' => hexadecimal(raw, &mut at, &mut out),
            b'u' => unicode(raw, &mut at, 4, escape, &mut out),
            b'U' => unicode(raw, &mut at, 8, escape, &mut out),
            b'c' => {
                if let Some(&control) = raw.get(at) {
                    at += 1;
                    if control == b'\\' && raw.get(at) == Some(&b'\\') {
                        at += 1;
                    }
                    out.push(if control == b'?' { 127 } else { control & 0x1f });
                }
            }
            _ => out.extend_from_slice(&[b'\\', escape]),
        }
    }
    if let Some(end) = out.iter().position(|b| *b == 0) {
        out.truncate(end);
    }
    out
}

/// Reads up to `digits` digits of `base` on top of `value`.
fn number(raw: &[u8], at: &mut usize, base: u32, digits: usize, mut value: u32) -> u32 {
    for _ in 0..digits {
        let Some(digit) = raw.get(*at).and_then(|b| (*b as char).to_digit(base)) else { break };
        value = value.wrapping_mul(base).wrapping_add(digit);
        *at += 1;
    }
    value
}

fn hexadecimal(raw: &[u8], at: &mut usize, out: &mut Bytes) {
    let start = *at;
    if raw.get(*at) == Some(&b'{') {
        *at += 1;
        let value = number(raw, at, 16, 8, 0);
        if raw.get(*at) == Some(&b'}') {
            *at += 1;
        }
        out.push(value as u8);
        return;
    }
    let value = number(raw, at, 16, 2, 0);
    if *at == start { out.extend_from_slice(b"\\x") } else { out.push(value as u8) }
}

fn unicode(raw: &[u8], at: &mut usize, digits: usize, escape: u8, out: &mut Bytes) {
    let start = *at;
    let value = number(raw, at, 16, digits, 0);
    if *at == start {
        out.extend_from_slice(&[b'\\', escape]);
        return;
    }
    push_code_point(value, out);
}

/// Appends the (possibly out of range) code point in UTF-8's pattern, as bash does.
fn push_code_point(value: u32, out: &mut Bytes) {
    let tail = |shift: u32| 0x80 | (value >> shift & 0x3f) as u8;
    match value {
        0..=0x7f => out.push(value as u8),
        0x80..=0x7ff => out.extend_from_slice(&[0xc0 | (value >> 6) as u8, tail(0)]),
        0x800..=0xffff => out.extend_from_slice(&[0xe0 | (value >> 12) as u8, tail(6), tail(0)]),
        0x1_0000..=0x1f_ffff => {
            out.extend_from_slice(&[0xf0 | (value >> 18) as u8, tail(12), tail(6), tail(0)]);
        }
        0x20_0000..=0x3ff_ffff => {
            out.extend_from_slice(&[0xf8 | (value >> 24) as u8, tail(18), tail(12), tail(6), tail(0)]);
        }
        _ => out.extend_from_slice(&[
            0xfc | (value >> 30) as u8 & 1,
            tail(24),
            tail(18),
            tail(12),
            tail(6),
            tail(0),
        ]),
    }
}
