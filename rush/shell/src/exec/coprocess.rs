//! `coproc`: a background command joined to the shell by two pipes.

use crate::state::descriptors::{Entry, OpenFile};
use crate::state::value::decimal;
use crate::syntax::ast::Coprocess;
use crate::{Outcome, Session, Unwind, sys};

/// Where the coprocess's descriptors are numbered from, downwards, as in bash.
const DESCRIPTOR_MAX: usize = 63;

impl Session {
    pub(crate) fn run_coprocess(&mut self, coprocess: &Coprocess) -> Outcome {
        let name = self.expand_string(&coprocess.name)?;
        self.close_ended_coprocess(&name);
        let pipes = sys::pipe().and_then(|a| sys::pipe().map(|b| (a, b)));
        let Ok(((out_reader, out_writer), (in_reader, in_writer))) = pipes else {
            self.error("coproc: cannot make pipe");
            return Err(Unwind::Discard(1));
        };
        let text =
            [b"coproc ", &name[..], b" ", &crate::syntax::printer::command(&coprocess.command)].concat();
        let pid = self.fork_background()?;
        if pid == 0 {
            sys::close(out_reader);
            sys::close(in_writer);
            self.descriptors.replace(0, Entry::Open(OpenFile::owned(in_reader)));
            self.descriptors.replace(1, Entry::Open(OpenFile::owned(out_writer)));
            self.finish_child(|session| session.run_command(&coprocess.command));
        }
        sys::close(out_writer);
        sys::close(in_reader);
        let read = self.install_high(out_reader);
        let write = self.install_high(in_writer);
        let values = vec![decimal(read as i64), decimal(write as i64)];
        self.set_array(&name, values).map_err(|error| self.assignment_failed(error))?;
        let mut pid_name = name;
        pid_name.extend_from_slice(b"_PID");
        self.set(&pid_name, decimal(i64::from(pid))).map_err(|error| self.assignment_failed(error))?;
        self.last_background = Some(pid);
        let number = self.add_job(pid, text);
        if self.terminal.is_some() {
            self.write_err(format!("[{number}] {pid}\n").as_bytes());
        }
        self.status = 0;
        Ok(0)
    }

    /// What leads to the last coprocess of this name is of no use when that has ended: the name is about to lead elsewhere.
    fn close_ended_coprocess(&mut self, name: &[u8]) {
        let variable = |session: &mut Session, suffix: &[u8]| {
            let text = session.expand_text(&[b"${", name, suffix, b"-}"].concat()).ok()?;
            std::str::from_utf8(&text).ok()?.parse::<usize>().ok()
        };
        let Some(pid) = variable(self, b"_PID").and_then(|pid| i32::try_from(pid).ok()) else { return };
        self.reap();
        let running =
            |job: &super::jobs::Job| job.pid == pid && !matches!(job.state, super::jobs::JobState::Done(_));
        if pid == 0 || self.jobs.list.iter().any(running) {
            return;
        }
        for suffix in [b"[0]", b"[1]"] {
            if let Some(number) =
                variable(self, suffix).filter(|number| (10..=DESCRIPTOR_MAX).contains(number))
            {
                self.descriptors.replace(number, Entry::Inherited);
            }
        }
    }

    /// Gives `fd` the highest free number up to 63.
    pub(crate) fn install_high(&mut self, fd: std::os::fd::RawFd) -> usize {
        let mut number = DESCRIPTOR_MAX;
        while number > 10 && self.descriptors.get(number).is_some() {
            number -= 1;
        }
        self.descriptors.replace(number, Entry::Open(OpenFile::owned(fd)));
        number
    }
}
