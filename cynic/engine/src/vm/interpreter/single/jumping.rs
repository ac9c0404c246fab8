//! Where instructions go on by themselves, their sources are compiled again: to come back.

use super::super::{Next, State};
use super::super::{call, coroutine, frame_flags, slow, template};

#[path = "../handlers/mod.rs"]
pub(super) mod handlers;

type Step = Next;

/// Where to go on.
#[inline(always)]
pub(super) fn next_of(step: Step) -> Next {
    step
}

/// See `handlers::outlined`.
#[inline(always)]
fn after(next: Next, _: *mut crate::vm::Vm) -> Step {
    next
}

/// The ways back from an instruction.
trait Ways: Sized {
    fn next(self, words: usize) -> Step;
    fn jump(self, distance: i32) -> Step;
    fn go(self) -> Step;
}

impl Ways for State {
    #[inline(always)]
    fn next(self, words: usize) -> Step {
        self.advance(words)
    }
    #[inline(always)]
    fn jump(self, distance: i32) -> Step {
        self.jump_to(distance)
    }
    #[inline(always)]
    fn go(self) -> Step {
        Next { pc: self.pc, frame: self.frame }
    }
}

/// What leads out of a handler: see the macros of the same names in `interpreter::state`.
mod state {
    macro_rules! slow {
        ($s:expr, $slow:path) => {
            $slow($s.pc, $s.regs, $s.vm, $s.frame)
        };
    }
    macro_rules! elsewhere {
        ($s:expr, $handler:path) => {
            $handler($s)
        };
    }
    pub(super) use {elsewhere, slow};
}
