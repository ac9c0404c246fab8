//! How GNU programs quote file names in messages and listings.

/// A name in quotes, always: `'name'`, or `"na'me"`, or `'na'$'\n''me'`.
pub(crate) fn always(name: &[u8], utf8: bool) -> Vec<u8> {
    let pieces = || Pieces { rest: name, utf8 };
    let shell = |piece: &(&[u8], bool)| !piece.1 || matches!(piece.0, b"\"" | b"$" | b"`" | b"\\");
    if name.contains(&b'\'') && !pieces().any(|piece| shell(&piece)) {
        return [b"\"", name, b"\""].concat();
    }
    let mut out = b"'".to_vec();
    let mut escaped = false;
    for (piece, plain) in pieces() {
        if plain {
            if std::mem::take(&mut escaped) {
                out.extend_from_slice(b"''");
            }
            out.extend_from_slice(if piece == b"'" { b"'\\''" } else { piece });
            continue;
        }
        if !std::mem::replace(&mut escaped, true) {
            out.extend_from_slice(b"'$'");
        }
        for &byte in piece {
            escape(byte, &mut out);
        }
    }
    out.push(b'\'');
    out
}

fn escape(byte: u8, out: &mut Vec<u8>) {
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

/// The characters of a name, each with whether the locale can print it.
struct Pieces<'n> {
    rest: &'n [u8],
    utf8: bool,
}

impl<'n> Iterator for Pieces<'n> {
    type Item = (&'n [u8], bool);

    fn next(&mut self) -> Option<Self::Item> {
        let first = *self.rest.first()?;
        let (mut length, mut plain) = (1, (0x20..0x7f).contains(&first));
        if first >= 0x80
            && self.utf8
            && let Some(chunk) = self.rest.utf8_chunks().next()
        {
            match chunk.valid().chars().next() {
                Some(c) => (length, plain) = (c.len_utf8(), !c.is_control()),
                None => length = chunk.invalid().len().max(1),
            }
        }
        let (piece, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some((piece, plain))
    }
}

/// A name between the locale's quotation marks, as messages that were never translated show it.
pub(crate) fn marked(name: &[u8], utf8: bool) -> Vec<u8> {
    let (open, close) = if utf8 { ("‘", "’") } else { ("'", "'") };
    let mut out = open.as_bytes().to_vec();
    for (piece, plain) in (Pieces { rest: name, utf8 }) {
        match piece {
            b"\\" => out.extend_from_slice(b"\\\\"),
            b"'" if !utf8 => out.extend_from_slice(b"\\'"),
            _ if plain => out.extend_from_slice(piece),
            _ => piece.iter().for_each(|byte| escape(*byte, &mut out)),
        }
    }
    out.extend_from_slice(close.as_bytes());
    out
}

/// Quoted only where a name would be unclear before a colon.
pub(crate) fn colon(name: &[u8], utf8: bool) -> Vec<u8> {
    let unclear = |piece: &(&[u8], bool)| {
        !piece.1 || (piece.0.len() == 1 && b" !\"$&'()*:;<=>?[\\^`|".contains(&piece.0[0]))
    };
    let clear = !name.is_empty()
        && !Pieces { rest: name, utf8 }.any(|piece| unclear(&piece))
        && !matches!(name.first(), Some(b'#' | b'~'));
    if clear { name.to_vec() } else { always(name, utf8) }
}
