//! Every limit of this crate: its value and its reason.

/// Nesting of terms that are decoded or encoded; both recurse, and so does dropping a term.
pub const DEPTH_MAX: usize = 512;

/// Terms in one decoded value: a byte of input may become a term of 32 bytes, so that frames alone would not bound memory.
pub const TERMS_MAX: usize = 8 << 20;

/// Bytes of one frame after the handshake. Messages of 16 MB must pass; a length of 4 GiB must not be believed.
pub const FRAME_BYTES_MAX: usize = 64 << 20;

/// Bytes of one handshake message: a name of 256 characters and its head.
pub const HANDSHAKE_BYTES_MAX: usize = 512;

/// Characters of an atom, as in Erlang.
pub const ATOM_CHARS_MAX: usize = 255;

/// Time in milliseconds that a handshake may take in all.
pub const HANDSHAKE_MS: u64 = 7_000;

/// Connections that are in their handshake at once; those above are closed.
pub const HALF_OPEN_MAX: usize = 64;

/// Nodes connected at once.
pub const CONNECTIONS_MAX: usize = 1_024;

/// Time in milliseconds for connecting to a node or the port mapper.
pub const CONNECT_MS: u64 = 5_000;

/// Time in milliseconds without a byte after which a peer counts as gone (`net_ticktime`); a tick is sent after a quarter of it.
pub const TICK_MS: u64 = 60_000;

/// Bytes that may wait for a slow peer before senders wait (`dist_buf_busy_limit`).
pub const QUEUE_BYTES: usize = 1 << 20;

/// Bytes that may wait for a slow peer, signals that cannot wait included; a peer that is behind by more is disconnected.
pub const QUEUE_BYTES_MAX: usize = 256 << 20;

/// Time in milliseconds that a sender waits for a slow peer before it is told that the peer is busy.
pub const BUSY_MS: u64 = 5_000;

/// Calls, monitors and links that one peer, or one local actor, may have open.
pub const RELATIONS_MAX: usize = 1 << 20;

/// Microseconds after a direct write in which the next message is left to the writer thread, so that a flood travels in batches.
pub const DIRECT_PAUSE_US: u64 = 20;

/// Milliseconds that what nobody waits for (the end of a monitor that an answer has made needless) may wait for a frame to go with.
pub const UNHURRIED_MS: u64 = 2;

/// Bytes kept of the text of an exit reason that came from a peer.
pub const REASON_BYTES_KEPT: usize = 4_096;

/// Port of the Erlang port mapper.
pub const EPMD_PORT: u16 = 4369;

/// Days that a cluster's authority holds.
pub const AUTHORITY_DAYS: u32 = 3_650;

/// Seconds by which a certificate is older than it is, because clocks differ.
pub const CLOCK_SKEW_S: u64 = 24 * 60 * 60;
