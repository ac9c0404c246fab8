//! The template tier's translation: each instruction of bytecode becomes a fixed piece of machine code, in one pass.
//!
//! Every instruction has a fast path here, or a call of the interpreter's own function for it, or both: what the fast path does not do
//! goes *out of line* to that function ([`Translator::out_of_line`]). A fast path has no effect before it is sure to finish.
//! Invariant: between instructions everything is in the frame's registers, so that code can be entered at any instruction.
//! Code that is rarely run stands behind the function's ([`Translator::later`]).

mod arithmetic;
mod calls;
mod compare;
mod control;
mod elements;
mod loads;
mod natives;
mod properties;

use super::masm::{Alu, Assembler, Cond, Label, Reg, Width, at};
use super::offsets::{CODE, NUMBER_TAG, TAG, VM, register};
use super::stubs::Stubs;
use crate::bytecode::Op;
use crate::bytecode::code::FunctionCode;
use crate::gc::{CellKind, offsets as cell};
use crate::object::ObjectKind;
use crate::vm::Vm;
use crate::vm::interpreter::template::FunctionTemplate;
use crate::vm::offsets as vm;

/// The machine code of a function.
pub(super) struct Translation {
    pub(super) asm: Assembler,
    /// See `Compiled::entries`.
    pub(super) entries: Box<[u32]>,
}

/// The machine code of `template`.
pub(super) fn translate(template: &FunctionTemplate, stubs: &Stubs) -> Translation {
    let words = &template.function.code;
    let mut asm = Assembler::default();
    let labels = (0..=words.len()).map(|_| asm.label()).collect();
    let mut translator = Translator {
        asm,
        words,
        stubs,
        function: &template.function,
        methods: vec![None; 256].into_boxed_slice(),
        global: Vm::global_object_made(template.realm).map(|global| global.addr()),
        labels,
        slow: vec![None; words.len()],
        later: Vec::new(),
        place: Place { pc: 0, op: Op::Nop },
    };
    let mut entries = vec![0; words.len()].into_boxed_slice();
    let mut pc = 0;
    while let Some(op) = words.get(pc).and_then(|word| Op::decode(*word)) {
        translator.asm.bind(translator.labels[pc]);
        entries[pc] = translator.asm.code.len() as u32 + 1;
        translator.place = Place { pc, op };
        translator.instruction();
        pc += op.len();
    }
    // Nothing gets here: the verifier saw that code does not run off its end.
    translator.asm.bind(translator.labels[pc.min(words.len())]);
    translator.asm.trap();
    translator.finish_pieces();
    Translation { asm: translator.asm, entries }
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
    function: &'a FunctionCode,
    /// By register: the site of the method that was read into it last.
    methods: Box<[Option<u32>]>,
    /// The address of the realm's global object, which lives as long as the template.
    global: Option<usize>,
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

    /// Calls the interpreter's function for this instruction; the code goes on with the next one.
    fn execute_out_of_line(&mut self) {
        self.asm.lea(Reg::Rdi, at(CODE, self.place.pc * size_of::<u32>()));
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
            self.asm.load32(to, at(CODE, (self.place.pc + i) * size_of::<u32>()));
        }
    }

    /// `to` = the object in `value`, or goes elsewhere. The mask is left in `scratch`.
    fn check_object(&mut self, value: Reg, scratch: Reg, no: Label) {
        self.check_cell(value, scratch, no);
        self.asm.cmp8_mi(at(value, cell::KIND), CellKind::Object as u8);
        self.asm.jcc(Cond::NotEqual, no);
    }

    /// Goes elsewhere unless `value` is a cell.
    fn check_cell(&mut self, value: Reg, scratch: Reg, no: Label) {
        const NOT_CELL_BIT: usize = 2;
        self.asm.lea(scratch, at(TAG, NOT_CELL_BIT));
        self.asm.test(Width::W64, value, scratch);
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
