//! The backtracking matcher (22.2.2): one loop over instructions, one explicit stack of alternatives and of values to restore. Never recurses.
//! Positions are kept as `u32`: inputs are shorter than 2^32 units, which `Regex::exec` checks.

use super::input::{Text, Unit};
use super::memo::Memo;
use super::scan::next_start;
use crate::compile::program::{CountedLoop, LoopKind, NONE, Op, Program, SimpleLoop};
use crate::error::Interrupted;
use crate::limits::{BACKTRACK_ENTRIES_MAX, STEPS_PER_POLL};
use crate::syntax::ast::UNBOUNDED;
use crate::unicode::casing::{CaseMode, canonicalize};
use std::ops::ControlFlow;

/// A capture slot or register without a value.
pub(crate) const UNSET: u32 = u32::MAX;

/// A larger backtrack stack is given back before the next match.
const ENTRIES_KEPT_MAX: usize = 1 << 16;

/// A longer run of instructions without a choice is charged for.
const RUN_OPS_FREE: usize = 64;

/// A longer literal is charged for.
const LITERAL_UNITS_FREE: usize = 64;

/// Called every so many steps; breaking stops the match.
pub(crate) type Budget<'a> = dyn FnMut(u32) -> ControlFlow<()> + 'a;

/// An entry of the backtrack stack: something to try next, or something to restore on the way.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Branch {
        pc: u32,
        pos: u32,
    },
    Slot {
        slot: u32,
        old: u32,
    },
    Register {
        register: u32,
        old: u32,
    },
    /// A greedy loop that ends at `pos` and may end at shorter places down to `min`.
    Greedy {
        id: u32,
        pc: u32,
        min: u32,
        pos: u32,
    },
    /// A lazy loop that ends at `pos` after `count` characters.
    Lazy {
        id: u32,
        pc: u32,
        count: u32,
        pos: u32,
    },
    /// One more iteration of a lazy counted loop.
    CounterEnter {
        id: u32,
        pos: u32,
    },
    /// The place where a lookaround began.
    Look {
        pc: u32,
        pos: u32,
    },
}

/// Memory that lives from match to match.
#[derive(Debug, Default)]
pub(crate) struct State {
    stack: Vec<Entry>,
    pub(crate) slots: Vec<u32>,
    registers: Vec<u32>,
    memo: Memo,
}

pub(crate) struct Matcher<'a, 'b, U, const PAIRS: bool> {
    program: &'a Program,
    text: Text<'a, U, PAIRS>,
    state: &'a mut State,
    budget: &'a mut Budget<'b>,
    /// Steps left until the budget is asked.
    steps: u32,
}

/// What became of an instruction.
type Step = Result<Option<usize>, Interrupted>;

impl<'a, 'b, U: Unit, const PAIRS: bool> Matcher<'a, 'b, U, PAIRS> {
    pub(crate) fn new(
        program: &'a Program,
        units: &'a [U],
        state: &'a mut State,
        budget: &'a mut Budget<'b>,
    ) -> Self {
        state.memo.reset();
        if state.stack.capacity() > ENTRIES_KEPT_MAX {
            state.stack = Vec::new();
        }
        state.slots.clear();
        state.slots.resize(program.groups as usize * 2, UNSET);
        state.registers.clear();
        state.registers.resize(program.registers as usize, UNSET);
        Self { program, text: Text { units }, state, budget, steps: STEPS_PER_POLL }
    }

    /// Looks for a match at `from`, or at any later place unless `sticky`.
    pub(crate) fn search(&mut self, from: usize, sticky: bool) -> Result<bool, Interrupted> {
        let mut at = if self.text.splits_pair(from) { from - 1 } else { from };
        loop {
            if !sticky {
                match next_start(self.program, self.text, at) {
                    Some(candidate) => {
                        self.tick(((candidate - at) >> 6) as u32)?;
                        at = candidate;
                    }
                    None => return Ok(false),
                }
            }
            if let Some(end) = self.match_at(at)? {
                if let Some(whole) = self.state.slots.first_chunk_mut::<2>() {
                    *whole = [at as u32, end as u32];
                }
                return Ok(true);
            }
            if sticky {
                return Ok(false);
            }
            match self.text.next(self.end_of_failed_run(at)?) {
                Some((_, after)) => at = after,
                None => return Ok(false),
            }
        }
    }

    /// The last place at which a match fails because it fails at `at` (see `Program::leading_loop`).
    fn end_of_failed_run(&mut self, at: usize) -> Result<usize, Interrupted> {
        match self.program.leading_loop.and_then(|id| self.program.loops.get(id as usize)) {
            Some(&each) => self.run_up_to(&each, at, UNBOUNDED),
            None => Ok(at),
        }
    }

    /// Runs the program at one place. All slots are unset before, and after a failure.
    #[allow(clippy::too_many_lines, reason = "the dispatcher: one short arm per instruction")]
    fn match_at(&mut self, start: usize) -> Step {
        let program = self.program;
        let text = self.text;
        let (mut pc, mut pos) = (0_usize, start);
        self.state.stack.clear();
        self.tick(1)?;
        // Where the instructions that are executed one after the other begin: a long run of them is paid for at its end.
        let mut entered = 0_usize;
        loop {
            let Some(&op) = program.ops.get(pc) else { return Ok(None) };
            let next = match op {
                Op::Char(c) => text.next(pos).filter(|found| found.0 == c).map(|found| found.1),
                Op::CharBack(c) => text.previous(pos).filter(|found| found.0 == c).map(|found| found.1),
                Op::Set(id) => text.next(pos).filter(|found| self.in_set(id, found.0)).map(|found| found.1),
                Op::SetBack(id) => {
                    text.previous(pos).filter(|found| self.in_set(id, found.0)).map(|found| found.1)
                }
                Op::Literal(id) => self.literal(id, pos)?,
                Op::LiteralBack(id) => self.literal_back(id, pos),
                Op::Split { other, memo } => {
                    self.tick(1)?;
                    if self.already_failed(memo, pos) {
                        None
                    } else {
                        self.push(Entry::Branch { pc: other, pos: pos as u32 })?;
                        Some(pos)
                    }
                }
                Op::SplitLazy { other, memo } => {
                    self.tick(1)?;
                    if self.already_failed(memo, pos) {
                        None
                    } else {
                        self.push(Entry::Branch { pc: pc as u32 + 1, pos: pos as u32 })?;
                        pc = other as usize;
                        continue;
                    }
                }
                Op::SplitIf { set, other, memo } => {
                    if !text.next(pos).is_some_and(|found| self.in_set(set, found.0)) {
                        pc = other as usize;
                        continue;
                    }
                    self.tick(1)?;
                    if self.already_failed(memo, pos) {
                        None
                    } else {
                        self.push(Entry::Branch { pc: other, pos: pos as u32 })?;
                        Some(pos)
                    }
                }
                Op::BranchIf { set, other } => {
                    if !text.next(pos).is_some_and(|found| self.in_set(set, found.0)) {
                        pc = other as usize;
                        continue;
                    }
                    self.tick(1)?;
                    Some(pos)
                }
                Op::Jump(target) => {
                    self.pay_run(pc, entered)?;
                    pc = target as usize;
                    entered = pc;
                    continue;
                }
                Op::Loop(id) => self.simple_loop(id, pc, pos)?,
                Op::Save(slot) => {
                    self.set_slot(slot, pos as u32)?;
                    Some(pos)
                }
                Op::ClearCaptures { from, to } => {
                    self.tick((to - from) >> 4)?;
                    for slot in from * 2..to * 2 {
                        self.set_slot(slot, UNSET)?;
                    }
                    Some(pos)
                }
                Op::Mark { register } => {
                    self.set_register(register, pos as u32)?;
                    Some(pos)
                }
                Op::CheckProgress { register } => (self.register(register) != pos as u32).then_some(pos),
                Op::CounterReset(id) => {
                    if let Some(counted) = program.counted.get(id as usize) {
                        self.set_register(counted.count_register, 0)?;
                    }
                    Some(pos)
                }
                Op::CounterHead(id) => {
                    let Some(counted) = program.counted.get(id as usize) else { return Ok(None) };
                    self.tick(1)?;
                    pc = self.counter_head(id, counted, pos)? as usize;
                    continue;
                }
                Op::CounterProgress(id) => {
                    let Some(counted) = program.counted.get(id as usize) else { return Ok(None) };
                    let empty = self.register(counted.start_register) == pos as u32;
                    (!(empty && self.register(counted.count_register) > counted.min)).then_some(pos)
                }
                Op::LineStart { multiline } => {
                    let at_start =
                        pos == 0 || (multiline && text.unit(pos - 1).is_some_and(is_line_terminator));
                    at_start.then_some(pos)
                }
                Op::LineEnd { multiline } => {
                    let at_end =
                        pos == text.len() || (multiline && text.unit(pos).is_some_and(is_line_terminator));
                    at_end.then_some(pos)
                }
                Op::WordBoundary { negative, extended } => {
                    let before =
                        pos.checked_sub(1).and_then(|at| text.unit(at)).is_some_and(|c| is_word(c, extended));
                    let after = text.unit(pos).is_some_and(|c| is_word(c, extended));
                    ((before != after) != negative).then_some(pos)
                }
                Op::BackReference(id) => self.back_reference(id, pos)?,
                Op::LookStart { register, negative, next } => {
                    let depth = self.state.stack.len() as u32 + 1;
                    self.set_register(register, depth)?;
                    let pc = if negative { next } else { NONE };
                    self.push(Entry::Look { pc, pos: pos as u32 })?;
                    Some(pos)
                }
                Op::LookEnd { register, negative } => self.look_end(register, negative)?,
                Op::Match => return Ok(Some(pos)),
            };
            match next {
                Some(after) => {
                    pos = after;
                    pc += 1;
                }
                None => {
                    self.pay_run(pc, entered)?;
                    let Some((other, at)) = self.backtrack()? else { return Ok(None) };
                    (pc, pos) = (other as usize, at as usize);
                    entered = pc;
                }
            }
        }
    }

    // The stack.

    #[inline(always)]
    fn push(&mut self, entry: Entry) -> Result<(), Interrupted> {
        if self.state.stack.len() >= BACKTRACK_ENTRIES_MAX {
            return Err(Interrupted::BacktrackLimit);
        }
        self.state.stack.push(entry);
        Ok(())
    }

    #[inline(always)]
    fn tick(&mut self, count: u32) -> Result<(), Interrupted> {
        match self.steps.checked_sub(count) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => self.poll(count),
        }
    }

    #[inline(always)]
    fn pay_run(&mut self, pc: usize, entered: usize) -> Result<(), Interrupted> {
        let run = pc.saturating_sub(entered);
        if run > RUN_OPS_FREE { self.tick((run >> 4) as u32) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn poll(&mut self, count: u32) -> Result<(), Interrupted> {
        let used = STEPS_PER_POLL.saturating_add(count);
        self.steps = STEPS_PER_POLL;
        self.state.memo.count_steps(self.program, self.text.len());
        match (self.budget)(used) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Interrupted::Budget),
        }
    }

    /// Takes the next alternative, restoring what was changed since it was left.
    fn backtrack(&mut self) -> Result<Option<(u32, u32)>, Interrupted> {
        self.tick(1)?;
        loop {
            let Some(entry) = self.state.stack.pop() else { return Ok(None) };
            match entry {
                Entry::Branch { pc, pos } => return Ok(Some((pc, pos))),
                Entry::Slot { slot, old } => self.restore_slot(slot, old),
                Entry::Register { register, old } => self.restore_register(register, old),
                Entry::Greedy { id, pc, min, pos } => {
                    if let Some(end) = self.shorter(id, pc, min, pos)? {
                        return Ok(Some((pc + 1, end)));
                    }
                }
                Entry::Lazy { id, pc, count, pos } => {
                    if let Some(end) = self.longer(id, pc, count, pos)? {
                        return Ok(Some((pc + 1, end)));
                    }
                }
                Entry::CounterEnter { id, pos } => {
                    if let Some(counted) = self.program.counted.get(id as usize) {
                        self.counter_enter(counted, pos)?;
                        return Ok(Some((counted.body, pos)));
                    }
                }
                Entry::Look { pc: NONE, .. } => {}
                Entry::Look { pc, pos } => return Ok(Some((pc, pos))),
            }
        }
    }

    #[inline(always)]
    fn set_slot(&mut self, slot: u32, value: u32) -> Result<(), Interrupted> {
        let Some(place) = self.state.slots.get_mut(slot as usize) else { return Ok(()) };
        let old = std::mem::replace(place, value);
        if old == value { Ok(()) } else { self.push(Entry::Slot { slot, old }) }
    }

    fn restore_slot(&mut self, slot: u32, old: u32) {
        if let Some(place) = self.state.slots.get_mut(slot as usize) {
            *place = old;
        }
    }

    fn register(&self, register: u32) -> u32 {
        self.state.registers.get(register as usize).copied().unwrap_or(UNSET)
    }

    fn set_register(&mut self, register: u32, value: u32) -> Result<(), Interrupted> {
        let old = self.register(register);
        self.restore_register(register, value);
        self.push(Entry::Register { register, old })
    }

    fn restore_register(&mut self, register: u32, old: u32) {
        if let Some(place) = self.state.registers.get_mut(register as usize) {
            *place = old;
        }
    }

    fn already_failed(&mut self, memo: u32, pos: usize) -> bool {
        if !self.state.memo.is_on() {
            return false;
        }
        let State { memo: table, registers, .. } = &mut *self.state;
        self.program.memo_points.get(memo as usize).is_some_and(|point| table.visit(point, registers, pos))
    }

    // Characters.

    #[inline(always)]
    fn in_set(&self, id: u32, c: u32) -> bool {
        self.program.sets.get(id as usize).is_some_and(|set| set.contains(c))
    }

    fn literal(&mut self, id: u32, pos: usize) -> Step {
        let Some(literal) = self.program.literals.get(id as usize).and_then(U::literal) else {
            return Ok(None);
        };
        if literal.len() > LITERAL_UNITS_FREE {
            self.tick((literal.len() >> 4) as u32)?;
        }
        let found = self.text.units.get(pos..).is_some_and(|rest| rest.starts_with(literal));
        Ok(found.then(|| pos + literal.len()))
    }

    fn literal_back(&self, id: u32, pos: usize) -> Option<usize> {
        let literal = U::literal(self.program.literals.get(id as usize)?)?;
        self.text.units.get(..pos)?.ends_with(literal).then(|| pos - literal.len())
    }

    // Loops over single characters.

    /// Runs the loop from `pos`; the place at which the rest is to be tried first.
    fn simple_loop(&mut self, id: u32, pc: usize, pos: usize) -> Step {
        let Some(&each) = self.program.loops.get(id as usize) else { return Ok(None) };
        if self.already_failed(each.memo, pos) {
            return Ok(None);
        }
        let Some(min_end) = self.run(&each, pos, each.min)? else { return Ok(None) };
        let (pc, pos) = (pc as u32, min_end as u32);
        match each.kind {
            LoopKind::Possessive => self.run_up_to(&each, min_end, each.max - each.min).map(Some),
            LoopKind::Greedy => {
                let Some(end) = self.greedy_end(id, &each, min_end)? else { return Ok(None) };
                let Some(end) = self.last_end(&each, min_end, end) else { return Ok(None) };
                if end > min_end {
                    self.push(Entry::Greedy { id, pc, min: pos, pos: end as u32 })?;
                }
                Ok(Some(end))
            }
            LoopKind::Lazy => {
                let can_follow = each.follow.is_none_or(|set| self.follows(set, min_end));
                if !can_follow {
                    return Ok(self.longer(id, pc, each.min, pos)?.map(|end| end as usize));
                }
                if each.max > each.min {
                    self.push(Entry::Lazy { id, pc, count: each.min, pos })?;
                }
                Ok(Some(min_end))
            }
        }
    }

    /// The longest end of a greedy loop, leaving out those that are known to fail.
    fn greedy_end(&mut self, id: u32, each: &SimpleLoop, min_end: usize) -> Step {
        if !self.state.memo.is_on() || each.max != UNBOUNDED || each.memo == NONE {
            return self.run_up_to(each, min_end, each.max - each.min).map(Some);
        }
        let end = match self.state.memo.known_run_end(id, min_end) {
            Some(end) => end,
            None => self.run_up_to(each, min_end, UNBOUNDED)?,
        };
        match self.state.memo.enter_run(id, min_end, min_end, end) {
            Some(tried) if min_end < tried => Ok(self.text.previous(tried).map(|found| found.1)),
            // Taking nothing may stand for another state than taking something did; the memo points behind it know.
            Some(_) => Ok((each.min == 0).then_some(min_end)),
            None => Ok(Some(end)),
        }
    }

    /// Exactly `count` characters of the loop's set.
    fn run(&mut self, each: &SimpleLoop, from: usize, count: u32) -> Step {
        if count == 0 {
            return Ok(Some(from));
        }
        let Some(set) = self.program.sets.get(each.set as usize) else { return Ok(None) };
        self.tick(count >> 4)?;
        let mut at = from;
        for _ in 0..count {
            match self.text.next(at) {
                Some((c, after)) if set.contains(c) => at = after,
                _ => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// As many characters of the loop's set as there are, at most `limit`.
    fn run_up_to(&mut self, each: &SimpleLoop, from: usize, limit: u32) -> Result<usize, Interrupted> {
        let Some(set) = self.program.sets.get(each.set as usize) else { return Ok(from) };
        let rest = self.text.units.get(from..).unwrap_or_default();
        let end = if PAIRS && !set.single_unit {
            let mut at = from;
            let mut left = limit;
            while left > 0 {
                match self.text.next(at) {
                    Some((c, after)) if set.contains(c) => at = after,
                    _ => break,
                }
                left -= 1;
            }
            at
        } else {
            let reach = rest.get(..limit as usize).unwrap_or(rest);
            let narrow = size_of::<U>() == 1;
            let stop = match set.stop_bytes.filter(|_| narrow) {
                Some(bytes) => U::find_any(reach, bytes),
                None => reach.iter().position(|&unit| !set.contains(unit.into())),
            };
            from + stop.unwrap_or(reach.len())
        };
        self.tick(((end - from) >> 4) as u32)?;
        Ok(end)
    }

    /// The last place in `min..=end` at which what follows the loop can begin.
    fn last_end(&self, each: &SimpleLoop, min: usize, end: usize) -> Option<usize> {
        let Some(follow) = each.follow else { return Some(end) };
        let set = self.program.sets.get(follow as usize)?;
        let single = self.program.sets.get(each.set as usize)?.single_unit;
        if let Some(only) = set.only.filter(|&only| only < 0xD800) {
            let reach = self.text.units.get(min..).unwrap_or_default();
            let reach = reach.get(..=end - min).unwrap_or(reach);
            return Some(min + U::find_last(reach, only)?);
        }
        let mut at = end;
        loop {
            if self.text.next(at).is_some_and(|found| set.contains(found.0)) {
                return Some(at);
            }
            if at <= min {
                return None;
            }
            at = if PAIRS && !single { self.text.previous(at)?.1 } else { at - 1 };
        }
    }

    /// Gives back characters of a greedy loop that ended at `pos`.
    fn shorter(&mut self, id: u32, pc: u32, min: u32, pos: u32) -> Result<Option<u32>, Interrupted> {
        let Some(&each) = self.program.loops.get(id as usize) else { return Ok(None) };
        let Some((_, before)) = self.text.previous(pos as usize) else { return Ok(None) };
        let Some(end) = self.last_end(&each, min as usize, before) else {
            self.tick((pos - min) >> 4)?;
            return Ok(None);
        };
        self.tick((pos - end as u32) >> 4)?;
        if end as u32 > min {
            self.push(Entry::Greedy { id, pc, min, pos: end as u32 })?;
        }
        Ok(Some(end as u32))
    }

    /// Takes more characters for a lazy loop that ended at `pos`, up to the next place where the rest can begin.
    fn longer(&mut self, id: u32, pc: u32, mut count: u32, pos: u32) -> Result<Option<u32>, Interrupted> {
        let Some(&each) = self.program.loops.get(id as usize) else { return Ok(None) };
        let mut at = pos as usize;
        while count < each.max {
            match self.text.next(at) {
                Some((c, after)) if self.in_set(each.set, c) => at = after,
                _ => return Ok(None),
            }
            count = count.saturating_add(1);
            if each.follow.is_none_or(|set| self.follows(set, at)) {
                self.tick((at - pos as usize) as u32 >> 3)?;
                if count < each.max {
                    self.push(Entry::Lazy { id, pc, count, pos: at as u32 })?;
                }
                return Ok(Some(at as u32));
            }
        }
        Ok(None)
    }

    fn follows(&self, set: u32, at: usize) -> bool {
        self.text.next(at).is_some_and(|found| self.in_set(set, found.0))
    }

    // Counted loops.

    /// Decides about one more iteration; the place to go on.
    fn counter_head(&mut self, id: u32, counted: &CountedLoop, pos: usize) -> Result<u32, Interrupted> {
        let count = self.register(counted.count_register);
        if count >= counted.min {
            if count >= counted.max {
                return Ok(counted.exit);
            }
            if !counted.greedy {
                self.push(Entry::CounterEnter { id, pos: pos as u32 })?;
                return Ok(counted.exit);
            }
            self.push(Entry::Branch { pc: counted.exit, pos: pos as u32 })?;
        }
        self.counter_enter(counted, pos as u32)?;
        Ok(counted.body)
    }

    fn counter_enter(&mut self, counted: &CountedLoop, pos: u32) -> Result<(), Interrupted> {
        let count = self.register(counted.count_register);
        self.set_register(counted.count_register, count.saturating_add(1).min(UNSET - 1))?;
        self.set_register(counted.start_register, pos)
    }

    // Lookarounds and references.

    /// A lookaround's body has matched: drops its alternatives. A positive one keeps what its groups captured.
    fn look_end(&mut self, register: u32, negative: bool) -> Step {
        let marker = self.register(register) as usize;
        let Some(&Entry::Look { pos, .. }) = self.state.stack.get(marker) else { return Ok(None) };
        if negative {
            while self.state.stack.len() > marker {
                match self.state.stack.pop() {
                    Some(Entry::Slot { slot, old }) => self.restore_slot(slot, old),
                    Some(Entry::Register { register, old }) => self.restore_register(register, old),
                    _ => {}
                }
            }
            return Ok(None);
        }
        let mut kept = marker;
        for i in marker + 1..self.state.stack.len() {
            let Some(&entry) = self.state.stack.get(i) else { break };
            if let (Entry::Slot { .. } | Entry::Register { .. }, Some(place)) =
                (entry, self.state.stack.get_mut(kept))
            {
                *place = entry;
                kept += 1;
            }
        }
        self.state.stack.truncate(kept);
        Ok(Some(pos as usize))
    }

    fn capture(&self, group: u32) -> Option<(usize, usize)> {
        let slot = group as usize * 2;
        let (start, end) = (*self.state.slots.get(slot)?, *self.state.slots.get(slot + 1)?);
        (start != UNSET && end != UNSET).then_some((start as usize, end as usize))
    }

    /// 22.2.2.7.2 BackreferenceMatcher.
    fn back_reference(&mut self, id: u32, pos: usize) -> Step {
        let Some(reference) = self.program.references.get(id as usize) else { return Ok(None) };
        self.tick((reference.groups.len() >> 4) as u32)?;
        let Some((start, end)) = reference.groups.iter().find_map(|&group| self.capture(group)) else {
            return Ok(Some(pos));
        };
        let length = end - start;
        self.tick((length >> 4) as u32 + 1)?;
        let (from, to) = match reference.behind {
            true if length > pos => return Ok(None),
            true => (pos - length, pos),
            false if length > self.text.len() - pos => return Ok(None),
            false => (pos, pos + length),
        };
        let after = if reference.behind { from } else { to };
        let (captured, here) = (self.text.slice(start, end), self.text.slice(from, to));
        let equal = captured == here || (reference.ignore_case && self.equal_ignoring_case(captured, here));
        Ok((equal && !self.text.splits_pair(from) && !self.text.splits_pair(to)).then_some(after))
    }

    /// Both have the same length in units; characters that differ only in case have the same width.
    fn equal_ignoring_case(&self, a: &[U], b: &[U]) -> bool {
        let mode = if self.program.unicode { CaseMode::Unicode } else { CaseMode::Legacy };
        let (a, b) = (Text::<U, PAIRS> { units: a }, Text::<U, PAIRS> { units: b });
        let (mut at, mut bt) = (0, 0);
        while let (Some((x, after)), Some((y, also_after))) = (a.next(at), b.next(bt)) {
            if x != y && canonicalize(mode, x) != canonicalize(mode, y) {
                return false;
            }
            (at, bt) = (after, also_after);
        }
        at == a.len() && bt == b.len()
    }
}

fn is_line_terminator(c: u32) -> bool {
    matches!(c, 0xA | 0xD | 0x2028 | 0x2029)
}

/// 22.2.2.7.5 WordCharacters; all are in the basic plane, so units suffice.
fn is_word(c: u32, extended: bool) -> bool {
    u8::try_from(c).is_ok_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        || (extended && (c == 0x17F || c == 0x212A))
}
