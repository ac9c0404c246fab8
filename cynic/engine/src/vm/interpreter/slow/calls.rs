//! Calls of anything but a plain closure, construction, spread, tail and eval calls, returns to native code.

use super::super::call::{Entry, closure_template, enter};
use super::super::template::template_flags;
use super::super::{Frame, Next, State, frame_flags, unwind};
use super::slow_paths;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind};
use crate::realm::Intrinsic;
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

impl Vm {
    #[cold]
    fn throw_not_a_function(&mut self, callee: Value) -> Abrupt {
        let message = format!("{} is not a function", self.describe(callee));
        self.throw_type_error(&message)
    }

    #[cold]
    fn throw_not_a_constructor(&mut self, callee: Value) -> Abrupt {
        let message = format!("{} is not a constructor", self.describe(callee));
        self.throw_type_error(&message)
    }
}

/// The arguments of the window at register `base`.
fn window_arguments(s: State, base: usize, count: usize) -> &'static [Value] {
    // SAFETY: verified code: the window is inside the frame, which outlives the call.
    unsafe { std::slice::from_raw_parts(s.regs.add(base + 2), count) }
}

/// The elements of the argument array at register `register`.
fn array_arguments(s: State, register: usize) -> JsResult<crate::gc::RootedVec> {
    let vm = s.vm();
    let mut list = vm.scratch();
    if let Some(array) = s.reg(register).as_object() {
        if array.elements().len() as usize > crate::limits::ARGUMENTS_MAX {
            return Err(vm.throw_range_error("too many arguments"));
        }
        list.extend_from_slice(array.elements().as_slice());
    }
    Ok(list)
}

/// Calls what is in the window without a new frame of this run loop.
fn call_values(s: State, callee: Value, this: Value, arguments: &[Value]) -> JsResult<Value> {
    let vm = s.vm();
    let Some(object) = callee.as_object().filter(|o| o.is_callable()) else {
        return Err(vm.throw_not_a_function(callee));
    };
    if object.is(ObjectKind::NativeFunction) {
        vm.poll()?;
        // SAFETY: the arguments are in the caller's frame or in a rooted vector during the call.
        let args = unsafe {
            CallArgs::new(arguments.as_ptr(), arguments.len() as u32, this, object, Value::UNDEFINED)
        };
        return vm.call_native(object, args);
    }
    vm.call_object(object, this, arguments, Value::UNDEFINED)
}

/// Enters a closure of the current realm in a frame of this run loop, polling and checking the stack.
fn enter_closure(s: State, closure: Object, count: u32, flags: u8, new_target: Value) -> JsResult<Next> {
    s.vm().poll()?;
    let entry = Entry {
        template: closure_template(closure),
        window: s.regs.wrapping_add(s.b() + 1),
        argument_count: count,
        dst: s.a() as u8,
        flags,
        new_target,
    };
    push(s.vm(), s.frame, entry)
}

/// Pushes a frame; the caller has polled.
fn push(vm: &mut Vm, below: *mut Frame, entry: Entry) -> JsResult<Next> {
    vm.budget = vm.budget.max(2);
    match enter(vm, below, entry) {
        Some(state) => Ok(Next { pc: state.pc, frame: state.frame }),
        None => Err(vm.throw_stack_overflow()),
    }
}

fn enter_or_unwind(s: State, entered: JsResult<Next>) -> Next {
    match entered {
        Ok(next) => next,
        Err(abrupt) => s.unwind(abrupt),
    }
}

/// Whether a closure can run in this run loop: same realm, and callable.
fn runs_here(vm: &mut Vm, callee: Value) -> Option<Object> {
    let closure = callee.as_object().filter(|o| o.is(ObjectKind::Closure))?;
    let template = closure_template(closure);
    (template.realm == vm.realm()).then_some(closure)
}

slow_paths! {
    fn call(s) {
        let (base, count) = (s.b(), s.c());
        let callee = s.reg(base);
        if let Some(closure) = runs_here(s.vm(), callee)
            && closure_template(closure).flags & template_flags::CLASS_CONSTRUCTOR == 0
        {
            let entered = enter_closure(s, closure, count as u32, 0, Value::UNDEFINED);
            return enter_or_unwind(s, entered);
        }
        let result = call_values(s, callee, s.reg(base + 1), window_arguments(s, base, count));
        s.finish(1, s.a(), result)
    }
    fn new(s) {
        let (base, count) = (s.b(), s.c());
        let callee = s.reg(base);
        construct_window(s, callee, callee, base, count, 1)
    }
    fn super_call(s) {
        let (base, count) = (s.b(), s.c());
        // The return address is after both words.
        construct_window(s, s.reg(base), s.reg(s.x() as usize), base, count, 2)
    }
    fn call_spread(s) {
        let base = s.b();
        let result = array_arguments(s, base + 2)
            .and_then(|arguments| call_values(s, s.reg(base), s.reg(base + 1), &arguments));
        s.finish(1, s.a(), result)
    }
    fn new_spread(s) {
        let callee = s.reg(s.b());
        let result = array_arguments(s, s.b() + 2).and_then(|arguments| construct(s, callee, callee, &arguments));
        s.finish(1, s.a(), result)
    }
    fn super_call_spread(s) {
        let (callee, new_target) = (s.reg(s.b()), s.reg(s.x() as usize));
        let result = array_arguments(s, s.b() + 2).and_then(|arguments| construct(s, callee, new_target, &arguments));
        s.finish(2, s.a(), result)
    }
    fn tail_call(s) {
        let (base, count) = (s.b(), s.c());
        let callee = s.reg(base);
        let reusable = s.frame().flags & !frame_flags::ENTRY == 0;
        let closure = runs_here(s.vm(), callee)
            .filter(|o| closure_template(*o).flags & template_flags::CLASS_CONSTRUCTOR == 0);
        let Some(closure) = closure.filter(|_| reusable) else {
            if let Some(closure) = closure {
                let entered = enter_tail_as_call(s, closure, count as u32);
                return enter_or_unwind(s, entered);
            }
            let result = call_values(s, callee, s.reg(base + 1), window_arguments(s, base, count));
            return s.finish(1, base, result);
        };
        reuse_frame(s, closure, base, count)
    }
    fn direct_eval(s) {
        let (base, count) = (s.b(), s.c());
        let vm = s.vm();
        let callee = s.reg(base);
        let result = if callee == Value::object(vm.intrinsic(Intrinsic::Eval)) {
            let source = if count > 0 { s.reg(base + 2) } else { Value::UNDEFINED };
            vm.perform_direct_eval(s, source, s.x(), s.reg(s.y() as usize))
        } else {
            call_values(s, callee, s.reg(base + 1), window_arguments(s, base, count))
        };
        s.finish(3, s.a(), result)
    }
    fn get_super_constructor(s) {
        let result = match s.reg(s.b()).as_object() {
            Some(function) => s.vm().get_prototype_of(function),
            None => Ok(Value::UNDEFINED),
        };
        s.finish(1, s.a(), result)
    }
    fn check_constructor_return(s) {
        let (value, this) = (s.reg(s.a()), s.reg(s.b()));
        if value.is_object() {
            return s.advance(1);
        }
        let vm = s.vm();
        if !value.is_undefined() {
            let message = "derived constructors may only return an object or undefined";
            let abrupt = vm.throw_type_error(message);
            return s.unwind(abrupt);
        }
        if this.is_empty() {
            return super::scopes::throw_unbound_this(s.pc, s.regs, s.vm, s.frame);
        }
        s.set(s.a(), this);
        s.advance(1)
    }
    fn ret(s) {
        return_slow(s, s.reg(s.a()))
    }
    fn ret_undefined(s) {
        return_slow(s, Value::UNDEFINED)
    }
    fn throw(s) {
        let abrupt = s.vm().throw(s.reg(s.a()));
        s.unwind(abrupt)
    }
}

/// Enters a getter that is a closure of this realm; the result goes to operand a of the instruction of `words` words.
pub(in super::super) fn enter_getter(
    s: State,
    getter: Value,
    this: Value,
    words: usize,
) -> Option<JsResult<Next>> {
    let closure = runs_here(s.vm(), getter)?;
    let template = closure_template(closure);
    if template.flags & template_flags::CLASS_CONSTRUCTOR != 0 {
        return None;
    }
    if let Err(abrupt) = s.vm().poll() {
        return Some(Err(abrupt));
    }
    let window = s.frame().end.wrapping_add(1);
    // SAFETY: some registers are kept free above every frame.
    unsafe {
        *window.sub(1) = getter;
        *window = this;
    }
    s.frame().pc = s.pc.wrapping_add(words);
    let new_target = Value::UNDEFINED;
    let entry = Entry { template, window, argument_count: 0, dst: s.a() as u8, flags: 0, new_target };
    Some(push(s.vm(), s.frame, entry))
}

/// A tail call that cannot reuse the frame is a call whose result lands in `base`.
fn enter_tail_as_call(s: State, closure: Object, count: u32) -> JsResult<Next> {
    s.vm().poll()?;
    let entry = Entry {
        template: closure_template(closure),
        window: s.regs.wrapping_add(s.b() + 1),
        argument_count: count,
        dst: s.b() as u8,
        flags: 0,
        new_target: Value::UNDEFINED,
    };
    push(s.vm(), s.frame, entry)
}

/// PrepareForTailCall: the callee's window moves down over the running frame.
fn reuse_frame(s: State, closure: Object, base: usize, count: usize) -> Next {
    let vm = s.vm();
    if let Err(abrupt) = vm.poll() {
        return s.unwind(abrupt);
    }
    let (flags, dst) = (s.frame().flags, s.frame().dst);
    // SAFETY: both windows are inside the frame; the copy goes downwards.
    unsafe { std::ptr::copy(s.regs.add(base), s.regs.sub(1), count + 2) };
    let entry = Entry {
        template: closure_template(closure),
        window: s.regs,
        argument_count: count as u32,
        dst,
        flags,
        new_target: Value::UNDEFINED,
    };
    let entered = push(vm, s.frame.wrapping_sub(1), entry);
    enter_or_unwind(s, entered)
}

/// `[[Construct]]` of the window at `base`.
fn construct_window(
    s: State,
    callee: Value,
    new_target: Value,
    base: usize,
    count: usize,
    words: usize,
) -> Next {
    let vm = s.vm();
    if let (Some(closure), Some(target)) = (runs_here(vm, callee), new_target.as_object())
        && closure.is_constructor()
    {
        let derived = closure_template(closure).flags & template_flags::DERIVED != 0;
        let this = if derived { Ok(Value::EMPTY) } else { vm.construct_this(target) };
        let entered = this.and_then(|this| {
            s.set(base + 1, this);
            s.frame().pc = s.pc.wrapping_add(words);
            enter_closure(s, closure, count as u32, frame_flags::CONSTRUCT, new_target)
        });
        return enter_or_unwind(s, entered);
    }
    let result = construct(s, callee, new_target, window_arguments(s, base, count));
    s.finish(words, s.a(), result)
}

fn construct(s: State, callee: Value, new_target: Value, arguments: &[Value]) -> JsResult<Value> {
    let vm = s.vm();
    let (Some(constructor), Some(target)) =
        (callee.as_object().filter(|o| o.is_constructor()), new_target.as_object())
    else {
        return Err(vm.throw_not_a_constructor(callee));
    };
    vm.construct(constructor, arguments, target).map(Value::object)
}

/// Returns `value` from a frame with flags: to native code, or from a constructor.
fn return_slow(s: State, value: Value) -> Next {
    let is_construct = s.frame().flags & frame_flags::CONSTRUCT != 0;
    let value = if is_construct && !value.is_object() { s.reg(0) } else { value };
    unwind::leave(s.vm(), s.frame, value)
}
