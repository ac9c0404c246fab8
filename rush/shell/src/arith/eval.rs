//! Running a program over the shell's variables.
//!
//! Invariant: the operand stack never underflows for a program made by the parser, and if it did, the
//! missing operand would be zero. Recursion happens only through variables whose values are expressions
//! themselves, and at most [`RECURSION_MAX`] deep.

use super::number::parse_plain;
use super::parser::parse_as_far_as_possible;
use super::{
    ArithmeticError, Binary, Failure, Operation, Place, Program, RECURSION_MAX, Step, Subscript, Value,
    Variables,
};
use crate::sys::stack;

/// Parses and runs `text`.
pub fn evaluate<V: Variables>(text: &[u8], variables: &mut V) -> Result<i64, Failure<V::Error>> {
    Machine { variables, placeholders: &[], depth: 0 }.text(text)
}

/// Runs a parsed program. `placeholders` are the integers for its NUL bytes, in order.
pub fn run<V: Variables>(
    program: &Program<V::Name>,
    placeholders: &[i64],
    variables: &mut V,
) -> Result<i64, Failure<V::Error>> {
    Machine { variables, placeholders, depth: 0 }.program(program)
}

/// The operand stack: the few operands of ordinary expressions stay off the heap.
struct Operands {
    inline: [i64; 8],
    length: usize,
    spill: Vec<i64>,
}

impl Operands {
    fn push(&mut self, value: i64) {
        match self.inline.get_mut(self.length) {
            Some(slot) => *slot = value,
            None => self.spill.push(value),
        }
        self.length += 1;
    }

    fn pop(&mut self) -> i64 {
        self.length = self.length.saturating_sub(1);
        match self.inline.get(self.length) {
            Some(&value) => value,
            None => self.spill.pop().unwrap_or(0),
        }
    }
}

struct Machine<'v, V> {
    variables: &'v mut V,
    placeholders: &'v [i64],
    depth: usize,
}

/// A place whose subscript has been evaluated, so that it is evaluated once.
enum Resolved<'p, N> {
    Scalar(&'p N),
    Index(&'p N, i64),
    Key(&'p N, Vec<u8>),
}

impl<V: Variables> Machine<'_, V> {
    fn text(&mut self, text: &[u8]) -> Result<i64, Failure<V::Error>> {
        if let Some(value) = parse_plain(text) {
            return Ok(value);
        }
        if self.depth >= RECURSION_MAX {
            return Err(ArithmeticError::at(text, "expression recursion level exceeded", 0).into());
        }
        let (program, error) = parse_as_far_as_possible(text, &mut |name| self.variables.intern(name));
        self.depth += 1;
        let result = stack::with_room(|| self.program(&program));
        self.depth -= 1;
        let value = result?;
        error.map_or(Ok(value), |error| Err(error.into()))
    }

    fn program(&mut self, program: &Program<V::Name>) -> Result<i64, Failure<V::Error>> {
        let mut stack = Operands { inline: [0; 8], length: 0, spill: Vec::new() };
        let mut next = 0usize;
        while let Some(operation) = program.operations.get(next) {
            next += 1;
            match operation {
                Operation::Constant(value) => stack.push(*value),
                Operation::Placeholder(index) => {
                    stack.push(self.placeholders.get(usize::from(*index)).copied().unwrap_or(0));
                }
                Operation::Load(Place::Scalar(name)) => {
                    let value = self.scalar(name)?;
                    stack.push(value);
                }
                Operation::Load(place) => {
                    let place = self.resolve(place)?;
                    let value = self.load(&place)?;
                    stack.push(value);
                }
                Operation::Store(place) => {
                    let value = stack.pop();
                    let place = self.resolve(place)?;
                    self.store(&place, value)?;
                    stack.push(value);
                }
                Operation::Update(place, operator, offset) => {
                    let right = stack.pop();
                    let place = self.resolve(place)?;
                    let left = self.load(&place)?;
                    let value = apply(*operator, left, right, program, *offset)?;
                    self.store(&place, value)?;
                    stack.push(value);
                }
                Operation::Step(place, step) => {
                    let value = self.step(place, *step)?;
                    stack.push(value);
                }
                Operation::Binary(operator, offset) => {
                    let right = stack.pop();
                    let left = stack.pop();
                    stack.push(apply(*operator, left, right, program, *offset)?);
                }
                Operation::Negate => {
                    let value = stack.pop();
                    stack.push(value.wrapping_neg());
                }
                Operation::LogicalNot => {
                    let value = stack.pop();
                    stack.push(i64::from(value == 0));
                }
                Operation::BitwiseNot => {
                    let value = stack.pop();
                    stack.push(!value);
                }
                Operation::Pop => {
                    stack.pop();
                }
                Operation::Truth => {
                    let value = stack.pop();
                    stack.push(i64::from(value != 0));
                }
                Operation::AndJump(target) => {
                    if stack.pop() == 0 {
                        stack.push(0);
                        next = *target as usize;
                    }
                }
                Operation::OrJump(target) => {
                    if stack.pop() != 0 {
                        stack.push(1);
                        next = *target as usize;
                    }
                }
                Operation::JumpIfZero(target) => {
                    if stack.pop() == 0 {
                        next = *target as usize;
                    }
                }
                Operation::Jump(target) => next = *target as usize,
            }
        }
        Ok(stack.pop())
    }

    fn scalar(&mut self, name: &V::Name) -> Result<i64, Failure<V::Error>> {
        let text = match self.variables.get(name).map_err(Failure::Variable)? {
            Value::Unset => return Ok(0),
            Value::Integer(value) => return Ok(value),
            Value::Text(text) => match parse_plain(text) {
                Some(value) => return Ok(value),
                None => text.to_vec(),
            },
        };
        self.text(&text)
    }

    fn resolve<'p>(&mut self, place: &'p Place<V::Name>) -> Result<Resolved<'p, V::Name>, Failure<V::Error>> {
        match place {
            Place::Scalar(name) => Ok(Resolved::Scalar(name)),
            Place::Element(name, subscript) => self.element(name, subscript),
        }
    }

    fn element<'p>(
        &mut self,
        name: &'p V::Name,
        subscript: &Subscript<V::Name>,
    ) -> Result<Resolved<'p, V::Name>, Failure<V::Error>> {
        if self.variables.is_associative(name) {
            let text = self.fill_placeholders(&subscript.text, subscript.first_placeholder);
            let key = self.variables.expand_subscript(&text).map_err(Failure::Variable)?;
            return Ok(Resolved::Key(name, key));
        }
        if subscript.text.iter().all(u8::is_ascii_whitespace) {
            let expression = [b"[", &*subscript.text, b"]"].concat();
            let message = "bad array subscript".into();
            return Err(ArithmeticError { expression, message, token: None }.into());
        }
        let index = match &subscript.program {
            Some(program) => stack::with_room(|| self.program(program)),
            None => {
                let text = self.fill_placeholders(&subscript.text, subscript.first_placeholder);
                let text = self.variables.expand_subscript(&text).map_err(Failure::Variable)?;
                self.text(&text)
            }
        };
        match index {
            Ok(index) => Ok(Resolved::Index(name, index)),
            Err(Failure::Expression(error)) => Err(self.variables.subscript_failed(error)),
            Err(failure) => Err(failure),
        }
    }

    /// A supplied integer inside the key of an associative array is its decimal text.
    fn fill_placeholders(&self, text: &[u8], first: u16) -> Vec<u8> {
        let mut values = self.placeholders.iter().skip(usize::from(first));
        let mut out = Vec::with_capacity(text.len());
        for &byte in text {
            match byte {
                0 => out.extend_from_slice(values.next().copied().unwrap_or(0).to_string().as_bytes()),
                _ => out.push(byte),
            }
        }
        out
    }

    fn load(&mut self, place: &Resolved<'_, V::Name>) -> Result<i64, Failure<V::Error>> {
        let value = match place {
            Resolved::Scalar(name) => self.variables.get(name),
            Resolved::Index(name, index) => self.variables.get_index(name, *index),
            Resolved::Key(name, key) => self.variables.get_key(name, key),
        };
        let text = match value.map_err(Failure::Variable)? {
            Value::Unset => return Ok(0),
            Value::Integer(value) => return Ok(value),
            Value::Text(text) => match parse_plain(text) {
                Some(value) => return Ok(value),
                None => text.to_vec(),
            },
        };
        self.text(&text)
    }

    fn store(&mut self, place: &Resolved<'_, V::Name>, value: i64) -> Result<(), Failure<V::Error>> {
        match place {
            Resolved::Scalar(name) => self.variables.set(name, value),
            Resolved::Index(name, index) => self.variables.set_index(name, *index, value),
            Resolved::Key(name, key) => self.variables.set_key(name, key, value),
        }
        .map_err(Failure::Variable)
    }

    fn step(&mut self, place: &Place<V::Name>, step: Step) -> Result<i64, Failure<V::Error>> {
        let place = self.resolve(place)?;
        let old = self.load(&place)?;
        let new = old.wrapping_add(step.delta);
        self.store(&place, new)?;
        Ok(if step.yields_old { old } else { new })
    }
}

fn apply<N>(
    operator: Binary,
    left: i64,
    right: i64,
    program: &Program<N>,
    offset: u32,
) -> Result<i64, ArithmeticError> {
    let error = |message| Err(ArithmeticError::at(&program.text, message, offset as usize));
    Ok(match operator {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide | Binary::Remainder if right == 0 => return error("division by 0"),
        Binary::Divide => left.wrapping_div(right),
        Binary::Remainder => left.wrapping_rem(right),
        Binary::Power if right < 0 => return error("exponent less than 0"),
        Binary::Power => power(left, right),
        // The machine's shift takes the count modulo 64, and bash inherits that.
        Binary::ShiftLeft => left.wrapping_shl((right & 63) as u32),
        Binary::ShiftRight => left.wrapping_shr((right & 63) as u32),
        Binary::Less => i64::from(left < right),
        Binary::Greater => i64::from(left > right),
        Binary::LessEqual => i64::from(left <= right),
        Binary::GreaterEqual => i64::from(left >= right),
        Binary::Equal => i64::from(left == right),
        Binary::NotEqual => i64::from(left != right),
        Binary::And => left & right,
        Binary::Xor => left ^ right,
        Binary::Or => left | right,
    })
}

fn power(mut base: i64, mut exponent: i64) -> i64 {
    let mut result: i64 = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}
