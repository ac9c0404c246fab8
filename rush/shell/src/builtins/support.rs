//! Small questions that several builtins ask the session.

use crate::state::names::is_name;
use crate::state::options::SetOption;
use crate::state::value::Attributes;
use crate::syntax::ast::{Assignment, Command};
use crate::syntax::{Input, Next, Parser};
use crate::sys::resource;
use crate::{Bytes, Outcome, Session, Unwind};

impl Session {
    /// Turns a `set -o` option on or off, with what follows from it.
    pub fn change_option(&mut self, option: SetOption, on: bool) {
        self.options.put(option, on);
        match option {
            SetOption::Vi if on => self.options.put(SetOption::Emacs, false),
            SetOption::Emacs if on => self.options.put(SetOption::Vi, false),
            SetOption::Privileged if !on => self.drop_privilege(),
            _ => {}
        }
    }

    /// Makes the effective user and group the real ones, as `set +p` asks; a shell that could not is ended.
    pub fn drop_privilege(&mut self) {
        if let Err(error) = crate::sys::users::drop_privilege() {
            self.error(format!("cannot give up privileges: {}", crate::sys::strerror(error)));
            crate::sys::exit_now(1);
        }
    }

    /// Whether `text` names a nameref.
    pub(crate) fn is_nameref_text(&self, text: &[u8]) -> bool {
        let id = if is_name(text) { self.variables.names.find(text) } else { None };
        id.is_some_and(|id| {
            let slot = self.variables.slot(id);
            slot.attributes.has(Attributes::NAMEREF) && slot.is_set()
        })
    }

    /// Whether the shell's descriptor `number` is a terminal.
    pub(crate) fn descriptor_is_terminal(&self, number: usize) -> bool {
        self.descriptors.get(number).and_then(|f| f.os_descriptor()).is_some_and(resource::is_terminal)
    }

    /// The process group of the job that `specification` (with its `%`) names.
    pub(crate) fn job_process_group(&self, specification: &[u8]) -> Option<i32> {
        let number = self.jobs.find(specification.get(1..)?).ok()?;
        self.jobs.list.iter().find(|j| j.number == number).map(|j| j.pid)
    }

    /// A system call was interrupted: traps may have to run.
    pub(crate) fn interrupted(&mut self) -> Result<(), Unwind> {
        self.run_pending_traps()
    }

    /// Runs `text` as a command.
    pub(crate) fn evaluate_command(&mut self, text: &[u8]) -> Outcome {
        let line = self.line;
        self.run_text(text, line)
    }

    /// Runs `words` with `PATH` set to `path` for the search.
    pub(crate) fn run_with_path(&mut self, path: &[u8], words: Vec<Bytes>) -> Outcome {
        let id = self.variables.intern(b"PATH");
        self.variables.push_frame(crate::state::variables::FrameKind::Temporary);
        let scope = self.variables.depth();
        let old = self.variables.bind(id, scope);
        let slot = self.variables.slot_mut(id);
        if let Some(old) = old {
            slot.attributes = old.attributes;
        }
        let _ = self.set_id(id, path.to_vec());
        // The standard utilities are wanted, not what stands for them.
        let utilities = self.is(SetOption::Utilities);
        self.options.put(SetOption::Utilities, false);
        let result = self.run_arguments(words, false);
        self.options.put(SetOption::Utilities, utilities);
        self.variables.pop_frame();
        result
    }

    /// Parses `source`, which is to be a single assignment.
    pub(crate) fn parse_assignment(&mut self, source: &[u8]) -> Option<Assignment> {
        let mut input = Input::from_bytes(source, self.line);
        let context = crate::syntax::Context {
            variables: &mut self.variables,
            aliases: None,
            extglob: self.copied.options.shopt(crate::state::options::Shopt::Extglob),
            posix: false,
        };
        let Ok(Next::List(list)) = Parser::new(&mut input, context).next_command() else { return None };
        let pipeline = &list.items.first()?.and_or.first;
        match pipeline.stages.first()? {
            Command::Simple(command) if command.words.is_empty() => command.assignments().first().cloned(),
            _ => None,
        }
    }

    /// The definition of a function as the printer shows it.
    pub(crate) fn function_text(&self, name: &[u8]) -> Option<Bytes> {
        let function = self.functions.get(name)?;
        Some(crate::syntax::printer::function(&function.definition))
    }

    /// Shows a declaration command when tracing.
    pub(crate) fn trace_declaration(&mut self, name: &[u8], words: &[Bytes]) {
        if self.traces() {
            let mut args = vec![name.to_vec()];
            args.extend_from_slice(words);
            self.trace_words(&args);
        }
    }
}
