//! Pure number conversions: strings to numbers, doubles to integers. No guest code, no heap.

use num_bigint::BigInt as Integer;

use crate::string::StrView;

/// ToInt32 of a double (7.1.6).
#[inline]
pub fn double_to_int32(n: f64) -> i32 {
    let i = n as i32;
    if f64::from(i) == n {
        return i;
    }
    double_to_int32_slow(n)
}

#[cold]
fn double_to_int32_slow(n: f64) -> i32 {
    if !n.is_finite() {
        return 0;
    }
    if n.abs() < 9.2e18 {
        return n as i64 as i32;
    }
    let bits = n.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
    if exponent > 31 {
        return 0;
    }
    let mantissa = (bits & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;
    let low = (mantissa << exponent) as u32 as i32;
    if n < 0.0 { low.wrapping_neg() } else { low }
}

/// WhiteSpace and LineTerminator code units (12.2, 12.3), which StringToNumber and `trim` drop.
pub fn is_white_space(u: u16) -> bool {
    matches!(
        u,
        0x09..=0x0d | 0x20 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000 | 0xfeff
    )
}

/// The part of the view without white space at either end: (from, to).
pub fn trimmed(view: StrView<'_>) -> (usize, usize) {
    let mut from = 0;
    let mut to = view.len();
    while from < to && is_white_space(view.at(from)) {
        from += 1;
    }
    while to > from && is_white_space(view.at(to - 1)) {
        to -= 1;
    }
    (from, to)
}

/// StringToNumber (7.1.4.1.1).
pub fn string_to_number(view: StrView<'_>) -> f64 {
    let (from, to) = trimmed(view);
    if from == to {
        return 0.0;
    }
    let mut text = String::with_capacity(to - from);
    for i in from..to {
        match view.at(i) {
            u @ 0x20..=0x7e => text.push(u as u8 as char),
            _ => return f64::NAN,
        }
    }
    parse_number(&text)
}

fn parse_number(text: &str) -> f64 {
    let bytes = text.as_bytes();
    if bytes.len() > 2 && bytes[0] == b'0' {
        let radix = match bytes[1] {
            b'x' | b'X' => 16,
            b'o' | b'O' => 8,
            b'b' | b'B' => 2,
            _ => 0,
        };
        if radix != 0 {
            return parse_radix(&bytes[2..], radix).unwrap_or(f64::NAN);
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "Infinity" {
        return if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // What remains must be a StrDecimalLiteral; Rust's parser also takes words such as "inf" and "nan".
    let plausible =
        unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
            && unsigned.bytes().any(|b| b.is_ascii_digit());
    if !plausible || unsigned.starts_with(['e', 'E', '+', '-']) || unsigned.starts_with(".e") {
        return f64::NAN;
    }
    text.parse().unwrap_or(f64::NAN)
}

/// The digits of an integer in a radix that is a power of two or ten, rounded correctly.
pub fn parse_radix(digits: &[u8], radix: u32) -> Option<f64> {
    if digits.is_empty() {
        return None;
    }
    let mut n = 0.0f64;
    for &d in digits {
        n = n * f64::from(radix) + f64::from((d as char).to_digit(radix)?);
    }
    if n < 9_007_199_254_740_992.0 {
        return Some(n);
    }
    // So many digits are beyond the doubles in any radix.
    const DIGITS_MAX: usize = 1100;
    if digits.iter().skip_while(|digit| **digit == b'0').count() > DIGITS_MAX {
        return Some(f64::INFINITY);
    }
    // Too long for exact accumulation: let the integer library round.
    let exact = Integer::parse_bytes(digits, radix)?;
    Some(bigint_to_f64(&exact))
}

/// The double nearest to an integer, ties to even.
pub fn bigint_to_f64(i: &Integer) -> f64 {
    use num_traits::ToPrimitive;
    i.to_f64().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_int32_wraps() {
        for (n, want) in [
            (0.0, 0),
            (-1.5, -1),
            (4294967296.0, 0),
            (4294967297.0, 1),
            (2147483648.0, -2147483648),
            (-2147483649.0, 2147483647),
            (f64::NAN, 0),
            (f64::INFINITY, 0),
            (1e300, 0),
            (18446744073709551616.0 + 8192.0, 8192),
            (-36893488147419103232.0, 0),
        ] {
            assert_eq!(double_to_int32(n), want, "{n}");
        }
    }

    #[test]
    fn strings_become_numbers() {
        let n = |s: &str| string_to_number(StrView::Latin1(s.as_bytes()));
        assert_eq!(n(""), 0.0);
        assert_eq!(n("  12  "), 12.0);
        assert_eq!(n("0x1F"), 31.0);
        assert_eq!(n("1e3"), 1000.0);
        assert_eq!(n(".5"), 0.5);
        assert_eq!(n("5."), 5.0);
        assert_eq!(n("-Infinity"), f64::NEG_INFINITY);
        for bad in ["inf", "nan", "-0x1", "1_0", "e5", "+-1", ".", "0x", "1n", "infinity", "1e"] {
            assert!(n(bad).is_nan(), "{bad}");
        }
    }
}
