//! The builtins: one file each, one table. A builtin takes the session and its words (`args[0]` is its name, as
//! called), writes with `Session::write_out` and reports with `Session::builtin_error`; the dispatcher flushes the
//! output and turns a write error into a message and status 1. Redirections are in place before it is called.

mod colon;

use crate::{Bytes, Outcome, Session};

/// What runs a builtin.
pub type BuiltinFn = fn(&mut Session, &[Bytes]) -> Outcome;

/// One row of the table.
pub struct Builtin {
    /// The command's name.
    pub name: &'static str,
    /// Whether POSIX calls it special: assignments before it last, its errors end a posix-mode shell.
    pub special: bool,
    /// What runs it.
    pub run: BuiltinFn,
    /// The synopsis after the name, for `help` and usage errors.
    pub synopsis: &'static str,
}

/// Every builtin, sorted by name.
pub static BUILTINS: &[Builtin] = &[
    Builtin { name: ":", special: true, run: colon::run, synopsis: "" },
    Builtin { name: "false", special: false, run: colon::run_false, synopsis: "" },
    Builtin { name: "true", special: false, run: colon::run, synopsis: "" },
];

/// The builtin called `name`.
pub fn find(name: &[u8]) -> Option<&'static Builtin> {
    BUILTINS.binary_search_by(|b| b.name.as_bytes().cmp(name)).ok().map(|i| &BUILTINS[i])
}
