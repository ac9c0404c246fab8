//! Bringing back. Each step looks at what is there and does what is missing, so that an undo that was cut short is begun
//! again; what it would write over is kept first, as an entry of its own.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use crate::keep::{copy_file, open_to_read, pour, same_bytes};
use crate::place::{self, At, Identity, identity, kind};
use crate::record::{Action, Record};
use crate::{Entry, Trash, attributes};

/// What is being asked for.
#[derive(Debug, Clone, Copy)]
pub struct Undoing {
    /// The entry.
    pub number: u32,
    /// Whether what has come into a place since is put aside.
    pub force: bool,
    /// Seconds since 1970.
    pub time: u64,
}

/// What an undo did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The command line that was undone.
    pub title: Vec<u8>,
    /// How many things were brought back.
    pub restored: usize,
    /// The entry that holds what was replaced by it, if anything was.
    pub replaced: Option<u32>,
    /// What stands in the way; then nothing was done.
    pub conflicts: Vec<PathBuf>,
}

/// Whether the command has done what was expected of it, as far as can be seen.
pub(crate) fn took_effect(objects: &OwnedFd, action: &Action) -> bool {
    match action {
        Action::Kept { object, identity: known, path, .. } => {
            match At::open(path).and_then(|at| Ok((at.stat()?, at))) {
                Ok((Some(stat), at)) => {
                    let object = OsString::from(object.to_string());
                    let there = is_original((objects, &object), &stat, *known);
                    !there || kind(&stat).is_dir() && !holds_all((objects, &object), (&at.folder, &at.name))
                }
                _ => true,
            }
        }
        Action::Content { identity: known, size, changed, path, .. } => match place::stat(path) {
            Some(stat) => {
                (identity(&stat), stat.st_size.unsigned_abs(), place::changed(&stat))
                    != (*known, *size, *changed)
            }
            None => true,
        },
        Action::Moved { identity: known, from, to } => {
            place::stat(from).is_none() && place::stat(to).is_some_and(|stat| identity(&stat) == *known)
        }
    }
}

/// Whether what is there is what was kept. The number of a folder that is gone may be another file's by now; that of a
/// file is not, because the kept one is the same file.
fn is_original((objects, object): (&OwnedFd, &OsStr), there: &Stat, known: Identity) -> bool {
    let kept = place::stat_in(objects, object).ok().flatten();
    identity(there) == known && kept.is_some_and(|kept| kind(&kept) == kind(there))
}

/// Whether a folder still has everything that is kept of it.
fn holds_all((objects, object): (&OwnedFd, &OsStr), (folder, name): (&OwnedFd, &OsStr)) -> bool {
    let (Ok(kept), Ok(there)) = (place::folder_in(objects, object), place::folder_in(folder, name)) else {
        return false;
    };
    let Ok(names) = place::names(&kept) else { return false };
    names.iter().all(|name| match (place::stat_in(&kept, name), place::stat_in(&there, name)) {
        (Ok(Some(old)), Ok(Some(new))) if kind(&old).is_dir() && kind(&new).is_dir() => {
            holds_all((&kept, name), (&there, name))
        }
        (Ok(Some(_)), Ok(Some(_))) => true,
        _ => false,
    })
}

impl Trash {
    /// The newest entry that can be undone and holds no undo's own.
    pub fn newest(&self) -> io::Result<Option<u32>> {
        Ok(self.list()?.into_iter().rev().find(|entry| !entry.of_undo).map(|entry| entry.number))
    }

    /// Brings back what the entry holds.
    pub fn undo(&self, asked: &Undoing) -> io::Result<Report> {
        let record = self.record(asked.number).ok_or_else(|| io::Error::other("there is no such entry"))?;
        let objects = self.entry_folder(asked.number)?;
        let conflicts = conflicts(&objects, &record);
        if !asked.force && !conflicts.is_empty() {
            return Ok(Report { title: record.title, conflicts, ..Report::default() });
        }
        let mut title = b"undo: ".to_vec();
        title.extend_from_slice(&record.title);
        let mut restorer =
            Restorer { trash: self, objects, own: None, title, time: asked.time, number: asked.number };
        let mut restored = 0;
        for action in record.actions.iter().rev() {
            let done = restorer.restore(action).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", action.path().display()))
            })?;
            restored += usize::from(done);
        }
        let replaced = restorer.own.map(|own| own.number());
        self.forget(Some(asked.number))?;
        Ok(Report { title: record.title, restored, replaced, conflicts: Vec::new() })
    }
}

/// Places where something else has come since, and that the way back needs free.
fn conflicts(objects: &OwnedFd, record: &Record) -> Vec<PathBuf> {
    // What is in a place after the steps before.
    let mut seen: HashMap<PathBuf, Option<Identity>> = HashMap::new();
    let mut found = Vec::new();
    for action in record.actions.iter().rev() {
        let look = |path: &Path| match seen.get(path) {
            Some(known) => *known,
            None => place::stat(path).map(|stat| identity(&stat)),
        };
        match action {
            Action::Kept { object, identity: known, replaced, path, .. } => {
                let there = look(path);
                if !replaced
                    && there.is_some_and(|there| there != *known)
                    && !is_kept_one((objects, OsStr::new(&object.to_string())), path)
                {
                    found.push(path.clone());
                }
                seen.insert(path.clone(), Some(*known));
            }
            Action::Content { path, .. } => {
                if place::stat(path).is_some_and(|stat| kind(&stat).is_dir()) && !seen.contains_key(path) {
                    found.push(path.clone());
                }
            }
            Action::Moved { identity: known, from, to } => {
                if look(to) == Some(*known) {
                    if look(from).is_some_and(|there| there != *known) {
                        found.push(from.clone());
                    }
                    seen.insert(to.clone(), None);
                    seen.insert(from.clone(), Some(*known));
                }
            }
        }
    }
    found
}

/// Whether what is at `path` is what is kept, put there by an undo that did not end.
fn is_kept_one((objects, object): (&OwnedFd, &OsStr), path: &Path) -> bool {
    let there = At::open(path);
    there.is_ok_and(|at| same((objects, object), (&at.folder, &at.name)).unwrap_or(false))
}

fn same((one, left): (&OwnedFd, &OsStr), (two, right): (&OwnedFd, &OsStr)) -> io::Result<bool> {
    let (Some(old), Some(new)) = (place::stat_in(one, left)?, place::stat_in(two, right)?) else {
        return Ok(false);
    };
    if identity(&old) == identity(&new) {
        return Ok(true);
    }
    if kind(&old) != kind(&new) {
        return Ok(false);
    }
    if kind(&old).is_dir() {
        let (one, two) = (place::folder_in(one, left)?, place::folder_in(two, right)?);
        let names = place::names(&one)?;
        if names != place::names(&two)? {
            return Ok(false);
        }
        for name in &names {
            if !same((&one, name), (&two, name))? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if kind(&old).is_symlink() {
        let read = |folder, name| rustix::fs::readlinkat(folder, name, Vec::new());
        return Ok(read(one, left)? == read(two, right)?);
    }
    let marks = |stat: &Stat| (stat.st_mode, place::changed(stat));
    Ok(kind(&old).is_file()
        && marks(&old) == marks(&new)
        && same_bytes(&open_to_read(one, left)?, &open_to_read(two, right)?)?)
}

struct Restorer<'a> {
    trash: &'a Trash,
    objects: OwnedFd,
    /// The entry for what this undo replaces.
    own: Option<Entry>,
    title: Vec<u8>,
    time: u64,
    number: u32,
}

impl Restorer<'_> {
    /// Undoes one step; whether there was anything to do.
    fn restore(&mut self, action: &Action) -> io::Result<bool> {
        match action {
            Action::Kept { object, identity: known, path, .. } => {
                let object = OsString::from(object.to_string());
                let at = At::open(path)?;
                match at.stat()? {
                    Some(stat) if is_original((&self.objects, &object), &stat, *known) => {
                        let whole = !kind(&stat).is_dir()
                            || holds_all((&self.objects, &object), (&at.folder, &at.name));
                        if !whole {
                            self.merge(&object, &at)?;
                        }
                        Ok(!whole)
                    }
                    Some(_) if is_kept_one((&self.objects, &object), path) => Ok(false),
                    Some(_) => {
                        self.put_aside(path)?;
                        self.put(&object, &at)?;
                        Ok(true)
                    }
                    None => {
                        self.put(&object, &at)?;
                        Ok(true)
                    }
                }
            }
            Action::Content { object, path, .. } => {
                self.restore_content(&OsString::from(object.to_string()), path)
            }
            Action::Moved { identity: known, from, to } => {
                let Some(source) = At::find(to)? else { return Ok(false) };
                if source.stat()?.is_none_or(|stat| identity(&stat) != *known) {
                    return Ok(false);
                }
                let target = At::open(from)?;
                if target.stat()?.is_some() {
                    self.put_aside(from)?;
                }
                rename_to_free((&source.folder, &source.name), (&target.folder, &target.name))?;
                Ok(true)
            }
        }
    }

    /// Puts the kept file where nothing is; at once, so that nobody sees a part of it.
    fn put(&self, object: &OsStr, at: &At) -> io::Result<()> {
        let stat = place::stat_in(&self.objects, object)?.ok_or(Errno::NOENT)?;
        if !kind(&stat).is_dir() {
            match rustix::fs::linkat(&self.objects, object, &at.folder, &at.name, AtFlags::empty()) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => return Err(Errno::EXIST.into()),
                Err(_) => {}
            }
        }
        let passing = OsString::from(format!(".rush-undo-{}", self.number));
        place::remove(&at.folder, &passing)?;
        fill((&self.objects, object), (&at.folder, &passing))?;
        rename_to_free((&at.folder, &passing), (&at.folder, &at.name))
    }

    /// Puts what is missing into a folder that is still there.
    fn merge(&self, object: &OsStr, at: &At) -> io::Result<()> {
        let kept = place::folder_in(&self.objects, object)?;
        let there = place::folder_in(&at.folder, &at.name)?;
        merge(&kept, &there)
    }

    /// Writes the old content over the new, in the same file; a file that is another one now is replaced.
    fn restore_content(&mut self, object: &OsStr, path: &Path) -> io::Result<bool> {
        let at = At::open(path)?;
        let Some(stat) = at.stat()? else {
            self.put_copy(object, &at)?;
            return Ok(true);
        };
        let kept = open_to_read(&self.objects, object)?;
        if kind(&stat).is_file() {
            let there = open_to_read(&at.folder, &at.name)?;
            let state = rustix::fs::fstat(&kept)?;
            if same_bytes(&kept, &there)? {
                attributes::copy(&kept, &state, &there)?;
                return Ok(false);
            }
            let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            if let Ok(written) = rustix::fs::openat(&at.folder, &at.name, flags, Mode::empty()) {
                self.keep_own(path, true)?;
                rustix::fs::ftruncate(&written, 0)?;
                pour(&kept, &written, &|| false)?;
                attributes::copy(&kept, &state, &written)?;
                return Ok(true);
            }
        }
        self.put_aside(path)?;
        self.put_copy(object, &at)?;
        Ok(true)
    }

    /// A copy where nothing is: the kept one may be wanted again.
    fn put_copy(&self, object: &OsStr, at: &At) -> io::Result<()> {
        let passing = OsString::from(format!(".rush-undo-{}", self.number));
        place::remove(&at.folder, &passing)?;
        fill((&self.objects, object), (&at.folder, &passing))?;
        rename_to_free((&at.folder, &passing), (&at.folder, &at.name))
    }

    /// Keeps what is there and takes it away.
    fn put_aside(&mut self, path: &Path) -> io::Result<()> {
        self.keep_own(path, false)?;
        let at = At::open(path)?;
        place::remove(&at.folder, &at.name)
    }

    fn keep_own(&mut self, path: &Path, content: bool) -> io::Result<()> {
        if self.own.is_none() {
            self.own = Some(self.trash.begin_as(&self.title, self.time, true)?);
        }
        let Some(own) = &mut self.own else { return Ok(()) };
        if let Some(action) = own.keep(&|| false, path.to_path_buf(), true, content)? {
            own.note(&action)?;
        }
        Ok(())
    }
}

/// Makes what is kept anew at a name where nothing is: links where they do, copies elsewhere.
fn fill((from, object): (&OwnedFd, &OsStr), (to, name): (&OwnedFd, &OsStr)) -> io::Result<()> {
    let stat: Stat = place::stat_in(from, object)?.ok_or(Errno::NOENT)?;
    if !kind(&stat).is_dir() {
        return copy_file((from, object), (to, name), &stat, &|| false);
    }
    let kept = place::folder_in(from, object)?;
    rustix::fs::mkdirat(to, name, Mode::RWXU)?;
    let made = place::folder_in(to, name)?;
    merge(&kept, &made)?;
    attributes::copy(&kept, &stat, &made)
}

/// Brings into a folder what is kept and not there.
fn merge(kept: &OwnedFd, there: &OwnedFd) -> io::Result<()> {
    for name in place::names(kept)? {
        let stat = place::stat_in(kept, &name)?.ok_or(Errno::NOENT)?;
        match place::stat_in(there, &name)? {
            None if kind(&stat).is_dir() => fill((kept, &name), (there, &name))?,
            None => match rustix::fs::linkat(kept, &name, there, &name, AtFlags::empty()) {
                Ok(()) => {}
                Err(_) => copy_file((kept, &name), (there, &name), &stat, &|| false)?,
            },
            Some(new) if kind(&stat).is_dir() && kind(&new).is_dir() => {
                merge(&place::folder_in(kept, &name)?, &place::folder_in(there, &name)?)?;
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Renames to where nothing is; never over something.
fn rename_to_free((from, old): (&OwnedFd, &OsStr), (to, new): (&OwnedFd, &OsStr)) -> io::Result<()> {
    match rustix::fs::renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if place::stat_in(to, new)?.is_none() => {
            Ok(rustix::fs::renameat(from, old, to, new)?)
        }
        Err(Errno::XDEV) => {
            Err(io::Error::other("it was moved to another file system; move it back by `mv`"))
        }
        done => Ok(done?),
    }
}
