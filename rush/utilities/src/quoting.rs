//! How GNU programs quote file names in messages and listings.

/// A name in quotes, always: `'name'`, or `"na'me"`, or `'na'$'\n''me'`.
pub(crate) fn always(name: &[u8]) -> Vec<u8> {
    if name.contains(&b'\'') && !name.iter().any(|b| matches!(b, b'"' | b'$' | b'`' | b'\\') || !is_plain(*b))
    {
        return [b"\"", name, b"\""].concat();
    }
    let mut out = b"'".to_vec();
    let mut escaped = false;
    for &byte in name {
        if is_plain(byte) && byte != b'\'' {
            if escaped {
                out.extend_from_slice(b"''");
                escaped = false;
            }
            out.push(byte);
            continue;
        }
        if byte == b'\'' {
            if escaped {
                out.extend_from_slice(b"''");
                escaped = false;
            }
            out.extend_from_slice(b"'\\''");
            continue;
        }
        if !escaped {
            out.extend_from_slice(b"'$'");
            escaped = true;
        }
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x07 => out.extend_from_slice(b"\\a"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0b => out.extend_from_slice(b"\\v"),
            0x0c => out.extend_from_slice(b"\\f"),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'\'');
    out
}

/// A name between the locale's quotation marks, as messages that were never translated show it.
pub(crate) fn marked(name: &[u8], utf8: bool) -> Vec<u8> {
    let (open, close) = if utf8 { ("‘", "’") } else { ("'", "'") };
    [open.as_bytes(), name, close.as_bytes()].concat()
}

/// Quoted only where a name would be unclear before a colon.
pub(crate) fn colon(name: &[u8]) -> Vec<u8> {
    let clear = !name.is_empty()
        && !name.iter().any(|&b| {
            !is_plain(b)
                || matches!(
                    b,
                    b' ' | b'!'
                        | b'"'
                        | b'$'
                        | b'&'
                        | b'\''
                        | b'('
                        | b')'
                        | b'*'
                        | b':'
                        | b';'
                        | b'<'
                        | b'='
                        | b'>'
                        | b'?'
                        | b'['
                        | b'\\'
                        | b'^'
                        | b'`'
                        | b'|'
                )
        })
        && !matches!(name.first(), Some(b'#' | b'~'));
    if clear { name.to_vec() } else { always(name) }
}

fn is_plain(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) || byte >= 0x80
}
