//! Where a server keeps what it keeps: its control socket where only this user can look, its logs and its sessions' temporary files in a
//! folder with a name that nobody can guess. Invariant: nothing here is opened or removed that this user does not own, no link is followed, and a
//! server is held for dead by a lock that the kernel gives up with it, never by a process id, which means something else in another
//! pid namespace.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::FlockOperation;

/// Below the folder of the user's run-time files.
const NAME: &str = "pithos";
/// In a server's folder: held locked as long as the server lives.
const LOCK: &str = "lock";
/// In a server's folder: a link to its folder for logs and temporary files.
const DATA: &str = "data";
/// In a data folder: layers of overlaid sessions.
const LAYERS: &str = "layers";
/// The names of data folders begin so.
const DATA_PREFIX: &str = "pithos-";
/// The longest file that is remembered.
const REMEMBERED_BYTES_MAX: u64 = 64 * 1024;
/// Tries to find a name that is free.
const TRIES_MAX: u32 = 100;

/// The folders of one server.
pub(crate) struct Folders {
    /// Its control socket is here.
    pub(crate) control: PathBuf,
    /// Logs of jobs.
    pub(crate) logs: PathBuf,
    /// What its sessions find as `$TMPDIR`.
    pub(crate) private_tmp: PathBuf,
    /// Layers of overlaid sessions.
    pub(crate) layers: PathBuf,
    /// To be removed at the end: all of the above.
    pub(crate) passing: Vec<PathBuf>,
}

/// The lock of this process's server, held to the process's end.
static HELD: OnceLock<File> = OnceLock::new();

/// Makes the folders of a server that begins, and removes what dead ones left.
pub(crate) fn make() -> Result<Folders, String> {
    if let Some(base) = base() {
        sweep(&base);
    }
    make_only()
}

/// Makes the folders alone: for one command, which has no time for what others left.
pub(crate) fn make_only() -> Result<Folders, String> {
    let said = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| format!("{path}: {error}")
    };
    let data = unguessable(&std::env::temp_dir(), DATA_PREFIX)
        .map_err(|error| format!("a folder for logs in {}: {error}", std::env::temp_dir().display()))?;
    let base = base().unwrap_or_else(|| data.clone());
    let control = unguessable(&base, &format!("{}-", std::process::id())).map_err(said(&base))?;
    if base != data {
        std::os::unix::fs::symlink(&data, control.join(DATA)).map_err(said(&control))?;
    }
    let _ = HELD.set(hold(&control).map_err(said(&control))?);
    let (logs, private_tmp, layers) = (data.join("logs"), data.join("tmp"), data.join(LAYERS));
    let folders = Folders { passing: vec![data, control.clone()], control, logs, private_tmp, layers };
    for folder in [&folders.logs, &folders.private_tmp, &folders.layers] {
        DirBuilder::new().mode(0o700).create(folder).map_err(said(folder))?;
    }
    Ok(folders)
}

/// The folders of the servers of this user that live, with their process ids.
pub(crate) fn servers() -> Vec<(u32, PathBuf)> {
    let Some(base) = base() else { return Vec::new() };
    let all = owned_folders(&base).into_iter().filter(|folder| !is_dead(folder));
    all.filter_map(|folder| {
        let name = folder.file_name()?.to_str()?.split('-').next()?.to_owned();
        Some((name.parse().ok()?, folder))
    })
    .collect()
}

/// A small file of ours from the folder of the user's run-time files.
pub(crate) fn remembered(name: &str) -> Option<String> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(no_link).open(base()?.join(name)).ok()?;
    let own = file.metadata().is_ok_and(|data| data.uid() == rustix::process::geteuid().as_raw());
    let mut text = String::new();
    io::Read::read_to_string(&mut io::Read::take(file, REMEMBERED_BYTES_MAX), &mut text).ok()?;
    own.then_some(text)
}

/// Puts a small file there, whole or not at all; nobody depends on it.
pub(crate) fn remember(name: &str, text: &str) -> Option<()> {
    let base = base()?;
    let unnamed = unguessable_file(&base)?;
    let written =
        private_file(&unnamed).and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
    let named = written.and_then(|()| std::fs::rename(&unnamed, base.join(name)));
    if named.is_err() {
        let _ = std::fs::remove_file(unnamed);
    }
    named.ok()
}

/// Forgets it.
pub(crate) fn forget(name: &str) {
    if let Some(base) = base() {
        let _ = std::fs::remove_file(base.join(name));
    }
}

fn unguessable_file(base: &Path) -> Option<PathBuf> {
    let mut random = [0u8; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty()).ok()?;
    Some(base.join(format!(".{:016x}", u64::from_ne_bytes(random))))
}

/// The folder of the user's run-time files, or of state below the home folder; none when there is neither.
fn base() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let runtime = variable("XDG_RUNTIME_DIR").filter(|path| is_private(path)).map(|path| path.join(NAME));
    let state = || {
        let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?;
        DirBuilder::new().recursive(true).mode(0o700).create(&state).ok()?;
        Some(state.join(NAME))
    };
    [runtime, state()].into_iter().flatten().find(|folder| {
        let made = DirBuilder::new().mode(0o700).create(folder);
        made.is_ok() || is_private(folder)
    })
}

/// Whether this is a folder, no link, of this user and of nobody else.
fn is_private(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    path.symlink_metadata().is_ok_and(|data| data.is_dir() && data.uid() == own && data.mode() & 0o077 == 0)
}

/// A new folder for this user alone. It is made and never found: who guesses a name first only makes this try another.
fn unguessable(below: &Path, prefix: &str) -> io::Result<PathBuf> {
    for _ in 0..TRIES_MAX {
        let mut random = [0u8; 12];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = below.join(format!("{prefix}{name}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Takes the lock of a server's folder. It has its name only when it is held: who sweeps meanwhile must not find one that is free.
fn hold(control: &Path) -> io::Result<File> {
    let unnamed = control.join(format!("{LOCK}.new"));
    let lock = private_file(&unnamed)?;
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    std::fs::rename(unnamed, control.join(LOCK))?;
    Ok(lock)
}

fn private_file(path: &Path) -> io::Result<File> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(no_link).open(path)
}

fn owned_folders(base: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(base).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_private(path)).collect()
}

/// Whether the server of this folder has ended: its lock can be had. A folder without a lock belongs to a server that begins.
fn is_dead(folder: &Path) -> bool {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let lock = OpenOptions::new().write(true).custom_flags(no_link).open(folder.join(LOCK));
    lock.is_ok_and(|lock| rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// Removes what servers left that were killed.
fn sweep(base: &Path) {
    for folder in owned_folders(base).into_iter().filter(|folder| is_dead(folder)) {
        remove_server(&folder);
    }
}

fn remove_server(control: &Path) {
    if let Ok(data) = std::fs::read_link(control.join(DATA)) {
        let ours =
            data.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(DATA_PREFIX));
        if ours && is_private(&data) {
            // A commit that was interrupted is finished or taken back before what it needs is gone.
            let problems = pithos_sessions::recover_commits(&data.join(LAYERS));
            if !problems.is_empty() {
                problems.iter().for_each(|problem| pithos_sessions::errln!("pithos: {problem}"));
                return;
            }
            // The standard library removes by descriptors and follows no link below.
            let _ = std::fs::remove_dir_all(data);
        }
    }
    let _ = std::fs::remove_dir_all(control);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_put_there_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let (real, link) = (place.path().join("real"), place.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(!is_private(&link), "a link");
        std::fs::set_permissions(&real, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert!(!is_private(&real), "others may look");
        std::fs::set_permissions(&real, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        assert!(is_private(&real));
        std::os::unix::fs::symlink("/nowhere", place.path().join("file")).unwrap();
        assert!(private_file(&place.path().join("file")).is_err(), "a link is not followed");
    }

    #[test]
    fn only_the_dead_are_swept_and_only_their_own() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let folder = unguessable(place.path(), name).unwrap();
            let lock = hold(&folder).unwrap();
            (folder, lock)
        };
        let (living, _held) = make("1-");
        let (dead, _) = make("2-");
        let data = unguessable(place.path(), DATA_PREFIX).unwrap();
        std::os::unix::fs::symlink(&data, dead.join(DATA)).unwrap();
        let (trap, _) = make("3-");
        let precious = unguessable(place.path(), "precious-").unwrap();
        std::os::unix::fs::symlink(&precious, trap.join(DATA)).unwrap();
        let beginning = unguessable(place.path(), "4-").unwrap();
        sweep(place.path());
        assert!(living.exists() && beginning.exists() && precious.exists());
        assert!(!dead.exists() && !data.exists() && !trap.exists());
    }
}
