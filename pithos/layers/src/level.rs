//! A level: a tree as it was at one moment, so that it can be made so again. The content of files is kept beside it in a folder of blobs, each once
//! as long as the file does not change: taking a level costs a look at each entry and a copy of what changed since the one before.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::blobs::Blobs;
use crate::changes::{Change, ChangeKind};
use crate::error::Error;
use crate::limits::{DEPTH_MAX, ENTRIES_MAX};
use crate::name::Name;
use crate::root::{Attributes, Kind, Node, Root, copy_content};

/// The bits of a mode by which a program runs as somebody else.
const SET_ID: u32 = 0o6000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) node: Node,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) opaque: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) attributes: Attributes,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) target: Vec<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blob: Option<u64>,
    /// Another name of the same file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) same_as: Option<Name>,
}

/// A tree at one moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Level {
    pub(crate) entries: BTreeMap<Name, Entry>,
    /// More had changed than was to be copied: it can be compared with, and not gone back to.
    #[serde(default)]
    bare: bool,
}

/// Whether nothing of an entry has changed between two looks.
fn untouched(one: &Node, other: &Node) -> bool {
    let key = |node: &Node| (node.kind, node.ino, node.ctime, node.size, node.mode, node.mtime);
    key(one) == key(other)
}

impl Level {
    /// The tree as it is now. What is as in `before` is taken over; when more than `bytes_max` bytes have changed nothing is copied, and the level
    /// cannot be gone back to.
    ///
    /// # Errors
    /// When something cannot be read.
    pub fn take(root: &Root, before: &Level, blobs: &mut Blobs, bytes_max: u64) -> Result<Level, Error> {
        let nodes = walk(root)?;
        let unkept = |name: &Name, node: &Node| {
            let known = before.entries.get(name);
            known.is_none_or(|entry| entry.blob.is_none() || !untouched(&entry.node, node))
        };
        let new = nodes.iter().filter(|(name, node)| node.kind == Kind::File && unkept(name, node));
        let bytes: u64 = new.map(|(_, node)| node.stored.min(node.size)).sum();
        let mut level = Level { bare: bytes > bytes_max, ..Level::default() };
        let mut first: HashMap<u64, Name> = HashMap::new();
        for (name, node) in nodes {
            let known = before.entries.get(&name).filter(|entry| untouched(&entry.node, &node));
            let mut entry = match known {
                Some(entry) => entry.clone(),
                None => look_closely(root, &name, node)?,
            };
            entry.node = node;
            entry.same_as = None;
            if node.kind == Kind::File && node.links > 1 {
                match first.get(&node.ino) {
                    Some(other) => {
                        entry.blob = level.entries.get(other).and_then(|entry: &Entry| entry.blob);
                        entry.same_as = Some(other.clone());
                    }
                    None => drop(first.insert(node.ino, name.clone())),
                }
            }
            if node.kind == Kind::File && entry.blob.is_none() && !level.bare {
                entry.blob = Some(blobs.take(root, &name, node.size)?);
            }
            level.entries.insert(name, entry);
        }
        Ok(level)
    }

    /// Makes the tree as it was, and this level the one that it is.
    ///
    /// # Errors
    /// When something cannot be removed or made; it can be tried again.
    pub fn restore(&mut self, root: &Root, blobs: &Blobs) -> Result<(), Error> {
        if self.bare {
            return Err(Error::Path("too much had changed by then to be kept".to_owned()));
        }
        let mut present = walk(root)?;
        let gone: Vec<Name> =
            present.keys().rev().filter(|name| !self.entries.contains_key(*name)).cloned().collect();
        for name in gone {
            root.remove(&name)?;
            present.remove(&name);
        }
        let mut made = BTreeSet::new();
        for (name, entry) in &self.entries {
            let there = present.get(name);
            let linked = entry.same_as.as_ref().is_some_and(|other| made.contains(other));
            if there.is_some_and(|node| untouched(node, &entry.node)) && !linked {
                continue;
            }
            let folder = entry.node.kind == Kind::Folder;
            if !(folder && there.is_some_and(|node| node.kind == Kind::Folder)) {
                root.remove(name)?;
                if there.is_some_and(|node| node.kind == Kind::Folder) {
                    present.retain(|other, _| !other.is_in(name));
                }
                make(root, name, entry, blobs)?;
                made.insert(name.clone());
            }
            if entry.same_as.is_none() {
                finish(root, name, entry)?;
            }
        }
        // Making what is in a folder has changed its time.
        for (name, entry) in self.entries.iter().rev().filter(|(_, entry)| entry.node.kind == Kind::Folder) {
            root.set_mode(name, entry.node.mode)?;
            root.set_mtime(name, entry.node.mtime)?;
        }
        for (name, node) in walk(root)? {
            if let Some(entry) = self.entries.get_mut(&name) {
                entry.node = node;
            }
        }
        Ok(())
    }

    /// The blobs that its files are in, with the length of each.
    pub(crate) fn blobs(&self) -> BTreeMap<u64, u64> {
        self.entries.values().filter_map(|entry| Some((entry.blob?, entry.node.size))).collect()
    }

    /// Speaks of its blobs by other numbers.
    pub(crate) fn renumber(&mut self, numbers: &BTreeMap<u64, u64>) {
        for entry in self.entries.values_mut() {
            entry.blob = entry.blob.and_then(|blob| numbers.get(&blob).copied());
        }
    }

    /// Takes the bits from it that no session can give a file; what came from elsewhere may claim anything.
    pub(crate) fn without_privileges(&mut self) {
        for entry in self.entries.values_mut().filter(|entry| entry.node.kind != Kind::Folder) {
            entry.node.mode &= !SET_ID;
        }
    }

    /// Whether it can be gone back to.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        !self.bare
    }

    /// Puts these files and links as they were into an empty folder, to be compared with.
    ///
    /// # Errors
    /// When one was not kept, or cannot be made.
    pub fn extract<'a>(
        &self,
        names: impl Iterator<Item = &'a Name>,
        root: &Root,
        blobs: &Blobs,
    ) -> Result<(), Error> {
        for name in names {
            let Some(entry) = self.entries.get(name).filter(|entry| entry.node.kind != Kind::Folder) else {
                continue;
            };
            let mut above: Vec<Name> = std::iter::successors(name.parent(), Name::parent).collect();
            above.retain(|folder| *folder != Name::default());
            for folder in above.iter().rev() {
                if root.look(folder)?.is_none() {
                    root.make_folder(folder)?;
                }
            }
            make(root, name, &Entry { same_as: None, ..entry.clone() }, blobs)?;
        }
        Ok(())
    }

    /// The paths in it, and what is there.
    pub fn nodes(&self) -> impl Iterator<Item = (&Name, &Node)> {
        self.entries.iter().map(|(name, entry)| (name, &entry.node))
    }

    /// What is at a path in it.
    #[must_use]
    pub fn node(&self, name: &Name) -> Option<&Node> {
        self.entries.get(name).map(|entry| &entry.node)
    }

    /// Bytes that its files take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries.values().map(|entry| entry.node.stored).sum()
    }

    /// What changed from `before` to this, of a tree that lies over `lower`; of one that lies over nothing without it.
    ///
    /// # Errors
    /// When what is below cannot be looked at.
    pub fn changes_since(&self, before: &Level, lower: Option<&Root>) -> Result<Vec<Change>, Error> {
        let below = |name: &Name| lower.map_or(Ok(None), |root| root.look(name));
        let mut found = Vec::new();
        let mut tell = |name: &Name, change, node: &Node, mode_before| {
            let Node { kind, size, mode, .. } = *node;
            found.push(Change {
                path: name.clone(),
                change,
                kind,
                bytes: size,
                mode_before,
                mode,
                binary: false,
            });
        };
        for (name, entry) in &self.entries {
            let node = &entry.node;
            let known = before.entries.get(name).map(|entry| entry.node);
            if known.is_some_and(|known| untouched(&known, node)) {
                continue;
            }
            let was = match known {
                Some(known) if known.kind == Kind::Whiteout => None,
                Some(known) => Some(known),
                None => below(name)?,
            };
            match was {
                None if node.kind == Kind::Whiteout => {}
                None => tell(name, ChangeKind::Added, node, None),
                Some(was) if node.kind == Kind::Whiteout => tell(name, ChangeKind::Deleted, &was, None),
                Some(was) if was.kind != node.kind => tell(name, ChangeKind::Type, node, None),
                Some(was) if was.mode != node.mode && node.kind == Kind::Folder => {
                    tell(name, ChangeKind::Mode, node, Some(was.mode));
                }
                Some(_) if node.kind == Kind::Folder => {}
                Some(was) => {
                    let mode_before = (was.mode != node.mode).then_some(was.mode);
                    let same = (was.size, was.mtime) == (node.size, node.mtime);
                    let change =
                        if same && mode_before.is_some() { ChangeKind::Mode } else { ChangeKind::Modified };
                    tell(name, change, node, mode_before);
                }
            }
        }
        for (name, entry) in &before.entries {
            if self.entries.contains_key(name) || entry.node.kind == Kind::Whiteout {
                continue;
            }
            tell(name, ChangeKind::Deleted, &entry.node, None);
        }
        found.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(found)
    }
}

/// Every entry of a tree, the root with the empty name.
fn walk(root: &Root) -> Result<BTreeMap<Name, Node>, Error> {
    let mut found: BTreeMap<Name, Node> =
        root.look(&Name::default())?.map(|node| (Name::default(), node)).into_iter().collect();
    let mut folders = vec![(Name::default(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if depth > DEPTH_MAX {
            return Err(Error::TooMuch { what: "folders in folders".to_owned(), limit: DEPTH_MAX as u64 });
        }
        for entry in root.entries(&folder)? {
            let name = folder.child(&entry);
            let Some(node) = root.look(&name)? else { continue };
            if node.kind == Kind::Folder {
                folders.push((name.clone(), depth + 1));
            }
            found.insert(name, node);
        }
        if found.len() > ENTRIES_MAX {
            return Err(Error::TooMuch { what: "files".to_owned(), limit: ENTRIES_MAX as u64 });
        }
    }
    Ok(found)
}

pub(crate) fn look_closely(root: &Root, name: &Name, node: Node) -> Result<Entry, Error> {
    let attributes =
        if matches!(node.kind, Kind::File | Kind::Folder) { root.attributes(name)? } else { Vec::new() };
    Ok(Entry {
        node,
        opaque: node.kind == Kind::Folder && root.is_opaque(name)?,
        attributes,
        target: if node.kind == Kind::Link { root.target(name)? } else { Vec::new() },
        blob: None,
        same_as: None,
    })
}

fn make(root: &Root, name: &Name, entry: &Entry, blobs: &Blobs) -> Result<(), Error> {
    match (entry.node.kind, &entry.same_as, entry.blob) {
        (Kind::Folder, ..) => root.make_folder(name),
        (Kind::Link, ..) => root.make_link(name, &entry.target),
        (Kind::File, Some(other), _) => root.make_name(other, name),
        (Kind::File, None, Some(blob)) => {
            let (from, to) = (blobs.root.file(&Blobs::name(blob))?, root.make_file(name)?);
            let failed = |error| Error::io(root.path().join(name.path()), error);
            copy_content(&from, &to, entry.node.size).map(drop).map_err(failed)
        }
        (kind, ..) => root.make_special(name, kind),
    }
}

/// What is set of an entry once it is there. A folder's mode comes last, when what is in it is made.
fn finish(root: &Root, name: &Name, entry: &Entry) -> Result<(), Error> {
    if matches!(entry.node.kind, Kind::File | Kind::Folder) {
        root.set_attributes(name, &entry.attributes)?;
    }
    match entry.node.kind {
        Kind::Folder => root.set_opaque(name, entry.opaque),
        Kind::Whiteout | Kind::Link => root.set_mtime(name, entry.node.mtime),
        _ => {
            root.set_mode(name, entry.node.mode)?;
            root.set_mtime(name, entry.node.mtime)
        }
    }
}
