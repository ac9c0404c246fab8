//! What this machine can enforce, found out by trying and not by version numbers. `pithos doctor` prints it.

use crate::child::{self, Mounts, Steps};
use crate::filter;
use crate::limits::LANDLOCK_ABI_MIN;
use crate::policy::Policy;
use crate::watch;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The kernel's release.
    pub kernel: String,
    /// Whether we run as root.
    pub root: bool,
    /// The Landlock ABI, 0 without Landlock.
    pub landlock_abi: u32,
    /// Whether system call filters can be installed.
    pub seccomp: bool,
    /// Whether a private, read-only view of the file system can be made.
    pub mount_namespace: bool,
    /// Whether a private network can be made.
    pub network_namespace: bool,
    /// Whether namespaces are made inside a user namespace (so that root inside is nobody outside).
    pub user_namespace: bool,
    /// Whether processes can have a namespace of their own, with its own `/proc`.
    pub pid_namespace: bool,
    /// Whether the number of processes can be bounded for root too: by a pid namespace of Linux 6.14 and later.
    pub processes_bounded: bool,
    /// Whether calls can be watched, so that denials are known whatever programs say.
    #[serde(default)]
    pub watching: bool,
    /// Why something is missing, one sentence each.
    pub notes: Vec<String>,
}

/// Finds out what this machine can enforce. It starts a few children that end at once, so keep the answer.
pub fn probe() -> Machine {
    let mut notes = Vec::new();
    let mut attempt = |what: &str, steps: Steps| match child::try_out(steps) {
        Ok(()) => true,
        Err((step, error)) => {
            let step = step.map_or(String::new(), |step| format!(" at the step {:?}", step.name()));
            notes.push(format!("no {what}: {error}{step}"));
            false
        }
    };
    let user = libc::CLONE_NEWUSER;
    let user_namespace = attempt("user namespace", Steps { namespaces: user, ..Steps::default() });
    // Root can do without a user namespace.
    let base = if user_namespace { user } else { 0 };
    let read_only = Mounts { own_devices: true, ..Mounts::default() };
    let mount = Steps { namespaces: base | libc::CLONE_NEWNS, mounts: Some(read_only), ..Steps::default() };
    let mount_namespace = attempt("read-only mounts", mount);
    let processes = Mounts { own_processes: true, ..Mounts::default() };
    let flags = base | libc::CLONE_NEWNS | libc::CLONE_NEWPID;
    let pid_namespace = mount_namespace
        && attempt("own processes", Steps { namespaces: flags, mounts: Some(processes), ..Steps::default() });
    let network = Steps { namespaces: base | libc::CLONE_NEWNET, loopback: true, ..Steps::default() };
    let network_namespace = attempt("private network", network);
    let filters = filter::build(&Policy::default()).unwrap_or_default();
    let seccomp = !filters.is_empty()
        && attempt("system call filter", Steps { filters, no_new_privileges: true, ..Steps::default() });
    let landlock_abi = child::landlock_abi();
    if landlock_abi == 0 {
        notes.push("no Landlock: the kernel is built without it or `lsm=` does not name it".to_owned());
    }
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
    let root = child::is_root();
    let processes_bounded = pid_namespace && child::namespaced_pid_max();
    Machine {
        kernel,
        root,
        landlock_abi,
        seccomp,
        mount_namespace,
        network_namespace,
        user_namespace,
        pid_namespace,
        processes_bounded,
        watching: seccomp && watch::possible(),
        notes,
    }
}

impl Machine {
    /// Whether the presets that confine can be enforced here at all.
    pub fn can_confine(&self) -> bool {
        self.seccomp && self.landlock_abi >= LANDLOCK_ABI_MIN
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |what: &str, by: &str, enforced: bool| {
            writeln!(f, "  {} {what:<48} {by}", if enforced { "yes" } else { "NO " })
        };
        let landlock = |least: u32| self.landlock_abi >= least;
        let (mounts, network) = (self.mount_namespace, self.network_namespace);
        line("files: read, write, execute by path", "Landlock", landlock(1))?;
        line("files: truncation", "Landlock 3", landlock(3))?;
        line("devices: control commands", "Landlock 5", landlock(5))?;
        line("signals and abstract sockets to the outside", "Landlock 6", landlock(6))?;
        line("metadata: mode, owner, times outside", "read-only mounts", mounts)?;
        line("a private /tmp", "mount namespace", mounts)?;
        line("an own /dev: no terminal or disk of the machine", "mount namespace", mounts)?;
        line("protected paths (.git/hooks and the like)", "read-only mounts", mounts)?;
        line("only its own processes; they end together", "pid namespace", self.pid_namespace)?;
        line("no network: TCP, UDP and all other sockets", "seccomp", self.seccomp)?;
        line("a private loopback network", "network namespace", network)?;
        line(
            "other processes: tracing, memory, descriptors",
            "seccomp, Landlock",
            self.seccomp && landlock(1),
        )?;
        line("io_uring, mounts, namespaces, keys, kernel", "seccomp", self.seccomp)?;
        line("setuid programs gain nothing", "no_new_privs", true)?;
        line("processor, memory, descriptors, file size", "resource limits", true)?;
        line(
            "number of processes",
            "resource limits, pid namespace of Linux 6.14",
            !self.root || self.processes_bounded,
        )?;
        line("cells and actors: no executable memory", "seccomp", self.seccomp)?;
        line("denials known by path and call", "seccomp notification", self.watching)?;
        for note in &self.notes {
            writeln!(f, "  note: {note}")?;
        }
        Ok(())
    }
}
