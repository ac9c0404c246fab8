//! Which registers of a function may still be read, at each of its instructions.
//!
//! The collector asks this of every frame it finds, so that a value that the function is done with does not stay alive
//! because its register happens to hold it still. Computed backwards over the instructions to a fixpoint, when first asked.
//!
//! Invariant: the sets are never too small. A register that an instruction reads, by an operand or by being part of a run,
//! is in the set; where that is not certain, so are registers that it does not read. Registers that the machine itself reads in
//! every frame (the callee and `this`) are not the business of this analysis.

use std::ops::Range;

use super::code::FunctionCode;
use super::flow;
use super::opcodes::{Kind, Op, operand};
use crate::limits;

/// The live registers of one function, a row of bits for each word of its code.
#[derive(Debug)]
pub struct Liveness {
    rows: Box<[u64]>,
    stride: usize,
}

impl Liveness {
    /// Analyses `function`, which passed the verifier; `None` if it is too large for that to be worth its cost.
    pub fn of(function: &FunctionCode) -> Option<Self> {
        let stride = (function.registers as usize).div_ceil(64);
        if function.code.len().saturating_mul(stride) > limits::LIVENESS_WORDS_MAX {
            return None;
        }
        let mut analysis = Analysis::new(function, stride);
        for _ in 0..limits::LIVENESS_PASSES_MAX {
            if !analysis.pass() {
                return Some(analysis.into_liveness());
            }
        }
        None
    }

    /// Whether register `register` may be read by the instruction that contains word `pc`, or after it. A register that the
    /// instruction writes counts as well, but for calls and suspensions, whose result is written after everything else.
    pub fn is_live(&self, pc: usize, register: usize) -> bool {
        let at = pc.saturating_mul(self.stride).saturating_add(register / 64);
        self.rows.get(at).is_none_or(|word| word >> (register % 64) & 1 != 0)
    }
}

struct Analysis<'f> {
    function: &'f FunctionCode,
    stride: usize,
    starts: Vec<u32>,
    /// The first handler that protects each word: its index and one more, or 0.
    handlers: Vec<u32>,
    rows: Vec<u64>,
    /// The row under construction.
    row: Vec<u64>,
}

impl<'f> Analysis<'f> {
    fn new(function: &'f FunctionCode, stride: usize) -> Self {
        let code = &function.code;
        let mut starts = Vec::new();
        let mut pc = 0;
        while let Some(op) = code.get(pc).and_then(|word| Op::decode(*word)) {
            starts.push(pc as u32);
            pc += op.len();
        }
        let mut handlers = vec![0; code.len()];
        // The first that matches is the one that counts: it is painted last.
        for (index, handler) in function.handlers.iter().enumerate().rev() {
            if let Some(words) = handlers.get_mut(handler.start as usize..handler.end as usize) {
                words.fill(index as u32 + 1);
            }
        }
        let rows = vec![0; code.len() * stride];
        Analysis { function, stride, starts, handlers, rows, row: vec![0; stride] }
    }

    /// Goes over all instructions once, last to first; whether any row has grown.
    fn pass(&mut self) -> bool {
        let mut changed = false;
        for i in (0..self.starts.len()).rev() {
            let pc = self.starts[i] as usize;
            let Some(op) = Op::decode(self.function.code[pc]) else { continue };
            self.transfer(pc, op);
            let known = &mut self.rows[pc * self.stride..(pc + 1) * self.stride];
            if known != self.row {
                known.copy_from_slice(&self.row);
                changed = true;
            }
        }
        changed
    }

    /// Finds the registers that are live before the instruction at `pc`.
    fn transfer(&mut self, pc: usize, op: Op) {
        let function = self.function;
        let words = &function.code[pc..];
        self.row.fill(0);
        if !flow::ends(op) {
            self.join(pc + op.len());
        }
        for (slot, kind) in op.info().operands {
            if *kind == Kind::Dst {
                self.clear(operand(words, *slot) as usize);
            }
        }
        // A jump may be taken before the result is written, and so may the way to a handler.
        for (slot, kind) in op.info().operands {
            if *kind == Kind::Jump {
                self.join((pc as i64 + operand(words, *slot)) as usize);
            }
        }
        self.join_handler(pc);
        for (slot, kind) in op.info().operands {
            if matches!(kind, Kind::Src | Kind::Reg) {
                self.set(operand(words, *slot) as usize);
            }
        }
        run_read(function, op, words).for_each(|register| self.set(register));
    }

    fn join(&mut self, pc: usize) {
        let other = self.rows.get(pc * self.stride..(pc + 1) * self.stride).unwrap_or_default();
        for (word, more) in self.row.iter_mut().zip(other) {
            *word |= more;
        }
    }

    /// What the handler of `pc` reads, but for the register that receives the exception.
    fn join_handler(&mut self, pc: usize) {
        let Some(index) = self.handlers[pc].checked_sub(1) else { return };
        let Some(handler) = self.function.handlers.get(index as usize) else { return };
        let receives = handler.register as usize;
        let keep = self.row[receives / 64] >> (receives % 64) & 1 != 0;
        self.join(handler.target as usize);
        if !keep {
            self.clear(receives);
        }
    }

    fn set(&mut self, register: usize) {
        if let Some(word) = self.row.get_mut(register / 64) {
            *word |= 1 << (register % 64);
        }
    }

    fn clear(&mut self, register: usize) {
        if let Some(word) = self.row.get_mut(register / 64) {
            *word &= !(1 << (register % 64));
        }
    }

    /// The rows as the collector needs them: with the registers that an instruction writes, unless it writes them last,
    /// and for each word of an instruction.
    fn into_liveness(mut self) -> Liveness {
        for i in 0..self.starts.len() {
            let pc = self.starts[i] as usize;
            let Some(op) = Op::decode(self.function.code[pc]) else { continue };
            self.row.fill(0);
            self.join(pc);
            if !writes_last(op) {
                let words = &self.function.code[pc..];
                for (slot, _) in op.info().operands.iter().filter(|(_, kind)| *kind == Kind::Dst) {
                    self.set(operand(words, *slot) as usize);
                }
            }
            for word in pc..pc + op.len() {
                self.rows[word * self.stride..(word + 1) * self.stride].copy_from_slice(&self.row);
            }
        }
        Liveness { rows: self.rows.into(), stride: self.stride }
    }
}

/// The run of registers that the instruction reads beyond its operands.
fn run_read(function: &FunctionCode, op: Op, words: &[u32]) -> Range<usize> {
    match op {
        // Arguments that are no more than the parameters lie in the parameters' registers.
        Op::CreateArguments | Op::CreateRest => 1..function.parameters as usize + 1,
        _ => flow::register_run(function, op, words),
    }
}

/// Whether the instruction writes its result when it has done everything else, and may take long before that.
fn writes_last(op: Op) -> bool {
    matches!(
        op,
        Op::Call
            | Op::New
            | Op::SuperCall
            | Op::CallSpread
            | Op::NewSpread
            | Op::SuperCallSpread
            | Op::DirectEval
            | Op::DirectEvalSpread
            | Op::Yield
            | Op::YieldDelegate
            | Op::Await
    )
}
