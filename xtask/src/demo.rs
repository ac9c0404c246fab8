//! `make demo` and `make install`: release binaries, and the main job run on them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::workspace::Workspace;

/// The commands that the project ships: room, package, binary.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("cynic/cli", "pithos-cynic-cli", "cynic"),
    ("rush/cli", "pithos-rush-cli", "rush"),
    ("pithos/server", "pithos-server", "pithos"),
];

/// Builds every command that has landed and returns where they are.
fn build(workspace: &Workspace) -> Result<Vec<(&'static str, PathBuf)>, String> {
    let landed: Vec<_> = COMMANDS.iter().filter(|(room, ..)| workspace.has(room)).collect();
    let mut arguments = vec!["build", "--release", "--locked"];
    for (_, package, _) in &landed {
        arguments.extend(["--package", package]);
    }
    let start = Instant::now();
    eprintln!("building the release binaries (minutes the first time) …");
    let status =
        workspace.cargo(&arguments).status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err(format!("the release build failed ({status})"));
    }
    eprintln!("built in {:.0} s", start.elapsed().as_secs_f64());
    let folder = workspace.target().join("release");
    Ok(landed.into_iter().map(|(_, _, binary)| (*binary, folder.join(binary))).collect())
}

/// `cargo xtask demo`: the scripted agent task.
pub(crate) fn run(workspace: &Workspace) -> Result<(), String> {
    let built = build(workspace)?;
    let find = |name: &str| built.iter().find(|(binary, _)| *binary == name).map(|(_, path)| path.as_path());
    if let Some(pithos) = find("pithos") {
        return status(Command::new(pithos).arg("demo").current_dir(&workspace.root), "pithos demo");
    }
    println!("The pithos server has not landed yet; here is each part that has, alone.\n");
    match find("cynic") {
        Some(cynic) => show(cynic, &["eval", CYNIC_PROGRAM])?,
        None => println!("cynic: not there yet"),
    }
    match find("rush") {
        Some(rush) => show(rush, &["-c", RUSH_PROGRAM])?,
        None => println!("rush: not there yet"),
    }
    Ok(())
}

const CYNIC_PROGRAM: &str = "const words = 'the cynic lived in a jar and the jar was small'.split(' '); Map.groupBy(words, w => words.filter(x => x === w).length).get(2)";
const RUSH_PROGRAM: &str = "for part in cynic rush iris; do printf '%s: %s files\\n' \"$part\" \"$(find \"$part\" -name '*.rs' | wc -l)\"; done; false | true; echo \"${PIPESTATUS[@]}\"";

fn show(program: &Path, arguments: &[&str]) -> Result<(), String> {
    let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    println!("$ {name} {}", arguments.join(" "));
    let start = Instant::now();
    status(Command::new(program).args(arguments), &name)?;
    println!("  ({:.1} ms)\n", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
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
    for (name, path) in build(workspace)? {
        let target = folder.join(name);
        let fresh = folder.join(format!(".{name}.new"));
        std::fs::copy(&path, &fresh)
            .and_then(|_| std::fs::rename(&fresh, &target))
            .map_err(|error| format!("{}: {error}", target.display()))?;
        println!("{}", target.display());
    }
    Ok(())
}
