//! One file per command. Each takes what the command line says and answers with an exit status, or with a sentence for the user.

pub(crate) mod disasm;
pub(crate) mod eval;
pub(crate) mod list_features;
pub(crate) mod repl;
mod repl_brackets;
mod repl_completion;
mod repl_editor;
mod repl_history;
pub(crate) mod run;
