//! Calls of some native functions in line. The name of the method that is called says at compile time which function it may be; the code
//! looks whether the callee is that one, and leaves all others to the general call.
//!
//! What is not as simple as the function's most common case (arguments of other types, a due poll) is the general call's business, too.

use super::super::masm::{Alu, Cond, Label, Reg, Shift, Sse, Width, Xmm, at};
use super::super::offsets::{TAG, VM};
use super::{Origin, Translator};
use crate::bytecode::code::{Constant, Text};
use crate::object::OBJECT_HEADER_BYTES;
use crate::object::function::{NATIVE_SPEC_SLOT, NativeSpec};
use crate::realm::{Intrinsic, KeySpec, ValueSpec};
use crate::value::Value;
use crate::vm::offsets as vm;

/// A function that has code here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Native {
    Abs,
    CharCodeAt,
    Clz32,
    Floor,
    Imul,
    Max,
    Min,
    Pop,
    Push,
    Sqrt,
}

/// By the name of the method: the function, where it is a property, and how many arguments its code takes.
const NATIVES: [(&str, Native, Intrinsic, usize); 10] = [
    ("abs", Native::Abs, Intrinsic::Math, 1),
    ("charCodeAt", Native::CharCodeAt, Intrinsic::StringPrototype, 1),
    ("clz32", Native::Clz32, Intrinsic::Math, 1),
    ("floor", Native::Floor, Intrinsic::Math, 1),
    ("imul", Native::Imul, Intrinsic::Math, 2),
    ("max", Native::Max, Intrinsic::Math, 2),
    ("min", Native::Min, Intrinsic::Math, 2),
    ("pop", Native::Pop, Intrinsic::ArrayPrototype, 0),
    ("push", Native::Push, Intrinsic::ArrayPrototype, 1),
    ("sqrt", Native::Sqrt, Intrinsic::Math, 1),
];

/// The specification of the method `name` of an intrinsic.
fn specification(home: Intrinsic, name: &str) -> Option<&'static NativeSpec> {
    home.spec().properties.iter().find_map(|property| match (&property.key, &property.value) {
        (KeySpec::Name(key), ValueSpec::Method(spec)) if *key == name => Some(spec),
        _ => None,
    })
}

impl Translator<'_> {
    /// The function that is probably called, and what its objects have as their specification.
    fn native(&self) -> Option<(Native, u64)> {
        let Some(Origin::Method(site)) = self.origins[self.b()] else { return None };
        let constant = *self.function.ic_sites.get(site as usize)?;
        let Some(Constant::String(Text::Utf8(name))) = self.function.constants.get(constant as usize) else {
            return None;
        };
        let (name, native, home, count) = NATIVES.into_iter().find(|(known, ..)| **known == **name)?;
        // More arguments would have to be converted as well.
        (count == self.c()).then_some(())?;
        Some((native, Value::static_ptr(specification(home, name)?).to_bits()))
    }

    /// The call of the native function rax, if it is the one that is probably called.
    pub(super) fn call_in_line(&mut self, general: Label) {
        let Some((native, specification)) = self.native() else { return };
        if native == Native::Floor && !std::arch::is_x86_feature_detected!("sse4.1")
            || native == Native::Clz32 && !std::arch::is_x86_feature_detected!("lzcnt")
        {
            return;
        }
        self.constant(Reg::Rcx, specification);
        self.asm.alu_m(
            Width::W64,
            Alu::Cmp,
            Reg::Rcx,
            at(Reg::Rax, OBJECT_HEADER_BYTES + NATIVE_SPEC_SLOT as usize * 8),
        );
        self.asm.jcc(Cond::NotEqual, general);
        // The step of the call, unless the poll is due.
        self.asm.alu_mi(Width::W32, Alu::Cmp, at(VM, vm::BUDGET), 1);
        self.asm.jcc(Cond::BelowEqual, general);
        let argument = self.b() + 2;
        match native {
            Native::Abs => self.absolute(argument, general),
            Native::CharCodeAt => self.char_code_at(argument, general),
            Native::Clz32 => {
                self.int_argument(Reg::Rax, argument, general);
                self.asm.lzcnt(Reg::Rax, Reg::Rax);
                self.take_step();
                self.set_int(Reg::Rax);
            }
            Native::Floor => {
                self.double_argument(Xmm::X0, argument, general);
                self.asm.floor(Xmm::X0, Xmm::X0);
                self.take_step();
                self.set_number();
            }
            Native::Imul => {
                self.int_argument(Reg::Rax, argument, general);
                self.int_argument(Reg::Rcx, argument + 1, general);
                self.asm.imul(Reg::Rax, Reg::Rcx);
                self.take_step();
                self.set_int(Reg::Rax);
            }
            Native::Max => self.extreme(Cond::Above, argument, general),
            Native::Min => self.extreme(Cond::Below, argument, general),
            Native::Pop => {
                self.asm.mov(Reg::Rdi, VM);
                self.get(Reg::Rsi, argument - 1);
                self.asm.call_to(self.stubs.pop);
                self.asm.alu_i(Width::W64, Alu::Cmp, Reg::Rax, Value::EMPTY.to_bits() as i32);
                self.asm.jcc(Cond::Equal, general);
                self.take_step();
                self.set(self.a(), Reg::Rax);
            }
            Native::Push => {
                self.asm.mov(Reg::Rdi, VM);
                self.get(Reg::Rsi, argument - 1);
                self.get(Reg::Rdx, argument);
                self.asm.call_to(self.stubs.push);
                self.asm.test(Width::W32, Reg::Rax, Reg::Rax);
                self.asm.jcc(Cond::Equal, general);
                self.asm.mov32(Reg::Rax, Reg::Rax);
                self.take_step();
                self.set_int(Reg::Rax);
            }
            Native::Sqrt => {
                self.double_argument(Xmm::X0, argument, general);
                self.asm.sse(Sse::Sqrt, Xmm::X0, Xmm::X0);
                self.take_step();
                self.set_number();
            }
        }
        let next = self.next();
        self.asm.jmp(next);
    }

    /// Takes the step of the call, which is sure to finish from here on.
    fn take_step(&mut self) {
        self.asm.alu_mi(Width::W32, Alu::Sub, at(VM, vm::BUDGET), 1);
    }

    /// `to` = the int32 in a register, its upper half zero.
    fn int_argument(&mut self, to: Reg, register: usize, general: Label) {
        self.get(to, register);
        self.check_int(to, general);
        self.asm.mov32(to, to);
    }

    fn double_argument(&mut self, to: Xmm, register: usize, general: Label) {
        self.get(Reg::Rax, register);
        self.to_double(to, Reg::Rax, general);
    }

    fn absolute(&mut self, argument: usize, general: Label) {
        let (double, done) = (self.asm.label(), self.asm.label());
        self.get(Reg::Rax, argument);
        self.check_int(Reg::Rax, double);
        self.asm.mov32(Reg::Rax, Reg::Rax);
        self.asm.mov32(Reg::Rcx, Reg::Rax);
        self.asm.shift_i(Shift::Arithmetic, Reg::Rcx, 31);
        self.asm.alu(Width::W32, Alu::Xor, Reg::Rax, Reg::Rcx);
        self.asm.alu(Width::W32, Alu::Sub, Reg::Rax, Reg::Rcx);
        // The lowest int32 has no counterpart.
        self.asm.jcc(Cond::Overflow, general);
        self.take_step();
        self.set_int(Reg::Rax);
        self.asm.jmp(done);
        self.asm.bind(double);
        self.to_double(Xmm::X0, Reg::Rax, general);
        self.asm.from_double(Reg::Rax, Xmm::X0);
        self.constant(Reg::Rcx, i64::MAX as u64);
        self.asm.alu(Width::W64, Alu::And, Reg::Rax, Reg::Rcx);
        self.asm.to_double(Xmm::X0, Reg::Rax);
        self.take_step();
        self.set_number();
        self.asm.bind(done);
    }

    /// The argument that is `wanted` of the other; where they are equal or not comparable, the general call decides.
    fn extreme(&mut self, wanted: Cond, argument: usize, general: Label) {
        let first = self.asm.label();
        self.double_argument(Xmm::X0, argument, general);
        self.double_argument(Xmm::X1, argument + 1, general);
        self.asm.compare_doubles(Xmm::X0, Xmm::X1);
        self.asm.jcc(Cond::Parity, general);
        self.asm.jcc(Cond::Equal, general);
        self.get(Reg::Rax, argument);
        self.asm.jcc(wanted, first);
        self.get(Reg::Rax, argument + 1);
        self.asm.bind(first);
        self.take_step();
        let a = self.a();
        self.set(a, Reg::Rax);
    }

    fn char_code_at(&mut self, argument: usize, general: Label) {
        self.int_argument(Reg::Rsi, argument, general);
        self.get(Reg::Rdi, argument - 1);
        self.asm.call_to(self.stubs.unit);
        self.asm.test(Width::W32, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Negative, general);
        self.asm.mov32(Reg::Rax, Reg::Rax);
        self.asm.alu(Width::W64, Alu::Or, Reg::Rax, TAG);
        self.take_step();
        let a = self.a();
        self.set(a, Reg::Rax);
    }
}
