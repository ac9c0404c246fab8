//! The limits of the server: what a client can take from the others, over HTTP before it has shown its token and after.

use std::time::Duration;

/// How long a client may take for the head of a request, idle time between two requests included.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a client may take for the body of a request.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);
/// Bytes of the body of a request.
pub(crate) const BODY_BYTES: usize = 4 << 20;
/// Connections at a time; further ones wait in the listener's queue.
pub(crate) const CONNECTIONS: usize = 256;
/// Clients at a time over HTTP: each is a guardian and a few processes of a few megabytes.
pub(crate) const CLIENTS: usize = 64;
/// A client over HTTP that makes no call and holds no stream for so long is ended, unless `--idle` says otherwise: longer than people are at lunch.
pub(crate) const CLIENT_IDLE: Duration = Duration::from_secs(2 * 60 * 60);
/// When all places are taken, a client that has been silent so long gives its place to a new one.
pub(crate) const CLIENT_EVICT: Duration = Duration::from_secs(5 * 60);
/// Between two looks for clients that have been silent too long.
pub(crate) const CLIENT_LOOK_EVERY: Duration = Duration::from_millis(250);
/// Bytes of the word after the token by which a client tells itself from others of the same token.
pub(crate) const WORD_BYTES: usize = 64;
