//! Checkpoints on disk, which outlive sessions and servers. Owns one folder of them: who may put, find, list and remove there, how much there may be, and
//! what is old. Knows nothing of sessions; what is in a checkpoint is `record`.
//!
//! No database: what a checkpoint holds is mostly files, which are linked and not copied, and a second place that has to agree with them would be one more
//! thing to repair. Each is a folder of its own, made under a name that nobody looks for and renamed when it is whole, so the rename is the
//! transaction: a process that dies at any moment leaves all of a checkpoint or nothing that counts. Invariants:
//! - A folder that does not begin with a dot is whole, and nothing in it is written again but by a rename of one file.
//! - Whoever makes a folder holds its lock; what has none and is not whole is swept.

mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pithos_layers::Blobs;
use rustix::fs::{FlockOperation, RenameFlags, flock, renameat_with};

use crate::error::{Error, short};
use crate::limits::{
    CHECKPOINT_RECORD_BYTES_MAX, CHECKPOINT_TTL_S_DEFAULT, CHECKPOINTS_BYTES_MAX, CHECKPOINTS_MAX,
};
use crate::sync::Locked;

pub use record::{Checkpoint, RanJob};
pub(crate) use record::{Files, Record, RecordedPart};

/// What lists show of a checkpoint.
const ABOUT: &str = "about.json";
/// Everything else of it but the content of files.
const RECORD: &str = "record.json";
/// Of a folder that is being made, and of one that is being removed.
const NEW: &str = ".new-";
const GONE: &str = ".gone-";

/// How often another handle is tried when somebody else has taken the one before.
const HANDLES_TRIED_MAX: usize = 64;

/// The checkpoints of one workspace and one client.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
    bytes_max: u64,
    known: Arc<Locked<Known>>,
}

/// What was read of the folder, and how it was then.
#[derive(Debug, Default)]
struct Known {
    at: Option<(i64, i64)>,
    list: BTreeMap<String, (u64, Checkpoint)>,
}

/// What somebody asks to be kept.
pub(crate) struct Wanted {
    pub(crate) name: Option<String>,
    pub(crate) ttl_s: Option<u64>,
    pub(crate) session: String,
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Error {
    let path = path.display().to_string();
    move |error| Error::Checkpoint(format!("{path}: {error}"))
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A name that nobody guesses and nobody has.
fn unused(prefix: &str) -> Result<String, Error> {
    let mut random = [0_u8; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::Checkpoint(format!("random bytes: {error}")))?;
    Ok(format!("{prefix}{:016x}", u64::from_ne_bytes(random)))
}

/// The number of a handle that is given to a checkpoint without a name.
fn number(handle: &str) -> Option<u64> {
    handle.strip_prefix('c')?.parse().ok()
}

/// What is given to those without a name is no name.
fn is_given(name: &str) -> bool {
    name.strip_prefix('c')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn name_is_good(name: &str) -> bool {
    !name.starts_with('.')
        && (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

impl Store {
    /// The checkpoints in a folder that need not be there yet, of so many bytes together.
    pub(crate) fn new(folder: PathBuf, bytes_max: Option<u64>) -> Store {
        Store { folder, bytes_max: bytes_max.unwrap_or(CHECKPOINTS_BYTES_MAX), known: Arc::default() }
    }

    /// Keeps a checkpoint whose levels have their content in these blobs, part by part.
    pub(crate) fn put(&self, wanted: Wanted, record: &Record, blobs: &[&Blobs]) -> Result<Checkpoint, Error> {
        if let Some(name) = &wanted.name
            && !name_is_good(name)
        {
            return Err(Error::Checkpoint(format!(
                "'{}' cannot name a checkpoint: use 1 to 64 letters, digits, '-', '_' or '.', and no '.' first",
                short(name)
            )));
        }
        if let Some(name) = wanted.name.as_deref().filter(|name| is_given(name)) {
            return Err(Error::Checkpoint(format!(
                "'{name}' cannot name a checkpoint: 'c' and a number are given to those without a name"
            )));
        }
        let bytes = record.bytes();
        self.make_room(bytes)?;
        let unnamed = self.folder.join(unused(NEW)?);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(failed(&self.folder))?;
        self.must_be_private()?;
        DirBuilder::new().mode(0o700).create(&unnamed).map_err(failed(&unnamed))?;
        let made = self.fill(&unnamed, wanted, record, blobs, bytes);
        if made.is_err() {
            let _ = std::fs::remove_dir_all(&unnamed);
        }
        made
    }

    fn fill(
        &self,
        unnamed: &Path,
        wanted: Wanted,
        record: &Record,
        blobs: &[&Blobs],
        bytes: u64,
    ) -> Result<Checkpoint, Error> {
        // Held until it has its name: whoever sweeps leaves it alone.
        let held = File::open(unnamed).map_err(failed(unnamed))?;
        flock(&held, FlockOperation::LockExclusive).map_err(|error| failed(unnamed)(error.into()))?;
        for (number, (part, from)) in record.parts.iter().zip(blobs).enumerate() {
            let mut to = Blobs::open(&unnamed.join(format!("blobs{number}"))).map_err(said)?;
            from.hand_over(&part.level, &mut to).map_err(said)?;
        }
        write(&unnamed.join(RECORD), record)?;
        let named = wanted.name.is_some();
        let created_s = now_s();
        let ttl_s = wanted.ttl_s.or((!named).then_some(CHECKPOINT_TTL_S_DEFAULT));
        let mut about = Checkpoint {
            handle: String::new(),
            session: wanted.session,
            named,
            created_s,
            expires_s: ttl_s.map(|ttl| created_s.saturating_add(ttl)),
            bytes,
            files: record.files(),
            damaged: false,
        };
        for _ in 0..HANDLES_TRIED_MAX {
            about.handle = wanted.name.clone().map_or_else(|| self.next_handle(), Ok)?;
            write(&unnamed.join(ABOUT), &about)?;
            let place = self.folder.join(&about.handle);
            match renameat_with(rustix::fs::CWD, unnamed, rustix::fs::CWD, &place, RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(about),
                // Another server has had the same thought: what is known of the folder is old.
                Err(rustix::io::Errno::EXIST) if !named => self.known.with(|known| *known = Known::default()),
                Err(rustix::io::Errno::EXIST) => {
                    return Err(Error::Checkpoint(format!(
                        "there is a checkpoint '{}' already: delete it, or choose another name",
                        about.handle
                    )));
                }
                Err(error) => return Err(failed(&place)(error.into())),
            }
        }
        Err(Error::Checkpoint("others take every handle first: give it a name".to_owned()))
    }

    /// The checkpoints that are whole and not too old, oldest first. What is too old is removed.
    pub(crate) fn list(&self) -> Result<Vec<Checkpoint>, Error> {
        let now = now_s();
        let all = self.read()?;
        let (old, mut kept): (Vec<Checkpoint>, Vec<Checkpoint>) =
            all.into_iter().partition(|one| one.expires_s.is_some_and(|end| end <= now));
        for one in old {
            self.remove(&one.handle)?;
        }
        kept.sort_by(|a, b| {
            (a.created_s, a.handle.len(), &a.handle).cmp(&(b.created_s, b.handle.len(), &b.handle))
        });
        Ok(kept)
    }

    /// A checkpoint, and the folders with the content of its files, part by part.
    pub(crate) fn get(&self, handle: &str) -> Result<(Checkpoint, Record, Vec<Blobs>), Error> {
        let about = self.find(handle)?;
        let folder = self.folder.join(handle);
        let record: Record = read(&folder.join(RECORD))?;
        if !record.is_ours() {
            return Err(Error::Checkpoint(format!(
                "the checkpoint '{handle}' was written by another version"
            )));
        }
        let blobs = (0..record.parts.len()).map(|number| folder.join(format!("blobs{number}")));
        let blobs = blobs.map(|path| Blobs::open(&path).map_err(said)).collect::<Result<_, _>>()?;
        Ok((about, record, blobs))
    }

    /// Changes what a checkpoint holds; whoever reads it meanwhile finds it as it was or as it is. `change` says whether there is anything to change.
    pub(crate) fn update(
        &self,
        handle: &str,
        change: impl FnOnce(&mut Record, &mut [Blobs]) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let folder = self.folder.join(handle);
        let held = File::open(&folder).map_err(failed(&folder))?;
        flock(&held, FlockOperation::LockExclusive).map_err(|error| failed(&folder)(error.into()))?;
        let (mut about, mut record, mut blobs) = self.get(handle)?;
        if !change(&mut record, &mut blobs)? {
            return Ok(());
        }
        (about.bytes, about.files) = (record.bytes(), record.files());
        replace(&folder, RECORD, &record)?;
        replace(&folder, ABOUT, &about)?;
        self.known.with(|known| *known = Known::default());
        Ok(())
    }

    /// Removes a checkpoint.
    pub(crate) fn delete(&self, handle: &str) -> Result<(), Error> {
        self.find(handle)?;
        self.remove(handle)
    }

    fn find(&self, handle: &str) -> Result<Checkpoint, Error> {
        let list = self.list()?;
        if let Some(found) = list.iter().find(|one| one.handle == handle) {
            return Ok(found.clone());
        }
        let mut known: Vec<&str> = list.iter().rev().take(20).map(|one| one.handle.as_str()).collect();
        if known.is_empty() {
            known.push("none");
        }
        let known = known.join(", ");
        Err(Error::Checkpoint(format!("there is no checkpoint '{}'; there are: {known}", short(handle))))
    }

    fn remove(&self, handle: &str) -> Result<(), Error> {
        let (place, gone) = (self.folder.join(handle), self.folder.join(unused(GONE)?));
        match std::fs::rename(&place, &gone) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(&place)(error)),
        }
        // It is gone from here on, and takes its time.
        std::thread::spawn(move || drop(std::fs::remove_dir_all(gone)));
        Ok(())
    }

    /// Sees to it that one more of so many bytes may come: those that nobody named go, the oldest first.
    fn make_room(&self, bytes: u64) -> Result<(), Error> {
        if bytes > self.bytes_max {
            return Err(Error::Checkpoint(format!(
                "its files take {bytes} bytes, and all checkpoints together may have {}",
                self.bytes_max
            )));
        }
        let list = self.list()?;
        let (mut count, mut used) = (list.len(), list.iter().map(|one| one.bytes).sum::<u64>());
        let mut nameless = list.iter().filter(|one| !one.named);
        while count >= CHECKPOINTS_MAX || used.saturating_add(bytes) > self.bytes_max {
            let Some(oldest) = nameless.next() else {
                return Err(Error::Checkpoint(format!(
                    "there are {count} named checkpoints of {used} bytes, and {CHECKPOINTS_MAX} of {} bytes may be: delete some",
                    self.bytes_max
                )));
            };
            self.remove(&oldest.handle)?;
            (count, used) = (count - 1, used.saturating_sub(oldest.bytes));
        }
        Ok(())
    }

    fn next_handle(&self) -> Result<String, Error> {
        let taken: BTreeSet<u64> = self.read()?.iter().filter_map(|one| number(&one.handle)).collect();
        // Behind the last one, or, where nothing is behind it, in the first gap: there are fewer of them than numbers.
        let next = taken.last().map_or(Some(1), |last| last.checked_add(1));
        let next = next.or_else(|| (1..=u64::MAX).find(|number| !taken.contains(number)));
        next.map(|number| format!("c{number}")).ok_or_else(|| said("no handle is free"))
    }

    /// Everything that is whole; what others have put here or taken away since the last look is seen by the folder's own time.
    fn read(&self) -> Result<Vec<Checkpoint>, Error> {
        let Ok(data) = self.folder.symlink_metadata() else { return Ok(Vec::new()) };
        self.must_be_private()?;
        let at = (data.mtime(), data.mtime_nsec());
        let (unchanged, known) = self.known.with(|known| (known.at == Some(at), known.list.clone()));
        if unchanged {
            return Ok(known.into_values().map(|(_, one)| one).collect());
        }
        let mut list = BTreeMap::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed(&self.folder))?.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(data) = entry.metadata() else { continue };
            if name.starts_with('.') {
                sweep(&entry.path(), &name);
                continue;
            }
            if !name_is_good(&name) || !data.is_dir() {
                continue;
            }
            let same = known.get(&name).filter(|(number, one)| *number == data.ino() && !one.damaged);
            let one = same.map(|(_, one)| one.clone());
            let one = one.or_else(|| read::<Checkpoint>(&entry.path().join(ABOUT)).ok());
            let mut one = one.unwrap_or_else(|| Checkpoint::damaged(data.mtime()));
            // The place is what counts.
            one.handle.clone_from(&name);
            list.insert(name, (data.ino(), one));
        }
        let found = list.values().map(|(_, one)| one.clone()).collect();
        // A change within the clock's step after this look would not be seen by the time.
        let settled = now_s().saturating_sub(u64::try_from(at.0).unwrap_or(0)) > 1;
        self.known.with(|known| *known = Known { at: settled.then_some(at), list });
        Ok(found)
    }

    /// Nobody else may look into the folder, or have put a link in its place.
    fn must_be_private(&self) -> Result<(), Error> {
        let data = self.folder.symlink_metadata().map_err(failed(&self.folder))?;
        let own = rustix::process::geteuid().as_raw();
        if data.is_dir() && data.uid() == own && data.mode() & 0o077 == 0 {
            return Ok(());
        }
        Err(failed(&self.folder)(std::io::Error::other("not a folder of this user alone")))
    }
}

/// Removes what somebody left half made or half removed, unless they are still at it.
fn sweep(path: &Path, name: &str) {
    let over = || {
        let held = File::open(path).ok()?;
        flock(&held, FlockOperation::NonBlockingLockExclusive).ok()?;
        // Between its making and its lock it is nobody's for a moment.
        let age = held.metadata().ok()?.modified().ok()?.elapsed().ok()?;
        (age.as_secs() > 1).then_some(())
    };
    if name.starts_with(GONE) || (name.starts_with(NEW) && over().is_some()) {
        let _ = std::fs::remove_dir_all(path);
    }
}

fn said(error: impl std::fmt::Display) -> Error {
    Error::Checkpoint(error.to_string())
}

fn write(path: &Path, value: &impl serde::Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec(value).map_err(said)?;
    if text.len() as u64 > CHECKPOINT_RECORD_BYTES_MAX {
        return Err(Error::Checkpoint(format!(
            "what is to be kept of shell and files takes {} bytes beside their content, and {CHECKPOINT_RECORD_BYTES_MAX} is the limit",
            text.len()
        )));
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    // The name may be there from an earlier try.
    let file = file.or_else(|_| OpenOptions::new().write(true).truncate(true).open(path));
    file.and_then(|mut file| file.write_all(&text)).map_err(failed(path))
}

/// Puts a file in the place of another, whole.
fn replace(folder: &Path, name: &str, value: &impl serde::Serialize) -> Result<(), Error> {
    let unnamed = folder.join(unused(NEW)?);
    let named = write(&unnamed, value)
        .and_then(|()| std::fs::rename(&unnamed, folder.join(name)).map_err(failed(&unnamed)));
    if named.is_err() {
        let _ = std::fs::remove_file(unnamed);
    }
    named
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(no_link).open(path);
    let mut text = Vec::new();
    opened
        .and_then(|file| file.take(CHECKPOINT_RECORD_BYTES_MAX + 1).read_to_end(&mut text))
        .map_err(failed(path))?;
    serde_json::from_slice(&text)
        .map_err(|error| Error::Checkpoint(format!("{} is damaged: {error}", path.display())))
}

#[cfg(test)]
mod tests;
