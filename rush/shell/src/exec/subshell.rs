//! Subshells without fork: a snapshot of the session is taken, the commands run in this process with their output
//! captured in memory, and the snapshot is put back.
//!
//! Where semantics need a real process (`$BASHPID`, `ulimit`), `ensure_real_process` forks late: the child goes on
//! with the rest of the subshell and exits at its boundary, the parent unwinds to the boundary and waits.
//! Invariant: `levels` lists the in-process subshells being run, outermost first; those that this process is the
//! real child of are marked `real`, and they come first.

use super::jobs::Jobs;
use crate::perf::Phase;
use crate::state::descriptors::{Capture, Entry, OpenFile};
use crate::state::options::SetOption;
use crate::state::scope::Scope;
use crate::state::variables::Mark;
use crate::{Bytes, Outcome, Session, Status, Unwind, limits, sys};
use std::cell::RefCell;
use std::os::fd::RawFd;
use std::rc::Rc;

/// An in-process subshell being run.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// Whether this process is the forked child for this level.
    real: bool,
    /// Where the level's output is collected, for a command substitution.
    capture: Option<Rc<OpenFile>>,
    /// A pipe into the capture for background children: read and write end.
    pipe: Option<(RawFd, RawFd)>,
    /// The working directory to go back to.
    directory: Option<RawFd>,
    /// The file mode mask to go back to.
    mask: Option<u32>,
    /// The child that runs the rest of this level, and the read end of its output.
    forked: Option<(i32, Option<RawFd>)>,
}

/// What is put back when a subshell ends.
struct Snapshot {
    mark: Mark,
    copied: Scope,
    jobs: Jobs,
}

impl Level {
    /// The level's capture.
    pub(crate) fn capture_file(&self) -> Option<Rc<OpenFile>> {
        self.capture.clone()
    }
}

impl Session {
    /// Runs `body` in an in-process subshell.
    pub(crate) fn run_in_subshell(&mut self, body: impl FnOnce(&mut Session) -> Outcome) -> Outcome {
        let (status, _) = self.run_level(None, body)?;
        Ok(status)
    }

    /// Runs `body` in an in-process subshell and gives what it wrote to descriptor 1.
    pub(crate) fn capture_output(
        &mut self,
        body: impl FnOnce(&mut Session) -> Outcome,
    ) -> Result<(Status, Bytes), Unwind> {
        let capture = Rc::new(OpenFile::Capture(RefCell::new(Capture::Buffer(Bytes::new()))));
        self.run_level(Some(capture), body)
    }

    fn run_level(
        &mut self,
        capture: Option<Rc<OpenFile>>,
        body: impl FnOnce(&mut Session) -> Outcome,
    ) -> Result<(Status, Bytes), Unwind> {
        if self.stack_is_low() {
            self.error("subshell: maximum nesting level exceeded");
            return Ok((1, Bytes::new()));
        }
        self.flush_output();
        let snapshot = self.take_snapshot();
        if let Some(capture) = &capture {
            self.descriptors.replace(1, Entry::Open(capture.clone()));
        }
        self.levels.push(Level { capture: capture.clone(), ..Level::default() });
        let outer = self.enter_phase(Phase::Execute);
        let result = sys::stack::with_room(|| body(self));
        let real = self.levels.last().is_some_and(|level| level.real);
        // What gives up all that runs gives up more than the subshell.
        let given_up = if real { None } else { self.given_up_by(&result) };
        let result = if given_up.is_some() { Ok(self.status) } else { self.end_subshell(result) };
        self.leave_phase(outer);
        if self.levels.last().is_some_and(|level| level.real) {
            let status = result.unwrap_or_else(|unwind| unwind_status(&unwind));
            self.end_process(status);
        }
        self.put_back(snapshot);
        let level = self.levels.pop().unwrap_or_default();
        let status = self.leave_level(level, result)?;
        let text = capture.map(|file| take_capture(&file)).unwrap_or_default();
        if let Some(unwind) = given_up {
            return Err(unwind);
        }
        self.status = status;
        Ok((status, text))
    }

    /// How control leaves everything that this process runs, if a signal has ended the commands of a subshell.
    fn given_up_by(&self, result: &Outcome) -> Option<Unwind> {
        match result {
            Err(Unwind::Forked(_)) => None,
            Err(Unwind::Discard(status)) if self.stops_at_interrupts() && *status == 128 + libc::SIGINT => {
                Some(Unwind::Discard(*status))
            }
            _ => sys::fatal_pending().map(|signal| Unwind::Exit(128 + signal)),
        }
    }

    fn take_snapshot(&mut self) -> Snapshot {
        let snapshot = Snapshot {
            mark: self.variables.mark(),
            copied: self.copied.clone(),
            jobs: self.jobs.for_subshell(),
        };
        let copied = &mut self.copied;
        copied.loop_depth = 0;
        copied.exec_directly = false;
        copied.subshell_depth += 1;
        copied.random_begins = true;
        let options = copied.options;
        copied.traps.enter_subshell(options.is(SetOption::Errtrace), options.is(SetOption::Functrace));
        snapshot
    }

    fn put_back(&mut self, snapshot: Snapshot) {
        self.variables.restore(snapshot.mark);
        let inner = std::mem::replace(&mut self.copied, snapshot.copied);
        self.traps.restore_dispositions(&inner.traps);
        self.jobs.leave_subshell(snapshot.jobs);
    }

    /// Turns the end of a subshell's commands into its status and runs its EXIT trap.
    fn end_subshell(&mut self, result: Outcome) -> Outcome {
        if let Err(Unwind::Forked(pid)) = result {
            return Err(Unwind::Forked(pid));
        }
        let status = match &result {
            Ok(status) => *status,
            Err(unwind) => unwind_status(unwind),
        };
        self.status = status;
        match self.run_exit_trap() {
            Ok(()) => Ok(self.status),
            Err(Unwind::Forked(pid)) => Err(Unwind::Forked(pid)),
            Err(unwind) => Ok(unwind_status(&unwind)),
        }
    }

    /// Undoes what a level did to the process and collects what its children still write.
    fn leave_level(&mut self, level: Level, result: Outcome) -> Outcome {
        if let Some(fd) = level.directory {
            let _ = sys::fchdir(fd);
            sys::close(fd);
        }
        if let Some(mask) = level.mask {
            sys::umask(mask);
        }
        let mut status = result;
        if let Some((pid, reader)) = level.forked {
            if let (Some(reader), Some(file)) = (reader, &level.capture) {
                read_into_capture(reader, file);
                sys::close(reader);
            }
            let held = self.hold_interrupts();
            let raw = self.wait_job(pid);
            if level.capture.is_none() {
                self.note_killed(pid, raw);
            }
            let waited = sys::shell_status(raw);
            self.settle_interrupts(held, if waited == 128 + libc::SIGINT { libc::SIGINT } else { 0 });
            status = Ok(waited);
        }
        if let Some((reader, writer)) = level.pipe {
            sys::close(writer);
            sys::set_nonblocking(reader, false);
            if let Some(file) = &level.capture {
                read_into_capture(reader, file);
            }
            sys::close(reader);
        }
        status
    }

    /// Before the working directory changes: remembers where the subshell came from.
    pub fn before_chdir(&mut self) {
        if let Some(level) = self.levels.last_mut().filter(|l| !l.real && l.directory.is_none()) {
            level.directory = sys::open(b".", sys::OPEN_TO_RETURN | libc::O_DIRECTORY, 0).ok();
        }
    }

    /// Changes the file mode mask; in a subshell the old one comes back at its end.
    pub fn set_umask(&mut self, mask: u32) {
        let old = sys::umask(mask);
        if let Some(level) = self.levels.last_mut().filter(|l| !l.real && l.mask.is_none()) {
            level.mask = Some(old);
        }
    }

    /// Makes sure that every subshell this code runs in is a process of its own. `Err(Forked)` in the parent.
    pub fn ensure_real_process(&mut self) -> Result<(), Unwind> {
        while let Some(index) = self.levels.iter().position(|level| !level.real) {
            self.flush_output();
            let pipe = match &self.levels[index].capture {
                Some(_) => Some(sys::pipe().map_err(|_| Unwind::Exit(1))?),
                None => None,
            };
            self.settle_input();
            let held = self.hold_caught_signals();
            match sys::fork() {
                Ok(0) => {
                    let level = &mut self.levels[index];
                    level.real = true;
                    level.directory = None;
                    level.mask = None;
                    if let (Some((reader, writer)), Some(file)) = (pipe, &level.capture) {
                        sys::close(reader);
                        set_capture_pipe(file, writer);
                    }
                    self.became_child();
                    drop(held);
                }
                Ok(pid) => {
                    let reader = pipe.map(|(reader, writer)| {
                        sys::close(writer);
                        reader
                    });
                    self.levels[index].forked = Some((pid, reader));
                    return Err(Unwind::Forked(pid));
                }
                Err(error) => {
                    self.error(format!("fork: {}", sys::strerror(error)));
                    return Err(Unwind::Exit(254));
                }
            }
        }
        Ok(())
    }

    /// In a real child just forked: the captures of outer levels belong to the parent and become pipes into it.
    /// `pipes` are the write ends, by level.
    pub(crate) fn detach_levels(&mut self, pipes: &[(usize, RawFd)]) {
        for (index, writer) in pipes {
            if let Some(file) = self.levels.get(*index).and_then(|l| l.capture.clone()) {
                set_capture_pipe(&file, *writer);
            }
        }
        for level in &mut self.levels {
            level.real = true;
            level.pipe = None;
            level.directory = None;
            level.mask = None;
        }
        // This process ends itself; no level of it is left to return to.
        self.levels.clear();
    }

    /// Whether a subshell is being run that is no process of its own.
    pub(crate) fn in_process_subshell(&self) -> bool {
        self.levels.iter().any(|level| !level.real)
    }

    /// Whether the innermost subshell is a command substitution.
    pub(crate) fn captures_output(&self) -> bool {
        self.levels.last().is_some_and(|level| level.capture.is_some())
    }

    /// Indexes of the levels whose captures are buffers of this process.
    pub(crate) fn buffered_levels(&self) -> Vec<usize> {
        let buffered = |level: &Level| level.capture.as_ref().is_some_and(|c| is_buffer(c));
        (0..self.levels.len()).filter(|n| buffered(&self.levels[*n])).collect()
    }

    /// The write end of the pipe through which children of the level `index` write into its capture.
    pub(crate) fn level_pipe(&mut self, index: usize) -> Option<RawFd> {
        let level = self.levels.get_mut(index)?;
        if level.pipe.is_none() {
            let (reader, writer) = sys::pipe().ok()?;
            sys::set_nonblocking(reader, true);
            level.pipe = Some((reader, writer));
        }
        level.pipe.map(|(_, writer)| writer)
    }

    /// Moves what background children have written so far into the captures, to keep the order of output.
    pub(crate) fn drain_level_pipes(&mut self) {
        for level in &self.levels {
            if let (Some((reader, _)), Some(file)) = (level.pipe, &level.capture) {
                read_into_capture(reader, file);
            }
        }
    }

    /// The read ends of the levels' pipes, to be watched while waiting.
    pub(crate) fn level_readers(&self) -> Vec<RawFd> {
        self.levels.iter().filter_map(|level| level.pipe.map(|p| p.0)).collect()
    }
}

/// The status a subshell has when it is left by `unwind`.
pub(crate) fn unwind_status(unwind: &Unwind) -> Status {
    match unwind {
        Unwind::Exit(status) | Unwind::Return(status) | Unwind::Discard(status) => *status & 0xff,
        Unwind::Break(_) | Unwind::Continue(_) | Unwind::Forked(_) => 0,
    }
}

fn is_buffer(file: &OpenFile) -> bool {
    matches!(file, OpenFile::Capture(c) if matches!(&*c.borrow(), Capture::Buffer(_)))
}

fn set_capture_pipe(file: &OpenFile, writer: RawFd) {
    if let OpenFile::Capture(capture) = file {
        *capture.borrow_mut() = Capture::Pipe(writer);
    }
}

fn take_capture(file: &OpenFile) -> Bytes {
    match file {
        OpenFile::Capture(capture) => match &mut *capture.borrow_mut() {
            Capture::Buffer(buffer) => std::mem::take(buffer),
            Capture::Pipe(_) => Bytes::new(),
        },
        _ => Bytes::new(),
    }
}

/// Reads to the end (or until a non-blocking pipe is empty) into a capture's buffer.
pub(crate) fn read_into_capture(reader: RawFd, file: &OpenFile) {
    let mut chunk = vec![0; limits::READ_CHUNK_BYTES];
    loop {
        if sys::fatal_but_interrupt() {
            return;
        }
        match sys::read(reader, &mut chunk) {
            Ok(0) => return,
            Ok(n) => {
                let _ = file.write_all(&chunk[..n]);
            }
            Err(libc::EINTR) => {}
            Err(libc::EAGAIN) => return,
            Err(_) => return,
        }
    }
}
