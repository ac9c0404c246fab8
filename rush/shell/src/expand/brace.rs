//! Brace expansion. Works on a word's parts, so that quoted text and expansions pass through whole, and depends on
//! the text only: a word's result is computed once and kept. As the braces go before the names are read, what they
//! put behind `$name` belongs to the name: `$a{b,c}` is `$ab $ac`.

use crate::Bytes;
use crate::state::names::is_name_byte;
use crate::state::variables::Variables;
use crate::syntax::Text;
use crate::syntax::ast::{Part, Word};
use crate::sys::stack;
use std::rc::Rc;

/// Elements a sequence may have; more is left unexpanded, as bash does when memory would not do.
const SEQUENCE_MAX: usize = 10_000_000;

/// A unit of a word: one unquoted byte, or a part that brace expansion does not look into.
#[derive(Clone)]
enum Unit {
    Byte(u8),
    Opaque(Part),
}

/// The words that the braces of `parts` give, or `None` if there are no braces to expand. New names are interned in
/// `variables`.
pub fn expand(parts: &[Part], variables: &mut Variables) -> Option<Rc<[Word]>> {
    let units = to_units(parts);
    let words = expand_units(&units);
    words.map(|words| words.into_iter().map(|units| to_word(&units, variables)).collect())
}

fn to_units(parts: &[Part]) -> Vec<Unit> {
    let mut units = Vec::new();
    for part in parts {
        match part {
            Part::Literal(text) => units.extend(text.iter().map(|b| Unit::Byte(*b))),
            Part::Tilde(user) => {
                units.push(Unit::Byte(b'~'));
                units.extend(user.iter().map(|b| Unit::Byte(*b)));
            }
            other => units.push(Unit::Opaque(other.clone())),
        }
    }
    units
}

/// Rebuilds a word; a tilde-prefix at its start is recognised again.
fn to_word(units: &[Unit], variables: &mut Variables) -> Word {
    let mut list: Vec<Part> = Vec::new();
    let mut literal = Bytes::new();
    let mut at = 0;
    while let Some(unit) = units.get(at) {
        at += 1;
        match unit {
            Unit::Byte(byte) => literal.push(*byte),
            Unit::Opaque(part) => {
                flush(&mut literal, &mut list);
                let more = name_bytes(&units[at..]);
                match part {
                    Part::Variable(id) if !more.is_empty() => {
                        at += more.len();
                        let name = [variables.names.text(*id), &more].concat();
                        list.push(Part::Variable(variables.intern(&name)));
                    }
                    part => list.push(part.clone()),
                }
            }
        }
    }
    flush(&mut literal, &mut list);
    split_tilde(&mut list);
    Word::from_parts(list)
}

/// The bytes of a name that `units` begin with.
fn name_bytes(units: &[Unit]) -> Bytes {
    let byte = |unit: &Unit| match unit {
        Unit::Byte(byte) if is_name_byte(*byte) => Some(*byte),
        _ => None,
    };
    units.iter().map_while(byte).collect()
}

fn flush(literal: &mut Bytes, list: &mut Vec<Part>) {
    if !literal.is_empty() {
        list.push(Part::Literal(Text::new(literal)));
        literal.clear();
    }
}

fn split_tilde(list: &mut Vec<Part>) {
    let alone = list.len() == 1;
    let Some(Part::Literal(text)) = list.first() else { return };
    if text.first() != Some(&b'~') {
        return;
    }
    let end = text.iter().position(|b| *b == b'/').unwrap_or(text.len());
    if end == text.len() && !alone {
        return;
    }
    let (user, rest) = (Text::new(&text[1..end]), Text::new(&text[end..]));
    list[0] = Part::Tilde(user);
    if !rest.is_empty() {
        list.insert(1, Part::Literal(rest));
    }
}

fn is_byte(units: &[Unit], at: usize, byte: u8) -> bool {
    matches!(units.get(at), Some(Unit::Byte(b)) if *b == byte)
}

/// All results for `units`, or `None` if nothing in it expands: also what nests more deeply than there is room for.
fn expand_units(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    if stack::is_exhausted() { None } else { stack::with_room(|| expand_first(units)) }
}

/// Expands the first braces of `units` that are an expression, and what is in and behind them.
fn expand_first(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let mut from = 0;
    while let Some(open) = (from..units.len()).find(|at| is_byte(units, *at, b'{')) {
        if let Some((close, alternatives)) = alternatives(units, open) {
            let rest = &units[close + 1..];
            let tails = expand_units(rest).unwrap_or_else(|| vec![rest.to_vec()]);
            let mut out = Vec::with_capacity(alternatives.len() * tails.len());
            for middle in &alternatives {
                for tail in &tails {
                    let mut word = units[..open].to_vec();
                    word.extend_from_slice(middle);
                    word.extend_from_slice(tail);
                    out.push(word);
                }
            }
            return Some(out);
        }
        from = open + 1;
    }
    None
}

/// The alternatives of the brace expression that opens at `open`, and where it closes.
fn alternatives(units: &[Unit], open: usize) -> Option<(usize, Vec<Vec<Unit>>)> {
    let mut depth = 0usize;
    let mut start = open + 1;
    let mut pieces = Vec::new();
    for at in open + 1..units.len() {
        let Unit::Byte(byte) = units[at] else { continue };
        match byte {
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b',' if depth == 0 => {
                pieces.push(&units[start..at]);
                start = at + 1;
            }
            b'}' => {
                if pieces.is_empty() {
                    if let Some(values) = sequence(&units[open + 1..at]) {
                        return Some((at, values));
                    }
                    return None;
                }
                pieces.push(&units[start..at]);
                let mut out = Vec::new();
                for piece in pieces {
                    match expand_units(piece) {
                        Some(words) => out.extend(words),
                        None => out.push(piece.to_vec()),
                    }
                }
                return Some((at, out));
            }
            _ => {}
        }
    }
    None
}

/// `{a..b}` or `{a..b..step}` over integers or single letters.
fn sequence(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let mut text = Bytes::new();
    for unit in units {
        match unit {
            Unit::Byte(b) => text.push(*b),
            Unit::Opaque(_) => return None,
        }
    }
    let text = String::from_utf8(text).ok()?;
    let fields: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match fields[..] {
        [a, b] => (a, b, None),
        [a, b, s] => (a, b, Some(s.parse::<i64>().ok()?)),
        _ => return None,
    };
    let values = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(a), Ok(b)) => numbers(a, b, step, width(first, last))?,
        _ => letters(first, last, step)?,
    };
    Some(values.into_iter().map(|v| v.into_iter().map(Unit::Byte).collect()).collect())
}

/// The width to pad to, if either end has a leading zero.
fn width(first: &str, last: &str) -> usize {
    let padded = |s: &str| {
        let digits = s.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0')
    };
    if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 }
}

fn step_towards(first: i64, last: i64, step: Option<i64>) -> i64 {
    let size = step.map_or(1, |s| if s == 0 { 1 } else { s.saturating_abs() });
    if first <= last { size } else { -size }
}

fn numbers(first: i64, last: i64, step: Option<i64>, width: usize) -> Option<Vec<Bytes>> {
    let step = step_towards(first, last, step);
    let count = (last.checked_sub(first)? / step) as u64 as usize + 1;
    if count > SEQUENCE_MAX {
        return None;
    }
    let mut out = Vec::with_capacity(count);
    let mut value = first;
    for _ in 0..count {
        let text = if width == 0 {
            value.to_string()
        } else if value < 0 {
            format!("-{:0>1$}", value.unsigned_abs(), width - 1)
        } else {
            format!("{value:0>width$}")
        };
        out.push(text.into_bytes());
        value = value.saturating_add(step);
    }
    Some(out)
}

fn letters(first: &str, last: &str, step: Option<i64>) -> Option<Vec<Bytes>> {
    let single = |s: &str| match s.as_bytes() {
        [b] if b.is_ascii_alphabetic() => Some(i64::from(*b)),
        _ => None,
    };
    let (first, last) = (single(first)?, single(last)?);
    let step = step_towards(first, last, step);
    let mut out = Vec::new();
    let mut value = first;
    while if step > 0 { value <= last } else { value >= last } {
        out.push(vec![value as u8]);
        value += step;
    }
    Some(out)
}
