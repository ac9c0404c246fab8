//! How a program drives a shell session: the messages, and the frames that carry them over a Unix socket.
//!
//! The client hands each run its own descriptors for stdin, stdout and stderr, so output never passes through the shell's
//! own loop: the client reads the pipes itself, a background job keeps writing to the pipes of the run that started it, and
//! the shell stays single-threaded. This crate owns the protocol only; it executes nothing.
#![forbid(unsafe_code)]

mod message;
mod wire;

pub use message::{Fork, FromShell, Pipeline, Run, RunDone, Status, Termination, ToShell};
pub use wire::{Decoder, Frames, encode, send_all};

/// A frame's body may have this many bytes at most; a script that is longer belongs in a file.
pub const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Descriptors that one frame may carry.
pub const FRAME_DESCRIPTORS_MAX: usize = 8;
/// The protocol's version; the shell says it in its first message.
pub const VERSION: u32 = 1;
