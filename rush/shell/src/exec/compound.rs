//! Compound commands: groups, subshells, loops, `case`, `select`, `(( ))`.

use crate::arith::Failure;
use crate::state::names::{self, is_name};
use crate::state::options::SetOption;
use crate::state::session::AssignError;
use crate::syntax::ast::{
    ArithmeticFor, CaseArm, CaseEnd, Compound, CompoundCommand, Expression, ForLoop, List, Part, Word,
    WordKind,
};
use crate::{Bytes, Outcome, Session, Status, Unwind};

use super::Launch;

/// What a loop does after its body ran.
enum Flow {
    Next,
    Leave,
}

/// Whether `set -e` and ERR traps look at a command while its redirections are still in force.
pub(super) fn is_checked_inside(command: &CompoundCommand) -> bool {
    matches!(command.kind, Compound::Arithmetic(_) | Compound::Conditional(_))
        && !command.redirects.is_empty()
}

impl Session {
    /// Runs a compound command with its redirections.
    pub(crate) fn run_compound(&mut self, command: &CompoundCommand) -> Outcome {
        if let Compound::Subshell(list) = &command.kind {
            return self.run_subshell(command, list);
        }
        self.run_compound_redirected(command)
    }

    /// A subshell; what is told of the program that it ends in, if that was killed, is its own text.
    fn run_subshell(&mut self, command: &CompoundCommand, list: &List) -> Outcome {
        let tail =
            if self.traps.any() { 0 } else { list.tail().map_or(0, |tail| std::ptr::from_ref(tail).addr()) };
        let outer = std::mem::replace(&mut self.subshell_tail, tail);
        let result = if self.controls_jobs() && !self.in_process_subshell() {
            self.run_subshell_job(command)
        } else {
            self.run_compound_redirected(command)
        };
        self.subshell_tail = outer;
        if self.killed.is_some() && (tail == 0 || tail != outer) {
            self.line = command.line;
            self.report_killed(|| crate::syntax::printer::compound_command(command));
        }
        result
    }

    /// At a terminal a subshell is a process and a job: the keyboard stops all of it, and `fg` goes on with it.
    fn run_subshell_job(&mut self, command: &CompoundCommand) -> Outcome {
        let placement = self.placement();
        // The handler that the child has from the shell must not take what is meant for the child.
        let held = self.interrupt_discards.then(|| crate::sys::hold_signal(libc::SIGINT));
        let pid = self.fork_child(&Launch::default())?;
        if pid == 0 {
            drop(held);
            if let Some(placement) = placement {
                self.take_place(placement);
            }
            self.finish_child(|session| session.run_compound_for_good(command));
        }
        self.place_child(pid);
        drop(held);
        let raw = self.wait_job(pid);
        self.note_stage(raw);
        self.job_left(pid, pid, raw, || crate::syntax::printer::compound_command(command));
        self.note_killed(pid, raw);
        self.foreground_ended();
        let status = crate::sys::shell_status(raw);
        self.status = status;
        Ok(status)
    }

    fn run_compound_redirected(&mut self, command: &CompoundCommand) -> Outcome {
        if command.redirects.is_empty() {
            return self.run_compound_kind(command);
        }
        // A group has no line of its own: its redirections are on the line read last.
        if !matches!(command.kind, Compound::Group(_)) {
            self.line = command.line;
        }
        match self.redirect(&command.redirects)? {
            Ok(saved) => {
                let mut result = self.run_compound_kind(command);
                if let (true, Ok(status)) = (is_checked_inside(command), &result) {
                    // An ERR trap writes where the command does.
                    result = self.check_compound(command, *status);
                }
                self.undo_redirects(saved);
                result
            }
            Err(status) => {
                self.status = status;
                if !command.kind.is_checked() || is_checked_inside(command) {
                    self.check_errexit()?;
                }
                Ok(status)
            }
        }
    }

    /// What follows a compound command that `set -e` and ERR traps look at.
    pub(crate) fn check_compound(&mut self, command: &CompoundCommand, status: Status) -> Outcome {
        self.status = status;
        self.line = command.line;
        self.set_pipeline_status(status);
        if status != 0 && self.traps.has_error() && matches!(command.kind, Compound::Subshell(_)) {
            self.note_command(crate::syntax::printer::compound_command(command));
        }
        self.check_errexit()?;
        Ok(status)
    }

    /// Runs a compound command as all that this process still does: its redirections are never undone.
    pub(crate) fn run_compound_for_good(&mut self, command: &CompoundCommand) -> Outcome {
        if let Err(status) = self.redirect(&command.redirects)? {
            return Ok(status);
        }
        self.let_go_of_standard_descriptors();
        // This process is the subshell.
        let status = match &command.kind {
            Compound::Subshell(list) => self.run_list(list)?,
            _ => self.run_compound_kind(command)?,
        };
        self.status = status;
        Ok(status)
    }

    fn run_compound_kind(&mut self, command: &CompoundCommand) -> Outcome {
        if self.stack_is_low() {
            self.error("maximum nesting level of commands exceeded");
            self.status = 1;
            return Err(Unwind::Discard(1));
        }
        crate::sys::stack::with_room(|| self.run_compound_kind_here(command))
    }

    fn run_compound_kind_here(&mut self, command: &CompoundCommand) -> Outcome {
        match &command.kind {
            Compound::Group(list) => self.run_list(list),
            Compound::Subshell(list) => {
                let result = self.run_in_subshell(|session| session.run_list(list));
                self.foreground_ended();
                result
            }
            Compound::If { branches, otherwise } => self.run_if(branches, otherwise.as_ref()),
            Compound::While { until, condition, body } => self.run_while(*until, condition, body),
            Compound::For(head) => self.run_for(head, command.line),
            Compound::Select(head) => self.run_select(head, command.line),
            Compound::ArithmeticFor(head) => self.run_arithmetic_for(head, command.line),
            Compound::Case { word, arms } => self.run_case(word, arms, command.line),
            Compound::Arithmetic(expression) => self.run_arithmetic(expression, command.line),
            Compound::Conditional(condition) => self.run_conditional(condition, command.line),
        }
    }

    /// A list whose failure `set -e` does not see.
    fn run_condition(&mut self, list: &List) -> Result<bool, Unwind> {
        Ok(self.ignoring_errexit(|session| session.run_list(list))? == 0)
    }

    fn run_if(&mut self, branches: &[(List, List)], otherwise: Option<&List>) -> Outcome {
        for (condition, body) in branches {
            if self.run_condition(condition)? {
                return self.run_list(body);
            }
        }
        match otherwise {
            Some(body) => self.run_list(body),
            None => {
                self.status = 0;
                Ok(0)
            }
        }
    }

    /// Runs a loop's body; says whether to go on.
    fn loop_body(&mut self, body: &List, status: &mut Status) -> Result<Flow, Unwind> {
        match self.run_list(body) {
            Ok(s) => {
                *status = s;
                Ok(Flow::Next)
            }
            Err(Unwind::Break(n)) => {
                *status = self.status;
                if n > 1 { Err(Unwind::Break(n - 1)) } else { Ok(Flow::Leave) }
            }
            Err(Unwind::Continue(n)) => {
                *status = self.status;
                if n > 1 { Err(Unwind::Continue(n - 1)) } else { Ok(Flow::Next) }
            }
            Err(unwind) => Err(unwind),
        }
    }

    fn in_loop(&mut self, body: impl FnOnce(&mut Session) -> Outcome) -> Outcome {
        self.loop_depth += 1;
        let result = body(self);
        self.loop_depth -= 1;
        if let Ok(status) = result {
            self.status = status;
        }
        result
    }

    fn run_while(&mut self, until: bool, condition: &List, body: &List) -> Outcome {
        self.in_loop(|session| {
            let mut status = 0;
            loop {
                let go_on = match session.run_condition(condition) {
                    Ok(holds) => holds != until,
                    Err(Unwind::Break(n)) if n <= 1 => break,
                    // `continue` is a command that succeeds: the end of an `until` loop.
                    Err(Unwind::Continue(n)) if n <= 1 && until => break,
                    Err(Unwind::Continue(n)) if n <= 1 => continue,
                    Err(Unwind::Break(n)) => return Err(Unwind::Break(n - 1)),
                    Err(Unwind::Continue(n)) => return Err(Unwind::Continue(n - 1)),
                    Err(unwind) => return Err(unwind),
                };
                if !go_on || matches!(session.loop_body(body, &mut status)?, Flow::Leave) {
                    break;
                }
            }
            Ok(status)
        })
    }

    /// The words a loop goes over; `None` means the positional parameters.
    fn loop_words(&mut self, words: Option<&[Word]>) -> Result<Vec<Bytes>, Unwind> {
        match words {
            None => Ok(self.positional.to_vec()),
            Some(words) => {
                let mut out = Vec::new();
                self.expand_words(words, &mut out)?;
                Ok(out)
            }
        }
    }

    fn check_loop_variable(&mut self, head: &ForLoop) -> Result<bool, Unwind> {
        if is_name(&head.variable) {
            return Ok(true);
        }
        let mut message = b"`".to_vec();
        message.extend_from_slice(&head.variable);
        message.extend_from_slice(b"': not a valid identifier");
        self.error(message);
        if self.is(SetOption::Posix) && !self.interactive {
            return Err(Unwind::Exit(1));
        }
        Ok(false)
    }

    fn run_for(&mut self, head: &ForLoop, line: u32) -> Outcome {
        self.line = line;
        if !self.check_loop_variable(head)? {
            return Ok(1);
        }
        let words = self.loop_words(head.words.as_deref())?;
        self.in_loop(|session| {
            let mut status = 0;
            for word in words {
                if session.traces() {
                    session.line = line;
                    session.trace_for(head);
                }
                if session.wants_text() {
                    session.line = line;
                    let text = session.for_text(head);
                    session.note_command(text);
                    if session.run_debug_trap()? {
                        continue;
                    }
                }
                if !session.assign_loop_variable(head, word)? {
                    return session.loop_given_up();
                }
                if matches!(session.loop_body(&head.body, &mut status)?, Flow::Leave) {
                    break;
                }
            }
            Ok(status)
        })
    }

    fn for_text(&self, head: &ForLoop) -> Bytes {
        crate::syntax::printer::for_head("for", head)
    }

    /// A nameref loop variable is pointed at each word; others are assigned. False if that is refused, and was reported.
    fn assign_loop_variable(&mut self, head: &ForLoop, word: Bytes) -> Result<bool, Unwind> {
        use crate::state::value::{Attributes, Value};
        let slot = self.variables.slot(head.id);
        if slot.attributes.has(Attributes::NAMEREF) {
            if !is_name(&word) {
                let mut message = b"`".to_vec();
                message.extend_from_slice(&word);
                message.extend_from_slice(b"': not a valid identifier");
                self.error(message);
            }
            self.variables.slot_mut(head.id).value = Value::Scalar(word);
            return Ok(true);
        }
        match self.set_id(head.id, word) {
            Ok(()) => Ok(true),
            Err(error @ AssignError::Readonly(_)) if !self.is(SetOption::Posix) || self.interactive => {
                self.report_assign_error(&error);
                Ok(false)
            }
            Err(error) => Err(self.assignment_failed(error)),
        }
    }

    /// A loop whose variable cannot be assigned fails, without the ERR trap, and the shell goes on. In bash it is the message
    /// that ends a shell under `set -e`, also where a failure would not.
    fn loop_given_up(&mut self) -> Outcome {
        if self.is(SetOption::Errexit) { Err(Unwind::Exit(1)) } else { Ok(1) }
    }

    fn loop_expression(&mut self, expression: &Expression, line: u32) -> Result<Option<i64>, Unwind> {
        self.line = line;
        if self.wants_text() {
            let mut text = b"((".to_vec();
            text.extend_from_slice(expression.word.source());
            text.extend_from_slice(b"))");
            self.note_command(text);
            self.run_debug_trap()?;
        }
        match self.traced_arithmetic(expression, Session::trace_for_expression) {
            Ok(value) => Ok(Some(value)),
            Err(Failure::Subscript(unwind)) => Err(unwind),
            Err(failure) => match self.arithmetic_failed(failure, b"((: ") {
                Unwind::Discard(_) => Ok(None),
                unwind => Err(unwind),
            },
        }
    }

    fn run_arithmetic_for(&mut self, head: &ArithmeticFor, line: u32) -> Outcome {
        if self.loop_expression(&head.init, line)?.is_none() {
            return Ok(1);
        }
        let endless = head.condition.word.source().iter().all(u8::is_ascii_whitespace);
        self.in_loop(|session| {
            let mut status = 0;
            loop {
                if !endless {
                    match session.loop_expression(&head.condition, line)? {
                        None => return Ok(1),
                        Some(0) => break,
                        Some(_) => {}
                    }
                }
                if matches!(session.loop_body(&head.body, &mut status)?, Flow::Leave) {
                    break;
                }
                if session.loop_expression(&head.step, line)?.is_none() {
                    return Ok(1);
                }
            }
            Ok(status)
        })
    }

    fn run_case(&mut self, word: &Word, arms: &[CaseArm], line: u32) -> Outcome {
        self.line = line;
        if self.wants_text() {
            let mut text = crate::syntax::printer::case_head(word);
            text.push(b' ');
            self.note_command(text);
            self.run_debug_trap()?;
        }
        let subject = self.expand_string(word)?;
        if self.traces() {
            self.trace_case(word);
        }
        let mut status = 0;
        let mut falling = false;
        for arm in arms {
            if !falling && !self.arm_matches(arm, &subject)? {
                continue;
            }
            status = if arm.body.items.is_empty() { 0 } else { self.run_list(&arm.body)? };
            match arm.end {
                CaseEnd::Break => break,
                CaseEnd::FallThrough => falling = true,
                CaseEnd::Continue => falling = false,
            }
        }
        self.status = status;
        Ok(status)
    }

    fn arm_matches(&mut self, arm: &CaseArm, subject: &[u8]) -> Result<bool, Unwind> {
        for pattern in &arm.patterns {
            if let (WordKind::Constant(text), false) = (pattern.word.kind(), self.ignores_case()) {
                if **text == *subject {
                    return Ok(true);
                }
                continue;
            }
            if let WordKind::Parts([Part::Literal(text)]) = pattern.word.kind() {
                let known = pattern.compiled.get().filter(|p| p.has_options(self.current_pattern_options()));
                let matches = match known {
                    Some(compiled) => compiled.matches(subject),
                    None => {
                        let compiled = self.compile_pattern(text)?;
                        let matches = compiled.matches(subject);
                        let _ = pattern.compiled.set(std::rc::Rc::new(compiled));
                        matches
                    }
                };
                if matches {
                    return Ok(true);
                }
                continue;
            }
            let text = self.expand_pattern(&pattern.word)?;
            if self.compile_pattern(&text)?.matches(subject) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn run_arithmetic(&mut self, expression: &Expression, line: u32) -> Outcome {
        self.line = line;
        if self.wants_text() {
            let mut text = b"((".to_vec();
            text.extend_from_slice(expression.word.source());
            text.extend_from_slice(b"))");
            self.note_command(text);
            if self.run_debug_trap()? {
                return Ok(self.status);
            }
        }
        match self.traced_arithmetic(expression, Session::trace_arithmetic) {
            Ok(value) => Ok(Status::from(value == 0)),
            Err(Failure::Subscript(unwind)) => Err(unwind),
            Err(failure) => match self.arithmetic_failed(failure, b"((: ") {
                Unwind::Discard(_) => Ok(1),
                unwind => Err(unwind),
            },
        }
    }

    fn run_select(&mut self, head: &ForLoop, line: u32) -> Outcome {
        if !self.check_loop_variable(head)? {
            return Ok(1);
        }
        if self.wants_text() {
            self.line = line;
            self.note_command(crate::syntax::printer::for_head("select", head));
            if self.run_debug_trap()? {
                return Ok(0);
            }
        }
        let words = self.loop_words(head.words.as_deref())?;
        if words.is_empty() {
            return Ok(0);
        }
        self.in_loop(|session| {
            let mut status = 0;
            let mut show = true;
            loop {
                if show {
                    session.print_menu(&words);
                }
                let prompt = session.get_id(names::PS3).map(|v| v.into_owned());
                session.write_err(&prompt.unwrap_or_else(|| b"#? ".to_vec()));
                let Some(line) = session.read_reply_line() else {
                    session.write_out(b"\n");
                    session.flush_output();
                    return Ok(1);
                };
                show = line.is_empty();
                let _ = session.set_id(names::REPLY, line.clone());
                if show {
                    continue;
                }
                let choice = std::str::from_utf8(&line).ok().and_then(|l| l.trim().parse::<usize>().ok());
                let word = choice.and_then(|n| words.get(n.wrapping_sub(1))).cloned().unwrap_or_default();
                if !session.assign_loop_variable(head, word)? {
                    return session.loop_given_up();
                }
                if matches!(session.loop_body(&head.body, &mut status)?, Flow::Leave) {
                    break;
                }
                show = session.get_id(names::REPLY).is_none_or(|r| r.is_empty());
            }
            Ok(status)
        })
    }

    /// A line of standard input, byte by byte, so that nothing more is taken.
    pub(crate) fn read_reply_line(&mut self) -> Option<Bytes> {
        let file = self.descriptors.get(0)?;
        let mut line = Bytes::new();
        let mut byte = [0];
        loop {
            match file.read(&mut byte) {
                Ok(0) if line.is_empty() => return None,
                Ok(0) => return Some(line),
                Ok(_) if byte[0] == b'\n' => return Some(line),
                Ok(_) => line.push(byte[0]),
                Err(libc::EINTR) if !self.is_given_up() => {}
                Err(_) => return None,
            }
        }
    }

    /// The numbered list of `select`, in columns as bash lays them out.
    fn print_menu(&mut self, words: &[Bytes]) {
        let columns = self.get_id(names::COLUMNS).and_then(|v| std::str::from_utf8(&v).ok()?.parse().ok());
        let width: usize = columns.filter(|n| *n > 0).unwrap_or(80);
        let text = menu(words, width);
        self.write_err(&text);
    }
}

/// bash's layout: entries run down the columns.
fn menu(words: &[Bytes], width: usize) -> Bytes {
    let digits = words.len().to_string().len();
    let longest = words.iter().map(Vec::len).max().unwrap_or(0);
    let cell = longest + digits + 2 + 2;
    let columns = (width / cell).clamp(1, words.len());
    let rows = words.len().div_ceil(columns);
    let columns = words.len().div_ceil(rows);
    let rows = if rows == 1 { words.len() } else { rows };
    let columns = if rows == words.len() { 1 } else { columns };
    let mut out = Bytes::new();
    for row in 0..rows {
        for column in 0..columns {
            let Some(word) = words.get(column * rows + row) else { continue };
            let text = format!("{:>digits$}) ", column * rows + row + 1);
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(word);
            if words.get((column + 1) * rows + row).is_some() && column + 1 < columns {
                let used = text.len() + word.len();
                out.extend(std::iter::repeat_n(b' ', cell.saturating_sub(used)));
            }
        }
        out.push(b'\n');
    }
    out
}
