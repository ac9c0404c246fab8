//! What an upper layer changes of what is below: a walk over the layer alone, so that it costs by what was changed. Only where a folder was
//! replaced as a whole is the one below looked into.

use std::fs::File;
use std::io::Read;

use serde::Serialize;

use crate::error::Error;
use crate::layer::Layer;
use crate::limits::{BINARY_LOOK_BYTES, DEPTH_MAX, ENTRIES_MAX, READ_BYTES};
use crate::name::Name;
use crate::root::{Kind, Node, Root};

/// How an entry was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// Its content, or where a link leads.
    Modified,
    /// It is not there any more.
    Deleted,
    /// It is another kind of thing.
    Type,
    /// Only its permissions or attributes.
    Mode,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Where, below the root.
    pub path: Name,
    /// How.
    pub change: ChangeKind,
    /// What is there now, or was there if it is deleted.
    pub kind: Kind,
    /// Bytes of the file that is there now, or was.
    pub bytes: u64,
    /// Permissions before, when they are other ones now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode_before: Option<u32>,
    /// Permissions now.
    pub mode: u32,
    /// Whether it is no text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

/// All changes of a layer, by path; an entry that is in the layer and as it was is none.
///
/// # Errors
/// When the layer cannot be read, or holds more than is looked at.
pub fn changes(layer: &Layer) -> Result<Vec<Change>, Error> {
    let mut walk = Walk { layer, found: Vec::new(), looked: 0 };
    let root = Name::default();
    let (above, below) = (layer.upper.look(&root)?, layer.lower.look(&root)?);
    if let (Some(above), Some(below)) = (above, below) {
        walk.attributes_changed(&root, above, below)?;
    }
    walk.folder(&root, true, 0)?;
    Ok(walk.found)
}

struct Walk<'a> {
    layer: &'a Layer,
    found: Vec<Change>,
    looked: usize,
}

impl Walk<'_> {
    /// What is in a folder of the upper layer; `below` when there is a folder below as well.
    fn folder(&mut self, folder: &Name, below: bool, depth: usize) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            return Err(Error::TooMuch { what: "folders in folders".to_owned(), limit: DEPTH_MAX as u64 });
        }
        let above = self.layer.upper.entries(folder)?;
        let hidden = below && depth > 0 && self.layer.upper.is_opaque(folder)?;
        let gone = if hidden { self.layer.lower.entries(folder)? } else { Vec::new() };
        let mut gone = gone.into_iter().filter(|name| above.binary_search(name).is_err()).peekable();
        for entry in &above {
            while let Some(name) = gone.next_if(|name| name < entry) {
                self.deleted(&folder.child(&name))?;
            }
            self.looked += 1;
            if self.looked > ENTRIES_MAX {
                return Err(Error::TooMuch { what: "changed files".to_owned(), limit: ENTRIES_MAX as u64 });
            }
            self.entry(&folder.child(entry), below, depth)?;
        }
        gone.try_for_each(|name| self.deleted(&folder.child(&name)))
    }

    fn entry(&mut self, name: &Name, below: bool, depth: usize) -> Result<(), Error> {
        let Some(node) = self.layer.upper.look(name)? else { return Ok(()) };
        let was = if below { self.layer.lower.look(name)? } else { None };
        match (node.kind, was) {
            (Kind::Whiteout, Some(_)) => return self.deleted(name),
            (Kind::Whiteout, None) => {}
            (_, None) => self.found.push(self.change(name, ChangeKind::Added, node)?),
            (kind, Some(was)) if kind != was.kind => {
                self.found.push(self.change(name, ChangeKind::Type, node)?);
            }
            (Kind::Folder, Some(was)) => self.attributes_changed(name, node, was)?,
            (_, Some(was)) => {
                if same_content(&self.layer.upper, &self.layer.lower, name, node, was)? {
                    self.attributes_changed(name, node, was)?;
                } else {
                    let mut change = self.change(name, ChangeKind::Modified, node)?;
                    change.mode_before = (was.mode != node.mode).then_some(was.mode);
                    self.found.push(change);
                }
            }
        }
        if node.kind == Kind::Folder {
            let below = was.is_some_and(|was| was.kind == Kind::Folder);
            self.folder(name, below, depth + 1)?;
        }
        Ok(())
    }

    fn attributes_changed(&mut self, name: &Name, node: Node, was: Node) -> Result<(), Error> {
        let mode = node.mode != was.mode && node.kind != Kind::Link;
        if mode || self.layer.upper.attributes(name)? != self.layer.lower.attributes(name)? {
            let mut change = self.change(name, ChangeKind::Mode, node)?;
            change.mode_before = mode.then_some(was.mode);
            self.found.push(change);
        }
        Ok(())
    }

    fn deleted(&mut self, name: &Name) -> Result<(), Error> {
        let Some(node) = self.layer.lower.look(name)? else { return Ok(()) };
        self.found.push(Change {
            path: name.clone(),
            change: ChangeKind::Deleted,
            kind: node.kind,
            bytes: node.size,
            mode_before: None,
            mode: node.mode,
            binary: node.kind == Kind::File && is_binary(&self.layer.lower.file(name)?)?,
        });
        Ok(())
    }

    fn change(&self, name: &Name, change: ChangeKind, node: Node) -> Result<Change, Error> {
        let binary = node.kind == Kind::File && is_binary(&self.layer.upper.file(name)?)?;
        let Node { kind, size, mode, .. } = node;
        Ok(Change { path: name.clone(), change, kind, bytes: size, mode_before: None, mode, binary })
    }
}

/// Whether two entries of the same kind hold the same.
pub(crate) fn same_content(
    above: &Root,
    below: &Root,
    name: &Name,
    node: Node,
    was: Node,
) -> Result<bool, Error> {
    match node.kind {
        Kind::File => {
            Ok(node.size == was.size && same_bytes(above.file(name)?, below.file(name)?, above, name)?)
        }
        Kind::Link => Ok(above.target(name)? == below.target(name)?),
        _ => Ok(true),
    }
}

fn same_bytes(mut left: File, mut right: File, root: &Root, name: &Name) -> Result<bool, Error> {
    let (mut here, mut there) = (vec![0; READ_BYTES], vec![0; READ_BYTES]);
    let failed = |error| Error::io(root.path().join(name.path()), error);
    loop {
        let read = fill(&mut left, &mut here).map_err(failed)?;
        let other = fill(&mut right, &mut there).map_err(failed)?;
        if here[..read] != there[..other] {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
    }
}

fn fill(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Whether the beginning of a file holds a zero byte, as git judges it.
fn is_binary(mut file: &File) -> Result<bool, Error> {
    let mut start = vec![0; BINARY_LOOK_BYTES];
    let read = file.read(&mut start).map_err(|error| Error::io("a changed file", error))?;
    Ok(start[..read].contains(&0))
}
