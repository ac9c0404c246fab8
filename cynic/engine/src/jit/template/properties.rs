//! Named properties by the sites' caches, as the interpreter's handlers use them: own slots, prototypes' slots, overwriting.

use super::super::masm::{Alu, Cond, Label, Reg, Width, at, indexed};
use super::super::offsets::{VM, ic, register, site};
use super::Translator;
use crate::bytecode::Op;
use crate::gc::{CellKind, color, offsets as cell};
use crate::object::{ARRAY_LENGTH_SLOT, OBJECT_HEADER_BYTES, ObjectKind, SHAPE_OFFSET};
use crate::value::Value;
use crate::vm::offsets as vm;

impl Translator<'_> {
    /// An access of a named property; false if this instruction is none.
    pub(super) fn property(&mut self) -> bool {
        match self.place.op {
            Op::GetProp => self.get_property(false),
            Op::GetMethod => self.get_method(),
            Op::GetLength => self.get_length(),
            Op::SetProp => self.set_property(),
            Op::GetPrivate => self.get_private(),
            Op::RequireObjectCoercible => {
                let slow = self.out_of_line();
                self.get(Reg::Rax, self.a());
                self.asm.alu_i(Width::W64, Alu::And, Reg::Rax, !8);
                self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rax, Value::NULL.to_bits() as i32);
                self.asm.jcc(Cond::Equal, slow);
            }
            _ => return false,
        }
        true
    }

    /// rax = the object in a register, rcx = its shape; elsewhere if it is no object.
    fn object_and_shape(&mut self, i: usize, no: Label) {
        self.get(Reg::Rax, i);
        self.check_object(Reg::Rax, Reg::Rcx, no);
        self.asm.load(Reg::Rcx, at(Reg::Rax, SHAPE_OFFSET));
    }

    /// rcx = the slot number in the cache's field; elsewhere if the object does not have it inline.
    fn inline_slot(&mut self, object: Reg, number: usize, no: Label) {
        self.asm.load32(Reg::Rcx, site(self.x(), number));
        self.asm.load8(Reg::Rdx, at(object, cell::B));
        self.asm.alu(Width::W32, Alu::Cmp, Reg::Rcx, Reg::Rdx);
        self.asm.jcc(Cond::AboveEqual, no);
    }

    /// Register a = the inline slot rcx of an object; for a method, the register behind it = the receiver.
    fn load_slot(&mut self, object: Reg, method: bool) {
        self.asm.load(Reg::Rcx, indexed(object, Reg::Rcx, 3, OBJECT_HEADER_BYTES));
        self.set_result(Reg::Rcx, method);
    }

    fn set_result(&mut self, value: Reg, method: bool) {
        self.set(self.a(), value);
        if method {
            self.set(self.a() + 1, Reg::Rax);
        }
    }

    /// An own property in line, others of the cache behind the code.
    fn get_property(&mut self, method: bool) {
        let (slow, further) = (self.out_of_line(), self.elsewhere(move |t| t.get_further(method)));
        self.object_and_shape(self.b(), slow);
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::SHAPE));
        self.asm.jcc(Cond::NotEqual, further);
        self.inline_slot(Reg::Rax, ic::SLOT, slow);
        self.load_slot(Reg::Rax, method);
    }

    /// A property of a prototype, or the second own one, of the object rax with the shape rcx.
    fn get_further(&mut self, method: bool) {
        let second = self.asm.label();
        let (next, slow) = (self.next(), self.out_of_line());
        self.of_prototype(method, second);
        self.asm.jmp(next);
        self.asm.bind(second);
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::SHAPE_2));
        self.asm.jcc(Cond::NotEqual, slow);
        self.inline_slot(Reg::Rax, ic::SLOT_2, slow);
        self.load_slot(Reg::Rax, method);
        self.asm.jmp(next);
    }

    /// A property that a prototype of the object rax with the shape rcx has; elsewhere if that is not what the cache knows.
    fn of_prototype(&mut self, method: bool, no: Label) {
        let absent = self.elsewhere(move |t| {
            t.constant(Reg::Rcx, Value::UNDEFINED.to_bits());
            t.set_result(Reg::Rcx, method);
            let next = t.next();
            t.asm.jmp(next);
        });
        let slow = self.out_of_line();
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::FAR_SHAPE));
        self.asm.jcc(Cond::NotEqual, no);
        self.asm.load(Reg::Rdx, at(VM, vm::PROTO_EPOCH));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rdx, site(self.x(), ic::EPOCH));
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.load(Reg::Rsi, site(self.x(), ic::FAR));
        self.asm.test(Width::W64, Reg::Rsi, Reg::Rsi);
        self.asm.jcc(Cond::Equal, absent);
        self.inline_slot(Reg::Rsi, ic::FAR_SLOT, slow);
        self.load_slot(Reg::Rsi, method);
    }

    /// A prototype's property in line, own ones behind the code.
    fn get_method(&mut self) {
        let slow = self.out_of_line();
        let own = self.elsewhere(|t| {
            let second = t.asm.label();
            let (next, slow) = (t.next(), t.out_of_line());
            t.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(t.x(), ic::SHAPE));
            t.asm.jcc(Cond::NotEqual, second);
            t.inline_slot(Reg::Rax, ic::SLOT, slow);
            t.load_slot(Reg::Rax, true);
            t.asm.jmp(next);
            t.asm.bind(second);
            t.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(t.x(), ic::SHAPE_2));
            t.asm.jcc(Cond::NotEqual, slow);
            t.inline_slot(Reg::Rax, ic::SLOT_2, slow);
            t.load_slot(Reg::Rax, true);
            t.asm.jmp(next);
        });
        self.object_and_shape(self.b(), slow);
        self.of_prototype(true, own);
    }

    /// The length of an array in line, of a string behind the code, else a property like others.
    fn get_length(&mut self) {
        let slow = self.out_of_line();
        let property = self.elsewhere(|t| {
            let (next, slow) = (t.next(), t.out_of_line());
            t.check_object(Reg::Rax, Reg::Rcx, slow);
            t.asm.load(Reg::Rcx, at(Reg::Rax, SHAPE_OFFSET));
            let further = t.elsewhere(|t| t.get_further(false));
            t.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(t.x(), ic::SHAPE));
            t.asm.jcc(Cond::NotEqual, further);
            t.inline_slot(Reg::Rax, ic::SLOT, slow);
            t.load_slot(Reg::Rax, false);
            t.asm.jmp(next);
        });
        let no_array = self.elsewhere(move |t| {
            t.asm.cmp8_mi(at(Reg::Rax, cell::KIND), CellKind::String as u8);
            t.asm.jcc(Cond::NotEqual, property);
            t.asm.load32(Reg::Rcx, at(Reg::Rax, cell::C));
            t.box_int(Reg::Rcx);
            t.set(t.a(), Reg::Rcx);
            let next = t.next();
            t.asm.jmp(next);
        });
        self.get(Reg::Rax, self.b());
        self.check_cell(Reg::Rax, Reg::Rcx, slow);
        self.check_kind(Reg::Rax, Reg::Rcx, ObjectKind::Array, no_array);
        self.asm.load(Reg::Rcx, at(Reg::Rax, OBJECT_HEADER_BYTES + ARRAY_LENGTH_SLOT as usize * 8));
        self.set(self.a(), Reg::Rcx);
    }

    /// Overwriting an own property in line, others of the cache behind the code.
    fn set_property(&mut self) {
        let slow = self.out_of_line();
        let further = self.elsewhere(|t| t.set_further());
        self.object_and_shape(self.a(), slow);
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::SHAPE));
        self.asm.jcc(Cond::NotEqual, further);
        self.inline_slot(Reg::Rax, ic::SLOT, slow);
        self.store_slot();
    }

    /// The inline slot rcx of the object rax = register b.
    fn store_slot(&mut self) {
        self.get(Reg::Rsi, self.b());
        let store = self.asm.label();
        let old = self.check_for_barrier(Reg::Rsi, store);
        // A young object, or one that is remembered already, needs no barrier.
        self.asm.cmp8_mi(at(Reg::Rax, cell::COLOR), color::BLACK);
        self.asm.jcc(Cond::Equal, old);
        self.asm.bind(store);
        self.asm.store(indexed(Reg::Rax, Reg::Rcx, 3, OBJECT_HEADER_BYTES), Reg::Rsi);
    }

    /// Adding a property, or the second own one, to the object rax with the shape rcx.
    fn set_further(&mut self) {
        let second = self.asm.label();
        let (next, slow) = (self.next(), self.out_of_line());
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::FAR_SHAPE));
        self.asm.jcc(Cond::NotEqual, second);
        self.asm.load(Reg::Rdx, at(VM, vm::PROTO_EPOCH));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rdx, site(self.x(), ic::EPOCH));
        self.asm.jcc(Cond::NotEqual, slow);
        // The new shape is a cell, so that an old object must be remembered whatever the value is.
        self.asm.cmp8_mi(at(Reg::Rax, cell::COLOR), color::BLACK);
        self.asm.jcc(Cond::Equal, slow);
        self.inline_slot(Reg::Rax, ic::FAR_SLOT, slow);
        self.get(Reg::Rsi, self.b());
        self.asm.load(Reg::Rdx, site(self.x(), ic::FAR));
        self.asm.store(indexed(Reg::Rax, Reg::Rcx, 3, OBJECT_HEADER_BYTES), Reg::Rsi);
        self.asm.store(at(Reg::Rax, SHAPE_OFFSET), Reg::Rdx);
        self.asm.jmp(next);
        self.asm.bind(second);
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::SHAPE_2));
        self.asm.jcc(Cond::NotEqual, slow);
        self.inline_slot(Reg::Rax, ic::SLOT_2, slow);
        self.store_slot();
        self.asm.jmp(next);
    }

    /// A private member: key and shape must both match.
    fn get_private(&mut self) {
        let slow = self.out_of_line();
        self.object_and_shape(self.b(), slow);
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::SHAPE));
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.load(Reg::Rcx, register(self.c()));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::FAR));
        self.asm.jcc(Cond::NotEqual, slow);
        self.inline_slot(Reg::Rax, ic::SLOT, slow);
        self.load_slot(Reg::Rax, false);
    }
}
