//! What begins with `$`, and backquotes: parameter expansion, command substitution, arithmetic, `$'...'`.

use super::ast::{
    CommandSubstitution, Expression, Operation, Parameter, ParameterName, Part, ReplaceMode, Subscript,
    SubstitutionKind, Word,
};
use super::class::{self, NOT_NAME};
use super::parser::{Parser, Reread};
use super::word::{Builder, Mode, make_word, parts_word};
use super::{Input, Parsed, Text};
use crate::Bytes;
use crate::quote::escape;
use crate::state::names::{NameId, is_name_byte, is_name_start};
use std::rc::Rc;

impl Parser<'_> {
    /// The `$` form at the position, added to `builder`.
    pub(super) fn dollar(&mut self, mode: Mode, builder: &mut Builder) -> Parsed<()> {
        let quoting = matches!(
            mode,
            Mode::Word
                | Mode::AssignmentValue
                | Mode::Pattern { .. }
                | Mode::Subscript
                | Mode::Regex
                | Mode::Whole
        ) || mode == (Mode::Operand { quoted: false });
        let next = self.input.after_current();
        match next {
            Some(b'{') => {
                self.take_two();
                let part = match self.input.raw_current() {
                    Some(b' ' | b'\t' | b'\n') => self.function_substitution(SubstitutionKind::Output)?,
                    Some(b'|') => {
                        self.input.advance(1);
                        self.function_substitution(SubstitutionKind::Reply)?
                    }
                    _ => self.braced(!quoting)?,
                };
                builder.part(part);
            }
            Some(b'(') => self.dollar_parenthesis(builder)?,
            Some(b'[') => self.dollar_bracket(builder)?,
            Some(b'\'') if quoting || self.quotes_in_operand(mode) => {
                self.input.advance(1);
                let text = self.ansi_c_quoted()?;
                builder.part(Part::Quoted(Text::from(text)));
            }
            Some(b'"') if quoting => {
                self.input.advance(1);
                let part = self.double_quoted()?;
                builder.part(part);
            }
            Some(byte) if is_name_start(byte) => {
                self.input.advance(1);
                let id = self.take_variable();
                builder.part(Part::Variable(id));
            }
            Some(byte) if is_special_parameter(byte) => {
                self.take_two();
                builder.part(special_parameter(byte));
            }
            _ => {
                builder.literal(b'$');
                self.input.advance(1);
            }
        }
        Ok(())
    }

    /// `$'...'` quotes in the word of `"${x-word}"` too, but not where the quotes are a here-document's.
    fn quotes_in_operand(&self, mode: Mode) -> bool {
        mode == (Mode::Operand { quoted: true }) && !self.in_here_document
    }

    /// Consumes a name at the position; its id.
    pub(super) fn take_variable(&mut self) -> NameId {
        let rest = self.input.rest();
        match class::find(rest, NOT_NAME) {
            Some(end) if rest[end] != b'\\' => {
                let id = self.context.variables.intern(&rest[..end]);
                self.input.advance(end);
                id
            }
            _ => {
                let name = self.take_name();
                self.context.variables.intern(&name)
            }
        }
    }

    /// Consumes a name at the position.
    pub(super) fn take_name(&mut self) -> Bytes {
        let mut name = Bytes::new();
        while let Some(byte) = self.input.current() {
            if !is_name_byte(byte) {
                break;
            }
            name.push(byte);
            self.input.advance(1);
        }
        name
    }

    fn ansi_c_quoted(&mut self) -> Parsed<Bytes> {
        let start = self.input.position();
        self.input.advance(1);
        let mut raw = Bytes::new();
        loop {
            match self.input.raw_current() {
                None => return Err(self.unmatched_at(start, '\'')),
                Some(b'\'') => break,
                Some(b'\\') => {
                    raw.push(b'\\');
                    self.input.advance(1);
                    if let Some(next) = self.input.raw_current() {
                        raw.push(next);
                        self.input.advance(1);
                    }
                }
                Some(byte) => {
                    raw.push(byte);
                    self.input.advance(1);
                }
            }
        }
        self.input.advance(1);
        Ok(escape::dollar_single(&raw))
    }

    fn dollar_parenthesis(&mut self, builder: &mut Builder) -> Parsed<()> {
        let start = self.input.position();
        self.take_two();
        if self.input.current() != Some(b'(') {
            let part = self.command_substitution()?;
            builder.part(part);
            return Ok(());
        }
        self.input.advance(1);
        if let Some(expression) = self.try_arithmetic(start)? {
            builder.part(Part::Arithmetic(Box::new(expression)));
            return Ok(());
        }
        let part = match self.reread.get(&start).cloned() {
            Some(Reread::Substitution(part, end)) => {
                self.input.seek(end);
                part
            }
            _ => {
                self.input.seek(start);
                self.take_two();
                let part = self.command_substitution();
                let part = self.note_error(start, part)?;
                self.reread.insert(start, Reread::Substitution(part.clone(), self.input.position()));
                part
            }
        };
        builder.part(part);
        Ok(())
    }

    /// After the `((` of what begins at `opened`: the expression up to `))`, or `None` if this is a nested subshell instead.
    pub(super) fn try_arithmetic(&mut self, opened: usize) -> Parsed<Option<Expression>> {
        match self.reread.get(&opened) {
            None => {}
            Some(Reread::Error(error)) => return Err(error.clone()),
            Some(_) => return Ok(None),
        }
        let start = self.input.position();
        if let Ok((parts, _)) = self.attempt(|parser| parser.parts(Mode::Arithmetic)) {
            let end = self.input.position();
            if self.input.current() == Some(b')') && self.input.after_current() == Some(b')') {
                self.take_two();
                let word = parts_word(parts, self.input.slice(start, end));
                return Ok(Some(Expression::new(word)));
            }
        }
        self.reread.insert(opened, Reread::Otherwise);
        Ok(None)
    }

    /// Notes that there is no other way to read what begins at `opened`, if that failed.
    pub(super) fn note_error<T>(&mut self, opened: usize, result: Parsed<T>) -> Parsed<T> {
        if let Err(error) = &result {
            self.reread.insert(opened, Reread::Error(error.clone()));
        }
        result
    }

    fn dollar_bracket(&mut self, builder: &mut Builder) -> Parsed<()> {
        let start = self.input.position();
        self.take_two();
        let expression = self.subscript_expression(start)?;
        builder.part(Part::Arithmetic(Box::new(expression)));
        Ok(())
    }

    /// The text up to the balancing `]`, which is consumed; what it belongs to begins at `opened`.
    pub(super) fn subscript_expression(&mut self, opened: usize) -> Parsed<Expression> {
        let start = self.input.position();
        let (parts, _) = self.parts(Mode::Subscript)?;
        if self.input.current() != Some(b']') {
            return Err(self.unmatched_at(opened, ']'));
        }
        let word = parts_word(parts, self.input.slice(start, self.input.position()));
        self.input.advance(1);
        Ok(Expression::new(word))
    }

    /// After `$(`.
    fn command_substitution(&mut self) -> Parsed<Part> {
        let line = self.input.line();
        let closes = std::mem::take(&mut self.brace_closes);
        let list = self.list();
        self.brace_closes = closes;
        let list = list?;
        if self.input.current() != Some(b')') {
            return Err(self.close_error(line));
        }
        self.input.advance(1);
        Ok(Part::Command(Rc::new(CommandSubstitution::new(list, line))))
    }

    /// After `${` and what makes it a substitution: commands up to a `}` where a reserved word may stand.
    fn function_substitution(&mut self, kind: SubstitutionKind) -> Parsed<Part> {
        let line = self.input.line();
        let closes = std::mem::replace(&mut self.brace_closes, true);
        let quotes = std::mem::take(&mut self.in_here_document);
        let list = self.list();
        self.brace_closes = closes;
        self.in_here_document = quotes;
        let list = list?;
        if self.input.current() != Some(b'}') {
            return Err(match self.input.current() {
                None => self.unmatched(line, '}'),
                Some(_) => self.unexpected(),
            });
        }
        self.input.advance(1);
        let mut substitution = CommandSubstitution::new(list, line);
        substitution.kind = kind;
        substitution.read_file &= kind == SubstitutionKind::Output;
        Ok(Part::Command(Rc::new(substitution)))
    }

    /// A backquoted substitution at the position.
    pub(super) fn backquote(&mut self, quoted: bool) -> Parsed<Part> {
        let line = self.input.line();
        self.input.advance(1);
        let mut text = Bytes::new();
        loop {
            match self.input.raw_current() {
                None => return Err(self.unmatched(line, '`')),
                Some(b'`') => break,
                Some(b'\\') => {
                    self.input.advance(1);
                    match self.input.raw_current() {
                        Some(b @ (b'$' | b'`' | b'\\')) => text.push(b),
                        Some(b'"') if quoted => text.push(b'"'),
                        Some(b) => text.extend_from_slice(&[b'\\', b]),
                        None => return Err(self.unmatched(line, '`')),
                    }
                }
                Some(byte) => text.push(byte),
            }
            self.input.advance(1);
        }
        self.input.advance(1);
        let mut input = Input::from_bytes(&text, line);
        let result = self.nested(&mut input, |parser| parser.whole());
        Ok(Part::Command(Rc::new(match result {
            Ok(list) => CommandSubstitution::new(list, line),
            Err(error) => {
                let kind = SubstitutionKind::Subshell;
                CommandSubstitution { body: Err(error), read_file: false, kind, line }
            }
        })))
    }

    /// Runs `parse` over another input with this parser's context.
    pub(super) fn nested<T>(
        &mut self,
        input: &mut Input,
        parse: impl FnOnce(&mut Parser<'_>) -> Parsed<T>,
    ) -> Parsed<T> {
        self.enter()?;
        let context = super::Context {
            variables: &mut *self.context.variables,
            aliases: self.context.aliases,
            extglob: self.context.extglob,
            posix: self.context.posix,
        };
        let mut inner = Parser::new(input, context);
        inner.depth = self.depth;
        let result = parse(&mut inner);
        let warnings = std::mem::take(&mut inner.warnings);
        self.warnings.extend(warnings);
        self.leave();
        result
    }

    /// After `${`.
    fn braced(&mut self, quoted: bool) -> Parsed<Part> {
        let start = self.input.position();
        let parameter = match self.braced_head(start)? {
            Some(head) => self.braced_operation(head, quoted, start)?,
            None => self.bad_parameter(start)?,
        };
        if self.input.current() != Some(b'}') {
            return Err(self.unmatched_at(start, '}'));
        }
        self.input.advance(1);
        Ok(Part::Parameter(Box::new(parameter)))
    }

    /// The prefix (`#`, `!`), name and subscript; `None` if there is no parameter.
    fn braced_head(&mut self, start: usize) -> Parsed<Option<Parameter>> {
        let first = self.input.current();
        let second = self.input.after_current();
        let mut parameter = Parameter {
            name: ParameterName::Special(b'#'),
            subscript: None,
            indirect: false,
            operation: Operation::Value,
        };
        match (first, second) {
            (Some(b'#'), Some(b)) if self.hash_is_length(b) => {
                self.input.advance(1);
                parameter.operation = Operation::Length;
            }
            (Some(b'!'), Some(b)) if is_name_byte(b) || matches!(b, b'@' | b'*' | b'#' | b'?' | b'!') => {
                if !is_name_byte(b)
                    && self.input.raw_at(2).is_none_or(|c| matches!(b, b'?' | b'#' | b'!') && c != b'}')
                {
                    return self.named_head(parameter, start);
                }
                self.input.advance(1);
                parameter.indirect = true;
            }
            _ => {}
        }
        self.named_head(parameter, start)
    }

    /// Whether `#` in `${#` asks for the length of the parameter that starts with `next`.
    fn hash_is_length(&mut self, next: u8) -> bool {
        if is_name_byte(next) {
            return true;
        }
        matches!(next, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') && self.input.raw_at(2) == Some(b'}')
    }

    fn named_head(&mut self, mut parameter: Parameter, start: usize) -> Parsed<Option<Parameter>> {
        let Some(byte) = self.input.current() else { return Ok(None) };
        if is_name_start(byte) {
            if !parameter.indirect {
                parameter.name = ParameterName::Variable(self.take_variable());
                return self.named_subscript(parameter, start);
            }
            let name = self.take_name();
            if self.at_names_suffix() {
                let at = self.input.current() == Some(b'@');
                self.input.advance(1);
                parameter.indirect = false;
                parameter.operation = Operation::Names { prefix: Text::from(name), at };
                return Ok(Some(parameter));
            }
            parameter.name = ParameterName::Variable(self.context.variables.intern(&name));
            return self.named_subscript(parameter, start);
        }
        if byte.is_ascii_digit() {
            let mut number = 0usize;
            while let Some(digit @ b'0'..=b'9') = self.input.current() {
                number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
                self.input.advance(1);
            }
            parameter.name =
                if number == 0 { ParameterName::Special(b'0') } else { ParameterName::Positional(number) };
            return Ok(Some(parameter));
        }
        if matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') {
            self.input.advance(1);
            parameter.name = ParameterName::Special(byte);
            return Ok(Some(parameter));
        }
        Ok(None)
    }

    /// The subscript after a name, if there is one.
    fn named_subscript(&mut self, mut parameter: Parameter, start: usize) -> Parsed<Option<Parameter>> {
        if self.input.current() == Some(b'[') {
            self.input.advance(1);
            // What has no closing bracket is reported when it is expanded.
            match self.reread.get(&start) {
                None => {}
                Some(Reread::Error(error)) => return Err(error.clone()),
                Some(_) => return Ok(None),
            }
            let Ok(subscript) = self.attempt(|parser| parser.parameter_subscript(start)) else {
                self.reread.insert(start, Reread::Otherwise);
                return Ok(None);
            };
            parameter.subscript = Some(subscript);
        }
        Ok(Some(parameter))
    }

    /// At `*}` or `@}` after `${!prefix`.
    fn at_names_suffix(&mut self) -> bool {
        matches!(self.input.current(), Some(b'*' | b'@')) && self.input.raw_at(1) == Some(b'}')
    }

    fn parameter_subscript(&mut self, start: usize) -> Parsed<Subscript> {
        match (self.input.current(), self.input.raw_at(1)) {
            (Some(b'@'), Some(b']')) => {
                self.input.advance(2);
                Ok(Subscript::At)
            }
            (Some(b'*'), Some(b']')) => {
                self.input.advance(2);
                Ok(Subscript::Star)
            }
            _ => Ok(Subscript::Index(Box::new(self.subscript_expression(start)?))),
        }
    }

    fn braced_operation(
        &mut self,
        mut parameter: Parameter,
        quoted: bool,
        start: usize,
    ) -> Parsed<Parameter> {
        let Some(byte) = self.input.current() else { return Err(self.unmatched_at(start, '}')) };
        if byte == b'}' {
            self.note_keys(&mut parameter);
            return Ok(parameter);
        }
        if !matches!(parameter.operation, Operation::Value) {
            return self.bad_parameter(start);
        }
        let next = self.input.after_current();
        parameter.operation = match byte {
            b':' if matches!(next, Some(b'-' | b'=' | b'?' | b'+')) => {
                self.take_two();
                self.test_operation(next.unwrap_or(b'-'), true, quoted)?
            }
            b':' => match self.substring_operation()? {
                Some(operation) => operation,
                None => return self.bad_parameter(start),
            },
            b'-' | b'=' | b'?' | b'+' => {
                self.input.advance(1);
                self.test_operation(byte, false, quoted)?
            }
            b'#' | b'%' => self.remove_operation(byte, next == Some(byte))?,
            b'/' => self.replace_operation(next, quoted)?,
            b'^' | b',' | b'~' => self.case_operation(byte, next == Some(byte))?,
            b'@' if next.is_some_and(|b| b"QEPAKauULk".contains(&b))
                && self.input.raw_at(2) == Some(b'}') =>
            {
                self.take_two();
                Operation::Transform(next.unwrap_or(b'Q'))
            }
            _ => return self.bad_parameter(start),
        };
        Ok(parameter)
    }

    /// `${!a[@]}` lists subscripts rather than being indirect.
    fn note_keys(&mut self, parameter: &mut Parameter) {
        if parameter.indirect && matches!(parameter.subscript, Some(Subscript::At | Subscript::Star)) {
            parameter.indirect = false;
            parameter.operation = Operation::Keys;
        }
    }

    fn operand(&mut self, mode: Mode) -> Parsed<Box<Word>> {
        let start = self.input.position();
        let (parts, _) = self.parts(mode)?;
        // Quoted and unquoted pieces stay apart: the unquoted ones are split when expanded.
        let source = self.input.slice(start, self.input.position());
        let mixed = parts.len() > 1;
        // Nobody asks for the text of what expands, only for whether there is any; it would be kept at each level.
        let expands = parts.iter().any(|part| !matches!(part, Part::Literal(_) | Part::Quoted(_)));
        let source = if expands { source.get(..1).unwrap_or_default() } else { source };
        Ok(Box::new(if mixed { parts_word(parts, source) } else { make_word(parts, false, source) }))
    }

    fn test_operation(&mut self, operator: u8, colon: bool, quoted: bool) -> Parsed<Operation> {
        let word = self.operand(Mode::Operand { quoted })?;
        Ok(Operation::Test { operator, colon, word })
    }

    fn remove_operation(&mut self, byte: u8, longest: bool) -> Parsed<Operation> {
        self.input.advance(1);
        if longest {
            self.input.current();
            self.input.advance(1);
        }
        let pattern = self.operand(Mode::Pattern { slash: false })?;
        Ok(Operation::Remove { suffix: byte == b'%', longest, pattern })
    }

    fn replace_operation(&mut self, next: Option<u8>, quoted: bool) -> Parsed<Operation> {
        self.input.advance(1);
        let mode = match next {
            Some(b'/') => ReplaceMode::All,
            Some(b'#') => ReplaceMode::Prefix,
            Some(b'%') => ReplaceMode::Suffix,
            _ => ReplaceMode::First,
        };
        if mode != ReplaceMode::First {
            self.input.current();
            self.input.advance(1);
        }
        let start = self.input.position();
        let mut pattern = self.operand(Mode::Pattern { slash: true })?;
        // A pattern may begin with a slash that does not end it: `${x///y}` is "all", `${x//\//y}` is the usual form.
        if self.input.position() == start && self.input.current() == Some(b'/') && mode == ReplaceMode::All {
            self.input.advance(1);
            let rest = self.operand(Mode::Pattern { slash: true })?;
            pattern = Box::new(rest.after(Part::Quoted(Text::new(b"/"))));
        }
        let replacement = if self.input.current() == Some(b'/') {
            self.input.advance(1);
            let mode = if quoted { Mode::Operand { quoted } } else { Mode::Pattern { slash: false } };
            let _ = mode;
            Some(self.operand(Mode::Pattern { slash: false })?)
        } else {
            None
        };
        Ok(Operation::Replace { mode, pattern, replacement })
    }

    fn case_operation(&mut self, operator: u8, all: bool) -> Parsed<Operation> {
        self.input.advance(1);
        if all {
            self.input.current();
            self.input.advance(1);
        }
        let pattern = self.operand(Mode::Pattern { slash: false })?;
        let pattern = if pattern.as_constant() == Some(b"") { None } else { Some(pattern) };
        Ok(Operation::Case { operator, all, pattern })
    }

    fn substring_operation(&mut self) -> Parsed<Option<Operation>> {
        self.input.advance(1);
        if self.input.current() == Some(b'}') {
            return Ok(None);
        }
        let offset = self.offset_expression()?;
        let length = if self.input.current() == Some(b':') {
            self.input.advance(1);
            Some(self.offset_expression()?)
        } else {
            None
        };
        Ok(Some(Operation::Substring { offset, length }))
    }

    fn offset_expression(&mut self) -> Parsed<Box<Expression>> {
        let start = self.input.position();
        let (parts, _) = self.parts(Mode::Offset)?;
        Ok(Box::new(Expression::new(parts_word(parts, self.input.slice(start, self.input.position())))))
    }

    /// Where the brace is that closes what begins at `start`, which is the position then.
    fn bad_parameter_end(&mut self, start: usize) -> Parsed<usize> {
        self.input.seek(start);
        self.parts(Mode::Operand { quoted: false })?;
        if self.input.current() != Some(b'}') {
            return Err(self.unmatched_at(start, '}'));
        }
        Ok(self.input.position())
    }

    /// Skips to the closing brace; the expansion is reported when it is run.
    fn bad_parameter(&mut self, start: usize) -> Parsed<Parameter> {
        if let Some(Reread::BadParameter(end)) = self.reread.get(&start) {
            self.input.seek(*end);
        } else {
            let end = self.bad_parameter_end(start);
            let end = self.note_error(start, end)?;
            self.reread.insert(start, Reread::BadParameter(end));
        }
        let text = Text::new(self.input.slice(start, self.input.position()));
        Ok(Parameter {
            name: ParameterName::Special(b'#'),
            subscript: None,
            indirect: false,
            operation: Operation::Bad(text),
        })
    }
}

/// Whether `byte` after `$` is a parameter by itself.
pub(super) fn is_special_parameter(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}

/// The parameter that is called `byte`.
pub(super) fn special_parameter(byte: u8) -> Part {
    let name = match byte {
        b'1'..=b'9' => ParameterName::Positional(usize::from(byte - b'0')),
        _ => ParameterName::Special(byte),
    };
    Part::Parameter(Box::new(Parameter {
        name,
        subscript: None,
        indirect: false,
        operation: Operation::Value,
    }))
}
