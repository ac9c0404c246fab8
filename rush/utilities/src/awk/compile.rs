//! Makes instructions of a program. What depends on what an awk chooses gives `None`: the utility declines.

use std::collections::HashMap;
use std::rc::Rc;

use super::code::{Array, Code, Op, Routine, SPECIAL, SPECIAL_ARRAYS, Sink};
use super::kinds::{Kinds, kinds};
use super::tree::{Expression, Guard, Place, Program, Statement, Target};
use super::value::Value;
use crate::posix::{Dialect, Escapes, Pattern};

/// The program's instructions.
pub(super) fn compile(program: &Program, utf8: bool) -> Option<Code> {
    let mut compiler = Compiler {
        code: Code::default(),
        kinds: kinds(program)?,
        globals: HashMap::new(),
        arrays: HashMap::new(),
        parameters: Vec::new(),
        within: None,
        loops: Vec::new(),
        utf8,
    };
    compiler.program(program)?;
    Some(compiler.code)
}

/// How expressions are read here.
pub(super) fn dialect(utf8: bool) -> Dialect {
    Dialect { extended: true, escapes: Escapes::Awk, utf8, ..Dialect::default() }
}

/// A loop's jumps that wait for their targets.
#[derive(Default)]
pub(super) struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

pub(super) struct Compiler {
    pub(super) code: Code,
    pub(super) kinds: Kinds,
    pub(super) globals: HashMap<Rc<str>, u32>,
    pub(super) arrays: HashMap<Rc<str>, u32>,
    /// Of the function that is compiled.
    pub(super) parameters: Vec<Rc<str>>,
    pub(super) within: Option<usize>,
    pub(super) loops: Vec<Loop>,
    pub(super) utf8: bool,
}

impl Compiler {
    pub(super) fn here(&self) -> u32 {
        self.code.ops.len() as u32
    }

    pub(super) fn put(&mut self, op: Op) -> usize {
        self.code.ops.push(op);
        self.code.ops.len() - 1
    }

    /// Lets a jump lead here.
    pub(super) fn land(&mut self, at: usize) {
        let here = self.here();
        self.aim(at, here);
    }

    pub(super) fn aim(&mut self, at: usize, target: u32) {
        let Some(op) = self.code.ops.get_mut(at) else { return };
        match op {
            Op::Jump(to)
            | Op::JumpIfFalse(to)
            | Op::JumpIfTrue(to)
            | Op::JumpUnlessSubstituted(to)
            | Op::JumpUnlessRead(to)
            | Op::LoopNext(to)
            | Op::RangeBegun(_, to) => *to = target,
            _ => {}
        }
    }

    pub(super) fn constant(&mut self, value: Value) {
        self.code.constants.push(value);
        let number = self.code.constants.len() as u32 - 1;
        self.put(Op::Constant(number));
    }

    pub(super) fn pattern(&mut self, text: &[u8]) -> Option<u32> {
        self.code.patterns.push(Pattern::new(text, dialect(self.utf8))?);
        Some(self.code.patterns.len() as u32 - 1)
    }

    pub(super) fn program(&mut self, program: &Program) -> Option<()> {
        for name in SPECIAL {
            self.global(&Rc::from(*name));
        }
        for name in SPECIAL_ARRAYS {
            self.global_array(&Rc::from(*name));
        }
        for (number, function) in program.functions.iter().enumerate() {
            let arrays =
                function.parameters.iter().map(|name| self.kinds.is_array(Some(number), name)).collect();
            self.code.routines.push(Routine { entry: 0, arrays });
        }
        for (number, function) in program.functions.iter().enumerate() {
            self.within = Some(number);
            self.parameters.clone_from(&function.parameters);
            let entry = self.here();
            self.code.routines.get_mut(number)?.entry = entry;
            self.statements(&function.body)?;
            self.constant(Value::None);
            self.put(Op::Return);
        }
        self.within = None;
        self.parameters.clear();
        self.code.begin = self.here();
        for rule in program.rules.iter().filter(|rule| matches!(rule.guard, Guard::Begin)) {
            self.statements(rule.body.as_deref().unwrap_or_default())?;
        }
        self.put(Op::End);
        let main: Vec<_> =
            program.rules.iter().filter(|rule| !matches!(rule.guard, Guard::Begin | Guard::End)).collect();
        if !main.is_empty() {
            self.code.main = Some(self.here());
            for rule in main {
                self.rule(&rule.guard, rule.body.as_deref())?;
            }
            self.put(Op::End);
        }
        if program.rules.iter().any(|rule| matches!(rule.guard, Guard::End)) {
            self.code.end = Some(self.here());
            for rule in program.rules.iter().filter(|rule| matches!(rule.guard, Guard::End)) {
                self.statements(rule.body.as_deref().unwrap_or_default())?;
            }
            self.put(Op::End);
        }
        Some(())
    }

    pub(super) fn rule(&mut self, guard: &Guard, body: Option<&[Statement]>) -> Option<()> {
        let skip = match guard {
            Guard::When(condition) => Some(self.jump_if_false(condition)?),
            Guard::Range(first, last) => {
                let range = self.code.ranges;
                self.code.ranges += 1;
                let begun = self.put(Op::RangeBegun(range, 0));
                let skip = self.jump_if_false(first)?;
                self.put(Op::SetRange(range, true));
                self.land(begun);
                let goes_on = self.jump_if_false(last)?;
                self.put(Op::SetRange(range, false));
                self.land(goes_on);
                Some(skip)
            }
            _ => None,
        };
        match body {
            Some(body) => self.statements(body)?,
            None => drop(self.put(Op::PrintRecord)),
        }
        if let Some(skip) = skip {
            self.land(skip);
        }
        Some(())
    }

    pub(super) fn jump_if_false(&mut self, condition: &Expression) -> Option<usize> {
        // `!x` jumps the other way.
        if let Expression::Not(inner) = condition {
            self.expression(inner)?;
            return Some(self.put(Op::JumpIfTrue(0)));
        }
        self.expression(condition)?;
        Some(self.put(Op::JumpIfFalse(0)))
    }

    pub(super) fn statements(&mut self, list: &[Statement]) -> Option<()> {
        list.iter().try_for_each(|statement| self.statement(statement))
    }

    pub(super) fn statement(&mut self, statement: &Statement) -> Option<()> {
        match statement {
            Statement::Expression(expression) => {
                self.expression(expression)?;
                self.put(Op::Pop);
            }
            Statement::Print(list, target) => {
                if list.is_empty() && matches!(target, Target::Standard) {
                    self.put(Op::PrintRecord);
                    return Some(());
                }
                if let (Some(fields), Target::Standard) = (plain_fields(list), target) {
                    self.put(Op::PrintFields(fields.into()));
                    return Some(());
                }
                if list.is_empty() {
                    self.put(Op::FieldAt(0));
                }
                list.iter().try_for_each(|item| self.expression(item))?;
                let sink = self.target(target)?;
                self.put(Op::Print(list.len().max(1) as u32, sink));
            }
            Statement::Printf(list, target) => {
                list.iter().try_for_each(|item| self.expression(item))?;
                let sink = self.target(target)?;
                self.put(Op::Printf(list.len() as u32, sink));
            }
            Statement::If(condition, then, other) => {
                let skip = self.jump_if_false(condition)?;
                self.statement(then)?;
                match other {
                    None => self.land(skip),
                    Some(other) => {
                        let end = self.put(Op::Jump(0));
                        self.land(skip);
                        self.statement(other)?;
                        self.land(end);
                    }
                }
            }
            Statement::While(condition, body) => {
                let start = self.here();
                let out = self.jump_if_false(condition)?;
                self.looped(body)?;
                self.put(Op::Jump(start));
                self.land(out);
                self.leave(start);
            }
            Statement::Do(body, condition) => {
                let start = self.here();
                self.looped(body)?;
                let test = self.here();
                self.expression(condition)?;
                self.put(Op::JumpIfTrue(start));
                self.leave(test);
            }
            Statement::For(first, condition, last, body) => {
                if let Some(first) = first {
                    self.statement(first)?;
                }
                let start = self.here();
                let out = condition.as_ref().map(|condition| self.jump_if_false(condition));
                let out = match out {
                    Some(out) => Some(out?),
                    None => None,
                };
                self.looped(body)?;
                let step = self.here();
                if let Some(last) = last {
                    self.statement(last)?;
                }
                self.put(Op::Jump(start));
                if let Some(out) = out {
                    self.land(out);
                }
                self.leave(step);
            }
            Statement::ForIn(variable, array, body) => {
                let array = self.array(array)?;
                self.put(Op::Loop(array));
                let start = self.here();
                let out = self.put(Op::LoopNext(0));
                self.assign(&Place::Variable(Rc::clone(variable)))?;
                self.put(Op::Pop);
                self.looped(body)?;
                self.put(Op::Jump(start));
                self.land(out);
                self.leave(start);
                self.put(Op::LoopEnd);
            }
            Statement::Block(list) => self.statements(list)?,
            Statement::Next => drop(self.put(Op::Next)),
            Statement::NextFile => drop(self.put(Op::NextFile)),
            Statement::Exit(value) => {
                if let Some(value) = value {
                    self.expression(value)?;
                }
                self.put(Op::Exit(value.is_some()));
            }
            Statement::Return(value) => {
                match value {
                    Some(value) => self.expression(value)?,
                    None => self.constant(Value::None),
                }
                self.put(Op::Return);
            }
            Statement::Break => {
                let at = self.put(Op::Jump(0));
                self.loops.last_mut()?.breaks.push(at);
            }
            Statement::Continue => {
                let at = self.put(Op::Jump(0));
                self.loops.last_mut()?.continues.push(at);
            }
            Statement::Delete(array, index) => {
                let array = self.array(array)?;
                if index.is_empty() {
                    self.put(Op::Clear(array));
                } else {
                    self.subscript(index)?;
                    self.put(Op::Delete(array));
                }
            }
        }
        Some(())
    }

    pub(super) fn looped(&mut self, body: &Statement) -> Option<()> {
        self.loops.push(Loop::default());
        self.statement(body)
    }

    /// The end of the innermost loop, whose `continue` leads to `again`.
    pub(super) fn leave(&mut self, again: u32) {
        let Some(ended) = self.loops.pop() else { return };
        ended.continues.into_iter().for_each(|at| self.aim(at, again));
        ended.breaks.into_iter().for_each(|at| self.land(at));
    }

    pub(super) fn target(&mut self, target: &Target) -> Option<Sink> {
        match target {
            Target::Standard => Some(Sink::Standard),
            Target::File(name) => self.expression(name).map(|()| Sink::File),
            Target::Append(name) => self.expression(name).map(|()| Sink::Append),
        }
    }

    pub(super) fn local(&self, name: &Rc<str>) -> Option<u32> {
        self.parameters.iter().position(|parameter| parameter == name).map(|at| at as u32)
    }

    pub(super) fn global(&mut self, name: &Rc<str>) -> u32 {
        if let Some(slot) = self.globals.get(name) {
            return *slot;
        }
        let slot = self.code.globals.len() as u32;
        self.code.globals.push(Rc::clone(name));
        self.globals.insert(Rc::clone(name), slot);
        slot
    }

    pub(super) fn global_array(&mut self, name: &Rc<str>) -> u32 {
        if let Some(slot) = self.arrays.get(name) {
            return *slot;
        }
        let slot = self.code.arrays.len() as u32;
        self.code.arrays.push(Rc::clone(name));
        self.arrays.insert(Rc::clone(name), slot);
        slot
    }

    pub(super) fn array(&mut self, name: &Rc<str>) -> Option<Array> {
        if let Some(at) = self.local(name) {
            return Some(Array::Local(at));
        }
        Some(Array::Global(self.global_array(name)))
    }

    /// The subscript on the stack.
    pub(super) fn subscript(&mut self, index: &[Expression]) -> Option<()> {
        index.iter().try_for_each(|one| self.expression(one))?;
        if index.len() > 1 {
            self.put(Op::Join(index.len() as u32));
        }
        Some(())
    }

    /// What says where a place is, on the stack; nothing for variables.
    pub(super) fn locate(&mut self, place: &Place) -> Option<()> {
        match place {
            Place::Variable(_) => Some(()),
            Place::Field(index) => self.expression(index),
            Place::Element(_, index) => self.subscript(index),
        }
    }

    /// The value of a place that is located.
    pub(super) fn load(&mut self, place: &Place) -> Option<()> {
        let op = match place {
            Place::Variable(name) => match self.local(name) {
                Some(at) => Op::Local(at),
                None => {
                    let slot = self.global(name);
                    if (slot as usize) < SPECIAL.len() { Op::Special(slot) } else { Op::Global(slot) }
                }
            },
            Place::Field(_) => Op::Field,
            Place::Element(name, _) => Op::Element(self.array(name)?),
        };
        self.put(op);
        Some(())
    }

    /// Assigns what is on the stack to a place that is located below it.
    pub(super) fn assign(&mut self, place: &Place) -> Option<()> {
        let op = match place {
            Place::Variable(name) => match self.local(name) {
                Some(at) => Op::SetLocal(at),
                None => {
                    let slot = self.global(name);
                    if (slot as usize) < SPECIAL.len() { Op::SetSpecial(slot) } else { Op::SetGlobal(slot) }
                }
            },
            Place::Field(_) => Op::SetField,
            Place::Element(name, _) => Op::SetElement(self.array(name)?),
        };
        self.put(op);
        Some(())
    }

    pub(super) fn is_located_on_stack(place: &Place) -> bool {
        !matches!(place, Place::Variable(_))
    }

    /// An operand of which only the number matters.
    pub(super) fn number(&mut self, expression: &Expression) -> Option<()> {
        if let Expression::Place(Place::Field(index)) = expression
            && let Expression::Number(number) = **index
            && (1.0..=1000.0).contains(&number)
            && number.fract() == 0.0
        {
            self.put(Op::FieldNumber(number as u32));
            return Some(());
        }
        self.expression(expression)
    }
}

/// The numbers of fields, if a list holds nothing else.
fn plain_fields(list: &[Expression]) -> Option<Vec<u32>> {
    let number = |item: &Expression| match item {
        Expression::Place(Place::Field(index)) => match **index {
            Expression::Number(number) if (0.0..=1000.0).contains(&number) && number.fract() == 0.0 => {
                Some(number as u32)
            }
            _ => None,
        },
        _ => None,
    };
    list.iter().map(number).collect()
}
