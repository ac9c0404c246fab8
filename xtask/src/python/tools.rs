//! Third-party packages in a virtual environment in the cache, shared by all checkouts that ask for the same ones. It never has
//! a package of ours. What is in it is checked, file by file, before each use; an environment that is not as it was when it was
//! finished is made anew.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::interpreter::{Base, checked, command, lock, lock_shared, output, remove, virtual_environment};

/// Prints a line for each distribution; fails when a file that one names is not there with its size, when pip was
/// ended half-way (it renames what it removes to `~…`), or when a module of ours is there.
const LIST: &str = r#"
import importlib.metadata, os, sys
site = sys.argv[1]
found = []
for name in os.listdir(site):
    if name.startswith("~") or name.split(".")[0] in ("iris", "pithos"):
        sys.exit(f"{name} does not belong there")
for distribution in importlib.metadata.distributions(path=[site]):
    found.append(f"{distribution.metadata['Name']}=={distribution.version}")
    if not distribution.files:
        sys.exit(f"{found[-1]} has no list of its files")
    for file in distribution.files:
        path = str(file.locate())
        if path.endswith(".pyc"):
            continue
        if not os.path.exists(path) or file.size is not None and os.path.getsize(path) != file.size:
            sys.exit(f"{found[-1]}: {path} is missing or changed")
print("\n".join(sorted(found)))
"#;
/// In a finished environment: the list as it was then.
const FINISHED: &str = "finished";
/// How often an environment is made before something is taken to be wrong with the machine.
const ATTEMPTS_MAX: usize = 3;

/// The environment, which no other run makes anew while this lives.
pub(super) struct Tools {
    folder: PathBuf,
    _shared: File,
}

impl Tools {
    /// The environment below `cache` that has `requirements`; made when it is not there or not whole. `options` are for pip.
    pub(super) fn ensure(
        base: &Base,
        cache: &Path,
        requirements: &[String],
        options: &[&str],
    ) -> Result<Self, String> {
        let mut key = DefaultHasher::new();
        (&base.identity, requirements).hash(&mut key);
        let folder = cache.join(format!("tools-{:016x}", key.finish()));
        let lock_file = folder.with_extension("lock");
        let mut reason = String::new();
        for _ in 0..ATTEMPTS_MAX {
            let shared = lock_shared(&lock_file)?;
            if whole(&folder).is_ok() {
                return Ok(Self { folder, _shared: shared });
            }
            drop(shared);
            let _alone = lock(&lock_file, "another run that uses the environment of the test tools")?;
            let Err(problem) = whole(&folder) else { continue };
            if folder.exists() {
                eprintln!("{problem}; making {} anew", folder.display());
            }
            make(base, &folder, requirements, options)?;
            reason = problem;
        }
        Err(format!("{}: made {ATTEMPTS_MAX} times, and still {reason}", folder.display()))
    }

    /// One of its programs.
    pub(super) fn command(&self, name: &str) -> Command {
        let mut command = command(self.programs().join(name));
        command.env("VIRTUAL_ENV", &self.folder);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.programs()).chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(folders) {
            command.env("PATH", path);
        }
        command
    }

    /// Where its programs are.
    pub(super) fn programs(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// Where its packages are.
    pub(super) fn packages(&self) -> Result<PathBuf, String> {
        packages(&self.folder)
    }
}

/// Where an environment has its packages.
pub(super) fn packages(folder: &Path) -> Result<PathBuf, String> {
    let script = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let path =
        output(command(folder.join("bin/python")).args(["-I", "-c", script]), "asking for site-packages")?;
    Ok(PathBuf::from(path.trim()))
}

fn list(folder: &Path) -> Result<String, String> {
    let packages = packages(folder)?;
    output(
        command(folder.join("bin/python")).args(["-I", "-c", LIST]).arg(packages),
        "looking at the test tools",
    )
}

/// Whether the environment is as it was when it was finished; what is wrong.
pub(super) fn whole(folder: &Path) -> Result<(), String> {
    let finished = std::fs::read_to_string(folder.join(FINISHED))
        .map_err(|_| "the environment of the test tools is not finished".to_string())?;
    if list(folder)? == finished {
        Ok(())
    } else {
        Err("the environment of the test tools has other packages than when it was finished".to_string())
    }
}

fn make(base: &Base, folder: &Path, requirements: &[String], options: &[&str]) -> Result<(), String> {
    remove(folder)?;
    virtual_environment(base, folder, true)?;
    let mut pip = command(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    checked(pip.args(options).args(requirements), "installing the test tools")?;
    let finished = list(folder)?;
    std::fs::write(folder.join(FINISHED), finished).map_err(|error| format!("{}: {error}", folder.display()))
}
