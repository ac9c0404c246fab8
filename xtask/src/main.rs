//! `cargo xtask`: what the Makefile's targets call. Owns the command line; every sub-command is a module.
//! It knows the workspace from outside (manifests, files, commands) and depends on none of its crates.
#![forbid(unsafe_code)]

mod bench;
mod conformance;
mod corpora;
mod cross;
mod demo;
mod install;
mod manual;
mod miri;
mod npm;
mod python;
mod release;
mod signals;
mod site;
mod start_order;
mod steps;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask COMMAND [ARG...]

  test [--only NAME]      format, lints, tests of every crate, Python tests, conformance, documents
  tidy [--write]          the tree's own rules; --write renews generated documents
  conformance [--bless]   the conformance suites that can be found; --bless rewrites the expectation lists
  npm [FILTER]            programs over npm packages, printed output compared with node's
  wheel [--profile NAME]  the Python wheel (abi3) and the source distribution below dist/
  python                  build the wheel into a virtual environment and run its tests
  miri [NAME]             Miri over the engine's heap and the actor core (needs its nightly; three quarters of an hour), or one of them
  cross [--emulate]       type-checks for aarch64 Linux and macOS; or aarch64 tests under an emulator
  docs [--no-api]         the documents as a site below target/site, with the API documents, every link followed
  demo                    the scripted agent task on release binaries
  bench [ARG...]          release builds of everything measured, then pithos-bench with these arguments (default: all)
  start-order NAME [BUILD]  renew the list of functions that stand together in the static cynic or rush (needs valgrind)
  install [--prefix DIR]  release binaries, stripped, into DIR/bin (default ~/.local); debug files into DIR/lib/debug
  dist                    the same and documents as an archive below dist/
";

fn main() -> ExitCode {
    signals::begin_with_defaults();
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let result = Workspace::locate().and_then(|workspace| match command.as_str() {
        "test" => test::run(&workspace, &rest),
        "tidy" => tidy::run(&workspace, &rest),
        "conformance" => conformance::run(&workspace, &rest),
        "npm" => npm::run(&workspace, &rest),
        "python" => python::run(&workspace, &rest),
        "wheel" => python::wheel(&workspace, &rest),
        "miri" => miri::run(&workspace, &rest),
        "cross" => cross::run(&workspace, &rest),
        "docs" => site::run(&workspace, &rest),
        "demo" => demo::run(&workspace),
        "bench" => bench::run(&workspace, &rest),
        "start-order" => start_order::run(&workspace, &rest),
        "install" => install::install(&workspace, &rest),
        "dist" => install::dist(&workspace, &rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("unknown command '{command}'\n{USAGE}")),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {command}: {message}");
            ExitCode::FAILURE
        }
    }
}
