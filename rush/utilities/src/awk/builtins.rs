//! The functions that are there.

use std::rc::Rc;

use super::code::{Array, RLENGTH, RSTART, Separator};
use super::record::Splitter;
use super::run::{Machine, Stop};
use super::tree::Builtin;
use super::value::Value;
use super::{bytes_of, characters, count};
use crate::posix::{Pattern, Spans};

/// Numbers that look random: a linear generator, mixed (PCG, O'Neill 2014).
pub(super) struct Random {
    state: u64,
    seed: f64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x853c_49e6_748f_ea9b, seed: seed as f64 }
    }

    fn next(&mut self) -> f64 {
        let mut word = 0u64;
        for _ in 0..2 {
            let old = self.state;
            self.state = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mixed = (((old >> 18) ^ old) >> 27) as u32;
            word = word << 32 | u64::from(mixed.rotate_right((old >> 59) as u32));
        }
        (word >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// What of a pattern is known when a program begins, or made as it runs.
enum Known {
    Index(usize),
    Text(Rc<Vec<u8>>),
}

impl Machine<'_, '_> {
    fn known(&mut self, pattern: Option<u32>) -> Known {
        match pattern {
            Some(index) => Known::Index(index as usize),
            None => {
                let text = self.pop();
                Known::Text(self.text_of(&text))
            }
        }
    }

    fn with_known<R>(&mut self, known: &Known, act: impl FnOnce(&mut Pattern) -> R) -> Result<R, Stop> {
        match known {
            Known::Index(index) => Ok(act(&mut self.code.patterns[*index])),
            Known::Text(text) => self.with_pattern(text, act),
        }
    }

    pub(super) fn builtin(&mut self, builtin: Builtin, arguments: usize) -> Result<(), Stop> {
        if builtin == Builtin::Sprintf {
            let text = self.formatted(arguments)?;
            self.push(Value::text(text));
            return Ok(());
        }
        let third = if arguments > 2 { self.pop() } else { Value::None };
        let second = if arguments > 1 { self.pop() } else { Value::None };
        let first = if arguments > 0 { self.pop() } else { Value::None };
        let value = match builtin {
            Builtin::Atan2 => Value::Number(first.number().atan2(second.number())),
            Builtin::Cos => Value::Number(first.number().cos()),
            Builtin::Sin => Value::Number(first.number().sin()),
            Builtin::Exp => Value::Number(first.number().exp()),
            Builtin::Log => Value::Number(first.number().ln()),
            Builtin::Sqrt => Value::Number(first.number().sqrt()),
            Builtin::Int => Value::Number(first.number().trunc()),
            Builtin::Rand => Value::Number(self.random.next()),
            Builtin::Srand => {
                let former = self.random.seed;
                let seed = if arguments == 0 { self.context.host.now().0 as f64 } else { first.number() };
                self.random = Random::new(seed as i64 as u64);
                self.random.seed = seed;
                Value::Number(former)
            }
            Builtin::Systime => Value::Number(self.context.host.now().0 as f64),
            Builtin::Length => {
                let text = self.text_of(&first);
                Value::Number(count(&text, self.utf8) as f64)
            }
            Builtin::Index => {
                let (text, part) = (self.text_of(&first), self.text_of(&second));
                let found = memchr::memmem::find(&text, &part);
                let place = found.map_or(0, |at| count(text.get(..at).unwrap_or_default(), self.utf8) + 1);
                Value::Number(place as f64)
            }
            Builtin::Substr => {
                let text = self.text_of(&first);
                let length = (arguments > 2).then(|| third.number());
                Value::text(substr(&text, second.number(), length, self.utf8))
            }
            Builtin::Tolower | Builtin::Toupper => {
                let text = self.text_of(&first);
                Value::text(change_case(&text, builtin == Builtin::Toupper, self.utf8))
            }
            Builtin::Close => {
                let name = self.text_of(&first);
                let read = self.files.remove(name.as_slice()).is_some();
                let written = self.outputs.close(&name);
                Value::Number(match (read, written) {
                    (_, Some(Err(_))) | (false, None) => -1.0,
                    _ => 0.0,
                })
            }
            Builtin::Fflush => {
                self.context.output.flush()?;
                Value::Number(if self.outputs.flush().is_ok() { 0.0 } else { -1.0 })
            }
            Builtin::System => self.system(&first)?,
            _ => Value::None,
        };
        self.push(value);
        Ok(())
    }

    /// Runs a command by the shell, after what is written so far.
    fn system(&mut self, command: &Value) -> Result<Value, Stop> {
        let command = self.text_of(command).to_vec();
        self.context.output.flush()?;
        let _ = self.outputs.flush();
        let words = [b"sh".to_vec(), b"-c".to_vec(), command];
        let status = self.context.host.run(&words, None, false);
        self.context.poll()?;
        match status {
            Ok(ended) => Ok(Value::Number(f64::from(ended.status()))),
            Err(error) => Err(Stop::Fatal(format!("sh: {}", crate::context::reason(&error)))),
        }
    }

    pub(super) fn match_at(&mut self, pattern: Option<u32>) -> Result<(), Stop> {
        let known = self.known(pattern);
        let value = self.pop();
        let text = self.text_of(&value);
        let found = self.with_known(&known, |pattern| pattern.find(&text, 0))?;
        let (start, length) = match found {
            Some((start, end)) => {
                let before = count(text.get(..start).unwrap_or_default(), self.utf8);
                (before as f64 + 1.0, count(text.get(start..end).unwrap_or_default(), self.utf8) as f64)
            }
            None => (0.0, -1.0),
        };
        self.globals[RSTART as usize] = Value::Number(start);
        self.globals[RLENGTH as usize] = Value::Number(length);
        self.push(Value::Number(start));
        Ok(())
    }

    pub(super) fn split(&mut self, array: Array, separator: Separator) -> Result<(), Stop> {
        let separator = match separator {
            Separator::Text => {
                let text = self.pop();
                Some(self.text_of(&text))
            }
            Separator::Fields => None,
            Separator::Pattern(pattern) => {
                let value = self.pop();
                let text = self.text_of(&value);
                let mut parts = Vec::new();
                let pattern = &mut self.code.patterns[pattern as usize];
                super::record::split_at(pattern, &text, |start, end| parts.push((start, end)));
                self.fill(array, &text, &parts);
                return Ok(());
            }
        };
        let value = self.pop();
        let text = self.text_of(&value);
        let mut parts = Vec::new();
        match separator {
            None => self.splitter.split(&text, self.utf8, |start, end| parts.push((start, end))),
            Some(separator) => {
                let mut splitter: Splitter = self.splitter_of(&separator)?;
                splitter.split(&text, self.utf8, |start, end| parts.push((start, end)));
            }
        }
        self.fill(array, &text, &parts);
        Ok(())
    }

    fn fill(&mut self, array: Array, text: &[u8], parts: &[(usize, usize)]) {
        let table = self.array(array);
        let mut table = table.borrow_mut();
        table.clear();
        for (number, (start, end)) in parts.iter().enumerate() {
            let key = Rc::new((number + 1).to_string().into_bytes());
            table.insert(key, Value::Input(Rc::new(text.get(*start..*end).unwrap_or_default().to_vec())));
        }
        drop(table);
        self.push(Value::Number(parts.len() as f64));
    }

    pub(super) fn substitute(&mut self, pattern: Option<u32>, all: bool) -> Result<(), Stop> {
        let replacement = self.pop();
        let known = self.known(pattern);
        let value = self.pop();
        let (text, replacement) = (self.text_of(&value), self.text_of(&replacement));
        let pieces = pieces(&replacement, false);
        let which = if all { Which::All } else { Which::Number(1) };
        let utf8 = self.utf8;
        let replaced = self.with_known(&known, |pattern| replace(pattern, &text, &pieces, which, utf8))?;
        self.substitutions = replaced.as_ref().map_or(0.0, |(_, count)| *count as f64);
        if let Some((out, _)) = replaced {
            self.made(out.len())?;
            self.got = Value::text(out);
        }
        Ok(())
    }

    pub(super) fn gensub(&mut self, pattern: Option<u32>, with_target: bool) -> Result<(), Stop> {
        let target = if with_target { self.pop() } else { Value::Input(self.record_text()) };
        let (how, replacement) = (self.pop(), self.pop());
        let known = self.known(pattern);
        let (text, how) = (self.text_of(&target), self.text_of(&how));
        let which = match how.first() {
            Some(b'g' | b'G') => Which::All,
            _ => Which::Number((Value::Text(how).number() as usize).max(1)),
        };
        let replacement = self.text_of(&replacement);
        let pieces = pieces(&replacement, true);
        let utf8 = self.utf8;
        let replaced = self.with_known(&known, |pattern| replace(pattern, &text, &pieces, which, utf8))?;
        self.made(replaced.as_ref().map_or(0, |(out, _)| out.len()))?;
        self.push(replaced.map_or_else(|| Value::Text(text), |(out, _)| Value::text(out)));
        Ok(())
    }
}

/// Which matches are replaced.
#[derive(Clone, Copy)]
enum Which {
    All,
    Number(usize),
}

/// A part of a replacement.
enum Piece {
    Bytes(Vec<u8>),
    Group(usize),
}

/// The parts of a replacement: `&` is the match, `\&` and `\\` are themselves; with `groups` `\1` is a group.
fn pieces(text: &[u8], groups: bool) -> Vec<Piece> {
    let mut parts = Vec::new();
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at) {
        at += 1;
        let group = match (c, text.get(at)) {
            (b'&', _) => Some(0),
            (b'\\', Some(digit)) if groups && digit.is_ascii_digit() => {
                at += 1;
                Some(usize::from(digit - b'0'))
            }
            (b'\\', Some(next @ (b'&' | b'\\'))) => {
                bytes.push(*next);
                at += 1;
                None
            }
            (c, _) => {
                bytes.push(*c);
                None
            }
        };
        if let Some(group) = group {
            parts.push(Piece::Bytes(std::mem::take(&mut bytes)));
            parts.push(Piece::Group(group));
        }
    }
    parts.push(Piece::Bytes(bytes));
    parts
}

/// The text with matches replaced, and how many; none if there is no match.
fn replace(
    pattern: &mut Pattern,
    text: &[u8],
    pieces: &[Piece],
    which: Which,
    utf8: bool,
) -> Option<(Vec<u8>, usize)> {
    let with_groups = pieces.iter().any(|piece| matches!(piece, Piece::Group(1..)));
    let mut spans = Spans::new();
    let (mut out, mut copied, mut from, mut seen, mut replaced) = (Vec::new(), 0, 0, 0usize, 0usize);
    let mut last_end = None;
    loop {
        let found = if with_groups {
            pattern.captures(text, from, &mut spans).then(|| spans.first().copied().flatten()).flatten()
        } else {
            pattern.find(text, from)
        };
        let Some((start, end)) = found else { break };
        // Nothing right behind a match is none.
        if start < end || last_end != Some(start) {
            seen += 1;
            last_end = Some(end);
            if matches!(which, Which::All) || matches!(which, Which::Number(number) if number == seen) {
                out.extend_from_slice(text.get(copied..start).unwrap_or_default());
                for piece in pieces {
                    match piece {
                        Piece::Bytes(bytes) => out.extend_from_slice(bytes),
                        Piece::Group(0) => out.extend_from_slice(text.get(start..end).unwrap_or_default()),
                        Piece::Group(group) => {
                            let (start, end) = spans.get(*group).copied().flatten().unwrap_or((0, 0));
                            out.extend_from_slice(text.get(start..end).unwrap_or_default());
                        }
                    }
                }
                copied = end;
                replaced += 1;
                if matches!(which, Which::Number(_)) {
                    break;
                }
            }
        }
        if end > start {
            from = end;
        } else if end >= text.len() {
            break;
        } else {
            let rest = text.get(end..).unwrap_or_default();
            from = end + if utf8 { characters(rest).next().map_or(1, <[u8]>::len) } else { 1 };
        }
    }
    if replaced == 0 {
        return None;
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    Some((out, replaced))
}

/// Characters from a place on: both numbers are cut to whole ones, and a place before the first is the first.
fn substr(text: &[u8], from: f64, length: Option<f64>, utf8: bool) -> Vec<u8> {
    let all = count(text, utf8) as f64;
    let start = from.trunc().max(1.0);
    let end = length.map_or(all + 1.0, |length| start + length.trunc()).min(all + 1.0);
    // What is no number is in no order.
    if from.is_nan() || !matches!(end.partial_cmp(&start), Some(std::cmp::Ordering::Greater)) {
        return Vec::new();
    }
    let (first, last) = (start as usize - 1, end as usize - 1);
    let first_byte = bytes_of(text, first, utf8);
    let rest = text.get(first_byte..).unwrap_or_default();
    let length = bytes_of(rest, last - first, utf8);
    rest.get(..length).unwrap_or_default().to_vec()
}

fn change_case(text: &[u8], upper: bool, utf8: bool) -> Vec<u8> {
    if !utf8 || text.is_ascii() {
        return if upper { text.to_ascii_uppercase() } else { text.to_ascii_lowercase() };
    }
    let mut out = Vec::new();
    for character in characters(text) {
        let single = std::str::from_utf8(character).ok().and_then(|text| text.chars().next());
        let changed = single.and_then(|c| {
            // One character for one, as the C library has it.
            let (mut upper_case, mut lower_case) = (c.to_uppercase(), c.to_lowercase());
            let pair = if upper {
                (upper_case.next(), upper_case.next())
            } else {
                (lower_case.next(), lower_case.next())
            };
            pair.0.filter(|_| pair.1.is_none())
        });
        match changed {
            Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            None => out.extend_from_slice(character),
        }
    }
    out
}
