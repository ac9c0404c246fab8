//! What an overlay holds over a folder: its changes, a diff of them, and how they are committed to the folder.
//!
//! An overlay's upper folders are plain folders. This crate reads them as overlayfs writes them (with its marks in the
//! attributes `user.overlay.*`), so it needs no mount and no privilege; mounting is the sandbox's. What lies in them was
//! written by guests: every path is resolved without following links and without leaving its folder.
//!
//! - [`Layers`]: the folder and its upper folders, which nobody may write to meanwhile.
//! - [`changes`]: the net list; [`diff`]: the same as a unified diff.
//! - [`commit`]: writes changes to the folder, all or none; what was changed below meanwhile is a conflict and never
//!   overwritten. A commit that was interrupted is finished or undone by [`resume`].
#![forbid(unsafe_code)]

mod changes;
mod commit;
mod diff;
mod error;
mod layers;
pub mod limits;
mod root;

pub use changes::{Change, What, changes};
pub use commit::{Committed, Request, Resumed, Step, commit, now, resume};
pub use diff::{Diff, Stat, diff};
pub use error::Error;
pub use layers::Layers;
pub use root::{Kind, Moment};
