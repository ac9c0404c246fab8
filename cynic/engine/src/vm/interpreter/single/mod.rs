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

/// A call of a native function.
pub(crate) unsafe extern "C" fn call_native(
    pc: *const u32,
    regs: *mut Value,
    vm: *mut Vm,
    frame: *mut Frame,
) -> Next {
    super::slow::calls::call_native(pc, regs, vm, frame)
}

#[cfg(not(cynic_tail_calls))]
#[path = "looping.rs"]
mod again;
#[cfg(cynic_tail_calls)]
#[path = "jumping.rs"]
mod again;

use again::{handlers, next_of};
