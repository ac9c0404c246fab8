//! The parser's frame: context, lists, and-or lists, pipelines, and the wording of syntax errors. It is a recursive
//! descent without a separate token stream, because what a byte means depends on where the grammar is.

use super::ast::{AndOr, Connector, Item, List, Part, Pipeline, Rare, Redirect, Stages, TimeStyle, Word};
use super::class::{self, ENDS_PLAIN, RESERVED};
use super::here_document::Pending;
use super::word::{Builder, drain_exact, push_exact};
use super::{Input, Parsed, SyntaxError, alias::AliasState};
use crate::perf::Perf;
use crate::state::variables::Variables;
use crate::{Bytes, limits};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What parsing depends on besides the text.
pub struct Context<'a> {
    /// The store whose names are interned into the tree.
    pub variables: &'a mut Variables,
    /// The aliases, where they are expanded.
    pub aliases: Option<&'a FxHashMap<Bytes, Bytes>>,
    /// Whether extended patterns are on.
    pub extglob: bool,
    /// Whether the shell is in POSIX mode.
    pub posix: bool,
}

/// What the next complete command is.
pub enum Next {
    /// A list to run.
    List(List),
    /// The end of the input.
    End,
}

/// What stands at a position where the first way to read it failed.
#[derive(Clone)]
pub(super) enum Reread {
    /// Not what was tried first; it has not been read otherwise yet.
    Otherwise,
    /// Nothing that can be read.
    Error(Box<SyntaxError>),
    /// This command substitution, up to a position.
    Substitution(Part, usize),
    /// A parameter that is reported when it is expanded, up to a position.
    BadParameter(usize),
}

/// A parser over an input.
pub struct Parser<'a> {
    pub(super) input: &'a mut Input,
    pub(super) context: Context<'a>,
    pub(super) pending: Vec<Pending>,
    pub(super) alias: AliasState,
    /// Warnings for the user (a here-document delimited by the end of the file), with their lines.
    pub warnings: Vec<(u32, Bytes)>,
    /// The clock on which scanning words counts.
    pub(crate) perf: Option<Rc<Perf>>,
    pub(super) in_assignment: bool,
    /// Whether the commands being read are those of `${ cmd; }`: a brace where a command may begin ends them, whatever follows.
    pub(super) brace_closes: bool,
    /// Whether the words being read are elements of an array: an equals sign makes none of them an assignment.
    pub(super) in_array: bool,
    /// Whether the next word that is read is such an element.
    pub(super) next_is_element: bool,
    /// Whether the double quotes being read stand in the operand of a quoted expansion, where a backslash quotes anything.
    pub(super) in_operand_quotes: bool,
    /// Whether `extglob` is on, also inside `[[ ]]`, where extended patterns always are.
    pub(super) extglob_option: bool,
    /// Emptied lists to build the next words and commands in.
    pub(super) spare_words: Vec<Vec<Word>>,
    pub(super) spare_redirects: Vec<Vec<Redirect>>,
    spare_items: Vec<Vec<Item>>,
    pub(super) spare_builders: Vec<Builder>,
    /// Whether the innermost quotes are a here-document's (or a prompt's), in which `$'` does not quote.
    pub(super) in_here_document: bool,
    /// The reserved word at a position, kept because several rules ask for it.
    keyword: (usize, &'static [u8]),
    pub(super) depth: usize,
    /// What was found where something was read a second time, because the first way was the wrong one: what nests would
    /// otherwise be read twice as often at each level.
    pub(super) reread: FxHashMap<usize, Reread>,
}

impl<'a> Parser<'a> {
    /// A parser of `input`.
    pub fn new(input: &'a mut Input, context: Context<'a>) -> Self {
        let extglob_option = context.extglob;
        Parser {
            input,
            context,
            pending: Vec::new(),
            alias: AliasState::default(),
            warnings: Vec::new(),
            perf: None,
            in_assignment: false,
            brace_closes: false,
            in_array: false,
            next_is_element: false,
            in_operand_quotes: false,
            extglob_option,
            spare_words: Vec::new(),
            spare_redirects: Vec::new(),
            spare_items: Vec::new(),
            spare_builders: Vec::new(),
            in_here_document: false,
            keyword: (usize::MAX, b""),
            depth: 0,
            reread: FxHashMap::default(),
        }
    }

    /// Parses one complete command: the and-or lists up to the end of a line.
    pub fn next_command(&mut self) -> Parsed<Next> {
        self.input.compact();
        self.forget_positions();
        self.input.set_continuation(false);
        loop {
            self.skip_blanks();
            match self.input.current() {
                None => return Ok(Next::End),
                Some(b'\n') => self.take_newline()?,
                Some(_) => break,
            }
            self.input.set_continuation(false);
        }
        self.input.set_continuation(true);
        let mut items = Vec::with_capacity(1);
        loop {
            let and_or = self.and_or()?;
            self.skip_blanks();
            let background = self.separator();
            items.push(Item { and_or, background: background == Some(b'&') });
            self.skip_blanks();
            match self.input.current() {
                Some(b'\n') => {
                    self.take_newline()?;
                    return Ok(Next::List(List { items: items.into() }));
                }
                None => {
                    self.read_pending()?;
                    return Ok(Next::List(List { items: items.into() }));
                }
                Some(_) if background.is_none() => return Err(self.unexpected()),
                Some(_) => {}
            }
        }
    }

    /// Parses everything as one list, for strings that are run as a whole.
    pub fn whole(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if self.input.current().is_some() {
            return Err(self.unexpected());
        }
        self.read_pending()?;
        Ok(list)
    }

    /// A possibly empty list up to a closing word, `)`, `;;` or the end.
    pub(super) fn list(&mut self) -> Parsed<List> {
        crate::sys::stack::with_room(|| self.list_here())
    }

    fn list_here(&mut self) -> Parsed<List> {
        self.enter()?;
        let mut items = self.spare_items.pop().unwrap_or_default();
        loop {
            self.skip_newlines()?;
            if self.context.aliases.is_some() {
                self.expand_aliases_before_keyword()?;
            }
            if self.at_list_end() {
                break;
            }
            let and_or = self.and_or()?;
            self.skip_blanks();
            let separator = self.separator();
            items.push(Item { and_or, background: separator == Some(b'&') });
            self.skip_blanks();
            match self.input.current() {
                Some(b'\n') => {}
                _ if separator.is_none() => break,
                _ => {}
            }
        }
        self.depth -= 1;
        let list = List { items: drain_exact(&mut items) };
        self.spare_items.push(items);
        Ok(list)
    }

    /// A list that must not be empty.
    pub(super) fn compound_list(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if list.items.is_empty() { Err(self.unexpected()) } else { Ok(list) }
    }

    fn at_list_end(&mut self) -> bool {
        match self.input.current() {
            None | Some(b')') => true,
            Some(b'}') if self.brace_closes => true,
            Some(b';') => {
                self.input.after_current() == Some(b';') || self.input.after_current() == Some(b'&')
            }
            Some(byte) if class::is(byte, RESERVED) => is_closing(self.peek_keyword()),
            Some(_) => false,
        }
    }

    /// Consumes a single `;` or `&` and returns it.
    fn separator(&mut self) -> Option<u8> {
        let byte = self.input.current().filter(|byte| matches!(byte, b';' | b'&'))?;
        let next = self.input.after_current();
        let longer = if byte == b';' { [b';', b'&'] } else { [b'&', b'>'] };
        if next.is_some_and(|next| longer.contains(&next)) {
            return None;
        }
        self.input.advance(1);
        Some(byte)
    }

    fn and_or(&mut self) -> Parsed<AndOr> {
        let first = self.pipeline()?;
        let rest = match self.connector() {
            None => Rare::default(),
            Some(connector) => self.more_pipelines(connector)?,
        };
        Ok(AndOr { first, rest })
    }

    fn more_pipelines(&mut self, first: Connector) -> Parsed<Rare<(Connector, Pipeline)>> {
        let mut rest = Vec::new();
        let mut next = Some(first);
        while let Some(connector) = next {
            self.take_two();
            self.skip_newlines()?;
            let pipeline = self.pipeline()?;
            push_exact(&mut rest, (connector, pipeline));
            next = self.connector();
        }
        Ok(rest.into())
    }

    /// The `&&` or `||` after any blanks. It is not consumed.
    fn connector(&mut self) -> Option<Connector> {
        self.skip_blanks();
        let byte = self.input.current().filter(|byte| matches!(byte, b'&' | b'|'))?;
        let connector = if byte == b'&' { Connector::And } else { Connector::Or };
        (self.input.after_current() == Some(byte)).then_some(connector)
    }

    pub(super) fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.enter()?;
        let (negated, timed) = self.pipeline_prefix()?;
        let line = self.input.line();
        // `!` and `time` may stand alone.
        let bare =
            (negated || timed.is_some()) && matches!(self.input.current(), None | Some(b'\n' | b';' | b')'));
        let stages = if bare { Stages::Many(Rare::default()) } else { self.stages()? };
        self.depth -= 1;
        Ok(Pipeline { negated, timed, stages, line })
    }

    fn stages(&mut self) -> Parsed<Stages> {
        let first = self.command()?;
        self.skip_blanks();
        if !self.at_pipe() {
            return Ok(Stages::One(first));
        }
        let mut stages = Vec::with_capacity(2);
        stages.push(first);
        while self.at_pipe() {
            if self.input.after_current() == Some(b'&') {
                self.take_two();
                if let Some(stage) = stages.last_mut() {
                    super::redirect::add_error_to_output(stage);
                }
            } else {
                self.input.advance(1);
            }
            self.skip_newlines()?;
            stages.push(self.command()?);
            self.skip_blanks();
        }
        Ok(Stages::Many(stages.into()))
    }

    fn at_pipe(&mut self) -> bool {
        self.input.current() == Some(b'|') && self.input.after_current() != Some(b'|')
    }

    /// Whether an odd number of `!` is at the position, and `time`.
    fn pipeline_prefix(&mut self) -> Parsed<(bool, Option<TimeStyle>)> {
        let (mut negated, mut timed) = (false, None);
        loop {
            self.skip_blanks();
            self.expand_alias_here(true)?;
            match self.peek_keyword() {
                b"!" => {
                    self.input.advance(1);
                    negated = !negated;
                }
                b"time" => {
                    self.input.advance(4);
                    timed = Some(TimeStyle::Bash);
                    self.skip_blanks();
                    if self.peek_plain_word() == b"-p" {
                        self.input.advance(2);
                        timed = Some(TimeStyle::Posix);
                        self.skip_blanks();
                    }
                    if self.peek_plain_word() == b"--" {
                        self.input.advance(2);
                    }
                }
                _ => return Ok((negated, timed)),
            }
        }
    }

    /// Reads what need not be there: after an error the parser is as it was but for the position.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let depth = self.depth;
        let flags = (self.in_assignment, self.in_here_document, self.in_array, self.next_is_element);
        let result = read(self);
        if result.is_err() {
            self.depth = depth;
            (self.in_assignment, self.in_here_document, self.in_array, self.next_is_element) = flags;
        }
        result
    }

    /// Counts a level of nesting.
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > limits::PARSE_DEPTH_MAX || crate::sys::stack::is_exhausted() {
            return Err(self.error("nested too deeply"));
        }
        Ok(())
    }

    /// Leaves a level of nesting.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Consumes the current byte and the one after it, over continuations.
    pub(super) fn take_two(&mut self) {
        self.input.current();
        self.input.advance(1);
        self.input.current();
        self.input.advance(1);
    }

    /// Skips blanks and a comment. Rules ask for it wherever blanks may stand, so mostly there are none.
    #[inline(always)]
    pub(super) fn skip_blanks(&mut self) {
        if !self.input.skip_to_token() {
            self.skip_more_blanks();
        }
    }

    #[inline(never)]
    fn skip_more_blanks(&mut self) {
        loop {
            match self.input.current() {
                Some(b' ' | b'\t') => self.input.advance(1),
                Some(b'#') => {
                    if self.input.take_until(b'\n').is_some() {
                        self.input.seek(self.input.position() - 1);
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and newlines.
    #[inline]
    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.input.current() != Some(b'\n') {
                return Ok(());
            }
            self.take_newline()?;
        }
    }

    /// Consumes a newline and reads the here-documents that wait for it.
    pub(super) fn take_newline(&mut self) -> Parsed<()> {
        self.input.advance(1);
        self.read_pending()
    }

    /// The reserved word at the position, or an empty text. Nothing is consumed.
    #[inline]
    pub(super) fn peek_keyword(&mut self) -> &'static [u8] {
        if self.keyword.0 == self.input.position() { self.keyword.1 } else { self.find_keyword() }
    }

    fn find_keyword(&mut self) -> &'static [u8] {
        match self.input.current() {
            Some(byte) if class::is(byte, RESERVED) => {}
            _ => return b"",
        }
        self.join_keyword();
        self.keyword = (self.input.position(), reserved_word(self.input.rest()));
        self.keyword.1
    }

    /// A reserved word that line continuations cut is put together: they go in front of it, so that lines are counted right.
    fn join_keyword(&mut self) {
        let (mut word, mut length, mut continuations) = (Bytes::new(), 0, Bytes::new());
        while word.len() <= RESERVED_MAX {
            match self.input.raw_at(length) {
                Some(b'\\') if self.input.raw_at(length + 1) == Some(b'\n') => {
                    continuations.extend_from_slice(b"\\\n");
                    length += 2;
                }
                Some(byte) if !class::is_meta(byte) && byte != b'\\' => {
                    word.push(byte);
                    length += 1;
                }
                _ => break,
            }
        }
        if continuations.is_empty() || reserved_word(&word).is_empty() {
            return;
        }
        let start = self.input.position();
        self.input.splice(start, start + length, &[continuations, word].concat());
        self.input.current();
    }

    /// Forgets what is known of the text at the position, because the text changed.
    pub(super) fn forget_positions(&mut self) {
        self.keyword = (usize::MAX, b"");
        if !self.reread.is_empty() {
            self.reread.clear();
        }
    }

    /// The bytes of the word at the position, if it has no quotes or expansions.
    pub(super) fn peek_plain_word(&mut self) -> &[u8] {
        if self.input.current().is_none() {
            return b"";
        }
        let rest = self.input.rest();
        let end = class::find(rest, ENDS_PLAIN).unwrap_or(rest.len());
        match rest.get(end) {
            Some(b'\'' | b'"' | b'\\' | b'$' | b'`') => b"",
            _ => &rest[..end],
        }
    }

    /// Where a reserved word may close or go on with a compound command, an alias may stand for it.
    fn expand_aliases_before_keyword(&mut self) -> Parsed<()> {
        loop {
            let before = self.alias.expansions;
            self.expand_alias_here(true)?;
            if self.alias.expansions == before {
                return Ok(());
            }
            self.skip_newlines()?;
        }
    }

    /// Consumes the reserved word `keyword`, or fails at the token that is there instead.
    pub(super) fn expect_keyword(&mut self, keyword: &[u8]) -> Parsed<()> {
        self.skip_newlines()?;
        if self.context.aliases.is_some() {
            self.expand_aliases_before_keyword()?;
        }
        if self.peek_keyword() != keyword {
            return Err(self.unexpected());
        }
        self.input.advance(keyword.len());
        Ok(())
    }

    /// A syntax error with `message` at the position.
    pub(super) fn error(&mut self, message: impl AsRef<[u8]>) -> Box<SyntaxError> {
        let line = self.input.line();
        let message = message.as_ref().to_vec();
        Box::new(SyntaxError { line, message, shown: None, incomplete: false })
    }

    /// "unexpected EOF while looking for matching", for what opened at `position`.
    pub(super) fn unmatched_at(&mut self, position: usize, wanted: char) -> Box<SyntaxError> {
        let line = self.input.line_at(position);
        self.unmatched(line, wanted)
    }

    /// "unexpected EOF while looking for matching".
    pub(super) fn unmatched(&mut self, line: u32, wanted: char) -> Box<SyntaxError> {
        let message = format!("unexpected EOF while looking for matching `{wanted}'").into_bytes();
        Box::new(SyntaxError { line, message, shown: None, incomplete: true })
    }

    /// "syntax error near unexpected token", for whatever is at the position.
    pub(super) fn unexpected(&mut self) -> Box<SyntaxError> {
        self.skip_blanks();
        let token = match self.input.current() {
            None => {
                let mut line = self.input.line();
                let at = self.input.position();
                if at > 0 && self.input.slice(at - 1, at) != b"\n" {
                    line += 1;
                }
                let message = b"syntax error: unexpected end of file".to_vec();
                return Box::new(SyntaxError { line, message, shown: None, incomplete: true });
            }
            Some(b'\n') => b"newline".to_vec(),
            Some(_) => self.token_text(),
        };
        let mut message = b"syntax error near unexpected token `".to_vec();
        message.extend_from_slice(&token);
        message.push(b'\'');
        let shown = self.input.line_text(self.input.position()).to_vec();
        Box::new(SyntaxError { line: self.input.line(), message, shown: Some(shown), incomplete: false })
    }

    /// The text of the token at the position.
    pub(super) fn token_text(&mut self) -> Bytes {
        const OPERATORS: &[&[u8]] = &[
            b"<<-", b"<<<", b"&>>", b";;&", b"&&", b"||", b";;", b";&", b"<<", b">>", b"<&", b">&", b"<>",
            b">|", b"&>", b"|&", b"<", b">", b"&", b"|", b";", b"(", b")",
        ];
        let rest = self.input.rest();
        if let Some(operator) = OPERATORS.iter().find(|o| rest.starts_with(o)) {
            return operator.to_vec();
        }
        let start = self.input.position();
        match self.word() {
            Ok(Some(_)) => self.input.slice(start, self.input.position()).to_vec(),
            _ => self.input.slice(start, start + 1).to_vec(),
        }
    }
}

/// Whether a reserved word ends the list before it.
#[inline]
pub(super) fn is_closing(keyword: &[u8]) -> bool {
    !keyword.is_empty()
        && matches!(keyword, b"then" | b"else" | b"elif" | b"fi" | b"do" | b"done" | b"esac" | b"}")
}

/// The longest reserved word.
const RESERVED_MAX: usize = 8;

/// The reserved word that `text` begins with, or an empty text.
#[inline]
fn reserved_word(text: &[u8]) -> &'static [u8] {
    let head = &text[..text.len().min(RESERVED_MAX + 1)];
    let end = match class::find(head, ENDS_PLAIN) {
        Some(end) if matches!(head[end], b'\'' | b'"' | b'\\' | b'$' | b'`') => return b"",
        Some(end) => end,
        None => head.len(),
    };
    if end > RESERVED_MAX {
        return b"";
    }
    match packed(&head[..end]) {
        Reserved::IF => b"if",
        Reserved::THEN => b"then",
        Reserved::ELSE => b"else",
        Reserved::ELIF => b"elif",
        Reserved::FI => b"fi",
        Reserved::CASE => b"case",
        Reserved::ESAC => b"esac",
        Reserved::FOR => b"for",
        Reserved::SELECT => b"select",
        Reserved::WHILE => b"while",
        Reserved::UNTIL => b"until",
        Reserved::DO => b"do",
        Reserved::DONE => b"done",
        Reserved::IN => b"in",
        Reserved::FUNCTION => b"function",
        Reserved::TIME => b"time",
        Reserved::OPEN_BRACE => b"{",
        Reserved::CLOSE_BRACE => b"}",
        Reserved::NOT => b"!",
        Reserved::OPEN_CONDITION => b"[[",
        Reserved::CLOSE_CONDITION => b"]]",
        Reserved::COPROC => b"coproc",
        _ => b"",
    }
}

/// Up to eight bytes as a number, so that comparing them is one instruction.
const fn packed(word: &[u8]) -> u64 {
    let mut number = 0;
    let mut at = 0;
    while at < word.len() {
        number = number << 8 | word[at] as u64;
        at += 1;
    }
    number
}

/// The packed reserved words.
struct Reserved;

impl Reserved {
    const IF: u64 = packed(b"if");
    const THEN: u64 = packed(b"then");
    const ELSE: u64 = packed(b"else");
    const ELIF: u64 = packed(b"elif");
    const FI: u64 = packed(b"fi");
    const CASE: u64 = packed(b"case");
    const ESAC: u64 = packed(b"esac");
    const FOR: u64 = packed(b"for");
    const SELECT: u64 = packed(b"select");
    const WHILE: u64 = packed(b"while");
    const UNTIL: u64 = packed(b"until");
    const DO: u64 = packed(b"do");
    const DONE: u64 = packed(b"done");
    const IN: u64 = packed(b"in");
    const FUNCTION: u64 = packed(b"function");
    const TIME: u64 = packed(b"time");
    const OPEN_BRACE: u64 = packed(b"{");
    const CLOSE_BRACE: u64 = packed(b"}");
    const NOT: u64 = packed(b"!");
    const OPEN_CONDITION: u64 = packed(b"[[");
    const CLOSE_CONDITION: u64 = packed(b"]]");
    const COPROC: u64 = packed(b"coproc");
}
