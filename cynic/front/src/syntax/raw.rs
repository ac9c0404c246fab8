//! Bounds for a text with JSX, in which a quote may be a letter of a sentence: nothing is taken for the inside of a literal, every byte
//! counts as if it were code.
//!
//! Invariant: no bound is below what [`super::nesting`] would find if it knew where the text's literals are.

use super::nesting::Nesting;
use crate::limits;

/// Measures `text`: each word and each mark is a unit, and all may nest.
pub(crate) fn measure(text: &str) -> Nesting {
    let mut found = Nesting { ambiguous: true, ..Nesting::default() };
    let (mut angles, mut word, mut last) = (0_u64, 0_usize, b' ');
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        let in_word = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
        let begins = in_word && word == 0;
        if begins || !in_word && !byte.is_ascii_whitespace() {
            found.units = found.units.saturating_add(1);
            found.type_attempts = found.type_attempts.saturating_add(angles);
        }
        match byte {
            b'<' => angles += 1,
            b'>' if last != b'=' => angles = angles.saturating_sub(1),
            b';' => angles = 0,
            _ => {}
        }
        if !in_word && last == b'n' && word > limits::BIGINT_LITERAL_BYTES_MAX && found.long_bigint.is_none()
        {
            found.long_bigint = u32::try_from(at - word).ok();
        }
        word = if in_word { word + 1 } else { 0 };
        last = byte;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::measure;
    use crate::limits;

    #[test]
    fn nothing_hides_behind_a_quote_in_a_sentence() {
        let found = measure(&format!("<p>don't</p>;{}", "[".repeat(5000)));
        assert!(found.bound() >= 5000);
        let long = format!("<p>'</p>;{}n;", "9".repeat(limits::BIGINT_LITERAL_BYTES_MAX));
        assert!(measure(&long).long_bigint.is_some());
        assert!(measure(&format!("<p>'</p>;{}", "a<".repeat(4000))).type_attempts > 8_000_000);
    }

    #[test]
    fn tags_close_what_they_open() {
        let found = measure(&"<p a={() => 1}>text</p>\n".repeat(3000));
        assert!(found.type_attempts < limits::TYPE_ATTEMPTS_MAX, "{}", found.type_attempts);
    }
}
