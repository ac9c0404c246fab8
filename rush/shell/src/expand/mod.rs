//! Word expansion (POSIX XCU 2.6): brace, tilde, parameter, command, arithmetic, then field splitting, pathname
//! expansion and quote removal. This file drives the stages over a word's parts; each stage has its own file.

mod arithmetic;
pub mod brace;
mod command;
pub mod fields;
mod function_substitution;
mod glob_order;
mod operation;
mod parameter;
mod pathname;
mod reference;
mod substring;
mod tilde;
mod transform;

pub use reference::Index;
pub(crate) use reference::{Resolved, split_subscript};

use crate::perf::Phase;
use crate::syntax::Mode;
use crate::syntax::ast::{Expression, Part, Word, WordKind};
use crate::{Bytes, Session, Unwind};
use fields::{Fields, Purpose};
use std::rc::Rc;

/// What an expansion gives, or why the command is given up.
pub type Expanded<T> = Result<T, Unwind>;

impl Session {
    /// Expands words to arguments: every stage applies.
    pub fn expand_words(&mut self, words: &[Word], out: &mut Vec<Bytes>) -> Expanded<()> {
        for word in words {
            self.expand_word(word, out)?;
        }
        Ok(())
    }

    /// Expands one word to arguments.
    pub fn expand_word(&mut self, word: &Word, out: &mut Vec<Bytes>) -> Expanded<()> {
        let parts = match word.kind() {
            WordKind::Constant(text) => {
                out.push(text.to_vec());
                return Ok(());
            }
            WordKind::Parts(parts) => parts,
        };
        let Some(words) = self.brace_words(word) else { return self.expand_arguments(parts, out) };
        for word in words.iter() {
            match word.kind() {
                WordKind::Constant(text) => out.push(text.to_vec()),
                WordKind::Parts(parts) => self.expand_arguments(parts, out)?,
            }
        }
        Ok(())
    }

    /// The words that brace expansion makes of `word`; `None` if it stays as it is.
    pub(crate) fn brace_words(&mut self, word: &Word) -> Option<Rc<[Word]>> {
        let cell = word.braces()?;
        let WordKind::Parts(parts) = word.kind() else { return None };
        if !self.is(crate::state::options::SetOption::Braceexpand) {
            return None;
        }
        cell.get_or_init(|| brace::expand(parts, &mut self.variables)).clone()
    }

    fn expand_arguments(&mut self, parts: &[Part], out: &mut Vec<Bytes>) -> Expanded<()> {
        let outer = self.enter_phase(Phase::Expand);
        let expanded = self.expand_to_fields(parts, out);
        self.leave_phase(outer);
        expanded
    }

    fn expand_to_fields(&mut self, parts: &[Part], out: &mut Vec<Bytes>) -> Expanded<()> {
        let mut fields = Fields::new(Purpose::Arguments, self.separators(), self.extglob(), out);
        self.expand_parts(parts, false, &mut fields)?;
        let globs = fields.finish();
        if !globs.is_empty() {
            self.expand_pathnames(globs, out)?;
        }
        Ok(())
    }

    /// Expands a word to one string: no splitting, no pathnames.
    pub fn expand_string(&mut self, word: &Word) -> Expanded<Bytes> {
        match word.kind() {
            WordKind::Constant(text) => Ok(text.to_vec()),
            WordKind::Parts(parts) => self.expand_as(parts, false, Purpose::Single),
        }
    }

    /// Expands a word as if it stood in double quotes.
    pub fn expand_quoted(&mut self, word: &Word) -> Expanded<Bytes> {
        match word.kind() {
            WordKind::Constant(text) => Ok(text.to_vec()),
            WordKind::Parts(parts) => self.expand_as(parts, true, Purpose::Single),
        }
    }

    /// Expands a word to a pattern: what was quoted is escaped.
    pub fn expand_pattern(&mut self, word: &Word) -> Expanded<Bytes> {
        match word.kind() {
            WordKind::Constant(text) => Ok(text.to_vec()),
            WordKind::Parts(parts) => self.expand_as(parts, false, Purpose::Pattern),
        }
    }

    /// Expands the right side of `=~`.
    pub fn expand_regex(&mut self, word: &Word) -> Expanded<Bytes> {
        match word.kind() {
            WordKind::Constant(text) => Ok(text.to_vec()),
            WordKind::Parts(parts) => self.expand_as(parts, false, Purpose::Regex),
        }
    }

    pub(crate) fn expand_as(&mut self, parts: &[Part], quoted: bool, purpose: Purpose) -> Expanded<Bytes> {
        let outer = self.enter_phase(Phase::Expand);
        let mut out = Vec::with_capacity(1);
        let mut fields = Fields::new(purpose, self.separators(), self.extglob(), &mut out);
        let expanded = self.expand_parts(parts, quoted, &mut fields);
        fields.finish();
        self.leave_phase(outer);
        expanded?;
        Ok(out.pop().unwrap_or_default())
    }

    /// Expands parts into `fields`; `quoted` says that they stand in double quotes.
    pub(crate) fn expand_parts(
        &mut self,
        parts: &[Part],
        quoted: bool,
        fields: &mut Fields<'_>,
    ) -> Expanded<()> {
        for part in parts {
            match part {
                Part::Literal(text) if quoted => fields.quoted(text),
                Part::Literal(text) => fields.literal(text),
                Part::Quoted(text) => fields.quoted(text),
                Part::DoubleQuoted(inner) => self.expand_parts(inner, true, fields)?,
                Part::Tilde(user) => {
                    let text = self.tilde_expansion(user);
                    fields.quoted(&text);
                }
                Part::Variable(id) => self.expand_variable(*id, quoted, fields)?,
                Part::QuotedVariable(id) => self.expand_variable(*id, true, fields)?,
                Part::Parameter(parameter) => self.expand_parameter(parameter, quoted, fields)?,
                Part::Command(substitution) => {
                    let text = self.command_substitution(substitution)?;
                    if quoted { fields.quoted(&text) } else { fields.expanded(&text) }
                }
                Part::Arithmetic(expression) => {
                    let value = self.arithmetic(expression)?;
                    let text = crate::state::value::decimal(value);
                    if quoted { fields.quoted(&text) } else { fields.expanded(&text) }
                }
                Part::Process(substitution) => {
                    let path = self.process_substitution(substitution)?;
                    fields.quoted(&path);
                }
            }
        }
        Ok(())
    }

    /// Expands the text of an expression, quotes removed.
    pub(crate) fn expression_text(&mut self, expression: &Expression) -> Expanded<Bytes> {
        crate::sys::stack::with_room(|| self.expand_quoted(&expression.word))
    }

    /// Parses and expands `text` as the inside of double quotes (prompts, `PS4`).
    pub fn expand_text(&mut self, text: &[u8]) -> Expanded<Bytes> {
        if !text.iter().any(|b| matches!(b, b'$' | b'`' | b'\\')) {
            return Ok(text.to_vec());
        }
        let word = self.parse_word(text, Mode::Text)?;
        self.expand_quoted(&word)
    }

    /// Parses `text` as a word in `mode`; a syntax error is reported and gives up the command.
    pub(crate) fn parse_word(&mut self, text: &[u8], mode: Mode) -> Expanded<Word> {
        let mut input = crate::syntax::Input::from_bytes(text, self.line);
        let context = crate::syntax::Context {
            variables: &mut self.variables,
            aliases: None,
            extglob: self.copied.options.shopt(crate::state::options::Shopt::Extglob),
            posix: false,
        };
        let result = crate::syntax::Parser::new(&mut input, context).remaining_word(mode);
        result.map_err(|error| {
            self.error(&error.message);
            Unwind::Discard(1)
        })
    }

    /// Reports an expansion error; the command is given up.
    pub(crate) fn expansion_error(&mut self, message: impl AsRef<[u8]>) -> Unwind {
        self.error(message);
        self.status = 1;
        if self.is(crate::state::options::SetOption::Posix) && !self.interactive {
            return Unwind::Exit(self.fatal_status());
        }
        Unwind::Discard(1)
    }
}
