//! Sets of code points as sorted, disjoint, non-adjacent inclusive ranges. The invariant is kept by every constructor, so that
//! equality of sets is equality of ranges. Case closure lives in `unicode::casing`.

/// The largest code point.
pub(crate) const MAX: u32 = 0x10_FFFF;

/// A set of code points (or of code units, which are code points up to 0xFFFF here).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CharSet {
    ranges: Vec<(u32, u32)>,
}

impl CharSet {
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    pub(crate) fn all() -> Self {
        Self { ranges: vec![(0, MAX)] }
    }

    pub(crate) fn single(c: u32) -> Self {
        Self { ranges: vec![(c, c)] }
    }

    /// Builds a set from ranges in any order, overlapping or not.
    pub(crate) fn from_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        if !ranges.is_sorted() {
            ranges.sort_unstable();
        }
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (lo, hi) in ranges {
            match merged.last_mut() {
                Some(last) if lo <= last.1.saturating_add(1) => last.1 = last.1.max(hi),
                _ => merged.push((lo, hi)),
            }
        }
        Self { ranges: merged }
    }

    pub(crate) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The only member, if there is exactly one.
    pub(crate) fn as_single(&self) -> Option<u32> {
        match self.ranges[..] {
            [(lo, hi)] if lo == hi => Some(lo),
            _ => None,
        }
    }

    pub(crate) fn max(&self) -> Option<u32> {
        self.ranges.last().map(|r| r.1)
    }

    pub(crate) fn contains(&self, c: u32) -> bool {
        let after = self.ranges.partition_point(|r| r.0 <= c);
        after.checked_sub(1).and_then(|i| self.ranges.get(i)).is_some_and(|r| c <= r.1)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        if other.is_empty() {
            return self.clone();
        }
        if self.is_empty() {
            return other.clone();
        }
        let mut all = Vec::with_capacity(self.ranges.len() + other.ranges.len());
        all.extend_from_slice(&self.ranges);
        all.extend_from_slice(&other.ranges);
        Self::from_ranges(all)
    }

    pub(crate) fn complement(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(lo, hi) in &self.ranges {
            if lo > next {
                ranges.push((next, lo - 1));
            }
            next = hi + 1;
        }
        if next <= MAX {
            ranges.push((next, MAX));
        }
        Self { ranges }
    }

    pub(crate) fn intersect(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        let mut ranges = Vec::new();
        while let (Some(&&(alo, ahi)), Some(&&(blo, bhi))) = (a.peek(), b.peek()) {
            let (lo, hi) = (alo.max(blo), ahi.min(bhi));
            if lo <= hi {
                ranges.push((lo, hi));
            }
            if ahi < bhi {
                a.next();
            } else {
                b.next();
            }
        }
        Self { ranges }
    }

    pub(crate) fn subtract(&self, other: &Self) -> Self {
        self.intersect(&other.complement())
    }

    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        self.intersect(other).is_empty()
    }

    /// Members, in order. Only for sets known to be small.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|&(lo, hi)| lo..=hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algebra() {
        let a = CharSet::from_ranges(vec![(10, 20), (5, 7), (8, 9)]);
        assert_eq!(a.ranges(), [(5, 20)]);
        let b = CharSet::from_ranges(vec![(15, 30), (40, 40)]);
        assert_eq!(a.union(&b).ranges(), [(5, 30), (40, 40)]);
        assert_eq!(a.intersect(&b).ranges(), [(15, 20)]);
        assert_eq!(a.subtract(&b).ranges(), [(5, 14)]);
        assert_eq!(a.complement().complement(), a);
        assert!(CharSet::all().complement().is_empty());
        assert!(b.contains(40) && !b.contains(39) && !b.contains(31) && b.contains(15));
        assert_eq!(CharSet::single(4).as_single(), Some(4));
    }
}
