//! Loads, moves, scopes and globals.

use super::super::masm::{Alu, Cond, Label, Reg, Width, at, below};
use super::super::offsets::{FRAME, REGS, TAG, frame, ic, of_frame, register, site};
use super::{Origin, Translator};
use crate::bytecode::Op;
use crate::gc::{color, offsets as cell};
use crate::object::{OBJECT_HEADER_BYTES, ObjectKind, SHAPE_OFFSET};
use crate::value::Value;
use crate::vm::interpreter::closure::SCOPE_SLOT;

impl Translator<'_> {
    /// A load or a move; false if this instruction is none.
    pub(super) fn load_or_move(&mut self) -> bool {
        match self.place.op {
            Op::LoadUndefined => self.load_value(Value::UNDEFINED),
            Op::LoadNull => self.load_value(Value::NULL),
            Op::LoadTrue => self.load_value(Value::TRUE),
            Op::LoadFalse => self.load_value(Value::FALSE),
            Op::LoadEmpty => self.load_value(Value::EMPTY),
            Op::LoadInt => {
                self.constant(Reg::Rax, u64::from(((self.word(0) as i32) >> 16) as u32));
                self.box_int(Reg::Rax);
                self.set(self.a(), Reg::Rax);
            }
            Op::LoadConst => {
                self.asm.load(Reg::Rax, of_frame(frame::CONSTANTS));
                self.asm.load(Reg::Rax, at(Reg::Rax, self.x() as usize * 8));
                self.set(self.a(), Reg::Rax);
            }
            Op::Mov => {
                self.get(Reg::Rax, self.b());
                self.set(self.a(), Reg::Rax);
            }
            Op::GetFunction => {
                self.asm.load(Reg::Rax, below(REGS, 8));
                self.set(self.a(), Reg::Rax);
            }
            Op::GetNewTarget => {
                self.asm.load(Reg::Rax, at(FRAME, frame::NEW_TARGET));
                self.set(self.a(), Reg::Rax);
            }
            Op::GetEnv => self.captured_scope(),
            Op::GetSlot => self.get_slot(0, self.c()),
            Op::SetSlot => self.set_slot(0, self.c()),
            Op::GetSlotUp => self.get_slot(self.c(), self.x() as usize),
            Op::SetSlotUp => self.set_slot(self.c(), self.x() as usize),
            Op::GetCell => {
                self.scope_above(self.c());
                self.asm.load(Reg::Rax, slot_of_scope(Reg::Rax, self.x() as usize));
                self.asm.load(Reg::Rax, at(Reg::Rax, cell::ARRAY_VALUES));
                self.set(self.a(), Reg::Rax);
            }
            Op::CheckTdz | Op::CheckThis => self.check_against_empty(Cond::Equal),
            Op::CheckUnbound => self.check_against_empty(Cond::NotEqual),
            Op::GetGlobal => {
                self.note_origin(Origin::Global(self.x()));
                self.get_global();
            }
            Op::SetGlobal => self.set_global(),
            _ => return false,
        }
        true
    }

    fn load_value(&mut self, value: Value) {
        self.asm.store_i(register(self.a()), value.to_bits() as i32);
    }

    /// Out of line if the value in register a is (or is not) the uninitialised marker.
    fn check_against_empty(&mut self, cond: Cond) {
        let slow = self.out_of_line();
        self.asm.alu_mi(Width::W64, Alu::Cmp, register(self.a()), Value::EMPTY.to_bits() as i32);
        self.asm.jcc(cond, slow);
    }

    /// The scope of the callee, or what stands for it in the callee's place.
    fn captured_scope(&mut self) {
        let slow = self.out_of_line();
        let is_scope = self.asm.label();
        self.asm.load(Reg::Rax, below(REGS, 8));
        self.check_object(Reg::Rax, is_scope);
        self.check_kind(Reg::Rax, Reg::Rcx, ObjectKind::Closure, slow);
        self.asm.load(Reg::Rax, at(Reg::Rax, OBJECT_HEADER_BYTES + SCOPE_SLOT as usize * 8));
        self.asm.bind(is_scope);
        self.set(self.a(), Reg::Rax);
    }

    /// rax = the scope `hops` above the one in register b.
    fn scope_above(&mut self, hops: usize) {
        self.get(Reg::Rax, self.b());
        for _ in 0..hops {
            // Slot 0 is the parent.
            self.asm.load(Reg::Rax, at(Reg::Rax, cell::ARRAY_VALUES));
        }
    }

    fn get_slot(&mut self, hops: usize, slot: usize) {
        self.scope_above(hops);
        self.asm.load(Reg::Rax, slot_of_scope(Reg::Rax, slot));
        self.set(self.a(), Reg::Rax);
    }

    fn set_slot(&mut self, hops: usize, slot: usize) {
        self.scope_above(hops);
        self.get(Reg::Rcx, self.a());
        let store = self.asm.label();
        let slow = self.out_of_line();
        let old = self.check_for_barrier(Reg::Rcx, store, slow);
        self.asm.cmp8_mi(at(Reg::Rax, cell::COLOR), color::WHITE);
        self.asm.jcc(Cond::NotEqual, old);
        self.asm.bind(store);
        self.asm.store(slot_of_scope(Reg::Rax, slot), Reg::Rcx);
    }

    /// Where a store of `value` into a cell that is not young goes on: at `store` if it is a number, which the collector need not know of,
    /// else at `remember`. Changes rdx.
    pub(super) fn check_for_barrier(&mut self, value: Reg, store: Label, remember: Label) -> Label {
        self.elsewhere(move |t| {
            t.asm.mov(Reg::Rdx, value);
            t.asm.alu(Width::W64, Alu::Add, Reg::Rdx, TAG);
            t.asm.jcc(Cond::AboveEqual, remember);
            t.asm.jmp(store);
        })
    }

    /// A global in a binding cell that the site knows.
    fn get_global(&mut self) {
        let slow = self.out_of_line();
        let property = self.elsewhere(|t| {
            t.global_property();
            t.asm.call_to(t.stubs.slot);
            t.set(t.a(), Reg::Rax);
            let next = t.next();
            t.asm.jmp(next);
        });
        self.asm.load(Reg::Rax, site(self.x(), ic::FAR));
        self.asm.test(Width::W64, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Equal, property);
        self.asm.load(Reg::Rax, at(Reg::Rax, cell::ARRAY_VALUES));
        self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rax, Value::EMPTY.to_bits() as i32);
        self.asm.jcc(Cond::Equal, slow);
        self.set(self.a(), Reg::Rax);
    }

    /// rdi = the global object, esi = the slot of its property that the site knows; elsewhere if it knows none.
    fn global_property(&mut self) {
        let slow = self.out_of_line();
        let Some(global) = self.global else { return self.asm.jmp(slow) };
        self.asm.mov_i(Reg::Rdi, global.addr() as u64);
        self.asm.load(Reg::Rax, at(Reg::Rdi, SHAPE_OFFSET));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rax, site(self.x(), ic::SHAPE));
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.load32(Reg::Rsi, site(self.x(), ic::SLOT));
    }

    fn set_global(&mut self) {
        let slow = self.out_of_line();
        let property = self.elsewhere(|t| {
            t.global_property();
            t.get(Reg::Rdx, t.a());
            t.asm.call_to(t.stubs.set_slot);
            let next = t.next();
            t.asm.jmp(next);
        });
        self.asm.load(Reg::Rax, site(self.x(), ic::FAR));
        self.asm.test(Width::W64, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Equal, property);
        self.asm.alu_mi(
            Width::W64,
            Alu::Cmp,
            at(Reg::Rax, cell::ARRAY_VALUES),
            Value::EMPTY.to_bits() as i32,
        );
        self.asm.jcc(Cond::Equal, slow);
        self.get(Reg::Rcx, self.a());
        let store = self.asm.label();
        let old = self.check_for_barrier(Reg::Rcx, store, slow);
        self.asm.cmp8_mi(at(Reg::Rax, cell::COLOR), color::WHITE);
        self.asm.jcc(Cond::NotEqual, old);
        self.asm.bind(store);
        self.asm.store(at(Reg::Rax, cell::ARRAY_VALUES), Reg::Rcx);
    }
}

/// Slot `slot` of a scope: its first value is the parent.
fn slot_of_scope(scope: Reg, slot: usize) -> super::super::masm::Mem {
    at(scope, cell::ARRAY_VALUES + (slot + 1) * 8)
}
