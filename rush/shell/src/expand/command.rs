//! Command substitution (POSIX XCU 2.6.3), captured in memory, and process substitution.

use super::Expanded;
use crate::state::descriptors::{Entry, OpenFile};
use crate::state::options::{SetOption, Shopt};
use crate::syntax::ast::{CommandSubstitution, ProcessSubstitution, SubstitutionKind, lone_redirect};
use crate::{Bytes, Session, Unwind, sys};

impl Session {
    pub(crate) fn command_substitution(&mut self, substitution: &CommandSubstitution) -> Expanded<Bytes> {
        let body = match &substitution.body {
            Ok(body) => body.clone(),
            Err(error) => {
                let error = error.clone();
                self.report_syntax_error(&error, "command substitution");
                self.substitution_status = Some(2);
                self.status = 2;
                return Ok(Bytes::new());
            }
        };
        if substitution.read_file
            && let Some(redirect) = lone_redirect(&body)
        {
            return self.read_file_substitution(redirect);
        }
        match substitution.kind {
            SubstitutionKind::Subshell => {}
            SubstitutionKind::Output => return self.output_substitution(&body),
            SubstitutionKind::Reply => return self.reply_substitution(&body),
        }
        let depth = self.trace_depth;
        self.trace_depth += 1;
        let captured = self.capture_output(|session| {
            if !session.shopt(Shopt::InheritErrexit) && !session.is(SetOption::Posix) {
                session.options.put(SetOption::Errexit, false);
            }
            session.run_list(&body)
        });
        self.trace_depth = depth;
        let (status, mut text) = captured?;
        self.substitution_status = Some(status);
        self.status = status;
        self.strip(&mut text);
        Ok(text)
    }

    /// Removes NUL bytes, with a warning, and trailing newlines.
    pub(super) fn strip(&mut self, text: &mut Bytes) {
        if text.contains(&0) {
            text.retain(|b| *b != 0);
            self.error("warning: command substitution: ignored null byte in input");
        }
        while text.last() == Some(&b'\n') {
            text.pop();
        }
    }

    fn read_file_substitution(&mut self, redirect: &crate::syntax::ast::Redirect) -> Expanded<Bytes> {
        let redirects = std::slice::from_ref(redirect);
        match self.redirect(redirects)? {
            Ok(saved) => {
                let file = self.descriptors.get(0);
                let mut text = file.map(|f| self.read_all(&f)).unwrap_or_default();
                self.undo_redirects(saved);
                self.strip(&mut text);
                self.substitution_status = Some(0);
                self.status = 0;
                Ok(text)
            }
            Err(status) => {
                self.substitution_status = Some(status);
                self.status = status;
                Ok(Bytes::new())
            }
        }
    }

    /// Starts the commands and gives the `/dev/fd` path of the pipe to them.
    pub(crate) fn process_substitution(&mut self, substitution: &ProcessSubstitution) -> Expanded<Bytes> {
        let (reader, writer) = sys::pipe().map_err(|_| Unwind::Discard(1))?;
        let (ours, theirs, number) =
            if substitution.input { (reader, writer, 1) } else { (writer, reader, 0) };
        let pid = self.fork_background()?;
        if pid == 0 {
            sys::close(ours);
            self.descriptors.replace(number, Entry::Open(OpenFile::owned(theirs)));
            self.trace_depth += 1;
            let body = substitution.body.clone();
            self.finish_child(|session| session.run_list(&body));
        }
        sys::close(theirs);
        let number = self.install_high(ours);
        self.process_substitutions.push(number);
        self.last_background = Some(pid);
        Ok(format!("/dev/fd/{number}").into_bytes())
    }

    /// Closes the process substitutions made since there were `count`.
    pub(crate) fn close_process_substitutions(&mut self, count: usize) {
        if self.process_substitutions.len() > count {
            // Those of earlier commands have ended, mostly.
            self.reap();
        }
        while self.process_substitutions.len() > count {
            if let Some(number) = self.process_substitutions.pop() {
                self.descriptors.replace(number, Entry::Inherited);
            }
        }
    }
}
