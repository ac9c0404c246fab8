//! A small seeded generator (SplitMix64), so that a seed means the same case on every machine and version.

/// The stream of one round.
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The stream of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed ^ 0x5DEE_CE66_D153_7A1F }
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`, which must not be empty.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}
