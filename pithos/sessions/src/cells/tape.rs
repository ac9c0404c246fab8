//! What a cell learns by chance: the seed of its random numbers, what its clock said at each look, and in which order timers and answers
//! came. It is taken while the cell runs, and given to a worker it makes the same code learn the same again.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use cynic::{Capabilities, Clock, Randomness};
use serde::{Deserialize, Serialize};

use crate::limits::{TAPE_CLOCK_RUNS_MAX, TAPE_TURNS_MAX};

const NS_PER_MS: i128 = 1_000_000;

/// What one cell learned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tape {
    seed: u64,
    /// Looks at the clock: so many milliseconds later than the look before (the first: than 1970), so many times.
    clock: Vec<(i64, u32)>,
    /// What each wait brought: the number of the call that was answered, or 0 for the time having passed.
    turns: Vec<u64>,
    /// There was more than is kept: the rest is not the same again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl Tape {
    /// About what it holds in memory.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.clock.capacity() * size_of::<(i64, u32)>() + self.turns.capacity() * size_of::<u64>()
    }
}

/// A tape that is being written, or one that plays; shared by the isolate's clock and the worker's loop.
#[derive(Clone)]
pub(super) struct Chance(Rc<RefCell<State>>);

struct State {
    tape: Tape,
    plays: bool,
    /// The last look, in milliseconds since 1970.
    now_ms: i64,
    /// While it plays: the run of looks, how many of it were used, the turn.
    at: (usize, u32, usize),
}

impl Chance {
    /// As it comes, and written down.
    pub(super) fn real() -> Self {
        Self::of(Tape { seed: RandomState::new().hash_one(0), ..Tape::default() }, false)
    }

    /// As it was.
    pub(super) fn again(tape: Tape) -> Self {
        Self::of(tape, true)
    }

    fn of(tape: Tape, plays: bool) -> Self {
        Self(Rc::new(RefCell::new(State { tape, plays, now_ms: 0, at: (0, 0, 0) })))
    }

    /// What an isolate is given: the time to a millisecond, random numbers, UTC.
    pub(super) fn capabilities(&self) -> Capabilities {
        let (chance, seed) = (self.clone(), self.0.borrow().tape.seed);
        Capabilities {
            clock: Clock::Custom(Box::new(move || i128::from(chance.look()) * NS_PER_MS)),
            randomness: Randomness::Seeded(seed),
            ..Capabilities::default()
        }
    }

    fn look(&self) -> i64 {
        let mut state = self.0.borrow_mut();
        if state.plays { state.play() } else { state.write(now_ms()) }
    }

    /// While it plays: what the next wait brings. None where it does not, or no longer does.
    pub(super) fn next_turn(&self) -> Option<u64> {
        let mut state = self.0.borrow_mut();
        let turn = state.tape.turns.get(state.at.2).copied().filter(|_| state.plays)?;
        state.at.2 += 1;
        Some(turn)
    }

    /// A wait brought the answer to a call, or (0) nothing.
    pub(super) fn came(&self, call: u64) {
        let mut state = self.0.borrow_mut();
        if state.plays {
            return;
        }
        if state.tape.turns.len() < TAPE_TURNS_MAX {
            state.tape.turns.push(call);
        } else {
            state.tape.cut = true;
        }
    }

    /// The tape as far as it was written.
    pub(super) fn tape(&self) -> Tape {
        self.0.borrow().tape.clone()
    }
}

impl State {
    fn write(&mut self, now_ms: i64) -> i64 {
        let later = now_ms - self.now_ms;
        self.now_ms = now_ms;
        let full = self.tape.clock.len() >= TAPE_CLOCK_RUNS_MAX;
        match self.tape.clock.last_mut() {
            Some((_, times)) if later == 0 && *times < u32::MAX => *times += 1,
            _ if full => self.tape.cut = true,
            _ => self.tape.clock.push((later, 1)),
        }
        now_ms
    }

    fn play(&mut self) -> i64 {
        let (run, used, _) = self.at;
        match self.tape.clock.get(run).copied() {
            Some((later, times)) => {
                if used == 0 {
                    self.now_ms += later;
                }
                (self.at.0, self.at.1) = if used + 1 < times { (run, used + 1) } else { (run + 1, 0) };
            }
            // The code looks more often than it did: time must go on, or it may wait for ever.
            None => self.now_ms += 1,
        }
        self.now_ms
    }
}

fn now_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::{Chance, Tape};
    use crate::limits::{TAPE_CLOCK_RUNS_MAX, TAPE_TURNS_MAX};

    #[test]
    fn what_was_written_plays_look_by_look() {
        let chance = Chance::real();
        let looks = [5, 5, 5, 7, 6, 6, 100, 100, -3, -3, 0];
        for look in looks {
            chance.0.borrow_mut().write(look);
        }
        [3, 0, 0, 1].into_iter().for_each(|turn| chance.came(turn));
        let tape = chance.tape();
        let again = Chance::again(tape.clone());
        assert_eq!(looks.map(|_| again.look()), looks);
        assert_eq!([0; 5].map(|_| again.next_turn()), [Some(3), Some(0), Some(0), Some(1), None]);
        assert_eq!([again.look(), again.look()], [1, 2], "time goes on behind the end");
        assert_eq!(serde_json::from_str::<Tape>(&serde_json::to_string(&tape).unwrap()).unwrap(), tape);
    }

    #[test]
    fn a_tape_is_bounded() {
        let chance = Chance::real();
        for at in 0..TAPE_CLOCK_RUNS_MAX as i64 + 5 {
            chance.0.borrow_mut().write(at * 2);
        }
        assert!(chance.tape().cut && chance.tape().clock.len() == TAPE_CLOCK_RUNS_MAX);
        let chance = Chance::real();
        (0..TAPE_TURNS_MAX as u64 + 1).for_each(|turn| chance.came(turn));
        assert!(chance.tape().cut && chance.tape().turns.len() == TAPE_TURNS_MAX);
    }
}
