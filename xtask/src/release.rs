//! The release builds: what the project ships, and what its yardsticks measure.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::workspace::Workspace;

/// The commands that the project ships: package, binary.
pub(crate) const COMMANDS: &[(&str, &str)] =
    &[("pithos-cynic-cli", "cynic"), ("pithos-rush-cli", "rush"), ("pithos-server", "pithos")];

/// Builds every command, and `more` packages beside them; the folder that holds the binaries.
pub(crate) fn build(workspace: &Workspace, more: &[&str]) -> Result<PathBuf, String> {
    let mut arguments = vec!["build", "--release", "--locked"];
    for package in COMMANDS.iter().map(|(package, _)| package).chain(more) {
        arguments.extend(["--package", package]);
    }
    let start = Instant::now();
    eprintln!("building the release binaries (minutes the first time) …");
    run(&mut workspace.cargo(&arguments), "the release build")?;
    eprintln!("built in {:.0} s", start.elapsed().as_secs_f64());
    Ok(workspace.target().join("release"))
}

/// The shell starts in half the time without a dynamic linker, so it is installed as a static binary where rustup has
/// the target (`rustup target add x86_64-unknown-linux-musl`); the other commands gain nothing by it.
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
    run(&mut workspace.cargo(&arguments), "the static build of rush")?;
    Ok(Some(workspace.target().join(target).join("release/rush")))
}

/// Runs a command whose output is for whoever called us.
pub(crate) fn run(command: &mut Command, what: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what} ended with {status}")) }
}
