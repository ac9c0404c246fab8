//! The macro-assembler: machine registers, operands, labels, and the code that is being made.
//!
//! Invariant: nothing here knows the engine. A label is bound once; [`Assembler::finish`] refuses code with a label that is not.
//! Left to others: encodings (`x64`), what an instruction of bytecode becomes (`template`).

mod x64;

/// A general register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub(super) enum Reg {
    Rax = 0,
    Rcx,
    Rdx,
    Rbx,
    Rsp,
    Rbp,
    Rsi,
    Rdi,
    R8,
    R12 = 12,
    R13,
    R14,
    R15,
}

/// A floating-point register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub(super) enum Xmm {
    X0 = 0,
    X1,
}

/// A place in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mem {
    base: Reg,
    index: Option<(Reg, u8)>,
    displacement: i32,
}

/// `[base + displacement]`.
pub(super) fn at(base: Reg, displacement: usize) -> Mem {
    Mem { base, index: None, displacement: displacement as i32 }
}

/// `[base - displacement]`.
pub(super) fn below(base: Reg, displacement: usize) -> Mem {
    Mem { base, index: None, displacement: -(displacement as i32) }
}

/// `[base + index * 2^scale + displacement]`.
pub(super) fn indexed(base: Reg, index: Reg, scale: u8, displacement: usize) -> Mem {
    Mem { base, index: Some((index, scale)), displacement: displacement as i32 }
}

/// The width of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(super) enum Width {
    W32,
    W64,
}

/// The operations with two operands that have the same forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub(super) enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

/// Shifts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub(super) enum Shift {
    Left = 4,
    Logical = 5,
    Arithmetic = 7,
}

/// Operations on doubles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub(super) enum Sse {
    Add = 0x58,
    Mul = 0x59,
    Sub = 0x5c,
    Div = 0x5e,
    Sqrt = 0x51,
}

/// A condition, as jumps encode it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub(super) enum Cond {
    Overflow = 0,
    Below = 2,
    AboveEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowEqual = 6,
    Above = 7,
    Negative = 8,
    NotNegative = 9,
    Parity = 10,
    Less = 12,
    GreaterEqual = 13,
    LessEqual = 14,
    Greater = 15,
}

impl Cond {
    /// The opposite.
    pub(super) fn negated(self) -> Cond {
        match self {
            Cond::Overflow => unreachable!("no code asks for the absence of overflow"),
            Cond::Parity => unreachable!("no code asks for the absence of parity"),
            Cond::Below => Cond::AboveEqual,
            Cond::AboveEqual => Cond::Below,
            Cond::Equal => Cond::NotEqual,
            Cond::NotEqual => Cond::Equal,
            Cond::BelowEqual => Cond::Above,
            Cond::Above => Cond::BelowEqual,
            Cond::Negative => Cond::NotNegative,
            Cond::NotNegative => Cond::Negative,
            Cond::Less => Cond::GreaterEqual,
            Cond::GreaterEqual => Cond::Less,
            Cond::LessEqual => Cond::Greater,
            Cond::Greater => Cond::LessEqual,
        }
    }
}

/// A place in the code that jumps may name before it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(u32);

const UNBOUND: u32 = u32::MAX;

/// Code that is being made.
#[derive(Default)]
pub(super) struct Assembler {
    pub(super) code: Vec<u8>,
    labels: Vec<u32>,
    /// Where a distance of 32 bits to a label stands.
    fixups: Vec<(u32, Label)>,
    /// Where a distance of 32 bits to an address outside the code stands.
    outside: Vec<(u32, usize)>,
}

impl Assembler {
    /// A label that is not bound yet.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds a label here.
    pub(super) fn bind(&mut self, label: Label) {
        let here = self.code.len() as u32;
        if let Some(place) = self.labels.get_mut(label.0 as usize) {
            debug_assert_eq!(*place, UNBOUND, "a label is bound once");
            *place = here;
        }
    }

    /// Where a label is.
    pub(super) fn offset_of(&self, label: Label) -> u32 {
        self.labels.get(label.0 as usize).copied().unwrap_or(UNBOUND)
    }

    /// The code as it must be at the address `base`; `None` if it jumps to a label that was not bound, or too far.
    pub(super) fn finish(mut self, base: usize) -> Option<Vec<u8>> {
        for (at, label) in std::mem::take(&mut self.fixups) {
            let target = self.offset_of(label);
            if target == UNBOUND {
                return None;
            }
            self.patch(at, i64::from(target) - i64::from(at) - 4)?;
        }
        for (at, target) in std::mem::take(&mut self.outside) {
            self.patch(at, target as i64 - (base as i64 + i64::from(at)) - 4)?;
        }
        Some(self.code)
    }

    fn patch(&mut self, at: u32, distance: i64) -> Option<()> {
        let bytes = i32::try_from(distance).ok()?.to_le_bytes();
        self.code.get_mut(at as usize..at as usize + 4)?.copy_from_slice(&bytes);
        Some(())
    }
}
