//! Failures remembered: a bit for each place in the program and position in the input that was tried without success. Without back references
//! and counters what follows from a place depends on nothing else, so a second visit can fail at once, which makes a search linear
//! in the size of this table. Switched on only when a search has used far more steps than its input has units.
//!
//! Sound because a visit that is still under way cannot be met again at the same position: an iteration that takes nothing fails, and whether
//! the iterations around a place have taken something is part of the state.

use crate::compile::program::{MemoPoint, Program};
use crate::limits::{MEMO_AFTER_STEPS_PER_UNIT, MEMO_BITS_MAX, STEPS_PER_POLL};
use std::collections::HashMap;

/// The table of remembered failures; empty until it is switched on.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    bits: Vec<u64>,
    positions: u64,
    steps: u64,
    /// For an unbounded greedy loop and the end of one of its runs: the lowest end that some visit of the run tries.
    lowest_ends: HashMap<(u32, usize), usize>,
    /// The last run of each unbounded loop, from which later starts in it know their end.
    runs: HashMap<u32, (usize, usize)>,
}

impl Memo {
    pub(crate) fn reset(&mut self) {
        if self.is_on() {
            *self = Self::default();
        }
        self.steps = 0;
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.bits.is_empty()
    }

    /// Counts steps; switches on when they are out of proportion. Returns whether it did so now.
    pub(crate) fn count_steps(&mut self, program: &Program, input_len: usize) -> bool {
        self.steps += u64::from(STEPS_PER_POLL);
        let positions = input_len as u64 + 1;
        let states = u64::from(program.memo_states);
        let catastrophic =
            self.steps > positions.saturating_mul(MEMO_AFTER_STEPS_PER_UNIT) + u64::from(STEPS_PER_POLL);
        if self.is_on() || states == 0 || !catastrophic || positions.saturating_mul(states) > MEMO_BITS_MAX {
            return false;
        }
        self.positions = positions;
        self.bits = vec![0; (positions * states / 64 + 1) as usize];
        true
    }

    /// Marks a visit; true if there was one before.
    pub(crate) fn visit(&mut self, point: &MemoPoint, registers: &[u32], position: usize) -> bool {
        let mut state = u64::from(point.base);
        for (bit, register) in point.registers.iter().enumerate() {
            let taken_nothing =
                registers.get(*register as usize).is_some_and(|&start| start as usize == position);
            state += u64::from(taken_nothing) << bit;
        }
        let index = state * self.positions + position as u64;
        let Some(word) = self.bits.get_mut((index / 64) as usize) else { return false };
        let mask = 1 << (index % 64);
        let seen = *word & mask != 0;
        *word |= mask;
        seen
    }

    /// The end of the run of loop `id` around `from`, if it is known.
    pub(crate) fn known_run_end(&self, id: u32, from: usize) -> Option<usize> {
        self.runs.get(&id).filter(|run| run.0 <= from && from <= run.1).map(|run| run.1)
    }

    /// Enters a visit of a run; returns the lowest end that earlier visits try. All ends from there up have failed, or are being left behind
    /// by a visit that is under way: it goes down from the end of the run, and we come after the place it has reached.
    pub(crate) fn enter_run(&mut self, id: u32, from: usize, lowest: usize, end: usize) -> Option<usize> {
        self.runs.insert(id, (from, end));
        let entry = self.lowest_ends.entry((id, end));
        let mut earlier = None;
        let slot = entry.and_modify(|known| earlier = Some(*known)).or_insert(lowest);
        *slot = lowest.min(*slot);
        earlier
    }
}
