//! Elements of arrays under int32 keys.

use super::super::masm::{Alu, Cond, Label, Reg, Width, at, indexed};
use super::super::offsets::{VM, register};
use super::Translator;
use crate::bytecode::Op;
use crate::gc::{color, offsets as cell};
use crate::object::{ARRAY_LENGTH_SLOT, ELEMENTS_OFFSET, OBJECT_HEADER_BYTES, ObjectKind, flags};
use crate::value::Value;
use crate::vm::offsets as vm;

impl Translator<'_> {
    /// An access of an element; false if this instruction is none.
    pub(super) fn element(&mut self) -> bool {
        match self.place.op {
            Op::GetElem => self.get_element(false),
            Op::GetElemMethod => self.get_element(true),
            Op::SetElem => self.set_element(),
            Op::IteratorNext => self.next_of_array(),
            _ => return false,
        }
        true
    }

    /// rax = the object in a register, rcx = the int32 in another, with its upper half cleared; rdx is changed.
    fn object_and_index(&mut self, object: usize, key: usize, no: Label) {
        self.get(Reg::Rcx, key);
        self.check_int(Reg::Rcx, no);
        self.get(Reg::Rax, object);
        self.check_object(Reg::Rax, no);
        self.asm.mov32(Reg::Rcx, Reg::Rcx);
    }

    /// rdx = the elements of the object rax, rsi = the one at rcx; elsewhere if it is not there.
    fn dense_element(&mut self, no: Label) {
        self.asm.load(Reg::Rdx, at(Reg::Rax, ELEMENTS_OFFSET));
        self.asm.alu_m(Width::W32, Alu::Cmp, Reg::Rcx, at(Reg::Rdx, cell::ARRAY_LEN));
        self.asm.jcc(Cond::AboveEqual, no);
        self.asm.load(Reg::Rsi, indexed(Reg::Rdx, Reg::Rcx, 3, cell::ARRAY_VALUES));
        self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rsi, Value::EMPTY.to_bits() as i32);
        self.asm.jcc(Cond::Equal, no);
    }

    fn get_element(&mut self, method: bool) {
        let slow = self.out_of_line();
        let typed = if method { slow } else { self.elsewhere(|t| t.get_typed()) };
        self.object_and_index(self.b(), self.c(), slow);
        self.dense_element(typed);
        self.set(self.a(), Reg::Rsi);
        if method {
            self.set(self.a() + 1, Reg::Rax);
        }
    }

    fn set_element(&mut self) {
        let slow = self.out_of_line();
        self.object_and_index(self.a(), self.b(), slow);
        // Typed arrays are exotic.
        let typed = self.elsewhere(|t| t.set_typed());
        self.asm.test_mi(at(Reg::Rax, cell::C), flags::ELEMENT_WRITE_SLOW);
        self.asm.jcc(Cond::NotEqual, typed);
        self.dense_element(slow);
        self.get(Reg::Rsi, self.c());
        self.asm.mov(Reg::Rdi, Reg::Rdx);
        let store = self.asm.label();
        let remember = self.elsewhere(|t| {
            t.asm.mov(Reg::Rdi, Reg::Rax);
            t.asm.mov(Reg::Rdx, Reg::Rsi);
            t.asm.mov32(Reg::Rsi, Reg::Rcx);
            t.asm.call_to(t.stubs.set_element);
            let next = t.next();
            t.asm.jmp(next);
        });
        let old = self.check_for_barrier(Reg::Rsi, store, remember);
        self.asm.cmp8_mi(at(Reg::Rdi, cell::COLOR), color::WHITE);
        self.asm.jcc(Cond::NotEqual, old);
        self.asm.bind(store);
        self.asm.store(indexed(Reg::Rdi, Reg::Rcx, 3, cell::ARRAY_VALUES), Reg::Rsi);
    }

    /// The element rcx of the object rax, if that is a typed array.
    fn get_typed(&mut self) {
        let (next, slow) = (self.next(), self.out_of_line());
        self.asm.call_to(self.stubs.typed_get);
        self.asm.test(Width::W64, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Equal, slow);
        self.set(self.a(), Reg::Rax);
        self.asm.jmp(next);
    }

    fn set_typed(&mut self) {
        let (next, slow) = (self.next(), self.out_of_line());
        self.get(Reg::Rsi, self.c());
        self.asm.call_to(self.stubs.typed_set);
        self.asm.test(Width::W64, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Equal, slow);
        self.asm.jmp(next);
    }

    /// The iteration is over, unless something is owed.
    fn end_of_array(&mut self, slow: Label) {
        self.asm.alu_mi(Width::W32, Alu::Cmp, at(VM, vm::BUDGET), 0);
        self.asm.jcc(Cond::Equal, slow);
        for i in [self.b(), self.b() + 1, self.a()] {
            self.asm.store_i(register(i), Value::UNDEFINED.to_bits() as i32);
        }
        let taken = self.taken();
        self.asm.jmp(taken);
    }

    /// The next element of an array that is iterated over by its index.
    fn next_of_array(&mut self) {
        let slow = self.out_of_line();
        let iterator = self.b();
        self.object_and_index(iterator, iterator + 1, slow);
        self.check_kind(Reg::Rax, Reg::Rdx, ObjectKind::Array, slow);
        self.asm.load(Reg::Rdx, at(Reg::Rax, OBJECT_HEADER_BYTES + ARRAY_LENGTH_SLOT as usize * 8));
        self.check_int(Reg::Rdx, slow);
        self.asm.alu(Width::W32, Alu::Cmp, Reg::Rcx, Reg::Rdx);
        let ended = if self.x() as i32 > 0 { self.elsewhere(move |t| t.end_of_array(slow)) } else { slow };
        self.asm.jcc(Cond::AboveEqual, ended);
        self.dense_element(slow);
        self.asm.alu_i(Width::W32, Alu::Add, Reg::Rcx, 1);
        self.box_int(Reg::Rcx);
        self.asm.store(register(iterator + 1), Reg::Rcx);
        self.set(self.a(), Reg::Rsi);
    }
}
