//! A session: everything a running shell knows. Single-threaded; several sessions can exist in a process, but only
//! one may run commands at a time, because the working directory and signal dispositions belong to the process.

use super::descriptors::Descriptors;
use super::names::NameId;
use super::options::{Options, SetOption, Shopt};
use super::value::{Attributes, Value};
use super::variables::Variables;
use crate::{Bytes, Status, limits, sys};
use std::borrow::Cow;

/// Why an assignment was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssignError {
    /// The variable is readonly.
    Readonly(Bytes),
    /// An arithmetic or subscript error; already reported.
    Reported,
}

/// The state of a shell.
pub struct Session {
    /// Variables, by interned name.
    pub variables: Variables,
    /// `set -o` and `shopt` options.
    pub options: Options,
    /// Shell descriptors.
    pub descriptors: Descriptors,
    /// `$0`.
    pub name: Bytes,
    /// `$1`, `$2` ...
    pub positional: Vec<Bytes>,
    /// `$?`.
    pub status: Status,
    /// The line of the command being run.
    pub line: u32,
    output: Bytes,
    output_failed: Option<i32>,
}

impl Session {
    /// A session without variables but those the shell sets itself.
    pub fn new(name: Bytes) -> Session {
        Session {
            variables: Variables::new(),
            options: Options::default(),
            descriptors: Descriptors::default(),
            name,
            positional: Vec::new(),
            status: 0,
            line: 0,
            output: Bytes::new(),
            output_failed: None,
        }
    }

    /// Whether a `set -o` option is on.
    pub fn is(&self, option: SetOption) -> bool {
        self.options.is(option)
    }

    /// Whether a `shopt` option is on.
    pub fn shopt(&self, option: Shopt) -> bool {
        self.options.shopt(option)
    }

    /// The scalar value of the variable called `name` (element 0 of an array), following namerefs.
    pub fn get(&mut self, name: &[u8]) -> Option<Cow<'_, [u8]>> {
        let id = self.variables.names.find(name)?;
        self.get_id(id)
    }

    /// The scalar value of the variable `id`, following namerefs.
    pub fn get_id(&mut self, id: NameId) -> Option<Cow<'_, [u8]>> {
        self.variables.slot(id).value.scalar()
    }

    /// Assigns a string to the variable called `name`, as `name=value` does: attributes and namerefs are honoured.
    pub fn set(&mut self, name: &[u8], value: Bytes) -> Result<(), AssignError> {
        let id = self.variables.intern(name);
        self.set_id(id, value)
    }

    /// Assigns a string to the variable `id`.
    pub fn set_id(&mut self, id: NameId, value: Bytes) -> Result<(), AssignError> {
        let slot = self.variables.slot_mut(id);
        if slot.attributes.has(Attributes::READONLY) {
            return Err(AssignError::Readonly(self.variables.names.text(id).to_vec()));
        }
        slot.value = Value::Scalar(value);
        slot.attributes = slot.attributes.with(Attributes::DECLARED);
        Ok(())
    }

    /// Writes to shell descriptor 1 through the output buffer. Errors surface when the builtin ends, as a message
    /// and status 1, so callers need not check.
    pub fn write_out(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
        if self.output.len() >= limits::OUTPUT_BUFFER_BYTES {
            self.flush_output();
        }
    }

    /// Empties the output buffer into descriptor 1.
    pub fn flush_output(&mut self) {
        if self.output.is_empty() {
            return;
        }
        let result = match self.descriptors.get(1) {
            Some(file) => file.write_all(&self.output),
            None => Err(libc::EBADF),
        };
        self.output.clear();
        if let Err(error) = result {
            self.output_failed = Some(error);
        }
    }

    /// The error of a failed write since the last call, if any; for the dispatcher after a builtin ran.
    pub fn take_output_error(&mut self) -> Option<i32> {
        self.flush_output();
        self.output_failed.take()
    }

    /// Writes to shell descriptor 2 at once, after what is buffered for descriptor 1.
    pub fn write_err(&mut self, bytes: &[u8]) {
        self.flush_output();
        if let Some(file) = self.descriptors.get(2) {
            let _ = file.write_all(bytes);
        }
    }

    /// Reports an error as bash does: `NAME: line N: MESSAGE`.
    pub fn error(&mut self, message: impl AsRef<[u8]>) {
        let mut text = self.name.clone();
        text.extend_from_slice(format!(": line {}: ", self.line).as_bytes());
        text.extend_from_slice(message.as_ref());
        text.push(b'\n');
        self.write_err(&text);
    }

    /// Reports an error of a builtin: `NAME: line N: BUILTIN: MESSAGE`.
    pub fn builtin_error(&mut self, builtin: &[u8], message: impl AsRef<[u8]>) {
        let mut text = builtin.to_vec();
        text.extend_from_slice(b": ");
        text.extend_from_slice(message.as_ref());
        self.error(text);
    }

    /// Reports an error of a builtin about an operating-system error on `what`: `... BUILTIN: WHAT: strerror`.
    pub fn builtin_os_error(&mut self, builtin: &[u8], what: &[u8], error: i32) {
        let mut text = what.to_vec();
        text.extend_from_slice(b": ");
        text.extend_from_slice(sys::strerror(error).as_bytes());
        self.builtin_error(builtin, text);
    }
}
