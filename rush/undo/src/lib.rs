//! What `rm`, `mv`, `cp` and `>` replace, kept for a while in a trash of the user's own and brought back.
//!
//! Before a command runs, whatever it may replace is kept: by a second name in the trash (a hard link, so that nothing
//! is copied and owner, mode, attributes and other names stay), or by a copy where the content is written over or the
//! file is on another file system. The command then does what it always does. What has been replaced is found out when
//! it is asked for, by looking at what is there. So a shell that dies at any moment loses nothing: what is not recorded
//! yet has not been touched yet, and an undo that was cut short can be begun again.
//!
//! The crate knows no shell: directory, words, time and messages are its callers'.
//!
//! Start reading at [`Trash`]; `plan.rs` knows the commands, `keep.rs` keeps, `restore.rs` brings back.

#![forbid(unsafe_code)]

mod attributes;
mod keep;
pub mod limits;
mod place;
mod plan;
mod record;
mod restore;
mod trash;

pub use plan::concerns;
pub use restore::{Report, Undoing};
pub use trash::{Complaint, Entry, Listed, Moment, Trash};
