//! Denials that nobody tells of: each row does something that the policy denies, with its output thrown away and exit status 0, and its
//! call and path must be known all the same, as root and as an unprivileged user, with namespaces and without. What every process would be refused,
//! or not find, is no denial.

#![cfg(target_os = "linux")]

use pithos_sandbox::{Machine, probe};
use std::fs::{self, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const NOBODY: u32 = 65_534;

/// What a row needs to be denied at all.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Mounts,
    NoPidNamespace,
    NoNetwork,
    Loopback,
    /// Unix sockets of the sandbox's own, or none.
    OwnSockets,
    NoOwnSockets,
}
use Needs::{Loopback, Mounts, NoNetwork, NoOwnSockets, NoPidNamespace, Nothing, OwnSockets};

/// Name, what it needs, script, and of the denial: kind, call (more than one where architectures and C libraries differ), end of the subject.
type Row = (&'static str, Needs, &'static str, &'static str, &'static [&'static str], &'static str);

const ROWS: [Row; 45] = [
    ("read a file", Nothing, "cat $O/secret", "Read", &["openat"], "/outside/secret"),
    ("read behind a pipe", Nothing, "cat $O/secret 2>&1 | tail -1", "Read", &["openat"], "/outside/secret"),
    ("read by a relative path", Nothing, "cat ../outside/secret", "Read", &["openat"], "/outside/secret"),
    ("read from inside the folder", Nothing, "cd $O; cat ./secret", "Read", &["openat"], "/outside/secret"),
    ("read through a link", Nothing, "ln -s $O/secret l; cat l", "Read", &["openat"], "/outside/secret"),
    (
        "read by way of /proc/self/cwd",
        Nothing,
        "cat /proc/self/cwd/../outside/secret",
        "Read",
        &["openat"],
        "/outside/secret",
    ),
    (
        "read by way of /proc/self/root",
        Nothing,
        "cat /proc/self/root$O/secret",
        "Read",
        &["openat"],
        "/outside/secret",
    ),
    (
        "read by a thread",
        Nothing,
        "python3 -c 'import threading,sys; threading.Thread(target=lambda: open(sys.argv[1])).start()' $O/secret",
        "Read",
        &["openat", "open"],
        "/outside/secret",
    ),
    (
        "read by a process of a pool",
        Nothing,
        "python3 -c 'import os,sys\nif os.fork() == 0: open(sys.argv[1])\nos.wait()' $O/secret",
        "Read",
        &["openat", "open"],
        "/outside/secret",
    ),
    ("list a folder", Nothing, "ls $O", "Read", &["openat"], "/outside"),
    ("a hidden file", Nothing, "cat ../tools/token", "Read", &["openat"], "/tools/token"),
    ("append", Nothing, "echo x >>$O/victim", "Write", &["openat", "open"], "/outside/victim"),
    ("overwrite", Nothing, "echo x >$O/victim", "Write", &["openat", "open"], "/outside/victim"),
    ("create", Nothing, "echo x >$O/new", "Write", &["openat", "open"], "/outside/new"),
    ("copy out", Nothing, "echo x >f; cp f $O/copy", "Write", &["openat"], "/outside/copy"),
    ("remove", Nothing, "rm -f $O/removable", "Write", &["unlinkat", "unlink"], "/outside/removable"),
    ("remove a folder", Nothing, "rmdir $O/empty", "Write", &["rmdir", "unlinkat"], "/outside/empty"),
    ("make a folder", Nothing, "mkdir $O/folder", "Write", &["mkdir", "mkdirat"], "/outside/folder"),
    (
        "rename out",
        Nothing,
        "echo x >f; perl -e 'rename \"f\", \"$ARGV[0]/renamed\"' $O",
        "Write",
        &["rename", "renameat", "renameat2"],
        "/outside/renamed",
    ),
    (
        "rename in",
        Nothing,
        "perl -e 'rename \"$ARGV[0]/victim\", \"f\"' $O",
        "Write",
        &["rename", "renameat", "renameat2"],
        "/outside/victim",
    ),
    ("a symbolic link", Nothing, "ln -s x $O/link", "Write", &["symlink", "symlinkat"], "/outside/link"),
    (
        "a hard link",
        Nothing,
        "perl -e 'link \"$ARGV[0]/victim\", \"hard\"' $O",
        "Write",
        &["link", "linkat"],
        "/outside/victim",
    ),
    ("a pipe with a name", Nothing, "mkfifo $O/pipe", "Write", &["mknod", "mknodat"], "/outside/pipe"),
    (
        "truncate",
        Nothing,
        "perl -e 'truncate \"$ARGV[0]/victim\", 0' $O",
        "Write",
        &["truncate", "openat"],
        "/outside/victim",
    ),
    (
        "change a mode",
        Mounts,
        "chmod 600 $O/victim",
        "Write",
        &["fchmodat", "fchmodat2", "chmod"],
        "/outside/victim",
    ),
    (
        "change times",
        Mounts,
        "perl -e 'utime 1, 1, \"$ARGV[0]/victim\"' $O",
        "Write",
        &["utimensat", "utimes", "utime"],
        "/outside/victim",
    ),
    ("run a program", Nothing, "$O/tool", "Exec", &["execve"], "/outside/tool"),
    (
        "a script of a denied program",
        Nothing,
        "printf '#!%s\\n' $O/tool >s; chmod 755 s; ./s",
        "Exec",
        &["execve"],
        "/outside/tool",
    ),
    ("a protected file", Mounts, "echo x >>.git/config", "Write", &["openat", "open"], "/.git/config"),
    (
        "a protected folder's parent moved",
        Mounts,
        "mv .git aside",
        "Write",
        &["rename", "renameat", "renameat2"],
        "/workspace/.git",
    ),
    (
        "a protected path that was not there",
        Nothing,
        "echo x >.envrc",
        "Write",
        &["openat", "open"],
        "/workspace/.envrc",
    ),
    (
        "a protected folder that was not there",
        Nothing,
        "mkdir -p .claude/hooks",
        "Write",
        &["mkdir", "mkdirat"],
        "/workspace/.claude",
    ),
    (
        "a socket",
        NoNetwork,
        "perl -MSocket -e 'socket(my $s, AF_INET, SOCK_STREAM, 0)'",
        "Network",
        &["socket"],
        "a socket of AF_INET",
    ),
    (
        "a connection",
        Loopback,
        "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr => \"192.0.2.7:443\")'",
        "Network",
        &["connect"],
        "192.0.2.7:443",
    ),
    (
        "a datagram",
        Loopback,
        "perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); send($s, \"x\", 0, pack_sockaddr_in(53, inet_aton(\"192.0.2.7\")))'",
        "Network",
        &["sendto"],
        "192.0.2.7:53 (a name server)",
    ),
    (
        "a Unix socket",
        NoOwnSockets,
        "perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0)'",
        "Network",
        &["socket"],
        "a socket of AF_UNIX",
    ),
    (
        "a Unix socket of a language",
        NoOwnSockets,
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)'",
        "Network",
        &["socket"],
        "a socket of AF_UNIX",
    ),
    (
        "a Unix socket for datagrams",
        Nothing,
        "perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_DGRAM, 0)'",
        "Network",
        &["socket"],
        "a socket of AF_UNIX",
    ),
    (
        "a pair for datagrams",
        Nothing,
        "perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0)'",
        "Network",
        &["socketpair"],
        "a pair of datagram sockets",
    ),
    (
        "a service of the machine",
        OwnSockets,
        "perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un(\"../outside/service\"))'",
        "Network",
        &["connect"],
        "/outside/service",
    ),
    (
        "a service of the machine in the workspace",
        OwnSockets,
        "perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un(\"service\"))'",
        "Network",
        &["connect"],
        "/workspace/service",
    ),
    ("namespaces", Nothing, "unshare -U true", "Syscall", &["unshare"], "unshare"),
    ("tracing", Nothing, "perl -e 'syscall(101, 16, getppid(), 0, 0)'", "Syscall", &["ptrace"], "ptrace"),
    (
        "mounting",
        Nothing,
        "perl -e 'my ($n, $t) = (\"tmpfs\", \"/tmp\"); syscall(165, $n, $t, $n, 0, 0)'",
        "Syscall",
        &["mount"],
        "mount",
    ),
    ("a signal to a process outside", NoPidNamespace, "kill -CONT $VICTIM", "Syscall", &["kill"], "(sleep)"),
];

/// Nothing that is denied: things that are not there, that the file's own mode denies, and work.
const QUIET: [&str; 15] = [
    "cat $O/missing ./missing /etc/missing",
    "ls /nonexistent/folder",
    "no-such-program",
    "PATH=$O/missing:$PATH true",
    "mkdir -p a/b/c; mkdir -p /usr/bin; rm -rf a",
    "locale; date; id; ls -l /usr",
    "perl -MIO::File -e '1'",
    "python3 -c 'import json, socket, multiprocessing'",
    "cat locked",
    "echo x >f; mv f g; ln g h; chmod 600 g; truncate -s 0 g; rm g h",
    "echo x >/dev/null; head -c1 /dev/zero; cat </dev/null; echo x | cat /dev/stdin",
    "echo x >$TMPDIR/t; cat $TMPDIR/t; mkfifo $TMPDIR/p; rm $TMPDIR/p",
    "perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die; socketpair($a, $b, AF_UNIX, SOCK_SEQPACKET, 0) or die'",
    "git init -q sub; git -C sub status; rm -rf sub",
    "sh -c 'exec 3<f; cat /proc/self/fd/3 /dev/fd/3; readlink /proc/self/exe; cat /proc/self/status'",
];

struct Stage {
    base: PathBuf,
    user: Option<u32>,
    victim: Child,
    _listeners: [UnixListener; 2],
}

impl Stage {
    fn build(label: &str, user: Option<u32>) -> Stage {
        let base =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("denials-{label}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        for folder in ["workspace/.git/hooks", "workspace/tmp", "outside/empty", "tools"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        // The path of a socket must be short, and that of this folder may not be.
        let folder = fs::File::open(&base).unwrap();
        let listen = |place: &str| {
            UnixListener::bind(format!("/proc/self/fd/{}/{place}", folder.as_raw_fd())).unwrap()
        };
        let listeners = [listen("outside/service"), listen("workspace/service")];
        for file in [
            "outside/victim",
            "outside/removable",
            "outside/secret",
            "tools/token",
            "workspace/.git/config",
            "workspace/locked",
        ] {
            fs::write(base.join(file), "secret\n").unwrap();
        }
        fs::copy("/bin/true", base.join("outside/tool")).unwrap();
        let mut sleeper = Command::new("sleep");
        sleeper.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(user) = user {
            let chowned = Command::new("chown").arg("-R").arg(format!("{user}:{user}")).arg(&base).status();
            assert!(chowned.unwrap().success());
            chown(base.join("workspace/locked"), Some(0), Some(0)).unwrap();
            sleeper.uid(user).gid(user);
        }
        fs::set_permissions(base.join("workspace/locked"), Permissions::from_mode(0o0)).unwrap();
        Stage { base, user, victim: sleeper.spawn().unwrap(), _listeners: listeners }
    }

    /// What was denied to a script: kind, call, subject, advice.
    fn denied(&self, network: &str, namespaces: &str, script: &str) -> Vec<[String; 4]> {
        let built = std::env::current_exe().unwrap();
        let example = built.parent().unwrap().parent().unwrap().join("examples/confine");
        let outside = self.base.join("outside");
        let script = script
            .replace("$O", &outside.to_string_lossy())
            .replace("$VICTIM", &self.victim.id().to_string());
        let quiet = format!("( {script}\n ) >/dev/null 2>&1 </dev/null; exit 0");
        let mut command = Command::new(example);
        command.args(["watched", network, namespaces, &quiet]);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.base.join("workspace"));
        command.env("TMPDIR", self.base.join("workspace/tmp"));
        command.env("CONFINE_HIDE", self.base.join("tools/token"));
        command
            .current_dir(self.base.join("workspace"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{script}: {}: {text}", output.status);
        let lines = text.lines().map(|line| {
            let fields: Vec<&str> = line
                .strip_prefix("denied\t")
                .unwrap_or_else(|| panic!("{script}: {text}"))
                .split('\t')
                .collect();
            [0, 1, 2, 3].map(|at| fields[at].to_owned())
        });
        lines.collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = fs::remove_dir_all(&self.base);
    }
}

fn users() -> Vec<Option<u32>> {
    use std::os::unix::fs::MetadataExt;
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return vec![None];
    }
    let list = Command::new(std::env::current_exe().unwrap()).arg("--list").uid(NOBODY).gid(NOBODY).output();
    if list.is_ok_and(|output| output.status.success()) {
        vec![None, Some(NOBODY)]
    } else {
        eprintln!("an unprivileged user cannot reach this program: only tried as root");
        vec![None]
    }
}

fn watched_machine() -> Option<Machine> {
    let machine = probe();
    if machine.can_confine() && machine.watching {
        return Some(machine);
    }
    eprintln!("skipped: calls cannot be watched here\n{machine}");
    None
}

/// Both ways of namespaces that the machine allows, with the network that goes with them.
fn ways(machine: &Machine) -> Vec<(&'static str, &'static str)> {
    let mut ways = vec![("off", "off"), ("off", "auto")];
    if machine.network_namespace {
        ways.push(("loopback", "auto"));
    }
    ways
}

fn is_possible(needs: Needs, network: &str, namespaces: &str, machine: &Machine) -> bool {
    match needs {
        Nothing => true,
        Mounts => namespaces == "auto" && machine.mount_namespace,
        NoPidNamespace => namespaces == "off" || !machine.pid_namespace,
        NoNetwork => network == "off",
        OwnSockets => own_sockets(namespaces, machine),
        NoOwnSockets => !own_sockets(namespaces, machine),
        Loopback => network == "loopback",
    }
}

fn own_sockets(namespaces: &str, machine: &Machine) -> bool {
    namespaces == "auto" && machine.mount_namespace && machine.pid_namespace && machine.network_namespace
}

#[test]
fn what_nobody_tells_of_is_known() {
    let Some(machine) = watched_machine() else { return };
    let mut wrong = Vec::new();
    for user in users() {
        for (network, namespaces) in ways(&machine) {
            for (name, needs, script, kind, calls, subject) in ROWS {
                if !is_possible(needs, network, namespaces, &machine) {
                    continue;
                }
                let stage = Stage::build(&format!("rows{}", user.unwrap_or(0)), user);
                let denied = stage.denied(network, namespaces, script);
                let good = |row: &[String; 4]| {
                    row[0] == kind && calls.contains(&row[1].as_str()) && row[2].ends_with(subject)
                };
                let home = format!("add {:?}", stage.base.join("workspace").display().to_string());
                if !denied.iter().any(good) || denied.iter().any(|row| row[3].contains(&home)) {
                    wrong.push(format!(
                        "{name}, {user:?}, network {network}, namespaces {namespaces}: {denied:?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_every_process_meets_is_no_denial() {
    let Some(machine) = watched_machine() else { return };
    let mut wrong = Vec::new();
    for user in users() {
        let stage = Stage::build(&format!("quiet{}", user.unwrap_or(0)), user);
        for (network, namespaces) in ways(&machine) {
            for script in QUIET {
                let denied = stage.denied(network, namespaces, script);
                if !denied.is_empty() {
                    wrong.push(format!(
                        "{script}, {user:?}, network {network}, namespaces {namespaces}: {denied:?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
