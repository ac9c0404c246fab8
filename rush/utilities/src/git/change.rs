//! One difference between two states of the tree.

use super::index::MODE_TYPE;
use super::oid::Oid;

/// What happened to a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content or its permission changed.
    Modified,
    /// It had another name.
    Renamed,
    /// A file became a link or the other way round.
    TypeChanged,
}

impl Kind {
    /// What happened between these two modes; a mode of zero is a path that is not there.
    pub(crate) fn between(old: u32, new: u32) -> Kind {
        match (old, new) {
            (0, _) => Kind::Added,
            (_, 0) => Kind::Deleted,
            (old, new) if old & MODE_TYPE != new & MODE_TYPE => Kind::TypeChanged,
            _ => Kind::Modified,
        }
    }

    /// The letter in short formats.
    pub(crate) fn letter(self) -> u8 {
        match self {
            Kind::Added => b'A',
            Kind::Deleted => b'D',
            Kind::Modified => b'M',
            Kind::Renamed => b'R',
            Kind::TypeChanged => b'T',
        }
    }
}

/// A changed path; modes and names are zero where there is nothing.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) path: Vec<u8>,
    pub(crate) kind: Kind,
    /// The name it had.
    pub(crate) from: Option<Vec<u8>>,
    /// The mode and the object before.
    pub(crate) old: (u32, Oid),
    /// The mode and the object after; no object for files of the work tree.
    pub(crate) new: (u32, Oid),
    /// How similar a renamed file is, in hundredths.
    pub(crate) score: u32,
}
