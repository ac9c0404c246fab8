//! What differs between a tree and the index, or between two trees. Folders whose tree the index remembers are not opened.

use std::collections::BTreeMap;

use super::change::{Change, Kind};
use super::decode;
use super::index::{CachedTree, Entry, Index};
use super::objects::{self, Objects};
use super::oid::{self, Oid};
use super::{Attempt, Decline};
use crate::limits::DIRECTORY_DEPTH_MAX;

/// A file of a tree, by its whole path.
struct File {
    path: Vec<u8>,
    mode: u32,
    id: Oid,
}

/// The part of a tree that may differ from the index.
struct Flat<'o> {
    objects: &'o Objects<'o>,
    files: Vec<File>,
    /// Folders that are the same in the index, with a slash at their end, sorted.
    same: Vec<Vec<u8>>,
}

/// The changes from `tree` (none before the first commit) to the index, sorted by path. Paths in conflict are left out.
pub(crate) fn changes(objects: &Objects<'_>, tree: Option<&Oid>, index: &Index) -> Attempt<Vec<Change>> {
    let mut flat = Flat { objects, files: Vec::new(), same: Vec::new() };
    if let Some(tree) = tree {
        flat.folder(tree, index.cached_tree.as_ref(), b"", 0)?;
    }
    let mut same = flat.same.iter().peekable();
    let mut files = flat.files.iter().peekable();
    let mut changes = Vec::new();
    let mut entries = index.entries.iter().peekable();
    while let Some(entry) = entries.next() {
        while same
            .next_if(|folder| folder.as_slice() < entry.path.as_slice() && !entry.path.starts_with(folder))
            .is_some()
        {}
        if same.peek().is_some_and(|folder| entry.path.starts_with(folder)) {
            continue;
        }
        while let Some(file) = files.next_if(|file| file.path < entry.path) {
            changes.push(change(Some(file), None));
        }
        let file = files.next_if(|file| file.path == entry.path);
        if entry.stage > 0 {
            while entries.next_if(|next| next.path == entry.path).is_some() {}
        } else if file.is_none_or(|file| (file.mode, file.id) != (entry.mode, entry.id)) {
            changes.push(change(file, Some(entry)));
        }
    }
    changes.extend(files.map(|file| change(Some(file), None)));
    Ok(changes)
}

fn change(old: Option<&File>, new: Option<&Entry>) -> Change {
    let path = new.map_or_else(|| old.map(|o| o.path.clone()).unwrap_or_default(), |new| new.path.clone());
    let state = |found: Option<(u32, Oid)>| found.unwrap_or((0, oid::NULL));
    of(path, state(old.map(|old| (old.mode, old.id))), state(new.map(|new| (new.mode, new.id))))
}

/// The change of a path between these two states.
fn of(path: Vec<u8>, old: (u32, Oid), new: (u32, Oid)) -> Change {
    Change { path, kind: Kind::between(old.0, new.0), from: None, old, new, score: 0 }
}

/// The changes from one tree to another, sorted by path. Folders that are the same are not opened.
pub(crate) fn between(objects: &Objects<'_>, old: &Oid, new: &Oid) -> Attempt<Vec<Change>> {
    let mut states: BTreeMap<Vec<u8>, [(u32, Oid); 2]> = BTreeMap::new();
    let mut folders = vec![(Vec::new(), [Some(*old), Some(*new)])];
    while let Some((prefix, trees)) = folders.pop() {
        if trees[0] == trees[1] {
            continue;
        }
        let mut inner: BTreeMap<Vec<u8>, [Option<Oid>; 2]> = BTreeMap::new();
        for (side, tree) in trees.iter().enumerate() {
            let Some(tree) = tree else { continue };
            for entry in decode::tree(&objects.expect(tree, objects::Kind::Tree)?)? {
                let path = [prefix.as_slice(), &entry.name].concat();
                if entry.is_folder() {
                    inner.entry([path.as_slice(), b"/"].concat()).or_default()[side] = Some(entry.id);
                } else {
                    states.entry(path).or_insert([(0, oid::NULL); 2])[side] = (entry.mode, entry.id);
                }
            }
        }
        if prefix.iter().filter(|b| **b == b'/').count() > DIRECTORY_DEPTH_MAX {
            return Err(Decline);
        }
        folders.extend(inner);
    }
    let changed = states.into_iter().filter(|(_, [old, new])| old != new);
    Ok(changed.map(|(path, [old, new])| of(path, old, new)).collect())
}

impl Flat<'_> {
    fn folder(
        &mut self,
        tree: &Oid,
        cached: Option<&CachedTree>,
        prefix: &[u8],
        depth: usize,
    ) -> Attempt<()> {
        if cached.is_some_and(|cached| cached.id == Some(*tree)) {
            self.same.push(prefix.to_vec());
            return Ok(());
        }
        if depth > DIRECTORY_DEPTH_MAX {
            return Err(Decline);
        }
        for entry in decode::tree(&self.objects.expect(tree, objects::Kind::Tree)?)? {
            let mut path = [prefix, &entry.name].concat();
            if entry.is_folder() {
                let inner = cached.and_then(|c| c.children.iter().find(|child| child.name == entry.name));
                path.push(b'/');
                self.folder(&entry.id, inner, &path, depth + 1)?;
            } else {
                self.files.push(File { path, mode: entry.mode, id: entry.id });
            }
        }
        Ok(())
    }
}
