//! What the interpreter knows of compiled code: the word that enters it, and how frames go back to it.
//!
//! Compiled code is entered by a call of a stub and comes back with a [`Next`], so that it needs nothing of the dispatcher. It uses the
//! frames of bytecode and no native stack between them. [`ENTER_CODE`] stands where a function begins once it is compiled
//! (`FunctionTemplate::start`), and in a `Next` that goes back to a frame that waits in compiled code: the place is then the frame's `pc`.
//!
//! Invariant: entering is always right, because where there is no code for the place, the interpreter goes on there.
//! Left to others: making code (`crate::jit`), which this module reaches through [`Compiler`] only.

use std::any::Any;
use std::sync::Arc;

use super::template::FunctionTemplate;
use super::{Frame, Next, frame_flags};
use crate::bytecode::code::FunctionCode;
use crate::gc::{Data, Gc, Trace, Tracer};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The opcode of the word that enters compiled code. No instruction has it, so that the verifier refuses it in bytecode.
pub(super) const ENTER: u32 = 0xff;

/// The word that enters compiled code.
pub(crate) static ENTER_CODE: [u32; 1] = [ENTER];

/// Enters compiled code at an address, for a frame: `(address, isolate, frame)`.
pub(crate) type EnterStub = unsafe extern "C" fn(*const u8, *mut Vm, *mut Frame) -> Next;

/// What has been compiled in an isolate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Functions that were compiled.
    pub functions: u64,
    /// Words of bytecode that they had.
    pub words: u64,
    /// Bytes of their machine code.
    pub code_bytes: u64,
    /// Functions that were to be compiled and could not be: too long, no room, or executable memory is refused.
    pub refused: u64,
    /// Nanoseconds that compiling took.
    pub compile_ns: u64,
    /// Bytes of executable memory in use now.
    pub used_bytes: usize,
    /// How often compiled code called the interpreter's function for an instruction, by opcode, most first.
    pub out_of_line: Vec<(&'static str, u64)>,
}

/// What makes compiled code.
pub(crate) trait Compiler {
    /// A look at the limits: the place to see what runs often.
    fn polled(&self, vm: &mut Vm);
    /// The same when a call of `template` looked.
    fn called(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>);
    /// Compiled code entered `template`, which may not be compiled.
    fn entered(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>);
    /// A function has been linked.
    fn linked(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>);
    /// What would become of a function, as text; `None` where executable memory is refused.
    fn listing(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>) -> Option<String>;
    /// What has been compiled.
    fn stats(&self) -> Stats;
}

/// The cells whose addresses are in a function's code. While that is made they are rooted by what it was made from, and nothing collects.
#[derive(Default)]
pub(crate) struct Named {
    cells: Vec<Value>,
}

impl Named {
    /// One more.
    #[cfg(cynic_jit)]
    pub(crate) fn push(&mut self, cell: Value) {
        self.cells.push(cell);
    }
}

impl Trace for Named {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.values(&self.cells);
    }
}

/// The compiled code of one function.
pub(crate) struct Compiled {
    /// The first byte.
    pub(crate) base: *const u8,
    /// How many bytes there are.
    pub(crate) len: usize,
    /// By word of bytecode: where the code of the instruction that begins there begins, plus one; 0 where none does.
    pub(crate) entries: Box<[u32]>,
    /// Where a frame goes on whose place has no code of its own to return to.
    pub(crate) resume: *const u8,
    /// How code is entered from outside.
    pub(crate) stub: EnterStub,
    /// Whether the code takes `this` for an object: a frame with another one is the interpreter's.
    pub(crate) takes_objects: bool,
    /// The cells that the code names: they live as long as it.
    pub(crate) named: Named,
    /// Gives the memory back when dropped.
    pub(crate) _owner: Box<dyn Any>,
}

impl FunctionTemplate {
    /// The compiled code's address for the instruction at `pc`, for frames that it may run for ([`Frame::code_at`]).
    fn address_at(&self, pc: *const u32) -> Option<*const u8> {
        let compiled = self.compiled.get()?;
        // `pc` may be an address outside the function: its index is then too large.
        let index = (pc as usize).wrapping_sub(self.code as usize) / size_of::<u32>();
        let entry = *compiled.entries.get(index)?;
        (entry != 0).then(|| compiled.base.wrapping_add(entry as usize - 1))
    }

    /// The compiled code.
    pub(crate) fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get()
    }

    /// From now on, calls enter `compiled`.
    pub(crate) fn install(&self, compiled: Compiled) {
        let _ = self.compiled.set(compiled);
        self.start.set(ENTER_CODE.as_ptr());
        self.entry.set(self.address_at(self.code).unwrap_or(std::ptr::null()));
    }
}

impl Frame {
    /// The address of the compiled code with which the frame goes on at `pc`.
    pub(crate) fn code_at(&self, pc: *const u32) -> Option<*const u8> {
        let template = self.template();
        let takes_objects = template.compiled()?.takes_objects;
        // SAFETY: every frame has a register for `this`.
        if takes_objects && !unsafe { *self.regs }.is_object() {
            return None;
        }
        template.address_at(pc)
    }

    /// Where the frame goes on, when that is to be entered by [`ENTER_CODE`]: a frame that a call has just made begins.
    pub(crate) fn place(&mut self) -> *const u32 {
        if self.pc == ENTER_CODE.as_ptr() {
            self.pc = self.template().code;
        }
        self.pc
    }
}

/// Runs compiled code from the place of `frame`, which is the running one, until it leaves.
pub(super) fn enter(vm: *mut Vm, frame: *mut Frame) -> Next {
    // SAFETY: the dispatcher's own state.
    let (pc, running) = unsafe { ((*frame).place(), &*frame) };
    match (running.code_at(pc), running.template().compiled()) {
        // SAFETY: the address is that of the code of this place, whose frame is the running one.
        (Some(code), Some(compiled)) => unsafe { (compiled.stub)(code, vm, frame) },
        _ => Next { pc, frame },
    }
}

/// Where to go on after a frame with these flags was left: `next`, or the compiled code of that place.
#[inline(always)]
pub(super) fn go_on(flags: u8, next: Next) -> Next {
    if flags & frame_flags::FROM_CODE == 0 { next } else { enter_if_compiled(next) }
}

/// `next`, or the compiled code of that place if its function is compiled.
pub(super) fn enter_if_compiled(next: Next) -> Next {
    // SAFETY: a slow path returns a live frame, or that of a run loop that ends, whose record is whole.
    unsafe {
        if (*next.frame).code_at(next.pc).is_none() {
            return next;
        }
        (*next.frame).pc = next.pc;
    }
    Next { pc: ENTER_CODE.as_ptr(), frame: next.frame }
}

impl Vm {
    /// The step of a call of `template` from native code or a slow path.
    #[inline(always)]
    pub(super) fn poll_call(&mut self, template: Gc<Data<FunctionTemplate>>) -> JsResult<()> {
        if self.budget > 1 {
            self.budget -= 1;
            return Ok(());
        }
        self.poll_call_slow(template)
    }

    #[cold]
    #[inline(never)]
    fn poll_call_slow(&mut self, template: Gc<Data<FunctionTemplate>>) -> JsResult<()> {
        self.poll_slow(1)?;
        if let Some(compiler) = self.interpreter.compiler.clone() {
            compiler.called(self, template);
        }
        Ok(())
    }

    /// Tells the compiler of a look at the limits.
    pub(in crate::vm) fn polled(&mut self) {
        if let Some(compiler) = self.interpreter.compiler.clone() {
            compiler.polled(self);
        }
    }

    /// Tells the compiler that compiled code entered a function that is not compiled.
    #[cfg(cynic_jit)]
    pub(crate) fn entered_from_code(&mut self, template: Value) {
        if let (Some(compiler), Some(template)) =
            (self.interpreter.compiler.clone(), crate::gc::data_of::<FunctionTemplate>(template))
        {
            compiler.entered(self, template);
        }
    }

    /// The machine code of a function of the current realm and of those in it, as it would be before they run, as text. `None` where nothing
    /// compiles.
    pub(crate) fn list_compiled(&mut self, function: &Arc<FunctionCode>) -> Option<String> {
        let compiler = self.interpreter.compiler.clone()?;
        let outermost = self.link(function, Value::UNDEFINED);
        let mut waiting = vec![outermost];
        let mut out = String::new();
        while let Some(template) = waiting.pop() {
            out.push_str(&compiler.listing(self, template)?);
            // The outermost keeps those in it alive, and is on this stack.
            let nested = 0..template.function.functions.len() as u32;
            waiting.extend(nested.rev().map(|i| self.nested_template(template, i)));
        }
        std::hint::black_box(outermost);
        Some(out)
    }

    /// Tells the compiler of a new function.
    pub(super) fn linked(&mut self, template: Gc<Data<FunctionTemplate>>) {
        if let Some(compiler) = self.interpreter.compiler.clone() {
            compiler.linked(self, template);
        }
    }
}
