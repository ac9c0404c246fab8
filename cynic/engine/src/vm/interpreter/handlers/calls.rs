//! Calls and returns.

use super::super::call::{closure_template, enter};
use super::super::template::template_flags;
use super::super::{State, frame_flags, slow};
use super::outlined;
use super::properties::is_closure;
use crate::value::Value;

#[inline(always)]
pub(crate) fn call(s: State) -> State {
    let base = s.b();
    let callee = s.reg(base);
    if is_closure(callee) {
        let template = closure_template(callee.object_unchecked());
        if template.flags & template_flags::CLASS_CONSTRUCTOR == 0 && template.realm == s.vm().realm() {
            // SAFETY: verified code: the window is inside the frame.
            let window = s.regs.wrapping_add(base + 1);
            s.frame().pc = s.pc.wrapping_add(1);
            let state = enter(s, template, window, s.c() as u32, s.a() as u8, 0, Value::UNDEFINED);
            if let Some(state) = state {
                return state;
            }
        }
    }
    s.resume(slow::calls::call(s.pc, s.regs, s.vm, s.frame))
}

#[inline(always)]
pub(crate) fn ret(s: State) -> State {
    let value = s.reg(s.a());
    return_value(s, value)
}

#[inline(always)]
pub(crate) fn ret_undefined(s: State) -> State {
    return_value(s, Value::UNDEFINED)
}

#[inline(always)]
fn return_value(s: State, value: Value) -> State {
    let frame = s.frame();
    let mut value = value;
    if frame.flags != 0 {
        if frame.flags != frame_flags::CONSTRUCT {
            return s.resume(slow::calls::return_slow(s.vm, s.frame, value));
        }
        if !value.is_object() {
            value = s.reg(0);
        }
    }
    let caller = s.frame.wrapping_sub(1);
    let vm = s.vm();
    vm.interpreter.frame = caller;
    // SAFETY: a frame without the ENTRY flag has a caller below it.
    unsafe {
        vm.stack.top = (*caller).end;
        let regs = (*caller).regs;
        *regs.add(frame.dst as usize) = value;
        State { pc: (*caller).pc, regs, vm: s.vm, frame: caller }
    }
}

#[inline(always)]
pub(crate) fn get_function(s: State) -> State {
    // SAFETY: the callee is below register 0.
    s.set(s.a(), unsafe { *s.regs.sub(1) });
    s.next(1)
}

#[inline(always)]
pub(crate) fn get_new_target(s: State) -> State {
    s.set(s.a(), s.frame().new_target);
    s.next(1)
}

outlined! {
    new => slow::calls::new;
    super_call => slow::calls::super_call;
    call_spread => slow::calls::call_spread;
    new_spread => slow::calls::new_spread;
    super_call_spread => slow::calls::super_call_spread;
    tail_call => slow::calls::tail_call;
    direct_eval => slow::calls::direct_eval;
    get_super_constructor => slow::calls::get_super_constructor;
    check_constructor_return => slow::calls::check_constructor_return;
    throw => slow::calls::throw;
}
