//! `make bench`: builds everything that the yardsticks measure as it is shipped, the wheel included, and hands over to `pithos-bench`.

use std::process::Command;

use crate::workspace::Workspace;
use crate::{python, release};

/// What is measured or measures, and is not shipped.
const PACKAGES: &[&str] = &["pithos-iris-bench", "pithos-bench"];

/// `cargo xtask bench [ARG...]`: the arguments are those of `pithos-bench`, by default `all`.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let built = release::build(workspace, PACKAGES)?;
    let mut bench = Command::new(built.join("pithos-bench"));
    bench.current_dir(&workspace.root).env("PITHOS_CACHE", &workspace.cache);
    if let Some(rush) = release::build_static_rush(workspace)? {
        bench.env("PITHOS_BENCH_RUSH", rush);
    }
    match python::prepare_release(workspace) {
        Ok(python) => {
            bench.env("PITHOS_BENCH_PYTHON", python);
        }
        Err(reason) => eprintln!("without a release build of iris for Python: {reason}"),
    }
    if arguments.is_empty() {
        bench.arg("all")
    } else {
        bench.args(arguments)
    };
    release::run(&mut bench, "pithos-bench")
}
