//! What a supervisor tells the program's log. Owns the words; who listens is the program's affair (`Supervisor::on_report`, the feature
//! `tracing`). Invariant: a report never changes what the supervisor does.

use std::fmt;
use std::sync::Arc;

use crate::exit::ExitReason;
use crate::pid::Pid;

/// Something that a supervisor's owner should know, as OTP's supervisor reports.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report<'a> {
    /// The supervisor.
    pub supervisor: Pid,
    /// The child's id.
    pub child: &'a str,
    /// What happened to the child.
    pub event: Event,
    /// Why.
    pub reason: &'a ExitReason,
}

/// What happened to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// It failed and is going to be started again.
    Restarting,
    /// It failed and stays down, because it is transient or temporary or the runtime stops.
    Down,
    /// It could not be started again; that counts as a failure.
    StartFailed,
    /// It failed once too often: the supervisor stops the other children and ends.
    GivingUp,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Restarting => "failed and is restarted",
            Self::Down => "failed and stays down",
            Self::StartFailed => "could not be restarted",
            Self::GivingUp => "failed once too often, the supervisor ends",
        })
    }
}

/// Who is told.
pub(crate) type Reporter = Arc<dyn Fn(&Report<'_>) + Send + Sync>;
