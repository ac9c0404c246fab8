//! Simple commands (POSIX XCU 2.9.1): expansion, assignments, redirections, and the choice between function, builtin
//! and program.

use super::redirect::Saved;
use crate::builtins::{self, Builtin};
use crate::state::names::NameId;
use crate::state::options::SetOption;
use crate::state::value::{Attributes, Value};
use crate::state::variables::FrameKind;
use crate::syntax::ast::{Redirect, SimpleCommand};
use crate::{Bytes, Outcome, Session, Status, Unwind, sys};

impl Session {
    pub(crate) fn run_simple(&mut self, command: &SimpleCommand) -> Outcome {
        let status = self.run_simple_unchecked(command)?;
        if status != 0 {
            self.line = command.line;
            self.check_errexit()?;
        }
        Ok(status)
    }

    /// The same without what follows a failure (`set -e`, the ERR trap): as a stage of a pipeline it ends its process
    /// before that.
    pub(crate) fn run_simple_unchecked(&mut self, command: &SimpleCommand) -> Outcome {
        self.line = command.line;
        if self.wants_text() {
            let text = crate::syntax::printer::simple_command(command);
            self.note_command(text);
            if self.run_debug_trap()? {
                return Ok(self.status);
            }
            self.line = command.line;
        }
        if self.controls_jobs() {
            self.job_text = crate::syntax::printer::simple_command(command);
        }
        let substitutions = self.process_substitutions.len();
        let result = if self.is(SetOption::Keyword)
            && let Some(command) = self.with_assignments_first(command)
        {
            self.run_simple_inner(&command)
        } else {
            self.run_simple_inner(command)
        };
        self.close_process_substitutions(substitutions);
        // What `exec` became is the subshell.
        let replaced = matches!(result, Err(Unwind::Exit(_))) && self.in_process_subshell();
        let is_tail = || std::ptr::from_ref(command).addr() == self.subshell_tail;
        if self.killed.is_some() && !replaced && !is_tail() {
            self.report_killed(|| crate::syntax::printer::simple_command(command));
        }
        match result {
            Ok(status) => {
                self.status = status;
                self.set_pipeline_status(status);
                Ok(status)
            }
            Err(unwind) => {
                if matches!(unwind, Unwind::Break(_) | Unwind::Continue(_) | Unwind::Return(_)) {
                    self.note_pipeline_status(0);
                }
                Err(unwind)
            }
        }
    }

    fn run_simple_inner(&mut self, command: &SimpleCommand) -> Outcome {
        if command.words.is_empty() {
            return self.run_without_words(command);
        }
        self.substitution_status = None;
        if command.words.iter().any(|w| w.assignment().is_some())
            && let Some(outcome) = self.run_declaration(command)?
        {
            return Ok(outcome);
        }
        let mut args: Vec<Bytes> = Vec::with_capacity(command.words.len());
        self.expand_words(&command.words, &mut args)?;
        if args.is_empty() {
            return self.run_without_words(command);
        }
        if self.is(SetOption::Xtrace) && command.assignments().is_empty() {
            self.trace_words(&args);
        }
        self.run_with_redirects(command, args)
    }

    /// Assignments and redirections alone.
    fn run_without_words(&mut self, command: &SimpleCommand) -> Outcome {
        if command.words.is_empty() {
            self.substitution_status = None;
        }
        for assignment in command.assignments() {
            self.run_assignment(assignment)?;
        }
        if !command.redirects().is_empty() {
            match self.redirect(command.redirects())? {
                Ok(saved) => self.undo_redirects(saved),
                Err(status) => return Ok(status),
            }
        }
        self.last_argument.clear();
        Ok(self.substitution_status.take().unwrap_or(0))
    }

    /// Applies the redirections, runs the command and undoes them. Those of a program are expanded on its side of the
    /// fork, so what they assign is lost with it.
    fn run_with_redirects(&mut self, command: &SimpleCommand, args: Vec<Bytes>) -> Outcome {
        if command.redirects().is_empty() {
            return self.run_with_assignments(command, args);
        }
        let may_assign = |redirect: &Redirect| {
            let body = redirect.here.as_ref().and_then(|here| here.body.get());
            !super::pipeline::is_harmless(body.map_or(&redirect.target, |body| &body.word))
        };
        if command.redirects().iter().any(may_assign) && self.is_program_name(&args[0]) {
            let mark = self.variables.mark();
            let result = match self.redirect(command.redirects()) {
                Ok(Ok(saved)) => self.run_redirected(command, args, saved),
                // An error there ends the child only.
                Ok(Err(status)) | Err(Unwind::Discard(status)) => Ok(status),
                Err(Unwind::Exit(_)) => Ok(1),
                Err(unwind) => Err(unwind),
            };
            self.variables.restore(mark);
            return result;
        }
        self.redirect_and_run(command, args)
    }

    /// Whether neither a function nor a builtin has this name.
    fn is_program_name(&self, name: &[u8]) -> bool {
        !self.functions.contains_key(name) && self.builtin(name).is_none()
    }

    fn redirect_and_run(&mut self, command: &SimpleCommand, args: Vec<Bytes>) -> Outcome {
        let saved = match self.redirect(command.redirects())? {
            Ok(saved) => saved,
            Err(status) => {
                let special = builtins::find(&args[0]).is_some_and(|b| b.special);
                if special && self.is(SetOption::Posix) && !self.interactive {
                    return Err(Unwind::Exit(status));
                }
                return Ok(status);
            }
        };
        self.run_redirected(command, args, saved)
    }

    fn run_redirected(&mut self, command: &SimpleCommand, args: Vec<Bytes>, saved: Saved) -> Outcome {
        let result = self.run_with_assignments(command, args);
        if std::mem::take(&mut self.keep_redirects) {
            drop(saved);
            if command.redirects().iter().any(|redirect| redirect.changes_standard_input()) {
                self.follow_standard_input();
            }
        } else {
            self.undo_redirects(saved);
        }
        result
    }

    fn run_with_assignments(&mut self, command: &SimpleCommand, args: Vec<Bytes>) -> Outcome {
        if command.assignments().is_empty() {
            return self.run_arguments(args, true);
        }
        let special = builtins::find(&args[0]).is_some_and(|b| b.special);
        if special && self.is(SetOption::Posix) && !self.functions.contains_key(&args[0]) {
            for assignment in command.assignments() {
                self.run_assignment(assignment)?;
            }
            if self.is(SetOption::Xtrace) {
                self.trace_words(&args);
            }
            return self.run_arguments(args, true);
        }
        self.variables.push_frame(FrameKind::Temporary);
        let mut result = Ok(0);
        for assignment in command.assignments() {
            result = self.temporary_assignment(assignment).map(|()| 0);
            if result.is_err() {
                break;
            }
        }
        if result.is_ok() {
            if self.is(SetOption::Xtrace) {
                self.trace_words(&args);
            }
            self.call_adopts_frame = self.functions.contains_key(&args[0]);
            let args_name = args[0].clone();
            let known =
                if self.assigns_around(&args[0]) { self.prefixed_values(command) } else { Vec::new() };
            result = self.run_arguments(args, true);
            self.call_adopts_frame = false;
            self.let_assigned_stay(known);
            if matches!(&args_name[..], b"eval" | b"." | b"source")
                && self.variables.function_scope().is_none()
            {
                self.forget_stays(command);
            }
        }
        self.variables.pop_frame();
        result
    }

    /// Whether `name` is a builtin for which the assignments before it are no scope: what it assigns is the shell's.
    fn assigns_around(&self, name: &[u8]) -> bool {
        !self.functions.contains_key(name)
            && self.builtin(name).is_some()
            && !matches!(
                name,
                b"eval" | b"." | b"source" | b"unset" | b"command" | b"builtin" | b"exec" | b"read"
            )
    }

    /// Outside functions the variables before `eval` and `.` are gone behind them, exported or not.
    fn forget_stays(&mut self, command: &SimpleCommand) {
        for assignment in command.assignments() {
            let slot = self.variables.slot_mut(assignment.id);
            slot.attributes = slot.attributes.without(Attributes::STAYS);
        }
    }

    fn prefixed_values(&self, command: &SimpleCommand) -> Vec<(NameId, Value)> {
        let ids = command.assignments().iter().map(|assignment| assignment.id);
        ids.map(|id| (id, self.variables.slot(id).value.clone())).collect()
    }

    /// Of the variables set before a builtin, those that it has assigned keep what it gave them.
    fn let_assigned_stay(&mut self, known: Vec<(NameId, Value)>) {
        for (id, before) in known {
            let slot = self.variables.slot(id);
            if !slot.attributes.has(Attributes::PREFIXED) || slot.value.same_text(&before) {
                continue;
            }
            let slot = self.variables.slot_mut(id);
            slot.attributes = slot.attributes.without(Attributes::EXPORT).with(Attributes::STAYS);
        }
    }

    /// Runs `args` as a function, builtin or program. Without `functions`, functions are skipped (`command`).
    pub(crate) fn run_arguments(&mut self, args: Vec<Bytes>, functions: bool) -> Outcome {
        let name = &args[0];
        if functions {
            let posix_special = self.is(SetOption::Posix) && builtins::find(name).is_some_and(|b| b.special);
            if let Some(function) = self.functions.get(name).filter(|_| !posix_special) {
                let function = function.clone();
                return self.call_function(&function, args);
            }
        }
        if name.starts_with(b"%") && self.is(SetOption::Monitor) && functions {
            let words = [vec![b"fg".to_vec()], args].concat();
            return self.run_arguments(words, false);
        }
        if let Some(builtin) = self.builtin(name) {
            self.misuse = None;
            let result = self.run_builtin(builtin, args);
            return if functions { self.after_builtin(builtin.name.as_bytes(), result) } else { result };
        }
        self.run_program(args)
    }

    /// In POSIX mode a script ends where a special builtin is used wrongly or cannot assign; `command` and `builtin` before it prevent that.
    pub(crate) fn after_builtin(&mut self, name: &[u8], result: Outcome) -> Outcome {
        let Some(status) = self.misuse.take() else { return result };
        let ends = self.is(SetOption::Posix)
            && !self.interactive
            // Where a failure is looked at, a wrong option is only a failure; an assignment that is refused, or a file that is not there, is more.
            && (status == 1 || self.errexit_ignored == 0)
            && builtins::find(name).is_some_and(|builtin| builtin.special);
        if ends { Err(Unwind::Exit(status)) } else { result }
    }

    /// Runs a builtin and accounts for its output.
    pub(crate) fn run_builtin(&mut self, builtin: &'static Builtin, mut args: Vec<Bytes>) -> Outcome {
        let asks_for_help = args.len() > 1 && args[1] == b"--help" && builtins::has_help(builtin.name);
        let result =
            if asks_for_help { builtins::show_help(self, builtin) } else { (builtin.run)(self, &args) };
        if let Some(last) = args.pop() {
            self.last_argument = last;
        }
        match self.take_output_error() {
            None => result,
            Some(error) => {
                let message = format!("write error: {}", sys::strerror(error));
                self.builtin_error(builtin.name.as_bytes(), message);
                result.map(|_| 1)
            }
        }
    }

    /// Whether `enable -n` turned the builtin off.
    pub(crate) fn is_disabled(&self, name: &[u8]) -> bool {
        !self.disabled_builtins.is_empty() && self.disabled_builtins.contains(name)
    }

    /// Runs a program and waits for it.
    fn run_program(&mut self, args: Vec<Bytes>) -> Outcome {
        if self.lone_utility(&args[0])
            && let Some(outcome) = self.run_utility(&[], &args)
        {
            return outcome;
        }
        let path = match self.find_program(&args[0]) {
            Ok(path) => path,
            Err(status) => return self.program_not_found(args, status),
        };
        self.last_argument = args.last().cloned().unwrap_or_default();
        self.keep_before_command(&path, &args)?;
        // A background process that is nothing but this program becomes it: `ps` shows it, and it holds only what it uses.
        let becomes = self.exec_directly && self.background_process;
        if !becomes && let Some(outcome) = self.run_utility(&path, &args) {
            self.foreground_ended();
            return outcome;
        }
        if self.exec_directly {
            return Err(self.replace_process(&path, &args));
        }
        self.spawn_and_wait(&path, &args)
    }

    fn program_not_found(&mut self, mut args: Vec<Bytes>, status: Status) -> Outcome {
        if status == 127
            && let Some(handler) = self.functions.get(&b"command_not_found_handle"[..]).cloned()
        {
            args.insert(0, b"command_not_found_handle".to_vec());
            return self.run_in_subshell(|session| session.call_function(&handler, args));
        }
        Ok(status)
    }
}
