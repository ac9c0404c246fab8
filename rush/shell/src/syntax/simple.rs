//! Simple commands, assignments and array literals.

use super::Parsed;
use super::ast::{ArrayElement, Assignment, AssignmentValue, Command, SimpleCommand, Word};
use super::parser::Parser;
use super::word::Mode;
use crate::Bytes;
use crate::state::names::is_name_start;
use std::rc::Rc;

/// Builtins whose arguments may be assignments, arrays included.
const DECLARATION_BUILTINS: &[&[u8]] = &[b"declare", b"typeset", b"local", b"export", b"readonly"];

impl Parser<'_> {
    /// A simple command, or the definition of a function written `name()`.
    pub(super) fn simple_command(&mut self) -> Parsed<Command> {
        let mut command = SimpleCommand { line: self.input.line(), ..SimpleCommand::default() };
        let mut declaration = false;
        let mut prefix = true;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                command.redirects.push(redirect);
                continue;
            }
            if command.words.is_empty() {
                if let Some((assignment, _)) = self.assignment()? {
                    command.assignments.push(assignment);
                    continue;
                }
                self.expand_alias_here(true)?;
                if let Some((assignment, _)) = self.assignment()? {
                    command.assignments.push(assignment);
                    continue;
                }
            } else {
                self.expand_alias_here(false)?;
                self.skip_blanks();
            }
            if declaration && let Some(word) = self.assignment_word()? {
                command.words.push(word);
                continue;
            }
            let Some(word) = self.word()? else { break };
            if prefix {
                let text = word.as_constant().unwrap_or(b"");
                declaration = DECLARATION_BUILTINS.contains(&text) || text == b"let";
                prefix = matches!(text, b"command" | b"builtin")
                    || text.starts_with(b"-") && !command.words.is_empty();
            }
            command.words.push(word);
            if command.words.len() == 1 && self.at_function_parentheses(&command) {
                return self.function_after_name(command);
            }
        }
        if command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty() {
            return Err(self.unexpected());
        }
        if matches!(self.input.current(), Some(b'(')) {
            return Err(self.unexpected());
        }
        Ok(Command::Simple(Box::new(command)))
    }

    fn at_function_parentheses(&mut self, command: &SimpleCommand) -> bool {
        if !command.assignments.is_empty() || !command.redirects.is_empty() {
            return false;
        }
        self.skip_only_blanks();
        self.input.current() == Some(b'(')
    }

    fn skip_only_blanks(&mut self) {
        while matches!(self.input.current(), Some(b' ' | b'\t')) {
            self.input.advance(1);
        }
    }

    fn function_after_name(&mut self, command: SimpleCommand) -> Parsed<Command> {
        self.input.advance(1);
        self.skip_only_blanks();
        if self.input.current() != Some(b')') {
            return Err(self.unexpected());
        }
        let Some(name) =
            command.words[0].unquoted_literal().filter(|n| !n.contains(&b'$')).map(<[u8]>::to_vec)
        else {
            let mut message = b"`".to_vec();
            message.extend_from_slice(command.words[0].source());
            message.extend_from_slice(b"': not a valid identifier");
            return Err(self.error(message));
        };
        self.input.advance(1);
        self.function_body(name, command.line)
    }

    /// `name=value` and its kin at the position, with its source text; nothing is consumed if there is none.
    pub(super) fn assignment(&mut self) -> Parsed<Option<(Assignment, Bytes)>> {
        if !self.input.current().is_some_and(is_name_start) || !self.looks_like_assignment() {
            return Ok(None);
        }
        let start = self.input.position();
        let line = self.input.line();
        let name = self.take_name();
        let subscript = if self.input.current() == Some(b'[') {
            self.input.advance(1);
            match self.subscript_expression(line) {
                Ok(expression) => Some(expression),
                Err(_) => {
                    self.input.seek(start);
                    return Ok(None);
                }
            }
        } else {
            None
        };
        let Some(append) = self.assignment_operator() else {
            self.input.seek(start);
            return Ok(None);
        };
        let value = if self.input.current() == Some(b'(') {
            AssignmentValue::Array(self.array_literal()?)
        } else {
            AssignmentValue::Scalar(self.word_in(Mode::AssignmentValue)?.unwrap_or_default())
        };
        let id = self.context.variables.intern(&name);
        let source = self.input.slice(start, self.input.position()).to_vec();
        Ok(Some((Assignment { id, name: Rc::from(name), subscript, append, value }, source)))
    }

    /// A quick look whether a name is followed by `=`, `+=` or `[`.
    fn looks_like_assignment(&mut self) -> bool {
        let rest = self.input.rest();
        let Some(end) = rest.iter().position(|b| !crate::state::names::is_name_byte(*b)) else {
            return false;
        };
        matches!(rest[end], b'=' | b'[' | b'\\' | b'+')
    }

    /// Consumes `=` or `+=`; says whether it appends.
    fn assignment_operator(&mut self) -> Option<bool> {
        match (self.input.current(), self.input.after_current()) {
            (Some(b'='), _) => {
                self.input.advance(1);
                Some(false)
            }
            (Some(b'+'), Some(b'=')) => {
                self.take_two();
                Some(true)
            }
            _ => None,
        }
    }

    /// An argument of a declaration builtin that is an assignment.
    fn assignment_word(&mut self) -> Parsed<Option<Word>> {
        let start = self.input.position();
        let Some((assignment, source)) = self.assignment()? else { return Ok(None) };
        let blank = |s: &super::ast::Expression| s.word.source().iter().any(|b| super::word::is_blank(*b));
        if assignment.subscript.as_ref().is_some_and(blank) {
            self.input.seek(start);
            return Ok(None);
        }
        // Should the command turn out to be no declaration builtin, this is an ordinary word.
        let end = self.input.position();
        let kind = match &assignment.value {
            AssignmentValue::Array(_) => super::ast::WordKind::Constant(source.clone()),
            AssignmentValue::Scalar(_) => {
                self.input.seek(start);
                let word = self.word()?;
                self.input.seek(end);
                word.map_or(super::ast::WordKind::Constant(source.clone()), |w| w.kind)
            }
        };
        let source = Some(source.into());
        Ok(Some(Word { kind, source, assignment: Some(Box::new(assignment)) }))
    }

    /// `( elements )` at the position.
    fn array_literal(&mut self) -> Parsed<Vec<ArrayElement>> {
        let line = self.input.line();
        self.input.advance(1);
        let mut elements = Vec::new();
        loop {
            self.skip_newlines()?;
            match self.input.current() {
                None => return Err(self.unmatched(line, ')')),
                Some(b')') => {
                    self.input.advance(1);
                    return Ok(elements);
                }
                Some(b'[') => {
                    if let Some(element) = self.subscripted_element()? {
                        elements.push(element);
                        continue;
                    }
                }
                Some(_) => {}
            }
            let Some(value) = self.word()? else { return Err(self.unexpected()) };
            elements.push(ArrayElement { subscript: None, append: false, value });
        }
    }

    fn subscripted_element(&mut self) -> Parsed<Option<ArrayElement>> {
        let start = self.input.position();
        let line = self.input.line();
        self.input.advance(1);
        if let Ok(subscript) = self.subscript_expression(line)
            && let Some(append) = self.assignment_operator()
        {
            let value = self.word_in(Mode::AssignmentValue)?.unwrap_or_default();
            return Ok(Some(ArrayElement { subscript: Some(subscript), append, value }));
        }
        self.input.seek(start);
        Ok(None)
    }
}
