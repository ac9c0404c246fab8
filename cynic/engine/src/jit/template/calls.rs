//! Calls of closures and returns to compiled code: frames are pushed and popped as the interpreter does it, and jumped between.

use super::super::masm::{Alu, Cond, Label, Reg, Width, at, indexed};
use super::super::offsets::{CODE, FRAME, ICS, REGS, VM, frame, of_frame, template};
use super::super::stubs::load_frame;
use super::Translator;
use crate::bytecode::Op;
use crate::gc::{CellKind, offsets as cell};
use crate::object::{OBJECT_HEADER_BYTES, ObjectKind};
use crate::value::Value;
use crate::vm::interpreter::call::STACK_RESERVE;
use crate::vm::interpreter::closure::TEMPLATE_SLOT;
use crate::vm::interpreter::frame_flags;
use crate::vm::interpreter::template::template_flags;
use crate::vm::offsets as vm;

impl Translator<'_> {
    /// A call or a return; false if this instruction is none.
    pub(super) fn call_or_return(&mut self) -> bool {
        match self.place.op {
            Op::Call => self.call(),
            Op::New => self.construct(),
            Op::Ret => self.give_back(Some(self.a())),
            Op::RetUndefined => self.give_back(None),
            _ => return false,
        }
        true
    }

    /// A call of a compiled closure with as many arguments as it has parameters.
    fn call(&mut self) {
        let slow = self.out_of_line();
        self.compiled_callee(slow);
        self.asm.test_mi(at(Reg::Rdx, template::FLAGS), template_flags::CLASS_CONSTRUCTOR);
        self.asm.jcc(Cond::NotEqual, slow);
        self.check_room(slow);
        self.step();
        self.enter_callee(0);
    }

    /// Construction of what a compiled closure that is no derived constructor makes, if the shape is known.
    fn construct(&mut self) {
        let slow = self.out_of_line();
        let base = self.b();
        self.compiled_callee(slow);
        let wanted = template_flags::CONSTRUCTOR;
        self.asm.load32(Reg::Rcx, at(Reg::Rdx, template::FLAGS));
        self.asm.alu_i(Width::W32, Alu::And, Reg::Rcx, (wanted | template_flags::DERIVED) as i32);
        self.asm.alu_i(Width::W32, Alu::Cmp, Reg::Rcx, wanted as i32);
        self.asm.jcc(Cond::NotEqual, slow);
        self.check_room(slow);
        // The interpreter takes one in its slow path, and one for the frame.
        self.steps(2);
        let unknown = self.elsewhere(move |t| {
            t.asm.alu_mi(Width::W32, Alu::Add, at(VM, vm::BUDGET), 2);
            t.asm.jmp(slow);
        });
        // Making the object may collect, which looks at where the frame is.
        self.note_place();
        self.asm.mov(Reg::Rdi, VM);
        self.get(Reg::Rsi, base);
        self.asm.call_to(self.stubs.new_this);
        self.asm.test(Width::W64, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Equal, unknown);
        self.set(base + 1, Reg::Rax);
        self.get(Reg::Rax, base);
        self.asm.load(Reg::Rdx, at(Reg::Rax, OBJECT_HEADER_BYTES + TEMPLATE_SLOT as usize * 8));
        self.asm.load(Reg::R8, at(Reg::Rdx, template::ENTRY));
        self.callee_end();
        self.enter_callee(frame_flags::CONSTRUCT);
    }

    /// rdx = the template of the closure in register b, r8 = its code; elsewhere if it is none of this realm that is compiled and has as
    /// many parameters as there are arguments.
    fn compiled_callee(&mut self, slow: Label) {
        self.get(Reg::Rax, self.b());
        self.check_cell(Reg::Rax, Reg::Rcx, slow);
        self.check_kind(Reg::Rax, Reg::Rcx, ObjectKind::Closure, slow);
        self.asm.load(Reg::Rdx, at(Reg::Rax, OBJECT_HEADER_BYTES + TEMPLATE_SLOT as usize * 8));
        self.asm.alu_mi(Width::W32, Alu::Cmp, at(Reg::Rdx, template::PARAMETERS), self.c() as i32);
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.load(Reg::Rcx, at(Reg::Rdx, template::REALM));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, at(VM, vm::REALM));
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.load(Reg::R8, at(Reg::Rdx, template::ENTRY));
        self.asm.test(Width::W64, Reg::R8, Reg::R8);
        self.asm.jcc(Cond::Equal, slow);
    }

    /// rsi = the end of the registers of a frame for the template rdx.
    fn callee_end(&mut self) {
        self.asm.load32(Reg::Rsi, at(Reg::Rdx, template::REGISTERS));
        self.asm.lea(Reg::Rsi, indexed(REGS, Reg::Rsi, 3, self.callee_window()));
    }

    /// Where register 0 of a callee is, in bytes from that of the caller.
    fn callee_window(&self) -> usize {
        (self.b() + 1) * 8
    }

    /// rsi = the new frame's end; elsewhere if there is no room for it.
    fn check_room(&mut self, slow: Label) {
        self.callee_end();
        self.asm.lea(Reg::Rax, at(Reg::Rsi, STACK_RESERVE * 8));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rax, at(VM, vm::STACK_LIMIT));
        self.asm.jcc(Cond::Above, slow);
        self.asm.lea(Reg::Rcx, at(FRAME, frame::SIZE));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, at(VM, vm::FRAMES_END));
        self.asm.jcc(Cond::AboveEqual, slow);
    }

    /// The frame's place is behind this instruction, where the callee returns to.
    fn note_place(&mut self) {
        self.asm.lea(Reg::Rax, at(CODE, (self.place.pc + self.place.op.len()) * size_of::<u32>()));
        self.asm.store(of_frame(frame::PC), Reg::Rax);
    }

    /// Pushes the record of a frame for the template rdx with the end rsi, and goes to its code at r8.
    fn enter_callee(&mut self, flags: u8) {
        self.push_record(flags);
        let back = self.next();
        self.asm.lea_label(Reg::Rax, back);
        self.asm.store(of_frame(frame::RESUME), Reg::Rax);
        self.note_place();
        self.asm.alu_i(Width::W64, Alu::Add, FRAME, frame::SIZE as i32);
        self.asm.alu_i(Width::W64, Alu::Add, REGS, self.callee_window() as i32);
        self.asm.load(ICS, at(Reg::Rdx, template::FEEDBACK));
        self.asm.load(CODE, at(Reg::Rdx, template::CODE));
        self.asm.jmp_r(Reg::R8);
    }

    fn push_record(&mut self, flags: u8) {
        let new = |offset: usize| at(FRAME, frame::SIZE + offset);
        self.asm.lea(Reg::Rdi, at(REGS, self.callee_window()));
        self.asm.store(new(frame::REGS), Reg::Rdi);
        self.asm.alu_i(Width::W64, Alu::Add, Reg::Rdi, 8);
        self.asm.store(new(frame::ARGUMENTS), Reg::Rdi);
        self.asm.store(new(frame::END), Reg::Rsi);
        for (from, to) in [
            (template::CODE, frame::PC),
            (template::FEEDBACK, frame::FEEDBACK),
            (template::CONSTANTS, frame::CONSTANTS),
        ] {
            self.asm.load(Reg::Rax, at(Reg::Rdx, from));
            self.asm.store(new(to), Reg::Rax);
        }
        self.asm.store(new(frame::TEMPLATE_CELL), Reg::Rdx);
        self.asm.lea(Reg::Rax, at(Reg::Rdx, template::DATA));
        self.asm.store(new(frame::TEMPLATE), Reg::Rax);
        if flags & frame_flags::CONSTRUCT != 0 {
            self.get(Reg::Rax, self.b());
            self.asm.store(new(frame::NEW_TARGET), Reg::Rax);
        } else {
            self.asm.store_i(new(frame::NEW_TARGET), Value::UNDEFINED.to_bits() as i32);
        }
        self.asm.store_i(new(frame::COROUTINE), Value::UNDEFINED.to_bits() as i32);
        // Destination and flags are bytes beside one another, behind the count.
        const _: () = assert!(frame::DST == frame::ARGUMENT_COUNT + 4 && frame::FLAGS == frame::DST + 1);
        self.asm.store32_i(new(frame::ARGUMENT_COUNT), self.c() as u32);
        let flags = u32::from(flags | frame_flags::FROM_CODE);
        self.asm.store32_i(new(frame::DST), self.a() as u32 | flags << 8);
        self.asm.lea(Reg::Rcx, at(FRAME, frame::SIZE));
        self.asm.store(at(VM, vm::FRAME), Reg::Rcx);
        self.asm.store(at(VM, vm::STACK_TOP), Reg::Rsi);
    }

    /// A return to a frame that waits in compiled code; to others, and from frames with flags, out of line.
    fn give_back(&mut self, value: Option<usize>) {
        let slow = self.out_of_line();
        let back = self.asm.label();
        let construct = self.elsewhere(move |t| {
            t.asm.alu_i(
                Width::W32,
                Alu::Cmp,
                Reg::Rax,
                i32::from(frame_flags::FROM_CODE | frame_flags::CONSTRUCT),
            );
            t.asm.jcc(Cond::NotEqual, slow);
            // What is no object is replaced by `this`.
            let this = t.asm.label();
            if value.is_some() {
                t.check_cell(Reg::Rcx, Reg::Rdx, this);
                t.asm.cmp8_mi(at(Reg::Rcx, cell::KIND), CellKind::Object as u8);
                t.asm.jcc(Cond::Equal, back);
            }
            t.asm.bind(this);
            t.get(Reg::Rcx, 0);
            t.asm.jmp(back);
        });
        match value {
            Some(i) => self.get(Reg::Rcx, i),
            None => self.constant(Reg::Rcx, Value::UNDEFINED.to_bits()),
        }
        self.asm.load8(Reg::Rax, of_frame(frame::FLAGS));
        self.asm.alu_i(Width::W32, Alu::Cmp, Reg::Rax, i32::from(frame_flags::FROM_CODE));
        self.asm.jcc(Cond::NotEqual, construct);
        self.asm.bind(back);
        self.asm.load8(Reg::Rdx, of_frame(frame::DST));
        self.asm.alu_i(Width::W64, Alu::Sub, FRAME, frame::SIZE as i32);
        self.asm.store(at(VM, vm::FRAME), FRAME);
        self.asm.load(Reg::Rax, of_frame(frame::END));
        self.asm.store(at(VM, vm::STACK_TOP), Reg::Rax);
        load_frame(&mut self.asm, Reg::Rax);
        self.asm.store(indexed(REGS, Reg::Rdx, 3, 0), Reg::Rcx);
        self.asm.jmp_m(of_frame(frame::RESUME));
    }
}
