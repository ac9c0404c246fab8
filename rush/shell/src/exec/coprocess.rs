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
        let pipes = sys::pipe().and_then(|a| sys::pipe().map(|b| (a, b)));
        let Ok(((out_reader, out_writer), (in_reader, in_writer))) = pipes else {
            self.error("coproc: cannot make pipe");
            return Err(Unwind::Discard(1));
        };
        let text = b"coproc".to_vec();
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
        self.jobs.add(pid, text);
        self.status = 0;
        Ok(0)
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
