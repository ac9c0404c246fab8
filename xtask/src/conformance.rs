//! The field's own suites. Each part has a runner of its own and a committed expectation list; this file finds the
//! suite, builds the runner optimised, and calls it. An unexpected failure and an unexpected pass both fail the run.

use std::process::Command;

use crate::corpora::{self, Corpus};
use crate::steps::Steps;
use crate::workspace::Workspace;

/// One suite: the room whose command runs it, and the arguments before the folder.
pub(crate) struct Suite {
    /// The short name, as in `--only cynic`.
    pub(crate) name: &'static str,
    room: &'static str,
    package: &'static str,
    binary: &'static str,
    corpus: Corpus,
    arguments: &'static [&'static str],
}

/// All suites, in the order in which they run.
pub(crate) const SUITES: &[Suite] = &[
    Suite {
        name: "cynic",
        room: "cynic/cli",
        package: "pithos-cynic-cli",
        binary: "cynic",
        corpus: corpora::TEST262,
        arguments: &["test262", "--quiet", "--suite"],
    },
    Suite {
        name: "rush",
        room: "rush/conformance/runner",
        package: "pithos-rush-conformance",
        binary: "rush-conformance",
        corpus: corpora::OILS,
        arguments: &["--suite"],
    },
];

/// `cargo xtask conformance [--bless]`.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let bless = match arguments {
        [] => false,
        [flag] if flag == "--bless" => true,
        _ => return Err("usage: cargo xtask conformance [--bless]".to_string()),
    };
    let mut steps = Steps::new(workspace.target().join("logs"), SUITES.len())?;
    for suite in SUITES {
        suite.step(workspace, &mut steps, bless)?;
    }
    let counts = steps.counts;
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    Ok(())
}

impl Suite {
    /// Builds the runner and runs the suite as one step, or says why not.
    pub(crate) fn step(&self, workspace: &Workspace, steps: &mut Steps, bless: bool) -> Result<(), String> {
        let name = format!("conformance {}", self.corpus.name);
        let Some(folder) = self.corpus.find(workspace)? else {
            steps.skip(&name, &self.corpus.absent());
            return Ok(());
        };
        let build = ["build", "--profile", "bench-dev", "--locked", "--package", self.package];
        let output =
            workspace.cargo(&build).output().map_err(|error| format!("cannot run cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!(
                "building {} failed:\n{}",
                self.package,
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        let mut command = Command::new(workspace.target().join("bench-dev").join(self.binary));
        command.current_dir(&workspace.root).args(self.arguments).arg(folder);
        if bless {
            command.arg("--bless");
        }
        steps.run(&name, &mut command).map_err(|error| {
            format!(
                "{error}\nwhen the change is meant: `make bless` rewrites the expectation list under {}",
                self.room
            )
        })
    }
}
