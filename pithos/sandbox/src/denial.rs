//! Denials as data: what was denied, by which rule, and how to allow it. A kernel says no with an error number that the
//! program turns into a sentence; here the sentence is read back and held against the policy, so that only what the policy
//! really denies is called a denial.

use crate::limits::{DENIALS_MAX, EXPLAIN_BYTES_MAX};
use crate::policy::{Access, Network, ResolvedPolicy, UnixSockets};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What kind of thing was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialKind {
    /// Reading a path.
    Read,
    /// Writing a path.
    Write,
    /// Executing a path.
    Exec,
    /// Reaching a host or opening a socket.
    Network,
    /// A system call.
    Syscall,
    /// A resource limit.
    Limit,
}

/// One denial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// What kind of thing was denied.
    pub kind: DenialKind,
    /// The path, host or system call, or the limit's name.
    pub subject: String,
    /// The rule that denied it.
    pub rule: String,
    /// What to change so that it is allowed.
    pub how_to_allow: String,
    /// The system call, when the kernel was asked and not the program's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// What would have to be allowed for a use of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Advice {
    /// The path alone.
    Itself,
    /// Its folder, where it is made or removed.
    Folder,
    /// The path, which is a folder that something is made in.
    Inside,
}

/// Judges one path.
pub(crate) fn check_path(resolved: &ResolvedPolicy, path: &Path, access: Access) -> Result<(), Denial> {
    if resolved.allows(path, access) { Ok(()) } else { Err(path_denial(resolved, path, access)) }
}

fn path_denial(resolved: &ResolvedPolicy, path: &Path, access: Access) -> Denial {
    let full = resolved.workspace.join(path);
    let advice = if access == Access::Write && !full.exists() { Advice::Folder } else { Advice::Itself };
    describe(resolved, &full, &resolved.real_path(path), access, advice)
}

/// The denial of a path that is real.
pub(crate) fn of_real_path(resolved: &ResolvedPolicy, real: &Path, access: Access, advice: Advice) -> Denial {
    describe(resolved, real, real, access, advice)
}

fn describe(resolved: &ResolvedPolicy, full: &Path, real: &Path, access: Access, advice: Advice) -> Denial {
    let (kind, list) = match access {
        Access::Read => (DenialKind::Read, "read"),
        Access::Write => (DenialKind::Write, "write"),
        Access::Exec => (DenialKind::Exec, "exec"),
    };
    let above = |list: &[PathBuf]| list.iter().find(|listed| real.starts_with(listed)).cloned();
    let exception = match access {
        Access::Write => {
            // A folder cannot be moved away with something protected in it either.
            let all = || resolved.protect.iter().chain(&resolved.protect_absent);
            let below = || all().find(|listed| listed.starts_with(real)).cloned();
            let inside = above(&resolved.write).is_some();
            above(&resolved.protect)
                .or_else(|| above(&resolved.protect_absent))
                .or_else(|| below().filter(|_| inside))
                .map(|at| ("protect", at))
                .or_else(|| above(&resolved.nested).map(|at| ("protect_names", at)))
                .or_else(|| {
                    let nested = resolved.nested.iter().find(|listed| listed.starts_with(real));
                    nested.filter(|_| inside).map(|at| ("protect_names", at.clone()))
                })
        }
        Access::Read | Access::Exec => None,
    };
    if let Some((list, at)) = exception.or_else(|| above(&resolved.hide).map(|at| ("hide", at))) {
        return Denial {
            kind,
            subject: full.display().to_string(),
            rule: match list {
                "protect_names" => {
                    let name = at.file_name().unwrap_or_default().to_string_lossy();
                    format!("policy {:?}: {list} contains {name:?}", resolved.policy.name)
                }
                _ => format!(
                    "policy {:?}: {list} contains {:?}",
                    resolved.policy.name,
                    at.display().to_string()
                ),
            },
            how_to_allow: format!(
                "take it out of {list} in the policy, if what is outside may obey or show it"
            ),
            call: None,
        };
    }
    Denial {
        kind,
        subject: full.display().to_string(),
        rule: format!("policy {:?}: {list} does not contain it", resolved.policy.name),
        how_to_allow: how_to_allow(resolved, full, access, advice),
        call: None,
    }
}

/// The least that has to be allowed. The home directory and what is as wide never is advised.
fn how_to_allow(resolved: &ResolvedPolicy, full: &Path, access: Access, advice: Advice) -> String {
    let path = match advice {
        Advice::Itself | Advice::Inside => full,
        Advice::Folder => full.parent().unwrap_or(full),
    };
    let list = match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Exec => "exec",
    };
    if of_one_process(full) {
        return "nothing: the path is of one process, and leads elsewhere in the next".to_owned();
    }
    let add = format!("add {:?} to {list} in the policy", path.display().to_string());
    let seen = |folder: &PathBuf| {
        let stood_for = resolved.stands_in && *folder == resolved.private_tmp;
        if stood_for { "/tmp".to_owned() } else { folder.display().to_string() }
    };
    let folders: Vec<String> = resolved.write.iter().map(seen).collect();
    let instead = format!("write below {} instead", folders.join(" or "));
    match (access, is_wide(resolved, path)) {
        (Access::Write, true) => {
            let made = match advice {
                Advice::Folder if !full.exists() => format!(
                    "make {0:?} before the server starts and add {0:?} to write in the policy",
                    full.display().to_string()
                ),
                _ => format!(
                    "do it outside of the sandbox: {:?} is too wide to be allowed",
                    path.display().to_string()
                ),
            };
            if folders.is_empty() { made } else { format!("{instead}, or {made}") }
        }
        (Access::Write, false) if !folders.is_empty() => format!("{instead}, or {add}"),
        (Access::Read, true) => {
            format!(
                "add what you need below {:?} to read in the policy, and not all of it",
                path.display().to_string()
            )
        }
        _ => add,
    }
}

/// Whether a path is below the folder of a process: its number is another process's soon.
fn of_one_process(path: &Path) -> bool {
    let below = path.strip_prefix("/proc").ok().and_then(|rest| rest.components().next());
    let name = below.map(|part| part.as_os_str().as_encoded_bytes()).unwrap_or_default();
    !name.is_empty() && name.iter().all(u8::is_ascii_digit) || [&b"self"[..], b"thread-self"].contains(&name)
}

/// Whether so much is in a folder that nobody should allow all of it.
fn is_wide(resolved: &ResolvedPolicy, path: &Path) -> bool {
    path.components().count() <= 2 && path.is_dir()
        || resolved.home.as_ref().is_some_and(|home| home.starts_with(path))
        || path.parent() == Some(Path::new("/home"))
}

/// A call that is denied by its number, or by plain arguments.
pub(crate) fn refused_call(resolved: &ResolvedPolicy, number: i64, arguments: &[u64; 6]) -> Denial {
    let first = arguments[0] as i32;
    match number {
        libc::SYS_socket => {
            let families = [
                (libc::AF_UNIX, "AF_UNIX"),
                (libc::AF_INET, "AF_INET"),
                (libc::AF_INET6, "AF_INET6"),
                (libc::AF_NETLINK, "AF_NETLINK"),
                (libc::AF_PACKET, "AF_PACKET"),
            ];
            let family = families.iter().find(|(known, _)| *known == first);
            let family = family.map_or_else(|| format!("family {first}"), |(_, name)| (*name).to_owned());
            let mut denial = network_denial(resolved, &format!("a socket of {family}"));
            match first {
                libc::AF_UNIX => {
                    denial.rule = unix_socket_rule(resolved, arguments[1] as i32);
                    denial.how_to_allow = ALL_SOCKETS.to_owned();
                }
                libc::AF_NETLINK => {
                    denial.rule = format!(
                        "policy {:?}: sockets of this kind tell of the machine's network",
                        resolved.policy.name
                    );
                    denial.how_to_allow =
                        "most programs do without it; network = \"on\" allows it".to_owned();
                }
                libc::AF_INET | libc::AF_INET6 => {}
                _ => {
                    denial.rule = format!(
                        "policy {:?}: sockets of this kind reach out of the sandbox",
                        resolved.policy.name
                    );
                    denial.how_to_allow = NO_POLICY.to_owned();
                }
            }
            denial.call = Some("socket".to_owned());
            denial
        }
        libc::SYS_socketpair => {
            let mut denial = socket_denial(resolved, "a pair of datagram sockets", "");
            denial.rule = format!(
                "policy {:?}: unix_sockets is not true: a message of such a pair can be sent to any address",
                resolved.policy.name
            );
            with_call(denial, "socketpair")
        }
        libc::SYS_clone => {
            with_call(system_call("clone into new namespaces", libc::SYS_unshare, resolved), "clone")
        }
        libc::SYS_fchmod => with_call(set_id_mode(resolved), "fchmod"),
        libc::SYS_ioctl => {
            with_call(system_call("typing into a terminal (TIOCSTI)", number, resolved), "ioctl")
        }
        _ => {
            let name = crate::filter::name(number).unwrap_or("a system call");
            with_call(system_call(name, number, resolved), name)
        }
    }
}

/// A Unix socket that leads out, or that cannot be used as those of the sandbox's own can.
pub(crate) fn socket_denial(resolved: &ResolvedPolicy, subject: &str, why: &str) -> Denial {
    Denial {
        kind: DenialKind::Network,
        subject: subject.to_owned(),
        rule: format!("policy {:?}: unix_sockets is \"own\": {why}", resolved.policy.name),
        how_to_allow: ALL_SOCKETS.to_owned(),
        call: Some("connect".to_owned()),
    }
}

const ALL_SOCKETS: &str = "set unix_sockets = true in the policy: the machine's services that listen on such sockets can be reached then";

/// Why a Unix socket of this kind cannot be made.
fn unix_socket_rule(resolved: &ResolvedPolicy, kind: i32) -> String {
    let value = match resolved.policy.unix_sockets {
        UnixSockets::Off => "false",
        UnixSockets::Own if resolved.own_sockets => {
            return format!(
                "policy {:?}: unix_sockets is \"own\", which is for SOCK_STREAM and SOCK_SEQPACKET, and this is kind {}: its messages can be sent to any address",
                resolved.policy.name,
                kind & 0xf
            );
        }
        UnixSockets::Own => {
            "\"own\", which needs watched calls, processes and a network of the sandbox's own, and is false without them"
        }
        UnixSockets::On => "true",
    };
    format!("policy {:?}: unix_sockets is {value}", resolved.policy.name)
}

/// A host that the proxy refuses, with the narrowest line of a policy that would allow it.
pub fn refused_host(policy: &str, host: &str, port: u16, why: &str) -> Denial {
    Denial {
        kind: DenialKind::Network,
        subject: format!("{host}:{port}"),
        rule: format!("policy {policy:?}: {why}"),
        how_to_allow: format!("add \"{host}:{port}\" to hosts in the policy"),
        call: Some("proxy".to_owned()),
    }
}

/// A mode by which whoever runs a file outside, later, has its owner's or its group's rights.
pub(crate) fn set_id_mode(resolved: &ResolvedPolicy) -> Denial {
    Denial {
        kind: DenialKind::Syscall,
        subject: "a mode with set-user-ID or set-group-ID".to_owned(),
        rule: format!(
            "policy {:?}: such a file gives whoever runs it, outside too, the rights of its owner or group",
            resolved.policy.name
        ),
        how_to_allow: NO_POLICY.to_owned(),
        call: None,
    }
}

fn with_call(denial: Denial, call: &str) -> Denial {
    Denial { call: Some(call.to_owned()), ..denial }
}

/// The denials that some output speaks of.
pub(crate) fn explain(resolved: &ResolvedPolicy, output: &[u8]) -> Vec<Denial> {
    let mut denials: Vec<Denial> = Vec::new();
    if !resolved.policy.confine {
        return denials;
    }
    let start = output.len().saturating_sub(EXPLAIN_BYTES_MAX);
    let text = String::from_utf8_lossy(output.get(start..).unwrap_or_default());
    for line in text.lines() {
        for denial in explain_line(resolved, line) {
            if denials.len() < DENIALS_MAX && !denials.contains(&denial) {
                denials.push(denial);
            }
        }
    }
    if denials.is_empty() {
        denials.extend(socket_of_a_trace(resolved, &text));
    }
    denials
}

/// What programs and languages say, in lower case, when the kernel refuses a call.
const REFUSALS: [&str; 4] = ["operation not permitted", "eperm", "permission denied", "eacces"];

/// A refused socket in a language's own words: the line with the error names nothing, and the lines of its trace name the socket.
fn socket_of_a_trace(resolved: &ResolvedPolicy, text: &str) -> Option<Denial> {
    let lower = text.to_lowercase();
    let of_socket = ["socket", "connect"].iter().any(|word| lower.contains(word));
    if resolved.policy.network == Network::On || !of_socket {
        return None;
    }
    let line = text.lines().rev().find(|line| {
        let line = line.to_lowercase();
        REFUSALS.iter().any(|words| line.contains(words))
    })?;
    Some(network_denial(resolved, line.trim()))
}

pub(crate) fn network_denial(resolved: &ResolvedPolicy, subject: &str) -> Denial {
    Denial {
        kind: DenialKind::Network,
        subject: subject.to_owned(),
        rule: format!("policy {:?}: network is {:?}", resolved.policy.name, resolved.policy.network)
            .to_lowercase(),
        how_to_allow: match resolved.policy.network {
            Network::Loopback if !resolved.policy.hosts.is_empty() => {
                "name the host in hosts in the policy, and let the program use the proxy that HTTPS_PROXY names".to_owned()
            }
            Network::Loopback => "name the host in hosts in the policy (hosts = [\"NAME:443\"])".to_owned(),
            _ => "set network = \"loopback\" and name the host in hosts in the policy".to_owned(),
        },
        call: None,
    }
}

/// The host and port of a shell's `/dev/tcp/HOST/PORT` or `/dev/udp/HOST/PORT`: no file, whatever it looks like.
fn shell_socket(path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    let (host, port) = rest.split_once('/')?;
    Some(format!("{host}:{port}"))
}

fn explain_line(resolved: &ResolvedPolicy, line: &str) -> Vec<Denial> {
    let lower = line.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    let mut found = Vec::new();
    if says(&[
        "permission denied",
        "eacces",
        "read-only file system",
        "erofs",
        "operation not permitted",
        "eperm",
    ]) {
        let writing = says(&["read-only file system", "erofs"]);
        let paths = paths_in(line);
        if let Some(tool) = privileged_tool(&lower) {
            found.push(system_call(tool.0, tool.1, resolved));
        } else if let Some(address) = paths.iter().find_map(|path| shell_socket(path)) {
            if resolved.policy.network != Network::On {
                found.push(network_denial(resolved, &address));
            }
        } else {
            found.extend(paths.iter().filter_map(|path| denied_path(resolved, path, writing)));
        }
    }
    let no_network =
        says(&NETWORK_PHRASES) || resolved.policy.network == Network::Off && says(&CONNECT_PHRASES);
    if resolved.policy.network != Network::On && found.is_empty() && no_network {
        found.push(network_denial(resolved, line.trim()));
    }
    if found.is_empty() && says(&["file size limit exceeded", "file too large", "efbig"]) {
        found.push(limit("file_size_mb", resolved));
    }
    if found.is_empty() && says(&["cpu time limit exceeded"]) {
        found.push(limit("cpu_seconds", resolved));
    }
    if found.is_empty() && says(&["too many open files"]) {
        found.push(limit("open_files", resolved));
    }
    if found.is_empty() && says(&["operation not permitted", "eperm"]) {
        found.extend(
            SYSTEM_TOOLS
                .iter()
                .find(|(word, _)| lower.contains(word))
                .map(|(name, number)| system_call(name, *number, resolved)),
        );
    }
    found
}

/// How programs say that they have no network.
const NETWORK_PHRASES: [&str; 9] = [
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "network is unreachable",
    "couldn't resolve host",
    "failed to lookup address",
    "getaddrinfo",
    "socket: operation not permitted",
    "socket: permission denied",
];

/// How programs say that they could not connect: with no network at all it is the policy that they speak of.
const CONNECT_PHRASES: [&str; 3] = ["failed to connect to", "couldn't connect to", "could not connect to"];

/// The tool that speaks in a message, when all it does is what the filter denies.
fn privileged_tool(lower: &str) -> Option<&'static (&'static str, i64)> {
    let (speaker, _) = lower.split_once(':')?;
    SYSTEM_TOOLS.iter().find(|(name, _)| *name == speaker.trim())
}

/// Words of messages that mean a system call of the filter.
const SYSTEM_TOOLS: [(&str, i64); 6] = [
    ("ptrace", libc::SYS_ptrace),
    ("unshare", libc::SYS_unshare),
    ("mount", libc::SYS_mount),
    ("setns", libc::SYS_setns),
    ("bpf", libc::SYS_bpf),
    ("chroot", libc::SYS_chroot),
];

/// How to allow what no policy can.
pub(crate) const NO_POLICY: &str =
    "run this one command with the preset trusted: no policy that confines allows it";

fn limit(name: &str, resolved: &ResolvedPolicy) -> Denial {
    Denial {
        kind: DenialKind::Limit,
        subject: name.to_owned(),
        rule: format!("policy {:?}: limits.{name}", resolved.policy.name),
        how_to_allow: format!("raise limits.{name} in the policy"),
        call: None,
    }
}

fn system_call(name: &str, number: i64, resolved: &ResolvedPolicy) -> Denial {
    let reason = crate::filter::reason(number).unwrap_or("reaches out of the sandbox");
    Denial {
        kind: DenialKind::Syscall,
        subject: name.to_owned(),
        rule: format!("policy {:?}: system call filter: {name} {reason}", resolved.policy.name),
        how_to_allow: NO_POLICY.to_owned(),
        call: None,
    }
}

/// What the policy denies about a path of a message; none when it allows the path (then the file's own mode said no).
fn denied_path(resolved: &ResolvedPolicy, path: &Path, writing: bool) -> Option<Denial> {
    let order: &[Access] =
        if writing { &[Access::Write] } else { &[Access::Read, Access::Write, Access::Exec] };
    let access = order.iter().copied().find(|access| !resolved.allows(path, *access))?;
    Some(path_denial(resolved, path, access))
}

/// The words of a message that look like paths, quoted or not, with the punctuation of messages taken off.
fn paths_in(line: &str) -> Vec<PathBuf> {
    let quotes = ['\'', '"', '`', '\u{2018}', '\u{2019}'];
    let words = line.split(quotes).flat_map(|part| part.split_whitespace());
    let trimmed = words.map(|word| word.trim_matches(|c: char| ":,;()[]".contains(c)));
    let mut paths: Vec<PathBuf> = Vec::new();
    for word in trimmed.filter(|word| word.contains('/') && word.len() > 1) {
        let path = PathBuf::from(word);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    // A message begins with the name of the program that speaks, which may be a path of its own.
    let speaker = line.split_whitespace().next().and_then(|word| word.strip_suffix(':')).map(PathBuf::from);
    if paths.len() > 1 && paths.first() == speaker.as_ref() {
        paths.remove(0);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Context, Policy};

    fn resolved() -> ResolvedPolicy {
        let folder = std::env::temp_dir();
        let context =
            Context { workspace: folder.clone(), home: None, private_tmp: folder, environment: Vec::new() };
        let policy =
            Policy { read: vec!["/usr".into()], write: vec!["$workspace".into()], ..Policy::default() };
        policy.resolve(&context).unwrap()
    }

    fn explained(text: &str) -> Vec<(DenialKind, String)> {
        explain(&resolved(), text.as_bytes())
            .into_iter()
            .map(|denial| (denial.kind, denial.subject))
            .collect()
    }

    #[test]
    fn the_sentences_of_common_programs() {
        let etc = |kind| vec![(kind, "/etc/x".to_owned())];
        assert_eq!(explained("cat: /etc/x: Permission denied"), etc(DenialKind::Read));
        assert_eq!(
            explained("/bin/sh: 1: cannot create /etc/x: Read-only file system"),
            etc(DenialKind::Write)
        );
        assert_eq!(explained("touch: cannot touch '/etc/x': Read-only file system"), etc(DenialKind::Write));
        assert_eq!(explained("bash: line 1: /etc/x: Permission denied"), etc(DenialKind::Read));
        assert_eq!(explained("Error: EACCES: permission denied, open '/etc/x'"), etc(DenialKind::Read));
        assert_eq!(
            explained("PermissionError: [Errno 13] Permission denied: '/etc/x'"),
            etc(DenialKind::Read)
        );
        assert_eq!(explained("rm: cannot remove '/usr/x': Permission denied")[0].0, DenialKind::Write);
        assert_eq!(explained("curl: (6) Could not resolve host: example.org")[0].0, DenialKind::Network);
        assert_eq!(explained("unshare: unshare failed: Operation not permitted")[0].0, DenialKind::Syscall);
        assert_eq!(explained("File size limit exceeded (core dumped)")[0].1, "file_size_mb");
        assert_eq!(
            explained("mount: /mnt: permission denied.")[0],
            (DenialKind::Syscall, "mount".to_owned())
        );
    }

    #[test]
    fn sockets_are_no_files() {
        let network = |subject: &str| vec![(DenialKind::Network, subject.to_owned())];
        assert_eq!(
            explained("rush: line 1: /dev/tcp/127.0.0.1/80: Operation not permitted"),
            network("127.0.0.1:80")
        );
        assert_eq!(explained("bash: /dev/udp/example.org/53: Permission denied"), network("example.org:53"));
        let python =
            "  File \"socket.py\", line 232, in __init__\nPermissionError: [Errno 1] Operation not permitted";
        assert_eq!(explained(python), network("PermissionError: [Errno 1] Operation not permitted"));
        let node = "Error: connect EPERM 127.0.0.1:80\n  code: 'EPERM',\n  syscall: 'connect',";
        assert_eq!(explained(node)[0].0, DenialKind::Network);
        let curl = "curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server";
        assert_eq!(explained(curl), network(curl));
        assert!(explained("the socket is connected").is_empty());
    }

    #[test]
    fn what_the_policy_allows_is_no_denial() {
        let inside = std::env::temp_dir().join("own-file");
        assert_eq!(
            explained(&format!("bash: {}: Permission denied", inside.display()))[0].0,
            DenialKind::Exec
        );
        assert!(explained(&format!("rm: '{}': Read-only file system", inside.display())).is_empty());
        assert!(explained("all is well with /etc/x").is_empty());
    }

    #[test]
    fn a_denial_says_what_to_do() {
        let denial = check_path(&resolved(), Path::new("/etc/passwd"), Access::Write).unwrap_err();
        assert!(denial.how_to_allow.contains("add \"/etc/passwd\" to write"), "{denial:?}");
        assert!(check_path(&resolved(), Path::new("new"), Access::Write).is_ok());
    }

    #[test]
    fn what_is_protected_or_hidden_is_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("hooks")).unwrap();
        std::fs::write(folder.path().join("token"), "x").unwrap();
        let workspace = folder.path().to_owned();
        let context =
            Context { private_tmp: workspace.clone(), workspace, home: None, environment: Vec::new() };
        let policy = Policy {
            write: vec!["$workspace".into()],
            protect: vec!["hooks".into()],
            hide: vec!["token".into()],
            ..Policy::default()
        };
        let resolved = policy.resolve(&context).unwrap();
        let denial = check_path(&resolved, Path::new("hooks/pre-commit"), Access::Write).unwrap_err();
        assert!(
            denial.rule.contains("protect contains") && denial.how_to_allow.contains("protect"),
            "{denial:?}"
        );
        let denial = check_path(&resolved, Path::new("token"), Access::Read).unwrap_err();
        assert!(denial.rule.contains("hide contains"), "{denial:?}");
        assert!(check_path(&resolved, Path::new("hooks/pre-commit"), Access::Read).is_ok());
    }
}
