//! What an overlay changes, by net effect: a file that was written and holds the same bytes as below is no change.
//! Costs by what is in the upper folders; of the tree below only the same paths are looked at.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::layers::{Layers, Node, Table};
use crate::root::{Kind, Meta, Root};

/// In what way a path differs from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// It is not below.
    Added,
    /// Other content.
    Modified,
    /// It is below and not above; of a folder, with all that is in it.
    Deleted,
    /// Another kind of file.
    Type,
    /// The same content with other permissions, owner or attributes.
    Mode,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Relative to the folder.
    pub path: PathBuf,
    /// In what way.
    pub what: What,
    /// What it is now; of a deleted path, what it was.
    pub kind: Kind,
    /// Its size now in bytes; 0 of what is no regular file, and of a deleted path.
    pub bytes: u64,
    /// The upper folder that holds it.
    pub(crate) upper: Option<usize>,
}

/// The changes in the order of their paths, folders before what is in them.
///
/// # Errors
/// A folder cannot be read, or there are more than [`crate::limits::CHANGES_MAX`] files.
pub fn changes(layers: &Layers) -> Result<Vec<Change>, Error> {
    of_table(layers, &layers.table()?)
}

pub(crate) fn of_table(layers: &Layers, table: &Table) -> Result<Vec<Change>, Error> {
    let mut found = Vec::new();
    for (path, node) in table {
        let below = layers.base.meta(path)?;
        match node {
            Node::Whiteout => found.extend(below.map(|below| deleted(path, below))),
            Node::Item { upper, meta, opaque } => {
                if let Some(what) = differs(layers, path, *upper, meta, below)? {
                    let bytes = if meta.kind == Kind::File { meta.bytes } else { 0 };
                    let path = path.clone();
                    found.push(Change { path, what, kind: meta.kind, bytes, upper: Some(*upper) });
                }
                if *opaque && below.is_some_and(|below| below.kind == Kind::Folder) {
                    hidden(&layers.base, table, path, &mut found)?;
                }
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// What an opaque folder hides and does not hold itself is deleted.
fn hidden(base: &Root, table: &Table, path: &Path, found: &mut Vec<Change>) -> Result<(), Error> {
    for name in base.names(path)? {
        let child = path.join(name);
        if !table.contains_key(&child)
            && let Some(below) = base.meta(&child)?
        {
            found.push(deleted(&child, below));
        }
    }
    Ok(())
}

fn deleted(path: &Path, below: Meta) -> Change {
    Change { path: path.to_path_buf(), what: What::Deleted, kind: below.kind, bytes: 0, upper: None }
}

fn differs(
    layers: &Layers,
    path: &Path,
    upper: usize,
    meta: &Meta,
    below: Option<Meta>,
) -> Result<Option<What>, Error> {
    let Some(below) = below else { return Ok(Some(What::Added)) };
    if below.kind != meta.kind {
        return Ok(Some(What::Type));
    }
    let upper = &layers.uppers[upper];
    let same = match meta.kind {
        Kind::File => {
            meta.bytes == below.bytes && same_bytes(upper.read(path)?, layers.base.read(path)?, path)?
        }
        Kind::Link => upper.link(path)? == layers.base.link(path)?,
        Kind::Folder | Kind::Fifo | Kind::Socket | Kind::Device => true,
    };
    if !same {
        return Ok(Some(What::Modified));
    }
    let as_below = meta.mode == below.mode && meta.owner == below.owner;
    if as_below && upper.attributes(path)? == layers.base.attributes(path)? {
        return Ok(None);
    }
    Ok(Some(What::Mode))
}

fn same_bytes(mut left: File, mut right: File, path: &Path) -> Result<bool, Error> {
    const CHUNK: usize = 64 << 10;
    let (mut a, mut b) = (vec![0u8; CHUNK], vec![0u8; CHUNK]);
    loop {
        let n = fill(&mut left, &mut a).map_err(Error::io(path))?;
        let m = fill(&mut right, &mut b).map_err(Error::io(path))?;
        if a[..n] != b[..m] {
            return Ok(false);
        }
        if n < CHUNK {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
