//! The part of a session's state that a subshell gets a copy of and that its end puts back: everything a command of the
//! language can change, but the variables (which are undone from a journal), the jobs (which are the process's children) and
//! what belongs to the process or to the front end.
//!
//! Invariant: a snapshot is a clone of the whole `Scope`, so that a new field is copied without being put on a list. What is
//! large stands behind an `Rc` and is copied when it is changed.

use super::descriptors::Descriptors;
use super::options::Options;
use super::positional::Positional;
use super::session::{Call, Function, Hashed};
use crate::exec::traps::Traps;
use crate::{Bytes, Status};
use rustc_hash::FxHashMap;
use std::ffi::CString;
use std::rc::Rc;

/// What a subshell copies.
#[derive(Debug, Clone)]
pub struct Scope {
    /// `set -o` and `shopt` options.
    pub options: Options,
    /// Shell descriptors.
    pub descriptors: Descriptors,
    /// `$0`.
    pub name: Bytes,
    /// `$1`, `$2` ...
    pub positional: Positional,
    /// `PIPESTATUS`.
    pub pipeline_status: Vec<Status>,
    /// The line of the command being run.
    pub line: u32,
    /// Functions.
    pub functions: Rc<FxHashMap<Bytes, Function>>,
    /// Aliases.
    pub aliases: Rc<FxHashMap<Bytes, Bytes>>,
    /// Remembered command paths.
    pub hashed: Rc<FxHashMap<Bytes, Hashed>>,
    /// Traps.
    pub traps: Traps,
    /// Functions and sourced files being run.
    pub calls: Vec<Call>,
    /// Loops being run in the current function.
    pub loop_depth: u32,
    /// The expansion error that gives up a command is one of those that `set -e` does not see.
    pub spares_errexit: bool,
    /// `$!`.
    pub last_background: Option<i32>,
    /// `BASH_SUBSHELL`.
    pub subshell_depth: u32,
    /// How many subshells, from the outermost on, are simple commands in a pipeline or the background.
    pub(crate) plain_stages: u32,
    /// The directory stack below the current directory.
    pub directory_stack: Rc<Vec<Bytes>>,
    /// The file being run.
    pub source: Rc<[u8]>,
    /// Greater than zero where `set -e` does not apply.
    pub errexit_ignored: u32,
    /// `$_`.
    pub last_argument: Bytes,
    /// The text of the command being run, when traps may ask for it.
    pub command_text: Bytes,
    pub(crate) substitution_status: Option<Status>,
    pub(crate) random: u32,
    /// A subshell that has not asked for a random number yet: its generator begins anew.
    pub(crate) random_begins: bool,
    pub(crate) seconds_base: i64,
    pub(crate) hash_path: Bytes,
    pub(crate) hash_generation: u64,
    pub(crate) exec_directly: bool,
    pub(crate) trap_depth: u32,
    pub(crate) error_context: Option<&'static str>,
    pub(crate) builtin_state: crate::builtins::state::BuiltinState,
    pub(crate) call_adopts_frame: bool,
    /// The status with which the builtin that ran last was used wrongly, or was refused an assignment: a special one ends a POSIX shell by that.
    pub(crate) misuse: Option<Status>,
    pub(crate) eval_depth: u32,
    pub(crate) keep_redirects: bool,
    /// How many `${ cmd; }` run around: `return` ends the innermost.
    pub(crate) unnamed_functions: usize,
    pub(crate) disabled_builtins: std::collections::BTreeSet<Bytes>,
    pub(crate) foreign_environment: Rc<Vec<CString>>,
    pub(crate) local_options: Option<Options>,
    pub(crate) condition_failed: bool,
    /// Whether a `!` precedes the term of `[[ ]]` being evaluated, for its trace.
    pub(crate) condition_negated: bool,
    pub(crate) trace_depth: u32,
    pub(crate) command_number: u32,
}
