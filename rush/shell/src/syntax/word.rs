//! Words: literals, quoting, and where a word ends in each context. `$` forms are in `dollar`.

use super::ast::{Part, Parts, ProcessSubstitution, Word};
use super::class::{self, NOT_NAME, PATTERN, QUOTED_STOP, SPECIAL, WORD_STOP, is_blank, is_meta};
use super::dollar::{is_special_parameter, special_parameter};
use super::parser::Parser;
use super::{Parsed, Text};
use crate::perf::{Perf, Phase};
use crate::state::names::{is_name_byte, is_name_start};
use crate::{Bytes, limits};
use std::rc::Rc;

/// What is being parsed, which decides where it ends and how quotes behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A word of a command.
    Word,
    /// The value of an assignment: a word with tildes after `=` and `:`.
    AssignmentValue,
    /// Between double quotes.
    DoubleQuoted,
    /// The body of a here-document.
    HereDocument,
    /// The word in `${x-word}`.
    Operand {
        /// Whether the expansion stands in double quotes.
        quoted: bool,
    },
    /// A pattern in `${x#pattern}`; `slash` for `${x/pattern/`.
    Pattern {
        /// Whether an unquoted `/` ends it.
        slash: bool,
    },
    /// `$(( ))` and `(( ))`: up to the unbalanced `)`.
    Arithmetic,
    /// A part of `for (( ; ; ))`: also ends at `;`.
    ArithmeticSection,
    /// The offset or length of `${x:offset:length}`.
    Offset,
    /// Up to the unbalanced `]`.
    Subscript,
    /// The right side of `=~`.
    Regex,
    /// A whole string in which quotes quote (a subscript's text).
    Whole,
    /// A whole string, expanded as in double quotes though quotes are plain (prompts).
    Text,
}

impl Mode {
    /// Whether single quotes quote.
    fn single_quotes(self) -> bool {
        use Mode::*;
        match self {
            Word | AssignmentValue | Pattern { .. } | Subscript | Regex | Whole => true,
            Operand { quoted } => !quoted,
            _ => false,
        }
    }

    /// Whether a backslash quotes any character.
    fn full_backslash(self) -> bool {
        self.single_quotes()
    }

    /// Whether a tilde at the start is a tilde-prefix.
    fn starts_with_tilde(self) -> bool {
        use Mode::*;
        match self {
            Word | AssignmentValue | Pattern { .. } | Regex => true,
            Operand { quoted } => !quoted,
            _ => false,
        }
    }

    fn is_word(self) -> bool {
        matches!(self, Mode::Word | Mode::AssignmentValue)
    }

    fn is_arithmetic(self) -> bool {
        matches!(self, Mode::Arithmetic | Mode::ArithmeticSection | Mode::Offset)
    }
}

/// Parts under construction.
#[derive(Default)]
pub(super) struct Builder {
    parts: Vec<Part>,
    literal: Bytes,
    braces: bool,
}

impl Builder {
    pub(super) fn literal(&mut self, byte: u8) {
        self.literal.push(byte);
    }

    #[inline]
    pub(super) fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.parts.push(Part::Literal(Text::new(&self.literal)));
            self.literal.clear();
        }
    }

    #[inline]
    pub(super) fn part(&mut self, part: Part) {
        self.flush();
        self.parts.push(part);
    }

    fn quoted(&mut self, text: &[u8]) {
        self.flush();
        match self.parts.last_mut() {
            Some(Part::Quoted(last)) => *last = Text::from([&**last, text].concat()),
            _ => self.parts.push(Part::Quoted(Text::new(text))),
        }
    }

    fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.literal.is_empty()
    }

    /// The parts, and whether an unquoted brace was seen. The builder can be used again.
    fn finish(&mut self) -> (Parts, bool) {
        self.flush();
        let last = if self.parts.len() > 1 { None } else { self.parts.pop() };
        let parts = last.map_or_else(|| Parts::Many(drain_exact(&mut self.parts)), Parts::One);
        (parts, std::mem::take(&mut self.braces))
    }
}

/// What `list` holds, in a block of just that size; the list keeps its own.
#[inline]
pub(super) fn drain_exact<T>(list: &mut Vec<T>) -> Box<[T]> {
    if list.len() == 1
        && let Some(only) = list.pop()
    {
        return Box::new([only]);
    }
    if list.is_empty() {
        return Box::default();
    }
    if list.len() > limits::SPARE_ROOM_MAX {
        // Shrinks where it is, without a second copy of a list that may be most of the tree.
        return std::mem::take(list).into_boxed_slice();
    }
    let mut exact = Vec::with_capacity(list.len());
    exact.append(list);
    exact.into_boxed_slice()
}

/// Adds to a list that mostly has one element, without room for more.
#[inline]
pub(super) fn push_exact<T>(list: &mut Vec<T>, element: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(element);
}

impl Parser<'_> {
    /// The word at the position; `None` if there is none.
    #[inline]
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        self.word_in(Mode::Word)
    }

    /// The word at the position in `mode`.
    #[inline]
    pub(super) fn word_in(&mut self, mode: Mode) -> Parsed<Option<Word>> {
        match self.perf.clone() {
            None => self.scan_word(mode),
            Some(perf) => self.scan_timed_word(&perf, mode),
        }
    }

    #[cold]
    fn scan_timed_word(&mut self, perf: &Perf, mode: Mode) -> Parsed<Option<Word>> {
        let outer = perf.enter(Phase::Lex);
        let word = self.scan_word(mode);
        perf.enter(outer);
        word
    }

    fn scan_word(&mut self, mode: Mode) -> Parsed<Option<Word>> {
        match self.input.current() {
            None => return Ok(None),
            Some(byte) if mode.is_word() && is_meta(byte) && !matches!(byte, b'<' | b'>') => return Ok(None),
            Some(_) => {}
        }
        if let Some(word) = self.plain_word() {
            return Ok(Some(word));
        }
        if mode.is_word()
            && let Some(word) = self.lone_part()
        {
            return Ok(Some(word));
        }
        let start = self.input.position();
        let (parts, braces) = self.parts(mode)?;
        if self.input.position() == start {
            return Ok(None);
        }
        let source = self.input.slice(start, self.input.position());
        Ok(Some(make_word(parts, braces, source)))
    }

    /// A word without any special character, which is most words.
    #[inline]
    pub(super) fn plain_word(&mut self) -> Option<Word> {
        let rest = self.input.rest();
        let end = class::find(rest, SPECIAL)?;
        if end == 0 || !ends_simply(rest[end]) {
            return None;
        }
        let word = Word::constant(Text::prefix(rest, end));
        self.input.advance(end);
        Some(word)
    }

    /// OPTIMIZATION: a word that is nothing but `$name`, `"$name"`, `$1`, `"$@"` or a string in quotes with nothing special
    /// in it, as `parts` would find it. Nothing is consumed if there is none.
    fn lone_part(&mut self) -> Option<Word> {
        let rest = self.input.rest();
        let (part, length) = match rest {
            [b'$', byte, ..] if is_name_start(*byte) => {
                let end = 1 + class::find(&rest[1..], NOT_NAME)?;
                (Part::Variable(self.context.variables.intern(&rest[1..end])), end)
            }
            [b'$', byte, ..] if is_special_parameter(*byte) => (special_parameter(*byte), 2),
            [b'"', b'$', byte, b'"', ..] if is_special_parameter(*byte) => {
                (Part::DoubleQuoted(Box::new([special_parameter(*byte)])), 4)
            }
            [b'"', b'$', ..] => {
                let length = variable_alone(&rest[1..])?;
                (Part::QuotedVariable(self.context.variables.intern(&rest[2..length])), length + 1)
            }
            [b'"', ..] => {
                let end = 1 + class::find(&rest[1..], QUOTED_STOP).filter(|end| rest[1 + end] == b'"')?;
                (Part::Quoted(Text::new(&rest[1..end])), end + 1)
            }
            [b'\'', ..] => {
                let end = 1 + rest[1..].iter().position(|byte| *byte == b'\'')?;
                (Part::Quoted(Text::new(&rest[1..end])), end + 1)
            }
            _ => return None,
        };
        if !rest.get(length).is_some_and(|byte| ends_simply(*byte)) {
            return None;
        }
        let word = make_word(Parts::One(part), false, &rest[..length]);
        self.input.advance(length);
        Some(word)
    }

    /// The parts up to the end of `mode`, and whether an unquoted `{` was seen. The terminator is not consumed.
    pub(super) fn parts(&mut self, mode: Mode) -> Parsed<(Parts, bool)> {
        // A word stands within another only as part of an array or a list, and these have asked for room.
        if matches!(mode, Mode::Word | Mode::AssignmentValue) {
            return self.parts_here(mode);
        }
        crate::sys::stack::with_room(|| self.parts_here(mode))
    }

    fn parts_here(&mut self, mode: Mode) -> Parsed<(Parts, bool)> {
        self.enter()?;
        let mut builder = self.spare_builders.pop().unwrap_or_default();
        let mut scan = Scan { mode, depth: 0, ternary: 0 };
        let mut tilde = mode.starts_with_tilde();
        let outer = (self.in_assignment, self.in_here_document, self.in_array);
        match mode {
            Mode::AssignmentValue => self.in_assignment = true,
            Mode::Word => {
                (self.in_assignment, self.in_here_document) = (false, false);
                self.in_array = std::mem::take(&mut self.next_is_element);
            }
            Mode::DoubleQuoted => self.in_here_document = false,
            Mode::HereDocument | Mode::Text => self.in_here_document = true,
            _ => {}
        }
        while let Some(byte) = self.input.current() {
            // Nothing that ends a run of parts, or is a tilde, is plain.
            if self.plain_run(&scan, &mut builder) {
                tilde = false;
                continue;
            }
            if scan.ends_at(self, byte) {
                break;
            }
            if tilde && byte == b'~' && self.tilde(mode, &mut builder) {
                tilde = false;
                continue;
            }
            tilde = self.step(byte, &mut scan, &mut builder)?;
        }
        (self.in_assignment, self.in_here_document, self.in_array) = outer;
        self.leave();
        let result = builder.finish();
        self.spare_builders.push(builder);
        Ok(result)
    }

    /// OPTIMIZATION: takes a run of bytes that stand for themselves at once, as `step` would one by one.
    fn plain_run(&mut self, scan: &Scan, builder: &mut Builder) -> bool {
        let rest = self.input.rest();
        let stop = match scan.mode {
            Mode::HereDocument | Mode::Text => memchr::memchr3(b'$', b'`', b'\\', rest),
            Mode::DoubleQuoted => class::find(rest, QUOTED_STOP),
            Mode::Word | Mode::AssignmentValue if scan.depth == 0 => class::find(rest, WORD_STOP),
            _ => class::find(rest, NOT_NAME),
        };
        let length = stop.unwrap_or(rest.len());
        append(&mut builder.literal, rest, length);
        self.input.advance(length);
        length > 0
    }

    /// Consumes one element; says whether a tilde may follow.
    fn step(&mut self, byte: u8, scan: &mut Scan, builder: &mut Builder) -> Parsed<bool> {
        let mode = scan.mode;
        match byte {
            b'\\' => self.backslash(mode, builder),
            b'\'' if mode.single_quotes() => {
                let text = self.single_quoted()?;
                builder.quoted(&text);
            }
            b'"' if mode.is_arithmetic() => self.input.advance(1),
            b'"' if !matches!(mode, Mode::HereDocument | Mode::Text | Mode::DoubleQuoted) => {
                let operand = mode == Mode::Operand { quoted: true } && !self.in_here_document;
                let outer = std::mem::replace(&mut self.in_operand_quotes, operand);
                let part = self.double_quoted();
                self.in_operand_quotes = outer;
                builder.part(part?);
            }
            b'$' => self.dollar(mode, builder)?,
            b'`' => {
                let quoted = !mode.single_quotes();
                let part = self.backquote(quoted)?;
                builder.part(part);
            }
            b'<' | b'>' if self.at_process_substitution(mode) => {
                let part = self.process_substitution(byte)?;
                builder.part(part);
            }
            _ => return Ok(self.plain(byte, scan, builder)),
        }
        Ok(false)
    }

    fn plain(&mut self, byte: u8, scan: &mut Scan, builder: &mut Builder) -> bool {
        let mode = scan.mode;
        scan.count(byte);
        builder.literal(byte);
        self.input.advance(1);
        match byte {
            b'{' | b'}' if mode.is_word() => builder.braces = true,
            b'?' | b'*' | b'+' | b'@' | b'!' if self.opens_extglob(mode) => {
                scan.depth += 1;
                builder.literal(b'(');
                self.input.advance(1);
            }
            b'=' if mode == Mode::Word => return !self.in_array && builder_is_assignment(builder),
            b':' if mode == Mode::AssignmentValue => return true,
            b':' if self.in_assignment && mode == (Mode::Operand { quoted: false }) => return true,
            b':' if mode == Mode::Word => return !self.in_array && builder_is_assignment(builder),
            _ => {}
        }
        false
    }

    fn opens_extglob(&mut self, mode: Mode) -> bool {
        let applies = match mode {
            Mode::Word | Mode::AssignmentValue => self.context.extglob,
            _ => false,
        };
        applies && self.input.raw_current() == Some(b'(')
    }

    fn at_process_substitution(&mut self, mode: Mode) -> bool {
        matches!(mode, Mode::Word | Mode::AssignmentValue | Mode::Operand { quoted: false })
            && self.input.raw_at(1) == Some(b'(')
    }

    fn backslash(&mut self, mode: Mode, builder: &mut Builder) {
        self.input.advance(1);
        let Some(next) = self.input.raw_current() else {
            builder.quoted(b"\\");
            return;
        };
        let escapes = mode.full_backslash()
            || self.in_operand_quotes && mode == Mode::DoubleQuoted
            || match next {
                b'$' | b'`' | b'\\' => true,
                b'"' => !matches!(mode, Mode::HereDocument | Mode::Text),
                b'}' => matches!(mode, Mode::Operand { .. }),
                _ => false,
            };
        if !escapes {
            builder.literal(b'\\');
            return;
        }
        self.input.advance(1);
        if matches!(mode, Mode::DoubleQuoted | Mode::HereDocument | Mode::Text) || mode.is_arithmetic() {
            builder.literal(next);
        } else {
            builder.quoted(&[next]);
        }
    }

    /// `~name` at the position, if it is a tilde-prefix in `mode`.
    fn tilde(&mut self, mode: Mode, builder: &mut Builder) -> bool {
        let rest = &self.input.rest()[1..];
        let is_user_byte = |b: u8| is_name_byte(b) || matches!(b, b'-' | b'.' | b'+');
        let length = rest.iter().position(|b| !is_user_byte(*b)).unwrap_or(rest.len());
        let next = rest.get(length).copied();
        let ends = match (mode, next) {
            (_, None | Some(b'/')) => true,
            (Mode::Word | Mode::AssignmentValue, Some(b':')) => {
                self.in_array
                    || mode == Mode::AssignmentValue
                    || builder_is_assignment(builder)
                    || !builder.is_empty()
            }
            (Mode::Operand { .. } | Mode::Pattern { .. }, Some(b'}')) => true,
            (Mode::Operand { .. }, Some(b':')) => self.in_assignment,
            (Mode::Operand { .. }, Some(b)) => is_meta(b),
            (Mode::Pattern { .. } | Mode::Subscript, Some(_)) => false,
            (_, Some(b)) => is_meta(b),
        };
        if ends {
            let user = Text::new(&rest[..length]);
            self.input.advance(1 + length);
            builder.part(Part::Tilde(user));
        }
        ends
    }

    pub(super) fn single_quoted(&mut self) -> Parsed<Text> {
        let start = self.input.position();
        self.input.advance(1);
        match self.input.take_until(b'\'') {
            Some(text) => Ok(Text::new(text)),
            None => Err(self.unmatched_at(start, '\'')),
        }
    }

    /// `"..."` at the position.
    pub(super) fn double_quoted(&mut self) -> Parsed<Part> {
        let start = self.input.position();
        self.input.advance(1);
        let rest = self.input.rest();
        let stop = class::find(rest, QUOTED_STOP);
        if let Some(end) = stop.filter(|end| rest[*end] == b'"') {
            let text = Text::new(&rest[..end]);
            self.input.advance(end + 1);
            return Ok(Part::Quoted(text));
        }
        if stop == Some(0)
            && let Some(length) = variable_alone(rest)
        {
            let id = self.context.variables.intern(&rest[1..length - 1]);
            self.input.advance(length);
            return Ok(Part::QuotedVariable(id));
        }
        let (parts, _) = self.parts(Mode::DoubleQuoted)?;
        if self.input.current() != Some(b'"') {
            return Err(self.unmatched_at(start, '"'));
        }
        self.input.advance(1);
        Ok(match parts {
            Parts::One(Part::Literal(text)) => Part::Quoted(text),
            parts if parts.is_empty() => Part::Quoted(Text::EMPTY),
            parts => Part::DoubleQuoted(parts.into()),
        })
    }

    pub(super) fn process_substitution(&mut self, byte: u8) -> Parsed<Part> {
        let line = self.input.line();
        self.input.advance(2);
        let body = self.list()?;
        if self.input.current() != Some(b')') {
            return Err(self.close_error(line));
        }
        self.input.advance(1);
        Ok(Part::Process(Rc::new(ProcessSubstitution { input: byte == b'<', body: Rc::new(body) })))
    }

    /// The error where `)` should close a substitution.
    pub(super) fn close_error(&mut self, line: u32) -> Box<super::SyntaxError> {
        if self.input.current().is_none() { self.unmatched(line, ')') } else { self.unexpected() }
    }

    /// Parses the whole remaining input in `mode`, for strings that are expanded at run time.
    pub fn remaining_word(&mut self, mode: Mode) -> Parsed<Word> {
        let (parts, braces) = self.parts(mode)?;
        let source = self.input.slice(0, self.input.position());
        Ok(make_word(parts, braces, source))
    }
}

/// Whether a word ends before `byte` whatever follows it: after `(` and redirections more has to be looked at.
#[inline]
fn ends_simply(byte: u8) -> bool {
    is_meta(byte) && !matches!(byte, b'(' | b'<' | b'>')
}

/// Adds the first `length` bytes of `text` to `literal`.
///
/// OPTIMIZATION: most runs are a few bytes, for which the call of a copying function takes longer than a move of a fixed
/// size and forgetting what was too much.
#[inline]
fn append(literal: &mut Bytes, text: &[u8], length: usize) {
    const SHORT: usize = 16;
    match text.first_chunk::<SHORT>() {
        Some(chunk) if length <= SHORT => {
            let end = literal.len() + length;
            literal.extend_from_slice(chunk);
            literal.truncate(end);
        }
        _ => literal.extend_from_slice(&text[..length]),
    }
}

/// Where a run of parts ends.
struct Scan {
    mode: Mode,
    depth: u32,
    ternary: u32,
}

impl Scan {
    fn ends_at(&mut self, parser: &mut Parser<'_>, byte: u8) -> bool {
        match self.mode {
            Mode::Word | Mode::AssignmentValue => {
                if self.depth > 0 {
                    return false;
                }
                is_meta(byte) && !(matches!(byte, b'<' | b'>') && parser.input.raw_at(1) == Some(b'('))
            }
            Mode::DoubleQuoted => byte == b'"',
            Mode::HereDocument | Mode::Text | Mode::Whole => false,
            Mode::Operand { .. } => byte == b'}',
            Mode::Pattern { slash } => byte == b'}' || slash && byte == b'/',
            Mode::Arithmetic => byte == b')' && self.depth == 0,
            Mode::ArithmeticSection => self.depth == 0 && matches!(byte, b')' | b';'),
            Mode::Offset => self.depth == 0 && (byte == b'}' || byte == b':' && self.ternary == 0),
            Mode::Subscript => byte == b']' && self.depth == 0,
            Mode::Regex => {
                self.depth == 0
                    && (is_blank(byte) || matches!(byte, b'\n' | b')' | b'&' | b';' | b'<' | b'>'))
            }
        }
    }

    /// Keeps track of brackets that have to balance.
    fn count(&mut self, byte: u8) {
        let (open, close) = match self.mode {
            Mode::Subscript => (b'[', b']'),
            Mode::Word | Mode::AssignmentValue if self.depth == 0 => return,
            _ => (b'(', b')'),
        };
        if byte == open {
            self.depth += 1;
        } else if byte == close {
            self.depth = self.depth.saturating_sub(1);
        } else if self.mode == Mode::Offset && byte == b'?' {
            self.ternary += 1;
        } else if byte == b':' {
            self.ternary = self.ternary.saturating_sub(1);
        }
    }
}

/// The length of `$name"` if `text` begins with it, which is what is most often double-quoted.
fn variable_alone(text: &[u8]) -> Option<usize> {
    let [b'$', name @ ..] = text else { return None };
    let length = class::find(name, NOT_NAME)?;
    let plain = name[length] == b'"' && name.first().is_some_and(|byte| is_name_start(*byte));
    plain.then_some(length + 2)
}

/// Whether what has been built so far is `name=...`, so that a tilde may follow `=` or `:`.
fn builder_is_assignment(builder: &Builder) -> bool {
    let text: &[u8] = match (builder.parts.first(), &builder.literal) {
        (Some(Part::Literal(text)), _) => text,
        (None, text) => text,
        _ => return false,
    };
    let Some(equals) = text.iter().position(|b| *b == b'=') else { return false };
    let name = text[..equals].strip_suffix(b"+").unwrap_or(&text[..equals]);
    crate::state::names::is_name(name)
}

/// Builds the word of `parts` as parts, constant or not.
pub(super) fn parts_word(parts: Parts, source: &[u8]) -> Word {
    Word::expanding(parts, Text::new(source), false)
}

/// Builds the word of `parts`, constant where possible.
pub(super) fn make_word(parts: Parts, braces: bool, source: &[u8]) -> Word {
    let is_constant = |part: &Part| match part {
        Part::Literal(text) | Part::Quoted(text) => class::find(text, PATTERN).is_none(),
        _ => false,
    };
    let constant = match &parts {
        Parts::One(part) => is_constant(part),
        Parts::Many(list) => list.iter().all(is_constant),
    };
    if braces || !constant {
        return Word::expanding(parts, Text::new(source), braces);
    }
    let text = match parts {
        Parts::One(Part::Literal(text) | Part::Quoted(text)) => text,
        parts => {
            let mut bytes = Bytes::new();
            for part in &*parts {
                if let Part::Literal(text) | Part::Quoted(text) = part {
                    bytes.extend_from_slice(text);
                }
            }
            Text::from(bytes)
        }
    };
    if *text == *source { Word::constant(text) } else { Word::quoted(text, Text::new(source)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::variables::Variables;
    use crate::syntax::{Context, Input};

    fn with_parser<T>(text: &str, parse: impl FnOnce(&mut Parser<'_>) -> T) -> T {
        let mut input = Input::from_bytes(text.as_bytes(), 1);
        let mut variables = Variables::default();
        let context = Context { variables: &mut variables, aliases: None, extglob: true, posix: false };
        parse(&mut Parser::new(&mut input, context))
    }

    #[test]
    fn a_lone_part_is_what_the_general_way_finds() {
        let texts = [
            "$a",
            "$PATH",
            "\"$a\"",
            "$1",
            "$0",
            "\"$1\"",
            "\"$@\"",
            "$#",
            "\"$!\"",
            "''",
            "\"\"",
            "'a b'",
            "\"a b\"",
            "'a*'",
            "\"[x\"",
            "'a\nb'",
            "\"a\\b\"",
            "$a$b",
            "\"$a\"b",
            "'a'b",
            "a'b'",
            "\"$a$b\"",
            "$1x",
            "\"$@x\"",
            "$a'b'",
            "${a}",
            "\"${a}\"",
            "$(a)",
            "\"\\$\"",
            "$",
            "\"$\"",
            "\"a\"\"b\"",
        ];
        for text in texts {
            let lone = with_parser(&format!("{text} c\n"), |parser| {
                let word = parser.lone_part();
                (word.is_some(), format!("{:?}", word.or_else(|| parser.word().expect("parses"))))
            });
            let general = with_parser(&format!("{text} c\n"), |parser| {
                let (parts, braces) = parser.parts(Mode::Word).expect("parses");
                let source = parser.input.slice(0, parser.input.position());
                format!("{:?}", Some(make_word(parts, braces, source)))
            });
            assert_eq!(lone.1, general, "{text}");
            let alone = !text.contains('\\') && !text.contains("{") && !text.contains("$(");
            let single = [
                "$a$b",
                "\"$a\"b",
                "'a'b",
                "a'b'",
                "\"$a$b\"",
                "$1x",
                "\"$@x\"",
                "$a'b'",
                "$",
                "\"$\"",
                "\"a\"\"b\"",
            ];
            assert_eq!(lone.0, alone && !single.contains(&text), "{text}");
        }
        for text in ["'a", "\"a", "\"$a", "$a(b", "\"$a\"(", "$a"] {
            assert!(with_parser(text, |parser| parser.lone_part()).is_none(), "{text}");
        }
    }
}
