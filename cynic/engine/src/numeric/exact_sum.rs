//! The exact sum of any number of finite doubles, rounded once (for Math.sumPrecise).
//!
//! A fixed-point accumulator that spans the whole range of `f64`: each addition is exact, in constant time and space.

/// Bits of significance per limb; the rest of a limb holds carries that are not yet propagated.
const LIMB_BITS: u32 = 32;

/// 2^-1074 is bit 0; the largest double ends below bit 2098; 64 more bits hold the carries of 2^64 additions.
const LIMBS: usize = 2098 / LIMB_BITS as usize + 4;

/// How many additions fit before carries must be propagated (a limb grows by less than 2^32 with each).
const ADDITIONS_MAX: u32 = 1 << 30;

/// An exact sum.
pub(crate) struct ExactSum {
    limbs: [i64; LIMBS],
    pending: u32,
}

impl ExactSum {
    /// The empty sum.
    pub(crate) fn new() -> Self {
        ExactSum { limbs: [0; LIMBS], pending: 0 }
    }

    /// Adds a finite number.
    pub(crate) fn add(&mut self, x: f64) {
        debug_assert!(x.is_finite());
        let bits = x.to_bits();
        let field = (bits >> 52 & 0x7ff) as u32;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, shift) = if field == 0 { (fraction, 0) } else { (fraction | 1 << 52, field - 1) };
        let (limb, offset) = ((shift / LIMB_BITS) as usize, shift % LIMB_BITS);
        let wide = u128::from(mantissa) << offset;
        let negative = bits >> 63 == 1;
        for index in 0..3 {
            let part = (wide >> (LIMB_BITS * index as u32)) as u32;
            let part = i64::from(part);
            self.limbs[limb + index] += if negative { -part } else { part };
        }
        self.pending += 1;
        if self.pending == ADDITIONS_MAX {
            self.propagate();
        }
    }

    /// Makes every limb but the last lie in `0..2^32`.
    fn propagate(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let value = *limb + carry;
            *limb = value & 0xffff_ffff;
            carry = value >> LIMB_BITS;
        }
        self.limbs[LIMBS - 1] += carry;
        self.pending = 0;
    }

    /// The double nearest to the sum, ties to even; beyond the range, an infinity. An exact zero is `+0`.
    pub(crate) fn finish(mut self) -> f64 {
        self.propagate();
        let negative = self.limbs[LIMBS - 1] < 0;
        if negative {
            for limb in &mut self.limbs {
                *limb = -*limb;
            }
            self.propagate();
        }
        let magnitude = self.round_magnitude();
        if negative { -magnitude } else { magnitude }
    }

    fn round_magnitude(&self) -> f64 {
        let Some(top) = self.limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
        let top_bit = top as u32 * LIMB_BITS + (63 - self.limbs[top].leading_zeros());
        if top_bit <= 52 {
            // At most 53 bits from 2^-1074 up: exactly a double, subnormal or of the least binade.
            return f64::from_bits(self.bits_from(0));
        }
        let lowest = top_bit - 52;
        let mut mantissa = self.bits_from(lowest) & ((1 << 53) - 1);
        let half = self.bit(lowest - 1);
        let sticky = (0..lowest - 1).any(|index| self.bit(index));
        if half && (sticky || mantissa & 1 == 1) {
            mantissa += 1;
        }
        // `lowest` is the exponent field less one; a carry out of the mantissa moves into the field by itself.
        let bits = (u64::from(lowest) << 52) + mantissa;
        if bits >= f64::INFINITY.to_bits() { f64::INFINITY } else { f64::from_bits(bits) }
    }

    fn bit(&self, index: u32) -> bool {
        self.limbs[(index / LIMB_BITS) as usize] >> (index % LIMB_BITS) & 1 == 1
    }

    /// The 64 bits from `lowest` on.
    fn bits_from(&self, lowest: u32) -> u64 {
        let (limb, offset) = ((lowest / LIMB_BITS) as usize, lowest % LIMB_BITS);
        let part = |index: usize| self.limbs.get(limb + index).map_or(0, |limb| *limb as u64 as u128);
        ((part(0) | part(1) << 32 | part(2) << 64) >> offset) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(items: &[f64]) -> f64 {
        let mut sum = ExactSum::new();
        for item in items {
            sum.add(*item);
        }
        sum.finish()
    }

    #[test]
    fn sums_are_rounded_once() {
        assert_eq!(sum(&[0.1, 0.2, 0.3]), 0.6);
        assert_eq!(
            sum(&[1e308, 1e308, 0.1, 0.1, 1e30, 0.1, -1e30, -1e308, -1e308]),
            0.300_000_000_000_000_04
        );
        assert_eq!(sum(&[1e30, 0.1, -1e30]), 0.1);
        assert_eq!(
            sum(&[8.98846567431158e307, 8.988465674311579e307, -1.7976931348623157e308]),
            9.9792015476736e291
        );
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[-f64::MAX, -f64::MAX, 1.0]), f64::NEG_INFINITY);
        assert_eq!(sum(&[f64::MAX, 1e292, -1e292]), f64::MAX);
        assert_eq!(sum(&[1.0, -1.0]).to_bits(), 0);
        let tiny = f64::from_bits(1);
        assert_eq!(sum(&[tiny, tiny]), f64::from_bits(2));
        assert_eq!(sum(&[1.0, tiny]), 1.0);
        assert_eq!(sum(&[1.0, f64::EPSILON / 2.0, tiny]), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[1.0, f64::EPSILON / 2.0]), 1.0);
        assert_eq!(sum(&[-1.0, -f64::EPSILON / 2.0, -tiny]), -1.0 - f64::EPSILON);
        assert_eq!(sum(&[f64::MIN_POSITIVE, -tiny]), f64::from_bits((1 << 52) - 1));
    }
}
