//! Jumps, and branches on what a value is. Backward ones are steps.

use super::super::masm::{Alu, Cond, Label, Reg, Width};
use super::Translator;
use crate::bytecode::Op;
use crate::value::Value;

impl Translator<'_> {
    /// A jump; false if this instruction is none.
    pub(super) fn jump_or_branch(&mut self) -> bool {
        match self.place.op {
            Op::Nop => {}
            Op::Jump => self.go((self.word(0) as i32) >> 8),
            Op::JTrue => self.branch_on_truth(true),
            Op::JFalse => self.branch_on_truth(false),
            Op::JNullish => self.branch_on_nullish(Cond::Equal),
            Op::JNotNullish => self.branch_on_nullish(Cond::NotEqual),
            Op::JUndefined => self.branch_on(Value::UNDEFINED, Cond::Equal),
            Op::JNotUndefined => self.branch_on(Value::UNDEFINED, Cond::NotEqual),
            _ => return false,
        }
        true
    }

    /// Goes on `distance` words from here.
    fn go(&mut self, distance: i32) {
        if distance <= 0 {
            self.step();
        }
        let target = self.label_at(distance as isize);
        self.asm.jmp(target);
    }

    /// Goes on at the other end of the branch if `cond`, or else falls through.
    pub(super) fn branch_if(&mut self, cond: Cond) {
        let distance = self.x() as i32;
        if distance > 0 {
            let target = self.label_at(distance as isize);
            self.asm.jcc(cond, target);
            return;
        }
        let not = self.asm.label();
        self.asm.jcc(cond.negated(), not);
        self.go(distance);
        self.asm.bind(not);
    }

    /// Goes on at the other end of the branch.
    pub(super) fn branch(&mut self) {
        self.go(self.x() as i32);
    }

    /// Where the branch of this instruction is taken, for pieces behind the function's code.
    pub(super) fn taken(&mut self) -> Label {
        if self.x() as i32 > 0 {
            return self.label_at(self.x() as i32 as isize);
        }
        self.elsewhere(|t| t.branch())
    }

    fn branch_on(&mut self, value: Value, cond: Cond) {
        self.get(Reg::Rax, self.a());
        self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rax, value.to_bits() as i32);
        self.branch_if(cond);
    }

    fn branch_on_nullish(&mut self, cond: Cond) {
        const _: () = assert!(Value::UNDEFINED.to_bits() == Value::NULL.to_bits() | 8);
        self.get(Reg::Rax, self.a());
        self.asm.alu_i(Width::W64, Alu::And, Reg::Rax, !8);
        self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rax, Value::NULL.to_bits() as i32);
        self.branch_if(cond);
    }

    /// A branch if the value's truth is `wanted`: booleans here, other common values behind the code.
    fn branch_on_truth(&mut self, wanted: bool) {
        let other = self.elsewhere(move |t| {
            let (taken, next, slow) = (t.taken(), t.next(), t.out_of_line());
            let (yes, no) = if wanted { (taken, next) } else { (next, taken) };
            t.truth(yes, no, slow);
        });
        self.get(Reg::Rax, self.a());
        self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rax, Value::TRUE.to_bits() as i32);
        const _: () = assert!(Value::FALSE.to_bits() + 1 == Value::TRUE.to_bits());
        if wanted {
            let not = self.asm.label();
            self.asm.jcc(Cond::NotEqual, not);
            self.branch();
            self.asm.bind(not);
            self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rax, Value::FALSE.to_bits() as i32);
            self.asm.jcc(Cond::NotEqual, other);
        } else {
            let next = self.next();
            self.asm.jcc(Cond::Equal, next);
            self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rax, Value::FALSE.to_bits() as i32);
            self.asm.jcc(Cond::NotEqual, other);
            self.branch();
        }
    }

    /// ToBoolean of rax, which is no boolean: int32, undefined, null and objects here.
    pub(super) fn truth(&mut self, yes: Label, no: Label, slow: Label) {
        let not_int = self.asm.label();
        self.check_int(Reg::Rax, not_int);
        self.asm.test(Width::W32, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Equal, no);
        self.asm.jmp(yes);
        self.asm.bind(not_int);
        self.asm.mov(Reg::Rcx, Reg::Rax);
        self.asm.alu_i(Width::W64, Alu::And, Reg::Rcx, !8);
        self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rcx, Value::NULL.to_bits() as i32);
        self.asm.jcc(Cond::Equal, no);
        self.check_object(Reg::Rax, slow);
        self.asm.jmp(yes);
    }
}
