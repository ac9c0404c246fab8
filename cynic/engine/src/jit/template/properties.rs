//! Named properties by the sites' caches, as the interpreter's handlers use them: own slots, prototypes' slots, overwriting.

use super::super::masm::{Alu, Cond, Label, Reg, Width, at, indexed};
use super::super::offsets::{VM, ic, register, site};
use super::{Origin, Translator};
use crate::bytecode::Op;
use crate::gc::{CellKind, color, offsets as cell};
use crate::object::{ARRAY_LENGTH_SLOT, OBJECT_HEADER_BYTES, ObjectKind, SHAPE_OFFSET};
use crate::value::Value;
use crate::vm::interpreter::short::what;
use crate::vm::interpreter::template::primitive_shapes;
use crate::vm::offsets as vm;

impl Translator<'_> {
    /// An access of a named property; false if this instruction is none.
    pub(super) fn property(&mut self) -> bool {
        match self.place.op {
            Op::GetProp => self.get_property(false),
            Op::GetMethod => {
                self.note_origin(Origin::Method(self.x()));
                self.get_method();
            }
            Op::GetLength => self.get_length(),
            Op::SetProp => self.set_property(),
            Op::GetPrivate => {
                self.private(self.b(), self.c());
                self.load_slot(Reg::Rax, ic::SLOT, false);
            }
            Op::SetPrivate => {
                self.private(self.a(), self.b());
                self.store_slot(ic::SLOT, self.c());
            }
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
        if !self.is_object(i) {
            self.check_object(Reg::Rax, no);
        }
        self.asm.load(Reg::Rcx, at(Reg::Rax, SHAPE_OFFSET));
    }

    /// Register a = the slot of `object` whose number is in the cache's field; for a method, the register behind it = the receiver, rax.
    fn load_slot(&mut self, object: Reg, number: usize, method: bool) {
        let have = self.asm.label();
        let beyond = self.elsewhere(move |t| {
            t.asm.mov(Reg::Rdi, object);
            t.asm.mov32(Reg::Rsi, Reg::Rcx);
            t.asm.call_to(t.stubs.slot);
            t.asm.mov(Reg::Rcx, Reg::Rax);
            t.get(Reg::Rax, t.b());
            t.asm.jmp(have);
        });
        self.check_slot(object, number, beyond);
        self.asm.load(Reg::Rcx, indexed(object, Reg::Rcx, 3, OBJECT_HEADER_BYTES));
        self.asm.bind(have);
        self.set_result(Reg::Rcx, method);
    }

    /// rcx = the slot number in the cache's field; elsewhere if the object does not have it inline. Changes rdx.
    fn check_slot(&mut self, object: Reg, number: usize, beyond: Label) {
        self.asm.load32(Reg::Rcx, site(self.x(), number));
        self.asm.load8(Reg::Rdx, at(object, cell::B));
        self.asm.alu(Width::W32, Alu::Cmp, Reg::Rcx, Reg::Rdx);
        self.asm.jcc(Cond::AboveEqual, beyond);
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
        self.load_slot(Reg::Rax, ic::SLOT, method);
    }

    /// A property of a prototype, or the second own one, of the object rax with the shape rcx.
    fn get_further(&mut self, method: bool) {
        let second = self.asm.label();
        let (next, others) = (self.next(), self.elsewhere(move |t| t.looked_up(method)));
        self.of_prototype(method, second);
        self.asm.jmp(next);
        self.asm.bind(second);
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::SHAPE_2));
        self.asm.jcc(Cond::NotEqual, others);
        self.load_slot(Reg::Rax, ic::SLOT_2, method);
        self.asm.jmp(next);
    }

    /// A property of the object rax with none of the shapes that the site knows, if the isolate remembers where it is.
    fn looked_up(&mut self, method: bool) {
        let (next, slow) = (self.next(), self.out_of_line());
        let no_value = if method {
            slow
        } else {
            self.elsewhere(move |t| {
                t.asm.alu_i(Width::W32, Alu::Cmp, Reg::Rdx, what::GETTER as i32);
                t.asm.jcc(Cond::NotEqual, slow);
                t.enter_getter(slow);
            })
        };
        self.asm.mov(Reg::Rdi, VM);
        self.asm.mov(Reg::Rsi, Reg::Rax);
        self.asm.load(Reg::Rdx, site(self.x(), ic::KEY));
        self.asm.call_to(self.stubs.named);
        self.asm.alu_i(Width::W32, Alu::Cmp, Reg::Rdx, what::VALUE as i32);
        self.asm.jcc(Cond::NotEqual, no_value);
        self.asm.mov(Reg::Rcx, Reg::Rax);
        if method {
            self.get(Reg::Rax, self.b());
        }
        self.set_result(Reg::Rcx, method);
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
        self.load_slot(Reg::Rsi, ic::FAR_SLOT, method);
    }

    /// A prototype's property in line, own ones behind the code.
    fn get_method(&mut self) {
        let slow = self.out_of_line();
        let own = self.elsewhere(|t| {
            let second = t.asm.label();
            let (next, others) = (t.next(), t.elsewhere(|t| t.looked_up(true)));
            t.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(t.x(), ic::SHAPE));
            t.asm.jcc(Cond::NotEqual, second);
            t.load_slot(Reg::Rax, ic::SLOT, true);
            t.asm.jmp(next);
            t.asm.bind(second);
            t.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(t.x(), ic::SHAPE_2));
            t.asm.jcc(Cond::NotEqual, others);
            t.load_slot(Reg::Rax, ic::SLOT_2, true);
            t.asm.jmp(next);
        });
        self.get(Reg::Rax, self.b());
        if !self.is_object(self.b()) {
            let no_object = self.elsewhere(|t| t.method_of_string());
            self.check_cell(Reg::Rax, slow);
            self.asm.cmp8_mi(at(Reg::Rax, cell::KIND), CellKind::Object as u8);
            self.asm.jcc(Cond::NotEqual, no_object);
        }
        self.asm.load(Reg::Rcx, at(Reg::Rax, SHAPE_OFFSET));
        self.of_prototype(true, own);
    }

    /// A method of the string rax, if that is what it is.
    fn method_of_string(&mut self) {
        let (next, slow) = (self.next(), self.out_of_line());
        self.asm.cmp8_mi(at(Reg::Rax, cell::KIND), CellKind::String as u8);
        self.asm.jcc(Cond::NotEqual, slow);
        // Beside the stand-in for the shape of strings there is always a holder.
        self.asm.mov_i(Reg::Rcx, primitive_shapes::STRING as u64);
        self.of_prototype(true, slow);
        self.asm.jmp(next);
    }

    /// The length of an array in line, of a string behind the code, else a property like others.
    fn get_length(&mut self) {
        let slow = self.out_of_line();
        let property = self.elsewhere(|t| {
            let (next, slow) = (t.next(), t.out_of_line());
            t.check_object(Reg::Rax, slow);
            t.asm.load(Reg::Rcx, at(Reg::Rax, SHAPE_OFFSET));
            let further = t.elsewhere(|t| t.get_further(false));
            t.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(t.x(), ic::SHAPE));
            t.asm.jcc(Cond::NotEqual, further);
            t.load_slot(Reg::Rax, ic::SLOT, false);
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
        self.check_cell(Reg::Rax, slow);
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
        self.store_slot(ic::SLOT, self.b());
    }

    /// The slot of the object rax whose number is in the cache's field = register `from`.
    fn store_slot(&mut self, number: usize, from: usize) {
        let (store, remember) = (
            self.asm.label(),
            self.elsewhere(|t| {
                t.asm.mov(Reg::Rdi, Reg::Rax);
                t.asm.mov(Reg::Rdx, Reg::Rsi);
                t.asm.mov32(Reg::Rsi, Reg::Rcx);
                t.asm.call_to(t.stubs.set_slot);
                let next = t.next();
                t.asm.jmp(next);
            }),
        );
        self.get(Reg::Rsi, from);
        self.check_slot(Reg::Rax, number, remember);
        let old = self.check_for_barrier(Reg::Rsi, store, remember);
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
        self.check_slot(Reg::Rax, ic::FAR_SLOT, slow);
        self.get(Reg::Rsi, self.b());
        self.asm.load(Reg::Rdx, site(self.x(), ic::FAR));
        self.asm.store(indexed(Reg::Rax, Reg::Rcx, 3, OBJECT_HEADER_BYTES), Reg::Rsi);
        self.asm.store(at(Reg::Rax, SHAPE_OFFSET), Reg::Rdx);
        self.asm.jmp(next);
        self.asm.bind(second);
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::SHAPE_2));
        let others = self.elsewhere(move |t| {
            t.asm.mov(Reg::Rdi, VM);
            t.asm.mov(Reg::Rsi, Reg::Rax);
            t.asm.load(Reg::Rdx, site(t.x(), ic::KEY));
            t.get(Reg::Rcx, t.b());
            t.asm.call_to(t.stubs.set_named);
            t.asm.test(Width::W32, Reg::Rax, Reg::Rax);
            t.asm.jcc(Cond::Equal, slow);
            t.asm.jmp(next);
        });
        self.asm.jcc(Cond::NotEqual, others);
        self.store_slot(ic::SLOT_2, self.b());
        self.asm.jmp(next);
    }

    /// A private member of the object in register `object`, which is rax then: key and shape must both match.
    fn private(&mut self, object: usize, key: usize) {
        let slow = self.out_of_line();
        self.object_and_shape(object, slow);
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::SHAPE));
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.load(Reg::Rcx, register(key));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, site(self.x(), ic::FAR));
        self.asm.jcc(Cond::NotEqual, slow);
    }
}
