//! Decimal formatting with a given number of digits: the texts of `toFixed`, `toExponential` and `toPrecision`.
//!
//! The standard library rounds the exact binary value half to even; ECMA-262 takes the larger of two equally near values.
//! The two differ only on exact ties, which [`rounded_digits`] finds and corrects.

/// The significant decimal digits of a finite `x > 0`, correctly rounded (ties up) to `count` digits, and the decimal
/// exponent of the first one.
fn rounded_digits(x: f64, count: usize) -> (Vec<u8>, i32) {
    let (mut digits, mut exponent) = scientific_digits(x, count);
    let (longer, longer_exponent) = scientific_digits(x, count + 1);
    if longer.last() == Some(&b'5') && is_exact(x, &longer, longer_exponent) {
        digits = longer[..count].to_vec();
        exponent = longer_exponent;
        if increment(&mut digits) {
            exponent += 1;
        }
    }
    (digits, exponent)
}

/// As the standard library formats it: half to even.
fn scientific_digits(x: f64, count: usize) -> (Vec<u8>, i32) {
    let text = format!("{:.*e}", count - 1, x);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    (digits, exponent.parse().unwrap_or(0))
}

/// Whether `digits` with `exponent` are the exact value of `x`. No finite double has more than 767 significant digits.
fn is_exact(x: f64, digits: &[u8], exponent: i32) -> bool {
    const SIGNIFICANT_DIGITS_MAX: usize = 767;
    let (all, all_exponent) = scientific_digits(x, SIGNIFICANT_DIGITS_MAX);
    let head = digits.len().min(all.len());
    all_exponent == exponent
        && all[..head] == digits[..head]
        && all[head..].iter().all(|digit| *digit == b'0')
}

/// Adds one unit in the last place; true if the number grew by a digit (it is then 1 followed by zeros, of equal length).
fn increment(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return false;
        }
        *digit = b'0';
    }
    if let Some(first) = digits.first_mut() {
        *first = b'1';
    }
    true
}

fn push_digits(text: &mut String, digits: &[u8]) {
    text.extend(digits.iter().map(|digit| char::from(*digit)));
}

/// Number.prototype.toFixed for a finite `x` with `|x| < 1e21`.
pub(crate) fn to_fixed(x: f64, fraction_digits: usize) -> String {
    let magnitude = x.abs();
    let mut text = format!("{magnitude:.fraction_digits$}");
    let longer = format!("{magnitude:.*}", fraction_digits + 1);
    if longer.ends_with('5') && is_exact_fixed(magnitude, &longer) {
        text = round_up_fixed(&longer[..longer.len() - 1]);
    }
    if x < 0.0 {
        text.insert(0, '-');
    }
    text
}

fn is_exact_fixed(magnitude: f64, text: &str) -> bool {
    const FRACTION_DIGITS_MAX: usize = 1074;
    let all = format!("{magnitude:.FRACTION_DIGITS_MAX$}");
    all.as_bytes()
        .get(text.len()..)
        .is_some_and(|rest| all.starts_with(text) && rest.iter().all(|b| *b == b'0'))
}

/// Increments the last digit of `12.34`; a dangling point (no fraction digits left) is dropped.
fn round_up_fixed(text: &str) -> String {
    let text = text.strip_suffix('.').unwrap_or(text);
    let mut digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).collect();
    let point = text.find('.');
    let grew = increment(&mut digits);
    let mut result = String::with_capacity(text.len() + 1);
    push_digits(&mut result, &digits);
    if grew {
        result.push('0');
    }
    if let Some(point) = point {
        result.insert(point + usize::from(grew), '.');
    }
    result
}

/// Number.prototype.toExponential for a finite `x` and a given number of fraction digits.
pub(crate) fn to_exponential(x: f64, fraction_digits: usize) -> String {
    let (digits, exponent) = if x == 0.0 {
        (vec![b'0'; fraction_digits + 1], 0)
    } else {
        rounded_digits(x.abs(), fraction_digits + 1)
    };
    exponential_text(x < 0.0, &digits, exponent)
}

/// Number.prototype.toExponential without an argument: as many digits as necessary.
pub(crate) fn to_exponential_shortest(x: f64) -> String {
    let text = format!("{:e}", x.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    exponential_text(x < 0.0, &digits, exponent.parse().unwrap_or(0))
}

fn exponential_text(negative: bool, digits: &[u8], exponent: i32) -> String {
    let mut text = String::with_capacity(digits.len() + 8);
    if negative {
        text.push('-');
    }
    push_digits(&mut text, &digits[..1]);
    if digits.len() > 1 {
        text.push('.');
        push_digits(&mut text, &digits[1..]);
    }
    text.push_str(if exponent < 0 { "e-" } else { "e+" });
    text.push_str(&exponent.unsigned_abs().to_string());
    text
}

/// Number.prototype.toPrecision for a finite `x`.
pub(crate) fn to_precision(x: f64, precision: usize) -> String {
    let (digits, exponent) =
        if x == 0.0 { (vec![b'0'; precision], 0) } else { rounded_digits(x.abs(), precision) };
    if exponent < -6 || exponent >= precision as i32 {
        return exponential_text(x < 0.0, &digits, exponent);
    }
    let mut text = String::with_capacity(precision + 10);
    if x < 0.0 {
        text.push('-');
    }
    if exponent < 0 {
        text.push_str("0.");
        text.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
        push_digits(&mut text, &digits);
        return text;
    }
    let whole = exponent as usize + 1;
    push_digits(&mut text, &digits[..whole]);
    if whole < digits.len() {
        text.push('.');
        push_digits(&mut text, &digits[whole..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_takes_the_larger_of_two_equally_near() {
        let cases = [
            (0.5, 0, "1"),
            (1.5, 0, "2"),
            (2.5, 0, "3"),
            (-2.5, 0, "-3"),
            (1.005, 2, "1.00"),
            (1.45, 1, "1.4"),
            (8.345, 2, "8.35"),
            (0.000001, 7, "0.0000010"),
            (123.456, 2, "123.46"),
            (0.0, 2, "0.00"),
            (-0.0000001, 2, "-0.00"),
            (9.5, 0, "10"),
            (99.75, 1, "99.8"),
            (0.25, 1, "0.3"),
            (1e20, 2, "100000000000000000000.00"),
            (1000000000000000128.0, 1, "1000000000000000128.0"),
            (0.5, 100, &format!("0.5{}", "0".repeat(99))),
        ];
        for (x, digits, expected) in cases {
            assert_eq!(to_fixed(x, digits), expected, "{x} {digits}");
        }
    }

    #[test]
    fn exponential() {
        let cases = [
            (123456.0, 2, "1.23e+5"),
            (0.00015, 0, "1e-4"),
            (25.0, 0, "3e+1"),
            (12345.0, 3, "1.235e+4"),
            (0.0, 2, "0.00e+0"),
            (-1.5e300, 0, "-2e+300"),
            (9.5, 0, "1e+1"),
            (1e21, 0, "1e+21"),
        ];
        for (x, digits, expected) in cases {
            assert_eq!(to_exponential(x, digits), expected, "{x} {digits}");
        }
        assert_eq!(to_exponential_shortest(123456.0), "1.23456e+5");
        assert_eq!(to_exponential_shortest(0.0), "0e+0");
        assert_eq!(to_exponential_shortest(-1e-7), "-1e-7");
    }

    #[test]
    fn precision() {
        let cases = [
            (123.456, 4, "123.5"),
            (0.000123, 2, "0.00012"),
            (1e21, 3, "1.00e+21"),
            (1.25, 2, "1.3"),
            (25.0, 1, "3e+1"),
            (0.0, 3, "0.00"),
            (1e-7, 1, "1e-7"),
            (123456.0, 2, "1.2e+5"),
            (-1.5, 5, "-1.5000"),
            (99.99, 3, "100"),
        ];
        for (x, digits, expected) in cases {
            assert_eq!(to_precision(x, digits), expected, "{x} {digits}");
        }
    }
}
