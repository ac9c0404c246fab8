//! The order in the static `rush`: what a start runs, and a start that ends at the daemon.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Counts, checked, count, folder, script, with_aliases};
use crate::release;
use crate::workspace::Workspace;

/// Where the list is.
pub(super) const LIST: &str = "rush/cli/start.ld";
/// What of the C library a start runs and has no section that is called as the function.
const MEMBERS: [&str; 3] = ["__libc_start_main.lo", "__init_tls.lo", "__set_thread_area.lo"];
/// What is run: a start, and a start that ends at the daemon.
const RUNS: [&[&str]; 2] = [&["-c", ":"], &["--connect", "-c", ":"]];

/// Builds unless there is a build, runs; the text of the list.
pub(super) fn list(workspace: &Workspace, given: Option<PathBuf>) -> Result<String, String> {
    let rush = match given {
        Some(build) => build,
        None => release::build_static_rush(workspace)?.ok_or("there is no static build to order")?,
    };
    let folder = folder(workspace)?;
    checked(rushed(&rush, &folder).args(["daemon", "start"]), "the daemon")?;
    let mut counts = Counts::new();
    let counted = RUNS.iter().try_for_each(|words| {
        count(&mut counts, rushed(Path::new("valgrind"), &folder), &rush, words, &folder.join("account"))
    });
    checked(rushed(&rush, &folder).args(["daemon", "stop"]), "the daemon")?;
    counted?;
    // Both runs matter alike.
    counts.values_mut().for_each(|runs| *runs = 1);
    let functions = with_aliases(&rush, &counts)?;
    Ok(script(&BTreeSet::from(MEMBERS.map(str::to_string)), &functions))
}

fn rushed(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("RUSH_DAEMON_DIR", folder.join("daemon")).stdin(Stdio::null());
    command
}
