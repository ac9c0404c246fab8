//! 22.2.2.7.3 Canonicalize, and the closure of a set under it, so that the matcher compares without folding its input.

use super::case_tables::{LEGACY_UPPERCASE, Row, SIMPLE_FOLD};
use crate::charset::CharSet;

/// Which of the two canonicalisations of the specification applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaseMode {
    /// `u` and `v`: simple case folding.
    Unicode,
    /// Neither: the upper-case mapping of one code unit to one code unit.
    Legacy,
}

impl CaseMode {
    fn rows(self) -> &'static [Row] {
        match self {
            Self::Unicode => SIMPLE_FOLD,
            Self::Legacy => LEGACY_UPPERCASE,
        }
    }
}

/// The canonical form of one character.
pub(crate) fn canonicalize(mode: CaseMode, c: u32) -> u32 {
    if c < 0x80 {
        let byte = c as u8;
        return u32::from(match mode {
            CaseMode::Unicode => byte.to_ascii_lowercase(),
            CaseMode::Legacy => byte.to_ascii_uppercase(),
        });
    }
    let rows = mode.rows();
    let after = rows.partition_point(|row| row.start <= c);
    match after.checked_sub(1).and_then(|i| rows.get(i)) {
        Some(row) if c <= row.end && (c - row.start).is_multiple_of(row.stride) => {
            c.wrapping_add_signed(row.delta)
        }
        _ => c,
    }
}

/// Every character whose canonical form is that of a member.
pub(crate) fn close_over_case(mode: CaseMode, set: &CharSet) -> CharSet {
    if set.max().is_none_or(|max| max < 0x80) {
        return close_ascii(mode, set);
    }
    let canonical = set.union(&images(mode, set));
    let mut ranges = canonical.ranges().to_vec();
    for row in mode.rows() {
        for c in (row.start..=row.end).step_by(row.stride as usize) {
            if canonical.contains(c.wrapping_add_signed(row.delta)) {
                ranges.push((c, c));
            }
        }
    }
    CharSet::from_ranges(ranges)
}

/// About so many characters have a folding: what folding a set costs at least.
pub(crate) const FOLDINGS: usize = 1500;

/// `MaybeSimpleCaseFolding` (22.2.2.7.4) of the characters of a class with `v` and `i`.
pub(crate) fn fold_set(set: &CharSet) -> CharSet {
    let mut mapped = Vec::new();
    for row in SIMPLE_FOLD {
        for c in (row.start..=row.end).step_by(row.stride as usize) {
            if set.contains(c) {
                mapped.push((c, c));
            }
        }
    }
    let images = images(CaseMode::Unicode, set);
    set.subtract(&CharSet::from_ranges(mapped)).union(&images)
}

/// The canonical forms of those members that are not canonical themselves.
fn images(mode: CaseMode, set: &CharSet) -> CharSet {
    let mut ranges = Vec::new();
    for row in mode.rows() {
        for c in (row.start..=row.end).step_by(row.stride as usize) {
            if set.contains(c) {
                let image = c.wrapping_add_signed(row.delta);
                ranges.push((image, image));
            }
        }
    }
    CharSet::from_ranges(ranges)
}

/// OPTIMIZATION: of [`close_over_case`] for sets of ASCII, which almost all are. Only two letters have partners outside.
fn close_ascii(mode: CaseMode, set: &CharSet) -> CharSet {
    let mut ranges = set.ranges().to_vec();
    for c in set.iter() {
        let other = match c as u8 {
            lower @ b'a'..=b'z' => lower.to_ascii_uppercase(),
            upper @ b'A'..=b'Z' => upper.to_ascii_lowercase(),
            _ => continue,
        };
        ranges.push((u32::from(other), u32::from(other)));
        if mode == CaseMode::Unicode {
            match other.to_ascii_lowercase() {
                b'k' => ranges.push((0x212A, 0x212A)),
                b's' => ranges.push((0x17F, 0x17F)),
                _ => {}
            }
        }
    }
    CharSet::from_ranges(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legacy_table_is_the_single_unit_uppercase() {
        for c in 0..0x1_0000_u32 {
            let expected = char::from_u32(c).map_or(c, |ch| {
                let mut upper = ch.to_uppercase();
                let first = upper.next().map_or(c, u32::from);
                if upper.next().is_some() || first > 0xFFFF || (c >= 0x80 && first < 0x80) {
                    c
                } else {
                    first
                }
            });
            assert_eq!(canonicalize(CaseMode::Legacy, c), expected, "{c:x}");
        }
    }

    #[test]
    fn unicode_table_is_simple_case_folding() {
        let mapper = icu_casemap::CaseMapper::new();
        for c in 0..0x11_0000_u32 {
            let expected = char::from_u32(c).map_or(c, |ch| u32::from(mapper.simple_fold(ch)));
            assert_eq!(canonicalize(CaseMode::Unicode, c), expected, "{c:x}");
        }
    }

    #[test]
    fn canonical_forms_are_fixed_points() {
        for mode in [CaseMode::Legacy, CaseMode::Unicode] {
            for c in 0..0x11_0000 {
                let once = canonicalize(mode, c);
                assert_eq!(canonicalize(mode, once), once, "{mode:?} {c:x}");
            }
        }
    }

    #[test]
    fn closure_has_all_partners_and_the_ascii_path_agrees() {
        for mode in [CaseMode::Legacy, CaseMode::Unicode] {
            for c in
                [b'k', b'S', b'1', b'z'].map(u32::from).into_iter().chain([0xB5, 0x3BC, 0x1C5, 0xDF, 0x1E9E])
            {
                let closed = close_over_case(mode, &CharSet::single(c));
                let expected = (0..0x11_0000).filter(|&x| canonicalize(mode, x) == canonicalize(mode, c));
                assert!(closed.iter().eq(expected), "{mode:?} {c:x}");
            }
        }
    }
}
