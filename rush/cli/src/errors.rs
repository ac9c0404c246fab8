//! `RUSH_ERROR_FORMAT=json`: the shell's errors for programs, one JSON object on a line. The schema is in
//! `docs/rush-json.md`.

/// `{"error":{"source":...,"line":...,"message":...}}` and a newline.
pub(crate) fn as_json(source: &[u8], line: u32, message: &[u8]) -> Vec<u8> {
    let (source, message) = (quoted(source), quoted(message));
    format!("{{\"error\":{{\"source\":{source},\"line\":{line},\"message\":{message}}}}}\n").into_bytes()
}

/// A JSON string of `text`.
pub(crate) fn quoted(text: &[u8]) -> String {
    let mut out = String::from('"');
    for character in String::from_utf8_lossy(text).chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::as_json;

    #[test]
    fn one_object_on_a_line() {
        let line = String::from_utf8(as_json(b"a\"b", 3, b"x\\y\n\x01\xff")).unwrap();
        let expect =
            "{\"error\":{\"source\":\"a\\\"b\",\"line\":3,\"message\":\"x\\\\y\\n\\u0001\u{fffd}\"}}\n";
        assert_eq!(line, expect);
    }
}
