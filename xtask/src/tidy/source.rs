//! A rough reader of Rust source: blanks out comments, strings and character literals so that a search for a
//! keyword finds code only. It keeps every line where it was.

/// `text` with the content of comments and literals replaced by spaces.
pub(super) fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = vec![b' '; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let end = skip(bytes, at);
        if end > at {
            for index in at..end.min(bytes.len()) {
                if bytes[index] == b'\n' {
                    out[index] = b'\n';
                }
            }
            at = end;
        } else {
            out[at] = if bytes[at].is_ascii() { bytes[at] } else { b'?' };
            at += 1;
        }
    }
    String::from_utf8(out).unwrap_or_default()
}

/// The end of the comment or literal that starts at `at`; `at` itself when none does.
fn skip(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let after_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if rest.starts_with(b"//") {
        return at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        return block_comment(bytes, at);
    }
    if !after_word && rest[0] == b'r' && rest.len() > 1 && (rest[1] == b'"' || rest[1] == b'#') {
        return raw_string(bytes, at);
    }
    match rest[0] {
        b'"' => quoted(bytes, at),
        b'\'' => character(bytes, at),
        _ => at,
    }
}

fn block_comment(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0;
    let mut here = at;
    while here < bytes.len() {
        if bytes[here..].starts_with(b"/*") {
            depth += 1;
            here += 2;
        } else if bytes[here..].starts_with(b"*/") {
            depth -= 1;
            here += 2;
            if depth == 0 {
                return here;
            }
        } else {
            here += 1;
        }
    }
    here
}

fn raw_string(bytes: &[u8], at: usize) -> usize {
    let hashes = bytes[at + 1..].iter().take_while(|b| **b == b'#').count();
    if bytes.get(at + 1 + hashes) != Some(&b'"') {
        return at;
    }
    let mut closing = vec![b'"'];
    closing.extend(std::iter::repeat_n(b'#', hashes));
    let body = at + 2 + hashes;
    (body..bytes.len()).find(|i| bytes[*i..].starts_with(&closing)).map_or(bytes.len(), |i| i + closing.len())
}

fn quoted(bytes: &[u8], at: usize) -> usize {
    let mut here = at + 1;
    while here < bytes.len() {
        match bytes[here] {
            b'\\' => here += 2,
            b'"' => return here + 1,
            _ => here += 1,
        }
    }
    bytes.len()
}

/// A character literal; a lifetime is left alone.
fn character(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1) {
        Some(b'\\') => bytes[at + 3..].iter().position(|b| *b == b'\'').map_or(at, |i| at + 3 + i + 1),
        Some(first) => {
            let width = match first {
                0xF0.. => 4,
                0xE0.. => 3,
                0xC0.. => 2,
                _ => 1,
            };
            if bytes.get(at + 1 + width) == Some(&b'\'') { at + 2 + width } else { at }
        }
        None => at,
    }
}

#[cfg(test)]
mod tests {
    use super::code_only;

    fn check(text: &str, has_unsafe: bool) {
        assert_eq!(code_only(text).contains("unsafe"), has_unsafe, "{text}");
    }

    #[test]
    fn only_code_is_left() {
        check("unsafe { x() }", true);
        check("// unsafe", false);
        check("/* a /* unsafe */ unsafe */ b", false);
        check("let s = \"un\\\"safe unsafe\";", false);
        check("let s = r#\"unsafe \" unsafe\"#;", false);
        check("fn f<'a>(x: &'a u8) { unsafe {} }", true);
        check("let c = '\"'; unsafe {}", true);
        check("let c = '\\''; unsafe {}", true);
    }
}
