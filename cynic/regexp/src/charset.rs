//! Sets of code points as sorted, disjoint, non-adjacent inclusive ranges. The invariant is kept by every constructor, so that
//! equality of sets is equality of ranges. Case closure lives in `unicode::casing`.

use crate::meter::Meter;

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

    /// Memory the set takes, with a place in a table of sets.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.ranges) + 96
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
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(self.ranges.len() + other.ranges.len());
        let (mut a, mut b) =
            (self.ranges.iter().copied().peekable(), other.ranges.iter().copied().peekable());
        while let Some((lo, hi)) = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x > y => b.next(),
            (Some(_), _) => a.next(),
            (None, _) => b.next(),
        } {
            match merged.last_mut() {
                Some(last) if lo <= last.1.saturating_add(1) => last.1 = last.1.max(hi),
                _ => merged.push((lo, hi)),
            }
        }
        Self { ranges: merged }
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

/// Ranges on their way to a set, in any order. Never many more than the set will have, however many are added.
#[derive(Default)]
pub(crate) struct RangeList {
    ranges: Vec<(u32, u32)>,
    /// The length at which duplicates are next looked for.
    merge_at: usize,
    held: usize,
}

impl RangeList {
    /// Ranges below which nothing is merged, or accounted for.
    const FEW: usize = 1024;

    pub(crate) fn add(&mut self, more: &[(u32, u32)], meter: &mut Meter<'_>) {
        meter.work(more.len());
        if meter.is_stopped() {
            return;
        }
        self.ranges.extend_from_slice(more);
        if self.ranges.len() > self.merge_at.max(Self::FEW) {
            meter.work(self.ranges.len());
            self.ranges = CharSet::from_ranges(std::mem::take(&mut self.ranges)).ranges;
            self.merge_at = self.ranges.len() * 2;
            let bytes = self.merge_at * size_of::<(u32, u32)>() * 2;
            meter.hold(bytes);
            meter.release(std::mem::replace(&mut self.held, bytes));
        }
    }

    pub(crate) fn into_set(self, meter: &mut Meter<'_>) -> CharSet {
        meter.release(self.held);
        CharSet::from_ranges(self.ranges)
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
