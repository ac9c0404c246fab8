//! Timers on a hierarchical wheel: six levels of 64 slots, one millisecond a tick. Owns due times, periods and
//! cancellation. Invariant: a periodic timer is due at start + n * period, so it does not drift; timers that are due at the same tick
//! fire in the order in which they were set. Leaves waking up to the keeper thread, or to the simulation.

use std::sync::{Arc, Weak};

use crate::limits::{TIMER_MAX_MS, TIMER_TOMBSTONES_MAX};
use crate::runtime::Shared;

const LEVELS: usize = 6;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;

/// What a timer does when it is due. It returns false if nobody is left to be told, which ends a periodic timer.
pub(crate) type Action = Arc<dyn Fn() -> bool + Send + Sync>;

/// Names one timer: `(generation << 32) | index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId(pub u64);

struct Entry {
    generation: u32,
    sequence: u64,
    due: u64,
    period: Option<u64>,
    action: Option<Action>,
}

struct Level {
    occupied: u64,
    slots: [Vec<u32>; SLOTS],
}

/// The wheel. Time is milliseconds since the runtime began.
pub(crate) struct Wheel {
    now: u64,
    levels: Vec<Level>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    sequence: u64,
    tombstones: usize,
    live: usize,
}

impl Wheel {
    pub(crate) fn new() -> Self {
        let level = || Level { occupied: 0, slots: [const { Vec::new() }; SLOTS] };
        let levels = (0..LEVELS).map(|_| level()).collect();
        Self { now: 0, levels, entries: Vec::new(), free: Vec::new(), sequence: 0, tombstones: 0, live: 0 }
    }

    pub(crate) fn live(&self) -> usize {
        self.live
    }

    pub(crate) fn insert(&mut self, due: u64, period: Option<u64>, action: Action) -> TimerId {
        let due = due.clamp(self.now + 1, TIMER_MAX_MS.max(self.now + 1));
        let sequence = self.sequence;
        self.sequence += 1;
        self.live += 1;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.entries.push(Entry { generation: 1, sequence, due, period, action: None });
                (self.entries.len() - 1) as u32
            }
        };
        let entry = &mut self.entries[index as usize];
        (entry.sequence, entry.due, entry.period, entry.action) = (sequence, due, period, Some(action));
        let id = TimerId((u64::from(entry.generation) << 32) | u64::from(index));
        self.place(index, due);
        id
    }

    /// Returns false if the timer has fired, was cancelled or never was.
    pub(crate) fn cancel(&mut self, id: TimerId) -> bool {
        let (index, generation) = (id.0 as u32, (id.0 >> 32) as u32);
        let Some(entry) = self.entries.get_mut(index as usize) else { return false };
        if entry.generation != generation || entry.action.is_none() {
            return false;
        }
        entry.action = None;
        self.live -= 1;
        self.tombstones += 1;
        if self.tombstones > TIMER_TOMBSTONES_MAX && self.tombstones > self.live {
            self.sweep();
        }
        true
    }

    /// The tick at which something has to be done next.
    pub(crate) fn next_due(&self) -> Option<u64> {
        if self.live == 0 {
            return None;
        }
        self.next_slot().map(|(_, _, tick)| tick)
    }

    /// Moves time to `to` and returns what is due, in order.
    pub(crate) fn advance(&mut self, to: u64) -> Vec<Action> {
        let mut fired: Vec<Action> = Vec::new();
        while let Some((level, slot, tick)) = self.next_slot().filter(|(_, _, tick)| *tick <= to) {
            self.now = tick;
            let bucket = std::mem::take(&mut self.levels[level].slots[slot]);
            self.levels[level].occupied &= !(1 << slot);
            let mut due = Vec::new();
            for index in bucket {
                let entry = &self.entries[index as usize];
                if entry.action.is_none() {
                    self.tombstones = self.tombstones.saturating_sub(1);
                    self.release(index);
                } else if entry.due <= tick {
                    due.push((entry.sequence, index));
                } else {
                    self.place(index, entry.due);
                }
            }
            due.sort_unstable();
            for (_, index) in due {
                fired.extend(self.fire(index));
            }
        }
        self.now = self.now.max(to);
        fired
    }

    fn fire(&mut self, index: u32) -> Option<Action> {
        let entry = &mut self.entries[index as usize];
        let Some(period) = entry.period else {
            let action = entry.action.take();
            self.live -= 1;
            self.release(index);
            return action;
        };
        let action = entry.action.clone();
        // Every tick fires, late ones too, and the phase is kept.
        entry.due += period.max(1);
        let due = entry.due;
        self.place(index, due);
        action
    }

    fn release(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        entry.generation = entry.generation.wrapping_add(1).max(1);
        entry.action = None;
        self.free.push(index);
    }

    /// The level is the highest group of six bits in which `due` differs from now.
    fn place(&mut self, index: u32, due: u64) {
        let differing = (self.now ^ due) | (SLOTS as u64 - 1);
        let level = ((63 - differing.leading_zeros()) / SLOT_BITS).min(LEVELS as u32 - 1) as usize;
        let slot = ((due >> (level as u32 * SLOT_BITS)) as usize) & (SLOTS - 1);
        self.levels[level].occupied |= 1 << slot;
        self.levels[level].slots[slot].push(index);
    }

    fn next_slot(&self) -> Option<(usize, usize, u64)> {
        self.levels.iter().enumerate().find(|(_, level)| level.occupied != 0).map(|(depth, level)| {
            let shift = depth as u32 * SLOT_BITS;
            let here = ((self.now >> shift) as u32) & (SLOTS as u32 - 1);
            let ahead = level.occupied.rotate_right(here).trailing_zeros();
            let slot = (here + ahead) % SLOTS as u32;
            let tick = ((self.now >> shift) + u64::from(ahead)) << shift;
            (depth, slot as usize, tick.max(self.now))
        })
    }

    /// Drops cancelled entries from all slots.
    fn sweep(&mut self) {
        let mut gone = Vec::new();
        for level in &mut self.levels {
            for (at, slot) in level.slots.iter_mut().enumerate() {
                let entries = &self.entries;
                slot.retain(|index| {
                    let keep = entries[*index as usize].action.is_some();
                    if !keep {
                        gone.push(*index);
                    }
                    keep
                });
                if slot.is_empty() {
                    slot.shrink_to_fit();
                    level.occupied &= !(1 << at);
                }
            }
        }
        gone.into_iter().for_each(|index| self.release(index));
        self.tombstones = 0;
    }
}

/// Cancels its timer when dropped.
pub(crate) struct TimerGuard {
    pub(crate) shared: Weak<Shared>,
    pub(crate) id: TimerId,
}

impl Drop for TimerGuard {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.cancel_timer(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    fn recorder(log: &Arc<Mutex<Vec<u64>>>, value: u64) -> Action {
        let log = log.clone();
        Arc::new(move || {
            log.lock().push(value);
            true
        })
    }

    fn run(wheel: &mut Wheel, to: u64) {
        for action in wheel.advance(to) {
            action();
        }
    }

    #[test]
    fn fires_in_due_order_across_all_levels() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut wheel = Wheel::new();
        let delays = [5, 1, 64, 63, 4_097, 262_145, 100, 70, 16_777_300];
        for delay in delays {
            wheel.insert(delay, None, recorder(&log, delay));
        }
        let mut sorted = delays.to_vec();
        sorted.sort_unstable();
        let stride = if cfg!(miri) { 99_991 } else { 997 };
        for step in 1..=20_000_000 / stride {
            run(&mut wheel, step * stride);
        }
        assert_eq!(*log.lock(), sorted);
        assert_eq!(wheel.live(), 0);
    }

    #[test]
    fn each_fires_at_its_tick_and_not_before() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut wheel = Wheel::new();
        run(&mut wheel, 4_000);
        for delay in 1..300 {
            wheel.insert(4_000 + delay, None, recorder(&log, 4_000 + delay));
        }
        for now in 4_001..4_300 {
            run(&mut wheel, now);
            assert_eq!(log.lock().last(), Some(&now));
        }
    }

    #[test]
    fn intervals_keep_their_phase_and_cancel() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut wheel = Wheel::new();
        let id = wheel.insert(10, Some(10), recorder(&log, 1));
        run(&mut wheel, 35);
        run(&mut wheel, 39);
        assert_eq!(log.lock().len(), 3);
        run(&mut wheel, 40);
        assert_eq!(log.lock().len(), 4);
        assert!(wheel.cancel(id));
        assert!(!wheel.cancel(id));
        run(&mut wheel, 1_000);
        assert_eq!(log.lock().len(), 4);
    }

    #[test]
    fn cancelled_timers_do_not_pile_up() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut wheel = Wheel::new();
        for _ in 0..if cfg!(miri) { 250 } else { 100_000 } {
            let id = wheel.insert(1_000_000, None, recorder(&log, 0));
            assert!(wheel.cancel(id));
        }
        assert!(wheel.entries.len() < 2 * TIMER_TOMBSTONES_MAX, "{} entries", wheel.entries.len());
    }
}
