//! Writes instructions: operand packing, labels, jump patching, source positions and the exception table.
//!
//! Every jump is patched from its label when the function is finished; a label that was never bound is a bug of the
//! compiler and is caught by the verifier.

use super::code::Handler;
use super::opcodes::{Op, Slot};

/// A jump target, bound once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

const UNBOUND: u32 = u32::MAX;

/// The instruction stream under construction.
#[derive(Debug, Default)]
pub struct Assembler {
    code: Vec<u32>,
    labels: Vec<u32>,
    /// (instruction start, slot, label)
    fixups: Vec<(u32, Slot, Label)>,
    handlers: Vec<(Label, Label, Label, u8)>,
    positions: Vec<(u32, u32)>,
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

    fn first(&mut self, op: Op, a: u8, b: u8, c: u8) {
        self.code.push(u32::from_le_bytes([op as u8, a, b, c]));
    }

    /// `op a b c`.
    pub fn op(&mut self, op: Op, a: u8, b: u8, c: u8) {
        debug_assert_eq!(op.len(), 1, "{op:?}");
        self.first(op, a, b, c);
    }

    /// `op a d`.
    pub fn op_d(&mut self, op: Op, a: u8, d: i16) {
        debug_assert_eq!(op.len(), 1, "{op:?}");
        let [low, high] = d.to_le_bytes();
        self.first(op, a, low, high);
    }

    /// `op a b c x`.
    pub fn op_x(&mut self, op: Op, a: u8, b: u8, c: u8, x: u32) {
        debug_assert_eq!(op.len(), 2, "{op:?}");
        self.first(op, a, b, c);
        self.code.push(x);
    }

    /// `op a b c x y`.
    pub fn op_xy(&mut self, op: Op, a: u8, b: u8, c: u8, x: u32, y: u32) {
        debug_assert_eq!(op.len(), 3, "{op:?}");
        self.first(op, a, b, c);
        self.code.extend([x, y]);
    }

    /// An unconditional jump.
    pub fn jump(&mut self, label: Label) {
        self.fixups.push((self.here(), Slot::e, label));
        self.first(Op::Jump, 0, 0, 0);
    }

    /// `op a b c` with a jump in `x`.
    pub fn branch(&mut self, op: Op, a: u8, b: u8, c: u8, label: Label) {
        debug_assert_eq!(op.len(), 2, "{op:?}");
        self.fixups.push((self.here(), Slot::x, label));
        self.first(op, a, b, c);
        self.code.push(0);
    }

    /// `op a` with a jump in `x` and the immediate `y`.
    pub fn branch_y(&mut self, op: Op, a: u8, label: Label, y: i32) {
        debug_assert_eq!(op.len(), 3, "{op:?}");
        self.fixups.push((self.here(), Slot::x, label));
        self.first(op, a, 0, 0);
        self.code.extend([0, y as u32]);
    }

    /// Protects `start..end`: exceptions go to `target` with the value in `register`.
    /// Regions must be added innermost first.
    pub fn handler(&mut self, start: Label, end: Label, target: Label, register: u8) {
        self.handlers.push((start, end, target, register));
    }

    /// Patches the jumps and hands over the parts; `None` if a jump is out of reach.
    pub fn finish(mut self) -> Option<(Box<[u32]>, Vec<Handler>, Vec<(u32, u32)>)> {
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
        Some((self.code.into_boxed_slice(), handlers, self.positions))
    }
}
