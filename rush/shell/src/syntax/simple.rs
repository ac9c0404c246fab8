//! Simple commands, assignments and array literals.

use super::ast::{ArrayElement, Assignment, AssignmentValue, Command, SimpleCommand, Word};
use super::class::{self, NOT_NAME, REDIRECTS, is_meta};
use super::parser::Parser;
use super::word::{Mode, drain_exact, push_exact};
use super::{Parsed, Text};
use crate::state::names::is_name_start;

/// Whether `name` is a builtin whose arguments may be assignments, arrays included.
fn declares(name: &[u8]) -> bool {
    matches!(name, b"declare" | b"typeset" | b"local" | b"export" | b"readonly" | b"let")
}

/// Whether the words that follow may be assignments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declaration {
    None,
    /// The builtin's name is the command's first word.
    Direct,
    /// It stands behind `command`: no arrays, and only POSIX mode takes the assignments for such.
    Prefixed,
}

impl Parser<'_> {
    /// A simple command, or the definition of a function written `name()`.
    pub(super) fn simple_command(&mut self) -> Parsed<Command> {
        let mut words = self.spare_words.pop().unwrap_or_default();
        let line = self.input.line();
        let (mut assignments, mut redirects) = (Vec::new(), Vec::new());
        let mut declaration = Declaration::None;
        let mut prefix = true;
        loop {
            self.skip_blanks();
            match self.input.current() {
                Some(byte) if class::is(byte, REDIRECTS) => {
                    if let Some(redirect) = self.redirect()? {
                        if redirects.capacity() == 0 {
                            redirects = self.spare_redirects.pop().unwrap_or_default();
                        }
                        redirects.push(redirect);
                        continue;
                    }
                }
                Some(byte) if is_meta(byte) => break,
                _ => {}
            }
            if words.is_empty() {
                if let Some(assignment) = self.assignment()? {
                    push_exact(&mut assignments, assignment);
                    continue;
                }
                if self.context.aliases.is_some() {
                    self.expand_alias_here(true)?;
                    if let Some(assignment) = self.assignment()? {
                        push_exact(&mut assignments, assignment);
                        continue;
                    }
                }
            } else if self.context.aliases.is_some() {
                self.expand_alias_here(false)?;
                self.skip_blanks();
            }
            if declaration != Declaration::None
                && let Some(word) = self.assignment_word(declaration)?
            {
                words.push(word);
                continue;
            }
            let Some(word) = self.word()? else { break };
            if prefix {
                let text = word.unquoted_literal().unwrap_or(b"");
                declaration = match declares(text) {
                    true if words.is_empty() => Declaration::Direct,
                    true => Declaration::Prefixed,
                    false => Declaration::None,
                };
                prefix = if words.is_empty() { text == b"command" } else { text.starts_with(b"-") };
            }
            words.push(word);
            if !prefix && self.context.aliases.is_none() {
                self.plain_words(&mut words);
            }
            let first = words.len() == 1 && assignments.is_empty() && redirects.is_empty();
            if first && self.at_parenthesis() {
                return self.function_after_name(&words[0], line);
            }
        }
        if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
            return Err(self.unexpected());
        }
        if matches!(self.input.current(), Some(b'(')) {
            return Err(self.unexpected());
        }
        let attached = drain_exact(&mut redirects);
        if redirects.capacity() > 0 {
            self.spare_redirects.push(redirects);
        }
        let command = SimpleCommand::new(assignments.into(), drain_exact(&mut words), attached, line);
        self.spare_words.push(words);
        Ok(Command::Simple(Box::new(command)))
    }

    /// OPTIMIZATION: the words that follow, as long as nothing but words can be meant.
    fn plain_words(&mut self, words: &mut Vec<Word>) {
        while self.input.skip_to_token()
            && self.perf.is_none()
            && let Some(word) = self.plain_word()
        {
            words.push(word);
        }
    }

    fn at_parenthesis(&mut self) -> bool {
        self.skip_only_blanks();
        self.input.current() == Some(b'(')
    }

    fn skip_only_blanks(&mut self) {
        while matches!(self.input.current(), Some(b' ' | b'\t')) {
            self.input.advance(1);
        }
    }

    fn function_after_name(&mut self, name: &Word, line: u32) -> Parsed<Command> {
        self.input.advance(1);
        self.skip_only_blanks();
        if self.input.current() != Some(b')') {
            return Err(self.unexpected());
        }
        let Some(text) = name.unquoted_literal().filter(|n| !n.contains(&b'$')) else {
            let mut message = b"`".to_vec();
            message.extend_from_slice(name.source());
            message.extend_from_slice(b"': not a valid identifier");
            return Err(self.error(message));
        };
        self.input.advance(1);
        self.function_body(text, line)
    }

    /// `name=value` and its kin at the position; nothing is consumed if there is none.
    #[inline]
    pub(super) fn assignment(&mut self) -> Parsed<Option<Assignment>> {
        if !self.input.current().is_some_and(is_name_start) || !self.looks_like_assignment() {
            return Ok(None);
        }
        self.assignment_there()
    }

    /// The whole text as one assignment.
    pub(crate) fn whole_assignment(&mut self) -> Option<Assignment> {
        self.assignment().ok().flatten().filter(|_| self.input.current().is_none())
    }

    fn assignment_there(&mut self) -> Parsed<Option<Assignment>> {
        let start = self.input.position();
        let id = self.take_variable();
        let subscript = if self.input.current() == Some(b'[') {
            self.input.advance(1);
            match self.subscript_expression(start) {
                Ok(expression) => Some(Box::new(expression)),
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
        let name = Text::new(self.context.variables.names.text(id));
        Ok(Some(Assignment { id, name, subscript, append, value }))
    }

    /// A quick look whether a name is followed by `=`, `+=` or `[`.
    #[inline]
    fn looks_like_assignment(&mut self) -> bool {
        let rest = self.input.rest();
        let Some(end) = class::find(rest, NOT_NAME) else { return false };
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
    fn assignment_word(&mut self, declaration: Declaration) -> Parsed<Option<Word>> {
        let start = self.input.position();
        let Some(assignment) = self.assignment()? else { return Ok(None) };
        if declaration == Declaration::Prefixed && matches!(assignment.value, AssignmentValue::Array(_)) {
            self.input.seek(start);
            return Ok(None);
        }
        let source = Text::new(self.input.slice(start, self.input.position()));
        let blank = |s: &super::ast::Expression| s.word.source().iter().any(|b| super::class::is_blank(*b));
        if assignment.subscript.as_deref().is_some_and(blank) {
            self.input.seek(start);
            return Ok(None);
        }
        // Should the command turn out to be no declaration builtin, this is an ordinary word.
        let end = self.input.position();
        let word = match &assignment.value {
            AssignmentValue::Array(_) => None,
            AssignmentValue::Scalar(_) => {
                self.input.seek(start);
                let word = self.word()?;
                self.input.seek(end);
                word
            }
        };
        let word = word.unwrap_or_else(|| Word::constant(source.clone()));
        Ok(Some(word.declaring(assignment, source)))
    }

    /// `( elements )` at the position.
    fn array_literal(&mut self) -> Parsed<Box<[ArrayElement]>> {
        let start = self.input.position();
        self.input.advance(1);
        let mut elements = Vec::new();
        loop {
            self.skip_newlines()?;
            match self.input.current() {
                None => return Err(self.unmatched_at(start, ')')),
                Some(b')') => {
                    self.input.advance(1);
                    return Ok(elements.into());
                }
                Some(b'[') => {
                    if let Some(element) = self.subscripted_element()? {
                        elements.push(element);
                        continue;
                    }
                }
                Some(_) => {}
            }
            self.next_is_element = true;
            let value = self.word();
            self.next_is_element = false;
            let Some(value) = value? else { return Err(self.unexpected()) };
            elements.push(ArrayElement { subscript: None, append: false, value });
        }
    }

    fn subscripted_element(&mut self) -> Parsed<Option<ArrayElement>> {
        let start = self.input.position();
        self.input.advance(1);
        if let Ok(subscript) = self.attempt(|parser| parser.subscript_expression(start))
            && let Some(append) = self.assignment_operator()
        {
            let value = self.word_in(Mode::AssignmentValue)?.unwrap_or_default();
            return Ok(Some(ArrayElement { subscript: Some(subscript), append, value }));
        }
        self.input.seek(start);
        Ok(None)
    }
}
