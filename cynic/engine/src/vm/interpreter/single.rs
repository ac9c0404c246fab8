//! Every instruction as a function that executes it once and says where to go on: what compiled code calls for whatever it does not do
//! itself. The handlers' sources are compiled a second time for it, with other ways on, so that the two can never differ.

use super::{Frame, Next, State};
use crate::bytecode::Op;
use crate::for_each_opcode;
use crate::value::Value;
use crate::vm::Vm;

/// One instruction: executes it.
pub(crate) type Single = unsafe extern "C" fn(*const u32, *mut Value, *mut Vm, *mut Frame) -> Next;

macro_rules! singles {
    ($($name:ident $handler:ident ($($slot:ident : $kind:ident),*) $meaning:literal;)*) => {
        /// The function that executes instructions of an opcode.
        pub(crate) fn function_of(op: Op) -> Single {
            match op {
                $(Op::$name => {
                    unsafe extern "C" fn $handler(
                        pc: *const u32,
                        regs: *mut Value,
                        vm: *mut Vm,
                        frame: *mut Frame,
                    ) -> Next {
                        next_of(handlers::$handler(State::new(pc, regs, vm, frame)))
                    }
                    $handler
                })*
            }
        }
    };
}
for_each_opcode!(singles);

/// Where instructions make a state to go on with, that state is the answer.
#[cfg(not(cynic_tail_calls))]
mod again {
    use super::super::{Next, Step};
    pub(super) use super::super::handlers;

    #[inline(always)]
    pub(super) fn next_of(step: Step) -> Next {
        Next { pc: step.pc, frame: step.frame }
    }
}

/// Where instructions go on by themselves, their sources are compiled again.
#[cfg(cynic_tail_calls)]
mod again {
    use super::super::{call, coroutine, frame_flags, slow, template};
    use super::super::{Next, State};

    #[path = "../../handlers/mod.rs"]
    pub(super) mod handlers;

    type Step = Next;

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
}

use again::{handlers, next_of};
