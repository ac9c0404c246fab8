//! Job control on a terminal: every foreground job is a process group that owns the terminal while it runs, and the shell
//! takes it back. Invariant: between commands the terminal's foreground group is the shell's.

use super::jobs::{Job, JobState};
use crate::state::options::SetOption;
use crate::{Bytes, Session, Status, sys};

/// The signals that the shell itself must survive; programs get their defaults back.
const SHELL_SIGNALS: [i32; 5] = [libc::SIGQUIT, libc::SIGTERM, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// The terminal that the shell controls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// A descriptor of it, out of the way of scripts.
    descriptor: i32,
    /// The shell's own process group.
    shell_group: i32,
}

/// Where a new process of a job belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The job's group; 0 for the process's own.
    pub(crate) group: i32,
    /// The terminal to take, for the foreground.
    pub(crate) terminal: Option<i32>,
}

impl Session {
    /// Takes control of the terminal on descriptor 2, and turns job control on. False if that cannot be.
    pub fn control_terminal(&mut self) -> bool {
        for signal in SHELL_SIGNALS {
            sys::signal_ignore(signal);
            self.traps.shell_signals |= 1 << (signal - 1);
        }
        sys::signal_catch(libc::SIGINT);
        self.interrupt_discards = true;
        let Some(descriptor) = sys::duplicate_high(2) else { return false };
        // A shell in the background waits until it is put into the foreground.
        if sys::terminal_group(descriptor) != Some(sys::process_group()) {
            sys::close(descriptor);
            return false;
        }
        sys::set_process_group(0);
        let shell_group = sys::process_group();
        sys::set_terminal_group(descriptor, shell_group);
        self.terminal = Some(Terminal { descriptor, shell_group });
        self.options.put(SetOption::Monitor, true);
        true
    }

    /// Whether jobs get the terminal.
    pub(crate) fn controls_jobs(&self) -> bool {
        self.terminal.is_some() && self.is(SetOption::Monitor)
    }

    /// Where the next process of the foreground job goes.
    pub(crate) fn placement(&self) -> Option<Placement> {
        let terminal = self.terminal.filter(|_| self.controls_jobs())?;
        Some(Placement { group: self.job_group, terminal: Some(terminal.descriptor) })
    }

    /// In the shell, after it started a process of the foreground job: the same as the process does, whoever comes first.
    pub(crate) fn place_child(&mut self, pid: i32) {
        let Some(terminal) = self.terminal.filter(|_| self.controls_jobs()) else { return };
        let group = if self.job_group == 0 { pid } else { self.job_group };
        sys::join_process_group(pid, group);
        if self.job_group == 0 {
            sys::set_terminal_group(terminal.descriptor, group);
        }
    }

    /// In a forked process of the foreground job.
    pub(crate) fn take_place(&mut self, placement: Placement) {
        sys::take_place(placement.group, placement.terminal);
        self.terminal = None;
    }

    /// The terminal is the shell's again; what ended or stopped the job is told. `pid` is its last process.
    pub(crate) fn job_left(&mut self, pid: i32, group: i32, wait_status: i32, text: impl Fn() -> Bytes) {
        let Some(terminal) = self.terminal.filter(|_| self.controls_jobs()) else { return };
        sys::set_terminal_group(terminal.descriptor, terminal.shell_group);
        if sys::is_stopped(wait_status) {
            let known = self.jobs.list.iter().position(|job| job.pid == pid);
            let at = known.unwrap_or_else(|| {
                self.add_job(pid, text());
                self.jobs.list.len() - 1
            });
            if let Some(job) = self.jobs.list.get_mut(at) {
                job.group = group;
                job.own_group = true;
                job.state = JobState::Stopped(sys::stop_signal(wait_status));
                job.notified = true;
                let job = job.clone();
                self.job_stopped = true;
                self.jobs.make_recent(job.number);
                let line = [b"\n", &crate::builtins::describe_job(self, &job)[..]].concat();
                self.write_err(&line);
            }
        } else if sys::term_signal(wait_status) == Some(libc::SIGINT) {
            // As if it had reached the shell as well: loops end.
            sys::raise_pending(libc::SIGINT);
        }
    }

    /// `fg`: continues a job in the foreground and waits for it.
    pub(crate) fn continue_in_foreground(&mut self, job: &Job) -> Status {
        if let Some(terminal) = self.terminal {
            sys::set_terminal_group(terminal.descriptor, job.group);
        }
        let _ = job.signal(libc::SIGCONT);
        if let Some(job) = self.jobs.list.iter_mut().find(|j| j.number == job.number) {
            job.state = JobState::Running;
        }
        let status = self.wait_job(job.pid);
        self.job_left(job.pid, job.group, status, || job.text.clone());
        if !sys::is_stopped(status) {
            self.jobs.remove(job.number);
        }
        sys::shell_status(status)
    }

    /// Whether jobs are stopped, which `exit` warns of once.
    pub fn has_stopped_jobs(&self) -> bool {
        self.jobs.list.iter().any(|job| matches!(job.state, JobState::Stopped(_)))
    }

    /// At the end of an interactive shell: stopped jobs would never hear of it, and when the terminal is gone all are told.
    pub fn release_jobs(&mut self) {
        let hung_up = sys::fatal_pending() == Some(libc::SIGHUP);
        for job in &self.jobs.list {
            if (hung_up || matches!(job.state, JobState::Stopped(_))) && !job.spared {
                let _ = job.signal(libc::SIGHUP);
                let _ = job.signal(libc::SIGCONT);
            }
        }
    }
}
