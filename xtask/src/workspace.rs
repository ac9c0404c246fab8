//! Where things are: the workspace root, the cache folder outside it, the packages that exist today.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The platform whose dependencies are judged.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// The checkout and the cache that belongs to it.
pub(crate) struct Workspace {
    /// The folder of the root manifest.
    pub(crate) root: PathBuf,
    /// Where unpacked corpora, virtual environments and (in CI) build output live: `PITHOS_CACHE`, else the user's cache folder.
    pub(crate) cache: PathBuf,
}

impl Workspace {
    /// Finds the root from this crate's own manifest, so that every sub-command works from any folder.
    pub(crate) fn locate() -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .map(Path::to_path_buf)
            .ok_or("the xtask crate has no parent folder")?;
        if !root.join("Cargo.toml").is_file() {
            return Err(format!("{} is not the workspace root any more; rebuild xtask", root.display()));
        }
        let cache = match std::env::var_os("PITHOS_CACHE") {
            Some(folder) if !folder.is_empty() => PathBuf::from(folder),
            _ => user_cache()?.join("pithos"),
        };
        std::fs::create_dir_all(&cache).map_err(|error| {
            format!("cannot make the cache folder {}: {error}; set PITHOS_CACHE", cache.display())
        })?;
        Ok(Self { root, cache })
    }

    /// A `cargo` command that runs in the root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).args(arguments);
        command
    }

    /// The build output folder: `CARGO_TARGET_DIR` or `target`.
    pub(crate) fn target(&self) -> PathBuf {
        match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) if !folder.is_empty() => self.root.join(folder),
            _ => self.root.join("target"),
        }
    }

    /// `cargo metadata`, parsed.
    pub(crate) fn metadata(&self) -> Result<serde_json::Value, String> {
        let output = self
            // What other systems would pull in is not built here and not judged.
            .cargo(&["metadata", "--format-version", "1", "--locked", "--filter-platform", PLATFORM])
            .output()
            .map_err(|error| format!("cannot run cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
    }

    /// The files that git tracks or would track, relative to the root and sorted.
    pub(crate) fn tracked_files(&self) -> Result<Vec<PathBuf>, String> {
        let output = Command::new("git")
            .current_dir(&self.root)
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .output()
            .map_err(|error| format!("cannot run git: {error}"))?;
        if !output.status.success() {
            return Err(format!("git ls-files failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        let mut files: Vec<PathBuf> = output
            .stdout
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned()))
            .filter(|file| self.root.join(file).is_file())
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }
}

fn user_cache() -> Result<PathBuf, String> {
    if let Some(folder) = std::env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(folder));
    }
    std::env::var_os("HOME")
        .map(|home| PathBuf::from(home).join(".cache"))
        .ok_or_else(|| "neither PITHOS_CACHE, XDG_CACHE_HOME nor HOME is set".to_string())
}
