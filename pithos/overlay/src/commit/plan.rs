//! Which paths are committed by which operations, and what stands in the way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::changes::{Change, What, of_table};
use crate::commit::journal::{Operation, random_name};
use crate::commit::{Committed, Request};
use crate::error::Error;
use crate::layers::{Layers, Node, Table};
use crate::root::{Kind, Root};

/// What a commit does.
pub(super) struct Plan {
    pub(super) operations: Vec<Operation>,
    /// What is written under each staged name.
    pub(super) staged: Vec<Staged>,
    pub(super) changes: Vec<Change>,
    pub(super) committed: Committed,
    /// Everything that the overlay holds.
    pub(super) table: Table,
}

/// One staged path: the one it stands for, and everything chosen below it when that is a new folder.
pub(super) struct Staged {
    pub(super) name: PathBuf,
    pub(super) path: PathBuf,
    pub(super) below: Vec<PathBuf>,
}

/// Plans, and refuses what must not be done.
pub(super) fn make(layers: &Layers, request: &Request<'_>) -> Result<Plan, Error> {
    let table = layers.table()?;
    let all = of_table(layers, &table)?;
    for path in request.paths {
        if !all.iter().any(|change| change.path.starts_with(path) || path.starts_with(&change.path)) {
            return Err(Error::Unchanged(path.clone()));
        }
    }
    let changes = choose(all, request.paths);
    let mut committed = Committed::default();
    let mut plan =
        Plan { operations: Vec::new(), staged: Vec::new(), changes, committed: Committed::default(), table };
    let id = random_name();
    // Paths are in order: what is in a new folder follows it and is staged with it.
    let mut new_folder: Option<usize> = None;
    for change in &plan.changes {
        let uncommittable =
            change.what != What::Deleted && matches!(change.kind, Kind::Socket | Kind::Device);
        if uncommittable {
            committed.skipped.push(change.path.clone());
            continue;
        }
        committed.paths.push(change.path.clone());
        let inside = new_folder
            .and_then(|at| plan.staged.get_mut(at))
            .filter(|staged| change.path.starts_with(&staged.path));
        if let Some(staged) = inside {
            if change.what != What::Deleted {
                staged.below.push(change.path.clone());
            }
            continue;
        }
        match change.what {
            What::Deleted => plan.operations.push(Operation::Remove { path: change.path.clone() }),
            What::Mode if change.kind == Kind::Folder => {
                plan.operations.extend(mode_of(&plan.table, &change.path))
            }
            What::Added | What::Modified | What::Type | What::Mode => {
                let number = plan.staged.len();
                let beside = |kind: &str| change.path.with_file_name(format!(".pithos-{kind}-{id}-{number}"));
                let (name, out) = (beside("new"), beside("old"));
                plan.operations.push(Operation::Put { path: change.path.clone(), staged: name.clone(), out });
                if change.kind == Kind::Folder {
                    new_folder = Some(number);
                }
                plan.staged.push(Staged { name, path: change.path.clone(), below: Vec::new() });
            }
        }
    }
    // Modes of folders last: one that takes away the right to write must not stand in the way.
    plan.operations.sort_by_key(|operation| matches!(operation, Operation::Mode { .. }));
    plan.committed = committed;
    refuse_protected(&plan.changes, request.protected)?;
    gone(layers, request, &plan.changes)?;
    check(layers, request, &plan)?;
    Ok(plan)
}

fn mode_of(table: &Table, path: &Path) -> Option<Operation> {
    match table.get(path) {
        Some(Node::Item { meta, .. }) => {
            Some(Operation::Mode { path: path.to_path_buf(), mode: meta.mode, owner: meta.owner })
        }
        _ => None,
    }
}

/// The changes at and below `paths`, and the new folders on the way to them.
fn choose(all: Vec<Change>, paths: &[PathBuf]) -> Vec<Change> {
    if paths.is_empty() {
        return all;
    }
    let chosen: BTreeSet<PathBuf> = all
        .iter()
        .filter(|change| paths.iter().any(|path| change.path.starts_with(path)))
        .map(|change| change.path.clone())
        .collect();
    let on_the_way = |change: &Change| {
        matches!(change.what, What::Added | What::Type)
            && change.kind == Kind::Folder
            && chosen.iter().any(|path| path.starts_with(&change.path))
    };
    // A path below a deleted one is chosen with it: there is nothing else to commit of it.
    let around = |change: &Change| {
        change.what == What::Deleted && paths.iter().any(|path| path.starts_with(&change.path))
    };
    all.into_iter()
        .filter(|change| chosen.contains(&change.path) || on_the_way(change) || around(change))
        .collect()
}

fn refuse_protected(changes: &[Change], protected: &[PathBuf]) -> Result<(), Error> {
    let within = |change: &&Change| {
        let replaces = matches!(change.what, What::Deleted | What::Type);
        protected
            .iter()
            .any(|path| change.path.starts_with(path) || (replaces && path.starts_with(&change.path)))
    };
    let found: Vec<PathBuf> = changes.iter().filter(within).map(|change| change.path.clone()).collect();
    if found.is_empty() { Ok(()) } else { Err(Error::Protected(found)) }
}

/// Whether something was deleted below since the overlay was opened: what was copied from below, is missing there, and whose
/// folder has changed. A file that was renamed in the overlay was copied from below too, but its folder there is as it was.
/// Asked before staging, which writes into those folders.
fn gone(layers: &Layers, request: &Request<'_>, changes: &[Change]) -> Result<(), Error> {
    if request.over_conflicts {
        return Ok(());
    }
    let mut found = Vec::new();
    for change in changes {
        let Some(upper) = change.upper else { continue };
        let parent = change.path.parent().unwrap_or(Path::new(""));
        let ours = request.committed.iter().any(|path| path.parent() == change.path.parent());
        if ours || layers.base.meta(&change.path)?.is_some() || !layers.was_below(upper, &change.path)? {
            continue;
        }
        let parent = layers.base.meta_of_folder(parent)?;
        if parent.is_some_and(|parent| parent.changed >= layers.opened) {
            found.push(change.path.clone());
        }
    }
    if found.is_empty() { Ok(()) } else { Err(Error::Conflicts(found)) }
}

/// Whether what is below is what it was when the overlay was opened, for every path of the plan.
pub(super) fn check(layers: &Layers, request: &Request<'_>, plan: &Plan) -> Result<(), Error> {
    if request.over_conflicts {
        return Ok(());
    }
    let mut found = BTreeSet::new();
    for change in &plan.changes {
        if request.committed.iter().any(|path| change.path.starts_with(path)) {
            continue;
        }
        conflict(layers, change, &mut found)?;
    }
    if found.is_empty() { Ok(()) } else { Err(Error::Conflicts(found.into_iter().collect())) }
}

fn conflict(layers: &Layers, change: &Change, found: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
    let path = &change.path;
    match layers.base.meta(path)? {
        None => {}
        Some(below) if below.kind == Kind::Folder && matches!(change.what, What::Deleted | What::Type) => {
            changed_within(layers, &layers.base, path, found)?;
        }
        // A folder's date changes with what is put into it, which is no conflict for its mode.
        Some(below) if below.kind != Kind::Folder && below.changed >= layers.opened => {
            found.insert(path.clone());
        }
        Some(_) => {}
    }
    Ok(())
}

/// A folder that is deleted must be what it was, with everything in it.
fn changed_within(
    layers: &Layers,
    base: &Root,
    path: &Path,
    found: &mut BTreeSet<PathBuf>,
) -> Result<(), Error> {
    let Some(meta) = base.meta(path)? else { return Ok(()) };
    if meta.changed >= layers.opened {
        found.insert(path.to_path_buf());
    }
    if meta.kind == Kind::Folder {
        for name in base.names(path)? {
            changed_within(layers, base, &path.join(name), found)?;
        }
    }
    Ok(())
}
