//! Writes instructions: operand packing, labels, jump patching, source positions and the exception table.
//!
//! Every jump is patched from its label when the function is finished; a label that was never bound is a bug of the
//! compiler and is caught by the verifier.

use super::code::{Handler, Spilled};
use super::opcodes::{Op, Slot};
use super::spill::{Operands, Spill};

/// A jump target, bound once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

const UNBOUND: u32 = u32::MAX;

/// The instruction stream under construction.
#[derive(Debug, Default)]
pub struct Assembler {
    pub(super) code: Vec<u32>,
    labels: Vec<u32>,
    /// (instruction start, slot, label)
    fixups: Vec<(u32, Slot, Label)>,
    handlers: Vec<(Label, Label, Label, u8)>,
    positions: Vec<(u32, u32)>,
    /// Where registers go that the frame has no room for.
    pub(super) spill: Option<Spill>,
}

/// What [`Assembler::finish`] hands over.
pub struct Assembled {
    /// The instructions.
    pub code: Box<[u32]>,
    /// The exception table.
    pub handlers: Vec<Handler>,
    /// `(word, source offset)` in ascending order.
    pub positions: Vec<(u32, u32)>,
    /// Where the registers are that the frame has no room for.
    pub spilled: Option<Spilled>,
}

impl Assembler {
    /// The index of the next word.
    pub fn here(&self) -> u32 {
        self.code.len() as u32
    }

    /// A fresh label.
    pub fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds `label` here.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.code.len() as u32;
    }

    /// A fresh label bound here.
    pub fn bound(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// Notes that what follows was written at `offset` of the source.
    pub fn position(&mut self, offset: u32) {
        let here = self.here();
        match self.positions.last_mut() {
            Some((word, at)) if *word == here => *at = offset,
            Some((_, at)) if *at == offset => {}
            _ => self.positions.push((here, offset)),
        }
    }

    /// The place in the source that was noted last.
    pub fn last_position(&self) -> Option<u32> {
        self.positions.last().map(|(_, offset)| *offset)
    }

    /// Appends one instruction as it is. What needs a wider number than there is room for belongs to a function that is compiled again.
    pub(super) fn raw(&mut self, op: Op, it: Operands) {
        self.code.push(u32::from_le_bytes([op as u8, it.a as u8, it.b as u8, it.c as u8]));
        if let Some(label) = it.jump {
            let slot = if op == Op::Jump { Slot::e } else { Slot::x };
            self.fixups.push((self.here() - 1, slot, label));
        }
        let words = [it.x, it.y];
        self.code.extend_from_slice(words.get(..op.len() - 1).unwrap_or_default());
    }

    fn emit(&mut self, op: Op, operands: Operands) {
        match self.spill {
            None => self.raw(op, operands),
            Some(spill) => self.expand(spill, op, operands),
        }
    }

    /// `op a b c`.
    pub fn op(&mut self, op: Op, a: u16, b: u16, c: u16) {
        debug_assert_eq!(op.len(), 1, "{op:?}");
        self.emit(op, Operands { a, b, c, ..Operands::default() });
    }

    /// `op a d`.
    pub fn op_d(&mut self, op: Op, a: u16, d: i16) {
        debug_assert_eq!(op.len(), 1, "{op:?}");
        let [low, high] = d.to_le_bytes();
        self.emit(op, Operands { a, b: u16::from(low), c: u16::from(high), ..Operands::default() });
    }

    /// `op a b c x`.
    pub fn op_x(&mut self, op: Op, a: u16, b: u16, c: u16, x: u32) {
        debug_assert_eq!(op.len(), 2, "{op:?}");
        self.emit(op, Operands { a, b, c, x, ..Operands::default() });
    }

    /// `op a b c x y`.
    pub fn op_xy(&mut self, op: Op, a: u16, b: u16, c: u16, x: u32, y: u32) {
        debug_assert_eq!(op.len(), 3, "{op:?}");
        self.emit(op, Operands { a, b, c, x, y, ..Operands::default() });
    }

    /// An object of the `count` values from `first` on, with the keys of literal `x`.
    pub fn object_literal(&mut self, dst: u16, first: u16, count: u16, x: u32) {
        self.emit(
            Op::NewObjectLiteral,
            Operands { a: dst, b: first, x, literal: count, ..Operands::default() },
        );
    }

    /// An unconditional jump.
    pub fn jump(&mut self, label: Label) {
        self.raw(Op::Jump, Operands { jump: Some(label), ..Operands::default() });
    }

    /// `op a b c` with a jump in `x`.
    pub fn branch(&mut self, op: Op, a: u16, b: u16, c: u16, label: Label) {
        debug_assert_eq!(op.len(), 2, "{op:?}");
        self.emit(op, Operands { a, b, c, jump: Some(label), ..Operands::default() });
    }

    /// `op a` with a jump in `x` and the immediate `y`.
    pub fn branch_y(&mut self, op: Op, a: u16, label: Label, y: i32) {
        debug_assert_eq!(op.len(), 3, "{op:?}");
        self.emit(op, Operands { a, y: y as u32, jump: Some(label), ..Operands::default() });
    }

    /// Protects `start..end`: exceptions go to `target` with the value in `register`.
    /// Regions must be added innermost first.
    pub fn handler(&mut self, start: Label, end: Label, target: Label, register: u8) {
        self.handlers.push((start, end, target, register));
    }

    /// The register in which a handler that begins here gets the exception, which goes on to `register`.
    pub fn receive(&mut self, target: Label, register: u16) -> u8 {
        debug_assert_eq!(self.labels.get(target.0 as usize).copied(), Some(self.here()));
        self.store_received(register)
    }

    /// Patches the jumps and hands over the parts; `None` if a jump is out of reach.
    pub fn finish(mut self) -> Option<Assembled> {
        let spilled = self.finish_spill();
        for (at, slot, label) in &self.fixups {
            let target = self.labels[label.0 as usize];
            debug_assert_ne!(target, UNBOUND, "label never bound");
            let distance = i64::from(target) - i64::from(*at);
            let word = *at as usize;
            if *slot == Slot::e {
                if !(-(1 << 23)..1 << 23).contains(&distance) {
                    return None;
                }
                self.code[word] = (self.code[word] & 0xff) | ((distance as u32) << 8);
            } else {
                self.code[word + 1] = i32::try_from(distance).ok()? as u32;
            }
        }
        let labels = &self.labels;
        let resolve = |label: &Label| labels[label.0 as usize];
        let handlers = self
            .handlers
            .iter()
            .map(|(start, end, target, register)| Handler {
                start: resolve(start),
                end: resolve(end),
                target: resolve(target),
                register: *register,
            })
            .filter(|handler| handler.start < handler.end)
            .collect();
        Some(Assembled { code: self.code.into_boxed_slice(), handlers, positions: self.positions, spilled })
    }
}
