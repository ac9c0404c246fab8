//! The core of rush, a bash-compatible shell.
//!
//! Owns the language (syntax, expansion, execution), the state of a session and the builtins. Invariants: bytes all
//! the way, never UTF-8 strings for guest data; the parser never executes; all unsafe code is in `sys`. Leaves the
//! command line, the terminal and wire formats to the `rush` command.
#![deny(unsafe_code)]

pub mod arith;
pub mod builtins;
pub mod check;
pub mod exec;
pub mod expand;
pub mod history;
pub mod interactive;
pub mod limits;
pub mod pattern;
pub mod perf;
pub mod print;
pub mod printf;
pub mod quote;
pub mod regex;
pub mod signals;
pub mod state;
pub mod syntax;
pub mod sys;

pub use state::session::Session;

/// The version of bash whose behaviour this is, for `BASH_VERSION`.
pub const VERSION: &str = "5.2.15(1)-release";
/// `\v` in prompts.
pub const VERSION_SHORT: &str = "5.2";
/// `\V` in prompts.
pub const VERSION_PATCH: &str = "5.2.15";

/// `PS1` of an interactive shell where nobody has set it.
pub const PROMPT: &[u8] = b"\\s-\\v\\$ ";

/// A byte string owned by the guest: script text, a variable's value, a field.
pub type Bytes = Vec<u8>;

/// The exit status of a command, 0 to 255.
pub type Status = i32;

/// Why execution leaves the ordinary path before a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unwind {
    /// `break n`, with the loops still to leave.
    Break(u32),
    /// `continue n`, with the loops still to leave.
    Continue(u32),
    /// `return` from a function or a sourced file, with its status.
    Return(Status),
    /// `exit`, `set -e` or a fatal error: leave the (sub)shell with this status.
    Exit(Status),
    /// An expansion error: give up the current top-level command only (bash's DISCARD).
    Discard(Status),
    /// The rest of this in-process subshell goes on in the forked child with this process id.
    Forked(i32),
}

/// What running a command gives: a status, or the reason control left it.
pub type Outcome = Result<Status, Unwind>;
