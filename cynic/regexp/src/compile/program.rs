//! The compiled form of a pattern. One program serves Latin-1 and UTF-16 input; sets and literals carry both forms.

use crate::charset::{CharSet, MAX};

/// No memo point, and no place to go.
pub(crate) const NONE: u32 = u32::MAX;

/// An instruction. "Falls through" means: goes on with the next one. All positions count code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// The character, then fall through.
    Char(u32),
    CharBack(u32),
    /// A member of the set.
    Set(u32),
    SetBack(u32),
    /// A literal of two or more characters.
    Literal(u32),
    LiteralBack(u32),
    /// Falls through; `other` is the alternative.
    Split {
        other: u32,
        memo: u32,
    },
    /// Goes to `other`; falling through is the alternative.
    SplitLazy {
        other: u32,
        memo: u32,
    },
    /// As `Split` if the next character is in the set, else goes to `other`.
    SplitIf {
        set: u32,
        other: u32,
        memo: u32,
    },
    /// Falls through if the next character is in the set, else goes to `other`. Leaves no alternative.
    BranchIf {
        set: u32,
        other: u32,
    },
    Jump(u32),
    /// A repeat of single characters, see [`SimpleLoop`].
    Loop(u32),
    /// Stores the position in a capture slot.
    Save(u32),
    /// Clears the groups `from..to`.
    ClearCaptures {
        from: u32,
        to: u32,
    },
    /// Remembers the position at which an iteration begins.
    Mark {
        register: u32,
    },
    /// Fails if the iteration took nothing.
    CheckProgress {
        register: u32,
    },
    /// Counted loops, see [`CountedLoop`].
    CounterReset(u32),
    CounterHead(u32),
    CounterProgress(u32),
    LineStart {
        multiline: bool,
    },
    LineEnd {
        multiline: bool,
    },
    WordBoundary {
        negative: bool,
        extended: bool,
    },
    BackReference(u32),
    /// Begins a lookaround; a negative one goes to `next` when its body fails.
    LookStart {
        register: u32,
        negative: bool,
        next: u32,
    },
    /// The body of a lookaround has matched.
    LookEnd {
        register: u32,
        negative: bool,
    },
    Match,
}

/// How a loop over single characters chooses its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopKind {
    /// As far as possible, then back step by step.
    Greedy,
    /// As short as possible, then on step by step.
    Lazy,
    /// As far as possible, and never back: what follows cannot begin with a member.
    Possessive,
}

/// A repeat whose body is one character of a set. Costs at most one entry of the backtrack stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimpleLoop {
    pub(crate) kind: LoopKind,
    pub(crate) set: u32,
    pub(crate) min: u32,
    pub(crate) max: u32,
    /// The set in which the next character must be for the rest to match, if one is known.
    pub(crate) follow: Option<u32>,
    pub(crate) memo: u32,
}

/// A repeat that is too large to unroll. Two registers: the count, and the start of the iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedLoop {
    pub(crate) count_register: u32,
    pub(crate) start_register: u32,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) greedy: bool,
    pub(crate) body: u32,
    pub(crate) exit: u32,
}

/// A literal in both widths; `narrow` is missing if a unit needs 16 bits.
#[derive(Debug)]
pub(crate) struct Literal {
    pub(crate) wide: Box<[u16]>,
    pub(crate) narrow: Option<Box<[u8]>>,
    /// A prepared search for the narrow form.
    pub(crate) finder: Option<Box<memchr::memmem::Finder<'static>>>,
}

impl Literal {
    pub(crate) fn new(wide: Vec<u16>) -> Self {
        let narrow = wide.iter().map(|&unit| u8::try_from(unit).ok()).collect();
        Self { wide: wide.into(), narrow, finder: None }
    }

    /// Bytes the literal takes, itself included.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.wide.len() * 3 + self.finder.as_ref().map_or(0, |_| self.wide.len() + 256)
    }

    /// Readies the literal for being searched for.
    pub(crate) fn prepare_search(&mut self) {
        let finder = |narrow: &[u8]| Box::new(memchr::memmem::Finder::new(narrow).into_owned());
        self.finder = self.narrow.as_deref().map(finder);
    }
}

/// A reference to whichever of `groups` took part.
#[derive(Debug)]
pub(crate) struct BackReference {
    pub(crate) groups: Box<[u32]>,
    pub(crate) ignore_case: bool,
    pub(crate) behind: bool,
}

/// A place whose failure can be remembered; `base` numbers its first state. Each nullable loop around it doubles the states: whether the
/// iteration has taken something yet decides about its end.
#[derive(Debug)]
pub(crate) struct MemoPoint {
    pub(crate) base: u32,
    pub(crate) registers: Box<[u32]>,
}

/// A set of characters, laid out for the test.
#[derive(Debug)]
pub(crate) struct CompiledSet {
    /// Members below 256.
    pub(crate) low: Box<[bool; 256]>,
    /// Ranges from 256 on.
    high: Box<[(u32, u32)]>,
    /// Members of the basic plane as bits, where there are too many ranges to walk.
    plane: Option<Box<[u64; 1024]>>,
    /// All members are single code units in every encoding.
    pub(crate) single_unit: bool,
    /// If at most three bytes are *not* members: those bytes, the first repeated to fill up.
    pub(crate) stop_bytes: Option<[u8; 3]>,
    /// If exactly one character is a member: that one.
    pub(crate) only: Option<u32>,
}

/// Above this many ranges a bit table pays.
const LINEAR_RANGES_MAX: usize = 4;

impl CompiledSet {
    /// `plane` allows a table of bits.
    pub(crate) fn new(set: &CharSet, plane: bool) -> Self {
        let mut low = Box::new([false; 256]);
        let mut high = Vec::new();
        for &(lo, hi) in set.ranges() {
            for c in lo..=hi.min(255) {
                if let Some(slot) = low.get_mut(c as usize) {
                    *slot = true;
                }
            }
            if hi > 255 {
                high.push((lo.max(256), hi));
            }
        }
        let surrogates = CharSet::from_ranges(vec![(0xD800, 0xDFFF), (0x1_0000, MAX)]);
        let plane = (plane && high.len() > LINEAR_RANGES_MAX).then(|| plane_of(&high));
        let absent: Vec<u8> = (0..=255_u8).filter(|&byte| !low[usize::from(byte)]).collect();
        let stop_bytes = match absent[..] {
            [a] => Some([a, a, a]),
            [a, b] => Some([a, b, b]),
            [a, b, c] => Some([a, b, c]),
            _ => None,
        };
        Self {
            low,
            high: high.into(),
            plane,
            single_unit: set.is_disjoint(&surrogates),
            stop_bytes,
            only: set.as_single(),
        }
    }

    pub(crate) fn has_plane(&self) -> bool {
        self.plane.is_some()
    }

    /// Bytes the set takes, itself included.
    pub(crate) fn heap_bytes(&self) -> usize {
        let plane = self.plane.as_ref().map_or(0, |plane| size_of_val(&**plane));
        size_of::<Self>() + size_of_val(&*self.low) + size_of_val(&*self.high) + plane
    }

    pub(crate) fn contains(&self, c: u32) -> bool {
        if let Some(&member) = self.low.get(c as usize) {
            return member;
        }
        if let (Some(plane), Ok(unit)) = (&self.plane, u16::try_from(c)) {
            return plane[usize::from(unit >> 6)] >> (unit & 63) & 1 == 1;
        }
        if self.high.len() <= LINEAR_RANGES_MAX {
            return self.high.iter().any(|&(lo, hi)| lo <= c && c <= hi);
        }
        let after = self.high.partition_point(|range| range.0 <= c);
        after.checked_sub(1).and_then(|i| self.high.get(i)).is_some_and(|range| c <= range.1)
    }
}

fn plane_of(ranges: &[(u32, u32)]) -> Box<[u64; 1024]> {
    let mut plane = Box::new([0_u64; 1024]);
    for &(lo, hi) in ranges {
        for c in lo..=hi.min(0xFFFF) {
            if let Some(word) = plane.get_mut((c >> 6) as usize) {
                *word |= 1 << (c & 63);
            }
        }
    }
    plane
}

/// Where a match can begin.
#[derive(Debug)]
pub(crate) enum Start {
    Anywhere,
    /// Only at the beginning of the input.
    Beginning,
    /// At the beginning of a line.
    Line,
    /// At a character of this set.
    Set(u32),
    /// At this literal.
    Literal(u32),
}

impl Program {
    /// Bytes the program takes, roughly.
    pub(crate) fn heap_bytes(&self) -> usize {
        let references = self.references.iter().map(|each| size_of_val(&*each.groups)).sum::<usize>();
        let memo_points = self.memo_points.iter().map(|each| size_of_val(&*each.registers)).sum::<usize>();
        size_of_val(&*self.ops)
            + self.sets.iter().map(CompiledSet::heap_bytes).sum::<usize>()
            + self.literals.iter().map(Literal::heap_bytes).sum::<usize>()
            + size_of_val(&*self.loops)
            + size_of_val(&*self.counted)
            + size_of_val(&*self.references)
            + references
            + size_of_val(&*self.memo_points)
            + memo_points
    }
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) ops: Box<[Op]>,
    pub(crate) sets: Box<[CompiledSet]>,
    pub(crate) literals: Box<[Literal]>,
    pub(crate) loops: Box<[SimpleLoop]>,
    pub(crate) counted: Box<[CountedLoop]>,
    pub(crate) references: Box<[BackReference]>,
    pub(crate) memo_points: Box<[MemoPoint]>,
    /// States that can be remembered; 0 if failures may depend on more than place and position.
    pub(crate) memo_states: u32,
    pub(crate) registers: u32,
    /// Capturing groups with the whole match.
    pub(crate) groups: u32,
    pub(crate) start: Start,
    /// The unbounded loop every match begins with, if nothing refers to what was captured: where a match fails, so it does at every later place of
    /// the same run, because the rest has been tried at all ends of the run already.
    pub(crate) leading_loop: Option<u32>,
    /// Code points rather than code units.
    pub(crate) unicode: bool,
}
