//! The flags of a regular expression (22.2.6.4).

/// `d g i m s u v y`. `g` and `d` are the caller's business; they are kept so that the set is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    bits: u8,
}

macro_rules! flags {
    ($($letter:literal $bit:literal $name:ident $doc:literal,)*) => {
        impl Flags {
            $(#[doc = $doc]
            pub const fn $name(self) -> bool {
                self.bits & (1 << $bit) != 0
            })*

            const fn bit_of(letter: u8) -> Option<u8> {
                match letter {
                    $($letter => Some(1 << $bit),)*
                    _ => None,
                }
            }

            /// The letters, in the order in which `flags` lists them.
            pub fn letters(self) -> impl Iterator<Item = char> {
                [$(($letter, 1_u8 << $bit)),*].into_iter().filter(move |(_, bit)| self.bits & bit != 0).map(|(l, _)| char::from(l))
            }
        }
    };
}

flags! {
    b'd' 0 has_indices "`d`: results carry the indices of captures.",
    b'g' 1 global "`g`: find all matches.",
    b'i' 2 ignore_case "`i`: compare canonical forms.",
    b'm' 3 multiline "`m`: `^` and `$` match at line terminators.",
    b's' 4 dot_all "`s`: `.` matches line terminators.",
    b'u' 5 unicode "`u`: match code points, without Annex B's grammar.",
    b'v' 6 unicode_sets "`v`: as `u`, with set notation and properties of strings.",
    b'y' 7 sticky "`y`: match only at `lastIndex`.",
}

impl Flags {
    /// Reads flag letters; `None` if one is unknown or repeated, or if `u` and `v` are both there.
    pub fn parse(letters: impl IntoIterator<Item = u16>) -> Option<Self> {
        let mut flags = Self::default();
        for letter in letters {
            let bit = Self::bit_of(u8::try_from(letter).ok()?)?;
            if flags.bits & bit != 0 {
                return None;
            }
            flags.bits |= bit;
        }
        (!(flags.unicode() && flags.unicode_sets())).then_some(flags)
    }

    /// Whether the pattern is matched by code points (`u` or `v`).
    pub const fn either_unicode(self) -> bool {
        self.unicode() || self.unicode_sets()
    }

    /// The set as one byte, for callers that store it.
    pub const fn bits(self) -> u8 {
        self.bits
    }
}
