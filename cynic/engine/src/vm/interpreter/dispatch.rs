//! The two dispatchers over the opcode table.
//!
//! The default is a `loop { match }`. With `--cfg cynic_tail_calls` each handler becomes an `unsafe extern "C"` function that
//! ends by calling the next one through a table: with four integer arguments and nothing live on the stack an optimising compiler
//! turns that call into a jump, so that the machine state stays in registers and each handler has its own
//! indirect branch. It stays behind the cfg until a test disassembles the build and finds the jumps.

use super::State;
use super::handlers;
use crate::bytecode::Op;
use crate::for_each_opcode;

#[cfg(not(cynic_tail_calls))]
macro_rules! dispatch_by_match {
    ($($name:ident $handler:ident ($($slot:ident : $kind:ident),*) $meaning:literal;)*) => {
        /// Runs from `state` until a halt instruction.
        pub(in crate::vm::interpreter) fn run(state: State) {
            let mut state = state;
            loop {
                state = match Op::decode(state.word(0)) {
                    Some(Op::Halt) | None => return,
                    $(Some(Op::$name) => handlers::$handler(state),)*
                };
            }
        }
    };
}

#[cfg(not(cynic_tail_calls))]
#[allow(unreachable_patterns)]
mod by_match {
    use super::*;
    for_each_opcode!(dispatch_by_match);
}

#[cfg(not(cynic_tail_calls))]
pub(super) use by_match::run;

#[cfg(cynic_tail_calls)]
pub(super) use by_tail_calls::run;

#[cfg(cynic_tail_calls)]
mod by_tail_calls {
    use super::*;
    use crate::value::Value;
    use crate::vm::Vm;
    use crate::vm::interpreter::Frame;

    type Entry = unsafe extern "C" fn(*const u32, *mut Value, *mut Vm, *mut Frame);

    macro_rules! dispatch_by_tail_calls {
        ($($name:ident $handler:ident ($($slot:ident : $kind:ident),*) $meaning:literal;)*) => {
            $(
                pub(super) unsafe extern "C" fn $handler(pc: *const u32, regs: *mut Value, vm: *mut Vm, frame: *mut Frame) {
                    let next = handlers::$handler(State { pc, regs, vm, frame });
                    // SAFETY: verified code: every word reached is an opcode of the table.
                    unsafe { (*TABLE.get_unchecked((next.word(0) & 0xff) as usize))(next.pc, next.regs, next.vm, next.frame) }
                }
            )*

            unsafe extern "C" fn stop(_: *const u32, _: *mut Value, _: *mut Vm, _: *mut Frame) {}

            static TABLE: [Entry; 256] = {
                let mut table: [Entry; 256] = [stop; 256];
                $(table[Op::$name as usize] = $handler;)*
                table[Op::Halt as usize] = stop;
                table
            };
        };
    }
    for_each_opcode!(dispatch_by_tail_calls);

    /// Runs from `state` until a halt instruction.
    pub(in crate::vm::interpreter) fn run(state: State) {
        // SAFETY: as in the handlers.
        unsafe {
            (*TABLE.get_unchecked((state.word(0) & 0xff) as usize))(
                state.pc,
                state.regs,
                state.vm,
                state.frame,
            );
        }
    }
}
