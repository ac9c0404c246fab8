//! Regular expressions of ECMAScript 2026, with Annex B's grammar in non-unicode patterns.
//!
//! Owns: the grammar of patterns with its early errors, compilation to a flat program, and a metered backtracking matcher over Latin-1 and
//! UTF-16 input. Invariants: no pattern and no input makes it panic, recurse without bound or run on after its budget says stop; it knows
//! nothing of values, objects or the engine. Leaves to its caller: `lastIndex`, result objects, and what `g` and `d` mean.
//!
//! ```
//! use cynic_regexp::{Flags, Input, Regex, Scratch};
//! let regex = Regex::compile(Input::Latin1(b"(?<key>\\w+)=(\\d+)"), Flags::default()).unwrap();
//! let mut scratch = Scratch::default();
//! let found = regex.exec(Input::Latin1(b"  width=42"), 0, false, &mut scratch, &mut |_| std::ops::ControlFlow::Continue(()));
//! assert_eq!(found, Ok(true));
//! assert_eq!(scratch.capture(2), Some(8..10));
//! ```

#![forbid(unsafe_code)]

mod charset;
mod compile;
mod error;
mod exec;
mod flags;
pub mod limits;
mod meter;
mod syntax;
mod unicode;

pub use error::{Interrupted, SyntaxError, SyntaxErrorKind};
pub use flags::Flags;
pub use meter::Budget;

use compile::program::Program;
use exec::matcher::{Matcher, State, UNSET};
use meter::Meter;
use std::ops::{ControlFlow, Range};

/// Text in one of the engine's two string representations.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Code units below 256.
    Latin1(&'a [u8]),
    /// Any code units, lone surrogates included.
    Utf16(&'a [u16]),
}

impl Input<'_> {
    /// Code units.
    pub fn len(&self) -> usize {
        match self {
            Self::Latin1(units) => units.len(),
            Self::Utf16(units) => units.len(),
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A name of capturing groups. Several groups may share one, in different alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupName {
    /// The name in code units.
    pub name: Box<[u16]>,
    /// The groups, ascending.
    pub groups: Vec<u32>,
}

/// A compiled pattern. Immutable; any number of matches can use it.
#[derive(Debug)]
pub struct Regex {
    program: Program,
    flags: Flags,
    names: Vec<GroupName>,
}

/// Memory for matching, kept by the caller so that a match allocates nothing. Holds the captures of the last match.
#[derive(Debug, Default)]
pub struct Scratch {
    state: State,
}

impl Scratch {
    /// The range of a group of the last successful match; group 0 is the whole match.
    pub fn capture(&self, group: usize) -> Option<Range<usize>> {
        let (start, end) = (*self.state.slots.get(group * 2)?, *self.state.slots.get(group * 2 + 1)?);
        (start != UNSET && end != UNSET).then_some(start as usize..end as usize)
    }
}

impl Regex {
    /// Compiles a pattern, or says why it is not one.
    pub fn compile(pattern: Input<'_>, flags: Flags) -> Result<Self, SyntaxError> {
        Self::compile_metered(pattern, flags, &mut |_, _| ControlFlow::Continue(()))
    }

    /// The same for patterns that are not trusted: `budget` is told what is spent, and makes it [`SyntaxErrorKind::Interrupted`] by breaking.
    pub fn compile_metered<'a>(
        pattern: Input<'a>,
        flags: Flags,
        budget: &'a mut Budget<'a>,
    ) -> Result<Self, SyntaxError> {
        syntax::parser::check_length(pattern.len())?;
        let mut meter = Meter::new(budget);
        let widened: Vec<u16>;
        let source = match pattern {
            Input::Utf16(units) => units,
            Input::Latin1(units) => {
                meter.hold(units.len() * 2);
                widened = units.iter().copied().map(u16::from).collect();
                &widened
            }
        };
        let (node, groups, meter) = syntax::parser::parse(source, flags, true, meter)?;
        let names = groups.names;
        let program = compile::compile(&node, groups.count + 1, &names, flags.either_unicode(), meter)
            .map_err(|kind| SyntaxError { offset: 0, kind })?;
        Ok(Self { program, flags, names })
    }

    /// Checks a pattern for early errors without compiling it, for the text of literals. Metered as [`Regex::compile_metered`] is.
    pub fn check<'a>(
        pattern: &'a [u16],
        flags: Flags,
        budget: &'a mut Budget<'a>,
    ) -> Result<(), SyntaxError> {
        syntax::parser::parse(pattern, flags, false, Meter::new(budget)).map(drop)
    }

    /// Looks for a match from `last_index` on, or only there if `sticky` or the pattern has the flag `y`. Captures go into `scratch`. `budget` is called
    /// with the number of steps since its last call, and stops the match by breaking.
    pub fn exec(
        &self,
        input: Input<'_>,
        last_index: usize,
        sticky: bool,
        scratch: &mut Scratch,
        budget: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> Result<bool, Interrupted> {
        if last_index > input.len() {
            return Ok(false);
        }
        if input.len() >= UNSET as usize {
            return Err(Interrupted::BacktrackLimit);
        }
        let sticky = sticky || self.flags.sticky();
        let state = &mut scratch.state;
        match input {
            Input::Latin1(units) => {
                Matcher::<_, false>::new(&self.program, units, state, budget).search(last_index, sticky)
            }
            Input::Utf16(units) if self.program.unicode => {
                Matcher::<_, true>::new(&self.program, units, state, budget).search(last_index, sticky)
            }
            Input::Utf16(units) => {
                Matcher::<_, false>::new(&self.program, units, state, budget).search(last_index, sticky)
            }
        }
    }

    /// Steps that readying the memory of one match takes, none of which `exec` reports.
    pub fn steps_to_begin(&self) -> u32 {
        (self.program.groups * 2 + self.program.registers) / 64
    }

    /// The flags it was compiled with.
    pub fn flags(&self) -> Flags {
        self.flags
    }

    /// Groups, the whole match included.
    pub fn group_count(&self) -> usize {
        self.program.groups as usize
    }

    /// The names of groups, in the order of their first appearance.
    pub fn group_names(&self) -> &[GroupName] {
        &self.names
    }

    /// Bytes of memory the program holds, roughly; for charging a guest.
    pub fn heap_bytes(&self) -> usize {
        let names =
            self.names.iter().map(|name| name.name.len() * 2 + name.groups.len() * 4 + 64).sum::<usize>();
        size_of::<Self>() + self.program.heap_bytes() + names
    }
}
