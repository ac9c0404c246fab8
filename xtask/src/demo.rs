//! `make demo` and `make install`: the main job run on release binaries, and those binaries put where people find them.

use std::path::PathBuf;
use std::process::Command;

use crate::release::{self, COMMANDS};
use crate::workspace::Workspace;

/// `cargo xtask demo`: the scripted agent task.
pub(crate) fn run(workspace: &Workspace) -> Result<(), String> {
    let pithos = release::build(workspace, &[])?.join("pithos");
    release::run(Command::new(pithos).arg("demo").current_dir(&workspace.root), "pithos demo")
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
    let built = release::build(workspace, &[])?;
    let rush = release::build_static_rush(workspace)?;
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
