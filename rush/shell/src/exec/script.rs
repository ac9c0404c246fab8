//! Running text: scripts read line by line, strings, and the reporting of syntax errors.

use crate::perf::{Phase, Started};
use crate::state::descriptors::OpenFile;
use crate::state::options::{SetOption, Shopt};
use crate::syntax::ast::{Command, Compound, List};
use crate::syntax::{Context, Input, LineSource, Next, Parsed, Parser, SyntaxError};
use crate::{Bytes, Outcome, Session, Unwind, limits};
use std::cell::RefCell;
use std::rc::Rc;

/// The status of what SIGINT gave up.
const INTERRUPTED: crate::Status = 128 + libc::SIGINT;

impl Session {
    /// Runs text as `eval` does: every complete command in turn. The first line is `line`.
    pub fn run_text(&mut self, text: &[u8], line: u32) -> Outcome {
        if self.stack_is_low() {
            self.error("maximum nesting level of commands exceeded");
            self.status = 1;
            return Err(Unwind::Discard(1));
        }
        crate::sys::stack::with_room(|| {
            let mut input = Input::from_bytes(text, line);
            self.run_input(&mut input, false)
        })
    }

    /// Runs the text of `eval`; syntax errors say so.
    pub(crate) fn run_eval(&mut self, text: &[u8], line: u32) -> Outcome {
        let (old, depth, stages) = (self.eval_depth, self.trace_depth, self.plain_stages);
        self.eval_depth += 1;
        self.trace_depth += 1;
        // An error in it ends a subshell as any other does.
        self.plain_stages = 0;
        let result = self.run_text(text, line);
        (self.eval_depth, self.trace_depth, self.plain_stages) = (old, depth, stages);
        result
    }

    /// Runs a whole script from `source`; expansion errors give up one command, not the script.
    pub fn run_script(&mut self, source: Box<dyn LineSource>) -> Outcome {
        let mut input = Input::from_source(source);
        self.run_input(&mut input, true)
    }

    /// Runs a `-c` string.
    pub fn run_command_string(&mut self, text: &[u8]) -> Outcome {
        // What BASH_SOURCE and messages call the place of functions that no file defines.
        self.source = Rc::from(&b"environment"[..]);
        let mut input = Input::from_bytes(text, 1);
        self.run_input(&mut input, false)
    }

    /// Runs the commands of `input`. `top` says that an expansion error ends only the command (a script), rather
    /// than everything (a string).
    pub(crate) fn run_input(&mut self, input: &mut Input, top: bool) -> Outcome {
        let mut status = 0;
        loop {
            let started = self.command_starts();
            input.compact();
            let start = input.position();
            let next = self.parse_next(input);
            match next {
                Ok(Next::End) => {
                    self.command_ended(started, 0, b"");
                    return Ok(status);
                }
                Ok(Next::List(list)) => {
                    if self.is(SetOption::Noexec) && !self.interactive {
                        self.command_ended(started, 0, b"");
                        continue;
                    }
                    self.spares_errexit = false;
                    // `set -o history` in a script; at a terminal the loop around this remembers what was typed.
                    if top && self.is(SetOption::History) && !self.interactive {
                        let end = input.position();
                        let text = input.slice(start.min(end), end).to_vec();
                        self.remember(&text);
                    }
                    // The redirections of a group, which has no line of its own, are on the line read last.
                    if starts_with_redirected_group(&list) {
                        let last = input.position().saturating_sub(1);
                        self.line = input.line_at(last);
                    }
                    let outcome = if started.is_some() {
                        let end = input.position();
                        let text = input.slice(start.min(end), end).to_vec();
                        self.run_timed_list(&list, started, &text)
                    } else {
                        self.run_list(&list)
                    };
                    if top && !self.interactive {
                        self.command_number += 1;
                    }
                    if top && input.position().saturating_sub(start) >= limits::LARGE_COMMAND_BYTES {
                        self.large_command = Some(list);
                    }
                    match outcome {
                        Ok(s) => status = s,
                        // SIGINT gives up the whole text for a host, not only the command.
                        Err(Unwind::Discard(INTERRUPTED)) if self.interrupt_discards => {
                            return Err(Unwind::Discard(INTERRUPTED));
                        }
                        Err(Unwind::Discard(s)) if top => {
                            self.status = s;
                            self.note_pipeline_status(s);
                            status = s;
                            if self.is(SetOption::Errexit)
                                && self.errexit_ignored == 0
                                && !self.spares_errexit
                            {
                                return Err(Unwind::Exit(s));
                            }
                        }
                        // A string goes on with its next line, except in a subshell.
                        // After `set -n` only the script's own reader goes on.
                        Err(Unwind::Discard(s))
                            if self.is(SetOption::Noexec)
                                && (self.eval_depth > 0 || !self.calls.is_empty()) =>
                        {
                            return Err(Unwind::Discard(s));
                        }
                        Err(Unwind::Discard(s)) if self.subshell_depth == 0 => {
                            self.status = s;
                            self.note_pipeline_status(s);
                            status = s;
                            if self.is(SetOption::Errexit)
                                && self.errexit_ignored == 0
                                && !self.spares_errexit
                            {
                                return Err(Unwind::Exit(s));
                            }
                        }
                        Err(unwind) => return Err(unwind),
                    }
                    if self.is(SetOption::Onecmd) && top {
                        return Err(Unwind::Exit(status));
                    }
                }
                Err(error) => {
                    self.command_ended(started, 0, b"");
                    self.report_syntax_error(&error, "");
                    self.status = 2;
                    if top && self.interactive {
                        input.skip_line();
                        status = 2;
                        continue;
                    }
                    let nested = self.eval_depth > 0 || !self.calls.is_empty();
                    if top || nested && self.is(SetOption::Posix) && !self.interactive {
                        return Err(Unwind::Exit(2));
                    }
                    return Ok(2);
                }
            }
        }
    }

    /// Runs a list and reports what it took.
    fn run_timed_list(&mut self, list: &List, started: Option<Started>, text: &[u8]) -> Outcome {
        let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let text = text.get(blanks..).unwrap_or_default();
        let line = list.items.first().map_or(0, |item| item.and_or.first.line);
        self.enter_phase(Phase::Execute);
        let outcome = self.run_list(list);
        self.flush_output();
        self.command_ended(started, line, text);
        outcome
    }

    pub(crate) fn parse_next(&mut self, input: &mut Input) -> Parsed<Next> {
        let aliases = self.aliases.clone();
        let expands = self.shopt(Shopt::ExpandAliases) || self.is(SetOption::Posix);
        let extglob = self.extglob();
        let posix = self.is(SetOption::Posix);
        let context = Context {
            variables: &mut self.variables,
            aliases: if expands { Some(&*aliases) } else { None },
            extglob,
            posix,
        };
        let start = input.position();
        let mut parser = Parser::new(input, context);
        parser.perf.clone_from(&self.perf);
        let next = parser.next_command();
        let warnings = std::mem::take(&mut parser.warnings);
        for (line, message) in warnings {
            self.line = line;
            self.error(message);
        }
        if self.is(SetOption::Verbose) {
            let mut text = input.slice(start.min(input.position()), input.position()).to_vec();
            if text.last().is_some_and(|byte| *byte != b'\n') {
                text.push(b'\n');
            }
            self.write_err(&text);
        }
        next
    }

    /// Reports a syntax error as bash does, with the offending line below.
    pub(crate) fn report_syntax_error(&mut self, error: &SyntaxError, context: &str) {
        let line = std::mem::replace(&mut self.line, error.line);
        let mut prefix = Bytes::new();
        if !context.is_empty() {
            prefix.extend_from_slice(context.as_bytes());
            prefix.extend_from_slice(b": ");
        }
        let command_string =
            self.runs_command_string && self.calls.is_empty() && self.error_context.is_none();
        let old = self.error_context;
        if self.eval_depth > 0 {
            self.error_context = Some("eval");
        } else if command_string {
            self.error_context = Some("-c");
        }
        let mut message = prefix.clone();
        message.extend_from_slice(&error.message);
        self.error(message);
        if let Some(shown) = &error.shown {
            let mut message = prefix;
            message.push(b'`');
            message.extend_from_slice(shown);
            message.push(b'\'');
            self.error(message);
        }
        self.error_context = old;
        self.line = line;
    }
}

fn starts_with_redirected_group(list: &List) -> bool {
    let first = list.items.first().and_then(|item| item.and_or.first.stages.first());
    matches!(first, Some(Command::Compound(compound))
        if matches!(compound.kind, Compound::Group(_)) && !compound.redirects.is_empty())
}

/// A script in a file, read in blocks.
pub struct FileLines {
    file: Rc<OpenFile>,
}

impl FileLines {
    /// Lines of `file`.
    pub fn new(file: Rc<OpenFile>) -> FileLines {
        FileLines { file }
    }
}

impl LineSource for FileLines {
    fn read_line(&mut self, buffer: &mut Bytes) -> bool {
        let before = buffer.len();
        loop {
            let start = buffer.len();
            buffer.resize(start + limits::READ_CHUNK_BYTES, 0);
            let result = self.file.read(&mut buffer[start..]);
            buffer.truncate(start + *result.as_ref().unwrap_or(&0));
            match result {
                Ok(0) => return buffer.len() > before,
                Ok(_) if buffer[start..].contains(&b'\n') => return self.complete_line(buffer),
                Ok(_) => {}
                Err(libc::EINTR) if crate::sys::fatal_pending().is_none() => {}
                Err(_) => return buffer.len() > before,
            }
        }
    }
}

impl FileLines {
    /// The parser looks at whole lines only, so the last line of the buffer has to be whole.
    fn complete_line(&mut self, buffer: &mut Bytes) -> bool {
        let mut chunk = [0; 4096];
        while buffer.last() != Some(&b'\n') {
            match self.file.read(&mut chunk) {
                Ok(0) => return true,
                Ok(n) => buffer.extend_from_slice(&chunk[..n]),
                Err(libc::EINTR) if crate::sys::fatal_pending().is_none() => {}
                Err(_) => return true,
            }
        }
        true
    }
}

/// Commands on standard input: nothing beyond the current line may be taken, because commands read it too.
pub struct StandardInputLines {
    file: Rc<OpenFile>,
    can_unread: bool,
    /// What is read from the next line on, when `exec` has put another file in the place of standard input.
    place: StandardInput,
}

/// The file that a shell reads its commands from, shared with the shell.
pub type StandardInput = Rc<RefCell<Rc<OpenFile>>>;

impl StandardInputLines {
    /// Lines of `file`.
    pub fn new(file: Rc<OpenFile>) -> StandardInputLines {
        let can_unread = file.can_unread();
        let place = Rc::new(RefCell::new(file.clone()));
        StandardInputLines { file, can_unread, place }
    }

    /// Where another file is put that is to be read from then on.
    pub fn place(&self) -> StandardInput {
        self.place.clone()
    }

    fn follow(&mut self) {
        let file = self.place.borrow().clone();
        if !Rc::ptr_eq(&file, &self.file) {
            self.can_unread = file.can_unread();
            self.file = file;
        }
    }
}

impl Session {
    /// After `exec` has changed descriptors for good: a shell that reads commands from standard input reads on from there.
    pub(crate) fn follow_standard_input(&mut self) {
        if let (Some(place), true) = (&self.commands_from, self.subshell_depth == 0)
            && let Some(file) = self.descriptors.get(0)
        {
            *place.borrow_mut() = file;
        }
    }
}

impl LineSource for StandardInputLines {
    fn read_line(&mut self, buffer: &mut Bytes) -> bool {
        self.follow();
        let before = buffer.len();
        let mut chunk = [0; 4096];
        let size = if self.can_unread { chunk.len() } else { 1 };
        loop {
            match self.file.read(&mut chunk[..size]) {
                Ok(0) => return buffer.len() > before,
                Ok(n) => match chunk[..n].iter().position(|b| *b == b'\n') {
                    Some(at) => {
                        buffer.extend_from_slice(&chunk[..at + 1]);
                        if n > at + 1 {
                            self.file.unread(n - at - 1);
                        }
                        return true;
                    }
                    None => buffer.extend_from_slice(&chunk[..n]),
                },
                Err(libc::EINTR) if crate::sys::fatal_pending().is_none() => {}
                Err(_) => return buffer.len() > before,
            }
        }
    }
}
