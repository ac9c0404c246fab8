//! Source text that comes from a string of the guest: UTF-8 for the parser, lone surrogates written as escapes.
//!
//! In strings and templates an escape means the same. In a regular expression it does not quite (its source shows the
//! difference), so the places are kept and the compiler puts the units back.

use std::fmt::Write;

/// A text and where its escapes stand for lone surrogates.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    /// What the parser reads.
    pub text: String,
    /// The offsets of the escapes, ascending.
    pub surrogates: Vec<u32>,
}

impl SourceText {
    /// The text of a string's units.
    pub fn from_units(units: impl IntoIterator<Item = u16>) -> Self {
        let mut source = Self::default();
        for unit in char::decode_utf16(units) {
            match unit {
                Ok(c) => source.text.push(c),
                Err(lone) => source.push_escape(lone.unpaired_surrogate()),
            }
        }
        source
    }

    fn push_escape(&mut self, unit: u16) {
        self.surrogates.push(self.text.len() as u32);
        let backslashes = self.text.bytes().rev().take_while(|byte| *byte == b'\\').count();
        // After a backslash that escapes the surrogate, that backslash begins the escape.
        let start = if backslashes % 2 == 0 { "\\" } else { "" };
        let written = write!(self.text, "{start}u{unit:04x}");
        debug_assert!(written.is_ok());
    }
}

impl From<&str> for SourceText {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), surrogates: Vec::new() }
    }
}

/// The units of `part`, which begins at the offset `start` of a text with escapes at `surrogates`.
pub(crate) fn restore(part: &str, start: u32, surrogates: &[u32]) -> Vec<u16> {
    let mut units = Vec::with_capacity(part.len());
    let mut rest = part;
    let mut at = start;
    for &escape in surrogates.iter().filter(|escape| **escape >= start) {
        let Some((before, after)) = rest.split_at_checked((escape - at) as usize) else { break };
        let digits = after.trim_start_matches('\\').get(1..5);
        let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else { break };
        units.extend(before.encode_utf16());
        units.push(unit);
        let length = if after.starts_with('\\') { 6 } else { 5 };
        rest = after.get(length..).unwrap_or("");
        at = escape + length as u32;
    }
    units.extend(rest.encode_utf16());
    units
}

#[cfg(test)]
mod tests {
    use super::{SourceText, restore};

    #[test]
    fn escapes_become_the_units_they_stand_for() {
        let units: Vec<u16> =
            "/a".encode_utf16().chain([0xd800]).chain("b\\".encode_utf16()).chain([0xdfff]).collect();
        let source = SourceText::from_units(units.iter().copied());
        assert_eq!(source.text, "/a\\ud800b\\udfff");
        assert_eq!(restore(&source.text, 0, &source.surrogates), units);
        assert_eq!(restore(&source.text[1..8], 1, &source.surrogates), units[1..3]);
        assert_eq!(restore("\\ud800", 0, &[]).len(), 6);
    }
}
