//! Emits instructions for a tree. The order of alternatives is that of 22.2.2; where first sets prove that an alternative cannot matter it is not
//! kept, which is what makes most loops and choices free of backtracking.

use super::analysis::{self, Followers, NextSet, disjoint, first, union};
use super::program::{
    BackReference, CompiledSet, CountedLoop, Literal, LoopKind, MemoPoint, NONE, Op, Program, SimpleLoop,
    Start,
};
use crate::GroupName;
use crate::charset::CharSet;
use crate::error::SyntaxErrorKind;
use crate::limits::{FIRST_SET_WIDTH_MAX, PROGRAM_OPS_MAX, SET_PLANES_MAX, UNROLL_WEIGHT_MAX};
use crate::meter::Meter;
use crate::syntax::ast::{Node, Repeat, Target, UNBOUNDED};
use crate::syntax::push_code_point;
use std::collections::HashMap;
use std::rc::Rc;

type Emitted = Result<(), SyntaxErrorKind>;

/// Nullable loops around a memo point beyond which the program is not remembered at all.
const MEMO_REGISTERS_MAX: usize = 3;

/// Steps that laying out a set takes, and bytes that its entries in tables take.
const SET_STEPS: usize = 256;

/// What surrounds the node being emitted.
#[derive(Clone)]
struct Context {
    /// What can come next; always unknown when matching backwards.
    follow: NextSet,
    backwards: bool,
    in_look: bool,
}

struct Emitter<'a> {
    meter: Meter<'a>,
    names: &'a [GroupName],
    ops: Vec<Op>,
    sets: Vec<CompiledSet>,
    set_ids: HashMap<Rc<CharSet>, u32>,
    planes: usize,
    literals: Vec<Literal>,
    loops: Vec<SimpleLoop>,
    counted: Vec<CountedLoop>,
    references: Vec<BackReference>,
    reference_ids: HashMap<(Target, bool, bool), u32>,
    memo_points: Vec<MemoPoint>,
    memo_states: u64,
    /// Failures depend on place and position alone.
    memoisable: bool,
    /// Start registers of the nullable loops around the current node.
    progress_registers: Vec<u32>,
    registers: u32,
}

/// Compiles a pattern with `groups` groups, the whole match included.
pub(crate) fn compile<'a>(
    node: &Node,
    groups: u32,
    names: &'a [GroupName],
    unicode: bool,
    meter: Meter<'a>,
) -> Result<Program, SyntaxErrorKind> {
    let mut emitter = Emitter::new(names, meter);
    let context = Context { follow: None, backwards: false, in_look: false };
    emitter.node(node, &context)?;
    emitter.push(Op::Match)?;
    let start = emitter.start_of(node);
    let leading_loop = emitter.leading_loop();
    emitter.meter.check()?;
    let states = if emitter.memoisable { u32::try_from(emitter.memo_states).unwrap_or(0) } else { 0 };
    Ok(Program {
        ops: emitter.ops.into(),
        sets: emitter.sets.into(),
        literals: emitter.literals.into(),
        loops: emitter.loops.into(),
        counted: emitter.counted.into(),
        references: emitter.references.into(),
        memo_points: emitter.memo_points.into(),
        memo_states: states,
        registers: emitter.registers,
        groups,
        start,
        leading_loop,
        unicode,
    })
}

impl<'a> Emitter<'a> {
    fn new(names: &'a [GroupName], meter: Meter<'a>) -> Self {
        Self {
            meter,
            names,
            ops: Vec::new(),
            sets: Vec::new(),
            set_ids: HashMap::new(),
            planes: 0,
            literals: Vec::new(),
            loops: Vec::new(),
            counted: Vec::new(),
            references: Vec::new(),
            reference_ids: HashMap::new(),
            memo_points: Vec::new(),
            memo_states: 0,
            memoisable: true,
            progress_registers: Vec::new(),
            registers: 0,
        }
    }

    fn start_of(&mut self, node: &Node) -> Start {
        if analysis::is_anchored(node, false) {
            return Start::Beginning;
        }
        if analysis::is_anchored(node, true) {
            return Start::Line;
        }
        let mut prefix = Vec::new();
        analysis::literal_prefix(node, &mut prefix);
        if prefix.len() >= 2 {
            let id = self.literal(prefix);
            self.literals.iter_mut().skip(id as usize).for_each(Literal::prepare_search);
            return Start::Literal(id);
        }
        match first(node, &mut self.meter) {
            analysis::First { chars: Some(chars), nullable: false } => Start::Set(self.set(&chars)),
            _ => Start::Anywhere,
        }
    }

    fn leading_loop(&self) -> Option<u32> {
        let first = self.ops.iter().find(|op| !matches!(op, Op::Save(_)))?;
        match first {
            Op::Loop(id) if self.references.is_empty() => {
                self.loops.get(*id as usize).filter(|each| each.max == UNBOUNDED).map(|_| *id)
            }
            _ => None,
        }
    }

    // Building blocks.

    fn push(&mut self, op: Op) -> Emitted {
        if self.ops.len() >= PROGRAM_OPS_MAX {
            return Err(SyntaxErrorKind::TooLarge);
        }
        // What a growing list has besides.
        self.meter.hold(2 * size_of::<Op>());
        self.ops.push(op);
        Ok(())
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }

    /// Emits an instruction whose target is not known yet; `patch` fills it in.
    fn push_open(&mut self, op: Op) -> Result<usize, SyntaxErrorKind> {
        self.push(op)?;
        Ok(self.ops.len() - 1)
    }

    fn patch(&mut self, at: usize) {
        let target = self.here();
        match self.ops.get_mut(at) {
            Some(
                Op::Split { other, .. }
                | Op::SplitLazy { other, .. }
                | Op::SplitIf { other, .. }
                | Op::BranchIf { other, .. }
                | Op::LookStart { next: other, .. }
                | Op::Jump(other),
            ) => *other = target,
            other => debug_assert!(false, "not a branch: {other:?}"),
        }
    }

    fn register(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }

    fn set(&mut self, set: &Rc<CharSet>) -> u32 {
        self.meter.work(set.ranges().len());
        if let Some(&id) = self.set_ids.get(set) {
            return id;
        }
        let id = self.sets.len() as u32;
        let compiled = CompiledSet::new(set, self.planes < SET_PLANES_MAX);
        self.planes += usize::from(compiled.has_plane());
        self.meter.work(SET_STEPS);
        self.meter.hold(compiled.heap_bytes() + set.bytes() + SET_STEPS);
        self.sets.push(compiled);
        self.set_ids.insert(Rc::clone(set), id);
        id
    }

    fn literal(&mut self, units: Vec<u16>) -> u32 {
        self.meter.work(units.len());
        let literal = Literal::new(units);
        self.meter.hold(literal.heap_bytes());
        self.literals.push(literal);
        self.literals.len() as u32 - 1
    }

    /// A place at which a failure can be remembered. Inside a lookaround a success is not the end of the match, so nothing is remembered there.
    fn memo(&mut self, context: &Context) -> u32 {
        if context.in_look {
            return NONE;
        }
        if self.progress_registers.len() > MEMO_REGISTERS_MAX {
            self.memoisable = false;
            return NONE;
        }
        self.meter.hold(2 * size_of::<MemoPoint>() + 4 * MEMO_REGISTERS_MAX);
        let base = self.memo_states as u32;
        self.memo_states += 1 << self.progress_registers.len();
        self.memo_points.push(MemoPoint { base, registers: self.progress_registers.clone().into() });
        self.memo_points.len() as u32 - 1
    }

    // Nodes.

    fn node(&mut self, node: &Node, context: &Context) -> Emitted {
        self.meter.work(1);
        self.meter.check()?;
        match node {
            Node::Empty => Ok(()),
            Node::Char(c) => self.push(if context.backwards { Op::CharBack(*c) } else { Op::Char(*c) }),
            Node::Set(set) => {
                let id = self.set(set);
                self.push(if context.backwards { Op::SetBack(id) } else { Op::Set(id) })
            }
            Node::Sequence(items) if context.backwards => self.sequence_backwards(items, context),
            Node::Sequence(items) => self.sequence(items, context),
            Node::Disjunction(items) => self.disjunction(items, context),
            Node::Capture { index, body } => {
                let (open, close) = (index * 2, index * 2 + 1);
                let (before, after) = if context.backwards { (close, open) } else { (open, close) };
                self.push(Op::Save(before))?;
                self.node(body, context)?;
                self.push(Op::Save(after))
            }
            Node::Repeat(repeat) => self.repeat(repeat, context),
            Node::BackReference { target, ignore_case } => {
                self.memoisable = false;
                let id = self.reference(*target, *ignore_case, context.backwards);
                self.push(Op::BackReference(id))
            }
            Node::Look { behind, negative, body } => self.look(*behind, *negative, body),
            Node::LineStart { multiline } => self.push(Op::LineStart { multiline: *multiline }),
            Node::LineEnd { multiline } => self.push(Op::LineEnd { multiline: *multiline }),
            Node::WordBoundary { negative, extended } => {
                self.push(Op::WordBoundary { negative: *negative, extended: *extended })
            }
        }
    }

    /// One for all references to the same that are compared alike: a name can have many groups.
    fn reference(&mut self, target: Target, ignore_case: bool, behind: bool) -> u32 {
        let next = self.references.len() as u32;
        let id = *self.reference_ids.entry((target, ignore_case, behind)).or_insert(next);
        if id == next {
            let groups: Box<[u32]> = match target {
                Target::Group(group) => [group].into(),
                Target::Name(name) => self
                    .names
                    .get(name as usize)
                    .map(|name| name.groups.as_slice().into())
                    .unwrap_or_default(),
            };
            self.meter.hold(size_of_val(&*groups) + 96);
            self.references.push(BackReference { groups, ignore_case, behind });
        }
        id
    }

    fn sequence(&mut self, items: &[Node], context: &Context) -> Emitted {
        let mut followers = Followers::new(items, &context.follow);
        let mut i = 0;
        while let Some(item) = items.get(i) {
            let run = literal_run(items.get(i..).unwrap_or_default());
            if run.len() > 1 {
                i += run.len();
                let literal = self.literal(units_of(run));
                self.push(Op::Literal(literal))?;
                continue;
            }
            i += 1;
            if matches!(item, Node::Char(_) | Node::Set(_)) {
                self.node(item, context)?;
            } else {
                let follow = followers.from(i, &mut self.meter);
                self.node(item, &Context { follow, ..context.clone() })?;
            }
        }
        Ok(())
    }

    fn sequence_backwards(&mut self, items: &[Node], context: &Context) -> Emitted {
        let mut end = items.len();
        while let Some(item) = end.checked_sub(1).and_then(|last| items.get(last)) {
            let before = items.get(..end).unwrap_or_default();
            let length = before.iter().rev().take_while(|node| is_literal_char(node)).count();
            if length > 1 {
                let literal = self.literal(units_of(before.get(end - length..).unwrap_or_default()));
                self.push(Op::LiteralBack(literal))?;
                end -= length;
                continue;
            }
            self.node(item, context)?;
            end -= 1;
        }
        Ok(())
    }

    fn disjunction(&mut self, items: &[Node], context: &Context) -> Emitted {
        let firsts = self.alternatives_next(items, context);
        let mut ends = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            if i + 1 == items.len() {
                self.node(item, context)?;
                break;
            }
            let (own, rest) = firsts.get(i).cloned().unwrap_or_default();
            let choice = match &own {
                None => Op::Split { other: NONE, memo: self.memo(context) },
                Some(chars) if disjoint(&own, &rest) => Op::BranchIf { set: self.set(chars), other: NONE },
                Some(chars) => Op::SplitIf { set: self.set(chars), other: NONE, memo: self.memo(context) },
            };
            let choice = self.push_open(choice)?;
            self.node(item, context)?;
            ends.push(self.push_open(Op::Jump(NONE))?);
            self.patch(choice);
        }
        ends.into_iter().for_each(|end| self.patch(end));
        Ok(())
    }

    /// For each alternative: what it can begin with, and what the later ones can.
    fn alternatives_next(&mut self, items: &[Node], context: &Context) -> Vec<(NextSet, NextSet)> {
        if context.backwards || items.len() > FIRST_SET_WIDTH_MAX {
            return vec![(None, None); items.len()];
        }
        let mut rest: NextSet = Some(Rc::new(CharSet::empty()));
        let mut result = Vec::with_capacity(items.len());
        for item in items.iter().rev() {
            let own = first(item, &mut self.meter).then(&context.follow, &mut self.meter);
            let with_own = union(&own, &rest, &mut self.meter);
            result.push((own, rest));
            rest = with_own;
        }
        result.reverse();
        result
    }

    fn look(&mut self, behind: bool, negative: bool, body: &Node) -> Emitted {
        let register = self.register();
        let start = self.push_open(Op::LookStart { register, negative, next: NONE })?;
        self.node(body, &Context { follow: None, backwards: behind, in_look: true })?;
        self.push(Op::LookEnd { register, negative })?;
        self.patch(start);
        Ok(())
    }

    // Repeats.

    fn repeat(&mut self, repeat: &Repeat, context: &Context) -> Emitted {
        if repeat.max == 0 {
            return Ok(());
        }
        if !context.backwards
            && let Some(set) = repeat.body.as_single_character()
        {
            return self.simple_loop(repeat, &set, context);
        }
        // Iterations of a body that takes nothing are all alike.
        let min = if repeat.body_is_always_empty { repeat.min.min(1) } else { repeat.min };
        let optional = if repeat.max == UNBOUNDED { 1 } else { repeat.max - repeat.min };
        let copies = u64::from(min) + u64::from(optional);
        let few = min <= 1 && optional <= 1;
        if !few && repeat.body_weight.saturating_mul(copies) > UNROLL_WEIGHT_MAX {
            return self.counted_loop(repeat, min, context);
        }
        let inner = Context { follow: self.next_iteration(repeat, context), ..context.clone() };
        for copy in 1..=min {
            let last = copy == min && repeat.max == repeat.min;
            self.clear_captures(repeat)?;
            self.node(&repeat.body, if last { context } else { &inner })?;
        }
        if repeat.max == UNBOUNDED {
            return self.star(repeat, context, &inner);
        }
        let mut exits = Vec::new();
        for copy in 1..=optional {
            exits.push(self.choice(repeat, context)?);
            self.iteration(repeat, if copy == optional { context } else { &inner })?;
        }
        exits.into_iter().for_each(|exit| self.patch(exit));
        Ok(())
    }

    /// What can come after an iteration: another one, or what follows the repeat.
    fn next_iteration(&mut self, repeat: &Repeat, context: &Context) -> NextSet {
        if context.backwards {
            return None;
        }
        let body = first(&repeat.body, &mut self.meter).chars;
        union(&body, &context.follow, &mut self.meter)
    }

    fn clear_captures(&mut self, repeat: &Repeat) -> Emitted {
        if repeat.first_capture < repeat.end_capture {
            self.push(Op::ClearCaptures { from: repeat.first_capture, to: repeat.end_capture })?;
        }
        Ok(())
    }

    fn simple_loop(&mut self, repeat: &Repeat, set: &Rc<CharSet>, context: &Context) -> Emitted {
        let own = Some(Rc::clone(set));
        let kind = if repeat.min == repeat.max || disjoint(&own, &context.follow) {
            LoopKind::Possessive
        } else if repeat.greedy {
            LoopKind::Greedy
        } else {
            LoopKind::Lazy
        };
        let set = self.set(set);
        let follow = match &context.follow {
            Some(follow) if kind != LoopKind::Possessive => Some(self.set(follow)),
            _ => None,
        };
        let memo = if kind == LoopKind::Possessive { NONE } else { self.memo(context) };
        self.meter.hold(2 * size_of::<SimpleLoop>());
        self.loops.push(SimpleLoop { kind, set, min: repeat.min, max: repeat.max, follow, memo });
        self.push(Op::Loop(self.loops.len() as u32 - 1))
    }

    /// The decision between one more iteration (falling through) and the end.
    fn choice(&mut self, repeat: &Repeat, context: &Context) -> Result<usize, SyntaxErrorKind> {
        let body = if context.backwards {
            analysis::First { chars: None, nullable: true }
        } else {
            first(&repeat.body, &mut self.meter)
        };
        let op = match body {
            analysis::First { chars: Some(chars), nullable: false } => {
                let own = Some(chars.clone());
                if disjoint(&own, &context.follow) {
                    Op::BranchIf { set: self.set(&chars), other: NONE }
                } else if repeat.greedy {
                    Op::SplitIf { set: self.set(&chars), other: NONE, memo: self.memo(context) }
                } else {
                    Op::SplitLazy { other: NONE, memo: self.memo(context) }
                }
            }
            _ if repeat.greedy => Op::Split { other: NONE, memo: self.memo(context) },
            _ => Op::SplitLazy { other: NONE, memo: self.memo(context) },
        };
        self.push_open(op)
    }

    /// One optional iteration: it must take something (22.2.2.3.1 RepeatMatcher).
    fn iteration(&mut self, repeat: &Repeat, context: &Context) -> Emitted {
        self.clear_captures(repeat)?;
        if !repeat.body_is_nullable {
            return self.node(&repeat.body, context);
        }
        let register = self.register();
        self.push(Op::Mark { register })?;
        self.progress_registers.push(register);
        let body = self.node(&repeat.body, context);
        self.progress_registers.pop();
        body?;
        self.push(Op::CheckProgress { register })
    }

    fn star(&mut self, repeat: &Repeat, context: &Context, inner: &Context) -> Emitted {
        let head = self.here();
        let exit = self.choice(repeat, context)?;
        self.iteration(repeat, inner)?;
        self.push(Op::Jump(head))?;
        self.patch(exit);
        Ok(())
    }

    fn counted_loop(&mut self, repeat: &Repeat, min: u32, context: &Context) -> Emitted {
        self.memoisable = false;
        let (count_register, start_register) = (self.register(), self.register());
        let id = self.counted.len();
        self.meter.hold(2 * size_of::<CountedLoop>());
        self.counted.push(CountedLoop {
            count_register,
            start_register,
            min,
            max: repeat.max,
            greedy: repeat.greedy,
            body: NONE,
            exit: NONE,
        });
        self.push(Op::CounterReset(id as u32))?;
        let head = self.here();
        self.push(Op::CounterHead(id as u32))?;
        self.clear_captures(repeat)?;
        let follow = self.next_iteration(repeat, context);
        self.node(&repeat.body, &Context { follow, ..context.clone() })?;
        self.push(Op::CounterProgress(id as u32))?;
        self.push(Op::Jump(head))?;
        let exit = self.here();
        if let Some(counted) = self.counted.get_mut(id) {
            (counted.body, counted.exit) = (head + 1, exit);
        }
        Ok(())
    }
}

/// A character that can be compared unit by unit: surrogates need a look at their neighbours.
fn is_literal_char(node: &Node) -> bool {
    matches!(node, Node::Char(c) if !(0xD800..=0xDFFF).contains(c))
}

fn literal_run(items: &[Node]) -> &[Node] {
    let length = items.iter().take_while(|node| is_literal_char(node)).count();
    items.get(..length).unwrap_or_default()
}

fn units_of(nodes: &[Node]) -> Vec<u16> {
    let mut units = Vec::with_capacity(nodes.len());
    for node in nodes {
        if let Node::Char(c) = node {
            push_code_point(&mut units, *c);
        }
    }
    units
}
