//! Jobs and waiting. Owns the table of background children and everything that reaps children; waiting blocks in
//! the kernel, never polls on a timer.

use super::pipeline::Child;
use crate::state::names;
use crate::state::options::SetOption;
use crate::{Bytes, Session, Status, sys};
use rustc_hash::FxHashMap;

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// Running.
    Running,
    /// Stopped by a signal.
    Stopped(i32),
    /// Ended; the raw wait status.
    Done(i32),
}

/// A background job.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its number.
    pub number: usize,
    /// Its (last) process.
    pub pid: i32,
    /// Its process group, if it has one of its own.
    pub group: i32,
    /// Whether it has: without job control its processes are in the shell's group.
    pub own_group: bool,
    /// The working directory in which it was started.
    pub directory: Bytes,
    /// Whether it is one pipeline, whose stages are the children of its process.
    pub pipeline: bool,
    /// Its state.
    pub state: JobState,
    /// Its command text.
    pub text: Bytes,
    /// Whether its end has been reported.
    pub notified: bool,
    /// Whether it belongs to the shell this subshell came from.
    pub foreign: bool,
    /// Whether `disown -h` spares it SIGHUP.
    pub spared: bool,
}

/// The table.
#[derive(Debug, Clone, Default)]
pub struct Jobs {
    /// Jobs by number.
    pub list: Vec<Job>,
    /// Ended children that are no jobs any more, or never were (process substitutions): pid and wait status.
    ended: FxHashMap<i32, i32>,
    /// Numbers of the current and previous job are the last in this list.
    recent: Vec<usize>,
}

impl Job {
    /// Sends a signal to its process group; without one of its own, to its process, and to the stages of a pipeline before.
    ///
    /// # Errors
    /// The error number, when it did not reach the job.
    pub(crate) fn signal(&self, signal: i32) -> Result<(), i32> {
        if let JobState::Done(_) = self.state {
            return Ok(());
        }
        if self.own_group {
            return sys::send_signal(-self.group, signal);
        }
        if !self.pipeline || signal == 0 {
            return sys::send_signal(self.pid, signal);
        }
        // It stands still meanwhile, so that no stage begins after the look.
        let stopped = !sys::child_changed(self.pid) && sys::stop_child(self.pid);
        for stage in children(self.pid) {
            // A stage that has ended meanwhile is no error.
            let _ = sys::send_signal(stage, signal);
        }
        let sent = sys::send_signal(self.pid, signal);
        if stopped && !is_stop(signal) {
            let _ = sys::send_signal(self.pid, libc::SIGCONT);
        }
        sent
    }
}

fn is_stop(signal: i32) -> bool {
    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
}

/// The children of a process; none where the system does not list them.
fn children(pid: i32) -> Vec<i32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
}

impl Jobs {
    /// Adds a running job.
    pub(crate) fn add(&mut self, pid: i32, text: Bytes, directory: Bytes) -> usize {
        let number = self.list.iter().map(|j| j.number).max().unwrap_or(0) + 1;
        let state = JobState::Running;
        self.list.push(Job {
            number,
            pid,
            group: pid,
            own_group: false,
            directory,
            pipeline: false,
            state,
            text,
            notified: false,
            foreign: false,
            spared: false,
        });
        self.recent.push(number);
        number
    }

    /// The table a subshell starts with; returns the old one.
    pub(crate) fn for_subshell(&mut self) -> Jobs {
        let old = self.clone();
        for job in &mut self.list {
            job.foreign = true;
        }
        self.ended.clear();
        old
    }

    /// Back in the parent: what the subshell learnt about the parent's children stays known.
    pub(crate) fn leave_subshell(&mut self, mut old: Jobs) {
        for job in &mut old.list {
            if let Some(known) = self.list.iter().find(|j| j.pid == job.pid) {
                job.state = known.state;
            }
        }
        old.ended.extend(self.ended.drain());
        *self = old;
    }

    /// Notes the wait status of a child.
    pub(crate) fn note(&mut self, pid: i32, wait_status: i32) {
        let state = if sys::is_stopped(wait_status) {
            JobState::Stopped(sys::stop_signal(wait_status))
        } else if sys::is_continued(wait_status) {
            JobState::Running
        } else {
            JobState::Done(wait_status)
        };
        match self.list.iter_mut().find(|j| j.pid == pid) {
            Some(job) => job.state = state,
            None if matches!(state, JobState::Done(_)) => {
                self.ended.insert(pid, wait_status);
            }
            None => {}
        }
    }

    /// The current (`%+`) or previous (`%-`) job's number.
    pub fn recent(&self, back: usize) -> Option<usize> {
        let alive: Vec<usize> =
            self.recent.iter().copied().filter(|n| self.list.iter().any(|j| j.number == *n)).collect();
        let stopped: Vec<usize> = alive
            .iter()
            .copied()
            .filter(|n| self.list.iter().any(|j| j.number == *n && matches!(j.state, JobState::Stopped(_))))
            .collect();
        let mut order: Vec<usize> = alive.iter().copied().filter(|n| !stopped.contains(n)).collect();
        order.extend(stopped);
        order.len().checked_sub(back + 1).map(|i| order[i])
    }

    /// Makes the job `number` the current one.
    pub(crate) fn make_recent(&mut self, number: usize) {
        self.recent.retain(|n| *n != number);
        self.recent.push(number);
    }

    /// Removes the job `number`.
    pub fn remove(&mut self, number: usize) {
        self.list.retain(|j| j.number != number);
        self.recent.retain(|n| *n != number);
    }

    /// Finds a job by a specification without the `%`.
    pub fn find(&self, spec: &[u8]) -> Result<usize, FindError> {
        let all = |test: &dyn Fn(&Job) -> bool| {
            let found: Vec<usize> = self.list.iter().filter(|j| test(j)).map(|j| j.number).collect();
            match found[..] {
                [] => Err(FindError::None),
                [one] => Ok(one),
                _ => Err(FindError::Ambiguous),
            }
        };
        match spec {
            b"" | b"%" | b"+" => self.recent(0).ok_or(FindError::None),
            b"-" => self.recent(1).or_else(|| self.recent(0)).ok_or(FindError::None),
            _ if spec.iter().all(u8::is_ascii_digit) => {
                let number = std::str::from_utf8(spec).ok().and_then(|s| s.parse::<usize>().ok());
                all(&|j| Some(j.number) == number)
            }
            [b'?', text @ ..] => all(&|j| j.text.windows(text.len().max(1)).any(|w| w == text)),
            text => all(&|j| j.text.starts_with(text)),
        }
    }
}

/// Why a job specification names no single job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindError {
    /// No such job.
    None,
    /// More than one.
    Ambiguous,
}

impl Session {
    fn wait_raw(&mut self, pid: i32) -> Option<i32> {
        if let Some(status) = self.jobs.ended.remove(&pid) {
            return Some(status);
        }
        if !self.level_readers().is_empty() {
            self.watch_child(pid);
        }
        let stops = self.controls_jobs();
        loop {
            // The shell ends, and the child goes on alone.
            if sys::fatal_but_interrupt() {
                return Some(self.status << 8);
            }
            match sys::wait_child_or_stop(pid, stops) {
                Ok((_, status)) => return Some(status),
                Err(libc::EINTR) => {}
                Err(_) => return self.jobs.ended.remove(&pid),
            }
        }
    }

    /// While a child runs, takes what background children write into captures, so that they cannot block.
    fn watch_child(&mut self, pid: i32) {
        let Ok(handle) = sys::process_handle(pid) else { return };
        loop {
            let mut fds = self.level_readers();
            fds.push(handle);
            let ready = sys::poll_readable(&fds, -1);
            self.drain_level_pipes();
            if ready.contains(&handle) || ready.iter().all(|fd| *fd == handle) && sys::signal_pending() {
                break;
            }
        }
        sys::close(handle);
    }

    /// Waits for a job's process; its wait status, which may be a stop.
    pub(crate) fn wait_job(&mut self, pid: i32) -> i32 {
        self.wait_raw(pid).unwrap_or(127 << 8)
    }

    /// Waits for a foreground program; that a signal ended it is told by the command that it belongs to.
    pub(crate) fn wait_foreground(&mut self, pid: i32, args: &[Bytes]) -> Status {
        let Some(status) = self.wait_raw(pid) else { return 127 };
        self.note_stage(status);
        let written = self.job_text.clone();
        self.job_left(
            pid,
            pid,
            status,
            || if written.is_empty() { args.join(&b' ') } else { written.clone() },
        );
        self.note_killed(pid, status);
        self.foreground_ended();
        sys::shell_status(status)
    }

    /// Waits for every stage of a pipeline.
    pub(crate) fn wait_pipeline(&mut self, children: &[Child], text: impl Fn() -> Bytes) -> Vec<Status> {
        let mut statuses = Vec::with_capacity(children.len() + 1);
        for (n, child) in children.iter().enumerate() {
            let pid = match child {
                Child::Running(pid) => pid,
                Child::Ended(status) => {
                    statuses.push(*status);
                    self.note_stage(0);
                    continue;
                }
            };
            let status = self.wait_raw(*pid).unwrap_or(127 << 8);
            self.note_stage(status);
            if n + 1 == children.len() {
                let group = std::mem::take(&mut self.job_group);
                self.job_left(*pid, group, status, &text);
                self.report_signal(*pid, status, &text);
            }
            statuses.push(sys::shell_status(status));
        }
        self.foreground_ended();
        statuses
    }

    /// A `-c` string forgets its jobs that have ended whenever a foreground job ends, as bash does; `wait PID` still knows them.
    pub(crate) fn foreground_ended(&mut self) {
        if !self.runs_command_string || self.interactive || self.jobs.list.is_empty() {
            return;
        }
        self.reap();
        if self.is(SetOption::Monitor) {
            let text = crate::builtins::job_notices(self);
            self.write_err(&text);
        }
        self.forget_done_jobs();
    }

    /// Remembers a child that a signal has ended, for [`Self::report_killed`].
    pub(crate) fn note_killed(&mut self, pid: i32, status: i32) {
        self.killed = sys::term_signal(status).map(|_| (pid, status));
    }

    /// Tells of the program that a signal has ended in the command that `text` gives. A command substitution tells nothing.
    pub(crate) fn report_killed(&mut self, text: impl Fn() -> Bytes) {
        if let Some((pid, status)) = self.killed.take()
            && !self.captures_output()
        {
            self.report_signal(pid, status, text);
        }
    }

    /// bash's notice that a foreground command died of a signal (not for SIGINT and SIGPIPE).
    fn report_signal(&mut self, pid: i32, status: i32, text: impl Fn() -> Bytes) {
        let Some(signal) = sys::term_signal(status) else { return };
        if matches!(signal, libc::SIGINT | libc::SIGPIPE) {
            return;
        }
        let mut description = crate::signals::description(signal);
        if sys::dumped_core(status) {
            description.push_str(" (core dumped)");
        }
        // A program that was asked to end is not told of with its command; at a terminal none is.
        if signal == libc::SIGTERM || self.interactive {
            return self.write_err(format!("{description}\n").as_bytes());
        }
        let mut message = format!("{pid:>5} {description:<23} ").into_bytes();
        message.extend(text());
        self.error(message);
    }

    /// The same for a background job that was waited for.
    pub(crate) fn report_job_signal(&mut self, pid: i32, status: i32, text: &[u8]) {
        if self.interactive || sys::term_signal(status) != Some(libc::SIGTERM) {
            self.report_signal(pid, status, || text.to_vec());
        }
    }

    /// Reaps whatever has ended, without waiting.
    pub(crate) fn reap(&mut self) {
        while let Ok((pid, status)) = sys::wait_any(false) {
            if pid == 0 {
                return;
            }
            self.jobs.note(pid, status);
        }
    }

    /// Waits until any child changes state; false if there are none, or a trapped signal arrived.
    pub(crate) fn wait_any_child(&mut self) -> Result<(), i32> {
        let readers = self.level_readers();
        if !readers.is_empty() {
            self.reap();
        }
        // It came while another child was taken note of, or before: nothing would interrupt the call for it any more.
        if self.traps.has_arrived() {
            return Err(libc::EINTR);
        }
        let (pid, status) = sys::wait_any(true)?;
        self.jobs.note(pid, status);
        Ok(())
    }

    /// The status of an ended child that is not a job, once.
    pub(crate) fn take_ended(&mut self, pid: i32) -> Option<Status> {
        self.jobs.ended.remove(&pid).map(sys::shell_status)
    }
}

impl Session {
    /// Adds a running job, started here.
    pub(crate) fn add_job(&mut self, pid: i32, text: Bytes) -> usize {
        let directory = self.get_id(names::PWD).map(|path| path.into_owned()).unwrap_or_default();
        self.jobs.add(pid, text, directory)
    }

    /// Keeps the status of an ended child for a later `wait PID`.
    pub(crate) fn remember_ended(&mut self, pid: i32, wait_status: i32) {
        self.jobs.ended.insert(pid, wait_status);
    }

    /// Whether `pid` is a child that has not been waited for.
    pub(crate) fn is_own_child(&mut self, pid: i32) -> bool {
        self.reap();
        self.jobs.ended.contains_key(&pid)
            || self.jobs.list.iter().any(|j| j.pid == pid && !j.foreign)
            || pid > 0 && sys::is_child(pid)
    }

    /// Takes ended jobs out of the table; their statuses stay known to `wait PID`.
    pub(crate) fn forget_done_jobs(&mut self) {
        let done: Vec<(usize, i32, i32)> = self
            .jobs
            .list
            .iter()
            .filter_map(|j| match j.state {
                JobState::Done(status) if !j.foreign => Some((j.number, j.pid, status)),
                _ => None,
            })
            .collect();
        for (number, pid, status) in done {
            self.jobs.remove(number);
            self.jobs.ended.insert(pid, status);
        }
    }
}
