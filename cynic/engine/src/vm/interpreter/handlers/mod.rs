//! Fast paths of the instructions, one small function each, named in the opcode table.
//!
//! A handler takes a [`State`](super::State) and ends with a [`Step`](super::Step). It does the common case inline and leaves by
//! `slow!` for everything else; it must not hold anything that needs dropping, or an address of a local, when it ends,
//! or the tail-calling dispatcher degrades to calls (`tests/dispatch.rs` finds that).

mod allocation;
mod arithmetic;
mod calls;
mod compare;
mod control;
mod loads;
mod properties;
mod protocols;

pub(in crate::vm::interpreter) use allocation::*;
pub(in crate::vm::interpreter) use arithmetic::*;
pub(in crate::vm::interpreter) use calls::*;
pub(in crate::vm::interpreter) use compare::*;
pub(in crate::vm::interpreter) use control::*;
pub(in crate::vm::interpreter) use loads::*;
pub(in crate::vm::interpreter) use properties::*;
pub(in crate::vm::interpreter) use protocols::*;

/// Handlers that are nothing but a call of their slow path.
macro_rules! outlined {
    ($($name:ident => $slow:path;)*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name(s: super::super::State) -> super::super::Step {
                super::super::after($slow(s.pc, s.regs, s.vm, s.frame), s.vm)
            }
        )*
    };
}
pub(super) use outlined;
