//! Patterns of `grep`: basic and extended expressions and fixed strings, translated to the `regex` crate.
//!
//! Selecting lines needs only whether there is a match, for which leftmost-first and leftmost-longest agree; the spans for `-o` are those of
//! [`crate::posix`].

use std::cell::{OnceCell, RefCell};

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

use crate::options::Parsed;
use crate::posix::{Dialect, Pattern};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Basic,
    Extended,
    Fixed,
}

/// The memory a compiled expression may take.
const PROGRAM_BYTES_MAX: usize = 16 << 20;
/// Nested groups.
const NESTING_MAX: usize = 200;

/// Characters whose other case is ASCII, or is in some languages only: what they match without regard to case is GNU's own.
const ODD_CASES: [char; 4] = ['\u{212a}', '\u{17f}', '\u{130}', '\u{131}'];

pub(super) struct Matcher {
    /// OPTIMIZATION: one fixed string without conditions. Equals the expression.
    literal: Option<Finder<'static>>,
    regex: Regex,
    /// The same for whole blocks, made when it is needed.
    blocks: OnceCell<Option<Regex>>,
    /// Whether it asks where a line begins or ends, so that for blocks it has to be compiled again.
    anchored: bool,
    builder: RegexBuilder,
    /// What `-o` shows where that is not simply what `regex` finds.
    longest: Option<RefCell<Pattern>>,
    pub(super) spans_are_exact: bool,
}

impl Matcher {
    /// Compiles the patterns; `None` leaves them to the external program.
    pub(super) fn compile(
        patterns: &[&[u8]],
        syntax: Syntax,
        parsed: &Parsed<'_>,
        utf8: bool,
    ) -> Option<Self> {
        let lines: Vec<&[u8]> = patterns.iter().flat_map(|p| p.split(|&b| b == b'\n')).collect();
        let mut alternatives = Vec::new();
        let mut plain = None;
        let mut anchored = false;
        for line in &lines {
            if !utf8 && !line.is_ascii() {
                return None;
            }
            let text = std::str::from_utf8(line).ok()?;
            if parsed.has(b'i') && text.contains(ODD_CASES) {
                return None;
            }
            let mut translator = Translator { utf8, ..Translator::default() };
            match syntax {
                Syntax::Fixed => text.chars().for_each(|c| translator.literal(c)),
                Syntax::Basic | Syntax::Extended => translator.translate(text, syntax == Syntax::Extended)?,
            }
            if !translator.special {
                plain = Some(translator.plain.into_bytes());
            }
            anchored |= translator.anchored;
            alternatives.push(format!("(?:{})", translator.out));
        }
        let ignore_case = parsed.has(b'i');
        let (word, whole) = (parsed.has(b'w'), parsed.has(b'x'));
        let joined = alternatives.join("|");
        let expression = if whole {
            format!("^(?:{joined})$")
        } else if word {
            format!("(?:^|\\W)({joined})(?:\\W|$)")
        } else {
            joined
        };
        let mut builder = RegexBuilder::new(&expression);
        builder.unicode(utf8).case_insensitive(ignore_case).size_limit(PROGRAM_BYTES_MAX);
        let regex = builder.build().ok()?;
        builder.multi_line(true);
        // What counts as an empty word is GNU's own.
        if word && Regex::new(&format!("^(?:{})$", alternatives.join("|"))).map_or(true, |r| r.is_match(b""))
        {
            return None;
        }
        let literal = plain.filter(|p| lines.len() == 1 && !ignore_case && !word && !whole && !p.is_empty());
        let literal = literal.map(|p| Finder::new(&p).into_owned());
        let only_fixed = syntax == Syntax::Fixed || whole;
        let longest = if parsed.has(b'o') && !only_fixed && !word && lines.len() == 1 {
            let dialect =
                Dialect { extended: syntax == Syntax::Extended, ignore_case, utf8, ..Dialect::default() };
            lines.first().and_then(|line| Pattern::new(line, dialect))
        } else {
            None
        };
        let spans_are_exact = !word && lines.len() == 1 && (only_fixed || longest.is_some());
        let (blocks, anchored) = (OnceCell::new(), anchored || word || whole);
        Some(Self {
            literal,
            regex,
            blocks,
            anchored,
            builder,
            longest: longest.map(RefCell::new),
            spans_are_exact,
        })
    }

    /// Where the line is, by a place in it, before which no line of `text` (which begins with one) can match; whether it surely does. `None` if no line can.
    ///
    /// An expression sees line ends as characters here, so it may find more than there is; what is in one line it finds all the same,
    /// and the first place at which it has found something is behind no such match.
    pub(super) fn candidate(&self, text: &[u8]) -> Option<(usize, bool)> {
        if let Some(finder) = &self.literal {
            return finder.find(text).map(|at| (at, true));
        }
        let compiled = || self.builder.build().ok();
        let regex =
            if self.anchored { self.blocks.get_or_init(compiled).as_ref() } else { Some(&self.regex) };
        match regex {
            // What ends in the first line also began there.
            Some(regex) => {
                let found = regex.shortest_match(text);
                found.map(|at| (at, memchr::memchr(b'\n', &text[..at]).is_none()))
            }
            None => Some((0, false)),
        }
    }

    pub(super) fn is_match(&self, line: &[u8]) -> bool {
        match &self.literal {
            Some(finder) => finder.find(line).is_some(),
            None => self.regex.is_match(line),
        }
    }

    /// The spans that `-o` shows; empty ones are left out.
    pub(super) fn spans(&self, line: &[u8]) -> Vec<(usize, usize)> {
        if let Some(pattern) = &self.longest {
            return longest_spans(&mut pattern.borrow_mut(), line);
        }
        self.regex.find_iter(line).map(|m| (m.start(), m.end())).filter(|(s, e)| s < e).collect()
    }
}

fn longest_spans(pattern: &mut Pattern, line: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut at = 0;
    while at <= line.len() {
        let Some((start, end)) = pattern.find(line, at) else { break };
        at = end;
        if start == end {
            // Nothing here; perhaps behind the next character, whose bytes begin none themselves.
            at += 1;
            continue;
        }
        spans.push((start, end));
    }
    spans
}

#[derive(Default)]
struct Translator {
    /// The expression for the `regex` crate.
    out: String,
    /// The characters that stand for themselves, without what escaped them.
    plain: String,
    /// Whether there is more than such characters.
    special: bool,
    /// Whether there is something that looks at the ends of the line.
    anchored: bool,
    utf8: bool,
}

impl Translator {
    fn translate(&mut self, text: &str, extended: bool) -> Option<()> {
        let characters: Vec<char> = text.chars().collect();
        let mut at = 0;
        let mut depth = 0usize;
        // Whether a repetition or an anchor may stand here: at the start of a branch.
        let mut at_start = true;
        // Whether the last element takes no room: what repeating it means differs.
        let mut empty = false;
        while let Some(&c) = characters.get(at) {
            let next = characters.get(at + 1).copied();
            let (operator, length) = operator(c, next, extended);
            let was_start = std::mem::replace(&mut at_start, false);
            at += length;
            let was_empty = std::mem::replace(&mut empty, operator.is_assertion());
            if was_empty && matches!(operator, Operator::Repeat(_) | Operator::Interval) {
                return None;
            }
            match operator {
                Operator::Open => {
                    depth += 1;
                    (depth <= NESTING_MAX).then_some(())?;
                    self.operator("(?:");
                    at_start = true;
                }
                Operator::Close if depth > 0 => {
                    depth -= 1;
                    self.operator(")");
                }
                Operator::Close => return None,
                Operator::Alternate => {
                    self.operator("|");
                    at_start = true;
                }
                Operator::Repeat(_) if was_start && extended => return None,
                Operator::Repeat('*') if was_start => self.literal('*'),
                Operator::Repeat(c) if was_start => self.literal(c),
                Operator::Repeat(c) => {
                    if matches!(characters.get(at), Some('*' | '+' | '?')) && extended {
                        return None;
                    }
                    self.operator(c.encode_utf8(&mut [0; 4]));
                }
                Operator::Interval => {
                    if was_start {
                        return None;
                    }
                    at += self.interval(characters.get(at..)?, extended)?;
                }
                Operator::Start if was_start || extended => {
                    self.anchored = true;
                    self.operator("^");
                    at_start = true;
                }
                Operator::Start => self.literal('^'),
                Operator::End if extended || ends_branch(characters.get(at..)?) => {
                    self.anchored = true;
                    self.operator("$");
                }
                Operator::End => self.literal('$'),
                Operator::Any => self.operator("."),
                Operator::Bracket => at += self.bracket(characters.get(at..)?)?,
                Operator::Class(text) => self.operator(text),
                Operator::Literal(c) => self.literal(c),
                Operator::Unsupported => return None,
            }
        }
        (depth == 0).then_some(())
    }

    fn operator(&mut self, text: &str) {
        self.special = true;
        self.out.push_str(text);
    }

    fn literal(&mut self, c: char) {
        let mut buffer = [0; 4];
        self.plain.push(c);
        self.out.push_str(&regex::escape(c.encode_utf8(&mut buffer)));
    }

    /// `{m,n}` behind its opening; the characters used.
    fn interval(&mut self, rest: &[char], extended: bool) -> Option<usize> {
        let close = rest.iter().position(|&c| c == '}')?;
        let end =
            if extended { close } else { close.checked_sub(1).filter(|&e| rest.get(e) == Some(&'\\'))? };
        let body: String = rest.get(..end)?.iter().collect();
        let (low, high) = body.split_once(',').unwrap_or((&body, &body));
        let number = |t: &str| t.is_empty() || t.bytes().all(|b| b.is_ascii_digit());
        if !number(low) || !number(high) || (low.is_empty() && high.is_empty()) {
            return None;
        }
        let low = if low.is_empty() { "0" } else { low };
        let text = if body.contains(',') { format!("{{{low},{high}}}") } else { format!("{{{low}}}") };
        self.operator(&text);
        Some(close + 1)
    }

    /// A bracket expression behind its opening; the characters used.
    fn bracket(&mut self, rest: &[char]) -> Option<usize> {
        let mut at = 0;
        self.operator("[");
        if rest.first() == Some(&'^') {
            self.out.push('^');
            at += 1;
        }
        let first = at;
        loop {
            let c = *rest.get(at)?;
            if c == ']' && at > first {
                // `[:space:]` without outer brackets is refused.
                if rest.first() == Some(&':') && at > 1 && rest.get(at - 1) == Some(&':') {
                    return None;
                }
                self.out.push(']');
                return Some(at + 1);
            }
            if c == '[' && matches!(rest.get(at + 1), Some(':' | '.' | '=')) {
                if rest.get(at + 1) != Some(&':') {
                    return None;
                }
                let body = rest.get(at + 2..)?;
                let end = body.windows(2).position(|w| w == [':', ']'])?;
                let name: String = body.get(..end)?.iter().collect();
                self.out.push_str(class(&name, self.utf8)?);
                at += end + 4;
                // A class begins no range.
                if rest.get(at) == Some(&'-') && rest.get(at + 1) != Some(&']') {
                    return None;
                }
                continue;
            }
            self.bracket_character(c);
            at += 1;
            if rest.get(at) == Some(&'-') && rest.get(at + 1).is_some_and(|n| *n != ']') {
                let high = *rest.get(at + 1)?;
                // Beyond ASCII the order is the locale's.
                if high < c || high == '[' || !high.is_ascii() {
                    return None;
                }
                self.out.push('-');
                self.bracket_character(high);
                at += 2;
                if rest.get(at) == Some(&'-') && rest.get(at + 1) != Some(&']') {
                    return None;
                }
            }
        }
    }

    fn bracket_character(&mut self, c: char) {
        if c.is_ascii_punctuation() {
            self.out.push('\\');
        }
        self.out.push(c);
    }
}

enum Operator {
    Open,
    Close,
    Alternate,
    Repeat(char),
    Interval,
    Start,
    End,
    Any,
    Bracket,
    Class(&'static str),
    Literal(char),
    Unsupported,
}

impl Operator {
    fn is_assertion(&self) -> bool {
        match self {
            Operator::Start | Operator::End => true,
            Operator::Class(text) => text.starts_with("\\b") || text.starts_with("\\B"),
            _ => false,
        }
    }
}

/// Reads one element of an expression and its length.
fn operator(c: char, next: Option<char>, extended: bool) -> (Operator, usize) {
    let single = match c {
        '\\' => return escaped(next, extended),
        '*' => Operator::Repeat('*'),
        '.' => Operator::Any,
        '[' => Operator::Bracket,
        '^' => Operator::Start,
        '$' => Operator::End,
        '(' if extended => Operator::Open,
        ')' if extended => Operator::Close,
        '|' if extended => Operator::Alternate,
        '+' | '?' if extended => Operator::Repeat(c),
        '{' if extended => Operator::Interval,
        _ => Operator::Literal(c),
    };
    (single, 1)
}

fn escaped(next: Option<char>, extended: bool) -> (Operator, usize) {
    let Some(c) = next else { return (Operator::Unsupported, 1) };
    let operator = match c {
        '(' if !extended => Operator::Open,
        ')' if !extended => Operator::Close,
        '|' if !extended => Operator::Alternate,
        '{' if !extended => Operator::Interval,
        '+' | '?' if !extended => Operator::Repeat(c),
        'w' => Operator::Class("\\w"),
        'W' => Operator::Class("\\W"),
        's' => Operator::Class("\\s"),
        'S' => Operator::Class("\\S"),
        'b' => Operator::Class("\\b"),
        'B' => Operator::Class("\\B"),
        '<' => Operator::Class("\\b{start}"),
        '>' => Operator::Class("\\b{end}"),
        _ if c.is_alphanumeric() || c == '`' || c == '\'' => Operator::Unsupported,
        _ => Operator::Literal(c),
    };
    (operator, 2)
}

/// Whether a `$` in a basic expression stands at the end of a branch.
fn ends_branch(rest: &[char]) -> bool {
    matches!(rest, [] | ['\\', ')' | '|', ..])
}

/// What is inside a bracket for a class of characters.
fn class(name: &str, utf8: bool) -> Option<&'static str> {
    Some(match (name, utf8) {
        ("alnum", false) => "0-9A-Za-z",
        ("alpha", false) => "A-Za-z",
        ("lower", false) => "a-z",
        ("space", false) => "\\t-\\r ",
        ("upper", false) => "A-Z",
        ("alnum", true) => "\\p{Alphabetic}\\p{Nd}",
        ("alpha", true) => "\\p{Alphabetic}",
        ("lower", true) => "\\p{Lowercase}",
        ("space", true) => "\\s",
        ("upper", true) => "\\p{Uppercase}",
        ("blank", false) => " \\t",
        ("cntrl", false) => "\\x00-\\x1f\\x7f",
        // Of characters beyond ASCII only the system's tables know whether they are in the others.
        ("digit", _) => "0-9",
        ("graph", false) => "\\x21-\\x7e",
        ("print", false) => "\\x20-\\x7e",
        ("punct", false) => "!-/:-@\\[-`{-~",
        ("xdigit", _) => "0-9A-Fa-f",
        _ => return None,
    })
}
