//! Finds the tree, our binaries and the peers. Knows names and places, measures nothing.

use crate::process::excerpt;
use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where everything is.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The top of the tree.
    pub(crate) root: PathBuf,
    /// The folder of the executables that `make bench-peers` installed.
    pub(crate) peers: PathBuf,
}

impl Places {
    /// Finds the tree upwards from the working directory, or takes `root`.
    pub(crate) fn find(root: Option<PathBuf>) -> io::Result<Places> {
        let start = match root {
            Some(root) => root.canonicalize()?,
            None => env::current_dir()?,
        };
        let root = start.ancestors().find(|folder| folder.join("bench/js/fixtures").is_dir());
        let Some(root) = root else {
            return Err(io::Error::other(format!(
                "no bench/js/fixtures in {} or above it: run from inside the tree or give --root",
                start.display()
            )));
        };
        Ok(Places { root: root.to_owned(), peers: cache().join("peers/bin") })
    }

    /// A file below `bench/`.
    pub(crate) fn bench(&self, relative: &str) -> PathBuf {
        self.root.join("bench").join(relative)
    }

    /// A peer's executable: what `make bench-peers` installed, else what PATH has.
    pub(crate) fn peer(&self, name: &str) -> Option<PathBuf> {
        let installed = self.peers.join(name);
        if is_executable(&installed) { Some(installed) } else { on_path(name) }
    }

    /// One of our binaries: `variable` of the environment names it, else the newest release build has it.
    pub(crate) fn ours(&self, variable: &str, name: &str) -> Option<PathBuf> {
        if let Some(path) = env::var_os(variable) {
            return Path::new(&path).canonicalize().ok();
        }
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), PathBuf::from);
        let static_target = format!("{}-unknown-linux-musl", env::consts::ARCH);
        let candidates =
            [target.join("release").join(name), target.join(static_target).join("release").join(name)];
        let newest =
            candidates.into_iter().filter(|path| is_executable(path)).max_by_key(|path| modified(path));
        newest.and_then(|path| path.canonicalize().ok())
    }
}

fn cache() -> PathBuf {
    let named = env::var_os("PITHOS_CACHE").map(PathBuf::from);
    let user = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| {
        let home = env::var_os("HOME")?;
        Some(Path::new(&home).join(".cache"))
    });
    named
        .or_else(|| user.map(|folder| folder.join("pithos")))
        .unwrap_or_else(|| PathBuf::from(".cache/pithos"))
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}

fn is_executable(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok() && path.is_file()
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_executable(file))
}

/// The first line with a digit in what `command` prints, or the Debian package's version, or `unknown`.
pub(crate) fn version(program: &Path, arguments: &[&str], package: &str) -> String {
    let printed = if arguments.is_empty() { None } else { output(program.as_os_str(), arguments) };
    let line = printed.and_then(|text| {
        let found = text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()))?;
        Some(excerpt(found.as_bytes()))
    });
    let packaged = || {
        if package.is_empty() {
            return None;
        }
        output(OsStr::new("dpkg-query"), &["-W", "-f", "${Version}", package])
    };
    line.or_else(packaged).filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

fn output(program: &OsStr, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    Some(String::from_utf8_lossy(&text).into_owned())
}
