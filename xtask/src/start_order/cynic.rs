//! The order in the static `cynic`: what an empty program runs, then what the programs of the bench run.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Counts, count, folder, library, script, with_aliases};
use crate::release;
use crate::workspace::Workspace;

/// Where the list is.
pub(super) const LIST: &str = "cynic/cli/start.ld";
/// The folders of programs that are counted besides the empty one.
const PROGRAMS: [&str; 2] = ["bench/js/fixtures", "bench/js/macro"];

/// Builds unless there is a build, runs; the text of the list.
pub(super) fn list(workspace: &Workspace, given: Option<PathBuf>) -> Result<String, String> {
    let cynic = given.map_or_else(|| release::build_static_cynic(workspace), Ok)?;
    let folder = folder(workspace)?;
    let empty = folder.join("empty.js");
    std::fs::write(&empty, "").map_err(|error| format!("{}: {error}", empty.display()))?;
    let mut programs = vec![empty];
    for name in PROGRAMS {
        programs.extend(scripts_in(&workspace.root.join(name))?);
    }
    let mut counts = Counts::new();
    for program in programs {
        let path = program.to_str().ok_or("the path of the workspace is not text")?;
        let account = folder.join("account");
        count(&mut counts, Command::new("valgrind"), &cynic, &["run", path], &account)?;
    }
    let (members, functions) = library::split(&with_aliases(&cynic, &counts)?)?;
    Ok(script(&members, &functions))
}

fn scripts_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths.filter(|path| path.extension().is_some_and(|extension| extension == "js")).collect())
}
