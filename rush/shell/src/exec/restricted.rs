//! The restricted shell (`-r`, `rbash`, `set -r`): what its commands may not do, and how they are told. It restricts what
//! the language does by itself; which programs can be reached is up to the PATH that it was given.

use crate::state::options::Shopt;
use crate::state::value::Attributes;
use crate::syntax::ast::RedirectOperator;
use crate::{Bytes, Session, Status};

impl Session {
    /// Whether the shell is restricted.
    pub fn is_restricted(&self) -> bool {
        self.shopt(Shopt::RestrictedShell)
    }

    /// Restricts a shell that starts, for good: neither an option nor a builtin lifts it, and what decides where commands are found
    /// and what is read at start keeps its value.
    pub fn restrict(&mut self) {
        self.options.put_shopt(Shopt::RestrictedShell, true);
        for name in [&b"PATH"[..], b"SHELL", b"ENV", b"BASH_ENV", b"HISTFILE"] {
            let id = self.variables.intern(name);
            let slot = self.variables.slot_mut(id);
            slot.attributes = slot.attributes.with(Attributes::READONLY).with(Attributes::DECLARED);
        }
    }

    /// Reports that `builtin` may not do this, or not with `what`; gives the status, if the shell is restricted.
    pub(crate) fn refused(&mut self, builtin: &[u8], what: &[u8]) -> Option<Status> {
        if !self.is_restricted() {
            return None;
        }
        let mut message = what.to_vec();
        if !what.is_empty() {
            message.extend_from_slice(b": ");
        }
        message.extend_from_slice(b"restricted");
        self.builtin_error(builtin, message);
        Some(1)
    }

    /// The same for a file's name that says where the file is.
    pub(crate) fn refused_path(&mut self, builtin: &[u8], path: &[u8]) -> Option<Status> {
        if path.contains(&b'/') { self.refused(builtin, path) } else { None }
    }

    /// Whether a redirection may not be made; it is reported then.
    pub(super) fn refused_redirect(&mut self, operator: RedirectOperator, path: &[u8]) -> bool {
        let refused = self.is_restricted() && operator != RedirectOperator::Input;
        if refused {
            self.report_restricted(path, b"cannot redirect output");
        }
        refused
    }

    /// Whether a command may not be called by this name; it is reported then.
    pub(super) fn refused_command(&mut self, name: &[u8]) -> bool {
        let refused = self.is_restricted() && name.contains(&b'/');
        if refused {
            self.report_restricted(name, b"cannot specify `/' in command names");
        }
        refused
    }

    fn report_restricted(&mut self, what: &[u8], why: &[u8]) {
        let message: Bytes = [what, b": restricted: ", why].concat();
        self.error(message);
    }
}
