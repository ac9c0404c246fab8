//! Compound commands, function definitions and coprocesses.

use super::ast::{
    ArithmeticFor, CaseArm, CaseEnd, Command, Compound, CompoundCommand, Coprocess, Expression, ForLoop,
    FunctionDefinition, List, Rare, Redirect, Word,
};
use super::class::{self, REDIRECTS};
use super::parser::{Parser, is_closing};
use super::word::{Mode, drain_exact, parts_word, push_exact};
use super::{Parsed, Text};
use std::rc::Rc;

impl Parser<'_> {
    /// The command at the position.
    pub(super) fn command(&mut self) -> Parsed<Command> {
        self.skip_blanks();
        self.expand_alias_here(true)?;
        match self.peek_keyword() {
            b"" if self.input.current() != Some(b'(') => return self.simple_command(),
            b"function" => return self.function_keyword(),
            b"coproc" => return self.coprocess(),
            _ => {}
        }
        match self.compound_command()? {
            Some(compound) => Ok(Command::Compound(Box::new(compound))),
            None => self.simple_command(),
        }
    }

    /// The compound command at the position with its redirections, if there is one.
    fn compound_command(&mut self) -> Parsed<Option<CompoundCommand>> {
        let line = self.input.line();
        let kind = if self.input.current() == Some(b'(') {
            self.parenthesis()?
        } else {
            match self.peek_keyword() {
                b"{" => self.group()?,
                b"if" => self.if_command()?,
                b"while" => self.while_command(false)?,
                b"until" => self.while_command(true)?,
                b"for" => self.for_command()?,
                b"select" => self.select_command()?,
                b"case" => self.case_command()?,
                b"[[" => self.conditional_command()?,
                b"then" | b"else" | b"elif" | b"fi" | b"do" | b"done" | b"esac" | b"}" => {
                    return Err(self.unexpected());
                }
                _ => return Ok(None),
            }
        };
        let redirects = self.redirects()?;
        self.skip_blanks();
        if !self.at_command_end() {
            return Err(self.unexpected());
        }
        Ok(Some(CompoundCommand { kind, redirects, line }))
    }

    /// Whether a compound command may end here: an operator, a newline or a closing word.
    fn at_command_end(&mut self) -> bool {
        match self.input.current() {
            None | Some(b'\n' | b';' | b'&' | b'|' | b')') => true,
            Some(_) => is_closing(self.peek_keyword()),
        }
    }

    fn redirects(&mut self) -> Parsed<Rare<Redirect>> {
        self.skip_blanks();
        if !self.input.current().is_some_and(|byte| class::is(byte, REDIRECTS)) {
            return Ok(Rare::default());
        }
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => push_exact(&mut redirects, redirect),
                None => return Ok(redirects.into()),
            }
        }
    }

    fn parenthesis(&mut self) -> Parsed<Compound> {
        let start = self.input.position();
        let line = self.input.line();
        if self.input.after_current() == Some(b'(') {
            self.take_two();
            if let Some(expression) = self.try_arithmetic(start)? {
                return Ok(Compound::Arithmetic(Box::new(expression)));
            }
            self.input.seek(start);
            let result = self.subshell(line);
            return self.note_error(start, result);
        }
        self.subshell(line)
    }

    fn subshell(&mut self, line: u32) -> Parsed<Compound> {
        self.input.advance(1);
        let list = self.compound_list()?;
        self.close_parenthesis(line)?;
        Ok(Compound::Subshell(Rc::new(list)))
    }

    fn close_parenthesis(&mut self, line: u32) -> Parsed<()> {
        let _ = line;
        if self.input.current() != Some(b')') {
            return Err(self.unexpected());
        }
        self.input.advance(1);
        Ok(())
    }

    fn group(&mut self) -> Parsed<Compound> {
        self.input.advance(1);
        let list = self.compound_list()?;
        if self.brace_closes && self.input.current() == Some(b'}') {
            // The next brace may be that of the substitution.
            self.input.advance(1);
        } else {
            self.expect_keyword(b"}")?;
        }
        Ok(Compound::Group(Rc::new(list)))
    }

    fn if_command(&mut self) -> Parsed<Compound> {
        self.input.advance(2);
        let mut branches = Vec::with_capacity(1);
        loop {
            let condition = self.compound_list()?;
            self.expect_keyword(b"then")?;
            let body = self.compound_list()?;
            branches.push((condition, body));
            match self.peek_keyword() {
                b"elif" => self.input.advance(4),
                b"else" => {
                    self.input.advance(4);
                    let otherwise = Some(self.compound_list()?);
                    self.expect_keyword(b"fi")?;
                    return Ok(Compound::If { branches: branches.into(), otherwise });
                }
                _ => {
                    self.expect_keyword(b"fi")?;
                    return Ok(Compound::If { branches: branches.into(), otherwise: None });
                }
            }
        }
    }

    fn while_command(&mut self, until: bool) -> Parsed<Compound> {
        self.input.advance(5);
        let condition = self.compound_list()?;
        let body = self.do_group()?;
        Ok(Compound::While { until, condition, body })
    }

    fn do_group(&mut self) -> Parsed<List> {
        self.expect_keyword(b"do")?;
        let body = self.compound_list()?;
        self.expect_keyword(b"done")?;
        Ok(body)
    }

    /// The body of a loop: `do ... done`, or `{ ... }` where bash allows it.
    fn loop_body(&mut self) -> Parsed<List> {
        self.skip_newlines()?;
        if self.peek_keyword() != b"{" {
            return self.do_group();
        }
        self.input.advance(1);
        let body = self.compound_list()?;
        self.expect_keyword(b"}")?;
        Ok(body)
    }

    fn for_command(&mut self) -> Parsed<Compound> {
        self.input.advance(3);
        self.skip_blanks();
        if self.input.current() == Some(b'(') && self.input.after_current() == Some(b'(') {
            self.take_two();
            return self.arithmetic_for();
        }
        Ok(Compound::For(Box::new(self.for_head_and_body()?)))
    }

    fn select_command(&mut self) -> Parsed<Compound> {
        self.input.advance(6);
        Ok(Compound::Select(Box::new(self.for_head_and_body()?)))
    }

    fn for_head_and_body(&mut self) -> Parsed<ForLoop> {
        self.skip_blanks();
        self.expand_alias_here(false)?;
        self.skip_blanks();
        let Some(variable) = self.word()? else { return Err(self.unexpected()) };
        let variable = Text::new(variable.source());
        self.skip_newlines()?;
        self.expand_alias_here(false)?;
        self.skip_blanks();
        let words = if self.peek_keyword() == b"in" {
            self.input.advance(2);
            let words = self.for_words()?;
            Some(words)
        } else {
            if self.input.current() == Some(b';') {
                self.input.advance(1);
            }
            None
        };
        let body = self.loop_body()?;
        let id = self.context.variables.intern(&variable);
        Ok(ForLoop { variable, id, words, body })
    }

    fn for_words(&mut self) -> Parsed<Box<[Word]>> {
        let mut words = self.spare_words.pop().unwrap_or_default();
        loop {
            self.skip_blanks();
            self.expand_alias_here(false)?;
            self.skip_blanks();
            match self.word()? {
                Some(word) => words.push(word),
                None => break,
            }
        }
        match self.input.current() {
            Some(b';') if self.input.after_current() != Some(b';') => self.input.advance(1),
            Some(b'\n') => {}
            _ => return Err(self.unexpected()),
        }
        let exact = drain_exact(&mut words);
        self.spare_words.push(words);
        Ok(exact)
    }

    fn arithmetic_for(&mut self) -> Parsed<Compound> {
        let init = self.for_section(b';')?;
        let condition = self.for_section(b';')?;
        let step = self.for_section(b')')?;
        if self.input.current() != Some(b')') {
            return Err(self.unexpected());
        }
        self.input.advance(1);
        self.skip_blanks();
        if self.input.current() == Some(b';') {
            self.input.advance(1);
        }
        let body = self.loop_body()?;
        Ok(Compound::ArithmeticFor(Box::new(ArithmeticFor { init, condition, step, body })))
    }

    fn for_section(&mut self, end: u8) -> Parsed<Expression> {
        let start = self.input.position();
        let (parts, _) = self.parts(Mode::ArithmeticSection)?;
        let word = parts_word(parts, self.input.slice(start, self.input.position()));
        if self.input.current() != Some(end) {
            return Err(self.unexpected());
        }
        self.input.advance(1);
        Ok(Expression::new(word))
    }

    fn case_command(&mut self) -> Parsed<Compound> {
        self.input.advance(4);
        self.skip_blanks();
        let Some(word) = self.word()? else { return Err(self.unexpected()) };
        self.expect_keyword(b"in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.peek_keyword() == b"esac" {
                self.input.advance(4);
                return Ok(Compound::Case { word, arms: arms.into() });
            }
            let arm = self.case_arm()?;
            push_exact(&mut arms, arm);
        }
    }

    fn case_arm(&mut self) -> Parsed<CaseArm> {
        if self.input.current() == Some(b'(') {
            self.input.advance(1);
            self.skip_blanks();
        }
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            let Some(pattern) = self.word()? else { return Err(self.unexpected()) };
            let pattern = super::ast::CasePattern { word: pattern, compiled: Default::default() };
            push_exact(&mut patterns, pattern);
            self.skip_blanks();
            match self.input.current() {
                Some(b'|') => self.input.advance(1),
                Some(b')') => break,
                _ => return Err(self.unexpected()),
            }
        }
        self.input.advance(1);
        let body = self.list()?;
        let end = self.case_end()?;
        Ok(CaseArm { patterns: patterns.into(), body, end })
    }

    fn case_end(&mut self) -> Parsed<CaseEnd> {
        self.skip_newlines()?;
        if self.input.current() != Some(b';') {
            if self.peek_keyword() == b"esac" {
                return Ok(CaseEnd::Break);
            }
            return Err(self.unexpected());
        }
        match self.input.after_current() {
            Some(b'&') => {
                self.take_two();
                Ok(CaseEnd::FallThrough)
            }
            Some(b';') => {
                self.take_two();
                if self.input.current() == Some(b'&') {
                    self.input.advance(1);
                    return Ok(CaseEnd::Continue);
                }
                Ok(CaseEnd::Break)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn function_keyword(&mut self) -> Parsed<Command> {
        let line = self.input.line();
        self.input.advance(8);
        self.skip_blanks();
        let Some(word) = self.word()? else { return Err(self.unexpected()) };
        self.skip_blanks();
        if self.input.current() == Some(b'(') {
            let saved = self.input.position();
            self.input.advance(1);
            self.skip_blanks();
            if self.input.current() == Some(b')') {
                self.input.advance(1);
            } else {
                self.input.seek(saved);
            }
        }
        self.function_body(word.source(), line)
    }

    /// The body of a function: a compound command after any newlines.
    pub(super) fn function_body(&mut self, name: &[u8], line: u32) -> Parsed<Command> {
        self.skip_newlines()?;
        self.expand_alias_here(true)?;
        match self.compound_command()? {
            Some(body) => {
                let (name, body) = (Text::new(name), Rc::new(body));
                Ok(Command::Function(Rc::new(FunctionDefinition { name, body, line })))
            }
            None => Err(self.unexpected()),
        }
    }

    fn coprocess(&mut self) -> Parsed<Command> {
        let line = self.input.line();
        self.input.advance(6);
        self.skip_blanks();
        if let Some(compound) = self.compound_command()? {
            let command = Rc::new(Command::Compound(Box::new(compound)));
            return Ok(Command::Coprocess(Box::new(Coprocess {
                name: Word::constant(Text::new(b"COPROC")),
                command,
                line,
            })));
        }
        let start = self.input.position();
        if let Some(name) = self.word()? {
            self.skip_blanks();
            if let Ok(Some(compound)) = self.attempt(Self::compound_command) {
                let command = Rc::new(Command::Compound(Box::new(compound)));
                return Ok(Command::Coprocess(Box::new(Coprocess { name, command, line })));
            }
        }
        self.input.seek(start);
        let command = Rc::new(self.simple_command()?);
        Ok(Command::Coprocess(Box::new(Coprocess {
            name: Word::constant(Text::new(b"COPROC")),
            command,
            line,
        })))
    }
}
