//! What the server and an actor worker say to each other. Results travel as JSON: the tool hands them on as they are.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// To the worker: a request by number. Answers may come in another order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToActors {
    pub(super) id: u64,
    pub(super) request: ActorRequest,
}

/// From the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum FromActors {
    Ready,
    Answer { id: u64, result: Result<Value, String> },
}

/// One thing to do with the actors of a system.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorRequest {
    /// Start actors of a group; `code` makes the group and is left out when more join it.
    Spawn {
        /// The group.
        name: String,
        /// Its behaviour, for a group that is new.
        code: Option<String>,
        /// How many.
        count: u32,
        /// What `init` is given; without an `init` it is the first state.
        argument: Value,
        /// What happens when one of them fails.
        restart: RestartPolicy,
    },
    /// Put a message into mailboxes.
    Send {
        /// A group (all of it) or one actor of it, `group/index`.
        to: String,
        /// Any JSON.
        message: Value,
        /// How often.
        repeat: u32,
    },
    /// Send a message and collect the replies.
    Ask {
        /// A group or one actor.
        to: String,
        /// Any JSON.
        message: Value,
        /// For all replies together.
        timeout_ms: u64,
    },
    /// Give every actor of a group a new behaviour, in mailbox order, and wait until all have it.
    Swap {
        /// The group.
        name: String,
        /// The new behaviour.
        code: String,
        /// How long to wait.
        timeout_ms: u64,
    },
    /// End a group, or one actor of it.
    Stop {
        /// A group or one actor.
        to: String,
    },
    /// The tree, with counters.
    Tree,
}

impl ActorRequest {
    /// How long the worker may take by its own word.
    pub(super) fn patience_ms(&self) -> u64 {
        match self {
            Self::Ask { timeout_ms, .. } | Self::Swap { timeout_ms, .. } => *timeout_ms,
            _ => 0,
        }
    }
}

/// When a failed actor comes back, in OTP's words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestartPolicy {
    /// Never.
    #[default]
    Temporary,
    /// After a failure.
    Transient,
    /// Whenever it ends.
    Permanent,
}
