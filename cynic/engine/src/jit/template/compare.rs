//! Comparisons, as values and as branches: int32 in line, doubles behind the code, everything else out of line.

use super::super::masm::{Alu, Cond, Label, Reg, Width, Xmm, at};
use super::super::offsets::TAG;
use super::Translator;
use crate::bytecode::Op;
use crate::gc::{CellKind, offsets as cell};
use crate::value::Value;

/// A relational operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Lt,
    Le,
    Gt,
    Ge,
}

impl Relation {
    fn of_ints(self) -> Cond {
        match self {
            Relation::Lt => Cond::Less,
            Relation::Le => Cond::LessEqual,
            Relation::Gt => Cond::Greater,
            Relation::Ge => Cond::GreaterEqual,
        }
    }
    /// Whether the doubles are compared in the other order, and the condition: false where one is not a number.
    fn of_doubles(self) -> (bool, Cond) {
        match self {
            Relation::Lt => (true, Cond::Above),
            Relation::Le => (true, Cond::AboveEqual),
            Relation::Gt => (false, Cond::Above),
            Relation::Ge => (false, Cond::AboveEqual),
        }
    }
}

/// What a comparison is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A boolean in register a.
    Value,
    /// A branch if it holds.
    Branch,
    /// A branch if it does not.
    BranchNot,
}

impl Translator<'_> {
    /// A comparison; false if this instruction is none.
    pub(super) fn comparison(&mut self) -> bool {
        use Relation::{Ge, Gt, Le, Lt};
        use Use::{Branch, BranchNot};
        match self.place.op {
            Op::Lt => self.relation(Lt, Use::Value),
            Op::Le => self.relation(Le, Use::Value),
            Op::Gt => self.relation(Gt, Use::Value),
            Op::Ge => self.relation(Ge, Use::Value),
            Op::JLt | Op::JLtI => self.relation(Lt, Branch),
            Op::JLe | Op::JLeI => self.relation(Le, Branch),
            Op::JGt | Op::JGtI => self.relation(Gt, Branch),
            Op::JGe | Op::JGeI => self.relation(Ge, Branch),
            Op::JNotLt | Op::JNotLtI => self.relation(Lt, BranchNot),
            Op::JNotLe | Op::JNotLeI => self.relation(Le, BranchNot),
            Op::JNotGt | Op::JNotGtI => self.relation(Gt, BranchNot),
            Op::JNotGe | Op::JNotGeI => self.relation(Ge, BranchNot),
            Op::StrictEq => self.equality(Cond::Equal, Use::Value),
            Op::StrictNe => self.equality(Cond::NotEqual, Use::Value),
            Op::JStrictEq => self.equality(Cond::Equal, Branch),
            Op::JStrictNe => self.equality(Cond::NotEqual, Branch),
            Op::JStrictEqI => self.equality_with_int(Cond::Equal),
            Op::JStrictNeI => self.equality_with_int(Cond::NotEqual),
            Op::Eq => self.loose_equality(Cond::Equal, Use::Value),
            Op::Ne => self.loose_equality(Cond::NotEqual, Use::Value),
            Op::JEq => self.loose_equality(Cond::Equal, Branch),
            Op::JNe => self.loose_equality(Cond::NotEqual, Branch),
            _ => return false,
        }
        true
    }

    /// Whether the second operand is an immediate.
    fn has_immediate(&self) -> bool {
        self.place.op.len() == 3
    }

    /// The operands in rax and rcx, an immediate as an int32 in the low half of rcx.
    fn operands(&mut self, used: Use) {
        if used == Use::Value {
            self.get(Reg::Rax, self.b());
            self.get(Reg::Rcx, self.c());
        } else {
            self.get(Reg::Rax, self.a());
            if self.has_immediate() {
                self.immediate(Reg::Rcx, 2);
            } else {
                self.get(Reg::Rcx, self.b());
            }
        }
    }

    fn relation(&mut self, relation: Relation, used: Use) {
        let doubles = self.elsewhere(move |t| t.relation_of_doubles(relation, used));
        self.operands(used);
        if self.has_immediate() {
            self.check_int(Reg::Rax, doubles);
        } else {
            self.check_both_ints(doubles);
        }
        self.asm.alu(Width::W32, Alu::Cmp, Reg::Rax, Reg::Rcx);
        self.conclude(relation.of_ints(), used);
    }

    /// Goes elsewhere unless rax and rcx are int32; changes rdx.
    fn check_both_ints(&mut self, no: Label) {
        self.asm.mov(Reg::Rdx, Reg::Rax);
        self.asm.alu(Width::W64, Alu::And, Reg::Rdx, Reg::Rcx);
        self.check_int(Reg::Rdx, no);
    }

    /// Uses the flags.
    fn conclude(&mut self, cond: Cond, used: Use) {
        match used {
            Use::Branch => self.branch_if(cond),
            Use::BranchNot => self.branch_if(cond.negated()),
            Use::Value => {
                self.constant(Reg::Rax, Value::TRUE.to_bits());
                let done = self.asm.label();
                self.asm.jcc(cond, done);
                self.constant(Reg::Rax, Value::FALSE.to_bits());
                self.asm.bind(done);
                self.set(self.a(), Reg::Rax);
            }
        }
    }

    /// The same from behind the function's code.
    fn conclude_elsewhere(&mut self, cond: Cond, used: Use) {
        self.conclude(cond, used);
        let next = self.next();
        self.asm.jmp(next);
    }

    fn relation_of_doubles(&mut self, relation: Relation, used: Use) {
        let slow = self.out_of_line();
        self.to_double(Xmm::X0, Reg::Rax, slow);
        if self.has_immediate() {
            self.asm.int_to_double(Xmm::X1, Reg::Rcx);
        } else {
            self.to_double(Xmm::X1, Reg::Rcx, slow);
        }
        let (swapped, cond) = relation.of_doubles();
        if swapped {
            self.asm.compare_doubles(Xmm::X1, Xmm::X0);
        } else {
            self.asm.compare_doubles(Xmm::X0, Xmm::X1);
        }
        self.conclude_elsewhere(cond, used);
    }

    fn equality(&mut self, cond: Cond, used: Use) {
        let other = self.elsewhere(move |t| t.equality_of_others(cond, used));
        self.operands(used);
        self.check_both_ints(other);
        self.asm.alu(Width::W32, Alu::Cmp, Reg::Rax, Reg::Rcx);
        self.conclude(cond, used);
    }

    /// Strict equality of rax and rcx, which are not both int32: numbers and two strings or BigInts go out of line.
    fn equality_of_others(&mut self, cond: Cond, used: Use) {
        let slow = self.out_of_line();
        let decided = self.asm.label();
        let different = self.asm.label();
        for operand in [Reg::Rax, Reg::Rcx] {
            self.asm.mov(Reg::Rdx, operand);
            self.asm.alu(Width::W64, Alu::Add, Reg::Rdx, TAG);
            self.asm.jcc(Cond::Below, slow);
        }
        self.asm.alu(Width::W64, Alu::Cmp, Reg::Rax, Reg::Rcx);
        self.asm.jcc(Cond::Equal, decided);
        for operand in [Reg::Rax, Reg::Rcx] {
            self.check_cell(operand, different);
            self.asm.cmp8_mi(at(operand, cell::KIND), CellKind::Object as u8);
            self.asm.jcc(Cond::Equal, different);
        }
        self.asm.jmp(slow);
        self.asm.bind(different);
        // The words differ, which is what the flags say from here on.
        self.asm.alu(Width::W64, Alu::Cmp, Reg::Rax, Reg::Rcx);
        self.asm.bind(decided);
        self.conclude_elsewhere(cond, used);
    }

    fn equality_with_int(&mut self, cond: Cond) {
        let other = self.elsewhere(move |t| {
            let slow = t.out_of_line();
            t.asm.mov(Reg::Rdx, Reg::Rax);
            t.asm.alu(Width::W64, Alu::Add, Reg::Rdx, TAG);
            t.asm.jcc(Cond::Below, slow);
            // No number equals none.
            let target = if cond == Cond::Equal { t.next() } else { t.taken() };
            t.asm.jmp(target);
        });
        self.operands(Use::Branch);
        self.check_int(Reg::Rax, other);
        self.asm.alu(Width::W32, Alu::Cmp, Reg::Rax, Reg::Rcx);
        self.branch_if(cond);
    }

    fn loose_equality(&mut self, cond: Cond, used: Use) {
        let slow = self.out_of_line();
        self.operands(used);
        self.check_both_ints(slow);
        self.asm.alu(Width::W32, Alu::Cmp, Reg::Rax, Reg::Rcx);
        self.conclude(cond, used);
    }
}
