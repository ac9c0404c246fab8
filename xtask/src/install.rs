//! `make install` and `make dist`: the release binaries, manual pages and completions where people find them, and as an archive. What is shipped is stripped; what a
//! debugger or profiler needs lies beside it in files of its own, which the binaries name.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::manual;
use crate::release::{self, COMMANDS};
use crate::workspace::Workspace;

/// What an archive holds besides the binaries.
const DOCUMENTS: [&str; 6] =
    ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE-MIT", "LICENSE-APACHE", "ARCHITECTURE.md"];

/// `cargo xtask install [--prefix DIR]`.
pub(crate) fn install(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let prefix = match arguments {
        [] => {
            PathBuf::from(std::env::var_os("HOME").ok_or("HOME is not set; use --prefix DIR")?).join(".local")
        }
        [flag, folder] if flag == "--prefix" => PathBuf::from(folder),
        _ => return Err("usage: cargo xtask install [--prefix DIR]".to_string()),
    };
    for (name, bytes) in put_binaries(workspace, &prefix)? {
        println!("{} ({:.1} MB)", prefix.join("bin").join(name).display(), megabytes(bytes));
    }
    Ok(())
}

/// `cargo xtask dist`: `dist/pithos-VERSION-ARCHITECTURE-SYSTEM.tar.gz`.
pub(crate) fn dist(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask dist".to_string());
    }
    let (arch, system) = (std::env::consts::ARCH, std::env::consts::OS);
    let name = format!("pithos-{}-{arch}-{system}", env!("CARGO_PKG_VERSION"));
    let folder = workspace.root.join("dist");
    let tree = folder.join(&name);
    if tree.exists() {
        std::fs::remove_dir_all(&tree).map_err(|error| format!("{}: {error}", tree.display()))?;
    }
    put_binaries(workspace, &tree)?;
    let documents = tree.join("share/doc/pithos");
    make_folder(&documents)?;
    for document in DOCUMENTS {
        copy(&workspace.root.join(document), &documents.join(document))?;
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.current_dir(&folder).args(["--owner=0", "--group=0", "--sort=name", "-czf"]).arg(&archive).arg(&name);
    release::run(&mut tar, "tar")?;
    let bytes = size(&archive)?;
    println!("{} ({:.1} MB)", archive.display(), megabytes(bytes));
    Ok(())
}

/// Builds and puts every command below `prefix`; their names and sizes.
fn put_binaries(workspace: &Workspace, prefix: &Path) -> Result<Vec<(&'static str, u64)>, String> {
    let (binaries, debug) = (prefix.join("bin"), prefix.join("lib/debug/pithos"));
    make_folder(&binaries)?;
    make_folder(&debug)?;
    let built = release::build(workspace, &[])?;
    let rush = release::build_static_rush(workspace)?;
    let mut put = Vec::new();
    for (_, name) in COMMANDS {
        let source = match &rush {
            Some(rush) if *name == "rush" => rush.clone(),
            _ => built.join(name),
        };
        let fresh = binaries.join(format!(".{name}.new"));
        copy(&source, &fresh)?;
        split(&fresh, &debug.join(format!("{name}.debug")))?;
        let target = binaries.join(name);
        std::fs::rename(&fresh, &target).map_err(|error| format!("{}: {error}", target.display()))?;
        put.push((*name, size(&target)?));
    }
    let paths: Vec<PathBuf> = COMMANDS.iter().map(|(_, name)| binaries.join(name)).collect();
    let described: Vec<_> =
        COMMANDS.iter().zip(&paths).map(|((_, name), path)| (*name, path.as_path(), summary(name))).collect();
    manual::write(&described, &prefix.join("share"))?;
    Ok(put)
}

/// What a manual page says a command is.
fn summary(name: &str) -> &'static str {
    match name {
        "cynic" => "a strict, hardened JavaScript engine",
        "rush" => "a bash-compatible shell with in-process utilities",
        _ => "the place where software agents run things",
    }
}

/// Moves what only debuggers need from a binary into a file of its own. Where the binary utilities are missing the binary stays as it is.
fn split(binary: &Path, debug: &Path) -> Result<(), String> {
    let objcopy = |arguments: &[&str], files: &[&Path]| {
        Command::new("objcopy").args(arguments).args(files).status().is_ok_and(|status| status.success())
    };
    if !objcopy(&["--only-keep-debug"], &[binary, debug]) {
        eprintln!("objcopy was not found or failed: {} is not stripped", binary.display());
        return Ok(());
    }
    let link = format!("--add-gnu-debuglink={}", debug.display());
    if objcopy(&["--strip-all", &link], &[binary]) {
        Ok(())
    } else {
        Err("objcopy --strip-all failed".to_string())
    }
}

fn make_folder(path: &Path) -> Result<(), String> {
    std::fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn copy(source: &Path, target: &Path) -> Result<(), String> {
    std::fs::copy(source, target).map(drop).map_err(|error| format!("{}: {error}", target.display()))
}

fn size(path: &Path) -> Result<u64, String> {
    std::fs::metadata(path).map(|data| data.len()).map_err(|error| format!("{}: {error}", path.display()))
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
