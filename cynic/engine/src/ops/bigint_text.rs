//! BigInt from digits and to digits. The library's own conversions are quadratic and cannot be interrupted; these halve the text, so that
//! the library converts short pieces only, multiplication does the rest, and limits are looked at between the steps.

use num_bigint::{BigInt as Integer, BigUint, Sign};

use super::bigint_division;
use crate::vm::{JsResult, Vm};

/// Digits that the library converts at once.
const PIECE_DIGITS: usize = 1024;
/// Bits of an operand that one step of fuel pays for.
const BITS_PER_STEP: u64 = 4096;

/// The integer of `digits`, which are digits of `radix`, perhaps after a sign. `None` if they are not.
pub(crate) fn parse(vm: &mut Vm, digits: &[u8], radix: u32) -> JsResult<Option<Integer>> {
    // Digits of a power of two are bits: the library is linear.
    if radix.is_power_of_two() || digits.len() <= PIECE_DIGITS {
        return Ok(Integer::parse_bytes(digits, radix));
    }
    let (sign, digits) = match digits.split_first() {
        Some((b'-', rest)) => (Sign::Minus, rest),
        Some((b'+', rest)) => (Sign::Plus, rest),
        _ => (Sign::Plus, digits),
    };
    if !digits.iter().all(|digit| char::from(*digit).is_digit(radix)) {
        return Ok(None);
    }
    let powers = powers(vm, digits.len(), radix)?;
    let value = parse_part(vm, digits, radix, &powers)?;
    Ok(Some(Integer::from_biguint(sign, value)))
}

/// `radix` to the powers of `PIECE_DIGITS` times 1, 2, 4, ..., below `digits`.
fn powers(vm: &mut Vm, digits: usize, radix: u32) -> JsResult<Vec<BigUint>> {
    let mut powers = vec![BigUint::from(radix).pow(PIECE_DIGITS as u32)];
    let mut reached = PIECE_DIGITS;
    while reached * 2 < digits
        && let Some(last) = powers.last()
    {
        let next = last * last;
        charge(vm, &next)?;
        powers.push(next);
        reached *= 2;
    }
    Ok(powers)
}

fn charge(vm: &mut Vm, value: &BigUint) -> JsResult<()> {
    vm.poll_n(u32::try_from(value.bits() / BITS_PER_STEP).unwrap_or(u32::MAX).saturating_add(1))
}

fn parse_part(vm: &mut Vm, digits: &[u8], radix: u32, powers: &[BigUint]) -> JsResult<BigUint> {
    let Some((power, smaller)) = powers.split_last().filter(|_| digits.len() > PIECE_DIGITS) else {
        return Ok(BigUint::parse_bytes(digits, radix).unwrap_or_default());
    };
    let low_digits = PIECE_DIGITS << smaller.len();
    if digits.len() <= low_digits {
        return parse_part(vm, digits, radix, smaller);
    }
    let (high, low) = digits.split_at(digits.len() - low_digits);
    let high = parse_part(vm, high, radix, smaller)?;
    let low = parse_part(vm, low, radix, smaller)?;
    let value = high * power + low;
    charge(vm, &value)?;
    Ok(value)
}

/// The digits of `value` in `radix`.
pub(crate) fn format(vm: &mut Vm, value: &Integer, radix: u32) -> JsResult<String> {
    let digits = (value.bits() as f64 / f64::from(radix).log2()) as usize + 1;
    if radix.is_power_of_two() || digits <= PIECE_DIGITS {
        return Ok(value.to_str_radix(radix));
    }
    let powers = powers(vm, digits, radix)?;
    let mut text = String::with_capacity(digits + 1);
    if value.sign() == Sign::Minus {
        text.push('-');
    }
    format_part(vm, value.magnitude(), radix, &powers, false, &mut text)?;
    Ok(text)
}

/// Appends the digits of `value`, with zeros before them if `padded`: twice as many digits as the last power has zeros.
fn format_part(
    vm: &mut Vm,
    value: &BigUint,
    radix: u32,
    powers: &[BigUint],
    padded: bool,
    text: &mut String,
) -> JsResult<()> {
    let Some((power, smaller)) = powers.split_last() else {
        let digits = value.to_str_radix(radix);
        let zeros = if padded { PIECE_DIGITS.saturating_sub(digits.len()) } else { 0 };
        text.extend(std::iter::repeat_n('0', zeros));
        text.push_str(&digits);
        return Ok(());
    };
    if !padded && value < power {
        return format_part(vm, value, radix, smaller, false, text);
    }
    charge(vm, value)?;
    let (high, low) = bigint_division::divide(vm, value, power)?;
    format_part(vm, &high, radix, smaller, padded, text)?;
    format_part(vm, &low, radix, smaller, true, text)
}

#[cfg(test)]
mod tests {
    use num_traits::One;

    use super::*;
    use crate::vm::Options;

    #[test]
    fn long_integers_are_what_the_library_says() {
        let mut vm = Vm::new(Options::default());
        let lengths = [1, 1023, 1024, 1025, 2047, 2048, 2049, 3000, 4096, 4097, 10_000];
        for (length, radix) in
            lengths.into_iter().flat_map(|length| [(length, 10), (length, 3), (length, 36)])
        {
            let mut digits: Vec<u8> = (0..length).map(|i| b'0' + (i * 7 % radix.min(10)) as u8).collect();
            digits[0] = b'1';
            let middle = digits.len() / 3..digits.len() / 2;
            digits[middle].fill(b'0');
            digits.insert(0, b'-');
            let expected = Integer::parse_bytes(&digits, radix as u32).unwrap_or_default();
            let parsed = parse(&mut vm, &digits, radix as u32).ok().flatten().unwrap_or_default();
            assert!(parsed == expected, "{length} digits of radix {radix}");
            let text = format(&mut vm, &expected, radix as u32).unwrap_or_default();
            assert!(text.as_bytes() == digits, "{length} digits of radix {radix}");
        }
        assert!(
            format(&mut vm, &(Integer::one() << 100_000u32), 10)
                .is_ok_and(|text| text == (Integer::one() << 100_000u32).to_string())
        );
    }

    #[test]
    fn what_is_no_digit_is_refused() {
        let mut vm = Vm::new(Options::default());
        let mut digits = vec![b'1'; 5000];
        digits[4000] = b'x';
        assert!(parse(&mut vm, &digits, 10).is_ok_and(|value| value.is_none()));
    }
}
