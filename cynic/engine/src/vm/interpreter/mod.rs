//! The interpreter: frames, the run loop and native re-entry.
//!
//! Start reading here; `dispatch` turns the opcode table into a dispatcher, `handlers` hold the fast paths and `slow`
//! the rest. A [`State`] is what a handler gets: program counter, registers, isolate, frame.
//!
//! A frame is a run of registers on the isolate's register stack (callee at -1, `this` at 0, arguments from 1) and a
//! [`Frame`] record on a separate stack. `Frame::pc` of a frame that is not running, or that is in a slow path, points
//! past the first word of (or past) the current instruction: tables are searched with the word before it.
//!
//! Invariants: `vm.interpreter.frame` is the running frame; `vm.stack.top` is its end, so that everything the
//! collector must see is below; whenever something may allocate, `Frame::pc` says which instruction runs, because the
//! collector looks at the registers that are live there only; bytecode passed the verifier, so operands are inside the frame and its tables.

#![allow(unsafe_code)]

pub mod call;
pub mod closure;
pub mod compiled;
pub mod coroutine;
mod dispatch;
pub mod globals;
mod handlers;
#[cfg(cynic_jit)]
pub(crate) mod short;
#[cfg(cynic_jit)]
pub(crate) mod single;
mod slow;
pub mod stack_trace;
mod state;
pub mod template;

use std::mem::MaybeUninit;

use crate::gc::{Data, Gc, Trace, Tracer};
use crate::limits;
use crate::realm::Realm;
use crate::value::Value;
use crate::vm::call::ClosureHooks;
use crate::vm::register_stack::RegisterStack;
use crate::vm::{JsResult, Vm};
#[cfg(cynic_jit)]
pub(crate) use slow::allocation::slots_of_literal;
use slow::iteration::IterationSlots;
pub(crate) use state::{Next, State, Step, Ways};
use template::{FunctionTemplate, Ic};

/// Whether instructions are dispatched by tail calls, not by a match (see `dispatch`).
pub const TAIL_CALLS: bool = cfg!(cynic_tail_calls);

/// Flags of a frame.
pub mod frame_flags {
    /// Entered from native code: returning leaves the run loop.
    pub const ENTRY: u8 = 1;
    /// A `[[Construct]]`: a result that is no object is replaced by `this`.
    pub const CONSTRUCT: u8 = 1 << 1;
    /// A generator that an instruction of the frame below steps: leaving it completes that instruction.
    pub const STEP: u8 = 1 << 2;
    /// A generator whose `next` an instruction of the frame below calls: leaving it returns a result object there.
    pub const NEXT: u8 = 1 << 3;
    /// The frame below waits in compiled code: going back to it is by [`super::compiled`].
    pub const FROM_CODE: u8 = 1 << 4;
}

/// One activation.
#[repr(C)]
pub struct Frame {
    /// Register 0.
    pub regs: *mut Value,
    /// Where to go on (see the module's head).
    pub pc: *const u32,
    /// Caches of the running function.
    pub feedback: *mut Ic,
    /// Constants of the running function.
    pub constants: *const Value,
    /// One past the last register.
    pub end: *mut Value,
    /// new.target, or undefined.
    pub new_target: Value,
    /// The arguments as passed; `this` and the callee are before them.
    pub arguments: *const Value,
    /// How many arguments were passed.
    pub argument_count: u32,
    /// The caller's register for the result.
    pub dst: u8,
    /// See [`frame_flags`].
    pub flags: u8,
    /// The coroutine this frame belongs to, or undefined.
    pub coroutine: Value,
    /// The template as a value, for the collector.
    pub template_cell: Value,
    /// Where compiled code goes on when the frame above returns: written whenever that one gets `FROM_CODE`, and unknown otherwise.
    pub resume: MaybeUninit<*const u8>,
}

impl Frame {
    /// The running function's template.
    #[inline(always)]
    pub fn template(&self) -> &FunctionTemplate {
        // SAFETY: the cell is a template, which lives as long as its frame.
        unsafe { &*(self.template_cell.to_bits() as *const Data<FunctionTemplate>) }
    }

    /// The first register of the window the frame was called with, which is the callee's.
    fn window(&self) -> *mut Value {
        self.arguments.wrapping_sub(2).cast_mut()
    }
}

/// The interpreter's part of an isolate.
pub struct Interpreter {
    frames: *mut Frame,
    /// One past the last frame there may be.
    pub frames_end: *mut Frame,
    /// The running frame.
    pub frame: *mut Frame,
    /// The realm that called the running run loop's first frame; its entry keeps it alive.
    pub caller_realm: Option<Gc<Data<Realm>>>,
    /// How the run loop ended.
    pub exit: JsResult<Value>,
    /// Jobs to run, oldest first.
    pub jobs: std::collections::VecDeque<super::jobs::Job>,
    /// For the memory of that queue.
    pub(crate) jobs_charge: crate::gc::ExternalCharge,
    /// Where modules come from.
    pub loader: Option<std::rc::Rc<dyn super::modules::ModuleLoader>>,
    /// Counts modules in the order of their asynchronous evaluation.
    pub module_order: u64,
    /// Promises that were rejected with nobody to handle it, for the host to report.
    pub rejections: Vec<Value>,
    /// See [`IterationSlots`].
    iteration_slots: IterationSlots,
    /// What makes compiled code, if something does.
    pub(crate) compiler: Option<std::rc::Rc<dyn compiled::Compiler>>,
}

impl Interpreter {
    /// Reserves the frame stack.
    pub fn new() -> Self {
        let bytes = limits::VM_FRAMES_MAX * size_of::<Frame>();
        // SAFETY: an anonymous private mapping disturbs nobody.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        let failed = base == libc::MAP_FAILED;
        let frames: *mut Frame = if failed { std::ptr::null_mut() } else { base.cast() };
        Self {
            frames,
            frames_end: if failed { frames } else { frames.wrapping_add(limits::VM_FRAMES_MAX) },
            // The first frame stays unused, so that there is always one below.
            frame: frames,
            caller_realm: None,
            exit: Ok(Value::UNDEFINED),
            jobs: std::collections::VecDeque::new(),
            jobs_charge: crate::gc::ExternalCharge::default(),
            loader: None,
            module_order: 0,
            rejections: Vec::new(),
            iteration_slots: IterationSlots::default(),
            compiler: None,
        }
    }

    /// The frames in use, outermost first, without the unused one at the bottom.
    pub fn active_frames(&self) -> &[Frame] {
        if self.frame == self.frames {
            return &[];
        }
        // SAFETY: frames 1..=frame are initialised.
        unsafe {
            let count = self.frame.offset_from(self.frames) as usize;
            std::slice::from_raw_parts(self.frames.add(1), count)
        }
    }

    /// Forgets addresses of cells that nothing keeps alive.
    pub(in crate::vm) fn forget_caches(&mut self) {
        self.iteration_slots = IterationSlots::default();
    }

    /// The function of the frame `i` below the running one.
    pub(crate) fn template_of_frame(&self, i: usize) -> Option<Gc<Data<FunctionTemplate>>> {
        let frame = self.active_frames().iter().rev().nth(i)?;
        crate::gc::data_of::<FunctionTemplate>(frame.template_cell)
    }

    /// Reports the values that frames, their registers on `stack` and jobs hold.
    pub fn trace(&self, stack: &RegisterStack, tracer: &mut Tracer<'_>) {
        self.trace_registers(stack, tracer);
        for frame in self.active_frames() {
            tracer.value(frame.new_target);
            tracer.value(frame.coroutine);
            tracer.value(frame.template_cell);
        }
        if let Ok(value) = self.exit {
            tracer.value(value);
        }
        tracer.values(&self.rejections);
        for job in &self.jobs {
            job.trace(tracer);
        }
    }
}

impl Interpreter {
    /// Reports the registers that frames will still read, and everything that lies between frames (arguments that native
    /// code pushes, or that are more than a function's parameters).
    fn trace_registers(&self, stack: &RegisterStack, tracer: &mut Tracer<'_>) {
        let frames = self.active_frames();
        let mut at = stack.base() as *const Value;
        for (i, frame) in frames.iter().enumerate() {
            let callee = frame.regs.wrapping_sub(1);
            stack.trace(at, callee.wrapping_add(1), tracer);
            // A callee's window lies on its caller's registers, and is the callee's from then on.
            let above = frames.get(i + 1).map_or(frame.end, Frame::window);
            let end = above.min(frame.end).max(frame.regs);
            let template = frame.template();
            let pc = template.pc_index(frame.pc).wrapping_sub(1);
            template.trace_registers(stack.registers(frame.regs, end), pc, tracer);
            at = end;
        }
        stack.trace(at, stack.top, tracer);
    }
}

impl Default for Interpreter {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        if !self.frames.is_null() {
            // SAFETY: the mapping was made with exactly these bounds.
            unsafe { libc::munmap(self.frames.cast(), limits::VM_FRAMES_MAX * size_of::<Frame>()) };
        }
    }
}

/// How the runtime core reaches the interpreter.
pub(crate) const HOOKS: ClosureHooks = ClosureHooks {
    call: Vm::call_closure,
    capture_stack: stack_trace::capture,
    format_stack: |_, stack| {
        crate::gc::data_of::<stack_trace::StackTrace>(stack).map(|stack| stack.format()).unwrap_or_default()
    },
    source_text: |vm, closure| closure::source_text(closure).map(|text| vm.new_string(&text)),
    dynamic_function: |vm, args| vm.create_dynamic_function(args, super::eval::DynamicKind::Normal),
    realm_of: |_, closure| {
        closure.is(crate::object::ObjectKind::Closure).then(|| call::closure_template(closure).realm)
    },
};

/// A handler goes on after its slow path: the way of the handlers that are nothing but that (`handlers::outlined`).
#[inline(always)]
fn after(next: Next, vm: *mut Vm) -> Step {
    State::at(vm, next).go()
}

/// The code that ends a run loop.
pub(crate) static HALT: [u32; 1] = [crate::bytecode::Op::Halt as u32];

impl Vm {
    /// Runs the top frame, which was entered with the ENTRY flag, until it returns.
    pub(crate) fn run(&mut self) -> JsResult<Value> {
        let frame = self.interpreter.frame;
        // SAFETY: the frame was just pushed.
        let pc = unsafe { (*frame).pc };
        dispatch::run(State::at(self, Next { pc, frame }));
        std::mem::replace(&mut self.interpreter.exit, Ok(Value::UNDEFINED))
    }
}
