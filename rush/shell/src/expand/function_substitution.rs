//! Function substitution (bash 5.3): `${ cmd; }` expands to what the commands write, `${| cmd; }` to the value that they leave in
//! `REPLY`. They run in the shell itself, as the body of a function without a name would: variables, directory, options and
//! descriptors stay as they leave them, `local` and `return` work, positional parameters are the caller's.

use super::Expanded;
use crate::state::descriptors::{Entry, OpenFile};
use crate::state::names;
use crate::state::variables::FrameKind;
use crate::syntax::ast::List;
use crate::{Bytes, Outcome, Session, Unwind, sys};

impl Session {
    /// `${ cmd; }`
    pub(super) fn output_substitution(&mut self, body: &List) -> Expanded<Bytes> {
        // A file and not a pipe: nobody reads before the commands have ended, however much they write.
        let file = match sys::memory_file() {
            Ok(fd) => OpenFile::owned(fd),
            Err(error) => {
                let reason = sys::strerror(error);
                return Err(
                    self.expansion_error(format!("command substitution: cannot make a file: {reason}"))
                );
            }
        };
        self.flush_output();
        let outer = self.descriptors.replace(1, Entry::Open(file.clone()));
        let result = self.unnamed_function(body, |_| {});
        self.flush_output();
        self.descriptors.replace(1, outer);
        self.substituted(result)?;
        let Some(fd) = file.os_descriptor() else { return Ok(Bytes::new()) };
        sys::seek_start(fd);
        let mut text = self.read_all(&file);
        self.strip(&mut text);
        Ok(text)
    }

    /// `${| cmd; }`
    pub(super) fn reply_substitution(&mut self, body: &List) -> Expanded<Bytes> {
        let mut reply = Bytes::new();
        let result = self.unnamed_function(body, |session| {
            reply = session.get_id(names::REPLY).unwrap_or_default().into_owned();
        });
        self.substituted(result)?;
        Ok(reply)
    }

    /// Notes the status of a substitution; what gives up more than its commands goes on.
    fn substituted(&mut self, result: Outcome) -> Expanded<()> {
        let status = result?;
        self.substitution_status = Some(status);
        self.status = status;
        Ok(())
    }

    /// Runs `body` with a scope of its own, in which `REPLY` is local and unset; `at_end` sees that scope.
    fn unnamed_function(&mut self, body: &List, at_end: impl FnOnce(&mut Session)) -> Outcome {
        if self.stack_is_low() {
            self.error("command substitution: maximum nesting level exceeded");
            self.status = 1;
            return Err(Unwind::Discard(1));
        }
        let loop_depth = std::mem::take(&mut self.loop_depth);
        let direct = std::mem::take(&mut self.exec_directly);
        let options = std::mem::take(&mut self.local_options);
        let scratch = std::mem::take(&mut self.keep_redirects);
        self.variables.push_frame(FrameKind::Function);
        let scope = self.variables.depth();
        self.variables.bind(names::REPLY, scope);
        self.unnamed_functions += 1;
        let result = sys::stack::with_room(|| self.run_list(body));
        self.unnamed_functions -= 1;
        let result = match result {
            Err(Unwind::Return(status)) => Ok(status),
            Err(Unwind::Break(_) | Unwind::Continue(_)) => Ok(self.status),
            other => other,
        };
        at_end(self);
        if let Some(saved) = std::mem::replace(&mut self.local_options, options) {
            self.options.put_set_options(saved);
        }
        self.variables.pop_frame();
        self.keep_redirects = scratch;
        self.exec_directly = direct;
        self.loop_depth = loop_depth;
        result
    }
}
