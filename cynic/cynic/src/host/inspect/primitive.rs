//! The inspected forms of primitives and keys.

use cynic_engine::property_key::PropertyKey;
use cynic_engine::value::Value;
use cynic_engine::vm::Vm;

use super::layout::BREAK_LENGTH;
use super::style::{Style, Styles};

/// Units of a string that are shown.
const STRING_UNITS_MAX: usize = 10_000;
/// Strings up to this length stay on one line whatever they contain.
const UNBROKEN_STRING_MAX: usize = 16;
/// What a string may lack of the whole width and still be on one line.
const LINE_MARGIN: usize = 4;

/// A primitive as it appears inside other values: strings in quotes, long ones with line breaks as one literal per line.
pub(super) fn primitive(vm: &Vm, value: Value, styles: Styles, indentation: usize) -> String {
    if let Some(string) = value.as_string() {
        let hidden = string.len().saturating_sub(STRING_UNITS_MAX);
        return match string.flat_view() {
            Some(view) if hidden > 0 => {
                shown_string(&view.slice(0, STRING_UNITS_MAX).to_rust_string(), hidden, styles, indentation)
            }
            _ if hidden > 0 => {
                let units = &string.to_units()[..STRING_UNITS_MAX];
                shown_string(&String::from_utf16_lossy(units), hidden, styles, indentation)
            }
            _ => shown_string(&string.to_rust_string(), 0, styles, indentation),
        };
    }
    if let Some(number) = value.as_number() {
        let text = if number == 0.0 && number.is_sign_negative() { "-0".into() } else { vm.describe(value) };
        return styles.paint(Style::Number, &text);
    }
    if value.is_bigint() {
        return styles.paint(Style::Number, &vm.describe(value));
    }
    if value.is_symbol() {
        return styles.paint(Style::Symbol, &vm.describe(value));
    }
    match value {
        Value::TRUE => styles.paint(Style::Boolean, "true"),
        Value::FALSE => styles.paint(Style::Boolean, "false"),
        Value::NULL => styles.paint(Style::Null, "null"),
        _ => styles.paint(Style::Undefined, "undefined"),
    }
}

/// What showing a primitive counts for: a rope is flattened for it, and the digits of a BigInt are computed.
pub(super) fn work(value: Value, text: &str) -> usize {
    const PER_DIGIT: usize = 64;
    match value.as_string() {
        Some(string) if string.flat_view().is_none() => text.len() + string.len(),
        _ if value.is_bigint() => text.len() * PER_DIGIT,
        _ => text.len(),
    }
}

fn shown_string(head: &str, hidden: usize, styles: Styles, indentation: usize) -> String {
    let trailer = match hidden {
        0 => String::new(),
        1 => "... 1 more character".to_owned(),
        _ => format!("... {hidden} more characters"),
    };
    let length = head.encode_utf16().count();
    if length <= UNBROKEN_STRING_MAX || length + indentation + LINE_MARGIN <= BREAK_LENGTH {
        return styles.paint(Style::String, &quoted(head)) + &trailer;
    }
    let lines: Vec<String> =
        head.split_inclusive('\n').map(|line| styles.paint(Style::String, &quoted(line))).collect();
    lines.join(&format!(" +\n{}", " ".repeat(indentation + 2))) + &trailer
}

/// A string in the quotes that need the fewest escapes.
pub(super) fn quoted(text: &str) -> String {
    let quote = match (text.contains('\''), text.contains('"'), text.contains('`') || text.contains("${")) {
        (true, false, _) => '"',
        (true, true, false) => '`',
        _ => '\'',
    };
    let mut result = String::with_capacity(text.len() + 2);
    result.push(quote);
    for character in text.chars() {
        match character {
            '\n' => result.push_str("\\n"),
            '\t' => result.push_str("\\t"),
            '\r' => result.push_str("\\r"),
            '\u{8}' => result.push_str("\\b"),
            '\u{b}' => result.push_str("\\v"),
            '\u{c}' => result.push_str("\\f"),
            '\\' => result.push_str("\\\\"),
            control @ ('\0'..='\u{1f}' | '\u{7f}'..='\u{9f}') => {
                result.push_str(&format!("\\x{:02X}", control as u32));
            }
            other if other == quote => result.extend(['\\', other]),
            other => result.push(other),
        }
    }
    result.push(quote);
    result
}

/// A property's key before the colon.
pub(super) fn key(key: PropertyKey, styles: Styles) -> String {
    let text = key.to_display();
    if key.is_symbol() {
        return format!("[{}]", styles.paint(Style::Symbol, &text));
    }
    if is_identifier(&text) { text } else { styles.paint(Style::String, &quoted(&text)) }
}

fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    first && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_chosen_to_avoid_escapes() {
        assert_eq!(quoted("a"), "'a'");
        assert_eq!(quoted("it's"), "\"it's\"");
        assert_eq!(quoted("q\"'"), "`q\"'`");
        assert_eq!(quoted("'\"`"), "'\\'\"`'");
        assert_eq!(quoted("\n\u{1}\\"), "'\\n\\x01\\\\'");
    }
}
