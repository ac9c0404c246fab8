//! The targets: each generates a batch of cases from a seed and judges them.

mod bytecode;
pub(crate) mod bytes;
mod regexp;
mod script;
mod shell;
mod utilities;

use crate::random::Random;

/// What a round found wrong, or why it could not run.
pub(crate) enum Failure {
    /// The oracle is not on this machine.
    Absent(String),
    /// A case that is wrong, described.
    Found(String),
}

/// One target.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Runs one batch; the number of cases.
    pub(crate) round: fn(&mut Random) -> Result<u64, Failure>,
}

/// Every target.
pub(crate) const ALL: &[Target] = &[
    Target {
        name: "script-node",
        about: "random programs against node: the same output, hardened or not, compiled or not",
        round: script::against_node,
    },
    Target {
        name: "script-jit",
        about: "random programs in every mode of the code generator: the same output, errors and fuel left",
        round: script::in_every_mode,
    },
    Target {
        name: "script-bytecode",
        about: "damaged bytecode: refused by the verifier, or survived by the virtual machine, compiled or not",
        round: bytecode::damaged,
    },
    Target {
        name: "regexp-robust",
        about: "random bytes as patterns: an answer or a syntax error, in bounded steps",
        round: regexp::robust,
    },
    Target {
        name: "regexp-node",
        about: "random patterns and texts against node's matcher",
        round: regexp::against_node,
    },
    Target {
        name: "shell-parse",
        about: "random pieces of shell grammar: a tree or a syntax error",
        round: shell::parse,
    },
    Target {
        name: "shell-bash",
        about: "random scripts against bash: the same output and status",
        round: shell::against_bash,
    },
    Target {
        name: "utilities-gnu",
        about: "generated command lines of the in-process utilities against the GNU programs",
        round: utilities::against_gnu,
    },
    Target {
        name: "bytes-wire",
        about: "damaged frames of a session: the same however they are cut",
        round: bytes::wire,
    },
    Target {
        name: "bytes-terms",
        about: "damaged Erlang terms: refused, or written and read as the same",
        round: bytes::terms,
    },
    Target {
        name: "bytes-policy",
        about: "damaged sandbox policies: taken or refused",
        round: bytes::policy,
    },
    Target {
        name: "bytes-pattern",
        about: "damaged regular expressions with texts: bounded, captures inside the text",
        round: bytes::pattern,
    },
    Target {
        name: "bytes-zone",
        about: "damaged zone files and values of TZ: offsets that exist",
        round: bytes::zone,
    },
    Target {
        name: "bytes-json",
        about: "damaged JSON through the utility: refused, or written and read as the same",
        round: bytes::json,
    },
    Target {
        name: "bytes-git",
        about: "damaged files of a repository through the in-process git: nothing panics or changes",
        round: bytes::git,
    },
];
