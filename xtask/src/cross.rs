//! `cargo xtask cross`: the systems that the tests do not run on. Type-checks every crate that is meant for them; where the
//! machine has an emulator and a linker for aarch64, the libraries' tests run under it.

use std::process::Command;

use crate::release;
use crate::workspace::Workspace;

/// What is meant for Linux on any processor: all of it.
const LINUX: &[&str] = &["--workspace", "--exclude", "pithos-rush-conformance"];
/// What is meant for macOS: three runtimes, without the server, whose walls are Linux's.
const MACOS: &[&str] = &[
    "--package",
    "pithos-cynic-cli",
    "--package",
    "pithos-rush-cli",
    "--package",
    "pithos-iris",
    "--package",
    "pithos-iris-python",
];
const TARGETS: &[(&str, &[&str])] = &[("aarch64-unknown-linux-gnu", LINUX), ("aarch64-apple-darwin", MACOS)];

/// Packages whose tests neither start other programs of ours nor need hours under emulation.
const EMULATED: &[&str] = &["pithos-regexp", "pithos-iris", "pithos-rush-utilities"];
const EMULATED_TARGET: &str = "aarch64-unknown-linux-gnu";
const EMULATOR: &str = "qemu-aarch64";
const LINKER: &str = "aarch64-linux-gnu-gcc";

/// `cargo xtask cross [--emulate]`.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    match arguments {
        [] => check(workspace),
        [flag] if flag == "--emulate" => emulate(workspace),
        _ => Err("usage: cargo xtask cross [--emulate]".to_string()),
    }
}

fn check(workspace: &Workspace) -> Result<(), String> {
    for (target, packages) in TARGETS {
        add(target)?;
        let mut cargo = workspace.cargo(&["check", "--quiet", "--locked", "--target", target]);
        // A warning is an error: code for one system alone is easily left without a user on the other.
        cargo.args(*packages).env("RUSTFLAGS", "-D warnings");
        release::run(&mut cargo, &format!("cargo check for {target}"))?;
        println!("{target}: ok");
    }
    Ok(())
}

fn emulate(workspace: &Workspace) -> Result<(), String> {
    for program in [EMULATOR, LINKER] {
        if Command::new(program).arg("--version").output().is_err() {
            return Err(format!("{program} was not found (Debian: qemu-user, gcc-aarch64-linux-gnu)"));
        }
    }
    add(EMULATED_TARGET)?;
    let mut cargo = workspace.cargo(&["test", "--locked", "--profile", "fast", "--target", EMULATED_TARGET]);
    for package in EMULATED {
        cargo.args(["--package", package]);
    }
    let runner = format!("{EMULATOR} -L /usr/aarch64-linux-gnu");
    cargo
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner);
    release::run(&mut cargo, "the tests under emulation")
}

/// Has rustup install a target's standard library; without rustup it must be there already.
fn add(target: &str) -> Result<(), String> {
    match Command::new("rustup").args(["--quiet", "target", "add", target]).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("rustup target add {target} ended with {status}")),
        Err(_) => Ok(()),
    }
}
