//! What can go wrong before the sandboxed program runs, in words that say what to try next.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there is no sandbox.
#[derive(Debug)]
pub enum Error {
    /// The policy cannot be read.
    Policy(String),
    /// A path of the policy cannot be opened.
    Path {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// This machine cannot enforce what the policy asks for.
    Unenforceable {
        /// The part of the policy.
        what: String,
        /// What to do about it.
        advice: String,
    },
    /// A step in the child failed, so the program was not started.
    Child {
        /// Which step.
        step: Step,
        /// Why.
        source: io::Error,
    },
    /// The program itself could not be started.
    Start(io::Error),
    /// The kernel or a library refused to build the rules.
    Rules(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Policy(message) => write!(f, "policy: {message}"),
            Error::Path { path, source } => write!(f, "policy: {}: {source}", path.display()),
            Error::Unenforceable { what, advice } => {
                write!(f, "this machine cannot enforce {what}: {advice}")
            }
            Error::Child { step, source } => {
                write!(
                    f,
                    "the sandbox failed at the step {:?} ({source}); the program was not started",
                    step.name()
                )
            }
            Error::Start(source) => write!(f, "the program could not be started: {source}"),
            Error::Rules(message) => write!(f, "the sandbox rules could not be built: {message}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Path { source, .. } | Error::Child { source, .. } | Error::Start(source) => Some(source),
            _ => None,
        }
    }
}

/// The steps in the child, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// Its own process group.
    ProcessGroup = 1,
    /// New user, mount, network and IPC namespaces.
    Namespaces,
    /// Identity inside the user namespace.
    Identity,
    /// The read-only view of the file system.
    Mounts,
    /// The loopback interface of the private network.
    Loopback,
    /// Capabilities dropped.
    Capabilities,
    /// Inherited descriptors closed.
    Descriptors,
    /// Resource limits.
    ResourceLimits,
    /// No privileges by exec.
    NoNewPrivileges,
    /// Landlock.
    Landlock,
    /// The system call filter.
    Seccomp,
}

impl Step {
    const ALL: [Step; 11] = [
        Step::ProcessGroup,
        Step::Namespaces,
        Step::Identity,
        Step::Mounts,
        Step::Loopback,
        Step::Capabilities,
        Step::Descriptors,
        Step::ResourceLimits,
        Step::NoNewPrivileges,
        Step::Landlock,
        Step::Seccomp,
    ];

    /// The step whose number a child reported.
    pub(crate) fn from_number(number: u8) -> Option<Step> {
        Step::ALL.into_iter().find(|step| *step as u8 == number)
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Step::ProcessGroup => "process group",
            Step::Namespaces => "namespaces",
            Step::Identity => "identity in the user namespace",
            Step::Mounts => "read-only mounts",
            Step::Loopback => "loopback interface",
            Step::Capabilities => "capabilities",
            Step::Descriptors => "descriptors",
            Step::ResourceLimits => "resource limits",
            Step::NoNewPrivileges => "no new privileges",
            Step::Landlock => "Landlock",
            Step::Seccomp => "seccomp",
        }
    }
}
