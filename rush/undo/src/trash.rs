//! The trash: a folder of mode 0700, in it a folder for each entry with `record` and what was kept, by number.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::keep::Keeper;
use crate::place::{self, At};
use crate::plan::{self, Touch};
use crate::record::{self, Action, Record};
use crate::{limits, restore};

/// The name of an entry's record.
const RECORD: &str = "record";

/// How the name of an entry ends that is being forgotten.
const GONE: &str = ".gone";

/// Something that could not be kept: the file, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The file.
    pub path: PathBuf,
    /// Why it was not kept.
    pub reason: String,
}

/// What the caller knows of the moment: where it is, and whether the user wants it to stop.
pub struct Moment<'a> {
    /// The working directory.
    pub directory: &'a Path,
    /// Whether keeping is to be given up.
    pub stopped: &'a dyn Fn() -> bool,
}

/// Where things are kept.
#[derive(Debug, Clone)]
pub struct Trash {
    path: PathBuf,
}

/// An entry that can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its number.
    pub number: u32,
    /// When it began, in seconds since 1970.
    pub time: u64,
    /// The command line.
    pub title: Vec<u8>,
    /// Whether it holds what an undo has replaced.
    pub of_undo: bool,
    /// How many things it would bring back.
    pub changes: usize,
    /// Bytes that are kept for it.
    pub bytes: u64,
}

impl Trash {
    /// The trash at `path`, which is made. It must be the user's own folder, which nobody else may use.
    pub fn open(path: &Path, user: u32) -> io::Result<Trash> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let path = path.canonicalize()?;
        let metadata = std::fs::symlink_metadata(&path)?;
        if metadata.uid() != user {
            return Err(io::Error::other("it belongs to somebody else"));
        }
        if metadata.permissions().mode() & 0o077 != 0 {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700))?;
        }
        Ok(Trash { path })
    }

    /// Begins an entry.
    pub fn begin(&self, title: &[u8], time: u64) -> io::Result<Entry> {
        self.begin_as(title, time, false)
    }

    pub(crate) fn begin_as(&self, title: &[u8], time: u64, of_undo: bool) -> io::Result<Entry> {
        self.expire(time)?;
        let root = self.root()?;
        let mut number = self.numbers()?.last().map_or(1, |last| last + 1);
        let name = loop {
            let name = OsString::from(number.to_string());
            match rustix::fs::mkdirat(&root, &name, Mode::RWXU) {
                Ok(()) => break name,
                Err(Errno::EXIST) => number += 1,
                Err(error) => return Err(error.into()),
            }
        };
        let entry = Entry {
            trash: self.clone(),
            name,
            number,
            objects: 0,
            actions: 0,
            known: HashSet::new(),
            full: false,
        };
        entry.append(&record::heading(time, of_undo, title))?;
        Ok(entry)
    }

    /// What can be undone, newest last.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        let mut all = Vec::new();
        for number in self.numbers()? {
            let Some(record) = self.record(number) else { continue };
            let folder = self.entry_folder(number)?;
            let changes =
                record.actions.iter().filter(|action| restore::took_effect(&folder, action)).count();
            if changes > 0 {
                let bytes = record.actions.iter().map(Action::bytes).sum();
                let Record { time, title, of_undo, .. } = record;
                all.push(Listed { number, time, title, of_undo, changes, bytes });
            }
        }
        Ok(all)
    }

    /// Forgets an entry, or all of them.
    pub fn forget(&self, number: Option<u32>) -> io::Result<()> {
        let root = self.root()?;
        for known in self.numbers()? {
            if number.is_none_or(|number| number == known) {
                // At once: half an entry would bring back half.
                let gone = OsString::from(format!("{known}{GONE}"));
                match rustix::fs::renameat(&root, known.to_string(), &root, &gone) {
                    Ok(()) => place::remove(&root, &gone)?,
                    // Another shell was faster.
                    Err(Errno::NOENT) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// Removes what a shell that died had begun to forget.
    fn sweep(&self) -> io::Result<()> {
        let root = self.root()?;
        for name in std::fs::read_dir(&self.path)?.flatten().map(|entry| entry.file_name()) {
            if name.to_str().is_some_and(|name| name.ends_with(GONE)) {
                place::remove(&root, &name)?;
            }
        }
        Ok(())
    }

    /// Forgets what is too old or too much.
    pub fn expire(&self, time: u64) -> io::Result<()> {
        self.sweep()?;
        let mut kept = Vec::new();
        for number in self.numbers()? {
            let Some(record) = self.record(number) else {
                // Somebody may have just begun it.
                let path = self.path.join(number.to_string());
                let begun = std::fs::metadata(path).map_or(0, |m| m.mtime().unsigned_abs());
                if time.saturating_sub(begun) > limits::AGE_SECONDS_MAX {
                    self.forget(Some(number))?;
                }
                continue;
            };
            kept.push((number, record.time, record.actions.iter().map(Action::bytes).sum::<u64>()));
        }
        let (mut bytes, mut entries) = (0, 0);
        for (number, begun, size) in kept.into_iter().rev() {
            bytes += size;
            entries += 1;
            let newest = entries == 1;
            let old = time.saturating_sub(begun) > limits::AGE_SECONDS_MAX;
            if old || entries >= limits::ENTRIES_MAX || bytes > limits::BYTES_MAX && !newest {
                self.forget(Some(number))?;
            }
        }
        Ok(())
    }

    /// The numbers of the entries, in order.
    fn numbers(&self) -> io::Result<Vec<u32>> {
        let names = std::fs::read_dir(&self.path)?.flatten().map(|entry| entry.file_name());
        let mut numbers: Vec<u32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(crate) fn record(&self, number: u32) -> Option<Record> {
        record::parse(&std::fs::read(self.path.join(number.to_string()).join(RECORD)).ok()?)
    }

    pub(crate) fn entry_folder(&self, number: u32) -> io::Result<OwnedFd> {
        place::folder_in(&self.root()?, OsStr::new(&number.to_string()))
    }

    fn root(&self) -> io::Result<OwnedFd> {
        let at = At::open(&self.path)?;
        place::folder_in(&at.folder, &at.name)
    }
}

/// An entry that is being written: what one command line has replaced.
#[derive(Debug)]
pub struct Entry {
    trash: Trash,
    name: OsString,
    number: u32,
    objects: u32,
    actions: usize,
    /// What this line has already written over: only what was there before the line counts.
    known: HashSet<PathBuf>,
    full: bool,
}

impl Entry {
    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Keeps what a command may replace; says what it could not keep. An error of the kind `Interrupted` is the user's.
    pub fn before_command(&mut self, moment: &Moment<'_>, args: &[Vec<u8>]) -> io::Result<Vec<Complaint>> {
        let mut complaints = Vec::new();
        for touch in plan::plan(moment.directory, args) {
            self.before(moment, touch, &mut complaints)?;
        }
        Ok(complaints)
    }

    /// Keeps what is in a file that `>` empties.
    pub fn before_truncation(&mut self, moment: &Moment<'_>, path: &Path) -> io::Result<Vec<Complaint>> {
        let mut complaints = Vec::new();
        if let Some(path) = plan::content_at(&moment.directory.join(path)) {
            self.before(moment, Touch::Overwritten { path }, &mut complaints)?;
        }
        Ok(complaints)
    }

    /// Whether there is anything that `>` to this file would lose, or that the command may replace.
    pub fn is_needed(moment: &Moment<'_>, args: &[Vec<u8>]) -> bool {
        !plan::plan(moment.directory, args).is_empty()
    }

    fn before(
        &mut self,
        moment: &Moment<'_>,
        touch: Touch,
        complaints: &mut Vec<Complaint>,
    ) -> io::Result<()> {
        if self.actions >= limits::ACTIONS_MAX {
            if !std::mem::replace(&mut self.full, true) {
                let reason = "the line has replaced too many files".into();
                complaints.push(Complaint { path: touch.path().to_path_buf(), reason });
            }
            return Ok(());
        }
        let path = touch.path().to_path_buf();
        match self.try_before(moment, touch) {
            Ok(Some(action)) => {
                self.append(&action.line())?;
                self.actions += 1;
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) => {
                self.discard()?;
                if error.kind() == io::ErrorKind::Interrupted {
                    return Err(error);
                }
                complaints.push(Complaint { path, reason: explain(&error) });
                Ok(())
            }
        }
    }

    fn try_before(&mut self, moment: &Moment<'_>, touch: Touch) -> io::Result<Option<Action>> {
        match touch {
            Touch::Moved { from, to } => {
                let stat = place::stat(&from);
                // What the line makes of it later is another file.
                self.known.remove(&from);
                self.known.remove(&to);
                Ok(stat.map(|stat| Action::Moved { identity: place::identity(&stat), from, to }))
            }
            Touch::Gone { path, folders } => self.keep(moment.stopped, path, folders, false),
            Touch::Replaced { path } => {
                let kept = self.keep(moment.stopped, path, true, false)?;
                Ok(kept.map(|mut action| {
                    if let Action::Kept { replaced, .. } = &mut action {
                        *replaced = true;
                    }
                    action
                }))
            }
            Touch::Overwritten { path } if self.known.contains(&path) => Ok(None),
            Touch::Overwritten { path } => self.keep(moment.stopped, path, false, true),
        }
    }

    /// Keeps a file; as a copy where it will be written into.
    pub(crate) fn keep(
        &mut self,
        stopped: &dyn Fn() -> bool,
        path: PathBuf,
        folders: bool,
        content: bool,
    ) -> io::Result<Option<Action>> {
        let Some(at) = At::find(&path)? else { return Ok(None) };
        let Some(stat) = at.stat()?.filter(|stat| folders || !place::kind(stat).is_dir()) else {
            return Ok(None);
        };
        let trash = self.trash.root()?;
        let folder = place::folder_in(&trash, &self.name)?;
        let trash = place::identity(&rustix::fs::fstat(&trash)?);
        let mut keeper = Keeper { stopped, trash, bytes: 0, files: 0, copies: limits::BYTES_MAX };
        let object = self.free(&folder)?;
        let name = OsString::from(object.to_string());
        let identity = place::identity(&stat);
        if content {
            keeper.copy((&at.folder, &at.name), (&folder, &name), &stat)?;
            self.known.insert(path.clone());
            let (size, changed) = (stat.st_size.unsigned_abs(), place::changed(&stat));
            return Ok(Some(Action::Content { object, identity, size, changed, path }));
        }
        keeper.keep((&at.folder, &at.name), (&folder, &name), 0)?;
        self.known.remove(&path);
        Ok(Some(Action::Kept { object, identity, bytes: keeper.bytes, replaced: false, path }))
    }

    pub(crate) fn note(&mut self, action: &Action) -> io::Result<()> {
        self.append(&action.line())
    }

    /// A number for the next object: a process that shares the entry may have used some.
    fn free(&mut self, folder: &OwnedFd) -> io::Result<u32> {
        while place::stat_in(folder, OsStr::new(&self.objects.to_string()))?.is_some() {
            self.objects += 1;
        }
        Ok(self.objects)
    }

    /// Removes an object that was half kept.
    fn discard(&mut self) -> io::Result<()> {
        let folder = place::folder_in(&self.trash.root()?, &self.name)?;
        place::remove(&folder, OsStr::new(&self.objects.to_string()))
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let folder = place::folder_in(&self.trash.root()?, &self.name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, RECORD, flags, Mode::RUSR | Mode::WUSR)?;
        match rustix::io::write(&file, line) {
            Ok(count) if count == line.len() => Ok(()),
            Ok(_) => Err(Errno::NOSPC.into()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The error in words, without a number.
fn explain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text.get(..at).unwrap_or(&text).to_string(),
        None => text,
    }
}
