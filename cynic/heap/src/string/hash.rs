//! Hashes of strings: a plain one for the names that are known at compile time, and a keyed one for everything that a guest
//! chooses, so that nobody can prepare keys that collide.
//!
//! Invariant: a hash depends on the units only, not on the width they are kept in, and is never 0.

use super::StrView;

const FNV_OFFSET: u32 = 0x811c_9dc5;
const FNV_PRIME: u32 = 0x0100_0193;
/// Units that are mixed in at once.
const CHUNK: usize = 4;

const fn never_zero(h: u32) -> u32 {
    if h == 0 { 1 } else { h }
}

/// The plain hash (FNV-1a) of Latin-1 units.
pub(crate) const fn plain_hash(s: &[u8]) -> u32 {
    let mut h = FNV_OFFSET;
    let mut i = 0;
    while i < s.len() {
        h = (h ^ s[i] as u32).wrapping_mul(FNV_PRIME);
        i += 1;
    }
    never_zero(h ^ (h >> 15))
}

/// The key of an isolate's hashes.
#[derive(Clone, Copy)]
pub struct HashSeed {
    start: u64,
    factor: u64,
}

impl HashSeed {
    /// A key that nobody knows.
    pub(crate) fn random() -> Self {
        use std::hash::BuildHasher;
        let source = std::collections::hash_map::RandomState::new();
        HashSeed { start: source.hash_one(0), factor: source.hash_one(1) | 1 }
    }

    /// Both halves of a product, folded: every bit of the input reaches every bit of the result.
    #[inline(always)]
    fn mix(self, h: u64) -> u64 {
        let product = u128::from(h) * u128::from(self.factor);
        product as u64 ^ (product >> 64) as u64
    }

    /// The hash of one word.
    #[inline(always)]
    pub fn word(self, word: u64) -> u32 {
        let h = self.mix(word ^ self.start);
        (h ^ h >> 32) as u32
    }

    fn units<T: Copy + Into<u64>>(self, s: &[T]) -> u32 {
        let pack = |part: &[T]| part.iter().rev().fold(0, |word, &unit| word << 16 | unit.into());
        let mut h = self.start ^ s.len() as u64;
        let mut chunks = s.chunks_exact(CHUNK);
        for chunk in &mut chunks {
            h = self.mix(h ^ pack(chunk)).rotate_left(23);
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            h = self.mix(h ^ pack(rest)).rotate_left(23);
        }
        never_zero((h ^ h >> 32) as u32)
    }

    /// The hash of a string's units.
    pub(crate) fn view(self, v: StrView<'_>) -> u32 {
        match v {
            StrView::Latin1(s) => self.units(s),
            StrView::Utf16(s) => self.units(s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_does_not_matter_and_the_seed_does() {
        let (one, other) = (HashSeed::random(), HashSeed::random());
        let mut differ = 0;
        for n in 0..40 {
            let narrow: Vec<u8> = (0..n).map(|i| b'a' + i as u8).collect();
            let wide: Vec<u16> = narrow.iter().map(|&unit| u16::from(unit)).collect();
            let hash = one.view(StrView::Latin1(&narrow));
            assert_eq!(hash, one.view(StrView::Utf16(&wide)), "{n}");
            differ += usize::from(hash != other.view(StrView::Latin1(&narrow)));
        }
        assert!(differ > 30);
    }

    #[test]
    #[cfg_attr(miri, ignore = "looks for collisions among 400,000 texts, in safe code")]
    fn strings_that_collide_without_a_key_do_not_with_one() {
        let seed = HashSeed::random();
        let text = |i: u32| format!("{:08x}{i:x}", i.wrapping_mul(0x9e37_79b9) ^ i >> 7);
        let mut by_plain = std::collections::HashMap::new();
        let mut pairs = Vec::new();
        for i in 0..400_000 {
            if let Some(earlier) = by_plain.insert(plain_hash(text(i).as_bytes()), i) {
                pairs.push((earlier, i));
            }
        }
        assert!(!pairs.is_empty());
        let hash = |i| seed.view(StrView::Latin1(text(i).as_bytes()));
        let still = pairs.iter().filter(|(a, b)| hash(*a) == hash(*b)).count();
        assert!(still * 2 < pairs.len(), "{still} of {}", pairs.len());
    }
}
