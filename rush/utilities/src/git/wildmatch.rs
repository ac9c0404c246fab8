//! Git's own wildcard match for ignore files: a star stops at slashes where the pattern is a path, two stars do not.

/// Recursion that a pattern may cause; each star costs one level.
const STARS_MAX: usize = 64;

/// Whether `pattern` matches the whole of `text`. With `path`, wildcards do not match slashes and `**` crosses folders.
/// `None` for a pattern that is too costly to say.
pub(crate) fn matches(pattern: &[u8], text: &[u8], path: bool) -> Option<bool> {
    if pattern.iter().filter(|b| **b == b'*').count() > STARS_MAX {
        return None;
    }
    let mut budget = STEPS_MAX;
    let mut matcher = Matcher { pattern, text, path, budget: &mut budget };
    matcher.from(0, 0)
}

/// Steps before a match is given up (and left to git).
const STEPS_MAX: usize = 100_000;

struct Matcher<'a> {
    pattern: &'a [u8],
    text: &'a [u8],
    path: bool,
    budget: &'a mut usize,
}

impl Matcher<'_> {
    fn from(&mut self, mut p: usize, mut t: usize) -> Option<bool> {
        while let Some(&wanted) = self.pattern.get(p) {
            *self.budget = self.budget.checked_sub(1)?;
            if wanted == b'*' {
                return self.star(p, t);
            }
            let Some(&byte) = self.text.get(t) else { return Some(false) };
            let matched = match wanted {
                b'?' => !(self.path && byte == b'/'),
                b'[' => {
                    let Some((matched, end)) = bracket(self.pattern, p, byte) else { return Some(false) };
                    p = end;
                    matched && !(self.path && byte == b'/')
                }
                b'\\' => {
                    p += 1;
                    self.pattern.get(p) == Some(&byte)
                }
                literal => literal == byte,
            };
            if !matched {
                return Some(false);
            }
            p += 1;
            t += 1;
        }
        Some(t == self.text.len())
    }

    fn star(&mut self, p: usize, t: usize) -> Option<bool> {
        let mut after = p;
        while self.pattern.get(after) == Some(&b'*') {
            after += 1;
        }
        let starts_part = p == 0 || self.pattern.get(p - 1) == Some(&b'/');
        let next = self.pattern.get(after).copied();
        let crosses = !self.path || (after - p == 2 && starts_part && matches!(next, None | Some(b'/')));
        // `**/` also stands for nothing.
        if self.path && crosses && next == Some(b'/') && self.from(after + 1, t)? {
            return Some(true);
        }
        let rest = self.text.get(t..).unwrap_or_default();
        let reach = if crosses { rest.len() } else { memchr::memchr(b'/', rest).unwrap_or(rest.len()) };
        if next.is_none() {
            return Some(reach == rest.len());
        }
        for taken in 0..=reach {
            if self.from(after, t + taken)? {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// Whether the bracket at `open` takes `byte`, and where it ends. `None` if it has no end or an unknown class.
fn bracket(pattern: &[u8], open: usize, byte: u8) -> Option<(bool, usize)> {
    let mut at = open + 1;
    let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
    at += usize::from(negated);
    let first = at;
    let mut found = false;
    let mut previous = None;
    loop {
        let mut item = *pattern.get(at)?;
        if item == b']' && at > first {
            return Some((found != negated, at));
        }
        if item == b'[' && pattern.get(at + 1) == Some(&b':') {
            let length = memchr::memmem::find(pattern.get(at + 2..)?, b":]")?;
            found |= class(pattern.get(at + 2..at + 2 + length)?, byte)?;
            at += length + 4;
            previous = None;
            continue;
        }
        let range = item == b'-' && previous.is_some() && !matches!(pattern.get(at + 1), None | Some(b']'));
        if range {
            at += 1;
            item = *pattern.get(at)?;
        }
        if item == b'\\' {
            at += 1;
            item = *pattern.get(at)?;
        }
        match previous {
            Some(low) if range => {
                found |= (low..=item).contains(&byte);
                previous = None;
            }
            _ => {
                found |= item == byte;
                previous = Some(item);
            }
        }
        at += 1;
    }
}

fn class(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn paths_and_names() {
        let cases: &[(&str, &str, bool, bool)] = &[
            ("*.o", "a.o", false, true),
            ("*.o", "d/a.o", true, false),
            ("**/a", "a", true, true),
            ("**/a", "x/y/a", true, true),
            ("a/**", "a/b/c", true, true),
            ("a/**", "a/", true, true),
            ("a/**/b", "a/b", true, true),
            ("a/**/b", "a/x/y/b", true, true),
            ("a**b", "a/b", true, false),
            ("a*b", "aXXb", true, true),
            ("?", "/", true, false),
            ("[a-c]x", "bx", true, true),
            ("[!a-c]x", "bx", true, false),
            ("[]]", "]", true, true),
            ("[[:digit:]a]", "7", true, true),
            ("[a", "a", true, false),
            ("\\*", "*", true, true),
            ("\\*", "x", true, false),
            ("", "", true, true),
        ];
        for (pattern, text, path, expected) in cases {
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes(), *path),
                Some(*expected),
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn costly_patterns_are_given_up() {
        assert_eq!(matches(&[&b"a*".repeat(40)[..], b"b"].concat(), &b"a".repeat(300), false), None);
    }
}
