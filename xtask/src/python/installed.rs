//! An environment with the wheel that was just built from this checkout. It is removed and made anew in each run, has a folder of its own for each
//! checkout, and sees the tools' packages after its own; so nothing in a cache, no `.pth` file and no other checkout can stand in the wheel's place.

use std::fs::{File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::interpreter::{Base, checked, command, lock, open, output, remove, virtual_environment};
use super::tools::{Tools, packages};

/// The modules that the wheel has.
const MODULES: [&str; 3] = ["iris", "iris._iris", "pithos"];
/// In each environment: the checkout that it is for.
const CHECKOUT: &str = "checkout";

/// The environment; no other run of the same checkout changes it while this lives.
pub(super) struct Installed {
    pub(super) folder: PathBuf,
    tools: PathBuf,
    _alone: File,
}

impl Installed {
    /// Makes the environment of `checkout` below `parent`, with the one wheel that `build` puts into the folder that it is given.
    pub(super) fn make(
        base: &Base,
        parent: &Path,
        checkout: &Path,
        purpose: &str,
        tools: &Tools,
        build: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<Self, String> {
        let mut key = DefaultHasher::new();
        checkout.hash(&mut key);
        let folder = parent.join(format!("{purpose}-{:016x}", key.finish()));
        let alone = lock(&folder.with_extension("lock"), "another run of this checkout's Python tests")?;
        remove_those_without_checkout(parent);
        remove(&folder)?;
        virtual_environment(base, &folder, false)?;
        let text = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).map_err(|error| format!("{name}: {error}"))
        };
        text(CHECKOUT, &checkout.to_string_lossy())?;
        let own = packages(&folder)?;
        let line = format!("{}\n", tools.packages()?.display());
        std::fs::write(own.join("test-tools.pth"), line)
            .map_err(|error| format!("{}: {error}", own.display()))?;

        let wheels = folder.join("wheels");
        build(&wheels)?;
        let wheel = only_wheel(&wheels)?;
        let installed = Self { folder, tools: tools.programs(), _alone: alone };
        let mut pip = tools.command("python");
        pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "--python"]).arg(installed.python());
        pip.args(["install", "--no-deps", "--no-index"]).arg(wheel);
        checked(&mut pip, "installing the wheel")?;
        installed.check(&own)?;
        Ok(installed)
    }

    /// Its interpreter.
    pub(super) fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Its interpreter as a command; its programs and those of the tools come first in `PATH`.
    pub(super) fn command(&self) -> Command {
        let mut command = command(self.python());
        command.env("VIRTUAL_ENV", &self.folder);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let first = [self.folder.join("bin"), self.tools.clone()];
        if let Ok(path) = std::env::join_paths(first.into_iter().chain(std::env::split_paths(&path))) {
            command.env("PATH", path);
        }
        command
    }

    /// Each module of ours must come from the wheel.
    fn check(&self, own: &Path) -> Result<(), String> {
        let script =
            "import importlib, sys\nfor name in sys.argv[1:]: print(importlib.import_module(name).__file__)";
        let mut ask = self.command();
        ask.current_dir(&self.folder).args(["-c", script]).args(MODULES);
        let found = output(&mut ask, "importing what the wheel has")?;
        match found.lines().find(|line| !Path::new(line).starts_with(own)) {
            None => Ok(()),
            Some(line) => Err(format!("an import in {} leads to {line}", self.folder.display())),
        }
    }
}

fn only_wheel(folder: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut wheels: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .collect();
    match (wheels.pop(), wheels.is_empty()) {
        (Some(wheel), true) => Ok(wheel),
        _ => Err(format!("not one wheel in {}", folder.display())),
    }
}

/// Removes environments of checkouts that are gone: each has a wheel, and build folders that many clones share live long.
fn remove_those_without_checkout(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for folder in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Ok(checkout) = std::fs::read_to_string(folder.join(CHECKOUT)) else { continue };
        if Path::new(&checkout).exists() {
            continue;
        }
        let Ok(file) = open(&folder.with_extension("lock")) else { continue };
        if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            let _ = remove(&folder);
        }
    }
}
