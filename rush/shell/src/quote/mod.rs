//! Quoting text so that the shell reads it back: `printf %q`, `${x@Q}`, `declare -p`, `set`, `set -x`.
//!
//! Owns the styles bash prints in and the backslash escapes it reads ([`escape`]). Which style a listing
//! uses is the caller's business. Text that is not printable always becomes `$'...'`.

pub mod escape;
#[cfg(test)]
mod tests;

use crate::pattern::character_at;

/// `'text'`, with `'\''` for single quotes; a single quote alone is `\'`.
pub fn single_quote(text: &[u8]) -> Vec<u8> {
    if text == b"'" {
        return b"\\'".to_vec();
    }
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'\'');
    for &byte in text {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
    out
}

/// `"text"`, with backslashes before `"`, `$`, `` ` `` and `\`.
pub fn double_quote(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'"');
    for &byte in text {
        if matches!(byte, b'"' | b'$' | b'`' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
    out
}

/// Backslashes before every character that means something to the shell.
pub fn backslash_quote(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    let mut previous = None;
    for &byte in text {
        let special = match byte {
            b' ' | b'\t' | b'!' | b'"' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b',' | b';' | b'<'
            | b'>' | b'?' | b'[' | b'\\' | b']' | b'^' | b'`' | b'{' | b'|' | b'}' => true,
            b'#' => previous.is_none(),
            b'~' => matches!(previous, None | Some(b':' | b'=')),
            _ => false,
        };
        if special {
            out.push(b'\\');
        }
        out.push(byte);
        previous = Some(byte);
    }
    out
}

/// `$'text'` with ANSI-C escapes.
pub fn ansi_c_quote(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    out.extend_from_slice(b"$'");
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let (printable, length) = printable_at(text, at);
        let character = text.get(at..at + length).unwrap_or_default();
        match byte {
            0x1b => out.extend_from_slice(b"\\E"),
            0x07 => out.extend_from_slice(b"\\a"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x09 => out.extend_from_slice(b"\\t"),
            0x0a => out.extend_from_slice(b"\\n"),
            0x0b => out.extend_from_slice(b"\\v"),
            0x0c => out.extend_from_slice(b"\\f"),
            0x0d => out.extend_from_slice(b"\\r"),
            b'\\' | b'\'' => out.extend_from_slice(&[b'\\', byte]),
            _ if printable => out.extend_from_slice(character),
            _ => {
                for byte in character {
                    out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                }
            }
        }
        at += length;
    }
    out.push(b'\'');
    out
}

fn printable_at(text: &[u8], at: usize) -> (bool, usize) {
    let (code, length) = character_at(text, at);
    let printable = match code {
        0x20..=0x7e => true,
        _ => code >= 0xa0 && char::from_u32(code).is_some(),
    };
    (printable, length.max(1))
}

/// Whether `text` has characters that only `$'...'` shows.
pub fn needs_ansi_c(text: &[u8]) -> bool {
    let mut at = 0;
    while at < text.len() {
        let (printable, length) = printable_at(text, at);
        if !printable {
            return true;
        }
        at += length;
    }
    false
}

/// Whether `text` has characters that the shell would act on if it read them unquoted.
pub fn has_metacharacters(text: &[u8]) -> bool {
    text.iter().enumerate().any(|(at, &byte)| match byte {
        b' ' | b'\t' | b'\n' | b'\'' | b'"' | b'\\' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>'
        | b'!' | b'{' | b'}' | b'*' | b'[' | b'?' | b']' | b'^' | b'$' | b'`' => true,
        b'~' => matches!(at.checked_sub(1).and_then(|i| text.get(i)), None | Some(b'=' | b':')),
        b'#' => at == 0,
        _ => false,
    })
}

/// `${x@Q}`: always quoted.
pub fn reusable(text: &[u8]) -> Vec<u8> {
    if needs_ansi_c(text) { ansi_c_quote(text) } else { single_quote(text) }
}

/// `printf %q`: quoted where needed.
pub fn printf_q(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return b"''".to_vec();
    }
    if needs_ansi_c(text) { ansi_c_quote(text) } else { backslash_quote(text) }
}

/// The same where a byte is a character: what is not ASCII is not printable.
pub fn printf_q_bytes(text: &[u8]) -> Vec<u8> {
    if text.is_ascii() {
        return printf_q(text);
    }
    let mut out = b"$'".to_vec();
    for byte in text {
        if byte.is_ascii() {
            let quoted = ansi_c_quote(&[*byte]);
            out.extend_from_slice(quoted.get(2..quoted.len() - 1).unwrap_or_default());
        } else {
            out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
        }
    }
    out.push(b'\'');
    out
}

/// The value in `declare -p`: always quoted, double quotes preferred.
pub fn declaration(text: &[u8]) -> Vec<u8> {
    if needs_ansi_c(text) { ansi_c_quote(text) } else { double_quote(text) }
}

/// A key of an associative array in `declare -p` and `${x@K}`: quoted where needed, double quotes preferred.
pub fn key(text: &[u8]) -> Vec<u8> {
    if needs_ansi_c(text) || text.is_empty() || has_metacharacters(text) || matches!(text, b"@" | b"*") {
        declaration(text)
    } else {
        text.to_vec()
    }
}

/// The value in the listing of `set`.
pub fn listing(text: &[u8]) -> Vec<u8> {
    if needs_ansi_c(text) {
        ansi_c_quote(text)
    } else if has_metacharacters(text) {
        single_quote(text)
    } else {
        text.to_vec()
    }
}

/// A word in the trace of `set -x`.
pub fn trace(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        b"''".to_vec()
    } else if has_metacharacters(text) {
        single_quote(text)
    } else if needs_ansi_c(text) {
        ansi_c_quote(text)
    } else {
        text.to_vec()
    }
}
