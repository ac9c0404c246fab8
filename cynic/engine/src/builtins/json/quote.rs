//! QuoteJSONString. <https://tc39.es/ecma262/#sec-quotejsonstring>

use crate::string::builder::StringBuilder;
use crate::string::{JsStr, StrView};
use crate::vm::{JsResult, Vm};

/// For each Latin-1 unit: 0 if it stands for itself, `u` if it is escaped by number, else the letter of its escape.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut control = 0;
    while control < 0x20 {
        table[control] = b'u';
        control += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// Units that are quoted between two looks at the limits.
const PIECE_UNITS: usize = 1 << 16;

/// Appends the quoted form of a string.
pub(super) fn quote(vm: &mut Vm, out: &mut StringBuilder, string: JsStr) -> JsResult<()> {
    let view = string.view(vm);
    if let Some(units) = plain(view) {
        out.push_quoted(units);
        return Ok(());
    }
    out.push_byte(b'"');
    let mut at = 0;
    while view.len() - at > PIECE_UNITS {
        let mut end = at + PIECE_UNITS;
        // A surrogate pair stays together.
        end += usize::from((0xdc00..0xe000).contains(&view.at(end)));
        quote_piece(out, view.slice(at, end));
        at = end;
        vm.poll_n(PIECE_UNITS as u32 / 8)?;
        out.check(vm)?;
    }
    quote_piece(out, view.slice(at, view.len()));
    out.push_byte(b'"');
    Ok(())
}

/// The units of a string that stands for itself between quotation marks, and is not long.
#[inline]
pub(super) fn plain(view: StrView<'_>) -> Option<&[u8]> {
    match view {
        StrView::Latin1(units) if units.len() <= PIECE_UNITS && has_no_escape(units) => Some(units),
        _ => None,
    }
}

#[inline]
fn has_no_escape(units: &[u8]) -> bool {
    if let Some(last) = units.last_chunk::<8>() {
        let (words, _) = units.as_chunks::<8>();
        return words.iter().chain([last]).all(|word| is_plain(u64::from_ne_bytes(*word)));
    }
    if let (Some(first), Some(last)) = (units.first_chunk::<4>(), units.last_chunk::<4>()) {
        let (first, last) = (u32::from_ne_bytes(*first), u32::from_ne_bytes(*last));
        return is_plain(u64::from(first) << 32 | u64::from(last));
    }
    units.iter().all(|&unit| ESCAPES[usize::from(unit)] == 0)
}

/// Whether none of eight units is escaped.
#[inline]
fn is_plain(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    // The high bit of the lowest byte that is below `limit`, and perhaps of higher ones.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let quotation = below(word ^ (ONES * 0x22), 1);
    let backslash = below(word ^ (ONES * 0x5c), 1);
    (below(word, 0x20) | quotation | backslash) & (ONES * 0x80) == 0
}

fn quote_piece(out: &mut StringBuilder, view: StrView<'_>) {
    match view {
        StrView::Latin1(units) => quote_latin1(out, units),
        StrView::Utf16(units) => quote_utf16(out, units),
    }
}

fn quote_latin1(out: &mut StringBuilder, units: &[u8]) {
    let mut rest = units;
    while let Some(plain) = rest.iter().position(|unit| ESCAPES[usize::from(*unit)] != 0) {
        out.push_latin1(&rest[..plain]);
        push_escape(out, rest[plain]);
        rest = &rest[plain + 1..];
    }
    out.push_latin1(rest);
}

fn quote_utf16(out: &mut StringBuilder, units: &[u16]) {
    let mut at = 0;
    while let Some(unit) = units.get(at).copied() {
        at += 1;
        let low = || units.get(at).copied().filter(|low| (0xdc00..0xe000).contains(low));
        match unit {
            0..=0xff if ESCAPES[usize::from(unit)] != 0 => push_escape(out, unit as u8),
            0xd800..=0xdbff if low().is_some() => {
                out.push_unit(unit);
                out.push_unit(units[at]);
                at += 1;
            }
            0xd800..=0xdfff => push_hex(out, unit),
            _ => out.push_unit(unit),
        }
    }
}

fn push_escape(out: &mut StringBuilder, unit: u8) {
    match ESCAPES[usize::from(unit)] {
        b'u' => push_hex(out, u16::from(unit)),
        letter => out.push_latin1(&[b'\\', letter]),
    }
}

/// UnicodeEscape. <https://tc39.es/ecma262/#sec-unicodeescape>
fn push_hex(out: &mut StringBuilder, unit: u16) {
    out.push_str(&format!("\\u{unit:04x}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(view: StrView<'_>) -> String {
        let mut out = StringBuilder::new();
        quote_piece(&mut out, view);
        out.view().to_rust_string()
    }

    #[test]
    fn escapes() {
        assert_eq!(quoted(StrView::Latin1(b"a\"\\\n\x01\x7f\xe9")), "a\\\"\\\\\\n\\u0001\u{7f}\u{e9}");
        assert_eq!(quoted(StrView::Latin1(b"")), "");
    }

    #[test]
    fn plain_strings_are_those_without_escapes() {
        for length in 0..20 {
            for at in 0..length {
                for unit in 0..=0xff {
                    let mut units = vec![b'x'; length];
                    units[at] = unit;
                    assert_eq!(
                        has_no_escape(&units),
                        ESCAPES[usize::from(unit)] == 0,
                        "{unit} at {at} of {length}"
                    );
                }
            }
        }
        assert!(has_no_escape(b"") && has_no_escape(&[0xff; 9]) && has_no_escape(&[0x80, 0x20, 0x21, 0x23]));
    }

    #[test]
    fn lone_surrogates_are_escaped_and_pairs_are_not() {
        assert_eq!(quoted(StrView::Utf16(&[0xd83d, 0xde00, 0xd83d, 0x61])), "\u{1f600}\\ud83da");
        assert_eq!(quoted(StrView::Utf16(&[0xde00, 0x22])), "\\ude00\\\"");
    }
}
