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
    if let StrView::Latin1(units) = view
        && units.len() <= PIECE_UNITS
        && !units.iter().any(|&unit| unit < 0x20 || unit == b'"' || unit == b'\\')
    {
        out.push_quoted(units);
        return Ok(());
    }
    out.push_latin1(b"\"");
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
    out.push_latin1(b"\"");
    Ok(())
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
    fn lone_surrogates_are_escaped_and_pairs_are_not() {
        assert_eq!(quoted(StrView::Utf16(&[0xd83d, 0xde00, 0xd83d, 0x61])), "\u{1f600}\\ud83da");
        assert_eq!(quoted(StrView::Utf16(&[0xde00, 0x22])), "\\ude00\\\"");
    }
}
