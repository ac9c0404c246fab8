//! Shared code for elements of typed arrays of numbers: what `object::typed_view` does for valid indices of views with a length of their own.
//!
//! Both take the object in rax and the index in rcx and answer with a word in rax; 0 means that the general way has to be taken, and nothing
//! was done. The other caller-saved registers are theirs.

use super::masm::{Alu, Assembler, Cond, Label, Reg, Width, Xmm, at, indexed};
use super::offsets::TAG;
use crate::gc::{CellKind, offsets as cell};
use crate::object::typed_view::{ElementType, offsets as view};
use crate::object::{OBJECT_HEADER_BYTES, ObjectKind};
use crate::value::Value;

/// rdi = the address of the bytes of the view, r8 = the type of the elements; elsewhere if the element rcx is not there.
fn emit_element(asm: &mut Assembler, no: Label) {
    asm.load32(Reg::Rdx, at(Reg::Rax, cell::KIND));
    asm.alu_i(Width::W32, Alu::And, Reg::Rdx, 0x00ff_00ff);
    asm.alu_i(
        Width::W32,
        Alu::Cmp,
        Reg::Rdx,
        ((ObjectKind::TypedArray as i32) << 16) | CellKind::Object as i32,
    );
    asm.jcc(Cond::NotEqual, no);
    // Slot 0 of a typed array holds its view from birth.
    asm.load(Reg::Rdx, at(Reg::Rax, OBJECT_HEADER_BYTES));
    asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, at(Reg::Rdx, view::OWN_LENGTH));
    asm.jcc(Cond::AboveEqual, no);
    asm.load(Reg::Rdi, at(Reg::Rdx, view::BUFFER));
    asm.load(Reg::R8, at(Reg::Rdi, view::BUFFER_LEN));
    asm.alu_m(Width::W64, Alu::Cmp, Reg::R8, at(Reg::Rdx, view::OWN_END));
    asm.jcc(Cond::Below, no);
    asm.load(Reg::Rdi, at(Reg::Rdi, view::BUFFER_DATA));
    asm.load(Reg::R8, at(Reg::Rdx, view::BYTE_OFFSET));
    asm.alu(Width::W64, Alu::Add, Reg::Rdi, Reg::R8);
    asm.load8(Reg::R8, at(Reg::Rdx, view::ELEMENT));
}

/// Goes on at `label` if the elements are of this type.
fn on_type(asm: &mut Assembler, element: ElementType, label: Label) {
    asm.alu_i(Width::W32, Alu::Cmp, Reg::R8, element as i32);
    asm.jcc(Cond::Equal, label);
}

/// The types with code of their own, the likely ones first.
const TYPES: [ElementType; 9] = [
    ElementType::Float64,
    ElementType::Int32,
    ElementType::Uint8,
    ElementType::Float32,
    ElementType::Uint32,
    ElementType::Uint16,
    ElementType::Int16,
    ElementType::Uint8Clamped,
    ElementType::Int8,
];

/// rax = the element rcx of the object rax.
pub(super) fn emit_get(asm: &mut Assembler) {
    let (no, int, double) = (asm.label(), asm.label(), asm.label());
    emit_element(asm, no);
    let labels = TYPES.map(|_| asm.label());
    for (element, label) in TYPES.into_iter().zip(labels) {
        on_type(asm, element, label);
    }
    asm.jmp(no);
    for (element, label) in TYPES.into_iter().zip(labels) {
        asm.bind(label);
        let place = indexed(Reg::Rdi, Reg::Rcx, element.size().trailing_zeros() as u8, 0);
        match element {
            ElementType::Float64 => asm.load_double(Xmm::X0, place),
            ElementType::Float32 => asm.load_float(Xmm::X0, place),
            ElementType::Int8 => asm.load8_signed(Reg::Rax, place),
            ElementType::Uint8 | ElementType::Uint8Clamped => asm.load8(Reg::Rax, place),
            ElementType::Int16 => asm.load16_signed(Reg::Rax, place),
            ElementType::Uint16 => asm.load16(Reg::Rax, place),
            _ => asm.load32(Reg::Rax, place),
        }
        match element {
            ElementType::Float64 | ElementType::Float32 => asm.jmp(double),
            ElementType::Uint32 => {
                // Beyond int32 it becomes a double, which is left to others.
                asm.test(Width::W32, Reg::Rax, Reg::Rax);
                asm.jcc(Cond::Negative, no);
                asm.jmp(int);
            }
            _ => asm.jmp(int),
        }
    }
    asm.bind(int);
    asm.alu(Width::W64, Alu::Or, Reg::Rax, TAG);
    asm.ret();
    asm.bind(double);
    let nan = asm.label();
    asm.compare_doubles(Xmm::X0, Xmm::X0);
    asm.jcc(Cond::Parity, nan);
    asm.from_double(Reg::Rax, Xmm::X0);
    asm.alu(Width::W64, Alu::Sub, Reg::Rax, TAG);
    asm.ret();
    // Guests choose the bits of a NaN in a buffer, which must not become those of another value.
    asm.bind(nan);
    asm.mov_i(Reg::Rax, Value::NAN.to_bits());
    asm.ret();
    asm.bind(no);
    asm.mov_i(Reg::Rax, 0);
    asm.ret();
}

/// The element rcx of the object rax = rsi. int32 into arrays of integers, and numbers into arrays of doubles and floats.
pub(super) fn emit_set(asm: &mut Assembler) {
    let no = asm.label();
    let (double, float, word, half, byte) = (asm.label(), asm.label(), asm.label(), asm.label(), asm.label());
    emit_element(asm, no);
    on_type(asm, ElementType::Float64, double);
    on_type(asm, ElementType::Float32, float);
    asm.alu(Width::W64, Alu::Cmp, Reg::Rsi, TAG);
    asm.jcc(Cond::Below, no);
    for (element, label) in [
        (ElementType::Int32, word),
        (ElementType::Uint8, byte),
        (ElementType::Uint32, word),
        (ElementType::Uint16, half),
        (ElementType::Int16, half),
        (ElementType::Int8, byte),
    ] {
        on_type(asm, element, label);
    }
    asm.jmp(no);
    asm.bind(word);
    asm.store32(indexed(Reg::Rdi, Reg::Rcx, 2, 0), Reg::Rsi);
    done(asm);
    asm.bind(half);
    asm.store16(indexed(Reg::Rdi, Reg::Rcx, 1, 0), Reg::Rsi);
    done(asm);
    asm.bind(byte);
    asm.mov32(Reg::Rdx, Reg::Rsi);
    asm.store8(indexed(Reg::Rdi, Reg::Rcx, 0, 0), Reg::Rdx);
    done(asm);
    asm.bind(double);
    number_in_x0(asm, no);
    asm.store_double(indexed(Reg::Rdi, Reg::Rcx, 3, 0), Xmm::X0);
    done(asm);
    asm.bind(float);
    number_in_x0(asm, no);
    asm.double_to_float(Xmm::X0);
    asm.store_float(indexed(Reg::Rdi, Reg::Rcx, 2, 0), Xmm::X0);
    done(asm);
    asm.bind(no);
    asm.mov_i(Reg::Rax, 0);
    asm.ret();
}

fn done(asm: &mut Assembler) {
    asm.mov_i(Reg::Rax, 1);
    asm.ret();
}

/// x0 = the number rsi; elsewhere if it is none.
fn number_in_x0(asm: &mut Assembler, no: Label) {
    let (int, done) = (asm.label(), asm.label());
    asm.alu(Width::W64, Alu::Cmp, Reg::Rsi, TAG);
    asm.jcc(Cond::AboveEqual, int);
    asm.alu(Width::W64, Alu::Add, Reg::Rsi, TAG);
    asm.jcc(Cond::AboveEqual, no);
    asm.to_double(Xmm::X0, Reg::Rsi);
    asm.jmp(done);
    asm.bind(int);
    asm.int_to_double(Xmm::X0, Reg::Rsi);
    asm.bind(done);
}
