//! `pithos run`: one command in the sandbox, as if it had been started without it: its bytes, its streams, its signals, its status. What a server does before its
//! first call is left out; what the machine can enforce is remembered between commands, because to find it out takes longer than most of them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use pithos_sandbox::Machine;
use pithos_sessions::errln;
use pithos_sessions::once::{self, Program, STATUS_NOT_STARTED};
use pithos_sessions::{Confinement, Error};
use serde::{Deserialize, Serialize};

use crate::state;

/// The file of what is remembered.
const REMEMBERED: &str = "machine.json";

/// What a machine could enforce, and for whom.
#[derive(Serialize, Deserialize)]
struct Known {
    key: String,
    machine: Machine,
}

/// What this machine can enforce: remembered, or found out now. Only a machine that can enforce everything is remembered, so that what is not so any more is an
/// error at the start and never less of a sandbox.
pub(crate) fn machine() -> Machine {
    let key = key();
    let known = state::remembered(REMEMBERED).and_then(|text| serde_json::from_str::<Known>(&text).ok());
    if let Some(known) = known.filter(|known| known.key == key && enforces_all(&known.machine)) {
        return known.machine;
    }
    let machine = pithos_sandbox::probe();
    if enforces_all(&machine) {
        let known = Known { key, machine: machine.clone() };
        let _ = serde_json::to_string(&known).ok().and_then(|text| state::remember(REMEMBERED, &text));
    }
    machine
}

fn enforces_all(machine: &Machine) -> bool {
    machine.can_confine() && machine.mount_namespace && machine.network_namespace && machine.pid_namespace
}

/// What the answer depends on: the boot of the kernel, the user, and in which container this is.
fn key() -> String {
    let line = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_string();
    let link = |path: &str| std::fs::read_link(path).unwrap_or_default().to_string_lossy().into_owned();
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let status = line("/proc/self/status");
    let rights = status.lines().filter(|line| {
        ["CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:"].iter().any(|name| line.starts_with(name))
    });
    [
        env!("CARGO_PKG_VERSION").to_string(),
        line("/proc/sys/kernel/random/boot_id"),
        format!("{user} {group}"),
        link("/proc/self/ns/user"),
        link("/proc/self/ns/mnt"),
        link("/proc/self/ns/pid"),
        link("/proc/self/ns/net"),
        rights.collect::<Vec<_>>().join(" "),
        line("/proc/self/attr/current"),
    ]
    .join("|")
}

/// Runs the command; the status to end with.
pub(crate) fn run(
    confinement: &Confinement,
    program: &Program,
    timeout: Option<Duration>,
    passing: &[PathBuf],
) -> ExitCode {
    match once::run(confinement, program, timeout, passing) {
        Ok(status) => status.into(),
        Err(error) => {
            errln!("pithos: {error}");
            if matches!(error, Error::Sandbox(_)) {
                // What is remembered may be wrong by now.
                state::forget(REMEMBERED);
            }
            STATUS_NOT_STARTED.into()
        }
    }
}

/// The program that the command line names: one text for the shell, or words after `--`.
pub(crate) fn program(texts: Vec<OsString>, words: Option<Vec<OsString>>) -> Result<Program, String> {
    match (texts.as_slice(), words) {
        ([script], None) => Ok(Program::Script(script.clone())),
        ([], Some(words)) if !words.is_empty() => Ok(Program::Words(words)),
        ([], Some(_)) => Err("run: there is no program after '--'".to_string()),
        ([], None) => {
            Err("run needs a command: one text for the shell, or '--' and a program with its arguments"
                .to_string())
        }
        _ => Err("run takes one text for the shell (quote it), or '--' and a program with its arguments"
            .to_string()),
    }
}
