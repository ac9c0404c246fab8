//! Pipelines of several commands, background lists and `time`.

use crate::expand::Expanded;
use crate::state::descriptors::{Entry, MemoryInput, OpenFile, Source};
use crate::state::names;
use crate::state::options::{SetOption, Shopt};
use crate::syntax::ast::{
    AndOr, Command, Operation, Part, Pipeline, SimpleCommand, TimeStyle, Word, WordKind,
};
use crate::{Bytes, Outcome, Session, Status, Unwind, sys};
use std::cell::RefCell;
use std::os::fd::RawFd;
use std::rc::Rc;

use super::Launch;

impl Session {
    /// Runs the stages of a pipeline, each in a subshell but (with `lastpipe`) the last.
    pub(crate) fn run_pipes(&mut self, stages: &[Command], pipeline: &Pipeline) -> Outcome {
        let in_shell = self.shopt(Shopt::Lastpipe) && !self.is(SetOption::Monitor);
        // What runs here in place of a child is a stage of this pipeline and not one of its own.
        let record = self.pipeline_record.take();
        let started = self.run_memory_stages(stages);
        self.pipeline_record = record;
        let (mut statuses, memory) = started?;
        let rest = &stages[statuses.len()..];
        if let ([last], Some(bytes)) = (rest, &memory)
            && !in_shell
        {
            let bytes = bytes.clone();
            let record = self.pipeline_record.take();
            let ended = self.run_last_in_memory(last, bytes);
            self.pipeline_record = record;
            statuses.push(ended?);
            let status = self.pipeline_result(&statuses);
            self.record_pipeline(&statuses);
            self.pipeline_status = statuses;
            return Ok(status);
        }
        let launch = Launch::new(self);
        let mut children = Vec::with_capacity(stages.len());
        let mut input = memory.map(memory_file);
        let mut last_status = None;
        for (n, stage) in rest.iter().enumerate() {
            let last = n + 1 == rest.len();
            if last && in_shell {
                last_status = Some(self.run_last_in_shell(stage, input.take()));
                break;
            }
            let output = if last { None } else { Some(self.make_pipe()?) };
            if let (Command::Simple(simple), true) = (stage, self.wants_text()) {
                self.line = simple.line;
                let text = crate::syntax::printer::simple_command(simple);
                self.note_command(text);
                self.run_debug_trap()?;
            }
            let child = self.start_stage(stage, input.take(), output, &launch)?;
            children.push(child);
            input = output.map(|(reader, _)| OpenFile::owned(reader));
        }
        let held = self.hold_interrupts();
        self.pass_interrupt_on(children.iter().filter_map(|child| match child {
            Child::Running(pid) => Some(*pid),
            Child::Ended(_) => None,
        }));
        launch.collect(self);
        let text = || crate::syntax::printer::pipeline(pipeline);
        self.forget_stages();
        statuses.extend(self.wait_pipeline(&children, text));
        let killed = statuses.contains(&(128 + libc::SIGINT));
        self.settle_interrupts(held, if killed { libc::SIGINT } else { 0 });
        let mut unwind = None;
        match last_status {
            Some(Ok(status)) => statuses.push(status),
            Some(Err(reason)) => {
                statuses.push(self.status);
                unwind = Some(reason);
            }
            None => {}
        }
        let status = self.pipeline_result(&statuses);
        self.record_pipeline(&statuses);
        self.pipeline_status = statuses;
        unwind.map_or(Ok(status), Err)
    }

    /// OPTIMIZATION: leading stages that are builtins which only write (`echo`, `printf` ...) run in this process, and
    /// their output is handed on in memory. Equal to forking them, because they read nothing and come to an end.
    fn run_memory_stages(&mut self, stages: &[Command]) -> Expanded<(Vec<Status>, Option<Bytes>)> {
        let mut statuses = Vec::with_capacity(stages.len());
        let mut memory = None;
        // At a terminal every stage is a process that can be stopped.
        if self.controls_jobs() {
            return Ok((statuses, memory));
        }
        for stage in &stages[..stages.len() - 1] {
            if !self.only_writes(stage) {
                break;
            }
            // A builtin in a pipeline ends its process before an ERR trap could run.
            let run = |session: &mut Session| {
                session.capture_output(|session| {
                    session.enter_stage(stage);
                    session.run_command(stage)
                })
            };
            let (status, bytes) = self.ignoring_errexit(run)?;
            statuses.push(status);
            memory = Some(bytes);
        }
        Ok((statuses, memory))
    }

    /// Whether a stage is a builtin that writes a bounded text and reads nothing.
    fn only_writes(&self, stage: &Command) -> bool {
        let Command::Simple(simple) = stage else { return false };
        let Some(name) = simple.words.first().and_then(|w| w.as_constant()) else { return false };
        let known = matches!(name, b"echo" | b"printf" | b":" | b"true" | b"false" | b"pwd" | b"test" | b"[");
        known
            && simple.redirects().is_empty()
            && simple.assignments().is_empty()
            && !self.functions.contains_key(name)
            && !self.is_disabled(name)
            && !self.wants_text()
    }

    /// The last stage after stages in memory: an in-process subshell that reads `bytes`.
    fn run_last_in_memory(&mut self, stage: &Command, bytes: Bytes) -> Outcome {
        self.run_in_subshell(|session| {
            session.descriptors.replace(0, Entry::Open(memory_file(bytes)));
            session.run_stage_command(stage)
        })
    }

    /// Runs the command of a stage where nothing comes after it.
    fn run_stage_command(&mut self, stage: &Command) -> Outcome {
        self.enter_stage(stage);
        match stage {
            Command::Simple(simple) => self.run_simple_unchecked(simple),
            _ => self.run_command(stage),
        }
    }

    /// Notes in a subshell that it runs nothing but `command`.
    fn enter_stage(&mut self, command: &Command) {
        if matches!(command, Command::Simple(_)) && self.plain_stages + 1 == self.subshell_depth {
            self.plain_stages += 1;
        }
    }

    /// Starts a stage in a child of its own.
    fn start_stage(
        &mut self,
        stage: &Command,
        input: Option<Rc<OpenFile>>,
        output: Option<(RawFd, RawFd)>,
        launch: &Launch,
    ) -> Expanded<Child> {
        if let Command::Simple(simple) = stage
            && self.can_spawn_stage(simple)
        {
            return self.spawn_stage(simple, input, output, launch);
        }
        let placement = self.placement();
        // The handler that the child has from the shell must not take what is meant for the child.
        let held = self.interrupt_discards.then(|| sys::hold_signal(libc::SIGINT));
        match self.fork_child(launch)? {
            0 => {
                drop(held);
                if let Some(placement) = placement {
                    self.take_place(placement);
                }
                self.run_stage_child(stage, input, output)
            }
            pid => {
                self.place_child(pid);
                if placement.is_some() && self.job_group == 0 {
                    self.job_group = pid;
                }
                if let Some((_, writer)) = output {
                    sys::close(writer);
                }
                Ok(Child::Running(pid))
            }
        }
    }

    /// Whether the stage is a program whose words expand without side effects, so that no fork is needed.
    fn can_spawn_stage(&self, simple: &SimpleCommand) -> bool {
        let Some(name) = simple.words.first().and_then(|w| w.as_constant()) else { return false };
        simple.assignments().is_empty()
            && !self.functions.contains_key(name)
            && crate::builtins::find(name).is_none()
            && self.builtin(name).is_none()
            && !rush_utilities::stands_alone(name)
            && !self.functions.contains_key(&b"command_not_found_handle"[..])
            && !self.is(SetOption::Xtrace)
            && !self.is(SetOption::Keyword)
            && !self.is(SetOption::Nounset)
            && !self.is(SetOption::Monitor)
            && simple.words.iter().all(is_harmless)
            && simple.redirects().iter().all(|r| r.here.is_none() && is_harmless(&r.target))
    }

    fn spawn_stage(
        &mut self,
        simple: &SimpleCommand,
        input: Option<Rc<OpenFile>>,
        output: Option<(RawFd, RawFd)>,
        launch: &Launch,
    ) -> Expanded<Child> {
        self.line = simple.line;
        let table = self.descriptors.clone();
        if let Some(file) = input {
            self.descriptors.replace(0, Entry::Open(file));
        }
        if let Some((_, writer)) = output {
            self.descriptors.replace(1, Entry::Open(OpenFile::owned(writer)));
        }
        let result = self.spawn_simple(simple, launch);
        self.descriptors = table;
        match result {
            Ok(child) => Ok(child),
            Err(unwind) => Ok(Child::Ended(super::subshell::unwind_status(&unwind))),
        }
    }

    fn spawn_simple(&mut self, simple: &SimpleCommand, launch: &Launch) -> Expanded<Child> {
        let mut args = Vec::with_capacity(simple.words.len());
        self.expand_words(&simple.words, &mut args)?;
        if let Err(status) = self.redirect(simple.redirects())? {
            return Ok(Child::Ended(status));
        }
        let path = match self.find_program(&args[0]) {
            Ok(path) => path,
            Err(status) => return Ok(Child::Ended(status)),
        };
        self.keep_before_command(&path, &args)?;
        match self.spawn(&path, &args, launch) {
            Ok(pid) => Ok(Child::Running(pid)),
            Err(error) => Ok(Child::Ended(self.spawn_failed(&path, &args[0], error))),
        }
    }

    fn make_pipe(&mut self) -> Expanded<(RawFd, RawFd)> {
        sys::pipe().map_err(|error| {
            self.error(format!("pipe error: {}", sys::strerror(error)));
            Unwind::Exit(1)
        })
    }

    /// The status of a pipeline: the last, or with `pipefail` the last that is not 0.
    fn pipeline_result(&self, statuses: &[Status]) -> Status {
        let last = statuses.last().copied().unwrap_or(0);
        if self.is(SetOption::Pipefail) {
            return statuses.iter().rev().copied().find(|s| *s != 0).unwrap_or(0);
        }
        last
    }

    fn run_stage_child(
        &mut self,
        stage: &Command,
        input: Option<Rc<OpenFile>>,
        output: Option<(RawFd, RawFd)>,
    ) -> ! {
        if let Some(file) = input {
            self.descriptors.replace(0, Entry::Open(file));
        }
        if let Some((reader, writer)) = output {
            sys::close(reader);
            self.descriptors.replace(1, Entry::Open(OpenFile::owned(writer)));
        }
        self.exec_directly = matches!(stage, Command::Simple(_)) && !self.traps.has_exit();
        self.finish_child(|session| session.run_stage_command(stage))
    }

    fn run_last_in_shell(&mut self, stage: &Command, input: Option<Rc<OpenFile>>) -> Outcome {
        let Some(file) = input else { return self.run_command(stage) };
        let old = self.descriptors.replace(0, Entry::Open(file));
        let result = self.run_command(stage);
        self.descriptors.replace(0, old);
        result
    }

    /// `list &`
    pub(crate) fn run_background(&mut self, and_or: &AndOr) -> Outcome {
        if let Some(words) = self.named_job(and_or) {
            return self.run_arguments(words, false);
        }
        let text = crate::syntax::printer::and_or(and_or);
        let monitor = self.is(SetOption::Monitor);
        let pid = self.fork_background()?;
        if monitor {
            sys::set_process_group(pid);
        }
        if pid == 0 {
            if !monitor {
                // These two may be trapped: the shell itself ignores them.
                for signal in [libc::SIGINT, libc::SIGQUIT] {
                    self.ignored_on_entry(signal as usize);
                }
                sys::ignore_interrupts();
                self.null_input();
            }
            let alone = and_or.rest.is_empty() && !and_or.first.negated && and_or.first.timed.is_none();
            let command = if alone { and_or.first.stages.first() } else { None };
            let command = command.filter(|_| and_or.first.stages.len() == 1);
            if let Some(command) = command {
                self.enter_stage(command);
            }
            self.background_process = true;
            self.exec_directly = matches!(command, Some(Command::Simple(_))) && !self.traps.has_exit();
            if let Some(Command::Simple(simple)) = command {
                // Its failure is the child's, which `wait` tells of: no ERR trap.
                self.finish_child(|session| session.run_simple_unchecked(simple));
            }
            if let Some(Command::Compound(compound)) = command {
                self.finish_child(|session| session.run_compound_for_good(compound));
            }
            self.finish_child(|session| session.run_and_or(and_or));
        }
        self.last_background = Some(pid);
        let number = self.add_job(pid, text);
        if let Some(job) = self.jobs.list.last_mut() {
            job.own_group = monitor;
            job.pipeline = and_or.rest.is_empty() && and_or.first.stages.len() > 1;
        }
        if self.terminal.is_some() {
            self.write_err(format!("[{number}] {pid}\n").as_bytes());
        }
        self.status = 0;
        Ok(0)
    }

    /// `%1 &` is `bg %1`.
    fn named_job(&self, and_or: &AndOr) -> Option<Vec<Bytes>> {
        let [Command::Simple(simple)] = &and_or.first.stages[..] else { return None };
        let [word] = &simple.words[..] else { return None };
        let name = word.as_constant().filter(|name| name.starts_with(b"%"))?;
        let alone = and_or.rest.is_empty() && self.is(SetOption::Monitor);
        alone.then(|| vec![b"bg".to_vec(), name.to_vec()])
    }

    /// An asynchronous list without job control reads nothing, unless standard input was redirected.
    fn null_input(&mut self) {
        if let Ok(fd) = sys::open(b"/dev/null", libc::O_RDONLY, 0) {
            if matches!(self.descriptors.entries().first(), None | Some(Entry::Inherited)) {
                self.descriptors.replace(0, Entry::Open(OpenFile::owned(fd)));
            } else {
                sys::close(fd);
            }
        }
    }

    /// Prints what `time` measured.
    pub(crate) fn report_time(&mut self, style: TimeStyle, start: sys::Clocks) {
        let now = sys::clocks();
        let real = now.real_us - start.real_us;
        let user = now.user_us - start.user_us;
        let system = now.system_us - start.system_us;
        let format = match style {
            TimeStyle::Posix => b"real %2R\nuser %2U\nsys %2S".to_vec(),
            TimeStyle::Bash => match self.get_id(names::TIMEFORMAT) {
                Some(format) => format.into_owned(),
                None => b"\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS".to_vec(),
            },
        };
        if format.is_empty() {
            return;
        }
        let text = format_time(&format, real, user, system);
        self.write_err(&text);
    }
}

/// A stage that was started.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Child {
    /// In this process.
    Running(i32),
    /// Not at all: this is its status.
    Ended(Status),
}

/// Input for the next stage.
fn memory_file(bytes: Bytes) -> Rc<OpenFile> {
    Rc::new(OpenFile::Memory(RefCell::new(MemoryInput::new(bytes, Source::Pipeline))))
}

/// Whether a word expands without changing anything or running commands.
pub(super) fn is_harmless(word: &Word) -> bool {
    fn harmless(parts: &[Part]) -> bool {
        parts.iter().all(|part| match part {
            Part::Literal(_)
            | Part::Quoted(_)
            | Part::Tilde(_)
            | Part::Variable(_)
            | Part::QuotedVariable(_) => true,
            Part::DoubleQuoted(inner) => harmless(inner),
            Part::Parameter(p) => {
                matches!(p.operation, Operation::Value) && p.subscript.is_none() && !p.indirect
            }
            _ => false,
        })
    }
    match word.kind() {
        WordKind::Constant(_) => true,
        WordKind::Parts(parts) => harmless(parts),
    }
}

/// Applies TIMEFORMAT.
fn format_time(format: &[u8], real: u64, user: u64, system: u64) -> Bytes {
    let mut out = Bytes::new();
    let mut bytes = format.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut precision = 3;
        let mut long = false;
        if let Some(digit @ b'0'..=b'9') = bytes.peek().copied() {
            precision = usize::from(digit - b'0').min(6);
            bytes.next();
        }
        if bytes.peek() == Some(&b'l') {
            long = true;
            bytes.next();
        }
        match bytes.next() {
            Some(b'%') => out.push(b'%'),
            Some(b'R') => push_duration(&mut out, real, precision, long),
            Some(b'U') => push_duration(&mut out, user, precision, long),
            Some(b'S') => push_duration(&mut out, system, precision, long),
            Some(b'P') => {
                let percent = if real == 0 { 0.0 } else { (user + system) as f64 * 100.0 / real as f64 };
                out.extend_from_slice(format!("{percent:.2}").as_bytes());
            }
            Some(other) => out.extend_from_slice(&[b'%', other]),
            None => out.push(b'%'),
        }
    }
    out.push(b'\n');
    out
}

fn push_duration(out: &mut Bytes, micros: u64, precision: usize, long: bool) {
    let (minutes, rest) = if long { (micros / 60_000_000, micros % 60_000_000) } else { (0, micros) };
    if long {
        out.extend_from_slice(format!("{minutes}m").as_bytes());
    }
    let seconds = rest / 1_000_000;
    let fraction = format!("{:06}", rest % 1_000_000);
    out.extend_from_slice(seconds.to_string().as_bytes());
    if precision > 0 {
        out.push(b'.');
        out.extend_from_slice(&fraction.as_bytes()[..precision]);
    }
    if long {
        out.push(b's');
    }
}
