//! The Python side: a virtual environment in the cache, the wheel built into it, and its tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::Steps;
use crate::workspace::Workspace;

/// The oldest Python that the wheel supports.
const VERSION_MIN: (u32, u32) = (3, 11);
/// The virtual environment of the tests, and that of the yardsticks.
const TESTS: &str = "venv";
const RELEASE: &str = "release-venv";
/// What builds the wheel.
const MATURIN: &str = "maturin>=1.8,<2";
/// The room that builds the wheel.
const ROOM: &str = "iris/python";

/// `cargo xtask python [ARG...]`: the step alone.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask python".to_string());
    }
    let mut steps = Steps::new(workspace.target().join("logs"), 2)?;
    step(workspace, &mut steps)
}

/// Builds the wheel and tests it, then the `pithos` command through Python's MCP client; each a step, or it says why not.
pub(crate) fn step(workspace: &Workspace, steps: &mut Steps) -> Result<(), String> {
    iris(workspace, steps)?;
    pithos(workspace, steps)
}

fn iris(workspace: &Workspace, steps: &mut Steps) -> Result<(), String> {
    let environment = environment(workspace, TESTS)?;
    install(workspace, &environment)?;
    let mut command = Command::new(environment.join("bin/python"));
    command.current_dir(workspace.root.join(ROOM)).args(["-m", "pytest", "-q", "tests"]);
    steps.run("python iris", &mut command)
}

fn pithos(workspace: &Workspace, steps: &mut Steps) -> Result<(), String> {
    let environment = environment(workspace, TESTS)?;
    checked(
        &mut pip(workspace, &environment, &["-r", "pithos/tests/requirements.txt"]),
        "installing the MCP client",
    )?;
    let build = ["build", "--quiet", "--profile", "bench-dev", "--locked", "--package", "pithos-server"];
    checked(&mut workspace.cargo(&build), "building pithos")?;
    // The examples of the documents use the other two commands; the Rust tests have built them.
    let others = [
        "build",
        "--quiet",
        "--profile",
        "fast",
        "--locked",
        "-p",
        "pithos-rush-cli",
        "-p",
        "pithos-cynic-cli",
    ];
    checked(&mut workspace.cargo(&others), "building rush and cynic")?;
    let mut command = Command::new(environment.join("bin/python"));
    command
        .current_dir(workspace.root.join("pithos/tests"))
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "."])
        .env("PITHOS", workspace.target().join("bench-dev/pithos"))
        .env("RUSH", workspace.target().join("fast/rush"))
        .env("CYNIC", workspace.target().join("fast/cynic"));
    steps.run("python pithos", &mut command)
}

/// Makes a virtual environment in the cache with the wheel as it is shipped.
pub(crate) fn prepare_release(workspace: &Workspace) -> Result<(), String> {
    let environment = environment(workspace, RELEASE)?;
    checked(&mut pip(workspace, &environment, &[MATURIN]), "installing maturin")?;
    checked(&mut wheel(workspace, &environment, "release"), "building the wheel")
}

/// The virtual environment of this name; made when it is not there.
fn environment(workspace: &Workspace, name: &str) -> Result<PathBuf, String> {
    let base = find_python()?;
    let folder = workspace.cache.join(name);
    if !folder.join("bin/python").exists() {
        checked(Command::new(base).args(["-m", "venv"]).arg(&folder), "making a virtual environment")
            .map_err(|error| format!("{error}\non Debian and Ubuntu: install the package python3-venv"))?;
    }
    Ok(folder)
}

/// Puts the tools and the wheel into the environment; the wheel's build reuses the cargo cache.
fn install(workspace: &Workspace, environment: &Path) -> Result<(), String> {
    checked(
        &mut pip(workspace, environment, &[MATURIN, "-r", "iris/python/requirements-test.txt"]),
        "installing the test tools",
    )?;
    checked(&mut wheel(workspace, environment, "bench-dev"), "building the wheel")
}

/// Builds the wheel in a profile and puts it into the environment.
fn wheel(workspace: &Workspace, environment: &Path, profile: &str) -> Command {
    let mut command = Command::new(environment.join("bin/maturin"));
    command
        .current_dir(workspace.root.join(ROOM))
        .args(["develop", "--profile", profile, "--locked", "--quiet"])
        .env("VIRTUAL_ENV", environment)
        .env("CARGO_TARGET_DIR", workspace.target());
    command
}

fn pip(workspace: &Workspace, environment: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(environment.join("bin/python"));
    command.current_dir(&workspace.root).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    command.args(arguments);
    command
}

fn checked(command: &mut Command, what: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{what}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{what} failed ({}):\n{text}", output.status))
}

fn find_python() -> Result<String, String> {
    let named = std::env::var("PYTHON").ok().filter(|name| !name.is_empty());
    let candidates = named.into_iter().chain(["python3".to_string(), "python3.11".to_string()]);
    for candidate in candidates {
        let script = "import sys; print(*sys.version_info[:2])";
        let Ok(output) = Command::new(&candidate).args(["-c", script]).output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut numbers = text.split_whitespace().filter_map(|word| word.parse::<u32>().ok());
        if let (Some(major), Some(minor)) = (numbers.next(), numbers.next())
            && (major, minor) >= VERSION_MIN
        {
            return Ok(candidate);
        }
    }
    let (major, minor) = VERSION_MIN;
    Err(format!("Python {major}.{minor} or newer was not found: install it, or set PYTHON to it"))
}
