//! How a program drives a shell session: the messages, and the frames that carry them over a Unix socket.
//!
//! The client hands each run its own descriptors for stdin, stdout and stderr, so output never passes through the shell's
//! own loop: the client reads the pipes itself, a background job keeps writing to the pipes of the run that started it, and
//! the shell stays single-threaded. This crate owns the protocol and the shell's half of it ([`serve`]), and for hosts the
//! finding and ending of a session's processes ([`process_tree`]); who guards them is the host's business.
#![forbid(unsafe_code)]

mod message;
mod platform;
pub mod process_tree;
mod remote;
mod result;
mod wire;
mod worker;

pub use message::{
    Command, CommandEnd, Fork, FromShell, Pipeline, Run, RunDone, Status, Termination, ToShell,
};
pub use platform::{adopt_orphans, end_with_parent};
pub use remote::{FromHost, RemoteRun, StreamName, ToHost};
pub use result::{Captured, RunResult, Timings};
pub use wire::{BadMessage, Decoder, Frames, encode, send_all};
pub use worker::{pipelines, serve};

/// A frame's body may have this many bytes at most; a script that is longer belongs in a file.
pub const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Descriptors that one frame may carry.
pub const FRAME_DESCRIPTORS_MAX: usize = 8;
/// The protocol's version; the shell says it in its first message.
pub const VERSION: u32 = 1;
