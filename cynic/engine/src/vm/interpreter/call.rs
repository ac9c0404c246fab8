//! Entering closures: from bytecode (a new frame) and from native code (a new run loop). Leaving frames: with a value, or by an exception,
//! for which the handler is found.

use super::closure::{AUX_SLOT, TEMPLATE_SLOT};
use super::template::{FunctionTemplate, template_flags};
use super::{Frame, HALT, Next, State, compiled, coroutine, frame_flags};
use crate::bytecode::Op;
use crate::gc::{Data, Gc};
use crate::limits;
use crate::object::{INLINE_SLOTS_DEFAULT, Object, ObjectKind};
use crate::realm::Intrinsic;
use crate::shape::Shape;
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// Registers kept free above every frame, for arguments that native calls push.
pub(crate) const STACK_RESERVE: usize = 64;

/// The template of a closure.
#[inline(always)]
pub(crate) fn closure_template(closure: Object) -> Gc<Data<FunctionTemplate>> {
    // SAFETY: closures have their template in their first inline slot from birth.
    unsafe { Gc::from_addr(closure.inline_slot(TEMPLATE_SLOT).to_bits() as *mut Data<FunctionTemplate>) }
}

/// What a new frame is made of: see [`enter`].
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// What runs.
    pub(crate) template: Gc<Data<FunctionTemplate>>,
    /// The address of `this`; the callee is before it, the arguments after it.
    pub(crate) window: *mut Value,
    /// How many arguments there are.
    pub(crate) argument_count: u32,
    /// The caller's register for the result.
    pub(crate) dst: u8,
    /// See [`frame_flags`].
    pub(crate) flags: u8,
    /// new.target, or undefined.
    pub(crate) new_target: Value,
}

/// [`enter`] with as many arguments as there are parameters.
#[inline(always)]
pub(crate) fn enter_exact(vm: *mut Vm, below: *mut Frame, entry: Entry) -> Option<State> {
    debug_assert_eq!(entry.argument_count, entry.template.parameters);
    push_frame(vm, below, entry, entry.window)
}

/// Pushes a frame above `below` and returns the state at its first instruction. `None` if there is no room or a poll is due.
#[inline(always)]
pub(crate) fn enter(vm: *mut Vm, below: *mut Frame, entry: Entry) -> Option<State> {
    let template = entry.template;
    if entry.argument_count <= template.parameters || template.flags & template_flags::NEEDS_ARGUMENTS == 0 {
        let state = push_frame(vm, below, entry, entry.window)?;
        for i in entry.argument_count..template.parameters {
            // SAFETY: the new frame has the parameters' registers.
            unsafe { *state.regs.add(i as usize + 1) = Value::UNDEFINED };
        }
        return Some(state);
    }
    // The parameters are copied above the arguments, so that both can be had.
    let regs = entry.window.wrapping_add(entry.argument_count as usize + 2);
    let state = push_frame(vm, below, entry, regs)?;
    for i in 0..template.parameters as usize + 2 {
        // SAFETY: the window and the new frame are below the limit.
        unsafe { *regs.sub(1).add(i) = *entry.window.sub(1).add(i) };
    }
    Some(state)
}

/// Writes the frame's record; the parameters are the caller's business.
#[inline(always)]
fn push_frame(vm: *mut Vm, below: *mut Frame, entry: Entry, regs: *mut Value) -> Option<State> {
    let Entry { template, window, argument_count, dst, flags, new_target } = entry;
    // SAFETY: the run loop owns the isolate exclusively; no other reference is live here.
    let isolate = unsafe { &mut *vm };
    let frame = below.wrapping_add(1);
    let end = regs.wrapping_add(template.registers as usize);
    if end.wrapping_add(STACK_RESERVE) > isolate.stack.limit()
        || frame >= isolate.interpreter.frames_end
        || isolate.budget <= 1
    {
        return None;
    }
    isolate.budget -= 1;
    // SAFETY: `end` is below the limit, so every register written here exists.
    unsafe {
        frame.write(Frame {
            regs,
            pc: template.start.get(),
            feedback: template.feedback,
            constants: template.constants,
            end,
            new_target,
            arguments: window.wrapping_add(1),
            argument_count,
            dst,
            flags,
            coroutine: Value::UNDEFINED,
            template_cell: Value::cell(template),
            resume: std::mem::MaybeUninit::uninit(),
        });
    }
    isolate.interpreter.frame = frame;
    isolate.stack.top = end;
    Some(State::new(template.start.get(), regs, vm, frame))
}

impl Vm {
    /// `[[Call]]` and `[[Construct]]` of a closure from native code.
    pub(crate) fn call_closure(
        &mut self,
        closure: Object,
        this: Value,
        arguments: &[Value],
        new_target: Value,
    ) -> JsResult<Value> {
        let template = closure_template(closure);
        let previous = self.enter_realm(template.realm);
        let outer = self.interpreter.caller_realm.replace(previous);
        let result = self.call_template(template, Value::object(closure), this, arguments, new_target);
        self.interpreter.caller_realm = outer;
        self.enter_realm(previous);
        result
    }

    /// Runs `template` with `callee` in the callee's register.
    pub(crate) fn call_template(
        &mut self,
        template: Gc<Data<FunctionTemplate>>,
        callee: Value,
        this: Value,
        arguments: &[Value],
        new_target: Value,
    ) -> JsResult<Value> {
        self.check_native_stack()?;
        let is_construct = !new_target.is_undefined();
        let this = self.entry_this(template, this, new_target)?;
        if !self.stack.has_room(arguments.len() + 2 + STACK_RESERVE) {
            return Err(self.throw_stack_overflow());
        }
        self.poll_call(template)?;
        let top = self.stack.top;
        // SAFETY: there is room for the callee, `this` and the arguments above the top.
        let window = unsafe {
            *top = callee;
            *top.add(1) = this;
            std::ptr::copy_nonoverlapping(arguments.as_ptr(), top.add(2), arguments.len());
            top.add(1)
        };
        let flags = frame_flags::ENTRY | if is_construct { frame_flags::CONSTRUCT } else { 0 };
        self.budget = self.budget.max(2);
        let entry =
            Entry { template, window, argument_count: arguments.len() as u32, dst: 0, flags, new_target };
        let entered = enter(self, self.interpreter.frame, entry);
        if entered.is_none() {
            self.stack.top = top;
            return Err(self.throw_stack_overflow());
        }
        let result = self.run();
        self.stack.top = top;
        result
    }

    /// The `this` a frame starts with.
    fn entry_this(
        &mut self,
        template: Gc<Data<FunctionTemplate>>,
        this: Value,
        new_target: Value,
    ) -> JsResult<Value> {
        if let Some(new_target) = new_target.as_object() {
            if template.flags & template_flags::DERIVED != 0 {
                return Ok(Value::EMPTY);
            }
            return self.construct_this(new_target);
        }
        if template.flags & template_flags::CLASS_CONSTRUCTOR != 0 {
            let name = template.name.to_rust_string();
            return Err(
                self.throw_type_error(&format!("class constructor {name} cannot be called without 'new'"))
            );
        }
        Ok(this)
    }

    /// OrdinaryCreateFromConstructor(newTarget, "%Object.prototype%").
    #[inline]
    pub(crate) fn construct_this(&mut self, new_target: Object) -> JsResult<Value> {
        let shape = match cached_construct_shape(new_target) {
            Some(shape) => shape,
            None => self.construct_shape(new_target)?,
        };
        Ok(self.object_to_construct(shape))
    }

    /// The same if it needs no look at `prototype`.
    #[cfg(cynic_jit)]
    pub(crate) fn construct_this_known(&mut self, new_target: Object) -> Option<Value> {
        cached_construct_shape(new_target).map(|shape| self.object_to_construct(shape))
    }

    #[inline(always)]
    fn object_to_construct(&mut self, shape: Gc<Shape>) -> Value {
        Value::object(self.alloc_object(shape, ObjectKind::Ordinary, slots_to_construct(shape), 0))
    }

    #[cold]
    #[inline(never)]
    fn construct_shape(&mut self, new_target: Object) -> JsResult<Gc<Shape>> {
        let prototype =
            self.get_prototype_from_constructor(Value::object(new_target), Intrinsic::ObjectPrototype)?;
        let shape = self.root_shape(Value::object(prototype), 0);
        if new_target.is(ObjectKind::Closure)
            && closure_template(new_target).flags & template_flags::CONSTRUCTOR != 0
        {
            match new_target.slot(AUX_SLOT).as_value_array() {
                Some(class) => class.set(super::closure::CLASS_SHAPE, Value::cell(shape)),
                None => new_target.set_slot(AUX_SLOT, Value::cell(shape)),
            }
        }
        Ok(shape)
    }
}

/// How many slots inline an object gets that a constructor begins with.
#[inline(always)]
pub(crate) fn slots_to_construct(shape: Gc<Shape>) -> u8 {
    match shape.slots_seen() {
        0 => INLINE_SLOTS_DEFAULT,
        seen => seen.min(limits::INLINE_SLOTS_MAX) as u8,
    }
}

/// The shape that `new` of this closure begins with, if it is a class: it stays the same once it is known.
#[cfg(cynic_jit)]
pub(crate) fn class_shape(closure: Object) -> Option<Gc<Shape>> {
    shape_of(closure.slot(AUX_SLOT).as_value_array()?.get(super::closure::CLASS_SHAPE))
}

/// The shape that `new` of this closure gave last time, if its `prototype` is still the same.
#[inline(always)]
fn cached_construct_shape(new_target: Object) -> Option<Gc<Shape>> {
    if !new_target.is(ObjectKind::Closure) {
        return None;
    }
    let template = closure_template(new_target);
    if template.flags & template_flags::CONSTRUCTOR == 0 {
        return None;
    }
    let aux = new_target.slot(AUX_SLOT);
    let cached = match aux.as_value_array() {
        // The `prototype` of a class never changes.
        Some(class) => return shape_of(class.get(super::closure::CLASS_SHAPE)),
        None => shape_of(aux)?,
    };
    let is_pristine = template.closure_shape.get() == Some(new_target.shape());
    let prototype = new_target.slot(super::closure::PROTOTYPE_SLOT);
    (is_pristine && cached.prototype() == prototype).then_some(cached)
}

fn shape_of(v: Value) -> Option<Gc<Shape>> {
    let header = v.cell_header()?;
    // SAFETY: the kind says that the cell is a shape.
    (header.kind() == crate::gc::CellKind::Shape).then(|| unsafe { Gc::from_addr(v.to_bits() as *mut Shape) })
}

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
        match coroutine::abandon(vm, frame, abrupt) {
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
            coroutine::abandon_step(vm);
        }
    }
}

fn find_handler(frame: &Frame) -> Option<(*const u32, u8)> {
    let template = frame.template();
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
