//! Generated command lines for the in-process utilities, judged by the GNU programs they stand for.
//!
//! A case is a command line drawn from the grammar of its utility (options alone, clustered, long, abbreviated, before and behind
//! operands; patterns, lists, keys, sets, expressions), an input that is a pipe or a file, and a locale. Both run it on the same
//! tree; output, messages, status, the tree afterwards, and where a file on standard input stands have to agree. A case
//! that differs is made smaller before it is shown. Used by the tests (bounded, fixed seeds) and by the fuzzer.
#![forbid(unsafe_code)]

mod case;
mod compare;
mod grammar;
mod ours;
mod peer;
mod random;
mod shrink;
mod tree;

pub use case::{Case, Locale, Observed, Stdin};
pub use compare::{Bench, Count};
pub use random::Random;

/// The names of the utilities that have a grammar.
pub fn names() -> Vec<&'static str> {
    grammar::ALL.iter().map(|grammar| grammar.name).collect()
}
