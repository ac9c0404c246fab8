//! Where a server keeps what it keeps: its control socket where only this user can look, its logs and its sessions' temporary files in a
//! folder with a name that nobody can guess. Nothing of it is where sessions may write, or read, as long as there is another place: they would see
//! other servers' files, and what one of them writes there the next server would take for its own.
//!
//! Invariant: nothing here is opened or removed that this user does not own, no link is followed, and a
//! server is held for dead by a lock that the kernel gives up with it, never by a process id, which means something else in another
//! pid namespace.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pithos_sandbox::Reach;
use rustix::fs::FlockOperation;
use sha2::{Digest, Sha256};

/// Below the folder of the user's run-time files.
const NAME: &str = "pithos";
/// In a server's folder: held locked as long as the server lives.
const LOCK: &str = "lock";
/// In a server's folder: a link to its folder for logs and temporary files.
const DATA: &str = "data";
/// In a data folder: layers of overlaid sessions.
const LAYERS: &str = "layers";
/// In the folder of the user's state: checkpoints, which outlive servers.
const CHECKPOINTS: &str = "checkpoints";
/// The names of data folders begin so, and those of the folders that all of a user's are in.
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
    /// Where the checkpoints of all workspaces are: what outlives a server, where there is such a place.
    pub(crate) checkpoints: PathBuf,
    /// To be removed at the end: all of the above but checkpoints.
    pub(crate) passing: Vec<PathBuf>,
    /// Folders of all servers of this user that sessions would reach: to be hidden from them.
    pub(crate) hidden: Vec<PathBuf>,
}

/// The lock of this process's server, held to the process's end.
static HELD: OnceLock<File> = OnceLock::new();

/// Makes the folders of a server that begins, and removes what dead ones left.
pub(crate) fn make(reach: &Reach) -> Result<Folders, String> {
    let mine = |folder: &PathBuf| !is_below(folder, &reach.write);
    bases().into_iter().filter(mine).for_each(|base| sweep(&base));
    // Servers that had no such folder keep all in one.
    let data =
        places().into_iter().filter(mine).map(|place| shared(&place)).filter(|shared| is_private(shared));
    for data in data.flat_map(|shared| owned_folders(&shared)) {
        if owned_folders(&data).iter().any(|control| is_dead(control)) {
            remove_data(&data);
        }
    }
    make_only(reach)
}

/// Makes the folders alone: for one command, which has no time for what others left.
pub(crate) fn make_only(reach: &Reach) -> Result<Folders, String> {
    let said = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| format!("{path}: {error}")
    };
    let place = place(reach)?;
    let data = unguessable(&place, DATA_PREFIX)
        .map_err(|error| format!("a folder for logs in {}: {error}", place.display()))?;
    let mut bases = bases().into_iter().filter(|base| !is_below(base, &reach.write));
    let base = bases.find_map(made).unwrap_or_else(|| data.clone());
    let control = unguessable(&base, &format!("{}-", std::process::id())).map_err(said(&base))?;
    if base != data {
        std::os::unix::fs::symlink(&data, control.join(DATA)).map_err(said(&control))?;
    }
    let _ = HELD.set(hold(&control).map_err(said(&control))?);
    let (logs, private_tmp, layers) = (data.join("logs"), data.join("tmp"), data.join(LAYERS));
    let checkpoints = checkpoints(reach).unwrap_or_else(|| data.join(CHECKPOINTS));
    let hidden = in_reach(reach, &data);
    let passing = vec![data, control.clone()];
    let folders = Folders { passing, control, logs, private_tmp, layers, checkpoints, hidden };
    for folder in [&folders.logs, &folders.private_tmp, &folders.layers] {
        DirBuilder::new().mode(0o700).create(folder).map_err(said(folder))?;
    }
    Ok(folders)
}

/// The folders in which a user's servers may keep their data, the best first.
fn places() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let known = [
        Some(std::env::temp_dir()),
        Some("/tmp".into()),
        Some("/var/tmp".into()),
        variable("XDG_RUNTIME_DIR"),
    ];
    let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    let real = known.into_iter().chain([state]).flatten().filter_map(|path| path.canonicalize().ok());
    let mut places: Vec<PathBuf> = Vec::new();
    for place in real.filter(|path| path.is_dir()) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// The folder of one place that all of this user's servers share.
fn shared(place: &Path) -> PathBuf {
    place.join(format!("{DATA_PREFIX}{}", rustix::process::geteuid().as_raw()))
}

/// Where this server's data go: not where sessions get, and where they only read rather than where they write. Never the latter.
fn place(reach: &Reach) -> Result<PathBuf, String> {
    for reached in [&reach.all, &reach.write] {
        for place in places().into_iter().filter(|place| !is_below(place, reached)) {
            let shared = shared(&place);
            let made = DirBuilder::new().mode(0o700).create(&shared);
            if made.is_ok() || is_private(&shared) {
                return Ok(shared);
            }
            // Somebody else has that name; nobody has the next one.
            if rustix::fs::access(&place, rustix::fs::Access::WRITE_OK).is_ok() {
                return Ok(place);
            }
        }
    }
    Err("no folder for logs and temporary files: sessions may write in all there are; set TMPDIR to one that they may not".to_owned())
}

/// Where checkpoints outlive their server: with the user's state, unless sessions may write there. It is made now, so that it can be hidden from those that read there.
fn checkpoints(reach: &Reach) -> Option<PathBuf> {
    let base = state_base().filter(|base| !is_below(base.parent().unwrap_or(base), &reach.write))?;
    Some(made(base)?.canonicalize().ok()?.join(CHECKPOINTS))
}

/// The checkpoints of one workspace, and of who shows this word with their credential.
pub(crate) fn checkpoints_of(all: &Path, workspace: &Path, word: &str) -> PathBuf {
    let mut digest = Sha256::new();
    digest.update(workspace.as_os_str().as_encoded_bytes());
    digest.update([0]);
    digest.update(word);
    let name: String = digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    all.join(name)
}

/// What sessions would reach of this user's servers: made where it is missing, so that they cannot make it for servers to come.
fn in_reach(reach: &Reach, data: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = places().iter().map(|place| shared(place)).collect();
    all.extend(bases());
    all.retain(|path| is_below(path, &reach.all) && !data.starts_with(path));
    for path in all.iter().filter(|path| is_below(path, &reach.write)) {
        let _ = DirBuilder::new().mode(0o700).create(path);
    }
    all.retain(|path| path.is_dir());
    all
}

fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    let real = path.canonicalize();
    let path = real.as_deref().unwrap_or(path);
    roots.iter().any(|root| path.starts_with(root))
}

/// The folders of the servers of this user that live, with their process ids.
pub(crate) fn servers() -> Vec<(u32, PathBuf)> {
    let all = bases().into_iter().flat_map(|base| owned_folders(&base));
    let all = all.filter(|folder| folder.join(LOCK).exists() && !is_dead(folder));
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

/// In the folder of the user's run-time files, and in that of state below the home folder, as far as there are such folders.
fn bases() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let runtime = variable("XDG_RUNTIME_DIR").filter(|path| is_private(path));
    let runtime = runtime.map(|path| path.join(NAME));
    [runtime, state_base()].into_iter().flatten().collect()
}

/// The one below the home folder, which outlives a login.
fn state_base() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    state.map(|path| path.join(NAME))
}

/// One of those, made if it is not there.
fn made(base: PathBuf) -> Option<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(base.parent()?).ok()?;
    let made = DirBuilder::new().mode(0o700).create(&base);
    (made.is_ok() || is_private(&base)).then_some(base)
}

/// The first that can be had.
fn base() -> Option<PathBuf> {
    bases().into_iter().find_map(made)
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
        if ours && is_private(&data) && !remove_data(&data) {
            return;
        }
    }
    let _ = std::fs::remove_dir_all(control);
}

/// Removes a data folder; false when a commit in it is neither finished nor taken back.
fn remove_data(data: &Path) -> bool {
    // A commit that was interrupted is finished or taken back before what it needs is gone.
    let problems = pithos_sessions::recover_commits(&data.join(LAYERS));
    if !problems.is_empty() {
        problems.iter().for_each(|problem| pithos_sessions::errln!("pithos: {problem}"));
        return false;
    }
    // The standard library removes by descriptors and follows no link below.
    let _ = std::fs::remove_dir_all(data);
    true
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
