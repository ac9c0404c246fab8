//! `make demo` and `make install`: release binaries, and the main job run on them.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::workspace::Workspace;

/// The commands that the project ships: package, binary.
const COMMANDS: &[(&str, &str)] =
    &[("pithos-cynic-cli", "cynic"), ("pithos-rush-cli", "rush"), ("pithos-server", "pithos")];

/// Builds every command and returns the folder that holds them.
fn build(workspace: &Workspace) -> Result<PathBuf, String> {
    let mut arguments = vec!["build", "--release", "--locked"];
    for (package, _) in COMMANDS {
        arguments.extend(["--package", package]);
    }
    let start = Instant::now();
    eprintln!("building the release binaries (minutes the first time) …");
    status(&mut workspace.cargo(&arguments), "the release build")?;
    eprintln!("built in {:.0} s", start.elapsed().as_secs_f64());
    Ok(workspace.target().join("release"))
}

/// The shell starts in half the time without a dynamic linker, so it is installed as a static binary where rustup has
/// the target (`rustup target add x86_64-unknown-linux-musl`); the other commands gain nothing by it.
fn build_static_rush(workspace: &Workspace) -> Result<Option<PathBuf>, String> {
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let folder = Command::new("rustc").args(["--print", "target-libdir", "--target", &target]).output();
    let installed = folder
        .ok()
        .filter(|output| output.status.success())
        .is_some_and(|output| std::path::Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir());
    if !installed {
        eprintln!("rush is linked dynamically: the target {target} is not installed");
        return Ok(None);
    }
    let arguments = ["build", "--release", "--locked", "--target", &target, "--package", "pithos-rush-cli"];
    status(&mut workspace.cargo(&arguments), "the static build of rush")?;
    Ok(Some(workspace.target().join(target).join("release/rush")))
}

/// `cargo xtask demo`: the scripted agent task.
pub(crate) fn run(workspace: &Workspace) -> Result<(), String> {
    let pithos = build(workspace)?.join("pithos");
    status(Command::new(pithos).arg("demo").current_dir(&workspace.root), "pithos demo")
}

fn status(command: &mut Command, what: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what} ended with {status}")) }
}

/// `cargo xtask install [--prefix DIR]`.
pub(crate) fn install(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let prefix = match arguments {
        [] => {
            PathBuf::from(std::env::var_os("HOME").ok_or("HOME is not set; use --prefix DIR")?).join(".local")
        }
        [flag, folder] if flag == "--prefix" => PathBuf::from(folder),
        _ => return Err("usage: cargo xtask install [--prefix DIR]".to_string()),
    };
    let folder = prefix.join("bin");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let built = build(workspace)?;
    let rush = build_static_rush(workspace)?;
    for (_, name) in COMMANDS {
        let target = folder.join(name);
        let fresh = folder.join(format!(".{name}.new"));
        let source = match &rush {
            Some(rush) if *name == "rush" => rush.clone(),
            _ => built.join(name),
        };
        std::fs::copy(source, &fresh)
            .and_then(|_| std::fs::rename(&fresh, &target))
            .map_err(|error| format!("{}: {error}", target.display()))?;
        println!("{}", target.display());
    }
    Ok(())
}
