//! `printf` as C has it: what formats say, applied to values.

use super::value::Value;
use crate::limits::AWK_WIDTH_MAX;

/// One conversion of a format.
#[derive(Debug, Clone, Copy, Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// What is wrong with a format and its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// More conversions than values.
    Few,
    /// A conversion that there is not, or one that is too wide.
    Conversion,
}

/// Appends the values in a format.
pub(super) fn format(
    text: &[u8],
    values: &[Value],
    conversion: &[u8],
    utf8: bool,
    out: &mut Vec<u8>,
) -> Result<(), Wrong> {
    let mut values = values.iter();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'%', text.get(at..).unwrap_or_default()) {
        out.extend_from_slice(text.get(at..at + found).unwrap_or_default());
        at += found + 1;
        if text.get(at) == Some(&b'%') {
            out.push(b'%');
            at += 1;
            continue;
        }
        let mut spec = Conversion::default();
        while let Some(c) = text.get(at) {
            match c {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            at += 1;
        }
        let mut count = |at: &mut usize| -> Result<i64, Wrong> {
            if text.get(*at) == Some(&b'*') {
                *at += 1;
                return Ok(values.next().ok_or(Wrong::Few)?.number() as i64);
            }
            let mut count = 0i64;
            while let Some(digit) = text.get(*at).filter(|c| c.is_ascii_digit()) {
                count = count.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
                *at += 1;
            }
            Ok(count)
        };
        let width = count(&mut at)?;
        spec.left |= width < 0;
        spec.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
        if text.get(at) == Some(&b'.') {
            at += 1;
            let precision = count(&mut at)?;
            spec.precision = usize::try_from(precision).ok();
        }
        if spec.width > AWK_WIDTH_MAX || spec.precision.is_some_and(|precision| precision > AWK_WIDTH_MAX) {
            return Err(Wrong::Conversion);
        }
        // How long an integer is does not matter.
        while matches!(text.get(at), Some(b'h' | b'l' | b'L' | b'q' | b'j' | b'z' | b't')) {
            at += 1;
        }
        let letter = *text.get(at).ok_or(Wrong::Conversion)?;
        at += 1;
        let value = values.next().ok_or(Wrong::Few);
        match letter {
            b'd' | b'i' | b'u' => spec.integer(value?.number(), 10, false, out),
            b'o' => spec.integer(value?.number(), 8, false, out),
            b'x' => spec.integer(value?.number(), 16, false, out),
            b'X' => spec.integer(value?.number(), 16, true, out),
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => spec.float(value?.number(), letter, out),
            b'c' => spec.character(value?, utf8, out),
            b's' => spec.string(&value?.to_text(conversion), utf8, out),
            _ => return Err(Wrong::Conversion),
        }
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    Ok(())
}

/// A number by CONVFMT or OFMT; one that is no format of a number leaves it as `%.6g`.
pub(super) fn one(text: &[u8], number: f64, out: &mut Vec<u8>) {
    let start = out.len();
    if format(text, &[Value::Number(number)], b"%.6g", false, out).is_err() {
        out.truncate(start);
        general(number, 6, false, out);
    }
}

impl Conversion {
    fn pad(&self, sign: &[u8], body: &[u8], zeros: bool, length: usize, out: &mut Vec<u8>) {
        let fill = self.width.saturating_sub(length + sign.len());
        if !self.left && !zeros {
            out.resize(out.len() + fill, b' ');
        }
        out.extend_from_slice(sign);
        if !self.left && zeros {
            out.resize(out.len() + fill, b'0');
        }
        out.extend_from_slice(body);
        if self.left {
            out.resize(out.len() + fill, b' ');
        }
    }

    fn sign(&self, negative: bool) -> &'static [u8] {
        match (negative, self.plus, self.space) {
            (true, ..) => b"-",
            (_, true, _) => b"+",
            (.., true) => b" ",
            _ => b"",
        }
    }

    fn integer(&self, number: f64, base: u64, upper: bool, out: &mut Vec<u8>) {
        if !number.is_finite() {
            return self.float(number, b'f', out);
        }
        let number = number.trunc();
        let (sign, mut body): (&[u8], Vec<u8>) = if base == 10 {
            (self.sign(number < 0.0), format!("{:.0}", number.abs()).into_bytes())
        } else {
            // Negative numbers are those of 64 bits.
            let bits = if number < 0.0 { number as i64 as u64 } else { number as u64 };
            let text = match (base, upper) {
                (8, _) => format!("{bits:o}"),
                (_, false) => format!("{bits:x}"),
                (_, true) => format!("{bits:X}"),
            };
            let prefix: &[u8] = match (self.alternate && bits != 0, base, upper) {
                (true, 16, false) => b"0x",
                (true, 16, true) => b"0X",
                (true, 8, _) => b"0",
                _ => b"",
            };
            (prefix, text.into_bytes())
        };
        if let Some(precision) = self.precision {
            if precision == 0 && body == b"0" {
                body.clear();
            }
            let missing = precision.saturating_sub(body.len());
            body.splice(0..0, std::iter::repeat_n(b'0', missing));
        }
        self.pad(sign, &body, self.zero && self.precision.is_none(), body.len(), out);
    }

    fn float(&self, number: f64, letter: u8, out: &mut Vec<u8>) {
        let upper = letter.is_ascii_uppercase();
        let sign = self.sign(number.is_sign_negative());
        if !number.is_finite() {
            let body: &[u8] = if number.is_nan() { b"nan" } else { b"inf" };
            return self.pad(sign, body, false, body.len(), out);
        }
        let precision = self.precision.unwrap_or(6);
        let mut body = Vec::new();
        match letter.to_ascii_lowercase() {
            b'f' => {
                body = format!("{:.precision$}", number.abs()).into_bytes();
                if self.alternate && precision == 0 {
                    body.push(b'.');
                }
            }
            b'e' => exponential(number.abs(), precision, self.alternate, &mut body),
            _ => general(number.abs(), precision, self.alternate, &mut body),
        }
        if upper {
            body.make_ascii_uppercase();
        }
        self.pad(sign, &body, self.zero, body.len(), out);
    }

    fn character(&self, value: &Value, utf8: bool, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        match value {
            Value::Number(number) => {
                let code = *number as u32;
                match char::from_u32(code).filter(|_| utf8 && code >= 128) {
                    Some(c) => body.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                    None => body.push(code as u8),
                }
            }
            other => {
                let text = other.to_text(b"%.6g");
                let length = if utf8 {
                    super::characters(&text).next().map_or(0, <[u8]>::len)
                } else {
                    text.len().min(1)
                };
                body.extend_from_slice(text.get(..length).unwrap_or_default());
            }
        }
        self.pad(b"", &body, false, usize::from(!body.is_empty()), out);
    }

    fn string(&self, text: &[u8], utf8: bool, out: &mut Vec<u8>) {
        let (mut body, mut length) = (text, text.len());
        if utf8 && !text.is_ascii() {
            length = super::characters(text).count();
        }
        if let Some(precision) = self.precision.filter(|precision| *precision < length) {
            let bytes = if length == text.len() {
                precision
            } else {
                super::characters(text).take(precision).map(<[u8]>::len).sum()
            };
            body = text.get(..bytes).unwrap_or_default();
            length = precision;
        }
        self.pad(b"", body, false, length, out);
    }
}

/// `%e`.
fn exponential(number: f64, precision: usize, point: bool, out: &mut Vec<u8>) {
    let text = format!("{number:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    out.extend_from_slice(digits.as_bytes());
    if point && precision == 0 {
        out.push(b'.');
    }
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    out.extend_from_slice(format!("e{sign}{exponent:0>2}").as_bytes());
}

/// `%g`: of `%e` and `%f` the one that is shorter, without zeros at the end.
pub(super) fn general(number: f64, precision: usize, alternate: bool, out: &mut Vec<u8>) {
    if !number.is_finite() {
        let sign: &[u8] = if number.is_sign_negative() { b"-" } else { b"" };
        out.extend_from_slice(sign);
        return out.extend_from_slice(if number.is_nan() { b"nan" } else { b"inf" });
    }
    let digits = precision.max(1);
    let scientific = format!("{number:.*e}", digits - 1);
    let exponent: i64 =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let start = out.len();
    let fixed = exponent >= -4 && exponent < digits as i64;
    if fixed {
        let decimals = usize::try_from(digits as i64 - 1 - exponent).unwrap_or(0);
        out.extend_from_slice(format!("{number:.decimals$}").as_bytes());
    } else {
        exponential(number, digits - 1, false, out);
    }
    if alternate {
        return;
    }
    let written = out.get(start..).unwrap_or_default();
    let mantissa = written.iter().position(|c| *c == b'e').unwrap_or(written.len());
    if let Some(point) = written.get(..mantissa).unwrap_or_default().iter().position(|c| *c == b'.') {
        let zeros =
            written.get(..mantissa).unwrap_or_default().iter().rev().take_while(|c| **c == b'0').count();
        let mut keep = mantissa - zeros;
        if keep == point + 1 {
            keep = point;
        }
        out.drain(start + keep..start + mantissa);
    }
}

#[cfg(test)]
mod tests {
    use super::{Wrong, format};
    use crate::awk::value::Value;

    #[test]
    fn conversions_are_those_of_c() {
        let cases: &[(&str, f64, &str)] = &[
            ("%d", -3.9, "-3"),
            ("%5d|", 42.0, "   42|"),
            ("%-5d|", 42.0, "42   |"),
            ("%05d", -42.0, "-0042"),
            ("%+.3d", 7.0, "+007"),
            ("%x %%", 255.0, "ff %"),
            ("%#o", 8.0, "010"),
            ("%e", 12345.678, "1.234568e+04"),
            ("%.0e", 5.0, "5e+00"),
            ("%g", 1e-5, "1e-05"),
            ("%g", 100000.0, "100000"),
            ("%g", 1e6, "1e+06"),
            ("%G", 1e-10, "1E-10"),
            ("%.3f", 2.0005, "2.001"),
            ("%08.2f", -1.5, "-0001.50"),
            ("%c", 65.0, "A"),
            ("%s", 0.1, "0.1"),
            ("%.10g", 0.1, "0.1"),
            ("%#g", 1.0, "1.00000"),
        ];
        for (text, number, expected) in cases {
            let mut out = Vec::new();
            format(text.as_bytes(), &[Value::Number(*number)], b"%.6g", false, &mut out).expect("a format");
            assert_eq!(String::from_utf8_lossy(&out), *expected, "{text} of {number}");
        }
        assert_eq!(format(b"%s %s", &[Value::None], b"%.6g", false, &mut Vec::new()), Err(Wrong::Few));
        assert_eq!(format(b"%k", &[Value::None], b"%.6g", false, &mut Vec::new()), Err(Wrong::Conversion));
    }
}
