//! `fnmatch` for `find -name` and `grep --include`: `*`, `?`, brackets and backslashes. A star also matches
//! slashes and leading dots, as those programs want it.

/// Whether `pattern` matches the whole of `text`.
pub(crate) fn matches(pattern: &[u8], text: &[u8], ignore_case: bool) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last star if the rest does not match: the pattern behind it, the text it took.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            retry = Some((p, t));
            continue;
        }
        if t >= text.len() {
            return pattern.get(p..).is_none_or(|rest| rest.iter().all(|&b| b == b'*'));
        }
        if let Some((next, length)) = one(pattern, p, text.get(t..).unwrap_or_default(), ignore_case) {
            p = next;
            t += length;
            continue;
        }
        match &mut retry {
            Some((after_star, taken)) => {
                *taken += character(text.get(*taken..).unwrap_or_default()).1.max(1);
                (p, t) = (*after_star, *taken);
            }
            None => return false,
        }
    }
}

fn character(text: &[u8]) -> (u32, usize) {
    let head = text.get(..text.len().min(4)).unwrap_or_default();
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text.chars().next(),
        Err(error) => std::str::from_utf8(head.get(..error.valid_up_to()).unwrap_or_default())
            .ok()
            .and_then(|t| t.chars().next()),
    };
    match (valid, text.first()) {
        (Some(c), _) => (u32::from(c), c.len_utf8()),
        (None, Some(&byte)) => (0x11_0000 + u32::from(byte), 1),
        (None, None) => (0, 0),
    }
}

fn fold(code: u32) -> u32 {
    char::from_u32(code).map_or(code, |c| c.to_lowercase().next().map_or(code, u32::from))
}

/// Matches one element of the pattern; the place behind it and the length of the text it took.
fn one(pattern: &[u8], at: usize, text: &[u8], ignore_case: bool) -> Option<(usize, usize)> {
    let (code, length) = character(text);
    let same = |a: u32, b: u32| a == b || (ignore_case && fold(a) == fold(b));
    match *pattern.get(at)? {
        b'?' => Some((at + 1, length)),
        b'[' => match bracket(pattern, at, code, ignore_case) {
            Some((true, next)) => Some((next, length)),
            Some((false, _)) => None,
            None => same(u32::from(b'['), code).then_some((at + 1, length)),
        },
        b'\\' if at + 1 < pattern.len() => {
            let (wanted, size) = character(pattern.get(at + 1..)?);
            same(wanted, code).then_some((at + 1 + size, length))
        }
        _ => {
            let (wanted, size) = character(pattern.get(at..)?);
            same(wanted, code).then_some((at + size, length))
        }
    }
}

/// Whether the bracket expression at `at` holds the character, and the place behind it; `None` if it has no end.
fn bracket(pattern: &[u8], at: usize, code: u32, ignore_case: bool) -> Option<(bool, usize)> {
    let mut next = at + 1;
    let negated = matches!(pattern.get(next), Some(b'!' | b'^'));
    next += usize::from(negated);
    let first = next;
    let mut found = false;
    loop {
        if *pattern.get(next)? == b']' && next > first {
            return Some((found != negated, next + 1));
        }
        if pattern.get(next..)?.starts_with(b"[:") {
            let body = pattern.get(next + 2..)?;
            let end = body.windows(2).position(|w| w == b":]")?;
            found |= in_class(body.get(..end)?, code);
            next += end + 4;
            continue;
        }
        next += usize::from(pattern.get(next) == Some(&b'\\'));
        let (low, size) = character(pattern.get(next..)?);
        next += size.max(1);
        let mut high = low;
        if pattern.get(next) == Some(&b'-') && pattern.get(next + 1).is_some_and(|b| *b != b']') {
            let (end, size) = character(pattern.get(next + 1..)?);
            high = end;
            next += 1 + size.max(1);
        }
        let inside = |c: u32| (low..=high).contains(&c);
        found |= inside(code) || (ignore_case && (inside(fold(code)) || inside(upper(code))));
    }
}

fn upper(code: u32) -> u32 {
    char::from_u32(code).map_or(code, |c| c.to_uppercase().next().map_or(code, u32::from))
}

fn in_class(name: &[u8], code: u32) -> bool {
    let Some(c) = char::from_u32(code) else { return false };
    match name {
        b"alnum" => c.is_alphanumeric(),
        b"alpha" => c.is_alphabetic(),
        b"digit" => c.is_ascii_digit(),
        b"lower" => c.is_lowercase(),
        b"upper" => c.is_uppercase(),
        b"space" => c.is_whitespace(),
        b"punct" => c.is_ascii_punctuation(),
        b"xdigit" => c.is_ascii_hexdigit(),
        b"blank" => matches!(c, ' ' | '\t'),
        b"cntrl" => c.is_control(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn verdicts() {
        for (pattern, text, expect) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "a.rc", false),
            ("*", ".hidden", true),
            ("a*b*c", "axbxbxc", true),
            ("?", "é", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[[:digit:]]*", "1a", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("[a", "[a", true),
            ("", "", true),
            ("**", "", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes(), false), expect, "{pattern} {text}");
        }
        assert!(matches(b"*.TXT", b"a.txt", true));
    }
}
