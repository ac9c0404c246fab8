//! The shell's half of the protocol: waits for a message, does it, answers. Single-threaded. Between runs the standard
//! descriptors lead nowhere; each run brings its own. Leaves to its host how the process is guarded.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

use rush::exec::record::{PipelineRecord, Wanted};
use rush::exec::traps;
use rush::state::descriptors::Entry;
use rush::state::names::NameId;
use rush::state::options::SetOption;
use rush::state::value::Attributes;
use rush::state::variables::Variable;
use rush::{Outcome, Session, Unwind, signals, sys};

use crate::message::{Fork, FromShell, Pipeline, Run, RunDone, Status, Termination, ToShell};
use crate::{Frames, VERSION};

/// The status of a run that SIGINT ended.
const STATUS_INTERRUPTED: i32 = 128 + 2;

/// Options that hold for the run that sets them and not for the session: they would end or blind every later run.
const OPTIONS_OF_A_RUN: [SetOption; 3] = [SetOption::Errexit, SetOption::Noexec, SetOption::Onecmd];

/// Serves `session` on `socket` until the client has gone or asks for the end. A script that exits ends its run. The host has made
/// SIGINT a caught signal (`sys::signal_catch`), so that it ends a run and not the session.
///
/// # Errors
/// What the socket says.
pub fn serve(mut session: Session, socket: OwnedFd) -> io::Result<()> {
    session.interrupt_discards = true;
    let mut worker = Worker { session, copies: Vec::new(), frames: Frames::new(socket) };
    worker.serve()
}

/// What a record says, as messages carry it.
#[must_use]
pub fn pipelines(record: PipelineRecord) -> Vec<Pipeline> {
    let convert = |end: rush::exec::record::PipelineEnd| {
        let killed = end.stages.iter().any(|stage| stage.signal.is_some());
        let names = end.stages.iter().map(|stage| stage.signal.and_then(signals::name));
        Pipeline {
            stages: end.stages.iter().map(|stage| stage.status).collect(),
            line: Some(end.line),
            signals: if killed { names.collect() } else { Vec::new() },
        }
    };
    record.ends.into_iter().map(convert).collect()
}

struct Worker {
    session: Session,
    /// Copies of this process that nobody has waited for.
    copies: Vec<u32>,
    frames: Frames,
}

impl Worker {
    fn serve(&mut self) -> io::Result<()> {
        self.say(&FromShell::Ready { pid: std::process::id(), version: VERSION })?;
        loop {
            let (message, descriptors) = match self.frames.receive::<ToShell>() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(()),
                // A signal between two runs ends nothing.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            sys::clear_pending_signals();
            self.copies.retain(|pid| !has_ended(*pid));
            match message {
                ToShell::Run(run) => {
                    let id = run.id;
                    match self.run(run, descriptors) {
                        Ok(done) => self.say(&FromShell::Done(done))?,
                        Err(message) => self.say(&FromShell::Failed { id, message })?,
                    }
                }
                ToShell::Fork(Fork { id }) => self.fork(id, descriptors)?,
                ToShell::Command(_) => self.say(&FromShell::Failed {
                    id: 0,
                    message: "a session runs scripts; command lines are for the daemon's socket".to_string(),
                })?,
                ToShell::Exit => return Ok(()),
            }
        }
    }

    fn say(&self, message: &FromShell) -> io::Result<()> {
        self.frames.send(message, &[])
    }

    fn run(&mut self, run: Run, descriptors: Vec<OwnedFd>) -> Result<RunDone, String> {
        install(descriptors)?;
        self.own_descriptors();
        sys::keep_stream_order(!run.terminal);
        if run.terminal
            && let Err(error) = sys::take_terminal(0)
        {
            self.leave(&run);
            return Err(format!("the run's terminal: {}", sys::strerror(error)));
        }
        let start = Instant::now();
        let cpu = cpu_us();
        let mut set = Vec::new();
        if let Err(message) = self.prepare(&run, &mut set) {
            self.take_back(set);
            self.leave(&run);
            return Err(message);
        }
        let options = OPTIONS_OF_A_RUN.map(|option| (option, self.session.is(option)));
        self.session.pipeline_record = Some(Box::new(PipelineRecord::new(Wanted::Every)));
        self.session.begin_undo_line(run.script.as_bytes());
        let result = self.session.run_text(run.script.as_bytes(), 1);
        let (status, exited, terminated) = self.outcome(result);
        options.into_iter().for_each(|(option, on)| self.session.options.put(option, on));
        // It runs before every command, so that one with `exit` would let no later run do anything, not even take it away.
        self.session.traps.set(traps::DEBUG, None);
        self.take_back(set);
        self.leave(&run);
        let record = self.session.pipeline_record.take();
        Ok(RunDone {
            id: run.id,
            status: Status(status),
            pipelines: record.map_or_else(Vec::new, |record| pipelines(*record)),
            cwd: String::from_utf8_lossy(std::env::current_dir().unwrap_or_default().as_os_str().as_bytes())
                .into_owned(),
            wall_us: start.elapsed().as_micros() as u64,
            cpu_us: cpu_us().saturating_sub(cpu),
            terminated,
            exited,
        })
    }

    /// Whatever a script did to them: the standard descriptors are those of this run.
    fn own_descriptors(&mut self) {
        for number in 0..3 {
            drop(self.session.descriptors.replace(number, Entry::Inherited));
        }
    }

    /// Lets go of what the run brought.
    fn leave(&mut self, run: &Run) {
        self.session.flush_output();
        sys::keep_stream_order(false);
        self.own_descriptors();
        if run.terminal {
            sys::leave_terminal(0);
        }
        let _ = lead_nowhere();
    }

    /// The status, whether the script left by `exit`, and whether a signal ended the run.
    fn outcome(&mut self, result: Outcome) -> (i32, bool, Option<Termination>) {
        let answer = match result {
            Ok(status) => (status, false, None),
            Err(Unwind::Exit(status)) => (self.session.finish(Err(Unwind::Exit(status))), true, None),
            Err(Unwind::Discard(STATUS_INTERRUPTED)) => {
                (STATUS_INTERRUPTED, false, Some(Termination::Interrupted))
            }
            Err(Unwind::Discard(status) | Unwind::Return(status)) => (status, false, None),
            Err(_) => (self.session.status, false, None),
        };
        self.session.flush_output();
        answer
    }

    /// The run's environment and working directory, by the shell's own means. Each variable goes to `set` with how it was.
    fn prepare(&mut self, run: &Run, set: &mut Vec<Set>) -> Result<(), String> {
        for (name, value) in &run.environment {
            let name_is_good = !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !name_is_good {
                return Err(format!("'{name}' cannot name an environment variable"));
            }
            let id = self.session.variables.intern(name.as_bytes());
            let before = self.session.variables.slot(id).clone();
            self.expect_success(
                &format!("builtin export {name}={}", quoted(value)),
                &format!("the environment variable '{name}' could not be set"),
            )?;
            if !before.attributes.has(Attributes::DYNAMIC) {
                let now = self.scalar(id);
                set.push(Set { id, before, now });
            }
        }
        let Some(folder) = &run.cwd else { return Ok(()) };
        if folder.is_empty() {
            return Err("the working directory could not be set: its name is empty".to_string());
        }
        // A name is a name: neither the way back, `-`, nor something that `CDPATH` leads to.
        let word = quoted(&if folder.starts_with('/') { folder.clone() } else { format!("./{folder}") });
        let what = format!("the working directory '{folder}' could not be set: {}", why_not(folder));
        self.expect_success(&format!("builtin cd -- {word}"), &what)
    }

    fn scalar(&self, id: NameId) -> Option<Vec<u8>> {
        self.session.variables.slot(id).value.scalar().map(std::borrow::Cow::into_owned)
    }

    /// Makes variables as they were, but for those that the script has changed.
    fn take_back(&mut self, set: Vec<Set>) {
        for Set { id, before, now } in set.into_iter().rev() {
            if self.scalar(id) != now {
                continue;
            }
            let variables = &mut self.session.variables;
            let slot = variables.slot_mut(id);
            slot.value = before.value;
            slot.attributes = before.attributes;
            // What is exported now must be taken note of as well.
            variables.slot_mut(id);
        }
    }

    fn expect_success(&mut self, command: &str, what: &str) -> Result<(), String> {
        match self.session.run_text(command.as_bytes(), 1) {
            Ok(0) => Ok(()),
            _ => Err(what.to_string()),
        }
    }

    /// Copies this process; the copy goes on with the socket that came with the request.
    fn fork(&mut self, id: u64, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        let Some(socket) = descriptors.into_iter().next() else {
            return self
                .say(&FromShell::Failed { id, message: "a fork needs the copy's socket".to_string() });
        };
        match self.session.fork_copy() {
            Ok(0) => {
                self.copies.clear();
                self.frames = Frames::new(socket);
                // The copy's runs may have terminals of their own.
                let _ = rustix::process::setsid();
                crate::platform::adopt_orphans()?;
                self.say(&FromShell::Ready { pid: std::process::id(), version: VERSION })
            }
            Ok(pid) => {
                self.copies.push(pid as u32);
                self.say(&FromShell::Forked { id, pid: pid as u32 })
            }
            Err(error) => {
                self.say(&FromShell::Failed { id, message: format!("fork: {}", sys::strerror(error)) })
            }
        }
    }
}

/// A variable that a run brought along.
struct Set {
    id: NameId,
    before: Variable,
    now: Option<Vec<u8>>,
}

/// Why a folder cannot be a working directory, as far as looking at it says.
fn why_not(folder: &str) -> String {
    match std::fs::metadata(folder) {
        Ok(data) if data.is_dir() => "it may not be entered".to_string(),
        Ok(_) => "it is no folder".to_string(),
        Err(error) => error.to_string(),
    }
}

/// Whether a child has ended; it is reaped then.
fn has_ended(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let ended = pid.map(|pid| rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG));
    !matches!(ended, Some(Ok(None)))
}

/// Puts a run's descriptors on 0, 1 and 2.
fn install(descriptors: Vec<OwnedFd>) -> Result<(), String> {
    let failed = |error: rustix::io::Errno| format!("the run's descriptors: {error}");
    let [stdin, stdout, stderr] =
        <[OwnedFd; 3]>::try_from(descriptors).map_err(|_| "a run needs three descriptors".to_string())?;
    rustix::stdio::dup2_stdin(stdin).map_err(failed)?;
    rustix::stdio::dup2_stdout(stdout).map_err(failed)?;
    rustix::stdio::dup2_stderr(stderr).map_err(failed)
}

/// Lets go of a run's descriptors, so that its client sees the end of its output.
fn lead_nowhere() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

/// `text` as one word of shell source.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// User and system time of this process and the children it waited for.
fn cpu_us() -> u64 {
    let clocks = sys::clocks();
    clocks.user_us + clocks.system_us
}
