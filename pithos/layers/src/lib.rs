//! What an overlay's upper layer holds, and what can be done with it: the list of changes, a unified diff, levels that can be gone back to, and the
//! commit to the tree below. No mount is needed for any of it, and nothing here knows of sessions.
//!
//! Invariants:
//! - No link is followed, ever: who made what is in a layer may have put one anywhere. Every path is opened below its root, by the kernel's own rule.
//! - A commit writes nothing when one path is in conflict, and one that is interrupted is finished or taken back by [`recover`]: never half done.
//! - A layer is changed here only while it is not mounted; that is the caller's to see to.
#![forbid(unsafe_code)]

mod blobs;
mod changes;
mod commit;
mod diff;
mod error;
mod journal;
mod layer;
mod level;
pub mod limits;
mod name;
mod preserve;
mod root;

pub use blobs::Blobs;
pub use changes::{Change, ChangeKind, changes};
pub use commit::{Base, Conflict, Done, Report, Stage, commit};
pub use diff::{Diff, unified};
pub use error::Error;
pub use journal::{Recovered, recover};
pub use layer::Layer;
pub use level::Level;
pub use name::Name;
pub use root::{Kind, Node, Root, Time};
