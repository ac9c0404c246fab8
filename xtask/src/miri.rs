//! Miri over the engine's heap and over the actor core, one test file after the other. Owns the toolchain and the interpreter's options;
//! the numbers that tests use under an interpreter are theirs (`cfg!(miri)`).

use std::process::Command;

use crate::steps::Steps;
use crate::workspace::Workspace;

/// Nightlies of October 2026 and later refuse `parking_lot_core`'s futex call.
const TOOLCHAIN: &str = "nightly-2026-05-20";
/// Tree borrows and integer addresses because `crossbeam-epoch` needs both, and the engine's values are addresses with tags; the former's
/// collector lives as long as the process, so leaks are no mistakes. Time stays virtual.
const FLAGS: &str = "-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks";
/// The engine's heap: all its tests are unit tests.
const HEAP: &str = "heap";
const HEAP_PACKAGE: &str = "pithos-cynic-heap";
const CORE_PACKAGE: &str = "pithos-iris";
const CORE_TESTS: &str = "iris/runtime/tests";

/// `cargo xtask miri [NAME] [--toolchain TOOLCHAIN]`: everything, or what has this name (`heap`: the engine's heap; `lib`: the actor core's
/// unit tests; else one of its test files).
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let all = targets(workspace)?;
    let (names, toolchain) = match arguments {
        [names @ .., flag, toolchain] if flag == "--toolchain" => (names, toolchain.as_str()),
        names => (names, TOOLCHAIN),
    };
    let chosen: Vec<&String> = match names {
        [] => all.iter().collect(),
        [name] if all.contains(name) => vec![name],
        _ => return Err(format!("usage: cargo xtask miri [{}] [--toolchain TOOLCHAIN]", all.join(" | "))),
    };
    check_installed(toolchain)?;
    let mut steps = Steps::new(workspace.target().join("logs"), chosen.len())?;
    for name in chosen {
        steps.run(&format!("miri {name}"), &mut command(workspace, toolchain, name))?;
    }
    eprintln!("miri: {} passed, {} failed", steps.counts.passed, steps.counts.failed);
    Ok(())
}

/// Whether the toolchain has the interpreter; what to do if not.
fn check_installed(toolchain: &str) -> Result<(), String> {
    let tried = Command::new("rustup").args(["run", toolchain, "cargo", "miri", "--version"]).output();
    if tried.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    Err(format!(
        "the toolchain {toolchain} is not here, or has no Miri:\n  \
         rustup toolchain install {toolchain} --component miri,rust-src --profile minimal\n\
         or name one that has it: --toolchain NAME"
    ))
}

/// The heap, the core's unit tests, and its test files, or folders of test files with a `main.rs`.
fn targets(workspace: &Workspace) -> Result<Vec<String>, String> {
    let folder = workspace.root.join(CORE_TESTS);
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
    names.splice(0..0, [HEAP.to_string(), "lib".to_string()]);
    Ok(names)
}

fn command(workspace: &Workspace, toolchain: &str, name: &str) -> Command {
    let mut command = Command::new("rustup");
    command.current_dir(&workspace.root).args(["run", toolchain, "cargo", "miri", "test"]);
    match name {
        HEAP => command.args(["-p", HEAP_PACKAGE, "--lib"]),
        "lib" => command.args(["-p", CORE_PACKAGE, "--lib"]),
        // Spans are a feature, and the only thing that its test file is about.
        "tracing" => command.args(["-p", CORE_PACKAGE, "--features", "tracing", "--test", name]),
        _ => command.args(["-p", CORE_PACKAGE, "--test", name]),
    };
    // A test that panics would spend minutes on interpreting the printing of a backtrace.
    command.env("RUST_BACKTRACE", "0").env("MIRIFLAGS", FLAGS);
    command
}
