//! IEEE 754 binary16: conversions between `f64` and 16-bit floats, rounding once, half to even.

/// The bits of the binary16 value nearest to `x`. A NaN becomes the canonical quiet NaN.
pub(crate) fn f64_to_f16_bits(x: f64) -> u16 {
    if x.is_nan() {
        return 0x7e00;
    }
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = x.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // The spacing of binary16 values around `magnitude`: 2^-24 for subnormals, else 2^(exponent - 10).
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let scaled = magnitude * 2f64.powi(10 - exponent);
    let units = scaled.round_ties_even() as u16;
    // `units` is in 0..=2048, its hidden bit 1024 adds one to the exponent field; 2048 carries into the next binade.
    sign | ((((exponent + 14) as u16) << 10) + units)
}

/// The value of binary16 bits.
pub(crate) fn f16_bits_to_f64(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff);
    let magnitude = match (bits >> 10) & 0x1f {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (fraction + 1024.0) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            let value = f16_bits_to_f64(bits);
            if !value.is_nan() {
                assert_eq!(f64_to_f16_bits(value), bits);
            }
        }
    }

    #[test]
    fn rounding_is_half_to_even_once() {
        assert_eq!(f16_bits_to_f64(f64_to_f16_bits(2049.0)), 2048.0);
        assert_eq!(f16_bits_to_f64(f64_to_f16_bits(2051.0)), 2052.0);
        assert_eq!(f64_to_f16_bits(65_519.999_999_999_99), 0x7bff);
        assert_eq!(f64_to_f16_bits(65520.0), 0x7c00);
        assert_eq!(f64_to_f16_bits(2.980_232_238_769_531_3e-8), 0);
        assert_eq!(f64_to_f16_bits(2.980_232_238_769_532e-8), 1);
        assert_eq!(f64_to_f16_bits(-0.0), 0x8000);
    }
}
