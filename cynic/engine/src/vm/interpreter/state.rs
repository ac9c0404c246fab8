//! [`State`]: what a handler works on, and the ways on from it.
//!
//! A handler takes a state and ends with a [`Step`], made by `next`, `jump`, `go` or `slow!`. In the match loop a step is
//! the next state. In the tail-calling dispatcher making the step *is* going there: the method calls the next handler,
//! and as the last thing a handler does, that call is compiled to a jump. So nothing may follow the making of a step.

use super::template::{FunctionTemplate, Ic};
use super::{Frame, call};
use crate::gc::{Data, Gc};
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// What a handler works on.
#[derive(Clone, Copy)]
pub(crate) struct State {
    pub(crate) pc: *const u32,
    pub(crate) regs: *mut Value,
    pub(crate) vm: *mut Vm,
    pub(crate) frame: *mut Frame,
    /// The word at `pc`, which the dispatcher has read anyway.
    pub(super) first: u32,
}

/// The outcome of a handler: the state to go on with.
#[cfg(not(cynic_tail_calls))]
pub(crate) type Step = State;

/// The outcome of a handler: it has gone on already.
#[cfg(cynic_tail_calls)]
pub(crate) type Step = ();

/// Where to go on after a slow path; small enough for two machine registers.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Next {
    pub(crate) pc: *const u32,
    pub(crate) frame: *mut Frame,
}

#[allow(clippy::mut_from_ref)]
impl State {
    /// The state at an instruction of `frame`, whose registers are `regs`.
    #[inline(always)]
    pub(crate) fn new(pc: *const u32, regs: *mut Value, vm: *mut Vm, frame: *mut Frame) -> State {
        // SAFETY: verified code: `pc` is the start of an instruction.
        let first = unsafe { *pc };
        State { pc, regs, vm, frame, first }
    }
    /// The state to go on with after a slow path.
    #[inline(always)]
    pub(crate) fn at(vm: *mut Vm, next: Next) -> State {
        // SAFETY: a slow path returns a live frame.
        let regs = unsafe { (*next.frame).regs };
        State::new(next.pc, regs, vm, next.frame)
    }
    /// The word `i` of the instruction.
    #[inline(always)]
    pub(crate) fn word(self, i: usize) -> u32 {
        // SAFETY: verified code: the instruction is whole.
        if i == 0 { self.first } else { unsafe { *self.pc.add(i) } }
    }
    #[inline(always)]
    pub(crate) fn a(self) -> usize {
        (self.word(0) >> 8) as usize & 0xff
    }
    #[inline(always)]
    pub(crate) fn b(self) -> usize {
        (self.word(0) >> 16) as usize & 0xff
    }
    #[inline(always)]
    pub(crate) fn c(self) -> usize {
        (self.word(0) >> 24) as usize
    }
    #[inline(always)]
    pub(crate) fn x(self) -> u32 {
        self.word(1)
    }
    #[inline(always)]
    pub(crate) fn y(self) -> u32 {
        self.word(2)
    }
    /// The register `i`.
    #[inline(always)]
    pub(crate) fn reg(self, i: usize) -> Value {
        // SAFETY: verified code: registers are inside the frame.
        unsafe { *self.regs.add(i) }
    }
    #[inline(always)]
    pub(crate) fn set(self, i: usize, v: Value) {
        // SAFETY: as in `reg`.
        unsafe { *self.regs.add(i) = v }
    }
    #[inline(always)]
    pub(crate) fn vm(self) -> &'static mut Vm {
        // SAFETY: the run loop owns the isolate exclusively; no other reference is live inside a handler.
        unsafe { &mut *self.vm }
    }
    #[inline(always)]
    pub(crate) fn frame(self) -> &'static mut Frame {
        // SAFETY: the frame is on the frame stack while its code runs.
        unsafe { &mut *self.frame }
    }
    #[inline(always)]
    pub(crate) fn ic(self) -> &'static mut Ic {
        // SAFETY: verified code: the site exists; the template lives as long as its frame.
        unsafe { &mut *self.frame().feedback.add(self.x() as usize) }
    }
    #[inline(always)]
    pub(crate) fn constant(self, i: u32) -> Value {
        // SAFETY: verified code: the constant exists.
        unsafe { *self.frame().constants.add(i as usize) }
    }
    #[inline(always)]
    pub(crate) fn template(self) -> &'static FunctionTemplate {
        let frame: &'static Frame = self.frame();
        frame.template()
    }
    /// Records where the frame is, for stack traces and handlers.
    #[inline(always)]
    pub(crate) fn sync(self) {
        self.frame().pc = self.pc.wrapping_add(1);
    }
    /// Going on at the instruction `words` further.
    #[inline(always)]
    pub(crate) fn advance(self, words: usize) -> Next {
        Next { pc: self.pc.wrapping_add(words), frame: self.frame }
    }
    /// The other end of a jump, from a slow path.
    #[inline(always)]
    pub(crate) fn jump_to(self, distance: i32) -> Next {
        Next { pc: self.pc.wrapping_offset(distance as isize), frame: self.frame }
    }
    /// Stores the result and goes on, or unwinds.
    #[inline(always)]
    pub(crate) fn finish(self, words: usize, dst: usize, result: JsResult<Value>) -> Next {
        match result {
            Ok(value) => {
                self.set(dst, value);
                self.advance(words)
            }
            Err(abrupt) => self.unwind(abrupt),
        }
    }
    /// Goes on, or unwinds.
    #[inline(always)]
    pub(crate) fn proceed(self, words: usize, result: JsResult<()>) -> Next {
        match result {
            Ok(()) => self.advance(words),
            Err(abrupt) => self.unwind(abrupt),
        }
    }
    pub(crate) fn unwind(self, abrupt: Abrupt) -> Next {
        call::unwind(self.vm(), abrupt)
    }
    /// The template as a cell.
    pub(crate) fn template_cell(self) -> Gc<Data<FunctionTemplate>> {
        match crate::gc::data_of::<FunctionTemplate>(self.frame().template_cell) {
            Some(template) => template,
            None => unreachable!("a frame has a template"),
        }
    }
}

/// The ways on from a handler. The handlers are compiled twice, with two traits of this name: with this one to go on with the next
/// instruction, with that of `single` to come back.
pub(crate) trait Ways: Sized {
    /// Goes on `words` further.
    fn next(self, words: usize) -> Step;
    /// Goes on at the other end of a jump.
    fn jump(self, distance: i32) -> Step;
    /// Goes on with another state.
    fn go(self) -> Step;
}

impl Ways for State {
    #[inline(always)]
    fn next(self, words: usize) -> Step {
        State::new(self.pc.wrapping_add(words), self.regs, self.vm, self.frame).go()
    }
    #[inline(always)]
    fn jump(self, distance: i32) -> Step {
        State::new(self.pc.wrapping_offset(distance as isize), self.regs, self.vm, self.frame).go()
    }
    #[cfg(not(cynic_tail_calls))]
    #[inline(always)]
    fn go(self) -> Step {
        self
    }
    #[cfg(cynic_tail_calls)]
    #[inline(always)]
    fn go(self) -> Step {
        super::dispatch::go(self);
    }
}

/// Leaves a handler by the slow path `$slow`, which is kept out of the handler's code (and so of its registers).
#[cfg(not(cynic_tail_calls))]
macro_rules! slow {
    ($s:expr, $slow:path) => {
        $crate::vm::interpreter::State::at($s.vm, $slow($s.pc, $s.regs, $s.vm, $s.frame))
    };
}

/// Leaves a handler by the slow path `$slow`, which is kept out of the handler's code (and so of its registers).
#[cfg(cynic_tail_calls)]
macro_rules! slow {
    ($s:expr, $slow:path) => {{
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn out_of_line(
            pc: *const u32,
            regs: *mut $crate::value::Value,
            vm: *mut $crate::vm::Vm,
            frame: *mut $crate::vm::interpreter::Frame,
        ) {
            $crate::vm::interpreter::Ways::go($crate::vm::interpreter::State::at(
                vm,
                $slow(pc, regs, vm, frame),
            ))
        }
        // SAFETY: the handler's own state.
        unsafe { out_of_line($s.pc, $s.regs, $s.vm, $s.frame) }
    }};
}
pub(super) use slow;

/// Goes on in the handler `$handler`, a less common or bulkier way of doing the same instruction, without inlining it.
#[cfg(not(cynic_tail_calls))]
macro_rules! elsewhere {
    ($s:expr, $handler:path) => {
        $handler($s)
    };
}

/// Goes on in the handler `$handler`, a less common or bulkier way of doing the same instruction, without inlining it.
#[cfg(cynic_tail_calls)]
macro_rules! elsewhere {
    ($s:expr, $handler:path) => {{
        #[inline(never)]
        unsafe extern "C" fn out_of_line(
            pc: *const u32,
            regs: *mut $crate::value::Value,
            vm: *mut $crate::vm::Vm,
            frame: *mut $crate::vm::interpreter::Frame,
            first: u32,
        ) {
            $handler($crate::vm::interpreter::State { pc, regs, vm, frame, first })
        }
        // SAFETY: the handler's own state.
        unsafe { out_of_line($s.pc, $s.regs, $s.vm, $s.frame, $s.first) }
    }};
}
pub(super) use elsewhere;
