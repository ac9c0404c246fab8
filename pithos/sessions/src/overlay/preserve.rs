//! What a commit owes to checkpoints: they lie over the tree that it changes. Before it does, each takes what shows through there for its own; afterwards
//! those of the same session know that the change was their session's, so that going back to one and committing is no conflict.

use std::path::{Path, PathBuf};

use pithos_layers::{Change, ChangeKind, Done, Layer, Name, Root, changes};

use super::{Kept, said};
use crate::checkpoints::{Files, Record, Store};
use crate::error::Error;
use crate::limits::LEVEL_BYTES_MAX;

impl Kept {
    /// What a commit of these paths (none is all) would change below, with the folder that each is in.
    pub(super) fn to_be_committed(
        &self,
        selected: &[(PathBuf, Name)],
    ) -> Result<Vec<(PathBuf, Change)>, Error> {
        let mut found = Vec::new();
        for part in &self.parts {
            let layer = Layer::open(&part.upper, &part.root).map_err(said)?;
            let wanted = |name: &Name| {
                let below = |(root, at): &(PathBuf, Name)| *root == part.root && name.is_in(at);
                selected.is_empty() || selected.iter().any(below)
            };
            let all = changes(&layer).map_err(said)?.into_iter().filter(|change| wanted(&change.path));
            found.extend(all.map(|change| (part.root.clone(), change)));
        }
        Ok(found)
    }

    /// Each of these paths names something that has changed, is above it, or went with a folder.
    pub(super) fn must_have_changed(&self, selected: &[(PathBuf, Name)]) -> Result<(), Error> {
        if self.snapshot || selected.is_empty() {
            return Ok(());
        }
        let all = self.to_be_committed(&[])?;
        let went = |change: &Change| matches!(change.change, ChangeKind::Deleted | ChangeKind::Type);
        for (root, name) in selected {
            let known = |(at, change): &(PathBuf, Change)| {
                at == root && (change.path.is_in(name) || (went(change) && name.is_in(&change.path)))
            };
            if !all.iter().any(known) {
                let path = root.join(name.path());
                return Err(Error::Overlay(format!(
                    "nothing was done: the session has changed nothing at {}; diff lists what it has changed",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    /// Lets every checkpoint keep what these changes will replace. The names of those that could not, which are gone.
    pub(super) fn preserve(&self, store: &Store, coming: &[(PathBuf, Change)]) -> Result<Vec<String>, Error> {
        let mut gone = Vec::new();
        if coming.is_empty() {
            return Ok(gone);
        }
        for one in store.list()?.into_iter().filter(|one| !one.damaged) {
            let kept = store.update(&one.handle, |record, blobs| {
                let over = record.files == Files::Overlay;
                for (part, blobs) in record.parts.iter_mut().zip(blobs).filter(|_| over) {
                    let Ok(lower) = Root::open(&part.root) else { continue };
                    for (_, change) in coming.iter().filter(|(root, _)| *root == part.root) {
                        let whole = change.change != ChangeKind::Mode;
                        let kept = part.level.preserve(&lower, &change.path, whole, blobs, LEVEL_BYTES_MAX);
                        kept.map_err(said)?;
                    }
                }
                Ok(over)
            });
            // One that would show something else than what it was taken of is worse than none.
            if kept.is_err() {
                let _ = store.delete(&one.handle);
                gone.push(one.handle);
            }
        }
        Ok(gone)
    }

    /// Tells the checkpoints of this session what it has committed.
    pub(super) fn tell_committed(&self, store: &Store, done: &[(PathBuf, Done)]) -> Result<(), Error> {
        if done.is_empty() {
            return Ok(());
        }
        let now = self.now()?;
        for one in store.list()?.into_iter().filter(|one| !one.damaged) {
            // Who cannot be told meets a conflict, and overwrites nothing.
            let _ = store.update(&one.handle, |record, _| {
                let ours = record.lineage == self.lineage;
                if ours {
                    done.iter().for_each(|(root, done)| note(record, root, done, now));
                }
                Ok(ours)
            });
        }
        Ok(())
    }
}

fn note(record: &mut Record, root: &Path, done: &Done, now: pithos_layers::Time) {
    for part in record.parts.iter_mut().filter(|part| part.root == root) {
        part.base.since.insert(done.path.clone(), now);
        part.base.had.retain(|name| !name.is_in(&done.path));
        if done.change != ChangeKind::Deleted {
            part.base.had.insert(done.path.clone());
        }
    }
}
