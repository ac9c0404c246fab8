//! The exit statuses of the `cynic` command; `cynic --help` and `docs/cynic.md` list them from here.

/// How the command ended, as the process's exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitStatus {
    /// Everything ran to its end.
    Success = 0,
    /// An error was thrown and not caught, a file could not be read, or a test run was not as expected.
    Uncaught = 1,
    /// The command line was not understood.
    Usage = 2,
    /// A module awaits at its top level what nothing will settle; the same status as node's.
    Unsettled = 13,
    /// The guest used up its fuel.
    OutOfFuel = 120,
    /// The guest reached its heap limit.
    OutOfMemory = 121,
    /// The guest exhausted the native stack where it could not be told so.
    OutOfStack = 122,
    /// The guest was cancelled.
    Cancelled = 123,
    /// The guest ran beyond its deadline; the same status as timeout(1).
    DeadlineExceeded = 124,
}

/// All statuses with what they mean, for the help text.
pub(crate) const TABLE: &[(ExitStatus, &str)] = &[
    (ExitStatus::Success, "success"),
    (ExitStatus::Uncaught, "uncaught error, unreadable file, or a test run with surprises"),
    (ExitStatus::Usage, "bad usage"),
    (ExitStatus::Unsettled, "a module awaits what nothing will settle"),
    (ExitStatus::OutOfFuel, "terminated: fuel (--fuel)"),
    (ExitStatus::OutOfMemory, "terminated: heap (--heap-limit)"),
    (ExitStatus::OutOfStack, "terminated: stack"),
    (ExitStatus::Cancelled, "terminated: cancelled"),
    (ExitStatus::DeadlineExceeded, "terminated: deadline (--timeout)"),
];

impl From<ExitStatus> for std::process::ExitCode {
    fn from(status: ExitStatus) -> Self {
        std::process::ExitCode::from(status as u8)
    }
}
