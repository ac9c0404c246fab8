//! What a process may do, as the kernel tells of it: a client's command runs at the daemon only where the pooled shell may do
//! exactly what the client may. The shell looks at the client, because a client could say anything. What cannot be seen (a
//! Landlock domain, the instructions of a seccomp filter) needs `no_new_privs` or a privileged hand to be put up, so a
//! client with `no_new_privs` is always refused.

use std::ffi::OsString;
use std::io;

/// Lines of `/proc/PID/status` that must be the same.
const STATUS_LINES: [&str; 15] = [
    "Uid:",
    "Gid:",
    "Groups:",
    "CapInh:",
    "CapPrm:",
    "CapEff:",
    "CapBnd:",
    "CapAmb:",
    "NoNewPrivs:",
    "Seccomp:",
    "Seccomp_filters:",
    "Cpus_allowed:",
    "Mems_allowed:",
    "SigBlk:",
    SIGNALS_IGNORED,
];
const SIGNALS_IGNORED: &str = "SigIgn:";

/// Links of `/proc/PID` that must lead to the same place.
const LINKS: [&str; 11] = [
    "root",
    "ns/cgroup",
    "ns/ipc",
    "ns/mnt",
    "ns/net",
    "ns/pid",
    "ns/pid_for_children",
    "ns/time",
    "ns/time_for_children",
    "ns/user",
    "ns/uts",
];

/// Fields of `/proc/PID/stat`, counted behind the name: nice, real-time priority and scheduling policy.
const SCHEDULING: [usize; 3] = [16, 37, 38];

/// What a process may do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Confinement {
    status: Vec<(&'static str, String)>,
    links: Vec<(&'static str, Option<OsString>)>,
    limits: String,
    groups: String,
    label: String,
    scheduling: Vec<String>,
}

impl Confinement {
    /// That of the process `pid`.
    pub(super) fn of(pid: &str) -> io::Result<Confinement> {
        let text = |name: &str| {
            std::fs::read(format!("/proc/{pid}/{name}"))
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let status = text("status")?;
        let line = |wanted: &'static str| {
            let found = status.lines().find_map(|line| line.strip_prefix(wanted)).unwrap_or_default();
            (wanted, found.trim().to_owned())
        };
        let link = |name: &'static str| match std::fs::read_link(format!("/proc/{pid}/{name}")) {
            Ok(target) => Ok((name, Some(target.into_os_string()))),
            // A kernel without that kind of namespace.
            Err(error) if error.kind() == io::ErrorKind::NotFound && name != "root" => Ok((name, None)),
            Err(error) => Err(error),
        };
        let stat = text("stat")?;
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace().collect();
        Ok(Confinement {
            status: STATUS_LINES.map(line).to_vec(),
            links: LINKS.into_iter().map(link).collect::<io::Result<_>>()?,
            limits: text("limits")?,
            // Neither is there in every kernel.
            groups: text("cgroup").unwrap_or_default(),
            label: text("attr/current").unwrap_or_default(),
            scheduling: SCHEDULING
                .iter()
                .map(|n| fields.get(*n).copied().unwrap_or_default().to_owned())
                .collect(),
        })
    }

    /// That of this process, which ignores SIGPIPE only while it waits.
    pub(super) fn own() -> io::Result<Confinement> {
        let mut own = Confinement::of("self")?;
        for (_, value) in own.status.iter_mut().filter(|(name, _)| *name == SIGNALS_IGNORED) {
            let bits = u64::from_str_radix(value, 16).unwrap_or(u64::MAX);
            *value = format!("{:016x}", bits & !(1 << (crate::SIGPIPE - 1)));
        }
        Ok(own)
    }

    /// Why a command of `client` cannot run in the process with this confinement, if it cannot.
    pub(super) fn refuses(&self, client: &Confinement) -> Option<String> {
        let named = |status: &[(&str, String)]| {
            status.iter().any(|(name, value)| *name == "NoNewPrivs:" && value != "0")
        };
        if named(&client.status) || named(&self.status) {
            return Some("no_new_privs is set".to_owned());
        }
        let differs = self.status.iter().zip(&client.status).find(|(own, other)| own != other);
        if let Some(((name, own), (_, other))) = differs {
            return Some(format!("{name} {other} here, {own} there"));
        }
        if let Some(((name, _), _)) = self.links.iter().zip(&client.links).find(|(own, other)| own != other) {
            return Some(format!("another {name}"));
        }
        let others = [
            ("resource limits", self.limits == client.limits),
            ("control group", self.groups == client.groups),
            ("security label", self.label == client.label),
            ("scheduling", self.scheduling == client.scheduling),
        ];
        others.iter().find(|(_, same)| !same).map(|(name, _)| format!("another {name}"))
    }
}
