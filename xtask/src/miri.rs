//! Miri over the tests of the actor core, one test file after the other. Owns the toolchain and the interpreter's options; the numbers that
//! tests use under an interpreter are theirs (`cfg!(miri)`).

use std::process::Command;

use crate::steps::Steps;
use crate::workspace::Workspace;

/// Nightlies of October 2026 and later refuse `parking_lot_core`'s futex call.
const TOOLCHAIN: &str = "nightly-2026-05-20";
/// Tree borrows and integer addresses because `crossbeam-epoch` needs both; its collector lives as long as the process, so leaks are no
/// mistakes. Time stays virtual.
const FLAGS: &str = "-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks";
const PACKAGE: &str = "pithos-iris";
const TESTS: &str = "iris/runtime/tests";

/// `cargo xtask miri [NAME]`: all test files, or the one of this name (`lib`: the unit tests).
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let all = targets(workspace)?;
    let chosen: Vec<&String> = match arguments {
        [] => all.iter().collect(),
        [name] if all.contains(name) => vec![name],
        _ => return Err(format!("usage: cargo xtask miri [{}]", all.join(" | "))),
    };
    let mut steps = Steps::new(workspace.target().join("logs"), chosen.len())?;
    for name in chosen {
        steps.run(&format!("miri {name}"), &mut command(workspace, name))?;
    }
    eprintln!("miri: {} passed, {} failed", steps.counts.passed, steps.counts.failed);
    Ok(())
}

/// The unit tests and the test files, or folders of test files with a `main.rs`.
fn targets(workspace: &Workspace) -> Result<Vec<String>, String> {
    let folder = workspace.root.join(TESTS);
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        match name.strip_suffix(".rs") {
            Some(stem) => Some(stem.to_string()),
            None => entry.path().join("main.rs").exists().then_some(name),
        }
    };
    let mut names: Vec<String> = entries.filter_map(|entry| name(entry.ok()?)).collect();
    names.sort();
    names.insert(0, "lib".to_string());
    Ok(names)
}

fn command(workspace: &Workspace, name: &str) -> Command {
    let mut command = Command::new("rustup");
    command.current_dir(&workspace.root).args(["run", TOOLCHAIN, "cargo", "miri", "test", "-p", PACKAGE]);
    match name {
        "lib" => command.arg("--lib"),
        // Spans are a feature, and the only thing that its test file is about.
        "tracing" => command.args(["--features", "tracing", "--test", name]),
        _ => command.args(["--test", name]),
    };
    // A test that panics would spend minutes on interpreting the printing of a backtrace.
    command.env("RUST_BACKTRACE", "0").env("MIRIFLAGS", FLAGS);
    command
}
