//! The Python side: the wheel of this checkout, installed as people install it, and its tests. Owns the order of the steps;
//! `tools` has the third-party packages, `installed` the environment that has the wheel.

mod installed;
mod interpreter;
mod tools;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use self::installed::Installed;
use self::interpreter::{Base, checked, lock};
use self::tools::Tools;
use crate::steps::Steps;
use crate::workspace::Workspace;

/// What builds the wheel.
const MATURIN: &str = "maturin>=1.9,<2";
/// The room that builds the wheel.
const ROOM: &str = "iris/python";
/// What the tests need beside it.
const REQUIREMENTS: [&str; 2] = ["iris/python/requirements-test.txt", "pithos/tests/requirements.txt"];

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
    let environment = Environment::prepare(workspace, "bench-dev")?;
    let mut iris = environment.installed.command();
    iris.current_dir(workspace.root.join(ROOM)).args(["-m", "pytest", "-q", "tests"]);
    steps.run("python iris", &mut iris)?;

    let commands = environment.link_commands(workspace)?;
    let mut pithos = environment.installed.command();
    pithos
        .current_dir(workspace.root.join("pithos/tests"))
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "."])
        .env("PITHOS", commands.join("pithos"))
        .env("RUSH", commands.join("rush"))
        .env("CYNIC", commands.join("cynic"));
    steps.run("python pithos", &mut pithos)
}

/// Makes an environment with the wheel as it is shipped; its interpreter.
pub(crate) fn prepare_release(workspace: &Workspace) -> Result<PathBuf, String> {
    Ok(Environment::prepare(workspace, "release")?.installed.python())
}

/// `cargo xtask wheel [--profile NAME]`: the wheel and the source distribution below `dist/`.
pub(crate) fn wheel(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let profile = match arguments {
        [] => "release",
        [flag, name] if flag == "--profile" => name,
        _ => return Err("usage: cargo xtask wheel [--profile NAME]".to_string()),
    };
    let tools = tools(workspace, &interpreter::find()?)?;
    let dist = workspace.root.join("dist");
    let _lock = lock(&workspace.target().join("python/build.lock"), "another checkout's build of the wheel")?;
    let build = ["build", "--profile", profile, "--locked", "--quiet", "--interpreter", "python"];
    for (words, what) in [(build.as_slice(), "building the wheel"), (&["sdist"], "the source distribution")] {
        let mut maturin = tools.command("maturin");
        maturin.current_dir(workspace.root.join(ROOM)).args(words).arg("--out").arg(&dist);
        checked(maturin.env("CARGO_TARGET_DIR", workspace.target()), what)?;
    }
    println!("{}", dist.display());
    Ok(())
}

/// The third-party packages that build and test the wheel.
fn tools(workspace: &Workspace, base: &Base) -> Result<Tools, String> {
    let mut requirements = vec![MATURIN.to_string()];
    for file in REQUIREMENTS {
        let path = workspace.root.join(file);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        requirements.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_string));
    }
    Tools::ensure(base, &workspace.cache.join("python"), &requirements, &[])
}

/// The wheel of this checkout, installed; the tools under it stay as they are while this lives.
struct Environment {
    installed: Installed,
    _tools: Tools,
}

impl Environment {
    /// Builds the wheel in a profile and installs it. The environment is made anew each time, so nothing that an earlier
    /// run left can be found by an import.
    fn prepare(workspace: &Workspace, profile: &str) -> Result<Self, String> {
        let base = interpreter::find()?;
        let tools = tools(workspace, &base)?;
        let folder = workspace.target().join("python");
        let installed = Installed::make(&base, &folder, &workspace.root, profile, &tools, |wheels| {
            // The library lies where another checkout with the same build folder puts its own.
            let _lock = lock(&folder.join("build.lock"), "another checkout's build of the wheel")?;
            let mut maturin = tools.command("maturin");
            maturin
                .current_dir(workspace.root.join(ROOM))
                .args(["build", "--profile", profile, "--locked", "--quiet", "--auditwheel", "skip", "--out"])
                .arg(wheels)
                .args(["--interpreter", "python"])
                .env("CARGO_TARGET_DIR", workspace.target());
            checked(&mut maturin, "building the wheel")
        })?;
        Ok(Self { installed, _tools: tools })
    }

    /// Builds the commands and gives them names of this checkout's own: a build of another one does not change them.
    fn link_commands(&self, workspace: &Workspace) -> Result<PathBuf, String> {
        let commands = self.installed.folder.join("commands");
        std::fs::create_dir_all(&commands).map_err(|error| format!("{}: {error}", commands.display()))?;
        let lock_file = workspace.target().join("python/commands.lock");
        let _lock = lock(&lock_file, "another checkout's build of the commands")?;
        // The examples of the documents use the other two commands; the Rust tests have built those.
        let builds = [
            ("bench-dev", "pithos-server", "pithos"),
            ("fast", "pithos-rush-cli", "rush"),
            ("fast", "pithos-cynic-cli", "cynic"),
        ];
        for (profile, package, name) in builds {
            let build = ["build", "--quiet", "--profile", profile, "--locked", "--package", package];
            checked(&mut workspace.cargo(&build), &format!("building {name}"))?;
            let (built, link) = (workspace.target().join(profile).join(name), commands.join(name));
            std::fs::hard_link(&built, &link)
                .or_else(|_| std::fs::copy(&built, &link).map(drop))
                .map_err(|error| format!("{}: {error}", link.display()))?;
        }
        Ok(commands)
    }
}
