//! Number.prototype.toString with a radix other than ten.
//!
//! ECMA-262 leaves the digits open; these are the shortest that tell the number from its neighbours, as other engines
//! print them.

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Room for the digits on either side of the point: 1,024 bits of whole part, 1,074 of fraction.
const SIDE_DIGITS_MAX: usize = 1100;

/// The text of a finite `x` in `radix`, 2 to 36.
pub(crate) fn to_radix_string(x: f64, radix: u32) -> String {
    let magnitude = x.abs();
    let (whole, fraction) = (magnitude.trunc(), magnitude.fract());
    let mut after: Vec<u8> = Vec::new();
    let carry = fraction_digits(magnitude, fraction, radix, &mut after);
    let mut text = String::new();
    if x < 0.0 {
        text.push('-');
    }
    text.push_str(&whole_digits(whole + f64::from(u8::from(carry)), radix));
    if !after.is_empty() {
        text.push('.');
        text.extend(after.iter().map(|digit| char::from(DIGITS[usize::from(*digit)])));
    }
    text
}

/// Appends digits until what is left is below half the distance to the neighbouring doubles; true if rounding carried
/// into the whole part.
fn fraction_digits(magnitude: f64, mut fraction: f64, radix: u32, digits: &mut Vec<u8>) -> bool {
    let radix = f64::from(radix);
    let mut delta = (0.5 * (magnitude.next_up() - magnitude)).max(f64::from_bits(1));
    if fraction < delta {
        return false;
    }
    while digits.len() < SIDE_DIGITS_MAX {
        fraction *= radix;
        delta *= radix;
        let digit = fraction as u8;
        digits.push(digit);
        fraction -= f64::from(digit);
        let round_up = fraction > 0.5 || (fraction == 0.5 && digit & 1 == 1);
        if round_up && fraction + delta > 1.0 {
            return round_up_digits(digits, radix as u8);
        }
        if fraction < delta {
            break;
        }
    }
    false
}

fn round_up_digits(digits: &mut Vec<u8>, radix: u8) -> bool {
    while let Some(last) = digits.pop() {
        if last + 1 < radix {
            digits.push(last + 1);
            return false;
        }
    }
    true
}

fn whole_digits(mut whole: f64, radix: u32) -> String {
    let base = f64::from(radix);
    let mut reversed = Vec::new();
    // Beyond 2^53 the low digits are not significant: print zeros while the value has spare exponent.
    while whole.to_bits() >> 52 > 1023 + 52 {
        whole /= base;
        reversed.push(b'0');
    }
    loop {
        let remainder = whole % base;
        reversed.push(DIGITS[remainder as usize % DIGITS.len()]);
        whole = (whole - remainder) / base;
        if whole <= 0.0 {
            break;
        }
    }
    reversed.iter().rev().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_as_other_engines_print_them() {
        let cases = [
            (255.0, 16, "ff"),
            (-255.0, 2, "-11111111"),
            (0.5, 2, "0.1"),
            (0.1, 3, "0.0022002200220022002200220022002201"),
            (3.25, 16, "3.4"),
            (0.0, 36, "0"),
            (1e-10, 7, "0.0000000000012455202342600253"),
            (1.0 / 3.0, 36, "0.c"),
            (1e21, 16, "3635c9adc5dea00000"),
            (35.0, 36, "z"),
            (2f64.powi(60), 2, &format!("1{}", "0".repeat(60))),
            (0.1, 2, "0.0001100110011001100110011001100110011001100110011001101"),
        ];
        for (x, radix, expected) in cases {
            assert_eq!(to_radix_string(x, radix), expected, "{x} in {radix}");
        }
    }
}
