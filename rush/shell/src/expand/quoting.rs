//! Quoting text so that the shell reads it back: `@Q`, `declare -p`, `set`, xtrace.

use crate::Bytes;

/// Whether `text` has bytes that need `$'...'`.
pub fn needs_ansi_c(text: &[u8]) -> bool {
    text.iter().any(|b| b.is_ascii_control()) || std::str::from_utf8(text).is_err()
}

/// `'...'` with embedded quotes as `'\''`.
pub fn single_quoted(text: &[u8]) -> Bytes {
    if text == b"'" {
        return b"\\'".to_vec();
    }
    let mut out = vec![b'\''];
    for &byte in text {
        if byte == b'\'' { out.extend_from_slice(b"'\\''") } else { out.push(byte) }
    }
    out.push(b'\'');
    out
}

/// `$'...'`.
pub fn ansi_c_quoted(text: &[u8]) -> Bytes {
    let mut out = b"$'".to_vec();
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        match byte {
            7 => out.extend_from_slice(b"\\a"),
            8 => out.extend_from_slice(b"\\b"),
            27 => out.extend_from_slice(b"\\E"),
            12 => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            11 => out.extend_from_slice(b"\\v"),
            b'\\' | b'\'' => out.extend_from_slice(&[b'\\', byte]),
            0..=31 | 127 => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            0x80.. => {
                let length = super::substring::character_length(&text[at..]);
                if length == 1 {
                    out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                } else {
                    out.extend_from_slice(&text[at..at + length]);
                    at += length;
                    continue;
                }
            }
            _ => out.push(byte),
        }
        at += 1;
    }
    out.push(b'\'');
    out
}

/// `@Q`: always quoted.
pub fn quoted(text: &[u8]) -> Bytes {
    if needs_ansi_c(text) { ansi_c_quoted(text) } else { single_quoted(text) }
}

/// The value in `declare -p`: double quotes, or `$'...'` where needed.
pub fn declaration_quoted(text: &[u8]) -> Bytes {
    if needs_ansi_c(text) {
        return ansi_c_quoted(text);
    }
    let mut out = vec![b'"'];
    for &byte in text {
        if matches!(byte, b'"' | b'\\' | b'$' | b'`') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
    out
}

/// Quoted only if needed, as `set` and xtrace print it.
pub fn quoted_if_needed(text: &[u8]) -> Bytes {
    if needs_ansi_c(text) {
        ansi_c_quoted(text)
    } else if text.is_empty() {
        b"''".to_vec()
    } else if needs_quotes(text) {
        single_quoted(text)
    } else {
        text.to_vec()
    }
}

/// Whether a shell metacharacter occurs.
pub fn needs_quotes(text: &[u8]) -> bool {
    let special = |b: u8| b" \t\n'\"\\|&;()<>!{}*[]?^$`".contains(&b);
    text.iter().any(|b| special(*b))
        || text.starts_with(b"#")
        || text.starts_with(b"~") && !text.is_empty()
        || text.windows(2).any(|w| matches!(w, [b':' | b'=', b'~']))
}

/// Backslash quoting as `printf %q` does it.
pub fn backslash_quoted(text: &[u8]) -> Bytes {
    if text.is_empty() {
        return b"''".to_vec();
    }
    if needs_ansi_c(text) {
        return ansi_c_quoted(text);
    }
    let mut out = Bytes::new();
    for (at, &byte) in text.iter().enumerate() {
        let special = b" \t\n'\"\\|&;()<>!{}*[]?^$`,".contains(&byte);
        if special || at == 0 && matches!(byte, b'#' | b'~') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out
}

/// A key of an associative array in `declare -p` and `@K`.
pub fn quoted_key(key: &[u8]) -> Bytes {
    if needs_ansi_c(key) {
        ansi_c_quoted(key)
    } else if key.is_empty() || needs_quotes(key) || matches!(key, b"@" | b"*") {
        declaration_quoted(key)
    } else {
        key.to_vec()
    }
}

/// A word as xtrace shows it.
pub fn trace_quoted(text: &[u8]) -> Bytes {
    quoted_if_needed(text)
}
