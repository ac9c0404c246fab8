//! Values that wait outside the registers: where an expression nests so deeply that they run short, what an operator keeps for later goes
//! into an array while its last operand is evaluated.
//!
//! Invariant: only values of the language that the operator itself has evaluated go there, which no handler reads; registers of what stands
//! around it stay where they are. An array that waits directly below joins the next one, so that a chain of operators needs a register or
//! two, however long it is. No array is ever seen by the program.

use super::{Generator, Reg, Result};
use crate::bytecode::Op;

/// Registers that are left when values begin to wait elsewhere: enough for what is written without nesting.
const SPARE_BELOW: usize = 72;

impl<'a> Generator<'a> {
    /// Whether values should wait elsewhere.
    pub(super) fn registers_are_short(&self) -> bool {
        self.registers_left() < SPARE_BELOW
    }

    /// The same after `count` more are taken.
    pub(super) fn may_run_short(&self, count: usize) -> bool {
        self.registers_left() < SPARE_BELOW + count
    }

    /// Evaluates an operand with `f` while the registers from `from` on, all of them evaluated, are needed again afterwards.
    pub(super) fn keeping(&mut self, from: u16, f: impl FnOnce(&mut Self) -> Result<Reg>) -> Result<Reg> {
        if !self.registers_are_short() || self.mark() == from {
            return f(self);
        }
        let joins = self.f.spared.is_some_and(|list| list + 1 == from);
        let from = if joins { from - 1 } else { from };
        let end = self.mark();
        let list = from as Reg;
        let waiting = self.alloc()?;
        self.op_x(Op::NewArray, waiting, list, 0, u32::from(end - from));
        self.mov(list, waiting);
        self.free(from + 1);
        let outer = self.f.spared.replace(from);
        let value = f(self)?;
        self.f.spared = outer;
        self.free(end);
        let result = self.alloc()?;
        self.mov(result, value);
        let key = self.alloc()?;
        // The list is in the first of them, which comes last.
        for register in (from..end).rev() {
            self.load_int(key, i32::from(register - from));
            let ic = self.f.keyed_ic();
            self.op_x(Op::GetElem, register as Reg, list, key, ic);
        }
        self.free(u16::from(result) + 1);
        Ok(result)
    }
}
