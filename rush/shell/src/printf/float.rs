//! Floating-point arguments in the x87 extended format, because bash computes them as `long double`.
//!
//! A value is a 64-bit mantissa and a binary exponent. Reading rounds correctly (half to even), printing is
//! exact: the full decimal expansion is made and then rounded to the digits asked for.

use super::number::Problem;

/// Decimal exponents beyond this are infinity or zero.
const EXPONENT_10_MAX: i64 = 4_950;
/// The largest binary exponent of the leading bit.
const EXPONENT_2_MAX: i64 = 16_383;
const EXPONENT_2_MIN: i64 = -16_445;
/// Digits of an argument that can matter; the rest only say whether the value is above a tie.
const DIGITS_MAX: usize = 11_600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Finite,
    Infinite,
    NotANumber,
}

/// An extended-precision value: `mantissa * 2^exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extended {
    pub(super) negative: bool,
    class: Class,
    mantissa: u64,
    exponent: i64,
}

/// How to print: `e`, `f`, `g` or `a`, in lower case.
pub(super) struct Shape {
    pub(super) conversion: u8,
    pub(super) precision: Option<usize>,
    pub(super) alternate: bool,
}

impl Extended {
    pub(super) const ZERO: Self = Self { negative: false, class: Class::Finite, mantissa: 0, exponent: 0 };

    pub(super) fn from_integer(value: u64) -> Self {
        Self { mantissa: value, ..Self::ZERO }.normalised()
    }

    pub(super) fn is_finite(&self) -> bool {
        self.class == Class::Finite
    }

    fn normalised(mut self) -> Self {
        let shift = self.mantissa.leading_zeros();
        if self.mantissa != 0 {
            self.mantissa <<= shift;
            self.exponent -= i64::from(shift);
        }
        self
    }

    /// Prints the magnitude; sign and padding are the caller's.
    pub(super) fn format(&self, shape: &Shape) -> Vec<u8> {
        match self.class {
            Class::Infinite => return b"inf".to_vec(),
            Class::NotANumber => return b"nan".to_vec(),
            Class::Finite => {}
        }
        let precision = shape.precision.unwrap_or(6);
        match shape.conversion {
            b'a' => self.hexadecimal(shape),
            b'e' => self.decimal().scientific(precision, shape.alternate),
            b'f' => self.decimal().fixed(precision, shape.alternate),
            _ => self.decimal().general(precision.max(1), shape.alternate),
        }
    }

    /// `%a`: glibc puts four bits before the point of a long double.
    fn hexadecimal(&self, shape: &Shape) -> Vec<u8> {
        let mut mantissa = u128::from(self.mantissa);
        let mut exponent = if self.mantissa == 0 { 0 } else { self.exponent + 60 };
        let mut digits = 15;
        if let Some(precision) = shape.precision
            && precision < 15
        {
            let dropped = 4 * (15 - precision as u32);
            let half = 1u128 << (dropped - 1);
            let rest = mantissa & ((1 << dropped) - 1);
            mantissa >>= dropped;
            if rest > half || (rest == half && mantissa & 1 == 1) {
                mantissa += 1;
            }
            digits = precision;
            if mantissa >> (4 * digits) > 0xf {
                mantissa >>= 4;
                exponent += 4;
            }
        }
        let lead = mantissa >> (4 * digits);
        let rest = mantissa & ((1u128 << (4 * digits)) - 1);
        let mut fraction = if digits == 0 { String::new() } else { format!("{rest:0digits$x}") };
        match shape.precision {
            None => fraction.truncate(fraction.trim_end_matches('0').len()),
            Some(precision) => fraction.extend(std::iter::repeat_n('0', precision.saturating_sub(digits))),
        }
        let point = if fraction.is_empty() && !shape.alternate { "" } else { "." };
        format!("0x{lead:x}{point}{fraction}p{exponent:+}").into_bytes()
    }

    /// The exact decimal expansion.
    fn decimal(&self) -> Decimal {
        if self.mantissa == 0 {
            return Decimal { digits: vec![0], point: 1 };
        }
        let shift = self.mantissa.trailing_zeros();
        let mantissa = Natural::from(self.mantissa >> shift);
        let exponent = self.exponent + i64::from(shift);
        if exponent >= 0 {
            let digits = mantissa.shifted(exponent as usize).to_digits();
            let point = digits.len() as i64;
            return Decimal { digits, point };
        }
        // m / 2^k = m * 5^k / 10^k
        let power = exponent.unsigned_abs() as usize;
        let digits = mantissa.times_power_of(5, power).to_digits();
        let point = digits.len() as i64 - power as i64;
        Decimal { digits, point }
    }
}

/// Decimal digits, with the point before `digits[point]`.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// Rounds half to even so that `count` digits remain; the number may gain a digit in front.
    fn round(&mut self, count: i64) {
        let Ok(keep) = usize::try_from(count) else {
            self.digits.clear();
            return;
        };
        let Some(&next) = self.digits.get(keep) else { return };
        let beyond = self.digits.iter().skip(keep + 1).any(|&d| d != 0);
        let odd = keep.checked_sub(1).and_then(|i| self.digits.get(i)).is_some_and(|d| d % 2 == 1);
        let up = next > 5 || (next == 5 && (beyond || odd));
        self.digits.truncate(keep);
        if !up {
            return;
        }
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.point += 1;
    }

    fn digit(&self, index: i64) -> u8 {
        let digit = usize::try_from(index).ok().and_then(|i| self.digits.get(i));
        b'0' + digit.copied().unwrap_or(0)
    }

    fn fixed(mut self, precision: usize, alternate: bool) -> Vec<u8> {
        self.round(self.point + precision as i64);
        let mut out = Vec::new();
        if self.point <= 0 {
            out.push(b'0');
        }
        out.extend((0..self.point.max(0)).map(|i| self.digit(i)));
        if precision > 0 || alternate {
            out.push(b'.');
        }
        out.extend((0..precision as i64).map(|i| self.digit(self.point + i)));
        out
    }

    fn scientific(mut self, precision: usize, alternate: bool) -> Vec<u8> {
        self.round(precision as i64 + 1);
        self.scientific_digits(precision, alternate)
    }

    fn scientific_digits(&self, precision: usize, alternate: bool) -> Vec<u8> {
        let exponent = if self.digits.iter().all(|&d| d == 0) { 0 } else { self.point - 1 };
        let mut out = vec![self.digit(0)];
        if precision > 0 || alternate {
            out.push(b'.');
        }
        out.extend((1..=precision as i64).map(|i| self.digit(i)));
        let sign = if exponent < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("e{sign}{:02}", exponent.abs()).as_bytes());
        out
    }

    fn general(mut self, precision: usize, alternate: bool) -> Vec<u8> {
        self.round(precision as i64);
        let exponent = if self.digits.iter().all(|&d| d == 0) { 0 } else { self.point - 1 };
        let significant = if alternate {
            precision
        } else {
            self.digits.iter().rposition(|&d| d != 0).map_or(1, |last| last + 1)
        };
        if exponent < -4 || exponent >= precision as i64 {
            return self.scientific_digits(significant - 1, alternate);
        }
        let decimals = (significant as i64 - 1 - exponent).max(0) as usize;
        self.fixed(decimals, alternate)
    }
}

/// Reads a number as C's `strtold` does.
pub(super) fn parse(text: &[u8]) -> (Extended, Option<Problem>) {
    let blank = text.iter().take_while(|b| b.is_ascii_whitespace() || **b == 0x0b).count();
    let body = text.get(blank..).unwrap_or_default();
    let (negative, body) = match body {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, body),
    };
    let lower = body.to_ascii_lowercase();
    let (value, used, range) = if let Some((class, used)) = word(&lower) {
        (Extended { class, ..Extended::ZERO }, used, false)
    } else if lower.starts_with(b"0x") && lower.get(2).is_some_and(|b| b.is_ascii_hexdigit() || *b == b'.') {
        hexadecimal(&lower)
    } else {
        decimal(&lower)
    };
    let value = Extended { negative, ..value };
    let problem = match (used == body.len() && (used > 0 || text.is_empty()), range) {
        (false, _) => Some(Problem::Invalid),
        (true, true) => Some(Problem::Range),
        (true, false) => None,
    };
    (value, problem)
}

fn word(lower: &[u8]) -> Option<(Class, usize)> {
    let words: [(&[u8], Class); 3] =
        [(b"infinity", Class::Infinite), (b"inf", Class::Infinite), (b"nan", Class::NotANumber)];
    words.into_iter().find(|(w, _)| lower.starts_with(w)).map(|(w, class)| (class, w.len()))
}

/// An exponent after `mark`: its value and length, or zeros.
fn exponent(text: &[u8], mark: u8) -> (i64, usize) {
    if text.first() != Some(&mark) {
        return (0, 0);
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    let digits = text.get(1 + sign..).unwrap_or_default();
    let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 0 {
        return (0, 0);
    }
    let value = digits.iter().take(count).fold(0i64, |v, b| (v * 10 + i64::from(b - b'0')).min(1 << 40));
    (if text.get(1) == Some(&b'-') { -value } else { value }, 1 + sign + count)
}

/// The digits of a number in `base`, how many stand behind the point, and the length.
fn mantissa(text: &[u8], base: u32) -> (Vec<u32>, i64, usize) {
    let mut digits = Vec::new();
    let mut behind = 0;
    let mut point = false;
    let mut used = 0;
    for &byte in text {
        match (byte as char).to_digit(base) {
            Some(digit) => {
                digits.push(digit);
                behind += i64::from(point);
            }
            None if byte == b'.' && !point => point = true,
            None => break,
        }
        used += 1;
    }
    if digits.is_empty() { (digits, 0, 0) } else { (digits, behind, used) }
}

fn decimal(lower: &[u8]) -> (Extended, usize, bool) {
    let (mut digits, behind, mut used) = mantissa(lower, 10);
    if used == 0 {
        return (Extended::ZERO, 0, false);
    }
    let (power, length) = exponent(lower.get(used..).unwrap_or_default(), b'e');
    used += length;
    let leading = digits.iter().take_while(|&&d| d == 0).count();
    digits.drain(..leading);
    let mut scale = power - behind;
    if digits.len() > DIGITS_MAX {
        scale += (digits.len() - DIGITS_MAX) as i64;
        let beyond = digits.drain(DIGITS_MAX..).any(|d| d != 0);
        if beyond && let Some(last) = digits.last_mut() {
            *last |= 1;
        }
    }
    let magnitude = digits.len() as i64 + scale;
    if digits.is_empty() {
        return (Extended::ZERO, used, false);
    }
    if magnitude > EXPONENT_10_MAX {
        return (Extended { class: Class::Infinite, ..Extended::ZERO }, used, true);
    }
    if magnitude < -EXPONENT_10_MAX {
        return (Extended::ZERO, used, true);
    }
    let number = Natural::from_digits(&digits, 10);
    let (value, range) = if scale >= 0 {
        quotient(number.times_power_of(10, scale as usize), Natural::from(1))
    } else {
        quotient(number, Natural::from(1).times_power_of(10, scale.unsigned_abs() as usize))
    };
    (value, used, range)
}

fn hexadecimal(lower: &[u8]) -> (Extended, usize, bool) {
    let (digits, behind, used) = mantissa(lower.get(2..).unwrap_or_default(), 16);
    if used == 0 {
        return (Extended::ZERO, 1, false);
    }
    let used = used + 2;
    let (power, length) = exponent(lower.get(used..).unwrap_or_default(), b'p');
    let number = Natural::from_digits(digits.get(..digits.len().min(DIGITS_MAX)).unwrap_or_default(), 16);
    let (mut value, _) = quotient(number, Natural::from(1));
    if value.mantissa != 0 {
        value.exponent += power - 4 * behind;
    }
    let (value, range) = in_range(value);
    (value, used + length, range)
}

fn in_range(value: Extended) -> (Extended, bool) {
    let leading = value.exponent + 63;
    if value.mantissa != 0 && leading > EXPONENT_2_MAX {
        return (Extended { class: Class::Infinite, mantissa: 0, exponent: 0, ..value }, true);
    }
    if value.mantissa != 0 && leading < EXPONENT_2_MIN {
        return (Extended::ZERO, true);
    }
    (value, false)
}

/// `numerator / denominator`, rounded to 64 bits, half to even.
fn quotient(numerator: Natural, denominator: Natural) -> (Extended, bool) {
    if numerator.is_zero() {
        return (Extended::ZERO, false);
    }
    // Scale so that the quotient has 66 or 67 bits, of which 64 are kept; then divide bit by bit.
    let shift = denominator.bits() as i64 - numerator.bits() as i64 + 66;
    let (mut rest, divisor) = if shift >= 0 {
        (numerator.shifted(shift as usize), denominator)
    } else {
        (numerator, denominator.shifted(shift.unsigned_abs() as usize))
    };
    let mut result: u128 = 0;
    let mut step = divisor.shifted(67);
    for _ in 0..=67 {
        result <<= 1;
        if rest.subtract(&step) {
            result |= 1;
        }
        step.halve();
    }
    let mut exponent = -shift;
    let mut sticky = !rest.is_zero();
    let mut round = false;
    while result >> 64 != 0 {
        sticky |= round;
        round = result & 1 == 1;
        result >>= 1;
        exponent += 1;
    }
    if round && (sticky || result & 1 == 1) {
        result += 1;
    }
    if result >> 64 != 0 {
        result >>= 1;
        exponent += 1;
    }
    in_range(Extended { mantissa: result as u64, exponent, ..Extended::ZERO }.normalised())
}

/// A natural number of any size: 32-bit limbs, least first, no leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Natural {
    limbs: Vec<u32>,
}

impl From<u64> for Natural {
    fn from(value: u64) -> Self {
        let mut natural = Self { limbs: vec![value as u32, (value >> 32) as u32] };
        natural.trim();
        natural
    }
}

impl Natural {
    fn trim(&mut self) {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
    }

    fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    fn bits(&self) -> usize {
        self.limbs.last().map_or(0, |top| self.limbs.len() * 32 - top.leading_zeros() as usize)
    }

    fn from_digits(digits: &[u32], base: u32) -> Self {
        let mut natural = Self { limbs: Vec::new() };
        for &digit in digits {
            natural.multiply_add(base, digit);
        }
        natural
    }

    fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for limb in &mut self.limbs {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = product as u32;
            carry = product >> 32;
        }
        if carry != 0 {
            self.limbs.push(carry as u32);
        }
    }

    fn times_power_of(mut self, base: u32, power: usize) -> Self {
        // 10^9 and 5^13 are the largest powers in a limb.
        let (chunk, factor) = if base == 10 { (9, 1_000_000_000) } else { (13, 1_220_703_125) };
        for _ in 0..power / chunk {
            self.multiply_add(factor, 0);
        }
        for _ in 0..power % chunk {
            self.multiply_add(base, 0);
        }
        self
    }

    fn shifted(&self, bits: usize) -> Self {
        let mut limbs = vec![0u32; bits / 32];
        let small = bits % 32;
        let mut carry = 0u64;
        for &limb in &self.limbs {
            let wide = u64::from(limb) << small | carry;
            limbs.push(wide as u32);
            carry = wide >> 32;
        }
        limbs.push(carry as u32);
        let mut natural = Self { limbs };
        natural.trim();
        natural
    }

    fn halve(&mut self) {
        let mut carry = 0u32;
        for limb in self.limbs.iter_mut().rev() {
            let next = *limb << 31;
            *limb = *limb >> 1 | carry;
            carry = next;
        }
        self.trim();
    }

    fn less_than(&self, other: &Self) -> bool {
        match self.limbs.len().cmp(&other.limbs.len()) {
            std::cmp::Ordering::Equal => self.limbs.iter().rev().lt(other.limbs.iter().rev()),
            order => order.is_lt(),
        }
    }

    /// Subtracts `other` if it is not larger, and says whether it did.
    fn subtract(&mut self, other: &Self) -> bool {
        if self.less_than(other) {
            return false;
        }
        let mut borrow = 0i64;
        for (index, limb) in self.limbs.iter_mut().enumerate() {
            let right = other.limbs.get(index).copied().unwrap_or(0);
            let difference = i64::from(*limb) - i64::from(right) - borrow;
            borrow = i64::from(difference < 0);
            *limb = difference as u32;
        }
        self.trim();
        true
    }

    /// Decimal digits, most significant first.
    fn to_digits(&self) -> Vec<u8> {
        let mut limbs = self.limbs.clone();
        let mut digits = Vec::new();
        while !limbs.is_empty() {
            let mut rest = 0u64;
            for limb in limbs.iter_mut().rev() {
                let wide = rest << 32 | u64::from(*limb);
                *limb = (wide / 1_000_000_000) as u32;
                rest = wide % 1_000_000_000;
            }
            while limbs.last() == Some(&0) {
                limbs.pop();
            }
            for _ in 0..9 {
                digits.push((rest % 10) as u8);
                rest /= 10;
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        digits.reverse();
        digits
    }
}
