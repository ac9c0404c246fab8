//! Whether the brackets of an entry are closed: an entry with open ones goes on in the next line.
//!
//! A scan over the text alone, for entries that do not parse. Where it cannot tell a division from a regular expression it goes by what
//! stands before.

/// What a text's brackets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brackets {
    /// All are closed.
    Closed,
    /// A bracket, template or comment is open at the end.
    Open,
    /// One is closed by the wrong bracket: no further line can mend it.
    Wrong,
}

/// Words after which a `/` begins a regular expression.
const BEFORE_PATTERN: [&str; 8] = ["return", "typeof", "case", "in", "of", "delete", "void", "await"];

/// Scans the text.
pub(super) fn brackets(text: &str) -> Brackets {
    let mut open: Vec<char> = Vec::new();
    let mut rest = text;
    // What stands before, without blanks and comments.
    let mut before = "";
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let skipped = match c {
            '/' if after.starts_with('/') => rest.find('\n').unwrap_or(rest.len()),
            '/' if after.starts_with('*') => match rest.find("*/") {
                Some(end) => end + 2,
                None => return Brackets::Open,
            },
            '/' if begins_pattern(before) => pattern_length(rest),
            '\'' | '"' => string_length(rest, c),
            '`' => {
                open.push('`');
                1
            }
            '(' | '[' | '{' => {
                open.push(c);
                1
            }
            ')' | ']' | '}' => match (open.pop(), c) {
                (Some('('), ')') | (Some('['), ']') | (Some('{'), '}') => 1,
                // The end of a substitution.
                (Some('$'), '}') => 1,
                _ => return Brackets::Wrong,
            },
            _ => c.len_utf8(),
        };
        let comment = c == '/' && (after.starts_with('/') || after.starts_with('*'));
        if !comment && !c.is_whitespace() {
            before = &text[..text.len() - rest.len() + skipped];
        }
        rest = &rest[skipped..];
        if open.last() == Some(&'`') {
            rest = in_template(rest, &mut open);
        }
    }
    if open.is_empty() { Brackets::Closed } else { Brackets::Open }
}

/// Goes on behind the text of a template: to a substitution, or to its end.
fn in_template<'t>(mut rest: &'t str, open: &mut Vec<char>) -> &'t str {
    loop {
        let Some(at) = rest.find(['`', '\\', '$']) else { return "" };
        let tail = &rest[at..];
        if let Some(behind) = tail.strip_prefix('`') {
            open.pop();
            return behind;
        } else if let Some(behind) = tail.strip_prefix("${") {
            open.push('$');
            return behind;
        } else if tail.starts_with('\\') {
            rest = tail.char_indices().nth(2).map_or("", |(next, _)| &tail[next..]);
        } else {
            rest = &tail[1..];
        }
    }
}

/// A string with its quotes; it ends with its line whatever it is.
fn string_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A regular expression up to its second slash.
fn pattern_length(rest: &str) -> usize {
    let (mut escaped, mut class) = (false, false);
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '\n' => return at,
            '/' if !class => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn begins_pattern(before: &str) -> bool {
    let word =
        before.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap_or_default();
    match before.chars().next_back() {
        None => true,
        Some(_) if !word.is_empty() => BEFORE_PATTERN.contains(&word),
        Some(last) => !matches!(last, ')' | ']' | '}' | '"' | '\'' | '`'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_and_what_is_not() {
        for text in [
            "f(",
            "[1,\n2].map((x) =>",
            "{ a: [",
            "`a",
            "`a ${b",
            "`a ${`b`",
            "`${{}",
            "/* x",
            "f(')'",
            "f(/\\)/",
            "x = /[)/]/.test(",
            "f( // )",
            "return /(/, [",
            "`\\`",
        ] {
            assert_eq!(brackets(text), Brackets::Open, "{text}");
        }
        for text in [
            "",
            "f()",
            "'('",
            "\"(\\\"(\"",
            "// (",
            "/* ( */",
            "/(/",
            "a = /[(]/g",
            "`(`",
            "`${'}'}`",
            "`${`${1}`}` + (2)",
            "a / b / (c)",
            "f() / 2",
            "'unclosed (",
            "`\\``",
            "`$`",
            "x\u{e4}\u{1f600} = '\u{1f600}'",
        ] {
            assert_eq!(brackets(text), Brackets::Closed, "{text}");
        }
        for text in ["f(]; 1", "}", "(a]", "`${)"] {
            assert_eq!(brackets(text), Brackets::Wrong, "{text}");
        }
    }
}
