//! Makes instructions of expressions: operators, assignments, calls.

use std::rc::Rc;

use super::code::{Argument, Op, SPECIAL, Separator};
use super::compile::Compiler;
use super::tree::{Binary, Builtin, Expression, Place, Source};
use super::value::Value;

impl Compiler {
    pub(super) fn expression(&mut self, expression: &Expression) -> Option<()> {
        match expression {
            Expression::Number(number) => drop(self.put(Op::Number(*number))),
            Expression::Text(text) => self.constant(Value::text(text.clone())),
            Expression::Pattern(text) => {
                let pattern = self.pattern(text)?;
                self.put(Op::MatchRecord(pattern));
            }
            Expression::Place(Place::Field(index)) if matches!(**index, Expression::Number(n) if (0.0..=1000.0).contains(&n) && n.fract() == 0.0) =>
            {
                let Expression::Number(number) = **index else { return None };
                self.put(Op::FieldAt(number as u32));
            }
            Expression::Place(place) => {
                self.locate(place)?;
                self.load(place)?;
            }
            Expression::Assign(place, operator, value) => self.assignment(place, *operator, value)?,
            Expression::Step(place, step, after) => self.step(place, *step, *after)?,
            Expression::Binary(operator, left, right) => {
                let arithmetic = matches!(
                    operator,
                    Binary::Add
                        | Binary::Subtract
                        | Binary::Multiply
                        | Binary::Divide
                        | Binary::Modulo
                        | Binary::Power
                );
                for operand in [left, right] {
                    if arithmetic { self.number(operand)? } else { self.expression(operand)? }
                }
                self.put(Op::Binary(*operator));
            }
            Expression::Not(one) => {
                self.expression(one)?;
                self.put(Op::Not);
            }
            Expression::Negate(one) => {
                self.number(one)?;
                self.put(Op::Negate);
            }
            Expression::Plus(one) => {
                self.number(one)?;
                self.put(Op::Plus);
            }
            Expression::Group(one) => self.expression(one)?,
            Expression::And(left, right) | Expression::Or(left, right) => {
                let and = matches!(expression, Expression::And(..));
                self.expression(left)?;
                let short = self.put(if and { Op::JumpIfFalse(0) } else { Op::JumpIfTrue(0) });
                self.expression(right)?;
                self.put(Op::Truth);
                let end = self.put(Op::Jump(0));
                self.land(short);
                self.put(Op::Number(if and { 0.0 } else { 1.0 }));
                self.land(end);
            }
            Expression::Conditional(condition, then, other) => {
                let skip = self.jump_if_false(condition)?;
                self.expression(then)?;
                let end = self.put(Op::Jump(0));
                self.land(skip);
                self.expression(other)?;
                self.land(end);
            }
            Expression::Match(text, pattern, negated) => {
                self.expression(text)?;
                match &**pattern {
                    Expression::Pattern(pattern) => {
                        let pattern = self.pattern(pattern)?;
                        self.put(Op::Match(pattern, *negated));
                    }
                    pattern => {
                        self.expression(pattern)?;
                        self.put(Op::MatchText(*negated));
                    }
                }
            }
            Expression::In(index, array) => {
                self.subscript(index)?;
                let array = self.array(array)?;
                self.put(Op::In(array));
            }
            // A list is no value.
            Expression::List(_) => return None,
            Expression::Call(name, arguments) => self.call(name, arguments)?,
            Expression::Builtin(builtin, arguments) => self.builtin(*builtin, arguments)?,
            Expression::Getline(place, source) => self.getline(place.as_ref(), source)?,
        }
        Some(())
    }

    fn assignment(&mut self, place: &Place, operator: Option<Binary>, value: &Expression) -> Option<()> {
        // `s = s x` appends, as far as nothing in `x` can change `s`.
        if let (Place::Variable(name), None) = (place, operator)
            && let [first, rest @ ..] = joined(value).as_slice()
            && matches!(first, Expression::Place(Place::Variable(first)) if first == name)
            && !rest.is_empty()
            && rest.iter().all(|part| is_pure(part))
        {
            let op = match self.local(name) {
                Some(at) => Some(Op::AppendLocal(at)),
                None => Some(self.global(name))
                    .filter(|slot| *slot as usize >= SPECIAL.len())
                    .map(Op::AppendGlobal),
            };
            if let Some(op) = op {
                for (index, part) in rest.iter().enumerate() {
                    self.expression(part)?;
                    if index > 0 {
                        self.put(Op::Binary(Binary::Concatenate));
                    }
                }
                self.put(op);
                return Some(());
            }
        }
        self.locate(place)?;
        match operator {
            None => self.expression(value)?,
            Some(operator) => {
                // The value first, and then what it is added to.
                self.number(value)?;
                if Self::is_located_on_stack(place) {
                    self.put(Op::Under);
                }
                self.load(place)?;
                self.put(Op::Swap);
                self.put(Op::Binary(operator));
            }
        }
        self.assign(place)
    }

    fn step(&mut self, place: &Place, step: f64, after: bool) -> Option<()> {
        match place {
            Place::Variable(name) => {
                if let Some(at) = self.local(name) {
                    self.put(Op::StepLocal(at, step, after));
                    return Some(());
                }
                let slot = self.global(name);
                if slot as usize >= SPECIAL.len() {
                    self.put(Op::StepGlobal(slot, step, after));
                    return Some(());
                }
            }
            Place::Element(name, index) => {
                self.subscript(index)?;
                let array = self.array(name)?;
                self.put(Op::StepElement(array, step, after));
                return Some(());
            }
            Place::Field(_) => {}
        }
        self.locate(place)?;
        if Self::is_located_on_stack(place) {
            self.put(Op::Double);
        }
        self.load(place)?;
        self.put(Op::Number(step));
        self.put(Op::Binary(Binary::Add));
        self.assign(place)?;
        if after {
            self.put(Op::Number(step));
            self.put(Op::Binary(Binary::Subtract));
        }
        Some(())
    }

    fn call(&mut self, name: &Rc<str>, arguments: &[Expression]) -> Option<()> {
        let function = self.kinds.function(name)?;
        let mut list = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let array = self.code.routines.get(function)?.arrays.get(index).copied().unwrap_or(false);
            match argument {
                Expression::Place(Place::Variable(name)) if array => {
                    list.push(Argument::Array(self.array(name)?))
                }
                _ if array => return None,
                other => {
                    self.expression(other)?;
                    list.push(Argument::Scalar);
                }
            }
        }
        self.put(Op::Call(function as u32, list.into()));
        Some(())
    }

    /// A pattern as an argument: known now, or on the stack.
    fn pattern_argument(&mut self, argument: &Expression) -> Option<Option<u32>> {
        match argument {
            Expression::Pattern(text) => Some(Some(self.pattern(text)?)),
            other => self.expression(other).map(|()| None),
        }
    }

    fn builtin(&mut self, builtin: Builtin, arguments: &[Expression]) -> Option<()> {
        let (least, most) = match builtin {
            Builtin::Rand | Builtin::Systime => (0, 0),
            Builtin::Length | Builtin::Srand | Builtin::Fflush => (0, 1),
            Builtin::Atan2 | Builtin::Index | Builtin::Match => (2, 2),
            Builtin::Substr | Builtin::Split | Builtin::Sub | Builtin::Gsub => (2, 3),
            Builtin::Gensub => (3, 4),
            Builtin::Sprintf => (1, usize::MAX),
            _ => (1, 1),
        };
        if arguments.len() < least || arguments.len() > most {
            return None;
        }
        match (builtin, arguments) {
            (Builtin::Length, [Expression::Place(Place::Variable(name))])
                if self.kinds.is_array(self.within, name) =>
            {
                let array = self.array(name)?;
                self.put(Op::Count(array));
            }
            (Builtin::Length, []) => {
                self.put(Op::FieldAt(0));
                self.put(Op::Builtin(builtin, 1));
            }
            (Builtin::Match, [text, pattern]) => {
                self.expression(text)?;
                let pattern = self.pattern_argument(pattern)?;
                self.put(Op::MatchAt(pattern));
            }
            (Builtin::Split, [text, Expression::Place(Place::Variable(array)), separator @ ..]) => {
                self.expression(text)?;
                let separator = match separator.first() {
                    None => Separator::Fields,
                    Some(separator) => {
                        self.pattern_argument(separator)?.map_or(Separator::Text, Separator::Pattern)
                    }
                };
                let array = self.array(array)?;
                self.put(Op::Split(array, separator));
            }
            (Builtin::Split, _) => return None,
            (Builtin::Sub | Builtin::Gsub, [pattern, replacement, target @ ..]) => {
                let record = Place::Field(Box::new(Expression::Number(0.0)));
                let place = match target.first() {
                    None => &record,
                    Some(Expression::Place(place)) => place,
                    Some(_) => return None,
                };
                self.substitution(builtin == Builtin::Gsub, pattern, replacement, place)?;
            }
            (Builtin::Gensub, [pattern, replacement, how, target @ ..]) => {
                let pattern = self.pattern_argument(pattern)?;
                self.expression(replacement)?;
                self.expression(how)?;
                if let Some(target) = target.first() {
                    self.expression(target)?;
                }
                self.put(Op::Gensub(pattern, !target.is_empty()));
            }
            _ => {
                arguments.iter().try_for_each(|argument| self.expression(argument))?;
                self.put(Op::Builtin(builtin, arguments.len() as u32));
            }
        }
        Some(())
    }

    fn substitution(
        &mut self,
        all: bool,
        pattern: &Expression,
        replacement: &Expression,
        place: &Place,
    ) -> Option<()> {
        self.locate(place)?;
        if Self::is_located_on_stack(place) {
            self.put(Op::Double);
        }
        self.load(place)?;
        let pattern = self.pattern_argument(pattern)?;
        self.expression(replacement)?;
        self.put(Op::Substitute(pattern, all));
        let none = self.put(Op::JumpUnlessSubstituted(0));
        self.put(Op::Got);
        self.assign(place)?;
        self.put(Op::Pop);
        let end = self.put(Op::Jump(0));
        self.land(none);
        if Self::is_located_on_stack(place) {
            self.put(Op::Pop);
        }
        self.land(end);
        self.put(Op::Substitutions);
        Some(())
    }

    fn getline(&mut self, place: Option<&Place>, source: &Source) -> Option<()> {
        match source {
            Source::Main => drop(self.put(Op::GetlineMain(place.is_none()))),
            Source::File(name) => {
                self.expression(name)?;
                self.put(Op::GetlineFile);
            }
        }
        let Some(place) = place else {
            if matches!(source, Source::File(_)) {
                let none = self.put(Op::JumpUnlessRead(0));
                self.put(Op::SetRecord);
                self.land(none);
            }
            return Some(());
        };
        let none = self.put(Op::JumpUnlessRead(0));
        self.locate(place)?;
        self.put(Op::Got);
        self.assign(place)?;
        self.put(Op::Pop);
        self.land(none);
        Some(())
    }
}

/// The parts that a text is joined of.
fn joined(expression: &Expression) -> Vec<&Expression> {
    let mut parts = Vec::new();
    let mut rest = expression;
    while let Expression::Binary(Binary::Concatenate, left, right) = rest {
        parts.push(&**right);
        rest = left;
    }
    parts.push(rest);
    parts.reverse();
    parts
}

/// Whether evaluating an expression assigns nothing.
fn is_pure(expression: &Expression) -> bool {
    match expression {
        Expression::Number(_) | Expression::Text(_) | Expression::Pattern(_) => true,
        Expression::Place(Place::Variable(_)) => true,
        Expression::Place(Place::Field(index)) => is_pure(index),
        Expression::Place(Place::Element(_, index)) => index.iter().all(is_pure),
        Expression::Binary(_, left, right) => is_pure(left) && is_pure(right),
        Expression::Group(one) | Expression::Not(one) | Expression::Negate(one) | Expression::Plus(one) => {
            is_pure(one)
        }
        Expression::Conditional(one, two, three) => [one, two, three].into_iter().all(|part| is_pure(part)),
        Expression::Builtin(
            Builtin::Substr | Builtin::Sprintf | Builtin::Tolower | Builtin::Toupper | Builtin::Length,
            arguments,
        ) => arguments.iter().all(is_pure),
        _ => false,
    }
}
