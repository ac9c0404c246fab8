//! The upper folders of an overlay taken together: what overlayfs would show of them, as one table of paths.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::limits::CHANGES_MAX;
use crate::root::{Kind, Meta, Moment, Root};

/// How overlayfs marks, in the user's attributes, a folder that hides all of the same name below it.
const OPAQUE: &str = "user.overlay.opaque";
/// How it marks what was copied from below: what has it was there when the overlay first wrote to it.
const ORIGIN: &str = "user.overlay.origin";

/// A folder, and what lies over it.
#[derive(Debug)]
pub struct Layers {
    pub(crate) base: Root,
    /// Oldest first.
    pub(crate) uppers: Vec<Root>,
    /// What is changed below at this moment or later was changed since the overlay was opened.
    pub(crate) opened: Moment,
}

/// What the overlay holds at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Node {
    /// Nothing: what is below is deleted.
    Whiteout,
    /// This, from the upper folder of that number.
    Item {
        upper: usize,
        meta: Meta,
        /// A folder of which nothing below shows through.
        opaque: bool,
    },
}

pub(crate) type Table = BTreeMap<PathBuf, Node>;

impl Layers {
    /// `uppers` from the oldest to the newest, over `base`. They must not be written to meanwhile.
    ///
    /// # Errors
    /// One of the folders cannot be opened.
    pub fn open(base: &Path, uppers: &[PathBuf], opened: Moment) -> Result<Layers, Error> {
        let uppers = uppers.iter().map(|path| Root::open(path)).collect::<Result<_, _>>()?;
        Ok(Layers { base: Root::open(base)?, uppers, opened })
    }

    /// Everything in the upper folders, the newest first where several hold a path.
    pub(crate) fn table(&self) -> Result<Table, Error> {
        let mut table = Table::new();
        for (number, upper) in self.uppers.iter().enumerate() {
            let mut folders = vec![(PathBuf::new(), false)];
            while let Some((folder, in_opaque)) = folders.pop() {
                for name in upper.names(&folder)? {
                    let path = folder.join(name);
                    let Some(meta) = upper.meta(&path)? else { continue };
                    if meta.kind == Kind::Folder {
                        let fresh = is_opaque(upper, &path)?;
                        if fresh {
                            remove_below(&mut table, &path);
                        }
                        // What an older level hides stays hidden, and what it holds shows through.
                        let opaque = fresh || in_opaque || hides(&table, &path);
                        table.insert(path.clone(), Node::Item { upper: number, meta, opaque });
                        folders.push((path, opaque));
                    } else {
                        remove_below(&mut table, &path);
                        let item = Node::Item { upper: number, meta, opaque: false };
                        table.insert(path, if meta.whiteout { Node::Whiteout } else { item });
                    }
                    if table.len() > CHANGES_MAX {
                        return Err(Error::TooMany(CHANGES_MAX));
                    }
                }
            }
        }
        Ok(table)
    }

    /// Whether the item was copied from below, so that something was there.
    pub(crate) fn was_below(&self, upper: usize, path: &Path) -> Result<bool, Error> {
        Ok(self.uppers[upper].attribute(path, ORIGIN)?.is_some())
    }
}

fn is_opaque(upper: &Root, path: &Path) -> Result<bool, Error> {
    Ok(upper.attribute(path, OPAQUE)?.as_deref() == Some(b"y"))
}

/// Whether a folder at `path` hides what is below because an older level already does: a whiteout, a file, or such a folder.
fn hides(table: &Table, path: &Path) -> bool {
    match table.get(path) {
        None => false,
        Some(Node::Whiteout) => true,
        Some(Node::Item { meta, opaque, .. }) => *opaque || meta.kind != Kind::Folder,
    }
}

/// Takes everything below `path` out, not `path` itself. Paths sort by components, so they follow one another.
fn remove_below(table: &mut Table, path: &Path) {
    let after = (std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded);
    let below: Vec<PathBuf> = table
        .range::<Path, _>(after)
        .map(|(path, _)| path)
        .take_while(|other| other.starts_with(path))
        .cloned()
        .collect();
    for path in below {
        table.remove(&path);
    }
}
