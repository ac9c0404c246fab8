//! The two dispatchers over the opcode table.
//!
//! Where the compiler turns sibling calls into jumps (`build.rs` sets `cynic_tail_calls`), each handler becomes an
//! `unsafe extern "C"` function that ends by calling the next one through a table: with five integer arguments and nothing
//! live on the stack an optimising compiler makes a jump of that call, so that the machine state stays in registers and each
//! handler has its own indirect branch. Elsewhere (debug builds, Miri, other processors) a `loop { match }` does.
//!
//! A handler that called instead of jumping would grow the native stack with every instruction. `tests/dispatch.rs`
//! disassembles the handlers and finds such calls; should a build slip through, `Vm::poll_slow` looks at the stack and
//! throws a RangeError long before its end.

use super::State;
use super::compiled;
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
                    None if state.word(0) == compiled::ENTER => enter_code(state),
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

    /// Runs compiled code.
    fn enter_code(state: State) -> State {
        State::at(state.vm, compiled::enter(state.vm, state.frame))
    }
}

#[cfg(not(cynic_tail_calls))]
pub(super) use by_match::run;

#[cfg(cynic_tail_calls)]
pub(super) use by_tail_calls::{go, run};

#[cfg(cynic_tail_calls)]
mod by_tail_calls {
    use super::*;
    use crate::value::Value;
    use crate::vm::Vm;
    use crate::vm::interpreter::Frame;

    type Entry = unsafe extern "C" fn(*const u32, *mut Value, *mut Vm, *mut Frame, u32);

    macro_rules! dispatch_by_tail_calls {
        ($($name:ident $handler:ident ($($slot:ident : $kind:ident),*) $meaning:literal;)*) => {
            $(
                unsafe extern "C" fn $handler(
                    pc: *const u32,
                    regs: *mut Value,
                    vm: *mut Vm,
                    frame: *mut Frame,
                    first: u32,
                ) {
                    handlers::$handler(State { pc, regs, vm, frame, first });
                }
            )*

            unsafe extern "C" fn into_code(_: *const u32, _: *mut Value, vm: *mut Vm, frame: *mut Frame, _: u32) {
                enter_code(vm, frame)
            }

            unsafe extern "C" fn stop(_: *const u32, _: *mut Value, _: *mut Vm, _: *mut Frame, _: u32) {}

            static TABLE: [Entry; 256] = {
                let mut table: [Entry; 256] = [stop; 256];
                $(table[Op::$name as usize] = $handler;)*
                table[Op::Halt as usize] = stop;
                table[compiled::ENTER as usize] = into_code;
                table
            };
        };
    }
    for_each_opcode!(dispatch_by_tail_calls);

    /// Runs compiled code, and what follows it.
    #[inline(always)]
    fn enter_code(vm: *mut Vm, frame: *mut Frame) {
        go(State::at(vm, compiled::enter(vm, frame)))
    }

    /// Runs the instruction at `state`, and what follows it.
    #[inline(always)]
    pub(in crate::vm::interpreter) fn go(state: State) {
        let State { pc, regs, vm, frame, first } = state;
        // SAFETY: verified code: every word reached is an opcode of the table.
        unsafe { (*TABLE.get_unchecked((first & 0xff) as usize))(pc, regs, vm, frame, first) }
    }

    /// Runs from `state` until a halt instruction.
    #[inline(never)]
    pub(in crate::vm::interpreter) fn run(state: State) {
        go(state);
        // Not a tail position, so that the frame of a run loop is where the stack scan and profilers expect it.
        std::hint::black_box(());
    }
}
