//! Division of large integers that looks at the limits. The library's is quadratic and cannot be interrupted; this divides piece by piece, as on
//! paper, with digits of so many bits that each piece takes about a millisecond.

use num_bigint::BigUint;
use num_traits::{Euclid, Zero};

use crate::vm::{JsResult, Vm};

/// Multiplications of two words in one piece.
const PIECE_MULTIPLICATIONS: u64 = 1 << 19;
/// Multiplications that one step pays for.
const MULTIPLICATIONS_PER_STEP: u64 = 256;
/// Below this many the library divides in one go.
const SHORT_MULTIPLICATIONS: u64 = 1 << 12;

/// Quotient and remainder; the divisor is not 0.
pub(crate) fn divide(vm: &mut Vm, value: &BigUint, divisor: &BigUint) -> JsResult<(BigUint, BigUint)> {
    let divisor_words = (divisor.bits() >> 6) + 1;
    let quotient_words = (value.bits().saturating_sub(divisor.bits()) >> 6) + 1;
    let work = divisor_words * quotient_words;
    if work <= SHORT_MULTIPLICATIONS {
        return Ok(value.div_rem_euclid(divisor));
    }
    pay(vm, work.min(PIECE_MULTIPLICATIONS))?;
    if work <= PIECE_MULTIPLICATIONS {
        return Ok(value.div_rem_euclid(divisor));
    }
    in_pieces(vm, value, divisor, (PIECE_MULTIPLICATIONS / divisor_words).max(1) as usize)
}

fn pay(vm: &mut Vm, multiplications: u64) -> JsResult<()> {
    vm.poll_n((multiplications / MULTIPLICATIONS_PER_STEP) as u32 + 1)
}

/// Long division with digits of `words` words.
fn in_pieces(vm: &mut Vm, value: &BigUint, divisor: &BigUint, words: usize) -> JsResult<(BigUint, BigUint)> {
    let halves = words * 2;
    let digits = value.to_u32_digits();
    let mut quotient = vec![0u32; digits.len().next_multiple_of(halves)];
    let mut remainder = BigUint::zero();
    for (index, piece) in digits.chunks(halves).enumerate().rev() {
        pay(vm, PIECE_MULTIPLICATIONS)?;
        remainder = (remainder << (piece.len() * 32)) + BigUint::from_slice(piece);
        if &remainder < divisor {
            continue;
        }
        let (digit, rest) = remainder.div_rem_euclid(divisor);
        let digit = digit.to_u32_digits();
        quotient[index * halves..index * halves + digit.len()].copy_from_slice(&digit);
        remainder = rest;
    }
    Ok((BigUint::new(quotient), remainder))
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use num_traits::Euclid;

    use super::in_pieces;
    use crate::vm::{Options, Vm};

    /// An integer whose words look random, with long runs of zeros and ones.
    fn sample(words: usize, seed: u32) -> BigUint {
        let mut state = seed;
        let digits = (0..words).map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match i / 5 % 3 {
                0 => 0,
                1 => u32::MAX,
                _ => state,
            }
        });
        BigUint::new(digits.chain([seed | 1]).collect())
    }

    #[test]
    fn pieces_give_what_the_library_gives() {
        let mut vm = Vm::new(Options::default());
        for (value_words, divisor_words) in [(1, 1), (9, 1), (40, 7), (41, 20), (100, 99), (7, 30), (200, 3)]
        {
            for words in [1, 2, 3, 8, 64] {
                let (value, divisor) = (sample(value_words, words as u32 * 77), sample(divisor_words, 12345));
                let found = in_pieces(&mut vm, &value, &divisor, words).ok();
                assert_eq!(
                    found,
                    Some(value.div_rem_euclid(&divisor)),
                    "{value_words} by {divisor_words} in {words}"
                );
            }
        }
    }
}
