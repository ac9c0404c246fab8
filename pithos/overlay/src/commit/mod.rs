//! Committing an overlay to its folder: all of what was asked for or nothing, whatever happens on the way.
//!
//! 1. The plan: which paths, and whether what is below is still what it was when the overlay was opened. A conflict ends it here.
//! 2. Staging: everything new is written beside its place under a name of its own, and flushed. The journal names each of
//!    those before it is made, so that an interrupted commit can take them away again.
//! 3. The mark `ready` in the journal. Before it an interrupted commit is undone, from here on it is finished.
//! 4. Renames and removals, each of which may be done again, and the end of the journal.

mod journal;
mod plan;
mod stage;

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::error::Error;
use crate::layers::Layers;
use crate::root::{Kind, Moment, Root};
use journal::{Journal, Operation};

/// What to commit.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// These paths and what is below them; all when empty.
    pub paths: &'a [PathBuf],
    /// Paths relative to the folder that may not be written, nor what is below them.
    pub protected: &'a [PathBuf],
    /// Commits over what was changed below meanwhile, because somebody has looked at it.
    pub over_conflicts: bool,
    /// Paths that may have changed below since the overlay was opened, because an earlier commit of it wrote them.
    pub committed: &'a [PathBuf],
}

/// What was committed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The changed paths that are in the folder now.
    pub paths: Vec<PathBuf>,
    /// Sockets and devices, which cannot be committed.
    pub skipped: Vec<PathBuf>,
}

/// How far a commit is: for tests that end the process there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The journal names what will be staged.
    Planned,
    /// That many of the staged things are written.
    Staged(usize),
    /// The mark is set.
    Ready,
    /// That many operations are done.
    Applied(usize),
    /// The journal is gone.
    Done,
}

/// What [`resume`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    /// No commit was interrupted.
    Nothing,
    /// One was, before its mark: the folder is as it was.
    Undone,
    /// One was, after its mark: the folder is as the commit wanted it.
    Finished,
}

/// The present moment by the clock of the file system that holds `folder`, which dates what is changed there. Everything that is
/// dated at it or later was changed after.
///
/// # Errors
/// No file can be made in `folder`.
pub fn now(folder: &Path) -> Result<Moment, Error> {
    let root = Root::open(folder)?;
    let name = format!(".now-{}", journal::random_name());
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let (parent, last) = root.parent(Path::new(&name)).map_err(Error::at(folder))?;
    rustix::fs::openat(&parent, last, flags, Mode::RUSR).map_err(Error::at(folder))?;
    let meta = root.meta(Path::new(&name));
    let _ = rustix::fs::unlinkat(&parent, last, AtFlags::empty());
    meta?.map(|meta| meta.changed).ok_or_else(|| Error::at(folder)(Errno::NOENT))
}

/// Writes what the overlay holds to its folder. `journal` is a folder of the caller's own, on any file system, in which
/// nothing else lies; `step` is told how far it is.
///
/// # Errors
/// [`Error::Conflicts`], [`Error::Protected`], [`Error::Unchanged`]: nothing was written. [`Error::File`]: the folder is as it
/// was, unless the mark was set; then [`resume`] finishes.
pub fn commit(
    layers: &Layers,
    request: &Request<'_>,
    journal: &Path,
    step: &mut dyn FnMut(Step),
) -> Result<Committed, Error> {
    resume(journal)?;
    let plan = plan::make(layers, request)?;
    if plan.operations.is_empty() {
        return Ok(plan.committed);
    }
    let mut journal = Journal::begin(journal, layers.base.path(), &plan.operations)?;
    step(Step::Planned);
    if let Err(error) = stage::all(layers, &plan, step).and_then(|()| plan::check(layers, request, &plan)) {
        undo(&layers.base, &plan.operations)?;
        journal.end()?;
        return Err(error);
    }
    journal.set_ready()?;
    step(Step::Ready);
    apply(&layers.base, &plan.operations, step)?;
    journal.end()?;
    step(Step::Done);
    Ok(plan.committed)
}

/// Finishes or undoes the commit that the journal tells of.
///
/// # Errors
/// The journal cannot be read, or the folder not be written.
pub fn resume(journal: &Path) -> Result<Resumed, Error> {
    let Some((mut journal, base, operations)) = Journal::open(journal)? else { return Ok(Resumed::Nothing) };
    let base = Root::open(&base)?;
    let done = if journal.is_ready() {
        apply(&base, &operations, &mut |_| {})?;
        Resumed::Finished
    } else {
        undo(&base, &operations)?;
        Resumed::Undone
    };
    journal.end()?;
    Ok(done)
}

/// Does every operation, whether or not it was done before.
fn apply(base: &Root, operations: &[Operation], step: &mut dyn FnMut(Step)) -> Result<(), Error> {
    for (done, operation) in operations.iter().enumerate() {
        match operation {
            Operation::Remove { path } => remove(base, path)?,
            Operation::Put { path, staged, out } => put(base, path, staged, out)?,
            Operation::Mode { path, mode, owner } => set_mode(base, path, *mode, *owner)?,
        }
        step(Step::Applied(done + 1));
    }
    Ok(())
}

/// Takes away what was staged.
fn undo(base: &Root, operations: &[Operation]) -> Result<(), Error> {
    for operation in operations {
        if let Operation::Put { staged, .. } = operation {
            remove(base, staged)?;
        }
    }
    Ok(())
}

/// Puts what was staged in its place; what stood there goes out of the way first when a rename cannot replace it.
fn put(base: &Root, path: &Path, staged: &Path, out: &Path) -> Result<(), Error> {
    if let Some(new) = base.meta(staged)? {
        let old = base.meta(path)?;
        if old.is_some_and(|old| {
            (old.kind == Kind::Folder) != (new.kind == Kind::Folder) || old.kind == Kind::Folder
        }) {
            rename(base, path, out)?;
        }
        rename(base, staged, path)?;
    }
    remove(base, out)
}

fn rename(base: &Root, from: &Path, to: &Path) -> Result<(), Error> {
    let (old, old_name) = base.parent(from).map_err(Error::at(from))?;
    let (new, new_name) = base.parent(to).map_err(Error::at(to))?;
    rustix::fs::renameat(old, old_name, new, new_name).map_err(Error::at(to))
}

/// Removes what is at `path` with all that is in it; what is not there is no error.
fn remove(base: &Root, path: &Path) -> Result<(), Error> {
    let Some(meta) = base.meta(path)? else { return Ok(()) };
    if meta.kind == Kind::Folder {
        for name in base.names(path)? {
            remove(base, &path.join(name))?;
        }
    }
    let flags = if meta.kind == Kind::Folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    let (parent, name) = base.parent(path).map_err(Error::at(path))?;
    match rustix::fs::unlinkat(parent, name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(Error::at(path)(error)),
    }
}

fn set_mode(base: &Root, path: &Path, mode: u32, owner: (u32, u32)) -> Result<(), Error> {
    let Some(meta) = base.meta(path)? else { return Ok(()) };
    let (parent, name) = base.parent(path).map_err(Error::at(path))?;
    if meta.owner != owner {
        stage::set_owner(&parent, name, owner).map_err(Error::at(path))?;
    }
    rustix::fs::chmodat(&parent, name, Mode::from_raw_mode(mode), AtFlags::empty()).map_err(Error::at(path))
}
