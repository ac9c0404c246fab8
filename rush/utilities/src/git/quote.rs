//! Paths as git prints them: relative to the working directory, and in quotes where they hold odd bytes.

/// How paths are printed.
pub(crate) struct Paths<'r> {
    /// The working directory below the root, with a slash at its end; empty for paths relative to the root.
    pub(crate) prefix: &'r [u8],
    /// Bytes of 128 and above are odd.
    pub(crate) ascii_only: bool,
    /// Blanks are odd.
    pub(crate) blanks: bool,
    /// Nothing is put in quotes.
    pub(crate) plain: bool,
}

impl Paths<'_> {
    /// `path` as it is printed.
    pub(crate) fn show(&self, path: &[u8]) -> Vec<u8> {
        let path = relative(path, self.prefix);
        if self.plain {
            return path;
        }
        match quoted(&path, self.ascii_only) {
            Some(quoted) => quoted,
            None if self.blanks && path.contains(&b' ') => [b"\"", path.as_slice(), b"\""].concat(),
            None => path,
        }
    }
}

/// The path from the folder `prefix` to `path`, both seen from the root.
fn relative(path: &[u8], prefix: &[u8]) -> Vec<u8> {
    let mut common = 0;
    for (at, (a, b)) in path.iter().zip(prefix).enumerate() {
        if a != b {
            break;
        }
        if *a == b'/' {
            common = at + 1;
        }
    }
    let ups = prefix.get(common..).unwrap_or_default().iter().filter(|b| **b == b'/').count();
    let rest = path.get(common..).unwrap_or_default();
    if ups == 0 && rest.is_empty() {
        return b"./".to_vec();
    }
    [b"../".repeat(ups).as_slice(), rest].concat()
}

/// `path` in C's quotes, if it needs them.
pub(crate) fn quoted(path: &[u8], ascii_only: bool) -> Option<Vec<u8>> {
    let odd = |b: &u8| *b < b' ' || *b == 0x7f || *b == b'"' || *b == b'\\' || (ascii_only && *b >= 0x80);
    if !path.iter().any(odd) {
        return None;
    }
    let mut out = vec![b'"'];
    for &byte in path {
        match byte {
            7 => out.extend(b"\\a"),
            8 => out.extend(b"\\b"),
            b'\t' => out.extend(b"\\t"),
            b'\n' => out.extend(b"\\n"),
            0x0b => out.extend(b"\\v"),
            0x0c => out.extend(b"\\f"),
            b'\r' => out.extend(b"\\r"),
            b'"' | b'\\' => out.extend([b'\\', byte]),
            byte if odd(&byte) => out.extend(format!("\\{byte:03o}").into_bytes()),
            byte => out.push(byte),
        }
    }
    out.push(b'"');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_from_folders() {
        for (path, prefix, expected) in [
            ("a/b", "", "a/b"),
            ("a/b", "a/", "b"),
            ("a/", "a/", "./"),
            ("a/b", "a/c/", "../b"),
            ("ab", "a/", "../ab"),
            ("x", "a/b/", "../../x"),
        ] {
            assert_eq!(
                relative(path.as_bytes(), prefix.as_bytes()),
                expected.as_bytes(),
                "{path} from {prefix}"
            );
        }
    }

    #[test]
    fn odd_bytes() {
        assert_eq!(quoted(b"a b", true), None);
        assert_eq!(quoted("é\t".as_bytes(), true).as_deref(), Some(&b"\"\\303\\251\\t\""[..]));
        assert_eq!(quoted("é".as_bytes(), false), None);
    }
}
