//! Slow paths of the instructions: everything that is not worth a handler's registers.
//!
//! Each takes the machine state apart (so that nothing is passed through memory), records the place for stack traces, pays what
//! those before it have charged beyond the budget, and says where to go on.

pub(super) mod allocation;
pub(super) mod arithmetic;
pub(super) mod calls;
pub(super) mod compare;
pub(super) mod iteration;
pub(super) mod properties;
pub(super) mod resources;
pub(super) mod scopes;
pub(super) mod suspension;

use super::{Frame, Next, State, compiled};
use crate::value::Value;
use crate::vm::Vm;

/// Declares slow paths: functions of the state that first record the place.
macro_rules! slow_paths {
    ($($(#[$attr:meta])* fn $name:ident($s:ident) $body:block)*) => {
        $(
            $(#[$attr])*
            #[inline(never)]
            pub(crate) fn $name(
                pc: *const u32,
                regs: *mut crate::value::Value,
                vm: *mut crate::vm::Vm,
                frame: *mut super::super::Frame,
            ) -> super::super::Next {
                let $s = super::super::State::new(pc, regs, vm, frame);
                $s.sync();
                if let Err(abrupt) = $s.vm().pay() {
                    return $s.unwind(abrupt);
                }
                $body
            }
        )*
    };
}
pub(super) use slow_paths;

/// A backward branch whose poll is due; jumps by operand x.
#[cold]
#[inline(never)]
pub(super) fn poll_jump(pc: *const u32, regs: *mut Value, vm: *mut Vm, frame: *mut Frame) -> Next {
    let s = State::new(pc, regs, vm, frame);
    s.sync();
    match s.vm().poll() {
        Ok(()) => compiled::enter_if_compiled(s.jump_to(s.x() as i32)),
        Err(abrupt) => s.unwind(abrupt),
    }
}

/// The same for the unconditional jump.
#[cold]
#[inline(never)]
pub(super) fn poll_long_jump(pc: *const u32, regs: *mut Value, vm: *mut Vm, frame: *mut Frame) -> Next {
    let s = State::new(pc, regs, vm, frame);
    s.sync();
    match s.vm().poll() {
        Ok(()) => compiled::enter_if_compiled(s.jump_to((s.word(0) as i32) >> 8)),
        Err(abrupt) => s.unwind(abrupt),
    }
}
