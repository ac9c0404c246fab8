//! The operations of parameter expansion on strings: removing and replacing patterns, changing case.

use super::parameter::Values;
use super::{Expanded, fields::Purpose};
use crate::pattern::{Extent, Options, Pattern};
use crate::state::options::Shopt;
use crate::syntax::ast::{Operation, ReplaceMode, Word, WordKind};
use crate::{Bytes, Session};

/// An operation with its words expanded.
enum Prepared {
    Remove { pattern: Pattern, suffix: bool, extent: Extent },
    Replace { pattern: Option<Pattern>, mode: ReplaceMode, replacement: Replacement },
    Case { operator: u8, all: bool, pattern: Option<Pattern> },
}

/// A replacement: literal pieces with the matched text between them.
struct Replacement {
    pieces: Vec<Bytes>,
}

impl Session {
    /// Applies a pattern operation to every value.
    pub(super) fn operate(
        &mut self,
        operation: &Operation,
        values: Values,
        _quoted: bool,
    ) -> Expanded<Values> {
        let prepared = match operation {
            Operation::Remove { suffix, longest, pattern } => {
                let extent = if *longest { Extent::Longest } else { Extent::Shortest };
                let pattern = self.operation_pattern(pattern, false)?;
                Prepared::Remove { pattern, suffix: *suffix, extent }
            }
            Operation::Replace { mode, pattern, replacement } => {
                let text = self.expand_pattern(pattern)?;
                let options = self.pattern_options(self.ignores_case());
                let options = Options { extended: self.extglob(), ..options };
                let anchored = matches!(mode, ReplaceMode::Prefix | ReplaceMode::Suffix);
                let pattern = match anchored || !text.is_empty() {
                    true => Some(self.compile_pattern_with(&text, options)?),
                    false => None,
                };
                let replacement = self.replacement(replacement.as_deref())?;
                Prepared::Replace { pattern, mode: *mode, replacement }
            }
            Operation::Case { operator, all, pattern } => {
                let pattern = match pattern {
                    Some(word) => Some(self.operation_pattern(word, false)?),
                    None => None,
                };
                Prepared::Case { operator: *operator, all: *all, pattern }
            }
            _ => return Ok(values),
        };
        Ok(match values {
            Values::Unset => Values::Unset,
            Values::One(text) => Values::One(self.apply(&prepared, &text)),
            Values::List(items, star) => {
                Values::List(items.iter().map(|item| self.apply(&prepared, item)).collect(), star)
            }
        })
    }

    fn operation_pattern(&mut self, word: &Word, ignore_case: bool) -> Expanded<Pattern> {
        let text = self.expand_pattern(word)?;
        let options = self.pattern_options(ignore_case);
        self.compile_pattern_with(&text, Options { extended: self.extglob(), ..options })
    }

    /// Expands a replacement; an unquoted `&` stands for the match if `patsub_replacement` is on.
    fn replacement(&mut self, word: Option<&Word>) -> Expanded<Replacement> {
        let Some(word) = word else { return Ok(Replacement { pieces: vec![Bytes::new()] }) };
        if !self.shopt(Shopt::PatsubReplacement) {
            return Ok(Replacement { pieces: vec![self.expand_string(word)?] });
        }
        let text = match word.kind() {
            WordKind::Constant(text) if word.is_plain() => text.to_vec(),
            WordKind::Constant(text) => return Ok(Replacement { pieces: vec![text.to_vec()] }),
            WordKind::Parts(parts) => self.expand_as(parts, false, Purpose::Replacement)?,
        };
        Ok(split_replacement(&text))
    }

    fn apply(&self, prepared: &Prepared, text: &[u8]) -> Bytes {
        match prepared {
            Prepared::Remove { pattern, suffix: false, extent } => {
                text[pattern.prefix(text, *extent).unwrap_or(0)..].to_vec()
            }
            Prepared::Remove { pattern, suffix: true, extent } => {
                text[..pattern.suffix(text, *extent).unwrap_or(text.len())].to_vec()
            }
            Prepared::Replace { pattern: None, .. } => text.to_vec(),
            Prepared::Replace { pattern: Some(pattern), mode, replacement } => {
                replace(pattern, *mode, replacement, text)
            }
            Prepared::Case { operator, all, pattern } => {
                self.change_case(text, *operator, *all, pattern.as_ref())
            }
        }
    }

    /// `^ ^^ , ,, ~ ~~`
    fn change_case(&self, text: &[u8], operator: u8, all: bool, pattern: Option<&Pattern>) -> Bytes {
        let mut out = Bytes::with_capacity(text.len());
        let boundaries =
            if self.utf8 { super::substring::boundaries(text) } else { (0..=text.len()).collect() };
        for (n, window) in boundaries.windows(2).enumerate() {
            let character = &text[window[0]..window[1]];
            let applies = (all || n == 0) && pattern.is_none_or(|p| p.matches(character));
            if applies { convert(character, operator, &mut out) } else { out.extend_from_slice(character) }
        }
        out
    }
}

/// Appends `character` in the case that `operator` asks for.
pub(crate) fn convert(character: &[u8], operator: u8, out: &mut Bytes) {
    let Ok(text) = std::str::from_utf8(character) else {
        out.extend_from_slice(character);
        return;
    };
    for c in text.chars() {
        let upper = match operator {
            b'^' => true,
            b',' => false,
            _ => !c.is_uppercase(),
        };
        let mut buffer = [0; 4];
        let single = |mut mapped: Vec<char>| if mapped.len() == 1 { mapped.pop() } else { None };
        let mapped =
            if upper { single(c.to_uppercase().collect()) } else { single(c.to_lowercase().collect()) };
        out.extend_from_slice(mapped.unwrap_or(c).encode_utf8(&mut buffer).as_bytes());
    }
}

/// Splits at unescaped `&`; `\&` and `\\` lose their backslash.
fn split_replacement(text: &[u8]) -> Replacement {
    let mut pieces = vec![Bytes::new()];
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let Some(piece) = pieces.last_mut() else { break };
        match byte {
            b'\\' if matches!(bytes.peek(), Some(b'&' | b'\\')) => piece.extend(bytes.next()),
            b'&' => pieces.push(Bytes::new()),
            _ => piece.push(byte),
        }
    }
    Replacement { pieces }
}

fn replace(pattern: &Pattern, mode: ReplaceMode, replacement: &Replacement, text: &[u8]) -> Bytes {
    let matches = match mode {
        ReplaceMode::First => pattern.find(text, 0).into_iter().collect(),
        ReplaceMode::All => pattern.find_all(text),
        ReplaceMode::Prefix => {
            pattern.prefix(text, Extent::Longest).map(|end| (0, end)).into_iter().collect()
        }
        ReplaceMode::Suffix => {
            pattern.suffix(text, Extent::Longest).map(|start| (start, text.len())).into_iter().collect()
        }
    };
    let mut out = Bytes::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in matches {
        out.extend_from_slice(&text[at..start]);
        for (n, piece) in replacement.pieces.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice(&text[start..end]);
            }
            out.extend_from_slice(piece);
        }
        at = end;
    }
    out.extend_from_slice(&text[at..]);
    out
}
