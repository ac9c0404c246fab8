//! A number kept as its digits: counting up touches the last one or two.

/// A number that is not negative, in digits.
pub(crate) struct Decimal {
    /// The digits are the last of these.
    digits: [u8; 20],
    start: usize,
}

impl Decimal {
    pub(crate) fn new(value: u64) -> Self {
        let mut number = Self { digits: [b'0'; 20], start: 20 };
        let mut left = value;
        loop {
            number.start -= 1;
            number.digits[number.start] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                return number;
            }
        }
    }

    /// Adds one. (Nobody counts to 10^20.)
    pub(crate) fn increment(&mut self) {
        self.add(1);
    }

    /// Adds a number.
    pub(crate) fn add(&mut self, step: u64) {
        let (mut carry, mut at) = (step, self.digits.len());
        while carry > 0 && at > 0 {
            at -= 1;
            let sum = carry + u64::from(self.digits[at] - b'0');
            if sum < 10 {
                self.digits[at] = b'0' + sum as u8;
                carry = 0;
            } else {
                self.digits[at] = b'0' + (sum % 10) as u8;
                carry = sum / 10;
            }
        }
        self.start = self.start.min(at);
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.digits[self.start..]
    }

    /// The number behind blanks that make it `width` wide.
    pub(crate) fn append_padded(&self, width: usize, out: &mut Vec<u8>) {
        let digits = self.as_bytes();
        out.resize(out.len() + width.saturating_sub(digits.len()), b' ');
        out.extend_from_slice(digits);
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn counting_is_that_of_numbers() {
        for start in [0, 1, 8, 9, 98, 99, 999_999, 12_345_678_909] {
            for step in [1, 2, 9, 10, 11, 99, 1_000, 123_456_789] {
                let mut number = Decimal::new(start);
                for times in 0..300 {
                    assert_eq!(number.as_bytes(), (start + times * step).to_string().as_bytes());
                    number.add(step);
                }
            }
        }
    }
}
