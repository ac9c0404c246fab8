//! Calls of anything but a plain closure, construction, spread, tail and eval calls, returns to native code.

use super::super::call::{Entry, STACK_RESERVE, closure_template, enter};
use super::super::template::template_flags;
use super::super::{Frame, Next, State, call, frame_flags};
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

/// A call by the name `eval`: direct eval if the callee is %eval%.
fn eval_or_call(s: State, arguments: &[Value]) -> JsResult<Value> {
    let callee = s.reg(s.b());
    let vm = s.vm();
    if callee != Value::object(vm.intrinsic(Intrinsic::Eval)) {
        return call_values(s, callee, s.reg(s.b() + 1), arguments);
    }
    let source = arguments.first().copied().unwrap_or(Value::UNDEFINED);
    vm.perform_direct_eval(s, source, s.x(), s.reg(s.y() as usize))
}

/// Enters a closure of the current realm in a frame of this run loop, polling and checking the stack.
#[inline(always)]
fn enter_closure(s: State, closure: Object, count: u32, flags: u8, new_target: Value) -> JsResult<Next> {
    let template = closure_template(closure);
    s.vm().poll_call(template)?;
    let entry = Entry {
        template,
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

/// Whether it is a closure of this run loop's realm.
fn runs_here(vm: &mut Vm, callee: Value) -> Option<Object> {
    let closure = callee.as_object().filter(|o| o.is(ObjectKind::Closure))?;
    let template = closure_template(closure);
    (template.realm == vm.realm()).then_some(closure)
}

/// Whether a call of `callee` can run in this run loop.
fn callable_here(vm: &mut Vm, callee: Value) -> Option<Object> {
    let closure = runs_here(vm, callee)?;
    (closure_template(closure).flags & template_flags::CLASS_CONSTRUCTOR == 0).then_some(closure)
}

slow_paths! {
    fn call(s) {
        let (base, count) = (s.b(), s.c());
        let callee = s.reg(base);
        if let Some(closure) = callable_here(s.vm(), callee) {
            let entered = enter_closure(s, closure, count as u32, 0, Value::UNDEFINED);
            return enter_or_unwind(s, entered);
        }
        let result = call_values(s, callee, s.reg(base + 1), window_arguments(s, base, count));
        s.finish(1, s.a(), result)
    }
    /// A call of a native function of any realm: for compiled code, which knows that it is one.
    #[cfg(cynic_jit)]
    fn call_native(s) {
        let (base, count) = (s.b(), s.c());
        let result = call_values(s, s.reg(base), s.reg(base + 1), window_arguments(s, base, count));
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
        let (callee, this) = (s.reg(s.b()), s.reg(s.b() + 1));
        match array_arguments(s, s.b() + 2) {
            Ok(arguments) => match callable_here(s.vm(), callee) {
                Some(closure) => {
                    let entered = enter_above(s, closure, this, &arguments, 1);
                    enter_or_unwind(s, entered)
                }
                None => s.finish(1, s.a(), call_values(s, callee, this, &arguments)),
            },
            Err(abrupt) => s.unwind(abrupt),
        }
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
        let reusable = s.frame().flags & !(frame_flags::ENTRY | frame_flags::FROM_CODE) == 0;
        let closure = callable_here(s.vm(), callee);
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
        let result = eval_or_call(s, window_arguments(s, s.b(), s.c()));
        s.finish(3, s.a(), result)
    }
    fn direct_eval_spread(s) {
        let result = array_arguments(s, s.b() + 2).and_then(|arguments| eval_or_call(s, &arguments));
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
        if value.is_undefined() && !this.is_empty() {
            s.set(s.a(), this);
            return s.advance(1);
        }
        let abrupt = throw_constructor_return(s, value);
        s.unwind(abrupt)
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

/// The error of a derived constructor that returns `value` is of the caller's realm (10.2.2, steps 13 to 15).
#[cold]
fn throw_constructor_return(s: State, value: Value) -> Abrupt {
    let vm = s.vm();
    let is_entry = s.frame().flags & frame_flags::ENTRY != 0;
    let caller = if is_entry { vm.interpreter.caller_realm } else { None };
    let own = caller.map(|caller| vm.enter_realm(caller));
    let abrupt = if value.is_undefined() {
        vm.throw_reference_error(super::scopes::UNBOUND_THIS)
    } else {
        vm.throw_type_error("derived constructors may only return an object or undefined")
    };
    if let Some(own) = own {
        vm.enter_realm(own);
    }
    abrupt
}

/// Enters a getter that is a closure of this realm; the result goes to operand a of the instruction of `words` words.
pub(in super::super) fn enter_getter(
    s: State,
    getter: Value,
    this: Value,
    words: usize,
) -> Option<JsResult<Next>> {
    let closure = callable_here(s.vm(), getter)?;
    Some(enter_above(s, closure, this, &[], words))
}

/// Enters a closure of this realm in a frame above the running one's registers; the result goes to operand a of the
/// instruction of `words` words.
fn enter_above(s: State, closure: Object, this: Value, arguments: &[Value], words: usize) -> JsResult<Next> {
    let vm = s.vm();
    vm.poll()?;
    if !vm.stack.has_room(arguments.len() + STACK_RESERVE) {
        return Err(vm.throw_stack_overflow());
    }
    let window = s.frame().end.wrapping_add(1);
    // SAFETY: there is room for the callee, `this` and the arguments above the frame.
    unsafe {
        *window.sub(1) = Value::object(closure);
        *window = this;
        std::ptr::copy_nonoverlapping(arguments.as_ptr(), window.add(1), arguments.len());
    }
    s.frame().pc = s.pc.wrapping_add(words);
    let entry = Entry {
        template: closure_template(closure),
        window,
        argument_count: arguments.len() as u32,
        dst: s.a() as u8,
        flags: 0,
        new_target: Value::UNDEFINED,
    };
    push(vm, s.frame, entry)
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
    call::leave(s.vm(), s.frame, value)
}
