//! Programmable completion: what `complete` records and `compgen` carries out.
//!
//! Owns the specifications and the generation of candidates; the interactive front end asks for them.

mod actions;
mod compgen;
mod complete;
mod editing;
mod insert;
mod line;
mod word;

pub use compgen::generate;
pub(super) use compgen::run as run_compgen;
pub(super) use complete::{run as run_complete, run_compopt};
pub use insert::Insertion;
pub use line::LineCompletion;

use std::collections::BTreeMap;

use crate::Bytes;

/// How the arguments of one command are completed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Specification {
    /// Names for `-A`, in the order given.
    pub actions: Vec<&'static str>,
    /// `-o` options.
    pub options: Vec<&'static str>,
    /// `-G`
    pub glob: Option<Bytes>,
    /// `-W`
    pub words: Option<Bytes>,
    /// `-F`
    pub function: Option<Bytes>,
    /// `-C`
    pub command: Option<Bytes>,
    /// `-X`
    pub filter: Option<Bytes>,
    /// `-P`
    pub prefix: Option<Bytes>,
    /// `-S`
    pub suffix: Option<Bytes>,
}

/// Every specification.
#[derive(Debug, Clone, Default)]
pub struct Completions {
    /// By command name.
    pub commands: BTreeMap<Bytes, Specification>,
    /// `-D`: for commands without one.
    pub default: Option<Specification>,
    /// `-E`: on an empty line.
    pub empty: Option<Specification>,
    /// `-I`: for the first word.
    pub initial: Option<Specification>,
}

/// The actions of `-A`, with the letters that stand for some.
pub(crate) const ACTIONS: &[(&str, u8)] = &[
    ("alias", b'a'),
    ("arrayvar", 0),
    ("binding", 0),
    ("builtin", b'b'),
    ("command", b'c'),
    ("directory", b'd'),
    ("disabled", 0),
    ("enabled", 0),
    ("export", b'e'),
    ("file", b'f'),
    ("function", 0),
    ("group", b'g'),
    ("helptopic", 0),
    ("hostname", 0),
    ("job", b'j'),
    ("keyword", b'k'),
    ("running", 0),
    ("service", b's'),
    ("setopt", 0),
    ("shopt", 0),
    ("signal", 0),
    ("stopped", 0),
    ("user", b'u'),
    ("variable", b'v'),
];

/// The options of `-o`.
pub(crate) const OPTIONS: &[&str] =
    &["bashdefault", "default", "dirnames", "filenames", "noquote", "nosort", "nospace", "plusdirs"];
