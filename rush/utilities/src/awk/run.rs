//! The machine: runs instructions on a stack of values. Functions of the program's own take no native stack.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use super::code::{
    ARGC, ARGV, Argument, Array, CONVFMT, Code, ENVIRON, FNR, FS, NF, NR, OFMT, OFS, ORS, Op, RLENGTH, RS,
    RSTART, SUBSEP,
};
use super::input::{End, Reader};
use super::output::Outputs;
use super::record::{Record, Splitter};
use super::tree::Binary;
use super::value::{Text, Value};
use crate::Context;
use crate::limits::{AWK_CALLS_MAX, AWK_POLL_BYTES, AWK_POLL_OPS};
use crate::posix::Pattern;

/// An array, in the order in which it was filled.
pub(super) type Table = indexmap::IndexMap<Text, Value>;

/// Why a piece of the program ended before its end.
pub(super) enum Stop {
    Next,
    NextFile,
    Exit,
    /// Of the output, or an interruption.
    Output(io::Error),
    Fatal(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

/// A call under way.
pub(super) struct Frame {
    back: usize,
    locals: usize,
    arrays: usize,
    loops: usize,
}

pub(super) struct Machine<'m, 'c> {
    pub(super) context: &'m mut Context<'c>,
    pub(super) code: Code,
    pub(super) globals: Vec<Value>,
    pub(super) arrays: Vec<Rc<RefCell<Table>>>,
    pub(super) stack: Vec<Value>,
    pub(super) locals: Vec<Value>,
    pub(super) local_arrays: Vec<Option<Rc<RefCell<Table>>>>,
    pub(super) frames: Vec<Frame>,
    pub(super) loops: Vec<std::vec::IntoIter<Text>>,
    pub(super) ranges: Vec<bool>,
    pub(super) record: Record,
    /// Memory for the next record, and for a line.
    pub(super) spare: Vec<u8>,
    pub(super) line: Vec<u8>,
    pub(super) splitter: Splitter,
    pub(super) end: End,
    pub(super) utf8: bool,
    pub(super) conversion: Rc<Vec<u8>>,
    pub(super) reader: Option<Reader>,
    pub(super) next_argument: usize,
    pub(super) any_file: bool,
    pub(super) files: HashMap<Vec<u8>, Reader>,
    pub(super) outputs: Outputs,
    pub(super) dynamic: HashMap<Vec<u8>, Pattern>,
    pub(super) got: Value,
    pub(super) substitutions: f64,
    pub(super) status: i32,
    pub(super) random: super::builtins::Random,
    pub(super) budget: u32,
}

impl<'m, 'c> Machine<'m, 'c> {
    pub(super) fn new(context: &'m mut Context<'c>, code: Code, operands: &[&[u8]], utf8: bool) -> Self {
        let mut globals = vec![Value::None; code.globals.len()];
        let mut set = |slot: u32, value: Value| globals[slot as usize] = value;
        for slot in [NF, NR, FNR, RSTART] {
            set(slot, Value::Number(0.0));
        }
        set(RLENGTH, Value::Number(-1.0));
        for (slot, text) in [
            (FS, " "),
            (OFS, " "),
            (ORS, "\n"),
            (RS, "\n"),
            (SUBSEP, "\x1c"),
            (CONVFMT, "%.6g"),
            (OFMT, "%.6g"),
        ] {
            set(slot, Value::text(text.as_bytes().to_vec()));
        }
        set(ARGC, Value::Number(operands.len() as f64 + 1.0));
        let arrays: Vec<Rc<RefCell<Table>>> = code.arrays.iter().map(|_| Rc::default()).collect();
        let environment = context.host.environment();
        if let Some(table) = arrays.get(ENVIRON) {
            table.borrow_mut().extend(
                environment.into_iter().map(|(name, value)| (Rc::new(name), Value::Input(Rc::new(value)))),
            );
        }
        if let Some(table) = arrays.get(ARGV) {
            let words = std::iter::once(&b"awk"[..]).chain(operands.iter().copied());
            let word = |(at, word): (usize, &[u8])| {
                (Rc::new(at.to_string().into_bytes()), Value::Input(Rc::new(word.to_vec())))
            };
            table.borrow_mut().extend(words.enumerate().map(word));
        }
        let ranges = vec![false; code.ranges as usize];
        Machine {
            context,
            code,
            globals,
            arrays,
            stack: Vec::new(),
            locals: Vec::new(),
            local_arrays: Vec::new(),
            frames: Vec::new(),
            loops: Vec::new(),
            ranges,
            record: Record::default(),
            spare: Vec::new(),
            line: Vec::new(),
            splitter: Splitter::Blanks,
            end: End::Byte(b'\n'),
            utf8,
            conversion: Rc::new(b"%.6g".to_vec()),
            reader: None,
            next_argument: 1,
            any_file: false,
            files: HashMap::new(),
            outputs: Outputs::default(),
            dynamic: HashMap::new(),
            got: Value::None,
            substitutions: 0.0,
            status: 0,
            random: super::builtins::Random::new(0),
            budget: AWK_POLL_OPS,
        }
    }

    fn poll(&mut self) -> Result<(), Stop> {
        self.budget = AWK_POLL_OPS;
        self.context.poll().map_err(Stop::Output)
    }

    /// A text of this length has been made: many of them between two questions would be much.
    pub(super) fn made(&self, length: usize) -> Result<(), Stop> {
        if length > AWK_POLL_BYTES { self.context.poll().map_err(Stop::Output) } else { Ok(()) }
    }

    pub(super) fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or_default()
    }

    pub(super) fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    pub(super) fn text_of(&self, value: &Value) -> Text {
        value.to_text(&self.conversion)
    }

    pub(super) fn array(&self, array: Array) -> Rc<RefCell<Table>> {
        match array {
            Array::Global(slot) => Rc::clone(&self.arrays[slot as usize]),
            Array::Local(at) => {
                let base = self.frames.last().map_or(0, |frame| frame.arrays);
                self.local_arrays.get(base + at as usize).cloned().flatten().unwrap_or_default()
            }
        }
    }

    fn local(&mut self, at: u32) -> &mut Value {
        let base = self.frames.last().map_or(0, |frame| frame.locals);
        &mut self.locals[base + at as usize]
    }

    fn key(&mut self) -> Text {
        let value = self.pop();
        match value {
            // Whole numbers whatever CONVFMT says.
            Value::Number(_) => value.to_text(&self.conversion),
            value => self.text_of(&value),
        }
    }

    /// Runs from an instruction to the end of its piece.
    pub(super) fn run(&mut self, entry: u32) -> Result<(), Stop> {
        self.frames.clear();
        self.locals.clear();
        self.local_arrays.clear();
        self.loops.clear();
        self.stack.clear();
        let mut at = entry as usize;
        loop {
            let Some(op) = self.code.ops.get(at) else { return Ok(()) };
            at += 1;
            match op {
                Op::Constant(number) => {
                    let value = self.code.constants[*number as usize].clone();
                    self.stack.push(value);
                }
                Op::Number(number) => self.stack.push(Value::Number(*number)),
                Op::Global(slot) => {
                    let value = self.globals[*slot as usize].clone();
                    self.stack.push(value);
                }
                Op::SetGlobal(slot) => {
                    let slot = *slot as usize;
                    // Mostly nobody wants the value.
                    if matches!(self.code.ops.get(at), Some(Op::Pop)) {
                        self.globals[slot] = self.stack.pop().unwrap_or_default();
                        at += 1;
                    } else {
                        self.globals[slot] = self.stack.last().cloned().unwrap_or_default();
                    }
                }
                Op::Special(slot) => {
                    let value = self.special(*slot);
                    self.push(value);
                }
                Op::SetSpecial(slot) => {
                    let value = self.stack.last().cloned().unwrap_or_default();
                    self.set_special(*slot, value)?;
                }
                Op::Local(slot) => {
                    let slot = *slot;
                    let value = self.local(slot).clone();
                    self.push(value);
                }
                Op::SetLocal(slot) => {
                    let slot = *slot;
                    let value = self.stack.last().cloned().unwrap_or_default();
                    *self.local(slot) = value;
                }
                Op::FieldAt(number) => {
                    let value = self.field(*number as usize);
                    self.push(value);
                }
                Op::FieldNumber(number) => {
                    let number = *number as usize;
                    self.split_up_to(number);
                    let value = self.record.number(number);
                    self.push(Value::Number(value));
                }
                Op::Field => {
                    let index = self.pop();
                    let value = self.field(self.field_index(&index)?);
                    self.push(value);
                }
                Op::SetField => {
                    let (value, index) = (self.pop(), self.pop());
                    self.set_field(self.field_index(&index)?, value.clone())?;
                    self.push(value);
                }
                Op::Element(array) => {
                    let array = *array;
                    let (key, table) = (self.key(), self.array(array));
                    let found = table.borrow().get(&key).cloned();
                    // Looking makes it.
                    let value = found.unwrap_or_else(|| table.borrow_mut().entry(key).or_default().clone());
                    self.push(value);
                }
                Op::SetElement(array) => {
                    let array = *array;
                    let value = self.pop();
                    let (key, table) = (self.key(), self.array(array));
                    table.borrow_mut().insert(key, value.clone());
                    self.push(value);
                }
                Op::Join(count) => {
                    let first = self.stack.len().saturating_sub(*count as usize);
                    let separator = self.text_of(&self.globals[SUBSEP as usize]);
                    let mut out = Vec::new();
                    for (number, value) in self.stack.drain(first..).enumerate() {
                        if number > 0 {
                            out.extend_from_slice(&separator);
                        }
                        value.write(&self.conversion, &mut out);
                    }
                    self.push(Value::text(out));
                }
                Op::In(array) => {
                    let array = *array;
                    let (key, table) = (self.key(), self.array(array));
                    let found = table.borrow().contains_key(&key);
                    self.push(Value::truth(found));
                }
                Op::Delete(array) => {
                    let array = *array;
                    let (key, table) = (self.key(), self.array(array));
                    table.borrow_mut().swap_remove(&key);
                }
                Op::Clear(array) => self.array(*array).borrow_mut().clear(),
                Op::StepGlobal(slot, step, after) => {
                    let before = self.globals[*slot as usize].number();
                    self.globals[*slot as usize] = Value::Number(before + step);
                    if matches!(self.code.ops.get(at), Some(Op::Pop)) {
                        at += 1;
                        continue;
                    }
                    self.stack.push(Value::Number(if *after { before } else { before + step }));
                }
                Op::StepLocal(slot, step, after) => {
                    let (slot, step, after) = (*slot, *step, *after);
                    let place = self.local(slot);
                    let before = place.number();
                    *place = Value::Number(before + step);
                    self.push(Value::Number(if after { before } else { before + step }));
                }
                Op::StepElement(array, step, after) => {
                    let (array, step, after) = (*array, *step, *after);
                    let (key, table) = (self.key(), self.array(array));
                    let mut table = table.borrow_mut();
                    let place = table.entry(key).or_default();
                    let before = place.number();
                    *place = Value::Number(before + step);
                    self.push(Value::Number(if after { before } else { before + step }));
                }
                Op::AppendGlobal(slot) => {
                    let (slot, more) = (*slot as usize, self.stack.pop().unwrap_or_default());
                    let place = std::mem::take(&mut self.globals[slot]);
                    let joined = self.append(place, &more)?;
                    self.globals[slot] = joined.clone();
                    // A second owner would make the next one copy: what is popped at once needs no value.
                    if matches!(self.code.ops.get(at), Some(Op::Pop)) {
                        drop(joined);
                        at += 1;
                    } else {
                        self.push(joined);
                    }
                }
                Op::AppendLocal(slot) => {
                    let (slot, more) = (*slot, self.pop());
                    let place = std::mem::take(self.local(slot));
                    let joined = self.append(place, &more)?;
                    *self.local(slot) = joined.clone();
                    if matches!(self.code.ops.get(at), Some(Op::Pop)) {
                        drop(joined);
                        at += 1;
                    } else {
                        self.push(joined);
                    }
                }
                Op::Binary(operator) => {
                    let operator = *operator;
                    // Numbers in place: they own nothing.
                    if let [.., Value::Number(left), Value::Number(right)] = self.stack.as_mut_slice()
                        && let Some(number) = of_numbers(operator, *left, *right)
                    {
                        *left = number;
                        self.stack.truncate(self.stack.len() - 1);
                        continue;
                    }
                    let (right, left) = (self.pop(), self.pop());
                    let value = self.binary(operator, &left, &right)?;
                    self.push(value);
                }
                Op::Not => {
                    let value = self.pop();
                    self.push(Value::truth(!value.is_true()));
                }
                Op::Negate => {
                    let value = self.pop();
                    self.push(Value::Number(-value.number()));
                }
                Op::Plus => {
                    let value = self.pop();
                    self.push(Value::Number(value.number()));
                }
                Op::Truth => {
                    let value = self.pop();
                    self.push(Value::truth(value.is_true()));
                }
                Op::MatchRecord(pattern) => {
                    let pattern = *pattern as usize;
                    let text = self.record_text();
                    let found = self.code.patterns[pattern].is_match(&text, 0);
                    self.push(Value::truth(found));
                }
                Op::Match(pattern, negated) => {
                    let (pattern, negated) = (*pattern as usize, *negated);
                    let value = self.pop();
                    let text = self.text_of(&value);
                    let found = self.code.patterns[pattern].is_match(&text, 0);
                    self.push(Value::truth(found != negated));
                }
                Op::MatchText(negated) => {
                    let negated = *negated;
                    let (pattern, value) = (self.pop(), self.pop());
                    let (pattern, text) = (self.text_of(&pattern), self.text_of(&value));
                    let found = self.with_pattern(&pattern, |pattern| pattern.is_match(&text, 0))?;
                    self.push(Value::truth(found != negated));
                }
                Op::Jump(target) => {
                    let target = *target as usize;
                    if target <= at {
                        self.budget -= 1;
                        if self.budget == 0 {
                            self.poll()?;
                        }
                    }
                    at = target;
                }
                Op::JumpIfFalse(target) => {
                    let target = *target as usize;
                    if !self.pop().is_true() {
                        at = target;
                    }
                }
                Op::JumpIfTrue(target) => {
                    let target = *target as usize;
                    if self.pop().is_true() {
                        if target <= at {
                            self.budget -= 1;
                            if self.budget == 0 {
                                self.poll()?;
                            }
                        }
                        at = target;
                    }
                }
                Op::Pop => drop(self.stack.pop()),
                Op::Double => {
                    let value = self.stack.last().cloned().unwrap_or_default();
                    self.push(value);
                }
                Op::Under => {
                    let at = self.stack.len().wrapping_sub(2);
                    let value = self.stack.get(at).cloned().unwrap_or_default();
                    self.push(value);
                }
                Op::Swap => {
                    let (first, second) = (self.pop(), self.pop());
                    self.push(first);
                    self.push(second);
                }
                Op::Print(count, sink) => {
                    let (count, sink) = (*count as usize, *sink);
                    self.print(count, sink)?;
                }
                Op::Printf(count, sink) => {
                    let (count, sink) = (*count as usize, *sink);
                    let name = self.sink_name(sink);
                    let text = self.formatted(count)?;
                    self.write(sink, &name, &text)?;
                }
                Op::PrintFields(fields) => {
                    let fields = Rc::clone(fields);
                    self.print_fields(&fields)?;
                }
                Op::PrintRecord => {
                    let text = self.record_text();
                    let end = self.text_of(&self.globals[ORS as usize]);
                    self.context.output.write_all(&text)?;
                    self.context.output.write_all(&end)?;
                }
                Op::Call(routine, arguments) => {
                    let (routine, arguments) = (*routine, Rc::clone(arguments));
                    at = self.call(routine, &arguments, at)?;
                }
                Op::Return => {
                    let Some(frame) = self.frames.pop() else { return Ok(()) };
                    self.locals.truncate(frame.locals);
                    self.local_arrays.truncate(frame.arrays);
                    self.loops.truncate(frame.loops);
                    at = frame.back;
                }
                Op::Builtin(builtin, count) => {
                    let (builtin, count) = (*builtin, *count as usize);
                    self.builtin(builtin, count)?;
                }
                Op::Count(array) => {
                    let count = self.array(*array).borrow().len();
                    self.push(Value::Number(count as f64));
                }
                Op::MatchAt(pattern) => {
                    let pattern = *pattern;
                    self.match_at(pattern)?;
                }
                Op::Split(array, separator) => {
                    let (array, separator) = (*array, *separator);
                    self.split(array, separator)?;
                }
                Op::Substitute(pattern, all) => {
                    let (pattern, all) = (*pattern, *all);
                    self.substitute(pattern, all)?;
                }
                Op::JumpUnlessSubstituted(target) => {
                    if self.substitutions == 0.0 {
                        at = *target as usize;
                    }
                }
                Op::Gensub(pattern, target) => {
                    let (pattern, target) = (*pattern, *target);
                    self.gensub(pattern, target)?;
                }
                Op::Got => {
                    let value = self.got.clone();
                    self.push(value);
                }
                Op::Substitutions => {
                    let count = self.substitutions;
                    self.push(Value::Number(count));
                }
                Op::GetlineMain(record) => {
                    let record = *record;
                    self.getline_main(record)?;
                }
                Op::GetlineFile => self.getline_file()?,
                Op::JumpUnlessRead(target) => {
                    let target = *target as usize;
                    if self.stack.last().is_none_or(|state| state.number() <= 0.0) {
                        at = target;
                    }
                }
                Op::SetRecord => {
                    let text = self.text_of(&self.got);
                    drop(self.record.set(text));
                }
                Op::Loop(array) => {
                    let keys: Vec<Text> = self.array(*array).borrow().keys().cloned().collect();
                    self.loops.push(keys.into_iter());
                }
                Op::LoopNext(target) => {
                    let target = *target as usize;
                    match self.loops.last_mut().and_then(Iterator::next) {
                        Some(key) => self.push(Value::Input(key)),
                        None => at = target,
                    }
                }
                Op::LoopEnd => drop(self.loops.pop()),
                Op::RangeBegun(range, target) => {
                    if self.ranges[*range as usize] {
                        at = *target as usize;
                    }
                }
                Op::SetRange(range, begun) => self.ranges[*range as usize] = *begun,
                Op::Next => return Err(Stop::Next),
                Op::NextFile => return Err(Stop::NextFile),
                Op::Exit(with_status) => {
                    if *with_status {
                        self.status = self.pop().number() as i64 as i32 & 0xff;
                    }
                    return Err(Stop::Exit);
                }
                Op::End => return Ok(()),
            }
        }
    }

    fn append(&self, place: Value, more: &Value) -> Result<Value, Stop> {
        let mut text = match place {
            Value::Text(text) | Value::Input(text) => text,
            other => self.text_of(&other),
        };
        more.write(&self.conversion, Rc::make_mut(&mut text));
        self.made(text.len())?;
        Ok(Value::Text(text))
    }

    fn binary(&self, operator: Binary, left: &Value, right: &Value) -> Result<Value, Stop> {
        use std::cmp::Ordering;
        let order = || left.compare(right, &self.conversion);
        Ok(match operator {
            Binary::Add => Value::Number(left.number() + right.number()),
            Binary::Subtract => Value::Number(left.number() - right.number()),
            Binary::Multiply => Value::Number(left.number() * right.number()),
            Binary::Divide | Binary::Modulo => {
                let divisor = right.number();
                if divisor == 0.0 {
                    return Err(Stop::Fatal("division by zero".to_owned()));
                }
                Value::Number(if operator == Binary::Divide {
                    left.number() / divisor
                } else {
                    left.number() % divisor
                })
            }
            Binary::Power => Value::Number(left.number().powf(right.number())),
            Binary::Less => Value::truth(order() == Some(Ordering::Less)),
            Binary::LessEqual => Value::truth(order().is_some_and(Ordering::is_le)),
            Binary::Equal => Value::truth(order() == Some(Ordering::Equal)),
            Binary::NotEqual => Value::truth(order() != Some(Ordering::Equal)),
            Binary::Greater => Value::truth(order() == Some(Ordering::Greater)),
            Binary::GreaterEqual => Value::truth(order().is_some_and(Ordering::is_ge)),
            Binary::Concatenate => {
                let mut out = Vec::new();
                left.write(&self.conversion, &mut out);
                right.write(&self.conversion, &mut out);
                self.made(out.len())?;
                Value::text(out)
            }
        })
    }

    fn call(&mut self, routine: u32, arguments: &[Argument], back: usize) -> Result<usize, Stop> {
        if self.frames.len() >= AWK_CALLS_MAX {
            return Err(Stop::Fatal(format!("functions call each other {AWK_CALLS_MAX} levels deep")));
        }
        let Some(called) = self.code.routines.get(routine as usize) else { return Ok(back) };
        let (entry, kinds) = (called.entry as usize, called.arrays.clone());
        let scalars = arguments.iter().filter(|argument| matches!(argument, Argument::Scalar)).count();
        let first = self.stack.len().saturating_sub(scalars);
        let mut values = self.stack.split_off(first).into_iter();
        let frame = Frame {
            back,
            locals: self.locals.len(),
            arrays: self.local_arrays.len(),
            loops: self.loops.len(),
        };
        // Both lists have a place for each parameter, of which one is used.
        for (index, is_array) in kinds.iter().enumerate() {
            let (value, array) = match arguments.get(index) {
                Some(Argument::Scalar) => (values.next().unwrap_or_default(), None),
                Some(Argument::Array(array)) => (Value::None, Some(self.array(*array))),
                None => (Value::None, is_array.then(Rc::default)),
            };
            self.locals.push(value);
            self.local_arrays.push(array);
        }
        self.frames.push(frame);
        self.budget -= 1;
        if self.budget == 0 {
            self.poll()?;
        }
        Ok(entry)
    }
}

/// What two numbers give, where that is a number and no error.
fn of_numbers(operator: Binary, left: f64, right: f64) -> Option<f64> {
    let truth = |truth: bool| f64::from(u8::from(truth));
    Some(match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide if right != 0.0 => left / right,
        Binary::Modulo if right != 0.0 => left % right,
        Binary::Less => truth(left < right),
        Binary::LessEqual => truth(left <= right),
        Binary::Equal => truth(left == right),
        Binary::NotEqual => truth(left != right),
        Binary::Greater => truth(left > right),
        Binary::GreaterEqual => truth(left >= right),
        _ => return None,
    })
}
