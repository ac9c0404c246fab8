//! Which machine register holds what, and where fields are: what all generated code agrees on.
//!
//! The registers that keep something are those that calls preserve. Whoever enters the code of a function loads all of them
//! (`stubs::load_frame`); between instructions nothing else is live in a machine register.

use std::mem::offset_of;

use super::masm::{Mem, Reg, at};
use crate::gc::offsets as cell;
use crate::vm::interpreter::Frame;
use crate::vm::interpreter::template::{FunctionTemplate, Ic};

/// Register 0 of the running frame.
pub(super) const REGS: Reg = Reg::R12;
/// The isolate.
pub(super) const VM: Reg = Reg::R13;
/// The running frame.
pub(super) const FRAME: Reg = Reg::R14;
/// [`NUMBER_TAG`], which is -2^49: added to a value it sets the carry if that is a number, and leaves the bits of a double.
pub(super) const TAG: Reg = Reg::R15;
/// The caches of the running function.
pub(super) const ICS: Reg = Reg::Rbx;
/// The bits that no cell has: [`NUMBER_TAG`] and the one that the other immediate values have.
pub(super) const NOT_CELL: Reg = Reg::Rbp;

/// What [`NOT_CELL`] holds.
pub(super) const NOT_CELL_BITS: u64 = NUMBER_TAG | 2;

/// From here on, values are int32.
pub(super) const NUMBER_TAG: u64 = crate::value::Value::ZERO.to_bits();

/// The address of a register of the frame.
pub(super) fn register(i: usize) -> Mem {
    at(REGS, i * 8)
}

/// A field of the running frame.
pub(super) fn of_frame(offset: usize) -> Mem {
    at(FRAME, offset)
}

/// Fields of a frame's record.
#[allow(missing_docs)]
pub(super) mod frame {
    use super::{Frame, offset_of};
    pub(in crate::jit) const SIZE: usize = size_of::<Frame>();
    pub(in crate::jit) const REGS: usize = offset_of!(Frame, regs);
    pub(in crate::jit) const PC: usize = offset_of!(Frame, pc);
    pub(in crate::jit) const FEEDBACK: usize = offset_of!(Frame, feedback);
    pub(in crate::jit) const CONSTANTS: usize = offset_of!(Frame, constants);
    pub(in crate::jit) const END: usize = offset_of!(Frame, end);
    pub(in crate::jit) const NEW_TARGET: usize = offset_of!(Frame, new_target);
    pub(in crate::jit) const ARGUMENTS: usize = offset_of!(Frame, arguments);
    pub(in crate::jit) const ARGUMENT_COUNT: usize = offset_of!(Frame, argument_count);
    pub(in crate::jit) const DST: usize = offset_of!(Frame, dst);
    pub(in crate::jit) const FLAGS: usize = offset_of!(Frame, flags);
    pub(in crate::jit) const COROUTINE: usize = offset_of!(Frame, coroutine);
    pub(in crate::jit) const TEMPLATE_CELL: usize = offset_of!(Frame, template_cell);
    pub(in crate::jit) const RESUME: usize = offset_of!(Frame, resume);
}

/// Fields of a function template, from the start of its cell.
#[allow(missing_docs)]
pub(super) mod template {
    use super::{FunctionTemplate, cell, offset_of};
    /// From a template's address to its cell's, which is lower.
    pub(in crate::jit) const DATA: usize = cell::data::<FunctionTemplate>();
    pub(in crate::jit) const CODE: usize = DATA + offset_of!(FunctionTemplate, code);
    pub(in crate::jit) const ENTRY: usize = DATA + offset_of!(FunctionTemplate, entry);
    pub(in crate::jit) const REGISTERS: usize = DATA + offset_of!(FunctionTemplate, registers);
    pub(in crate::jit) const PARAMETERS: usize = DATA + offset_of!(FunctionTemplate, parameters);
    pub(in crate::jit) const FLAGS: usize = DATA + offset_of!(FunctionTemplate, flags);
    pub(in crate::jit) const FEEDBACK: usize = DATA + offset_of!(FunctionTemplate, feedback);
    pub(in crate::jit) const CONSTANTS: usize = DATA + offset_of!(FunctionTemplate, constants);
    pub(in crate::jit) const REALM: usize = DATA + offset_of!(FunctionTemplate, realm);
}

/// A field of the inline cache of site `i`.
pub(super) fn site(i: u32, offset: usize) -> Mem {
    at(ICS, i as usize * size_of::<Ic>() + offset)
}

/// Fields of an inline cache.
#[allow(missing_docs)]
pub(super) mod ic {
    use super::{Ic, offset_of};
    pub(in crate::jit) const KEY: usize = offset_of!(Ic, key);
    pub(in crate::jit) const SHAPE: usize = offset_of!(Ic, shape);
    pub(in crate::jit) const SHAPE_2: usize = offset_of!(Ic, shape_2);
    pub(in crate::jit) const SLOT: usize = offset_of!(Ic, slot);
    pub(in crate::jit) const SLOT_2: usize = offset_of!(Ic, slot_2);
    pub(in crate::jit) const FAR_SHAPE: usize = offset_of!(Ic, far_shape);
    pub(in crate::jit) const FAR: usize = offset_of!(Ic, far);
    pub(in crate::jit) const FAR_SLOT: usize = offset_of!(Ic, far_slot);
    pub(in crate::jit) const EPOCH: usize = offset_of!(Ic, epoch);
}
