//! Code units of an input and the reading of characters from them.

use crate::compile::program::Literal;

/// A code unit of one of the two string representations.
pub(crate) trait Unit: Copy + Eq + Into<u32> {
    /// The form of a literal in this width; `None` if it has none.
    fn literal(literal: &Literal) -> Option<&[Self]>;

    /// The first occurrence of any of three units, which may be equal.
    fn find_any(haystack: &[Self], needles: [u8; 3]) -> Option<usize>;

    /// The first occurrence of a character that is one unit.
    fn find(haystack: &[Self], needle: u32) -> Option<usize>;

    /// The last occurrence of a character that is one unit.
    fn find_last(haystack: &[Self], needle: u32) -> Option<usize>;

    /// The first occurrence of a literal.
    fn find_literal(haystack: &[Self], literal: &Literal) -> Option<usize>;
}

impl Unit for u8 {
    fn literal(literal: &Literal) -> Option<&[Self]> {
        literal.narrow.as_deref()
    }

    fn find_any(haystack: &[Self], [a, b, c]: [u8; 3]) -> Option<usize> {
        match (a == b, b == c) {
            (true, true) => memchr::memchr(a, haystack),
            (false, true) => memchr::memchr2(a, b, haystack),
            _ => memchr::memchr3(a, b, c, haystack),
        }
    }

    fn find(haystack: &[Self], needle: u32) -> Option<usize> {
        memchr::memchr(u8::try_from(needle).ok()?, haystack)
    }

    fn find_last(haystack: &[Self], needle: u32) -> Option<usize> {
        memchr::memrchr(u8::try_from(needle).ok()?, haystack)
    }

    fn find_literal(haystack: &[Self], literal: &Literal) -> Option<usize> {
        literal.finder.as_ref()?.find(haystack)
    }
}

impl Unit for u16 {
    fn literal(literal: &Literal) -> Option<&[Self]> {
        Some(&literal.wide)
    }

    fn find_any(haystack: &[Self], needles: [u8; 3]) -> Option<usize> {
        haystack.iter().position(|&unit| needles.iter().any(|&needle| unit == u16::from(needle)))
    }

    fn find(haystack: &[Self], needle: u32) -> Option<usize> {
        let needle = u16::try_from(needle).ok()?;
        haystack.iter().position(|&unit| unit == needle)
    }

    fn find_last(haystack: &[Self], needle: u32) -> Option<usize> {
        let needle = u16::try_from(needle).ok()?;
        haystack.iter().rposition(|&unit| unit == needle)
    }

    fn find_literal(haystack: &[Self], literal: &Literal) -> Option<usize> {
        let first = *literal.wide.first()?;
        let mut from = 0;
        loop {
            from += Self::find(haystack.get(from..)?, u32::from(first))?;
            if haystack.get(from..)?.starts_with(&literal.wide) {
                return Some(from);
            }
            from += 1;
        }
    }
}

/// The input with the way it is read: `PAIRS` joins surrogates to code points.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a, U, const PAIRS: bool> {
    pub(crate) units: &'a [U],
}

impl<'a, U: Unit, const PAIRS: bool> Text<'a, U, PAIRS> {
    pub(crate) fn len(self) -> usize {
        self.units.len()
    }

    #[inline(always)]
    pub(crate) fn unit(self, at: usize) -> Option<u32> {
        self.units.get(at).map(|&unit| unit.into())
    }

    /// The character at `at`, and the position behind it.
    #[inline(always)]
    pub(crate) fn next(self, at: usize) -> Option<(u32, usize)> {
        let unit = self.unit(at)?;
        if PAIRS
            && unit & 0xFC00 == 0xD800
            && let Some(trail) = self.unit(at + 1).filter(|trail| trail & 0xFC00 == 0xDC00)
        {
            return Some((0x1_0000 + ((unit & 0x3FF) << 10) + (trail & 0x3FF), at + 2));
        }
        Some((unit, at + 1))
    }

    /// The character before `at`, and its position.
    #[inline(always)]
    pub(crate) fn previous(self, at: usize) -> Option<(u32, usize)> {
        let before = at.checked_sub(1)?;
        let unit = self.unit(before)?;
        if PAIRS && unit & 0xFC00 == 0xDC00 {
            let lead_at = before.checked_sub(1);
            if let Some(lead) = lead_at.and_then(|i| self.unit(i)).filter(|lead| lead & 0xFC00 == 0xD800) {
                return Some((0x1_0000 + ((lead & 0x3FF) << 10) + (unit & 0x3FF), before - 1));
            }
        }
        Some((unit, before))
    }

    /// Whether `at` stands between the halves of a pair.
    pub(crate) fn splits_pair(self, at: usize) -> bool {
        PAIRS
            && at > 0
            && self.unit(at).is_some_and(|unit| unit & 0xFC00 == 0xDC00)
            && self.unit(at - 1).is_some_and(|unit| unit & 0xFC00 == 0xD800)
    }

    /// The units of a range; empty if there is no such range.
    pub(crate) fn slice(self, from: usize, to: usize) -> &'a [U] {
        self.units.get(from..to).unwrap_or(&[])
    }
}
