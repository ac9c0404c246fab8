//! The day again, from its journal: over the tree that it began with everything is as it was, and with another compiler
//! the first difference has a name.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use pithos_sessions::outln;

use super::{clipped, shown};

/// A compiler that says something that the first one did not say.
const OTHER_COMPILER: &str = "#!/bin/sh\necho 'cc: this is another version' >&2\nexec /usr/bin/cc \"$@\"\n";

/// Replays `journal` twice over `folder`, which is emptied; the client that wrote it has gone.
pub(super) fn show(number: usize, folder: &Path, journal: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::remove_dir_all(folder)
        .and_then(|()| std::fs::create_dir_all(folder.join("bash")))
        .map_err(failed)?;
    outln!("{number}. the day again, from its journal, over overlays of the tree that it began with");
    let start = Instant::now();
    let (same, said) = replay(folder, journal, None)?;
    said.lines().for_each(|line| outln!("    | {}", clipped(line, 110)));
    if !same {
        return Err(format!("the replay is not as the day was: {said}"));
    }
    outln!("    the same, in {}", shown(start.elapsed()));
    let tools = folder.join("bash");
    let compiler = tools.join("cc");
    std::fs::write(&compiler, OTHER_COMPILER)
        .and_then(|()| std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)))
        .map_err(failed)?;
    let (same, said) = replay(folder, journal, Some(&tools))?;
    let first = said.lines().next().unwrap_or("");
    outln!("    with another compiler: {}\n", clipped(first, 110));
    if same || !first.contains("cc -o adder") {
        return Err(format!("the other compiler was not named: {said}"));
    }
    Ok(())
}

/// Whether everything was as the journal says, and what was said; `first` is put before the search path.
fn replay(folder: &Path, journal: &Path, first: Option<&Path>) -> Result<(bool, String), String> {
    let mut command = Command::new("/proc/self/exe");
    command.args(["replay", "--cwd"]).arg(folder).arg(journal).stdin(Stdio::null());
    if let Some(first) = first {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", first.display()));
    }
    let output = command.output().map_err(|error| format!("starting the replay: {error}"))?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}
