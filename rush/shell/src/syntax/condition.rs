//! `[[ ]]`.

use super::Parsed;
use super::ast::{Compound, Condition, ConditionOperator, Word};
use super::parser::Parser;
use super::word::{Mode, parts_word};
use crate::sys::stack;

/// Letters of the unary operators.
const UNARY: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

impl Parser<'_> {
    /// `[[ ... ]]` at the position.
    pub(super) fn conditional_command(&mut self) -> Parsed<Compound> {
        self.input.advance(2);
        let extglob = std::mem::replace(&mut self.context.extglob, true);
        let result = self.condition_or();
        self.context.extglob = extglob;
        let condition = result?;
        self.skip_newlines()?;
        if self.peek_keyword() != b"]]" {
            return Err(self.condition_error());
        }
        self.input.advance(2);
        Ok(Compound::Conditional(Box::new(condition)))
    }

    fn condition_error(&mut self) -> Box<super::SyntaxError> {
        if self.input.current().is_none() {
            return self.unexpected();
        }
        let mut error = self.unexpected();
        let token = self.token_text();
        error.message = b"syntax error in conditional expression: unexpected token `".to_vec();
        error.message.extend_from_slice(&token);
        error.message.push(b'\'');
        error
    }

    fn condition_or(&mut self) -> Parsed<Condition> {
        self.condition_chain(b'|', Self::condition_and, Condition::Or)
    }

    fn condition_and(&mut self) -> Parsed<Condition> {
        self.condition_chain(b'&', Self::condition_term, Condition::And)
    }

    /// What `next` reads, several of them with the doubled `operator` between.
    fn condition_chain(
        &mut self,
        operator: u8,
        next: fn(&mut Self) -> Parsed<Condition>,
        chain: fn(Box<[Condition]>) -> Condition,
    ) -> Parsed<Condition> {
        let first = next(self)?;
        let mut all = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.input.current() != Some(operator) || self.input.after_current() != Some(operator) {
                break;
            }
            self.take_two();
            all.push(next(self)?);
        }
        if all.is_empty() {
            return Ok(first);
        }
        all.insert(0, first);
        Ok(chain(all.into()))
    }

    fn condition_term(&mut self) -> Parsed<Condition> {
        self.enter()?;
        self.skip_newlines()?;
        let term = match self.input.current() {
            Some(b'(') => {
                self.input.advance(1);
                let inner = stack::with_room(|| self.condition_or())?;
                self.skip_newlines()?;
                if self.input.current() != Some(b')') {
                    return Err(self.condition_error());
                }
                self.input.advance(1);
                Condition::Group(Box::new(inner))
            }
            _ if self.peek_keyword() == b"!"
                && !(self.extglob_option && self.input.raw_at(1) == Some(b'(')) =>
            {
                self.input.advance(1);
                Condition::Not(Box::new(stack::with_room(|| self.condition_term())?))
            }
            _ => self.condition_primary()?,
        };
        self.leave();
        Ok(term)
    }

    fn condition_word(&mut self) -> Parsed<Word> {
        self.skip_blanks();
        if self.peek_keyword() == b"]]" {
            return Err(self.condition_error());
        }
        match self.word()? {
            Some(word) => Ok(word),
            None => Err(self.condition_error()),
        }
    }

    fn condition_primary(&mut self) -> Parsed<Condition> {
        let first = self.condition_word()?;
        if let Some([b'-', letter]) = first.unquoted_literal() {
            let letter = *letter;
            if UNARY.contains(&letter) && !self.at_condition_end()? {
                return Ok(Condition::Unary(letter, self.condition_word()?));
            }
            if UNARY.contains(&letter) && self.at_condition_end()? && letter != b'a' && letter != b'o' {
                let mut error = self.condition_error();
                let token = self.token_text();
                error.message = b"unexpected argument `".to_vec();
                error.message.extend_from_slice(&token);
                error.message.extend_from_slice(b"' to conditional unary operator");
                return Err(error);
            }
        }
        if self.at_condition_end()? {
            return Ok(Condition::Word(first));
        }
        let Some((operator, length)) = self.peek_operator() else {
            let mut error = self.unexpected();
            let token = self.token_text();
            error.message = b"conditional binary operator expected".to_vec();
            let _ = token;
            return Err(error);
        };
        self.input.advance(length);
        self.skip_blanks();
        if operator != ConditionOperator::Regex {
            return Ok(Condition::Binary(first, operator, self.condition_word()?));
        }
        let start = self.input.position();
        let (parts, _) = self.parts(Mode::Regex)?;
        if self.input.position() == start {
            return Err(self.condition_error());
        }
        let word = parts_word(parts, self.input.slice(start, self.input.position()));
        Ok(Condition::Binary(first, operator, word))
    }

    /// Whether the term is over: `]]`, `&&`, `||`, `)`.
    fn at_condition_end(&mut self) -> Parsed<bool> {
        self.skip_blanks();
        Ok(match self.input.current() {
            None | Some(b')' | b'\n') => true,
            Some(b'&') => self.input.after_current() == Some(b'&'),
            Some(b'|') => self.input.after_current() == Some(b'|'),
            Some(_) => self.peek_keyword() == b"]]",
        })
    }

    /// The binary operator at the position and its length.
    fn peek_operator(&mut self) -> Option<(ConditionOperator, usize)> {
        match self.input.current()? {
            b'<' => Some((ConditionOperator::Before, 1)),
            b'>' => Some((ConditionOperator::After, 1)),
            _ => {
                let word = self.peek_plain_word();
                ConditionOperator::from_text(word).map(|o| (o, word.len()))
            }
        }
    }
}
