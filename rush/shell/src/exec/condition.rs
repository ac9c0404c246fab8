//! `[[ ]]`.

use crate::arith::Failure;
use crate::pattern::Options;
use crate::regex::Regex;
use crate::state::names;
use crate::state::value::Value;
use crate::syntax::ast::{Condition, ConditionOperator, Word};
use crate::sys::stack;
use crate::{Bytes, Outcome, Session, Status, Unwind, arith};

impl Session {
    pub(crate) fn run_conditional(&mut self, condition: &Condition, line: u32) -> Outcome {
        self.line = line;
        if self.wants_text() {
            let text = crate::syntax::printer::conditional(condition);
            self.note_command(text);
            if self.run_debug_trap()? {
                return Ok(self.status);
            }
        }
        match self.condition(condition) {
            Ok(holds) => Ok(Status::from(!holds)),
            Err(Unwind::Discard(status)) if self.condition_failed => {
                self.condition_failed = false;
                Ok(status)
            }
            Err(unwind) => Err(unwind),
        }
    }

    fn condition(&mut self, condition: &Condition) -> Result<bool, Unwind> {
        match condition {
            Condition::And(all) => {
                for each in all {
                    if !self.condition(each)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Or(all) => {
                for each in all {
                    if self.condition(each)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Not(inner) => {
                self.condition_negated = !self.condition_negated;
                let holds = stack::with_room(|| self.condition(inner));
                self.condition_negated = false;
                Ok(!holds?)
            }
            Condition::Group(inner) => stack::with_room(|| self.condition(inner)),
            Condition::Word(word) => {
                let text = self.expand_string(word)?;
                if self.traces() {
                    self.trace_condition(&[b"-n", &text]);
                }
                Ok(!text.is_empty())
            }
            Condition::Unary(letter, word) => {
                let text = self.expand_string(word)?;
                if self.traces() {
                    self.trace_condition(&[&[b'-', *letter], &text]);
                }
                self.unary_condition(*letter, &text)
            }
            Condition::Binary(left, operator, right) => self.binary_condition(left, *operator, right),
        }
    }

    fn unary_condition(&mut self, letter: u8, text: &[u8]) -> Result<bool, Unwind> {
        match letter {
            b'z' => Ok(text.is_empty()),
            b'n' => Ok(!text.is_empty()),
            b'v' => self.is_variable_set(text),
            _ => Ok(crate::builtins::test::unary(self, letter, text).unwrap_or(false)),
        }
    }

    fn binary_condition(
        &mut self,
        left: &Word,
        operator: ConditionOperator,
        right: &Word,
    ) -> Result<bool, Unwind> {
        use ConditionOperator::*;
        match operator {
            Match | MatchSingle | NotMatch => {
                let subject = self.expand_string(left)?;
                let pattern = self.expand_pattern(right)?;
                if self.traces() {
                    self.trace_condition(&[&subject, operator.text().as_bytes(), &pattern]);
                }
                let options = Options { extended: true, ..self.pattern_options(self.ignores_case()) };
                let matches = self.compile_pattern_with(&pattern, options)?.matches(&subject);
                Ok(matches == (operator != NotMatch))
            }
            Regex => self.regex_condition(left, right),
            Before | After | NewerThan | OlderThan | SameFile => {
                let (left, right) = (self.expand_string(left)?, self.expand_string(right)?);
                if self.traces() {
                    self.trace_condition(&[&left, operator.text().as_bytes(), &right]);
                }
                Ok(match operator {
                    Before => left < right,
                    After => left > right,
                    _ => crate::builtins::test::file_comparison(&left, operator.text().as_bytes(), &right),
                })
            }
            _ => {
                let (left, right) = (self.expand_string(left)?, self.expand_string(right)?);
                if self.traces() {
                    self.trace_condition(&[&left, operator.text().as_bytes(), &right]);
                }
                let (left, right) = (self.condition_number(&left)?, self.condition_number(&right)?);
                Ok(match operator {
                    Equal => left == right,
                    NotEqual => left != right,
                    Less => left < right,
                    LessEqual => left <= right,
                    Greater => left > right,
                    _ => left >= right,
                })
            }
        }
    }

    /// An operand of `-eq` and its kin: an arithmetic expression, whose errors only fail the command.
    fn condition_number(&mut self, text: &[u8]) -> Result<i64, Unwind> {
        arith::evaluate(text, self).map_err(|failure| {
            if let Failure::Subscript(unwind) = failure {
                return unwind;
            }
            let unwind = self.arithmetic_failed(failure, b"[[: ");
            self.condition_failed = matches!(unwind, Unwind::Discard(_));
            unwind
        })
    }

    fn regex_condition(&mut self, left: &Word, right: &Word) -> Result<bool, Unwind> {
        let subject = self.expand_string(left)?;
        let pattern = self.expand_regex(right)?;
        if self.traces() {
            self.trace_condition(&[&subject, b"=~", &pattern]);
        }
        let Ok(regex) = Regex::new(&pattern, self.ignores_case()) else {
            self.condition_failed = true;
            return Err(Unwind::Discard(2));
        };
        let captures = regex.captures(&subject);
        let matched = captures.is_some();
        let values: Vec<Bytes> = match captures {
            Some(captures) => captures
                .iter()
                .map(|range| {
                    range.as_ref().map(|(start, end)| subject[*start..*end].to_vec()).unwrap_or_default()
                })
                .collect(),
            None => Vec::new(),
        };
        let _ = self.set_array_id(names::BASH_REMATCH, values);
        Ok(matched)
    }

    /// `-v name`, `-v name[subscript]`
    pub(crate) fn is_variable_set(&mut self, text: &[u8]) -> Result<bool, Unwind> {
        use crate::expand::{Resolved, split_subscript};
        if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
            let n =
                std::str::from_utf8(text).ok().and_then(|t| t.parse::<usize>().ok()).unwrap_or(usize::MAX);
            return Ok(n == 0 || n <= self.positional.len());
        }
        if let Some((name, subscript)) = split_subscript(text) {
            let (name, subscript) = (name.to_vec(), subscript.to_vec());
            let id = self.variables.intern(&name);
            let id = match self.resolve(id) {
                Resolved::Variable(id) => id,
                _ => id,
            };
            if matches!(&subscript[..], b"@" | b"*") && !self.is_associative_id(id) {
                return Ok(match self.value(id) {
                    Value::Unset => false,
                    Value::Indexed(array) => !array.is_empty(),
                    _ => true,
                });
            }
            let index = self.index_from_text(id, &subscript)?;
            return Ok(self.element(id, &index)?.is_some());
        }
        let Some(id) = self.variables.names.find(text) else { return Ok(false) };
        match self.resolve(id) {
            Resolved::Variable(id) => Ok(self.value(id).scalar().is_some()),
            Resolved::Element(id, subscript) => {
                let index = self.index_from_text(id, &subscript)?;
                Ok(self.element(id, &index)?.is_some())
            }
            Resolved::Dangling(_) | Resolved::Circular => Ok(false),
        }
    }
}
