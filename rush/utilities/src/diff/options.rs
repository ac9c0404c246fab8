//! The command line of `diff`; what is not known here is left to the program.

use super::DiffOptions;
use crate::Context;
use crate::options::{number, parse};

/// How differences are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Normal,
    /// Old and new lines apart, with lines around them (`-c`).
    Context,
    /// Old and new lines together, with lines around them (`-u`).
    Unified,
    /// Only whether there are any (`-q`).
    Brief,
}

/// Which white space counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Space {
    Counts,
    /// None at the end of a line (`-Z`).
    NotAtEnd,
    /// How much does not count (`-b`).
    Amount,
    /// None at all (`-w`).
    Ignored,
}

const SHORT: &str = "abBcC:dEiL:NpqrsuU:wx:Z";

const LONG: &[(&str, u8)] = &[
    ("brief", b'q'),
    ("context?", b'2'),
    ("exclude=", b'x'),
    ("ignore-all-space", b'w'),
    ("ignore-blank-lines", b'B'),
    ("ignore-case", b'i'),
    ("ignore-space-change", b'b'),
    ("ignore-trailing-space", b'Z'),
    ("label=", b'L'),
    ("minimal", b'd'),
    ("new-file", b'N'),
    ("normal", b'0'),
    ("recursive", b'r'),
    ("report-identical-files", b's'),
    ("show-c-function", b'p'),
    ("strip-trailing-cr", b'1'),
    ("text", b'a'),
    ("unified?", b'3'),
    ("color?", b'4'),
];

/// The most lines around a change; GNU's own bound is as good as none.
const AROUND_MAX: u64 = 1 << 40;

/// Options and the two operands; `None` declines.
pub(super) fn read<'a>(context: &Context<'a>) -> Option<(DiffOptions, [&'a [u8]; 2])> {
    // The order and the form of what is printed depend on them.
    if context.host.variable("POSIXLY_CORRECT").is_some() || !context.collates_by_byte() {
        return None;
    }
    let parsed = parse(context.args, SHORT, LONG)?;
    let &[old, new] = parsed.operands.as_slice() else { return None };
    if old.is_empty() || new.is_empty() {
        return None;
    }
    let (mut shown, mut around) = (None, None);
    let mut style = |wanted: Style, lines: Option<u64>| {
        around = around.max(lines);
        *shown.get_or_insert(wanted) == wanted
    };
    for (letter, value) in &parsed.given {
        let lines = if value.is_empty() { Some(3) } else { number(value).filter(|n| *n < AROUND_MAX) };
        let fine = match letter {
            b'c' => style(Style::Context, Some(3)),
            b'u' => style(Style::Unified, Some(3)),
            b'C' | b'U' if value.is_empty() => false,
            b'C' | b'2' => lines.is_some() && style(Style::Context, lines),
            b'U' | b'3' => lines.is_some() && style(Style::Unified, lines),
            b'0' => style(Style::Normal, None),
            b'4' => *value == b"never" || (*value == b"auto" && !context.host.output_is_terminal()),
            b'E' => false,
            _ => true,
        };
        if !fine {
            return None;
        }
    }
    let labels: Vec<Vec<u8>> =
        parsed.given.iter().filter(|(letter, _)| *letter == b'L').map(|(_, value)| value.to_vec()).collect();
    if labels.len() > 2 {
        return None;
    }
    let function = parsed.has(b'p');
    if function && shown.is_none() {
        (shown, around) = (Some(Style::Context), around.max(Some(3)));
    }
    let space = match () {
        () if parsed.has(b'w') => Space::Ignored,
        () if parsed.has(b'b') => Space::Amount,
        () if parsed.has(b'Z') => Space::NotAtEnd,
        () => Space::Counts,
    };
    let style = if parsed.has(b'q') { Style::Brief } else { shown.unwrap_or(Style::Normal) };
    let options = DiffOptions {
        style,
        around: around.unwrap_or(0) as usize,
        labels,
        space,
        ignore_case: parsed.has(b'i'),
        ignore_blank: parsed.has(b'B'),
        strip_returns: parsed.has(b'1'),
        text: parsed.has(b'a'),
        minimal: parsed.has(b'd'),
        absent_is_empty: parsed.has(b'N'),
        recursive: parsed.has(b'r'),
        tells_identical: parsed.has(b's'),
        function,
        excluded: parsed.given.iter().filter(|(l, _)| *l == b'x').map(|(_, v)| v.to_vec()).collect(),
        words: option_words(context.args),
    };
    Some((options, [old, new]))
}

/// The words that are options or their values, in their order.
fn option_words(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_slice() {
            b"--" => {
                out.push(word.clone());
                break;
            }
            [b'-', b'-', name @ ..] => {
                out.push(word.clone());
                if LONG.iter().any(|(l, _)| l.strip_suffix('=').is_some_and(|l| l.as_bytes() == name)) {
                    out.extend(words.next().cloned());
                }
            }
            [b'-', letters @ ..] if !letters.is_empty() => {
                out.push(word.clone());
                let takes = |letter: &u8| b"CLUx".contains(letter);
                if letters.iter().position(takes).is_some_and(|at| at + 1 == letters.len()) {
                    out.extend(words.next().cloned());
                }
            }
            _ => {}
        }
    }
    out
}
