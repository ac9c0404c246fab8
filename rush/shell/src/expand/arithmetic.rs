//! Arithmetic expansion: the session as the arithmetic evaluator's variable store, and the cache of compiled
//! expressions.

use super::{Expanded, Index};
use crate::arith::{self, ArithmeticError, Failure};
use crate::state::names::NameId;
use crate::state::options::SetOption;
use crate::state::session::AssignError;
use crate::state::value::{Attributes, Value};
use crate::syntax::ast::{Expression, Part, WordKind};
use crate::{Bytes, Session, Unwind};
use std::rc::Rc;

impl Session {
    /// Evaluates an expression; an error is reported and gives up the command.
    pub(crate) fn arithmetic(&mut self, expression: &Expression) -> Expanded<i64> {
        self.try_arithmetic(expression).map_err(|failure| self.arithmetic_failed(failure, b""))
    }

    /// Evaluates an integer's value; an error there gives up a `-c` string altogether.
    pub(crate) fn or_abandon(&self, result: Expanded<i64>) -> Expanded<i64> {
        result.map_err(|unwind| match unwind {
            Unwind::Discard(status) if self.runs_command_string => Unwind::Exit(status),
            unwind => unwind,
        })
    }

    /// Evaluates the text of an expression.
    pub(crate) fn evaluate(&mut self, text: &[u8]) -> Expanded<i64> {
        arith::evaluate(text, self).map_err(|failure| self.arithmetic_failed(failure, b""))
    }

    /// Evaluates an expression; the caller reports.
    pub(crate) fn try_arithmetic(&mut self, expression: &Expression) -> Result<i64, Failure<Unwind>> {
        if let Some(text) = constant_text(expression) {
            let compiled = expression.compiled.get_or_init(|| {
                let variables = &mut self.variables;
                arith::parse(text, &mut |name| variables.intern(name)).ok().map(Rc::new)
            });
            return match compiled.clone() {
                Some(program) => arith::run(&program, &[], self),
                None => arith::evaluate(text, self),
            };
        }
        let text = self.expression_text(expression).map_err(Failure::Variable)?;
        arith::evaluate(&text, self)
    }

    /// Evaluates the expression of `(( ))`; the trace shows it expanded.
    pub(crate) fn traced_arithmetic(
        &mut self,
        expression: &Expression,
        trace: impl FnOnce(&mut Session, &[u8]),
    ) -> Result<i64, Failure<Unwind>> {
        if !self.traces() {
            return self.try_arithmetic(expression);
        }
        let text = match constant_text(expression) {
            Some(_) => expression.word.source().to_vec(),
            None => self.expression_text(expression).map_err(Failure::Variable)?,
        };
        trace(self, &text);
        arith::evaluate(&text, self)
    }

    /// Reports a failed evaluation, with `prefix` before the message (`((: `, `let: `).
    pub(crate) fn arithmetic_failed(&mut self, failure: Failure<Unwind>, prefix: &[u8]) -> Unwind {
        match failure {
            Failure::Expression(error) => {
                self.report_arithmetic(&error, prefix);
                self.status = 1;
                self.spares_errexit = true;
                // In an expansion, and not in a command of its own.
                if prefix.is_empty() && self.is(SetOption::Posix) && !self.interactive {
                    return Unwind::Exit(self.fatal_status());
                }
                Unwind::Discard(1)
            }
            Failure::Variable(unwind) | Failure::Subscript(unwind) => unwind,
        }
    }

    /// Reports a subscript that cannot be evaluated. It gives up the line, in POSIX mode as well and wherever it stands, be it a
    /// command of arithmetic; a `-c` string altogether.
    pub(crate) fn subscript_failed(&mut self, failure: Failure<Unwind>) -> Unwind {
        let error = match failure {
            Failure::Expression(error) => error,
            Failure::Variable(unwind) | Failure::Subscript(unwind) => return unwind,
        };
        self.report_arithmetic(&error, b"");
        self.status = 1;
        self.spares_errexit = true;
        if self.runs_command_string { Unwind::Exit(1) } else { Unwind::Discard(1) }
    }

    /// Evaluates a subscript.
    pub(crate) fn subscript(&mut self, expression: &Expression) -> Expanded<i64> {
        self.try_arithmetic(expression).map_err(|failure| self.subscript_failed(failure))
    }

    /// Evaluates the text of a subscript.
    pub(crate) fn subscript_text(&mut self, text: &[u8]) -> Expanded<i64> {
        arith::evaluate(text, self).map_err(|failure| self.subscript_failed(failure))
    }

    /// Reports an arithmetic error.
    pub(crate) fn report_arithmetic(&mut self, error: &ArithmeticError, prefix: &[u8]) {
        let mut message = prefix.to_vec();
        message.extend(error.to_bytes());
        self.error(message);
    }

    fn arithmetic_unbound(&mut self, id: NameId) -> Unwind {
        let mut message = self.variables.names.text(id).to_vec();
        message.extend_from_slice(b": unbound variable");
        self.error(message);
        self.status = 1;
        if self.interactive { Unwind::Discard(1) } else { Unwind::Exit(self.fatal_status()) }
    }

    fn arithmetic_value(&mut self, id: NameId, value: Option<Bytes>) -> Result<arith::Value<'_>, Unwind> {
        match value {
            Some(text) => {
                self.scratch = text;
                Ok(arith::Value::Text(&self.scratch))
            }
            None if self.is(SetOption::Nounset) => Err(self.arithmetic_unbound(id)),
            None => Ok(arith::Value::Unset),
        }
    }

    /// An element: `set -u` asks only whether the array has any.
    fn arithmetic_element(&mut self, id: NameId, value: Option<Bytes>) -> Result<arith::Value<'_>, Unwind> {
        let filled = match self.value(id) {
            Value::Indexed(array) => array.iter().next().is_some(),
            Value::Associative(array) => array.iter().next().is_some(),
            _ => false,
        };
        if value.is_none() && filled { Ok(arith::Value::Unset) } else { self.arithmetic_value(id, value) }
    }

    fn resolved(&mut self, id: NameId) -> Expanded<(NameId, Option<Index>)> {
        use super::reference::Resolved;
        match self.resolve(id) {
            Resolved::Variable(id) => Ok((id, None)),
            Resolved::Element(id, text) => {
                let index = self.index_from_text(id, &text)?;
                Ok((id, Some(index)))
            }
            Resolved::Dangling(id) => Ok((id, None)),
            Resolved::Circular => Ok((id, None)),
        }
    }
}

/// The text of an expression without expansions.
fn constant_text(expression: &Expression) -> Option<&[u8]> {
    match expression.word.kind() {
        WordKind::Constant(text) | WordKind::Parts([Part::Literal(text)]) => Some(text),
        WordKind::Parts([]) => Some(b""),
        WordKind::Parts(_) => None,
    }
}

impl arith::Variables for Session {
    type Name = NameId;
    type Error = Unwind;

    fn intern(&mut self, name: &[u8]) -> NameId {
        self.variables.intern(name)
    }

    fn get(&mut self, name: &NameId) -> Result<arith::Value<'_>, Unwind> {
        let slot = self.variables.slot(*name);
        if !slot.attributes.any(Attributes::DYNAMIC.with(Attributes::NAMEREF)) {
            match &slot.value {
                Value::Integer(i) => return Ok(arith::Value::Integer(*i)),
                Value::Scalar(_) => {
                    // Looked up again because of the borrow; the slot is the same.
                    let Value::Scalar(text) = &self.variables.slot(*name).value else {
                        return Ok(arith::Value::Unset);
                    };
                    return Ok(arith::Value::Text(text));
                }
                _ => {}
            }
        }
        let (id, index) = self.resolved(*name)?;
        self.need_process(id)?;
        let value = match index {
            Some(index) => self.element(id, &index)?,
            None => self.value(id).scalar().map(|v| v.into_owned()),
        };
        self.arithmetic_value(id, value)
    }

    fn set(&mut self, name: &NameId, value: i64) -> Result<(), Unwind> {
        let slot = self.variables.slot(*name);
        let simple = matches!(slot.value, Value::Unset | Value::Scalar(_) | Value::Integer(_));
        let special = Attributes::DYNAMIC
            .with(Attributes::NAMEREF)
            .with(Attributes::READONLY)
            .with(Attributes::TRANSFORMING);
        if simple && !slot.attributes.any(special) && !self.is(SetOption::Allexport) {
            let slot = self.variables.slot_mut(*name);
            slot.value = Value::Integer(value);
            slot.attributes = slot.attributes.with(Attributes::DECLARED);
            return Ok(());
        }
        let result = self.set_id(*name, crate::state::value::decimal(value));
        result.map_err(|error| self.assignment_failed(error))
    }

    fn is_associative(&mut self, name: &NameId) -> bool {
        self.is_associative_id(*name)
    }

    fn subscript_failed(&mut self, error: ArithmeticError) -> Failure<Unwind> {
        Failure::Subscript(Session::subscript_failed(self, Failure::Expression(error)))
    }

    fn expand_subscript(&mut self, text: &[u8]) -> Result<Bytes, Unwind> {
        let word = self.parse_word(text, crate::syntax::Mode::Whole)?;
        self.expand_string(&word)
    }

    fn get_index(&mut self, name: &NameId, index: i64) -> Result<arith::Value<'_>, Unwind> {
        let (id, _) = self.resolved(*name)?;
        let value = self.element(id, &Index::Number(index))?;
        self.arithmetic_element(id, value)
    }

    fn set_index(&mut self, name: &NameId, index: i64, value: i64) -> Result<(), Unwind> {
        let result =
            self.assign(*name, Some(Index::Number(index)), crate::state::value::decimal(value), false);
        match result {
            // An element before the first one is told of, and the expression goes on with the value.
            Err(AssignError::Reported) => Ok(()),
            result => result.map_err(|error| self.assignment_failed(error)),
        }
    }

    fn get_key(&mut self, name: &NameId, key: &[u8]) -> Result<arith::Value<'_>, Unwind> {
        let (id, _) = self.resolved(*name)?;
        let value = self.element(id, &Index::Key(key.to_vec()))?;
        self.arithmetic_element(id, value)
    }

    fn set_key(&mut self, name: &NameId, key: &[u8], value: i64) -> Result<(), Unwind> {
        let text = crate::state::value::decimal(value);
        let result = self.assign(*name, Some(Index::Key(key.to_vec())), text, false);
        result.map_err(|error| self.assignment_failed(error))
    }
}
