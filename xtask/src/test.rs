//! `make test`: the plan of everything that must be green before a change lands.

use crate::steps::Steps;
use crate::workspace::Workspace;
use crate::{conformance, corpora, python, site, tidy};

const STEPS: usize = 11;
/// What `--only` knows.
const NAMES: [&str; 8] = ["format", "tidy", "clippy", "tests", "docs", "python", "cynic", "rush"];

/// `cargo xtask test [--only NAME]`.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let only = match arguments {
        [] => None,
        [flag, name] if flag == "--only" && NAMES.contains(&name.as_str()) => Some(name.as_str()),
        _ => return Err(format!("usage: cargo xtask test [--only {}]", NAMES.join("|"))),
    };
    let wants = |name: &str| only.is_none_or(|chosen| chosen == name);
    let count = match only {
        None => STEPS,
        Some("tests" | "python" | "docs") => 2,
        Some(_) => 1,
    };
    let mut steps = Steps::new(workspace.target().join("logs"), count)?;
    if wants("format") {
        steps.run("format", &mut workspace.cargo(&["fmt", "--all", "--check"]))?;
    }
    if wants("tidy") {
        steps.inside("tidy", || tidy::run(workspace, &[]))?;
    }
    if wants("clippy") {
        let arguments = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--profile",
            "fast",
            "--locked",
            "--",
            "-D",
            "warnings",
        ];
        steps.run("clippy", &mut workspace.cargo(&arguments))?;
    }
    if wants("tests") {
        let mut command =
            workspace.cargo(&["test", "--workspace", "--profile", "fast", "--locked", "--no-fail-fast"]);
        // The suites inside the crates find the unpacked corpora by these variables.
        for corpus in [corpora::TEST262, corpora::OILS] {
            if let Some(folder) = corpus.find(workspace)? {
                command.env(corpus.variable, folder);
            }
        }
        steps.run_tests("tests", &mut command)?;
        // Only an optimised build has the dispatcher that this test looks at.
        let dispatch = [
            "test",
            "--profile",
            "bench-dev",
            "--locked",
            "--package",
            "pithos-cynic-engine",
            "--test",
            "dispatch",
        ];
        steps.run("dispatch", &mut workspace.cargo(&dispatch))?;
    }
    if wants("docs") {
        let mut command =
            workspace.cargo(&["doc", "--workspace", "--lib", "--no-deps", "--locked", "--profile", "fast"]);
        steps.run("docs", command.env("RUSTDOCFLAGS", site::RUSTDOC_FLAGS))?;
        let api = workspace.target().join("doc");
        steps.inside("site", || site::build(workspace, Some(&api)).map(drop))?;
    }
    if wants("python") {
        python::step(workspace, &mut steps)?;
    }
    for suite in conformance::SUITES {
        if wants(suite.name) {
            suite.step(workspace, &mut steps, false)?;
        }
    }
    let counts = steps.counts;
    // The plain closing line that continuous integration reads.
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    Ok(())
}
