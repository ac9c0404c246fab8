//! Coroutines: generators, async functions, async generators and module bodies.
//!
//! A suspended frame is copied to the heap and popped; resuming copies it back on top of the stack: in a run loop of its
//! own, or, for a generator that a loop steps through, in a frame of the loop's own run loop. States: `Start` (never ran) and `Suspended` may be resumed; `Running` may not; `Completed` is final.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::VecDeque;
use std::sync::Arc;

use super::call::{self, STACK_RESERVE, leave};
use super::template::FunctionTemplate;
use super::{Frame, Next, State, compiled, dispatch, frame_flags};
use crate::builtins::generator;
use crate::builtins::promise::Capability;
use crate::bytecode::Op;
use crate::bytecode::code::FunctionCode;
use crate::gc::{Data, ExternalCharge, Gc, Trace, Tracer, data_of, tag};
use crate::limits;
use crate::object::{Object, ObjectKind};
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// What the coroutine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoroutineKind {
    /// A generator.
    Generator,
    /// An async function.
    AsyncFunction,
    /// An async generator.
    AsyncGenerator,
    /// A module body.
    Module,
}

/// Where it is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoroutineState {
    /// Never ran (its parameters are bound).
    Start,
    /// At a yield or an await.
    Suspended,
    /// On the stack.
    Running,
    /// Finished.
    Completed,
    /// An async generator that awaits the value of a return request.
    AwaitingReturn,
}

/// How a coroutine is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// With a value.
    Next = 0,
    /// With an exception.
    Throw = 1,
    /// With a return completion.
    Return = 2,
}

/// A request to an async generator.
#[derive(Clone, Copy)]
pub struct Request {
    /// The completion.
    pub mode: Mode,
    /// Its value.
    pub value: Value,
    /// Who waits for the answer.
    pub capability: Capability,
}

/// A suspended (or suspendable) activation.
pub struct Coroutine {
    /// What it is.
    pub kind: CoroutineKind,
    /// Where it is in its life.
    pub state: Cell<CoroutineState>,
    /// The callee and the registers. Borrowed for single reads and writes only.
    registers: UnsafeCell<Vec<Value>>,
    /// The suspending instruction.
    pc: Cell<*const u32>,
    template: Cell<Option<Gc<Data<FunctionTemplate>>>>,
    new_target: Cell<Value>,
    /// The promise of an async function (or of a module with top-level await).
    pub promise: Cell<Value>,
    /// The generator yielded the result object of an inner iterator.
    pub is_delegating: Cell<bool>,
    /// Requests of an async generator.
    pub queue: RefCell<VecDeque<Request>>,
    /// For the saved registers, when they are many.
    charge: ExternalCharge,
}

impl Trace for Coroutine {
    const BARRIERED: bool = true;
    const TAG: u8 = tag::COROUTINE;

    fn trace(&self, tracer: &mut Tracer<'_>) {
        if let (Some(template), Some((callee, registers))) =
            (self.template.get(), self.registers().split_first())
        {
            tracer.value(*callee);
            template.trace_registers(registers, template.pc_index(self.pc.get()), tracer);
        }
        for value in [&self.new_target, &self.promise] {
            tracer.value(value.get());
        }
        if let Some(template) = self.template.get() {
            tracer.cell(template);
        }
        for request in self.queue.borrow().iter() {
            tracer.value(request.value);
            request.capability.trace(tracer);
        }
    }
}

impl Coroutine {
    /// The callee and the registers, unless it runs.
    fn registers(&self) -> &[Value] {
        // SAFETY: an isolate is used by one thread, and nobody keeps this reference while the coroutine suspends or resumes.
        unsafe { &*self.registers.get() }
    }

    /// Where it is suspended.
    pub(crate) fn place(&self) -> Option<(Arc<FunctionCode>, u32)> {
        let template = self.template.get().filter(|_| self.state.get() == CoroutineState::Suspended)?;
        Some((template.function.clone(), template.pc_index(self.pc.get())))
    }

    /// Whether the suspending instruction is an await.
    pub fn is_awaiting(&self) -> bool {
        // SAFETY: the code lives as long as the template, which the coroutine keeps alive.
        !self.pc.get().is_null() && Op::decode(unsafe { *self.pc.get() }) == Some(Op::Await)
    }
}

impl Vm {
    pub(crate) fn new_coroutine(&mut self, kind: CoroutineKind, promise: Value) -> Gc<Data<Coroutine>> {
        self.alloc_data(Coroutine {
            kind,
            state: Cell::new(CoroutineState::Running),
            registers: UnsafeCell::default(),
            pc: Cell::new(std::ptr::null()),
            template: Cell::new(None),
            new_target: Cell::new(Value::UNDEFINED),
            promise: Cell::new(promise),
            is_delegating: Cell::new(false),
            queue: RefCell::default(),
            charge: ExternalCharge::default(),
        })
    }
}

/// The coroutine of a frame.
pub(crate) fn of_frame(frame: &Frame) -> Option<Gc<Data<Coroutine>>> {
    data_of::<Coroutine>(frame.coroutine)
}

/// Copies the running frame, which is at instruction `pc`, to the heap.
pub(crate) fn suspend(s: State, coroutine: Gc<Data<Coroutine>>, state: CoroutineState) {
    let frame = s.frame();
    if coroutine.template.get().is_none() {
        coroutine.template.set(Some(s.template_cell()));
        coroutine.new_target.set(frame.new_target);
    }
    // SAFETY: the callee is below register 0, and the frame ends at `end`.
    let size = unsafe { frame.end.offset_from(frame.regs.sub(1)) as usize };
    // SAFETY: nobody has borrowed the registers of a coroutine that runs.
    unsafe { (*coroutine.registers.get()).reserve_exact(size) };
    if size > limits::UNCHARGED_VALUES_MAX {
        // Nothing may be collected here. The next allocation sees what is charged.
        coroutine.charge.set_beyond_limit(&s.vm().heap, size * size_of::<Value>());
    }
    save(s, coroutine, state);
}

/// [`suspend`] into memory that is large enough.
#[inline(always)]
fn save(s: State, coroutine: Gc<Data<Coroutine>>, state: CoroutineState) {
    let frame = s.frame();
    // SAFETY: the callee is below register 0, and the frame ends at `end`; nobody has borrowed the registers of a coroutine
    // that runs, and their memory is that of this very frame (`suspend` reserved it).
    unsafe {
        let first = frame.regs.sub(1);
        let size = frame.end.offset_from(first) as usize;
        let registers = &mut *coroutine.registers.get();
        debug_assert!(registers.is_empty() && registers.capacity() >= size);
        std::ptr::copy_nonoverlapping(first, registers.as_mut_ptr(), size);
        registers.set_len(size);
    }
    coroutine.pc.set(s.pc);
    coroutine.state.set(state);
    coroutine.write_barrier();
}

/// Resumes a coroutine that may be resumed, and runs it until it suspends or ends.
pub fn resume(vm: &mut Vm, coroutine: Gc<Data<Coroutine>>, mode: Mode, value: Value) -> JsResult<Value> {
    let Some(template) = coroutine.template.get() else { return Ok(Value::UNDEFINED) };
    let previous = vm.enter_realm(template.realm);
    let result = resume_in_realm(vm, coroutine, template, mode, value);
    vm.enter_realm(previous);
    result
}

fn resume_in_realm(
    vm: &mut Vm,
    coroutine: Gc<Data<Coroutine>>,
    template: Gc<Data<FunctionTemplate>>,
    mode: Mode,
    value: Value,
) -> JsResult<Value> {
    vm.check_native_stack()?;
    let top = vm.stack.top;
    let state = push_resumed(vm, coroutine, template, frame_flags::ENTRY)?;
    let next = compiled::enter_if_compiled(deliver(state, mode, value));
    dispatch::run(State::at(vm, next));
    let result = std::mem::replace(&mut vm.interpreter.exit, Ok(Value::UNDEFINED));
    vm.stack.top = top;
    result
}

/// Copies a coroutine's frame back to the stack; the state is at the instruction that suspended it.
fn push_resumed(
    vm: &mut Vm,
    coroutine: Gc<Data<Coroutine>>,
    template: Gc<Data<FunctionTemplate>>,
    flags: u8,
) -> JsResult<State> {
    vm.poll()?;
    let below = vm.interpreter.frame;
    match restore(vm, below, coroutine, template, flags) {
        Some(state) => Ok(state),
        None => Err(vm.throw_stack_overflow()),
    }
}

/// The same without a poll; `None` if there is no room.
#[inline(always)]
fn restore(
    vm: &mut Vm,
    below: *mut Frame,
    coroutine: Gc<Data<Coroutine>>,
    template: Gc<Data<FunctionTemplate>>,
    flags: u8,
) -> Option<State> {
    let top = vm.stack.top;
    let frame = below.wrapping_add(1);
    let size = coroutine.registers().len();
    let end = top.wrapping_add(size);
    if end.wrapping_add(STACK_RESERVE) > vm.stack.limit() || frame >= vm.interpreter.frames_end {
        return None;
    }
    // SAFETY: there is room for the registers and for one more frame. The registers' memory is used again when the frame is
    // copied back.
    let regs = unsafe {
        let registers = &mut *coroutine.registers.get();
        std::ptr::copy_nonoverlapping(registers.as_ptr(), top, size);
        registers.set_len(0);
        let regs = top.add(1);
        frame.write(Frame {
            regs,
            pc: coroutine.pc.get(),
            feedback: template.feedback,
            constants: template.constants,
            end,
            new_target: coroutine.new_target.get(),
            arguments: top.add(2),
            argument_count: 0,
            dst: 0,
            flags,
            coroutine: Value::cell(coroutine),
            template_cell: Value::cell(template),
            resume: std::mem::MaybeUninit::uninit(),
        });
        regs
    };
    vm.interpreter.frame = frame;
    vm.stack.top = end;
    coroutine.state.set(CoroutineState::Running);
    Some(State::new(coroutine.pc.get(), regs, vm, frame))
}

/// The marker, in place of a record's `next` method, of a generator that a loop steps: its `next` is the language's own, and
/// its code is of the loop's realm.
pub(crate) const STEPS: Value = Value::TRUE;

/// Whether a loop in the current realm may step the generator `iterator`, whose `next` method is `next`, in its own run loop.
pub(crate) fn may_step(vm: &Vm, iterator: Object, next: Value) -> bool {
    iterator.is(ObjectKind::Generator)
        && generator::is_next(vm, next)
        && iterator
            .data::<Coroutine>(generator::COROUTINE_SLOT)
            .and_then(|coroutine| coroutine.template.get())
            .is_some_and(|template| vm.runs_in(template.realm))
}

/// The coroutine of an iterator record that is marked with [`STEPS`].
#[inline(always)]
fn stepped(iterator: Value, next: Value) -> Option<Gc<Data<Coroutine>>> {
    if next != STEPS {
        return None;
    }
    let generator = iterator.as_object().filter(|object| object.is(ObjectKind::Generator))?;
    // SAFETY: generators have their coroutine in their first inline slot from birth.
    data_of::<Coroutine>(unsafe { generator.inline_slot(generator::COROUTINE_SLOT) })
}

/// The common case of [`enter_step`]: a generator that is at a yield.
#[inline(always)]
pub(crate) fn step_into(s: State) -> Option<State> {
    let coroutine = stepped(s.reg(s.b()), s.reg(s.b() + 1))?;
    let vm = s.vm();
    if coroutine.state.get() != CoroutineState::Suspended || vm.budget <= 1 {
        return None;
    }
    // SAFETY: the code lives as long as the template, which the coroutine keeps alive.
    let word = unsafe { *coroutine.pc.get() };
    if word & 0xff != Op::Yield as u32 {
        return None;
    }
    let template = coroutine.template.get()?;
    let resumed = restore(vm, s.frame, coroutine, template, frame_flags::STEP)?;
    vm.budget -= 1;
    s.sync();
    resumed.set(resumed.a(), Value::UNDEFINED);
    Some(State::new(
        resumed.pc.wrapping_offset(resumed.x() as i32 as isize),
        resumed.regs,
        s.vm,
        resumed.frame,
    ))
}

/// A generator that the frame below steps yields a value, and that frame goes on.
#[inline(always)]
pub(crate) fn yield_to_step(s: State) -> Option<State> {
    let coroutine = of_frame(s.frame())?;
    let value = s.reg(s.b());
    coroutine.is_delegating.set(false);
    save(s, coroutine, CoroutineState::Suspended);
    call::pop(s.vm(), s.frame);
    let stepping = stepping_instruction(s.vm());
    stepping.set(stepping.a(), value);
    Some(State::new(stepping.pc.wrapping_add(2), stepping.regs, s.vm, stepping.frame))
}

/// Steps the generator of the iterator record of the instruction at `s` (see [`complete_step`]) in a frame of this run
/// loop. `None` if the record is not that of such a generator.
pub(crate) fn enter_step(s: State) -> Option<JsResult<Next>> {
    let vm = s.vm();
    let coroutine = stepped(s.reg(s.b()), s.reg(s.b() + 1))?;
    match coroutine.state.get() {
        CoroutineState::Start | CoroutineState::Suspended => {}
        CoroutineState::Running => return Some(Err(generator::throw_running(vm))),
        _ => return Some(Ok(complete_step(s, Ok(None)))),
    }
    let template = coroutine.template.get()?;
    let entered = push_resumed(vm, coroutine, template, frame_flags::STEP);
    Some(entered.map(|state| deliver(state, Mode::Next, Value::UNDEFINED)))
}

/// Calls `next` of the iterator record in register b, with register c, in a frame of this run loop. `None` if it is not the
/// language's own, of a generator that can go on in this realm: then it is a call like any other.
pub(crate) fn enter_next(s: State) -> Option<JsResult<Next>> {
    let vm = s.vm();
    let iterator = s.reg(s.b()).as_object()?;
    if !may_step(vm, iterator, s.reg(s.b() + 1)) {
        return None;
    }
    let coroutine = iterator.data::<Coroutine>(generator::COROUTINE_SLOT)?;
    if !matches!(coroutine.state.get(), CoroutineState::Start | CoroutineState::Suspended) {
        return None;
    }
    let template = coroutine.template.get()?;
    let value = s.reg(s.c());
    let entered = push_resumed(vm, coroutine, template, frame_flags::NEXT);
    Some(entered.map(|state| {
        state.frame().dst = s.a() as u8;
        deliver(state, Mode::Next, value)
    }))
}

/// How a generator leaves its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It yielded a value.
    Yielded,
    /// It yielded the result object of an inner iterator.
    Delegated,
    /// It is done.
    Done,
}

/// A generator leaves its frame with `value`: to native code, or to the instruction that stepped it or called its `next`.
pub(crate) fn leave_generator(s: State, left: Left, value: Value) -> Next {
    let vm = s.vm();
    if s.frame().flags & frame_flags::NEXT != 0 {
        let result = match left {
            Left::Delegated => value,
            _ => Value::object(vm.create_iter_result_object(value, left == Left::Done)),
        };
        return leave(vm, s.frame, result);
    }
    if s.frame().flags & frame_flags::STEP == 0 {
        return leave(vm, s.frame, value);
    }
    let flags = s.frame().flags;
    call::pop(vm, s.frame);
    let stepping = stepping_instruction(vm);
    let item = match (left, value.as_object()) {
        (Left::Done, _) => Ok(None),
        (Left::Delegated, Some(result)) => vm.iterator_result_value(result),
        _ => Ok(Some(value)),
    };
    compiled::go_on(flags, complete_step(stepping, item))
}

/// The instruction of the running frame that waits for a generator's step.
#[inline(always)]
fn stepping_instruction(vm: &mut Vm) -> State {
    let frame = vm.interpreter.frame;
    // SAFETY: a frame with the STEP flag is above a frame whose `pc` is past the first word of the instruction.
    unsafe { State::new((*frame).pc.sub(1), (*frame).regs, vm, frame) }
}

/// A generator that the running frame steps has thrown.
pub(crate) fn abandon_step(vm: &mut Vm) {
    close_record(stepping_instruction(vm));
}

/// Gives the value to the suspending instruction and says where the code goes on.
fn deliver(s: State, mode: Mode, value: Value) -> Next {
    let op = Op::decode(s.word(0)).unwrap_or(Op::Nop);
    let words = op.len();
    if mode == Mode::Throw && op != Op::YieldDelegate {
        s.sync();
        let abrupt = s.vm().throw(value);
        return s.unwind(abrupt);
    }
    match op {
        Op::Yield => {
            s.set(s.a(), value);
            // A return falls through to the code that leaves the function.
            if mode == Mode::Return { s.advance(words) } else { s.jump_to(s.x() as i32) }
        }
        Op::YieldDelegate => {
            s.set(s.a(), value);
            s.set(s.c(), Value::int32(mode as i32));
            s.advance(words)
        }
        Op::Await => {
            s.set(s.a(), value);
            s.advance(words)
        }
        _ => s.advance(words),
    }
}

/// An abrupt completion leaves the frame of a coroutine. `Some(Ok(value))`: the frame returns `value` instead.
pub(crate) fn abandon(vm: &mut Vm, frame: *mut Frame, abrupt: Abrupt) -> Option<JsResult<Value>> {
    // SAFETY: the frame is running.
    let coroutine = of_frame(unsafe { &*frame })?;
    coroutine.state.set(CoroutineState::Completed);
    if abrupt == Abrupt::Terminate {
        return None;
    }
    match coroutine.kind {
        CoroutineKind::Generator => None,
        CoroutineKind::Module if !coroutine.promise.get().is_object() => None,
        CoroutineKind::AsyncFunction | CoroutineKind::Module => {
            let reason = vm.take_exception();
            let promise = coroutine.promise.get();
            if let Some(promise) = promise.as_object() {
                crate::builtins::promise::reject_promise(vm, promise, reason);
            }
            Some(Ok(promise))
        }
        CoroutineKind::AsyncGenerator => {
            let reason = vm.take_exception();
            let done = crate::builtins::async_generator::complete(vm, coroutine, Err(reason));
            Some(done.map(|()| Value::UNDEFINED))
        }
    }
}

/// Ends an IteratorNext with the iterator's next value, or with its end.
pub(crate) fn complete_step(s: State, item: JsResult<Option<Value>>) -> Next {
    match item {
        Ok(Some(value)) => {
            s.set(s.a(), value);
            s.advance(2)
        }
        Ok(None) => {
            close_record(s);
            s.set(s.a(), Value::UNDEFINED);
            s.jump_to(s.x() as i32)
        }
        Err(abrupt) => {
            close_record(s);
            s.unwind(abrupt)
        }
    }
}

/// An iterator that is done or has thrown is not closed any more.
fn close_record(s: State) {
    s.set(s.b(), Value::UNDEFINED);
    s.set(s.b() + 1, Value::UNDEFINED);
}

/// Ends a coroutine's frame with `value`.
pub(crate) fn finish(s: State, value: Value) -> Next {
    leave(s.vm(), s.frame, value)
}

/// Unwinds from a slow path of suspension.
pub(crate) fn fail(s: State, abrupt: Abrupt) -> Next {
    call::unwind(s.vm(), abrupt)
}
