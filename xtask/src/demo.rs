//! `make demo`: the main job run on release binaries.

use std::process::Command;

use crate::release;
use crate::workspace::Workspace;

/// `cargo xtask demo`: the scripted agent task.
pub(crate) fn run(workspace: &Workspace) -> Result<(), String> {
    let pithos = release::build(workspace, &[])?.join("pithos");
    release::run(Command::new(pithos).arg("demo").current_dir(&workspace.root), "pithos demo")
}
