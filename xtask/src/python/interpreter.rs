//! Finding Python, running it so that the caller's own settings do not reach it, and locks between runs.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::process::Command;

/// The oldest Python that the wheel supports.
const VERSION_MIN: (u32, u32) = (3, 11);
/// What would lead an import elsewhere.
const MISLEADING: [&str; 5] = ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "VIRTUAL_ENV"];

/// The interpreter that environments are made with, and what tells it from others.
pub(super) struct Base {
    pub(super) program: String,
    /// Its version and its own folder: an environment is tied to both.
    pub(super) identity: String,
}

/// `PYTHON`, else what is installed under the usual names.
pub(super) fn find() -> Result<Base, String> {
    let named = std::env::var("PYTHON").ok().filter(|name| !name.is_empty());
    let candidates = named.into_iter().chain(["python3".to_string(), "python3.11".to_string()]);
    for candidate in candidates {
        let script = "import sys; print(*sys.version_info[:2]); print(sys.version, sys.base_prefix)";
        let Ok(output) = command(&candidate).args(["-c", script]).output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let Some((version, identity)) = text.split_once('\n') else { continue };
        let mut numbers = version.split_whitespace().filter_map(|word| word.parse::<u32>().ok());
        if let (Some(major), Some(minor)) = (numbers.next(), numbers.next())
            && (major, minor) >= VERSION_MIN
        {
            return Ok(Base { program: candidate, identity: identity.trim().to_string() });
        }
    }
    let (major, minor) = VERSION_MIN;
    Err(format!("Python {major}.{minor} or newer was not found: install it, or set PYTHON to it"))
}

/// A command that no variable of the caller leads to other packages.
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    MISLEADING.iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// Makes an empty virtual environment; with `pip` or without.
pub(super) fn virtual_environment(base: &Base, folder: &Path, pip: bool) -> Result<(), String> {
    let mut make = command(&base.program);
    make.args(["-m", "venv"]);
    if !pip {
        make.arg("--without-pip");
    }
    checked(make.arg(folder), "making a virtual environment")
        .map_err(|error| format!("{error}\non Debian and Ubuntu: install the package python3-venv"))
}

/// Runs to the end; what it printed, when it fails.
pub(super) fn checked(command: &mut Command, what: &str) -> Result<(), String> {
    output(command, what).map(drop)
}

/// What it printed on its standard output.
pub(super) fn output(command: &mut Command, what: &str) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{what}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{what} failed ({}):\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// Waits until nobody else has this lock; it ends with the value, also when the process is killed.
pub(super) fn lock(path: &Path, holder: &str) -> Result<File, String> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => eprintln!("waiting for {holder} ({})", path.display()),
        Err(TryLockError::Error(error)) => return Err(format!("{}: {error}", path.display())),
    }
    file.lock().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(file)
}

/// As [`lock`], for those who only read what the lock is for.
pub(super) fn lock_shared(path: &Path) -> Result<File, String> {
    let file = open(path)?;
    file.lock_shared().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(file)
}

/// The file of a lock; it stays.
pub(super) fn open(path: &Path) -> Result<File, String> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let options = File::options().create(true).truncate(false).read(true).write(true).open(path);
    options.map_err(|error| format!("{}: {error}", path.display()))
}

/// Removes a folder that may not be there.
pub(super) fn remove(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}
