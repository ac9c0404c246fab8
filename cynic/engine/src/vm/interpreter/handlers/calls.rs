//! Calls and returns.

use super::super::call::{Entry, closure_template, enter, enter_exact};
use super::super::state::{elsewhere, slow};
use super::super::template::{FunctionTemplate, template_flags};
use super::super::{State, Step, Ways as _, frame_flags, slow};
use super::outlined;
use super::properties::as_closure;
use crate::gc::{Data, Gc};
use crate::value::Value;

#[inline(always)]
pub(crate) fn call(s: State) -> Step {
    let base = s.b();
    let callee = s.reg(base);
    if let Some(closure) = as_closure(callee) {
        let template = closure_template(closure);
        if s.c() as u32 == template.parameters
            && template.flags & template_flags::CLASS_CONSTRUCTOR == 0
            && s.vm().runs_in(template.realm)
        {
            s.frame().pc = s.pc.wrapping_add(1);
            if let Some(state) = enter_exact(s.vm, s.frame, call_entry(s, template)) {
                return state.go();
            }
        }
    }
    elsewhere!(s, call_otherwise)
}

#[inline(always)]
fn call_entry(s: State, template: Gc<Data<FunctionTemplate>>) -> Entry {
    Entry {
        template,
        window: s.regs.wrapping_add(s.b() + 1),
        argument_count: s.c() as u32,
        dst: s.a() as u8,
        flags: 0,
        new_target: Value::UNDEFINED,
    }
}

/// A closure with more or fewer arguments than parameters, or something else.
#[inline(always)]
fn call_otherwise(s: State) -> Step {
    let callee = s.reg(s.b());
    if let Some(closure) = as_closure(callee) {
        let template = closure_template(closure);
        if template.flags & template_flags::CLASS_CONSTRUCTOR == 0 && s.vm().runs_in(template.realm) {
            s.frame().pc = s.pc.wrapping_add(1);
            if let Some(state) = enter(s.vm, s.frame, call_entry(s, template)) {
                return state.go();
            }
        }
    }
    slow!(s, slow::calls::call)
}

#[inline(always)]
pub(crate) fn ret(s: State) -> Step {
    let value = s.reg(s.a());
    let flags = s.frame().flags;
    if flags == 0 {
        return return_value(s, value);
    }
    if flags == frame_flags::CONSTRUCT {
        let value = if value.is_object() { value } else { s.reg(0) };
        return return_value(s, value);
    }
    slow!(s, slow::calls::ret)
}

#[inline(always)]
pub(crate) fn ret_undefined(s: State) -> Step {
    let flags = s.frame().flags;
    if flags == 0 {
        return return_value(s, Value::UNDEFINED);
    }
    if flags == frame_flags::CONSTRUCT {
        let this = s.reg(0);
        return return_value(s, this);
    }
    slow!(s, slow::calls::ret_undefined)
}

/// Returns to the frame below, which is bytecode's.
#[inline(always)]
fn return_value(s: State, value: Value) -> Step {
    let dst = s.frame().dst as usize;
    let caller = s.frame.wrapping_sub(1);
    let vm = s.vm();
    vm.interpreter.frame = caller;
    // SAFETY: a frame without the ENTRY flag has a caller below it.
    unsafe {
        vm.stack.top = (*caller).end;
        let regs = (*caller).regs;
        *regs.add(dst) = value;
        State::new((*caller).pc, regs, s.vm, caller).go()
    }
}

#[inline(always)]
pub(crate) fn get_function(s: State) -> Step {
    // SAFETY: the callee is below register 0.
    s.set(s.a(), unsafe { *s.regs.sub(1) });
    s.next(1)
}

#[inline(always)]
pub(crate) fn get_new_target(s: State) -> Step {
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
    direct_eval_spread => slow::calls::direct_eval_spread;
    get_super_constructor => slow::calls::get_super_constructor;
    check_constructor_return => slow::calls::check_constructor_return;
    throw => slow::calls::throw;
}
