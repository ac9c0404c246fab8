//! The release builds: what the project ships, and what its yardsticks measure.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::workspace::Workspace;

/// The commands that the project ships: package, binary.
pub(crate) const COMMANDS: &[(&str, &str)] =
    &[("pithos-cynic-cli", "cynic"), ("pithos-rush-cli", "rush"), ("pithos-server", "pithos")];

/// The package of the command that is linked statically.
const CYNIC: &str = "pithos-cynic-cli";

/// Builds every command, and `more` packages beside them; the folder that holds the binaries.
pub(crate) fn build(workspace: &Workspace, more: &[&str]) -> Result<PathBuf, String> {
    let is_static = has_static_c_library();
    let mut arguments = vec!["build", "--release", "--locked"];
    for package in COMMANDS.iter().map(|(package, _)| package).chain(more) {
        if !is_static || *package != CYNIC {
            arguments.extend(["--package", package]);
        }
    }
    let start = Instant::now();
    eprintln!("building the release binaries (minutes the first time) …");
    run(revised(&mut workspace.cargo(&arguments)), "the release build")?;
    if is_static {
        build_static_cynic(workspace)?;
    } else {
        eprintln!("cynic is linked dynamically: there is no static C library");
    }
    eprintln!("built in {:.0} s", start.elapsed().as_secs_f64());
    Ok(workspace.target().join("release"))
}

/// The engine's command, linked statically.
pub(crate) fn build_static_cynic(workspace: &Workspace) -> Result<PathBuf, String> {
    let arguments = ["rustc", "--release", "--locked", "--package", CYNIC, "--bin", "cynic", "--"];
    let mut build = workspace.cargo(&arguments);
    build.args(["-C", "target-feature=+crt-static"]);
    run(revised(&mut build), "the static build of cynic")?;
    Ok(workspace.target().join("release/cynic"))
}

/// Whether the C compiler has a static GNU C library. The engine starts in less time and memory without a dynamic linker and
/// whole shared libraries; it stays position-independent, because what it runs may be hostile.
fn has_static_c_library() -> bool {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return false;
    }
    // A compiler that has no such file prints its bare name.
    let found = Command::new("cc").arg("-print-file-name=rcrt1.o").output();
    found.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute())
}

/// The shell starts in half the time without a dynamic linker, so it is installed as a static binary where rustup has
/// the target (`rustup target add x86_64-unknown-linux-musl`).
pub(crate) fn build_static_rush(workspace: &Workspace) -> Result<Option<PathBuf>, String> {
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let folder = Command::new("rustc").args(["--print", "target-libdir", "--target", &target]).output();
    let installed = folder
        .ok()
        .filter(|output| output.status.success())
        .is_some_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir());
    if !installed {
        eprintln!("rush is linked dynamically: the target {target} is not installed");
        return Ok(None);
    }
    let arguments = ["build", "--release", "--locked", "--target", &target, "--package", "pithos-rush-cli"];
    run(revised(&mut workspace.cargo(&arguments)), "the static build of rush")?;
    Ok(Some(workspace.target().join(target).join("release/rush")))
}

/// Tells a build what it is built of: `--version` says so. Without git, or a clone of it, nothing is known.
fn revised(build: &mut Command) -> &mut Command {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if let Some(revision) = git(&["rev-parse", "--short=12", "HEAD"]).filter(|revision| !revision.is_empty())
    {
        let changed =
            git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|list| !list.is_empty());
        let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
        build.env(
            "PITHOS_REVISION",
            format!("{revision}{}, {target}", if changed { " with changes" } else { "" }),
        );
    }
    build
}

/// Runs a command whose output is for whoever called us.
pub(crate) fn run(command: &mut Command, what: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what} ended with {status}")) }
}
