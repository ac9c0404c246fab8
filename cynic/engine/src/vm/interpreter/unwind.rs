//! Exceptions: finding the handler, leaving frames on the way.

use super::{Frame, HALT, Next, compiled, frame_flags};
use crate::bytecode::Op;
use crate::value::Value;
use crate::vm::{Abrupt, Vm};

/// Goes to the handler of the pending exception (a termination has none), or leaves the run loop.
#[cold]
#[inline(never)]
pub(crate) fn unwind(vm: &mut Vm, abrupt: Abrupt) -> Next {
    let mut abrupt = abrupt;
    let mut left = 0;
    loop {
        let frame = vm.interpreter.frame;
        // SAFETY: the frame is running.
        let current = unsafe { &mut *frame };
        if abrupt == Abrupt::Throw
            && let Some((target, register)) = find_handler(current)
        {
            let exception = vm.take_exception();
            // SAFETY: verified code: the register is inside the frame.
            unsafe { *current.regs.add(register as usize) = exception };
            vm.stack.top = current.end;
            return compiled::go_on(left, Next { pc: target, frame });
        }
        // An exception leaves an async function as a rejection of its promise.
        match super::coroutine::abandon(vm, frame, abrupt) {
            Some(Ok(value)) => return leave(vm, frame, value),
            Some(Err(other)) => abrupt = other,
            None => {}
        }
        pop(vm, frame);
        left = current.flags;
        if current.flags & frame_flags::ENTRY != 0 {
            vm.interpreter.exit = Err(abrupt);
            return Next { pc: HALT.as_ptr(), frame };
        }
        if current.flags & frame_flags::STEP != 0 {
            super::coroutine::abandon_step(vm);
        }
    }
}

fn find_handler(frame: &Frame) -> Option<(*const u32, u8)> {
    // SAFETY: the template lives as long as its frame.
    let template = unsafe { &*frame.template };
    let pc = template.pc_index(frame.pc).wrapping_sub(1);
    let function = &template.function;
    let handler = function.handlers.iter().find(|handler| handler.start <= pc && pc < handler.end)?;
    debug_assert!(Op::decode(function.code[handler.target as usize]).is_some());
    Some((template.code.wrapping_add(handler.target as usize), handler.register))
}

/// Makes the frame below the running one.
#[inline(always)]
pub(crate) fn pop(vm: &mut Vm, frame: *mut Frame) {
    let below = frame.wrapping_sub(1);
    vm.interpreter.frame = below;
    // SAFETY: there is always a frame below; the lowest one has a null end.
    let end = unsafe { (*below).end };
    vm.stack.top = if end.is_null() { vm.stack.base() } else { end };
}

/// Returns `value` from `frame`, which is running.
pub(crate) fn leave(vm: &mut Vm, frame: *mut Frame, value: Value) -> Next {
    // SAFETY: the frame is running.
    let (flags, dst) = unsafe { ((*frame).flags, (*frame).dst) };
    pop(vm, frame);
    if flags & frame_flags::ENTRY != 0 {
        vm.interpreter.exit = Ok(value);
        return Next { pc: HALT.as_ptr(), frame };
    }
    let caller = vm.interpreter.frame;
    // SAFETY: a frame that was not entered from native code has a caller, whose register takes the result.
    unsafe {
        *(*caller).regs.add(dst as usize) = value;
        compiled::go_on(flags, Next { pc: (*caller).pc, frame: caller })
    }
}
