//! Random scripts through bash and through rush.
//!
//! Every round runs in a mount namespace of its own in which everything is read-only but a scratch folder: a shell that expands wrongly can write
//! nowhere else.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::script;
use crate::random::Random;
use crate::targets::Failure;

/// Scripts that one round compares; each costs two process starts.
const SCRIPTS: usize = 100;

/// Seconds that a script may take; one that waits for ever is killed with all that it started.
const SCRIPT_SECONDS: &str = "20";

/// Set inside the sandbox.
const INSIDE: &str = "PITHOS_FUZZ_INSIDE";

/// Makes `/` read-only with a scratch folder at /mnt, and runs the arguments there.
const SANDBOX: &str = "set -e
mount --make-rprivate /
mount -t tmpfs -o mode=700 tmpfs /mnt
mount -o remount,ro,bind /
cd /mnt
exec \"$@\"";

/// Files that every script finds.
const FILES: [&str; 7] = ["ab", "a.b", "x y", "z9", ".hid", "sub/one", "sub/two"];

/// Random scripts through bash and through the rush beside this program (or the one that RUSH names).
pub(in crate::targets) fn against_bash(random: &mut Random) -> Result<u64, Failure> {
    let ours = match std::env::var_os("RUSH") {
        Some(path) => PathBuf::from(path),
        None => std::env::current_exe().unwrap_or_default().with_file_name("rush"),
    };
    if !ours.is_file() {
        let message = format!("{} is not built: cargo build --release -p pithos-rush-cli", ours.display());
        return Err(Failure::Absent(message));
    }
    if std::env::var_os(INSIDE).is_none() {
        return outside(&ours, random.next());
    }
    let mut differences = String::new();
    for _ in 0..SCRIPTS {
        let script = script::generate(random);
        let theirs = run(Path::new("bash"), &script)?;
        let mine = run(&ours, &script)?;
        if shown(&theirs) != shown(&mine) {
            differences.push_str(&format!(
                "{script}--- rush {}\n--- bash {}\n\n",
                shown(&mine),
                shown(&theirs)
            ));
        }
    }
    if differences.is_empty() { Ok(SCRIPTS as u64) } else { Err(Failure::Found(differences)) }
}

/// Runs the round of `seed` in the sandbox.
fn outside(ours: &Path, seed: u64) -> Result<u64, Failure> {
    let absent = |error: io::Error| Failure::Absent(format!("unshare: {error}"));
    let program = std::env::current_exe().map_err(absent)?;
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", SANDBOX, "sh"])
        .arg(program)
        .args(["shell-bash", "--rounds", "1", "--seed", &seed.to_string()])
        .env(INSIDE, "1")
        .env("RUSH", ours)
        .output()
        .map_err(absent)?;
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && report.starts_with("shell-bash: ") && !report.contains("skipped") {
        return Ok(SCRIPTS as u64);
    }
    if !report.contains("FAILED") {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failure::Absent(format!(
            "no read-only mount namespace (it takes root): {report}{errors}"
        )));
    }
    let start = report.find('\n').map_or(0, |at| at + 1);
    let end = report.rfind("repeat: ").unwrap_or(report.len());
    Err(Failure::Found(report[start..end].to_string()))
}

/// What is compared. The traces of `set -x` of commands that run side by side come in any order.
fn shown(output: &Output) -> String {
    let mut errors: Vec<_> = String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect();
    if errors.iter().any(|line| line.starts_with('+')) {
        errors.retain(|line| !line.contains("kill -USR1"));
        errors.sort();
    }
    format!(
        "{:?} {:?} stderr {:?}",
        output.status.code(),
        String::from_utf8_lossy(&output.stdout),
        errors.join("\n")
    )
}

/// What one shell makes of `script` in a fresh folder.
fn run(shell: &Path, script: &str) -> Result<Output, Failure> {
    let absent = |error: io::Error| Failure::Absent(format!("{}: {error}", shell.display()));
    // Scripts may leave their folder by some levels; the next run must not see what they do there.
    let _ = std::fs::remove_dir_all("work");
    let folder = Path::new("work/1/2/3/4/5/6/7/8/here");
    std::fs::create_dir_all(folder.join("sub")).map_err(absent)?;
    for file in FILES {
        std::fs::write(folder.join(file), format!("{file}\nline two\n")).map_err(absent)?;
    }
    Command::new("timeout")
        .args(["--signal=KILL", SCRIPT_SECONDS])
        .arg(shell)
        .args(["-c", script, "fuzz"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .env("HOME", "/mnt/work/1/2/3/4/5/6/7/8/here")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(absent)
}
