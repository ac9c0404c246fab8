//! Arithmetic: int32 in line, doubles behind the code, everything else out of line.

use super::super::masm::{Alu, Cond, Label, Reg, Shift, Sse, Width, Xmm};
use super::super::offsets::TAG;
use super::Translator;
use crate::bytecode::Op;
use crate::value::Value;

/// The second operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Right {
    /// Register c.
    Register,
    /// Word x, an int32.
    Immediate,
}

/// A bitwise operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bitwise {
    Logic(Alu),
    Shift(Shift),
}

impl Translator<'_> {
    /// Arithmetic; false if this instruction is none.
    pub(super) fn arithmetic(&mut self) -> bool {
        use Bitwise::{Logic, Shift as By};
        use Right::{Immediate, Register};
        match self.place.op {
            Op::Add => self.sum(Alu::Add, Sse::Add, Register),
            Op::Sub => self.sum(Alu::Sub, Sse::Sub, Register),
            Op::AddI => self.sum(Alu::Add, Sse::Add, Immediate),
            Op::SubI => self.sum(Alu::Sub, Sse::Sub, Immediate),
            Op::Mul => self.product(Register),
            Op::MulI => self.product(Immediate),
            Op::Div => self.quotient(),
            Op::Mod => self.remainder(Register),
            Op::ModI => self.remainder(Immediate),
            Op::BitAnd => self.bitwise(Logic(Alu::And), Register),
            Op::BitOr => self.bitwise(Logic(Alu::Or), Register),
            Op::BitXor => self.bitwise(Logic(Alu::Xor), Register),
            Op::BitAndI => self.bitwise(Logic(Alu::And), Immediate),
            Op::BitOrI => self.bitwise(Logic(Alu::Or), Immediate),
            Op::BitXorI => self.bitwise(Logic(Alu::Xor), Immediate),
            Op::Shl => self.bitwise(By(Shift::Left), Register),
            Op::Sar => self.bitwise(By(Shift::Arithmetic), Register),
            Op::Shr => self.bitwise(By(Shift::Logical), Register),
            Op::ShlI => self.bitwise(By(Shift::Left), Immediate),
            Op::SarI => self.bitwise(By(Shift::Arithmetic), Immediate),
            Op::ShrI => self.bitwise(By(Shift::Logical), Immediate),
            Op::Inc => self.step_by_one(Alu::Add),
            Op::Dec => self.step_by_one(Alu::Sub),
            Op::Neg => self.negation(),
            Op::BitNot => self.complement(),
            Op::Not => self.not(),
            Op::ToNumber | Op::ToNumeric => self.to_number(),
            _ => return false,
        }
        true
    }

    /// The operands in rax and rcx; goes elsewhere unless both are int32. Changes rdx.
    fn ints(&mut self, right: Right, no: Label) {
        self.get(Reg::Rax, self.b());
        if right == Right::Immediate {
            self.check_int(Reg::Rax, no);
            self.immediate(Reg::Rcx, 1);
            return;
        }
        self.get(Reg::Rcx, self.c());
        self.asm.mov(Reg::Rdx, Reg::Rax);
        self.asm.alu(Width::W64, Alu::And, Reg::Rdx, Reg::Rcx);
        self.check_int(Reg::Rdx, no);
    }

    /// `to` = the number `from`, or goes elsewhere. Changes `from`.
    pub(super) fn to_double(&mut self, to: Xmm, from: Reg, no: Label) {
        let done = self.asm.label();
        let int = self.elsewhere(move |t| {
            t.asm.int_to_double(to, from);
            t.asm.jmp(done);
        });
        self.asm.alu(Width::W64, Alu::Cmp, from, TAG);
        self.asm.jcc(Cond::AboveEqual, int);
        self.asm.alu(Width::W64, Alu::Add, from, TAG);
        self.asm.jcc(Cond::AboveEqual, no);
        self.asm.to_double(to, from);
        self.asm.bind(done);
    }

    /// Stores a double, whose NaN is pure, in register a.
    pub(super) fn set_double(&mut self, from: Xmm) {
        self.asm.from_double(Reg::Rax, from);
        self.asm.alu(Width::W64, Alu::Sub, Reg::Rax, TAG);
        self.set(self.a(), Reg::Rax);
    }

    /// The operands in rax and rcx; an immediate is not loaded.
    fn operands_again(&mut self, right: Right) {
        self.get(Reg::Rax, self.b());
        if right == Right::Register {
            self.get(Reg::Rcx, self.c());
        }
    }

    /// Both operands, in rax and rcx, as doubles in x0 and x1.
    fn doubles(&mut self, right: Right) {
        let slow = self.out_of_line();
        self.to_double(Xmm::X0, Reg::Rax, slow);
        if right == Right::Immediate {
            self.immediate(Reg::Rcx, 1);
            self.asm.int_to_double(Xmm::X1, Reg::Rcx);
        } else {
            self.to_double(Xmm::X1, Reg::Rcx, slow);
        }
    }

    /// The operation on doubles, behind the code: where it begins with the operands in rax and rcx, and where with loading them.
    fn on_doubles(&mut self, op: Sse, right: Right) -> (Label, Label) {
        let doubles = self.elsewhere(move |t| {
            t.doubles(right);
            t.asm.sse(op, Xmm::X0, Xmm::X1);
            t.set_double(Xmm::X0);
            let next = t.next();
            t.asm.jmp(next);
        });
        let again = self.elsewhere(move |t| {
            t.operands_again(right);
            t.asm.jmp(doubles);
        });
        (doubles, again)
    }

    pub(super) fn set_int(&mut self, from: Reg) {
        self.box_int(from);
        self.set(self.a(), from);
    }

    fn sum(&mut self, op: Alu, on_doubles: Sse, right: Right) {
        let (doubles, again) = self.on_doubles(on_doubles, right);
        self.ints(right, doubles);
        self.asm.alu(Width::W32, op, Reg::Rax, Reg::Rcx);
        self.asm.jcc(Cond::Overflow, again);
        self.set_int(Reg::Rax);
    }

    fn product(&mut self, right: Right) {
        let (doubles, again) = self.on_doubles(Sse::Mul, right);
        self.ints(right, doubles);
        // Zero is -0 if one of the factors is negative.
        let zero = self.elsewhere(move |t| {
            t.asm.alu(Width::W32, Alu::Or, Reg::Rdx, Reg::Rcx);
            t.asm.jcc(Cond::Negative, again);
            t.set_int(Reg::Rax);
            let next = t.next();
            t.asm.jmp(next);
        });
        self.asm.mov32(Reg::Rdx, Reg::Rax);
        self.asm.imul(Reg::Rax, Reg::Rcx);
        self.asm.jcc(Cond::Overflow, again);
        self.asm.test(Width::W32, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Equal, zero);
        self.set_int(Reg::Rax);
    }

    fn quotient(&mut self) {
        self.operands_again(Right::Register);
        self.doubles(Right::Register);
        self.asm.sse(Sse::Div, Xmm::X0, Xmm::X1);
        self.set_number();
    }

    /// Stores the double in x0 in register a, as an int32 if it is one.
    pub(super) fn set_number(&mut self) {
        let not_a_number = self.elsewhere(|t| {
            t.constant(Reg::Rax, Value::NAN.to_bits());
            t.set(t.a(), Reg::Rax);
            let next = t.next();
            t.asm.jmp(next);
        });
        let (double, done) = (self.asm.label(), self.asm.label());
        self.asm.compare_doubles(Xmm::X0, Xmm::X0);
        self.asm.jcc(Cond::Parity, not_a_number);
        self.asm.double_to_int(Width::W32, Reg::Rax, Xmm::X0);
        self.asm.int_to_double(Xmm::X1, Reg::Rax);
        self.asm.from_double(Reg::Rcx, Xmm::X0);
        self.asm.from_double(Reg::Rdx, Xmm::X1);
        self.asm.alu(Width::W64, Alu::Cmp, Reg::Rcx, Reg::Rdx);
        self.asm.jcc(Cond::NotEqual, double);
        self.set_int(Reg::Rax);
        self.asm.jmp(done);
        self.asm.bind(double);
        self.set_double(Xmm::X0);
        self.asm.bind(done);
    }

    fn remainder(&mut self, right: Right) {
        let slow = self.out_of_line();
        self.ints(right, slow);
        let divisor = self.x() as i32;
        self.asm.test(Width::W32, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Negative, slow);
        if right == Right::Immediate && divisor > 0 && divisor.count_ones() == 1 {
            self.asm.alu_i(Width::W32, Alu::Sub, Reg::Rcx, 1);
            self.asm.alu(Width::W32, Alu::And, Reg::Rax, Reg::Rcx);
            self.set_int(Reg::Rax);
            return;
        }
        self.asm.test(Width::W32, Reg::Rcx, Reg::Rcx);
        self.asm.jcc(Cond::LessEqual, slow);
        self.asm.mov_i(Reg::Rdx, 0);
        self.asm.div(Reg::Rcx);
        self.set_int(Reg::Rdx);
    }

    /// `reg` = ToInt32 of the number in it, or goes out of line. Changes x0.
    fn to_int(&mut self, reg: Reg, slow: Label) {
        let done = self.asm.label();
        self.asm.alu(Width::W64, Alu::Cmp, reg, TAG);
        self.asm.jcc(Cond::AboveEqual, done);
        self.asm.alu(Width::W64, Alu::Add, reg, TAG);
        self.asm.jcc(Cond::AboveEqual, slow);
        self.asm.to_double(Xmm::X0, reg);
        // Right below 2^63; beyond it, and for no number, the answer is the lowest int64.
        self.asm.double_to_int(Width::W64, reg, Xmm::X0);
        self.asm.mov_i(Reg::Rdx, 1 << 63);
        self.asm.alu(Width::W64, Alu::Cmp, reg, Reg::Rdx);
        self.asm.jcc(Cond::Equal, slow);
        self.asm.mov32(reg, reg);
        self.asm.bind(done);
    }

    fn bitwise(&mut self, op: Bitwise, right: Right) {
        let back = self.asm.label();
        let doubles = self.elsewhere(move |t| {
            let slow = t.out_of_line();
            t.get(Reg::Rax, t.b());
            t.to_int(Reg::Rax, slow);
            if right == Right::Immediate {
                t.immediate(Reg::Rcx, 1);
            } else {
                t.get(Reg::Rcx, t.c());
                t.to_int(Reg::Rcx, slow);
            }
            t.asm.jmp(back);
        });
        self.ints(right, doubles);
        self.asm.bind(back);
        // The operations of 32 bits clear the upper halves.
        match op {
            Bitwise::Logic(op) => self.asm.alu(Width::W32, op, Reg::Rax, Reg::Rcx),
            Bitwise::Shift(shift) if right == Right::Immediate => {
                self.asm.shift_i(shift, Reg::Rax, (self.x() & 31) as u8);
                // A shift by nothing leaves the upper half.
                self.asm.mov32(Reg::Rax, Reg::Rax);
            }
            Bitwise::Shift(shift) => {
                self.asm.shift_cl(shift, Reg::Rax);
                self.asm.mov32(Reg::Rax, Reg::Rax);
            }
        }
        if op == Bitwise::Shift(Shift::Logical) {
            let beyond = self.elsewhere(|t| {
                t.asm.int64_to_double(Xmm::X0, Reg::Rax);
                t.set_double(Xmm::X0);
                let next = t.next();
                t.asm.jmp(next);
            });
            self.asm.test(Width::W32, Reg::Rax, Reg::Rax);
            self.asm.jcc(Cond::Negative, beyond);
        }
        self.set_int(Reg::Rax);
    }

    fn step_by_one(&mut self, op: Alu) {
        let slow = self.out_of_line();
        self.get(Reg::Rax, self.b());
        self.check_int(Reg::Rax, slow);
        self.asm.alu_i(Width::W32, op, Reg::Rax, 1);
        self.asm.jcc(Cond::Overflow, slow);
        self.set_int(Reg::Rax);
    }

    fn negation(&mut self) {
        let slow = self.elsewhere(|t| {
            let slow = t.out_of_line();
            t.get(Reg::Rax, t.b());
            t.to_double(Xmm::X0, Reg::Rax, slow);
            t.asm.from_double(Reg::Rax, Xmm::X0);
            t.constant(Reg::Rcx, 1 << 63);
            t.asm.alu(Width::W64, Alu::Xor, Reg::Rax, Reg::Rcx);
            t.asm.to_double(Xmm::X0, Reg::Rax);
            t.set_number();
            let next = t.next();
            t.asm.jmp(next);
        });
        self.get(Reg::Rax, self.b());
        self.check_int(Reg::Rax, slow);
        // Neither -0 nor the lowest int32.
        self.asm.mov32(Reg::Rcx, Reg::Rax);
        self.asm.alu_i(Width::W32, Alu::And, Reg::Rcx, i32::MAX);
        self.asm.jcc(Cond::Equal, slow);
        self.asm.neg(Reg::Rax);
        self.set_int(Reg::Rax);
    }

    fn complement(&mut self) {
        let slow = self.out_of_line();
        self.get(Reg::Rax, self.b());
        self.check_int(Reg::Rax, slow);
        self.asm.not(Reg::Rax);
        self.set_int(Reg::Rax);
    }

    fn not(&mut self) {
        let other = self.elsewhere(|t| {
            let (yes, no, slow) = (t.asm.label(), t.asm.label(), t.out_of_line());
            t.truth(yes, no, slow);
            let next = t.next();
            for (label, value) in [(yes, Value::FALSE), (no, Value::TRUE)] {
                t.asm.bind(label);
                t.asm.store_i(super::super::offsets::register(t.a()), value.to_bits() as i32);
                t.asm.jmp(next);
            }
        });
        self.get(Reg::Rax, self.b());
        self.asm.mov(Reg::Rcx, Reg::Rax);
        self.asm.alu_i(Width::W64, Alu::And, Reg::Rcx, !1);
        self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rcx, Value::FALSE.to_bits() as i32);
        self.asm.jcc(Cond::NotEqual, other);
        self.asm.alu_i(Width::W64, Alu::Xor, Reg::Rax, 1);
        self.set(self.a(), Reg::Rax);
    }

    fn to_number(&mut self) {
        let slow = self.out_of_line();
        self.get(Reg::Rax, self.b());
        self.asm.mov(Reg::Rcx, Reg::Rax);
        self.asm.alu(Width::W64, Alu::Add, Reg::Rcx, TAG);
        self.asm.jcc(Cond::AboveEqual, slow);
        self.set(self.a(), Reg::Rax);
    }
}
