//! Values: numbers, texts, and texts of input, which are numbers where they look like one.

use std::cmp::Ordering;
use std::rc::Rc;

use super::format::general;

/// A text that is shared until somebody appends to it.
pub(super) type Text = Rc<Vec<u8>>;

#[derive(Debug, Clone, Default)]
pub(super) enum Value {
    /// Never assigned: 0 and empty.
    #[default]
    None,
    Number(f64),
    Text(Text),
    /// Of input: compared as a number if all of it is one.
    Input(Text),
}

impl Value {
    pub(super) fn text(bytes: Vec<u8>) -> Value {
        Value::Text(Rc::new(bytes))
    }

    pub(super) fn truth(truth: bool) -> Value {
        Value::Number(f64::from(u8::from(truth)))
    }

    pub(super) fn number(&self) -> f64 {
        match self {
            Value::None => 0.0,
            Value::Number(number) => *number,
            Value::Text(text) | Value::Input(text) => leading_number(text).0,
        }
    }

    /// The text, numbers by `conversion` (CONVFMT or OFMT).
    pub(super) fn to_text(&self, conversion: &[u8]) -> Text {
        match self {
            Value::None => Text::default(),
            Value::Text(text) | Value::Input(text) => Rc::clone(text),
            Value::Number(number) => {
                let mut out = Vec::new();
                write_number(*number, conversion, &mut out);
                Rc::new(out)
            }
        }
    }

    /// Appends the text.
    pub(super) fn write(&self, conversion: &[u8], out: &mut Vec<u8>) {
        match self {
            Value::None => {}
            Value::Text(text) | Value::Input(text) => out.extend_from_slice(text),
            Value::Number(number) => write_number(*number, conversion, out),
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Value::None => false,
            Value::Number(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Input(text) => numeric(text).map_or(!text.is_empty(), |number| number != 0.0),
        }
    }

    /// The number that it is, if it is one and no text.
    fn as_number(&self) -> Option<f64> {
        match self {
            Value::None => Some(0.0),
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
            Value::Input(text) => numeric(text),
        }
    }

    /// The order of two values; none for what is no number.
    pub(super) fn compare(&self, other: &Value, conversion: &[u8]) -> Option<Ordering> {
        match (self.as_number(), other.as_number()) {
            (Some(left), Some(right)) => left.partial_cmp(&right),
            _ => Some(self.to_text(conversion).cmp(&other.to_text(conversion))),
        }
    }
}

/// Whole numbers as such, others by a format.
fn write_number(number: f64, conversion: &[u8], out: &mut Vec<u8>) {
    if number == number.trunc() && number.abs() < 1e16 {
        whole(number as i64, out);
    } else if number == number.trunc() && number.is_finite() {
        out.extend_from_slice(format!("{number:.0}").as_bytes());
    } else if conversion == b"%.6g" {
        general(number, 6, false, out);
    } else {
        super::format::one(conversion, number, out);
    }
}

fn whole(number: i64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let (mut at, mut left) = (digits.len(), number.unsigned_abs());
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

fn is_blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | 11 | 12 | b'\r')
}

/// The number that a text begins with, and how long it is with the blanks in front; 0 and 0 if there is none.
pub(super) fn leading_number(text: &[u8]) -> (f64, usize) {
    let blanks = text.iter().take_while(|c| is_blank(**c)).count();
    let text_from = |at: usize| text.get(at..).unwrap_or_default();
    let sign = usize::from(matches!(text_from(blanks).first(), Some(b'+' | b'-')));
    let digits = |at: usize| text_from(at).iter().take_while(|c| c.is_ascii_digit()).count();
    let begin = blanks + sign;
    let integer = digits(begin);
    let mut end = begin + integer;
    let mut any = integer;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        any += fraction;
        if any > 0 {
            end += 1 + fraction;
        }
    } else if integer > 0 && integer <= 15 && !matches!(text.get(end), Some(b'e' | b'E')) {
        // The usual case.
        let value = text
            .get(begin..end)
            .unwrap_or_default()
            .iter()
            .fold(0u64, |sum, c| sum * 10 + u64::from(c - b'0'));
        let negative = sign == 1 && text.get(blanks) == Some(&b'-');
        return (if negative { -(value as f64) } else { value as f64 }, end);
    }
    if any == 0 {
        return (0.0, 0);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let number = std::str::from_utf8(text.get(blanks..end).unwrap_or_default())
        .ok()
        .and_then(|text| text.parse().ok());
    (number.unwrap_or(0.0), end)
}

/// The number that a text is, with blanks around it.
fn numeric(text: &[u8]) -> Option<f64> {
    // Most texts end the question with their first byte.
    let first = *text.first()?;
    if first.is_ascii_alphabetic() {
        return None;
    }
    let (number, end) = leading_number(text);
    let rest = text.get(end..).unwrap_or_default();
    (end > 0 && rest.iter().all(|c| is_blank(*c))).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{Value, leading_number, numeric};

    #[test]
    fn texts_are_numbers_as_far_as_they_look_like_one() {
        for (text, number) in [
            ("", 0.0),
            (" 12abc", 12.0),
            ("-1.5e3x", -1500.0),
            ("1e", 1.0),
            (".", 0.0),
            (".5.", 0.5),
            ("+7", 7.0),
            ("0x1A", 0.0),
        ] {
            assert_eq!(leading_number(text.as_bytes()).0, number, "{text:?}");
        }
        for (text, number) in [
            ("12 ", Some(12.0)),
            (" +1. ", Some(1.0)),
            ("1x", None),
            ("", None),
            ("e5", None),
            ("1e5", Some(1e5)),
            ("-", None),
        ] {
            assert_eq!(numeric(text.as_bytes()), number, "{text:?}");
        }
        let shown =
            |number: f64| String::from_utf8(Value::Number(number).to_text(b"%.6g").to_vec()).expect("text");
        for (number, text) in [
            (0.1, "0.1"),
            (1e15, "1000000000000000"),
            (3.1234567, "3.12346"),
            (-0.0, "0"),
            (1e-7, "1e-07"),
            (123456789.5, "1.23457e+08"),
        ] {
            assert_eq!(shown(number), text);
        }
    }
}
