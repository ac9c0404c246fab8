//! Execution: walks the tree. Lists, and-or lists and the choice of command are here; each kind of command has its
//! own file. Invariant: whatever a command changed for its own duration (descriptors, frames, options) is undone on
//! every path out, including unwinding.

mod assignment;
mod compound;
mod condition;
mod coprocess;
mod function;
pub(crate) mod job_control;
pub mod jobs;
mod keyword;
mod lookup;
mod pipeline;
mod prompt;
pub mod record;
mod redirect;
mod restricted;
pub mod script;
pub mod silence;
mod simple;
mod spawn;
pub mod subshell;
pub(crate) mod suggest;
pub mod traps;
pub(crate) mod undo;
mod utility;
mod xtrace;

pub use assignment::{Ready, ReadyElement, ReadyValue};
pub(crate) use function::refused_name as refused_function_name;
pub(crate) use spawn::Launch;

use crate::state::options::SetOption;
use crate::syntax::ast::{AndOr, Command, Compound, Connector, List, Pipeline};
use crate::{Outcome, Session, Status, Unwind};

impl Session {
    /// Runs a list; its status is that of the last command.
    pub fn run_list(&mut self, list: &List) -> Outcome {
        for item in &list.items {
            if item.background {
                self.run_background(&item.and_or)?;
            } else {
                self.run_and_or(&item.and_or)?;
            }
        }
        Ok(self.status)
    }

    pub(crate) fn run_and_or(&mut self, and_or: &AndOr) -> Outcome {
        let Some(last) = and_or.rest.len().checked_sub(1) else { return self.run_pipeline(&and_or.first) };
        self.ignoring_errexit(|session| session.run_pipeline(&and_or.first))?;
        for (n, (connector, pipeline)) in and_or.rest.iter().enumerate() {
            if (*connector == Connector::And) != (self.status == 0) {
                continue;
            }
            if n == last {
                self.run_pipeline(pipeline)?;
            } else {
                self.ignoring_errexit(|session| session.run_pipeline(pipeline))?;
            }
        }
        Ok(self.status)
    }

    /// Runs `body` where `set -e` and the ERR trap do not apply.
    pub(crate) fn ignoring_errexit<T>(&mut self, body: impl FnOnce(&mut Session) -> T) -> T {
        self.errexit_ignored += 1;
        let result = body(self);
        self.errexit_ignored -= 1;
        result
    }

    fn run_pipeline(&mut self, pipeline: &Pipeline) -> Outcome {
        let result = self.run_pipeline_here(pipeline);
        if std::mem::take(&mut self.job_stopped)
            && let (Ok(status), true) = (&result, self.loop_depth > 0)
        {
            // Loops end when what runs in them is stopped at the terminal.
            self.status = *status;
            return Err(Unwind::Break(self.loop_depth));
        }
        result
    }

    fn run_pipeline_here(&mut self, pipeline: &Pipeline) -> Outcome {
        if pipeline.timed.is_some() || pipeline.negated || pipeline.stages.len() != 1 {
            return self.run_decorated(pipeline);
        }
        self.run_stage(&pipeline.stages[0])
    }

    /// A pipeline with `!`, `time`, several stages or none.
    fn run_decorated(&mut self, pipeline: &Pipeline) -> Outcome {
        let started = pipeline.timed.map(|style| (style, crate::sys::clocks()));
        let result = if pipeline.negated {
            self.ignoring_errexit(|session| session.run_stages(pipeline))
        } else {
            self.run_stages(pipeline)
        };
        if let Some((style, clocks)) = started {
            self.report_time(style, clocks);
        }
        let status = result?;
        if pipeline.negated {
            self.status = Status::from(status == 0);
            // bash inverts before it notes these two in PIPESTATUS.
            if let [Command::Compound(compound)] = &pipeline.stages[..]
                && matches!(compound.kind, Compound::Arithmetic(_) | Compound::Conditional(_))
            {
                self.note_pipeline_status(self.status);
            }
        }
        Ok(self.status)
    }

    fn run_stages(&mut self, pipeline: &Pipeline) -> Outcome {
        match &pipeline.stages[..] {
            [] => {
                self.status = 0;
                Ok(0)
            }
            [stage] => self.run_stage(stage),
            stages => {
                self.line = pipeline.line;
                let status = self.run_pipes(stages, pipeline)?;
                if crate::sys::signal_pending() {
                    self.run_pending_traps()?;
                }
                self.status = status;
                self.line = pipeline.line;
                self.check_errexit()?;
                Ok(status)
            }
        }
    }

    fn run_stage(&mut self, command: &Command) -> Outcome {
        let result = self.run_command(command);
        if crate::sys::signal_pending() {
            self.run_pending_traps()?;
        }
        result
    }

    /// Runs one command in this shell.
    pub(crate) fn run_command(&mut self, command: &Command) -> Outcome {
        match command {
            Command::Simple(simple) => self.run_simple(simple),
            Command::Compound(compound) => {
                let checked = compound.kind.is_checked() && !compound::is_checked_inside(compound);
                let status = self.run_compound(compound)?;
                self.status = status;
                if checked { self.check_compound(compound, status) } else { Ok(status) }
            }
            Command::Function(definition) => {
                let status = self.define_function(definition)?;
                self.status = status;
                Ok(status)
            }
            Command::Coprocess(coprocess) => self.run_coprocess(coprocess),
        }
    }

    /// PIPESTATUS alone, for what is not the end of another command.
    pub(crate) fn note_pipeline_status(&mut self, status: Status) {
        self.pipeline_status.clear();
        self.pipeline_status.push(status);
    }

    pub(crate) fn set_pipeline_status(&mut self, status: Status) {
        self.note_pipeline_status(status);
        if self.pipeline_record.is_some() {
            self.record_single(status);
        }
    }

    /// After a command that `set -e` looks at: runs the ERR trap and leaves the shell if the command failed.
    pub(crate) fn check_errexit(&mut self) -> Result<(), Unwind> {
        if self.status == 0 || self.errexit_ignored > 0 {
            return Ok(());
        }
        if self.traps.has_error() {
            self.run_error_trap()?;
        }
        if self.is(SetOption::Errexit) {
            return Err(Unwind::Exit(self.status));
        }
        Ok(())
    }
}
