//! The template tier's translation: each instruction of bytecode becomes a fixed piece of machine code, in one pass.
//!
//! Every instruction has a fast path here, or a call of the interpreter's own function for it, or both: what the fast path does not do
//! goes *out of line* to that function ([`Translator::out_of_line`]). A fast path has no effect before it is sure to finish.
//! Invariant: between instructions everything is in the frame's registers, so that code can be entered at any instruction.
//! Code that is rarely run stands behind the function's ([`Translator::later`]).

mod allocation;
mod arithmetic;
mod calls;
mod compare;
mod control;
mod elements;
mod loads;
mod natives;
mod properties;

use super::masm::{Alu, Assembler, Cond, Label, Reg, Width, at};
use super::offsets::{NOT_CELL, NUMBER_TAG, TAG, VM, frame, of_frame, register};
use super::stubs::Stubs;
use crate::bytecode::Op;
use crate::bytecode::code::FunctionCode;
use crate::bytecode::opcodes::{Kind, operand};
use crate::gc::{CellKind, Data, Gc, offsets as cell};
use crate::object::{Object, ObjectKind};
use crate::vm::Vm;
use crate::vm::interpreter::compiled::Named;
use crate::vm::interpreter::template::FunctionTemplate;
use crate::vm::offsets as vm;

/// The machine code of a function.
pub(super) struct Translation {
    pub(super) asm: Assembler,
    /// See `Compiled::entries`.
    pub(super) entries: Box<[u32]>,
    /// See `Compiled::takes_objects`.
    pub(super) takes_objects: bool,
    /// See `Compiled::named`.
    pub(super) named: Named,
    /// Where the pieces behind the function's code begin, and for which instruction each is: for listings.
    pub(super) pieces: Vec<(u32, u32)>,
}

/// The machine code of `template`.
pub(super) fn translate(vm: &Vm, template: Gc<Data<FunctionTemplate>>, stubs: &Stubs) -> Translation {
    let function = template.function.clone();
    let words = &function.code;
    let mut asm = Assembler::default();
    let labels = (0..=words.len()).map(|_| asm.label()).collect();
    let mut translator = Translator {
        asm,
        words,
        stubs,
        vm,
        template,
        function: &function,
        origins: vec![None; 256].into_boxed_slice(),
        global: Vm::global_object_made(template.realm),
        takes_objects: wants_object(&function),
        named: Named::default(),
        pieces: Vec::new(),
        labels,
        slow: vec![None; words.len()],
        later: Vec::new(),
        place: Place { pc: 0, op: Op::Nop },
    };
    let mut entries = vec![0; words.len()].into_boxed_slice();
    translator.check_this();
    let mut pc = 0;
    while let Some(op) = words.get(pc).and_then(|word| Op::decode(*word)) {
        translator.asm.bind(translator.labels[pc]);
        entries[pc] = if pc == 0 { 0 } else { translator.asm.code.len() as u32 } + 1;
        translator.place = Place { pc, op };
        translator.instruction();
        pc += op.len();
    }
    // Nothing gets here: the verifier saw that code does not run off its end.
    translator.asm.bind(translator.labels[pc.min(words.len())]);
    translator.asm.trap();
    translator.finish_pieces();
    let Translator { asm, takes_objects, named, pieces, .. } = translator;
    Translation { asm, entries, takes_objects, named, pieces }
}

/// Whether the code shall take `this` for an object: where it is used as one more than once, and never changes.
fn wants_object(function: &FunctionCode) -> bool {
    const USES: usize = 2;
    let words = &function.code;
    let (mut pc, mut uses) = (0, 0);
    while let Some(op) = words.get(pc).and_then(|word| Op::decode(*word)) {
        for (slot, kind) in op.info().operands {
            if matches!(kind, Kind::Dst | Kind::Reg) && operand(&words[pc..], *slot) == 0 {
                return false;
            }
        }
        let receiver = match op {
            Op::GetProp | Op::GetMethod | Op::GetPrivate => Some(words[pc] >> 16 & 0xff),
            Op::SetProp | Op::SetPrivate => Some(words[pc] >> 8 & 0xff),
            _ => None,
        };
        uses += usize::from(receiver == Some(0));
        pc += op.len();
    }
    uses >= USES && function.handlers.iter().all(|handler| handler.register != 0)
}

/// Where a register has its value from, probably.
#[derive(Clone, Copy)]
enum Origin {
    /// From a method's site.
    Method(u32),
    /// From a global's site.
    Global(u32),
}

/// Which instruction is being translated.
#[derive(Clone, Copy)]
struct Place {
    pc: usize,
    op: Op,
}

/// A piece of code that stands behind the function's.
type Piece<'a> = Box<dyn FnOnce(&mut Translator<'a>) + 'a>;

struct Translator<'a> {
    asm: Assembler,
    words: &'a [u32],
    stubs: &'a Stubs,
    vm: &'a Vm,
    template: Gc<Data<FunctionTemplate>>,
    function: &'a FunctionCode,
    /// By register: what was read into it last, as far as that says which function it may be.
    origins: Box<[Option<Origin>]>,
    /// The realm's global object, which lives as long as the template.
    global: Option<Object>,
    /// Whether `this` is an object wherever this code runs.
    takes_objects: bool,
    /// The cells that the code names.
    named: Named,
    pieces: Vec<(u32, u32)>,
    /// By word: where the instruction's code begins.
    labels: Vec<Label>,
    /// By word: where the instruction goes out of line, if it does.
    slow: Vec<Option<Label>>,
    later: Vec<(Place, Piece<'a>)>,
    place: Place,
}

impl<'a> Translator<'a> {
    fn instruction(&mut self) {
        let fast = self.load_or_move()
            || self.arithmetic()
            || self.comparison()
            || self.jump_or_branch()
            || self.property()
            || self.element()
            || self.allocation()
            || self.call_or_return();
        if !fast {
            self.execute_out_of_line();
        }
    }

    fn word(&self, i: usize) -> u32 {
        self.words.get(self.place.pc + i).copied().unwrap_or(0)
    }
    fn a(&self) -> usize {
        (self.word(0) >> 8) as usize & 0xff
    }
    fn b(&self) -> usize {
        (self.word(0) >> 16) as usize & 0xff
    }
    fn c(&self) -> usize {
        (self.word(0) >> 24) as usize
    }
    fn x(&self) -> u32 {
        self.word(1)
    }

    /// The code of the instruction `distance` words from this one.
    fn label_at(&self, distance: isize) -> Label {
        self.labels[self.place.pc.wrapping_add_signed(distance)]
    }

    /// The code of the next instruction.
    fn next(&self) -> Label {
        self.label_at(self.place.op.len() as isize)
    }

    /// Where this instruction is executed by the interpreter's function.
    fn out_of_line(&mut self) -> Label {
        let pc = self.place.pc;
        if let Some(label) = self.slow[pc] {
            return label;
        }
        let label = self.asm.label();
        self.slow[pc] = Some(label);
        self.later(move |t| {
            t.asm.bind(label);
            t.execute_out_of_line();
            let next = t.next();
            t.asm.jmp(next);
        });
        label
    }

    /// Leaves frames whose `this` is no object to the interpreter, if the code wants one.
    fn check_this(&mut self) {
        if !self.takes_objects {
            return;
        }
        let other = self.elsewhere(|t| {
            t.constant(Reg::Rax, t.template.code as u64);
            t.asm.store(of_frame(frame::PC), Reg::Rax);
            t.asm.jmp_to(t.stubs.resume);
        });
        self.get(Reg::Rax, 0);
        self.check_object(Reg::Rax, other);
    }

    /// Whether a register is sure to hold an object.
    fn is_object(&self, i: usize) -> bool {
        i == 0 && self.takes_objects
    }

    /// Notes where register `a` has its value from.
    fn note_origin(&mut self, origin: Origin) {
        let a = self.a();
        self.origins[a] = Some(origin);
    }

    /// rdi = how far this instruction is from the first, in bytes.
    fn distance(&mut self) {
        self.asm.mov_i(Reg::Rdi, (self.place.pc * size_of::<u32>()) as u64);
    }

    /// Calls the interpreter's function for this instruction; the code goes on with the next one.
    fn execute_out_of_line(&mut self) {
        self.distance();
        self.asm.call_to(self.stubs.op(self.place.op));
    }

    /// Makes a piece of code behind the function's, for the instruction that is being translated.
    fn later(&mut self, piece: impl FnOnce(&mut Translator<'a>) + 'a) {
        self.later.push((self.place, Box::new(piece)));
    }

    /// [`Translator::later`], and where that piece begins.
    fn elsewhere(&mut self, piece: impl FnOnce(&mut Translator<'a>) + 'a) -> Label {
        let label = self.asm.label();
        self.later(move |t| {
            t.asm.bind(label);
            piece(t);
        });
        label
    }

    fn finish_pieces(&mut self) {
        while !self.later.is_empty() {
            for (place, piece) in std::mem::take(&mut self.later) {
                self.place = place;
                self.pieces.push((self.asm.code.len() as u32, place.pc as u32));
                piece(self);
            }
        }
    }

    /// Loads the register `i`.
    fn get(&mut self, to: Reg, i: usize) {
        self.asm.load(to, register(i));
    }

    /// Stores to the register `i`.
    fn set(&mut self, i: usize, from: Reg) {
        self.asm.store(register(i), from);
    }

    /// `to = value`, a constant of the engine's or a small number of the guest's.
    fn constant(&mut self, to: Reg, value: u64) {
        self.asm.mov_i(to, value);
    }

    /// `to` = the int32 that is word `i` of the instruction. A large one is not written into the code, where a guest could choose what it
    /// is as an instruction, but read from the bytecode.
    fn immediate(&mut self, to: Reg, i: usize) {
        let value = self.word(i) as i32;
        if i16::try_from(value).is_ok() {
            self.asm.mov_i(to, u64::from(value as u32));
        } else {
            self.asm.mov_i(to, self.template.code.wrapping_add(self.place.pc + i) as u64);
            self.asm.load32(to, at(to, 0));
        }
    }

    /// Goes elsewhere unless `value` is an object.
    fn check_object(&mut self, value: Reg, no: Label) {
        self.check_cell(value, no);
        self.asm.cmp8_mi(at(value, cell::KIND), CellKind::Object as u8);
        self.asm.jcc(Cond::NotEqual, no);
    }

    /// Goes elsewhere unless `value` is a cell.
    fn check_cell(&mut self, value: Reg, no: Label) {
        self.asm.test(Width::W64, value, NOT_CELL);
        self.asm.jcc(Cond::NotEqual, no);
    }

    /// Goes elsewhere unless `value`, which is a cell, is an object of this kind.
    fn check_kind(&mut self, value: Reg, scratch: Reg, kind: ObjectKind, no: Label) {
        const _: () = assert!(cell::KIND == 0 && cell::A == 2);
        self.asm.load32(scratch, at(value, 0));
        self.asm.alu_i(Width::W32, Alu::And, scratch, 0x00ff_00ff);
        self.asm.alu_i(Width::W32, Alu::Cmp, scratch, ((kind as i32) << 16) | CellKind::Object as i32);
        self.asm.jcc(Cond::NotEqual, no);
    }

    /// Goes elsewhere unless `value` is an int32.
    fn check_int(&mut self, value: Reg, no: Label) {
        self.asm.alu(Width::W64, Alu::Cmp, value, TAG);
        self.asm.jcc(Cond::Below, no);
    }

    /// Makes a value of the int32 in the low half of `reg`, whose upper half is zero.
    fn box_int(&mut self, reg: Reg) {
        const _: () = assert!(NUMBER_TAG as u32 == 0);
        self.asm.alu(Width::W64, Alu::Or, reg, TAG);
    }

    /// One step, before going back: goes to the poll when the budget is used up.
    fn step(&mut self) {
        self.steps(1);
    }

    /// So many steps at once, where the interpreter takes them one after the other.
    fn steps(&mut self, count: i32) {
        let due = self.elsewhere(move |t| {
            // The interpreter's function takes them itself.
            t.asm.alu_mi(Width::W32, Alu::Add, at(VM, vm::BUDGET), count);
            let slow = t.out_of_line();
            t.asm.jmp(slow);
        });
        self.asm.alu_mi(Width::W32, Alu::Sub, at(VM, vm::BUDGET), count);
        self.asm.jcc(Cond::BelowEqual, due);
    }
}
