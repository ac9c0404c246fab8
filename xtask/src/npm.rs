//! Programs over npm packages, run by cynic and by node: builds the command and calls the runner, which is a node program.

use std::process::{Command, Stdio};

use crate::workspace::Workspace;

/// `cargo xtask npm [FILTER]`.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    if arguments.len() > 1 {
        return Err("usage: cargo xtask npm [FILTER]".to_string());
    }
    for program in ["node", "npm"] {
        let probe =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !probe.is_ok_and(|status| status.success()) {
            println!(
                "skipped: {program} was not found; the programs over npm packages are compared with node"
            );
            return Ok(());
        }
    }
    let build = ["build", "--quiet", "--profile", "bench-dev", "--locked", "--package", "pithos-cynic-cli"];
    let built = workspace.cargo(&build).status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !built.success() {
        return Err("building cynic failed".to_string());
    }
    let status = Command::new("node")
        .arg(workspace.root.join("cynic/conformance/npm/run.mjs"))
        .arg(workspace.target().join("bench-dev/cynic"))
        .args(arguments)
        .env("PITHOS_CACHE", &workspace.cache)
        .status()
        .map_err(|error| format!("cannot run node: {error}"))?;
    if status.success() { Ok(()) } else { Err("a program differs from what the list expects".to_string()) }
}
