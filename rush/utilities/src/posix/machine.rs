//! The matcher for what the `regex` crate does not answer: how far the longest match goes, the groups of a match that long, and
//! expressions with back-references.
//!
//! Invariant: work is bounded. Sets of states step through the text together; a search with memory visits each state at each place
//! once (with back-references: once for each place of the groups that are referred to).

use std::collections::HashSet;

use super::tree::{Assertion, Node, Set, Tree};
use super::{Dialect, Spans};

/// Instructions of one expression.
const PROGRAM_MAX: usize = 20_000;

#[derive(Debug)]
enum Step {
    Character(u32),
    Any,
    Set(Box<Set>),
    Assert(Assertion),
    Save(usize),
    /// Goes on at both, the first preferred.
    Split(usize, usize),
    Jump(usize),
    BackReference(usize),
    Match,
}

/// A program of states.
pub(super) struct Machine {
    steps: Vec<Step>,
    dialect: Dialect,
    slots: usize,
    /// Groups that the expression refers to.
    referred: Vec<usize>,
    // Kept between searches.
    stack: Vec<Work>,
    visited: Vec<u64>,
    current: States,
    next: States,
}

enum Work {
    Try(usize, usize),
    Restore(usize, Option<usize>),
}

/// A set of states in order of arrival.
#[derive(Default)]
struct States {
    list: Vec<usize>,
    marks: Vec<bool>,
}

impl States {
    fn clear(&mut self) {
        for state in self.list.drain(..) {
            self.marks[state] = false;
        }
    }
}

impl Machine {
    pub(super) fn new(tree: &Tree, dialect: Dialect) -> Option<Self> {
        let mut steps = Vec::new();
        let mut referred = Vec::new();
        compile(&tree.root, &mut steps, &mut referred)?;
        steps.push(Step::Match);
        referred.sort_unstable();
        referred.dedup();
        let states = || States { list: Vec::new(), marks: vec![false; steps.len()] };
        let (current, next) = (states(), states());
        let slots = (tree.groups + 1) * 2;
        Some(Self { steps, dialect, slots, referred, stack: Vec::new(), visited: Vec::new(), current, next })
    }

    /// The end of the longest match that begins at `start`. Not for expressions with back-references.
    pub(super) fn longest(&mut self, text: &[u8], start: usize) -> Option<usize> {
        let mut best = None;
        self.current.clear();
        add(&self.steps, self.dialect, &mut self.current, text, start, 0);
        let mut at = start;
        while !self.current.list.is_empty() {
            let (character, length) = decode(text, at, self.dialect.utf8);
            self.next.clear();
            for &state in &self.current.list {
                match &self.steps[state] {
                    Step::Match => best = Some(at),
                    step if length > 0 && consumes(step, character, self.dialect) => {
                        add(&self.steps, self.dialect, &mut self.next, text, at + length, state + 1);
                    }
                    _ => {}
                }
            }
            std::mem::swap(&mut self.current, &mut self.next);
            at += length;
            if length == 0 {
                break;
            }
        }
        best
    }

    /// The groups of the match from `start` to `end`.
    pub(super) fn groups_of(&mut self, text: &[u8], start: usize, end: usize, spans: &mut Spans) -> bool {
        let mut slots = vec![None; self.slots];
        let width = end - start + 1;
        self.visited.clear();
        self.visited.resize((self.steps.len() * width).div_ceil(64), 0);
        self.stack.clear();
        self.stack.push(Work::Try(0, start));
        while let Some(work) = self.stack.pop() {
            let (mut state, mut at) = match work {
                Work::Restore(slot, old) => {
                    slots[slot] = old;
                    continue;
                }
                Work::Try(state, at) => (state, at),
            };
            loop {
                let mark = state * width + (at - start);
                let (word, bit) = (mark / 64, 1u64 << (mark % 64));
                if self.visited[word] & bit != 0 {
                    break;
                }
                self.visited[word] |= bit;
                match &self.steps[state] {
                    Step::Match if at == end => {
                        finish(&slots, start, end, spans);
                        return true;
                    }
                    Step::Match => break,
                    Step::Save(slot) => {
                        self.stack.push(Work::Restore(*slot, slots[*slot]));
                        slots[*slot] = Some(at);
                        state += 1;
                    }
                    Step::Split(first, second) => {
                        self.stack.push(Work::Try(*second, at));
                        state = *first;
                    }
                    Step::Jump(target) => state = *target,
                    Step::Assert(assertion) => {
                        if !holds(*assertion, text, at, self.dialect) {
                            break;
                        }
                        state += 1;
                    }
                    step => {
                        let (character, length) = decode(text, at, self.dialect.utf8);
                        if length == 0 || at + length > end || !consumes(step, character, self.dialect) {
                            break;
                        }
                        at += length;
                        state += 1;
                    }
                }
            }
        }
        false
    }

    /// The first match at or behind `from`, of those the longest, by trying every path. For expressions with back-references.
    pub(super) fn find(&mut self, text: &[u8], from: usize, _groups: bool, spans: &mut Spans) -> bool {
        let mut start = from;
        while start <= text.len() {
            if self.try_all(text, start, spans) {
                return true;
            }
            let (_, length) = decode(text, start, self.dialect.utf8);
            start += length.max(1);
        }
        false
    }

    fn try_all(&mut self, text: &[u8], start: usize, spans: &mut Spans) -> bool {
        let mut slots: Vec<Option<usize>> = vec![None; self.slots];
        let mut seen: HashSet<(usize, usize, Vec<Option<usize>>)> = HashSet::new();
        let mut best: Option<usize> = None;
        self.stack.clear();
        self.stack.push(Work::Try(0, start));
        while let Some(work) = self.stack.pop() {
            let (mut state, mut at) = match work {
                Work::Restore(slot, old) => {
                    slots[slot] = old;
                    continue;
                }
                Work::Try(state, at) => (state, at),
            };
            loop {
                if matches!(&self.steps[state], Step::Split(..)) {
                    let places =
                        self.referred.iter().flat_map(|group| [slots[group * 2], slots[group * 2 + 1]]);
                    if !seen.insert((state, at, places.collect())) {
                        break;
                    }
                }
                match &self.steps[state] {
                    Step::Match => {
                        if best.is_none_or(|best| at > best) {
                            best = Some(at);
                            finish(&slots, start, at, spans);
                        }
                        break;
                    }
                    Step::Save(slot) => {
                        self.stack.push(Work::Restore(*slot, slots[*slot]));
                        slots[*slot] = Some(at);
                        state += 1;
                    }
                    Step::Split(first, second) => {
                        self.stack.push(Work::Try(*second, at));
                        state = *first;
                    }
                    Step::Jump(target) => state = *target,
                    Step::Assert(assertion) => {
                        if !holds(*assertion, text, at, self.dialect) {
                            break;
                        }
                        state += 1;
                    }
                    Step::BackReference(group) => {
                        let (Some(low), Some(high)) = (slots[group * 2], slots[group * 2 + 1]) else { break };
                        let (Some(wanted), Some(rest)) = (text.get(low..high), text.get(at..)) else { break };
                        let here = rest.get(..wanted.len());
                        let same = here.is_some_and(|here| {
                            here == wanted || (self.dialect.ignore_case && here.eq_ignore_ascii_case(wanted))
                        });
                        if !same {
                            break;
                        }
                        at += wanted.len();
                        state += 1;
                    }
                    step => {
                        let (character, length) = decode(text, at, self.dialect.utf8);
                        if length == 0 || !consumes(step, character, self.dialect) {
                            break;
                        }
                        at += length;
                        state += 1;
                    }
                }
            }
            if best == Some(text.len()) {
                break;
            }
        }
        best.is_some()
    }
}

fn finish(slots: &[Option<usize>], start: usize, end: usize, spans: &mut Spans) {
    spans.clear();
    spans.push(Some((start, end)));
    spans.extend(slots.chunks(2).skip(1).map(|pair| pair[0].zip(pair[1])));
}

/// Adds a state and all that follow it without a character.
fn add(steps: &[Step], dialect: Dialect, states: &mut States, text: &[u8], at: usize, state: usize) {
    let mut pending = vec![state];
    while let Some(state) = pending.pop() {
        if std::mem::replace(&mut states.marks[state], true) {
            continue;
        }
        states.list.push(state);
        match &steps[state] {
            Step::Split(first, second) => pending.extend([*second, *first]),
            Step::Jump(target) => pending.push(*target),
            Step::Save(_) => pending.push(state + 1),
            Step::Assert(assertion) if holds(*assertion, text, at, dialect) => pending.push(state + 1),
            _ => {}
        }
    }
}

fn consumes(step: &Step, character: Option<u32>, dialect: Dialect) -> bool {
    // Bytes that are no character are matched by nothing.
    let Some(character) = character else { return false };
    match step {
        Step::Character(c) => *c == character,
        Step::Any => !dialect.multiline || character != u32::from(b'\n'),
        Step::Set(set) => set.contains(character, dialect.utf8),
        _ => false,
    }
}

/// The character at a place and its length; length 0 at the end, no character where the bytes are none.
fn decode(text: &[u8], at: usize, utf8: bool) -> (Option<u32>, usize) {
    let Some(&byte) = text.get(at) else { return (None, 0) };
    if byte < 0x80 || !utf8 {
        return (Some(u32::from(byte)), 1);
    }
    let rest = text.get(at..text.len().min(at + 4)).unwrap_or_default();
    let valid = match std::str::from_utf8(rest) {
        Ok(valid) => valid,
        Err(error) => rest.get(..error.valid_up_to()).and_then(|r| std::str::from_utf8(r).ok()).unwrap_or(""),
    };
    valid.chars().next().map_or((None, 1), |c| (Some(u32::from(c)), c.len_utf8()))
}

fn is_word(text: &[u8], at: usize, dialect: Dialect) -> bool {
    let (character, _) = decode(text, at, dialect.utf8);
    character.is_some_and(|c| super::tree::Class::Word.contains(c, dialect.utf8))
}

fn is_word_before(text: &[u8], at: usize, dialect: Dialect) -> bool {
    let Some(mut start) = at.checked_sub(1) else { return false };
    while dialect.utf8 && start > 0 && at - start < 4 && text.get(start).is_some_and(|b| b & 0xc0 == 0x80) {
        start -= 1;
    }
    let (_, length) = decode(text, start, dialect.utf8);
    start + length == at && is_word(text, start, dialect)
}

fn holds(assertion: Assertion, text: &[u8], at: usize, dialect: Dialect) -> bool {
    let before = || is_word_before(text, at, dialect);
    let here = || is_word(text, at, dialect);
    match assertion {
        Assertion::TextStart => at == 0,
        Assertion::TextEnd => at == text.len(),
        Assertion::LineStart => at == 0 || (dialect.multiline && text.get(at - 1) == Some(&b'\n')),
        Assertion::LineEnd => at == text.len() || (dialect.multiline && text.get(at) == Some(&b'\n')),
        Assertion::WordBoundary => before() != here(),
        Assertion::NotWordBoundary => before() == here(),
        Assertion::WordStart => !before() && here(),
        Assertion::WordEnd => before() && !here(),
    }
}

fn compile(node: &Node, steps: &mut Vec<Step>, referred: &mut Vec<usize>) -> Option<()> {
    if steps.len() > PROGRAM_MAX {
        return None;
    }
    match node {
        Node::Empty => {}
        Node::Character(c) => steps.push(Step::Character(*c)),
        Node::Any => steps.push(Step::Any),
        Node::Set(set) => steps.push(Step::Set(Box::new(set.clone()))),
        Node::Assert(assertion) => steps.push(Step::Assert(*assertion)),
        Node::BackReference(group) => {
            referred.push(*group);
            steps.push(Step::BackReference(*group));
        }
        Node::Group(number, inner) => {
            steps.push(Step::Save(number * 2));
            compile(inner, steps, referred)?;
            steps.push(Step::Save(number * 2 + 1));
        }
        Node::Concatenation(nodes) => nodes.iter().try_for_each(|node| compile(node, steps, referred))?,
        Node::Alternatives(nodes) => {
            let mut ends = Vec::new();
            for (index, node) in nodes.iter().enumerate() {
                if index + 1 == nodes.len() {
                    compile(node, steps, referred)?;
                    break;
                }
                let split = steps.len();
                steps.push(Step::Split(split + 1, 0));
                compile(node, steps, referred)?;
                ends.push(steps.len());
                steps.push(Step::Jump(0));
                let next = steps.len();
                steps[split] = Step::Split(split + 1, next);
            }
            let end = steps.len();
            ends.into_iter().for_each(|at| steps[at] = Step::Jump(end));
        }
        Node::Repeat { node, least, most } => {
            (0..*least).try_for_each(|_| compile(node, steps, referred))?;
            match most {
                None => {
                    let split = steps.len();
                    steps.push(Step::Split(split + 1, 0));
                    compile(node, steps, referred)?;
                    steps.push(Step::Jump(split));
                    let end = steps.len();
                    steps[split] = Step::Split(split + 1, end);
                }
                Some(most) => {
                    let mut splits = Vec::new();
                    for _ in *least..*most {
                        splits.push(steps.len());
                        steps.push(Step::Split(0, 0));
                        compile(node, steps, referred)?;
                    }
                    let end = steps.len();
                    splits.into_iter().for_each(|at| steps[at] = Step::Split(at + 1, end));
                }
            }
        }
    }
    (steps.len() <= PROGRAM_MAX).then_some(())
}
