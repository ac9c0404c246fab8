//! `rush-conformance --suite FOLDER [--bless] [--verbose]`: runs every POSIX and bash case of the Oils specification
//! against rush, in a read-only mount namespace, and compares the failures with `rush/conformance/oils-failures.txt`.
//! An unexpected failure and an unexpected pass both fail the run; `--bless` rewrites the list.
//!
//! This one program is the runner outside the sandbox, the runner inside it, the shell under test and the helper
//! commands of the cases: it looks at the name it is called by.
#![forbid(unsafe_code)]

mod cases;
mod list;
mod probe;
mod run;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Set inside the sandbox: the folder with the suite.
const INSIDE: &str = "RUSH_CONFORMANCE_INSIDE";

/// Makes `/` read-only with a fresh `/tmp` that holds copies of the suite ($1) and of this program ($2).
const SANDBOX: &str = "set -e
mount --make-rprivate /
mount -t tmpfs -o mode=1777 tmpfs /mnt
cp -a \"$1\" /mnt/oils-suite
cp \"$2\" /mnt/rush-conformance
mount -o remount,ro,bind /
mount -n --move /mnt /tmp
cd /tmp
exec /tmp/rush-conformance";

fn main() {
    let words: Vec<Vec<u8>> = std::env::args_os().map(std::os::unix::ffi::OsStringExt::into_vec).collect();
    // The file's name, not the first word: a script without an interpreter line runs this file under its own name.
    let program = std::env::current_exe().unwrap_or_default();
    let name = program.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if name == "rush" {
        // The Rust runtime ignores SIGPIPE; commands expect its default.
        rush::sys::signal_default(13);
        rush::sys::exit_now(rush_cli::run(&words));
    }
    if name.ends_with(".py") {
        rush::sys::exit_now(probe::run(&name, &words[1..]));
    }
    let result = match std::env::var_os(INSIDE) {
        Some(_) => run::suite(Path::new("/tmp/oils-suite")).map(|results| {
            for result in results {
                println!("{result}");
            }
        }),
        None => outside(&words[1..]),
    };
    if let Err(message) = result {
        eprintln!("rush-conformance: {message}");
        std::process::exit(1);
    }
}

/// Runs the suite in the sandbox and compares.
fn outside(words: &[Vec<u8>]) -> Result<(), String> {
    let mut suite = None;
    let (mut bless, mut verbose) = (false, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_slice() {
            b"--suite" => {
                suite = words.next().map(|w| PathBuf::from(String::from_utf8_lossy(w).into_owned()))
            }
            b"--bless" => bless = true,
            b"--verbose" => verbose = true,
            _ => return Err("usage: rush-conformance --suite FOLDER [--bless] [--verbose]".into()),
        }
    }
    let suite = suite.ok_or("which suite? --suite FOLDER (the folder that holds spec/)")?;
    let suite = std::fs::canonicalize(&suite).map_err(|e| format!("{}: {e}", suite.display()))?;
    let results = sandboxed(&suite)?;
    list::compare(&results, bless, verbose)
}

fn sandboxed(suite: &Path) -> Result<Vec<run::CaseResult>, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", SANDBOX, "sh"])
        .arg(suite)
        .arg(&program)
        .env(INSIDE, "1")
        .output()
        .map_err(|e| format!("cannot run unshare: {e}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!(
            "the sandbox did not start or the suite did not finish (root is needed):\n{text}"
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(|line| run::CaseResult::parse(line).ok_or_else(|| format!("not a result: {line}")))
        .collect()
}
