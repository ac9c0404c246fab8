//! The limits of the server's HTTP side: what a client that has not shown its token can take from the others.

use std::time::Duration;

/// How long a client may take for the head of a request, idle time between two requests included.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a client may take for the body of a request.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);
/// Bytes of the body of a request.
pub(crate) const BODY_BYTES: usize = 4 << 20;
/// Connections at a time; further ones wait in the listener's queue.
pub(crate) const CONNECTIONS: usize = 256;
