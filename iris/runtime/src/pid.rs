//! Process identifiers. Owns the bit layout `(generation << 32) | index`; the slab owns which pids are alive.
//! Invariant: a pid is never given out twice in one runtime (the generation of a slot only grows), so a stale pid
//! names nobody rather than somebody else.

use std::fmt;

/// Names one actor of one runtime.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(u64);

impl Pid {
    /// Builds a pid from a slot index and the slot's generation.
    #[must_use]
    pub const fn new(index: u32, generation: u32) -> Self {
        Self(((generation as u64) << 32) | index as u64)
    }

    /// Reads a pid back from its integer form.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The integer form `(generation << 32) | index`.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The slot index.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.0 as u32
    }

    /// The generation of the slot when the actor was made.
    #[must_use]
    pub const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}.{}>", self.generation(), self.index())
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_generation_then_index() {
        let pid = Pid::new(7, 3);
        assert_eq!(pid.to_bits(), (3 << 32) | 7);
        assert_eq!(Pid::from_bits(pid.to_bits()), pid);
        assert_eq!(pid.to_string(), "<3.7>");
    }
}
