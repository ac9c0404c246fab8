//! The code that all compiled functions share: entering, leaving, executing an instruction out of line.
//!
//! Compiled code is entered by a call of [`Stubs::enter`] and returns a [`Next`]. An instruction that it does not do itself it executes
//! by a call of that opcode's stub, with the distance of the instruction from the first, in bytes, in rdi. The stub comes back if the frame goes on with the next
//! instruction; else it drops its return address and *dispatches*: to the compiled code of the place where to go on, or out.
//! While an instruction runs out of line, its frame's template is on the native stack, where the collector finds it: so the code that
//! the stub returns to is not given back, whatever the instruction does to its frame.

#![allow(unsafe_code)]

use std::cell::Cell;

use super::masm::{Alu, Assembler, Cond, Label, Reg, Width, at};
use super::offsets::{
    FRAME, ICS, NOT_CELL, NOT_CELL_BITS, NUMBER_TAG, REGS, TAG, VM, frame, of_frame, template,
};
use super::region::Region;
use super::typed;
use crate::bytecode::Op;
use crate::bytecode::opcodes::OP_COUNT;
use crate::value::Value;
use crate::vm::Vm;
use crate::vm::interpreter::compiled::{ENTER_CODE, EnterStub};
use crate::vm::interpreter::short;
use crate::vm::interpreter::single::{Single, call_native, function_of};
use crate::vm::interpreter::{Frame, Next, frame_flags};
use crate::vm::offsets as isolate;

/// The addresses of the shared code.
pub(super) struct Stubs {
    /// Enters compiled code.
    pub(super) enter: EnterStub,
    /// Goes on in the running frame at its own `pc`.
    pub(super) resume: usize,
    /// Reads an element of a typed array: see `typed`.
    pub(super) typed_get: usize,
    /// Writes one.
    pub(super) typed_set: usize,
    /// Makes the object that a constructor begins with: `(isolate, closure)`, 0 if its shape is not known.
    pub(super) new_this: usize,
    /// Calls a native function, as the instruction at rdi says.
    pub(super) native: usize,
    /// See `interpreter::short`.
    pub(super) slot: usize,
    pub(super) set_slot: usize,
    pub(super) set_element: usize,
    pub(super) named: usize,
    pub(super) unit: usize,
    pub(super) set_named: usize,
    pub(super) push: usize,
    pub(super) pop: usize,
    /// By opcode: executes an instruction.
    ops: Vec<usize>,
    /// By opcode: how often that was done. The code counts.
    counts: Box<[Cell<u64>]>,
}

impl Stubs {
    /// Makes the shared code; `None` where executable memory is refused.
    pub(super) fn make(region: &mut Region) -> Option<Stubs> {
        let mut asm = Assembler::default();
        let (enter, resume, dispatch) = (asm.label(), asm.label(), asm.label());
        asm.bind(enter);
        emit_enter(&mut asm);
        asm.bind(resume);
        note_frame(&mut asm);
        asm.load(Reg::Rax, of_frame(frame::PC));
        asm.mov(Reg::Rdx, FRAME);
        asm.bind(dispatch);
        emit_dispatch(&mut asm);
        let (typed_get, typed_set) = (asm.label(), asm.label());
        asm.bind(typed_get);
        typed::emit_get(&mut asm);
        asm.bind(typed_set);
        typed::emit_set(&mut asm);
        let new_this = emit_function(&mut asm, new_this_of as *const ());
        let (slot, set_slot) = (
            emit_function(&mut asm, short::slot as *const ()),
            emit_function(&mut asm, short::set_slot as *const ()),
        );
        let set_element = emit_function(&mut asm, short::set_element as *const ());
        let named = emit_function(&mut asm, short::named as *const ());
        let unit = emit_function(&mut asm, short::unit as *const ());
        let set_named = emit_function(&mut asm, short::set_named as *const ());
        let push = emit_function(&mut asm, short::push as *const ());
        let pop = emit_function(&mut asm, short::pop as *const ());
        let native = asm.label();
        asm.bind(native);
        emit_single(&mut asm, call_native, Op::Call.len(), dispatch);
        let counts: Box<[Cell<u64>]> = (0..OP_COUNT).map(|_| Cell::new(0)).collect();
        let ops: Vec<Label> = (0..OP_COUNT).map(|_| asm.label()).collect();
        for (i, label) in ops.iter().enumerate() {
            let Some(op) = Op::decode(i as u32) else { continue };
            asm.bind(*label);
            asm.mov_i(Reg::Rax, counts[i].as_ptr() as u64);
            asm.alu_mi(Width::W64, Alu::Add, at(Reg::Rax, 0), 1);
            emit_single(&mut asm, function_of(op), op.len(), dispatch);
        }
        let address = region.take(asm.code.len())?;
        let place = |label: &Label| address + asm.offset_of(*label) as usize;
        let (enter, resume, ops) = (place(&enter), place(&resume), ops.iter().map(place).collect());
        let (typed_get, typed_set) = (place(&typed_get), place(&typed_set));
        let [new_this, slot, set_slot, set_element, named, unit, set_named, push, pop, native] =
            [new_this, slot, set_slot, set_element, named, unit, set_named, push, pop, native]
                .map(|label| place(&label));
        let code = asm.finish(address)?;
        if !region.write(address, &code) {
            return None;
        }
        // SAFETY: the code at this address takes and gives what the type says.
        let enter = unsafe { std::mem::transmute::<usize, EnterStub>(enter) };
        Some(Stubs {
            enter,
            resume,
            typed_get,
            typed_set,
            new_this,
            native,
            slot,
            set_slot,
            set_element,
            named,
            unit,
            set_named,
            push,
            pop,
            ops,
            counts,
        })
    }

    /// How often instructions were executed out of line, by opcode, most first.
    pub(super) fn out_of_line(&self) -> Vec<(&'static str, u64)> {
        let named = self.counts.iter().enumerate().filter_map(|(i, count)| {
            let op = Op::decode(i as u32)?;
            (count.get() != 0).then(|| (op.info().name, count.get()))
        });
        let mut counts: Vec<_> = named.collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// What is at an address outside the function's code, for listings.
    pub(super) fn name_of(&self, address: usize) -> String {
        let shared = [
            (self.resume, "resume"),
            (self.typed_get, "typed_get"),
            (self.typed_set, "typed_set"),
            (self.new_this, "new_this"),
            (self.native, "native"),
            (self.slot, "slot"),
            (self.set_slot, "set_slot"),
            (self.set_element, "set_element"),
            (self.named, "named"),
            (self.unit, "unit"),
            (self.set_named, "set_named"),
            (self.push, "push"),
            (self.pop, "pop"),
        ];
        if let Some((_, name)) = shared.iter().find(|(at, _)| *at == address) {
            return (*name).into();
        }
        let op = self.ops.iter().position(|at| *at == address).and_then(|i| Op::decode(i as u32));
        op.map_or_else(|| "another function".into(), |op| format!("out of line: {}", op.info().name))
    }

    /// The stub that executes instructions of this opcode.
    pub(super) fn op(&self, op: Op) -> usize {
        self.ops[op as usize]
    }
}

const SAVED: [Reg; 6] = [Reg::Rbx, Reg::Rbp, Reg::R12, Reg::R13, Reg::R14, Reg::R15];

/// `(address, isolate, frame)`, as `EnterStub` says.
fn emit_enter(asm: &mut Assembler) {
    for register in SAVED {
        asm.push(register);
    }
    // Calls are made with the stack at a multiple of 16.
    asm.alu_i(Width::W64, Alu::Sub, Reg::Rsp, 8);
    asm.mov(VM, Reg::Rsi);
    asm.mov(FRAME, Reg::Rdx);
    asm.mov_i(TAG, NUMBER_TAG);
    asm.mov_i(NOT_CELL, NOT_CELL_BITS);
    load_frame(asm);
    asm.jmp_r(Reg::Rdi);
}

/// Loads what belongs to the running frame.
pub(super) fn load_frame(asm: &mut Assembler) {
    asm.load(REGS, of_frame(frame::REGS));
    asm.load(ICS, of_frame(frame::FEEDBACK));
}

/// Tells the isolate which frame is running and where its registers end: compiled code leaves both as they are when it makes and leaves
/// frames, until somebody may look. Changes rax.
pub(super) fn note_frame(asm: &mut Assembler) {
    asm.store(at(VM, isolate::FRAME), FRAME);
    asm.load(Reg::Rax, of_frame(frame::END));
    asm.store(at(VM, isolate::STACK_TOP), Reg::Rax);
}

/// Goes on at the place (rax) of a frame (rdx), wherever that is.
fn emit_dispatch(asm: &mut Assembler) {
    let out = asm.label();
    asm.mov(Reg::Rdi, VM);
    asm.mov(Reg::Rsi, Reg::Rax);
    asm.mov(Reg::Rcx, FRAME);
    asm.mov_i(Reg::Rax, find_code as *const () as u64);
    asm.call_r(Reg::Rax);
    asm.mov32(Reg::Rcx, Reg::Rdx);
    asm.alu_i(Width::W32, Alu::And, Reg::Rcx, OUTSIDE as i32);
    asm.jcc(Cond::NotEqual, out);
    asm.mov(FRAME, Reg::Rdx);
    load_frame(asm);
    asm.jmp_r(Reg::Rax);
    asm.bind(out);
    asm.alu_i(Width::W64, Alu::And, Reg::Rdx, !(OUTSIDE as i32));
    asm.alu_i(Width::W64, Alu::Add, Reg::Rsp, 8);
    for register in SAVED.into_iter().rev() {
        asm.pop(register);
    }
    asm.ret();
}

/// Goes on in a function of Rust, which returns to the caller.
fn emit_function(asm: &mut Assembler, function: *const ()) -> Label {
    let label = asm.label();
    asm.bind(label);
    asm.mov_i(Reg::Rax, function as u64);
    asm.jmp_r(Reg::Rax);
    label
}

/// Executes the instruction of `words` words, rdi bytes from the first, by `function`.
fn emit_single(asm: &mut Assembler, function: Single, words: usize, dispatch: Label) {
    let elsewhere = asm.label();
    note_frame(asm);
    asm.load(Reg::Rax, of_frame(frame::TEMPLATE_CELL));
    asm.push(Reg::Rax);
    asm.alu_m(Width::W64, Alu::Add, Reg::Rdi, at(Reg::Rax, template::CODE));
    asm.push(Reg::Rdi);
    asm.alu_i(Width::W64, Alu::Sub, Reg::Rsp, 8);
    asm.mov(Reg::Rsi, REGS);
    asm.mov(Reg::Rdx, VM);
    asm.mov(Reg::Rcx, FRAME);
    asm.mov_i(Reg::Rax, function as *const () as u64);
    asm.call_r(Reg::Rax);
    asm.load(Reg::Rcx, at(Reg::Rsp, 8));
    asm.alu_i(Width::W64, Alu::Add, Reg::Rsp, 24);
    asm.alu_i(Width::W64, Alu::Add, Reg::Rcx, (words * size_of::<u32>()) as i32);
    asm.alu(Width::W64, Alu::Cmp, Reg::Rax, Reg::Rcx);
    asm.jcc(Cond::NotEqual, elsewhere);
    asm.alu(Width::W64, Alu::Cmp, Reg::Rdx, FRAME);
    asm.jcc(Cond::NotEqual, elsewhere);
    asm.ret();
    asm.bind(elsewhere);
    asm.alu_i(Width::W64, Alu::Add, Reg::Rsp, 8);
    asm.jmp(dispatch);
}

/// In the address of a frame that [`find_code`] answers with: there is no compiled code to go on with.
const OUTSIDE: usize = 1;

/// Where to go on at `pc` of the frame `to`: the address of compiled code, or `pc` itself, and the frame, with [`OUTSIDE`] if it is not
/// code. `from` is the frame that goes there; if `to` is above it, it waits in compiled code from now on.
unsafe extern "C" fn find_code(vm: *mut Vm, pc: *const u32, to: *mut Frame, from: *mut Frame) -> Next {
    // SAFETY: compiled code has the isolate to itself. Both frames are on the frame stack: the records of frames that were left are whole, and their templates are alive as long as
    // the native stack says where the code came from.
    unsafe {
        if to > from {
            (*to).flags |= frame_flags::FROM_CODE;
            wait_in_code(from);
            if (*to).template().compiled().is_none() {
                (*vm).entered_from_code((*to).template_cell);
            }
        }
        let pc = if pc == ENTER_CODE.as_ptr() { (*to).place() } else { pc };
        match (*to).code_at(pc) {
            Some(code) => Next { pc: code.cast(), frame: to },
            None => Next { pc, frame: (to as usize | OUTSIDE) as *mut Frame },
        }
    }
}

/// See [`Stubs::new_this`].
unsafe extern "C" fn new_this_of(vm: *mut Vm, closure: Value) -> u64 {
    // SAFETY: compiled code has the isolate to itself, and looked what the closure is.
    let vm = unsafe { &mut *vm };
    let Some(closure) = closure.as_object() else { return 0 };
    vm.construct_this_known(closure).map_or(0, Value::to_bits)
}

/// Notes where the frame goes on when the one above it returns.
unsafe fn wait_in_code(from: *mut Frame) {
    // SAFETY: a frame that compiled code runs for, as the caller has it; it is below the new one.
    unsafe {
        let Some(compiled) = (*from).template().compiled() else { return };
        let resume = (*from).code_at((*from).pc).unwrap_or(compiled.resume);
        (*from).resume.write(resume);
    }
}
