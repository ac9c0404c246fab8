//! Registers that the instruction format cannot name: of a function that needs more than a frame has, those beyond a bound live in the slots
//! of a scope of its own, which nothing else sees. An instruction that names them is written with scratch registers, loaded before it and
//! stored after it. So whatever the nesting of a program, no construct has to know how many registers there are.
//!
//! Layout of such a frame: `this` and parameters, the register of the scope, registers with the numbers that the compiler gave them up to
//! [`DIRECT`], scratch registers. Invariant: what a scratch register holds is not needed after the instructions that one operation becomes;
//! runs of registers come last of them, because a call writes what lies above its window.

use super::assembler::{Assembler, Label};
use super::code::Spilled;
use super::opcodes::{Kind, Op, Slot};

/// Registers below this are those of the frame.
pub const DIRECT: u16 = 100;
/// Registers of a frame.
pub const FRAME: u16 = 250;
/// The longest run of registers that an instruction can have in such a function: what is left beside its other operands.
pub const RUN_MAX: u16 = FRAME - DIRECT - 6;
/// The words that make the scope.
pub(super) const PREFIX: usize = 3;

/// The state of spilling in a function under construction.
#[derive(Clone, Copy, Debug)]
pub struct Spill {
    /// The register of the scope.
    register: u8,
    /// Slots that have been named so far.
    slots: u32,
}

/// The operands of an instruction, with registers as the compiler numbers them.
#[derive(Clone, Copy, Default)]
pub(super) struct Operands {
    pub(super) a: u16,
    pub(super) b: u16,
    pub(super) c: u16,
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) jump: Option<Label>,
    /// How many values an object literal has.
    pub(super) literal: u16,
}

impl Operands {
    fn register(&mut self, slot: Slot) -> Option<&mut u16> {
        match slot {
            Slot::a => Some(&mut self.a),
            Slot::b => Some(&mut self.b),
            Slot::c => Some(&mut self.c),
            _ => None,
        }
    }

    /// The run of registers that the instruction reads: where it begins and how long it is.
    fn read_run(&self, op: Op) -> Option<(Slot, u16)> {
        Some(match op {
            Op::Call | Op::New | Op::SuperCall | Op::TailCall | Op::DirectEval => (Slot::b, self.c + 2),
            Op::CallSpread | Op::NewSpread | Op::SuperCallSpread | Op::DirectEvalSpread => (Slot::b, 3),
            Op::CheckConstructorReturn => (Slot::a, 1),
            Op::DisposeSync | Op::DisposeError => (Slot::b, 2),
            Op::DisposeNext => (Slot::c, 2),
            Op::NewArray | Op::Concat => (Slot::b, self.x as u16),
            Op::NewObjectLiteral => (Slot::b, self.literal),
            Op::CopyDataProperties => (Slot::c, self.x as u16),
            Op::IteratorNext
            | Op::IteratorCall
            | Op::IteratorCallWith
            | Op::IteratorClose
            | Op::IteratorCloseSilently => (Slot::b, 2),
            _ => return None,
        })
    }
}

/// The run of registers that the instruction writes.
fn written_run(op: Op) -> Option<(Slot, u16)> {
    Some(match op {
        Op::GetMethod | Op::GetElemMethod | Op::GetIterator | Op::GetAsyncIterator | Op::DefineClass => {
            (Slot::a, 2)
        }
        // Where the frame cannot be reused, the result is in the window's first register.
        Op::TailCall => (Slot::b, 1),
        Op::DisposeSync | Op::DisposeError => (Slot::b, 2),
        Op::DisposeNext => (Slot::c, 2),
        Op::IteratorNext => (Slot::b, 2),
        _ => return None,
    })
}

/// Whether the instruction has written its results when it jumps.
fn writes_before_jump(op: Op) -> bool {
    matches!(op, Op::Yield | Op::DisposeNext | Op::IteratorNext)
}

/// Registers that scratch registers stand for: from which on, in which, how many.
type Stand = (u16, u16, u16);

impl Assembler {
    /// Begins to spill. Nothing has been written yet.
    pub fn begin_spilling(&mut self, register: u8) {
        debug_assert!(self.code.is_empty());
        let at = u16::from(register);
        self.op(Op::LoadUndefined, at, 0, 0);
        self.op_x(Op::NewScope, at, at, 0, 0);
        self.spill = Some(Spill { register, slots: 0 });
    }

    /// Whether this function spills.
    pub fn spills(&self) -> bool {
        self.spill.is_some()
    }

    pub(super) fn finish_spill(&mut self) -> Option<Spilled> {
        let Spill { register, slots } = self.spill?;
        if let Some(count) = self.code.get_mut(PREFIX - 1) {
            *count = slots;
        }
        Some(Spilled { register, slots })
    }

    /// Writes an instruction any of whose registers may lie in the scope.
    pub(super) fn expand(&mut self, spill: Spill, op: Op, mut it: Operands) {
        let (read, written) = (it.read_run(op), written_run(op));
        let mut scratch = DIRECT;
        let mut stores: [Option<Stand>; 5] = [None; 5];
        let run_slot = read.map(|(slot, _)| slot);
        // What is named by itself, then the run.
        for ((slot, kind), store) in op.info().operands.iter().zip(&mut stores) {
            if Some(*slot) != run_slot {
                *store = self.stand_in(spill, &mut it, *slot, *kind, written, &mut scratch);
            }
        }
        if let Some((slot, length)) = read {
            let skips = matches!(op, Op::New | Op::NewSpread);
            let result = op.info().operands.iter().any(|(s, kind)| *s == slot && *kind == Kind::Dst);
            let back = written.filter(|(written, _)| *written == slot).map_or(u16::from(result), |(_, n)| n);
            let run = self.run(spill, &mut it, slot, length, skips, scratch);
            // No instruction has five operands.
            stores[4] = run.map(|(from, at, _)| (from, at, back));
        }
        let Some(label) = it.jump.filter(|_| writes_before_jump(op) && stores.iter().any(Option::is_some))
        else {
            self.raw(op, it);
            self.store_all(spill, &stores);
            return;
        };
        let (jumped, next) = (self.label(), self.label());
        self.raw(op, Operands { jump: Some(jumped), ..it });
        self.store_all(spill, &stores);
        self.jump(next);
        self.bind(jumped);
        self.store_all(spill, &stores);
        self.jump(label);
        self.bind(next);
    }

    /// Puts scratch registers in the place of the register in `slot` if it lies in the scope; what has to be stored afterwards.
    fn stand_in(
        &mut self,
        spill: Spill,
        it: &mut Operands,
        slot: Slot,
        kind: Kind,
        written: Option<(Slot, u16)>,
        scratch: &mut u16,
    ) -> Option<Stand> {
        let wide = match slot {
            Slot::x => Some(&mut it.x),
            Slot::y => Some(&mut it.y),
            _ => None,
        };
        if let Some(wide) = wide {
            if kind == Kind::Reg && *wide >= u32::from(DIRECT) {
                let register = *wide as u16;
                *wide = u32::from(*scratch);
                self.load(spill, *scratch, register);
                *scratch += 1;
            }
            return None;
        }
        let place = it.register(slot)?;
        let count = written.filter(|(written, _)| *written == slot).map_or(1, |(_, count)| count);
        if !matches!(kind, Kind::Dst | Kind::Src) || *place + count <= DIRECT {
            return None;
        }
        let (register, at) = (*place, *scratch);
        *place = at;
        *scratch += count;
        if kind == Kind::Src {
            self.load(spill, at, register);
            return None;
        }
        Some((register, at, count))
    }

    /// The same for the run that begins in `slot`.
    fn run(
        &mut self,
        spill: Spill,
        it: &mut Operands,
        slot: Slot,
        length: u16,
        skips_this: bool,
        scratch: u16,
    ) -> Option<Stand> {
        let place = it.register(slot)?;
        let register = *place;
        if register + length <= DIRECT {
            return None;
        }
        *place = if length == 0 { 0 } else { scratch };
        for index in (0..length).filter(|index| !(skips_this && *index == 1)) {
            self.load(spill, scratch + index, register + index);
        }
        Some((register, scratch, length))
    }

    fn load(&mut self, spill: Spill, scratch: u16, register: u16) {
        let (a, b) = (scratch, u16::from(spill.register));
        match register.checked_sub(DIRECT) {
            Some(slot) => {
                let x = self.slot(slot);
                self.raw(Op::GetSlotUp, Operands { a, b, x, ..Operands::default() });
            }
            None => self.raw(Op::Mov, Operands { a, b: register, ..Operands::default() }),
        }
    }

    fn store(&mut self, spill: Spill, scratch: u16, register: u16) {
        let (a, b) = (scratch, u16::from(spill.register));
        match register.checked_sub(DIRECT) {
            Some(slot) => {
                let x = self.slot(slot);
                self.raw(Op::SetSlotUp, Operands { a, b, x, ..Operands::default() });
            }
            None => self.raw(Op::Mov, Operands { a: register, b: scratch, ..Operands::default() }),
        }
    }

    fn store_all(&mut self, spill: Spill, stores: &[Option<Stand>]) {
        for (register, scratch, count) in stores.iter().flatten() {
            (0..*count).for_each(|index| self.store(spill, scratch + index, register + index));
        }
    }

    fn slot(&mut self, slot: u16) -> u32 {
        let slot = u32::from(slot);
        if let Some(spill) = &mut self.spill {
            spill.slots = spill.slots.max(slot + 1);
        }
        slot
    }

    /// Where a handler that begins here gets the exception that belongs into `register`.
    pub(super) fn store_received(&mut self, register: u16) -> u8 {
        match self.spill {
            Some(spill) if register >= DIRECT => {
                self.store(spill, DIRECT, register);
                DIRECT as u8
            }
            _ => register as u8,
        }
    }
}
