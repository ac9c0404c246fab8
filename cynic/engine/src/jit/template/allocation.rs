//! Objects made in line: of literals, and those that constructors of classes begin with. Memory is taken from the heap's run of free cells
//! as the heap itself does it; when that is used up, the instruction goes out of line, and the collector may run there.

use super::super::masm::{Alu, Cond, Label, Reg, Width, at};
use super::super::offsets::VM;
use super::Translator;
use crate::bytecode::Op;
use crate::gc::{CellKind, Gc, color, offsets as cell};
use crate::object::{ELEMENTS_OFFSET, OBJECT_HEADER_BYTES, ObjectKind, SHAPE_OFFSET, empty_array};
use crate::shape::Shape;
use crate::value::Value;
use crate::vm::interpreter::slots_of_literal;
use crate::vm::offsets as vm;

impl Translator<'_> {
    /// An instruction that makes an object; false if this one is none.
    pub(super) fn allocation(&mut self) -> bool {
        match self.place.op {
            Op::NewObjectLiteral => self.literal(),
            _ => false,
        }
    }

    /// An object literal whose shape is known.
    fn literal(&mut self) -> bool {
        const FILLED_MAX: u32 = 16;
        let Some(shape) = self.template.literal_shape_made(self.x()) else { return false };
        let (count, inline) = (shape.slot_count(), slots_of_literal(shape));
        if count > FILLED_MAX || count > u32::from(inline) {
            return false;
        }
        let slow = self.out_of_line();
        if !self.allocate(shape, inline, slow) {
            return false;
        }
        for i in 0..count as usize {
            self.get(Reg::Rcx, self.b() + i);
            self.asm.store(slot(i), Reg::Rcx);
        }
        self.clear_slots(count as usize, inline);
        self.set(self.a(), Reg::Rax);
        true
    }

    /// rax = a new ordinary object whose slots are not filled; elsewhere if the heap has none at hand. Changes rcx. False if there is no such
    /// code.
    pub(super) fn allocate(&mut self, shape: Gc<Shape>, inline: u8, no: Label) -> bool {
        let bytes = OBJECT_HEADER_BYTES + inline as usize * size_of::<Value>();
        let Some((cursor, end, size)) = vm::run_of(bytes) else { return false };
        self.asm.load(Reg::Rax, at(VM, cursor));
        self.asm.lea(Reg::Rcx, at(Reg::Rax, size));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, at(VM, end));
        self.asm.jcc(Cond::Above, no);
        self.asm.store(at(VM, cursor), Reg::Rcx);
        const _: () = assert!(cell::KIND == 0 && cell::COLOR == 1 && cell::A == 2 && cell::B == 3);
        let header = [CellKind::Object as u8, color::WHITE, ObjectKind::Ordinary as u8, inline];
        self.constant(Reg::Rcx, u64::from(u32::from_le_bytes(header)));
        self.asm.store(at(Reg::Rax, 0), Reg::Rcx);
        self.named.push(Value::cell(shape));
        self.constant(Reg::Rcx, shape.addr() as u64);
        self.asm.store(at(Reg::Rax, SHAPE_OFFSET), Reg::Rcx);
        self.constant(Reg::Rcx, empty_array().addr() as u64);
        self.asm.store(at(Reg::Rax, ELEMENTS_OFFSET), Reg::Rcx);
        true
    }

    /// The slots of the object rax from `first` = undefined.
    pub(super) fn clear_slots(&mut self, first: usize, inline: u8) {
        for i in first..inline as usize {
            self.asm.store_i(slot(i), Value::UNDEFINED.to_bits() as i32);
        }
    }
}

/// A slot of the object rax.
fn slot(i: usize) -> super::super::masm::Mem {
    at(Reg::Rax, OBJECT_HEADER_BYTES + i * size_of::<Value>())
}
