//! The `s` command: replacements, and putting them into a line.

use crate::posix::{Pattern, Spans};

/// `s/pattern/replacement/flags`
#[derive(Debug)]
pub(super) struct Substitution {
    /// `None` is the expression that was used last.
    pub(super) pattern: Option<usize>,
    pub(super) pieces: Vec<Piece>,
    pub(super) global: bool,
    pub(super) print: bool,
    /// The first match that is replaced.
    pub(super) number: u64,
    pub(super) writer: Option<usize>,
}

/// The case that text is given until further notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Case {
    #[default]
    Kept,
    Upper,
    Lower,
}

/// Text and behind it a group, in a case.
#[derive(Debug, Default, Clone)]
pub(super) struct Piece {
    text: Vec<u8>,
    pub(super) group: Option<usize>,
    case: Case,
    /// The case of the next character.
    next: Option<Case>,
}

/// Reads a replacement; `None` for groups that there are not and for rare escapes.
pub(super) fn parse(text: &[u8], groups: usize, utf8: bool) -> Option<Vec<Piece>> {
    let mut pieces = vec![Piece::default()];
    let mut bytes = text.iter().copied();
    let mut cases = false;
    while let Some(byte) = bytes.next() {
        let case = pieces.last()?.case;
        let open = |pieces: &mut Vec<Piece>, case, next| {
            pieces.push(Piece { case, next, ..Piece::default() });
        };
        let group = |pieces: &mut Vec<Piece>, number: usize| {
            let last = pieces.last_mut()?;
            last.group = Some(number);
            let case = last.case;
            open(pieces, case, None);
            (number <= groups).then_some(())
        };
        match byte {
            b'&' => group(&mut pieces, 0)?,
            b'\\' => match bytes.next()? {
                digit @ b'0'..=b'9' => group(&mut pieces, usize::from(digit - b'0'))?,
                b'n' => pieces.last_mut()?.text.push(b'\n'),
                b't' => pieces.last_mut()?.text.push(b'\t'),
                b'f' => pieces.last_mut()?.text.push(0x0c),
                b'v' => pieces.last_mut()?.text.push(0x0b),
                b'a' => pieces.last_mut()?.text.push(0x07),
                b'r' => pieces.last_mut()?.text.push(b'\r'),
                letter @ (b'L' | b'U' | b'E') => {
                    let case = match letter {
                        b'L' => Case::Lower,
                        b'U' => Case::Upper,
                        _ => Case::Kept,
                    };
                    cases = true;
                    let last = pieces.last()?;
                    // `\u\L`: what comes next keeps its own.
                    let next = last.next.filter(|_| last.text.is_empty() && last.group.is_none());
                    open(&mut pieces, case, next);
                }
                letter @ (b'u' | b'l') => {
                    cases = true;
                    open(&mut pieces, case, Some(if letter == b'u' { Case::Upper } else { Case::Lower }));
                }
                other if other.is_ascii_alphanumeric() => return None,
                other => pieces.last_mut()?.text.push(other),
            },
            byte => pieces.last_mut()?.text.push(byte),
        }
    }
    // Cases of parts of characters.
    if cases && utf8 && std::str::from_utf8(text).is_err() {
        return None;
    }
    Some(pieces)
}

impl Substitution {
    /// Replaces in `line`; whether anything was. The new line is left in `out`.
    pub(super) fn apply(
        &self,
        pattern: &mut Pattern,
        line: &[u8],
        utf8: bool,
        spans: &mut Spans,
        out: &mut Vec<u8>,
    ) -> bool {
        out.clear();
        let needs_groups = self.pieces.iter().any(|piece| piece.group.is_some_and(|group| group > 0));
        let (mut at, mut copied, mut count) = (0, 0, 0);
        let mut last_end = None;
        let mut replaced = false;
        while at <= line.len() {
            let found = if needs_groups {
                pattern.captures(line, at, spans).then(|| spans.first().copied().flatten()).flatten()
            } else {
                let found = pattern.find(line, at);
                spans.clear();
                spans.push(found);
                found
            };
            let Some((start, end)) = found else { break };
            let empty = start == end;
            if !(empty && last_end == Some(start)) {
                count += 1;
                if count >= self.number {
                    out.extend_from_slice(&line[copied..start]);
                    copied = end;
                    self.append(line, spans, utf8, out);
                    replaced = true;
                    if !self.global {
                        break;
                    }
                }
                last_end = Some(end);
            }
            at = if empty { end + character_length(line, end, utf8) } else { end };
        }
        if replaced {
            out.extend_from_slice(&line[copied..]);
        }
        replaced
    }

    fn append(&self, line: &[u8], spans: &Spans, utf8: bool, out: &mut Vec<u8>) {
        let mut waiting = None;
        for piece in &self.pieces {
            let mut next = piece.next.or(waiting.take());
            let span = piece.group.and_then(|group| spans.get(group).copied().flatten());
            let group = span.map_or(&[][..], |(start, end)| &line[start..end]);
            for text in [piece.text.as_slice(), group] {
                if !text.is_empty() {
                    append_in_case(text, piece.case, next.take(), utf8, out);
                }
            }
            waiting = next;
        }
    }
}

fn append_in_case(text: &[u8], case: Case, next: Option<Case>, utf8: bool, out: &mut Vec<u8>) {
    if case == Case::Kept && next.is_none() {
        out.extend_from_slice(text);
        return;
    }
    let mut first = next;
    if !utf8 {
        for byte in text {
            out.push(match first.take().unwrap_or(case) {
                Case::Kept => *byte,
                Case::Upper => byte.to_ascii_uppercase(),
                Case::Lower => byte.to_ascii_lowercase(),
            });
        }
        return;
    }
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let new = match first.take().unwrap_or(case) {
                Case::Kept => c,
                Case::Upper => single(c, c.to_uppercase()),
                Case::Lower => single(c, c.to_lowercase()),
            };
            out.extend_from_slice(new.encode_utf8(&mut [0; 4]).as_bytes());
        }
        out.extend_from_slice(chunk.invalid());
    }
}

/// The other case where that is one character; the C library knows no others.
fn single(c: char, mut other: impl Iterator<Item = char>) -> char {
    match (other.next(), other.next()) {
        (Some(only), None) => only,
        (Some('i'), Some(_)) => 'i',
        _ => c,
    }
}

/// How long the character at a place is, at least one byte.
fn character_length(text: &[u8], at: usize, utf8: bool) -> usize {
    if !utf8 || text.get(at).is_none_or(u8::is_ascii) {
        return 1;
    }
    let rest = text.get(at..text.len().min(at + 4)).unwrap_or_default();
    let valid = rest.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    valid.chars().next().map_or(1, char::len_utf8)
}
